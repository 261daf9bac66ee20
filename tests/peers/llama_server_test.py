#!/usr/bin/env python3
"""src/gen/client.h and a real server, llama.cpp's (of the package xllamacpp), with a model of random weights that this test
makes: what the server understands of our requests, and that it stops computing when we leave."""
import json
import os
import pathlib
import select
import sqlite3
import subprocess
import sys
import tempfile
import time
import unittest
import urllib.request

import gguf
import numpy
import xllamacpp

ASK = pathlib.Path(os.environ["AKGEN"]).parent / "tests/gen_ask"
KEY = "sk-0123456789abcdef-llama"
WIDTH, INNER, LAYERS, HEADS, LONGEST = 64, 128, 2, 4, 16384


def byte_tokens():
    """GPT-2's characters for the 256 bytes: those that show stand for themselves, the others for U+0100 and on."""
    shown = [*range(33, 127), *range(161, 173), *range(174, 256)]
    hidden = iter(range(256, 512))
    return [chr(byte if byte in shown else next(hidden)) for byte in range(256)]


def make_model(path):
    """A LLaMA of two layers over bytes: its answers are noise, but the same noise for the same seed."""
    tokens = [*byte_tokens(), "<s>", "</s>", "he"]
    writer = gguf.GGUFWriter(str(path), "llama")
    writer.add_context_length(2 * LONGEST)
    writer.add_embedding_length(WIDTH)
    writer.add_block_count(LAYERS)
    writer.add_feed_forward_length(INNER)
    writer.add_head_count(HEADS)
    writer.add_head_count_kv(HEADS)
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_rope_dimension_count(WIDTH // HEADS)
    writer.add_vocab_size(len(tokens))
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("default")
    writer.add_token_list(tokens)
    writer.add_token_types([gguf.TokenType.NORMAL] * 256 + [gguf.TokenType.CONTROL] * 2 + [gguf.TokenType.NORMAL])
    writer.add_token_merges(["h e"])
    writer.add_bos_token_id(256)
    writer.add_eos_token_id(257)
    writer.add_chat_template("{% for m in messages %}{{ m['role'] }}: {{ m['content'] }}\n{% endfor %}assistant: ")
    noise = numpy.random.default_rng(1)

    def matrix(name, rows, columns):
        writer.add_tensor(name, (noise.standard_normal((rows, columns)) * 0.5).astype(numpy.float32))

    matrix("token_embd.weight", len(tokens), WIDTH)
    matrix("output.weight", len(tokens), WIDTH)
    writer.add_tensor("output_norm.weight", numpy.ones(WIDTH, numpy.float32))
    for layer in range(LAYERS):
        for name, rows, columns in (("attn_q", WIDTH, WIDTH), ("attn_k", WIDTH, WIDTH), ("attn_v", WIDTH, WIDTH),
                                    ("attn_output", WIDTH, WIDTH), ("ffn_gate", INNER, WIDTH), ("ffn_up", INNER, WIDTH),
                                    ("ffn_down", WIDTH, INNER)):
            matrix(f"blk.{layer}.{name}.weight", rows, columns)
        for name in ("attn_norm", "ffn_norm"):
            writer.add_tensor(f"blk.{layer}.{name}.weight", numpy.ones(WIDTH, numpy.float32))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def serve(path):
    """Runs in a process of its own until standard input ends."""
    params = xllamacpp.CommonParams()
    params.model.path = path
    params.n_parallel, params.n_ctx = 2, 2 * LONGEST
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = 1
    params.endpoint_slots, params.warmup = True, False
    params.sampling.ignore_eos = True
    params.api_keys = [KEY]
    server = xllamacpp.Server(params)
    print(json.dumps(server.listening_address), flush=True)
    sys.stdin.read()
    os._exit(0)


def line(text="hello", **more):
    return {"messages": [{"role": "system", "content": "You make noise."}, {"role": "user", "content": text}], **more}


class LlamaServer(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        path = pathlib.Path(cls.folder.name, "noise.gguf")
        make_model(path)
        cls.log = open(pathlib.Path(cls.folder.name, "log"), "w")
        cls.server = subprocess.Popen([sys.executable, __file__, "--serve", path], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                      stderr=cls.log, text=True)
        ready, _, _ = select.select([cls.server.stdout], [], [], 120)
        first = cls.server.stdout.readline() if ready else ""
        if not first.startswith('"http'):
            raise RuntimeError("the server did not begin: " + pathlib.Path(cls.log.name).read_text()[-2000:])
        cls.url = json.loads(first)

    @classmethod
    def tearDownClass(cls):
        cls.server.stdin.close()
        cls.server.wait(30)
        cls.server.stdout.close()
        cls.log.close()
        cls.folder.cleanup()

    def ask(self, *options, requests=None, key=KEY):
        environment = {name: value for name, value in os.environ.items() if not name.endswith("API_KEY")}
        if key:
            environment["AKGEN_API_KEY"] = key
        process = subprocess.run([ASK, "--model", "noise", *map(str, options), "openai:" + self.url], text=True, env=environment,
                                 input="".join(json.dumps(one) + "\n" for one in requests or [line()]), capture_output=True,
                                 timeout=120)
        self.assertEqual(process.returncode, 0, process.stderr)
        self.assertNotIn(KEY, process.stdout + process.stderr)
        return sorted(map(json.loads, process.stdout.splitlines()), key=lambda reply: reply["number"])

    def answers(self, *options, **keywords):
        replies = self.ask(*options, **keywords)
        for reply in replies:
            self.assertIsNone(reply["failure"])
        return replies

    def slots(self):
        request = urllib.request.Request(self.url + "/slots", headers={"Authorization": "Bearer " + KEY})
        with urllib.request.urlopen(request, timeout=30) as reply:
            return json.load(reply)

    def test_streams_are_what_comes_whole(self):
        """The same seed is the same noise, streamed or not; the server counts what it made."""
        for api in ("chat", "completions"):
            rows = [self.answers("--api", api, mode, "--max-answer-tokens", 40, "--answer-seed", 7)[0]
                    for mode in ("--stream", "--no-stream", "--stream")]
            texts = [row["choices"][0]["text"] for row in rows]
            self.assertGreater(len(texts[0]), 10)
            self.assertEqual(texts, [texts[0]] * 3)
            for row in rows:
                self.assertEqual((row["completion_tokens"], row["choices"][0]["finish"], row["tries"]), (40, "length", 1))
                self.assertGreater(row["prompt_tokens"], 4)

    def test_seeds(self):
        texts = [row["choices"][0]["text"] for row in
                 self.answers("--max-answer-tokens", 30, requests=[line(seed=seed) for seed in (1, 2, 3, 1, 2, 3)])]
        self.assertEqual(texts[:3], texts[3:])
        self.assertEqual(len(set(texts)), 3)

    def test_greedy(self):
        texts = {row["choices"][0]["text"] for row in self.answers("--max-answer-tokens", 30, "--preset", "multikernelbench",
                                                                  requests=[line(seed=seed) for seed in (1, 2)])}
        self.assertEqual(len(texts), 1)

    def test_more_than_one_choice(self):
        for mode in ("--stream", "--no-stream"):
            row = self.answers(mode, "--max-answer-tokens", 30, requests=[line(n=2, seed=5)])[0]
            self.assertEqual([choice["finish"] for choice in row["choices"]], ["length"] * 2)
            self.assertEqual(row["tries"], 1)
            self.assertEqual(len({choice["text"] for choice in row["choices"]}), 2)
            if mode == "--stream": # whole, it counts the first choice alone
                self.assertEqual(row["completion_tokens"], 60)

    def test_stop(self):
        text = self.answers("--max-answer-tokens", 200, "--answer-seed", 11)[0]["choices"][0]["text"]
        word = next(letter for letter in text[20:] if letter.isascii() and letter.isalnum())
        choice = self.answers("--max-answer-tokens", 200, "--answer-seed", 11, "--stop", word)[0]["choices"][0]
        self.assertEqual((choice["text"], choice["finish"]), (text[:text.index(word)], "stop"))

    def test_side_by_side(self):
        rows = self.answers("--max-answer-tokens", 20, "--concurrency", 8, requests=[line(f"number {i}", seed=i) for i in range(24)])
        self.assertEqual([row["number"] for row in rows], list(range(24)))

    def test_leaving(self):
        """gen_client_stop ends the computation: the slots are free long before the answers would be whole, while we go on."""
        begin = time.monotonic()
        self.answers("--max-answer-tokens", 400)
        whole = (time.monotonic() - begin) * 3900 / 400
        with subprocess.Popen([ASK, "--model", "noise", "--max-answer-tokens", "3900", "--leave", str(whole / 8), "--linger", "60",
                               "openai:" + self.url], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              text=True, env={"AKGEN_API_KEY": KEY}) as process:
            process.stdin.write((json.dumps(line()) + "\n") * 2)
            process.stdin.close()
            while not any(slot["is_processing"] for slot in self.slots()):
                time.sleep(0.005)
            self.assertIn("stopped", process.stderr.readline())
            left = time.monotonic()
            while any(slot["is_processing"] for slot in self.slots()):
                self.assertLess(time.monotonic() - left, whole / 4, "the server goes on")
                time.sleep(0.02)
            self.assertIsNone(process.poll())
            process.kill()
            self.assertEqual(process.stdout.read(), "")

    def test_bench(self):
        """Noise is answered, kept, counted and judged: no code, so the model's failure."""
        with tempfile.TemporaryDirectory() as folder:
            db = pathlib.Path(folder, "runs.db")
            process = subprocess.run([os.environ["AKGEN"], "bench", "--provider", "openai:" + self.url, "--model", "noise", "-n", "2",
                                      "--task", "level1/Math/Sqrt", "--max-answer-tokens", "50", "--answer-seed", "1", "--db", db],
                                     capture_output=True, text=True, timeout=300, env=dict(os.environ, AKGEN_API_KEY=KEY))
            self.assertEqual(process.returncode, 1, process.stdout + process.stderr)
            self.assertIn("compile_error", process.stdout)
            with sqlite3.connect(db) as store:
                rows = store.execute("select task, answer, completion_tokens, failure from answers").fetchall()
            self.assertEqual(len(rows), 2)
            self.assertEqual({(tokens, failure) for _, _, tokens, failure in rows}, {(50, None)})
            self.assertEqual(len({answer for _, answer, _, _ in rows}), len(rows))
            self.assertNotIn(KEY.encode(), db.read_bytes())

    def test_refusals(self):
        row = self.ask(key="sk-wrong-wrong-wrong", requests=[line()])[0]
        self.assertEqual((row["tries"], row["hopeless"]), (1, True))
        self.assertIn("HTTP 401", row["failure"])
        row = self.ask(requests=[line("long " * 4000)])[0]
        self.assertEqual((row["tries"], row["hopeless"]), (1, False))
        self.assertRegex(row["failure"], "HTTP 400: .*context")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--serve"]:
        serve(sys.argv[2])
    unittest.main()
