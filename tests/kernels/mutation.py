#!/usr/bin/env python3
"""What the hazard detector catches: deletes one piece of synchronisation at a time from correct kernels and evaluates what is
left under program order and three random schedules.

One piece is a pair of SetFlag and WaitFlag (of a reverse flag also the SetFlag before and the WaitFlag behind its loop), a
PipeBarrier, the flag between EnQue and DeQue of one queue (loose_queue.h), a pair of cross-core flags, of IBSet and IBWait,
of WaitPreBlock and NotifyNextBlock, or a SyncAll. A mutant counts as detected by the detector if a conflict is reported that names both lines, and both hold an
access. A mutant that passes is a miss. mutation_misses.tsv explains each mutant that the detector does not find: columns project, mutant,
class (what happens to it), reason, proof. The proof of a miss is
`with MUTANT [and MUTANT ...]` (deleting them too gives a conflict that deleting only them does not), `sync manual`
(without the edges of auto-sync the mutant has a conflict that the kernel has not), both, `case N` (in that case of the task the
mutant has one: the case that is run does not need the order), or `-`."""
import argparse
import concurrent.futures
import itertools
import os
import pathlib
import re
import shutil
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "cli"))
from akgen_program import TASKS, verdict  # noqa: E402

MISSES = HERE / "mutation_misses.tsv"
CONFLICTS = {"hazard_raw", "hazard_war", "hazard_waw", "gm_race", "gm_overlap"}
SEEDS = 3
# The case of a reference project that runs all of its code in little time; 0 where none is named.
CASES = {"AddLayerNorm": 1}
PATTERNS = {
    "set": r"\bSetFlag\s*<\s*(?:AscendC::)?HardEvent::(?P<event>\w+)\s*>\s*\((?P<id>[^;]*)\)\s*;",
    "wait": r"\bWaitFlag\s*<\s*(?:AscendC::)?HardEvent::(?P<event>\w+)\s*>\s*\((?P<id>[^;]*)\)\s*;",
    "raw set": r"\bset_flag\s*\((?P<event>\s*PIPE_\w+\s*,\s*PIPE_\w+)\s*,(?P<id>[^;]*)\)\s*;",
    "raw wait": r"\bwait_flag\s*\((?P<event>\s*PIPE_\w+\s*,\s*PIPE_\w+)\s*,(?P<id>[^;]*)\)\s*;",
    "cross set": r"\bCrossCoreSetFlag\s*<[^>]*>\s*\((?P<id>[^;]*)\)\s*;",
    "cross wait": r"\bCrossCoreWaitFlag\s*(?:<[^>]*>)?\s*\((?P<id>[^;]*)\)\s*;",
    "pair set": r"\bIBSet\s*\([^;]*,(?P<id>[^;,]*)\)\s*;",
    "pair wait": r"\bIBWait\s*\([^;]*,(?P<id>[^;,]*)\)\s*;",
    "turn wait": r"\bWaitPreBlock\s*\((?P<id>[^;]*)\)\s*;",
    "turn set": r"\bNotifyNextBlock\s*\((?P<id>[^;]*)\)\s*;",
    "barrier": r"\bPipeBarrier\s*<\s*(?P<event>PIPE_\w+)\s*>\s*\(\s*\)\s*;",
    "raw barrier": r"\bpipe_barrier\s*\(\s*(?P<event>PIPE_\w+)\s*\)\s*;",
    "sync": r"\bSyncAll\s*(?:<\w+>)?\s*\([^;]*\)\s*;",
}
QUEUE = re.compile(r"(?P<type>\b(?:AscendC::)?(?:TQue|TQueBind)\s*<[^;>]*>)\s*(?P<names>\w+(?:\s*,\s*\w+)*)\s*;")
COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.S)
# What only orders is no access.
ORDERING = re.compile(r"\b(WaitPreBlock|NotifyNextBlock|SetFlag|WaitFlag|PipeBarrier|EnQue|DeQue|SyncAll|CrossCore\w+Flag|set_flag|wait_flag|pipe_barrier)\b")


def block_around(code, position):
    """Where the innermost block around a position opens; -1 outside all."""
    opened = [-1]
    for match in re.finditer(r"[{}]", code[:position]):
        if match.group() == "{":
            opened.append(match.start())
        elif len(opened) > 1:
            opened.pop()
    return opened[-1]


class Site:
    """One call that orders: what it is, of which event and id, where it stands."""

    def __init__(self, role, match, code):
        groups = match.groupdict()
        self.role = role.split()[-1]
        self.start, self.end = match.span()
        self.line = code.count("\n", 0, self.start) + 1
        self.block = block_around(code, self.start)
        event, number = re.sub(r"\s+", " ", groups.get("event") or "").strip(), (groups.get("id") or "").strip()
        prefix = role.split()[0]
        if self.role in ("barrier", "sync"):
            self.name = f"{'PipeBarrier' if self.role == 'barrier' else 'SyncAll'} {event}".strip()
        else:
            self.name = {"cross": "CrossCore", "pair": "IB", "turn": "Turn"}.get(prefix, f"Flag {event}") + f" {number}"


class Mutant:
    """A set of deletions in one source file of a project."""

    def __init__(self, project, file, name, sites=(), queues=(), lines=()):
        self.project, self.file, self.name = project, file, name
        self.spans = [(site.start, site.end) for site in sites]
        self.queues = frozenset(queues)
        self.lines = sorted({site.line for site in sites} | set(lines))

    @property
    def kind(self):
        return self.name.split()[0]

    def and_also(self, other):
        """Both deletions at once; they are in one file."""
        both = Mutant(self.project, self.file, f"{self.name} + {other.name}", (), self.queues | other.queues)
        both.spans = sorted(set(self.spans) | set(other.spans))
        return both

    def text(self):
        source = self.file.read_text()
        for start, end in sorted(self.spans, reverse=True):
            source = source[:start] + ";" + "\n" * source.count("\n", start, end) + source[end:]
        if self.queues:
            source = QUEUE.sub(self._declaration, source)
            source = '#include "loose_queue.h"\n' + source
        return source

    def _declaration(self, match):
        return " ".join(f"LooseQue<{match['type']}> {name};" if name in self.queues else f"{match['type']} {name};"
                        for name in re.split(r"\s*,\s*", match["names"]))


class Project:
    """A correct kernel: where it lies and how it is evaluated."""

    def __init__(self, name, directory, task, options):
        self.name, self.directory, self.task, self.options = name, directory, task, options

    def in_case(self, case):
        """The same project in another case of its task."""
        options = [option for option in self.options if not option.startswith("--case=")]
        return Project(self.name, self.directory, self.task, [f"--case={case}", *options])

    def sources(self):
        return sorted(p for p in (self.directory / "op_kernel").iterdir() if p.suffix in (".cpp", ".h"))

    def mutants(self):
        found = []
        for file in self.sources():
            code = COMMENT.sub(lambda m: re.sub(r"[^\n]", " ", m.group()), file.read_text())
            found += mutants_of_calls(self, file, code) + mutants_of_queues(self, file, code)
        counts = {}
        for mutant in found:
            counts[mutant.name] = counts.get(mutant.name, 0) + 1
            if counts[mutant.name] > 1:
                mutant.name += f" #{counts[mutant.name]}"
        return found

    def evaluate(self, mutant=None, sync=None, seeds=SEEDS):
        """The verdict of the project, or of a mutant of it."""
        options = [*self.options, f"--seeds={seeds}"] + ([f"--sync={sync}"] if sync else [])
        if not mutant:
            return verdict(self.task, self.directory, *options)
        with tempfile.TemporaryDirectory(prefix="akgen-mutant-") as folder:
            copy = pathlib.Path(folder) / "project"
            shutil.copytree(self.directory, copy)
            changed = copy / mutant.file.relative_to(self.directory)
            changed.write_text(mutant.text())
            if mutant.queues:
                shutil.copy(HERE / "loose_queue.h", changed.parent)
            return verdict(self.task, copy, *options)


def pairs(sites):
    """Sets and waits of one event and id, divided into what can be deleted alone: neighbours of one block, set then wait,
    or everything."""
    roles = [site.role for site in sites]
    if len(sites) % 2 == 0 and roles == ["set", "wait"] * (len(sites) // 2):
        couples = [sites[i : i + 2] for i in range(0, len(sites), 2)]
        if all(a.block == b.block for a, b in couples):
            return couples
    return [sites]


def mutants_of_calls(project, file, code):
    sites = sorted((Site(role, match, code) for role, pattern in PATTERNS.items() for match in re.finditer(pattern, code)),
                   key=lambda site: site.start)
    groups = {}
    for site in sites:
        if site.role in ("set", "wait"):
            groups.setdefault(site.name, []).append(site)
    alone = [[site] for site in sites if site.role in ("barrier", "sync")]
    deletions = alone + [couple for group in groups.values() for couple in pairs(group)]
    return [Mutant(project, file, group[0].name, group) for group in sorted(deletions, key=lambda g: g[0].start)]


def mutants_of_queues(project, file, code):
    found = []
    for match in QUEUE.finditer(code):
        for name in re.split(r"\s*,\s*", match["names"]):
            own = re.search(rf"\b{name}\s*\.\s*(?:template\s+)?DeQue\b", code)
            lent = re.search(rf"\b(?!InitBuffer)\w+\(([^();]*,)?\s*{name}\s*[,)]", code)  # as a TQue &: EnQue is no virtual function
            handles = re.search(rf"\b{name}\s*\.\s*DeQue\(\)", code)  # loose_queue.h keeps tensors
            if own and not lent and not handles:
                line = code.count("\n", 0, match.start()) + 1
                found.append(Mutant(project, file, f"Queue {name}", queues=[name], lines=[line]))
    return found


def projects():
    """The projects of good/ and the reference projects of the tasks, those without anything to delete included."""
    found = []
    for folder in sorted(p.parent for p in (HERE / "good").glob("*/expected")):
        expected = dict(line.split(": ", 1) for line in (folder / "expected").read_text().splitlines() if line)
        if "strict_order" in expected:  # a conflict of its own
            continue
        options = [f"--{key}={expected[key]}" for key in ("scope", "mode", "sync") if key in expected]
        found.append(Project(folder.name, folder, expected["task"], [f"--case={expected.get('case', '0')}", *options]))
    for folder in sorted(TASKS.glob("*/*/*/reference")):
        task = folder.parent.relative_to(TASKS).as_posix()
        found.append(Project(task, folder, task, [f"--case={CASES.get(folder.parent.name, 0)}"]))
    return found


def findings(result):
    return [f for row in result["cases"] for f in row["faults"] + row["notes"] if f["name"] in CONFLICTS]


def conflicts(result):
    """The conflicts that a verdict reports, as (fault, line, other line)."""
    return {(f["name"], f["line"], f["other_line"]) for f in findings(result)}


def is_access(lines, number, api=None):
    """Whether a statement around this line calls something that is not mere synchronisation; `api`, if given."""
    statement = " ".join(lines[max(0, number - 3) : number + 2])
    here = lines[number - 1]
    if api and re.search(rf"\b{api}\b", statement):
        return True
    return "(" in statement and not (ORDERING.search(here) and "=" not in here and here.count("(") == 1)


def names_both(mutant, finding):
    """Whether the finding names two lines of the candidate that hold accesses."""
    if not all(finding[key] for key in ("file", "line", "other_file", "other_line")):
        return False
    lines = mutant.text().splitlines()
    own = mutant.file.name
    return all(not file.endswith(own) or is_access(lines, line)
               for file, line in ((finding["file"], finding["line"]), (finding["other_file"], finding["other_line"])))


def classify(mutant, result):
    """`detector`, `noted` (a conflict that is told and not judged), `one line`, `numbers`, `otherwise`, `missed`, or `invalid`."""
    found = findings(result)
    if result["verdict"] == "pass":
        return "noted" if any(names_both(mutant, f) for f in found) else "missed"
    if result["verdict"] == "wrong":
        return "numbers"
    if result["verdict"] not in ("fault", "timeout"):
        return "invalid"
    if not found:
        return "otherwise"
    return "detector" if any(names_both(mutant, f) for f in found) else "one line"


def proved(mutant, proof):
    """Whether a miss is implied by what the proof names."""
    project, others = mutant.project, {other.name: other for other in mutant.project.mutants()}
    if proof.startswith("case "):
        there = project.in_case(int(proof.split()[1]))
        return bool(conflicts(there.evaluate(mutant, seeds=0))) and not conflicts(there.evaluate(seeds=0))
    sync = "manual" if proof.startswith("sync manual") else None
    partners = [others[name] for name in re.sub(r"^(sync manual)? ?(with )?", "", proof).split(" and ") if name]
    rest = None
    for partner in partners:
        rest = rest.and_also(partner) if rest else partner
    more = conflicts(project.evaluate(mutant.and_also(rest) if rest else mutant, sync=sync, seeds=0))
    return bool(more and more - conflicts(project.evaluate(rest, sync=sync, seeds=0)))


def find_proof(mutant):
    names = [other.name for other in mutant.project.mutants() if other.name != mutant.name and other.file == mutant.file]
    groups = [f"with {' and '.join(some)}" for size in (1, 2, 3) for some in itertools.combinations(names, size)][:200]
    for proof in ["sync manual", *(proof for group in groups for proof in (group, f"sync manual {group}"))]:
        if proved(mutant, proof):
            return proof
    return "-"


def known_misses():
    """(project, mutant) -> (class, reason, proof) of what the detector does not find."""
    rows = [line.split("\t") for line in MISSES.read_text().splitlines()[1:]]
    return {(row[0], row[1]): tuple(row[2:]) for row in rows}


def run(chosen):
    """[(mutant, class, verdict)] of the mutants, in their order."""
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        correct = dict(pool.map(lambda project: (project, project.evaluate()), dict.fromkeys(m.project for m in chosen)))
        for project, result in correct.items():
            assert result["verdict"] == "pass" and not conflicts(result), f"{project.name} is not correct: {result['reason']}"
        verdicts = list(pool.map(lambda mutant: mutant.project.evaluate(mutant), chosen))
    return [(mutant, classify(mutant, result), result) for mutant, result in zip(chosen, verdicts)]


CLASSES = ("detector", "noted", "one line", "numbers", "otherwise", "missed", "invalid")


def table(rows):
    """Lines: per project and in all, how many mutants ended how."""
    def line(name, of):
        counts = [sum(kind == wanted for _, kind, _ in of) for wanted in CLASSES]
        return f"{name:<44}{len(of):>8}" + "".join(f"{count:>10}" for count in counts)

    names = list(dict.fromkeys(mutant.project.name for mutant, _, _ in rows))
    yield f"{'project':<44}{'mutants':>8}" + "".join(f"{name:>10}" for name in CLASSES)
    for name in names:
        yield line(name, [row for row in rows if row[0].project.name == name])
    for kind in sorted({mutant.kind for mutant, _, _ in rows}):
        for sync in ("auto", "manual"):
            yield line(f"all {kind}, sync {sync}", [row for row in rows if row[0].kind == kind and row[2]["sync"] == sync])
        yield line(f"all {kind}", [row for row in rows if row[0].kind == kind])
    for sync in ("auto", "manual"):
        yield line(f"all, sync {sync}", [row for row in rows if row[2]["sync"] == sync])
    yield line("all", rows)


def summary(rows, proofs):
    """One line: the rate, and how many misses are proved to be implied. proofs: {(project, mutant): proved}."""
    detected = sum(kind == "detector" for _, kind, _ in rows)
    missed = [row for row in rows if row[1] == "missed"]
    implied = sum(proofs.get((mutant.project.name, mutant.name), False) for mutant, _, _ in missed)
    relevant = len(rows) - implied
    return (f"{detected} of {len(rows)} mutants detected with both lines ({100 * detected / len(rows):.1f} %); {len(missed)} missed, "
            f"{implied} of them proved to be ordered by something else; detected of the other {relevant}: {100 * detected / relevant:.1f} %")


def check_proofs(rows, known):
    """{(project, mutant): whether its proof holds} of the missed mutants that name one."""
    todo = []
    for mutant, kind, _ in rows:
        proof = known.get((mutant.project.name, mutant.name), ("", "", "-"))[2]
        if kind == "missed" and proof != "-":
            todo.append((mutant, proof))
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        held = list(pool.map(lambda item: proved(*item), todo))
    return {(mutant.project.name, mutant.name): holds for (mutant, _), holds in zip(todo, held)}


def unexplained(rows, known):
    """What became of mutants otherwise than by the detector without being listed so, and listed ones that it finds."""
    wrong = []
    for mutant, kind, result in rows:
        expected = known.get((mutant.project.name, mutant.name), ("detector",))[0]
        if kind != expected:
            wrong.append(f"{mutant.project.name}, {mutant.name} (lines {mutant.lines}): {kind}, not {expected}: {result['reason']}")
    return wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("projects", nargs="*", help="only these (name or end of it); default all")
    parser.add_argument("--all", action="store_true", help="every mutant of every project")
    parser.add_argument("--list", action="store_true", help="list the mutants, run nothing")
    parser.add_argument("--prove", action="store_true", help="look for a proof of each miss")
    arguments = parser.parse_args()
    if not arguments.projects and not arguments.all:
        parser.error("name projects, or --all")
    chosen = [m for p in projects() if not arguments.projects or any(p.name.endswith(n) for n in arguments.projects)
              for m in p.mutants()]
    if arguments.list:
        for mutant in chosen:
            print(mutant.project.name, mutant.name, *mutant.lines, sep="\t")
        return 0
    rows, known = run(chosen), known_misses()
    for mutant, kind, result in rows:
        if kind != "detector":
            expected, reason, _ = known.get((mutant.project.name, mutant.name), (None, None, None))
            print(mutant.project.name, mutant.name, "lines " + ",".join(map(str, mutant.lines)), kind,
                  reason if expected == kind else f"unexplained: {result['reason'] or 'passes'}", sep="\t")
    if arguments.prove:
        missed = [mutant for mutant, kind, _ in rows if kind == "missed"]
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            for mutant, proof in zip(missed, pool.map(find_proof, missed)):
                print(mutant.project.name, mutant.name, "proof", proof, sep="\t")
    print(*table(rows), sep="\n")
    wrong = unexplained(rows, known)
    print(*wrong, sep="\n")
    print(summary(rows, check_proofs(rows, known)))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
