#!/usr/bin/python3
# test: cost=18 labels=long
"""akgen run: the instruction log, tensors shown and written, and the debugger."""
import pathlib
import re
import shutil
import sys
import tempfile

import numpy
from akgen_program import TASKS, akgen, copy_reference, edit

SQRT = TASKS / "level1/Math/Sqrt/reference"
AKGEN_KERNELS = TASKS.parents[1] / "tests/kernels/good"


def log_has_every_step(folder):
    log = folder / "log.txt"
    done = akgen("run", SQRT, f"--log={log}")
    assert done.returncode == 0, done.stdout + done.stderr
    lines = log.read_text().splitlines()
    first = [line for line in lines if line.startswith("AIV 0 ")]
    source = (SQRT / "op_kernel/sqrt.cpp").read_text().splitlines()
    for line in first:
        place = re.search(r" {2}op_kernel/sqrt\.cpp:(\d+)$", line)
        assert place, line
        words = line.split()  # the TPipe's destructor, at the closing brace, waits for what is left
        name = {"SetFlag": "EnQue|FreeTensor", "WaitFlag": "DeQue|AllocTensor|^}"}.get(words[3], words[3])
        assert re.search(name, source[int(place.group(1)) - 1]), line
    assert "AIV 0   MTE2 DataCopyPad       dst UB+0x0  src0 x+0x0  " in first[0], first[0]
    names = [line.split()[3] for line in first[:8]]
    assert names == ["DataCopyPad", "SetFlag", "WaitFlag", "Cast", "Sqrt", "Cast", "SetFlag", "SetFlag"], names
    assert {int(line.split()[1]) for line in lines} == set(range(48))
    stdout = akgen("run", SQRT, "--log").stdout
    assert stdout.splitlines()[: len(lines)] == lines


def log_of_a_matmul_names_the_cubes_memories(folder):
    kernels = AKGEN_KERNELS / "matmul_add_blocks"
    lines = akgen("run", "level3/GMM/MatmulAdd", kernels, "--case=4", f"--log={folder}/log.txt")
    assert lines.returncode == 0, lines.stdout + lines.stderr
    lines = [line for line in (folder / "log.txt").read_text().splitlines() if line.startswith("AIC 0 ")]
    wanted = [r"MTE2 DataCopy +of Iterate  dst L1\+0x0  src0 a\+0x0  \d+ x \d+ float16, ND to NZ  op_kernel/matmul_add.cpp:37",
              r"MTE1 LoadData +of Iterate  dst L0A\+0x0  src0 L1\+0x0  \d+ fractals of float16  ",
              r"MTE1 LoadData +of Iterate  dst L0B\+0x\w+  src0 L1\+0x\w+  \d+ fractals of float16, transposed  ",
              r"M    Mmad +of Iterate  dst L0C\+0x0  src0 L0A\+0x0  src1 L0B\+0x0  \d+ x \d+ x \d+ float16 to float32",
              r"FIX  Fixpipe +of GetTensorC  dst \w+\+0x\w+  src0 L0C\+0x0  \d+ x \d+ float32 to \w+"]
    for pattern in wanted:
        assert any(re.search(pattern, line) for line in lines), (pattern, lines[:6], lines[-2:])


def dumps_are_the_tensors(folder):
    project = copy_reference("level1/Math/Sqrt", folder)
    kernel = project / "op_kernel/sqrt.cpp"
    source = kernel.read_text()
    done = akgen("run", "Sqrt", project, f"--dump=x={folder}/x.npy", f"--dump=y={folder}/y.npy", "--case=3", "--dump=y")
    assert done.returncode == 0, done.stdout + done.stderr
    x, y = numpy.load(folder / "x.npy"), numpy.load(folder / "y.npy")
    assert x.dtype == numpy.float32 and x.shape == (48, 32, 4096), (x.dtype, x.shape)  # bfloat16, widened
    assert abs(y - numpy.sqrt(x)).max() <= 2**-8 * y.max() and y.min() >= 0
    shown = done.stdout.splitlines()
    assert shown[0] == "y bfloat16[48,32,4096], 6291456 elements", shown[0]
    assert [float(word) for word in shown[1].split()[1:]] == [float(f"{v:.7g}") for v in y.flat[:8]], shown[1]
    assert "expected" not in done.stdout
    edit(kernel, "Sqrt(", "Exp(") if source.count("Sqrt(") == 1 else kernel.write_text(source.replace("Sqrt(", "Exp("))
    done = akgen("run", "Sqrt", project, "--case=3", "--dump=y")
    assert done.returncode == 1 and "\n  expected  " in done.stdout, done.stdout


def gdb_steps_in_the_kernel(folder):
    script = folder / "script"
    script.write_text("run\nnext\nnext\nnext\nprint tilingData.total\nwhere\nkill\n")
    done = akgen("run", SQRT, f"--gdb={script}")
    assert re.search(r"Breakpoint 1, akgen_kernel_sqrt \(x=0x", done.stdout), done.stdout
    assert "$1 = 3145728" in done.stdout and "op_kernel/sqrt.cpp:" in done.stdout, done.stdout
    assert "the debugger ended before the kernel did" in done.stdout
    # A trap stops at npu_trap, with the kernel's line on the stack.
    script.write_text("run\ncontinue\nwhere\nkill\n")
    fault = pathlib.Path(__file__).parents[1] / "kernels/faults/gm_overrun_far"
    task = (fault / "expected").read_text()
    name = re.search(r"task:? *(\S+)", task)
    done = akgen("run", name.group(1) if name else "UnalignAdd", fault, "--scope=kernel", f"--gdb={script}")
    assert "npu_trap" in done.stdout and re.search(r"akgen_kernel_\w+ .*\.cpp:\d+", done.stdout), done.stdout


def bad_input_is_told(folder):
    done = akgen("run", SQRT, "--dump=z")
    assert done.returncode == 2 and "has no input or output 'z'" in done.stderr, done.stderr
    done = akgen("run", SQRT, "--case=99")
    assert done.returncode == 2 and "has no case 99" in done.stderr, done.stderr
    done = akgen("run", folder)
    assert done.returncode == 2 and "op_kernel" in done.stderr, done.stderr
    done = akgen("run", SQRT, f"--log={folder}/none/log")
    assert done.returncode == 2 and "No such file" in done.stderr, done.stderr
    done = akgen("run", SQRT, f"--dump=y={folder}/none/y.npy")
    assert done.returncode == 3 and "No such file" in done.stderr, done.stderr


checks = [log_has_every_step, log_of_a_matmul_names_the_cubes_memories, dumps_are_the_tensors, bad_input_is_told]
if shutil.which("gdb"):
    checks.append(gdb_steps_in_the_kernel)
else:
    print("SKIPPED: gdb is not installed: akgen run --gdb was not tried")
for check in checks:
    with tempfile.TemporaryDirectory() as name:
        check(pathlib.Path(name))
    print("ok", check.__name__)
sys.exit(0)
