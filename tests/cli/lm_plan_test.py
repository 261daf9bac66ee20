#!/usr/bin/env python3
# test: builds=release cost=54
"""akgen lm plan: sizes by hand, and the memory that runs take beside what it says."""
import http.client
import json
import os
import pathlib
import re
import subprocess
import tempfile
import unittest

from akgen_program import AKGEN, akgen
from lm_program import make_model, write_rows

BIG = dict(hidden_size=384, num_hidden_layers=6, num_attention_heads=6, num_key_value_heads=2, head_dim=64, intermediate_size=1024,
           max_position_embeddings=2048)
TOKENS = 2048
LIBRARY = 8 << 20 # bytes of the products' library, its code and its blocks, that depend on the processor and not on the model


def peak(*arguments):
    """Bytes that a run had at most."""
    process = subprocess.Popen([AKGEN, *map(str, arguments)], stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode == 0
    return usage.ru_maxrss * 1024


class Plan(unittest.TestCase):
    def as_planned(self, took, planned):
        self.assertAlmostEqual(took, planned, delta=0.1 * planned + LIBRARY)

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="akgen-lm-")
        self.addCleanup(folder.cleanup)
        self.at = pathlib.Path(folder.name)

    def plan(self, model, *options):
        done = akgen("lm", "plan", model, "--json", "--gflops", 100, *options)
        self.assertEqual(done.returncode, 0, done.stderr)
        plan = json.loads(done.stdout)
        return plan, {row["what"]: row for row in plan["rows"]}

    def test_sizes(self):
        plan, rows = self.plan(make_model(self.at / "model"), "--tokens", 100, "--lora", 2)
        c, i, q, kv, v = 48, 96, 64, 32, 257
        layer = 2 * c + c * (q + 2 * kv) + 2 * 16 + q * c + 3 * c * i
        parameters = v * c + 2 * layer + c
        self.assertEqual((plan["parameters"], plan["active"]), (parameters, parameters))
        adapters = 2 * 2 * (c + q + 2 * (c + kv) + q + c + 3 * (c + i))
        everything, lora = rows["train all"], rows["train adapters (--lora)"]
        self.assertEqual([everything[key] for key in ("trained", "weights", "gradients", "means")],
                         [parameters, 4 * parameters, 4 * parameters, 8 * parameters])
        self.assertEqual([lora[key] for key in ("trained", "weights", "gradients")], [adapters, 4 * (parameters + adapters), 4 * adapters])
        self.assertEqual(rows["write 8 texts"]["cache"], 8 * 256 * 2 * 2 * kv * 4)
        self.assertLess(rows["train all, --recompute"]["activations"], everything["activations"])
        online = rows["train all, --online"]
        self.assertEqual([online[key] for key in ("weights", "cache", "means")], [8 * parameters, rows["write 32 texts"]["cache"], 8 * parameters])
        self.assertEqual(online["activations"], everything["activations"] + rows["write 32 texts"]["activations"])
        self.assertEqual(rows["train adapters, --online"]["weights"], lora["weights"])
        self.assertAlmostEqual(everything["operations_per_token"], 3 * (2 * parameters + 4 * 50 * q * 2))
        self.assertAlmostEqual(everything["tokens_per_second"], 100e9 / everything["operations_per_token"])
        said = akgen("lm", "plan", self.at / "model", "--gflops", 0).stdout
        self.assertIn("train adapters, --recompute", said)
        self.assertNotIn("tokens/s", said)
        self.assertEqual(akgen("lm", "plan", self.at).returncode, 2)

    def test_memory_is_as_planned(self):
        model = make_model(self.at / "model", **BIG)
        _, rows = self.plan(model, "--tokens", TOKENS, "--length", TOKENS)
        data = write_rows(self.at / "data.jsonl", [{"text": "kernel " * 290}])
        nothing = peak("lm", "plan", model, "--gflops", 0)  # the program and its libraries
        for name, options in (("train all", ["--new"]), ("train all, --recompute", ["--new", "--recompute"]),
                              ("train adapters (--lora)", ["--lora", 16]), ("train adapters, --recompute", ["--lora", 16, "--recompute"])):
            with self.subTest(name):
                out = self.at / name
                took = peak("lm", "train", self.at / "train all" if "--lora" in options else model, "--data", data, "-o", out, "--steps", 1,
                            "--tokens", TOKENS, *options) - nothing
                self.as_planned(took, rows[name]["all"])
        pairs = write_rows(self.at / "pairs.jsonl", [{"prompt": "k" * 20, "chosen": "kernel " * 143, "rejected": "kernal " * 143}])
        for options in ([], ["--lora", 16]):
            with self.subTest("dpo", options=options):
                took = peak("lm", "train", self.at / "train all", "--objective", "dpo", "--data", pairs, "-o", self.at / f"dpo{len(options)}", "--steps", 1,
                            "--tokens", TOKENS, *options) - nothing
                self.as_planned(took, rows["train adapters (--lora)" if options else "train all"]["all"])
        (self.at / "prompt").write_text("k" * (TOKENS - 50))
        for count, name in ((1, "write 1 text"), (8, "write 8 texts")):
            with self.subTest(name):
                took = peak("lm", "sample", self.at / "train all", "--prompt-file", self.at / "prompt", "-n", count, "--max-tokens", 50) - nothing
                self.as_planned(took, rows[name]["all"])
        _, rows = self.plan(model, "--tokens", TOKENS, "--length", 256)
        prompts = write_rows(self.at / "prompts.jsonl", [{"prompt": "kernel", "answer": "?"}] * 4)
        for name, options in (("train all, --online", []), ("train adapters, --online", ["--lora", 16])):
            with self.subTest(name): # most answers end before the pass is full
                took = peak("lm", "train", self.at / "train all", "--objective", "grpo", "--online", 8, "--judge", "text", "--answer-tokens", 250, "--data",
                            prompts, "-o", self.at / name, "--steps", 1, "--batch", 4, "--tokens", TOKENS, *options) - nothing
                self.assertTrue(0.7 < took / rows[name]["all"] < 1.1, took / rows[name]["all"])

    def test_int8_keeps_no_float32(self):
        """What a server holds when it has written eight texts; it needs the whole float32 model while it begins."""
        model = make_model(self.at / "model", **BIG | dict(hidden_size=768, intermediate_size=3072))
        data = write_rows(self.at / "data.jsonl", [{"text": "kernel"}])
        self.assertEqual(akgen("lm", "train", model, "--new", "--data", data, "-o", self.at / "new", "--steps", 1).returncode, 0)
        _, rows = self.plan(model, "--length", TOKENS)
        planned = rows["write 8 texts, --int8"]
        self.assertLess(planned["weights"], 0.3 * rows["write 8 texts"]["weights"])
        process = subprocess.Popen([AKGEN, "lm", "serve", self.at / "new", "--port", "0", "--int8"], stdout=subprocess.PIPE, text=True)
        try:
            address = re.search(r"http://([\d.:]+)/", process.stdout.readline())[1]
            def held():
                return int(re.search(r"VmRSS:\s+(\d+) kB", pathlib.Path(f"/proc/{process.pid}/status").read_text())[1]) * 1024
            connection = http.client.HTTPConnection(address, timeout=300)
            connection.request("POST", "/v1/completions", json.dumps(dict(prompt="k" * (TOKENS - 50), n=8, max_tokens=50)))
            self.assertEqual(connection.getresponse().status, 200)
            self.as_planned(held() - peak("lm", "plan", model, "--gflops", 0), planned["all"])
        finally:
            process.kill()
            process.wait()
            process.stdout.close()


if __name__ == "__main__":
    unittest.main()
