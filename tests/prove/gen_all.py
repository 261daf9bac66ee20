"""`akgen gen` without a model answers every task: a project is written in at most a second, and the strict profile proves it in all cases.

What is written is timed by the command itself (the line that begins with `project`). For one of every TASKS_COMPARED tasks the whole
command is compared with `akgen eval` of the project that it wrote, both without the cache. ONLY= takes
the tasks whose name holds that text; CASE= (`all`; else a number) one case of each, where it has one; WRITE= (1) is the limit of the
time to write in seconds, PARALLEL= (the number of processors) how many run at a time."""
import concurrent.futures
import json
import os
import pathlib
import re
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "cli"))
from akgen_program import HOME, akgen  # noqa: E402

ONLY, CASE = os.environ.get("ONLY", ""), os.environ.get("CASE", "all")
WRITE = float(os.environ.get("WRITE", "1"))
PARALLEL = int(os.environ.get("PARALLEL", os.cpu_count()))
TASKS_COMPARED = 20
# Writing takes less than a second, the proof is an evaluation.
TIMES, SECONDS = 1.2, 1


def tasks():
    return [path.parent.relative_to(HOME / "tasks").as_posix() for path in sorted((HOME / "tasks").rglob("task.yaml"))]


def generate(scratch, task):
    """(task, seconds to write, seconds of the whole command, verdict, complaint or None)."""
    project = scratch / task.replace("/", "_")
    case = [] if CASE == "all" else ["--case", CASE]
    began = time.monotonic()
    process = akgen("gen", task, "-o", project, "--jobs", 1, *case, timeout=3600)
    seconds = time.monotonic() - began
    if "has no case" in process.stderr:
        return task, 0, 0, "skipped", None
    written = re.search(r"^project .*; ([0-9.]+) s$", process.stdout, re.M)
    if not written or not (project / "evidence/verdict.json").exists():
        return task, 0, seconds, "none", f"{task}: {process.stderr.strip() or process.stdout[-300:]}"
    verdict = json.loads((project / "evidence/verdict.json").read_text())
    complaint = None
    if verdict["verdict"] != "pass" or process.returncode != 0:
        complaint = f"{task}: {verdict['verdict']}: {verdict['reason']}"
    elif float(written[1]) > WRITE:
        complaint = f"{task}: written in {written[1]} s"
    return task, float(written[1]), seconds, verdict["verdict"], complaint


def timed(*arguments):
    began = time.monotonic()
    akgen(*arguments, "--jobs", 1, "--no-cache", *([] if CASE == "all" else ["--case", CASE]), timeout=3600)
    return time.monotonic() - began


def compare(scratch, task):
    """A complaint if `akgen eval` of the project is much faster than the command that writes and proves it, three times in a row: other
    programs may take the processors meanwhile."""
    for _ in range(3):
        whole = timed("gen", task, "-o", scratch / "again")
        evaluated = timed("eval", task, scratch / "again", "--profile", "strict")
        print(f"{task}: gen {whole:.2f} s, eval {evaluated:.2f} s", flush=True)
        if whole < TIMES * evaluated + SECONDS:
            return None
    return f"{task}: gen takes {whole:.1f} s, eval {evaluated:.1f} s"


def main():
    chosen = [task for task in tasks() if ONLY in task]
    kinds, complaints, slowest = {}, [], (0, "")
    with tempfile.TemporaryDirectory(prefix="akgen-gen-all-") as folder, \
            concurrent.futures.ThreadPoolExecutor(PARALLEL) as pool:
        scratch = pathlib.Path(folder)
        results = pool.map(lambda task: generate(scratch, task), chosen)
        for done, (task, written, seconds, verdict, complaint) in enumerate(results, 1):
            kinds[verdict] = kinds.get(verdict, 0) + 1
            slowest = max(slowest, (written, task))
            print(f"{done} of {len(chosen)}: {task} {verdict}, written in {written:.2f} s, {seconds:.1f} s in all", flush=True)
            if complaint:
                complaints.append(complaint)
            elif verdict == "pass" and done % TASKS_COMPARED == 1:
                slower = compare(scratch, task)
                complaints += [slower] if slower else []
    print(*complaints, sep="\n")
    ended = ", ".join(f"{count} {verdict}" for verdict, count in sorted(kinds.items()))
    print(f"{len(chosen)} tasks ({ended}), each project written in at most {slowest[0]:.2f} s ({slowest[1]}), "
          f"{len(complaints)} complaints")
    return 1 if complaints or not chosen else 0


if __name__ == "__main__":
    sys.exit(main())
