"""Reads the tables of include/abi (isa.def, adv.def, cast.def, dtype.def), lists of X-macros, through the preprocessor, so that a
row may wrap and use macros. A table's comment names its columns: `NPU_ADV(ID, name, routine, types, source)`."""
import pathlib
import re
import subprocess
import tempfile

# Once isa.def has said what NPU_T_<SET> stands for, NPU_T(FLOAT) becomes the word T_FLOAT.
HEAD = """#define NPU_INSN(...)
#include "abi/isa.def"
#undef NPU_INSN
#undef NPU_T
#define NPU_T(id) T_##id
"""


def preprocessed(home, text, *flags):
    """The text as C or C++ sources under `home` would see it."""
    with tempfile.NamedTemporaryFile("w", suffix=".cpp") as file:
        file.write(text)
        file.flush()
        return subprocess.run(["clang++-19", "-E", *flags, f"-I{home}/include", file.name], capture_output=True, text=True,
                              check=True).stdout


def columns(text, macro):
    """The arguments that stand behind the macro's name where a table first mentions it."""
    return re.sub(r"[\s*]", "", re.search(macro + r"\(([^)]*)\)", text)[1]).split(",")


def split(row):
    """The arguments of a row: at commas outside of brackets and strings, without quotation marks."""
    parts, depth = [""], 0
    for token in re.findall(r'"(?:[^"\\]|\\.)*"|.', row, re.S):
        depth += (token in "([{") - (token in ")]}") if len(token) == 1 else 0
        if token == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += token
    return [re.sub(r'^"(.*)"$', r"\1", " ".join(part.split())) for part in parts]


def rows(home, table, macro):
    """The rows of include/abi/<table>, each a dictionary by column."""
    names = columns((pathlib.Path(home) / "include/abi" / table).read_text(), macro)
    text = preprocessed(home, f'{HEAD}#define {macro}(...) ROW_BEGIN __VA_ARGS__ ROW_END\n#include "abi/{table}"\n', "-P")
    found = []
    for row in re.findall(r"ROW_BEGIN (.*?) ROW_END", text, re.S):
        parts = split(row)
        if len(parts) != len(names):
            raise ValueError(f"{table}: {macro}({row}) has {len(parts)} columns, expected {', '.join(names)}")
        found.append(dict(zip(names, parts)))
    return found


def types(expression):
    """The ids of a set of element types, in order: NPU_T_FLOATS | NPU_T(INT32) is [FLOAT16, FLOAT, INT32]."""
    if not re.fullmatch(r"(?:T_\w+|[\s|()])+", expression):
        raise ValueError(f"'{expression}' is no union of element types")
    return list(dict.fromkeys(re.findall(r"T_(\w+)", expression)))


def kernel_types(home):
    """{id: the C++ type of a kernel} for the element types that have one."""
    return {row["ID"]: row["kernel_type"] for row in rows(home, "dtype.def", "AKGEN_DTYPE") if row["kernel_type"] != "unknown"}
