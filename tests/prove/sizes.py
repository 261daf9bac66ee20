"""The reference projects pass every case at the size that the benchmark publishes, the giant ones included."""
import json
import pathlib
import sqlite3
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "cli"))
from akgen_program import akgen  # noqa: E402

with tempfile.TemporaryDirectory(prefix="akgen-sizes-") as directory:
    db = pathlib.Path(directory) / "runs.db"
    done = akgen("bench", "--full", "--jobs=1", "--timeout=1800", "--db", db, timeout=14400)
    verdicts = [json.loads(text) for (text,) in sqlite3.connect(db).execute("SELECT json FROM verdicts")]
print(done.stdout, done.stderr, sep="\n")
cases = [case for verdict in verdicts for case in verdict["cases"]]
print(f"{sum(case['ok'] for case in cases)} of {len(cases)} cases of {len(verdicts)} tasks pass at their published size")
sys.exit(done.returncode or not all(case["ok"] for case in cases) or not cases)
