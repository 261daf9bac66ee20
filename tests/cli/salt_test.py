#!/usr/bin/env python3
# test: cost=19 labels=long
"""Later inputs of the strict profile: a salt decides what they hold, and no verdict tells it."""
import contextlib
import json
import pathlib
import re
import shutil
import sqlite3
import tempfile
import unittest

from akgen_program import Server, akgen, copy_reference, edit, verdict

SQRT = "level1/Math/Sqrt"
NAMED = re.compile(r"\(--input-set=(\d+) shows them\)")
# The first run's tensors begin at a multiple of 4096, those of the later ones do not.
LATER = "    if ((uint64_t)x %% 4096 != 0) {\n        %s\n    }\n    TPipe pipe;\n"
TELLS = ('AscendC::printf("secret %f\\n", *(__gm__ float *)x); '
         'if (GetBlockIdx() == 0) { ((__gm__ float *)y)[0] = *(__gm__ float *)x; } return;')


class Salt(unittest.TestCase):
    def setUp(self):
        self.directory = pathlib.Path(tempfile.mkdtemp(prefix="akgen-salt-"))
        self.addCleanup(shutil.rmtree, self.directory)
        self.project = copy_reference(SQRT, self.directory)
        self.kernel = self.project / "op_kernel" / "sqrt.cpp"

    def later(self, statements):
        edit(self.kernel, "    TPipe pipe;\n", LATER % statements)

    def strict(self, *options):
        return verdict(SQRT, self.project, "--case=2", "--profile=strict", *options)

    def test_nothing_of_later_inputs_is_told(self):
        plain = self.strict()["cases"][0]
        self.later(TELLS)
        told = self.strict("--salt=s3cret-salt")
        self.assertEqual((told["verdict"], told["stage"]), ("wrong", "compare"))
        self.assertEqual(told["reason"], "case 2: with other inputs at other addresses: output 'y' is wrong")
        self.assertNotIn("secret", json.dumps(told))
        self.assertNotIn("s3cret", json.dumps(told))
        case = told["cases"][0]
        self.assertEqual(case["comparison"], plain["comparison"])
        self.assertEqual(case["faults"] + case["notes"] + case["endless"], [])
        self.assertIsNone(case["printed"])
        self.assertEqual(case["inputs_tried"], 2)

    def test_a_fault_has_a_name_and_no_place(self):
        self.later("GlobalTensor<float> past; past.SetGlobalBuffer((__gm__ float *)x, 1 << 20); past.SetValue(1 << 30, 1.0f);")
        told = self.strict("--salt=1")
        self.assertEqual(told["verdict"], "fault")
        self.assertRegex(told["reason"], r"^case 2: with other inputs at other addresses: fault [a-z_]+$")
        self.assertEqual(told["cases"][0]["faults"], [])

    def test_no_end_has_no_place_and_no_rounds(self):
        self.later("volatile uint32_t sink = 0; for (;;) { for (uint32_t i = *(__gm__ uint32_t *)x & 1023; i; i--) sink = sink + i; }")
        told = self.strict("--salt=1")
        self.assertEqual(told["verdict"], "timeout")
        self.assertEqual(told["reason"], "case 2: with other inputs at other addresses: the kernel does not end")
        self.assertEqual(told["cases"][0]["endless"], [])

    def test_the_set_can_be_looked_at(self):
        self.later(TELLS)
        named = NAMED.search(self.strict()["reason"])
        shown = self.strict("--input-set", named[1])
        self.assertEqual(shown["input_set"], int(named[1]))
        self.assertIn("secret", shown["cases"][0]["printed"])
        self.assertIn("first", shown["cases"][0]["comparison"])

    def test_salt_and_seed_make_the_inputs(self):
        edit(self.kernel, "            Sqrt(y, x, count);\n", "            Sqrt(y, x, count);\n            Muls(y, y, static_cast<DTYPE_X>(2), count);\n")
        def expected(*options, number=3):
            return self.strict(f"--input-set={number}", *options)["cases"][0]["comparison"]["first"]["expected"]
        values = [expected(*options) for options in ((), ("--salt=a",), ("--salt=b",), ("--salt=a", "--seed=1"))]
        self.assertEqual(len(set(values)), 4, values)
        self.assertEqual(expected("--salt=a"), values[1])
        self.assertNotEqual(expected("--salt=a", number=4), values[1])

    def test_the_candidate_chooses_and_comparisons_do_not(self):
        self.later(TELLS)
        other = pathlib.Path(shutil.copytree(self.project, self.directory / "other"))
        sets = set()
        for comment in range(6):
            edit(self.kernel, "    TPipe pipe;\n", f"    // {comment}\n    TPipe pipe;\n")
            sets.add(NAMED.search(self.strict()["reason"])[1])
        self.assertGreater(len(sets), 1)
        both = json.loads(akgen("compare", self.project, other, "--task", SQRT, "--case=2", "--profile=strict", "--json").stdout)
        self.assertEqual(*(NAMED.search(both[side]["reason"])[1] for side in "ab"))

    def test_the_longer_time_counts(self):
        """Inputs that are recognised take no time; nobody sees the others."""
        plain = self.strict()["cases"][0]["timing"]["us"]
        self.later("TPipe work; TBuf<TPosition::VECCALC> buffer; work.InitBuffer(buffer, 1024); LocalTensor<float> t = buffer.Get<float>(); "
                   "Duplicate(t, 1.0f, 256); for (int i = 0; i < 2000; i++) { Adds(t, t, 1.0f, 256); PipeBarrier<PIPE_V>(); }")
        strict, upstream = self.strict(), verdict(SQRT, self.project, "--case=2")
        self.assertEqual(strict["verdict"], "pass", strict["reason"])
        self.assertGreater(strict["cases"][0]["timing"]["us"], plain + 10)
        self.assertLess(upstream["cases"][0]["timing"]["us"], plain + 1)

    def test_a_database_has_one(self):
        database, tree = self.directory / "runs.db", self.directory / "tree"
        self.later(TELLS)
        shutil.copytree(self.project, tree / SQRT)
        def bench(*options):
            return akgen("bench", "--provider", f"dir:{tree}", "--task", SQRT, "--case=2", "--db", database, *options)
        def salts():
            with contextlib.closing(sqlite3.connect(database)) as file:
                return [salt for salt, in file.execute("SELECT salt FROM runs ORDER BY id")]
        for options in (("--profile=strict",), (), ("--profile=strict",), ("--profile=strict", "--salt=mine"), ("--profile=strict",)):
            bench(*options)
        drawn, *others = salts()
        self.assertRegex(drawn, "^[0-9a-f]{32}$")
        self.assertEqual(others, ["", drawn, "mine", "mine"])
        with contextlib.closing(sqlite3.connect(database)) as file:
            stored = [json.loads(text) for text, in file.execute("SELECT json FROM verdicts ORDER BY run")]
            self.assertEqual(stored[2]["salt"], self.strict("--salt", drawn)["salt"])
            self.assertNotIn(drawn, json.dumps(stored))
            file.execute("UPDATE runs SET seconds = NULL WHERE id = 3")
            file.commit()
        for form in ("table", "html", "csv", "json"):
            page = self.directory / "page.html"
            process = akgen("report", "--db", database, "--run=3", "--format", form, *(["--output", page] if form == "html" else []))
            text = page.read_text() if form == "html" else process.stdout
            self.assertIn("Math", text)
            self.assertNotIn(drawn, text)
        self.assertIn("salt", bench("--profile=strict", "--resume", "--salt=other").stderr)
        self.assertEqual(bench("--profile=strict", "--resume").returncode, 1)
        self.assertEqual(len(salts()), 5)

    def test_a_server_has_one(self):
        request = {"task": SQRT, "candidate": {"path": str(self.project)}, "options": {"profile": "strict", "case": 2}}
        with contextlib.closing(Server("--salt=abc")) as server:
            mine = server.receive(server.send(**request))["verdict"]["salt"]
            request["options"]["salt"] = "abcd"
            self.assertNotEqual(server.receive(server.send(**request))["verdict"]["salt"], mine)
        self.assertEqual(self.strict("--salt=abc")["salt"], mine)
        self.assertEqual(akgen("eval", SQRT, self.project, "--salt=").returncode, 2)


if __name__ == "__main__":
    unittest.main()
