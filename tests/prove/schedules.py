"""The reference projects pass every case, in both profiles, under 20 random schedules, and no schedule changes a bit of a
result."""
import json
import sqlite3
import pathlib
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "cli"))
from akgen_program import akgen  # noqa: E402

SEEDS = 20


def cases_under_schedules(profile, folder):
    """[(task, case)] of one profile; exits if one is not right under all schedules."""
    db = pathlib.Path(folder) / f"{profile}.db"
    done = akgen("bench", f"--profile={profile}", f"--seeds={SEEDS}", "--timeout=600", "--db", db, timeout=14400)
    print(done.stdout, done.stderr, sep="\n")
    rows = [json.loads(text) for (text,) in sqlite3.connect(db).execute("SELECT json FROM verdicts")]
    cases = [(verdict["task"], case) for verdict in rows for case in verdict["cases"]]
    wrong = [(task, case["case"], case["order_decides"]) for task, case in cases
             if case["orders_tried"] != SEEDS or case["order_decides"]]
    if done.returncode or wrong or not cases:
        sys.exit(f"{profile}: exit code {done.returncode}, {wrong}")
    return cases


with tempfile.TemporaryDirectory(prefix="akgen-schedules-") as directory:
    counts = {profile: len(cases_under_schedules(profile, directory)) for profile in ("upstream", "strict")}
print(", ".join(f"{profile}: {count} cases" for profile, count in counts.items()) +
      f", each the same bits under {SEEDS} random schedules as in order")
