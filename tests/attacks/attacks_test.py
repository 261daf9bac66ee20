#!/usr/bin/env python3
"""Attacks on the evaluator (attack.py says what one is), evaluated one by one by an `akgen serve --stdio` and then all together beside
candidates that are right by an `akgen bench`. The arguments are names of causes; none: all of them.

Of each: one of its verdicts, in bounded time; no process is left, and no file; nothing of a secret that lies in the file system and in
the environment appears in what akgen prints or keeps; evaluated again, in another process and between neighbours, it gets the same
verdict, and so do the neighbours. The server goes on after each.

For whoever writes an attack: AKGEN_ATTACKS_ONLY=name runs what has that in
its name, AKGEN_ATTACKS_SHOW=1 prints what came of each."""
import ctypes
import json
import os
import pathlib
import re
import secrets
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from attack import HERE, SQRT, attacks_of  # noqa: E402
from akgen_program import AKGEN, HOME, TASKS, Server, copy_reference, served_options, without_measurements  # noqa: E402

CAUSES = [name for name in sys.argv[1:] if not name.startswith("-")] or sorted(path.name for path in HERE.iterdir() if path.is_dir())
sys.argv = sys.argv[:1] + [name for name in sys.argv[1:] if name.startswith("-")]
LIMIT, ONE_CASE = "--timeout=2", ["--case=2"]
WALL = 240  # seconds after which an evaluation hangs, on the busiest machine
PR_SET_CHILD_SUBREAPER = 36
SHARED_FOLDERS = ("/tmp", "/var/tmp", "/dev/shm", "/run")
HELPERS = {"akgen-init", "akgen-clang", "akgen-read"}  # compile servers and the reader of answers, which live as long as a server
TICKS = os.sysconf("SC_CLK_TCK")
# What a terminal obeys: C0 but tabs and ends of lines, DEL, C1, and the characters that change the direction of text.
CONTROLS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")


def children():
    """Processes that live and that nobody else waits for: as a subreaper this one gets all orphans of its descendants."""
    found = []
    for entry in pathlib.Path("/proc").iterdir():
        try:
            if entry.name.isdigit() and int((entry / "stat").read_text().rpartition(")")[2].split()[1]) == os.getpid():
                found.append((int(entry.name), (entry / "comm").read_text().strip()))
        except OSError:
            continue
    return found


def stat_of(pid):
    """The fields of /proc/PID/stat behind the name: state, parent, ..."""
    return pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()


def below(pid):
    """[(pid, name)] of all that descend from a process."""
    parents = {}
    for entry in pathlib.Path("/proc").iterdir():
        try:
            if entry.name.isdigit():
                parents.setdefault(int(stat_of(entry.name)[1]), []).append((int(entry.name), (entry / "comm").read_text().strip()))
        except OSError:
            continue
    found = list(parents.get(pid, []))
    for child, _ in found:
        found += parents.get(child, [])
    return found


def processor_seconds(pid):
    """What a process and all that descend from it have used, with those that have ended."""
    total = 0
    for one in [pid, *(child for child, _ in below(pid))]:
        try:
            total += sum(map(int, stat_of(one)[11:15]))
        except OSError:
            continue
    return total / TICKS


def left_after(seconds, known):
    """Children but `known` that have not ended by then: who is told to end by its parent's death needs a moment."""
    end, known = time.monotonic() + seconds, {process.pid for process in known if process}
    while True:
        found = [(pid, name) for pid, name in children() if pid not in known]
        found = [(pid, name) for pid, name in found if os.waitpid(pid, os.WNOHANG)[0] == 0]
        if not found or time.monotonic() > end:
            return found
        time.sleep(0.02)


def tree_of(folder):
    """Every name below a folder with kind, size and time of change; find takes paths of any length."""
    listing = subprocess.run(["find", ".", "-mindepth", "1", "-printf", "%p\\t%y %s %T@\\0"], cwd=folder, capture_output=True, check=True)
    return dict(row.split(b"\t", 1) for row in listing.stdout.split(b"\0") if row)


def wait(process, wall, complaints):
    """Waits until the process ends, or ends it."""
    try:
        process.wait(wall)
    except subprocess.TimeoutExpired:
        complaints.append(f"hangs: not done after {wall} s")
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def end_group(process, spared):
    """Ends a script of the test's own with all that it started; `spared` is another child."""
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    for pid, _ in children():
        if pid != spared:
            os.waitpid(pid, 0)


class Machine:
    """Everything that an evaluation sees of this machine: folders of its own, a secret, an environment."""

    def __init__(self, folder):
        self.folder = folder
        self.secret, self.mark = secrets.token_hex(16), "left-" + secrets.token_hex(4)
        for name in ("cwd", "home", "tmp", "cache"):
            (folder / name).mkdir()
        self.take_headers()
        self.seen, self.wall, self.server, self.server_pid = set(), WALL, None, 0
        (folder / "secret.h").write_text(f"{self.secret}\n")
        self.words = {"SECRET": folder / "secret.h", "MARK": self.mark, "TASK": TASKS / SQRT, "FOLDER": folder, "HOME": HOME,
                      "TMP": folder / "tmp", "CACHE": folder / "cache", "RELU": HOME / "tests/cli/responses/relu_fenced.txt"}
        self.environment = dict(os.environ, NO_COLOR="1", HOME=str(folder / "home"), TMPDIR=str(folder / "tmp"),
                                XDG_CACHE_HOME=str(folder / "cache"), AKGEN_ATTACK_SECRET=self.secret)

    def take_headers(self):
        """Precompiled headers take seconds to make: copies of the user's serve, where there are any."""
        known = pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache") / "akgen/pch"
        if known.is_dir():
            shutil.copytree(known, self.folder / "cache/akgen/pch")

    def akgen(self, *arguments):
        """What a process of its own prints, and complaints, what went wrong besides."""
        complaints = []
        names = [self.folder / "output", self.folder / "errors"]
        with open(names[0], "wb") as output, open(names[1], "wb") as errors:
            process = subprocess.Popen([AKGEN, *map(str, arguments)], stdout=output, stderr=errors, cwd=self.folder / "cwd",
                                       env=self.environment, start_new_session=True)
        wait(process, self.wall, complaints)
        output, errors = (name.read_bytes() for name in names)
        if process.returncode not in (0, 1):
            complaints.append(f"akgen ended with {process.returncode}: {errors[-300:]}")
        self.look_for_processes(complaints, None)
        self.look_for_secret(complaints, "output", output + errors)
        self.look_for_files(complaints)
        try:
            if CONTROLS.search((output + errors).decode()):
                complaints.append("prints control characters")
        except ValueError:
            complaints.append("prints bytes that are no text")
        return output, complaints

    def serve(self, task, project, options, known=None):
        """The server's verdict as text, and complaints. `known`: a process of the test's own."""
        complaints = []
        if not self.server:
            with open(self.folder / "errors", "ab") as errors:
                self.server = Server("--jobs=1", environment=self.environment, cwd=self.folder / "cwd", start_new_session=True,
                                     stderr=errors)
            self.server_pid = self.server.process.pid
        before = processor_seconds(self.server_pid)
        pathlib.Path(f"/proc/{self.server_pid}/clear_refs").write_text("5")  # the peak of memory begins anew
        try:
            reply = self.server.receive(self.server.send(task=task, candidate={"path": str(project)}, options=options), self.wall)
        except AssertionError as problem:
            os.killpg(self.server_pid, signal.SIGKILL)
            self.server.process.wait()
            self.server = None
            return "", [str(problem)]
        self.seconds = processor_seconds(self.server_pid) - before
        status = pathlib.Path(f"/proc/{self.server_pid}/status").read_text()
        self.memory = int(re.search(r"VmHWM:\s+(\d+)", status)[1]) >> 10
        self.look_for_processes(complaints, known)
        self.look_for_files(complaints)
        if "verdict" not in reply:
            return "", complaints + [f"no verdict: {reply['error']}"]
        return json.dumps(reply["verdict"], ensure_ascii=False), complaints

    def end_server(self):
        """Complaints about the server's end, and about what its processes took in all."""
        complaints = []
        if self.server and self.server.close() != 0:
            complaints.append(f"akgen serve ended with {self.server.process.returncode}")
        self.server = None
        errors = self.folder / "errors"
        self.look_for_secret(complaints, "server's messages", errors.read_bytes() if errors.exists() else b"")
        return complaints

    def look_for_processes(self, complaints, known):
        """All that ran for a candidate has ended: what is no helper of the server's, and what lost its parent."""
        for pid, name in left_after(2, [known, self.server and self.server.process]):
            complaints.append(f"left the process {name}")
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)
        end = time.monotonic() + 2
        while self.server and (left := [name for _, name in below(self.server_pid) if name not in HELPERS]):
            if time.monotonic() > end:
                complaints.append(f"left {left} running")
                break
            time.sleep(0.02)

    def look_for_secret(self, complaints, where, text):
        if self.secret.encode() in text:
            complaints.append(f"the {where} holds the secret")

    def look_for_files(self, complaints):
        for folder in ("cwd", "home", "tmp"):
            for path in tree_of(self.folder / folder):
                complaints.append(f"left the file {path!r} in {folder}")
                subprocess.run([b"rm", b"-rf", path], cwd=self.folder / folder, check=True)
        for folder in SHARED_FOLDERS:
            for name in os.listdir(folder) if os.path.isdir(folder) else []:
                if self.mark in name:
                    complaints.append(f"left {folder}/{name}")
                    subprocess.run(["rm", "-rf", f"{folder}/{name}"], check=True)
        cache = self.folder / "cache"
        for path in cache.rglob("*"):
            if self.mark in path.name or path.is_symlink() or not (path.is_file() or path.is_dir()):
                complaints.append(f"left {path} in the cache")
        left = list(cache.glob("akgen/work/*"))
        if left:
            complaints.append(f"left {left[0]}")
            for path in left:
                shutil.rmtree(path, ignore_errors=True)

    def look_through_cache(self, complaints):
        """What was written to the cache since the last look."""
        files = {path for path in (self.folder / "cache").rglob("*") if path.is_file()}
        for path in files - self.seen:
            self.look_for_secret(complaints, f"file {path.name} of the cache", path.read_bytes())
        self.seen = files


class Attacks(unittest.TestCase):
    maxDiff = 2000

    @classmethod
    def setUpClass(cls):
        ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)

    def setUp(self):
        self.directory = pathlib.Path(tempfile.mkdtemp(prefix="akgen-attack-"))
        self.addCleanup(subprocess.run, ["rm", "-rf", self.directory], check=True)
        self.machine, self.times = Machine(self.directory), {}

    def evaluate(self, attack):
        """Verdict as text and what is wrong with it."""
        self.began = time.monotonic()
        project = attack.make(self.directory / "project" / attack.name)
        if attack.section("afterwards"):  # the first verdict is not what it is about
            self.judge(attack, project)
            attack.run("afterwards", project)
        before = tree_of(project) if project.is_dir() and not attack.section("meanwhile") else {}
        meanwhile = attack.meanwhile(project)
        output, complaints = self.judge(attack, project, meanwhile)
        if meanwhile:
            end_group(meanwhile, self.machine.server_pid)
        self.machine.look_for_secret(complaints, "verdict", output.encode())
        if self.machine.memory > attack.memory:
            complaints.append(f"took {self.machine.memory} MiB of memory")
        if self.machine.seconds > attack.seconds:
            complaints.append(f"took {self.machine.seconds:.1f} s of processor time")
        if attack.never and re.search(attack.never, output):
            complaints.append(f"prints {attack.never}")
        if str(project) in output:
            complaints.append("says where the candidate lies")
        if before and tree_of(project) != before:
            complaints.append("changed the candidate's folder")
        if "text" in attack.head:
            self.read_as_a_person(attack, project, complaints)
        self.machine.look_through_cache(complaints)
        if not output:
            return self.show(attack, None, complaints)
        verdict = json.loads(output)
        if verdict["verdict"] not in attack.verdicts:
            complaints.append(f"the verdict is {verdict['verdict']}")
        text = f"{verdict['verdict']} at {verdict['stage']}: {verdict['reason']}"
        if attack.time and verdict["verdict"] == "pass":
            self.compare_times(attack, verdict, complaints)
        if attack.reason and not re.search(attack.reason, verdict["reason"] or ""):
            complaints.append(f"not the reason that it should fail for: {text}")
        return self.show(attack, without_measurements(output), complaints, text)

    def judge(self, attack, project, meanwhile=None):
        """The verdict as text and complaints: the server's, or that of an `akgen eval` where the server lacks an option."""
        options = [LIMIT, *(attack.options or ONE_CASE)]
        if served_options(options) is not None:
            return self.machine.serve(attack.task, project, served_options(options), meanwhile)
        file = self.directory / "verdict.json"
        _, complaints = self.machine.akgen("eval", attack.task, project, f"--json={file}", *options)
        return json.dumps(json.loads(file.read_text()), ensure_ascii=False), complaints

    def compare_times(self, attack, verdict, complaints):
        """Each case's modelled time against the reference's."""
        if attack.task not in self.times:
            output, _ = self.machine.serve(attack.task, TASKS / SQRT / "reference", served_options([LIMIT, *(attack.options or ONE_CASE)]))
            self.times[attack.task] = [row["timing"]["us"] for row in json.loads(output)["cases"]]
        for row, us in zip(verdict["cases"], self.times[attack.task]):
            if row["timing"] and row["timing"]["us"] < attack.time * us:
                complaints.append(f"takes {row['timing']['us']} us, the reference {us}")

    def read_as_a_person(self, attack, project, complaints):
        """What `akgen eval` prints for people has no sequences that a terminal obeys, and what it should have instead."""
        words, more = self.machine.akgen("eval", attack.task, project, LIMIT, *(attack.options or ONE_CASE))
        complaints += more
        words = words.decode(errors="backslashreplace")  # bytes that are no text would be control characters
        if not re.search(attack.head["text"], words):
            complaints.append(f"does not print {attack.head['text']}: {words[-1000:]}")

    def show(self, attack, verdict, complaints, text=""):
        if os.environ.get("AKGEN_ATTACKS_SHOW"):
            print(f"{attack.name:40} {self.machine.seconds:5.1f} s, {time.monotonic() - self.began:5.1f} s of clock, {self.machine.memory:5} MiB  {text[:200]}\n{complaints}", flush=True)
        return verdict, complaints

    def test_one_by_one_and_together(self):
        verdicts, together = {}, []
        wanted = os.environ.get("AKGEN_ATTACKS_ONLY", "")
        for cause in CAUSES:
            for attack in attacks_of(cause, self.machine.words):
                if wanted not in attack.name:
                    continue
                with self.subTest(attack.name):
                    verdicts[attack.name], complaints = self.evaluate(attack)
                    self.assertEqual(complaints, [], verdicts[attack.name])
                    if not attack.options and attack.task == SQRT and not (attack.section("meanwhile") or attack.section("afterwards")):
                        together.append(attack)
        self.assertEqual(self.machine.end_server(), [])
        self.machine.wall = 5 * WALL
        if together and not wanted:
            self.run_together(together, verdicts)

    def run_together(self, attacks, verdicts):
        """One run of akgen bench over all of them, every third sample a candidate that is right."""
        tree, names = self.directory / "tree", {}
        honest = copy_reference(SQRT, self.directory / "honest")
        file = self.directory / "right.json"
        _, complaints = self.machine.akgen("eval", SQRT, honest, f"--json={file}", LIMIT, *ONE_CASE)
        self.assertEqual(complaints, [])
        right = without_measurements(file.read_text())
        self.assertEqual(json.loads(right)["verdict"], "pass")
        for attack in attacks:
            if len(names) % 3 == 0:
                self.add_sample(tree, names, None, shutil.copytree, honest)
            self.add_sample(tree, names, attack.name, attack.make)
        self.add_sample(tree, names, None, shutil.copytree, honest)
        database, page = self.directory / "runs.db", self.directory / "run.html"
        run = ["bench", "--provider", f"dir:{tree}", "--task", SQRT, "--db", database, "--report", page, LIMIT, *ONE_CASE]
        _, complaints = self.machine.akgen(*run)
        self.machine.look_through_cache(complaints)
        for path in self.directory.glob("run*"):
            self.machine.look_for_secret(complaints, path.name, path.read_bytes())
        self.assertEqual(complaints, [])
        rows = dict(sqlite3.connect(database).execute("SELECT sample, json FROM verdicts"))
        self.assertEqual(len(rows), len(names))
        for sample, name in names.items():
            with self.subTest(name or "a neighbour", sample=sample):
                alone = json.loads(verdicts[name] if name else right)
                together = json.loads(without_measurements(rows[sample]))
                if alone["verdict"] == "timeout":  # the clock of a busy machine, or the steps, whichever is first
                    together, alone = together["verdict"], "timeout"
                self.assertEqual(together, alone)

    @staticmethod
    def add_sample(tree, names, name, make, *arguments):
        sample = len(names)
        names[sample] = name
        make(*arguments, tree / SQRT / "answer" / str(sample))


if __name__ == "__main__":
    unittest.main()
