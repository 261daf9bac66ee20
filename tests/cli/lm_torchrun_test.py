#!/usr/bin/env python3
"""akgen lm train --engine torchrun, without PyTorch: what a dry run writes, and what is said where Python or packages are missing. That the steps are the
C engine's is tests/peers/lm_torchrun_test.py's."""
import json
import os
import pathlib
import subprocess
import tempfile
import unittest

from akgen_program import AKGEN
from lm_program import make_model, write_rows

PAIRS = [{"prompt": f"{a} + {b} = ", "completion": str(a + b)} for a in range(5) for b in range(3)]


class Torchrun(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="akgen-torchrun-")
        self.addCleanup(folder.cleanup)
        self.at = pathlib.Path(folder.name)
        self.model = make_model(self.at / "model")
        self.data = write_rows(self.at / "data.jsonl", PAIRS)

    def train(self, *options, code=0, python="/nowhere/python3", data=None):
        done = subprocess.run(list(map(str, [AKGEN, "lm", "train", self.model, "--data", data or self.data, "-o", self.at / "out", "--engine", "torchrun", *options])),
                              capture_output=True, text=True, timeout=60, env={**os.environ, "PYTHON": str(python)})
        self.assertEqual(done.returncode, code, done.stderr)
        return done

    def written(self, name):
        return (self.at / "out/torchrun" / name).read_text()

    def lines(self, name):
        return [json.loads(line) for line in self.written(name).splitlines()]

    def test_a_dry_run_writes_rows_steps_and_settings(self):
        said = self.train("--dry-run", "--new", "--batch", 4, "--epochs", 2, "--rate", 3e-4, "--warmup", 0.2, "--processes", 2, "--eval", self.data).stdout
        self.assertIn("15 of", said)
        self.assertIn("run.sh starts it", said)
        rows, steps = self.lines("rows.jsonl"), self.lines("steps.jsonl")
        for row, pair in zip(rows, PAIRS, strict=True):
            prompt, answer = pair["prompt"].encode(), pair["completion"].encode()
            self.assertEqual(len(row["input_ids"][0]), len(prompt) + len(answer) + 1)
            self.assertEqual(row["labels"][0][:len(prompt)], [-100] * len(prompt))
            self.assertEqual(row["labels"][0][len(prompt):], row["input_ids"][0][len(prompt):])
        self.assertEqual(self.lines("eval.jsonl"), rows)
        self.assertEqual([len(step["rows"]) for step in steps], [4, 4, 4, 3] * 2)
        for epoch in (steps[:4], steps[4:]):
            self.assertEqual(sorted(row for step in epoch for row in step["rows"]), list(range(15)))
        self.assertNotEqual(steps[0]["rows"], steps[4]["rows"])
        for step in steps:
            self.assertEqual(step["whole"], sum(len(PAIRS[row]["completion"]) + 1 for row in step["rows"]))
        settings = json.loads(self.written("settings.json"))
        self.assertEqual({key: settings[key] for key in ("objective", "steps", "batch", "texts_of_a_row", "device", "precision", "new", "adapters")},
                         dict(objective="sft", steps=8, batch=4, texts_of_a_row=1, device="cpu", precision="float32", new=True, adapters=False))
        self.assertEqual({key: settings["optimizer"][key] for key in ("rate", "warmup", "schedule", "clip")},
                         dict(rate=3e-4, warmup=2, schedule="cosine", clip=1))
        script = self.written("run.sh")
        self.assertIn("2 processes on CPUs: DDP over gloo", script)
        self.assertIn("--nproc_per_node 2", script)
        self.assertFalse((self.at / "out/torchrun/accelerate.yaml").exists())
        self.assertTrue((self.at / "out/torchrun/begin/model.safetensors").exists())
        compile(self.written("train.py"), "train.py", "exec")

    def test_gpus_of_several_machines(self):
        groups = write_rows(self.at / "groups.jsonl", [dict(prompt="a", completions=["b", "c"], rewards=[1, 0.25])])
        said = self.train("--dry-run", "--objective", "grpo", "--device", "cuda", "--processes", 8, "--nodes", 2, "--lora", 2, data=groups).stdout
        self.assertIn("on each of 2 machines", said)
        self.assertEqual(self.lines("rows.jsonl")[0]["rewards"], [1, 0.25])
        configuration = self.written("accelerate.yaml")
        for line in ("distributed_type: FSDP", "num_processes: 16", "num_machines: 2", "mixed_precision: 'bf16'",
                     "  fsdp_transformer_layer_cls_to_wrap: Qwen3DecoderLayer"):
            self.assertIn(line + "\n", configuration)
        self.assertIn("FSDP", self.written("run.sh"))
        self.assertTrue((self.at / "out/torchrun/begin/adapter_model.safetensors").exists())
        refused = subprocess.run(["sh", self.at / "out/torchrun/run.sh"], capture_output=True, text=True, timeout=60,
                                 env={key: value for key, value in os.environ.items() if key not in ("MASTER_ADDR", "NODE_RANK")})
        self.assertIn("MASTER_ADDR: the address of the first machine", refused.stderr)

    def test_what_is_missing_is_said(self):
        said = self.train("--new", code=3).stderr
        self.assertIn("'/nowhere/python3' cannot be started: --engine torchrun needs Python 3 with torch==", said)
        bare = self.at / "bare"
        bare.write_text('#!/bin/sh\nexec /usr/bin/python3 -I -S "$@"\n')
        bare.chmod(0o755)
        said = self.train("--new", code=3, python=bare).stderr
        self.assertIn("lacks torch, transformers, accelerate", said)
        self.assertIn(f"{bare} -m pip install torch==", said)
        self.assertFalse((self.at / "out/torchrun").exists())
        self.assertIn("each process has a GPU of its own", self.train("--device", "cuda:1", code=2).stderr)
        done = subprocess.run([AKGEN, "lm", "train", self.model, "--data", self.data, "-o", self.at / "out", "--dry-run"], capture_output=True, text=True)
        self.assertEqual((done.returncode, "are of --engine torchrun" in done.stderr), (2, True))
        bad = write_rows(self.at / "bad.jsonl", [{"question": "?"}])
        self.assertIn("bad.jsonl:1: expected an object with 'text'", self.train("--dry-run", "--new", code=2, data=bad).stderr)


if __name__ == "__main__":
    unittest.main()
