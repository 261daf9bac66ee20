"""A model's run of all tasks of NPUKernelBench, 20 samples each, that is killed three times and resumed loses no sample, asks for none twice
that was answered, and reports what an undisturbed run does, times aside.

The model is a server that answers from the tasks' own programs: right ones, some that do a part of the work, some that do not compile, and
what models write besides. Only case 0 is evaluated, so that it takes minutes."""
import json
import os
import pathlib
import re
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "cli"))
from akgen_program import AKGEN, TASKS, akgen, measured_fields  # noqa: E402
from replay_server import Answer, ReplayServer  # noqa: E402

SAMPLES, JOBS = int(os.environ.get("SAMPLES", "20")), "2"
GLOB = os.environ.get("TASK", "*")
KILLS = (0.2, 0.5, 0.8)  # shares of the samples that are answered when the run is killed
MEASURED = measured_fields() | {"seconds", "run"}


def op_type(folder):
    """The operator's name in a project: task.yaml's op_type, else op."""
    text = (folder / "task.yaml").read_text()
    return (re.search(r"^op_type: (\w+)", text, re.M) or re.search(r"^op: (\w+)", text, re.M))[1]


PROGRAMS = {op_type(path.parent).lower(): path.read_text() for path in TASKS.glob("*/*/*/program.py")}


def program_of(request):
    """The program of the task that a prompt asks for: the files of an answer bear its name."""
    return PROGRAMS[re.findall(r"<op_kernel/(\w+)\.cpp>", request.prompt)[-1].replace("_", "")]


def answer(request):
    """Of twenty: six right, three that one core alone works for, three that do not compile, five words, two empty, one cut."""
    program = program_of(request)
    kinds = (6 * [Answer(f"<think>Short.</think>\n```python\n{program}```\n")]
             + 3 * [Answer("```python\n" + re.sub(r"(_kernel)\[\w+\]\(", r"\1[1](", program) + "```\n")]
             + 3 * [Answer("```python\n" + program.replace("tl.load(", "tl.lod(").replace("tl.store(", "tl.stor(") + "```\n")]
             + 5 * [Answer("I would begin with the tiling.")] + 2 * [Answer("")] + [Answer("```python\nimport", finish="length")])
    return [kinds[(request.seed + i) * 7 % len(kinds)] for i in range(request.n)]


def arguments(server, db, *options):
    return ["bench", "--provider", f"openai:{server.url}", "--model", "replay", "-n", str(SAMPLES), "-k", "1,10", "--case", "0",
            "--answer-seed", "0", "--per-request", "3", "--jobs", JOBS, "--concurrency", "4", "--task", GLOB,
            "--db", str(db), *options]


def count(db, what):
    try:
        connection = sqlite3.connect(db, timeout=30)
        try:
            return connection.execute(f"SELECT count(*) FROM {what}").fetchone()[0]
        finally:
            connection.close()
    except sqlite3.OperationalError:
        return 0


def without_times(value):
    if isinstance(value, dict):
        return {key: without_times(entry) for key, entry in value.items() if key not in MEASURED}
    return [without_times(entry) for entry in value] if isinstance(value, list) else value


def report(db):
    text = akgen("report", "--db", db, "-k", "1,10", "--format", "json", timeout=600).stdout
    return json.dumps(without_times(json.loads(text)), indent=1).splitlines()


def kill_at(server, db, samples, *options):
    """Runs until so many samples are answered, and kills."""
    process = subprocess.Popen([AKGEN, *arguments(server, db, *options)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    while count(db, "answers") < samples:
        assert process.poll() is None, f"it has ended by itself with {count(db, 'answers')} samples"
        time.sleep(0.02)
    process.send_signal(signal.SIGKILL)
    process.wait()
    print(f"killed with {count(db, 'answers')} samples and {count(db, 'verdicts')} verdicts", flush=True)


def finish(server, db, *options):
    start = time.monotonic()
    process = akgen(*arguments(server, db, *options), timeout=7200)
    assert process.returncode == 1, f"exit {process.returncode}: {process.stdout[-2000:]} {process.stderr[-2000:]}"
    return process.stdout, time.monotonic() - start


def prove(folder):
    whole, killed = folder / "whole.db", folder / "killed.db"
    with ReplayServer(answer, delay=0.3) as server:
        for i, share in enumerate(KILLS):
            kill_at(server, killed, int(share * SAMPLES * tasks), *(("--resume",) if i else ()))
        answered, before = count(killed, "answers WHERE answer IS NOT NULL"), sum(r.n for r in server.requests)
        resumed, _ = finish(server, killed, "--resume")
        asked = sum(r.n for r in server.requests) - before
        assert asked == tasks * SAMPLES - answered, f"{asked} samples were asked for, {tasks * SAMPLES - answered} lacked"
        table, seconds = finish(server, whole)
    times = re.compile(r"in [\d.]+ s ")
    assert times.sub("", table) == times.sub("", resumed), f"{table}\n{resumed}"
    left, right = report(whole), report(killed)
    differing = [pair for pair in zip(left, right) if pair[0] != pair[1]]
    assert len(left) == len(right) and not differing, f"{len(left)} and {len(right)} lines; {differing[:5]}"
    for db in (whole, killed):
        assert count(db, "verdicts") == count(db, "answers") == tasks * SAMPLES
    print(table)
    verdicts = re.search(r"verdicts +(.*)", table)[1]
    return (f"{tasks} tasks x {SAMPLES} samples ({verdicts}): killed {len(KILLS)} times, no sample lost, the same report of "
            f"{len(left)} lines; {seconds:.0f} s undisturbed")


tasks = len([path for path in TASKS.glob("*/*/*/task.yaml")
             if pathlib.PurePath(path.parent.relative_to(TASKS)).match(GLOB)]) if GLOB != "*" else len(PROGRAMS)
with tempfile.TemporaryDirectory(prefix="akgen-sampling-") as place:
    print(prove(pathlib.Path(place)))
