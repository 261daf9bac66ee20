#!/usr/bin/env python3
# test: cost=12
"""Known ways to look right without doing the work. Each test is a candidate that tries one and must not pass, with the evidence
in the verdict. The candidates are edits of the reference project of Sqrt (y = sqrt(x), inputs positive)."""
import pathlib
import shutil
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "cli"))
from akgen_program import TASKS, akgen, copy_reference, edit, verdict, verdicts  # noqa: E402

SQRT = "level1/Math/Sqrt"
COMPUTE_FLOAT = "            Sqrt(y, x, count);\n"
COMPUTE_NARROW = "            Sqrt(wide, wide, count);\n"
COPY_OUT = "        DataCopyPad(yGm[at], y, copy);\n"
PROCESS = "    op.Process();\n"
TILING_END = "    return ge::GRAPH_SUCCESS;\n}\n} // namespace optiling"
NO_LANDLOCK = "ok     landlock" not in akgen("doctor").stdout


class Cheats(unittest.TestCase):
    def setUp(self):
        self.directory = pathlib.Path(tempfile.mkdtemp(prefix="akgen-cheat-"))
        self.addCleanup(shutil.rmtree, self.directory)
        self.project = copy_reference(SQRT, self.directory)
        self.kernel = self.project / "op_kernel" / "sqrt.cpp"
        self.host = self.project / "op_host" / "sqrt.cpp"

    def compute(self, statement):
        """Replaces the square root of 16-bit types, which are computed in the float tensor `wide`."""
        edit(self.kernel, COMPUTE_NARROW, f"            {statement}\n")

    def evaluate(self, *options):
        return verdict(SQRT, self.project, *options)

    def assert_caught(self, evidence, kind="wrong", profiles=("upstream", "strict"), options=("--case", "0")):
        results = verdicts((SQRT, self.project, f"--profile={profile}", *options) for profile in profiles)
        for profile, result in zip(profiles, results, strict=True):
            with self.subTest(profile=profile):
                self.assertEqual(result["verdict"], kind, result["reason"])
                self.assertRegex(result["reason"], evidence)

    def test_no_work_at_all(self):
        edit(self.kernel, PROCESS, "")
        self.assert_caught(r"is -?nan, expected")

    def test_no_work_and_an_output_that_happens_to_be_right(self):
        """Whatever an earlier evaluation left in memory is not found again: outputs are poisoned and coverage is counted."""
        self.assertEqual(self.evaluate("--case", "2")["verdict"], "pass")
        edit(self.kernel, COPY_OUT, "        if (at != 0) {\n            DataCopyPad(yGm[at], y, copy);\n        }\n")
        self.assert_caught(r"y: element 0 is -?nan")

    def test_constant_output(self):
        self.compute("Duplicate(wide, 2.5f, count);")
        self.assert_caught(r"is 2\.5, expected")

    def test_zero_output(self):
        self.compute("Duplicate(wide, 0.0f, count);")
        self.assert_caught(r"is 0, expected")

    def test_input_as_output(self):
        self.compute("Adds(wide, wide, 0.0f, count);")
        self.assert_caught("elements are wrong")

    def test_first_tile_only(self):
        edit(self.kernel, "at < length; at += tile", "at < length && at == 0; at += tile")
        edit(self.host, "tiling.set_tile(static_cast<uint32_t>(tile));", "tiling.set_tile(64 + 0 * tile);")
        self.assert_caught(r"is -?nan, expected")

    def test_only_the_shapes_that_are_shown(self):
        """Every published case has more than a thousand elements in its last dimension or is a multiple of 64."""
        edit(self.kernel, "            uint32_t count = length - at < tile ? length - at : tile;\n",
             "            uint32_t count = length - at < tile ? (length - at) / 16 * 16 : tile;\n")
        self.assertEqual(self.evaluate()["verdict"], "pass")
        self.assert_caught("case 1000", profiles=("strict",), options=())

    def test_inputs_made_easy(self):
        """Sets the input to zero and returns zeros: the reference is computed from inputs of its own."""
        self.compute("Duplicate(wide, 0.0f, count);")
        edit(self.kernel, COPY_OUT, COPY_OUT + "        PipeBarrier<PIPE_MTE3>();\n        DataCopyPad(xGm[at], y, copy);\n")
        self.assert_caught(r"changed input 'x' into one that its outputs fit .*is 0, expected", kind="rejected")

    def test_state_from_the_run_before(self):
        """A counter in the host part: right on the first call, lazy afterwards. Every case has a process of its own, so there
        is no second call to be lazy in."""
        edit(self.host, "    uint64_t ubBytes = 0;\n",
             "    uint64_t ubBytes = 0;\n    static int calls = 0;\n    if (calls++ > 0) {\n"
             "        return ge::GRAPH_FAILED;\n    }\n")
        self.assertEqual(self.evaluate()["verdict"], "pass")

    def test_precision_below_the_data_type(self):
        edit(self.kernel, COMPUTE_FLOAT,
             "            LocalTensor<half> narrow = floatBuffer.Get<half>();\n" + COMPUTE_FLOAT +
             "            Cast(narrow, y, RoundMode::CAST_RINT, count);\n"
             "            Cast(y, narrow, RoundMode::CAST_NONE, count);\n")
        edit(self.kernel, "        if constexpr (!std::is_same_v<DTYPE_X, float>) {\n"
             "            pipe->InitBuffer(floatBuffer, tile * sizeof(float));\n        }\n",
             "        pipe->InitBuffer(floatBuffer, tile * sizeof(float));\n")
        self.assert_caught("elements are wrong", profiles=("strict",), options=("--case", "2"))

    def test_nan_never_matches(self):
        self.compute("Muls(wide, wide, __builtin_nanf(\"\"), count);")
        self.assert_caught("nan")

    def test_the_answer_is_not_in_reach_of_the_compiler(self):
        if NO_LANDLOCK:
            self.skipTest("this kernel has no Landlock")
        reference = TASKS / SQRT / "reference/op_kernel/sqrt.cpp"
        self.kernel.write_text(f'#include "{reference}"\n// extern "C" __global__ __aicore__ void sqrt(\n')
        result = self.evaluate("--case", "2")
        self.assertEqual(result["verdict"], "compile_error", result["reason"])

    def test_files_of_the_task_do_not_get_into_the_host_part(self):
        if NO_LANDLOCK:
            self.skipTest("this kernel has no Landlock")
        self.host.write_text(self.host.read_text() + f'\n__asm__(".incbin \\"{TASKS / SQRT / "cases.csv"}\\"");\n')
        result = self.evaluate("--case", "2")
        self.assertEqual((result["verdict"], result["stage"]), ("compile_error", "host"), result["reason"])

    def test_files_of_the_task_are_not_in_reach_of_the_host_part(self):
        if NO_LANDLOCK:
            self.skipTest("this kernel has no Landlock")
        self.host.write_text("#include <cstdio>\n" + self.host.read_text())
        edit(self.host, TILING_END,
             f'    if (fopen("{TASKS / SQRT / "cases.csv"}", "r") || fopen("/etc/passwd", "r")) {{\n'
             "        return ge::GRAPH_SUCCESS;\n    }\n" + TILING_END.replace("GRAPH_SUCCESS", "GRAPH_FAILED"))
        self.assert_caught("system call open", kind="rejected", profiles=("upstream",))

    def test_a_precompiled_answer_is_not_a_source(self):
        shutil.copy(shutil.which("true"), self.project / "op_kernel" / "sqrt.o")
        self.kernel.unlink()
        self.assert_caught("no kernel source", kind="compile_error", profiles=("upstream",))

    def test_scalar_work_is_seen(self):
        """Right but computed element by element: it passes, and the verdict says what it is."""
        result = verdict("UnalignAdd", TASKS.parents[1] / "tests/kernels/good/scalar_loop", "--scope=kernel", "--case", "0")
        self.assertEqual(result["verdict"], "pass")
        run = result["cases"][0]["run"]
        self.assertEqual((run["instructions"], run["bytes_in"]), (0, 0))
        self.assertEqual((run["scalar_loads"], run["scalar_stores"]), (65536, 32768))


if __name__ == "__main__":
    unittest.main()
