"""A database of runs with prompts and answers, as docs/store.md describes it, for the tests of `akgen export`."""
import hashlib
import json
import sqlite3

SCHEMA = """
CREATE TABLE runs (id INTEGER PRIMARY KEY, started TEXT NOT NULL, seconds REAL, akgen TEXT NOT NULL, suite TEXT NOT NULL,
  provider TEXT NOT NULL, soc TEXT NOT NULL, mode TEXT NOT NULL, scope TEXT NOT NULL, profile TEXT NOT NULL,
  protocol TEXT NOT NULL DEFAULT '', settings TEXT NOT NULL DEFAULT '', planned INTEGER NOT NULL DEFAULT 0,
  salt TEXT NOT NULL DEFAULT '');
CREATE TABLE candidates (hash TEXT PRIMARY KEY, source TEXT);
CREATE TABLE verdicts (run INTEGER NOT NULL, task TEXT NOT NULL, sample INTEGER NOT NULL, level INTEGER NOT NULL,
  category TEXT NOT NULL, candidate TEXT, verdict TEXT NOT NULL, stage TEXT NOT NULL, reason TEXT,
  cases_passed INTEGER NOT NULL, cases_total INTEGER NOT NULL, seconds REAL NOT NULL, json TEXT NOT NULL,
  PRIMARY KEY (run, task, sample));
CREATE TABLE prompts (hash TEXT PRIMARY KEY, messages TEXT, tokens INTEGER);
CREATE TABLE answers (run INTEGER, task TEXT, sample INTEGER, round INTEGER, parent INTEGER, prompt TEXT, request TEXT,
  response TEXT, answer TEXT, reasoning TEXT, finish TEXT, failure TEXT, prompt_tokens INTEGER, completion_tokens INTEGER,
  cost REAL, seconds REAL, tries INTEGER, PRIMARY KEY (run, task, sample));
PRAGMA application_id = 1095459700;
PRAGMA user_version = 7;
"""
STAGES = {"pass": "compare", "wrong": "compare", "fault": "run", "timeout": "run", "compile_error": "kernel",
          "rejected": "kernel", "unsupported": "kernel", "infra_error": "run"}


class Runs:
    """Writes the file; `add` puts an answer into a run, which `begin` made."""

    def __init__(self, path):
        self.db = sqlite3.connect(path)
        self.db.executescript(SCHEMA)
        self.samples = {}

    def begin(self, run, provider="openai:http://localhost/v1", seconds=1.0, suite="npukernelbench",
              settings='{"model": "tiny"}'):
        self.db.execute("INSERT INTO runs VALUES (?, '2026-01-01T00:00:00Z', ?, '0.1.0', ?, ?, 'Ascend910B2', 'dynamic',"
                        " 'project', 'upstream', '', ?, 0, '')", (run, seconds, suite, provider, settings))

    def prompt(self, name, *messages):
        messages = messages or ({"role": "system", "content": "You write kernels."},
                                {"role": "user", "content": f"Write {name}."})
        self.db.execute("INSERT OR IGNORE INTO prompts VALUES (?, ?, 10)", (name, json.dumps(messages)))
        return name

    def add(self, run, task, verdict, answer, candidate="", stage=None, prompt=None, reasoning=None, round=0,
            sample=None, speedup=None, language="ascendc", **more):
        """`candidate`: its hash; "": made of the answer. `more` is in the verdict, and so is `language` unless it is None."""
        more |= {"language": language} if language else {}
        if sample is None:
            sample = self.samples[run, task] = self.samples.get((run, task), -1) + 1
        if candidate == "" and answer:
            candidate = hashlib.md5(answer.encode()).hexdigest()
        self.db.execute("INSERT INTO verdicts VALUES (?, ?, ?, 1, 'Math', ?, ?, ?, NULL, 0, 1, 0.1, ?)",
                        (run, task, sample, candidate, verdict, stage or STAGES[verdict],
                         json.dumps({"speedup": speedup, **more} if speedup else more)))
        if prompt is None:
            prompt = self.prompt(f"of {task}")
        if prompt:
            self.db.execute("INSERT INTO answers VALUES (?, ?, ?, ?, -1, ?, NULL, NULL, ?, ?, 'stop', NULL, 1, 1, 0, 1, 1)",
                            (run, task, sample, round, prompt, answer, reasoning))
        return sample

    def commit(self):
        self.db.commit()
