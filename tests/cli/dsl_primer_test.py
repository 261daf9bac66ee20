#!/usr/bin/env python3
"""docs/dsl-primer.md: every program in it is right on the task that it names, or gets the message that stands below it."""
import pathlib
import re
import tempfile
import unittest

from akgen_program import HOME, akgen

PAGE = HOME / "docs/dsl-primer.md"
LONGEST = 24_000


class Primer(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        fences = re.findall(r"^```(\w*)(.*)\n((?:.*\n)*?)```$", PAGE.read_text(), re.M)
        cls.programs = []
        for i, (language, tags, text) in enumerate(fences):
            if language == "python":
                tags = dict(tag.partition("=")[::2] for tag in tags.split())
                cls.programs.append((tags, text, fences[i + 1][2] if "error" in tags else None))

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="akgen-primer-")
        self.addCleanup(folder.cleanup)
        self.file = pathlib.Path(folder.name) / "program.py"

    def dsl(self, command, *options):
        return akgen("dsl", command, self.file, *options)

    def test_the_page_is_short_and_its_programs_say_what_they_are(self):
        self.assertLessEqual(PAGE.stat().st_size, LONGEST)
        self.assertGreaterEqual(len(self.programs), 12)
        for tags, _, message in self.programs:
            self.assertTrue("error" in tags or "task" in tags, tags)
            self.assertTrue(message is None or ": error: " in message, tags)

    def test_programs_are_right(self):
        for tags, text, message in self.programs:
            if message is not None:
                continue
            self.file.write_text(text)
            task = ("--task", tags["task"], "--case", tags["case"])
            with self.subTest(tags):
                self.assertEqual(self.dsl("check").stderr, "")
                process = self.dsl("run", *task)
                self.assertEqual(process.returncode, 0, process.stdout + process.stderr)
                self.assertRegex(process.stdout, r"^case \d+: upstream right strict right\n$")
                process = self.dsl("build", *task, "--verify")
                self.assertEqual(process.stdout, f"case {tags['case']}: as the interpreter computes it\n", process.stderr)

    def test_errors_are_what_is_printed(self):
        for tags, text, message in self.programs:
            if message is None:
                continue
            self.file.write_text(text)
            task = [word for tag in ("task", "case") if tag in tags for word in (f"--{tag}", tags[tag])]
            process = self.dsl(tags["error"] or "check", *task, *(["--print"] if tags["error"] == "build" else []))
            with self.subTest(tags):
                self.assertEqual(process.returncode, 1)
                self.assertEqual(process.stderr.replace(str(self.file), "program.py"), message)


if __name__ == "__main__":
    unittest.main()
