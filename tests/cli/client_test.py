#!/usr/bin/env python3
# test: cost=36 labels=long
"""Servers of models: what is asked, what is made of each kind of answer, which failures are tried again, and that the key stays
nowhere. The program build/tests/gen_ask asks, the replay server answers."""
import json
import os
import pathlib
import re
import signal
import ssl
import subprocess
import tempfile
import time
import unittest

from akgen_program import AKGEN, HOME
from replay_server import (Answer, EchoKey, ErrorInStream, Garbage, ReplayServer, Reset, Stall, Status, Truncate,
                           UnknownModel, closed_port_url, http_date)

ASK = pathlib.Path(AKGEN).parent / "tests" / "gen_ask"
KEY = "sk-0123456789abcdef-Replay/+="


def line(text="hello", **more):
    return {"messages": [{"role": "system", "content": "You write kernels."}, {"role": "user", "content": text}], **more}


class Asked:
    def __init__(self, provider, *options, requests=None, env=None, timeout=60, model="replay"):
        environment = {name: value for name, value in os.environ.items()
                       if not name.endswith("API_KEY") and not name.lower().endswith("_proxy")}
        environment.update(env or {})
        command = [ASK, *(["--model", model] if model else []), "--backoff", "0.02", *map(str, options), provider]
        self.process = subprocess.run(command, input="".join(json.dumps(one) + "\n" for one in requests or [line()]),
                                      capture_output=True, text=True, env=environment, timeout=timeout)
        self.code, self.err, self.out = self.process.returncode, self.process.stderr, self.process.stdout
        self.replies = sorted(map(json.loads, self.out.splitlines()), key=lambda reply: reply["number"])

    @property
    def texts(self):
        return [[choice["text"] for choice in reply["choices"]] for reply in self.replies]


def served(answer="fine", fault=None, *options, requests=None, env=None, model="replay", **more):
    """What the replies are, and what the server was asked."""
    with ReplayServer(answer if callable(answer) else lambda request: answer, fault, **more) as server:
        asked = Asked("openai:" + server.url, *options, requests=requests, env=env, model=model)
        asked.requests, asked.counts = server.requests, server.counts
    return asked


def failing_once(fault):
    return lambda request: fault if request.attempt == 0 else None


class Requests(unittest.TestCase):
    def test_chat(self):
        asked = served("A: a", None, "--temperature", "0.25", "--top-p", "0.5", "--top-k", "40", "--min-p", "0.125",
                       "--max-answer-tokens", "77", "--stop", "END", "--stop", "\n\n", "--answer-seed", "5")
        self.assertEqual(asked.requests[0].body, {
            "model": "replay", "messages": line()["messages"], "temperature": 0.25, "top_p": 0.5, "top_k": 40, "min_p": 0.125,
            "max_tokens": 77, "stop": ["END", "\n\n"], "seed": 5, "stream": True, "stream_options": {"include_usage": True}})
        self.assertEqual(asked.requests[0].path, "/v1/chat/completions")
        self.assertEqual(asked.texts, [["A: a"]])

    def test_what_is_not_set_is_not_sent(self):
        asked = served("x", None, "--no-stream")
        self.assertEqual(asked.requests[0].body, {"model": "replay", "messages": line()["messages"], "stream": False})
        self.assertIsNone(asked.requests[0].key)

    def test_completions(self):
        for options in (["--stream"], ["--no-stream"]):
            asked = served("continued", None, "--api", "completions", *options)
            self.assertEqual(asked.requests[0].body["prompt"], "You write kernels.\n\nhello")
            self.assertEqual(asked.requests[0].path, "/v1/completions")
            self.assertEqual(asked.texts, [["continued"]])

    def test_a_conversation_as_one_text(self):
        talk = {"messages": [{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"},
                             {"role": "user", "content": "c"}]}
        asked = served("x", None, "--api", "completions", requests=[talk])
        self.assertEqual(asked.requests[0].body["prompt"], "user:\na\n\nassistant:\nb\n\nuser:\nc\n\nassistant:\n")

    def test_urls(self):
        with ReplayServer(lambda request: "x") as server:
            root = server.url.removesuffix("/v1")
            for url in (root, root + "/", root + "/v1/", root + "/v1/chat/completions", root + "/v1?version=3"):
                self.assertEqual(Asked("openai:" + url).texts, [["x"]], url)
            self.assertEqual(Asked("openai:" + root + "/v1/completions").texts, [["x"]])
            paths = [request.path for request in server.requests]
        self.assertEqual(paths, ["/v1/chat/completions"] * 4 + ["/v1/chat/completions?version=3", "/v1/completions"])

    def test_proxies_are_not_for_localhost(self):
        asked = served("x", env={"http_proxy": closed_port_url(), "no_proxy": "example.org"})
        self.assertEqual(asked.texts, [["x"]])


class Replies(unittest.TestCase):
    def test_texts_survive(self):
        text = "Zeile 1\n\n\tä 漢 🙂 \"quoted\" \\n </think>\r\nEND \x01"
        for options in (["--stream"], ["--no-stream"]):
            self.assertEqual(served(text, None, *options).texts, [[text]])

    def test_reasoning_is_kept_apart(self):
        for options in (["--stream"], ["--no-stream"]):
            choice = served(Answer("the answer", reasoning="let me think"), None, *options).replies[0]["choices"][0]
            self.assertEqual(choice, {"text": "the answer", "reasoning": "let me think", "finish": "stop"})

    def test_usage_and_finish(self):
        for options in (["--stream"], ["--no-stream"]):
            reply = served(Answer("one two three", finish="length", tokens=30), None, *options).replies[0]
            self.assertEqual((reply["prompt_tokens"], reply["completion_tokens"]), (4, 30))
            self.assertEqual((reply["choices"][0]["finish"], reply["failure"], reply["tries"]), ("length", None, 1))
            self.assertEqual(json.loads(reply["response"])["choices"][0]["message"]["content"], "one two three")
        reply = served("x", None, no_usage=True).replies[0]
        self.assertEqual((reply["prompt_tokens"], reply["completion_tokens"]), (-1, -1))

    def test_an_empty_answer_is_one(self):
        for options in (["--stream"], ["--no-stream"]):
            reply = served("", None, *options).replies[0]
            self.assertEqual((reply["failure"], reply["tries"], reply["choices"][0]["text"]), (None, 1, ""))

    def test_choices_by_index(self):
        answers = [f"answer {i} " + "word " * (7 - i) for i in range(6)]
        for options in (["--stream"], ["--no-stream"]):
            asked = served(lambda request: answers, None, *options, requests=[line(n=6)])
            self.assertEqual(asked.texts, [answers])
            self.assertEqual((asked.requests[0].n, len(asked.requests)), (6, 1))

    def test_a_server_that_knows_no_n_is_asked_again(self):
        """It answers once whatever n is: the other answers have seeds of their own."""
        asked = served(lambda request: [f"seed {request.seed}"], None, requests=[line(n=4, seed=10)])
        self.assertEqual(asked.texts, [["seed 10", "seed 11", "seed 12", "seed 13"]])
        self.assertEqual(asked.replies[0]["tries"], 4)
        asked = served(lambda request: [f"seed {request.seed}"], lambda request:
                       Status(400, "only n = 1 is supported") if request.n > 1 else None, requests=[line(n=3, seed=1)])
        self.assertEqual(asked.texts, [["seed 1", "seed 2", "seed 3"]])
        self.assertEqual([request.n for request in asked.requests], [3, 1, 1, 1])

    def test_servers_that_do_not_know_all_options(self):
        def fault(request):
            for name in ("stream_options", "max_tokens"):
                if name in request.body:
                    return Status(400, f"Unsupported parameter: '{name}'. Use 'max_completion_tokens' instead."
                                  if name == "max_tokens" else "extra fields not permitted: stream_options")
            return None
        asked = served("fine", fault, "--max-answer-tokens", "9", "--concurrency", "1", requests=[line(), line("two")])
        self.assertEqual(asked.texts, [["fine"], ["fine"]])
        self.assertEqual([sorted(request.body) for request in asked.requests][-2:],
                         [["max_completion_tokens", "messages", "model", "stream"]] * 2)
        self.assertEqual(len(asked.requests), 4)

    def test_streams_that_are_none(self):
        self.assertEqual(served("whole", None, ignore_stream=True).texts, [["whole"]])
        self.assertEqual(served("no done", None, no_done=True).texts, [["no done"]])

    def test_many(self):
        requests = [line(f"number {i}") for i in range(500)]
        asked = served(lambda request: request.messages[1]["content"].upper(), None, "--concurrency", "16", requests=requests)
        self.assertEqual(asked.texts, [[f"NUMBER {i}"] for i in range(500)])


class Failures(unittest.TestCase):
    RETRIED = [Status(408), Status(409), Status(425), Status(429), Status(500), Status(502), Status(503), Reset(), Truncate(),
               Truncate(properly=False), Garbage(), Garbage(b"", "text/event-stream"), Garbage(b"data: [DONE]\n\n", "text/event-stream"),
               Garbage(b'{"choices": []}', "application/json"), Garbage(b'{"error": "overloaded"}', "application/json"),
               ErrorInStream(), ErrorInStream(code=503), Stall()]

    def test_each_is_tried_again(self):
        for fault in self.RETRIED:
            limit = ["--idle-timeout", "1"] if isinstance(fault, Stall) else []
            for options in (["--stream"], ["--no-stream"]):
                with self.subTest(fault=fault, options=options):
                    asked = served("fine in the end", failing_once(fault), *limit, *options)
                    self.assertEqual(asked.texts, [["fine in the end"]])
                    self.assertEqual((asked.replies[0]["tries"], asked.replies[0]["failure"]), (2, None))

    def test_each_ends(self):
        says = {Status: "HTTP ", Reset: "", Truncate: "", Garbage: "", ErrorInStream: "injected", Stall: ""}
        for fault in self.RETRIED:
            with self.subTest(fault=fault):
                limit = ["--idle-timeout", "0.2"] if isinstance(fault, Stall) else []
                reply = served("never", lambda request: fault, *limit, "--retries", "1").replies[0]
                self.assertEqual((reply["tries"], reply["choices"], reply["hopeless"]), (2, [], False))
                self.assertRegex(reply["failure"], r"^http://127.0.0.1:\d+/v1/chat/completions: .*\(2 tries\)$")
                self.assertIn(says[type(fault)], reply["failure"])

    def test_refused(self):
        for options in ([], ["--no-stream"]):
            reply = Asked("openai:" + closed_port_url(), "--retries", "2", *options).replies[0]
            self.assertEqual(reply["tries"], 3)
            self.assertRegex(reply["failure"], r"Failed to connect.*\(3 tries\)")

    def test_refused_until_the_server_comes_up(self):
        url = closed_port_url()
        with subprocess.Popen([ASK, "--model", "m", "--backoff", "0.2", "openai:" + url], stdin=subprocess.PIPE,
                              stdout=subprocess.PIPE, text=True) as process:
            process.stdin.write(json.dumps(line()) + "\n")
            process.stdin.close()
            time.sleep(0.3)
            with ReplayServer(lambda request: "up", port=int(url.split(":")[2].split("/")[0])):
                reply = json.loads(process.stdout.readline())
        self.assertEqual(reply["choices"][0]["text"], "up")
        self.assertGreater(reply["tries"], 1)

    def test_what_no_try_can_mend_fails_at_once(self):
        rows = [(400, "sampling options", False), (401, "--key-file", True), (403, "no right", True), (404, "--model", True),
                (413, "too long", False), (422, "does not take", False), (307, "redirections are not followed", True)]
        for code, remedy, hopeless in rows:
            with self.subTest(code=code):
                asked = served("never", lambda request: Status(code, "the server's own words"))
                reply = asked.replies[0]
                self.assertEqual((reply["tries"], reply["hopeless"], len(asked.requests)), (1, hopeless, 1))
                self.assertIn(f"HTTP {code}: the server's own words", reply["failure"])
                self.assertIn(remedy, reply["failure"])
        self.assertIn("The model does not exist (model_not_found); either --model",
                      served("never", lambda request: UnknownModel).replies[0]["failure"])
        reply = served("never", lambda request: Status(429, "quota", kind="insufficient_quota")).replies[0]
        self.assertEqual((reply["tries"], reply["hopeless"]), (1, True))

    def test_retry_after(self):
        for wait in (lambda: 1, lambda: http_date(2)): # dates have whole seconds
            with self.subTest(wait=wait()):
                begin = time.monotonic()
                asked = served("fine", failing_once(Status(429, retry_after=wait())), requests=[line(), line("two")])
                self.assertEqual(asked.texts, [["fine"], ["fine"]])
                self.assertGreater(time.monotonic() - begin, 0.9)
        reply = served("never", lambda request: Status(429, retry_after=86400)).replies[0]
        self.assertEqual(reply["tries"], 1)
        self.assertIn("it asks to wait for 86400 s", reply["failure"])

    def test_limits_of_time(self):
        reply = served("never", lambda request: Stall(), "--idle-timeout", "0.2", "--retries", "0").replies[0]
        self.assertIn("no byte for 0.2 s", reply["failure"])
        reply = served("word " * 100, None, "--answer-timeout", "0.4", piece_delay=0.02).replies[0]
        self.assertIn("no whole answer within 0.4 s; --max-answer-tokens limits an answer", reply["failure"])
        self.assertEqual((reply["tries"], reply["hopeless"]), (1, False))
        self.assertLess(reply["seconds"], 1.5)
        reply = served("word", None, "--answer-timeout", "0.2", "--retries", "1", delay=0.6).replies[0]
        self.assertRegex(reply["failure"], r"no whole answer within 0.2 s \(2 tries\)")

    def test_a_slow_stream_is_not_a_stalled_one(self):
        asked = served("word " * 20, None, "--idle-timeout", "1", piece_delay=0.08)
        self.assertEqual(asked.texts, [["word " * 20]])

    def test_an_endless_answer(self):
        """It is cut off at 64 MiB, and the process does not grow much beyond."""
        asked = served("x" * (65 << 20), None, "--no-stream")
        self.assertEqual((asked.replies[0]["tries"], asked.replies[0]["choices"]), (1, []))
        self.assertIn("longer than 64 MiB", asked.replies[0]["failure"])

    def test_certificates(self):
        """A server that nobody vouches for is given no key."""
        with tempfile.TemporaryDirectory() as folder, ReplayServer(lambda request: "never") as server:
            subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=localhost", "-keyout",
                            f"{folder}/key", "-out", f"{folder}/certificate"], check=True, capture_output=True)
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(f"{folder}/certificate", f"{folder}/key")
            server.server.socket = context.wrap_socket(server.server.socket, server_side=True)
            reply = Asked("openai:" + server.url.replace("http:", "https:"), env={"AKGEN_API_KEY": KEY}).replies[0]
            self.assertEqual((reply["tries"], reply["hopeless"], server.requests), (1, True, []))
        self.assertIn("certificate", reply["failure"])

    def test_redirections(self):
        """The key goes nowhere else."""
        with ReplayServer(lambda request: "stolen") as other:
            asked = served("never", lambda request: Status(307, "moved", headers={"Location": other.url + "/chat/completions"}),
                           env={"AKGEN_API_KEY": KEY})
            self.assertEqual(other.requests, [])
        self.assertIn("HTTP 307", asked.replies[0]["failure"])


class Stopping(unittest.TestCase):
    def test_connections_are_closed(self):
        """By gen_client_stop: the process goes on."""
        with ReplayServer(lambda request: "never", lambda request: Stall()) as server, \
                subprocess.Popen([ASK, "--model", "m", "--leave", "0.3", "--linger", "60", "--concurrency", "3", "openai:" + server.url],
                                 stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
            process.stdin.write((json.dumps(line()) + "\n") * 9)
            process.stdin.close()
            said = process.stderr.readline()
            deadline = time.monotonic() + 2
            while server.counts["left"] < 3 and time.monotonic() < deadline:
                time.sleep(0.01)
            self.assertEqual((server.counts["left"], len(server.requests), process.poll()), (3, 3, None))
            process.kill()
            self.assertEqual(process.stdout.read(), "")
        self.assertLess(float(said.split("stopped within ")[1].split()[0]), 0.5)

    def test_what_has_come_is_not_lost(self):
        with ReplayServer(lambda request: "quick", lambda request: Stall() if "slow" in request.prompt else None) as server:
            asked = Asked("openai:" + server.url, "--leave", "0.4", requests=[line(), line("slow"), line("more")])
        self.assertEqual(asked.texts, [["quick"], ["quick"]])


class Keys(unittest.TestCase):
    def kept(self, asked):
        return asked.out + asked.err

    def test_where_keys_come_from(self):
        with tempfile.NamedTemporaryFile("w", suffix=".key") as file:
            file.write(f"  {KEY}  \r\nsecond line\n")
            file.flush()
            rows = [([], {"AKGEN_API_KEY": KEY, "OPENAI_API_KEY": "other"}, KEY), ([], {"OPENAI_API_KEY": KEY}, KEY), ([], {}, None),
                    (["--key-file", file.name], {"AKGEN_API_KEY": "other"}, KEY)]
            for options, env, key in rows:
                asked = served("x", None, *options, env=env)
                self.assertEqual([request.key for request in asked.requests], [key])
                self.assertNotIn(KEY, self.kept(asked))

    def test_a_server_that_echoes_it(self):
        for code in (401, 500, 200):
            for options in (["--stream"], ["--no-stream"]):
                with self.subTest(code=code, options=options):
                    asked = served("x", lambda request: EchoKey(code), "--retries", "1", *options, env={"AKGEN_API_KEY": KEY})
                    self.assertEqual(asked.requests[0].key, KEY)
                    self.assertNotIn(KEY, self.kept(asked))
                    self.assertNotIn(KEY[:-3], self.kept(asked).replace("\\/", "/"))
                    self.assertIn("***", asked.out)
        self.assertEqual(asked.replies[0]["choices"][0], {"text": "the key is ***.", "reasoning": "I see ***", "finish": "stop"})

    def test_in_any_spelling(self):
        """A reply that is no good is kept as it came: the key may be escaped there, or stand in the prompt."""
        slashed, coded = KEY.replace("/", "\\/"), KEY.replace("0", "\\u0030")
        for body in (f'{{"x": "{slashed}"}}', f'data: {{"x": "{coded}"}}\n\n', KEY * 3, f'{{"{KEY}": "', f'{{"{slashed}', f'{{"{coded}',
                     "x" * 290 + KEY, "<p>" + KEY[:-4], "\\" + KEY + "\\u00"):
            with self.subTest(body=body):
                asked = served("x", lambda request: Garbage(body.encode()), "--retries", "0", env={"AKGEN_API_KEY": KEY})
                kept = json.dumps(asked.replies[0]).replace("\\/", "/").replace("\\", "").replace("u0030", "0")
                self.assertNotIn(KEY[:12], kept)
                self.assertIn("***", kept)
        message = "x" * 290 + KEY
        asked = served("x", lambda request: Status(500, message), "--retries", "0", env={"AKGEN_API_KEY": KEY})
        self.assertNotIn(KEY[:5], self.kept(asked))
        asked = Asked(f"exec:echo {KEY}{'x' * 480} >&2; echo {KEY}; exit 1", env={"AKGEN_API_KEY": KEY})
        self.assertNotIn(KEY[-5:], self.kept(asked))
        asked = served("x", None, requests=[line("my key is " + KEY)], env={"AKGEN_API_KEY": KEY})
        self.assertIn(KEY, asked.requests[0].prompt)
        self.assertNotIn(KEY, self.kept(asked))

    def test_a_word_is_no_secret(self):
        asked = served("the EMPTY set", None, env={"AKGEN_API_KEY": "EMPTY"})
        self.assertEqual((asked.texts, asked.requests[0].key), ([["the EMPTY set"]], "EMPTY"))

    def test_never_on_the_command_line(self):
        for options in (["--key", KEY], ["--api-key", KEY], ["--key=" + KEY], ["--apikey=" + KEY], ["--key-file", KEY]):
            asked = Asked("openai:http://localhost:1/v1", *options, requests=[])
            self.assertNotEqual(asked.code, 0)
            self.assertNotIn(KEY, self.kept(asked))
            self.assertIn("--key-file", asked.err)
        word = KEY.split("/")[0]
        for url in (f"http://me:{word}@localhost/v1", f"http://{word}@localhost/v1", f"http://localhost/v1?api_key={KEY}"):
            asked = Asked("openai:" + url, requests=[])
            self.assertEqual(asked.code, 2)
            self.assertNotIn(word, self.kept(asked))
            self.assertIn("has credentials in it", asked.err)

    def test_never_in_a_command(self):
        for command in (f"curl -H 'Authorization: Bearer {KEY}' x", f"ask --api-key {KEY}", f"OPENAI_API_KEY={KEY} ask"):
            asked = Asked("exec:" + command, requests=[])
            self.assertEqual(asked.code, 2)
            self.assertNotIn(KEY, self.kept(asked))
            self.assertIn("seems to have a key in it", asked.err)
        for command in ('true -H "Authorization: Bearer $OPENAI_API_KEY"', "true --api-key $SOME_LONG_NAME_OF_A_KEY", "true task-risk-" + "x" * 20):
            self.assertEqual(Asked("exec:" + command).texts, [[""]])

    def test_a_key_that_is_none(self):
        for key in ("two words", "new\nline: x", "schlüssel"):
            asked = Asked("openai:http://localhost:1/v1", requests=[], env={"AKGEN_API_KEY": key})
            self.assertEqual(asked.code, 2)
            self.assertIn("of the key is a space", asked.err)


class Providers(unittest.TestCase):
    def test_urls_that_are_none(self):
        for provider, why in (("openai:localhost:8000", "begins with"), ("openai:ftp://localhost/v1", "expected http://"),
                              ("openai:file:///etc/passwd", "expected http://"), ("openai:", "expected http://"),
                              ("openai:http://", "expected http://"), ("exec:", "no command"), ("exec:  ", "no command"),
                              ("http://localhost/v1", "neither openai:URL, lm, lm:DIR nor exec:COMMAND")):
            with self.subTest(provider=provider):
                asked = Asked(provider, requests=[])
                self.assertEqual(asked.code, 2)
                self.assertIn(why, asked.err)
        self.assertIn("--model is missing", Asked("openai:http://localhost:1/v1", requests=[], model=None).err)


class Documentation(unittest.TestCase):
    def test_options_and_presets(self):
        """Every option and preset stands in docs/models.md or docs/prompts.md, and nothing else does."""
        text = (HOME / "docs/models.md").read_text() + (HOME / "docs/prompts.md").read_text()
        options = set(re.findall(r"--[a-z][a-z-]+", subprocess.run([ASK, "--help"], capture_output=True, text=True).stdout))
        own = {"--help", "--usage", "--leave", "--linger"}
        self.assertLessEqual(options - own, set(re.findall(r"--[a-z][a-z-]+", text)))
        table = set(re.findall(r"--[a-z][a-z-]+", text.split("## Options")[1].split("| preset |")[0]))
        self.assertLessEqual(table, options)
        presets = set(re.findall(r"^    \{\"([a-z0-9-]+)\",$", (HOME / "src/gen/model.c").read_text(), re.M))
        self.assertEqual(set(re.findall(r"^\| `([a-z0-9-]+)` \| \d+ \|", text, re.M)), presets)
        self.assertEqual(len(presets), 3)

    def test_presets(self):
        rows = {"ascendkernelgen": {}, "multikernelbench": {"temperature": 0.0, "max_tokens": 8192},
                "multikernelbench-5": {"temperature": 0.2, "top_p": 0.95, "max_tokens": 8192}}
        for preset, sampling in rows.items():
            body = served("x", None, "--no-stream", "--preset", preset).requests[0].body
            self.assertEqual(body, {"model": "replay", "messages": line()["messages"], "stream": False, **sampling})
        body = served("x", None, "--temperature", "1", "--preset", "multikernelbench", "--max-answer-tokens", "5").requests[0].body
        self.assertEqual((body["temperature"], body["max_tokens"]), (1, 5))
        self.assertIn("is none of ascendkernelgen, multikernelbench", Asked("exec:cat", "--preset", "x").err)


class Commands(unittest.TestCase):
    def test_prompt_in_answer_out(self):
        asked = Asked("exec:tr a-z A-Z")
        self.assertEqual(asked.texts, [["YOU WRITE KERNELS.\n\nHELLO"]])
        self.assertEqual((asked.replies[0]["completion_tokens"], asked.replies[0]["failure"]), (-1, None))

    def test_environment(self):
        asked = Asked("exec:echo $AKGEN_SEED $AKGEN_MODEL", requests=[line(n=3, seed=7), line()], env={"AKGEN_SEED": "stale"})
        self.assertEqual(asked.texts, [["7 replay\n", "8 replay\n", "9 replay\n"], ["replay\n"]])

    def test_large(self):
        """Pipes that are full on both sides do not stop it."""
        text = "0123456789abcdef" * (1 << 17)
        asked = Asked("exec:cat; echo done >&2", requests=[{"messages": [{"role": "user", "content": text}]}])
        self.assertEqual(asked.texts, [[text]])
        asked = Asked("exec:head -c 10; yes error | head -c 3000000 >&2", requests=[{"messages": [{"role": "user", "content": text}]}])
        self.assertEqual(asked.texts, [[text[:10]]])

    def test_failures(self):
        rows = [("echo first >&2; echo the last line >&2; exit 3", "exit code 3: the last line", False, 1),
                ("no-such-program-here", "exit code 127", True, 1), ("kill -9 $$", "killed by signal 9", False, 1),
                ("exit 75", "exit code 75", False, 3), ("yes", "more than 64 MiB", False, 1)]
        for command, why, hopeless, tries in rows:
            with self.subTest(command=command):
                reply = Asked("exec:" + command, "--retries", "2").replies[0]
                self.assertIn(why, reply["failure"])
                self.assertEqual((reply["hopeless"], reply["tries"], reply["choices"]), (hopeless, tries, []))

    def test_a_limit_of_time_ends_the_group(self):
        with tempfile.TemporaryDirectory() as folder:
            begin = time.monotonic()
            reply = Asked(f"exec:sleep 60 & echo $! > {folder}/pid; wait", "--answer-timeout", "0.3").replies[0]
            self.assertIn("took longer than 0.3 s", reply["failure"])
            self.assertLess(time.monotonic() - begin, 5)
            self.gone(folder)

    def gone(self, folder):
        """The process whose number stands there has ended (or waits for somebody to ask how)."""
        number = int(pathlib.Path(folder, "pid").read_text())
        for _ in range(100):
            try:
                if pathlib.Path(f"/proc/{number}/stat").read_text().rsplit(")", 1)[1].split()[0] == "Z":
                    return
            except FileNotFoundError:
                return
            time.sleep(0.02)
        os.kill(number, signal.SIGKILL)
        self.fail(f"process {number} is still there")

    def test_what_is_left_behind_ends(self):
        """A command that ends while another process has its output open is waited for no longer."""
        with tempfile.TemporaryDirectory() as folder:
            begin = time.monotonic()
            self.assertEqual(Asked(f"exec:sleep 60 & echo $! > {folder}/pid; echo here").texts, [["here\n"]])
            self.assertLess(time.monotonic() - begin, 5)
            self.gone(folder)

    def test_stop(self):
        """The group ends with gen_client_stop, long before the process does."""
        with tempfile.TemporaryDirectory() as folder:
            with subprocess.Popen([ASK, "--leave", "0.5", "--linger", "60", f"exec:sleep 60 & echo $! > {folder}/pid; wait"],
                                  stdin=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
                process.stdin.write(json.dumps(line()) + "\n")
                process.stdin.close()
                self.assertIn("stopped", process.stderr.readline())
                self.gone(folder)
                process.kill()

    def test_side_by_side(self):
        begin = time.monotonic()
        asked = Asked("exec:sleep 0.5; echo x", "--concurrency", "8", requests=[line()] * 8)
        self.assertEqual(asked.texts, [["x\n"]] * 8)
        self.assertLess(time.monotonic() - begin, 3)


if __name__ == "__main__":
    unittest.main()
