#!/usr/bin/env python3
"""`akgen lm tokenizer` and the library's BpeTrainer: the same vocabulary and merges of the same texts, and files that both load."""
import json
import os
import pathlib
import random
import re
import subprocess
import tempfile
import time
import unittest

os.environ.update(HF_HUB_OFFLINE="1", TOKENIZERS_PARALLELISM="true")

from tokenizers import Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, trainers
from transformers import AutoTokenizer

HOME = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = os.environ["AKGEN"]
TOKENIZE = pathlib.Path(PROGRAM).parent / "tests/tokenize"
QWEN = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
SPECIALS = ["<|endoftext|>", "<|im_start|>", "<|im_end|>", "<think>", "</think>"]


def paths():
    return sorted(p for pattern in ("docs/*.md", "src/lm/*.[ch]", "src/npu/*.c", "tests/peers/*.py", "prompts/**/*.md") for p in HOME.glob(pattern))


def trained_by_the_library(texts, vocabulary, least=0, specials=SPECIALS):
    """Of texts without the special tokens in them, which stand behind what is learned."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.normalizer = normalizers.NFC()
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence([pre_tokenizers.Split(Regex(QWEN), behavior="isolated"),
                                                       pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)])
    tokenizer.decoder = decoders.ByteLevel()
    parts = [part for text in texts for part in re.split("|".join(map(re.escape, specials)), text)]
    tokenizer.train_from_iterator(parts, trainers.BpeTrainer(vocab_size=vocabulary - len(specials), min_frequency=least, show_progress=False,
                                                             initial_alphabet=pre_tokenizers.ByteLevel.alphabet()))
    tokenizer.add_special_tokens(specials)
    return tokenizer


class Trained(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))

    def train(self, files, vocabulary, *options):
        out = self.folder / f"out-{len(list(self.folder.iterdir()))}"
        done = subprocess.run([PROGRAM, "lm", "tokenizer", *map(str, files), "-o", str(out), "--vocab", str(vocabulary), "--json", *options],
                              capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        return out, json.loads(done.stdout)

    def same(self, out, peer, name=""):
        ours, theirs = json.loads((out / "tokenizer.json").read_text()), json.loads(peer.to_str())
        self.assertEqual([tuple(merge.split(" ")) for merge in ours["model"]["merges"]], [tuple(merge) for merge in theirs["model"]["merges"]], name)
        self.assertEqual(ours["model"]["vocab"], theirs["model"]["vocab"], name)
        self.assertEqual([(token["id"], token["content"]) for token in ours["added_tokens"]],
                         [(token["id"], token["content"]) for token in theirs["added_tokens"]], name)

    def test_files_of_text(self):
        texts = [path.read_text(encoding="utf-8") for path in paths()]
        files = [self.folder / f"{i}.txt" for i in range(len(texts))]
        for file, text in zip(files, texts):
            file.write_text(text, encoding="utf-8")
        for vocabulary in (300, 4000, 30000):
            start = time.monotonic()
            out, result = self.train(files, vocabulary)
            middle = time.monotonic()
            peer = trained_by_the_library(texts, vocabulary)
            print(f"{vocabulary}: {middle - start:.2f} s for {result['words']} words, the library {time.monotonic() - middle:.2f} s")
            self.same(out, peer)
            self.assertEqual(result["vocabulary"], peer.get_vocab_size())
        self.assertEqual(result["tokens"], sum(len(peer.encode(part).ids) for text in texts for part in re.split("|".join(map(re.escape, SPECIALS)), text)))

    def test_rows(self):
        messages = [{"role": "user", "content": "Write the kernel of Sqrt."}, {"role": "assistant", "content": "<think>\nVec.\n</think>\n\nDone."}]
        rows = [{"text": "All of it is learned, and that it ends <|im_end|>"}, {"prompt": "What is 2 + 2?", "completion": " It is 4."},
                {"prompt": "The better one:", "chosen": "good", "rejected": "not so good"},
                {"prompt": "Of a group", "completions": ["one", "two", "three"], "rewards": [0, 1, 2]},
                {"messages": messages}, {"prompt": messages[:1], "completion": messages[1:]}]
        data = self.folder / "rows.jsonl"
        data.write_text("".join(json.dumps(row) + "\n" for row in rows))
        (self.folder / "chat").write_text(json.dumps(messages) + "\n")
        rendered = subprocess.run([PROGRAM, "lm", "chat", str(self.folder / "chat"), "--json"], capture_output=True, text=True, check=True)
        chat = [part["text"] for part in json.loads(rendered.stdout)["parts"]]
        texts = [rows[0]["text"], "What is 2 + 2?", " It is 4.", "The better one:", "good", "The better one:", "not so good",
                 "Of a group", "one", "Of a group", "two", "Of a group", "three", *chat, *chat]
        out, _ = self.train([data], 340)
        self.same(out, trained_by_the_library(texts, 340))

    def test_corpora_of_few_letters(self):
        rng = random.Random(3)
        for number in range(150):
            letters = rng.choice(["ab", "abc", "aab ", "xy\u00e9", "a'st ", "ab\n\t 1"])
            texts = ["".join(rng.choice(letters) for _ in range(rng.randrange(1, 60))) for _ in range(rng.randrange(1, 40))]
            files = []
            for i, text in enumerate(texts):
                files.append(self.folder / f"c{number}-{i}.txt")
                files[-1].write_bytes(text.encode())
            vocabulary, least = rng.randrange(261, 600), rng.choice([1, 1, 2, 5])
            out, _ = self.train(files, vocabulary, "--min-count", str(least))
            self.same(out, trained_by_the_library(texts, vocabulary, least), f"corpus {number}, {vocabulary}, {least}")

    def test_transformers_loads_it(self):
        texts = [path.read_text(encoding="utf-8") for path in paths()[:20]]
        (self.folder / "a.txt").write_text("".join(texts), encoding="utf-8")
        (self.folder / "b.txt").write_text("<tool> food <tool>food food food food", encoding="utf-8")
        out, _ = self.train([self.folder / "a.txt", self.folder / "b.txt"], 2000, "--special", "<tool>", "--special", "vec")
        loaded = AutoTokenizer.from_pretrained(out)
        self.assertEqual((loaded.eos_token, loaded.pad_token, len(loaded)), ("<|im_end|>", "<|endoftext|>", 2000))
        given = [*texts, "<|im_start|>user\nhi<tool><|im_end|>\n<think>\n\n</think>", "vec vector", "caf\u00e9 cafe\u0301 \u4f60\u597d \U0001f468\u200d\U0001f469 I'LL", "", " \n\n  x"]
        done = subprocess.run([TOKENIZE, out / "tokenizer.json"], input="".join(json.dumps(text) + "\n" for text in given).encode(),
                              stdout=subprocess.PIPE, check=True)
        for text, line in zip(given, done.stdout.decode().splitlines()):
            ids = json.loads(line, strict=False)[0]
            self.assertEqual(ids, loaded.encode(text, add_special_tokens=False), text[:60])
            if "\u0301" not in text:
                self.assertEqual(loaded.decode(ids), text)
        self.assertEqual(loaded.decode(loaded.encode("<think>a<|im_end|>"), skip_special_tokens=True), "<think>a")


if __name__ == "__main__":
    unittest.main()
