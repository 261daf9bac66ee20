#!/usr/bin/env python3
# test: cost=12 labels=long
"""A model in akgen cot documents, kernels and errors: what it writes is taken where it can be used and code in it compiles, each request is asked
once whatever happens, and no provider ends a run."""
import json
import pathlib
import re
import sqlite3
import subprocess
import tempfile
import time
import unittest

from akgen_program import AKGEN, akgen, kill_until_done
from cot_documents_test import KERNEL
from replay_server import Answer, Garbage, ReplayServer, Reset, Stall, Status

PAGE = "# Guide\n\n## Muls\n\nMuls multiplies each element of a tensor by a number.\n\n## Add\n\nAdd adds two tensors, element by element.\n"
CODE = f"<chain>First the number, then the call.</chain><answer>```cpp\n{KERNEL}```</answer>"


def sections_of(request):
    return re.findall(r"^Section: (.*)$", request.prompt, re.M)


def answer(request):
    """Two questions for a section; for each a chain and an answer, which tells the question again."""
    if "Write up to" in request.prompt:
        name = sections_of(request)[0].split(" > ")[-1]
        return f"<think>hm <question>no</question></think><question>What does {name} do?</question>\n<question>Show {name}.</question>"
    asked = re.search(r"^Question: (.*)$", request.prompt, re.M)[1]
    if asked == "Show Muls.":
        return CODE
    if asked == "Show Add.":
        return CODE.replace("Muls(", "Mulz(")
    return f"<chain>It is asked what it does, so the first sentence tells.</chain>\n<answer>To {asked} one says: it is what the guide says.</answer>"


class Models(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="akgen-cot-")
        self.addCleanup(folder.cleanup)
        self.at = pathlib.Path(folder.name)
        self.docs = self.at / "docs"
        self.docs.mkdir()
        (self.docs / "guide.md").write_text(PAGE)

    def cot(self, server, *arguments, db="out.db", code=0, options=()):
        done = akgen("cot", *arguments, "--db", self.at / db, "--provider", f"openai:{server.url}", "--model", "replay", "--retries", 1, "--backoff", 0.01, *options)
        self.assertEqual(done.returncode, code, done.stderr + done.stdout)
        return done

    def rows(self, db="out.db", step="documents-model"):
        with sqlite3.connect(self.at / db) as store:
            return store.execute("SELECT question, chain, answer, verdict, mode, tags FROM samples WHERE step = ? ORDER BY number", (step,)).fetchall()

    def dropped(self, db="out.db", step="documents-model"):
        return json.loads(akgen("cot", "stats", "--db", self.at / db, "--json").stdout)["dropped"].get(step, {})

    def test_documents(self):
        with ReplayServer(answer) as server:
            said = self.cot(server, "documents", self.docs).stdout
            self.assertRegex(said, r"1 files by the model: 3 samples added, 1 dropped, 2 answers with code that was compiled")
            self.assertRegex(said, r"replay: 6 requests answered, 0 before; 0 failed, 0 answers of no use")
            rows = {row[0]: row for row in self.rows()}
            self.assertEqual(set(rows), {"What does Muls do?", "What does Add do?", "Show Muls."})
            self.assertEqual(rows["Show Muls."][2:5], (KERNEL, '{"verdict":"pass","by":"compiler"}', "ascendc"))
            self.assertEqual(rows["What does Add do?"][1], "It is asked what it does, so the first sentence tells.")
            self.assertEqual(json.loads(rows["What does Add do?"][5]), ["asked", "model: replay"])
            self.assertEqual(self.dropped(), {"an answer of the model that does not compile": 1})
            asked = [request.prompt for request in server.requests if "Question: What does Muls do?" in request.prompt]
            self.assertIn("Muls multiplies each element", asked[0])
            # Again: nothing is asked; a page that is new is, and of the old one nothing.
            self.assertRegex(self.cot(server, "documents", self.docs).stdout, "replay: 0 requests answered, 0 before")
            self.assertEqual(len(server.requests), 6)
            (self.docs / "guide.md").write_text(PAGE + "\n## Div\n\nDiv divides one tensor by another, element by element.\n")
            self.assertRegex(self.cot(server, "documents", self.docs).stdout, r"replay: 3 requests answered, 6 before")
            self.assertEqual(len(server.requests), 9)

    def test_what_cannot_be_used_is_counted(self):
        key = "gh" + "p_" + "a1B2" * 9
        for name, said in (("garbage", "\u202eI would rather not."), ("empty", ""), ("open", "<question>What is left open?"), ("long", "<question>" + "x" * 100000 + "</question>")):
            with ReplayServer(lambda request, said=said: said) as server:
                self.cot(server, "documents", self.docs, db=f"{name}.db")
                self.assertEqual(self.rows(f"{name}.db"), [], name)
        self.assertEqual(self.dropped("garbage.db"), {"an answer of the model that cannot be used": 2})
        for name, said, reason in (("none", "NONE", "a question that the document does not answer"), ("bare", "It is so.", "an answer of the model that cannot be used"),
                                   ("key", f"<chain>so</chain><answer>The key is {key}, it is said.</answer>", "a secret in it")):
            with ReplayServer(lambda request, said=said: answer(request) if "Write up to" in request.prompt else said) as server:
                self.cot(server, "documents", self.docs, db=f"{name}.db")
                self.assertEqual((self.rows(f"{name}.db"), self.dropped(f"{name}.db")), ([], {reason: 4}), name)

    def test_a_server_that_fails_ends_no_run(self):
        faults = {"status": Status(500), "reset": Reset(), "stall": Stall(), "garbage": Garbage(), "right": Status(401)}
        for name, fault in faults.items():
            with ReplayServer(answer, lambda request, fault=fault: fault) as server:
                done = self.cot(server, "documents", self.docs, db=f"{name}.db", code=3, options=("--idle-timeout", 0.3))
                self.assertRegex(done.stderr, "1 sources lack answers and wait for another run: ", name)
                self.assertRegex(done.stdout, r"^1 files: [1-9]\d* samples added, ", name)      # what needs no model is made
                self.assertEqual((self.rows(f"{name}.db"), self.dropped(f"{name}.db")), ([], {}), name)
        with ReplayServer(answer) as server:                                                    # the next run makes good for it
            self.assertRegex(self.cot(server, "documents", self.docs, db="stall.db").stdout, "1 files by the model: 3 samples added")
        broken = True
        with ReplayServer(answer, lambda request: Status(500) if broken and "Question: Show Add." in request.prompt else None) as server:
            done = self.cot(server, "documents", self.docs)
            self.assertRegex(done.stdout, r"5 requests answered, 0 before; 1 failed")
            self.assertEqual(self.rows(), [])
            broken, before = False, len(server.requests)
            self.assertRegex(self.cot(server, "documents", self.docs).stdout, r"1 requests answered, 5 before")
            self.assertEqual((len(server.requests) - before, len(self.rows())), (1, 3))

    def test_limits(self):
        with ReplayServer(answer) as server:
            done = self.cot(server, "documents", self.docs, options=("--max-tokens", 1, "--concurrency", 1))
            self.assertRegex(done.stderr, "the limit of tokens is reached")
            done = akgen("cot", "documents", self.docs, "--db", self.at / "x.db", "--provider", "openai:ftp://x", "--model", "m")
            self.assertEqual(done.returncode, 2)
            done = akgen("cot", "documents", self.docs, "--db", self.at / "y.db", "--provider", "exec:printf '\\377\\376'; exit 0")
            self.assertEqual(done.returncode, 0, done.stderr)
            done = akgen("cot", "documents", self.docs, "--db", self.at / "z.db", "--provider", "exec:false", "--retries", 0)
            self.assertEqual(done.returncode, 3, done.stderr)

    def test_kernels(self):
        (self.at / "kernels").mkdir()
        (self.at / "kernels/scale_it.cpp").write_text(KERNEL)
        words = "<request>I need a kernel that doubles 64 half values.</request><chain>A buffer is made, and the call does all of it.</chain>"
        with ReplayServer(lambda request: words) as server:
            self.cot(server, "kernels", self.at / "kernels")
            rows = self.rows(step="kernels")
            self.assertEqual([row[:2] for row in rows], [("I need a kernel that doubles 64 half values.", "A buffer is made, and the call does all of it.")])
            self.assertEqual((rows[0][2], json.loads(rows[0][5])), (KERNEL, ["model: replay"]))
            self.assertIn(KERNEL, server.requests[0].prompt)
        with ReplayServer(lambda request: "no tags") as server:
            self.assertRegex(self.cot(server, "kernels", self.at / "kernels", db="garbage.db").stdout, "1 answers of no use")
            self.assertIn("`scale_it", self.rows("garbage.db", "kernels")[0][0])

    def test_errors(self):
        with ReplayServer(lambda request: "<chain>The analysis, in the words of a model.</chain>") as server:
            self.cot(server, "errors", "--count", 3, "--machine", 0, "--mutants", 2, "--jobs", 1)
            rows = self.rows(step="errors")
            self.assertEqual({row[1] for row in rows}, {"The analysis, in the words of a model."})
            self.assertEqual(len(server.requests), len(rows))
        done = akgen("cot", "errors", "--count", 3, "--machine", 0, "--mutants", 2, "--db", self.at / "without.db")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual([(row[0], row[2], row[3]) for row in self.rows("without.db", "errors")], [(row[0], row[2], row[3]) for row in rows])

    def test_killed_runs_ask_nothing_twice(self):
        for i in range(12):
            (self.docs / f"page{i}.md").write_text(f"# Page {i}\n\n" + "".join(f"## Part {i}.{j}\n\nIt tells of the part {i}.{j} what there is to tell.\n\n" for j in range(4)))
        with ReplayServer(answer, delay=0.02) as server:
            self.cot(server, "documents", self.docs, db="whole.db")
            whole = len(server.requests)
        with ReplayServer(answer, delay=0.02) as server:
            arguments = ["cot", "documents", self.docs, "--db", self.at / "killed.db", "--provider", f"openai:{server.url}", "--model", "replay"]
            kills = 0
            for wait in (0.4, 0.7, 1, 1.5):
                program = subprocess.Popen([AKGEN, *map(str, arguments)], stdout=subprocess.DEVNULL)
                time.sleep(wait)
                kills += program.poll() is None
                program.kill()
                program.wait()
            with sqlite3.connect(self.at / "killed.db") as store:
                kept = store.execute("SELECT count(*) FROM asked").fetchone()[0]
            self.assertGreater(kills, 0)
            before = len(server.requests)
            self.cot(server, "documents", self.docs, db="killed.db")
            self.assertEqual(len(server.requests) - before, whole - kept)
        self.assertEqual(self.rows("killed.db"), self.rows("whole.db"))


if __name__ == "__main__":
    unittest.main()
