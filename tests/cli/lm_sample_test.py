#!/usr/bin/env python3
"""akgen lm sample: a model that has learned a corpus by heart says it again; seeds, stop strings and lengths; the same text in any batch."""
import json
import math
import pathlib
import tempfile
import unittest

from akgen_program import akgen
from lm_program import change_weights, make_model, write_rows

CORPUS = ["kernel add: copy in, add, copy out.", "kernel relu: copy in, maximum with zero, copy out.",
          "矩阵乘法 on the cube 🚀 and the vector units."]


class Sample(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory(prefix="akgen-lm-")
        at = pathlib.Path(cls.folder.name)
        data = write_rows(at / "data.jsonl", [{"text": text} for text in CORPUS])
        done = akgen("lm", "train", make_model(at / "new"), "--new", "--data", data, "-o", at / "model", "--steps", 120, "--rate", 1e-2,
                     "--schedule", "constant", "--warmup", 5)
        assert done.returncode == 0, done.stderr
        cls.model = at / "model"

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def sample(self, *options, code=0):
        done = akgen("lm", "sample", self.model, *options)
        self.assertEqual(done.returncode, code, done.stderr)
        return done

    def rows(self, *options):
        """(prompt, sample) -> row."""
        rows = [json.loads(line) for line in self.sample(*options, "--json").stdout.splitlines()]
        return {(row["prompt"], row["sample"]): row for row in rows}

    def test_says_what_it_learned(self):
        prompts = [option for text in CORPUS for option in ("--prompt", text[:8])]
        rows = self.rows(*prompts, "--temperature", 0)
        for i, text in enumerate(CORPUS):
            row = rows[i, 0]
            self.assertEqual((CORPUS[i][:8] + row["text"], row["finish"]), (text, "end"))
            self.assertEqual(len(row["tokens"]), len(text[8:].encode()) + 1)
            self.assertLess(abs(row["log_prob"]), 2)
        # The same one alone, as it comes.
        self.assertEqual(self.sample("--prompt", CORPUS[2][:8], "--temperature", 0).stdout, CORPUS[2][8:] + "\n")

    def test_ends(self):
        def row(*options):
            return self.rows("--prompt", "kernel a", "--temperature", 0, *options)[0, 0]
        self.assertEqual([row("--max-tokens", 5)[key] for key in ("text", "finish")], ["dd: c", "length"])
        self.assertEqual([row("--stop", "add", "--stop", ", c")[key] for key in ("text", "finish")], ["dd: copy in, ", "stop"])
        self.assertEqual([row("--stop", "in, add, copy in")[key] for key in ("text", "finish")], ["dd: copy in, add, copy out.", "end"])
        # Two of the three bytes of a character are none.
        cut = self.rows("--prompt", "矩阵", "--temperature", 0, "--max-tokens", 2)[0, 0]
        self.assertEqual([cut[key] for key in ("text", "finish")], ["??", "length"])

    def test_the_same_in_any_batch(self):
        options = ("--temperature", 1.5, "--seed", 7, "--max-tokens", 40)
        many = self.rows("--prompt", "kernel ", "--prompt", CORPUS[2][:5], "--prompt", CORPUS[1] * 3, *options, "-n", 40)
        again = self.rows("--prompt", "kernel ", "--prompt", CORPUS[2][:5], "--prompt", CORPUS[1] * 3, *options, "-n", 40)
        self.assertEqual(many, again)
        few = self.rows("--prompt", CORPUS[2][:5], *options, "-n", 3)
        for sample in range(3):
            for key in ("text", "tokens", "log_prob", "finish"):
                self.assertEqual(few[0, sample][key], many[1, sample][key])
        alone = self.rows("--prompt", "kernel ", "--temperature", 1.5, "--seed", 7 + 31, "--max-tokens", 40, "--threads", 1)[0, 0]
        self.assertEqual(alone["tokens"], many[0, 31]["tokens"])
        self.assertGreater(len({row["text"] for row in many.values()}), 30)

    def test_cuts(self):
        greedy = self.rows("--prompt", "kernel r", "--temperature", 0)[0, 0]["tokens"]
        for cut in (("--top-k", 1), ("--top-p", 1e-6), ("--min-p", 1)):
            self.assertEqual(self.rows("--prompt", "kernel r", "--temperature", 2, *cut)[0, 0]["tokens"], greedy)

    def test_int8(self):
        """What was learned by heart is still known, in any batch; and it is another model."""
        prompts = [option for text in CORPUS for option in ("--prompt", text[:8])]
        for i, row in enumerate(self.rows(*prompts, "--temperature", 0, "--int8")[i, 0] for i in range(len(CORPUS))):
            self.assertEqual((CORPUS[i][:8] + row["text"], row["finish"]), (CORPUS[i], "end"))
            self.assertEqual(row, self.rows(*prompts[2 * i:2 * i + 2], "--temperature", 0, "--int8")[0, 0] | {"prompt": i})
            self.assertNotEqual(row["log_prob"], self.rows(*prompts[2 * i:2 * i + 2], "--temperature", 0)[0, 0]["log_prob"])

    def test_weights_that_are_no_numbers(self):
        """They are refused as they are read; finite ones whose scores are none end the text, with an error in place of rubbish."""
        at = pathlib.Path(self.folder.name)
        for value, word in ((math.nan, "NaN"), (-math.inf, "infinite")):
            broken = change_weights(self.model, at / word, "model.layers.1.mlp.up_proj.weight", value, first=7, count=1)
            for options in ((), ("--int8",), ("--temperature", 0)):
                done = akgen("lm", "sample", broken, "--prompt", "kernel ", *options)
                self.assertEqual((done.returncode, done.stdout), (2, ""))
                self.assertIn(f"/model.safetensors: element 7 of tensor 'model.layers.1.mlp.up_proj.weight' is {word}, no finite number", done.stderr)
        large = change_weights(self.model, at / "large", "model.norm.weight", 3e38)
        for options in ((), ("--int8",), ("--temperature", 0), ("--top-p", 0.5)):
            done = akgen("lm", "sample", large, "--prompt", "kernel ", "--json", "-n", 3, *options)
            self.assertEqual(done.returncode, 3)
            self.assertIn("the model's scores are no finite numbers: its weights are too large", done.stderr)
            self.assertEqual([json.loads(row)["finish"] for row in done.stdout.splitlines()], ["no number"] * 3)

    def test_a_second_value_is_refused(self):
        refused = self.sample("--prompt", "kernel ", "--seed", 1, "--seed", 2, code=2).stderr
        self.assertIn("--seed takes one value, and is given two: 1 and 2", refused)

    def test_what_is_wrong_is_said(self):
        self.assertIn("MODEL and --prompt TEXT are needed", self.sample(code=2).stderr)
        self.assertIn("--top-p: '2' is no number from 1e-09 to 1", self.sample("--prompt", "a", "--top-p", 2, code=2).stderr)
        self.assertIn("prompt 0: the prompt has no token", self.sample("--prompt", "", code=3).stderr)
        self.assertIn("prompt 0: the prompt has 256 tokens, and there is room for 256", self.sample("--prompt", "a" * 256, code=3).stderr)
        self.assertEqual(len(self.rows("--prompt", "a" * 250)[0, 0]["tokens"]), 6)


if __name__ == "__main__":
    unittest.main()
