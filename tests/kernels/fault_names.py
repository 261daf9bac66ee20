"""The faults of include/abi/fault.def, and which of them the machine reports."""
import pathlib
import re

HOME = pathlib.Path(__file__).resolve().parents[2]


def names():
    return re.findall(r"^NPU_FAULT\((\w+)", (HOME / "include" / "abi" / "fault.def").read_text(), re.M)


def reported():
    """The faults whose enumerator stands in the machine's sources other than in a comparison."""
    return {name for path in (HOME / "src" / "npu").rglob("*.c")
            for name in re.findall(r"(?<![!=]= )\bFAULT_(\w+)", path.read_text())}
