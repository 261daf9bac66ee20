#!/usr/bin/env python3
"""src/lm/tokenizer.h and the library whose files it reads: the same ids for the same texts, and a megabyte in a second."""
import json
import os
import pathlib
import random
import subprocess
import tempfile
import time
import unicodedata
import unittest

from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, trainers

HOME = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = pathlib.Path(os.environ["AKGEN"]).parent / "tests/tokenize"
QWEN = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
LLAMA = QWEN.replace(r"\p{N}|", r"\p{N}{1,3}|")


def split(pattern):
    return pre_tokenizers.Split(pattern, behavior="isolated")


BYTES = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
# What models on the hub have: name, normalizer, pre-tokenizer, more of the file's fields.
KINDS = {
    "gpt2": (None, pre_tokenizers.ByteLevel(add_prefix_space=False), {}),
    "gpt2 with a space before": (None, pre_tokenizers.ByteLevel(add_prefix_space=True), {}),
    "qwen": (normalizers.NFC(), pre_tokenizers.Sequence([split(Regex(QWEN)), BYTES]), {}),
    "llama": (None, pre_tokenizers.Sequence([split(Regex(LLAMA)), BYTES]), {"ignore_merges": True}),
    "deepseek": (normalizers.Sequence([]), pre_tokenizers.Sequence([
        split(Regex(r"[\r\n]")), split(Regex(r"\s?[A-Za-zµÀ-ÖØ-öø-ƺ]+")), split(Regex(r"\s?[!-/:-~！-／：-～‘-‟　-。]+")),
        split(Regex(r"\s+$")), split(Regex(r"[一-龥ࠀ-一가-퟿]+")), pre_tokenizers.Digits(individual_digits=True), BYTES]), {}),
    "a string and empty matches": (normalizers.NFKC(), pre_tokenizers.Sequence([split("."), split(Regex(r"x*")), BYTES]), {}),
    "decomposed": (normalizers.NFD(), pre_tokenizers.Sequence([split(Regex(QWEN)), BYTES]), {}),
}
ADDED = [AddedToken("<|im_start|>", special=True, normalized=False), AddedToken("<|im_end|>", special=True, normalized=False),
         AddedToken("<|im", normalized=False), AddedToken("<tool>", normalized=True), AddedToken("word", single_word=True, normalized=False),
         AddedToken("<left>", lstrip=True, normalized=False), AddedToken("<right>", rstrip=True, normalized=False),
         AddedToken("caf\u00e9", normalized=True), AddedToken("<both>", lstrip=True, rstrip=True, normalized=False)]


def corpus():
    """This tree's own texts: prose, C, Python, tables."""
    paths = sorted(p for pattern in ("docs/*.md", "src/lm/*.c", "tests/peers/*.py", "prompts/**/*.md", "tasks/*/*/*/Sqrt/**/*.cpp")
                   for p in HOME.glob(pattern))
    return [p.read_text(encoding="utf-8") for p in paths]


def made(kind):
    normalizer, pre_tokenizer, fields = KINDS[kind]
    tokenizer = Tokenizer(models.BPE())
    if normalizer is not None:
        tokenizer.normalizer = normalizer
    tokenizer.pre_tokenizer = pre_tokenizer
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(vocab_size=3000, initial_alphabet=pre_tokenizers.ByteLevel.alphabet(), show_progress=False)
    tokenizer.train_from_iterator(corpus(), trainer)
    tokenizer.add_tokens(ADDED)
    described = json.loads(tokenizer.to_str())
    described["model"].update(fields)
    return json.dumps(described)


def texts():
    rng = random.Random(7)
    fixed = ["", " ", "a", "\n", "  \n\n  x", "I'LL won't\u017f 'S it's", "x.y..z xxx", "caf\u00e9 cafe\u0301 \u212b \u1e9b\u0323 \ufb01", "\u4f60\u597d\uff0c\u4e16\u754c\u3002123",
             "<|im_start|>user\nhi<|im_end|>\n", "<|im_startx<|im", "a word, words swords word", "a  <left>  b <right>  c \u3000<both>\u2003 d<both>",
             "<tool>caf\u00e9</tool>cafe\u0301", "\u180e\u0085\u2028\u00a0\u200b\ufeff x\u180ey", "\x00\x01\x7f a\x00b", "\U0001f468\u200d\U0001f469\u200d\U0001f467 \U0001f1e9\U0001f1ea\u0301\u0302",
             "\u0627\u0644\u0639\u0631\u0628\u064a\u0629 \u0939\u093f\u0928\u094d\u0926\u0940 \u0e44\u0e17\u0e22 12\u0663\u00b2\u2167\u00bd", "tabs\t\tand \t mixed\r\n\r\n\tends   ", "        " * 9 + "x", "1234567890 3.14e-5",
             "\u1100\u1161\u11a8 \uac01 \u0041\u030a\u0323", "a" * 5000, "ab" * 3000, " " * 3000, "\n" * 3000 + "x", "''''''ss's's"]
    # What every library knows: their Unicode versions differ.
    alphabet = [chr(c) for c in range(1, 0x30000) if unicodedata.ucd_3_2_0.category(chr(c)) not in ("Cn", "Cs", "Co")]
    for _ in range(4800):
        fixed.append("".join(rng.choice(alphabet) for _ in range(rng.randrange(60))))
    for _ in range(4800):
        fixed.append("".join(rng.choice(" \n\t'.,aAsS1\u00e9\u4f60x<>|\r\u00a0_-word") for _ in range(rng.randrange(80))))
    whole = "".join(corpus())
    for _ in range(600):
        at = rng.randrange(len(whole))
        fixed.append(whole[at:at + rng.randrange(400)])
    return fixed


class SameIds(unittest.TestCase):
    def compare(self, kind, described=None, given=None):
        described, given = described or made(kind), given or texts()
        peer = Tokenizer.from_str(described)
        with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
            file.write(described)
            file.flush()
            done = subprocess.run([PROGRAM, file.name], input="".join(json.dumps(text) + "\n" for text in given).encode(), stdout=subprocess.PIPE)
        self.assertEqual(done.returncode, 0)
        lines = done.stdout.decode("utf-8", "replace").split("\n")[:-1]
        self.assertEqual(len(lines), len(given))
        for text, line in zip(given, lines):
            ids, decoded = json.loads(line, strict=False)
            self.assertEqual(ids, peer.encode(text, add_special_tokens=False).ids, f"{kind}: {text!r}")
        return lines, given

    def test_kinds(self):
        for kind in KINDS:
            with self.subTest(kind):
                self.compare(kind)

    def test_fragments_of_code(self):
        """A vocabulary of akgen lm extend."""
        described = (HOME / "models/code-14m/tokenizer.json").read_text(encoding="utf-8")
        fragments = [token["content"] for token in json.loads(described)["added_tokens"]]
        rng = random.Random(3)
        self.compare("code-14m", described, [*texts(), *("".join(rng.choices(fragments, k=rng.randrange(9))) for _ in range(4000))])

    def test_decoding_gives_the_text_back(self):
        lines, given = self.compare("llama")
        for text, line in zip(given, lines):
            if not any(token in text for token in ("<left>", "<right>", "<both>")): # which take spaces with them
                self.assertEqual(json.loads(line, strict=False)[1], text)

    def test_a_megabyte(self):
        text = ("".join(corpus()) * 4)[:1 << 20]
        with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
            file.write(made("qwen"))
            file.flush()
            for what in (text, "a" * (1 << 20), " " * (1 << 20), "\u00e9" * (1 << 19), "<" * (1 << 20)):
                start = time.monotonic()
                done = subprocess.run([PROGRAM, file.name], input=json.dumps(what).encode() + b"\n", stdout=subprocess.PIPE)
                seconds = time.monotonic() - start
                self.assertEqual(done.returncode, 0)
                print(f"{what[:5]!r}..: encoded and counted {len(what.encode())} bytes in {seconds:.2f} s")
                self.assertLess(seconds, 20)


if __name__ == "__main__":
    unittest.main()
