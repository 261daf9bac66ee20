#!/usr/bin/env python3
"""The tokenizer beside PyPI's tokenizers, in turns, on this tree's own texts: encoding with a vocabulary that `akgen lm tokenizer` makes of them,
and making it. scripts/peers benchmarks/tokenizer.py [ROUNDS]

Both encode the files one by one in one thread, and give the same tokens. The library keeps the pieces that it has merged (its cache), so its first round is slower and is
left out; ours has no cache."""
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

os.environ["TOKENIZERS_PARALLELISM"] = "false"

from tokenizers import Regex, Tokenizer, models, normalizers, pre_tokenizers, trainers

HOME = pathlib.Path(__file__).resolve().parents[1]
AKGEN = pathlib.Path(os.environ["AKGEN"])
ROUNDS = int(sys.argv[1]) if len(sys.argv) > 1 else 7
QWEN = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
VOCABULARY = 8192


def trained(texts):
    start = time.perf_counter()
    tokenizer = Tokenizer(models.BPE())
    tokenizer.normalizer = normalizers.NFC()
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence([pre_tokenizers.Split(Regex(QWEN), behavior="isolated"),
                                                       pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)])
    tokenizer.train_from_iterator(texts, trainers.BpeTrainer(vocab_size=VOCABULARY - 5, show_progress=False,
                                                              initial_alphabet=pre_tokenizers.ByteLevel.alphabet()))
    return time.perf_counter() - start


def main():
    paths = sorted(p for pattern in ("docs/*.md", "src/**/*.[ch]", "tests/**/*.py", "prompts/**/*.md", "include/**/*.h") for p in HOME.glob(pattern))
    texts = [p.read_text(encoding="utf-8") for p in paths]
    length = sum(len(text.encode()) for text in texts)
    with tempfile.TemporaryDirectory() as folder:
        file, out = pathlib.Path(folder) / "text.txt", pathlib.Path(folder) / "made"
        files = [pathlib.Path(folder) / f"{i}.txt" for i in range(100)]
        for i, own in enumerate(files):
            own.write_text("".join(texts[i::len(files)]), encoding="utf-8")
        file.write_text("".join(text + "\0" for text in texts), encoding="utf-8")
        start = time.perf_counter()
        subprocess.run([AKGEN, "lm", "tokenizer", *files, "-o", out, "--vocab", str(VOCABULARY)], check=True, stdout=subprocess.DEVNULL)
        ours_made = time.perf_counter() - start
        theirs_made = trained([own.read_text(encoding="utf-8") for own in files])
        print(f"making {VOCABULARY} tokens of {length / 1e6:.1f} MB: {ours_made:.2f} s, tokenizers {theirs_made:.2f} s")
        peer = Tokenizer.from_file(str(out / "tokenizer.json"))
        ours = subprocess.Popen([AKGEN.parent / "benchmarks/tokenizer", out / "tokenizer.json", file], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                text=True)
        found = {"ours": [], "tokenizers": []}
        for turn in range(ROUNDS + 1):
            ours.stdin.write("\n")
            ours.stdin.flush()
            seconds, count = ours.stdout.readline().split()
            start = time.perf_counter()
            theirs_count = sum(len(peer.encode(text).ids) for text in texts)
            theirs = time.perf_counter() - start
            assert theirs_count == int(count), "not the same tokens"
            if turn:
                found["ours"].append(length / float(seconds))
                found["tokenizers"].append(length / theirs)
        ours.stdin.close()
        ours.wait()
    rates = {name: statistics.median(values) for name, values in found.items()}
    print(f"encoding, median of {ROUNDS}: {rates['ours'] / 1e6:.2f} MB/s, tokenizers {rates['tokenizers'] / 1e6:.2f} MB/s, "
          f"{rates['ours'] / rates['tokenizers']:.2f} times")


if __name__ == "__main__":
    main()
