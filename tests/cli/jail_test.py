#!/usr/bin/env python3
"""akgen on a machine that does not grant every layer of the jail: it works, says what is missing, and refuses if asked to."""
import json
import os
import shlex
import subprocess
import unittest

from akgen_program import AKGEN, TASKS, akgen

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


if __name__ == "__main__":
    unittest.main()
