#!/usr/bin/env python3
"""akgen lm: files as others write them today. transformers 5 puts rotary angles into rope_parameters, and Python writes integers of any size."""
import json
import pathlib
import shutil
import tempfile
import unittest

from akgen_program import akgen
from lm_program import make_model, write_rows

ENDLESS = int(1e30)  # model_max_length of a tokenizer that has no limit
FIVE = {"dtype": "float32", "layer_types": ["full_attention"] * 2, "pad_token_id": None, "sliding_window": None, "transformers_version": "5.24.0",
        "use_sliding_window": False}
TOKENIZER = {"backend": "tokenizers", "eos_token": "<|end|>", "extra_special_tokens": ["<|end|>"], "model_max_length": ENDLESS, "pad_token": None,
             "tokenizer_class": "TokenizersBackend"}


class Foreign(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory(prefix="akgen-lm-")
        cls.addClassCleanup(folder.cleanup)
        cls.at = pathlib.Path(folder.name)
        cls.rows = write_rows(cls.at / "rows.jsonl", [{"text": "add two tensors", "id": 2 ** 64 + i} for i in range(4)])
        cls.succeed("train", make_model(cls.at / "new", rope_theta=1e6), "--new", "--data", cls.rows, "-o", cls.at / "model", "--steps", 2)
        cls.config = json.loads((cls.at / "model/config.json").read_text())
        # The same model, as transformers 5 writes it.
        cls.five = cls.copy("five", FIVE | {"rope_parameters": {"rope_theta": 1e6, "rope_type": "default"}})

    @staticmethod
    def succeed(*arguments):
        done = akgen("lm", *arguments)
        assert done.returncode == 0, done.stderr
        return done.stdout

    @classmethod
    def copy(cls, name, changed):
        folder = cls.at / name
        shutil.copytree(cls.at / "model", folder, ignore=shutil.ignore_patterns("checkpoint*"))
        old = {key: value for key, value in cls.config.items() if key not in ("rope_theta", "rope_scaling", "torch_dtype")}
        (folder / "config.json").write_text(json.dumps(old | changed))
        (folder / "tokenizer_config.json").write_text(json.dumps(TOKENIZER))
        (folder / "generation_config.json").write_text(json.dumps({"eos_token_id": 256, "max_length": ENDLESS, "transformers_version": "5.24.0"}))
        return folder

    def written(self, folder, *options):
        return self.succeed("sample", folder, "--prompt", "add", "--temperature", 0, "--max-tokens", 20, "--json", *options)

    def test_it_is_the_same_model(self):
        wanted = self.written(self.at / "model")
        self.assertEqual(self.written(self.five), wanted)
        self.assertNotEqual(self.written(self.copy("default", FIVE)), wanted)  # without an angle it is 10000
        self.assertEqual(self.written(self.five, "--chat"), self.written(self.at / "model", "--chat"))
        # Written again it is what both versions read.
        self.succeed("convert", self.five, "-o", self.at / "converted")
        config = json.loads((self.at / "converted/config.json").read_text())
        self.assertEqual((config["rope_theta"], config["rope_scaling"], config["torch_dtype"]), (1e6, None, "float32"))
        self.assertEqual(self.written(self.at / "converted"), wanted)
        self.assertEqual((self.at / "converted/tokenizer_config.json").read_bytes(), (self.five / "tokenizer_config.json").read_bytes())

    def test_other_angles_are_refused_by_name(self):
        for name, changed, why in (
                ("yarn", {"rope_parameters": {"factor": 4.0, "rope_theta": 1e6, "rope_type": "yarn"}}, """'rope_parameters.rope_type' is "yarn", expected "default\""""),
                ("layers", {"rope_parameters": {"full_attention": {"rope_theta": 1e6, "rope_type": "default"}}}, "'rope_parameters.full_attention' is {"),
                ("conflict", {"rope_theta": 1e4, "rope_parameters": {"rope_theta": 1e6}}, "'rope_parameters.rope_theta' is 1000000.0, expected the same rope_theta")):
            done = akgen("lm", "sample", self.copy(name, FIVE | changed), "--prompt", "a")
            self.assertEqual(done.returncode, 2, done.stderr)
            self.assertIn(f"{name}/config.json: {why}", done.stderr)

    def test_integers_of_any_size(self):
        tokenizer = json.loads((self.five / "tokenizer.json").read_text())
        folder = self.copy("large", FIVE | {"rope_parameters": {"rope_theta": 1000000, "rope_type": "default"}, "max_length": ENDLESS})
        (folder / "tokenizer.json").write_text(json.dumps(tokenizer | {"truncation": {"max_length": 2 ** 64 - 1, "stride": 0, "strategy": "LongestFirst"}}))
        self.assertEqual(self.written(folder), self.written(self.five))
        # Adapters, rows, messages.
        self.succeed("train", self.five, "--data", self.rows, "-o", self.at / "lora", "--lora", 2, "--steps", 1)
        path = self.at / "lora/adapter_config.json"
        path.write_text(json.dumps(json.loads(path.read_text()) | {"layer_replication": None, "revision": ENDLESS}))
        self.succeed("convert", self.five, "--adapter", self.at / "lora", "-o", self.at / "merged")
        chat = write_rows(self.at / "chat.jsonl", [{"messages": [{"role": "user", "content": "9" * 30}], "id": -2 ** 70}])
        self.assertEqual(json.loads(self.succeed("chat", chat, "--json"))["text"], "<|im_start|>user\n" + "9" * 30 + "<|im_end|>\n")
        # Where a whole number is wanted, one too large is named.
        done = akgen("lm", "sample", self.copy("vocabulary", FIVE | {"vocab_size": ENDLESS}), "--prompt", "a")
        self.assertRegex(done.stderr, "'vocab_size' is 1[.0]*e30, expected a whole number from 1 to 16777216")


if __name__ == "__main__":
    unittest.main()
