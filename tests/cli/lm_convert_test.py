#!/usr/bin/env python3
"""akgen lm convert: types, files and adapters; the folder is whole or not there. tests/peers/lm_convert_test.py compares with PEFT."""
import json
import pathlib
import struct
import tempfile
import unittest

from akgen_program import akgen
from lm_program import make_model, write_rows


def tensors(folder):
    """name -> (dtype, bytes) of all files of a model."""
    found = {}
    for path in sorted(folder.glob("model*.safetensors")):
        data = path.read_bytes()
        length, = struct.unpack("<Q", data[:8])
        for name, tensor in json.loads(data[8:8 + length]).items():
            if name != "__metadata__":
                begin, end = tensor["data_offsets"]
                found[name] = (tensor["dtype"], data[8 + length + begin:8 + length + end])
    return found


class Convert(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="akgen-lm-")
        self.addCleanup(folder.cleanup)
        self.at = pathlib.Path(folder.name)
        self.rows = write_rows(self.at / "rows.jsonl", [{"prompt": "ab", "completion": "cd"}] * 4)
        done = akgen("lm", "train", make_model(self.at / "fresh", hidden_size=512, intermediate_size=512), "--new", "--data", self.rows,
                     "-o", self.at / "model", "--steps", 1)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.model = self.at / "model"

    def convert(self, out, *options, code=0, model=None):
        done = akgen("lm", "convert", model or self.model, "-o", self.at / out, "--json", *options)
        self.assertEqual(done.returncode, code, done.stderr)
        self.assertEqual(list(self.at.glob(".*")), [])
        return json.loads(done.stdout) if code == 0 else done.stderr

    def test_there_and_back(self):
        before = tensors(self.model)
        small = self.convert("small", "--dtype", "bfloat16")
        self.assertEqual((small["dtype"], small["files"], small["bytes"]), ("BF16", 1, 2 * small["parameters"]))
        for name, (dtype, data) in tensors(self.at / "small").items():
            self.assertEqual(dtype, "BF16")
            for (number,), (kept,) in list(zip(struct.iter_unpack("<I", before[name][1]), struct.iter_unpack("<H", data)))[::97]:
                self.assertEqual(kept, (number + 0x7fff + (number >> 16 & 1)) >> 16, name)  # to the nearest, of two the even one
        self.assertEqual(json.loads((self.at / "small/config.json").read_text())["torch_dtype"], "bfloat16")
        self.assertEqual((self.at / "small/tokenizer.json").read_bytes(), (self.model / "tokenizer.json").read_bytes())
        self.assertEqual(self.convert("same", model=self.at / "small")["dtype"], "BF16")
        self.assertEqual(tensors(self.at / "same"), tensors(self.at / "small"))

    def test_several_files(self):
        result = self.convert("shards", "--shard-size", 2)
        files = sorted(path.name for path in (self.at / "shards").glob("*.safetensors"))
        self.assertEqual(len(files), result["files"])
        self.assertGreater(result["files"], 2)
        index = json.loads((self.at / "shards/model.safetensors.index.json").read_text())
        self.assertEqual(sorted(set(index["weight_map"].values())), files)
        self.assertTrue(all(path.stat().st_size < 2_100_000 for path in (self.at / "shards").glob("*.safetensors")))
        self.convert("one", model=self.at / "shards")
        self.assertEqual((self.at / "one/model.safetensors").read_bytes(), (self.model / "model.safetensors").read_bytes())

    def test_mean_of_two(self):
        done = akgen("lm", "train", self.model, "--data", self.rows, "-o", self.at / "further", "--steps", 2, "--rate", 1e-2)
        self.assertEqual(done.returncode, 0, done.stderr)
        one, other = tensors(self.model), tensors(self.at / "further")
        for share in (0, 0.25, 1):
            self.convert(f"mean{share}", "--toward", self.at / "further", "--share", share)
            mean = tensors(self.at / f"mean{share}")
            self.assertEqual(list(mean), list(one))
            for name, (dtype, data) in mean.items():
                a, b, c = (struct.unpack(f"<{len(data) // 4}f", values) for values in (one[name][1], other[name][1], data))
                self.assertEqual(dtype, "F32")
                self.assertLess(max(abs((1 - share) * x + share * y - z) for x, y, z in zip(a, b, c)), 1e-7, name)
        self.convert("half", "--toward", self.at / "further")
        self.assertNotIn(tensors(self.at / "half"), (one, other))
        make_model(self.at / "small", hidden_size=256, intermediate_size=512)
        done = akgen("lm", "train", self.at / "small", "--new", "--data", self.rows, "-o", self.at / "smaller", "--steps", 1)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("its parameters are not those of the model", self.convert("out", "--toward", self.at / "smaller", code=2))
        self.assertIn("config.json: No such file", self.convert("out", "--toward", self.at / "nowhere", code=2))
        self.assertIn("--share", self.convert("out", "--toward", self.at / "further", "--share", 1.5, code=2))
        self.assertFalse((self.at / "out").exists())

    def test_what_is_refused(self):
        (self.at / "there").mkdir()
        self.assertIn("there is there already", self.convert("there", code=2))
        self.assertIn("adapter_config.json: No such file", self.convert("out", "--adapter", self.at / "there", code=2))
        self.assertIn("no 'int4'", self.convert("out", "--dtype", "int4", code=2))
        (self.at / "there/adapter_config.json").write_text(json.dumps({"peft_type": "LORA", "r": 2, "lora_alpha": 4, "target_modules": ["q_proj"],
                                                                       "alpha_pattern": {"q_proj": 8}}))
        self.assertIn("'alpha_pattern'", self.convert("out", "--adapter", self.at / "there", code=2))
        self.assertFalse((self.at / "out").exists())


if __name__ == "__main__":
    unittest.main()
