#!/usr/bin/env python3
"""scripts/vocabulary.py: akgen cuts texts by a vocabulary that has grown as the script does, into fewer tokens, and the model is what it was."""
import json
import pathlib
import sys
import tempfile
import unittest

from akgen_program import HOME, akgen

sys.path.insert(0, str(HOME / "scripts"))
import vocabulary  # noqa: E402: it is no package

SHIPPED = HOME / "models/graph-14m"
PROGRAMS = sorted((HOME / "tasks/npukernelbench/level1").glob("*/*/program.py"))


class Grown(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="akgen-vocabulary-")
        self.addCleanup(folder.cleanup)
        self.at = pathlib.Path(folder.name)
        self.texts = [path.read_text() for path in PROGRAMS[:40]]

    def counted(self, model, text):
        """What akgen says of a row with this answer: tokens to learn, loss."""
        row = self.at / "row.jsonl"
        row.write_text(json.dumps({"prompt": "x", "completion": text}) + "\n")
        told = akgen("lm", "eval", model, "--data", row, "--json")
        self.assertEqual(told.returncode, 0, told.stderr)
        return json.loads(told.stdout)

    def test_akgen_cuts_as_the_script_does(self):
        grown = vocabulary.grown(SHIPPED, self.texts, 50, self.at / "grown")
        old = vocabulary.Vocabulary(json.loads((SHIPPED / "tokenizer.json").read_text()))
        self.assertEqual(len(grown.tokenizer["model"]["merges"]), len(old.merges) + 50)
        self.assertEqual(json.loads((self.at / "grown/config.json").read_text())["vocab_size"], 4146)
        self.assertEqual({token: grown.ids[token] for token in old.ids}, old.ids)
        for path in PROGRAMS[40:44]:
            text = path.read_text()[:1500]
            for model, cut in ((SHIPPED, old), (self.at / "grown", grown)):
                end = self.counted(model, "")["learned_tokens"]
                self.assertEqual(self.counted(model, text)["learned_tokens"] - end, cut.length(text), path)
            self.assertLess(grown.length(text), 0.7 * old.length(text))

    def test_what_no_new_token_is_in_is_as_probable_as_before(self):
        vocabulary.grown(SHIPPED, ["if        a:\n" * 9] * 9, 3, self.at / "grown")
        text = "y = exp(x) * scale"
        self.assertEqual(self.counted(self.at / "grown", text)["learned_tokens"], self.counted(SHIPPED, text)["learned_tokens"])
        before, after = (self.counted(model, text)["loss"] for model in (SHIPPED, self.at / "grown"))
        self.assertLess(abs(after - before), 0.1, "three rows more in the sum of the softmax")

    def test_others_are_refused(self):
        (self.at / "model").mkdir()
        for name in ("config.json", "tokenizer.json", "tokenizer_config.json", "model.safetensors"):
            (self.at / "model" / name).write_bytes((SHIPPED / name).read_bytes())
        config = json.loads((SHIPPED / "config.json").read_text())
        (self.at / "model/config.json").write_text(json.dumps(dict(config, tie_word_embeddings=False)))
        with self.assertRaisesRegex(ValueError, "4096 embeddings"):
            vocabulary.grown(self.at / "model", self.texts, 3, self.at / "grown")


if __name__ == "__main__":
    unittest.main()
