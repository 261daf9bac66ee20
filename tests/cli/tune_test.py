#!/usr/bin/env python3
# test: builds=release cost=20
"""akgen tune: a program with a bad constant gets a better one, which is right and faster, and so does a project whose constants are
marked; the way there is the same with any number of jobs; what cannot be tuned is said."""
import json
import pathlib
import re
import tempfile
import unittest

from akgen_program import TASKS, akgen, copy_reference, edit, verdict

SQRT = TASKS / "level1/Math/Sqrt"


class Folder(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="akgen-tune-")
        self.addCleanup(folder.cleanup)
        self.dir = pathlib.Path(folder.name)

    def result(self, *arguments):
        """What --json prints of a search that ends well."""
        done = akgen("tune", "Sqrt", *arguments, "--json")
        self.assertEqual((done.returncode, done.stderr), (0, ""), done.stdout)
        return json.loads(done.stdout)

    def check(self, result, project):
        """The result's figures agree with each other and with what an evaluation of the tuned project says."""
        fastest = min(s["us"] for s in result["settings"] if s["us"] is not None)
        self.assertEqual(result["tried"], len(result["settings"]))
        self.assertEqual(result["settings"][0]["us"], result["before"]["mean_us"])
        self.assertEqual(result["after"]["mean_us"], fastest)
        after = [knob["after"] for knob in result["knobs"]]
        self.assertIn((after, fastest), [(s["values"], s["us"]) for s in result["settings"]])
        self.assertEqual((result["proved"]["profile"], result["proved"]["verdict"]), ("strict", "pass"))
        again = verdict("Sqrt", project, "--case", "1", "--profile", "strict")
        self.assertEqual((again["verdict"], len(again["cases"])), ("pass", result["proved"]["cases"]))
        [row] = [row for row in again["cases"] if not row["hidden"]]
        [case] = result["after"]["cases"]
        self.assertAlmostEqual(row["timing"]["us"], case["us"], delta=0.01)
        self.assertAlmostEqual(row["timing"]["cycles"], case["cycles"], delta=1)
        self.assertAlmostEqual(case["roofline"], case["bound_us"] / case["us"], delta=0.001)


class Program(Folder):
    def setUp(self):
        super().setUp()
        self.program = self.dir / "program.py"
        text = (SQRT / "program.py").read_text()
        text = re.sub(r"tl\.cdiv\(total, \d+\)", "tl.cdiv(total, 512)", text)
        self.program.write_text(re.sub(r"tile: tl\.constexpr = \d+", "tile: tl.constexpr = 256", text))
        self.assertIn("tl.constexpr = 256", self.program.read_text())

    def tune(self, *arguments):
        return akgen("tune", "Sqrt", self.program, "--case", "1", *arguments)

    def test_a_bad_tile(self):
        done = self.tune("-o", self.dir / "out", "--budget", "12", "--knobs", "constant")
        self.assertEqual((done.returncode, done.stderr), (0, ""), done.stdout)
        tried = dict((int(tile), float(us)) for tile, us in re.findall(r"^  tile = (\d+): modelled ([\d.]+) us$", done.stdout, re.M))
        as_it_is = float(re.search(r"^  as it is: modelled ([\d.]+) us$", done.stdout, re.M)[1])
        before, after, times = re.search(
            r"^before ([\d.]+) us, after ([\d.]+) us, ([\d.]+) times as fast, geometric mean of 1 case$", done.stdout, re.M).groups()
        count, tile = re.search(r"^(\d+) settings tried; tile: 256 -> (\d+)$", done.stdout, re.M).groups()
        self.assertRegex(done.stdout, r"(?m)^  case 1: \d+ cycles, [\d.]+ us, bound by .* \(\d+ %\) -> \d+ cycles, [\d.]+ us, bound by .* \(\d+ %\)$")
        self.assertRegex(done.stdout, r"the tuned candidate passes by the strict profile, 1 case\n$")
        self.assertEqual(float(before), as_it_is)
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

    def test_json_and_traces(self):
        result = self.result(self.program, "--case", "1", "--budget", "30", "--trace", self.dir / "traces", "-o", self.dir / "out")
        self.check(result, self.dir / "out/project")
        self.assertEqual([(knob["name"], knob["kind"], knob["before"]) for knob in result["knobs"]],
                         [("tile", "constant", 256), ("depth of x_ub", "depth", None), ("depth of y_ub", "depth", None),
                          ("total of a core", "cores", 512), ("cores", "cores", None)])
        for name in ("before", "after"):
            self.assertGreater(len(json.loads((self.dir / "traces" / f"{name}.json").read_text())), 100)
        self.assertGreater(len((self.dir / "traces/before.json").read_text()), len((self.dir / "traces/after.json").read_text()))

    def test_any_number_of_jobs(self):
        one, three = (self.result(self.program, "--case", "4", "--budget", "20", "--jobs", jobs) for jobs in (1, 3))
        self.assertEqual(one, three)

    def test_what_is_refused_is_not_chosen(self):
        edit(self.program, "tl.constexpr = 256", "tl.constexpr = 8192")
        edit(self.program, "y_ub = tl.alloc_ub(tile, dtype=tl.float32", "y_ub = tl.alloc_ub(tile, dtype=tl.float32, depth=2")
        result = self.result(self.program, "--case", "1", "--knobs", "depth", "-o", self.dir / "out")
        self.check(result, self.dir / "out/project")
        refused = [setting for setting in result["settings"] if setting["became"] == "refused"]
        self.assertGreater(len(refused), 0)
        for setting in refused:
            self.assertIsNone(setting["us"])
            self.assertIn("bytes of UB", setting["reason"])

    def test_a_name_that_is_no_text(self):
        odd = self.dir / 'quoted".\udcff.py'
        self.program.rename(odd)
        result = self.result(odd, "--case", "1", "--budget", "1")
        self.assertTrue(result["candidate"].startswith(f'{self.dir}/quoted".'))

    def test_nothing_to_turn(self):
        done = self.tune("--knobs", "loops")
        self.assertEqual(done.returncode, 1)
        self.assertIn("nothing to turn", done.stderr)

    def test_a_program_that_is_not_right(self):
        edit(self.program, "tl.vsqrt(", "tl.vabs(")
        done = self.tune()
        self.assertEqual(done.returncode, 1)
        self.assertIn("not right before it is tuned", done.stderr)
        self.program.write_text("x = = 1\n")
        done = self.tune()
        self.assertEqual(done.returncode, 1)
        self.assertIn("'akgen dsl check' says more", done.stderr)

    def test_usage(self):
        for arguments, message in ((("--budget", "0"), "budget"), (("--program", "/nowhere.py"), "two candidates"), (("--no-timing",), "modelled"),
                                   (("Neg",), "two candidates"), (("--knobs", "tile"), "none of constant|depth|cores|loops"),
                                   (("-o", self.program / "below"), "below"), (("--trace", self.program / "below"), "below")):
            done = self.tune(*arguments)
            self.assertEqual(done.returncode, 2, arguments)
            self.assertIn(message, done.stderr)
        for arguments, message in ((("Sqrt", "/nowhere.py"), "/nowhere.py"), (("Sqrt", "--case", "99"), "no case 99"), (("NoSuchTask",), "NoSuchTask"), ((), "TASK")):
            done = akgen("tune", *arguments)
            self.assertEqual(done.returncode, 2, arguments)
            self.assertIn(message, done.stderr)


class Project(Folder):
    """The reference of Sqrt, whose tile is what fits; here a constant that its author marks in host and kernel."""

    def setUp(self):
        super().setUp()
        self.project = copy_reference("level1/Math/Sqrt", self.dir)
        self.host = self.project / "op_host/sqrt.cpp"
        edit(self.host, "namespace optiling {\n", "namespace optiling {\nconstexpr uint64_t TILE = 256; // tune: 512, 4096, 1000000\n")
        edit(self.host, "MIN_PER_BLOCK = 1024; // elements: fewer are not worth a core", "MIN_PER_BLOCK = 1024; // tune")
        edit(self.host, "uint64_t tile = ubBytes / (4 * 4 + 4) / ALIGN * ALIGN;", "uint64_t tile = TILE;")

    def test_marked_constants(self):
        result = self.result(self.project, "--case", "1", "--budget", "8", "-o", self.dir / "out")
        self.check(result, self.dir / "out/project")
        tile, least = result["knobs"]
        self.assertEqual((tile["name"], tile["kind"], tile["before"], tile["after"]), ("TILE", "constant", 256, 4096))
        self.assertEqual((least["name"], least["before"]), ("MIN_PER_BLOCK", 1024))
        self.assertGreater(result["times_as_fast"], 1.5)
        [wrong] = [setting for setting in result["settings"] if setting["values"][0] == 1000000]
        self.assertEqual((wrong["us"], wrong["became"]), (None, "wrong"))
        self.assertIn("TILE = 4096; // tune: 512, 4096, 1000000", (self.dir / "out/project/op_host/sqrt.cpp").read_text())
        self.assertIn("TILE = 256;", self.host.read_text())
        self.assertFalse((self.dir / "out/program.py").exists())

    def test_bad_marks(self):
        for old, new, message in (("// tune: 512, 4096, 1000000", "// tune: 512, many", "op_host/sqrt.cpp:8: '// tune' is followed by ': 512, many'"),
                                  ("512, many", "512, 4294967808", "': 512, 4294967808', expected ':' and at most 64 whole numbers from 1 to 1073741823"),
                                  ("TILE = 256; // tune: 512, 4294967808", "TILE = 2 * 128; // tune", "op_host/sqrt.cpp:8: no name and whole number"),
                                  ("TILE = 2 * 128; // tune", "TILE = 256;", None), ("1024; // tune", "1024;", "no constant of the project is marked")):
            edit(self.host, old, new)
            if message:
                done = akgen("tune", "Sqrt", self.project)
                self.assertEqual((done.returncode, done.stdout), (1, ""))
                self.assertIn(message, done.stderr)


if __name__ == "__main__":
    unittest.main()
