"""Programs in AscendDSL at random pass the checker and every pass, what each pass leaves is read again and holds what is said of the pass,
and the compiled project computes what the interpreter does, or the compiler refuses the program by a rule.

tests/cli/dsl_programs.py makes the programs, each with a task of its own: 100,000 are compiled in some minutes (dsl_passes.c), the
first 3000 of them run too. dsl_programs.py PROGRAMS VERIFIED makes other numbers of them."""
import os
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "cli"))
import dsl_programs  # noqa: E402

PROGRAMS, VERIFIED = map(int, sys.argv[1:3]) if len(sys.argv) > 2 else (100000, 3000)
FIRST = 1000  # the seeds before are the test's
SHARE = 0.9   # of the programs that a rule may not refuse

jobs = os.cpu_count() or 1
compiled, wrong = dsl_programs.compile_all(range(FIRST, FIRST + PROGRAMS), jobs)
for seed, why in wrong:
    print(f"=== seed {seed}: {why}")
print("compiled: " + ", ".join(f"{count} {what}" for what, count in sorted(compiled.items())), flush=True)
counts, differing = dsl_programs.judge_all(range(FIRST, FIRST + VERIFIED), 1, jobs, passes=())  # which have been looked at
for seed, what, why in differing:
    print(f"=== seed {seed}: {what}\n{why}")
print(f"{sum(compiled.values())} programs, {compiled['compiled']} of them compiled, {len(wrong)} wrong; {sum(counts.values())} run: " +
      ", ".join(f"{count} {what}" for what, count in sorted(counts.items())))
sys.exit(bool(wrong or differing) or compiled["compiled"] < PROGRAMS * SHARE or counts["verified"] < VERIFIED * SHARE)
