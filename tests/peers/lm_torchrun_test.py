#!/usr/bin/env python3
# test: cost=50
"""akgen lm train --engine torchrun: a run of two processes on CPUs, which is DDP, has the losses, rates and norms of the C engine, step by step, and
leaves a model that akgen loads; the configuration for GPUs is what accelerate's launcher reads as FSDP."""
import json
import os
import pathlib
import random
import shutil
import subprocess
import sys
import tempfile
import unittest

os.environ.update(HF_HUB_OFFLINE="1", CUDA_VISIBLE_DEVICES="", OMP_NUM_THREADS="1", PYTHON=sys.executable)
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "cli"))

import torch
from accelerate.commands import launch
from accelerate.utils.launch import prepare_multi_gpu_env
from safetensors.torch import load_file

from lm_program import make_model, write_rows

AKGEN = os.environ["AKGEN"]
NEAR = 1e-3
COMMON = ("--batch", 5, "--rate", 2e-3, "--warmup", 0.2, "--decay", 0.1, "--tokens", 64)


def run(*arguments, code=0):
    done = subprocess.run([AKGEN, *map(str, arguments)], capture_output=True, text=True, timeout=300)
    assert done.returncode == code, done.stdout + done.stderr
    return done


def metrics(folder):
    return [json.loads(line) for line in (folder / "metrics.jsonl").read_text().splitlines()]


def answers(seed, count):
    choose = random.Random(seed)
    return [(f"{a} + {b} = ", str(a + b), choose) for a, b in ((choose.randrange(40), choose.randrange(40)) for _ in range(count))]


class Torchrun(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory(prefix="akgen-torchrun-")
        cls.addClassCleanup(folder.cleanup)
        cls.at = pathlib.Path(folder.name)
        cls.model = make_model(cls.at / "config")
        texts = write_rows(cls.at / "texts.jsonl", [{"text": "1 + 2 = 3"}])
        run("lm", "train", cls.model, "--new", "--data", texts, "-o", cls.at / "model", "--steps", 1)
        run("lm", "train", cls.model, "--new", "--seed", 9, "--data", texts, "-o", cls.at / "reference", "--steps", 1)
        # 23 rows in steps of 5: the last of an epoch has 3, which two processes cannot share evenly.
        write_rows(cls.at / "sft.jsonl", [dict(prompt=prompt, completion=answer) for prompt, answer, _ in answers(1, 23)])
        write_rows(cls.at / "dpo.jsonl", [dict(prompt=prompt, chosen=answer, rejected=answer[::-1] + "?") for prompt, answer, _ in answers(2, 23)])
        write_rows(cls.at / "grpo.jsonl", [dict(prompt=prompt, completions=[answer, "?", "no" + answer, answer + "!"],
                                                rewards=[1, choose.random(), 0, choose.random()]) for prompt, answer, choose in answers(3, 23)])

    def both(self, name, kind, *options, model=None, processes=2):
        common = ("lm", "train", model or self.at / "model", "--data", self.at / f"{kind}.jsonl", "--eval", self.at / f"{kind}.jsonl",
                  "--objective", kind, *COMMON, "--save-every", 0, *options)
        ours, theirs = self.at / f"{name}-c", self.at / f"{name}-torchrun"
        run(*common, "-o", ours)
        said = run(*common, "-o", theirs, "--engine", "torchrun", "--processes", processes).stdout
        return ours, theirs, said

    def compare(self, ours, theirs, *names):
        found, wanted = metrics(theirs), metrics(ours)
        self.assertEqual([row["step"] for row in found], [row["step"] for row in wanted])
        for here, there in zip(found, wanted):
            for name in ("loss", *names) if "loss" in there else ("eval_loss",):
                self.assertAlmostEqual(here[name], there[name], delta=NEAR, msg=f"step {there['step']}: {name}")
            if "loss" in there:
                self.assertAlmostEqual(here["rate"], there["rate"], delta=1e-9)
                self.assertAlmostEqual(here["norm"], there["norm"], delta=2e-3 * there["norm"] + 1e-4)
                self.assertEqual((here["tokens"], here["epoch"]), (there["tokens"], there["epoch"]))

    def weights(self, ours, theirs, name="model.safetensors"):
        here, there = load_file(theirs / name), load_file(ours / name)
        self.assertEqual(sorted(here), sorted(there))
        for key in here:
            self.assertLess((here[key] - there[key]).abs().max().item(), NEAR, key)

    def test_sft(self):
        ours, theirs, said = self.both("sft", "sft", "--epochs", 6)
        self.assertIn("2 processes on CPUs: DDP over gloo", said)
        self.assertNotIn("FSDP", said)
        rows = metrics(ours)
        self.assertEqual(len([row for row in rows if "loss" in row]), 30)
        self.assertLess(rows[-2]["loss"], rows[0]["loss"] - 0.5)
        self.compare(ours, theirs)
        self.weights(ours, theirs)
        written = [run("lm", "sample", folder, "--prompt", "1 + 2 = ", "--temperature", 0, "--max-tokens", 8).stdout for folder in (ours, theirs)]
        self.assertEqual(written[0], written[1])

    def test_new_models_are_drawn_alike(self):
        ours, theirs, _ = self.both("new", "sft", "--steps", 3, "--new", "--dtype", "bfloat16", "--recompute", model=self.model)
        self.compare(ours, theirs)
        self.assertEqual({value.dtype for value in load_file(theirs / "model.safetensors").values()}, {torch.bfloat16})

    def test_dpo(self):
        ours, theirs, _ = self.both("dpo", "dpo", "--steps", 12, "--beta", 0.3)
        self.compare(ours, theirs, "chosen", "rejected", "right")
        self.weights(ours, theirs)

    def test_grpo(self):
        ours, theirs, _ = self.both("grpo", "grpo", "--steps", 8, "--beta", 0.3, "--reference", self.at / "reference")
        self.compare(ours, theirs, "reward", "kl")
        self.weights(ours, theirs)

    def test_adapters(self):
        ours, theirs, _ = self.both("lora", "sft", "--steps", 10, "--lora", 4)
        self.compare(ours, theirs)
        self.weights(ours, theirs, "adapter_model.safetensors")

    def test_a_run_goes_on(self):
        common = ("lm", "train", self.at / "model", "--data", self.at / "sft.jsonl", *COMMON, "--engine", "torchrun", "--save-every", 4)
        whole, parts = self.at / "whole", self.at / "parts"
        run(*common, "-o", whole, "--steps", 8)
        run(*common, "-o", parts, "--steps", 8)
        shutil.rmtree(parts / "checkpoint-8")
        (parts / "model.safetensors").unlink()
        said = run(*common, "-o", parts, "--steps", 9, "--resume", code=3).stderr
        self.assertIn("the run that goes on has another 'steps'", said)
        run(*common, "-o", parts, "--steps", 8, "--resume")
        self.compare(whole, parts)
        self.weights(whole, parts)

    def test_the_launcher_reads_the_configuration(self):
        out = self.at / "gpus"
        run("lm", "train", self.at / "model", "--data", self.at / "sft.jsonl", "-o", out, "--engine", "torchrun", "--device", "cuda",
            "--processes", 4, "--nodes", 2, "--dry-run")
        os.environ.update(NODE_RANK="1", MASTER_ADDR="10.0.0.1")
        arguments = launch.launch_command_parser().parse_args(
            ["--config_file", str(out / "torchrun/accelerate.yaml"), "--machine_rank", "1", "--main_process_ip", "10.0.0.1", "--main_process_port", "29500",
             str(out / "torchrun/train.py")])
        arguments, _, _ = launch._validate_launch_command(arguments)
        self.assertEqual((arguments.use_fsdp, arguments.num_processes, arguments.num_machines), (True, 8, 2))
        environment = prepare_multi_gpu_env(arguments)
        self.assertEqual({key: environment[key] for key in ("ACCELERATE_USE_FSDP", "FSDP_SHARDING_STRATEGY", "FSDP_TRANSFORMER_CLS_TO_WRAP",
                                                            "FSDP_USE_ORIG_PARAMS", "FSDP_STATE_DICT_TYPE", "ACCELERATE_MIXED_PRECISION")},
                         {"ACCELERATE_USE_FSDP": "true", "FSDP_SHARDING_STRATEGY": "FULL_SHARD", "FSDP_TRANSFORMER_CLS_TO_WRAP": "Qwen3DecoderLayer",
                          "FSDP_USE_ORIG_PARAMS": "true", "FSDP_STATE_DICT_TYPE": "SHARDED_STATE_DICT", "ACCELERATE_MIXED_PRECISION": "bf16"})
        script = (out / "torchrun/run.sh").read_text()
        self.assertIn("accelerate.commands.launch", script)
        subprocess.run(["sh", "-n", out / "torchrun/run.sh"], check=True)


if __name__ == "__main__":
    unittest.main()
