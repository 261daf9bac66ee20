#!/usr/bin/env python3
# test: builds=release cost=42
"""akgen on a machine that does not grant every layer of the jail: it works, says what is missing, and refuses if asked to."""
import json
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
import unittest

from akgen_program import AKGEN, HOME, TASKS, akgen, copy_reference, edit
import escapes
from container import CAPABILITIES

TASK = "level1/Math/Sqrt"
# A user namespace may forbid others inside it (user_namespaces(7)), as containers do.
WITHOUT = "echo 0 > /proc/sys/user/max_user_namespaces && exec "


def confined(*arguments):
    command = WITHOUT + shlex.join([AKGEN, *map(str, arguments)])
    return subprocess.run(["unshare", "-Ur", "sh", "-c", command], capture_output=True, text=True,
                          env=dict(os.environ, NO_COLOR="1"), timeout=300)


CAN_CONFINE = subprocess.run(["unshare", "-Ur", "sh", "-c", WITHOUT + "true"], capture_output=True).returncode == 0
COMPLETE = "jail         complete" in akgen("doctor").stdout


class Jail(unittest.TestCase):
    @unittest.skipUnless(CAN_CONFINE, "this machine has no user namespaces")
    def test_an_incomplete_jail_is_named(self):
        doctor = confined("doctor")
        self.assertEqual(doctor.returncode, 0, doctor.stdout)
        self.assertRegex(doctor.stdout, r"BAD +jail +incomplete: no user namespace")
        self.assertRegex(doctor.stdout, r"BAD +user namespace: as a plain user")

    @unittest.skipUnless(CAN_CONFINE, "this machine has no user namespaces")
    def test_it_works_unless_a_complete_one_is_required(self):
        reference = TASKS / TASK / "reference"
        done = confined("eval", TASK, reference, "--case=0", "--json")
        self.assertEqual(json.loads(done.stdout)["verdict"], "pass", done.stderr)
        for command in (["eval", TASK, reference], ["run", TASK, reference], ["bench"]):
            with self.subTest(command[0]):
                refused = confined(*command, "--require-jail")
                self.assertEqual(refused.returncode, 3, refused.stdout)
                self.assertIn("this machine does not grant: user namespace", refused.stderr)
                self.assertNotIn("pass", refused.stdout)

    @unittest.skipUnless(COMPLETE, "this machine does not grant the whole jail")
    def test_a_complete_one_is_enough(self):
        done = akgen("eval", TASK, TASKS / TASK / "reference", "--case=0", "--require-jail")
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_a_debugger_has_none(self):
        done = akgen("run", TASK, TASKS / TASK / "reference", "--gdb", "--require-jail")
        self.assertEqual(done.returncode, 3)
        self.assertIn("jail", done.stderr)


NOBODY = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "--bounding-set=-all", "--inh-caps=-all"]
ROOT = ["setpriv", f"--bounding-set={CAPABILITIES}", f"--inh-caps={CAPABILITIES}"]
PYTHON = shutil.which("python3", path="/usr/bin:/bin") or sys.executable  # one that every user may run
FILTER = [PYTHON, str(pathlib.Path(__file__).with_name("container.py"))]
CHROOT = ["unshare", "-m", "sh", "-c", 'mount --rbind / "$0" && exec chroot "$0" "$@"']  # the new root and a command follow
# The same with a root that is no mount point, so that nothing can be mounted over it either.
ROOT_OF_FOLDERS = ["unshare", "-m", "sh", "-c",
                   'for at in /*; do if [ -L "$at" ]; then cp -an "$at" "$0"; elif [ -d "$at" ]; then mkdir -p "$0$at" && mount --rbind '
                   '"$at" "$0$at"; fi; done; exec chroot "$0" "$@"']
APART = 0x7a000000
IS_ROOT = os.geteuid() == 0


def runs(command):
    return subprocess.run([*command, "true"], capture_output=True).returncode == 0


class Container(unittest.TestCase):
    """Docker's default and plain chroots grant no user and no mount namespace: the layers that are left hold."""

    @classmethod
    def setUpClass(cls):
        cls.directory = pathlib.Path(tempfile.mkdtemp(prefix="akgen-container-"))
        cls.addClassCleanup(shutil.rmtree, cls.directory, True)
        os.chmod(cls.directory, 0o755)
        closed = cls.closed_program() if IS_ROOT else AKGEN
        root = cls.directory / "root"
        root.mkdir()
        rows = {"docker": ([*ROOT, *FILTER] if IS_ROOT else FILTER, closed, None)}
        if IS_ROOT:
            rows["docker, user"] = ([*NOBODY, *FILTER], AKGEN, 65534)
            rows["chroot, few rights"] = ([*CHROOT, str(root), *ROOT], closed, None)
            rows["chroot, user"] = ([*CHROOT, str(root), *NOBODY], AKGEN, 65534)
            for name, mode in (("chroot", 0o755), ("chroot that only root enters", 0o700)):
                folder = cls.directory / f"root-{mode:o}"
                folder.mkdir(mode=mode)
                rows[name] = ([*ROOT_OF_FOLDERS, str(folder)], AKGEN, None)
        cls.circumstances, cls.commands = {}, {}
        for name, (command, program, user) in rows.items():
            cache = cls.directory / f"cache-{user}"
            cache.mkdir(mode=0o700, exist_ok=True)  # which only its user finds
            if user:
                os.chown(cache, user, user)
            environment = dict(os.environ, NO_COLOR="1", XDG_CACHE_HOME=str(cache), AKGEN_HOME=str(HOME))
            if not runs([*command, "sh", "-c", f"test -r {HOME / 'tasks'} && test -x {program} && exec"]):
                continue  # this machine cannot have them, or not everybody may read the checkout
            cls.commands[name] = [*command, program], environment
            cls.circumstances[name] = lambda *arguments, row=([*command, program], environment): subprocess.Popen(
                [*row[0], *map(str, arguments)], env=row[1], text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    @classmethod
    def closed_program(cls):
        """akgen and its helpers in a folder that only root finds."""
        build = pathlib.Path(AKGEN).resolve().parent
        folder = pathlib.Path(tempfile.mkdtemp(prefix="closed-", dir=build))
        cls.addClassCleanup(shutil.rmtree, folder, True)
        for path in (build / name for name in ("akgen", "akgen-host", "akgen-run", "akgen-init", "akgen-read", "akgen-confine", "akgen-clang")):
            if path.exists():
                os.link(path, folder / path.name)
        return str(folder / "akgen")

    def each(self, check):
        """Calls check(run, start): both take akgen's arguments; start returns the process, run what it has printed in the end."""
        self.assertTrue(self.circumstances)
        for name, start in self.circumstances.items():
            def run(*arguments, start=start):
                process = start(*arguments)
                out, err = process.communicate(timeout=300)
                return subprocess.CompletedProcess(arguments, process.returncode, out, err)
            with self.subTest(name):
                check(run, start)

    def layers(self, run):
        return {name: word == "ok" for word, name in re.findall(r"^(ok|BAD|no) {2,5}([a-zA-Z ]+?)(?::.*)?$", run("doctor").stdout, re.M)}

    def test_it_judges_and_refuses_as_elsewhere(self):
        right, faulty = TASKS / TASK / "reference", HOME / "tests/kernels/faults/forgotten_deque"
        task = re.search(r"task: (.*)", (faulty / "expected").read_text())[1]

        def check(run, _):
            doctor = run("doctor")
            self.assertEqual(doctor.returncode, 0, doctor.stdout)
            self.assertRegex(doctor.stdout, r"BAD +jail +incomplete: no user namespace, mount namespace")
            passed = run("eval", TASK, right, "--case=0", "--json")
            self.assertEqual(json.loads(passed.stdout)["verdict"], "pass", passed.stdout + passed.stderr)
            fault = json.loads(run("eval", task, faulty, "--case=0", "--scope=kernel", "--json").stdout)
            self.assertEqual((fault["verdict"], "hazard_raw" in json.dumps(fault)), ("fault", True), fault["reason"])
            refused = run("eval", TASK, right, "--require-jail")
            self.assertEqual(refused.returncode, 3, refused.stdout)
            self.assertIn("this machine does not grant: user namespace, mount namespace", refused.stderr)
        self.each(check)

    def test_what_is_granted_is_applied(self):
        project = copy_reference(TASK, self.directory / "spins")
        edit(project / "op_host/sqrt.cpp", "    uint64_t ubBytes = 0;\n", "    for (volatile int spin = 1; spin;) {\n    }\n    uint64_t ubBytes = 0;\n")

        def check(run, start):
            layers = self.layers(run)
            process = start("eval", TASK, project, "--case=0", "--timeout=4", "--json")
            status = self.status_of_host(process.pid)
            self.assertEqual(json.loads(process.communicate(timeout=300)[0])["verdict"], "timeout")
            self.assertTrue(layers["seccomp"])
            self.assertEqual(status["Seccomp"], "2")
            self.assertEqual(status["NoNewPrivs"], "1")
            self.assertEqual({status[key].strip("0") for key in ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb")}, {""})
            self.assertEqual(int(status["Uid"].split()[0]) == APART, layers["a user id apart"])
        self.each(check)

    def status_of_host(self, above):
        """/proc/PID/status of the akgen-host that spins below the process."""
        end = time.monotonic() + 120
        while time.monotonic() < end:
            for path in pathlib.Path("/proc").glob("[0-9]*"):
                try:
                    if os.readlink(path / "exe").rsplit("/", 1)[1] != "akgen-host" or not self.is_below(path, above):
                        continue
                    status = dict(re.findall(r"^(\w+):\s*(.*)$", (path / "status").read_text(), re.M))
                except (OSError, IndexError):
                    continue
                if status["Seccomp"] == "2" and int(status.get("Seccomp_filters", 9)) >= 2:  # the guard's too: it spins
                    return status
            time.sleep(0.02)
        self.fail("akgen-host did not come")

    def is_below(self, path, above):
        while path.name not in ("0", "1"):
            if path.name == str(above):
                return True
            path = path.with_name((path / "stat").read_text().rpartition(")")[2].split()[1])
        return False

    def test_nothing_gets_out(self):
        secret = self.directory / "secret"
        secret.write_text(f"#error {escapes.SECRET}\n")
        os.chmod(secret, 0o644)
        mark = f"left-{os.getpid()}"
        for name, (command, environment) in self.commands.items():
            cache = pathlib.Path(environment["XDG_CACHE_HOME"]) / "akgen"
            folder = pathlib.Path(tempfile.mkdtemp(dir=self.directory))
            os.chmod(folder, 0o755)
            made = escapes.candidates(folder, {"SECRET": secret, "TASK": TASKS / TASK, "MARK": mark, "CACHE": cache})
            for escape, verdict, expected, reason in escapes.judge(made, TASKS / TASK, command, environment):
                with self.subTest(name, escape=escape):
                    self.assertEqual(verdict["verdict"], expected, verdict["reason"])
                    self.assertRegex(verdict["reason"] or "", reason)
                    self.assertNotIn(escapes.SECRET, json.dumps(verdict))
            self.assertEqual([path for path in (pathlib.Path("/tmp") / mark, cache / mark) if path.exists()], [])

    @unittest.skipUnless(runs(FILTER), "this machine has no seccomp")
    def test_without_seccomp_it_refuses(self):
        for command in (["doctor"], ["eval", TASK, TASKS / TASK / "reference"], ["run", TASK, TASKS / TASK / "reference"]):
            done = subprocess.run([*FILTER, "--no-seccomp", AKGEN, *map(str, command)], capture_output=True, text=True,
                                  env=dict(os.environ, NO_COLOR="1"), timeout=300)
            self.assertEqual(done.returncode, 3, done.stdout)
            self.assertIn("this machine grants no seccomp filter", done.stdout + done.stderr)
            self.assertNotIn("pass:", done.stdout)


if __name__ == "__main__":
    unittest.main()
