#!/usr/bin/env python3
# test: cost=28 labels=long
"""akgen bench with a model: what is sampled, kept, counted, limited and resumed, against a server that answers what the test says."""
import json
import os
import pathlib
import re
import shutil
import signal
import sqlite3
import subprocess
import tempfile
import time
import unittest

from akgen_program import AKGEN, TASKS, akgen, measured_fields
from replay_server import (Answer, EchoKey, Garbage, ReplayServer, Reset, Stall, Status, Truncate, UnknownModel, closed_port_url)

QUICK = ("--retries", "1", "--backoff", "0.01")


def project_answer(task, old=None, new=None):
    """The task's own answer as a model would write it; with a text of it replaced."""
    folder = TASKS / task / "reference"
    files = sorted(path for path in folder.rglob("*") if path.suffix in (".h", ".cpp"))
    text = "".join(f"<{path.relative_to(folder)}>\n{path.read_text()}</{path.relative_to(folder)}>\n" for path in files)
    assert old is None or text.count(old) == 1, f"{task}: {text.count(old)} times: {old}"
    return text.replace(old, new) if old else text


def task_of(request):
    """The operator, in snake case, that a prompt asks for."""
    return re.findall(r"<op_kernel/(\w+)\.cpp>", request.prompt)[-1]


SQRT, ADD = "level1/Math/Sqrt", "level1/Math/AddCustom"
RIGHT = {"sqrt": project_answer(SQRT), "add_custom": project_answer(ADD)}
WRONG = {"sqrt": project_answer(SQRT, "Sqrt(wide, wide, count);", "Abs(wide, wide, count);"),
         "add_custom": project_answer(ADD, "Add(z, x, y, count);", "Sub(z, x, y, count);")}
BROKEN = {"sqrt": project_answer(SQRT, "op.Process();", "op.Proces();"),
          "add_custom": project_answer(ADD, "Add(z, x, y, count);", "Ad(z, x, y, count);")}


def mixed(request):
    """Six answers by turns: right, wrong, one that does not compile, words, nothing, one that was cut."""
    task = task_of(request)
    kinds = [Answer(f"Here it is.\n{RIGHT[task]}"), Answer(WRONG[task]), Answer(BROKEN[task]),
             Answer("I cannot do that."), Answer(" \n", reasoning="Let me think."),
             Answer(RIGHT[task][:len(RIGHT[task]) // 3], finish="length")]
    return [kinds[(request.seed + i) % len(kinds)] for i in range(request.n)]


MEASURED = measured_fields() | {"seconds", "run"}


def without_times(value):
    """A report in JSON without what is measured."""
    if isinstance(value, dict):
        return {key: without_times(entry) for key, entry in value.items() if key not in MEASURED}
    return [without_times(entry) for entry in value] if isinstance(value, list) else value


class Sampling(unittest.TestCase):
    def setUp(self):
        self.directory = pathlib.Path(tempfile.mkdtemp(prefix="akgen-sampling-"))
        self.addCleanup(shutil.rmtree, self.directory)
        self.db = self.directory / "runs.db"

    def arguments(self, url, *options, tasks="level1/Math/[AS][dq][dr][Ct]*"):
        return ["bench", "--provider", f"openai:{url}", "--model", "replay", "--task", tasks, "--case", "0",
                "--answer-seed", "0", "--db", str(self.db), *QUICK, *options]

    def bench(self, url, *options, tasks="level1/Math/[AS][dq][dr][Ct]*", **keywords):
        return akgen(*self.arguments(url, *options, tasks=tasks), **keywords)

    def rows(self, sql):
        connection = sqlite3.connect(self.db)
        try:
            return connection.execute(sql).fetchall()
        finally:
            connection.close()

    def report(self, *options):
        return json.loads(akgen("report", "--db", self.db, "--format", "json", *options).stdout)

    def start(self, arguments, **environment):
        return subprocess.Popen([AKGEN, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                env={**os.environ, "NO_COLOR": "1", **environment})

    def wait_for(self, sql, count, process, seconds=60):
        """Until the query's number has reached `count`; False if the process has ended before."""
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline and process.poll() is None:
            try:
                if self.rows(sql)[0][0] >= count:
                    return True
            except sqlite3.OperationalError:
                pass  # not there yet, or locked
            time.sleep(0.01)
        return False

    def test_mixed_answers(self):
        page = self.directory / "run.html"
        with ReplayServer(mixed) as server:
            process = self.bench(server.url, "-n", "6", "--per-request", "4", "-k", "1,6,8", "--max-answer-tokens",
                                 "2000", "--price-prompt", "1", "--price-answer", "2", "--report", page)
            sent = sorted((request.body["seed"], request.n) for request in server.requests)
        self.assertEqual(process.returncode, 1, process.stdout + process.stderr)
        self.assertEqual(sent, [(0, 4), (0, 4), (4, 2), (4, 2)])
        # Of six samples right, wrong and one whose host part compiles reach the kernel's compiler; two compile; one is right.
        self.assertRegex(process.stdout, r"all +2 +4 +33\.3% +2 +16\.7% +2/12")
        self.assertRegex(process.stdout, r"pass@k +tasks +CR@1 +CR@6 +CR@8 +ER@1 +ER@6 +ER@8")
        self.assertRegex(process.stdout, r"all +2 +33\.3% +100\.0% +100\.0% +16\.7% +100\.0% +100\.0%\n")
        self.assertIn("missing      0 of 2 tasks have no answer, 2 more have fewer than 8; a missing one counts as wrong: "
                      "level1/Math/AddCustom (6), level1/Math/Sqrt (6)\n", process.stdout)
        self.assertIn("verdicts     pass 2  wrong 2  compile_error 8\n", process.stdout)
        self.assertIn("of their first 1   Comp@1 100.0%  Pass@1 100.0%  modelled: Fast0.2@1 100.0%  ", process.stdout)
        self.assertIn("empty answers: 2, cut at the token limit: 2; the model is to blame", process.stdout)
        self.assertRegex(process.stdout, r"model replay.*max_tokens 2000, seed 0")
        totals = re.search(r"12 of 12 samples asked for in 4 requests: (\d+) tokens of prompts, (\d+) of answers, cost (.*)\n",
                           process.stdout)
        prompt, answers, cost = int(totals[1]), int(totals[2]), float(totals[3])
        self.assertAlmostEqual(cost, (prompt + 2 * answers) / 1e6, places=4)
        reasons = self.rows("SELECT sample, verdict, reason FROM verdicts WHERE task LIKE '%Sqrt' ORDER BY sample")
        self.assertEqual([row[1] for row in reasons], ["pass", "wrong"] + 4 * ["compile_error"])
        self.assertEqual(reasons[4][2], "the answer is empty")
        self.assertIn("the answer was cut at the token limit of 2000: ", reasons[5][2])
        classes = self.rows("SELECT sample, class FROM diagnostics WHERE task LIKE '%Sqrt' AND sample > 2 ORDER BY sample")
        self.assertEqual(classes, [(3, "syntax"), (4, "syntax"), (5, "syntax")])

        stored = self.rows("SELECT answer, reasoning, finish, tries, prompt_tokens, request, response, prompt FROM answers"
                           " WHERE task LIKE '%Sqrt' ORDER BY sample")
        self.assertEqual(stored[0][0], f"Here it is.\n{RIGHT['sqrt']}")
        self.assertEqual(stored[4][:3], (" \n", "Let me think.", "stop"))
        self.assertEqual(stored[5][2], "length")
        request = json.loads(stored[0][5])
        self.assertEqual((request["n"], request["seed"], request["messages"]), (4, 0, f"prompts.{stored[0][7]}"))
        self.assertEqual([row[5] is None for row in stored], [False, True, True, True, False, True])
        self.assertEqual(len(json.loads(stored[0][6])["choices"]), 4)
        messages = json.loads(self.rows(f"SELECT messages FROM prompts WHERE hash = '{stored[0][7]}'")[0][0])
        self.assertEqual(messages, next(r.messages for r in server.requests if task_of(r) == "sqrt"))

        report = self.report("-k", "6")
        self.assertEqual(report["sampling"]["settings"]["model"], "replay")
        self.assertEqual({name: report["sampling"][name] for name in ("planned", "answered", "failed", "empty", "cut")},
                         {"planned": 12, "answered": 12, "failed": 0, "empty": 2, "cut": 2})
        self.assertIn({"name": "all", "k": 6, "tasks": 2, "left_out": 0, "compile_rate": 1.0, "execution_rate": 1.0},
                      report["pass_at_k"])
        text = page.read_text()
        self.assertIn("<h2>Model</h2>", text)
        self.assertIn("model replay", text)
        self.assertIn("12 of 12 samples asked for in 4 requests", text)
        self.assertIn("<th class=n>ER@8", text)

    def test_faults_are_retried(self):
        faults = [Status(429, retry_after=0), Status(500), Reset(), Truncate(), Truncate(properly=False), Garbage(), Stall()]
        with ReplayServer(lambda request: "no code", lambda r: None if r.attempt else faults[r.seed]) as server:
            process = self.bench(server.url, "-n", len(faults), "--idle-timeout", "0.3", tasks="*/Sqrt")
        self.assertEqual(process.returncode, 1, process.stdout + process.stderr)
        # libcurl itself repeats a request if a connection that it uses again is reset: a try less, and as many requests.
        self.assertEqual(sorted(request.body["seed"] for request in server.requests), sorted(2 * list(range(len(faults)))))
        self.assertEqual(self.rows("SELECT count(*), max(tries), max(failure) FROM answers"), [(len(faults), 2, None)])
        self.assertLessEqual(self.rows("SELECT count(*) FROM answers WHERE tries < 2")[0][0], 1)
        self.assertIn(f"verdicts     compile_error {len(faults)}\n", process.stdout)
        self.assertNotIn("infra_error", process.stdout)

    def test_faults_that_stay_do_not_count(self):
        faults = [None, None, Status(429, retry_after=0), Status(500), Reset(), Truncate(), Garbage(), Stall()]
        with ReplayServer(lambda r: RIGHT[task_of(r)] if r.seed else "no code", lambda r: faults[r.seed]) as server:
            process = self.bench(server.url, "-n", len(faults), "-k", "1,3", "--idle-timeout", "0.3", tasks="*/Sqrt")
            self.assertEqual(process.returncode, 3, process.stdout + process.stderr)
            self.assertIn("infra_error: 6 samples of which the model is not to blame, in no figure: no answer: ",
                          process.stdout)
            self.assertIn("pass@3: 1 of 1 tasks has fewer than 3 rated samples and is left out: level1/Math/Sqrt (2)",
                          process.stdout)
            self.assertRegex(process.stdout, r"all +1 +1 +50\.0% +1 +50\.0% +1/2( +100\.0%){3} +[\d.]+  \(6 excluded\)")
            self.assertIn("6 of 8 samples lack a verdict; the same command with --resume goes on", process.stderr)
            failures = dict(self.rows("SELECT sample, failure FROM answers WHERE failure IS NOT NULL"))
            for sample, text in ((2, "HTTP 429"), (3, "HTTP 500"), (7, "stalled")):
                self.assertIn(text, failures[sample])
            self.assertEqual(sorted(failures), [2, 3, 4, 5, 6, 7])

            # The server is well again: only what failed is asked for.
            before, faults[:] = len(server.requests), [None] * len(faults)
            resumed = self.bench(server.url, "-n", len(faults), "-k", "1,3", "--resume", tasks="*/Sqrt")
            self.assertEqual(resumed.returncode, 1, resumed.stdout + resumed.stderr)
            self.assertEqual(sorted(request.seed for request in server.requests[before:]), [2, 3, 4, 5, 6, 7])
        self.assertRegex(resumed.stdout, r"all +1 +7 +87\.5% +7 +87\.5% +7/8( +100\.0%){3} +[\d.]+\n")
        self.assertNotIn("infra_error", resumed.stdout)
        self.assertEqual(self.rows("SELECT count(*) FROM runs"), [(1,)])

    def test_a_server_that_is_not_there_is_given_up(self):
        process = self.bench(closed_port_url(), "-n", "100", "--concurrency", "4", tasks="*/Sqrt")
        self.assertEqual(process.returncode, 3, process.stdout + process.stderr)
        self.assertIn("akgen: the server answers nothing: ", process.stderr)
        asked = self.rows("SELECT count(*) FROM answers WHERE answer IS NULL")[0][0]
        self.assertTrue(10 <= asked <= 14, asked)
        self.assertIn(f"not sampled, and counted as wrong: {100 - asked} of 100 samples\n", process.stdout)
        self.assertIn("100 of 100 samples lack a verdict", process.stderr)
        with ReplayServer(mixed, lambda request: UnknownModel) as server:
            process = self.bench(server.url, "-n", "100", "--concurrency", "4", tasks="*/Sqrt")
            self.assertLess(len(server.requests), 10)
        self.assertEqual(process.returncode, 3)
        self.assertIn("HTTP 404: The model does not exist", process.stderr)

    def test_killed_three_times(self):
        """The same report, and nothing that was answered is asked for again."""
        options = ("-n", "12", "--per-request", "2", "-k", "1,10", "--concurrency", "2", "--price-answer", "5")
        with ReplayServer(mixed, delay=0.1) as server:
            whole = self.bench(server.url, *options)
            self.assertEqual(whole.returncode, 1, whole.stdout + whole.stderr)
            expected, first = without_times(self.report("-k", "1,10")), len(server.requests)
            self.assertEqual(first, 12)
            self.db = self.directory / "killed.db"
            resume = ()
            for samples in (4, 10, 16):
                process = self.start(self.arguments(server.url, *options, *resume))
                self.assertTrue(self.wait_for("SELECT count(*) FROM answers", samples, process), "it has ended before")
                if samples == 4:
                    process.send_signal(signal.SIGSTOP)
                    second = self.bench(server.url, *options, "--resume")
                    self.assertEqual(second.returncode, 3)
                    self.assertIn("run 1 goes on in another akgen", second.stderr)
                process.kill()
                process.communicate()
                resume = ("--resume",)
            answered = self.rows("SELECT count(*) FROM answers WHERE answer IS NOT NULL")[0][0]
            before = len(server.requests)
            last = self.bench(server.url, *options, *resume)
            self.assertEqual(last.returncode, 1, last.stdout + last.stderr)
            self.assertEqual(sum(request.n for request in server.requests[before:]), 24 - answered)
        self.assertEqual(self.rows("SELECT count(DISTINCT run), count(*) FROM verdicts"), [(1, 24)])
        self.assertEqual(without_times(self.report("-k", "1,10")), expected)
        times = re.compile(r"in [\d.]+ s ")
        self.assertEqual(times.sub("", last.stdout), times.sub("", whole.stdout))

    def test_interrupted(self):
        with ReplayServer(mixed, delay=0.05) as server:
            process = self.start(self.arguments(server.url, "-n", "40", "--concurrency", "1"))
            self.assertTrue(self.wait_for("SELECT count(*) FROM verdicts", 2, process))
            process.send_signal(signal.SIGINT)
            start = time.monotonic()
            out, err = process.communicate(timeout=60)
            self.assertLess(time.monotonic() - start, 30)
        self.assertEqual(process.returncode, 130, out + err)
        self.assertIn("akgen: interrupted\n", err)
        self.assertRegex(err, r"akgen: \d+ of 80 samples lack a verdict; the same command with --resume goes on\n")
        asked = self.rows("SELECT count(*) FROM answers")[0][0]
        self.assertIn(f"not sampled, and counted as wrong: {80 - asked} of 80 samples\n", out)
        self.assertEqual(self.rows("SELECT seconds FROM runs"), [(None,)])

    def test_limits(self):
        with ReplayServer(lambda request: Answer("no code", tokens=1000), no_usage=False) as server:
            options = ("-n", "20", "--concurrency", "1", "--price-answer", "1000000", "--price-prompt", "0")
            process = self.bench(server.url, *options, "--max-cost", "3500", tasks="*/Sqrt")
            self.assertEqual(process.returncode, 1, process.stdout + process.stderr)
            self.assertIn("akgen: the limit of costs is reached\n", process.stderr)
            self.assertIn("16 of 20 samples lack a verdict; the same command with --resume and a higher limit goes on",
                          process.stderr)
            self.assertIn("not sampled, and counted as wrong: 16 of 20 samples\n", process.stdout)
            self.assertRegex(process.stdout, r"4 of 20 samples asked for in 4 requests: .* 4000 of answers, cost 4000\.0000")
            again = self.bench(server.url, *options, "--max-cost", "3500", "--resume", tasks="*/Sqrt")
            self.assertEqual(len(server.requests), 4, "the limit is of the run, not of the process")
            self.assertIn("the limit of costs is reached", again.stderr)
            spent = self.rows("SELECT sum(prompt_tokens + completion_tokens) FROM answers")[0][0]
            more = self.bench(server.url, *options, "--max-tokens", spent + 1, "--resume", tasks="*/Sqrt")
            self.assertEqual(len(server.requests), 5)
            self.assertIn("akgen: the limit of tokens is reached\n", more.stderr)
            last = self.bench(server.url, *options, "--resume", tasks="*/Sqrt")
            self.assertEqual((last.returncode, len(server.requests)), (1, 20))
            self.assertEqual(last.stderr, "")
            done = self.bench(server.url, *options, "--resume", tasks="*/Sqrt")
            self.assertEqual(done.returncode, 3)
            self.assertIn("has no unfinished run with these settings", done.stderr)

    def test_tokens_that_the_server_does_not_count(self):
        with ReplayServer(lambda request: "word " * 1000, no_usage=True) as server:
            process = self.bench(server.url, "-n", "9", "--concurrency", "1", "--max-tokens", "20000", tasks="*/Sqrt")
            asked = len(server.requests)
            self.assertIn(f"(without those of {asked} answers that the server did not count)", process.stdout)
            self.assertTrue(1 < asked < 9, asked)  # a prompt has some 4700 tokens, an answer some 1000
            self.bench(server.url, "-n", "9", "--concurrency", "1", "--max-tokens", "20000", "--resume", tasks="*/Sqrt")
            self.assertEqual(len(server.requests), asked, "what was spent is estimated alike")

    def test_other_settings_are_not_gone_on_with(self):
        with ReplayServer(mixed, lambda request: Status(500)) as server:
            self.bench(server.url, "-n", "2", "--temperature", "0.2", "--variant", "one-shot", tasks="*/Sqrt")
            other = self.bench(server.url, "-n", "2", "--temperature", "0.8", "--variant", "zero-shot", "--resume",
                               tasks="*/Sqrt")
        self.assertEqual(other.returncode, 3)
        self.assertIn("run 1 differs in prompt.variant (\"one-shot\", now \"zero-shot\"), "
                      "sampling.temperature (0.2, now 0.8)", other.stderr)

    def test_the_key_is_nowhere(self):
        key = "sk-a-secret-0123456789abcdef"
        cache, page = self.directory / "cache", self.directory / "run.html"
        faults = [EchoKey(200), EchoKey(401)]
        with ReplayServer(mixed, lambda request: faults[request.seed]) as server:
            process = self.bench(server.url, "-n", "2", "--report", page, tasks="*/Sqrt",
                                 env={"AKGEN_API_KEY": key, "XDG_CACHE_HOME": str(cache)})
            self.assertEqual({request.key for request in server.requests}, {key})
        self.assertEqual(self.rows("SELECT count(*) FROM answers")[0][0], 2)
        printed = process.stdout + process.stderr + akgen("report", "--db", self.db, "--format", "json").stdout
        self.assertNotIn(key, printed)
        for path in self.directory.rglob("*"):
            if path.is_file():
                self.assertNotIn(key.encode(), path.read_bytes(), path)

    def test_a_command(self):
        answer = self.directory / "answer.txt"
        answer.write_text(RIGHT["sqrt"])
        command = f"grep -q 'op_kernel/sqrt.cpp' && [ $AKGEN_SEED != 2 ] && cat {answer}"
        process = akgen("bench", "--provider", f"exec:{command}", "--task", "*/Sqrt", "--case", "0", "-n", "3",
                        "--answer-seed", "0", "--db", self.db, *QUICK)
        self.assertEqual(process.returncode, 3, process.stdout + process.stderr)
        self.assertRegex(process.stdout, r"all +1 +2 +100\.0% +2 +100\.0% +2/2( +100\.0%){3} +[\d.]+  \(1 excluded\)")
        self.assertRegex(process.stdout, r"no answer: .*the command ended with exit code 1 \(1\)")

    def test_a_command_goes_with_akgen(self):
        """Also what it has started itself, and also when akgen is killed."""
        mark = f"{os.getpid()}.{time.monotonic_ns()}"
        process = self.start(["bench", "--provider", f"exec:sleep 1{mark} & wait", "--task", "*/Sqrt", "-n", "2", "--db",
                              str(self.db)])

        def running():
            return subprocess.run(["pgrep", "-f", f"^sleep 1{re.escape(mark)}"], capture_output=True, text=True).stdout.split()
        for expected in (2, 0):
            deadline = time.monotonic() + 30
            while len(running()) != expected and time.monotonic() < deadline:
                time.sleep(0.05)
            self.assertEqual(len(running()), expected)
            process.kill()
            process.communicate()

    def test_without_a_database(self):
        with ReplayServer(mixed) as server:
            process = akgen("bench", "--provider", f"openai:{server.url}", "--model", "replay", "--task", "*/Sqrt",
                            "--case", "0", "-n", "2", "--answer-seed", "0", *QUICK)
        self.assertEqual(process.returncode, 1, process.stdout + process.stderr)
        self.assertRegex(process.stdout, r"all +1 +2 +100\.0% +1 +50\.0% +1/2( +100\.0%){3} +[\d.]+\n")
        self.assertEqual(process.stderr, "")

    def test_two_runs_in_one_database(self):
        with ReplayServer(mixed, delay=0.02) as server:
            runs = [self.start(self.arguments(server.url, "-n", "6", tasks="*/Sqrt")) for _ in range(2)]
            ends = [(run.communicate(timeout=120), run.returncode) for run in runs]
            self.assertEqual([code for _, code in ends], [1, 1], ends)
        self.assertEqual(self.rows("SELECT run, count(*) FROM verdicts GROUP BY run"), [(1, 6), (2, 6)])

    def test_k_is_checked(self):
        for text in ("0", "1,", "10,1", "1,1", "x", "1;2", "-1"):
            process = akgen("report", "--db", self.db, f"-k{text}")
            self.assertEqual(process.returncode, 2, text)
            self.assertIn(f"-k: '{text}' is not a list", process.stderr)


if __name__ == "__main__":
    unittest.main(verbosity=2)
