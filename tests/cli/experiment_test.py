#!/usr/bin/env python3
# test: builds=release cost=70
"""scripts/experiment: what it lists, an experiment at a hundredth of its scale, and that it goes on where it was."""
import json
import math
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

from akgen_program import AKGEN, HOME

NAMES = ["sizes", "share", "left_out", "adapters", "preferences", "rl", "rl_shipped", "programs", "direct", "failures"]


def experiment(*arguments):
    environment = dict(os.environ, AKGEN=str(pathlib.Path(AKGEN).resolve()), AKGEN_HOME=str(HOME))
    return subprocess.run([sys.executable, HOME / "scripts/experiment", *map(str, arguments)], capture_output=True, text=True, env=environment)


class Experiment(unittest.TestCase):
    def test_usage(self):
        listed = experiment()
        self.assertEqual(listed.returncode, 0, listed.stderr)
        self.assertEqual([line.split()[0] for line in listed.stdout.splitlines()], NAMES)
        self.assertRegex(experiment("figure7", "-o", "x").stderr, "no experiment figure7")
        self.assertRegex(experiment("sizes").stderr, "-o DIR is needed")

    def test_share(self):
        with tempfile.TemporaryDirectory(prefix="akgen-experiment-") as at:
            first = experiment("share", "-o", at, "--scale", 0.01, "--threads", 2)
            self.assertEqual(first.returncode, 0, first.stderr)
            figure = r"([\d.]+) \[([\d.]+), ([\d.]+)\]"
            rows = re.findall(rf"^\| ([\d.]+) % \((\d+) operators\) \| {figure} \| {figure} \| {figure} \|$", first.stdout, re.M)
            self.assertEqual([row[0] for row in rows], ["1", "6.25", "25", "100"], first.stdout)
            whole = len(pathlib.Path(at, "many.rows/train.jsonl").read_text().splitlines())
            self.assertEqual([int(row[1]) for row in rows], [math.ceil(share * whole) for share in (0.01, 0.0625, 0.25, 1)])
            for row in rows:
                loss, low, high, *rates = map(float, row[2:])
                self.assertTrue(low < loss < high and 3 < loss < 8.4, row)      # log 4096 = 8.3, of a model that knows nothing
                self.assertTrue(all(0 <= rate <= 100 for rate in rates) and rates[0] >= rates[3], row)
            self.assertEqual(pathlib.Path(at, "share.md").read_text(), first.stdout)
            model = pathlib.Path(at, f"share-{rows[1][1]}/model.safetensors")
            before = model.stat().st_mtime_ns
            self.assertEqual(experiment("share", "-o", at, "--scale", 0.01, "--threads", 2).stdout, first.stdout)
            self.assertEqual(model.stat().st_mtime_ns, before)
            self.assertRegex(experiment("share", "-o", at, "--threads", 2).stderr, "of another --scale")

    def stages(self, name, at, words):
        """Figures of the table of NAME at a hundredth of its scale: held-out operators, more, CR, ER, more, ER of several; what it says of them holds together."""
        first = experiment(name, "-o", at, "--scale", 0.01, "--threads", 2)
        self.assertEqual(first.returncode, 0, first.stderr)
        figure = r"(-?[\d.]+) \[-?[\d.]+, -?[\d.]+\]"
        rows = re.findall(rf"^\| ([^|]+) \| {figure} \| (?:{figure})? \| {figure} \| {figure} \| (?:{figure})? \| {figure} \|$", first.stdout, re.M)
        self.assertEqual([row[0] for row in rows], words, first.stdout)
        figures = [[float(text) if text else None for text in row[1:]] for row in rows]
        for before, row in zip(figures, figures[1:]):
            self.assertAlmostEqual(row[1], row[0] - before[0], delta=0.11)
            self.assertAlmostEqual(row[4], row[3] - before[3], delta=0.11)
        for number in range(len(words)):
            self.assertTrue(pathlib.Path(at, f"{name}-{number}.db").exists())
        self.assertEqual(experiment(name, "-o", at, "--scale", 0.01, "--threads", 2).stdout, first.stdout)
        return figures

    def test_rl(self):
        with tempfile.TemporaryDirectory(prefix="akgen-experiment-") as at:
            base, *_ = self.stages("rl", at, ["base: weights that are drawn", "SFT, 6 of 16 steps", "SFT and RL", "SFT, 16 steps, no RL", "SFT, 16 steps, and RL"])
            self.assertEqual(base[0], 0)
            self.assertLess(base[3], 20)                                            # a grammar alone
            learned = [json.loads(line)["loss"] for line in pathlib.Path(at, "sft/metrics.jsonl").read_text().splitlines()]
            self.assertLess(learned[-1], learned[0])
            self.assertIn("solved", pathlib.Path(at, "rl/metrics.jsonl").read_text())

    def test_rl_shipped(self):
        with tempfile.TemporaryDirectory(prefix="akgen-experiment-") as at:
            sft, _ = self.stages("rl_shipped", at, ["SFT", "SFT and RL"])
            self.assertGreater(sft[3], 50)                                          # on tasks that it can do

    def test_programs(self):
        with tempfile.TemporaryDirectory(prefix="akgen-experiment-") as at:
            first = experiment("programs", "-o", at, "--scale", 0.01, "--threads", 2)
            self.assertEqual(first.returncode, 0, first.stderr)
            figure = r"(-?[\d.]+) \[-?[\d.]+, -?[\d.]+\]"
            rows = re.findall(rf"^\| ([^|]+) \| (\d+) \| {figure} \| {figure} \| (?:{figure})? \|$", first.stdout, re.M)
            self.assertEqual([row[0] for row in rows], ["formulas", "programs, free", "programs, held to the language", "projects, free"], first.stdout)
            self.assertEqual({row[1] for row in rows}, {"13"})
            self.assertGreater(float(rows[0][3]), 50)                               # the shipped model on tasks that it can do
            for row in rows[1:]:
                self.assertAlmostEqual(float(row[4]), float(row[3]) - float(rows[0][3]), delta=0.11)
            loss = float(re.search(r"^Loss on \d+ held-out rows of dsl: ([\d.]+)\.$", first.stdout, re.M)[1])
            self.assertLess(loss, 5)                                                # log 5000 = 8.5; nine steps
            asked = {re.sub(r"\w+, ", "", json.loads(line)["prompt"][0]["content"].splitlines()[-1]) for line in pathlib.Path(at, "code.jsonl").read_text().splitlines()}
            self.assertEqual(asked, {"Answer: a program in AscendDSL", "Answer: a project in Ascend C"})
            self.assertEqual(experiment("programs", "-o", at, "--scale", 0.01, "--threads", 2).stdout, first.stdout)


if __name__ == "__main__":
    unittest.main()
