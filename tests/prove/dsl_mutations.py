"""A change at random of a right program in AscendDSL is an error with a line, or a project without faults that computes what the
interpreter does; no text is a crash or a hang.

Changed are random programs (tests/cli/dsl_programs.py), each with a task on whose cases the checker accepts what then has to run, and
the tasks' own programs, which are checked and compiled alone. dsl_mutations.py CHANGES [FIRST] makes as many of each, from a seed on."""
import collections
import concurrent.futures
import os
import pathlib
import random
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "cli"))
import dsl_programs  # noqa: E402
from akgen_program import HOME  # noqa: E402

CHANGES = int(sys.argv[1]) if len(sys.argv) > 1 else 1000
FIRST = int(sys.argv[2]) if len(sys.argv) > 2 else 0
PROGRAMS = sorted((HOME / "tasks").glob("*/*/*/*/program.py"))
LONGEST = 300  # seconds that a program may take
REFUSALS = (*dsl_programs.REFUSALS, "refused")


def number(choose, text):
    value = int(text)
    return str(choose.choice((0, 1, 2, 7, value - 1, value + 1, value * 2, value // 2, value + 8, 1 << 20, -value)))


def change(text, choose):
    """The text with one thing otherwise: a number, a name, an operation, a data type, a line."""
    lines = text.splitlines()
    kind = choose.choice(("number", "number", "name", "name", "operation", "type", "drop", "again", "swap", "indent", "sign"))
    at = choose.randrange(len(lines))
    if kind in ("drop", "again", "swap", "indent"):
        other = choose.randrange(len(lines))
        if kind == "drop":
            del lines[at]
        elif kind == "again":
            lines.insert(other, lines[at])
        elif kind == "swap":
            lines[at], lines[other] = lines[other], lines[at]
        else:
            lines[at] = "    " + lines[at] if choose.random() < 0.5 else lines[at].removeprefix("    ")
        return "\n".join(lines) + "\n"
    pattern, make = {
        "number": (r"(?<![\w.])\d+(?![\w.])", lambda found: number(choose, found)),
        "name": (r"\b[a-z_]\w*\b", lambda _: choose.choice(re.findall(r"\b[a-z_]\w*\b", text))),
        "operation": (r"(?<=tl\.)v\w+(?=\()", lambda _: choose.choice(re.findall(r"(?<=tl\.)v\w+(?=\()", text))),
        "type": (r"(?<=tl\.)(?:float|int|bfloat)\d+", lambda _: choose.choice(("float32", "float16", "int32", "int8", "int64", "bool"))),
        "sign": (r"[-+*<>]|//", lambda _: choose.choice(("-", "+", "*", "//", "<", ">", "%"))),
    }[kind]
    places = list(re.finditer(pattern, text))
    if not places:
        return text
    place = choose.choice(places)
    return text[:place.start()] + make(place.group()) + text[place.end():]


def akgen(*arguments):
    """A completed process, or what it was that no command may do."""
    try:
        done = dsl_programs.akgen(*arguments, timeout=LONGEST)
    except subprocess.TimeoutExpired:
        return None, f"no answer in {LONGEST} s: {arguments[0]}"
    told = re.search(r":\d+:\d+: error: .*\[[a-z-]+\]$", done.stderr, re.M) or re.search(r"^akgen: .", done.stderr, re.M)
    if done.returncode < 0 or done.returncode > 2 or "internal" in re.findall(r"\[([a-z-]+)\]$", done.stderr, re.M):
        return done, f"{arguments[0]}: exit code {done.returncode}\n{done.stderr[-2000:]}"
    if done.returncode and not told and "--verify" not in arguments:
        return done, f"{arguments[0]}: no error with a line\n{done.stdout[-1000:]}{done.stderr[-1000:]}"
    return done, None


def judge_alone(seed):
    """One of the tasks' programs, changed, without its task."""
    choose = random.Random(f"alone {seed}")
    source = choose.choice(PROGRAMS)
    with tempfile.TemporaryDirectory(prefix="akgen-mutation-") as folder:
        file = pathlib.Path(folder) / "program.py"
        file.write_text(change(source.read_text(), choose))
        checked, wrong = akgen("check", file)
        built, wrong = (None, wrong) if wrong else akgen("build", file, "--task", source.parent, "-o", f"{folder}/project")
        what = "refused" if checked is None or checked.returncode else "not compiled" if built is None or built.returncode else "compiled"
        return what, wrong and f"{source}\n{wrong}", file.read_text() if wrong else None


def judge_with_task(seed):
    """A random program, changed, on its task's cases."""
    choose = random.Random(f"task {seed}")
    with tempfile.TemporaryDirectory(prefix="akgen-mutation-") as folder:
        task = dsl_programs.write(choose.randrange(100000), folder)
        file = task / "program.py"
        file.write_text(change(file.read_text(), choose))
        text = file.read_text()
        checked, wrong = akgen("check", file, "--task", task)
        if wrong or checked.returncode:
            return "refused", wrong, text
        done, wrong = akgen("build", file, "--task", task, "--verify")
        rules = set(re.findall(r"error: .*\[([a-z-]+)\]$", done.stderr, re.M)) if done else set()
        if wrong:
            return "compiled", wrong, text
        if done.returncode and rules and rules <= set(REFUSALS):
            return "not compiled", None, None
        return "runs", done.stdout[-2000:] + done.stderr[-2000:] if done.returncode else None, text


def judge(seed):
    what, wrong, text = judge_alone(seed)
    with_task, wrong_too, changed = judge_with_task(seed)
    return (("alone", what), ("with its task", with_task)), [(why, of) for why, of in ((wrong, text), (wrong_too, changed)) if why]


counts, bad = collections.Counter(), 0
with concurrent.futures.ThreadPoolExecutor(os.cpu_count() or 1) as pool:
    seeds = range(FIRST, FIRST + CHANGES)
    for seed, (kinds, wrong) in zip(seeds, pool.map(judge, seeds)):
        counts.update(kinds)
        for why, text in wrong:
            bad += 1
            print(f"=== seed {seed}: {why}\n{text}", flush=True)
print(f"{2 * CHANGES} changes: " + ", ".join(f"{count} {of} {what}" for (of, what), count in sorted(counts.items())) + f", {bad} wrong")
sys.exit(bad > 0)
