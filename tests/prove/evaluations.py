"""3000 evaluations in one process, right, wrong, faulty, crashing and not compiling by turns, leave no memory, descriptor, process
or file behind.

Watched are the resident memory, the open descriptors and the children of `akgen bench` between the first tenth and the end; and
what stands in its temporary folder and in the cache's folder of builds before and after. The samples are five, so
that all but the first of each kind come out of the cache of objects."""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve()
sys.path.insert(0, str(HERE.parents[1] / "cli"))
from akgen_program import AKGEN, copy_reference, edit  # noqa: E402

COUNT = 3000
GROWTH = 8 << 10  # KiB of resident memory between the first tenth and the end: 2.9 KiB an evaluation
KERNEL = "op_kernel/sqrt.cpp"
CHANGES = (
    ("op.Process();", "op.Process();"),
    ("Sqrt(wide, wide, count);", "Abs(wide, wide, count);"),
    ("op.Process();", "op.Process(); *(__gm__ float *)1 = 0;"),
    ("op.Process();", "op.Process(); __builtin_trap();"),
    ("op.Process();", "op.Proces();"),
)


def make_samples(folder):
    """COUNT answers to Sqrt, kind after kind."""
    answers = folder / "tree/level1/Math/Sqrt/answer"
    kinds = []
    for number, (old, new) in enumerate(CHANGES):
        (folder / f"kind{number}").mkdir()
        kinds.append(copy_reference("level1/Math/Sqrt", folder / f"kind{number}"))
        edit(kinds[-1] / KERNEL, old, new)
    for number in range(COUNT):
        shutil.copytree(kinds[number % len(kinds)], answers / str(number))
    return folder / "tree"


def watch(process):
    """(resident KiB, descriptors, children) of the process, or None when it has ended."""
    root = pathlib.Path(f"/proc/{process.pid}")
    try:
        memory = int(re.search(r"VmRSS:\s+(\d+)", (root / "status").read_text()).group(1))
        children = sum(len(path.read_text().split()) for path in (root / "task").glob("*/children"))
        return memory, len(os.listdir(root / "fd")), children
    except (AttributeError, OSError):
        return None


def verdicts(output):
    """How many evaluations ended how, from the table's last lines."""
    return dict(re.findall(r"(\w+) (\d+)", re.search(r"^verdicts +(.*)$", output, re.M).group(1)))


def main():
    with tempfile.TemporaryDirectory(prefix="akgen-evaluations-") as name:
        folder = pathlib.Path(name)
        tree, temporary, cache = make_samples(folder), folder / "tmp", folder / "cache"
        temporary.mkdir()
        environment = dict(os.environ, TMPDIR=str(temporary), XDG_CACHE_HOME=str(cache))
        with open(folder / "output", "w+") as output:
            process = subprocess.Popen([AKGEN, "bench", "--provider", f"dir:{tree}", "--task", "*/Sqrt", "--case", "0", "--db",
                                        folder / "runs.db"], env=environment, stdout=output, stderr=subprocess.STDOUT)
            seen = []
            while process.poll() is None:
                seen.append(watch(process))
                time.sleep(0.05)
            output.seek(0)
            text = output.read()
        print(text)
        seen = [sample for sample in seen if sample]
        # The highest of the second tenth, when every kind has come, and of the last.
        tenth = len(seen) // 10
        before, after = ([max(column) for column in zip(*part)] for part in (seen[tenth:2 * tenth], seen[-tenth:]))
        left = [str(path.relative_to(folder)) for place in (temporary, cache / "akgen/work") for path in place.glob("*")]
        ended = verdicts(text)
        print("left behind:", left)
        print(f"{COUNT} evaluations ({', '.join(f'{count} {kind}' for kind, count in ended.items())}): resident "
              f"{before[0]} KiB early, {after[0]} late; at most {before[1]} descriptors early, {after[1]} late; "
              f"{before[2]} and {after[2]} children; {len(left)} files left")
        bad = (sum(map(int, ended.values())) != COUNT or after[0] - before[0] > GROWTH or after[1] > before[1] or
               after[2] > before[2] or left or "infra_error" in ended)
        return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
