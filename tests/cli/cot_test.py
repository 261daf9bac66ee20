#!/usr/bin/env python3
"""akgen cot stats, show and search: what they say of a database of samples."""
import json
import pathlib
import re
import tempfile
import unittest

from akgen_program import akgen
from cot_samples import Samples


class Cot(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.db = pathlib.Path(self.folder.name, "samples.db")
        self.samples = Samples(self.db)
        self.samples.add("synth", "square root", "sqrt(x)", mode="graph", verdict="pass", tags=["norm"])
        self.samples.add("kernel", "a kernel with DataCopyPad", "kernel_code();", mode="ascendc", verdict="wrong", licence="MIT")
        self.samples.add("general", "2 + 2?", "4", chain="count", split="test")
        self.samples.drop("corpus", "too long", 7)
        self.samples.commit()

    def cot(self, *arguments, code=0):
        process = akgen("cot", *arguments)
        self.assertEqual(process.returncode, code, process.stderr)
        return process.stdout if not code else process.stderr

    def test_stats(self):
        stats = json.loads(self.cot("stats", "--db", self.db, "--json"))
        self.assertEqual(stats["part"]["kernel"], {"samples": 1, "bytes": 39, "train": 1, "valid": 0, "test": 0})
        self.assertEqual({part: row["samples"] for part, row in stats["part"].items()}, {"synth": 1, "kernel": 1, "general": 1})
        self.assertEqual({word: row["samples"] for word, row in stats["verdict"].items()}, {"pass": 1, "wrong": 1, "none": 1})
        self.assertEqual({word: row["samples"] for word, row in stats["licence"].items()}, {"MIT": 1, "unknown": 2})
        self.assertEqual(stats["part"]["general"]["test"], 1)
        self.assertEqual(stats["tag"]["norm"]["samples"], 1)
        self.assertEqual(stats["dropped"], {"corpus": {"too long": 7}})
        text = self.cot("stats", "--db", self.db)
        self.assertRegex(text, r"(?m)^all +3 +\d+ +2 +0 +1$")
        self.assertRegex(text, r"(?m)^corpus +7  too long$")
        some = json.loads(self.cot("stats", "--db", self.db, "--json", "--mode", "graph", "--mode", "ascendc", "--verdict", "pass"))
        self.assertEqual(list(some["part"]), ["synth"])

    def test_long_tables_are_cut_to_their_largest_rows(self):
        for i in range(30):
            for j in range(i + 1):
                self.samples.add("general", f"{i} {j}", "an answer", tags=[f"tag {i:02}"])
        self.samples.commit()
        text, whole = self.cot("stats", "--db", self.db), self.cot("stats", "--db", self.db, "--all")
        self.assertEqual(re.findall(r"(?m)^tag (\d\d) +(\d+)", text), [(f"{i:02}", str(i + 1)) for i in range(29, 9, -1)])
        self.assertRegex(text, r"(?m)^11 more; --all shows them$")     # 10, and "norm"
        self.assertEqual(re.findall(r"(?m)^tag (\d\d) +(\d+)", whole), [(f"{i:02}", str(i + 1)) for i in range(30)])
        self.assertNotIn("more", whole)
        self.assertEqual(len(json.loads(self.cot("stats", "--db", self.db, "--json"))["tag"]), 31)

    def test_show(self):
        row = json.loads(self.cot("search", "datacopypad", "--db", self.db, "--json"))
        self.assertEqual((row["part"], row["verdict"], row["chain"], row["tags"]), ("kernel", {"verdict": "wrong"}, None, None))
        text = self.cot("show", row["id"][:10], "--db", self.db)
        self.assertIn("\nQuestion\na kernel with DataCopyPad\n", text)
        self.assertNotIn("Chain", text)
        self.assertEqual(json.loads(self.cot("show", row["id"], "--db", self.db, "--json")), row)
        self.assertIn("no sample whose id begins with 'zz'", self.cot("show", "zz", "--db", self.db, code=2))

    def test_search(self):
        self.assertRegex(self.cot("search", "square", "root", "--db", self.db), r"^[0-9a-f]{12}  synth +square root\n$")
        self.assertIn("no sample with the words 'square hole'", self.cot("search", "square", "hole", "--db", self.db, code=2))
        self.assertIn("no sample", self.cot("search", "square", "--part", "kernel", "--db", self.db, code=2))

    def test_export(self):
        out = pathlib.Path(self.folder.name, "out")
        self.cot("export", "--db", self.db, "-o", out, "--format", "trl-sft")
        self.assertEqual(sorted(path.name for path in out.iterdir()), ["README.md", "test.jsonl", "train.jsonl"])
        self.assertEqual(json.loads((out / "test.jsonl").read_text()),
                         {"prompt": [{"role": "user", "content": "2 + 2?"}],
                          "completion": [{"role": "assistant", "content": "<think>\ncount\n</think>\n\n4"}]})
        rows = [json.loads(line) for line in (out / "train.jsonl").read_text().splitlines()]
        self.assertEqual([row["completion"][0]["content"] for row in rows], ["sqrt(x)", "kernel_code();"])
        card = (out / "README.md").read_text()
        self.assertIn("license: other\n", card)
        self.assertIn("| all | 2 | 0 | 1 |", card)
        self.assertIn("| MIT | 1 | 39 |", card)
        self.assertIn("exists; an export makes a new folder", self.cot("export", "--db", self.db, "-o", out, "--format", "trl-sft", code=2))
        mit = out.with_name("mit")
        self.cot("export", "--db", self.db, "-o", mit, "--format", "sharegpt", "--licence", "known")
        self.assertIn("license: mit\n", (mit / "README.md").read_text())
        self.assertEqual(json.loads((mit / "dataset_info.json").read_text()),
                         {"train": {"file_name": "train.jsonl", "formatting": "sharegpt"}})
        nothing = out.with_name("nothing")
        self.assertIn("no sample is left", self.cot("export", "--db", self.db, "-o", nothing, "--format", "parquet", "--part", "project", code=2))
        self.assertFalse(nothing.exists())
        self.assertEqual([path.name for path in out.parent.iterdir() if path.name.startswith(".")], [])
        self.assertIn("--format: no 'csv'", self.cot("export", "--db", self.db, "-o", nothing, "--format", "csv", code=2))

    def test_corpus(self):
        folder = pathlib.Path(self.folder.name, "corpus")
        folder.mkdir()
        long = " ".join(str(i * 7919) for i in range(300))
        rows = [json.dumps({"question": "Add one to 41, e\u0301.", "answer": "It is\r\n42.", "license": "MIT"}),
                json.dumps({"prompt": "A long one", "response": long, "thinking": "so"}),
                json.dumps({"prompt": "A long one", "response": long + " or so", "thinking": "so"}),   # near duplicate
                json.dumps({"prompt": "My key is", "response": "ghp" + "_" + "a1B2" * 9}),
                json.dumps({"prompt": "My key is", "response": "-----BEGIN RSA PRIV" + "ATE KEY-----\nMIIEabcdefghijk"}),
                json.dumps({"prompt": "sk-ipping over the long word sk-" + "a" * 40, "response": "no secret, only letters"}),
                json.dumps({"text": "neither question nor answer"}), json.dumps({"prompt": "?", "response": "!"}), "[1]", "{broken", ""]
        (folder / "a.jsonl").write_bytes("\n".join(rows).encode() + b"\n{\"question\": \"\xff\"}\n\x7fELF\0\0\n" + b"x" * (5 << 20))
        (folder / "b.txt").write_text("not looked at")
        (folder / "c.jsonl").symlink_to("nowhere")
        db = folder / "out.db"
        self.assertRegex(self.cot("corpus", folder, "--db", db), r"^2 files, 14 rows: 3 samples added, 11 dropped; ")
        stats = json.loads(self.cot("stats", "--db", db, "--json"))
        self.assertEqual(stats["dropped"]["corpus"], {"near duplicate": 1, "a secret in it": 2, "no question and answer": 1, "too short": 1,
                                                      "no JSON object": 2, "no UTF-8": 1, "binary": 1, "a line of more than 4 MiB": 1, "a link": 1})
        self.assertEqual({word: row["samples"] for word, row in stats["licence"].items()}, {"MIT": 1, "unknown": 2})
        first = json.loads(self.cot("search", "41", "--db", db, "--json"))
        self.assertEqual((first["question"], first["answer"]), ("Add one to 41, \u00e9.", "It is\n42."))
        # Again: nothing is new, and what another file repeats is known.
        self.assertRegex(self.cot("corpus", folder, "--db", db), r": 0 samples added, 0 dropped; ")
        (folder / "d.jsonl").write_text(rows[2] + "\n")
        self.assertRegex(self.cot("corpus", folder / "d.jsonl", "--db", db), r"^1 files, 1 rows: 0 samples added, 1 dropped; ")
        self.assertIn("No such file", self.cot("corpus", folder / "none", "--db", db, code=2))

    def test_page(self):
        out = pathlib.Path(self.folder.name, "page.html")
        self.samples.add("general", "</script><script>alert(1)</script>", "<b>no markup</b>")
        self.samples.commit()
        self.cot("page", "--db", self.db, "-o", out)
        text = out.read_text()
        self.assertEqual(text.count("<script"), 2)
        rows = json.loads(text.split("id=samples>")[1].split("</script>")[0])
        self.assertEqual([row["question"] for row in rows], ["square root", "a kernel with DataCopyPad", "2 + 2?", "</script><script>alert(1)</script>"])
        self.cot("page", "--db", self.db, "-o", out, "--limit", 1)
        self.assertNotIn("DataCopyPad", out.read_text())

    def test_usage(self):
        self.assertIn("--db FILE is needed", self.cot("stats", code=2))
        self.assertIn("No such file", self.cot("stats", "--db", self.db.with_name("none"), code=2))
        self.assertIn("ID is needed", self.cot("show", "--db", self.db, code=2))
        self.assertIn("no 'kernels'", self.cot("stats", "--db", self.db, "--part", "kernels", code=2))
        self.assertIn("no command 'shwo'", self.cot("shwo", code=2))
        self.assertIn("stats", akgen("cot", "--help").stdout)


if __name__ == "__main__":
    unittest.main()
