#!/usr/bin/env python3
# test: cost=25 labels=long
"""akgen lm serve: whole answers and streams are what akgen lm sample writes; many at once; clients that leave, bodies that lie, an end in the middle."""
import concurrent.futures
import contextlib
import http.client
import json
import os
import pathlib
import re
import signal
import sqlite3
import subprocess
import tempfile
import time
import unittest

from akgen_program import AKGEN, akgen
from lm_program import change_weights, make_model, write_rows

ASK = pathlib.Path(AKGEN).parent / "tests" / "gen_ask"
USER = [{"role": "user", "content": "add"}]
TEXTS = ["kernel add: copy in, add, copy out.", "kernel relu: copy in, maximum with zero, copy out.", "矩阵乘法 on the cube 🚀."]


class Serve(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory(prefix="akgen-lm-")
        at = pathlib.Path(cls.folder.name)
        data = write_rows(at / "data.jsonl", [{"text": text} for text in TEXTS])
        done = akgen("lm", "train", make_model(at / "new"), "--new", "--data", data, "-o", at / "model", "--steps", 60, "--rate", 1e-2,
                     "--schedule", "constant", "--warmup", 5)
        assert done.returncode == 0, done.stderr
        cls.model = at / "model"

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def setUp(self, *options, model=None):
        self.process = subprocess.Popen([AKGEN, "lm", "serve", model or self.model, "--port", "0", "--texts", "4", *options], stdout=subprocess.PIPE, text=True)
        self.addCleanup(self.process.stdout.close)
        self.addCleanup(self.process.wait)
        self.addCleanup(self.process.kill)
        self.port = int(re.search(r":(\d+)/v1", self.process.stdout.readline())[1])

    def ask(self, path, body=None, method=None):
        """Status and body."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=120)
        connection.request(method or ("POST" if body is not None else "GET"), path, body if isinstance(body, (str, bytes, type(None))) else json.dumps(body))
        response = connection.getresponse()
        text = response.read().decode()
        connection.close()
        return response.status, text

    def complete(self, path="/v1/completions", **body):
        status, text = self.ask(path, body)
        self.assertEqual(status, 200, text)
        return json.loads(text)

    def stream(self, path="/v1/completions", **body):
        status, text = self.ask(path, body | {"stream": True})
        self.assertEqual(status, 200, text)
        events = text.split("\n\n")
        self.assertEqual(events[-2:], ["data: [DONE]", ""])
        return [json.loads(event.removeprefix("data: ")) for event in events[:-2]]

    def sampled(self, prompt, *options):
        done = akgen("lm", "sample", self.model, "--prompt", prompt, "--json", *options)
        return [row["text"] for row in sorted(map(json.loads, done.stdout.splitlines()), key=lambda row: row["sample"])]

    def test_is_what_sample_writes(self):
        asked = dict(prompt="kernel ", temperature=1.3, seed=5, max_tokens=30, n=3)
        wanted = self.sampled("kernel ", "--temperature", 1.3, "--seed", 5, "--max-tokens", 30, "-n", 3)
        whole = self.complete(**asked, logprobs=2)
        self.assertEqual([choice["text"] for choice in whole["choices"]], wanted)
        texts = ["", "", ""]
        for event in self.stream(**asked):
            choice = event["choices"][0]
            texts[choice["index"]] += choice["text"]
        self.assertEqual(texts, wanted)
        for choice in whole["choices"]:
            log_probs = choice["logprobs"]
            self.assertEqual({len(log_probs[key]) for key in ("tokens", "token_logprobs", "top_logprobs")}, {len(log_probs["tokens"])})
        usage = whole["usage"]
        self.assertEqual(usage["total_tokens"], usage["prompt_tokens"] + usage["completion_tokens"])
        self.assertEqual((usage["prompt_tokens"], usage["completion_tokens"]), (7, sum(len(choice["logprobs"]["tokens"]) for choice in whole["choices"])))

    def test_int8(self):
        self.setUp("--int8")
        options = ("--prompt", "kernel ", "--temperature", 1.3, "--seed", 5, "--max-tokens", 30, "-n", 9, "--json")
        whole = self.complete(prompt="kernel ", temperature=1.3, seed=5, max_tokens=30, n=9, logprobs=1)
        found = [(choice["text"], sum(choice["logprobs"]["token_logprobs"])) for choice in whole["choices"]]
        for int8 in (True, False):
            rows = map(json.loads, akgen("lm", "sample", self.model, *options, *["--int8"] * int8).stdout.splitlines())
            wanted = [(row["text"], row["log_prob"]) for row in sorted(rows, key=lambda row: row["sample"])]
            near = [a[0] == b[0] and abs(a[1] - b[1]) < 1e-4 for a, b in zip(found, wanted, strict=True)]
            self.assertTrue(all(near) if int8 else not any(near))

    def test_chat(self):
        done = akgen("lm", "sample", self.model, "--chat", "--prompt", "add", "--temperature", 0, "--max-tokens", 20, "--json")
        sampled = json.loads(done.stdout)
        wanted = sampled["text"]
        asked = dict(messages=[{"role": "user", "content": "add"}], temperature=0, max_tokens=20)
        whole = self.complete("/v1/chat/completions", **asked)
        self.assertEqual((whole["object"], whole["model"], whole["choices"][0]["message"]), ("chat.completion", "model", {"role": "assistant", "content": wanted}))
        events = self.stream("/v1/chat/completions", **asked, stream_options={"include_usage": True})
        self.assertEqual("".join(event["choices"][0]["delta"]["content"] for event in events[:-1]), wanted)
        self.assertEqual([event["choices"][0]["delta"].get("role") for event in events[:2]], ["assistant", None])
        self.assertEqual((events[-1]["choices"], events[-1]["usage"]["completion_tokens"]), ([], len(sampled["tokens"])))
        # Characters are whole in every event.
        events = self.stream(prompt="矩", temperature=0, max_tokens=40)
        self.assertEqual("".join(event["choices"][0]["text"] for event in events), TEXTS[2][1:])
        self.assertFalse(any("�" in event["choices"][0]["text"] or "?" in event["choices"][0]["text"] for event in events))

    def test_many_at_once(self):
        def one(seed):
            return self.complete(prompt="kernel ", temperature=1.3, seed=seed, max_tokens=25)["choices"][0]["text"]
        wanted = self.sampled("kernel ", "--temperature", 1.3, "--max-tokens", 25, "-n", 40)
        with concurrent.futures.ThreadPoolExecutor(16) as threads:
            self.assertEqual(list(threads.map(one, range(40))), wanted)

    def test_grammars(self):
        """The fields of llama.cpp's servers and vLLM's; the same text as akgen lm sample's, and the model's own log-probabilities."""
        grammar = 'root ::= "kernel " ("sub" | "mul") ": " [a-z]{3,5} "."'
        path = pathlib.Path(self.folder.name) / "g.gbnf"
        path.write_text(grammar)
        wanted = self.sampled("kernel a", "--grammar", path, "-n", 3, "--seed", 5)
        for text in wanted:
            self.assertRegex(text, r"^kernel (sub|mul): [a-z]{3,5}\.$")
        for field in ({"grammar": grammar}, {"guided_grammar": grammar}, {"structured_outputs": {"grammar": grammar}}):
            choices = self.complete(prompt="kernel a", seed=5, n=3, max_tokens=100, logprobs=2, **field)["choices"]
            self.assertEqual([choice["text"] for choice in choices], wanted)
            self.assertEqual({choice["finish_reason"] for choice in choices}, {"stop"})
            self.assertEqual(list(choices[0]["logprobs"]["top_logprobs"][0])[0], "d")  # what it would say
        again = self.sampled("kernel a", "--grammar", path, "-n", 3, "--seed", 5, "--grammar-tries", 30)
        self.assertNotEqual(again, wanted)
        choices = self.complete(prompt="kernel a", seed=5, n=3, max_tokens=100, logprobs=2, grammar=grammar, grammar_tries=30)["choices"]
        self.assertEqual([choice["text"] for choice in choices], again)
        self.assertEqual("".join(choices[0]["logprobs"]["tokens"][:-1]), again[0])
        for field, expected in (({"grammar": "root ::= x"}, "grammar:1:10: there is no rule 'x'"), ({"guided_grammar": 3}, "'guided_grammar' has to be a text"),
                                ({"grammar": grammar, "guided_grammar": grammar}, "'guided_grammar' is a second grammar"),
                                ({"grammar": grammar, "grammar_tries": 0}, "'grammar_tries' has to be a whole number from 1 to 1024")):
            status, text = self.ask("/v1/completions", {"prompt": "a"} | field)
            self.assertEqual(status, 400)
            self.assertIn(expected, json.loads(text)["error"]["message"])

    def test_clients_that_leave(self):
        for i in range(12):
            connection = http.client.HTTPConnection("127.0.0.1", self.port)
            connection.request("POST", "/v1/completions", json.dumps(dict(prompt="kernel ", max_tokens=240, n=8, stream=bool(i % 2), temperature=5)))
            time.sleep(0.02 * (i % 4))
            connection.close()
        self.assertEqual(self.complete(prompt="kernel a", temperature=0, max_tokens=3)["choices"][0]["text"], "dd:")

    def test_a_client_that_left_is_not_written_for(self):
        """Whole answers, and ones that are drawn again and again: who asks next does not wait for their end."""
        grammar = 'root ::= ("x" | "y"){200}'                                         # which the model finds unlikely at each letter
        for fields in (dict(max_tokens=240, temperature=5), dict(max_tokens=240, temperature=5, grammar=grammar, grammar_tries=1024)):
            for stream in (False, True):
                connection = http.client.HTTPConnection("127.0.0.1", self.port)
                connection.request("POST", "/v1/completions", json.dumps(dict(prompt="kernel ", n=128, stream=stream, **fields)))
                time.sleep(0.3)
                connection.close()
        began = time.monotonic()
        self.assertEqual(self.complete(prompt="kernel a", temperature=0, max_tokens=3)["choices"][0]["text"], "dd:")
        self.assertLess(time.monotonic() - began, 20)

    def test_what_is_wrong_is_said(self):
        for path, body, status, expected in (
                ("/v1/completions", "{", 400, "the body is no JSON"), ("/v1/completions", "[]", 400, "has to be a JSON object"),
                ("/v1/completions", {}, 400, "'prompt' has to be"), ("/v1/completions", {"prompt": ""}, 400, "the prompt has no token"),
                ("/v1/completions", {"prompt": [1, 999]}, 400, "token 1 of the prompt is 999, and the vocabulary has 257"),
                ("/v1/completions", {"prompt": ["a", "b"]}, 400, "'prompt' has to be"),
                ("/v1/completions", {"prompt": "a" * 300}, 400, "the prompt has 300 tokens, and there is room for 256"),
                ("/v1/completions", {"prompt": "a", "temperature": -1}, 400, "'temperature' has to be a number from 0"),
                ("/v1/completions", {"prompt": "a", "n": 1000}, 400, "'n' has to be a whole number from 1 to 128"),
                ("/v1/completions", {"prompt": "a", "max_tokens": 2 ** 70}, 400, "'max_tokens' has to be a whole number"),
                ("/v1/completions", {"prompt": "a", "stop": [""]}, 400, "'stop' has to be"),
                ("/v1/completions", {"prompt": "a", "model": 3}, 400, "'model' has to be a text"),
                ("/v1/completions", {"prompt": "a", "stream": "x"}, 400, "'stream' has to be true or false"),
                ("/v1/completions", {"prompt": "a", "stream": 1}, 400, "'stream' has to be true or false"),
                ("/v1/completions", {"prompt": "a", "stream_options": True}, 400, "'stream_options' has to be a JSON object"),
                ("/v1/completions", {"prompt": "a", "stream_options": {"include_usage": "yes"}}, 400, "'include_usage' has to be true or false"),
                ("/v1/completions", {"prompt": "a", "logprobs": True}, 400, "'logprobs' has to be a whole number"),
                ("/v1/completions", {"prompt": "a", "max_tokens": "5"}, 400, "'max_tokens' has to be a whole number"),
                ("/v1/completions", {"prompt": "a", "structured_outputs": "root ::= x"}, 400, "'structured_outputs' has to be a JSON object"),
                ("/v1/chat/completions", {"messages": USER, "logprobs": 2}, 400, "'logprobs' has to be true or false"),
                ("/v1/chat/completions", {"messages": USER, "top_logprobs": "2"}, 400, "'top_logprobs' has to be a whole number"),
                ("/v1/chat/completions", {"messages": USER, "top_logprobs": 2}, 400, "'top_logprobs' needs 'logprobs': true"),
                ("/v1/chat/completions", {"messages": USER, "tools": {}}, 400, "'tools' has to be a list"),
                ("/v1/chat/completions", {"messages": USER, "chat_template_kwargs": []}, 400, "'chat_template_kwargs' has to be a JSON object"),
                ("/v1/chat/completions", {"messages": USER, "chat_template_kwargs": {"enable_thinking": 0}}, 400, "'enable_thinking' has to be true or false"),
                ("/v1/chat/completions", {"messages": []}, 400, "'messages' has to be a list of at least one"),
                ("/v1/chat/completions", {"messages": [{"role": "critic", "content": ""}]}, 400, "message 0: 'role' is 'critic'"),
                ("/v1/embeddings", {}, 404, "there are /v1/models")):
            with self.subTest(expected):
                found, text = self.ask(path, body)
                self.assertEqual(found, status)
                self.assertIn(expected, json.loads(text)["error"]["message"])
        self.assertEqual(self.ask("/v1/completions")[0], 405)
        self.assertEqual(json.loads(self.ask("/v1/models")[1])["data"][0]["id"], "model")
        self.assertEqual(self.ask("/health")[0], 200)

    def test_null_is_no_value(self):
        nulls = dict.fromkeys(("model", "stream", "stream_options", "logprobs", "stop", "n", "max_tokens", "structured_outputs", "grammar", "grammar_tries"))
        asked = dict(prompt="kernel a", temperature=0, max_tokens=3)
        self.assertEqual(self.complete(**nulls | asked)["choices"], self.complete(**asked)["choices"])

    def test_scores_that_are_no_numbers(self):
        """Weights that are finite, and too large to multiply with: an error, whole and as a stream."""
        broken = pathlib.Path(self.folder.name) / "broken"
        change_weights(self.model, broken, "model.norm.weight", 3e38)
        self.setUp(model=broken)
        said = "scores are no finite numbers"
        status, text = self.ask("/v1/completions", dict(prompt="kernel ", n=2))
        self.assertEqual(status, 500)
        self.assertIn(said, json.loads(text)["error"]["message"])
        events = self.stream(prompt="kernel ", n=2)
        self.assertEqual([said in event["error"]["message"] for event in events], [True])

    def test_ends_in_the_middle(self):
        with concurrent.futures.ThreadPoolExecutor(6) as threads:
            asked = dict(prompt="kernel ", max_tokens=240, n=64, temperature=5)
            waiting = [threads.submit(self.ask, "/v1/completions", asked | {"stream": bool(i % 2)}) for i in range(6)]
            time.sleep(0.3)
            self.process.send_signal(signal.SIGTERM)
            self.assertEqual(self.process.wait(timeout=60), 0)
            for one in waiting:
                try:
                    status, text = one.result(timeout=60)
                    self.assertTrue(status == 503 or (status == 200 and "[DONE]" not in text))
                except (http.client.HTTPException, OSError):
                    pass  # cut off

    def long_model(self):
        """A model that reads and writes long texts, which knows nothing."""
        at = pathlib.Path(self.folder.name) / "long"
        if not at.exists():
            data = write_rows(pathlib.Path(self.folder.name) / "one.jsonl", [{"text": TEXTS[0]}])
            done = akgen("lm", "train", make_model(pathlib.Path(self.folder.name) / "new long", max_position_embeddings=16384, num_hidden_layers=1), "--new", "--data", data,
                         "-o", at, "--steps", 1)
            self.assertEqual(done.returncode, 0, done.stderr)
        return at

    def test_a_provider_of_its_own(self):
        """akgen bench --provider lm:DIR: answers to a task's prompt, the same for the same seed, and none asked for again."""
        at = self.long_model()
        answers = []
        for name in ("a.db", "b.db"):
            db = pathlib.Path(self.folder.name) / name
            done = akgen("bench", "--provider", f"lm:{at}", "--task", "level1/Math/Sqrt", "-n", 2, "--max-answer-tokens", 30, "--answer-seed", 4,
                         "--db", db)
            self.assertIn("compile_error 2", done.stdout, done.stderr)
            with contextlib.closing(sqlite3.connect(db)) as rows:
                self.assertEqual(rows.execute("SELECT provider FROM runs").fetchall(), [(f"lm:{at}",)])
                answers.append(rows.execute("SELECT sample, answer, completion_tokens FROM answers ORDER BY sample").fetchall())
        self.assertEqual(answers[0], answers[1])
        self.assertEqual(len({answer for _, answer, _ in answers[0]}), 2)
        db = pathlib.Path(self.folder.name) / "graph.db"
        done = akgen("bench", "--provider", f"lm:{at}", "--task", "level1/Math/Sqrt", "-n", 8, "--answer-seed", 4, "--language", "graph", "--constrain",
                     "--max-answer-tokens", 60, "--db", db)
        with contextlib.closing(sqlite3.connect(db)) as rows:
            texts = [text for text, in rows.execute("SELECT answer FROM answers")]
        self.assertEqual(len(texts), 8, done.stderr)
        for text in texts:
            self.assertRegex(text, r"^[a-z]\w*( (=( .*)?)?)?$")
        db = pathlib.Path(self.folder.name) / "of the language.db"
        done = akgen("bench", "--provider", f"lm:{at}", "--task", "level1/Math/Sqrt", "-n", 8, "--answer-seed", 4, "--language", "graph", "--constrain=language",
                     "--max-answer-tokens", 60, "--db", db)
        with contextlib.closing(sqlite3.connect(db)) as rows:
            others = [text for text, in rows.execute("SELECT answer FROM answers")]
            self.assertNotIn("Formulas as answers to one task", rows.execute("SELECT request FROM answers").fetchone()[0])
        for text in others:
            self.assertRegex(text, r"^[A-Za-z_]\w*( ?(= ?.*)?)?$")
        self.assertNotEqual(texts, others)
        said = akgen("bench", "--provider", f"lm:{at}", "--task", "level1/Math/Sqrt", "--constrain").stderr
        self.assertIn("--constrain is for --language dsl or graph: there is no grammar of ascendc", said)
        said = akgen("bench", "--provider", f"lm:{at}", "--task", "level1/Math/Sqrt", "--language", "dsl", "--constrain=task").stderr
        self.assertIn("--constrain=task is for --language graph", said)
        said = akgen("bench", "--provider", f"lm:{at}", "--task", "level1/Math/Sqrt", "--grammar-tries", 3).stderr
        self.assertIn("--grammar-tries is for answers of a grammar", said)
        said = akgen("bench", "--provider", "exec:true", "--task", "level1/Math/Sqrt", "--constrain").stderr
        self.assertIn("--constrain is for --provider lm:DIR", said)
        said = akgen("bench", "--provider", "exec:cat", "--int8", "--task", "level1/Math/Sqrt").stderr
        self.assertIn("--int8 is of models that this process runs; expected lm:DIR", said)
        said = akgen("bench", "--provider", "lm:", "--task", "level1/Math/Sqrt").stderr
        self.assertIn("lm: no folder; expected lm:DIR", said)
        said = akgen("bench", "--provider", f"lm:{at}/absent", "--task", "level1/Math/Sqrt").stderr
        self.assertIn("absent/config.json: No such file", said)

    def asked_of(self, provider, lines, *options, env=None):
        """Replies of tests/gen_ask, by the number of their request, and its standard error."""
        done = subprocess.run([ASK, "--model", "any", *map(str, options), provider], input="".join(json.dumps(line) + "\n" for line in lines),
                              capture_output=True, text=True, timeout=120, env=dict(os.environ, **(env or {})))
        return [row for row in sorted(map(json.loads, done.stdout.splitlines()), key=lambda row: row["number"])], done.stderr

    def test_the_same_without_a_server(self):
        """A process writes the same with its own engine as the server does, of several texts at a time and by either API."""
        lines = [{"messages": USER, "n": 3, "seed": 5}, {"messages": [{"role": "system", "content": "copy"}, *USER], "seed": 6}, {"messages": USER, "n": 2, "seed": 9}]
        for options in (("--max-answer-tokens", 20, "--temperature", 1.3), ("--max-answer-tokens", 20, "--temperature", 0.7, "--top-k", 20, "--top-p", 0.9),
                        ("--max-answer-tokens", 20, "--temperature", 0, "--stop", "py"), ("--temperature", 1.3, "--api", "completions")):
            with self.subTest(options=options):
                served, _ = self.asked_of(f"openai:http://127.0.0.1:{self.port}/v1", lines, *options)
                own, said = self.asked_of(f"lm:{self.model}", lines, *options)
                self.assertEqual([len(row["choices"]) for row in own], [3, 1, 2], said)
                same = [{key: row[key] for key in ("choices", "prompt_tokens", "completion_tokens", "failure", "tries")} for row in own]
                self.assertEqual(same, [{key: row[key] for key in same[0]} for row in served])
                bodies = [[json.loads(row["request"]) for row in rows] for rows in (own, served)]
                self.assertEqual(*bodies)
                replies = [json.loads(rows[0]["response"]) for rows in (own, served)]
                for name in ("object", "model", "choices", "usage"):
                    self.assertEqual(replies[0][name], replies[1][name] if name != "model" else "any", name)

    def test_without_libcurl(self):
        at = pathlib.Path(self.folder.name) / "no curl"
        at.mkdir()
        (at / "libcurl.so.4").write_bytes(b"no library")
        lines = [{"messages": USER, "seed": 5}]
        _, said = self.asked_of(f"openai:http://127.0.0.1:{self.port}/v1", lines, env={"LD_LIBRARY_PATH": str(at)})
        self.assertIn("libcurl.so.4", said)
        own, said = self.asked_of(f"lm:{self.model}", lines, "--max-answer-tokens", 9, env={"LD_LIBRARY_PATH": str(at)})
        self.assertEqual((own[0]["failure"], own[0]["completion_tokens"] > 0), (None, True), said)

    def test_what_its_own_engine_refuses(self):
        own, _ = self.asked_of(f"lm:{self.model}", [{"messages": [{"role": "user", "content": "word " * 9000}]}, {"messages": USER, "seed": 1}])
        self.assertRegex(own[0]["failure"], r"^lm:\S+: the prompt has \d+ tokens, and there is room for \d+, an answer included$")
        self.assertEqual((own[0]["hopeless"], own[0]["tries"], own[1]["failure"]), (False, 1, None))
        own, _ = self.asked_of(f"lm:{self.model}", [{"messages": USER}], "--stop", "")
        self.assertIn("a text to stop at is empty", own[0]["failure"])

    def test_its_own_engine_is_stopped(self):
        at = self.long_model()
        lines = [{"messages": USER, "n": 3, "seed": number} for number in range(4000)]
        own, said = self.asked_of(f"lm:{at}", lines, "--temperature", 2, "--leave", 0.5)
        self.assertLess(len(own), 4000, said)
        self.assertLess(float(re.search(r"stopped within ([\d.]+) s", said)[1]), 3)
        own, said = self.asked_of(f"lm:{at}", lines[:3], "--temperature", 2, "--answer-timeout", 0.01)
        for row in own:
            self.assertIn("no whole answer within 0.01 s; --max-answer-tokens limits an answer, --answer-timeout its time", row["failure"], said)

    def test_an_address_that_is_taken(self):
        done = akgen("lm", "serve", self.model, "--port", self.port)
        self.assertEqual(done.returncode, 3)
        self.assertIn(f"127.0.0.1:{self.port} cannot be had", done.stderr)
        self.assertIn("'here' is no IPv4 address", akgen("lm", "serve", self.model, "--host", "here").stderr)


if __name__ == "__main__":
    unittest.main()
