#!/usr/bin/env python3
# test: builds=release cost=40
"""akgen gen --optimise: what is faster and right wins, what is wrong, slower or no answer never does, and what is printed and kept
are the figures that akgen eval gives for the two kernels."""
import json
import math
import pathlib
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
import unittest

import planted
from akgen_program import AKGEN, TASKS, akgen, verdict
from replay_server import Answer, ReplayServer, Status

SQRT = TASKS / "level1/Math/Sqrt"
PROGRAM = (SQRT / "program.py").read_text()


def tiled(tile, program=PROGRAM):
    assert "tile: tl.constexpr = 4096" in program
    return program.replace("tile: tl.constexpr = 4096", f"tile: tl.constexpr = {tile}")


SLOW, FAST, SLOWER = tiled(512), tiled(4096), tiled(128)
WRONG = FAST.replace("tl.vsqrt", "tl.vexp")
# Cases of more than a million elements are not computed, which takes no time.
SKIPS = FAST.replace("end = min(start + per_core, total)", "end = start if total > 1000000 else min(start + per_core, total)")
assert WRONG != FAST != SKIPS


def answer(program):
    return planted.answer({"program.py": program})


class Model:
    """Answers in their order, the last one for ever; remembers what was asked."""
    def __init__(self, *answers):
        self.answers, self.asked = list(answers), []

    def __call__(self, request):
        self.asked.append(request.messages)
        given = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        return given(request) if callable(given) else given


class Optimise(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="akgen-optimise-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.project = self.folder / "project"
        self.evidence = self.project / "evidence"

    def gen(self, *options, task="Sqrt", case=1, **keywords):
        return akgen("gen", task, "-o", self.project, *(("--case", case) if case is not None else ()), *options, **keywords)

    def ask(self, model, *options, language="dsl", fault=None, **keywords):
        with ReplayServer(model, fault) as server:
            return self.gen("--provider", f"openai:{server.url}", "--model", "replay", "--language", language, "--retries", 0, "--concurrency",
                            1, *options, **keywords)

    def kept(self, path):
        return (self.evidence / path).read_text()

    def json(self, name="optimise.json"):
        return json.loads(self.kept(name))

    judged = {}  # content -> verdict: what several tests end with is evaluated once

    def judge(self, content, path, case=1):
        if (content, case) not in self.judged:
            self.judged[content, case] = verdict("Sqrt", path, "--case", case, "--profile", "strict", "--language", "any")
        return self.judged[content, case]

    def us(self, text, case=1):
        """The modelled time of a program, as akgen eval has it."""
        path = self.folder / "candidate.txt"
        path.write_text(answer(text))
        found = self.judge(text, path, case)
        self.assertEqual(found["verdict"], "pass")
        return found["cases"][0]["timing"]["us"]

    def wins(self, program):
        self.assertEqual(self.kept("program.py"), program)
        sources = sorted(path for folder in ("op_host", "op_kernel") for path in (self.project / folder).rglob("*") if path.is_file())
        again = self.judge(tuple((str(path.relative_to(self.project)), path.read_bytes()) for path in sources), self.project)
        self.assertEqual(again["verdict"], "pass")
        self.assertEqual(self.json("verdict.json")["verdict"], "pass")
        self.assertAlmostEqual(self.json()["after"]["mean_us"], again["cases"][0]["timing"]["us"], delta=0.002)

    # ---- With a model

    def test_a_faster_one_wins(self):
        model = Model(answer(SLOW), answer(FAST), answer(SLOWER))
        process = self.ask(model, "--optimise=2")
        self.assertEqual((process.returncode, process.stderr), (0, ""), process.stdout)
        slow, fast, slower = self.us(SLOW), self.us(FAST), self.us(SLOWER)
        self.assertGreater(slow, 1.2 * fast)
        self.assertRegex(process.stdout, rf"^round 0   1 answer: 1 pass; best so far: pass, modelled {slow:.2f} us\n"
                                         rf"round 1   1 answer: 1 pass; best so far: pass, modelled {fast:.2f} us\n"
                                         rf"round 2   1 answer: 1 pass; best so far: pass, modelled {fast:.2f} us\n")
        self.assertIn("sample 1, round 1, made of sample 0\n", process.stdout)
        self.assertIn(f"optimise  modelled, geometric mean of 1 case: {slow:.2f} us before, {fast:.2f} us after, {slow / fast:.2f} times as fast; "
                      "rounds that make it faster: 2, all done\n", process.stdout)
        self.assertRegex(process.stdout, rf"  case 1: {slow:.2f} us, bound by .* \(\d+ %\) -> {fast:.2f} us, bound by HBM \(\d+ %\)\n")
        self.assertRegex(process.stdout, r"times as fast as eager, mean of the cases: [\d.]+ before, [\d.]+ after\n")
        self.assertTrue(process.stdout.splitlines()[-1].startswith("pass: 1 of 1 cases"))
        self.wins(FAST)
        found = self.json()
        self.assertEqual((found["modelled"], found["before"]["sample"], found["after"]["sample"]), (True, 0, 1))
        self.assertAlmostEqual(found["before"]["mean_us"], slow, delta=0.002)
        self.assertAlmostEqual(found["times_as_fast"], slow / fast, delta=0.002)
        self.assertEqual([(row["verdict"], row["parent"]) for row in self.json("run.json")["samples"]], [("pass", -1), ("pass", 0), ("pass", 1)])
        self.assertEqual(self.json("run.json")["winner"], 1)
        self.prompts(model, slow, fast)

    def prompts(self, model, slow, fast):
        """What the model was told is what akgen eval says, of the kernel that it is told of."""
        self.assertEqual([len(messages) for messages in model.asked], [2, 4, 4])
        first, second = model.asked[1], model.asked[2]
        self.assertEqual(first[2]["content"], answer(SLOW))
        self.assertEqual(second[2]["content"], answer(FAST))
        told = first[3]["content"]
        self.assertIn("Nothing was measured", told)
        self.assertRegex(told, rf"\n\| 1 \| float16 x\[96,64,1024\] \| {slow:.2f} \| [\d.]+ \| ")
        self.assertIn(f"now {slow:.2f} us", told)
        self.assertIn(f"now {fast:.2f} us", second[3]["content"])
        self.assertRegex(told, r"    costliest line: `tl\.\w+\(.*\)`\n")
        (self.folder / "slow.txt").write_text(answer(SLOW))
        printed = akgen("eval", "Sqrt", self.folder / "slow.txt", "--case", 1, "--profile", "strict", "--language", "any").stdout
        for line in re.search(r"  modelled, case 1.*?\n(?=  modelled, mean|pass)", printed, re.S)[0].splitlines():
            self.assertIn(line + "\n", told)
        self.assertIn(self.kept("rounds/0/timing.md"), told)
        self.assertNotIn("Earlier attempts", told)
        self.assertNotIn("of other sizes", told)

    def test_a_cheat_does_not_win(self):
        """One that leaves a case out, one that is wrong: each is faster, is mended twice at most, and is not taken."""
        model = Model(answer(SLOW), answer(SKIPS), answer(SKIPS + "\n# again\n"), answer(WRONG), answer(WRONG + "\n# again\n"), answer(SLOW))
        process = self.ask(model, "--optimise=5", "--patience", 9)
        self.assertEqual((process.returncode, process.stderr), (0, ""), process.stdout)
        self.assertRegex(process.stdout, r"round 1   1 answer: 1 (fault|wrong|compile_error); best so far: pass, modelled")
        self.assertIn("round 3   1 answer: 1 wrong; best so far: pass, modelled", process.stdout)
        self.assertRegex(process.stdout, r"before, nothing faster was found; rounds that make it faster: 5, all done\n  case 1: [\d.]+ us, bound by \S+")
        self.wins(SLOW)
        samples = self.json("run.json")["samples"]
        self.assertEqual([row["parent"] for row in samples], [-1, 0, 1, 2, 0, 4])
        self.assertEqual(self.json("run.json")["winner"], 0)
        self.assertEqual((self.json()["times_as_fast"], self.json()["before"]["sample"], self.json()["after"]["sample"]), (1, 0, 0))

    def test_a_wrong_one_is_mended(self):
        model = Model(answer(SLOW), answer(WRONG), answer(FAST))
        process = self.ask(model, "--optimise=2")
        self.assertEqual(process.returncode, 0, process.stderr)
        self.assertIn("wrong numbers", model.asked[2][3]["content"])
        self.assertEqual(model.asked[2][2]["content"], answer(WRONG))
        self.wins(FAST)
        self.assertEqual([row["parent"] for row in self.json("run.json")["samples"]], [-1, 0, 1])
        self.assertIn("sample 2, round 2, mends sample 1\n", process.stdout)

    def test_slower_ones_end_it(self):
        model = Model(answer(FAST), answer(SLOW), answer(SLOWER))
        process = self.ask(model, "--optimise=9", "--patience", 2, "--roofline", 100)
        self.assertEqual(process.returncode, 0, process.stderr)
        self.assertEqual(len(model.asked), 3)
        self.assertIn(f"modelled, geometric mean of 1 case: {self.us(FAST):.2f} us before, nothing faster was found; "
                      "2 rounds in a row brought nothing faster\n", process.stdout)
        self.assertIn(f"Earlier attempts to make this code faster ended so; take another way:\n\n- pass, modelled {self.us(SLOW):.2f} us: not faster\n",
                      model.asked[2][3]["content"])
        self.wins(FAST)

    def test_what_is_near_its_bound_is_left_alone(self):
        model = Model(answer(FAST))
        process = self.ask(model, "--optimise", "--roofline", 90)
        self.assertEqual((process.returncode, len(model.asked)), (0, 1), process.stderr)
        self.assertRegex(process.stdout, r"nothing faster was found; every case is at 9\d % of its bound or above\n  case 1: .* bound by HBM")
        self.wins(FAST)

    def test_the_fastest_of_n_and_a_beam(self):
        """All first answers are judged; a beam gives the two fastest back."""
        model = Model([answer(SLOWER), answer(FAST), answer(SLOW)], answer(WRONG))
        process = self.ask(lambda request: model(request) if request.n > 1 else (model.asked.append(request.messages), answer(WRONG))[1],
                           "--optimise=1", "--roofline", 100, "-n", 3, "--per-request", 3, "--beam", 2)
        self.assertEqual(process.returncode, 0, process.stderr)
        self.assertIn("round 0   3 answers: 3 pass; best so far: pass, modelled", process.stdout)
        self.assertEqual([messages[2]["content"] for messages in model.asked[1:]], [answer(FAST), answer(SLOW)])
        self.wins(FAST)

    def test_no_answer(self):
        process = self.ask(Model(answer(SLOW)), "--optimise=4", fault=lambda request: Status(400) if len(request.messages) > 2 else None)
        self.assertEqual(process.returncode, 0, process.stderr)
        self.assertRegex(process.stdout, r"before, nothing faster was found; .*400")
        self.assertIn("round 1   0 answers; 1 not answered; best so far: pass, modelled", process.stdout)
        self.wins(SLOW)
        model = Model(answer(SLOW), "", "I would rather not.", Answer("<program.py>\nimport", finish="length"), answer(SLOW))
        process = self.ask(model, "--optimise=4", "--patience", 4)
        self.assertEqual(process.returncode, 0, process.stderr)
        self.assertIn("round 1   1 answer: 1 compile_error; best so far: pass, modelled", process.stdout)
        self.assertIn("nothing faster was found; rounds that make it faster: 4, all done", process.stdout)
        self.wins(SLOW)

    def test_limits(self):
        process = self.ask(Model(answer(SLOW), answer(SLOWER)), "--optimise=4", "--max-tokens", 12000)
        self.assertEqual(process.returncode, 0, process.stderr)
        self.assertIn("nothing faster was found; the limit of 12000 tokens\n", process.stdout)
        self.wins(SLOW)

    def hanging(self):
        """A command that answers the first question and hangs at the next."""
        (self.folder / "slow.txt").write_text(answer(SLOW))
        script = self.folder / "hang.sh"
        script.write_text(f"if grep -q '^assistant:$'; then sleep 300; else cat {self.folder}/slow.txt; fi\n")
        return f"exec:sh {script}"

    def test_a_model_that_hangs(self):
        began = time.monotonic()
        process = self.gen("--provider", self.hanging(), "--language", "dsl", "--optimise", "--max-seconds", 30)
        self.assertLess(time.monotonic() - began, 200)
        self.assertEqual((process.returncode, process.stderr), (0, ""), process.stdout)
        self.assertIn("nothing faster was found; the limit of 30 seconds\n", process.stdout)
        self.wins(SLOW)

    def test_an_interrupted_run_keeps_what_is_right(self):
        process = subprocess.Popen([AKGEN, "gen", "Sqrt", "-o", self.project, "--provider", self.hanging(), "--language", "dsl", "--case", "1",
                                    "--optimise"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        until = time.monotonic() + 120
        while not (self.evidence / "rounds/1/prompt.md").exists() and time.monotonic() < until:
            time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        output, errors = process.communicate(timeout=100)
        self.assertEqual(process.returncode, 0, errors)
        self.assertIn("nothing faster was found; interrupted\n", output)
        self.wins(SLOW)

    def test_ascend_c(self):
        """Larger tiles of a project; then one whose tiling function refuses the case, which is no way to be fast."""
        host = (SQRT / "reference" / planted.HOST).read_text()
        files = {planted.TILING: planted.reference(planted.TILING), planted.KERNEL: planted.reference(planted.KERNEL)}
        self.assertIn("(4 * 4 + 4) / ALIGN", host)
        slow, fast = ({**files, planted.HOST: text} for text in (host.replace("(4 * 4 + 4) / ALIGN", "(4 * 4 + 4) / 32 / ALIGN"), host))
        refuses = {**fast, planted.HOST: re.sub(r"(TilingFunc\([^)]*\)\s*\{\n)", r"\1    return ge::GRAPH_FAILED;\n", host)}
        self.assertNotEqual(refuses[planted.HOST], host)
        model = Model(*map(planted.answer, (slow, fast, refuses)))
        process = self.ask(model, "--optimise=2", "--roofline", 100, language="ascendc")
        self.assertEqual((process.returncode, process.stderr), (0, ""), process.stdout)
        self.assertGreater(self.json()["times_as_fast"], 1.2)
        self.assertEqual((self.project / planted.HOST).read_text(), host)
        self.assertIn("round 2   1 answer: 1 wrong; best so far: pass", process.stdout)
        self.assertIn("every file, complete", model.asked[1][3]["content"])
        self.assertRegex(model.asked[1][3]["content"], r"most time at op_kernel/sqrt.cpp:\d+: [\d.]+ us of a core\n(    advice: .*\n)?    costliest line: `")

    def test_all_cases_count(self):
        """Several cases and hidden ones: the mean is geometric, and hidden sizes are not told."""
        task = planted.make_task(self.folder)
        model = Model(answer(tiled(64)), answer(FAST))
        process = self.ask(model, "--optimise=1", "--roofline", 100, task=task, case=None)
        self.assertEqual((process.returncode, process.stderr), (0, ""), process.stdout)
        found = self.json()
        for side in ("before", "after"):
            self.assertEqual([row["case"] for row in found[side]["cases"]], [0, 1, 2])
            mean = math.exp(sum(math.log(row["us"]) for row in found[side]["cases"]) / 3)
            self.assertAlmostEqual(found[side]["mean_us"], mean, delta=0.01)
            self.assertIsNone(found[side]["speedup"])
        self.assertGreater(found["times_as_fast"], 1)
        told = model.asked[1][3]["content"]
        hidden = sum(row["hidden"] for row in self.json("verdict.json")["cases"])
        self.assertGreater(hidden, 3)
        self.assertIn(f"It is tried as before with {hidden} cases of other sizes and values too", told)
        self.assertEqual(re.findall(r"modelled, case (\d+)", told) and sorted(re.findall(r"modelled, case (\d+)", told)), ["0", "1", "2"])
        self.assertEqual(len(re.findall(r"^\| \d+ \|", told, re.M)), 3)

    def test_the_database_and_its_pairs(self):
        """A scripted command; the faster answer is the better one of a pair, under the question that the slower one answers."""
        for name, program in (("slow", SLOW), ("fast", FAST), ("wrong", WRONG)):
            (self.folder / name).write_text(answer(program))
        script = self.folder / "model.sh"
        script.write_text(f'cd {self.folder}\ntext=$(cat)\ncase "$text" in\n*"wrong numbers"*) cat fast ;;\n*"make it faster"*) cat wrong ;;\n*) cat slow ;;\nesac\n')
        database = self.folder / "runs.db"
        process = self.gen("--provider", f"exec:sh {script}", "--language", "dsl", "--optimise=2", "--db", database)
        self.assertEqual((process.returncode, process.stderr), (0, ""), process.stdout)
        with sqlite3.connect(database) as rows:
            self.assertEqual(rows.execute("SELECT sample, round, parent FROM answers ORDER BY sample").fetchall(), [(0, 0, -1), (1, 1, 0), (2, 2, 1)])
            verdicts = rows.execute("SELECT verdict, json_extract(json, '$.speedup') FROM verdicts ORDER BY sample").fetchall()
            settings = json.loads(rows.execute("SELECT settings FROM runs").fetchone()[0])
            first = json.loads(rows.execute("SELECT messages FROM prompts JOIN answers ON prompt = hash WHERE sample = 0").fetchone()[0])
        self.assertEqual([row[0] for row in verdicts], ["pass", "wrong", "pass"])
        self.assertGreater(verdicts[2][1], 1.2 * verdicts[0][1])
        self.assertEqual(settings["optimise"], {"rounds": 2, "patience": 3, "roofline": 0.95})
        done = akgen("export", "preferences", "--db", database, "--strategy", "faster", "--provenance")
        self.assertEqual(done.returncode, 0, done.stderr)
        pairs = [json.loads(line) for line in done.stdout.splitlines()]
        self.assertEqual(len(pairs), 1, done.stderr)
        self.assertIn("is right and slower in 1", done.stderr)
        self.assertEqual([turn["content"] for turn in pairs[0]["chosen"] + pairs[0]["rejected"]], [answer(FAST), answer(SLOW)])
        self.assertEqual(pairs[0]["prompt"], first)
        done = akgen("export", "preferences", "--db", database, "--strategy", "faster", "--first-round")
        self.assertEqual(done.stdout, "")
        self.assertIn("left out 2: answers a repair", done.stderr)

    # ---- Without one

    def own_task(self, program):
        task = self.folder / "npukernelbench/level1/Math/Sqrt"
        shutil.copytree(SQRT, task)
        (task / "program.py").write_text(program)
        return task

    def test_without_a_model(self):
        process = self.gen("--optimise=4", task=self.own_task(SLOW))
        self.assertEqual((process.returncode, process.stderr), (0, ""), process.stdout)
        tried = {int(tile): float(us) for tile, us in re.findall(r"^setting   tile = (\d+): modelled ([\d.]+) us$", process.stdout, re.M)}
        tried[512] = float(re.search(r"^setting   as it is: modelled ([\d.]+) us$", process.stdout, re.M)[1])
        self.assertEqual(len(tried), 4)
        best = min(tried, key=tried.get)
        self.assertGreater(best, 512)
        self.assertIn(f"optimise  modelled, geometric mean of 1 case: {tried[512]:.2f} us before, {tried[best]:.2f} us after, ", process.stdout)
        self.assertAlmostEqual(tried[512], self.us(SLOW), delta=0.006)
        self.wins(tiled(best))
        self.assertIn("1 of 1 cases", process.stdout.splitlines()[-1])
        self.assertEqual((self.evidence / "before/program.py").read_text(), SLOW)
        before = json.loads(self.kept("before/verdict.json"))
        self.assertAlmostEqual(before["cases"][0]["timing"]["us"], self.json()["before"]["mean_us"], delta=0.002)

    def test_nothing_to_tune(self):
        process = self.gen("--optimise=1", task=self.own_task(FAST.replace("tile: tl.constexpr = 4096", "tile: int = 4096")))
        self.assertEqual((process.returncode, process.stderr), (0, ""), process.stdout)
        self.assertIn("nothing faster was found; 1 setting tried", process.stdout)
        self.assertFalse((self.evidence / "before").exists())
        self.assertEqual(self.json()["times_as_fast"], 1)

    def test_what_is_not_right_is_not_tuned(self):
        process = self.gen("--optimise", task=self.own_task(WRONG))
        self.assertEqual(process.returncode, 1)
        self.assertNotIn("optimise  ", process.stdout)
        self.assertFalse((self.evidence / "optimise.json").exists())
        process = self.ask(Model(answer(WRONG)), "--optimise", "--rounds", 1)
        self.assertEqual(process.returncode, 1)
        self.assertNotIn("optimise  ", process.stdout)
        self.assertIn("The project does not pass", process.stdout)

    def test_usage(self):
        for options, says in ((("--optimise=0",), "optimise"), (("--optimise", "--no-timing"), "modelled in program order only"),
                              (("--optimise=65", "--provider", "exec:true"), "more than 64"), (("--patience", "0"), "patience"),
                              (("--roofline", "101"), "roofline"), (("--max-seconds", "0"), "max-seconds")):
            process = self.gen(*options)
            self.assertEqual(process.returncode, 2, options)
            self.assertIn(says, process.stderr)


if __name__ == "__main__":
    unittest.main()
