"""10000 evaluations in one process, right, wrong, faulty, crashing and not compiling by turns, a tenth of them of candidates that
are new to it, leave no memory, descriptor, process or file behind.

evaluations.c calls akgen_evaluate() and says after each tenth what its process holds. Memory is the least of three tenths: early,
when every kind has come, and at the end; now and then one holds what is about to be given back. Files are those in its temporary folder and among the cache's builds. Processes are
the compile servers, as many at the end as early. The candidates that are new are compiled, the others' objects come from the cache.
evaluations.py COUNT makes another number of evaluations."""
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "cli"))
from akgen_program import AKGEN, HOME, copy_reference, edit  # noqa: E402

COUNT = int(sys.argv[1]) if len(sys.argv) > 1 else 10000
GROWTH = 1 << 10  # KiB that may be more at the end: 0.4 an evaluation
CHANGES = (
    ("op.Process();", "op.Process();"),
    ("Sqrt(wide, wide, count);", "Abs(wide, wide, count);"),
    ("op.Process();", "op.Process(); *(__gm__ float *)1 = 0;"),
    ("op.Process();", "op.Process(); __builtin_trap();"),
    ("op.Process();", "op.Proces();"),
)


def compile_program():
    """evaluations.c below build/, where it finds akgen-host and akgen-run."""
    build = pathlib.Path(AKGEN).parent
    program = build / "prove/evaluations"
    program.parent.mkdir(exist_ok=True)
    libraries = re.search(r"pkg_check_modules\(LIBS REQUIRED IMPORTED_TARGET ([^)]+)\)", (HOME / "CMakeLists.txt").read_text())[1].split()
    flags = subprocess.run(["pkg-config", "--libs", *libraries], check=True, capture_output=True, text=True).stdout.split()
    flags += re.findall(r"^(?:DNNL|GOMP):FILEPATH=(.+)$", (build / "CMakeCache.txt").read_text(), re.M)
    subprocess.run(["clang-19", "-O2", "-D_GNU_SOURCE", "-Wall", "-Wextra", "-Werror", f"-I{HOME / 'include'}", HERE / "evaluations.c",
                    build / "libakgen.a", *flags, "-pthread", "-lm", "-ldl", "-o", program], check=True)
    return program


def make_candidates(folder):
    """One of each kind, then as many that are new as there are tenths of evaluations."""
    for number in range(len(CHANGES) + COUNT // 10):
        (folder / str(number)).mkdir()
        candidate = copy_reference("level1/Math/Sqrt", folder / str(number))
        edit(candidate / "op_kernel/sqrt.cpp", *CHANGES[number % len(CHANGES)])
        for source in ("op_kernel/sqrt.cpp", "op_host/sqrt.cpp"):
            path = candidate / source
            path.write_text(f"{path.read_text()}\nconstexpr int candidate{number} = {number};\n")
        yield candidate


def main():
    with tempfile.TemporaryDirectory(prefix="akgen-evaluations-") as name:
        folder = pathlib.Path(name)
        temporary, cache = folder / "tmp", folder / "cache"
        temporary.mkdir()
        environment = dict(os.environ, TMPDIR=str(temporary), XDG_CACHE_HOME=str(cache))
        done = subprocess.run([compile_program(), str(COUNT), "level1/Math/Sqrt", str(len(CHANGES)), *make_candidates(folder)], env=environment,
                              stdout=subprocess.PIPE, text=True)
        print(done.stdout)
        left = [str(path.relative_to(folder)) for place in (temporary, cache / "akgen/work") for path in place.glob("*")]
    print("left behind:", left)
    tenths = [json.loads(line) for line in done.stdout.splitlines()]
    early, late = tenths[1], tenths[-1]
    before, after = (min(tenth["resident"] for tenth in part) for part in (tenths[1:4], tenths[-3:]))
    ended = {kind: count for kind, count in late["kinds"].items() if count}
    print(f"{late['evaluations']} evaluations ({', '.join(f'{count} {kind}' for kind, count in ended.items())}): resident "
          f"{before} KiB early, {after} at the end; {early['descriptors']} and "
          f"{late['descriptors']} descriptors; {early['children']} and {late['children']} processes; {len(left)} files left")
    return (done.returncode or late["evaluations"] != COUNT or after - before > GROWTH or
            late["descriptors"] != early["descriptors"] or late["children"] != early["children"] or bool(left) or
            set(ended) != {"pass", "wrong", "fault", "compile_error"})


if __name__ == "__main__":
    sys.exit(main())
