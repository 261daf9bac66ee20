#!/usr/bin/python3
"""What `akgen cot export` writes, loaded by Hugging Face's datasets (folders with their cards) and pyarrow: every row and every split
comes back, row groups and missing values included."""
import json
import os
import pathlib
import sqlite3
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


class Tables(unittest.TestCase):
    """What pyarrow writes, akgen cot corpus reads, or it says what it does not."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.at = pathlib.Path(folder.name)

    def read(self, name, table, fields=(), **options):
        pyarrow.parquet.write_table(table, self.at / f"{name}.parquet", **options)
        process = akgen("cot", "corpus", self.at / f"{name}.parquet", "--db", self.at / f"{name}.db", "--similar", 101, "--max-bytes", 10000000,
                        "--min-bytes", 1, *fields)
        self.assertEqual(process.returncode, 0, process.stderr)
        with sqlite3.connect(self.at / f"{name}.db") as store:
            return (store.execute("SELECT question, chain, answer, licence FROM samples ORDER BY number").fetchall(),
                    dict(store.execute("SELECT reason, sum(count) FROM dropped GROUP BY reason").fetchall()))

    def test_forms(self):
        rows = [(f"question {i % 300} of many \u7528 {'x' * (i % 50)}", f"chain {i}" if i % 3 else None, f"answer {i} " * (i % 40 + 1), "MIT" if i % 7 else None)
                for i in range(2500)]
        columns = list(zip(*rows))
        extra = {"n": list(range(2500)), "lists": [["a", None]] * 2500, "structs": [{"answer": "no", "x": 1}] * 2500}
        expected = [(q, c, a, l or "unknown") for q, c, a, l in rows]
        for strings in (pyarrow.string(), pyarrow.large_string(), pyarrow.binary()):
            table = pyarrow.table({"structs": extra["structs"], **{name: pyarrow.array(values, strings) for name, values in zip(("prompt", "reasoning", "response", "license"), columns)},
                                   "n": extra["n"], "lists": extra["lists"]})
            for compression in ("none", "snappy", "gzip", "zstd"):
                for version in ("1.0", "2.0"):
                    for dictionary in (True, False):
                        with self.subTest(strings=strings, compression=compression, version=version, dictionary=dictionary):
                            made, dropped = self.read(f"{strings}-{compression}-{version}-{dictionary}", table, compression=compression, data_page_version=version,
                                                      use_dictionary=dictionary, row_group_size=1100, data_page_size=4096)
                            self.assertEqual(made, expected)
                            self.assertEqual(dropped, {})

    def test_lists_and_structs(self):
        """Conversations of any number of turns, across pages and row groups, with rows, lists, structs and texts that are missing."""
        rows = []
        for i in range(2500):
            turns = [{"role": "user", "content": f"question {i} {'x' * (i % 90)}"}, None, {"role": None, "content": "who says this?"}, {"role": "user", "content": None}] * (i % 3)
            rows.append(None if i % 11 == 0 else turns[:i % 5] + [{"role": "assistant", "content": f"answer {i}" if i % 7 else None}] if i % 13 else [])
        deep = [{"a": {"q": f"why {i}" if i % 3 else None} if i % 5 else None} if i % 7 else None for i in range(2500)]

        def split(turns):
            """What docs/cot.md says of conversations."""
            said = [turn for turn in turns or [] if turn and turn["content"]]
            last = max((k for k, turn in enumerate(said) if turn["role"] == "assistant"), default=0)
            before = said[:last]
            text = before[0]["content"] if len(before) == 1 else "\n\n".join(f"{'User' if turn['role'] else ''}:\n{turn['content']}" for turn in before)
            return (text, said[last]["content"]) if last else None

        expected = [row for row in map(split, rows) if row]
        self.assertGreater(len(expected), 500)
        kinds = pyarrow.list_(pyarrow.struct([("role", pyarrow.string()), ("content", pyarrow.string())]))
        table = pyarrow.table({"tags": [["a", None]] * 2500, "messages": pyarrow.array(rows, kinds), "deep": deep, "same": [f"of row {i}, surely" for i in range(2500)]})
        for version in ("1.0", "2.0"):
            for dictionary in (True, False):
                for compliant in (True, False):
                    with self.subTest(version=version, dictionary=dictionary, compliant=compliant):
                        name, options = f"{version}-{dictionary}-{compliant}", {"compression": "zstd", "data_page_version": version, "use_dictionary": dictionary,
                                                                                "row_group_size": 1100, "data_page_size": 1024, "use_compliant_nested_type": compliant}
                        made, dropped = self.read(name, table, **options)
                        self.assertEqual([(question, answer) for question, _, answer, _ in made], expected)
                        self.assertEqual(dropped, {"no question and answer": 2500 - len(expected)})
                        made, _ = self.read(f"deep-{name}", table, ("--question", "deep.a.q", "--answer", "same"), **options)
                        self.assertEqual([(question, answer) for question, _, answer, _ in made],
                                         [(row["a"]["q"], f"of row {i}, surely") for i, row in enumerate(deep) if row and row["a"] and row["a"]["q"]])

    def test_what_is_not_read_is_named(self):
        table = pyarrow.table({"question": ["what is it?"] * 9, "answer": ["a thing, I think"] * 9})
        for name, options, says in (("brotli", {"compression": "brotli"}, "the compression BROTLI"), ("lz4", {"compression": "lz4"}, "the compression LZ4_RAW"),
                                    ("delta", {"column_encoding": {"question": "DELTA_BYTE_ARRAY", "answer": "PLAIN"}, "use_dictionary": False}, "the encoding DELTA_BYTE_ARRAY")):
            made, dropped = self.read(name, table, **options)
            self.assertEqual(made, [])
            self.assertEqual(dropped, {f"Parquet: column 'question' is of {says}, which is not read": 1})
        made, dropped = self.read("lists", pyarrow.table({"question": [["a"]], "answer": ["b"]}))
        self.assertEqual((made, dropped), ([], {"no question and answer": 1}))


if __name__ == "__main__":
    unittest.main()
