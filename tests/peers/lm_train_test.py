#!/usr/bin/env python3
"""Training and TRL: 50 steps of SFT and of DPO of the same samples in the same order have the same losses, rates and norms, and end in the same
weights; a step of GRPO has the same loss and gradients, and those behind it, whose ratios are not one, the same losses."""
import collections
import functools
import json
import os
import pathlib
import subprocess
import tempfile
import types
import unittest

os.environ.update(HF_HUB_OFFLINE="1", CUDA_VISIBLE_DEVICES="", OMP_NUM_THREADS="2", WANDB_DISABLED="true")

import random

import datasets
import torch
import transformers
import trl
from safetensors.torch import load_file
from tokenizers import Tokenizer, models, pre_tokenizers

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


def make_model(seed):
    torch.manual_seed(seed)
    config = transformers.Qwen3Config(**CONFIG)
    config._attn_implementation = "eager"
    return transformers.Qwen3ForCausalLM(config).float()


def tokenizer():
    """t0 t1 .. with spaces between."""
    words = Tokenizer(models.WordLevel({f"t{i}": i for i in range(97)}, unk_token="t0"))
    words.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    return transformers.PreTrainedTokenizerFast(tokenizer_object=words, pad_token="t95", eos_token="t96")


def words(tokens):
    return " ".join(f"t{token}" for token in tokens)


def in_order(trainer):
    """Of a class of trainers, one that takes samples as they come."""
    class InOrder(trainer):
        def _get_train_sampler(self, *_):
            return torch.utils.data.SequentialSampler(self.train_dataset)

        def get_decay_parameter_names(self, model):
            """As from transformers 4.53 on; 4.51 takes q_norm, k_norm and the last norm for matrices."""
            return [name for name, parameter in model.named_parameters() if "norm" not in name]
    return InOrder


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
        self.model = make_model(5)
        self.model.save_pretrained(self.at / "model")

    def ours(self, rows, *options):
        """What metrics.jsonl says of each step."""
        (self.at / "data.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
        done = subprocess.run(list(map(str, [AKGEN, "lm", "train", self.at / "model", "--data", self.at / "data.jsonl", "-o", self.at / "ours",
                                             "--in-order", *options])), capture_output=True, text=True, timeout=300)
        self.assertEqual(done.returncode, 0, done.stderr)
        return [json.loads(line) for line in (self.at / "ours/metrics.jsonl").read_text().splitlines()]

    def theirs(self, trainer):
        trainer.remove_callback(transformers.PrinterCallback)
        trainer.train()
        return [row for row in trainer.state.log_history if "loss" in row]

    def common(self, schedule, **more):
        return dict(output_dir=str(self.at / "trl"), num_train_epochs=2, learning_rate=2e-3, lr_scheduler_type=schedule, warmup_ratio=0.1,
                    weight_decay=0.1, max_grad_norm=1.0, logging_steps=1, save_strategy="no", report_to=[], use_cpu=True,
                    gradient_checkpointing=False, remove_unused_columns=False, disable_tqdm=True, seed=1, **more)

    def compare(self, found, wanted):
        self.assertEqual((len(found), len(wanted)), (STEPS, STEPS))
        for ours, theirs in zip(found, wanted):
            self.assertAlmostEqual(ours["loss"], theirs["loss"], delta=NEAR)
            self.assertAlmostEqual(ours["rate"], theirs["learning_rate"], delta=1e-9)
            self.assertAlmostEqual(ours["norm"], theirs["grad_norm"], delta=2e-3 * theirs["grad_norm"] + 1e-4)
        weights = load_file(self.at / "ours/model.safetensors")
        for name, parameter in self.model.named_parameters():
            if name in weights:
                self.assertLess((weights[name] - parameter).abs().max().item(), NEAR, name)

    OPTIONS = ("--batch", BATCH, "--epochs", 2, "--rate", 2e-3, "--warmup", 0.1, "--decay", 0.1, "--clip", 1)

    def test_sft(self):
        for schedule, accumulation in (("cosine", 1), ("constant_with_warmup", 2)):
            with self.subTest(schedule):
                self.setUp()
                given = rows(5)
                arguments = trl.SFTConfig(**self.common(schedule), dataset_kwargs={"skip_prepare_dataset": True},
                                          per_device_train_batch_size=BATCH // accumulation, gradient_accumulation_steps=accumulation)
                wanted = self.theirs(in_order(trl.SFTTrainer)(self.model, arguments, train_dataset=datasets.Dataset.from_list(given),
                                                              data_collator=Collator(), processing_class=tokenizer()))
                found = self.ours(given, *self.OPTIONS, "--schedule", schedule.split("_")[0])
                self.compare(found, wanted)
                self.assertLess(found[-1]["loss"], found[0]["loss"] - 0.5)

    def test_dpo(self):
        choose = random.Random(6)
        def some(low, high):
            return [choose.randrange(90) for _ in range(choose.randrange(low, high))]
        pairs = [(some(2, 9), [(token + 1) % 90 for token in some(1, 6)], some(1, 8)) for _ in range(STEPS * BATCH // 2)]
        arguments = trl.DPOConfig(**self.common("cosine"), per_device_train_batch_size=BATCH, beta=0.1, max_length=None, max_prompt_length=None,
                                  max_completion_length=None, precompute_ref_log_probs=False)
        given = [dict(prompt=words(prompt), chosen=words(chosen), rejected=words(rejected)) for prompt, chosen, rejected in pairs]
        wanted = self.theirs(in_order(trl.DPOTrainer)(self.model, make_model(5), arguments, train_dataset=datasets.Dataset.from_list(given),
                                                      processing_class=tokenizer()))
        found = self.ours([dict(prompt_input_ids=prompt, chosen_input_ids=chosen + [96], rejected_input_ids=rejected + [96])
                           for prompt, chosen, rejected in pairs], *self.OPTIONS, "--objective", "dpo", "--beta", 0.1)
        self.compare(found, wanted)
        for ours, theirs in zip(found, wanted):
            self.assertAlmostEqual(ours["chosen"], theirs["rewards/chosen"], delta=NEAR)
            self.assertAlmostEqual(ours["rejected"], theirs["rewards/rejected"], delta=NEAR)
            self.assertAlmostEqual(ours["right"], theirs["rewards/accuracies"], delta=NEAR)
        self.assertLess(found[-1]["loss"], 0.6)

    def grpo_loss(self, model, reference, old, groups):
        """TRL's, of groups (prompt, completions, rewards); frozen models' probabilities as TRL computes them."""
        texts = [(prompt, completion) for prompt, completions, _ in groups for completion in completions]
        longest = [max(len(text[part]) for text in texts) for part in (0, 1)]
        left = torch.tensor([[95] * (longest[0] - len(prompt)) + prompt for prompt, _ in texts])
        right = torch.tensor([completion + [95] * (longest[1] - len(completion)) for _, completion in texts])
        masks = [torch.tensor([[0] * (longest[0] - len(prompt)) + [1] * len(prompt) for prompt, _ in texts]),
                 torch.tensor([[1] * len(completion) + [0] * (longest[1] - len(completion)) for _, completion in texts])]
        advantages = torch.cat([(torch.tensor(rewards) - torch.tensor(rewards).mean()) / (torch.tensor(rewards).std() + 1e-4)
                                for _, _, rewards in groups])
        trainer = types.SimpleNamespace(
            beta=0.3, num_iterations=2, epsilon_low=0.2, epsilon_high=0.2, loss_type="grpo", temperature=1.0,
            args=types.SimpleNamespace(report_to=[]), control=types.SimpleNamespace(should_evaluate=False), _metrics={"train": collections.defaultdict(list)},
            accelerator=types.SimpleNamespace(gather_for_metrics=lambda value: value))
        trainer._get_per_token_logps = functools.partial(trl.GRPOTrainer._get_per_token_logps, trainer)
        with torch.no_grad():
            both = [trainer._get_per_token_logps(frozen, torch.cat([left, right], 1), torch.cat(masks, 1), right.size(1)) for frozen in (reference, old)]
        return trl.GRPOTrainer._compute_loss(trainer, model, {
            "prompt_ids": left, "prompt_mask": masks[0], "completion_ids": right, "completion_mask": masks[1], "advantages": advantages,
            "ref_per_token_logps": both[0], "old_per_token_logps": both[1]})

    def gradients(self):
        """Of the first step, by AdamW's running mean: 1 - beta1 of the gradient, in the order of the file of weights."""
        written = (self.at / "ours/model.safetensors").read_bytes()
        header = json.loads(written[8:8 + int.from_bytes(written[:8], "little")])
        mean, at, found = load_file(self.at / "ours/checkpoint-1/optimizer.safetensors")["m"], 0, {}
        for name, of in sorted(((name, of) for name, of in header.items() if name != "__metadata__"), key=lambda item: item[1]["data_offsets"]):
            count = torch.tensor(of["shape"]).prod().item()
            found[name] = mean[at:at + count].reshape(of["shape"]) / 0.1
            at += count
        return found

    def test_grpo(self):
        choose, steps = random.Random(7), 6
        groups = []
        for _ in range(3 * steps):
            prompt = [choose.randrange(90) for _ in range(choose.randrange(2, 9))]
            completions = [[choose.randrange(90) for _ in range(choose.randrange(1, 9))] + [96] for _ in range(4)]
            groups.append((prompt, completions, [float(choose.random() < 0.5) for _ in completions]))
        reference, old = make_model(8), make_model(5)
        reference.save_pretrained(self.at / "reference")
        found = self.ours([dict(prompt_input_ids=prompt, completions_input_ids=completions, rewards=rewards) for prompt, completions, rewards in groups],
                          "--objective", "grpo", "--beta", 0.3, "--reference", self.at / "reference", "--batch", 3, "--rate", 2e-3, "--schedule",
                          "constant", "--warmup", 0, "--clip", 0, "--save-every", 1, "--keep", steps)
        optimizer = torch.optim.AdamW(self.model.parameters(), lr=2e-3, weight_decay=0)
        for step in range(steps):
            optimizer.zero_grad()
            loss = self.grpo_loss(self.model, reference, old, groups[3 * step:3 * step + 3])
            loss.backward()
            self.assertAlmostEqual(found[step]["loss"], loss.item(), delta=1e-4 * abs(loss.item()) if step == 0 else NEAR)
            if step == 0:
                for name, gradient in self.gradients().items():
                    wanted = dict(self.model.named_parameters())[name].grad
                    self.assertLess((gradient - wanted).abs().max().item(), 1e-4 * wanted.abs().max().item(), name)
            optimizer.step()


if __name__ == "__main__":
    unittest.main()
