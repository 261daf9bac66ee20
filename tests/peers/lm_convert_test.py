#!/usr/bin/env python3
"""`akgen lm convert --adapter` and PEFT's merge_and_unload: the same logits, of adapters that either wrote."""
import json
import os
import pathlib
import subprocess
import tempfile
import unittest

os.environ.update(HF_HUB_OFFLINE="1", CUDA_VISIBLE_DEVICES="")

import peft
import torch
import transformers

AKGEN = os.environ["AKGEN"]
CONFIG = dict(vocab_size=97, hidden_size=48, num_hidden_layers=2, num_attention_heads=4, num_key_value_heads=2, head_dim=16, intermediate_size=80,
              max_position_embeddings=128, rope_theta=1e4, initializer_range=0.1, eos_token_id=96)
TOKENS = torch.arange(90).reshape(3, 30)


def akgen(*arguments):
    done = subprocess.run([AKGEN, "lm", *map(str, arguments)], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr


def load(folder):
    return transformers.AutoModelForCausalLM.from_pretrained(folder).eval()


def logits(model):
    with torch.no_grad():
        return model(TOKENS).logits


class Convert(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.at = pathlib.Path(folder.name)
        torch.manual_seed(3)

    def model(self, name, tied):
        transformers.Qwen3ForCausalLM(transformers.Qwen3Config(**CONFIG, tie_word_embeddings=tied)).float().save_pretrained(self.at / name)
        return self.at / name

    def compare(self, model, adapter, out):
        """Ours to PEFT's, which differs from the model without adapters."""
        akgen("convert", model, "--adapter", adapter, "-o", out, "--shard-size", 1)
        wanted = logits(peft.PeftModel.from_pretrained(load(model), adapter).merge_and_unload())
        scale = wanted.abs().max()
        self.assertGreater((wanted - logits(load(model))).abs().max() / scale, 1e-2)
        self.assertLess((wanted - logits(load(out))).abs().max() / scale, 1e-5)

    def test_adapters_of_peft(self):
        for tied, targets in ((True, ["q_proj", "down_proj"]), (False, ["k_proj", "v_proj", "o_proj", "gate_proj", "up_proj"])):
            model = self.model(f"model-{tied}", tied)
            adapted = peft.get_peft_model(load(model), peft.LoraConfig(r=3, lora_alpha=8, target_modules=targets, init_lora_weights=False, task_type="CAUSAL_LM"))
            adapted.save_pretrained(self.at / f"adapter-{tied}")
            self.compare(model, self.at / f"adapter-{tied}", self.at / f"out-{tied}")

    def test_adapters_that_were_trained_here(self):
        model = self.model("model", True)
        (self.at / "rows.jsonl").write_text("".join(json.dumps({"input_ids": [i, i + 1, i + 2, 96]}) + "\n" for i in range(40)))
        akgen("train", model, "--data", self.at / "rows.jsonl", "-o", self.at / "lora", "--lora", 4, "--rate", 1e-2, "--steps", 20)
        self.compare(model, self.at / "lora", self.at / "out")

    def test_types(self):
        model = self.model("model", False)
        akgen("convert", model, "-o", self.at / "small", "--dtype", "bfloat16")
        self.assertEqual(load(self.at / "small").dtype, torch.float32)
        small = transformers.AutoModelForCausalLM.from_pretrained(self.at / "small", torch_dtype="auto")
        for name, weight in load(model).state_dict().items():
            self.assertTrue(torch.equal(small.state_dict()[name], weight.bfloat16()), name)


if __name__ == "__main__":
    unittest.main()
