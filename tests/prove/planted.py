"""Each planted bug of tests/kernels/faults is found under 20 random schedules too, with the verdict and the fault that it has in
order.

Which core is named first is the schedule's choice, so neither core nor message is compared; the line is."""
import collections
import concurrent.futures
import os
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "kernels"))
import planted_test  # noqa: E402

SEEDS = 20


def missed(project, seed):
    """None, or what a run under one schedule says instead of what it must."""
    expected = planted_test.read_expected(project)
    result = planted_test.evaluate(project, expected, f"--schedule=random:{seed}")
    if result["verdict"] != expected["verdict"]:
        return f"{project.name} under random:{seed}: {result['verdict']}, not {expected['verdict']}: {result['reason']}"
    if "fault" not in expected:
        return None
    row, place = result["cases"][0], planted_test.marked_line(project, "// BUG:")
    found = [(f["name"], (f["file"], f["line"])) for f in row["notes" if expected.get("note") else "faults"]]
    for name, at in found:
        if name == expected["fault"] and (at == place or expected.get("line") == "none"):
            return None
    return f"{project.name} under random:{seed}: {found}, not {expected['fault']} at {place}"


projects = sorted(path.parent for path in (planted_test.HERE / "faults").glob("*/expected"))
runs = [(project, seed) for project in projects for seed in range(1, SEEDS + 1)]
with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
    misses = [miss for miss in pool.map(lambda run: missed(*run), runs) if miss]
print(*misses, sep="\n")
print(collections.Counter(miss.split()[0] for miss in misses))
print(f"{len(runs) - len(misses)} of {len(runs)} runs of {len(projects)} planted bugs find the bug")
sys.exit(1 if misses or len(projects) < 60 else 0)
