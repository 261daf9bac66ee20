#!/usr/bin/env python3
"""Configurations and tokenizers that transformers 5 writes, and ours that it reads. It is installed for this test alone, without PyTorch: the
other comparisons need a version that works with CANN's."""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

AKGEN, HOME = os.environ["AKGEN"], pathlib.Path(os.environ["AKGEN_HOME"])
PACKAGE = "transformers==5.24.0"
WRITE = """
import pathlib, sys, transformers
at, model = pathlib.Path(sys.argv[1]), sys.argv[2]
sizes = dict(vocab_size=4096, hidden_size=48, num_hidden_layers=2, num_attention_heads=4, num_key_value_heads=2, head_dim=16, intermediate_size=80,
             max_position_embeddings=128, eos_token_id=4093, dtype="float32", tie_word_embeddings=True)
yarn = {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 32}
for name, kind, changed in (("plain", "Qwen3", {"rope_theta": 5e6}), ("yarn", "Qwen3", {"rope_scaling": yarn}), ("part", "Qwen3", {"partial_rotary_factor": 0.5}),
                            ("window", "Qwen3", {"use_sliding_window": True, "sliding_window": 16, "max_window_layers": 1}),
                            ("experts", "Qwen3Moe", {"num_experts": 6, "num_experts_per_tok": 2, "moe_intermediate_size": 24})):
    getattr(transformers, kind + "Config")(**sizes, **changed).save_pretrained(at / name)
tokenizer = transformers.AutoTokenizer.from_pretrained(model)
tokenizer.model_max_length = int(1e30)
tokenizer.save_pretrained(at / "plain")
"""
READ = """
import json, sys, transformers
config = transformers.AutoConfig.from_pretrained(sys.argv[1])
tokenizer = transformers.AutoTokenizer.from_pretrained(sys.argv[1])
print(json.dumps([config.rope_parameters, str(config.dtype), config.eos_token_id, tokenizer.encode("y = sqrt(x)<|im_end|>")]))
"""


class Transformers5(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.at = pathlib.Path(folder.name)
        subprocess.run([sys.executable, "-m", "pip", "install", "--quiet", "--no-cache-dir", "--only-binary=:all:", "--target", cls.at / "packages", PACKAGE],
                       check=True)
        cls.python(WRITE, cls.at, HOME / "models/graph-14m")

    @classmethod
    def python(cls, program, *arguments):
        environment = dict(os.environ, PYTHONPATH=str(cls.at / "packages"), HF_HUB_OFFLINE="1")
        return subprocess.run([sys.executable, "-c", program, *map(str, arguments)], env=environment, check=True, capture_output=True, text=True).stdout

    def lm(self, *arguments):
        return subprocess.run([AKGEN, "lm", *map(str, arguments)], capture_output=True, text=True)

    def test_models_go_there_and_back(self):
        written = json.loads((self.at / "plain/config.json").read_text())
        self.assertEqual(written["rope_parameters"], {"rope_theta": 5e6, "rope_type": "default"})
        self.assertNotIn("rope_theta", written)
        self.assertIn('"model_max_length": 1' + "0" * 15, (self.at / "plain/tokenizer_config.json").read_text())
        rows = self.at / "rows.jsonl"
        rows.write_text(json.dumps({"messages": [{"role": "user", "content": "a"}, {"role": "assistant", "content": "y = sqrt(x)"}]}) + "\n")
        done = self.lm("train", self.at / "plain", "--new", "--data", rows, "-o", self.at / "trained", "--steps", 1)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(json.loads((self.at / "trained/config.json").read_text())["rope_theta"], 5e6)
        done = self.lm("sample", self.at / "trained", "--chat", "--prompt", "a", "--max-tokens", 4)
        self.assertEqual(done.returncode, 0, done.stderr)
        expected = json.loads(self.python(READ, HOME / "models/graph-14m"))
        self.assertEqual(json.loads(self.python(READ, self.at / "trained")), [{"rope_theta": 5e6, "rope_type": "default"}, "float32", 4093, expected[3]])

    def test_what_is_not_supported_is_refused(self):
        for name, why in (("yarn", "'rope_parameters.rope_type' is \"yarn\""), ("part", "'rope_parameters.partial_rotary_factor' is 0.5"),
                          ("window", "'use_sliding_window' is true")):
            self.assertIn(f"{name}/config.json: {why}", self.lm("plan", self.at / name).stderr)

    def test_experts(self):
        self.assertIn("num_local_experts", (self.at / "experts/config.json").read_text())
        done = self.lm("plan", self.at / "experts", "--json")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(json.loads(done.stdout)["parameters"], 4096 * 48 + 48 + 2 * (48 * 16 * (4 + 2 + 2 + 4) + 2 * 16 + 2 * 48 + 6 * (48 + 3 * 48 * 24)))


if __name__ == "__main__":
    unittest.main()
