#!/usr/bin/env python3
"""akgen lm curves: every run's figures are in the page, each objective has its axis, and the page needs nothing else."""
import json
import pathlib
import re
import tempfile
import unittest

from akgen_program import akgen
from lm_program import make_model, write_rows


def panels(page):
    """title -> what the script has of it, and the lines that are drawn."""
    data = json.loads(re.search(r"panels=(.*);\n", page)[1])
    found = re.findall(r"<h2>(.*?)</h2>\n<svg(.*?)</svg>", page, re.S)
    assert len(found) == len(data)
    return {title: (entry, re.findall(r"<polyline[^>]*points='([^']*)'", svg)) for (title, svg), entry in zip(found, data)}


class Curves(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="akgen-lm-")
        self.addCleanup(folder.cleanup)
        self.at = pathlib.Path(folder.name)

    def curves(self, *runs):
        done = akgen("lm", "curves", *runs, "-o", self.at / "page.html")
        self.assertEqual(done.returncode, 0, done.stderr)
        return (self.at / "page.html").read_text()

    def test_a_run_of_training(self):
        rows = write_rows(self.at / "rows.jsonl", [{"prompt": "ab", "completion": "cd"}] * 8)
        done = akgen("lm", "train", make_model(self.at / "model"), "--new", "--data", rows, "--eval", rows, "-o", self.at / "run", "--steps", 6,
                     "--save-every", 3, "--eval-every", 3)
        self.assertEqual(done.returncode, 0, done.stderr)
        metrics = [json.loads(line) for line in (self.at / "run/metrics.jsonl").read_text().splitlines()]
        page = (self.at / "run/metrics.html").read_text()
        self.assertNotRegex(page, r"https?://|<link|src=|@import|url\(")
        drawn = panels(page)
        self.assertEqual(list(drawn), ["loss, SFT", "learning rate", "norm of the gradient", "tokens per second"])
        for title, key, number in (("loss, SFT", "loss", 0), ("loss, SFT", "eval_loss", 1), ("learning rate", "rate", 0), ("norm of the gradient", "norm", 0),
                                   ("tokens per second", "tokens_per_second", 0)):
            wanted = [(row["step"], row[key]) for row in metrics if key in row]
            line = drawn[title][0]["lines"][number]
            self.assertEqual(line["x"], [step for step, _ in wanted])
            for found, (_, value) in zip(line["y"], wanted):
                self.assertAlmostEqual(found, value, delta=1e-5 * abs(value) + 1e-12)
            # The larger a value, the higher its point.
            drawn_at = [float(point.split(",")[1]) for point in drawn[title][1][number].split()]
            self.assertEqual(len(drawn_at), len(wanted))
            for i in range(1, len(wanted)):
                self.assertLessEqual((drawn_at[i] - drawn_at[i - 1]) * (wanted[i][1] - wanted[i - 1][1]), 0)

    def test_runs_of_several_objectives(self):
        for name, rows in (("a", [{"step": i, "loss": 1000.0 / i, "norm": 1.0} for i in range(1, 1501)]), ("b<i>", [{"step": 1, "loss": 2.0}]),
                           ("c", [{"step": 1, "loss": 0.7, "chosen": 0.5, "rejected": -0.25, "right": 0.75}]), ("d", [{"step": 2, "loss": 0.1, "reward": 1.0, "kl": 0.0}])):
            (self.at / name).mkdir()
            write_rows(self.at / name / "metrics.jsonl", rows)
        page = self.curves(*(self.at / name for name in ("a", "b<i>", "c", "d")))
        drawn = panels(page)
        names = {title: [line["name"].split("/")[-1] for line in entry["lines"]] for title, (entry, _) in drawn.items()}
        self.assertEqual(names, {"loss, SFT": ["a", "b<i>"], "loss, DPO": ["c"], "loss, GRPO": ["d"], "share of pairs that are right": ["c"],
                                 "margin of chosen over rejected": ["c"], "reward": ["d"], "divergence from the reference": ["d"], "norm of the gradient": ["a"]})
        self.assertEqual(drawn["margin of chosen over rejected"][0]["lines"][0]["y"], [0.75])
        self.assertEqual(len(drawn["loss, SFT"][0]["lines"][0]["y"]), 500)  # means of three steps
        self.assertAlmostEqual(drawn["loss, SFT"][0]["lines"][0]["y"][0], (1000 + 500 + 1000 / 3) / 3, delta=0.01)
        self.assertNotIn("<i>", page.replace("<i style", ""))
        self.assertIn("b&lt;i&gt;", page)

    def test_what_is_refused(self):
        def refused(message, *arguments):
            done = akgen("lm", "curves", *arguments)
            self.assertEqual(done.returncode, 2, done.stderr)
            self.assertIn(message, done.stderr)
        refused("are needed", self.at)
        refused("nowhere: No such file", self.at / "nowhere", "-o", self.at / "x.html")
        bad = self.at / "metrics.jsonl"
        bad.write_text('{"step": 1, "loss": 1}\n{"loss": 2}\n')
        refused("metrics.jsonl:2: 'step' has to be a whole number", self.at, "-o", self.at / "x.html")
        bad.write_text('{"step": 1, "loss": 1}\n{"step": 2, "lo')  # a run that was killed
        self.assertEqual(panels(self.curves(bad))["loss, SFT"][0]["lines"][0]["x"], [1])
        self.assertFalse((self.at / "x.html").exists())


if __name__ == "__main__":
    unittest.main()
