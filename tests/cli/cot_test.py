#!/usr/bin/env python3
"""akgen cot stats, show and search: what they say of a database of samples."""
import json
import pathlib
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

    def test_usage(self):
        self.assertIn("--db FILE is needed", self.cot("stats", code=2))
        self.assertIn("No such file", self.cot("stats", "--db", self.db.with_name("none"), code=2))
        self.assertIn("ID is needed", self.cot("show", "--db", self.db, code=2))
        self.assertIn("no 'kernels'", self.cot("stats", "--db", self.db, "--part", "kernels", code=2))
        self.assertIn("no command 'shwo'", self.cot("shwo", code=2))
        self.assertIn("stats", akgen("cot", "--help").stdout)


if __name__ == "__main__":
    unittest.main()
