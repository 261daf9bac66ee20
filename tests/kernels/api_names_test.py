#!/usr/bin/env python3
# test: cost=12 labels=long
"""Each public name that CANN documents for an Ascend 910B is declared, or declared as lacking; what only other products have is
not declared. api_names.tsv lists them; all names of one place are one file with a name per line, so that an error is known
by its line."""
import collections
import pathlib
import re
import subprocess
import tempfile
import unittest

from contract_test import CLANG, HOME

TABLE = pathlib.Path(__file__).resolve().parent / "api_names.tsv"
HOST = ["clang++-19", "-std=c++17", "-fsyntax-only", "-ferror-limit=0", f"-I{HOME}/include/cann", f"-I{HOME}/include",
        "-include", "register/op_def_registry.h", "-include", "tiling/tiling_api.h",
        "-include", "tiling/platform/platform_ascendc.h"]


def rows():
    lines = [line.split("\t") for line in TABLE.read_text().splitlines() if not line.startswith("#")]
    places = collections.defaultdict(list)
    for name, place, state in lines:
        places[place].append((name, state))
    return places


def declared(place, names):
    """Those of the names that `place` declares: a macro, a namespace's or a class's."""
    command = HOST if place.startswith("host ") else CLANG
    place = place.removeprefix("host ")
    if place == "macro":
        lines = [f"#ifndef {name}\n#error {name}\n#endif" for name in names]
    elif place in ("AscendC", "::", "AscendC::Std"):
        lines = [f"using {place.removesuffix('::')}::{name};\n\n" for name in names]
    else:
        lines = [f"namespace n{i} {{ using namespace AscendC; using base = {place}; struct derived : base {{ using base::{name}; }}; }}\n\n"
                 for i, name in enumerate(names)]
    with tempfile.NamedTemporaryFile("w", suffix=".cpp") as file:
        file.write("namespace AscendC {}\n\n\n" + "\n".join(lines) + "\n")
        file.flush()
        done = subprocess.run([*command, file.name], capture_output=True, text=True)
        wrong = {int(line) for line in re.findall(rf"{re.escape(file.name)}:(\d+):\d+: (?:fatal )?error", done.stderr)}
        # An error in the headers themselves would make every name look present.
        assert done.returncode == (1 if wrong else 0), done.stderr[:2000]
    return {name for i, name in enumerate(names) if not wrong & set(range(3 * i + 4, 3 * i + 7))}


class Names(unittest.TestCase):
    def test_documented_names(self):
        lacking = set(re.findall(r"`(\w+)`", (HOME / "docs/api.md").read_text().split("## Not here")[1]))
        places = rows()
        self.assertGreater(sum(map(len, places.values())), 500)
        for place, names in places.items():
            found = declared(place, [name for name, _ in names])
            for name, state in names:
                with self.subTest(name=name, place=place):
                    self.assertEqual(name in found, state != "absent")
                    if place in ("AscendC", "::"):
                        self.assertEqual(name in lacking, state == "unsupported")


if __name__ == "__main__":
    unittest.main()
