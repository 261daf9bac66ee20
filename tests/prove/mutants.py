"""No task lets a candidate pass the strict profile that leaves work out, but where its contract says so; beside it, how many tasks do in
the profile of the published checks.

akgen task mutants; its last lines are a table, one row for each way to leave work out. Upstream's cases are those of at most 2^18 elements,
or the four smallest."""
import os
import subprocess
import sys


def main():
    run = subprocess.run([os.environ["AKGEN"], "task", "mutants"], capture_output=True, text=True)
    print(run.stdout, run.stderr)
    rows = [line.split() for line in run.stdout.split("\n\n")[-1].splitlines()[2:]]
    if not rows or rows[-1][0] != "any":
        return 1
    strict = [f"{kind} {passed}" for kind, _, passed, *_ in rows]
    upstream = [f"{kind} {passed} of {tasks}" for kind, _, _, _, tasks, passed, _ in rows]
    print(f"strict: tasks that pass one of a kind, of {rows[-1][1]}: {', '.join(strict)}; upstream: {', '.join(upstream)}")
    return run.returncode


if __name__ == "__main__":
    sys.exit(main())
