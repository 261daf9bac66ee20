#!/usr/bin/env python3
"""akgen lm tokenizer: a vocabulary of rows and texts, a model trained with it, and what is said of files that are wrong."""
import json
import pathlib
import tempfile
import unittest

from akgen_program import akgen
from lm_program import make_model, write_rows

ROWS = [{"messages": [{"role": "user", "content": f"Say {word}."}, {"role": "assistant", "content": f"{word} {word} {word}"}]}
        for word in ("kernel", "tiling", "vector")]


class Tokenizer(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="akgen-lm-")
        self.addCleanup(folder.cleanup)
        self.at = pathlib.Path(folder.name)

    def refused(self, message, *arguments):
        done = akgen("lm", "tokenizer", *arguments)
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertIn(message, done.stderr)

    def test_a_vocabulary_and_a_model_that_learns_with_it(self):
        rows = write_rows(self.at / "rows.jsonl", ROWS)
        (self.at / "more.txt").write_text("vector vector tiling\n")
        model = make_model(self.at / "model", vocab_size=300, eos_token_id=282)
        (model / "tokenizer.json").unlink()
        done = akgen("lm", "tokenizer", rows, self.at / "more.txt", "-o", model, "--vocab", 286, "--special", "<tool>", "--json")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        result = json.loads(done.stdout)
        self.assertEqual((result["vocabulary"], result["merges"]), (286, 286 - 256 - 6))
        self.assertIn("<|im_start|>", json.loads((model / "tokenizer_config.json").read_text())["chat_template"])
        described = json.loads((model / "tokenizer.json").read_text())
        self.assertEqual([(token["content"], token["id"]) for token in described["added_tokens"]],
                         [("<|endoftext|>", 280), ("<|im_start|>", 281), ("<|im_end|>", 282), ("<think>", 283), ("</think>", 284), ("<tool>", 285)])
        self.assertEqual(len(described["model"]["vocab"]), 280)
        done = akgen("lm", "train", model, "--new", "--data", rows, "-o", self.at / "run", "--steps", 150, "--rate", "1e-2", "--json")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertLess(json.loads(done.stdout)["loss"], 0.1)
        done = akgen("lm", "sample", self.at / "run", "--chat", "--prompt", "Say vector.", "--temperature", 0, "--max-tokens", 40)
        self.assertIn("vector vector vector", done.stdout)
        self.refused("tokenizer.json is there already", rows, "-o", model, "--vocab", 300)

    def test_the_same_files_give_the_same_bytes(self):
        (self.at / "a.txt").write_bytes(pathlib.Path(__file__).read_bytes())
        made = []
        for out in ("one", "two"):
            self.assertEqual(akgen("lm", "tokenizer", self.at / "a.txt", "-o", self.at / out, "--vocab", 700).returncode, 0)
            made.append([(self.at / out / name).read_bytes() for name in ("tokenizer.json", "tokenizer_config.json")])
        self.assertEqual(*made)

    def test_too_few_texts(self):
        model = make_model(self.at / "model")
        (model / "tokenizer.json").unlink()
        (self.at / "a.txt").write_text("ab")
        done = akgen("lm", "tokenizer", self.at / "a.txt", "-o", model, "--vocab", 300)
        self.assertEqual(done.returncode, 0)
        self.assertIn("1 merges, 262 tokens in all; 2.00 bytes a token", done.stdout)
        self.assertIn("262 tokens, not 300: no pair is left", done.stderr)
        self.assertIn("'vocab_size' is 257, and has to be at least 262", done.stderr)

    def test_what_is_refused(self):
        out = self.at / "out"
        self.refused("are needed", "-o", out, "--vocab", 300)
        self.refused("it has to have from 261 to", __file__, "-o", out, "--vocab", 260)
        self.refused("no-such-file", self.at / "no-such-file", "-o", out, "--vocab", 300)
        self.refused("no-such.jsonl", self.at / "no-such.jsonl", "-o", out, "--vocab", 300)
        for row, message in (({"text": 1}, "expected an object with 'text'"), ({"input_ids": [1, 2]}, "tokens, where a text is needed"),
                             ({"prompt": "a", "chosen": "b"}, "'rejected'"), ({"messages": [{"role": "user"}]}, "message 0: 'content'"),
                             ({"prompt": "a", "completions": ["b"], "rewards": [1]}, "at least two 'completions'")):
            rows = write_rows(self.at / "rows.jsonl", [{"text": "fine"}, row])
            self.refused(f"{rows}:2: ", rows, "-o", out, "--vocab", 300)
            self.refused(message, rows, "-o", out, "--vocab", 300)
        self.assertFalse(out.exists())


if __name__ == "__main__":
    unittest.main()
