"""Who does the work in the projects that the tasks' programs become: the scalar unit or the vector unit and the cube, on how many
cores; and which cases the published check refuses. For tests/cli/dsl_work_test.py and tests/prove/dsl_work.py."""
import collections
import math
import re
import tempfile

from akgen_program import HOME, akgen, verdict

PROGRAMS = sorted((HOME / "tasks").glob("*/*/*/*/program.py"))
SCALAR_SHARE = 0.01     # of the elements: loads and stores of the scalar unit
ENOUGH = 48 * 512       # bytes that all cores find work in
CORES = {"AIV_ONLY": 48, "MIX_AIV_1_0": 48, "AIC_ONLY": 24, "MIX_AIC_1_0": 24, "MIX_AIC_1_1": 48, "MIX_AIC_1_2": 72}
BYTES = {"float16": 2, "bfloat16": 2, "int16": 2, "uint16": 2, "int8": 1, "uint8": 1, "bool": 1, "int64": 8, "double": 8, "complex64": 8}

# Of the largest case: its number, scalar accesses by elements, cores with work, all cores, whether there is enough for all. Of all:
# the numbers of those that the upstream profile refuses.
Measured = collections.namedtuple("Measured", "case share busy cores enough refused")


def elements(row):
    """Elements of a case's inputs, and of its outputs."""
    inputs = re.findall(r"\[([\d,]*)\]", row["shape"])
    return sum(math.prod(int(size) for size in shape.split(",") if size) for shape in inputs), row["comparison"]["elements"]


def is_enough(program, row):
    """Whether there is work for all cores: of a program that says how many elements are worth one, so many for each."""
    worth = re.search(r"^    cores = .*tl\.cdiv\(total, (\d+)\)", program.read_text(), re.M)
    taken, made = elements(row)
    if worth:
        return max(made, taken // max(1, row["shape"].count("["))) >= 48 * int(worth[1])
    return max(taken, made) * BYTES.get(row["dtype"], 4) >= ENOUGH


def name_of(program):
    return "/".join(program.parts[-5:-1])


def measure(program):
    """Measured, of the shown cases; the largest is one that is not giant if there is one."""
    with tempfile.TemporaryDirectory(prefix="akgen-dsl-") as folder:
        done = akgen("dsl", "build", program, "--task", program.parent, "-o", folder)
        assert done.returncode == 0, done.stderr
        cases = [row for row in verdict(program.parent, folder, timeout=600)["cases"] if not row["hidden"]]
    row = max([row for row in cases if not row["reduced"]] or cases, key=lambda row: sum(elements(row)))
    run = row["run"]
    share = (run["scalar_loads"] + run["scalar_stores"]) / sum(elements(row))
    enough = is_enough(program, row)
    refused = [str(row["case"]) for row in cases if not row["ok"]]
    return Measured(row["case"], share, run["cores_busy"], CORES[run["kernel_type"]], enough, refused)


def section(title):
    """The text of a section of docs/dsl.md."""
    return (HOME / "docs/dsl.md").read_text().split(f"### {title}\n")[1].split("\n## ")[0].split("\n### ")[0]


def exceptions():
    """What docs/dsl.md lists: (task, what: "scalar" or "cores", or "case N", which the published check refuses) -> reason."""
    found = {}
    for what, tasks, reason in re.findall(r"^\| (scalar|cores) \| (.+?) \| (.+?) \|$", section("Who does the work"), re.M):
        found.update({(task, what): reason for task in re.findall(r"`([^`]+)`", tasks)})
    for task, cases, reason in re.findall(r"^\| `([^`]+)` \| ([\d, ]+) \| (.+?) \|$", section("What the published check refuses"), re.M):
        found.update({(task, f"case {case}"): reason for case in cases.split(", ")})
    return found


def falls_short(measured):
    """Which exceptions a program needs."""
    return ([what for what, short in (("scalar", measured.share >= SCALAR_SHARE),
                                      ("cores", measured.enough and measured.busy < measured.cores)) if short] +
            [f"case {case}" for case in measured.refused])


def disagreements(measured, listed):
    """Of measured programs, name -> Measured: what falls short and is not listed, what is listed and does not."""
    short = {(name, what) for name, of in measured.items() for what in falls_short(of)}
    return ([f"{name}: {what}: {measured[name]}" for name, what in sorted(short - set(listed))] +
            [f"{name}: {what}: no exception any more: {measured[name]}" for name, what in sorted(set(listed) - short)
             if name in measured])
