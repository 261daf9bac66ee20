#!/usr/bin/env python3
"""akgen tune: a program with a bad constant gets a better one, which is right and faster; what cannot be tuned is said."""
import json
import pathlib
import re
import tempfile
import unittest

from akgen_program import TASKS, akgen, edit, verdict

SQRT = TASKS / "level1/Math/Sqrt"


class Tune(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="akgen-tune-")
        self.addCleanup(folder.cleanup)
        self.dir = pathlib.Path(folder.name)
        self.program = self.dir / "program.py"
        text = (SQRT / "program.py").read_text()
        self.program.write_text(re.sub(r"tile: tl\.constexpr = \d+", "tile: tl.constexpr = 256", text))
        self.assertIn("tl.constexpr = 256", self.program.read_text())

    def tune(self, *arguments):
        return akgen("tune", "Sqrt", "--program", self.program, "--case", "1", *arguments)

    def test_a_bad_tile(self):
        done = self.tune("-o", self.dir / "out", "--budget", "12")
        self.assertEqual((done.returncode, done.stderr), (0, ""), done.stdout)
        tried = dict((int(tile), float(us)) for tile, us in re.findall(r"^  tile = (\d+): ([\d.]+) us$", done.stdout, re.M))
        before, after, times, count, tile = re.search(
            r"before ([\d.]+) us, after ([\d.]+) us, ([\d.]+) times as fast; (\d+) settings tried; tile = (\d+)$", done.stdout, re.M).groups()
        self.assertEqual(float(before), tried[256])
        self.assertEqual(float(after), min(tried.values()))
        self.assertEqual(tried[int(tile)], float(after))
        self.assertLessEqual(int(count), 12)
        self.assertGreater(float(times), 1.5)
        self.assertIn(f"tile: tl.constexpr = {tile}", (self.dir / "out/program.py").read_text())
        result = verdict("Sqrt", self.dir / "out/project", "--case", "1")
        self.assertEqual(result["verdict"], "pass")
        self.assertAlmostEqual(result["cases"][0]["timing"]["us"], float(after), delta=0.01)
        for name in ("before", "after"):
            self.assertTrue(json.loads((self.dir / "out" / f"{name}.json").read_text()))

    def test_nothing_to_turn(self):
        edit(self.program, "tile: tl.constexpr = 256", "tile: int = 256")
        done = self.tune()
        self.assertEqual(done.returncode, 1)
        self.assertIn("no parameter to turn", done.stderr)

    def test_a_program_that_is_not_right(self):
        edit(self.program, "tl.vsqrt(", "tl.vabs(")
        done = self.tune()
        self.assertEqual(done.returncode, 1)
        self.assertIn("not right before it is tuned", done.stderr)
        self.program.write_text("x = = 1\n")
        done = self.tune()
        self.assertEqual(done.returncode, 1)
        self.assertIn("'akgen dsl check' says why", done.stderr)

    def test_usage(self):
        for arguments, message in ((("--budget", "0"), "budget"), (("--program", "/nowhere.py"), "/nowhere.py"), (("--no-timing",), "modelled"),
                                   (("Neg",), "too many arguments")):
            done = self.tune(*arguments)
            self.assertEqual(done.returncode, 2, arguments)
            self.assertIn(message, done.stderr)


if __name__ == "__main__":
    unittest.main()
