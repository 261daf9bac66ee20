"""In fresh Debian 12 and Debian 13 roots, under Docker's default restrictions and in a plain chroot, as root and as an ordinary user,
akgen is built, says what it lacks, judges a right and a wrong candidate as elsewhere, and lets none of tests/cli/escapes.py out.

mmdebstrap makes the roots, with the packages of scripts/packages marked `run`; in each the checkout's files are built. Docker's default
is what tests/cli/container.py leaves of calls and capabilities, with process ids, a network and a /proc of its own. ROOTS=DIR keeps the
roots, and takes those that are there. It runs as root; a root that mmdebstrap cannot make here is named in the figure."""
import contextlib
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "cli"))
import escapes  # noqa: E402
from akgen_program import HOME  # noqa: E402
from container import CAPABILITIES  # noqa: E402

SUITES = {"Debian 12": "bookworm", "Debian 13": "trixie"}
NAMESPACES = ("user namespace", "mount namespace")
# The root is "$0"; a command follows. A container's processes are in namespaces that they cannot leave or make.
ENTER = ('mount --make-rprivate / && mount --bind "$0" "$0" && mount --rbind /dev "$0/dev" && mount -t proc proc "$0/proc" && '
         'mount -t tmpfs tmp "$0/tmp" && exec chroot "$0" "$@"')
CHROOT = ["unshare", "-m", "sh", "-c", ENTER]
CONTAINER = ["unshare", "-m", "-p", "-n", "-i", "-u", "-f", "--kill-child", "sh", "-c", ENTER]
ROOT = ["setpriv", f"--bounding-set={CAPABILITIES}", f"--inh-caps={CAPABILITIES}"]
USER = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "--bounding-set=-all", "--inh-caps=-all"]
FILTER = ["python3", "/akgen/tests/cli/container.py"]
ENVIRONMENTS = {  # user id, what comes before the root, what comes behind it
    "docker, root": (0, CONTAINER, [*ROOT, *FILTER]),
    "docker, user": (65534, CONTAINER, [*USER, *FILTER]),
    "chroot, root": (0, CHROOT, ROOT),
    "chroot, user": (65534, CHROOT, USER),
}


def packages():
    return [line.split()[1] for line in (HOME / "scripts/packages").read_text().splitlines() if re.match(r"run\s", line)]


def make_root(suite, root):
    """A root with the checkout built in it. False: mmdebstrap cannot make one here."""
    if not (root / "usr").exists():
        made = subprocess.run(["mmdebstrap", "--variant=minbase", f"--include={','.join([*packages(), 'python3'])}", suite, root],
                              stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        if made.returncode:
            print(made.stderr[-2000:], file=sys.stderr)
            return False
    (root / "akgen").mkdir(exist_ok=True)
    names = subprocess.run(["git", "ls-files", "-z"], cwd=HOME, capture_output=True, check=True).stdout.split(b"\0")
    for name in (os.fsdecode(name) for name in names if name and os.path.lexists(HOME / os.fsdecode(name))):
        target = root / "akgen" / name
        if not target.exists() or target.stat().st_mtime != (HOME / name).stat().st_mtime:
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(HOME / name, target, follow_symlinks=False)
    subprocess.run([*CHROOT, root, "sh", "-c", "cd /akgen && cmake --preset release && ninja -C build product"], check=True,
                   stdout=sys.stderr)
    return True


def look_at(root, name, user, before, behind):
    """Complaints about one environment, and how many candidates it has judged."""
    complaints, mark = [], f"left-{os.getpid()}"
    command = [*before, str(root), *behind]
    cache = f"/cache-{user}"
    environment = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "HOME": "/", "NO_COLOR": "1", "XDG_CACHE_HOME": cache}
    shutil.rmtree(root / cache[1:], ignore_errors=True)
    (root / cache[1:]).mkdir(mode=0o700)
    os.chown(root / cache[1:], user, user)
    doctor = subprocess.run([*command, "/akgen/build/akgen", "doctor"], env=environment, capture_output=True, text=True)
    if doctor.returncode or not re.search(f"^BAD +jail +incomplete: no {', '.join(NAMESPACES)}", doctor.stdout, re.M):
        complaints.append(f"{name}: akgen doctor ends with {doctor.returncode}: {doctor.stdout}{doctor.stderr}")
    folder = root / "candidates"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    (folder / "secret").write_text(f"#error {escapes.SECRET}\n")
    task = f"/akgen/tasks/npukernelbench/{escapes.TASK}"
    made = escapes.candidates(folder, {"SECRET": "/candidates/secret", "TASK": task, "MARK": mark, "CACHE": f"{cache}/akgen"})
    for escape, verdict, expected, reason in escapes.judge(made, task, [*command, "/akgen/build/akgen"], environment,
                                                           lambda project: pathlib.Path("/") / project.relative_to(root)):
        text = json.dumps(verdict)
        if verdict["verdict"] != expected or not re.search(reason, verdict["reason"] or "") or escapes.SECRET in text:
            complaints.append(f"{name}, {escape}: {verdict['verdict']}: {verdict['reason']}")
    complaints += [f"{name}: left {path}" for path in root.rglob(mark)]
    return complaints, len(made)


def main():
    if os.geteuid() or not shutil.which("mmdebstrap"):
        print("containers.py: root and mmdebstrap are needed")
        return 1
    complaints, seen, lacking = [], [], []
    with contextlib.ExitStack() as stack:
        kept = os.environ.get("ROOTS")
        roots = pathlib.Path(kept or stack.enter_context(tempfile.TemporaryDirectory(prefix="akgen-roots-", dir="/var/tmp")))
        for system, suite in SUITES.items():
            if not make_root(suite, roots / suite):
                lacking.append(system)
                continue
            for name, (user, before, behind) in ENVIRONMENTS.items():
                more, count = look_at(roots / suite, f"{system}, {name}", user, before, behind)
                complaints += more
                seen.append(count)
    print(*complaints, sep="\n")
    print(f"{sum(seen)} verdicts in {len(seen)} environments, {len(complaints)} of them not as elsewhere" +
          "".join(f"; no root of {system} can be made here" for system in lacking))
    return 1 if complaints or not seen else 0


if __name__ == "__main__":
    sys.exit(main())
