#!/usr/bin/env python3
# test: cost=28 labels=long
"""A task of one's own: docs/tasks.md's example is followed step by step; what may go wrong on the way is said clearly."""
import json
import os
import pathlib
import re
import shutil
import struct
import tempfile
import unittest

import akgen_program
from akgen_program import HOME, TASKS, akgen, edit, verdict

CUBE = "tasks/mine/level1/Math/Cube"


def example():
    """The fenced blocks of the section as (language, text)."""
    section = re.search(r"## A task of your own\n(.*?)\n## ", (HOME / "docs/tasks.md").read_text(), re.S)[1]
    return re.findall(r"^```(\w*)\n(.*?)^```", section, re.S | re.M)


def without_times(text):
    return re.sub(r"[\d.]+ s\b", "T s", text)


class OwnTask(unittest.TestCase):
    def setUp(self):
        self.home = pathlib.Path(tempfile.mkdtemp(prefix="akgen-own-"))
        self.addCleanup(shutil.rmtree, self.home)
        for name in ("include", "src"):
            os.symlink(HOME / name, self.home / name)
        (self.home / "tasks").mkdir()
        os.symlink(HOME / "tasks/npukernelbench", self.home / "tasks/npukernelbench")
        self.env = {"AKGEN_HOME": str(self.home)}
        self.program = pathlib.Path(akgen_program.AKGEN).resolve()
        before = os.getcwd()
        self.addCleanup(os.chdir, before)
        self.addCleanup(setattr, akgen_program, "AKGEN", akgen_program.AKGEN)
        akgen_program.AKGEN = str(self.program)
        os.chdir(self.home)

    def make_candidate(self):
        """cube/: the project of Sqrt, with another name, an attribute and a product in the place of the root."""
        shutil.copytree(TASKS / "level1/Math/Sqrt/reference", "cube")
        for old in ("op_host/sqrt.cpp", "op_host/sqrt_tiling.h", "op_kernel/sqrt.cpp"):
            path = pathlib.Path("cube") / old.replace("sqrt", "cube")
            (pathlib.Path("cube") / old).rename(path)
            path.write_text(path.read_text().replace("SqrtTilingData", "CubeTilingData"))
        host, kernel, header = (pathlib.Path("cube") / name
                                for name in ("op_host/cube.cpp", "op_kernel/cube.cpp", "op_host/cube_tiling.h"))
        header.write_text(header.read_text().replace("(Sqrt,", "(Cube,").replace(
            "END_TILING", "TILING_DATA_FIELD_DEF(float, factor);\nEND_TILING"))
        text = host.read_text().replace("sqrt_tiling.h", "cube_tiling.h").replace("Sqrt(", "Cube(").replace("(Sqrt)", "(Cube)").replace(
            "class Sqrt", "class Cube").replace("ge::DT_FLOAT, ge::DT_BF16", "ge::DT_FLOAT").replace(
            "ge::FORMAT_ND, ge::FORMAT_ND, ge::FORMAT_ND", "ge::FORMAT_ND, ge::FORMAT_ND").replace(
            "        this->AICore().SetTiling", '        this->Attr("factor").Float();\n        this->AICore().SetTiling').replace(
            "    tiling.set_total", "    tiling.set_factor(*context->GetAttrs()->GetFloat(0));\n    tiling.set_total")
        host.write_text(text)
        text = kernel.read_text().replace("void sqrt(", "void cube(").replace(
            "        tile = tiling.tile;", "        tile = tiling.tile;\n        factor = tiling.factor;").replace(
            "    uint32_t tile;", "    uint32_t tile;\n    float factor;")
        begin, end = text.index("        if constexpr (std::is_same_v<DTYPE_X, float>) {\n            Sqrt"), text.index(
            "        outQueue.EnQue(y);")
        kernel.write_text(text[:begin] + "        Mul(y, x, x, count);\n        Mul(y, y, x, count);\n"
                          "        Muls(y, y, static_cast<DTYPE_X>(factor), count);\n" + text[end:])

    def follow(self):
        files = {"yaml": "task.yaml", "csv": "cases.csv"}
        for language, text in example():
            if language in files:
                (self.home / CUBE / files[language]).write_text(text)
                continue
            for step in re.split(r"^\$ ", text, flags=re.M)[1:]:
                command, expected = step.split("\n", 1)
                self.assertTrue(command.startswith("akgen "), command)
                process = akgen(*command.split()[1:], env=self.env)
                printed = process.stdout + process.stderr
                self.assertIn(without_times(expected.rstrip("\n")), without_times(printed), command)
                yield command, process

    def test_the_documented_example(self):
        self.make_candidate()
        codes = [process.returncode for _, process in self.follow()]
        self.assertEqual(codes, [0, 2, 0, 0, 0])
        shutil.copytree("cube", "answers/level1/Math/Cube")
        process = akgen("bench", "--suite", "mine", "--provider", "dir:answers", env=self.env)
        self.assertEqual(process.returncode, 0, process.stderr)
        self.assertRegex(process.stdout, r"all +1 +1 +100\.0% +1 +100\.0% +3/3")

    def test_a_formula_judges(self):
        self.make_candidate()
        for _ in self.follow():
            pass
        edit(self.home / "cube/op_kernel/cube.cpp", "Mul(y, y, x, count);", "Add(y, y, x, count);")
        result = verdict(CUBE, "cube", env=self.env)
        self.assertEqual((result["verdict"], result["stage"]), ("wrong", "compare"))

    def test_a_bad_name_or_reference(self):
        for arguments, message in [
            ([CUBE.replace("Cube", "cube")], "'cube' is no name here"),
            ([CUBE.replace("level1", "level9")], "'level9' is no name here"),
            (["Math/Cube"], "expected PATH/SUITE/levelN/CATEGORY/OP"),
            ([CUBE, "--reference", "layer_nrm"], "no reference called 'layer_nrm'; did you mean layer_norm"),
            ([CUBE, "--like", "NoSuchTask"], "no task called 'NoSuchTask'"),
        ]:
            with self.subTest(arguments=arguments):
                process = akgen("task", "new", *arguments, env=self.env)
                self.assertEqual(process.returncode, 2)
                self.assertIn(message, process.stderr)
                self.assertFalse((self.home / CUBE).exists())
        self.assertEqual(akgen("task", "new", CUBE, env=self.env).returncode, 0)
        before = (self.home / CUBE / "task.yaml").read_text()
        process = akgen("task", "new", CUBE, "--like", "Sqrt", env=self.env)
        self.assertEqual(process.returncode, 2)
        self.assertIn(f"{CUBE}: exists already", process.stderr)
        self.assertEqual((self.home / CUBE / "task.yaml").read_text(), before)

    def test_references_say_what_they_need(self):
        lines = akgen("task", "references").stdout.splitlines()
        rows = json.loads(akgen("task", "references", "--json").stdout)
        self.assertEqual([line.split(":")[0] for line in lines], [row["name"] for row in rows])
        self.assertEqual(len(lines), len(set(lines)))
        self.assertIn("rms_norm: x floating [*rows, *n], gamma floating [*n] -> y =x [*rows, *n], rstd? float32 (*rows); "
                      "epsilon float = 1e-6", lines)
        row = next(row for row in rows if row["name"] == "gelu_quant")
        self.assertEqual([(attr["name"], attr["words"]) for attr in row["attrs"]],
                         [("approximate", ["none", "tanh"]), ("quant_mode", ["static", "dynamic"])])
        self.assertEqual([(item["name"], item["optional"]) for item in row["outputs"]],
                         [("y", False), ("out_scale", True)])

    def test_a_new_task_of_every_reference_is_fit_to_judge_with(self):
        os.remove("tasks/npukernelbench")
        names = [row["name"] for row in json.loads(akgen("task", "references", "--json").stdout)]
        self.assertGreaterEqual(len(names), 199)
        for name in names:
            op = "".join(part.capitalize() for part in name.split("_"))
            process = akgen("task", "new", f"tasks/mine/level1/New/{op}", "--reference", name, env=self.env)
            self.assertEqual(process.returncode, 0, process.stderr)
        process = akgen("task", "check", env=self.env)
        self.assertEqual(process.returncode, 0, process.stdout)
        self.assertIn(f"{len(names)} tasks checked", process.stdout)
        process = akgen("eval", "tasks/mine/level1/New/Sqrt", TASKS / "level1/Math/Sqrt/reference", env=self.env)
        self.assertEqual(process.returncode, 0, process.stdout + process.stderr)

    def test_what_a_reference_lacks_has_a_line(self):
        path = "tasks/mine/level2/Norm/RmsNorm"
        akgen("task", "new", path, "--reference", "rms_norm", env=self.env)
        texts = {name: (self.home / path / name).read_text() for name in ("task.yaml", "cases.csv")}
        gamma = texts["task.yaml"].partition("  - name: gamma\n")[2].partition("outputs:")[0]
        line = {text: texts["task.yaml"].splitlines().index(text) + 1
                for text in ("inputs:                     # in the order of the OpDef", "attrs:", "  - name: gamma", "  - name: epsilon")}
        inputs, attrs, of_gamma, epsilon = line.values()
        for old, new, message in [
            ("  - name: gamma\n" + gamma, "", rf"task\.yaml:{inputs}: there is no input number 2, the reference rms_norm takes x, gamma: gamma floating \[\*n\]"),
            ("  - name: gamma", "  - name: epsilon2\n    kind: tensor_list", rf"task\.yaml:{of_gamma + 1}: 'epsilon2' is a tensor_list, the reference rms_norm takes no list"),
            ("attrs:\n", "attrs:\n  - name: eps\n    type: float\n    value: 1\n", rf"task\.yaml:{epsilon + 3}: attribute 'epsilon' is one too many, the reference rms_norm takes epsilon"),
            ("- name: x\n", "- name: gamma\n", r"task\.yaml:\d+: input 'gamma' appears twice"),
            ("- name: x\n", "- name: a\n    present: \"false\"\n", r"cases\.csv:2: 'a' is absent, the reference rms_norm needs it: x floating"),
            ("type: float", "type: string", rf"task\.yaml:{epsilon + 1}: attribute 'epsilon' is of type string, the reference rms_norm takes epsilon float"),
            ("dtype: \"float32\"\n    types: [float32", "dtype: \"float32\"\n    types: [int32", r"task\.yaml:\d+: 'rstd' may be int32, the reference rms_norm takes float32"),
        ]:
            with self.subTest(new=new):
                for name, text in texts.items():
                    (self.home / path / name).write_text(text)
                edit(self.home / path / "task.yaml", old, new)
                process = akgen("task", "check", path, env=self.env)
                self.assertEqual(process.returncode, 2, process.stdout)
                self.assertRegex(process.stderr, path + "/(?:" + message + ")")
        (self.home / path / "task.yaml").write_text(texts["task.yaml"])
        edit(self.home / path / "task.yaml", "shape: \"$n\"", "shape: \"[5]\"")
        self.assertRegex(akgen("task", "check", path, env=self.env).stderr,
                         path + r"/cases\.csv:2: 'x' has the shape \[6, 3, 8, 3\], the reference rms_norm takes x floating \[\*rows, \*n\], where \*n = \[5\]")

    def test_a_task_without_a_check_is_judged_by_strict_limits(self):
        """Element by element: upstream rounds each step to bfloat16 and allows 1e-3; the candidate rounds once."""
        path = self.home / "tasks/mine/level1/Math/Twice"
        akgen("task", "new", path, env=self.env)
        edit(path / "task.yaml", "types: [float16, float32]\n    generate", "types: [float16, bfloat16]\n    generate")
        edit(path / "task.yaml", "types: [float16, float32]\n    formula: \"?\"            # fill in: the value of an element, for example x * sigmoid(x)",
             "types: [float16, bfloat16]\n    formula: \"x * 1.01 * 0.99 + x * 0.3\"")
        edit(path / "cases.csv", "float32", "bfloat16")
        process = akgen("gen", path, "-o", "twice", env=self.env)
        self.assertEqual(process.returncode, 0, process.stdout + process.stderr)
        judged = []
        for options in ((), ("--profile=strict",)):
            result = verdict(path, "twice", *options, env=self.env)
            judged.append((result["verdict"], result["profile"], result["protocol"]))
            self.assertLess(result["cases"][1]["comparison"]["max_rel"], 2**-8)  # of golden, which is not rounded
        self.assertEqual(judged, [("pass", "upstream", "strict limits, the task has no check"), ("pass", "strict", None)])
        shutil.copytree("twice", "answers/level1/Math/Twice")
        bench = ("bench", "--suite", "mine", "--provider", "dir:answers")
        process = akgen(*bench, env=self.env)
        self.assertRegex(process.stdout, r"all +1 +1 +100\.0% +1 +100\.0% +2/2\n(?s:.*); protocol: strict limits, the task has no check\)\n")
        akgen("task", "new", "tasks/mine/level1/Math/Sqrt", "--like", "Sqrt", env=self.env)
        self.assertIn("protocol: the check that each has; of other tasks: strict limits, the task has no check)\n",
                      akgen(*bench, env=self.env).stdout)
        self.assertIn("check      none: strict limits\n", akgen("task", "show", path, env=self.env).stdout)
        process = akgen("eval", path, "twice", "--tolerance", "1e-4", env=self.env)
        self.assertIn("has no check whose tolerance could be chosen: strict limits judge it in both profiles", process.stderr)
        edit(path / "task.yaml", "vary: sizes", "vary: sizes\ncheck: default")
        result = verdict(path, "twice", env=self.env)
        row = result["cases"][1]
        self.assertEqual((result["verdict"], result["protocol"], row["verdict"]), ("wrong", None, "wrong"))

        def place(value):
            """Which number of bfloat16 it is, counted from zero; both sides have it as it is stored there."""
            bits = struct.unpack("<I", struct.pack("<f", value))[0]
            self.assertEqual(bits & 0xffff, 0)
            return (bits >> 16 & 0x7fff) * (-1 if bits >> 31 else 1)
        first, worst = row["comparison"]["first"], row["comparison"]["worst"]
        for pair in (first, worst):
            self.assertEqual(pair["ulps"], abs(place(pair["actual"]) - place(pair["expected"])))
        self.assertEqual(first["dtype"], "bfloat16")
        self.assertGreaterEqual(worst["ulps"], first["ulps"])
        self.assertRegex(row["error"], rf"^y: element {first['index']} is .*, expected .* \({first['ulps']:.0f} ulps? of bfloat16\); worst {worst['ulps']:.0f} ulps?; \d+ of ")
        self.assertEqual(verdict(path, "twice", "--profile=strict", env=self.env)["verdict"], "pass")

    def test_what_a_check_is(self):
        made = {}
        for name, options in (("Like", ["--like", "Sqrt"]), ("Stated", ["--like", "Addcmul"]), ("Own", ["--reference", "sqrt"])):
            akgen("task", "new", f"tasks/mine/level1/Check/{name}", *options, env=self.env)
            made[name] = akgen("task", "show", f"tasks/mine/level1/Check/{name}", env=self.env).stdout
        self.assertIn("check      default\n", made["Like"])
        self.assertIn("check      none: strict limits\n", made["Own"])
        self.assertRegex(made["Stated"], r"check      (?!none)")
        self.assertIn("check      default\n", akgen("task", "show", "Sqrt", env=self.env).stdout)
        self.assertEqual((self.home / "tasks/mine/level1/Check/Like/task.yaml").read_text().count("check:"), 1)
        self.assertEqual((self.home / "tasks/mine/level1/Check/Stated/task.yaml").read_text().count("check:"), 1)

    def test_other_tasks_can_be_started_from(self):
        for number, like in enumerate(["RmsNorm", "TopKV3", "ForeachAddList"]):
            path = f"tasks/mine/level{number + 1}/Like/{like}"
            self.assertEqual(akgen("task", "new", path, "--like", like, env=self.env).returncode, 0)
            process = akgen("task", "check", path, env=self.env)
            self.assertEqual(process.returncode, 0, process.stderr)
            self.assertTrue(process.stdout.startswith(f"level{number + 1}/Like/{like}: "), process.stdout)

    def test_a_description_is_a_file_of_the_folder(self):
        """desc.md of somebody else's task: one that never ends, or a file of the user's that a prompt would show to a model."""
        shutil.copytree(TASKS / "level1/Math/Sqrt", "theirs")
        description = pathlib.Path("theirs/desc.md")
        (self.home / "secret").write_text("the secret of the user\n")
        for put, said in ((os.mkfifo, "not a regular file"), (lambda at: at.symlink_to("/dev/zero"), "a link, expected a file of the folder itself"),
                          (lambda at: at.symlink_to(self.home / "secret"), "a link, expected a file of the folder itself")):
            description.unlink()
            put(description)
            shown = akgen("task", "show", "./theirs", env=self.env, timeout=60)
            self.assertEqual(shown.returncode, 0, shown.stderr)
            self.assertIn("level1/Math/Sqrt", shown.stdout)
            prompt = akgen("gen", "./theirs", "--print-prompt", timeout=60)
            self.assertIn(f"theirs/desc.md: {said}", prompt.stderr)
            self.assertNotIn("the secret of the user", shown.stdout + prompt.stdout)

    def test_mistakes_have_a_line(self):
        for _ in self.follow():
            break
        folder = self.home / CUBE
        blocks = dict(example())
        for name, language, old, new, message in [
            ("task.yaml", "yaml", "x*x*x*factor", "x*q", r"task\.yaml:19: formula: in 'x\*q', column 3: 'q' is no input, attribute or step before; there are x, factor"),
            ("task.yaml", "yaml", "x*x*x*factor", "gelus(x)", r"task\.yaml:19: formula: in 'gelus\(x\)', column 1: there is no function 'gelus'; did you mean gelu, .*; there are abs sqrt"),
            ("task.yaml", "yaml", "x*x*x*factor", "x*x[:-9]", r"cases\.csv:2: formula: in 'x\*x\[:-9\]', column 2: shapes \[48, 1024\] and \[48, 1015\] do not go together"),
            ("task.yaml", "yaml", "x*x*x*factor", "x*sum(x[:99])", r"cases\.csv:3: formula: in 'x\*sum\(x\[:99\]\)', column 8: \[0:99\] is no part of rows of 33 elements"),
            ("task.yaml", "yaml", "x*x*x*factor", "x[1:]", r"cases\.csv:2: formula of 'y': in 'x\[1:\]', column 2: the value has the shape \[48, 1023\], the output \[48, 1024\]"),
            ("task.yaml", "yaml", "x*x*x*factor", "x*(x", r"task\.yaml:19: formula: in 'x\*\(x', column 5: expected '\)', found the end"),
            ("task.yaml", "yaml", "reference: formula", "reference: cub", r"task\.yaml:5: there is no reference called 'cub'"),
            ("task.yaml", "yaml", "reference: formula", "reference: sqrt", r"task\.yaml:19: 'y' has a formula, but the reference is sqrt"),
            ("task.yaml", "yaml", "    formula: \"x*x*x*factor\"\n", "", r"task\.yaml:15: reference is formula: output 'y' must"),
            ("task.yaml", "yaml", "float16, float32]\n    generate", "float16, float8]\n    generate", r"task\.yaml:11: 'float8' is no data type, expected"),
            ("task.yaml", "yaml", "type: float", "type: double", r"task\.yaml:22: type is 'double', expected int, float"),
            ("task.yaml", "yaml", "category:", "categori:", r"task\.yaml:3: 'categori' is no key of a task, expected .*; did you mean category\?"),
            ("cases.csv", "csv", "factor\n", "factr\n", r"task\.yaml:23: value: .*'factor'.* case_id, shape, dtype, factr"),
            ("cases.csv", "csv", "float32", "bfloat16", r"cases\.csv:3: .*bfloat16.*float16, float32"),
            ("cases.csv", "csv", "float32", "float8", r"cases\.csv:3: .*float8.*float16, float32"),
            ("cases.csv", "csv", "[7, 33]", "[7, x]", r"cases\.csv:3: "),
            ("cases.csv", "csv", ";-0.5", "", r"cases\.csv:3: .*3 .*4"),
        ]:
            with self.subTest(old=old, new=new):
                for file, block in (("task.yaml", "yaml"), ("cases.csv", "csv")):
                    (folder / file).write_text(blocks[block])
                edit(folder / name, old, new)
                process = akgen("task", "check", CUBE, env=self.env)
                self.assertEqual(process.returncode, 2, process.stdout)
                self.assertRegex(process.stderr, CUBE + "/" + message)


if __name__ == "__main__":
    unittest.main()
