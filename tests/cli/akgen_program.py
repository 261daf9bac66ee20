"""Runs build/akgen as a person would. For the tests of this folder and of tests/kernels."""
import atexit
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import threading

HOME = pathlib.Path(os.environ.get("AKGEN_HOME", pathlib.Path(__file__).resolve().parents[2]))
AKGEN = os.environ.get("AKGEN", str(HOME / "build" / "akgen"))
SANITIZED = os.environ.get("AKGEN_SANITIZED") == "ON"
TASKS = HOME / "tasks" / "npukernelbench"


def akgen(*arguments, env=None, timeout=300):
    """Completed process with text output."""
    environment = dict(os.environ, NO_COLOR="1", **(env or {}))
    return subprocess.run([AKGEN, *map(str, arguments)], capture_output=True, text=True, env=environment,
                          timeout=timeout, errors="replace")


def kill_until_done(*arguments):
    """How often a command was killed (SIGKILL): each run a little later than the one before it, until one ends by itself, which has
    to succeed. No machine is too fast for it."""
    kills, wait = 0, 0.05
    while True:
        program = subprocess.Popen([AKGEN, *map(str, arguments)], stdout=subprocess.DEVNULL)
        try:
            code = program.wait(wait)
        except subprocess.TimeoutExpired:
            program.kill()
            code = program.wait()
        if code != -signal.SIGKILL:
            assert code == 0, f"exit code {code}"
            return kills
        kills, wait = kills + 1, wait * 1.5


class Server:
    """An akgen serve --stdio. Any number of threads may ask it. `command`: akgen, or a command that starts it; `keywords` as Popen has them."""
    def __init__(self, *arguments, environment=None, command=None, **keywords):
        self.program, self.environment = AKGEN, dict(environment or os.environ)
        self.process = subprocess.Popen([*(command or [AKGEN]), "serve", "--stdio", *map(str, arguments)], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, env=self.environment, **keywords)
        self.lock, self.changed = threading.Lock(), threading.Condition()
        self.replies, self.ended, self.asked = {}, False, 0
        self.reader = threading.Thread(target=self.read, daemon=True)
        self.reader.start()

    def read(self):
        for line in self.process.stdout:
            reply = json.loads(line)
            with self.changed:
                self.replies[reply["id"]] = reply
                self.changed.notify_all()
        with self.changed:
            self.ended = True
            self.changed.notify_all()

    def send(self, **request):
        """Sends a request and returns its id."""
        with self.lock:
            self.asked += 1
            identity = self.asked
            try:
                self.process.stdin.write(json.dumps({"id": identity, **request}).encode() + b"\n")
                self.process.stdin.flush()
            except OSError:
                pass  # it has ended, as receive() finds
        return identity

    def receive(self, identity, timeout=900):
        """The reply to the request with this id."""
        with self.changed:
            self.changed.wait_for(lambda: identity in self.replies or self.ended, timeout)
            assert identity in self.replies, f"akgen serve {'ended' if self.ended else 'has not answered'}"
            return self.replies.pop(identity)

    def close(self):
        """Its exit code, once all requests are answered."""
        self.process.stdin.close()
        code = self.process.wait(900)
        self.reader.join()
        self.process.stdout.close()
        return code


_servers = []  # the test program's own, at most one


def _server():
    """The server of this test program: of this akgen and this environment, and alive."""
    if _servers and (_servers[0].ended or (_servers[0].program, _servers[0].environment) != (AKGEN, dict(os.environ))):
        _close_server()
    if not _servers:
        _servers.append(Server())
    return _servers[0]


def _close_server():
    while _servers:
        code = _servers.pop().close()
        assert code == 0, f"akgen serve ended with {code}"


def _end():
    """A server that did not end as it should is a failure of the test program."""
    try:
        _close_server()
    except AssertionError as problem:
        print(problem, file=sys.stderr, flush=True)
        os._exit(1)


atexit.register(_end)

_FLAGS = {"--full", "--no-timing", "--strict-order", "--first-failure", "--no-cache", "--require-jail", "--plain-compiler"}
_VALUES = {"--soc", "--mode", "--scope", "--case", "--profile", "--sync", "--schedule", "--seeds", "--seed", "--inputs",
           "--tolerance", "--timeout", "--candidate-seconds", "--language", "--baseline"}


def served_options(options):
    """The options of a command line as those of a request; None: the server has no such ones."""
    result, words = {}, [str(word) for word in options]
    while words:
        name, equals, value = words.pop(0).partition("=")
        if name in _VALUES and not equals:
            value = words.pop(0)
        if name[2:] in result or name not in (_VALUES if name in _VALUES else _FLAGS):
            return None
        result[name[2:]] = True if name in _FLAGS else value
    return result


def _absolute(path):
    return os.path.abspath(path) if os.path.exists(path) else str(path)


def _send(task, directory, *options):
    """The server and the id of a request; None: only a process of its own can do it."""
    options = served_options(options)
    if options is None:
        return None
    task = _absolute(task) if os.path.exists(f"{task}/task.yaml") else str(task)
    server = _server()
    return server, server.send(task=task, candidate={"path": _absolute(directory)}, options=options)


def _receive(sent):
    server, identity = sent
    reply = server.receive(identity)
    assert "verdict" in reply, f"no verdict: {reply['error']['message']}"
    result = reply["verdict"]
    result["exit_code"] = {"pass": 0, "infra_error": 3}.get(result["verdict"], 1)
    return _clean(result)


def _clean(result):
    for row in result["cases"]:
        row["printed"] = without_sanitizer(row["printed"])
    return result


def verdict_of_process(task, directory, *options, **keywords):
    """The verdict of an akgen eval of its own as a dict; its exit code as 'exit_code'."""
    process = akgen("eval", task, directory, "--json", *options, **keywords)
    assert process.stdout, f"no verdict: exit {process.returncode}, {process.stderr}"
    result = json.loads(process.stdout)
    result["exit_code"] = process.returncode
    return _clean(result)


def verdict(task, directory, *options, **keywords):
    """The verdict of one evaluation as a dict; the exit code that akgen eval has for it as 'exit_code'. From the test program's server,
    unless an environment, a limit of time or an option is asked for that only a process of its own has."""
    sent = None if keywords else _send(task, directory, *options)
    return _receive(sent) if sent else verdict_of_process(task, directory, *options, **keywords)


def verdicts(evaluations):
    """The verdicts of many evaluations, each the arguments of verdict(), side by side; in their order."""
    evaluations = list(evaluations)
    sent = [_send(*evaluation) for evaluation in evaluations]
    return [_receive(one) if one else verdict_of_process(*evaluation) for one, evaluation in zip(sent, evaluations)]


def without_sanitizer(text):
    """What a kernel printed, without AddressSanitizer's remarks on coroutines in a sanitized akgen-run."""
    if not text or not SANITIZED:
        return text
    remarks = re.compile(r"==\d+==WARNING: ASan |False positive error reports may follow|For details see https://github")
    return "".join(line for line in text.splitlines(keepends=True) if not remarks.match(line)) or None


def copy_reference(task, directory):
    """A writable copy of a task's reference project."""
    target = pathlib.Path(directory) / "project"
    shutil.copytree(TASKS / task / "reference", target)
    return target


def edit(path, old, new):
    """Replaces text that must be there exactly once."""
    text = path.read_text()
    assert text.count(old) == 1, f"{path}: {text.count(old)} times: {old}"
    path.write_text(text.replace(old, new))


def measured_fields(schema=None):
    """Names of a verdict's fields that may differ from run to run: those that docs/verdict.schema.json marks."""
    schema = schema or json.loads((HOME / "docs/verdict.schema.json").read_text())
    names = {name for name, field in schema.get("properties", {}).items()
             if isinstance(field, dict) and field.get("measured")}
    for part in schema.values():
        if isinstance(part, dict):
            names |= measured_fields(part)
    return names


def without_measurements(text):
    """The text of a verdict, each measured field's value replaced; everything else byte by byte as it was."""
    return re.sub(rf'"({"|".join(sorted(measured_fields()))})": ?[-+.0-9eE]+', r'"\1": "measured"', text)
