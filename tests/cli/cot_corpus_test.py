#!/usr/bin/env python3
# test: cost=25 labels=long
"""akgen cot corpus on what users have: tables in Parquet, texts in several languages, folders in which anything lies. No run ends, and what
becomes no sample is counted."""
import gzip
import json
import os
import pathlib
import re
import shutil
import socket
import sqlite3
import subprocess
import tempfile
import unittest

from akgen_program import AKGEN, HOME, akgen, kill_until_done

TABLES = HOME / "tests/cli/tables"     # by pyarrow: four rows, of which the last repeats the first and one has no question
TEXTS = {
    "en": ("What does the compiler do with a loop that never ends?", "It may assume that every loop without side effects comes to an end."),
    "zh": ("编译器如何处理一个永远不会结束的循环？", "编译器可以假定没有副作用的循环总会结束，因此可以把它删除。"),
    "de": ("Was macht der Übersetzer mit einer Schleife, die niemals endet?", "Er darf annehmen, dass jede Schleife ohne Nebenwirkung einmal endet."),
    "un": ("2 + 2 = ?", "4 = 2 * 2 = 2 + 2 = 8 / 2"),
}


def varint(number):
    return bytes([number]) if number < 128 else bytes([number & 127 | 128]) + varint(number >> 7)


def i32(number):
    return 5, varint(number << 1)


def i64(number):
    return 6, varint(number << 1)


def binary(text):
    return 8, varint(len(text)) + text


def many(items):
    return 9, bytes([len(items) << 4 | items[0][0]]) + b"".join(value for _, value in items)


def struct(fields):
    """Of Thrift's compact protocol: {number: value}."""
    numbers = [0, *fields]
    return 12, b"".join(bytes([number - last << 4 | kind]) + value for last, (number, (kind, value)) in zip(numbers, fields.items())) + b"\0"


def dictionary_table(texts, rows):
    """A Parquet file of columns {name: text}, each row of which points at the one entry of its column's dictionary."""
    plain, gz, dictionary = 0, 2, 8
    table, places = b"PAR1", []
    for name, text in texts.items():
        begin = len(table)
        for kind, field, body in ((2, {7: struct({1: i32(1), 2: i32(plain)})}, len(text).to_bytes(4, "little") + text),
                                  (0, {5: struct({1: i32(rows), 2: i32(dictionary), 3: i32(3), 4: i32(3)})}, b"\1" + varint(rows << 1) + b"\0")):
            packed = gzip.compress(body)
            at = len(table)
            table += struct({1: i32(kind), 2: i32(len(body)), 3: i32(len(packed)), **field})[1] + packed
        meta = struct({1: i32(6), 2: many([i32(dictionary)]), 3: many([binary(name.encode())]), 4: i32(gz), 5: i64(rows), 6: i64(1), 7: i64(len(table) - begin),
                       9: i64(at), 11: i64(begin)})
        places.append(struct({2: i64(begin), 3: meta}))
    schema = [struct({4: binary(b"schema"), 5: i32(len(texts))}), *(struct({1: i32(6), 3: i32(0), 4: binary(name.encode()), 6: i32(0)}) for name in texts)]
    footer = struct({1: i32(1), 2: many(schema), 3: i64(rows), 4: many([struct({1: many(places), 2: i64(1), 3: i64(rows)})])})[1]
    return table + footer + len(footer).to_bytes(4, "little") + b"PAR1"


class Corpus(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="akgen-cot-")
        self.addCleanup(folder.cleanup)
        self.at = pathlib.Path(folder.name)
        self.corpus = self.at / "corpus"
        self.corpus.mkdir()

    def take(self, path, *options, db="out.db", code=0, **keywords):
        done = akgen("cot", "corpus", path, "--db", self.at / db, *options, **keywords)
        self.assertEqual(done.returncode, code, done.stderr)
        return done.stdout if not code else done.stderr

    def rows(self, db="out.db"):
        with sqlite3.connect(self.at / db) as store:
            return store.execute("SELECT question, answer FROM samples ORDER BY number").fetchall()

    def dropped(self, db="out.db"):
        return json.loads(akgen("cot", "stats", "--db", self.at / db, "--json").stdout)["dropped"].get("corpus", {})

    def write(self, name, rows):
        path = self.corpus / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
        return path

    def test_parquet(self):
        expected = [("What is two and two?", "It is four, of course."), ("Name a colour of the sky.", "Blue")]
        for name in ("plain", "snappy", "gzip", "zstd"):
            said = self.take(TABLES / f"{name}.parquet", db=f"{name}.db")
            self.assertRegex(said, r"^1 files, 4 rows: 2 samples added, 2 dropped; ", name)
            self.assertEqual(self.rows(f"{name}.db"), expected, name)
            self.assertEqual(self.dropped(f"{name}.db"), {"no question and answer": 1, "near duplicate": 1}, name)
        self.take(TABLES / "brotli.parquet", db="brotli.db")
        self.assertEqual(self.dropped("brotli.db"), {"Parquet: column 'question' is of the compression BROTLI, which is not read": 1})
        self.assertRegex(self.take(TABLES, db="all.db"), r"^6 files, 21 rows: 3 samples added, ")

    def test_conversations(self):
        """nested.parquet: by pyarrow, five rows of messages list<struct{role, content}> and row struct{answer, deep struct{question}}."""
        several = "Be brief.\n\nUser:\nName a colour.\n\nAssistant:\nBlue\n\nUser:\nAnd another one?"
        expected = [("What is two and two?", "It is four, of course."), (several, "Green, like grass")]
        self.take(TABLES / "nested.parquet")
        self.assertEqual(self.rows(), expected)
        self.assertEqual(self.dropped(), {"no question and answer": 3})
        self.take(TABLES / "nested.parquet", "--question", "row.deep.question", "--answer", "row.answer", "--conversation", "none", db="paths.db")
        self.assertEqual(self.rows("paths.db"), [("Where does this text lie?", "in a struct"), ("Where does that one lie?", "two levels down")])
        path = self.write("a.jsonl", [
            {"messages": [{"role": "user", "content": "What is two and two?"}, {"role": "assistant", "content": "It is four, of course."}, {"role": "user", "content": "Thanks"}]},
            {"conversations": [{"from": "system", "value": "Be brief."}, {"from": "human", "value": "Name a colour."}, {"from": "gpt", "value": "Blue"},
                               {"from": "human", "value": "And another one?"}, {"from": "gpt", "value": "Green, like grass"}]},
            {"prompt": [{"role": "user", "content": "As trl-sft has it, what is it?"}], "completion": [{"role": "assistant", "content": "A list of one message"}]},
            {"instruction": "Alpaca's form: what is it about?", "input": "About this", "output": "It is about the input"}, {"input": "Alone it is the question", "output": "And this the answer"},
            {"messages": [{"role": "assistant", "content": "An answer without any question"}]}, {"messages": [1, None, {}, "user"]}, {"messages": {"role": "user"}},
            {"row": {"deep": {"question": "Where does this text lie?"}}, "answer": "in an object, two levels down"}])
        self.take(path, "--similar", 101, db="json.db")
        self.assertEqual(self.rows("json.db"), [*expected, ("As trl-sft has it, what is it?", "A list of one message"),
                                                 ("Alpaca's form: what is it about?\n\nAbout this", "It is about the input"), ("Alone it is the question", "And this the answer")])
        self.take(path, "--question", "row.deep.question", db="json.db")   # other options are another source
        self.assertEqual(self.rows("json.db")[5:], [("Where does this text lie?", "in an object, two levels down")])

    def test_what_is_exported_is_read(self):
        self.write("a.jsonl", [{"question": f"What is {i} and one?", "answer": f"It is {i + 1}.", "license": "MIT",
                                **({"chain": "count"} if i % 3 else {})} for i in range(2500)])
        self.take(self.corpus, "--similar", 101)
        done = akgen("cot", "export", "--db", self.at / "out.db", "-o", self.at / "out", "--format", "parquet")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.take(self.at / "out", "--similar", 101, db="back.db")
        columns = "SELECT question, chain, answer, licence FROM samples ORDER BY question"
        with sqlite3.connect(self.at / "out.db") as one, sqlite3.connect(self.at / "back.db") as other:
            self.assertEqual(one.execute(columns).fetchall(), other.execute(columns).fetchall())
            self.assertEqual(one.execute("SELECT count(*) FROM samples").fetchone(), (2500,))

    def test_broken_tables(self):
        table = (TABLES / "snappy.parquet").read_bytes()
        for name, content in (("cut", table[:-100]), ("footer", table[:-12] + b"\xff\xff\xff\x7fPAR1"), ("empty", b""), ("text", b"PAR1 is a word, PAR1"),
                              ("pages", table[:20] + bytes(100) + table[120:])):
            (self.corpus / f"{name}.parquet").write_bytes(content)
        self.assertRegex(self.take(self.corpus), r"^5 files, 0 rows: 0 samples added, 5 dropped; ")
        reasons = self.dropped()
        self.assertEqual(sum(reasons.values()), 5)
        self.assertTrue(all(reason.startswith("Parquet: ") for reason in reasons), reasons)
        self.assertRegex(self.take(self.corpus), r": 0 samples added, 0 dropped; ")

    def test_dictionaries(self):
        """A few hundred bytes stand for any number of rows of a megabyte. They are read where they come to what a row group may have, in memory for one."""
        path = self.corpus / "bomb.parquet"
        texts = {"question": b"q" * (1 << 20), "answer": b"a" * (1 << 20)}
        path.write_bytes(dictionary_table({"question": b"What is two and two?", "answer": b"It is four, of course."}, 3000))
        self.assertRegex(self.take(path, db="small.db"), r"^1 files, 3000 rows: 1 samples added, 2999 dropped; ")
        self.assertEqual(self.rows("small.db"), [("What is two and two?", "It is four, of course.")])
        for rows, dropped in ((200000, {"Parquet: a row group whose texts, with those that dictionaries repeat, have more than 2,047 MiB": 1}),
                              (300, {"too long": 300})):
            path.write_bytes(dictionary_table(texts, rows))
            self.assertLess(path.stat().st_size, 4000)
            program = subprocess.Popen([AKGEN, "cot", "corpus", path, "--db", self.at / f"{rows}.db"], stdout=subprocess.DEVNULL)
            _, state, usage = os.wait4(program.pid, 0)
            program.returncode = os.waitstatus_to_exitcode(state)
            self.assertEqual(program.returncode, 0)
            self.assertEqual(self.dropped(f"{rows}.db"), dropped)
            self.assertLess(usage.ru_maxrss, 1 << 20, "kB")     # AddressSanitizer holds on to 256 MiB of what was freed

    def test_languages(self):
        self.write("a.jsonl", [{"question": question, "answer": answer} for question, answer in TEXTS.values()])
        said = akgen("cot", "corpus", self.corpus, "--db", self.at / "en.db", "--language", "en,zh")
        if "CLD2, which is not there" in said.stderr:
            self.skipTest("no libcld2-0")
        self.assertEqual(self.rows("en.db"), [TEXTS["en"], TEXTS["zh"]])
        self.assertEqual(self.dropped("en.db"), {"in another language": 1, "in no known language": 1})
        self.take(self.corpus, "--language", "de,un", db="en.db")      # other options are another source
        self.assertEqual(self.rows("en.db"), [TEXTS["en"], TEXTS["zh"], TEXTS["de"], TEXTS["un"]])
        for codes in ("xx", "en,", "english!", ""):
            self.assertRegex(self.take(self.corpus, "--language", codes, db="x.db", code=2), "no language")

    def test_perplexity(self):
        """The shipped model has read tasks and formulas alone, so they are the probable rows. What it drops makes no later row a near duplicate,
        whether the run is one or was killed between the two."""
        task = {"question": "Sqrt\nin x float32 [8,2048]\nout y float32 [8,2048]", "answer": "y = sqrt(x)"}
        noise = {"question": "qz8#kjw vxx!! ppq", "answer": "zzk 91 ;;; wqj ~~ 4x"}
        self.write("a.jsonl", [task, noise, {"question": "What is the capital of France?", "answer": "It is Paris."}])
        said = self.take(self.corpus, "--max-perplexity", "inf", db="all.db")
        self.assertRegex(said, r"^1 files, 3 rows: 3 samples added, 0 dropped; .*\nperplexity of 3 rows: 5 % are below [\d.]+, half below [\d.]+, 95 % below [\d.]+\n$")
        least, middle = (float(number) for number in re.findall(r"below ([\d.]+)", said)[:2])
        self.assertLess(least, middle)
        self.take(self.corpus, "--max-perplexity", (least + middle) / 2)
        self.assertEqual([row[1] for row in self.rows()], ["y = sqrt(x)"])
        self.assertEqual(self.dropped(), {"a larger perplexity": 2})
        self.assertRegex(self.take(self.corpus, "--max-perplexity", (least + middle) / 2), r": 0 samples added, 0 dropped; [^\n]*\n$")
        self.write("b.jsonl", [{**noise, "answer": noise["answer"] + "!"}])
        self.take(self.corpus, "--max-perplexity", "1e30")      # another threshold is another source
        self.assertEqual(self.dropped(), {"a larger perplexity": 2, "near duplicate": 2})
        for options in (("--max-perplexity", "0"), ("--max-perplexity", "many"), ("--model", self.at), ("--max-perplexity", 9, "--model", self.at)):
            self.take(self.corpus, *options, db="x.db", code=2)

    def test_a_changed_file_is_read_again(self):
        path = self.write("a.jsonl", [{"question": "What is one and one?", "answer": "It is two."}])
        self.take(path)
        changed = path.read_text().replace("two", "ten")
        os.utime(path.write_text(changed) and path, (0, 0))
        self.assertRegex(self.take(path, "--similar", 101), r": 1 samples added, ")
        self.assertEqual([row[1] for row in self.rows()], ["It is two.", "It is ten."])

    def test_anything_may_lie_in_a_folder(self):
        good = [{"question": f"What is {i} times {i}?", "answer": f"It is {i * i}, says the table of squares."} for i in (7, 8)]
        self.write("good.jsonl", good[:1])
        self.write("below/it/good.jsonl", good[1:])
        self.write("unread/closed.jsonl", good)
        self.write("secrets.jsonl", [{"question": "My key?", "answer": "gh" + "p_" + "a1B2" * 9}, {"question": "The key is AKI" + "AIOSFODNN7EXAMPLE", "answer": "?"},
                                     {"question": "And this one", "answer": "-----BEGIN OPENSSH PRIV" + "ATE KEY-----\nb3BlbnNzaC1r"}])
        self.write("licences.jsonl", [{"question": "Who knows the licence of this row?", "answer": "Nobody does, it is kept apart from others."},
                                      {"question": "And of this one, who knows it?", "answer": "It names MIT itself.", "license": "MIT"}])
        (self.corpus / "round").symlink_to(".")
        (self.corpus / "zero.jsonl").symlink_to("/dev/zero")
        (self.corpus / "nowhere.jsonl").symlink_to("none")
        os.mkfifo(self.corpus / "pipe.jsonl")
        with socket.socket(socket.AF_UNIX) as listener:
            listener.bind(str(self.corpus / "socket.jsonl"))
        (self.corpus / "folder.jsonl").mkdir()
        (self.corpus / "latin.jsonl").write_bytes('{"question": "caf\u00e9, is it?", "answer": "it is not, in this encoding"}'.encode("latin-1"))
        pathlib.Path(os.fsdecode(os.fsencode(self.corpus) + b"/caf\xe9.jsonl")).write_text(json.dumps(good[0]))
        (self.corpus / "deep.jsonl").write_text("[" * 100000)
        with open(self.corpus / "hole.jsonl", "wb") as hole:
            hole.truncate(64 << 20)                        # one line of zeros
        expected = {"a link": 2, "neither a file nor a folder": 2, "a secret in it": 3, "no UTF-8": 1, "a name that is no UTF-8": 1,
                    "no JSON object": 1, "a line of more than 4 MiB": 1}
        if os.geteuid():
            (self.corpus / "unread").chmod(0)
            self.addCleanup((self.corpus / "unread").chmod, 0o700)
            expected["a folder that cannot be read"] = 1
        else:
            expected["near duplicate"] = 2
        self.take(self.corpus)
        self.assertEqual(len(self.rows()), 4)
        self.assertEqual(self.dropped(), expected)
        self.assertRegex(self.take(self.corpus), r": 0 samples added, 0 dropped; ")
        self.assertEqual(self.dropped(), expected)
        with sqlite3.connect(self.at / "out.db") as store:
            self.assertEqual(store.execute("SELECT licence, count(*) FROM samples GROUP BY licence ORDER BY 1").fetchall(), [("MIT", 1), ("unknown", 3)])

    def test_killed_runs_go_on(self):
        for i in range(4):
            self.write(f"{i}.jsonl", [{"question": f"What is {n} in file {i}?", "answer": f"A number, and {n * n} its square."} for n in range(3000)])
        shutil.copy(TABLES / "zstd.parquet", self.corpus)
        self.take(self.corpus, db="whole.db")
        self.assertGreater(kill_until_done("cot", "corpus", self.corpus, "--db", self.at / "killed.db"), 0)
        self.assertEqual(self.rows("killed.db"), self.rows("whole.db"))
        self.assertEqual(self.dropped("killed.db"), self.dropped("whole.db"))

    def test_a_full_disk_ends_a_run_and_loses_nothing(self):
        tmpfs = self.at / "small"
        tmpfs.mkdir()
        mount = ["unshare", "--map-root-user", "--mount", "sh", "-c"]
        if subprocess.run([*mount, f"mount -t tmpfs -o size=1m none {tmpfs}"], capture_output=True).returncode:
            self.skipTest("no mounts")
        self.write("a.jsonl", [{"question": f"What is {n}?", "answer": f"{n} " * 100 + str(n * 7919)} for n in range(6000)])
        script = (f"mount -t tmpfs -o size=1m none {tmpfs} && {AKGEN} cot corpus {self.corpus} --similar 101 --db {tmpfs}/s.db; echo code $?; "
                  f"cp {tmpfs}/s.db {self.at}/rest.db; rm -f {tmpfs}/*-journal")
        done = subprocess.run([*mount, script], capture_output=True, text=True, timeout=300)
        self.assertRegex(done.stdout, r"code [23]\n")
        self.assertRegex(done.stderr, "full")
        with sqlite3.connect(self.at / "rest.db") as store:
            self.assertEqual(store.execute("PRAGMA integrity_check").fetchone(), ("ok",))
        self.take(self.corpus, "--similar", 101, db="rest.db")
        self.assertEqual(len(self.rows("rest.db")), 6000)


if __name__ == "__main__":
    unittest.main()
