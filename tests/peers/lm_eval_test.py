#!/usr/bin/env python3
"""`akgen lm eval` and transformers: the same loss and the same share of right tokens on random weights."""
import json
import os
import pathlib
import random
import subprocess
import tempfile
import unittest

os.environ.update(HF_HUB_OFFLINE="1", CUDA_VISIBLE_DEVICES="")

import torch
import transformers

AKGEN = os.environ["AKGEN"]


class Eval(unittest.TestCase):
    def test_rows(self):
        torch.manual_seed(2)
        choose = random.Random(2)
        at = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        model = transformers.Qwen3ForCausalLM(transformers.Qwen3Config(
            vocab_size=7, hidden_size=48, num_hidden_layers=2, num_attention_heads=4, num_key_value_heads=2, head_dim=16, intermediate_size=80,
            max_position_embeddings=128, initializer_range=0.3, tie_word_embeddings=False, eos_token_id=6)).float().eval()
        model.save_pretrained(at / "model")
        rows, losses, right = [], [], []
        for _ in range(50):
            tokens = torch.tensor([choose.randrange(7) for _ in range(choose.randrange(2, 100))])
            labels = torch.tensor([-100 if choose.random() < 0.3 else token for token in tokens])
            if (labels[1:] == -100).all():
                continue
            rows.append({"input_ids": tokens.tolist(), "labels": labels.tolist()})
            with torch.no_grad():
                scores = model(tokens[None]).logits[0, :-1]
            learned = labels[1:] != -100
            losses.append(torch.nn.functional.cross_entropy(scores[learned], labels[1:][learned], reduction="none"))
            right.append(scores[learned].argmax(1) == labels[1:][learned])
        (at / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
        done = subprocess.run([AKGEN, "lm", "eval", at / "model", "--data", at / "rows.jsonl", "--json"], capture_output=True, text=True, timeout=120)
        self.assertEqual(done.returncode, 0, done.stderr)
        said = json.loads(done.stdout)
        self.assertEqual(said["learned_tokens"], len(torch.cat(losses)))
        self.assertAlmostEqual(said["loss"], torch.cat(losses).mean().item(), delta=1e-4)
        self.assertAlmostEqual(said["accuracy"], torch.cat(right).float().mean().item(), delta=1e-6)
        self.assertGreater(said["accuracy"], 0.05)


if __name__ == "__main__":
    unittest.main()
