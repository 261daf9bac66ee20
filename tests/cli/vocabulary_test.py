#!/usr/bin/env python3
"""scripts/vocabulary.py: akgen cuts texts by a vocabulary that has grown as the script does, into fewer tokens, and the model is what it was."""
import contextlib
import json
import pathlib
import sqlite3
import sys
import tempfile
import unittest

from akgen_program import HOME, akgen

sys.path.insert(0, str(HOME / "scripts"))
import vocabulary  # noqa: E402: it is no package

SHIPPED = HOME / "models/graph-14m"


class Grown(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory(prefix="akgen-vocabulary-")
        cls.addClassCleanup(folder.cleanup)
        cls.at = pathlib.Path(folder.name)
        done = akgen("cot", "synth", "--db", cls.at / "rows.db", "--count", 160, "--seed", 5, "--machine", 0, "--programs=short")
        if done.returncode:
            raise AssertionError(done.stderr)
        with contextlib.closing(sqlite3.connect(cls.at / "rows.db")) as store:
            cls.rows = store.execute("SELECT question, answer FROM samples WHERE mode = 'dsl' ORDER BY rowid").fetchall()
        cls.grown = vocabulary.grown(SHIPPED, cls.rows[:100], 300, cls.at / "grown")
        cls.old = vocabulary.Vocabulary(json.loads((SHIPPED / "tokenizer.json").read_text()))

    def counted(self, model, text):
        """What akgen says of a row with this answer: tokens to learn, loss."""
        row = self.at / "row.jsonl"
        row.write_text(json.dumps({"prompt": "x", "completion": text}) + "\n")
        told = akgen("lm", "eval", model, "--data", row, "--json")
        self.assertEqual(told.returncode, 0, told.stderr)
        return json.loads(told.stdout)

    def test_akgen_cuts_as_the_script_does(self):
        config = json.loads((self.at / "grown/config.json").read_text())
        self.assertEqual(config["vocab_size"], self.grown.size)
        self.assertIn(self.grown.size, range(4096 + 100, 4096 + 301))
        counts = [0, 0]
        for question, answer in ((question, answer[:1500]) for question, answer in self.rows[100:112]):  # the model reads 2,048 tokens
            for i, (model, cut) in enumerate(((SHIPPED, self.old), (self.at / "grown", self.grown))):
                end = self.counted(model, "")["learned_tokens"]
                self.assertEqual(self.counted(model, answer)["learned_tokens"] - end, cut.length(answer), answer)
                counts[i] += cut.length(answer)
            self.assertEqual(self.grown.length(question), self.old.length(question), "questions are cut as before")
        self.assertLess(counts[1], 0.4 * counts[0], "a row is many times shorter")

    def test_no_fragment_runs_over_a_name(self):
        question = "ScaleBy\nin first_row float32 [3]\nattr at_most float\nout y float32 [3]"
        answer = "def scale_by_kernel(first_row, y, at_most):\n    tl.vmul(value1_ub, first_row_ub, 0.5, count=m)\n    firstRowGm.SetGlobalBuffer(atMost, SCALE_BY_TILING_H);"
        self.assertEqual(["".join(segment) for segment in vocabulary.segments(question, answer)], [
            "\ndef ", "_kernel(", ", ", ", ", "):\n    ", "tl.vmul(", "value1_ub", ", ", "_ub, ", "0", ".", "5", ", count=m)\n    ", "Gm.SetGlobalBuffer(", ", ", "_TILING_H);"])

    def test_the_longest_fragment_is_taken(self):
        several = vocabulary.Fragments(["tl.load(", "tl.load(x", "(x + at"])
        self.assertEqual(list(several.cut("  tl.load(x + at)")), [("  ", False), ("tl.load(x", True), (" + at)", False)])

    def test_what_no_new_token_is_in_is_as_probable_as_before(self):
        text = "y = exp(x) * scale"
        self.assertEqual(self.counted(self.at / "grown", text)["learned_tokens"], self.counted(SHIPPED, text)["learned_tokens"])
        before, after = (self.counted(model, text)["loss"] for model in (SHIPPED, self.at / "grown"))
        self.assertLess(abs(after - before), 0.5, "some rows more in the sum of the softmax")

    def test_others_are_refused(self):
        (self.at / "model").mkdir()
        for name in ("config.json", "tokenizer.json", "tokenizer_config.json", "model.safetensors"):
            (self.at / "model" / name).write_bytes((SHIPPED / name).read_bytes())
        config = json.loads((SHIPPED / "config.json").read_text())
        (self.at / "model/config.json").write_text(json.dumps(dict(config, tie_word_embeddings=False)))
        with self.assertRaisesRegex(ValueError, "4096 embeddings"):
            vocabulary.grown(self.at / "model", self.rows, 3, self.at / "again")


if __name__ == "__main__":
    unittest.main()
