#!/usr/bin/python3
"""What `akgen cot export` writes, loaded by Hugging Face's datasets (folders with their cards) and pyarrow: every row and every split
comes back, row groups and missing values included."""
import json
import os
import pathlib
import sys
import tempfile
import unittest

HOME = pathlib.Path(os.environ["AKGEN_HOME"])
sys.path.insert(0, str(HOME / "tests/cli"))
CACHE = tempfile.TemporaryDirectory()
os.environ.update(HF_HOME=CACHE.name, HF_HUB_OFFLINE="1", HF_DATASETS_DISABLE_PROGRESS_BARS="1")

import datasets
import pyarrow.parquet

from akgen_program import akgen
from cot_samples import Samples

ROWS = 25003
SPLITS = {"train": "train", "valid": "validation", "test": "test"}


class Exports(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)
        cls.at = pathlib.Path(cls.folder.name)
        samples, cls.rows = Samples(cls.at / "samples.db"), []
        for i in range(ROWS):
            split = "test" if i % 50 == 1 else "valid" if i % 50 == 2 else "train"
            row = {"question": f"question {i} \u7528\U0001f600\u2028", "chain": f"because\n{i}" if i % 3 else None,
                   "answer": "x" * (i % 700) + f"{i}", "verdict": "pass" if i % 2 else None, "split": split}
            samples.add("synth", **row)
            cls.rows.append(row)
        samples.commit()

    def load(self, name):
        out = self.at / name
        process = akgen("cot", "export", "--db", self.at / "samples.db", "-o", out, "--format", name)
        self.assertEqual(process.returncode, 0, process.stderr)
        loaded = datasets.load_dataset(str(out))
        self.assertEqual(set(loaded), {"train", "validation", "test"})
        return loaded

    def expect(self, loaded, row_of):
        for split, name in SPLITS.items():
            self.assertEqual(list(loaded[name]), [row_of(row) for row in self.rows if row["split"] == split])

    @staticmethod
    def written(row):
        return (f"<think>\n{row['chain']}\n</think>\n\n" if row["chain"] is not None else "") + row["answer"]

    def test_trl(self):
        self.expect(self.load("trl-sft"), lambda row: {"prompt": [{"role": "user", "content": row["question"]}],
                                                       "completion": [{"role": "assistant", "content": self.written(row)}]})

    def test_llama_factory(self):
        self.expect(self.load("llama-factory"), lambda row: {"instruction": row["question"], "input": "", "output": self.written(row)})

    def test_sharegpt(self):
        self.expect(self.load("sharegpt"), lambda row: {"conversations": [{"from": "human", "value": row["question"]},
                                                                          {"from": "gpt", "value": self.written(row)}]})

    def test_published(self):
        self.expect(self.load("published"), lambda row: {"question": row["question"], "chain": row["chain"] or "", "answer": row["answer"]})

    def test_parquet(self):
        loaded = self.load("parquet")
        columns = {"question", "chain", "answer"}
        self.expect({split: rows.select_columns(sorted(columns)) for split, rows in loaded.items()},
                    lambda row: {name: row[name] for name in sorted(columns)})
        file = pyarrow.parquet.ParquetFile(self.at / "parquet" / "train.parquet")
        self.assertEqual(file.metadata.num_row_groups, 3)
        self.assertEqual(file.schema_arrow.field("bytes").type, pyarrow.int64())
        table = file.read()
        self.assertEqual(table["verdict"].null_count, sum(not row["verdict"] for row in self.rows if row["split"] == "train"))
        self.assertEqual(table["graph"].null_count, len(table))
        self.assertEqual(sum(table["bytes"].to_pylist()), sum(len((row["question"] + (row["chain"] or "") + row["answer"]).encode())
                                                              for row in self.rows if row["split"] == "train"))


if __name__ == "__main__":
    unittest.main()
