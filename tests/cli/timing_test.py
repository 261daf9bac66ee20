#!/usr/bin/python3
# test: cost=16 labels=long
"""The modelled time of a case: in the verdict, as a table, and as a trace."""
import collections
import json
import pathlib
import re
import tempfile
import unittest

from akgen_program import TASKS, akgen, copy_reference, edit, verdict

SQRT = "level1/Math/Sqrt"
REFERENCE = TASKS / SQRT / "reference"
PIPES = {"AIV": ["S", "V", "MTE2", "MTE3"], "AIC": ["S", "MTE2", "MTE3", "M", "MTE1", "FIX"]}
WAITS = ("WaitFlag", "PipeBarrier", "CrossCoreWaitFlag", "SyncAll")


def timing_of(result):
    return result["cases"][0]["timing"]


def union(spans):
    """How long at least one of the spans lasts."""
    total = end = 0
    for start, until in sorted(spans):
        total += max(0, until - max(start, end))
        end = max(end, until)
    return total


class Trace:
    def __init__(self, path):
        self.events = json.loads(pathlib.Path(path).read_text())
        self.processes, self.threads = {}, {}
        for event in self.events:
            if event.get("name") == "process_name":
                self.processes[event["pid"]] = event["args"]["name"]
            if event.get("name") == "thread_name":
                self.threads[event["pid"], event["tid"]] = event["args"]["name"]
        self.slices = [event for event in self.events if event["ph"] == "X"]

    def tracks(self):
        """Slices by thread, each in the order of their starts."""
        found = collections.defaultdict(list)
        for event in sorted(self.slices, key=lambda event: (event["ts"], event["dur"])):
            found[event["pid"], event["tid"]].append(event)
        return found

    def busy(self):
        """Microseconds of work by core and pipe; what waits does not work."""
        spans = collections.defaultdict(list)
        for event in self.slices:
            if not event["name"].startswith(WAITS):
                pipe = self.threads[event["pid"], event["tid"]].split()[0]
                spans[self.processes[event["pid"]], pipe].append((event["ts"], event["ts"] + event["dur"]))
        return {key: union(found) for key, found in spans.items()}


class Timing(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory(prefix="akgen-timing-")
        self.addCleanup(scratch.cleanup)
        self.scratch = pathlib.Path(scratch.name)

    def trace(self, task, project, *options):
        """The verdict and the trace of one case."""
        path = self.scratch / "trace.json"
        result = verdict(task, project, f"--trace={path}", *options)
        self.assertEqual(result["exit_code"], 0, result["reason"])
        return result, Trace(path)

    def check_trace(self, trace, timing):
        """What holds for every trace."""
        kinds = collections.Counter(name.split()[0] for name in trace.processes.values())
        for kind, field in (("AIV", "aiv"), ("AIC", "aic")):
            self.assertEqual(kinds[kind], timing[field]["cores"] if timing[field] else 0)
        for (process, thread), found in trace.tracks().items():
            name = trace.threads[process, thread]
            self.assertIn(name.split()[0], PIPES[trace.processes[process].split()[0]])
            for before, after in zip(found, found[1:]):
                self.assertLessEqual(before["ts"] + before["dur"], after["ts"] + 2e-6, (name, before, after))
        self.assertLessEqual(max(event["ts"] + event["dur"] for event in trace.slices), timing["us"] + 1e-3)
        busy = trace.busy()
        for kind, field in (("AIV", "aiv"), ("AIC", "aic")):
            for pipe, share in timing[field]["pipes"].items() if timing[field] else ():
                cores = timing[field]["cores"]
                mean = sum(spent for (core, lane), spent in busy.items() if core.split()[0] == kind and lane == pipe) / cores
                wanted = share * timing[field]["mean_us"]
                self.assertAlmostEqual(mean, wanted, delta=0.01 * wanted + 1e-3, msg=f"{pipe} of {kind}")

    def test_verdict(self):
        result = verdict(SQRT, REFERENCE, "--case=3")
        timing = timing_of(result)
        size = result["cases"][0]["comparison"]["elements"] * 2
        self.assertIs(timing["modelled"], True)
        self.assertEqual((timing["bytes_read"], timing["bytes_written"]), (size, size))
        self.assertEqual((timing["aiv"]["cores"], timing["aic"]), (48, None))
        self.assertLess(timing["launch_us"], timing["us"])
        self.assertLessEqual(timing["aiv"]["mean_us"], timing["aiv"]["longest_us"])
        self.assertLessEqual(timing["aiv"]["longest_us"], timing["us"])
        self.assertAlmostEqual(timing["roofline"], timing["bound_us"] / timing["us"], delta=1e-3)
        moved = timing["hbm_read"] + timing["hbm_written"]
        self.assertAlmostEqual(timing["hbm_gb_per_s"], moved / timing["us"] / 1e3, delta=0.1 + 1e-3 * timing["hbm_gb_per_s"])
        self.assertGreater(timing["aiv"]["pipes"]["MTE2"], 0)
        self.assertRegex(timing["slowest"]["file"], r"^op_kernel/sqrt\.cpp$")
        line = (REFERENCE / "op_kernel/sqrt.cpp").read_text().splitlines()[timing["slowest"]["line"] - 1]
        self.assertRegex(line, r"DataCopyPad|Sqrt|Cast")
        self.assertEqual(timing, timing_of(verdict(SQRT, REFERENCE, "--case=3")))  # a function of its input

    def test_wide_types_of_the_scalar_unit_cost_their_elements(self):
        """A type of 1024 floats computes no faster than a loop over them, and is loaded no faster than by words."""
        once = timing_of(verdict(SQRT, REFERENCE, "--case=3"))["us"]
        for name, code in {
                "vector": """typedef float Wide __attribute__((vector_size(4096)));
                             Wide wide = Wide{} + static_cast<float>(GetBlockIdx());
                             for (int i = 0; i < 100; i++)
                                 wide = wide * wide + 1.0f;
                             if (wide[3] == 7.0f)
                                 return;""",
                "copies": """struct Wide { float all[1024]; } wide[4] = {};
                             for (int64_t i = 0; i < 400; i++) {
                                 wide[i * GetBlockNum() % 4].all[i] += 1.0f;
                                 wide[(i + 1) * GetBlockNum() % 4] = wide[i * GetBlockNum() % 4];
                             }
                             if (wide[0].all[0] == -1.0f)
                                 return;"""}.items():
            with self.subTest(name), tempfile.TemporaryDirectory() as folder:
                project = copy_reference(SQRT, folder)
                edit(project / "op_kernel/sqrt.cpp", "    KernelSqrt op;\n", code + "\n    KernelSqrt op;\n")
                result = verdict(SQRT, project, "--case=3")
                self.assertEqual(result["verdict"], "pass", result["reason"])
                self.assertGreater(timing_of(result)["us"], once + 50, "1024 x 200 operations at two a cycle are 56 us")

    def test_where_there_is_none(self):
        for option in ("--no-timing", "--schedule=random:3"):
            self.assertIsNone(timing_of(verdict(SQRT, REFERENCE, "--case=0", option)))
        project = copy_reference(SQRT, self.scratch)
        edit(project / "op_kernel/sqrt.cpp", "        inQueue.FreeTensor(x);\n", "")
        result = verdict(SQRT, project, "--case=0")
        self.assertEqual(result["verdict"], "fault")
        self.assertIsNone(timing_of(result))

    def test_table(self):
        table = [line for line in akgen("eval", SQRT, REFERENCE).stdout.splitlines() if line.startswith("  modelled, case")]
        self.assertEqual(len(table), 1)
        self.assertIn("case 1:", table[0])  # of the two largest the first
        done = akgen("eval", SQRT, REFERENCE, "--timing").stdout
        found = re.findall(r"^  modelled, case (\d+): ([\d.]+) us, the launch ([\d.]+) of it; bound by (\w+)", done, re.M)
        self.assertEqual([row[0] for row in found], ["0", "1", "2", "3", "4"])
        self.assertEqual(len(re.findall(r"^    48 AIVs: mean [\d.]+ us, longest [\d.]+;(  \w+ \d+ %)+$", done, re.M)), 5)
        self.assertEqual(len(re.findall(r"^    read [\d.]+ MB \(\d+ % in L2\), written [\d.]+ MB; HBM \d+ GB/s", done, re.M)), 5)
        self.assertNotIn("modelled", akgen("eval", SQRT, REFERENCE, "--no-timing").stdout)

    def test_trace_of_vector_cores(self):
        result, trace = self.trace(SQRT, REFERENCE, "--case=3")
        self.check_trace(trace, timing_of(result))
        self.assertEqual(set(trace.processes.values()), {f"AIV {core}" for core in range(48)})
        copies = [event for event in trace.slices if event["name"].startswith("DataCopy")]
        size = result["cases"][0]["comparison"]["elements"] * 2
        self.assertEqual(sum(event["args"]["bytes"] for event in copies), 2 * size)
        source = (REFERENCE / "op_kernel/sqrt.cpp").read_text().splitlines()
        for event in copies:
            name, line = event["args"]["line"].split(":")
            self.assertEqual(name, "op_kernel/sqrt.cpp")
            self.assertIn("DataCopy", source[int(line) - 1])
        starts = {event["id"]: event for event in trace.events if event["ph"] == "s"}
        ends = {event["id"]: event for event in trace.events if event["ph"] == "f"}
        self.assertEqual(set(starts), set(ends))
        for number, start in starts.items():
            self.assertLessEqual(start["ts"], ends[number]["ts"])

    def test_trace_of_cubes(self):
        result, trace = self.trace("level3/GMM/MatmulAdd", TASKS.parents[1] / "tests/kernels/good/matmul_add_blocks", "--case=4")
        self.check_trace(trace, timing_of(result))
        self.assertIn("M", {trace.threads[event["pid"], event["tid"]] for event in trace.slices if event["name"].startswith("Mmad")})

    def test_vector_cores_wait_for_the_cube(self):
        """An AIV whose AIC still multiplies has not ended."""
        timing = timing_of(verdict("level3/GMM/MatmulAdd", TASKS.parents[1] / "tests/kernels/good/matmul_add_blocks", "--case=5"))
        self.assertGreater(timing["aiv"]["mean_us"], 0.9 * timing["aic"]["mean_us"])
        self.assertGreater(timing["aic"]["mean_us"], 1.5 * timing["aic"]["pipes"]["MTE2"] * timing["aic"]["mean_us"])

    def test_trace_without_a_case_is_of_the_first(self):
        result, _ = self.trace(SQRT, REFERENCE)
        self.assertEqual([row["case"] for row in result["cases"]], [0])

    def test_page(self):
        page = self.scratch / "page.html"
        done = akgen("bench", "--provider=reference", f"--task={SQRT}", f"--report={page}", f"--db={self.scratch}/runs.db")
        self.assertEqual(done.returncode, 0, done.stderr)
        text = page.read_text()
        self.assertEqual(text.count("<circle "), 5)
        self.assertIn("<p class=dim>5 right cases by modelled time", text)
        self.assertEqual(len(re.findall(r"<td class=n>\d+\.\d\d<td>[\w ]+ \d+ %<br><span class=dim>48 AIV</span>", text)), 5)

    def test_wrong_use(self):
        path = self.scratch / "trace.json"
        for option in ("--no-timing", "--schedule=random:3"):
            self.assertEqual(akgen("eval", SQRT, REFERENCE, f"--trace={path}", option).returncode, 2)
        done = akgen("eval", SQRT, REFERENCE, f"--trace={self.scratch}/none/trace.json")
        self.assertEqual(done.returncode, 2)
        self.assertIn("none/trace.json: No such file", done.stderr)

    def test_a_trace_is_whole_or_as_it_was(self):
        folder = self.scratch / "out"
        folder.mkdir()
        path, link = folder / "trace.json", folder / "link"
        path.write_text("as before")
        link.symlink_to(path)
        project = copy_reference(SQRT, self.scratch)
        edit(project / "op_kernel/sqrt.cpp", "        inQueue.FreeTensor(x);\n", "")
        done = akgen("eval", SQRT, project, "--case=0", f"--trace={path}")
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("trace.json is not written: the launch did not come to its end", done.stderr)
        self.assertEqual(path.read_text(), "as before")
        self.assertEqual({entry.name for entry in folder.iterdir()}, {"trace.json", "link"})
        self.assertEqual(akgen("eval", SQRT, REFERENCE, "--case=0", f"--trace={link}").returncode, 0)
        self.assertTrue(json.loads(path.read_text()))
        self.assertTrue(link.is_symlink())
        self.assertEqual({entry.name for entry in folder.iterdir()}, {"trace.json", "link"})
        for options in (), ("--json",):
            done = akgen("eval", SQRT, REFERENCE, "--case=2", "--trace=/dev/full", *options)
            self.assertEqual((done.returncode, done.stderr), (3, "akgen: /dev/full is not written: No space left on device\n"), done.stdout)
        for bad, message in ((folder, "Is a directory"), ("", "No such file")):
            done = akgen("eval", SQRT, REFERENCE, "--case=0", f"--trace={bad}")
            self.assertEqual(done.returncode, 2, done.stderr)
            self.assertIn(message, done.stderr)

    def test_advice(self):
        """A loop over elements is told as one."""
        project = copy_reference(SQRT, self.scratch)
        kernel = project / "op_kernel/sqrt.cpp"
        self.assertIn("Sqrt(y, x, count);", kernel.read_text())
        edit(kernel, "Sqrt(y, x, count);",
             "for (uint32_t i = 0; i < count; i++) { y.SetValue(i, x.GetValue(i)); }\n            Sqrt(y, y, count);")
        advice = timing_of(verdict(SQRT, project, "--case=4"))["advice"]
        self.assertRegex(advice or "", r"^scalar work takes \d+ % of an AIV's time, with \d+ loads and stores")


if __name__ == "__main__":
    unittest.main()
