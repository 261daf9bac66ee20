#!/usr/bin/env python3
"""The C headers under include/ compile alone, and the build exports what they declare and nothing else: libakgen.a the
functions of akgen.h, akgen-host and akgen-run those of include/abi that their side of a candidate calls."""
import json
import os
import pathlib
import re
import subprocess
import tempfile
import unittest

HOME = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ["AKGEN"]).parent
PUBLIC = HOME / "include/akgen/akgen.h"
ABI = sorted((HOME / "include/abi").glob("*.h"))
# Of AddressSanitizer's, in every object that it instruments.
SANITIZER = {"___asan_globals_registered"}


def declared(header):
    """The functions that the header itself declares, as clang reads it."""
    done = subprocess.run(["clang-19", "-std=gnu17", f"-I{HOME}/include", "-fsyntax-only", "-Xclang", "-ast-dump=json", header],
                          capture_output=True, text=True, check=True)
    names = set()
    for node in json.loads(done.stdout)["inner"]:
        if node["kind"] == "FunctionDecl" and re.match(r"(akgen|npu)_", node["name"]):
            names.add(node["name"])
    return names


def defined(path, *options):
    done = subprocess.run(["nm", "--defined-only", *options, path], capture_output=True, text=True, check=True)
    return {line.split()[-1] for line in done.stdout.splitlines() if len(line.split()) == 3}


def compiles(language, standard, header, *options):
    with tempfile.NamedTemporaryFile("w", suffix=".c") as file:
        file.write(f'#include "{header}"\n')
        file.flush()
        return subprocess.run(["clang-19", "-x", language, f"-std={standard}", "-Wall", "-Wextra", "-Werror", "-fsyntax-only",
                               *options, file.name], capture_output=True, text=True).stderr


class Exports(unittest.TestCase):
    def test_the_library(self):
        functions = declared(PUBLIC)
        self.assertIn("akgen_evaluate", functions)
        self.assertEqual(defined(BUILD / "libakgen.a", "-g") - SANITIZER, functions)

    def exported(self, program):
        functions = set().union(*map(declared, ABI))
        exported = {name for name in defined(BUILD / program, "-D") if re.match(r"(akgen|npu)_", name)}
        self.assertEqual(exported - functions, set())
        return exported

    def test_the_kernels_program(self):
        """It has the machine, and nothing of the host runtime."""
        exported = self.exported("akgen-run")
        self.assertIn("npu_issue", exported)
        self.assertEqual([name for name in exported if name.startswith("akgen_")], [])
        self.assertEqual([name for name in defined(BUILD / "akgen-run") if re.match(r"op_|symbolizer_|task_load|eval_", name)], [])

    def test_the_host_parts_program(self):
        """It has the host runtime, and of the machine the table of chips."""
        exported = self.exported("akgen-host")
        self.assertIn("akgen_op_add", exported)
        self.assertEqual([name for name in exported if name.startswith("npu_")], [])
        there = {name for name in defined(BUILD / "akgen-host") if re.match(r"npu_|task_load|eval_|symbolizer_", name)}
        self.assertEqual(there - {"npu_soc_find", "npu_socs"}, set())


class Headers(unittest.TestCase):
    def test_the_public_one_alone(self):
        for language, standard in (("c", "c11"), ("c", "c17"), ("c++", "c++17")):
            self.assertEqual(compiles(language, standard, PUBLIC, "-pedantic"), "")

    def test_it_includes_nothing_of_ours(self):
        self.assertNotIn('#include "', PUBLIC.read_text())

    def test_each_of_the_abi_alone(self):
        self.assertGreater(len(ABI), 5)
        for header in ABI:
            for language, standard in (("c", "gnu17"), ("c++", "gnu++17")):
                with self.subTest(header=header.name, language=language):
                    self.assertEqual(compiles(language, standard, header, f"-I{HOME}/include"), "")

    def test_none_leads_out_of_include(self):
        """A header of include/ finds what it includes there: no path of src/ and none that climbs."""
        found = 0
        for path in (HOME / "include").rglob("*"):
            if path.is_file() and path.suffix != ".txt":
                for name in re.findall(r'^\s*#\s*include(?:_next)?\s*["<]([^">]+)[">]', path.read_text(), re.M):
                    found += 1
                    self.assertNotRegex(name, r"(^|/)\.\./|^/", f"{path} includes {name}")
                    self.assertFalse((HOME / "src" / name).exists(), f"{path} includes {name}")
        self.assertGreater(found, 100)


if __name__ == "__main__":
    unittest.main()
