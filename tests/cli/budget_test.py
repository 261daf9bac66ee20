#!/usr/bin/env python3
# test: builds=release cost=52
"""What a candidate may cost: one budget for all that is done for it, and one limit for what never ends, however many cases, inputs and
sources it has."""
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time
import unittest

from akgen_program import AKGEN, akgen, copy_reference, edit, verdict, without_measurements

SQRT = "level1/Math/Sqrt"
ENTRY = "    op.Process();\n"
HANGS = "    volatile int spin = 1;\n    while (spin) {\n    }\n"
WAITS = "    for (volatile long wait = 0; wait < %d; wait = wait + 1) {}\n"
USING = "using namespace AscendC;\n"
BOMBS = {
    "includes": '#include "bomb.h"\n#include "bomb.h"\n',
    "templates": "template <int N, typename T> struct Bomb { typename Bomb<N - 1, T[1]>::X a; typename Bomb<N - 1, T *>::X b; using X = int; };\n"
                 "template <typename T> struct Bomb<0, T> { using X = int; };\ntemplate struct Bomb<60, int>;\n",
    "constants": "constexpr int f(int n) { int s = 0; for (int i = 0; i < 1000; i++) s += i; return n ? f(n - 1) + f(n - 1) : s; }\n"
                 "template <int N> struct Sum { static constexpr int value = f(7) + Sum<N - 1>::value; };\n"
                 "template <> struct Sum<0> { static constexpr int value = 0; };\nstatic_assert(Sum<1000>::value);\n",
    "macros": "#define A0 1 1 1 1 1 1 1 1 1 1\n" + "".join(f"#define A{i} " + f"A{i - 1} " * 10 + "\n" for i in range(1, 12)) + "int a[] = {A11};\n",
}


def line_of(path, text):
    """The number of the line that has the text."""
    return next(number for number, line in enumerate(path.read_text().splitlines(), 1) if text in line)


class Budget(unittest.TestCase):
    def setUp(self):
        self.directory = pathlib.Path(tempfile.mkdtemp(prefix="akgen-test-"))
        self.addCleanup(shutil.rmtree, self.directory)
        self.project = copy_reference(SQRT, self.directory)
        self.kernel = self.project / "op_kernel" / "sqrt.cpp"
        self.host = self.project / "op_host" / "sqrt.cpp"

    def test_an_endless_loop_costs_one_limit(self):
        edit(self.kernel, ENTRY, HANGS)
        for jobs in (1, 2):
            result = verdict(SQRT, self.project, "--timeout=2", "--inputs=3", f"--jobs={jobs}")
            self.assertEqual((result["verdict"], result["stage"]), ("timeout", "run"))
            self.assertRegex(result["reason"], "^case 0: not done after 2 s")
            self.assertEqual([row["error"] for row in result["cases"][1:]], ["not run: case 0 ran out of time"] * 4)
            self.assertEqual({row["verdict"] for row in result["cases"]}, {"timeout"})
            self.assertEqual({row["run"] is None for row in result["cases"][1:]}, {True})

    def ended(self, *options):
        """The verdict on the smallest case, without what is measured."""
        result = verdict(SQRT, self.project, "--case=4", *options)
        self.assertEqual((result["verdict"], result["stage"]), ("timeout", "run"), result["reason"])
        return json.loads(without_measurements(json.dumps(result)))

    def test_a_loop_without_an_end_is_ended_by_its_steps(self):
        """The tiling function forgets the tile. The verdict is the same beside others that want the processor, and says where."""
        edit(self.host, "tiling.set_tile(static_cast<uint32_t>(tile));", "tiling.set_tile(0);")
        line = line_of(self.kernel, "for (uint64_t at = 0;")
        alone = self.ended("--jobs=1")
        load = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(3)]
        try:
            beside = self.ended("--jobs=2")
        finally:
            for process in load:
                process.kill()
                process.wait()
        self.assertEqual(alone, beside)
        row = alone["cases"][0]
        run, (loop,) = row["run"], row["endless"]
        self.assertEqual((loop["file"], loop["line"], loop["core"], loop["cores"], loop["source"]), ("op_kernel/sqrt.cpp", line, 0, 48, None))
        self.assertEqual(run["steps_allowed"], 400_000_000 + 34 * 2 * 4 * 48 * 8192)
        self.assertEqual(run["data_steps_allowed"], 100_000_000 + 112 * 2 * 4 * 48 * 8192)
        self.assertGreaterEqual(run["steps"], run["steps_allowed"])
        self.assertLess(run["steps"], 1.1 * run["steps_allowed"])
        self.assertIn(f"the kernel did not end: op_kernel/sqrt.cpp:{line} ran at least {loop['rounds']:,} rounds (48 cores, core 0 the first of them)",
                      alone["reason"])

    def test_a_loop_of_long_instructions(self):
        """Data has a limit of its own, which comes long before that of the blocks."""
        edit(self.kernel, "            Sqrt(y, x, count);", "            while (true) {\n                Add(y, x, x, count);\n            }")
        result = self.ended()
        run, (loop,) = result["cases"][0]["run"], result["cases"][0]["endless"]
        self.assertEqual((loop["line"], loop["cores"]), (line_of(self.kernel, "while (true) {"), 48))
        self.assertGreaterEqual(run["data_steps"], run["data_steps_allowed"])
        self.assertLess(run["steps"], run["steps_allowed"] / 10)
        self.assertIn(" steps of 128 bytes, of which a case of its size has ", result["reason"])

    def test_one_core_of_many(self):
        """In a function that is not inlined, called in a loop of its own: that is what has no end. The others do."""
        edit(self.kernel, 'extern "C" __global__', '__attribute__((noinline)) __aicore__ int Count(int n)\n{\n    volatile int left = n;\n'
             '    while (left) {\n        left = left - 1;\n    }\n    return left;\n}\n\nextern "C" __global__')
        edit(self.kernel, ENTRY, "    while (GetBlockIdx() == 7 && Count(300) == 0) {\n    }\n" + ENTRY)
        (loop,) = self.ended()["cases"][0]["endless"]
        self.assertEqual((loop["line"], loop["core"], loop["cores"]), (line_of(self.kernel, "while (GetBlockIdx()"), 7, 1))
        shown = akgen("eval", SQRT, self.project, "--case=4", "--feedback").stdout
        self.assertIn(f"1. timeout\n   place:  op_kernel/sqrt.cpp:{loop['line']}\n", shown)
        self.assertIn("   remedy: let this loop end", shown)

    def test_a_word_that_nobody_writes(self):
        """A core that looks at GM again and again gives the others their turns; what they found before stays."""
        edit(self.kernel, ENTRY, "    GlobalTensor<int32_t> word;\n    word.SetGlobalBuffer((__gm__ int32_t *)y, 1024);\n    if (GetBlockIdx() == 1) {\n"
             "        while (word.GetValue(0) != 77) {\n        }\n    }\n" + ENTRY)
        row = self.ended()["cases"][0]
        (loop,) = row["endless"]
        self.assertEqual((loop["line"], loop["core"]), (line_of(self.kernel, "while (word.GetValue"), 1))
        self.assertIn("gm_race", [finding["name"] for finding in row["faults"] + row["notes"]])

    def test_what_is_not_right_before_it_counts(self):
        """As if cases ran in their order: case 2 hangs, 0 and 1 are judged, 3 and 4 are not run."""
        edit(self.kernel, ENTRY, f"    if (tilingData.total == {32 * 32 * 768}) {{\n{HANGS}    }}\n{ENTRY}")
        rows = [verdict(SQRT, self.project, "--timeout=2", f"--jobs={jobs}")["cases"] for jobs in (1, 2)]
        for row in rows:
            self.assertEqual([case["verdict"] for case in row], ["pass", "pass", "timeout", "timeout", "timeout"])
            self.assertEqual([case["error"] for case in row[3:]], ["not run: case 2 ran out of time"] * 2)

    def test_slow_cases_share_a_budget(self):
        """Each is within its limit; together they are not within the candidate's."""
        edit(self.kernel, ENTRY, WAITS % 1000000 + ENTRY)
        result = verdict(SQRT, self.project, "--case=2")
        self.assertEqual(result["verdict"], "pass", result["reason"])
        seconds = result["cases"][0]["run"]["seconds"]
        limit = max(2, round(2.5 * seconds))
        result = verdict(SQRT, self.project, f"--candidate-seconds={limit}", "--inputs=20", "--jobs=1")
        self.assertEqual((result["verdict"], result["stage"]), ("timeout", "run"))
        self.assertRegex(result["reason"], f"^case 0: with other inputs: (not done when|not run:) the candidate's {limit} s were used up")

    def test_compilers_share_it_too(self):
        for what, bomb in BOMBS.items():
            with self.subTest(what):
                for number in range(3):
                    (self.project / "op_host" / f"more{number}.cpp").write_text(bomb)
                (self.project / "op_host" / "bomb.h").write_text(BOMBS["includes"])
                started = time.monotonic()
                result = verdict(SQRT, self.project, "--case=2", "--jobs=1", "--candidate-seconds=4")
                self.assertEqual((result["verdict"], result["stage"]), ("compile_error", "host"), result["reason"])
                self.assertLess(result["compile"]["host_seconds"], 100, time.monotonic() - started)

    def test_a_long_line_with_many_warnings_is_cheap(self):
        warnings = "".join(f'inline int w{i}() {{ return "x" == "y"; }} ' for i in range(20))
        edit(self.kernel, USING, f"{USING}/*{'x' * (8 << 20)}*/ {warnings}\n")
        process = os.posix_spawn(AKGEN, [AKGEN, "eval", SQRT, str(self.project), "--case=2", "--no-cache"], os.environ,
                                 file_actions=[(os.POSIX_SPAWN_OPEN, 1, "/dev/null", os.O_WRONLY, 0)])
        _, status, usage = os.wait4(process, 0)
        self.assertEqual(status, 0)
        self.assertLess(usage.ru_maxrss >> 10, 250)  # MiB, of which the machine's tables and the tensors are 60

    def test_what_it_prints_is_cut(self):
        self.host.write_text("#include <cstdio>\n" + self.host.read_text())
        edit(self.host, "    uint64_t ubBytes = 0;\n", "    uint64_t ubBytes = 0;\n    for (int i = 0; i < 100000; i++) puts(\"0123456789\");\n")
        result = verdict(SQRT, self.project)
        self.assertEqual(result["verdict"], "pass", result["reason"])
        for row in result["cases"]:
            self.assertEqual(len(row["printed"]), 64 << 10)

    def test_wrong_usage(self):
        self.assertIn("candidate-seconds", akgen("eval", SQRT, self.project, "--candidate-seconds=0").stderr)


if __name__ == "__main__":
    unittest.main()
