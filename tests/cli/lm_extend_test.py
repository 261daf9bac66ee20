#!/usr/bin/env python3
# test: builds=release cost=15
"""akgen lm extend: answers have fewer tokens, questions as many as before, and the model is what it was."""
import json
import pathlib
import shutil
import struct
import tempfile
import unittest

from akgen_program import HOME, akgen
from lm_program import make_model, write_rows

SHIPPED = HOME / "models/graph-14m"


def matrix(folder, name):
    """A tensor in bfloat16 or float32, as rows of float."""
    data = (folder / "model.safetensors").read_bytes()
    length, = struct.unpack("<Q", data[:8])
    tensor = json.loads(data[8:8 + length])[name]
    (count, width), (begin, end) = tensor["shape"], tensor["data_offsets"]
    bits = struct.unpack(f"<{count * width}{'H' if tensor['dtype'] == 'BF16' else 'I'}", data[8 + length + begin:8 + length + end])
    shift = 16 if tensor["dtype"] == "BF16" else 0
    values = struct.unpack(f"<{len(bits)}f", struct.pack(f"<{len(bits)}I", *(word << shift for word in bits)))
    return [values[row * width:(row + 1) * width] for row in range(count)]


def added(folder):
    return json.loads((folder / "tokenizer.json").read_text())["added_tokens"]


class Extended(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory(prefix="akgen-extend-")
        cls.addClassCleanup(folder.cleanup)
        cls.at = pathlib.Path(folder.name)
        for command in (("synth", "--db", cls.at / "rows.db", "--count", 160, "--seed", 5, "--machine", 0, "--programs=short"),
                        ("export", "--db", cls.at / "rows.db", "--mode", "dsl", "--format", "trl-sft", "--no-chain", "-o", cls.at / "rows")):
            done = akgen("cot", *command)
            if done.returncode:
                raise AssertionError(done.stderr)
        cls.lines = (cls.at / "rows/train.jsonl").read_text().splitlines(keepends=True)
        cls.told = cls.extend(SHIPPED, cls.at / "rows/train.jsonl", "--rows", 100, "--tokens", 300, "-o", cls.at / "extended")

    @staticmethod
    def extend(*arguments):
        done = akgen("lm", "extend", *arguments, "--json")
        if done.returncode:
            raise AssertionError(done.stderr)
        return json.loads(done.stdout)

    def learned(self, model, texts):
        """Tokens that akgen lm eval counts in completions, without their ends."""
        rows = write_rows(self.at / "some.jsonl", [{"prompt": "x", "completion": text} for text in texts])
        told = akgen("lm", "eval", model, "--data", rows, "--json")
        self.assertEqual(told.returncode, 0, told.stderr)
        return json.loads(told.stdout)["learned_tokens"] - len(texts), json.loads(told.stdout)["loss"]

    def refused(self, message, *arguments):
        done = akgen("lm", "extend", *arguments)
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertRegex(done.stderr, message)
        self.assertFalse((self.at / "none").exists())
        self.assertEqual(list(self.at.glob(".none*")), [])

    def test_answers_are_shorter_and_questions_as_long(self):
        told = self.told
        self.assertEqual(told["rows"], 100)
        self.assertIn(told["new_tokens"], range(100, 301))
        self.assertEqual(told["vocabulary"], 4096 + told["new_tokens"])
        self.assertLess(told["tokens_of_an_answer"], 0.4 * told["tokens_of_an_answer_before"])
        rows = [json.loads(line) for line in self.lines]
        answers, questions = ([row[part][0]["content"][:1500] for row in rows[90:110]] for part in ("completion", "prompt"))  # the model reads 2,048 tokens
        self.assertLess(self.learned(self.at / "extended", answers)[0], 0.4 * self.learned(SHIPPED, answers)[0])
        self.assertEqual(self.learned(self.at / "extended", questions)[0], self.learned(SHIPPED, questions)[0])

    def test_what_it_says_of_answers_is_what_is_learned(self):
        answers = [text for text in (json.loads(line)["completion"][0]["content"] for line in self.lines[:100]) if len(text) < 1500][:20]
        rows = write_rows(self.at / "short.jsonl", [{"question": "Any\nin x float32 [3]", "answer": text} for text in answers])
        told = self.extend(SHIPPED, rows, "--tokens", 20, "-o", self.at / "twenty")
        for model, mean in ((SHIPPED, told["tokens_of_an_answer_before"]), (self.at / "twenty", told["tokens_of_an_answer"])):
            self.assertAlmostEqual(self.learned(model, answers)[0] / len(answers), mean)

    def test_old_tokens_mean_what_they_did(self):
        before, after = (matrix(model, "model.embed_tokens.weight") for model in (SHIPPED, self.at / "extended"))
        self.assertEqual(after[:4096], before)
        text = "y = exp(x) * scale"
        self.assertLess(abs(self.learned(self.at / "extended", [text])[1] - self.learned(SHIPPED, [text])[1]), 0.5, "some rows more in the sum of the softmax")

    def test_the_same_rows_give_the_same_files(self):
        self.extend(SHIPPED, self.at / "rows/train.jsonl", "--rows", 100, "--tokens", 300, "-o", self.at / "again")
        for name in ("tokenizer.json", "config.json", "model.safetensors", "tokenizer_config.json"):
            self.assertEqual((self.at / "again" / name).read_bytes(), (self.at / "extended" / name).read_bytes(), name)

    def test_an_extended_one_is_extended(self):
        told = self.extend(self.at / "extended", self.at / "rows/train.jsonl", "--tokens", 5, "-o", self.at / "more")
        ids = [token["id"] for token in added(self.at / "more")]
        self.assertEqual(len(ids), len(set(ids)))
        self.assertEqual(max(ids), told["vocabulary"] - 1)

    def test_an_output_matrix_of_its_own_and_rows_to_spare(self):
        rows = write_rows(self.at / "train.jsonl", [{"prompt": "ab", "completion": "cd"}] * 4)
        done = akgen("lm", "train", make_model(self.at / "fresh", tie_word_embeddings=False, vocab_size=260), "--new", "--data", rows, "-o", self.at / "untied",
                     "--steps", 1)
        self.assertEqual(done.returncode, 0, done.stderr)
        answers = write_rows(self.at / "answers.jsonl", [{"question": "Any\nin x float32 [3]\nout y float32 [3]", "answer": f"# y = x\n{code}"}
                                                            for code in ("ab_ub + cd;", "call(ef);", "GhIj kl;")] * 20)
        told = self.extend(self.at / "untied", answers, "--tokens", 3, "-o", self.at / "untied3")
        self.assertEqual((told["new_tokens"], told["vocabulary"]), (3, 260), "256 bytes, an end, three fragments")
        tokens = added(self.at / "untied3")[-3:]
        self.assertEqual({(token["id"], token["content"]) for token in tokens}, {(257, "\nab_ub + cd;"), (258, "\ncall(ef);"), (259, "\nGhIj kl;")})
        for name in ("model.embed_tokens.weight", "lm_head.weight"):
            before, after = (matrix(self.at / model, name) for model in ("untied", "untied3"))
            self.assertEqual(after[:257], before[:257])
            for token in tokens:
                letters = token["content"].encode()
                for i, value in enumerate(after[token["id"]]):
                    self.assertAlmostEqual(value, sum(before[letter][i] for letter in letters) / len(letters), places=6)

    def test_bad_input(self):
        rows, model, out = self.at / "rows/train.jsonl", SHIPPED, ("-o", self.at / "none")
        self.refused("needed", model, "-o", self.at / "none")
        self.refused("extended is there already", model, rows, "-o", self.at / "extended")
        self.refused(r"missing.jsonl: No such file", model, self.at / "missing.jsonl", *out)
        self.refused(r"nowhere/tokenizer.json", self.at / "nowhere", rows, *out)
        for name, text, message in (("broken", "{}\n{", r"broken.jsonl:1: neither .prompt. and"), ("json", '\n{"question": "a"', r"json.jsonl:2: .+"),
                                    ("list", "[1]", r"list.jsonl:1: no object"), ("empty", "\n \n", r"there is no row"),
                                    ("few", '{"question": "A", "answer": "x_ub"}', "too few"), ("blank", '{"question": "", "answer": ""}', "too few")):
            (self.at / f"{name}.jsonl").write_text(text + "\n")
            self.refused(message, model, self.at / f"{name}.jsonl", *out)
        self.refused("tokens", model, rows, "--tokens", 0, *out)
        # Its tokenizer.json is written again, digit for digit.
        shutil.copytree(model, self.at / "huge")
        path = self.at / "huge/tokenizer.json"
        path.write_text(json.dumps(json.loads(path.read_text()) | {"truncation": {"max_length": 2 ** 64 - 1}}))
        self.refused(r"huge/tokenizer.json:1: too big integer", self.at / "huge", rows, "--tokens", 10, *out)


if __name__ == "__main__":
    unittest.main()
