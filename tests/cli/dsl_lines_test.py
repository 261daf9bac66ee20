#!/usr/bin/env python3
"""The lines of a compiled project lead back to the program: in the map beside it, in verdicts, by #line directives."""
import bisect
import json
import pathlib
import re
import subprocess
import tempfile
import unittest

from akgen_program import AKGEN, akgen, edit, verdict
from dsl_build_test import SQRT

# The last tile goes one element past the tensor.
PAST_THE_END = SQRT.replace("offsets = at +", "offsets = at + 1 +").replace("< end", "< end + 1")
KERNEL = "op_kernel/sqrt.cpp"


def line_of(program, part):
    return 1 + next(i for i, line in enumerate(program.splitlines()) if part in line)


class Lines(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.dir = pathlib.Path(self.folder.name) / "project"

    def build(self, text, *arguments, folder="a"):
        program = pathlib.Path(self.folder.name) / folder / "root.py"
        program.parent.mkdir(exist_ok=True)
        program.write_text(text)
        done = subprocess.run([AKGEN, "dsl", "build", program, "--task", "Sqrt", "-o", self.dir, *arguments],
                              capture_output=True, text=True, timeout=60)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return program

    def mapped(self, file):
        """[(line of the project, its text, line of the program)]"""
        ranges = json.loads((self.dir / "program.map.json").read_text())["files"][file]
        firsts = [first for first, _ in ranges]
        self.assertEqual(firsts, sorted(set(firsts)))
        rows = []
        for number, text in enumerate((self.dir / file).read_text().splitlines(), 1):
            at = bisect.bisect_right(firsts, number) - 1
            rows.append((number, text, ranges[at][1] if at >= 0 else 0))
        return rows

    def test_each_statement_has_its_line(self):
        self.build(SQRT)
        for file, text, part in ((KERNEL, "Sqrt(y, x", "tl.vsqrt"), (KERNEL, "DataCopyPad(xIn", "tl.load("),
                                 (KERNEL, "DataCopyPad(yGm", "tl.store("), (KERNEL, "for (int64_t at = start", "for at in"),
                                 (KERNEL, "InitBuffer(xInQueue", "x_ub = tl.alloc"), (KERNEL, "// the root", "tl.compute()"),
                                 (KERNEL, "Compute(", "tl.compute()"), (KERNEL, "total = tiling.total", "def sqrt_kernel"),
                                 ("op_host/sqrt.cpp", "total == 0", "if total == 0"), ("op_host/sqrt.cpp", "set_perCore", "sqrt_kernel[cores]"),
                                 ("op_host/sqrt_tiling.h", "perCore", "def sqrt_kernel")):
            found = {line for _, printed, line in self.mapped(file) if text in printed}
            self.assertEqual(found, {line_of(SQRT, part)}, (file, text))
        inside = [row for row in self.mapped(KERNEL) if row[1].startswith("        ")]
        stages = [(text, line) for _, text, line in inside if "GET_TILING" not in text and not line]
        self.assertGreater(len(inside), 30)
        self.assertEqual([text for text, _ in stages if "constexpr" not in text and "return" not in text], [])

    def test_the_map_is_the_programs_own(self):
        self.build(SQRT)
        first = (self.dir / "program.map.json").read_bytes()
        self.build(SQRT, folder="elsewhere")
        self.assertEqual((self.dir / "program.map.json").read_bytes(), first)
        written = json.loads(first)
        lines = SQRT.splitlines()
        self.assertEqual((written["version"], written["program"]), (1, "root.py"))
        used = {line for file in written["files"] for _, _, line in self.mapped(file)} - {0}
        self.assertEqual(written["lines"], {str(n): lines[n - 1].strip() for n in used})

    def test_a_fault_names_the_programs_line(self):
        self.build(PAST_THE_END)
        found = verdict("Sqrt", self.dir, "--case", "1")
        places = {(note["api"], note["name"]): note["source"] for row in found["cases"] for note in row["notes"] + row["faults"]}
        for key, part in ((("DataCopyPad", "gm_padding"), "tl."), (("Sqrt", "uninitialized_read"), "tl.vsqrt")):
            self.assertIn(key, places)
            self.assertEqual(places[key]["file"], "root.py")
            self.assertIn(part, places[key]["text"])
            self.assertEqual(PAST_THE_END.splitlines()[places[key]["line"] - 1].strip(), places[key]["text"])
        said = akgen("eval", "Sqrt", self.dir, "--case", "1").stdout
        self.assertIn(f"| from root.py:{line_of(PAST_THE_END, 'tl.vsqrt')}: tl.vsqrt(y_ub, x_ub)\n", said)

    def test_a_function_that_the_compiler_added_has_its_callers_line(self):
        """Each load goes through a queue, and Convert() brings it into the buffer."""
        text = SQRT.replace("            tl.load(x + offsets, x_ub, mask=offsets < end)\n",
                            "            tl.load(x + at + 65, x_ub[0:64], count=64)\n"
                            "            tl.load(x + (at + 65), x_ub[64:128], count=64)\n").replace(
            "x_ub)", "x_ub, count=128)").replace("start, end, tile", "start, end, 128").replace(
            "y_ub, mask=offsets < end", "y_ub, count=min(128, end - at)").replace("y + offsets", "y + at")
        self.build(text)
        found = verdict("Sqrt", self.dir, "--case", "1")
        printed = (self.dir / KERNEL).read_text().splitlines()
        rows = [note for row in found["cases"] for note in row["notes"] + row["faults"]
                if note["line"] and printed[note["line"] - 1].startswith("        Cast(to, from")]
        self.assertEqual({row["source"]["line"] for row in rows if row["source"] and "tl.load" in row["source"]["text"]},
                         {line_of(text, f"tl.load(x + {at}") for at in ("at + 65", "(at + 65)")})

    def test_a_compile_error_names_the_programs_line(self):
        self.build(SQRT)
        for file, old, new, part in ((KERNEL, "Sqrt(y, x", "Sqrt(y, missing", "tl.vsqrt"),
                                     ("op_host/sqrt.cpp", "tiling.set_total(", "tiling.set_missing(", "sqrt_kernel[cores]")):
            edit(self.dir / file, old, new)
            found = verdict("Sqrt", self.dir, "--case", "0")
            self.assertEqual(found["verdict"], "compile_error")
            first = found["compile"]["diagnostics"][0]
            self.assertEqual((first["file"], first["source"]["line"]), (file, line_of(SQRT, part)))
            self.assertIn(f"| from root.py:{line_of(SQRT, part)}: ", akgen("eval", "Sqrt", self.dir, "--case", "0").stdout)
            edit(self.dir / file, new, old)

    def test_directives(self):
        program = self.build(SQRT, "--line-directives")
        for file in (KERNEL, "op_host/sqrt.cpp", "op_host/sqrt_tiling.h"):
            place, lines = (file, 1), 0
            for number, text, line in self.mapped(file):
                directive = re.fullmatch(r'#line (\d+) "(.*)"', text)
                if directive:
                    place = (directive[2], int(directive[1]))
                    continue
                if text and not text.startswith(("__aicore__ inline", "static int64_t", " ", "{", "}")) or "tiling." in text:
                    self.assertEqual(place, (str(program), line) if line else (file, number), text)
                    lines += line > 0
                place = (place[0], place[1] + 1)
            self.assertGreater(lines, 1)
        found = verdict("Sqrt", self.dir, "--case", "0", "--profile", "strict")
        self.assertEqual(found["verdict"], "pass", found["reason"])
        edit(self.dir / KERNEL, "Sqrt(y, x", "Sqrt(y, missing")
        first = verdict("Sqrt", self.dir, "--case", "0")["compile"]["diagnostics"][0]
        self.assertEqual((first["file"], first["source"]["line"]), (KERNEL, line_of(SQRT, "tl.vsqrt")))

    def test_no_map_decides_anything(self):
        self.build(PAST_THE_END)
        path = self.dir / "program.map.json"
        good = json.loads(path.read_text())

        def evaluated():
            found = verdict("Sqrt", self.dir, "--case", "1")
            sources = [note.pop(key) for row in found["cases"] for note in row["notes"] + row["faults"]
                       for key in ("source", "other_source")]
            for row in found["cases"]:
                row["run"].pop("seconds")
                if row["timing"] and row["timing"]["slowest"]:
                    sources.append(row["timing"]["slowest"].pop("source"))
            for key in ("candidate", "seconds"):
                found.pop(key)
            for key in ("seconds", "host_seconds", "kernel_seconds", "cached"):
                found["compile"].pop(key)
            return found, [source for source in sources if source]

        path.unlink()
        without, sources = evaluated()
        self.assertEqual(sources, [])
        lying = dict(good, program="/etc/passwd", files={KERNEL: [[1, 1], [2147483646, 2147483647]]}, lines={"1": "x" * 255})
        path.write_text(json.dumps(lying))
        found, sources = evaluated()
        self.assertEqual(found, without)
        self.assertEqual(sources[0], {"file": "/etc/passwd", "line": 1, "text": "x" * 255})  # the map's words, no file's
        for text in ("", "[" * 3000, json.dumps(dict(good, files={KERNEL: [[1e300, 10**30]]})), json.dumps(good)[:-9], "\0" * 64,
                     json.dumps(dict(good, lines={"1": "\x1b[31m"})), json.dumps(good) + " " * (1 << 20)):
            path.write_text(text)
            found, sources = evaluated()
            self.assertEqual((found, sources), (without, []), text[:40])


if __name__ == "__main__":
    unittest.main()
