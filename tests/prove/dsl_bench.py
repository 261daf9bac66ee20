"""`akgen bench --provider dsl` passes every task of the three suites in both profiles, with automatic and with manual synchronisation, in
order and under 5 random schedules, without a fault or a note of something undefined or unordered, but for the cases of docs/dsl.md, and
with at most a fiftieth of the steps that end a launch.

Giant cases are tried by what stands in for them. A part is PROFILE+SYNC+SUITE: dsl_bench.py strict+manual+mhc runs that one alone,
strict+manual the three of both words, no word all twelve. A part that is done is not run again, and a killed one goes on, as long as
the trees of src, include and tasks are as they were: a database of each is kept under build/prove. JOBS=N says how many run side by side."""
import json
import os
import pathlib
import sqlite3
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "cli"))
import dsl_work  # noqa: E402
from akgen_program import HOME, akgen  # noqa: E402

SEEDS = 5
STEPS_MARGIN = 50  # EVAL_STEPS_MARGIN
SUITES = ("npukernelbench", "multikernelbench", "mhc")
PARTS = [(profile, sync, suite) for profile, sync in (("strict", "manual"), ("upstream", "auto"), ("strict", "auto"), ("upstream", "manual"))
         for suite in SUITES]
LONGEST = 6 * 3600  # seconds that a part may take


def git(*arguments):
    return subprocess.run(["git", "-C", HOME, *arguments], capture_output=True, text=True, check=True).stdout.split()


def folder():
    """Where the databases of this state of the sources are; None if the working tree has another."""
    state = git("rev-parse", "HEAD:src", "HEAD:include", "HEAD:tasks")
    changed = git("status", "--porcelain", "--", "src", "include", "tasks")
    return None if changed else HOME / "build/prove" / f"dsl_bench-{'-'.join(tree[:8] for tree in state)}"


def state_of(database):
    """"none", "unfinished" or "done": the newest run of a database."""
    if not database.exists():
        return "none"
    with sqlite3.connect(database) as store:
        try:
            rows = store.execute("SELECT seconds FROM runs ORDER BY id DESC LIMIT 1").fetchall()
        except sqlite3.OperationalError:
            rows = []
    return "none" if not rows else "unfinished" if rows[0][0] is None else "done"


def run(part, database):
    """The verdicts of a part, which is run as far as it was not."""
    profile, sync, suite = part
    before = state_of(database)
    if before != "done":
        done = akgen("bench", "--provider=dsl", f"--suite={suite}", f"--profile={profile}", f"--sync={sync}", f"--seeds={SEEDS}",
                     "--timeout=600", f"--jobs={os.environ.get('JOBS', os.cpu_count() or 1)}", f"--db={database}",
                     *(["--resume"] if before == "unfinished" else []), timeout=LONGEST)
        if done.returncode > 1:
            sys.exit(f"{'+'.join(part)}: exit code {done.returncode}\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
    with sqlite3.connect(database) as store:
        rows = store.execute("SELECT json FROM verdicts WHERE run = (SELECT max(id) FROM runs) ORDER BY task").fetchall()
    return [json.loads(text) for (text,) in rows]


def noticed(case):
    """What a case may not have: faults, and notes of something undefined or unordered."""
    return case["faults"] + [note for note in case["notes"] if note["kind"] in ("undefined", "hazard")]


def complaints(part, verdicts, listed):
    """Lines on what is not as it has to be. `listed`: (task, "case N") that the published check refuses."""
    profile, _, suite = part
    refused = {(verdict["task"], f"case {case['case']}") for verdict in verdicts for case in verdict["cases"] if not case["ok"]}
    expected = {(task.split("/", 1)[1], case) for task, case in listed if task.split("/")[0] == suite} if profile == "upstream" else set()
    lines = [f"{task}: {case} does not pass" for task, case in sorted(refused - expected)]
    lines += [f"{task}: {case} is no exception any more" for task, case in sorted(expected - refused)]
    for verdict in verdicts:
        if not verdict["cases"] or verdict["cases_total"] != len(verdict["cases"]):
            lines.append(f"{verdict['task']}: {verdict['verdict']}: {verdict['reason']}")
        for case in verdict["cases"]:
            lines += [f"{verdict['task']}: case {case['case']}: {note['kind']} {note['name']}, {note['file']}:{note['line']}"
                      for note in noticed(case)]
            for steps in ("steps", "data_steps"):
                taken, allowed = case["run"][steps], case["run"][f"{steps}_allowed"]
                if STEPS_MARGIN * taken >= allowed:
                    lines.append(f"{verdict['task']}: case {case['case']}: {taken} {steps} of {allowed}")
            if case["ok"] and case["orders_tried"] != SEEDS:
                lines.append(f"{verdict['task']}: case {case['case']}: {case['orders_tried']} schedules of {SEEDS}")
    return lines


def tasks_of(suite):
    return len(list((HOME / "tasks" / suite).glob("*/*/*/program.py")))


def main():
    wanted = [part for part in PARTS if len(sys.argv) < 2 or any(set(word.split("+")) <= set(part) for word in sys.argv[1:])]
    databases, listed = folder(), [key for key in dsl_work.exceptions() if key[1].startswith("case ")]
    if not databases:
        sys.exit("src, include or tasks have changes that no commit has")
    databases.mkdir(parents=True, exist_ok=True)
    wrong, figures = 0, []
    for part in wanted:
        verdicts = run(part, databases / f"{'+'.join(part)}.db")
        lines = complaints(part, verdicts, listed)
        if len(verdicts) != tasks_of(part[2]):
            lines.append(f"{len(verdicts)} verdicts of {tasks_of(part[2])} tasks")
        cases = [case for verdict in verdicts for case in verdict["cases"]]
        wrong += len(lines)
        figures.append((part, len(verdicts), len(cases), sum(not case["ok"] for case in cases)))
        print(f"{'+'.join(part)}: {len(verdicts)} tasks, {len(cases)} cases, {sum(case['reduced'] for case in cases)} of them by a smaller one, "
              f"{sum(not case['ok'] for case in cases)} refused by the published check, "
              f"{sum(bool(case['order_decides']) for case in cases)} whose last digits depend on the schedule, {len(lines)} wrong", *lines,
              sep="\n  ", flush=True)
    kinds = list(dict.fromkeys(part[:2] for part, *_ in figures))
    print("; ".join(f"{'+'.join(kind)}: {sum(tasks for part, tasks, *_ in figures if part[:2] == kind)} tasks, "
                    f"{sum(cases for part, _, cases, _ in figures if part[:2] == kind)} cases, "
                    f"{sum(bad for part, *_, bad in figures if part[:2] == kind)} of them exceptions" for kind in kinds) +
          f", each in order and under {SEEDS} random schedules, {wrong} wrong")
    return bool(wrong) or not figures


if __name__ == "__main__":
    sys.exit(main())
