#!/usr/bin/env python3
"""Training and TRL's SFTTrainer: 50 steps of the same samples in the same order have the same losses, rates and norms, and end in the same weights."""
import json
import os
import pathlib
import subprocess
import tempfile
import unittest

os.environ.update(HF_HUB_OFFLINE="1", CUDA_VISIBLE_DEVICES="", OMP_NUM_THREADS="2", WANDB_DISABLED="true")

import random

import datasets
import torch
import transformers
import trl
from safetensors.torch import load_file

AKGEN = os.environ["AKGEN"]
NEAR = 1e-3
CONFIG = dict(vocab_size=97, hidden_size=48, num_hidden_layers=2, num_attention_heads=4, num_key_value_heads=2, head_dim=16,
              intermediate_size=80, max_position_embeddings=128, rope_theta=1e4, rms_norm_eps=1e-6, initializer_range=0.1,
              tie_word_embeddings=True, eos_token_id=96, pad_token_id=95)
STEPS, BATCH = 50, 4


def rows(seed):
    """Sums of lengths and pairs that a model can learn, behind prompts that it shall not."""
    choose, made = random.Random(seed), []
    for _ in range(STEPS * BATCH // 2):
        prompt = [choose.randrange(90) for _ in range(choose.randrange(2, 9))]
        answer = [(token + 1) % 90 for token in prompt[:choose.randrange(1, len(prompt))]] + [96]
        made.append({"input_ids": prompt + answer, "labels": [-100] * len(prompt) + answer})
    return made


class InOrder(trl.SFTTrainer):
    def _get_train_sampler(self, *_):
        return torch.utils.data.SequentialSampler(self.train_dataset)

    def get_decay_parameter_names(self, model):
        """As from transformers 4.53 on; 4.51 takes q_norm, k_norm and the last norm for matrices."""
        return [name for name, parameter in model.named_parameters() if "norm" not in name]


class Collator:
    """Padding, and labels as they are."""
    def __call__(self, given):
        longest = max(len(row["input_ids"]) for row in given)
        def padded(name, value):
            return torch.tensor([row[name] + [value] * (longest - len(row[name])) for row in given])
        return {"input_ids": padded("input_ids", 95), "labels": padded("labels", -100),
                "attention_mask": torch.tensor([[1] * len(row["input_ids"]) + [0] * (longest - len(row["input_ids"])) for row in given])}


class Train(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.at = pathlib.Path(folder.name)
        torch.manual_seed(5)
        config = transformers.Qwen3Config(**CONFIG)
        config._attn_implementation = "eager"
        self.model = transformers.Qwen3ForCausalLM(config).float()
        self.model.save_pretrained(self.at / "model")
        self.rows = rows(5)
        (self.at / "data.jsonl").write_text("".join(json.dumps(row) + "\n" for row in self.rows))

    def by_trl(self, schedule, accumulation):
        arguments = trl.SFTConfig(
            output_dir=str(self.at / "trl"), per_device_train_batch_size=BATCH // accumulation, gradient_accumulation_steps=accumulation,
            num_train_epochs=2, learning_rate=2e-3, lr_scheduler_type=schedule, warmup_ratio=0.1, weight_decay=0.1, max_grad_norm=1.0,
            logging_steps=1, save_strategy="no", report_to=[], use_cpu=True, gradient_checkpointing=False, remove_unused_columns=False,
            dataset_kwargs={"skip_prepare_dataset": True}, disable_tqdm=True, seed=1)
        trainer = InOrder(self.model, arguments, train_dataset=datasets.Dataset.from_list(self.rows), data_collator=Collator(),
                          processing_class=self.tokenizer())
        trainer.train()
        return [row for row in trainer.state.log_history if "loss" in row]

    def tokenizer(self):
        from tokenizers import Tokenizer, models
        words = Tokenizer(models.WordLevel({f"t{i}": i for i in range(97)}, unk_token="t0"))
        return transformers.PreTrainedTokenizerFast(tokenizer_object=words, pad_token="t95", eos_token="t96")

    def by_us(self, schedule):
        done = subprocess.run([AKGEN, "lm", "train", self.at / "model", "--data", self.at / "data.jsonl", "-o", self.at / "ours", "--in-order",
                               "--batch", str(BATCH), "--epochs", "2", "--rate", "2e-3", "--schedule", schedule.replace("_with_warmup", ""), "--warmup", "0.1", "--decay",
                               "0.1", "--clip", "1"], capture_output=True, text=True, timeout=300)
        self.assertEqual(done.returncode, 0, done.stderr)
        return [json.loads(line) for line in (self.at / "ours/metrics.jsonl").read_text().splitlines()]

    def test_fifty_steps(self):
        for schedule, accumulation in (("cosine", 1), ("constant_with_warmup", 2)):
            with self.subTest(schedule):
                self.setUp()
                wanted, found = self.by_trl(schedule, accumulation), self.by_us(schedule)
                self.assertEqual((len(found), len(wanted)), (STEPS, STEPS))
                for ours, theirs in zip(found, wanted):
                    self.assertAlmostEqual(ours["loss"], theirs["loss"], delta=NEAR)
                    self.assertAlmostEqual(ours["rate"], theirs["learning_rate"], delta=1e-9)
                    self.assertAlmostEqual(ours["norm"], theirs["grad_norm"], delta=2e-3 * theirs["grad_norm"] + 1e-4)
                self.assertLess(found[-1]["loss"], found[0]["loss"] - 0.5)
                weights = load_file(self.at / "ours/model.safetensors")
                for name, parameter in self.model.named_parameters():
                    if name in weights:
                        self.assertLess((weights[name] - parameter).abs().max().item(), NEAR, name)


if __name__ == "__main__":
    unittest.main()
