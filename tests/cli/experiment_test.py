#!/usr/bin/env python3
"""scripts/experiment: what it lists, an experiment at a hundredth of its scale, and that it goes on where it was."""
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

from akgen_program import AKGEN, HOME

NAMES = ["sizes", "share", "left_out", "adapters", "preferences", "direct", "failures"]


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
            first = experiment("share", "-o", at, "--scale", 0.02, "--threads", 2)
            self.assertEqual(first.returncode, 0, first.stderr)
            rows = re.findall(r"^\| ([\d.]+) % \((\d+) operators\) \| ([\d.]+) \[([\d.]+), ([\d.]+)\] \|$", first.stdout, re.M)
            self.assertEqual([(row[0], row[1]) for row in rows], [("1", "3"), ("6.25", "18"), ("25", "70"), ("100", "280")])
            for row in rows:
                loss, low, high = map(float, row[2:])
                self.assertTrue(low < loss < high and 3 < loss < 8.4, row)      # log 4096 = 8.3, of a model that knows nothing
            self.assertEqual(pathlib.Path(at, "share.md").read_text(), first.stdout)
            model = pathlib.Path(at, "share-18/model.safetensors")
            before = model.stat().st_mtime_ns
            self.assertEqual(experiment("share", "-o", at, "--scale", 0.02, "--threads", 2).stdout, first.stdout)
            self.assertEqual(model.stat().st_mtime_ns, before)
            self.assertRegex(experiment("share", "-o", at, "--threads", 2).stderr, "of another --scale")


if __name__ == "__main__":
    unittest.main()
