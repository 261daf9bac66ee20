"""50,000 samples of operators that are made up, formulas and programs, each verified and those of every tenth seed on the machine as well, take two
threads at most two hours without a network; the run is killed twice, and resumed it has lost and repeated nothing; the same seeds make the same
samples.

COUNT in the environment makes fewer, and its share of the two hours. An uninterrupted run of the first seeds with one thread is what
the samples are compared with."""
import json
import os
import pathlib
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "cli"))
from akgen_program import AKGEN  # noqa: E402

COUNT = int(os.environ.get("COUNT", "50000"))
BLOCK = 64                                    # seeds of a transaction
SEEDS = -(-COUNT * 62 // 100 // BLOCK) * BLOCK  # of most seeds come two samples, some are dropped
FEWER = min(SEEDS, 2048)                      # of the uninterrupted run
MACHINE = 10
SECONDS = 7200 * COUNT / 50000
KILLS = (1 / 3, 2 / 3)
COLUMNS = "id, part, mode, question, chain, answer, verdict, provenance, licence, graph, split, bytes, tags"
ALONE = ["unshare", "--map-root-user", "--net"]


def arguments(database, seeds, jobs):
    alone = ALONE if subprocess.run([*ALONE, "true"], capture_output=True).returncode == 0 else []
    return [*alone, AKGEN, "cot", "synth", "--db", database, "--count", str(seeds), "--jobs", str(jobs), "--machine", str(MACHINE),
            "--programs"]


def ask(database, sql, *values):
    with sqlite3.connect(database, timeout=60) as store:
        return store.execute(sql, values).fetchall()


def blocks(database):
    try:
        return ask(database, "SELECT count(*) FROM done")[0][0]
    except sqlite3.OperationalError:  # there are no tables yet
        return 0


def start(database, seeds, jobs):
    return subprocess.Popen(arguments(database, seeds, jobs), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def finish(database, seeds, jobs):
    process = start(database, seeds, jobs)
    out, err = process.communicate()
    assert process.returncode == 0, err
    print(out.strip(), flush=True)


def kill_at(database, wanted):
    """The ids that were in when the run was killed, in their order."""
    process = start(database, SEEDS, 2)
    while blocks(database) < wanted:
        assert process.poll() is None, process.communicate()
        time.sleep(0.5)
    process.send_signal(signal.SIGKILL)
    process.wait()
    kept = [row[0] for row in ask(database, "SELECT id FROM samples ORDER BY number")]
    print(f"killed with {blocks(database)} of {SEEDS // BLOCK} blocks, {len(kept)} samples", flush=True)
    return kept


def check_verdicts(database):
    """(graphs, programs, of the graphs those that ran on the machine)."""
    graphs = programs = machine = 0
    for mode, verdict, provenance in ask(database, "SELECT mode, verdict, provenance FROM samples"):
        verdict, seed = json.loads(verdict), int(provenance.rsplit(" ", 1)[1])
        by = ["machine"] if seed % MACHINE == 0 else ["interpreter"]
        if mode == "dsl":  # programs over lists and in place are the interpreter's alone
            by.append("interpreter")
        assert verdict["verdict"] == "pass" and verdict["by"] in by, (provenance, verdict)
        graphs += mode == "graph"
        programs += mode == "dsl"
        machine += mode == "graph" and verdict["by"] == "machine"
    return graphs, programs, machine


def check_contamination(database):
    """Every seed became a sample or is counted as dropped; one without a program has its formulas."""
    seeds = ask(database, "SELECT count(DISTINCT provenance) FROM samples")[0][0]
    duplicates = ask(database, "SELECT coalesce(sum(count), 0) FROM dropped WHERE reason = 'duplicate'")[0][0]
    dropped = ask(database, "SELECT coalesce(sum(count), 0) FROM dropped WHERE reason <> 'duplicate' AND reason NOT LIKE 'no program%'")[0][0]
    assert SEEDS - duplicates <= seeds + dropped <= SEEDS, (seeds, dropped, duplicates, SEEDS)


def prove(folder):
    whole, fewer = folder / "whole.db", folder / "fewer.db"
    os.environ.update(TMPDIR=str(folder), XDG_CACHE_HOME=str(folder / "cache"))  # nothing is known of earlier runs
    begin = time.monotonic()
    kept = [kill_at(whole, int(share * SEEDS / BLOCK)) for share in KILLS]
    finish(whole, SEEDS, 2)
    seconds = time.monotonic() - begin
    ids = [row[0] for row in ask(whole, "SELECT id FROM samples ORDER BY number")]
    for some in kept:
        assert ids[:len(some)] == some, "what was in when the run was killed is not what the samples begin with"
    sources = [row[0] for row in ask(whole, "SELECT source FROM done")]
    assert len(sources) == len(set(sources)) == SEEDS // BLOCK
    assert len(ids) == len(set(ids)) == ask(whole, "SELECT sum(samples) FROM done")[0][0]
    check_contamination(whole)
    graphs, programs, machine = check_verdicts(whole)
    assert len(ids) >= COUNT, f"{len(ids)} samples of {SEEDS} seeds"
    finish(fewer, FEWER, 1)
    rows = ask(fewer, f"SELECT {COLUMNS} FROM samples ORDER BY number")
    assert rows == ask(whole, f"SELECT {COLUMNS} FROM samples ORDER BY number LIMIT ?", len(rows)), "the same seeds made other samples"
    left = [entry.name for entry in folder.iterdir() if not entry.name.startswith(("whole.db", "fewer.db", "cache"))]
    assert not left, f"left behind: {left}"
    assert seconds <= SECONDS, f"{seconds:.0f} s, {SECONDS:.0f} s are allowed"
    return (f"{len(ids)} samples, {graphs} operators of {SEEDS} seeds, {machine} of them run on the machine as well, with {programs} "
            f"programs: {seconds:.0f} s of two threads, killed {len(KILLS)} times, nothing lost and nothing twice; the {len(rows)} samples of "
            f"an undisturbed run with one thread are the same")


with tempfile.TemporaryDirectory(prefix="akgen-synthesis-") as place:
    print(prove(pathlib.Path(place)))
