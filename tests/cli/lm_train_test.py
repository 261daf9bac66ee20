#!/usr/bin/env python3
# test: builds=release cost=12
"""akgen lm train: a new model learns some texts by heart; runs that are killed end as others do, bit for bit; what is wrong is said."""
import json
import math
import os
import pathlib
import random
import signal
import subprocess
import tempfile
import time
import unittest

from akgen_program import AKGEN, akgen
from lm_program import make_model, write_rows

TEXTS = [{"text": f"{word} is number {i}."} for i, word in enumerate("zero one two three four five six seven eight nine ten".split())]
PAIRS = [{"prompt": f"{a} + {b} = ", "completion": str(a + b)} for a in range(5) for b in range(5)]


def metrics_lines(folder):
    return (folder / "metrics.jsonl").read_text().splitlines()


def metrics(folder):
    return [json.loads(line) for line in metrics_lines(folder)]


class Train(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="akgen-lm-")
        self.addCleanup(folder.cleanup)
        self.at = pathlib.Path(folder.name)
        self.model = make_model(self.at / "model")
        self.data = write_rows(self.at / "data.jsonl", TEXTS + PAIRS)

    def train(self, out, *options, model=None, data=None, code=0):
        done = akgen("lm", "train", model or self.model, "--data", data or self.data, "-o", out, *options, timeout=300)
        self.assertEqual(done.returncode, code, done.stderr)
        return done

    def test_a_new_model_learns_by_heart(self):
        out = self.at / "out"
        done = self.train(out, "--new", "--steps", 150, "--rate", 5e-3, "--batch", 12, "--warmup", 10, "--eval", self.data, "--json")
        result = json.loads(done.stdout)
        self.assertEqual([result[key] for key in ("step", "steps", "samples", "cut", "left_out")], [150, 150, 36, 0, 0])
        rows = metrics(out)
        steps = [row for row in rows if "loss" in row]
        self.assertEqual([row["step"] for row in steps], list(range(1, 151)))
        # A byte of 257 before anything is learned; then only which number and which pair is left to chance.
        self.assertAlmostEqual(steps[0]["loss"], math.log(257), delta=0.5)
        self.assertLess(rows[-1]["eval_loss"], 0.5)
        self.assertAlmostEqual(rows[-1]["eval_loss"], result["eval_loss"], places=6)
        self.assertEqual([steps[0]["rate"], steps[10]["rate"]], [0, 5e-3])
        self.assertTrue((out / "model.safetensors").exists() and (out / "tokenizer.json").exists())
        again = self.train(self.at / "more", "--steps", 1, "--rate", 0, "--eval", self.data, "--json", model=out)
        self.assertAlmostEqual(json.loads(again.stdout)["eval_loss"], result["eval_loss"], places=5)

    def test_prompts_are_not_learned(self):
        data = write_rows(self.at / "pairs.jsonl", PAIRS)
        done = self.train(self.at / "out", "--new", "--steps", 1, "--json", data=data)
        # The sum's digits and the end.
        self.assertEqual(json.loads(done.stdout)["learned_tokens"], sum(len(row["completion"]) + 1 for row in PAIRS))

    def test_answers_of_messages_are_learned(self):
        def message(role, content):
            return {"role": role, "content": content}
        data = write_rows(self.at / "chat.jsonl", [{"messages": [message("user", "1 + 1"), message("assistant", "2"), message("user", "2 + 2"),
                                                                 message("assistant", "4")]}])
        done = self.train(self.at / "out", "--new", "--steps", 1, "--json", "--length", 250, data=data)
        # "2<|im_end|>", and "4<|im_end|>" behind its empty thought, as bytes.
        self.assertEqual(json.loads(done.stdout)["learned_tokens"], 11 + 11 + len("<think>\n\n</think>\n\n"))
        pairs = write_rows(self.at / "pairs.jsonl", [{"prompt": [message("user", "1 + 1")], "chosen": [message("assistant", "2")],
                                                      "rejected": [message("assistant", "eleven")]}])
        done = self.train(self.at / "dpo", "--new", "--objective", "dpo", "--steps", 1, "--json", data=pairs)
        self.assertEqual(json.loads(done.stdout)["learned_tokens"], 11 + 16 + 2 * len("<think>\n\n</think>\n\n"))
        mixed = write_rows(self.at / "mixed.jsonl", [{"prompt": "1 + 1", "chosen": [message("assistant", "2")], "rejected": "3"}])
        said = self.train(self.at / "bad", "--new", "--objective", "dpo", data=mixed, code=2).stderr
        self.assertIn("mixed.jsonl:1: a prompt and what comes behind it have to be both messages, or none of them", said)
        (self.model / "chat_template.jinja").write_text("{{ messages[0].content }}")
        said = self.train(self.at / "bad", "--new", data=data, code=2).stderr
        self.assertIn("is not Qwen3's, which is the one that is built in", said)

    def test_passes_change_nothing(self):
        losses = []
        for name, tokens in (("one", 4096), ("many", 40)):
            self.train(self.at / name, "--new", "--steps", 8, "--rate", 1e-3, "--tokens", tokens, "--in-order")
            losses.append([row["loss"] for row in metrics(self.at / name)])
        for one, many in zip(*losses):
            self.assertAlmostEqual(one, many, delta=1e-4)

    def test_killed_runs_go_on(self):
        options = ("--new", "--steps", 60, "--rate", 2e-3, "--batch", 8, "--save-every", 7, "--threads", 2)
        self.train(self.at / "whole", *options)
        choose, kills, out = random.Random(3), 0, self.at / "killed"
        command = [AKGEN, "lm", "train", self.model, "--data", self.data, "-o", out, *options, "--resume"]
        for _ in range(100):
            # Some steps behind the newest checkpoint, few enough that the run is killed several times on a machine of any speed.
            saved = max((int(path.name.split("-")[1]) for path in out.glob("checkpoint-*")), default=0)
            last = saved + choose.randint(0, 12)
            program = subprocess.Popen(list(map(str, command)), stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
            while program.poll() is None and (not (out / "metrics.jsonl").exists() or len(metrics_lines(out)) < last):
                time.sleep(0.002)
            time.sleep(choose.uniform(0, 0.02))
            program.kill()
            kills += program.wait() == -signal.SIGKILL
            if (out / "model.safetensors").exists():
                break
        self.train(self.at / "killed", *options, "--resume")
        self.assertGreater(kills, 1)
        for name in ("model.safetensors", "config.json", "checkpoint-60/optimizer.safetensors"):
            self.assertEqual((self.at / "killed" / name).read_bytes(), (self.at / "whole" / name).read_bytes(), name)
        self.assertEqual([(row["step"], row["loss"], row["norm"]) for row in metrics(self.at / "killed")],
                         [(row["step"], row["loss"], row["norm"]) for row in metrics(self.at / "whole")])
        self.assertEqual(sorted(path.name for path in (self.at / "killed").glob("*checkpoint-*")), ["checkpoint-56", "checkpoint-60"])

    def test_preferences_and_groups(self):
        """Both learn what they are told, and go on from a checkpoint without asking the reference again."""
        base = self.at / "base"
        self.train(base, "--new", "--steps", 60, "--rate", 5e-3)
        pairs = write_rows(self.at / "pairs.jsonl", [dict(prompt=row["prompt"], chosen=row["completion"], rejected="?") for row in PAIRS])
        groups = write_rows(self.at / "groups.jsonl", [dict(prompt=row["prompt"], completions=[row["completion"], "?", "!", "no"],
                                                            rewards=[1, 0, 0, 0.5]) for row in PAIRS])
        for kind, data, beta in (("dpo", pairs, 0.1), ("grpo", groups, 0.01)):
            with self.subTest(kind):
                options = ("--objective", kind, "--beta", beta, "--rate", 1e-3, "--schedule", "constant", "--warmup", 0, "--batch", 8,
                           "--eval", data, "--tokens", 100)
                whole, parts = self.at / kind, self.at / f"{kind}-parts"
                self.train(whole, *options, "--steps", 12, "--save-every", 5, model=base, data=data)
                rows = metrics(whole)
                first, last = rows[0], rows[-2]
                self.assertIn("eval_loss", rows[-1])
                if kind == "dpo":
                    self.assertAlmostEqual(first["loss"], math.log(2), places=5)
                    self.assertEqual(last["right"], 1)
                    self.assertGreater(last["chosen"], last["rejected"] + 0.5)
                else:
                    self.assertAlmostEqual(first["kl"], 0, places=6)
                    self.assertGreater(last["kl"], 0.01)
                    self.assertAlmostEqual(first["reward"], 0.375)
                    self.assertLess(last["loss"], first["loss"] - 0.02)
                command = [AKGEN, "lm", "train", base, "--data", data, "-o", parts, *options, "--steps", 12, "--save-every", 5, "--resume"]
                for wait in (0.15, 0.25, 0.4, 0.1):
                    program = subprocess.Popen(list(map(str, command)), stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
                    time.sleep(wait)
                    program.kill()
                    program.wait()
                self.train(parts, *options, "--steps", 12, "--save-every", 5, "--resume", model=base, data=data)
                self.assertEqual((parts / "model.safetensors").read_bytes(), (whole / "model.safetensors").read_bytes())
        said = self.train(self.at / "bad", "--objective", "dpo", model=base, data=groups, code=2).stderr
        self.assertIn("groups.jsonl:1: expected an object with 'prompt', 'chosen' and 'rejected'", said)
        huge = write_rows(self.at / "huge.jsonl", [dict(prompt="a", completions=["b", "c"], rewards=[1e308, 0])])
        said = self.train(self.at / "bad", "--objective", "grpo", model=base, data=huge, code=2).stderr
        self.assertIn("huge.jsonl:1: reward 0 is 1e+308, and has to be from -1e+09 to 1e+09", said)
        said = self.train(self.at / "bad", "--objective", "grpo", model=base, data=pairs, code=2).stderr
        self.assertIn("pairs.jsonl:1: expected an object with 'prompt', at least two 'completions', and as many 'rewards'", said)
        uneven = write_rows(self.at / "uneven.jsonl", [dict(prompt="a", completions=["b"] * n, rewards=[0] * n) for n in (2, 3)])
        said = self.train(self.at / "bad", "--objective", "grpo", model=base, data=uneven, code=2).stderr
        self.assertIn("uneven.jsonl:2: 3 completions, and the line before has 2", said)

    def test_products_of_bfloat16(self):
        """They learn as float32 does, and a run that goes on is the same to the bit. A processor without instructions for them says so."""
        options = ("--new", "--steps", 40, "--rate", 5e-3, "--batch", 12, "--threads", 2)
        environment = os.environ | {"DNNL_MAX_CPU_ISA": "AVX2"}
        done = akgen("lm", "train", self.model, "--data", self.data, "-o", self.at / "refused", *options, "--precision", "bfloat16", env=environment)
        self.assertEqual(done.returncode, 3)
        self.assertIn("this processor has neither AMX nor AVX512-BF16", done.stderr)
        if not {"amx_bf16", "avx512_bf16"} & set(pathlib.Path("/proc/cpuinfo").read_text().split()):
            self.skipTest("no instructions for bfloat16")
        losses = {}
        for precision in ("float32", "bfloat16"):
            self.train(self.at / precision, *options, "--precision", precision)
            losses[precision] = [row["loss"] for row in metrics(self.at / precision)]
        self.assertNotEqual(*losses.values())
        self.assertLess(losses["bfloat16"][-1], losses["bfloat16"][0] / 2)
        for one, other in zip(*losses.values()):
            self.assertAlmostEqual(one, other, delta=0.05 * one)
        parts = self.at / "parts"
        command = [AKGEN, "lm", "train", self.model, "--data", self.data, "-o", parts, *options, "--precision", "bfloat16", "--save-every", 5, "--resume"]
        program = subprocess.Popen(list(map(str, command)), stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
        while program.poll() is None and not (parts / "checkpoint-10").exists():
            time.sleep(0.002)
        program.kill()
        program.wait()
        self.train(parts, *options, "--precision", "bfloat16", "--save-every", 5, "--resume")
        self.assertEqual((parts / "model.safetensors").read_bytes(), (self.at / "bfloat16/model.safetensors").read_bytes())

    def test_interrupted_runs_say_how_to_go_on(self):
        command = [AKGEN, "lm", "train", self.model, "--data", self.data, "-o", self.at / "out", "--new", "--steps", "100000"]
        program = subprocess.Popen(list(map(str, command)), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        while not (self.at / "out/metrics.jsonl").exists() or not metrics(self.at / "out"):
            time.sleep(0.05)
        program.send_signal(signal.SIGTERM)
        said, _ = program.communicate(timeout=60)
        self.assertEqual(program.returncode, 0)
        self.assertRegex(said, r"stopped   at step \d+ of 100000; the same command with --resume goes on")
        self.assertEqual(len(list((self.at / "out").glob("checkpoint-*"))), 1)

    def test_adapters(self):
        base = self.at / "base"
        self.train(base, "--new", "--steps", 2)
        self.train(self.at / "lora", "--lora", 4, "--steps", 60, "--rate", 2e-2, "--lora-targets", "q_proj,down_proj", model=base)
        self.train(self.at / "lora2", "--lora", 4, "--steps", 60, "--rate", 2e-2, "--lora-targets", "q_proj,down_proj", model=base)
        config = json.loads((self.at / "lora/adapter_config.json").read_text())
        self.assertEqual([config[key] for key in ("peft_type", "r", "lora_alpha", "target_modules", "base_model_name_or_path")],
                         ["LORA", 4, 8.0, ["q_proj", "down_proj"], str(base)])
        rows = metrics(self.at / "lora")
        self.assertLess(rows[-1]["loss"], rows[0]["loss"] - 0.5)
        self.assertFalse((self.at / "lora/model.safetensors").exists())
        self.assertEqual((self.at / "lora/adapter_model.safetensors").read_bytes(), (self.at / "lora2/adapter_model.safetensors").read_bytes())

    def test_what_is_wrong_is_said(self):
        def refused(expected, *options, code=2, **more):
            said = self.train(self.at / "refused", *options, code=code, **more).stderr
            self.assertIn(expected, said)
        bad = lambda *rows: write_rows(self.at / "bad.jsonl", rows)  # noqa: E731
        done = akgen("lm", "train", self.model, "--data", self.data)
        self.assertEqual((done.returncode, "MODEL, --data FILE and -o DIR are needed" in done.stderr), (2, True))
        refused("model.safetensors: No such file", code=3)
        refused("data.json: No such file", "--new", data=self.at / "data.json")
        refused("bad.jsonl:2: expected an object with 'text'", "--new", data=bad(TEXTS[0], {"question": "?"}))
        refused("bad.jsonl:1: token 1 is 257, and the vocabulary has 257", "--new", data=bad({"input_ids": [1, 257]}))
        refused("bad.jsonl:1: label 1 is 3, expected its token, 2, or -100", "--new", data=bad({"input_ids": [1, 2], "labels": [1, 3]}))
        refused("bad.jsonl:1: 'labels' has 1 numbers, 'input_ids' 2", "--new", data=bad({"input_ids": [1, 2], "labels": [1]}))
        refused("there is nothing to learn in it", "--new", data=bad({"input_ids": [1, 2], "labels": [-100, -100]}))
        (self.at / "bad.jsonl").write_text("{\n")
        refused("bad.jsonl:1: ", "--new", data=self.at / "bad.jsonl")
        refused("--rate: '1e-3x' is no number", "--new", "--rate", "1e-3x")
        refused("--lora-targets: no 'lm_head'", "--lora", 2, "--lora-targets", "q_proj,lm_head")
        for option, value, of, *others in (
                ("--lora-alpha", 8, "--lora"), ("--lora-targets", "q_proj", "--lora"), ("--beta", 0.2, "--objective dpo and grpo"),
                ("--reference", self.model, "--objective dpo and grpo", "--objective", "sft"),
                ("--ratio-clip", 0.1, "--objective grpo", "--objective", "dpo"), ("--judge", "text", "--online", "--objective", "grpo"),
                ("--answer-tokens", 5, "--online"), ("--eval-every", 1, "--eval")):
            refused(f"{option} is of {of}", "--new", option, value, *others)
        refused("--steps takes one value, and is given two: 5 and 1", "--new", "--steps", 5, "--steps", 1)
        self.train(self.at / "run", "--new", "--steps", 1)
        said = self.train(self.at / "run", "--new", "--steps", 1, code=3).stderr
        self.assertIn("holds a run already: go on with it (--resume)", said)
        said = self.train(self.at / "run", "--new", "--steps", 2, "--resume", code=3).stderr
        self.assertIn("the run that goes on has another steps: it was 1, and is 2 now", said)
        self.train(self.at / "run", "--new", "--steps", 1, "--resume")
        (self.model / "tokenizer.json").write_text("{")
        refused("tokenizer.json:1: no JSON", "--new")


if __name__ == "__main__":
    unittest.main()
