"""Programs in AscendDSL at random pass the checker and every pass, each pass's output is read again, and the compiled project computes
what the interpreter does, or the compiler refuses the program by a rule.

tests/cli/dsl_programs.py makes the programs, each with a task of its own."""
import os
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "cli"))
import dsl_programs  # noqa: E402

PROGRAMS = 3000
FIRST = 1000  # the seeds before are the test's

counts, wrong = dsl_programs.judge_all(range(FIRST, FIRST + PROGRAMS), 1, os.cpu_count() or 1)
for seed, what, why in wrong:
    print(f"=== seed {seed}: {what}\n{why}")
print(f"{sum(counts.values())} programs: " + ", ".join(f"{count} {what}" for what, count in sorted(counts.items())))
sys.exit(bool(wrong) or counts["verified"] < PROGRAMS * 3 // 4)
