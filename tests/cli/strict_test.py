#!/usr/bin/env python3
# test: cost=13 labels=long
"""What the strict profile sees and the upstream profile does not."""
import pathlib
import shutil
import tempfile
import unittest

from akgen_program import copy_reference, edit, verdict

SQRT = "level1/Math/Sqrt"


class Strict(unittest.TestCase):
    def setUp(self):
        directory = pathlib.Path(tempfile.mkdtemp(prefix="akgen-strict-"))
        self.addCleanup(shutil.rmtree, directory)
        self.project = copy_reference(SQRT, directory)
        self.kernel = self.project / "op_kernel" / "sqrt.cpp"

    def verdicts(self):
        return [verdict(SQRT, self.project, "--case", "2", f"--profile={profile}") for profile in ("upstream", "strict")]

    def test_right_by_knowing_the_address(self):
        edit(self.kernel, "    TPipe pipe;\n",
             "    if ((uint64_t)x % 4096 != 0) {\n        return;\n    }\n    TPipe pipe;\n")
        upstream, strict = self.verdicts()
        self.assertEqual(upstream["verdict"], "pass")
        self.assertEqual((strict["verdict"], strict["stage"]), ("wrong", "compare"))
        self.assertIn("other inputs at other addresses", strict["reason"])

    def test_changed_input(self):
        edit(self.kernel, "        DataCopyPad(yGm[at], y, copy);\n",
             "        DataCopyPad(yGm[at], y, copy);\n        PipeBarrier<PIPE_MTE3>();\n        DataCopyPad(xGm[at], y, copy);\n")
        upstream, strict = self.verdicts()
        self.assertEqual(upstream["verdict"], "pass", upstream["reason"])
        self.assertEqual(strict["verdict"], "wrong")
        self.assertIn("input 'x' was changed", strict["reason"])

    def test_half_precision_where_float_is_asked_for(self):
        """Three decimal digits satisfy the published tolerance of float32, not float64's reference."""
        edit(self.kernel, "            Sqrt(y, x, count);\n",
             "            LocalTensor<half> narrow = floatBuffer.Get<half>();\n"
             "            Sqrt(y, x, count);\n"
             "            Cast(narrow, y, RoundMode::CAST_RINT, count);\n"
             "            Cast(y, narrow, RoundMode::CAST_NONE, count);\n")
        edit(self.kernel, "        if constexpr (!std::is_same_v<DTYPE_X, float>) {\n"
             "            pipe->InitBuffer(floatBuffer, tile * sizeof(float));\n        }\n",
             "        pipe->InitBuffer(floatBuffer, tile * sizeof(float));\n")
        upstream, strict = self.verdicts()
        self.assertEqual(upstream["verdict"], "pass", upstream["reason"])
        self.assertEqual(strict["verdict"], "wrong")

    def test_tails_that_the_task_does_not_show(self):
        """All published sizes of Sqrt are multiples of 32 bytes: a kernel that drops the tail passes them."""
        edit(self.kernel, "            uint32_t count = length - at < tile ? length - at : tile;\n",
             "            uint32_t count = length - at < tile ? (length - at) / 16 * 16 : tile;\n")
        upstream, strict = [verdict(SQRT, self.project, f"--profile={profile}") for profile in ("upstream", "strict")]
        self.assertEqual((upstream["verdict"], upstream["cases_total"]), ("pass", 5), upstream["reason"])
        self.assertEqual(strict["verdict"], "wrong")
        hidden = [row for row in strict["cases"] if row["hidden"]]
        self.assertEqual(len(hidden), 12, "two with other sizes and two with other values for each of three data types")
        self.assertTrue(all(row["ok"] for row in strict["cases"] if not row["hidden"]))
        self.assertEqual(sum(row["ok"] for row in hidden), 6, "other values have the sizes of a shown case")

    def test_infinity_is_asked_for(self):
        """Largest numbers are never in the published inputs; the square root of infinity is infinite."""
        edit(self.kernel, "            Sqrt(y, x, count);\n",
             "            Sqrt(y, x, count);\n            Mins(y, y, static_cast<DTYPE_X>(30000), count);\n")
        upstream, strict = [verdict(SQRT, self.project, f"--profile={profile}") for profile in ("upstream", "strict")]
        self.assertEqual(upstream["verdict"], "pass", upstream["reason"])
        self.assertEqual((strict["verdict"], strict["stage"]), ("wrong", "compare"))
        self.assertRegex(strict["reason"], r"case 100\d\d\d: y: element \d+ is 30000, expected inf")

    def test_sums_of_absolute_values_see_negative_ones(self):
        """Sasum's published inputs are not negative: a plain sum passes them."""
        project = copy_reference("level1/Math/Sasum", self.project / "sasum")
        for copied in ("Abs(magnitude, x, count);", "Abs(magnitude, magnitude, count);"):
            edit(project / "op_kernel" / "sasum.cpp", copied, copied.replace("Abs(", "Muls(").replace(", count)", ", 1.0f, count)"))
        upstream, strict = [verdict("Sasum", project, "--case=0", f"--profile={profile}") for profile in ("upstream", "strict")]
        self.assertEqual(upstream["verdict"], "pass", upstream["reason"])
        self.assertEqual(strict["verdict"], "wrong")
        self.assertIn("with other inputs at other addresses", strict["reason"])

    def test_an_in_place_result_is_the_input_from_then_on(self):
        """Done twice, Sscal scales its own result, while Sqrt finds its input as it was."""
        again = "    op.Process();\n    PipeBarrier<PIPE_ALL>();\n    op.Process();\n"
        edit(self.kernel, "    op.Process();\n", again)
        twice = copy_reference("level1/Math/Sscal", self.project / "sscal")
        edit(twice / "op_kernel" / "sscal.cpp", "    op.Process();\n", again)
        self.assertEqual(verdict(SQRT, self.project, "--case=2", "--profile=strict")["verdict"], "pass")
        result = verdict("Sscal", twice, "--case=0", "--profile=upstream")
        self.assertEqual(result["verdict"], "wrong")
        self.assertIn("x: element 0 is 4, expected 2", result["reason"])


if __name__ == "__main__":
    unittest.main()
