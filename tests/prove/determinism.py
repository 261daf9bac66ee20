"""The same candidate gets the same verdict byte by byte, times aside, 20 times each under other load, paths, environments, stack
limits, address layouts and caches.

Candidates are the planted bugs and good kernels of tests/kernels, the reference projects of all tasks, and, with ANSWERS=DIR, the answers that lie there as DIR/TASK or DIR/TASK/answer/NUMBER (as `akgen bench --provider dir:DIR` takes them). ROUNDS= (20) and
CASES= (0: which case of reference projects and answers; `all`) shorten or lengthen it, ONLY= takes the candidates whose name holds
that text, PARALLEL= (the number of processors) says how many are evaluated at a time. Each round is an akgen serve --stdio of its own. Two whole runs of `akgen bench` over the
reference projects, by one worker and by five, are compared too.

A timeout is an end by time: such a verdict is counted apart, and only its kind is compared."""
import collections
import json
import os
import pathlib
import sqlite3
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "cli"))
sys.path.insert(0, str(HERE.parent / "kernels"))
import planted_test  # noqa: E402
from akgen_program import HOME, without_measurements  # noqa: E402
from circumstances import Circumstances, difference  # noqa: E402

ROUNDS, CASES = int(os.environ.get("ROUNDS", "20")), os.environ.get("CASES", "0")
ANSWERS, ONLY = os.environ.get("ANSWERS"), os.environ.get("ONLY", "")
PARALLEL = int(os.environ.get("PARALLEL", os.cpu_count()))


def tasks():
    """Every task that has a reference project."""
    return sorted(path.parent for path in (HOME / "tasks").rglob("reference") if path.is_dir())


def candidates():
    """(name, task, project, options) of each."""
    cases = [] if CASES == "all" else [f"--case={CASES}"]
    for folder in ("faults", "good"):
        for project in sorted(path.parent for path in (planted_test.HERE / folder).glob("*/expected")):
            expected = planted_test.read_expected(project)
            options = [f"--{key}={expected[key]}" for key in ("scope", "mode", "sync") if key in expected]
            yield f"{folder}/{project.name}", expected["task"], project, ["--case", expected.get("case", "0"), *options]
    for task in tasks():
        yield f"reference/{task.name}", task, task / "reference", cases
    for task in sorted(path.parent for path in (HOME / "tasks").rglob("task.yaml")) if ANSWERS else ():
        name = task.relative_to(HOME / "tasks").as_posix().split("/", 1)[1]
        folder = pathlib.Path(ANSWERS) / name
        for project in sorted(folder.glob("answer/*")) or [folder] if folder.is_dir() else ():
            yield f"answer/{name}/{project.name}", task, project, cases


def kind(text):
    try:
        return json.loads(text)["verdict"]
    except (ValueError, KeyError, TypeError):
        return "none"


def compare(scratch, chosen):
    """({name: kind of its verdict}, {name: where another round differs}). A round is one server under other circumstances."""
    first, misses = Circumstances(scratch, 0).verdicts(chosen, PARALLEL), {}
    for number in range(1, ROUNDS):
        around = Circumstances(scratch, number)
        for name, text in around.verdicts(chosen, PARALLEL).items():
            same = kind(text) == "timeout" if kind(first[name]) == "timeout" else text == first[name]
            if not same and name not in misses:
                misses[name] = f"{name}, round {number}: {difference(first[name], text)}"
        around.forget()
        print(f"{number + 1} of {ROUNDS} rounds", file=sys.stderr)
    return {name: kind(text) for name, text in first.items()}, misses


def whole_run(scratch, jobs):
    """{(task, sample): verdict} of `akgen bench` over the reference projects."""
    file = scratch / f"{jobs}.db"
    case = [] if CASES == "all" else [f"--case={CASES}"]
    Circumstances(scratch, 0).run("bench", f"--jobs={jobs}", f"--db={file}", *case, timeout=None)
    with sqlite3.connect(file) as database:
        return {(task, sample): without_measurements(text)
                for task, sample, text in database.execute("SELECT task, sample, json FROM verdicts")}


def compare_runs(scratch):
    """Where the verdicts of one worker differ from those of five."""
    one, five = whole_run(scratch, 1), whole_run(scratch, 5)
    if not one or one.keys() != five.keys():
        return [f"bench: {len(one)} verdicts by one worker, {len(five)} by five"]
    return [f"bench, {key[0]}: {difference(one[key], five[key])}" for key in one if one[key] != five[key]]


def main():
    with tempfile.TemporaryDirectory(prefix="akgen-determinism-") as folder:
        scratch = pathlib.Path(folder)
        chosen = [candidate for candidate in candidates() if ONLY in candidate[0]]
        kinds, misses = compare(scratch, chosen)
        runs = [] if ONLY else compare_runs(scratch)
    print(*misses.values(), *runs, sep="\n")
    counts = collections.Counter(kinds.values())
    ended = ", ".join(f"{count} {verdict}" for verdict, count in sorted(counts.items()))
    print(f"{len(chosen) - len(misses)} of {len(chosen)} candidates ({ended}) have one verdict in {ROUNDS} runs each")
    return 1 if misses or runs or not chosen or counts["none"] or counts["infra_error"] else 0


if __name__ == "__main__":
    sys.exit(main())
