#!/usr/bin/env python3
"""scripts/tables.py reads every row of the X-macro tables, however it is written."""
import pathlib
import subprocess
import sys
import tempfile
import unittest

HOME = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(HOME / "scripts"))
import tables

COUNTS = """#include "abi/npu_adv.h"
#define AKGEN_DTYPE(...) +1
_Static_assert(NPU_OPS - 1 == {isa}, "");
_Static_assert(NPU_ADV_OPS - 1 == {adv}, "");
_Static_assert(0
#include "abi/dtype.def"
== {dtype}, "");
"""


def table(text):
    with tempfile.TemporaryDirectory() as home:
        folder = pathlib.Path(home, "include/abi")
        folder.mkdir(parents=True)
        (folder / "isa.def").write_text("#define NPU_T(id) (1 << id)\n#define NPU_T_TWO (NPU_T(A) | NPU_T(B))\n")
        (folder / "own.def").write_text(text)
        return tables.rows(home, "own.def", "OWN")


class Tables(unittest.TestCase):
    def test_rows_wrap_and_hold_commas(self):
        rows = table('/* OWN(ID, name,\n *     types, rest) */\nOWN(X, "a, b", NPU_T_TWO,\n    f(1, 2))\nOWN(Y, "\\"(", NPU_T(C)\\\n, )\n')
        self.assertEqual([row["ID"] for row in rows], ["X", "Y"])
        self.assertEqual([row["name"] for row in rows], ["a, b", '\\"('])
        self.assertEqual([tables.types(row["types"]) for row in rows], [["A", "B"], ["C"]])
        self.assertEqual([row["rest"] for row in rows], ["f(1, 2)", ""])

    def test_what_is_not_in_the_columns_is_an_error(self):
        with self.assertRaisesRegex(ValueError, "2 columns, expected ID, name, types"):
            table("/* OWN(ID, name, types) */\nOWN(X, Y)\n")
        with self.assertRaisesRegex(ValueError, "no union"):
            tables.types("T_A & T_B")

    def test_as_many_rows_as_the_compiler_sees(self):
        counts = {name: len(tables.rows(HOME, f"{name}.def", macro))
                  for name, macro in (("isa", "NPU_INSN"), ("adv", "NPU_ADV"), ("dtype", "AKGEN_DTYPE"))}
        done = subprocess.run(["clang-19", "-fsyntax-only", "-xc", f"-I{HOME}/include", "-"], input=COUNTS.format(**counts), text=True)
        self.assertEqual(done.returncode, 0)


if __name__ == "__main__":
    unittest.main()
