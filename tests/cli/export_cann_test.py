#!/usr/bin/python3
# test: cost=35 labels=long
"""akgen export cann: the project builds with a toolkit that this test makes up, calls the operator as CANN's rules say, and tells right
from wrong. Which parameters aclnnXxx has is read from the OpDef here once more, by those rules; what the made-up operator returns
are the expected outputs."""
import importlib.util
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

import numpy

from akgen_program import AKGEN, HOME, TASKS, akgen

FAKE = pathlib.Path(__file__).resolve().parent / "cann"
CXX = ["clang++-19", "-std=c++17", "-shared", "-fPIC", f"-I{FAKE}", f"-I{FAKE}/include"]

# A package as CANN's builds leave one: installs the vendor's folder.
PACKAGE = """#!/bin/sh
for word; do case $word in --install-path=*) to=${word#*=} ;; esac; done
mkdir -p "$to/vendors" && cp -r "$FAKE_VENDOR" "$to/vendors/customize"
"""
MSOPGEN = """#!/bin/sh
echo "$*" >"$FAKE_VENDOR.msopgen"
while [ "$1" != -out ]; do shift; done
mkdir -p "$2/op_host" "$2/op_kernel"
echo stale >"$2/op_kernel/stale.cpp"
echo "add_kernels_compile()" >"$2/op_kernel/CMakeLists.txt"
echo '{"value": "/usr/local/Ascend/ascend-toolkit/latest"}' >"$2/CMakePresets.json"
printf '#!/bin/sh\\nmkdir -p build_out && cp "$FAKE_VENDOR.run" build_out/custom_opp_debian_x86_64.run\\n' >"$2/build.sh"
"""
ASC = """
foreach(name npu_op_package npu_op_package_add npu_op_code_gen npu_op_kernel_options npu_op_kernel_sources npu_op_kernel_library)
  cmake_language(EVAL CODE "function(${name})
    file(APPEND ${CMAKE_BINARY_DIR}/calls \\"${name} \\${ARGN}\\n\\")
  endfunction()")
endforeach()
function(npu_op_library name)
  add_library(${name} INTERFACE)
endfunction()
function(target_compile_options)
endfunction()
add_custom_target(binary)
add_custom_target(package COMMAND cp $ENV{FAKE_VENDOR}.run ${CMAKE_BINARY_DIR}/custom_opp_debian_x86_64.run)
"""


sys.dont_write_bytecode = True  # what lies beside the templates is exported with them
spec = importlib.util.spec_from_file_location("compare", HOME / "templates/cann/compare.py")
compare = importlib.util.module_from_spec(spec)
spec.loader.exec_module(compare)


def parameters(project):
    """[(C++ type, name)] of aclnnXxxGetWorkspaceSize before the last two, of an op_host's OpDef."""
    text = " ".join(path.read_text() for path in sorted((project / "op_host").glob("*.cpp")))
    inputs, attributes, outputs = [], [], []
    names = {side: re.findall(rf'this->{side}\("(\w+)"\)', text) for side in ("Input", "Output")}
    for side, name, rest in re.findall(r'this->(Input|Output|Attr)\("(\w+)"\)([^;]*);', text):
        if side == "Attr":
            kind = re.search(r"\.(Bool|Int|Float|String|ListInt|ListFloat|ListBool)\(", rest)[1]
            attributes.append(({"Bool": "bool", "Int": "int64_t", "Float": "double", "String": "char *",
                                "ListInt": "const aclIntArray *", "ListFloat": "const aclFloatArray *",
                                "ListBool": "const aclBoolArray *"}[kind], name))
        elif side == "Output" and name not in names["Input"]:
            outputs.append(("const aclTensorList *" if "DYNAMIC" in rest else "const aclTensor *", name))
        elif side == "Input":
            kind = ("const aclScalar *" if ".Scalar()" in rest else "const aclScalarList *" if ".ScalarList()" in rest
                    else "const aclIntArray *" if ".ValueDepend(" in rest  # the references have int64 ones alone
                    else ("" if name in names["Output"] else "const ") + ("aclTensorList *" if "DYNAMIC" in rest else "aclTensor *"))
            inputs.append((kind, name))
    return inputs + attributes + outputs


class Cann(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.libraries = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.libraries.cleanup)
        subprocess.run([*CXX, FAKE / "acl.cpp", "-o", f"{cls.libraries.name}/libascendcl.so"], check=True)
        subprocess.run([*CXX, "-xc++", "/dev/null", "-o", f"{cls.libraries.name}/libnnopbase.so"], check=True)

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.at = pathlib.Path(folder.name)
        self.out = self.at / "project"

    def export(self, task, *options, project=None, code=0):
        project = project or TASKS / task / "reference"
        process = akgen("export", "cann", project, "--task", TASKS / task, "-o", self.out, *options)
        self.assertEqual(process.returncode, code, process.stdout + process.stderr)
        return process

    def toolkit(self):
        """A folder that looks like CANN's as far as the scripts look, and the operator's library."""
        cann, vendor = self.at / "cann", self.at / "vendor"
        table = json.loads((self.out / "cases/cases.json").read_text())
        self.op, self.parameters = table["op"], parameters(self.out)
        shutil.copytree(self.libraries.name, cann / "lib64")
        (cann / "python/site-packages/bin").mkdir(parents=True)
        (vendor / "op_api/lib").mkdir(parents=True)
        shutil.copytree(FAKE / "include", cann / "include")
        for path, text in ((cann / "python/site-packages/bin/msopgen", MSOPGEN), (self.at / "vendor.run", PACKAGE)):
            path.write_text(text)
            path.chmod(0o755)
        listed = ", ".join(f"{kind} {name}_" for kind, name in self.parameters)
        head = (f'extern "C" int aclnn{self.op}GetWorkspaceSize({listed}, uint64_t *workspaceSize, aclOpExecutor **executor);\n'
                f'extern "C" int aclnn{self.op}(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);\n')
        header = next((self.out / "op_kernel").glob("*.cpp")).stem
        (vendor / "op_api/include").mkdir()
        (vendor / f"op_api/include/aclnn_{header}.h").write_text('#pragma once\n#include "aclnn/acl_meta.h"\n' + head)
        body = head.replace(";\n", "\n{{\n    *executor = new aclOpExecutor;\n    *workspaceSize = 64;\n%s    return 0;\n}}\n", 1) % "".join(
            f"    (*executor)->take({name}_);\n" for _, name in self.parameters)
        body = body.replace("{{", "{").replace("}}", "}").replace("aclrtStream stream);", "aclrtStream)\n{\n"
                            "    int status = workspace && workspaceSize == 64 ? executor->run() : 1;\n    delete executor;\n    return status;\n}")
        (self.at / "operator.cpp").write_text('#include "objects.h"\n' + body)
        subprocess.run([*CXX, self.at / "operator.cpp", "-o", vendor / "op_api/lib/libcust_opapi.so"], check=True)
        self.environment = dict(os.environ, ASCEND_HOME_PATH=str(cann), FAKE_VENDOR=str(vendor), FAKE_LOG=str(self.at / "log"),
                                FAKE_RESULTS=str(self.at / "results"), CXX="clang++-19", PYTHON="/usr/bin/python3")
        return table

    def results(self, table, spoil=None):
        """What the made-up operator returns: expected outputs in the outputs' own types. `spoil`: in which cases the first output
        is changed, and in which byte."""
        names = [name for _, name in self.parameters]
        shutil.rmtree(self.at / "results", ignore_errors=True)
        for call, case in enumerate(table["cases"]):
            for tensor in case["tensors"]:
                want = tensor["strict"] if not tensor["upstream"] else tensor["upstream"]
                size = int(numpy.prod(tensor["shape"], dtype=int)) * (2 if tensor["dtype"] == "complex64" else 1)
                values = numpy.zeros(size) if not want else compare.read(self.out / want["file"], want["dtype"])
                with numpy.errstate(all="ignore"):
                    if tensor["dtype"] == "bfloat16":
                        raw = (compare.rounded("bfloat16", values).astype("f4").view("u4") >> 16).astype("<u2")
                    elif tensor["dtype"] in compare.FLOATS:
                        raw = values.astype("f4").astype(compare.TYPES[tensor["dtype"]])
                    else:
                        raw = numpy.rint(values).astype(compare.TYPES[tensor["dtype"]])
                if spoil and case["case"] in spoil and tensor is case["tensors"][0]:
                    raw.view("u1")[spoil[case["case"]]] ^= 0x40
                number = re.search(r"\.(\d+)\.bin$", tensor["actual"])[1]
                # The output's own parameter, or the input whose memory it is: of the same name, or the only one that is written.
                at = names.index(tensor["name"]) if tensor["name"] in names else 0
                path = self.at / "results" / str(call) / f"{at}.{number}.bin"
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(raw.tobytes())

    def run_project(self, *arguments, **environment):
        (self.at / "log").write_text("")
        process = subprocess.run(["bash", self.out / "run.sh", *arguments], env=dict(self.environment, **environment),
                                 stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        return process.returncode, process.stdout, (self.at / "log").read_text().splitlines()

    def all_right(self, task, *options):
        """Exports, runs; what the operator was called with in the first case."""
        self.export(task, *options)
        table = self.toolkit()
        self.results(table)
        code, said, log = self.run_project()
        self.assertEqual(code, 0, said)
        self.assertRegex(said.splitlines()[-1], rf"^pass: {self.op}, upstream \d+ of \d+ cases, strict \d+ of \d+ cases$")
        return log[:len(self.parameters)]


class Calls(Cann):
    def test_strings(self):
        called = self.all_right("level2/Loss/MseLoss", "--case", 0)
        self.assertEqual(len(called), 4)
        self.assertRegex(called[2], "^string (mean|sum|none)$")

    def test_lists_of_tensors_and_scalars(self):
        called = self.all_right("level2/Foreach/ForeachMulScalarList", "--case", 0)
        self.assertRegex(called[0], r"^(tensor \d+ 2 \[[\d,]+\] )+$")
        count = called[0].count("tensor")
        self.assertRegex(called[1], rf"^{count} scalars \d+$")
        self.assertEqual(called[2].count("tensor"), count)

    def test_a_scalar(self):
        self.assertRegex(self.all_right("level1/Math/Muls", "--case", 0)[1], r"^scalar \d+$")

    def test_in_place_without_an_output(self):
        self.assertEqual(len(self.all_right("level2/Foreach/ForeachZeroInplace", "--case", 0)), 1)

    def test_an_output_that_is_an_input(self):
        called = self.all_right("level1/TensorCreation/Eye", "--case", 0)
        self.assertEqual(len(called), 5)
        self.assertRegex(called[1], r"^int \d+$")
        self.assertRegex(called[3], r"^ints( \d+)*$")

    def test_values_that_the_shape_depends_on(self):
        self.assertRegex(self.all_right("level1/TensorCreation/Fill", "--case", 0)[0], r"^ints( \d+)+$")

    def test_what_is_optional_and_absent(self):
        called = self.all_right("level2/Norm/AddLayerNorm", "--case", 0)
        self.assertEqual(len(called), 11)
        self.assertIn(called[4].split()[0], ("null", "tensor"))
        self.assertRegex(called[5], "^double 1e-0[0-9]$")
        self.assertRegex(called[6], "^bool [01]$")

    def test_bool_outputs(self):
        self.all_right("level1/Comparison/Less", "--case", 0)

    def test_lists_of_integers(self):
        self.assertRegex(self.all_right("level2/TensorMove/ExpandV2", "--case", 0)[1], r"^ints( -?\d+)+$")


class Limits(unittest.TestCase):
    """compare.py by itself: docs/tasks.md, Judging, at the limits."""

    def upstream(self, dtype, expected, actual, rule="abs_rel", absolute=1e-3, relative=1e-3):
        with numpy.errstate(all="ignore"):
            wrong = compare.upstream_wrong({"rule": rule, "abs": absolute, "rel": relative}, dtype,
                                           *(numpy.array(x, "f8" if dtype in compare.FLOATS else "i8") for x in (expected, actual)))
        return "".join("x" if w else "." for w in wrong)

    def test_upstream(self):
        inf, nan = numpy.inf, numpy.nan
        self.assertEqual(self.upstream("float32", [1, 1, 1, 1e-9, inf, nan, 1000], [1.0009, 1.002, 1, 5e-4, inf, nan, 1000.5]), ".x..xx.")
        self.assertEqual(self.upstream("bfloat16", [0.25, 0.25, 0.5], [0.25 + 2**-9, 0.25 + 2**-10, 0.5 + 2**-8]), "x.x")
        self.assertEqual(self.upstream("float16", [65504, -65504], [-65504, -65504]), "x.")  # the difference overflows
        self.assertEqual(self.upstream("float32", [nan, 1], [nan, 1.1], "abs_rel_any"), ".x")
        self.assertEqual(self.upstream("float32", [inf, inf, nan, 1, 1], [inf, 1, nan, 1.0015, 1.0025], "allclose"), ".xx.x")
        self.assertEqual(self.upstream("float32", [0.1, 100, 0.1, nan], [0.1009, 100.09, 0.1011, 1], "rel_max1"), "..x.")
        self.assertEqual(self.upstream("float32", [1] * 100, [2] + [1] * 99, "share", 0.01, 0.01), "." * 100)
        self.assertEqual(self.upstream("float32", [1] * 100, [2, 2] + [1] * 98, "share", 0.01, 0.01), "xx" + "." * 98)
        self.assertEqual(self.upstream("int32", [0, 5, -7], [1, 5, -7]), "x..")
        self.assertEqual(self.upstream("complex64", [3, 4, 3, 4], [3, 4.001, 3, 4.1]), "..xx")

    def test_strict(self):
        limit = {"slack": 2**-24, "relative": 2**-8, "scale": 1.0, "overflow": 65520.0, "moved": [], "open_nan": False}
        edge = 2**-24 + 2**-8 * (2 + 1)
        expected = numpy.array([2, 2, -2, numpy.nan, numpy.nan, 65500, -65500, 65500, numpy.inf, 0])
        actual = numpy.array([2 + edge * 0.999, 2 + edge * 1.001, -2 - edge * 1.001, numpy.nan, 1, numpy.inf, numpy.inf, -numpy.inf, numpy.inf, 2**-8])
        wrong = compare.strict_wrong(limit, "float32", expected, actual, "float16")
        self.assertEqual("".join("x" if w else "." for w in wrong), ".xx.x.xx..")
        self.assertEqual(list(compare.strict_wrong(limit, "int32", numpy.array([1, 2]), numpy.array([1, 3]), "int32")), [False, True])

    def test_strict_where_golden_jumps(self):
        limit = {"slack": 0, "relative": 2**-14, "scale": 0.0, "overflow": None, "open_nan": False}
        with tempfile.TemporaryDirectory() as folder:
            numpy.array([0, 1, 3], "<f4").tofile(f"{folder}/a")
            numpy.array([0, 2, 2], "<f4").tofile(f"{folder}/b")
            limit["moved"] = [f"{folder}/a", f"{folder}/b"]
            wrong = lambda *actual: list(compare.strict_wrong(limit, "float32", numpy.array([0, 1, 2.0]), numpy.array(actual), "float32"))
            self.assertEqual(wrong(0, 2, 3), [False] * 3)
            self.assertEqual(wrong(1, 2.1, 3.1), [True] * 3)
            numpy.array([0, 2], "<i4").tofile(f"{folder}/a")
            limit["moved"] = [f"{folder}/a"]
            self.assertEqual(list(compare.strict_wrong(limit, "int32", numpy.array([0, 0]), numpy.array([1, 1]), "int32")), [True, False])

    def test_positions(self):
        with tempfile.TemporaryDirectory() as folder:
            numpy.array([5, 7, 7, 1], "<f4").tofile(f"{folder}/x")
            positions = {"x": f"{folder}/x", "dtype": "float32", "shape": [1, 4], "dim": -1}
            for actual, judged in (([1, 2], [1, 2]), ([2, 1], [1, 2]), ([2, 2], [1, -1]), ([0, 1], [0, 2]), ([9, 1], [9, 2])):
                got = compare.forgiven(positions, numpy.array([1, 2]), numpy.array(actual), [1, 2])
                self.assertEqual(list(got), judged, actual)


class Verdicts(Cann):
    def test_every_case_and_a_wrong_element(self):
        self.export("level2/Norm/RmsNorm", "--max-mb", 1)
        table = self.toolkit()
        self.assertGreaterEqual({tensor["dtype"] for case in table["cases"] for tensor in case["tensors"]}, {"float16", "float32", "bfloat16"})
        self.results(table)
        code, said, _ = self.run_project()
        self.assertEqual(code, 0, said)
        wrong = {}  # the last case of each data type, in its first element
        for case in table["cases"]:
            wrong[case["tensors"][0]["dtype"]] = case["case"]
        self.results(table, spoil={case: 3 if dtype == "float32" else 1 for dtype, case in wrong.items()})
        code, said, _ = self.run_project("--no-build")
        lines = [line for line in said.splitlines() if line.startswith("case") and "fail" in line]
        self.assertEqual(code, 1)
        self.assertEqual({int(line.split()[1]) for line in lines}, set(wrong.values()), said)
        for line in lines:
            self.assertRegex(line, r"y: element 0 is .*, expected .*; 1 of \d+ are wrong")
        self.assertRegex(said.splitlines()[-1], "^fail: RmsNorm, ")

    def test_both_ways_to_build(self):
        self.export("level1/Math/Neg", "--case", 0)
        table = self.toolkit()
        self.results(table)
        code, said, _ = self.run_project(AKGEN_BUILD="msopgen")
        self.assertEqual(code, 0, said)
        project = self.out / "build/project"
        self.assertIn("-c ai_core-Ascend910B2 -lan cpp", (self.at / "vendor.msopgen").read_text())
        self.assertEqual(sorted(path.name for path in (project / "op_kernel").iterdir()), ["CMakeLists.txt", "neg.cpp"])
        self.assertRegex((project / "op_kernel/CMakeLists.txt").read_text(),
                         r"(?s)add_ops_compile_options\(ALL OPTIONS --cce-auto-sync=o.*add_kernels_compile")
        self.assertIn(str(self.at / "cann"), (project / "CMakePresets.json").read_text())
        modules = self.at / "cann/compiler/tikcpp/ascendc_kernel_cmake"
        modules.mkdir(parents=True)
        (modules / "ASCConfig.cmake").write_text(ASC)
        code, said, _ = self.run_project(AKGEN_BUILD="cmake")
        self.assertEqual(code, 0, said)
        calls = (self.out / "build/cmake/calls").read_text()
        self.assertIn("npu_op_kernel_sources ascendc_kernels;OP_TYPE;Neg;COMPUTE_UNIT;ascend910b;KERNEL_FILE;neg.cpp", calls)
        self.assertIn("npu_op_kernel_options ascendc_kernels;ALL;OPTIONS;--cce-auto-sync=o", calls)

    def test_what_is_missing_on_the_other_machine(self):
        self.export("level1/Math/Neg", "--case", 0)
        table = self.toolkit()
        self.results(table)
        code, said, _ = self.run_project(ASCEND_HOME_PATH="")
        self.assertEqual((code, "source CANN's set_env.sh first" in said), (2, True), said)
        code, said, _ = self.run_project(AKGEN_BUILD="make")
        self.assertEqual((code, "neither msopgen nor cmake" in said), (2, True), said)
        code, said, _ = self.run_project(FAKE_NO_DEVICE="1")
        self.assertEqual(code, 1)
        self.assertIn("aclrtSetDevice returned 507033: of the fake", said)
        self.assertIn("was not written", said)

    def test_a_wrong_project_says_so(self):
        project = self.at / "wrong"
        shutil.copytree(TASKS / "level1/Math/Neg/reference", project)
        kernel = project / "op_kernel/neg.cpp"
        text = kernel.read_text()
        self.assertIn("Muls", text)
        kernel.write_text(re.sub(r"-1(\.0f?)?\)?", lambda m: m[0].replace("1", "2", 1), text))
        process = self.export("level1/Math/Neg", "--case", 0, project=project, code=1)
        self.assertIn("wrong", process.stdout)
        readme = (self.out / "README.md").read_text()
        self.assertIn("**wrong, 0 of 1 cases, profile strict**", readme)
        self.assertIn("No part of this project was tried on a chip or with CANN by AKGen", " ".join(readme.split()))

    def test_folders_and_tasks_that_are_none(self):
        neg = TASKS / "level1/Math/Neg/reference"
        process = akgen("export", "cann", neg, "-o", self.out)
        self.assertEqual((process.returncode, "--task does" in process.stderr), (2, True), process.stderr)
        self.out.mkdir()
        (self.out / "mine").write_text("x")
        process = akgen("export", "cann", neg, "--task", "Neg", "-o", self.out)
        self.assertEqual((process.returncode, "holds files already" in process.stderr), (2, True))
        broken = self.at / "broken"
        shutil.copytree(neg, broken)
        (broken / "op_kernel/neg.cpp").write_text("no kernel")
        process = akgen("export", "cann", broken, "--task", "Neg", "-o", self.at / "other")
        self.assertEqual((process.returncode, "was not built" in process.stderr), (1, True))
        self.assertFalse((self.at / "other").exists())

    def test_a_disk_that_is_full(self):
        """A limit of file sizes stands for it: the judge's own files are smaller than the case's."""
        script = f"ulimit -f 2000; trap '' XFSZ; exec {AKGEN} export cann {TASKS}/level1/Comparison/Less/reference --task Less --case 0 -o {self.out}"
        process = subprocess.run(["bash", "-c", script], capture_output=True, text=True)
        self.assertEqual(process.returncode, 3, process.stdout + process.stderr)
        self.assertIn("File too large", process.stderr)
        self.assertFalse(self.out.exists())

    def test_what_akgen_gen_wrote(self):
        made = self.at / "made"
        process = akgen("gen", "--describe", HOME / "examples/rms_norm.md", "--yes", "-o", made)
        self.assertEqual(process.returncode, 0, process.stdout + process.stderr)
        process = akgen("export", "cann", made, "-o", self.out)
        self.assertEqual(process.returncode, 0, process.stdout + process.stderr)
        self.assertFalse((self.out / "task").exists())
        self.results(self.toolkit())
        code, said, _ = self.run_project()
        self.assertEqual(code, 0, said)


if __name__ == "__main__":
    unittest.main()
