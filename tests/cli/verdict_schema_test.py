#!/usr/bin/python3
"""Real verdicts of every kind against docs/verdict.schema.json."""
import json
import pathlib
import re
import shutil
import tempfile
import unittest

import jsonschema

from akgen_program import HOME, akgen, copy_reference, edit, verdict, without_measurements

SCHEMA = json.loads((HOME / "docs" / "verdict.schema.json").read_text())
SQRT = "level1/Math/Sqrt"


class Schema(unittest.TestCase):
    def setUp(self):
        directory = pathlib.Path(tempfile.mkdtemp(prefix="akgen-schema-"))
        self.addCleanup(shutil.rmtree, directory)
        self.project = copy_reference(SQRT, directory)
        self.kernel = self.project / "op_kernel" / "sqrt.cpp"

    def check(self, kind, *options):
        result = verdict(SQRT, self.project, "--case", "0", *options)
        self.assertEqual(result.pop("exit_code"), 0 if kind == "pass" else 1)
        self.assertEqual(result["verdict"], kind, result["reason"])
        jsonschema.validate(result, SCHEMA)
        return result

    def test_pass(self):
        result = self.check("pass", "--profile=strict", "--schedule=random:7")
        row = result["cases"][0]
        self.assertEqual((row["ok"], row["comparison"]["wrong"], row["faults"]), (True, 0, []))
        self.assertEqual(row["run"]["tiling"]["total"], row["comparison"]["elements"])
        self.assertEqual(row["run"]["bytes_in"], row["run"]["bytes_out"])

    def test_timing(self):
        row = self.check("pass")["cases"][0]
        timing = row["timing"]
        self.assertEqual((timing["modelled"], timing["aiv"]["cores"], timing["aic"]), (True, 48, None))
        self.assertEqual(timing["bytes_read"], row["run"]["bytes_in"])

    def test_wrong(self):
        edit(self.kernel, "Sqrt(wide, wide, count);", "Abs(wide, wide, count);")
        edit(self.kernel, "Sqrt(y, x, count);", "Abs(y, x, count);")
        first = self.check("wrong")["cases"][0]["comparison"]["first"]
        self.assertAlmostEqual(first["actual"], first["expected"] ** 2, delta=0.02 * first["actual"])

    def test_fault(self):
        edit(self.kernel, "        inQueue.FreeTensor(x);\n", "")
        self.check("fault")

    def test_compile_error(self):
        edit(self.kernel, "    op.Process();\n", "    op.Proces();\n")
        self.check("compile_error")

    def test_text_and_a_file(self):
        options, file = (SQRT, self.project, "--case", "0", "--timing"), self.project.with_name("verdict.json")
        text = akgen("eval", *options)
        both = akgen("eval", *options, f"--json={file}")
        self.assertEqual((both.returncode, both.stderr), (0, ""))
        self.assertEqual(re.sub(r"[\d.]+ m?s\b", "", both.stdout), re.sub(r"[\d.]+ m?s\b", "", text.stdout))
        alone = akgen("eval", SQRT, self.project, "--case", "0", "--json").stdout
        self.assertEqual(without_measurements(file.read_text()), without_measurements(alone))
        edit(self.kernel, "    op.Process();\n", "    op.Proces();\n")
        self.assertEqual(akgen("eval", SQRT, self.project, "--feedback", f"--json={file}").returncode, 1)
        self.assertEqual(json.loads(file.read_text())["verdict"], "compile_error")

    def test_a_file_that_cannot_be_written(self):
        nowhere = self.project / "no" / "such" / "verdict.json"
        process = akgen("eval", SQRT, self.project, "--case", "0", f"--json={nowhere}")
        self.assertEqual((process.returncode, process.stdout), (2, ""))
        self.assertIn(f"akgen: {nowhere}: No such file", process.stderr)
        process = akgen("eval", SQRT, self.project, "--case", "0", "--json=/dev/full")
        self.assertEqual(process.returncode, 3)
        self.assertRegex(process.stdout, "(?m)^pass: 1 of 1 cases")
        self.assertIn("akgen: /dev/full is not written: No space left", process.stderr)

    def test_answers_that_are_none(self):
        for text in ["no code", "```python\n@ascend_kernel\ndef k(x):\n    try\n```\n"]:
            self.project = self.project.with_name("answer.md")
            self.project.write_text(text)
            self.check("compile_error")


if __name__ == "__main__":
    unittest.main()
