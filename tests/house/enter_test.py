#!/usr/bin/env python3
"""A kernel has one way into the machine: a function of the ABI that can report, or reach something that can, begins with
NPU_ENTER, which notes the kernel's line. The others only read what the running core is or has."""
import pathlib
import re
import unittest

HOME = pathlib.Path(__file__).resolve().parents[2]
# What may ask for the return address besides: NPU_ENTER itself, the pass's hooks, and the API that is about it.
PLACES = {"src/npu/npu_internal.h", "src/npu/scalar/hooks.c", "src/npu/scalar/gm_through.c"}

# Of these the toolchain's pass makes calls of another function (src/toolchain/confine/machine_calls.def).
REWRITTEN = {"npu_printf": "npu_print"}


def declared(headers=("npu_abi.h", "npu_adv.h", "npu_matmul.h")):
    """The functions that a kernel can call, by the headers of the ABI."""
    names = []
    for header in headers:
        text = re.sub(r"/\*.*?\*/", "", (HOME / "include/abi" / header).read_text(), flags=re.S)
        names += re.findall(r"^(?!typedef)[a-z][\w *]*?\b(npu_\w+)\([^;{]*\)[^;{]*;", text, re.M)
    return [REWRITTEN.get(name, name) for name in names]


def sources():
    return {str(path.relative_to(HOME)): path.read_text() for path in sorted((HOME / "src/npu").rglob("*.[ch]"))}


def bodies():
    """{function: its body} for everything that src/npu defines with external linkage."""
    found = {}
    for text in sources().values():
        for chunk in text.split("\n}\n"):
            head, _, body = chunk.partition("\n{\n")
            name = re.search(r"^(?!static )[a-z][\w *]*?\b(npu_\w+)\([^;]*\)\Z", head.rsplit("\n\n", 1)[-1], re.M)
            if name:
                found[name[1]] = body + "\n"
    return found


def enters(body):
    return body.startswith("    NPU_ENTER(core);\n")


def only_looks(body):
    """Straight on: hands the core to nobody, so that nothing can report."""
    return not re.search(r"\bcore\b(?!s)|npu_current[,)]", body) and not re.search(r"npu_(trap|note|lacks)\(", body)


class Enter(unittest.TestCase):
    def test_every_function_is_defined(self):
        self.assertGreater(len(declared()), 100)
        self.assertGreater(len(declared(["npu_hooks.h"])), 10)
        self.assertEqual(sorted(set(declared() + declared(["npu_hooks.h"])) - set(bodies())), [])

    def test_who_can_report_notes_the_line_first(self):
        found = bodies()
        self.assertEqual([name for name in declared() if not enters(found[name]) and not only_looks(found[name])], [])

    def test_nobody_else_enters(self):
        inside = set(bodies()) - set(declared()) - set(declared(["npu_hooks.h"]))
        self.assertEqual([name for name in sorted(inside) if "NPU_ENTER" in bodies()[name]], [])
        self.assertEqual([path for path, text in sources().items() if "__builtin_return_address" in text and path not in PLACES], [])

    def test_it_sees(self):
        self.assertFalse(only_looks("    struct npu_core *core = npu_current;\n    npu_trap(core);\n"))
        self.assertFalse(only_looks("    check(npu_current, 1);\n"))
        self.assertTrue(only_looks("    return npu_current->npu->core_count;\n"))


if __name__ == "__main__":
    unittest.main()
