"""`akgen dsl check --task` finds nothing wrong, and warns of nothing, in any task's program: on sizes that nothing divides, in the task's
shown and hidden cases of at most 4 million elements, in the compiler."""
import concurrent.futures
import os
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "cli"))
from akgen_program import HOME, akgen  # noqa: E402

PROGRAMS = sorted(HOME.glob("tasks/*/*/*/*/program.py"))


def said(path):
    process = akgen("dsl", "check", path, "--task", path.parent.relative_to(HOME / "tasks"))
    return process.returncode, process.stdout + process.stderr


with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as threads:
    told = [(path, *result) for path, result in zip(PROGRAMS, threads.map(said, PROGRAMS)) if result != (0, "")]
for path, code, text in told:
    print(f"{path}: exit {code}\n{text}")
print(f"{len(PROGRAMS)} programs, {len(told)} of which something is said")
sys.exit(bool(told) or len(PROGRAMS) < 212)
