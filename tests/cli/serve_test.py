#!/usr/bin/python3
# test: cost=38 labels=long
"""akgen serve --stdio, as a program uses it: every form of candidate, order, what is no request, cancelling, and every way to end."""
import json
import os
import pathlib
import shutil
import signal
import subprocess
import tempfile
import time
import unittest

import jsonschema

from akgen_program import AKGEN, HOME, SANITIZED, TASKS, Server, akgen, copy_reference, edit, without_measurements

SQRT = "level1/Math/Sqrt"
QUICK = {"mode": "static"}
DOCS = "http://akgen/docs/"  # a base for the schemas' references to each other, which nobody opens
SCHEMAS = {DOCS + name: json.loads((HOME / "docs" / name).read_text()) for name in ("serve.schema.json", "verdict.schema.json")}
ENDLESS = "    while (true) {\n        *reinterpret_cast<volatile __gm__ int32_t *>(y) = 1;\n    }\n"


def validator(part):
    schema = {"$ref": f"{DOCS}serve.schema.json#/definitions/{part}"}
    return jsonschema.Draft7Validator(schema, resolver=jsonschema.RefResolver(DOCS, schema, store=SCHEMAS))


REQUEST, REPLY = validator("request"), validator("reply")


def descendants(pid):
    """Processes that a process has started, and those that they have."""
    found = []
    for stat in pathlib.Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if int(fields[1]) == pid:
            found += [int(stat.parent.name), *descendants(int(stat.parent.name))]
    return found


def alive(pids):
    def runs(pid):
        try:
            return pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
        except OSError:
            return False
    return [pid for pid in pids if runs(pid)]


def wait_until(holds, seconds=60):
    end = time.monotonic() + seconds
    while not holds() and time.monotonic() < end:
        time.sleep(0.02)
    return holds()


class Case(unittest.TestCase):
    def setUp(self):
        self.directory = pathlib.Path(tempfile.mkdtemp(prefix="akgen-serve-test-"))
        self.addCleanup(shutil.rmtree, self.directory)
        self.reference = str(TASKS / SQRT / "reference")

    def start(self, *arguments, environment=None):
        """A server whose pipes the test has itself."""
        program = subprocess.Popen([AKGEN, "serve", "--stdio", *arguments], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, env=environment)
        self.addCleanup(self.stop, program)
        return program

    @staticmethod
    def stop(program):
        program.kill()
        program.wait()
        for pipe in (program.stdin, program.stdout, program.stderr):
            pipe.close()

    @staticmethod
    def write(program, *requests):
        for request in requests:
            program.stdin.write(request if isinstance(request, bytes) else json.dumps(request).encode() + b"\n")
        program.stdin.flush()

    def read(self, program):
        """The next reply, which the schema allows."""
        line = program.stdout.readline()
        self.assertTrue(line.endswith(b"\n"), line)
        reply = json.loads(line)
        REPLY.validate(reply)
        return reply

    def request(self, identity, candidate=None, task="Sqrt", **options):
        request = {"id": identity, "task": task, "candidate": candidate or {"path": self.reference}, "options": {**QUICK, **options}}
        REQUEST.validate(request)
        return request

    def endless(self):
        """A candidate that only its number of steps would end, after minutes."""
        project = copy_reference(SQRT, self.directory)
        kernel = project / "op_kernel" / "sqrt.cpp"
        text = kernel.read_text()
        at = text.index("{", text.index('extern "C" __global__')) + 1
        kernel.write_text(text[:at] + "\n" + ENDLESS + text[at:])
        return {"path": str(project)}


class Replies(Case):
    def answers(self, *requests):
        """The replies to these requests, by id; the server ends as it should."""
        program = self.start()
        out, errors = program.communicate(b"".join(r if isinstance(r, bytes) else json.dumps(r).encode() + b"\n" for r in requests))
        self.assertEqual((program.returncode, errors), (0, b""))
        replies = [json.loads(line) for line in out.splitlines()]
        for reply in replies:
            REPLY.validate(reply)
        self.assertEqual(len(replies), len(requests))
        return replies

    def refused(self, *lines):
        """Messages of lines that are no requests; a good one after them is answered."""
        *replies, last = self.answers(*[line + b"\n" for line in lines], {"id": "last", "ping": True})
        self.assertEqual(last, {"id": "last", "ping": True})
        self.assertEqual({reply["error"]["kind"] for reply in replies}, {"request"})
        return [(reply["id"], reply["error"]["message"]) for reply in replies]

    def test_equal_to_eval(self):
        """A verdict has the bytes that eval prints, whichever way the candidate came."""
        wrong = copy_reference(SQRT, self.directory)
        edit(wrong / "op_kernel" / "sqrt.cpp", "Sqrt(y, x, count);", "Abs(y, x, count);")
        answer = self.directory / "answer.txt"
        answer.write_text("".join(f"```cpp\n// {file.relative_to(wrong)}\n{file.read_text()}\n```\n"
                                  for file in sorted(wrong.rglob("*.cpp"))))
        program = self.directory / "answer.py"
        shutil.copy(TASKS / SQRT / "program.py", program)
        files = {str(file.relative_to(wrong)): file.read_text() for file in sorted(wrong.rglob("*")) if file.is_file()}
        none = self.directory / "none.md"
        none.write_text("no code")
        for path, ways, options in [
                (wrong, [{"files": files}], {}),
                (wrong, [], {"profile": "strict", "case": 1}),
                (self.reference, [], {"schedule": "random:3", "seeds": 1, "soc": "Ascend910B3"}),
                (answer, [{"text": answer.read_text()}], {}),
                (program, [{"text": program.read_text(), "name": "answer.py"}], {}),
                (none, [{"text": "no code", "name": "none.md"}], {"language": "dsl"})]:
            words = [f"--{name}={value}" for name, value in {**QUICK, **options}.items()]
            process = akgen("eval", SQRT, path, "--json", *words)
            expected = without_measurements(json.dumps(json.loads(process.stdout)))
            ways = [{"path": str(path)}, *ways]
            for reply in self.answers(*[self.request(number, way, **options) for number, way in enumerate(ways)]):
                self.assertEqual(without_measurements(json.dumps(reply["verdict"])), expected, (path, reply["id"]))

    def test_ids_and_order(self):
        """Any string or number; what is ready first is answered first."""
        ids = [1, -1, 1.5, 2**63 - 1, "", "1", "ü\n\"", 0]
        replies = self.answers(*[self.request(identity, {"text": "no code"}) for identity in ids])
        self.assertCountEqual([reply["id"] for reply in replies], ids)
        program = self.start("--jobs=2")
        self.write(program, self.request("long", **{"no-cache": True}),
                   {"id": "ping", "ping": True}, self.request("short", {"text": "no code"}))
        self.assertEqual([self.read(program)["id"] for _ in range(3)], ["ping", "short", "long"])

    def test_no_requests(self):
        messages = self.refused(
            b"", b"nonsense", b"[1]", b"{}", b'{"id": null, "ping": true}', b'{"id": 1}', b'{"id": 2, "ping": 1}',
            b'{"id": 3, "taks": "Sqrt"}', b'{"id": 4, "task": "Sqrt", "candidate": "here"}',
            b'{"id": 5, "task": "Sqrt", "candidate": {}}', b'{"id": 6, "task": "Sqrt", "candidate": {"path": "a", "text": "b"}}',
            b'{"id": 7, "task": "Sqrt", "candidate": {"files": {"../a": "b"}}}',
            b'{"id": 8, "task": "Sqrt", "candidate": {"text": "a", "name": "a/b.py"}}',
            b'{"id": 9, "task": 1, "candidate": {"path": "a"}}', b'{"id": 10, "ping": true, "ping": true}',
            b'{"id": 11, "ping": true, "task": "Sqrt"}', b'{"id": "\xff", "ping": true}', b'{"id": "\0", "ping": true}',
            b'{"id": "\\u0000", "ping": true}', b"[" * 100000, b'{"id": 12, "cancel": [1]}', b'{"id": 13, "cancel": 1}',
            b'{"id": 14, "task": "Sqrt", "candidate": {"path": "a"}, "options": []}')
        for (identity, message), part in zip(messages, [
                "no JSON", "no JSON", "no object", "id is missing", "id is neither", "without task", "ping is not true",
                "did you mean task?", "candidate is none of", "exactly one of", "exactly one of", "'../a' is no path",
                "candidate.name", "task is neither", "no JSON: duplicate object key", "no other key", "no JSON", "no JSON",
                "no JSON", "no JSON: maximum parsing depth", "cancel is not the id", "no request with this id", "options is no object"]):
            self.assertIn(part, message)
            self.assertNotIn("\n", message)
        numbers = [identity for identity, _ in messages if isinstance(identity, int)]
        self.assertEqual(numbers, [1, 2, 3, 4, 5, 6, 7, 8, 9, 11, 12, 13, 14])

    def test_refused_options(self):
        """In eval's own words."""
        def refused(**options):
            reply, = self.answers({"id": 1, "task": "Sqrt", "candidate": {"path": self.reference}, "options": options})
            self.assertEqual(reply["error"]["kind"], "request")
            return reply["error"]["message"]
        for name, value in [("mode", "both"), ("case", -1), ("schedule", "random:x"), ("timeout", 1.5), ("language", "c"),
                            ("soc", "x"), ("baseline", "that"), ("case", 77)]:
            line = akgen("eval", SQRT, self.reference, f"--{name}={value}").stderr.splitlines()[0]
            self.assertTrue(line.endswith(refused(**{name: value}).removeprefix("options: ")), line)
        self.assertIn("did you mean profile?", refused(profil="strict"))
        self.assertIn("has a value: N", refused(case=True))
        self.assertIn("true or false", refused(full="yes"))
        self.assertIn("akgen serve --jobs", refused(jobs=2))
        self.assertIn("neither a string nor a number", refused(case=None))
        self.assertIn("limits of its own", refused(profile="strict", tolerance="1e-2"))
        self.assertIn("did you mean", refused(json=True))
        self.assertEqual(self.answers(self.request(1, full=False, **{"no-timing": True}))[0]["verdict"]["cases"][0]["timing"], None)

    def test_errors_with_a_kind(self):
        replies = self.answers(self.request(1, task="Sqrtt"), self.request(2, {"path": "nowhere"}), self.request(3, {"path": "/etc/passwd"}))
        self.assertEqual({reply["id"]: reply["error"]["kind"] for reply in replies}, {1: "task", 2: "candidate", 3: "candidate"})

    def test_long_lines(self):
        """64 MiB of a line are read and no more; the line after them is answered."""
        text = b"x" * (64 << 20)
        replies = self.answers(b'{"id": 1, "candidate": "' + text + b'"}\n', b'{"id": 2, "x": "' + text[:-100] + b'"}\n',
                               {"id": 3, "ping": True})
        self.assertEqual([reply["id"] for reply in replies], [None, 2, 3])
        self.assertIn("more than 67108864 bytes", replies[0]["error"]["message"])

    def test_last_line_without_end(self):
        self.assertEqual(self.answers(b'{"id": 1, "ping": true}')[0]["id"], 1)

    def test_end_with_work_outstanding(self):
        """At the end of its input the server still answers all."""
        ids = list(range(6))
        replies = self.answers(*[self.request(number, **{"no-cache": True}) for number in ids])
        self.assertEqual(sorted(reply["id"] for reply in replies), ids)
        self.assertEqual({reply["verdict"]["verdict"] for reply in replies}, {"pass"})

    def test_a_task_that_changes(self):
        task = self.directory / "npukernelbench" / "level1" / "Math" / "Sqrt"
        shutil.copytree(TASKS / SQRT, task)
        program = self.start()
        ask = self.request(1, task=str(task), case=0)
        self.write(program, ask)
        self.assertEqual(self.read(program)["verdict"]["verdict"], "pass")
        cases = (task / "cases.csv").read_text().splitlines(keepends=True)
        (task / "cases.csv").write_text(cases[0] + "".join(cases[2:]))
        self.write(program, ask)
        self.assertIn("has no case 0", self.read(program)["error"]["message"])
        (task / "cases.csv").write_text("".join(cases))
        self.write(program, ask)
        self.assertEqual(self.read(program)["verdict"]["verdict"], "pass")


class Cancelling(Case):
    def test_what_a_text_does_to_its_reader(self):
        """A crash (planted, in both attempts) and a text that takes too long are their candidate's; the next verdict is right."""
        formula = {"text": "y = sqrt(x)"}
        options = {"language": "any", "case": 2}
        server = Server("--jobs=1", environment=dict(os.environ, AKGEN_INJECT="crash:1-2"))
        ask = lambda candidate, **more: server.receive(server.send(task=SQRT, candidate=candidate, options={**options, **more}))["verdict"]
        crashed = ask(formula)
        self.assertEqual((crashed["verdict"], crashed["stage"]), ("compile_error", "parse"))
        self.assertIn("its reader ends with signal", crashed["reason"])
        self.assertEqual([(d["class"], d["file"]) for d in crashed["compile"]["diagnostics"]], [("syntax", None)])
        late = ask({"text": "## op_kernel/sqrt.cpp: y = b * (c + d)\n" * 400000}, **{"candidate-seconds": 1})
        self.assertEqual((late["verdict"], late["stage"]), ("timeout", "parse"), late["reason"])
        self.assertEqual(ask(formula)["verdict"], "pass")
        self.assertEqual(server.close(), 0)

    def test_cancel(self):
        """A request that waits, compiles or runs ends at once, and touches no other."""
        program = self.start("--jobs=1")
        self.write(program, self.request("runs", self.endless()), self.request("waits"), {"id": 1, "cancel": "waits"})
        self.assertEqual([self.read(program) for _ in range(2)],
                         [{"id": "waits", "error": {"kind": "cancelled", "message": "cancelled"}}, {"id": 1, "cancelled": "waits"}])
        self.assertTrue(wait_until(lambda: self.kernel_runs(program.pid)))
        self.write(program, self.request("runs"), {"id": 2, "cancel": "runs"}, self.request("after"))
        first, second, third, fourth = (self.read(program) for _ in range(4))
        self.assertIn("another request with this id", first["error"]["message"])
        self.assertEqual(second, {"id": 2, "cancelled": "runs"})
        self.assertEqual(third, {"id": "runs", "error": {"kind": "cancelled", "message": "cancelled"}})
        self.assertEqual((fourth["id"], fourth["verdict"]["verdict"]), ("after", "pass"))

    @staticmethod
    def kernel_runs(server):
        def name(pid):
            try:
                return pathlib.Path(f"/proc/{pid}/comm").read_text().strip()
            except OSError:
                return ""
        return any(name(pid) == "akgen-run" for pid in descendants(server))

    def test_cancel_while_compiling(self):
        """A source that keeps the compiler busy for its whole limit, half a minute."""
        project = copy_reference(SQRT, self.directory)
        kernel = project / "op_kernel" / "sqrt.cpp"
        kernel.write_text(kernel.read_text() + "\ntemplate <int A, int B> struct T { static const long v = T<A - 1, 2 * B>::v + "
                          "T<A - 1, 2 * B + 1>::v; };\ntemplate <int B> struct T<0, B> { static const long v = B; };\n"
                          "static const long w = T<20, 0>::v;\n")
        program = self.start("--jobs=1")
        self.write(program, self.request("compiles", {"path": str(project)}))
        time.sleep(5)
        start = time.monotonic()
        self.write(program, {"id": 1, "cancel": "compiles"}, self.request("after"))
        replies = {reply["id"]: reply for reply in (self.read(program) for _ in range(3))}
        self.assertEqual(replies[1], {"id": 1, "cancelled": "compiles"})
        self.assertEqual(replies["compiles"]["error"]["kind"], "cancelled")
        self.assertEqual(replies["after"]["verdict"]["verdict"], "pass")
        self.assertLess(time.monotonic() - start, 20)


class Ends(Case):
    def ends_by(self, number, code):
        """The server, with a kernel at work and requests waiting, ends soon, with this code, and leaves no process and no folder."""
        cache = self.directory / "cache"
        environment = dict(os.environ, XDG_CACHE_HOME=str(cache), TMPDIR=str(self.directory / "tmp"))
        (self.directory / "tmp").mkdir(parents=True)
        program = self.start("--jobs=2", environment=environment)
        endless = self.endless()
        self.write(program, *[self.request(identity, endless) for identity in range(4)], self.request("text", {"text": "```\nint x;\n```"}))
        self.assertTrue(wait_until(lambda: Cancelling.kernel_runs(program.pid), 200))
        pids = descendants(program.pid)
        self.assertGreater(len(pids), 2)
        start = time.monotonic()
        program.send_signal(number)
        self.assertEqual(program.wait(30), code)
        self.assertLess(time.monotonic() - start, 15)
        self.assertTrue(wait_until(lambda: not alive(pids)), alive(pids))
        return program, cache

    def test_sigterm(self):
        program, cache = self.ends_by(signal.SIGTERM, 128 + signal.SIGTERM)
        replies = [json.loads(line) for line in program.stdout.read().splitlines()]
        self.assertEqual({reply["error"]["kind"] for reply in replies if reply["id"] != "text"}, {"cancelled"})
        self.assertEqual(sorted(reply["id"] for reply in replies if reply["id"] != "text"), list(range(4)))
        self.assertEqual(list((cache / "akgen" / "work").iterdir()), [])
        self.assertEqual(list((self.directory / "tmp").iterdir()), [])

    def test_sigint(self):
        self.ends_by(signal.SIGINT, 128 + signal.SIGINT)

    def test_kill(self):
        """Nobody can tidy up then, but the next evaluation does."""
        _, cache = self.ends_by(signal.SIGKILL, -signal.SIGKILL)
        environment = dict(XDG_CACHE_HOME=str(cache), TMPDIR=str(self.directory / "tmp"))
        self.assertEqual(akgen("eval", SQRT, self.reference, "--mode=static", env=environment).returncode, 0)
        self.assertEqual(list((cache / "akgen" / "work").iterdir()), [])

    def test_nobody_reads(self):
        program = self.start("--jobs=1")
        self.write(program, self.request(1, self.endless()))
        program.stdout.close()
        self.assertEqual(program.wait(30), 3)
        program.stdout = open(os.devnull, "rb")

    def test_usage(self):
        self.assertEqual(akgen("serve").returncode, 2)
        self.assertEqual(akgen("serve", "--stdio", "--jobs=0").returncode, 2)
        self.assertEqual(akgen("serve", "--stdio", "here").returncode, 2)


class Growth(Case):
    def test_many(self):
        """Neither memory nor files nor descriptors grow with the number of requests."""
        # AddressSanitizer holds back what was released; not here.
        asan = os.environ.get("ASAN_OPTIONS", "") + ":quarantine_size_mb=0:thread_local_quarantine_size_kb=0"
        server = Server("--jobs=2", environment=dict(os.environ, ASAN_OPTIONS=asan))
        self.addCleanup(server.close)
        folder = copy_reference(SQRT, self.directory)
        edit(folder / "op_kernel" / "sqrt.cpp", "    op.Process();\n", "    op.Proces();\n")
        files = {str(file.relative_to(folder)): file.read_text() for file in folder.rglob("*") if file.is_file()}

        def ask(count):
            sent = [server.send(task="Sqrt", candidate=[{"text": "no code"}, {"files": files}, {"path": self.reference}][number % 3],
                                options={**QUICK, "inputs": 1 + number % 2}) for number in range(count)]
            for number, identity in enumerate(sent):
                self.assertIn("verdict", server.receive(identity), number)

        def state():
            status = pathlib.Path(f"/proc/{server.process.pid}/status").read_text()
            memory = int(status.split("VmRSS:")[1].split()[0])
            return memory, len(os.listdir(f"/proc/{server.process.pid}/fd"))

        rounds = 100 if SANITIZED else 500
        ask(rounds)
        memory, files_open = state()
        ask(rounds)
        more_memory, more_files = state()
        self.assertLess(more_memory - memory, 8 << 10)  # kB; a leak of the candidate's texts alone would be 5 MB, of a task 20
        self.assertLessEqual(more_files, files_open)


if __name__ == "__main__":
    unittest.main()
