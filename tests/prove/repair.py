"""A model that sees code and feedback alone, and mends what the feedback names by general rules, brings every planted error of tests/cli/planted.py to a pass, in Ascend C and in AscendDSL.

ROUNDS= (4) is the number of rounds of repair, ONLY= takes one language, PARALLEL= (the number of processors) says how many run at a time.
The model is tests/cli/scripted_model.py."""
import concurrent.futures
import json
import os
import pathlib
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "cli"))
import planted  # noqa: E402
from akgen_program import akgen  # noqa: E402

ROUNDS, ONLY = os.environ.get("ROUNDS", "4"), os.environ.get("ONLY", "")
PARALLEL = int(os.environ.get("PARALLEL", os.cpu_count()))


def mend(folder, task, language, number, row):
    """(language, first verdict, best verdict, rounds)."""
    first, project = folder / f"{language}{number}.txt", folder / f"{language}{number}"
    first.write_text(planted.answer(planted.plant(row, language)))
    akgen("gen", task, "-o", project, "--provider", f"exec:{sys.executable} {HERE.parent}/cli/scripted_model.py {first}", "--language", language,
          "--rounds", ROUNDS, "--jobs", 1)
    samples = json.loads((project / "evidence/run.json").read_text())["samples"]
    best = json.loads((project / "evidence/verdict.json").read_text())["verdict"]
    if samples[0]["verdict"] == "pass" or best != "pass":
        print(f"{language} {number}: {row[-2]!r} -> {row[-1]!r}: {[sample['ended'] for sample in samples]}", flush=True)
    return language, samples[0]["verdict"], best, samples[-1]["round"]


def main():
    rows = [("ascendc", number, row) for number, row in enumerate(planted.ASCENDC)] + [("dsl", number, row) for number, row in enumerate(planted.DSL)]
    with tempfile.TemporaryDirectory(prefix="akgen-repair-") as name, concurrent.futures.ThreadPoolExecutor(PARALLEL) as pool:
        task = planted.make_task(pathlib.Path(name))
        ended = list(pool.map(lambda row: mend(pathlib.Path(name), task, *row), [row for row in rows if ONLY in row[0]]))
    figures = []
    for language in sorted({row[0] for row in ended}):
        of = [row for row in ended if row[0] == language]
        figures.append(f"{language}: {sum(first == 'pass' for _, first, _, _ in of)} of {len(of)} pass at first, "
                       f"{sum(best == 'pass' for _, _, best, _ in of)} after at most {max(rounds for *_, rounds in of)} rounds")
    print("; ".join(figures))
    return 0 if ended and all(first != "pass" and best == "pass" for _, first, best, _ in ended) else 1


if __name__ == "__main__":
    sys.exit(main())
