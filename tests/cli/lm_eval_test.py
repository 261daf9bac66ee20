#!/usr/bin/env python3
"""akgen lm eval: the losses that training says, by source, of pairs, with adapters and in int8; tests/peers/lm_eval_test.py compares with
transformers."""
import json
import math
import pathlib
import tempfile
import unittest

from akgen_program import akgen
from lm_program import make_model, write_rows

ROWS = [{"prompt": f"{a} + {b} = ", "completion": str(a + b), "source": "sums" if a < 6 else "more"} for a in range(8) for b in range(8)]


class Eval(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory(prefix="akgen-lm-")
        cls.addClassCleanup(cls.folder.cleanup)
        cls.at = pathlib.Path(cls.folder.name)
        cls.rows = write_rows(cls.at / "rows.jsonl", ROWS)
        cls.fresh = make_model(cls.at / "fresh")
        cls.model = cls.at / "model"
        done = akgen("lm", "train", cls.fresh, "--new", "--data", cls.rows, "--eval", cls.rows, "-o", cls.model, "--steps", 150, "--rate", "5e-3", "--json")
        assert done.returncode == 0, done.stderr
        cls.loss = json.loads(done.stdout)["eval_loss"]

    def eval(self, *options, model=None, data=None):
        done = akgen("lm", "eval", model or self.model, "--data", data or self.rows, "--json", *options)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)

    def test_what_training_says(self):
        said = self.eval()
        self.assertAlmostEqual(said["loss"], self.loss, delta=1e-5)
        self.assertAlmostEqual(said["perplexity"], math.exp(said["loss"]), delta=1e-6)
        learned = [len(row["completion"]) + 1 for row in ROWS]
        self.assertEqual((said["rows"], said["learned_tokens"]), (64, sum(learned)))
        self.assertEqual(said["tokens"], sum(len(row["prompt"]) for row in ROWS) + sum(learned))
        self.assertGreater(said["accuracy"], 0.6)
        self.assertLess(self.eval("--length", 9)["tokens"], said["tokens"])
        for few in (1, 30): # passes do not matter
            self.assertAlmostEqual(self.eval("--tokens", few)["loss"], said["loss"], delta=1e-5)

    def test_sources(self):
        said = self.eval()
        parts = said["sources"]
        self.assertEqual({name: part["rows"] for name, part in parts.items()}, {"sums": 48, "more": 16})
        for name, part in parts.items():
            alone = self.eval(data=write_rows(self.at / "part.jsonl", [row for row in ROWS if row["source"] == name]))
            self.assertAlmostEqual(part["loss"], alone["loss"], delta=1e-5)
            self.assertEqual(part["accuracy"], alone["accuracy"])
        self.assertAlmostEqual(said["loss"] * said["learned_tokens"], sum(part["loss"] * part["learned_tokens"] for part in parts.values()), delta=1e-3)
        self.assertNotIn("sources", self.eval(data=write_rows(self.at / "none.jsonl", [{"text": "a"}])))

    def test_pairs(self):
        pairs = [{"prompt": row["prompt"], "chosen": row["completion"], "rejected": "x" + row["completion"]} for row in ROWS]
        data = write_rows(self.at / "pairs.jsonl", pairs)
        said = self.eval(data=data)
        self.assertEqual((said["right"], said["right_by_token"]), (1, 1))
        one = lambda answer: -self.eval(data=write_rows(self.at / "one.jsonl", [{"prompt": pairs[9]["prompt"], "completion": answer}]))["loss"] * (len(answer) + 1)  # noqa: E731
        alone = self.eval(data=write_rows(self.at / "pair.jsonl", pairs[9:10]))
        self.assertAlmostEqual(alone["chosen"], one(pairs[9]["chosen"]), delta=1e-4)
        self.assertAlmostEqual(alone["rejected"], one(pairs[9]["rejected"]), delta=1e-4)
        # To itself a model has no margin, and to another the difference of theirs.
        self.assertEqual(self.eval("--reference", self.model, data=data)["margin"], 0)
        done = akgen("lm", "train", self.model, "--objective", "dpo", "--data", data, "-o", self.at / "dpo", "--steps", 3, "--rate", "1e-3")
        self.assertEqual(done.returncode, 0, done.stderr)
        tuned, against = self.eval(data=data, model=self.at / "dpo"), self.eval("--reference", self.model, "--beta", 0.5, data=data, model=self.at / "dpo")
        self.assertAlmostEqual(against["margin"], 0.5 * (tuned["margin"] - said["margin"]), delta=1e-3)
        self.assertGreater(against["margin"], 0)

    def test_adapters_and_int8(self):
        done = akgen("lm", "train", self.model, "--data", self.rows, "--eval", self.rows, "-o", self.at / "lora", "--lora", 4, "--steps", 20, "--rate", "1e-2", "--json")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertAlmostEqual(self.eval("--adapter", self.at / "lora")["loss"], json.loads(done.stdout)["eval_loss"], delta=1e-4)
        rounded = self.eval("--int8")
        self.assertNotEqual(rounded["loss"], self.eval()["loss"])
        self.assertAlmostEqual(rounded["loss"], self.eval()["loss"], delta=0.05)

    def test_a_table_and_what_is_refused(self):
        done = akgen("lm", "eval", self.model, "--data", self.rows)
        self.assertEqual([line.split()[-1] for line in done.stdout.splitlines()], ["accuracy", "all", "sums", "more"])
        def refused(message, *arguments):
            done = akgen("lm", "eval", *arguments)
            self.assertEqual(done.returncode, 2, done.stderr)
            self.assertIn(message, done.stderr)
        refused("are needed", self.model)
        refused("--beta is of --reference", self.model, "--data", self.rows, "--beta", 0.5)
        refused("no-file: No such file", self.model, "--data", self.at / "no-file")
        refused("rows with 'chosen'", self.model, "--data", self.rows, "--reference", self.model)
        refused("bad.jsonl:1: expected an object", self.model, "--data", write_rows(self.at / "bad.jsonl", [{"x": 1}]))
        refused("config.json: No such file", self.at / "nowhere", "--data", self.rows)


if __name__ == "__main__":
    unittest.main()
