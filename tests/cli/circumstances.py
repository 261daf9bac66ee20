"""The same evaluation under circumstances that must not matter: where candidate and cache lie, what the cache holds, how large
environment and stack are, which descriptors are open, how busy the machine is, where the loader puts things. For
determinism_test.py and tests/prove/determinism.py."""
import contextlib
import itertools
import json
import os
import pathlib
import random
import shutil
import subprocess
import sys

from akgen_program import AKGEN, Server, served_options, without_measurements

BURN = "import os\nmine = os.getppid()\nwhile os.getppid() == mine: pass"  # no longer than who started it


class Circumstances:
    """What surrounds one run of one candidate, made from a number: 0 is the quiet one, every other a mixture of all that
    follows."""

    def __init__(self, scratch, number, name=""):
        dice = random.Random(number)
        self.number, self.scratch = number, pathlib.Path(scratch)
        self.cold, self.copy = self.scratch / f"cold-{number}" / name, self.scratch / f"copy-{number}" / name
        self.words, self.limit, self.files = [], None, 0
        self.environment = dict(os.environ, NO_COLOR="1")
        self.cache = self.scratch / "cache"  # warm
        self.burners, self.nice = 0, []
        if not number:
            return
        if dice.random() < 0.3:  # without an object in it, at the end of a path of any length
            self.cache = self.cold / ("x" * dice.randint(1, 150))
            self.take_headers()
        self.environment.update({f"FILLER_{i}": "x" * dice.randint(0, 4000) for i in range(dice.choice((0, 1, 20)))})
        self.environment.update(dice.choice(({}, {"LC_ALL": "C.UTF-8", "TZ": "Asia/Shanghai"}, {"LANG": "de_DE.UTF-8"})))
        self.limit = dice.choice((None, "1024", "4096", "65536"))
        self.files = dice.choice((0, 0, 3, 40))
        if dice.random() < 0.3 and shutil.which("setarch"):
            self.words += ["setarch", os.uname().machine, "-R"]
        self.nice = ["nice", "-n", "5"] if dice.random() < 0.3 else []
        self.words += self.nice
        self.burners = dice.choice((0, 0, 1, 4))
        if os.getloadavg()[0] > 2 * os.cpu_count():  # busy enough
            self.burners = 0

    def take_headers(self):
        """Precompiled headers take seconds to make: those of the quiet run serve."""
        warm, cold = self.scratch / "cache/akgen", self.cache / "akgen"
        if not cold.exists() and (warm / "pch").exists():
            shutil.copytree(warm / "pch", cold / "pch", copy_function=os.link)

    def place(self, project, name="."):
        """The project, or a copy of it at another path, in a folder of this name."""
        if self.number % 3 != 1:
            return project
        copy = self.copy / ("y" * (self.number % 100 + 1)) / name / pathlib.Path(project).name
        if not copy.exists():
            shutil.copytree(project, copy)
        return copy

    @contextlib.contextmanager
    def around(self):
        """Burners and open files while something runs. Burners are as nice as it is: beside others it would hardly run at all."""
        burners = [subprocess.Popen([*self.nice, sys.executable, "-c", BURN]) for _ in range(self.burners)]
        files = [os.open("/dev/null", os.O_RDONLY) for _ in range(self.files)]
        try:
            yield files
        finally:
            for burner in burners:
                burner.kill()
                burner.wait()
            for file in files:
                os.close(file)

    def command(self):
        """akgen, and what starts it."""
        limit = ["/bin/sh", "-c", f'ulimit -S -s {self.limit}; exec "$@"', "sh"] if self.limit else []
        return [*limit, *self.words, AKGEN]

    def settings(self, files):
        """The rest of it, as Popen has it."""
        return {"pass_fds": files, "cwd": "/" if self.number % 2 else None}

    def whole_environment(self):
        return dict(self.environment, XDG_CACHE_HOME=str(self.cache))

    def run(self, *arguments, timeout=900):
        """What akgen prints."""
        with self.around() as files:
            return subprocess.run([*self.command(), *map(str, arguments)], capture_output=True, text=True, errors="replace",
                                  timeout=timeout, env=self.whole_environment(), **self.settings(files))

    def verdicts(self, candidates, jobs):
        """{name: the text of the verdict without its measurements} of (name, task, project, options), from one server."""
        with self.around() as files:
            server = Server("--jobs", jobs, environment=self.whole_environment(), command=self.command(), **self.settings(files))
            sent = [(name, server.send(task=str(task), candidate={"path": str(pathlib.Path(self.place(project, name)).resolve())},
                                       options=served_options(options))) for name, task, project, options in candidates]
            texts = {name: without_measurements(json.dumps(server.receive(identity).get("verdict"))) for name, identity in sent}
            assert server.close() == 0, "akgen serve did not end as it should"
        return texts

    def verdict(self, task, project, *options):
        """The text of the verdict without its measurements."""
        done = self.run("eval", task, pathlib.Path(self.place(project)).resolve(), "--json", *options)
        return without_measurements(done.stdout or f"no verdict: exit {done.returncode}, {done.stderr}")

    def forget(self):
        """Removes what only this run has used."""
        for folder in (self.cold, self.copy):
            shutil.rmtree(folder, ignore_errors=True)


def difference(first, other):
    """Where two verdicts differ: the path of the first field, and both values."""
    try:
        first, other = json.loads(first), json.loads(other)
        reasons = f" (first: {first['reason']!r}; then: {other['reason']!r})"
        return (_difference("", first, other) or "spelling") + reasons
    except (ValueError, KeyError):
        pairs = itertools.zip_longest(str(first).split("\n"), str(other).split("\n"))
        return next((f"{b!r}, not {a!r}" for a, b in pairs if a != b), "")


def _difference(path, first, other):
    if isinstance(first, dict) and isinstance(other, dict) and first.keys() == other.keys():
        parts = first.keys()
    elif isinstance(first, list) and isinstance(other, list) and len(first) == len(other):
        parts = range(len(first))
    else:
        return None if first == other else f"{path}: {str(other)[:300]!r}, not {str(first)[:300]!r}"
    return next((found for part in parts if (found := _difference(f"{path}/{part}", first[part], other[part]))), None)
