#!/usr/bin/env python3
# test: builds=release cost=13
"""akgen lm train --online and akgen lm answers: a model that guesses learns of its own answers which of them are right; runs that are killed
end as others do, bit for bit; its answers make pairs; operators are judged by the planner and the interpreter."""
import json
import pathlib
import signal
import subprocess
import tempfile
import time
import unittest

from akgen_program import AKGEN, akgen
from lm_program import make_model, write_rows

SUMS = [(a, b) for a in range(4) for b in range(4)]


def lines(path):
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


class Online(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory(prefix="akgen-lm-")
        cls.addClassCleanup(cls.folder.cleanup)
        cls.shared = pathlib.Path(cls.folder.name)
        model = make_model(cls.shared / "model")
        # It learns to answer half of the time with the sum, else with a sign.
        rows = [{"prompt": f"{a} + {b} = ", "completion": answer} for a, b in SUMS for answer in (str(a + b), "?")]
        done = akgen("lm", "train", model, "--new", "--data", write_rows(cls.shared / "guesses.jsonl", rows), "-o", cls.shared / "base",
                     "--steps", 150, "--rate", 5e-3, timeout=300)
        assert done.returncode == 0, done.stderr
        cls.base = cls.shared / "base"
        cls.prompts = write_rows(cls.shared / "prompts.jsonl", [{"prompt": f"{a} + {b} = ", "answer": str(a + b)} for a, b in SUMS])

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="akgen-lm-")
        self.addCleanup(folder.cleanup)
        self.at = pathlib.Path(folder.name)

    def command(self, out, *options):
        """The options take the place of those that every run has."""
        usual = {"--objective": "grpo", "--online": 8, "--judge": "text", "--answer-tokens": 8, "--data": self.prompts, "--batch": 8,
                 "--schedule": "constant", "--warmup": 0, "--threads": 2}
        return ["lm", "train", self.base, "-o", out, *(part for name, value in usual.items() if name not in options for part in (name, value)),
                *options]

    def test_the_reward_rises(self):
        for beta, count, rate, *lora in ((0, 25, 1e-3), (0.01, 25, 1e-3), (0.01, 40, 5e-3, "--lora", 8)):
            out = self.at / "-".join(map(str, (beta, *lora)))
            done = akgen(*self.command(out, "--steps", count, "--rate", rate, "--beta", beta, *lora), timeout=300)
            self.assertEqual(done.returncode, 0, done.stderr)
            steps = lines(out / "metrics.jsonl")
            self.assertEqual([row["step"] for row in steps], list(range(1, count + 1)))
            before, after = (sum(row["reward"] for row in part) / 4 for part in (steps[:4], steps[-4:]))
            self.assertLess(before, 0.75)
            self.assertGreater(after, 0.8 if lora else 0.9)
            self.assertAlmostEqual(steps[0]["kl"], 0, places=6)
            self.assertGreater(steps[-2]["kl"] + steps[-1]["kl"], 0)
            for row in steps:
                self.assertAlmostEqual(row["reward"], row["solved"], places=6)
                self.assertGreaterEqual(row["valid"], row["solved"])
                self.assertGreaterEqual(row["written"], 64)
            # The adapters that wrote the answers are those that are trained: merged, they say the same.
            if lora:
                self.assertFalse((out / "model.safetensors").exists())
                done = akgen("lm", "convert", self.base, "--adapter", out, "-o", self.at / "merged")
                self.assertEqual(done.returncode, 0, done.stderr)
                out = self.at / "merged"
            said = akgen("lm", "sample", out, "--prompt", "2 + 3 = ", "--temperature", 0)
            self.assertEqual(said.stdout.strip(), "5", said.stderr)

    def test_an_evaluation_tells_the_reward_of_other_prompts(self):
        """It rises with the model's; the answers are the same at each of them while the weights are; and the run learns what it learns without."""
        held = write_rows(self.at / "held.jsonl", [{"prompt": f"{a} + {b} = ", "answer": str(a + b)} for a, b in SUMS[::2]])
        out, options = self.at / "run", ("--steps", 25, "--rate", 1e-3, "--beta", 0, "--save-every", 5)
        done = akgen(*self.command(out, *options, "--eval", held, "--eval-every", 5, "--json"), timeout=300)
        self.assertEqual(done.returncode, 0, done.stderr)
        told = [row for row in lines(out / "metrics.jsonl") if "eval_reward" in row]
        self.assertEqual([row["step"] for row in told], [5, 10, 15, 20, 25])
        self.assertGreater(told[-1]["eval_reward"], 0.8)
        self.assertEqual(told[-1]["eval_reward"], round(json.loads(done.stdout)["eval_reward"], 9))
        for row in told:
            self.assertAlmostEqual(row["eval_reward"], row["eval_solved"], places=6)
            self.assertEqual(row["eval_reward"] * 64 % 1, 0) # 8 answers to 8 prompts
            self.assertNotIn("reward", row)
            self.assertIn(f"step {row['step']}: evaluation reward {row['eval_reward']:.4f}", done.stderr)
        self.assertIn("evaluation", (out / "metrics.html").read_text())
        self.assertEqual(akgen(*self.command(self.at / "without", *options), timeout=300).returncode, 0)
        self.assertEqual((out / "model.safetensors").read_bytes(), (self.at / "without/model.safetensors").read_bytes())
        for name in ("first", "second"): # the rate is 0: nothing changes
            done = akgen(*self.command(self.at / name, "--steps", 2, "--rate", 0, "--beta", 0, "--eval", held, "--eval-every", 1), timeout=300)
            self.assertEqual(done.returncode, 0, done.stderr)
        still = [row["eval_reward"] for name in ("first", "second") for row in lines(self.at / name / "metrics.jsonl") if "eval_reward" in row]
        self.assertEqual(still, still[:1] * 4)
        self.assertLess(still[0], 0.75)

    def test_adapters_stay_close_to_what_the_model_says(self):
        """Whose products are zero: a reference named by --reference says the same, one of another model something else."""
        options = ("--steps", 3, "--rate", 1e-3, "--beta", 0.1, "--lora", 4)
        other = self.at / "apart"
        done = akgen("lm", "train", self.base, "--data", write_rows(self.at / "rows.jsonl", [{"prompt": "2 + 3 = ", "completion": "?"}]), "-o", other,
                     "--steps", 4, "--rate", 1e-3)
        self.assertEqual(done.returncode, 0, done.stderr)
        kept = {}
        for name, reference in (("none", ()), ("itself", ("--reference", self.base)), ("other", ("--reference", other))):
            done = akgen(*self.command(self.at / name, *options, *reference))
            self.assertEqual(done.returncode, 0, done.stderr)
            kept[name] = [(row["loss"], row["kl"], row["norm"]) for row in lines(self.at / name / "metrics.jsonl")]
        self.assertEqual(kept["none"], kept["itself"])
        self.assertLess(kept["none"][0][1], 1e-6)
        self.assertGreater(kept["other"][0][1], 1e-3)

    def test_killed_runs_go_on(self):
        for name, options in (("all", ()), ("lora", ("--lora", 4))):
            with self.subTest(name):
                self.kill("adapter_model" if options else "model", self.at / name, "--steps", 16, "--rate", 1e-3, "--beta", 0.01, "--save-every", 3,
                          "--seed", 5, "--eval", self.prompts, "--eval-every", 4, *options)

    def kill(self, weights, at, *options):
        whole, killed = at / "whole", at / "killed"
        done = akgen(*self.command(whole, *options), timeout=300)
        self.assertEqual(done.returncode, 0, done.stderr)
        kills = 0
        for last in (2, 5, 9, 14):
            program = subprocess.Popen(list(map(str, [AKGEN, *self.command(killed, *options, "--resume")])), stderr=subprocess.DEVNULL,
                                       stdout=subprocess.DEVNULL)
            while program.poll() is None and len(lines(killed / "metrics.jsonl")) < last:
                time.sleep(0.002)
            program.kill()
            kills += program.wait() == -signal.SIGKILL
        self.assertGreater(kills, 1)
        done = akgen(*self.command(killed, *options, "--resume"), timeout=300)
        self.assertEqual(done.returncode, 0, done.stderr)
        for name in (f"{weights}.safetensors", "checkpoint-16/optimizer.safetensors"):
            self.assertEqual((killed / name).read_bytes(), (whole / name).read_bytes(), name)
        kept = ("step", "loss", "reward", "kl", "norm", "solved", "written", "eval_reward", "eval_solved")
        self.assertEqual(*([[row.get(key) for key in kept] for row in lines(out / "metrics.jsonl")] for out in (killed, whole)))
        said = akgen(*self.command(killed, *options, "--resume", "--answer-tokens", 9)).stderr
        self.assertIn("the run that goes on has another tokens of an answer: it was 8, and is 9 now", said)

    def test_answers_make_pairs(self):
        def answers(out, *options):
            return akgen("lm", "answers", self.base, "--data", self.prompts, "--judge", "text", "-n", 6, "--answer-tokens", 8, "-o", out,
                         "--json", *options, timeout=300)
        groups, pairs = self.at / "groups.jsonl", self.at / "pairs.jsonl"
        done = answers(groups, "--pairs", pairs)
        self.assertEqual(done.returncode, 0, done.stderr)
        told, rows = json.loads(done.stdout), lines(groups)
        self.assertEqual([row["prompt"] for row in rows], [f"{a} + {b} = " for a, b in SUMS])
        right = sum(completion == str(a + b) for (a, b), row in zip(SUMS, rows) for completion in row["completions"])
        self.assertAlmostEqual(told["right"], right / 96)
        self.assertTrue(0.2 < told["right"] < 0.8 and 0 < told["interval"] < 0.3)
        expected = {f"{a} + {b} = ": str(a + b) for a, b in SUMS}
        for row in lines(pairs):
            self.assertEqual(row["chosen"], expected[row["prompt"]])
            self.assertNotEqual(row["rejected"], expected[row["prompt"]])
        self.assertTrue(told["pairs"] == len(lines(pairs)) > 8)
        # A run that was killed in the midst of a line goes on to the same bytes.
        cut = self.at / "cut.jsonl"
        cut.write_bytes(groups.read_bytes()[:len(groups.read_bytes()) // 2])
        self.assertEqual(answers(cut).returncode, 0)
        self.assertEqual(cut.read_bytes(), groups.read_bytes())
        done = answers(cut, "--seed", 1)
        self.assertEqual(done.returncode, 2)
        self.assertIn("cut.jsonl:1: not what this run would write", done.stderr)
        for kind, data in (("dpo", pairs), ("grpo", groups)):
            done = akgen("lm", "train", self.base, "--objective", kind, "--data", data, "-o", self.at / kind, "--steps", 3, timeout=300)
            self.assertEqual(done.returncode, 0, done.stderr)

    def test_operators(self):
        """Rows of akgen cot, and the model that comes along, which knows answers to most of them."""
        akgen("cot", "synth", "--db", self.at / "samples.db", "--seed", 77000, "--count", 64, "--machine", 0, timeout=300)
        done = akgen("cot", "export", "--db", self.at / "samples.db", "--format", "prompts", "-o", self.at / "rows")
        self.assertEqual(done.returncode, 0, done.stderr)
        rows = lines(self.at / "rows/train.jsonl")[:6]
        self.assertTrue(all(77000 <= row["operator"] < 77064 and row["prompt"][0]["role"] == "user" for row in rows))
        data = write_rows(self.at / "few.jsonl", rows)
        model = pathlib.Path(__file__).resolve().parents[2] / "models/graph-14m"
        done = akgen("lm", "answers", model, "--data", data, "-n", 2, "-o", self.at / "groups.jsonl", "--json", timeout=300)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertGreaterEqual(json.loads(done.stdout)["right"], 0.5)
        rows[0]["prompt"][0]["content"] += "!"
        done = akgen("lm", "answers", model, "--data", write_rows(self.at / "other.jsonl", rows[:1]), "-n", 2, "-o", self.at / "none.jsonl")
        self.assertEqual(done.returncode, 2)
        self.assertIn("another akgen made the row", done.stderr)

    def test_what_is_wrong_is_said(self):
        wrong = write_rows(self.at / "wrong.jsonl", [{"prompt": "1 + 1 = "}])
        for options, says in ((("--eval", wrong, "--steps", 1000), "wrong.jsonl: a row without 'answer'"), (("--objective", "dpo"), "--online is of --objective grpo"),
                              (("--judge", "nobody"), "no 'nobody'; there are operators and text"),
                              (("--judge", "operators"), "a row without 'operator'")):
            done = akgen(*self.command(self.at / "out", *options))
            self.assertEqual(done.returncode, 2, done.stderr)
            self.assertIn(says, done.stderr)


unittest.main()
