#!/usr/bin/env python3
"""The language model and transformers' Qwen3, on models of random weights: logits, probabilities and every parameter's gradient, and
files that either writes and the other reads."""
import json
import os
import pathlib
import random
import shutil
import subprocess
import sys
import tempfile
import unittest

os.environ.update(HF_HUB_OFFLINE="1", CUDA_VISIBLE_DEVICES="", OMP_NUM_THREADS="2")

import torch
import transformers
from safetensors.torch import load_file

PROGRAM = pathlib.Path(os.environ["AKGEN"]).parent / "tests/lm_pass"
NEAR = 1e-4  # of the largest of a tensor
DENSE = dict(vocab_size=97, hidden_size=48, num_hidden_layers=3, num_attention_heads=4, num_key_value_heads=2, head_dim=16,
             intermediate_size=80, max_position_embeddings=256, rope_theta=1e6, rms_norm_eps=1e-6, initializer_range=0.1)
EXPERTS = dict(num_experts=5, num_experts_per_tok=2, moe_intermediate_size=24)
MODELS = {
    "tied": transformers.Qwen3Config(**DENSE, tie_word_embeddings=True),
    "untied": transformers.Qwen3Config(**DENSE, tie_word_embeddings=False),
    "a head for each": transformers.Qwen3Config(**DENSE | dict(num_key_value_heads=4, head_dim=8, rms_norm_eps=1e-3)),
    "one head of keys": transformers.Qwen3Config(**DENSE | dict(num_key_value_heads=1, rope_theta=10000.0)),
    "experts": transformers.Qwen3MoeConfig(**DENSE, **EXPERTS, norm_topk_prob=True),
    "experts not normalised": transformers.Qwen3MoeConfig(**DENSE, **EXPERTS, norm_topk_prob=False),
    "some layers dense": transformers.Qwen3MoeConfig(**DENSE, **EXPERTS, mlp_only_layers=[0], decoder_sparse_step=2),
}


def make(config, seed):
    """A model whose norms are not all one."""
    torch.manual_seed(seed)
    kind = transformers.Qwen3MoeForCausalLM if config.model_type == "qwen3_moe" else transformers.Qwen3ForCausalLM
    config._attn_implementation = "eager"
    model = kind(config).float().eval()
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if "norm" in name:
                parameter.add_(torch.randn_like(parameter) * 0.2)
    return model


def batch(choose, vocabulary, lengths):
    texts = [[choose.randrange(vocabulary) for _ in range(n)] for n in lengths]
    labels = [[text[i + 1] if i + 1 < len(text) and choose.random() < 0.7 else -1 for i in range(len(text))] for text in texts]
    factors = [[choose.uniform(-1, 1) for _ in text] for text in texts]
    return {"texts": texts, "labels": labels, "factors": factors}


def expected(model, given):
    """The same by transformers, each text alone."""
    model.zero_grad()
    logits, probabilities, total = [], [], 0
    for text, labels, factors in zip(given["texts"], given["labels"], given["factors"]):
        scores = model(input_ids=torch.tensor([text])).logits[0]
        learned = torch.tensor([label >= 0 for label in labels])
        found = torch.log_softmax(scores, -1).gather(1, torch.tensor(labels).clamp(min=0)[:, None])[:, 0]
        found = torch.where(learned, found, torch.zeros(()))
        total = total + (found * torch.tensor(factors)).sum()
        logits.append(scores)
        probabilities.append(found)
    total.backward()
    result = {"logits": torch.cat(logits), "log_probs": torch.cat(probabilities)}
    for name, parameter in model.named_parameters():
        result[name] = parameter.grad if parameter.grad is not None else torch.zeros_like(parameter)
    return result


def program(*arguments, given=None):
    done = subprocess.run([PROGRAM, *map(str, arguments)], input=json.dumps(given), capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    return done


class Model(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.at = pathlib.Path(folder.name)

    def compare(self, name, found, wanted):
        self.assertEqual(found.shape, wanted.shape, name)
        scale = wanted.abs().max().item() or 1.0
        self.assertLess((found - wanted).abs().max().item() / scale, NEAR, name)

    def test_logits_and_gradients(self):
        for seed, (name, config) in enumerate(MODELS.items()):
            with self.subTest(name):
                model = make(config, seed)
                model.save_pretrained(self.at / name)
                given = batch(random.Random(seed), config.vocab_size, (33, 1, 17))
                wanted = expected(model, given)
                for kind in ("plain", "fast", "checkpoint"):
                    program(kind, self.at / name, self.at / "found", given=given)
                    found = load_file(self.at / "found")
                    self.assertEqual(found.keys(), wanted.keys())
                    trained = kind == "plain" or config.model_type == "qwen3"
                    for key in wanted if trained else ("logits", "log_probs"):
                        self.compare(f"{kind} {key}", found[key], wanted[key])

    def test_greedy_texts(self):
        """Of a tokenizer whose tokens are bytes."""
        sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "cli"))
        from lm_program import make_model
        for seed, name in enumerate(("tied", "one head of keys", "experts")):
            with self.subTest(name):
                config = type(MODELS[name])(**MODELS[name].to_dict() | dict(vocab_size=257, eos_token_id=None, initializer_range=0.3))
                model = make(config, seed)
                model.save_pretrained(self.at / name)
                shutil.copy(make_model(self.at / f"bytes {name}") / "tokenizer.json", self.at / name)
                prompts = ["a", "what comes now", "矩阵" * 7]
                done = subprocess.run([os.environ["AKGEN"], "lm", "sample", self.at / name, "--temperature", "0", "--max-tokens", "40", "--json",
                                       *[option for prompt in prompts for option in ("--prompt", prompt)]], capture_output=True, text=True, timeout=300)
                self.assertEqual(done.returncode, 0, done.stderr)
                found = {row["prompt"]: row for row in map(json.loads, done.stdout.splitlines())}
                for i, prompt in enumerate(prompts):
                    given = torch.tensor([list(prompt.encode())])
                    wanted = model.generate(given, attention_mask=torch.ones_like(given), do_sample=False, max_new_tokens=40, pad_token_id=0)
                    self.assertEqual(found[i]["tokens"], wanted[0, given.size(1):].tolist())

    def test_what_we_save_loads(self):
        """In several files, as it is longer than one may be here."""
        for name in ("tied", "some layers dense"):
            model = make(MODELS[name], 3)
            model.save_pretrained(self.at / name, max_shard_size="50KB")
            (self.at / "copy").mkdir(exist_ok=True)
            program("copy", self.at / name, self.at / "copy")
            self.assertTrue((self.at / "copy/model.safetensors.index.json").exists())
            again, told = transformers.AutoModelForCausalLM.from_pretrained(self.at / "copy", output_loading_info=True,
                                                                           attn_implementation="eager")
            self.assertEqual([told[key] for key in ("missing_keys", "unexpected_keys", "mismatched_keys")], [[], [], []])
            tokens = torch.tensor([[1, 2, 3, 5, 8, 13, 21]])
            self.assertTrue(torch.equal(again(tokens).logits, model(tokens).logits))
            for key in ("vocab_size", "rope_theta", "rms_norm_eps", "head_dim", "tie_word_embeddings", "num_key_value_heads"):
                self.assertEqual(getattr(again.config, key, None), getattr(model.config, key, None), key)


if __name__ == "__main__":
    unittest.main()
