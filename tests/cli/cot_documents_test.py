#!/usr/bin/env python3
"""akgen cot documents: what it asks of Markdown and HTML has the answer that stands there; broken files are counted and end nothing."""
import json
import os
import pathlib
import sqlite3
import tempfile
import unittest

from akgen_program import HOME, akgen, kill_until_done

KERNEL = """#include "kernel_operator.h"
using namespace AscendC;
extern "C" __global__ __aicore__ void scale_it(GM_ADDR x, GM_ADDR y, GM_ADDR workspace, GM_ADDR tiling)
{
    TPipe pipe;
    TBuf<TPosition::VECCALC> buffer;
    pipe.InitBuffer(buffer, 256);
    LocalTensor<half> local = buffer.Get<half>();
    Muls(local, local, static_cast<half>(2.0f), 64);
}
"""
PAGE = f"""# Muls

Multiplies a tensor by a number, element by element.

## Prototype

```cpp
template <typename T> void Muls(const LocalTensor<T> &dst, const LocalTensor<T> &src, const T &scalar, int32_t count);
```

## Parameters

| name | meaning |
|------|:-------:|
| `dst` | the result; \\| is no end of a cell |
| `count` | elements |

## Constraints

Both operands begin at multiples of 32 bytes.

## Example

```cpp
{KERNEL}```

## 约束说明

地址要对齐到三十二字节。

## Broken

```cpp
{KERNEL.replace("Muls(", "Mulz(")}```
"""
HTML = """<!-- SPDX-License-Identifier: MIT --><html><head><title>no text</title></head><body><h1>Card table</h1>
<p>Cards &amp; their <b>prices</b>, in a table.</p>
<table><tr><th>card</th><th>price</th></tr><tr><td>red</td><td>7 &#8364; | 8</td></tr></table>
<pre>int a;
  int b;</pre></body></html>"""


def rows(database, what="part, mode, question, answer, verdict, licence, tags, provenance"):
    with sqlite3.connect(database) as store:
        return store.execute(f"SELECT {what} FROM samples ORDER BY rowid").fetchall()


class Documents(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="akgen-cot-")
        self.addCleanup(folder.cleanup)
        self.at = pathlib.Path(folder.name)
        self.docs = self.at / "docs"
        self.docs.mkdir()

    def make(self, name, *options, code=0):
        done = akgen("cot", "documents", self.docs, "--db", self.at / name, *options)
        self.assertEqual(done.returncode, code, done.stderr)
        return rows(self.at / name) if not code else done.stderr

    def dropped(self, name):
        return json.loads(akgen("cot", "stats", "--db", self.at / name, "--json").stdout)["dropped"].get("documents", {})

    def test_a_page_of_an_api(self):
        (self.docs / "muls.md").write_text(PAGE)
        made = self.make("muls.db")
        self.assertEqual({row[0] for row in made if "`Muls`" in row[2]}, {"documents-api"})
        by_answer = {row[3]: row for row in made}
        signature = next(row for row in made if "template <typename T> void Muls" in row[3])
        self.assertRegex(signature[2], r"`Muls`")
        self.assertEqual(json.loads(signature[6])[0], "signature")
        self.assertIn("Both operands begin at multiples of 32 bytes.", by_answer)
        self.assertRegex(by_answer["Both operands begin at multiples of 32 bytes."][2], "observed|constraints|restricts")
        self.assertIn("地址要对齐到三十二字节。", by_answer)
        self.assertIn("Multiplies a tensor by a number, element by element.", by_answer)
        cell = by_answer["meaning: the result; | is no end of a cell"]
        self.assertIn("`dst`", cell[2])
        example = by_answer[KERNEL]
        self.assertEqual((example[1], json.loads(example[4])), ("ascendc", {"verdict": "pass", "by": "compiler"}))
        self.assertEqual(self.dropped("muls.db"), {"an example that does not compile": 1})
        self.assertTrue(all("Mulz" not in row[3] for row in made))
        self.assertEqual({row[5] for row in made}, {"unknown"})
        self.assertTrue(all(row[7].startswith(str(self.docs / "muls.md") + "#Muls") for row in made))

    def test_wording_is_by_the_seed(self):
        (self.docs / "muls.md").write_text(PAGE)
        one, again, other = (self.make(f"{name}.db", "--seed", seed, "--no-compile", "--of-licence", "MIT")
                             for name, seed in (("one", 1), ("again", 1), ("other", 2)))
        self.assertEqual(one, again)
        self.assertNotEqual([row[2] for row in one], [row[2] for row in other])
        self.assertEqual({row[3] for row in one}, {row[3] for row in other})
        self.assertEqual({row[5] for row in one}, {"MIT"})

    def test_html(self):
        (self.docs / "cards.html").write_text(HTML)
        made = self.make("html.db", "--of-licence", "Apache-2.0")
        self.assertEqual({row[5] for row in made}, {"MIT"})
        answers = {row[3]: row[2] for row in made}
        self.assertIn("price: 7 € | 8", answers)
        section = next(row[3] for row in made if json.loads(row[6])[0] == "section")
        self.assertIn("Cards & their prices, in a table.", section)
        self.assertIn("```\nint a;\n  int b;\n```", section)
        self.assertNotIn("no text", section)

    def test_passages_have_the_answer(self):
        (self.docs / "table.md").write_text("# T\n\n| a | b | c |\n|---|---|---|\n" +
                                            "".join(f"| row{i} | b{i * 7919} | c{i * 104729} |\n" for i in range(1, 60)))
        made = self.make("table.db")
        with_passage = [row for row in made if "passage" in json.loads(row[6])]
        self.assertGreater(len(with_passage), len(made) // 4)
        self.assertLess(len(with_passage), len(made))
        for row in with_passage:
            for line in row[3].splitlines():
                self.assertIn(line.split(": ")[-1], row[2])

    def test_broken_files_end_nothing(self):
        (self.docs / "good.md").write_text("# Good\n\nA sentence that is long enough to ask for.\n")
        (self.docs / "latin.md").write_bytes("# Caf\xe9 and more text behind it\n".encode("latin-1"))
        (self.docs / "binary.md").write_bytes(b"\x7fELF\0\0\0\0")
        (self.docs / "empty.md").write_text("")
        with open(self.docs / "huge.md", "wb") as huge:
            huge.truncate(9 << 20)
        (self.docs / "link.md").symlink_to("good.md")
        (self.docs / "nowhere.md").symlink_to("none")
        (self.docs / "around").symlink_to(".")
        os.mkfifo(self.docs / "pipe.md")
        (self.docs / "code.cpp").write_text("not looked at")
        (self.docs / ".hidden").mkdir()
        (self.docs / ".hidden" / "x.md").write_text("# Hidden\n\nA sentence that is long enough to ask for.\n")
        deep = self.docs / "deep" / "er"
        deep.mkdir(parents=True)
        (deep / "page.txt").write_text("Plain text is a section without a heading.\n")
        key = "# Key\n\n-----BEGIN RSA PRIV" + "ATE KEY-----\nMIIEabcdefghijk\n"
        (self.docs / "secret.md").write_text(key)
        made = self.make("broken.db")
        self.assertEqual(sorted(row[3] for row in made), ["A sentence that is long enough to ask for.",
                                                          "Plain text is a section without a heading."])
        expected = {"no UTF-8": 1, "binary": 1, "a file that is too large": 1, "a link": 2, "neither a file nor a folder": 1,
                    "a secret in it": 1}
        self.assertEqual(self.dropped("broken.db"), expected)
        if os.geteuid():
            (self.docs / "closed.md").write_text("# Closed\n")
            (self.docs / "closed.md").chmod(0)
            expected["a file that cannot be read"] = 1
        self.assertEqual(self.make("broken.db"), made)     # again: nothing is new
        self.assertEqual(self.dropped("broken.db"), expected)
        self.assertIn("No such file", akgen("cot", "documents", self.docs / "none", "--db", self.at / "x.db").stderr)
        self.assertEqual(akgen("cot", "documents", self.docs).returncode, 2)

    def test_own_documents_and_killed_runs(self):
        whole = self.at / "own.db"
        done = akgen("cot", "documents", "--db", whole)
        self.assertEqual(done.returncode, 0, done.stderr)
        made = rows(whole)
        forms = (HOME / "docs/api.md").read_text()
        signatures = [row for row in made if json.loads(row[6])[0] == "signature"]
        self.assertGreater(len(signatures), 400)
        for row in signatures:
            for line in row[3].splitlines():
                self.assertIn(line[min(i for i in (line.find("("), line.find("<")) if i > 0):], forms)
        programs = [row for row in made if row[1] == "dsl"]
        self.assertGreater(len(programs), 0)
        self.assertEqual({row[5] for row in made}, {"Apache-2.0"})
        self.assertGreater(kill_until_done("cot", "documents", "--db", self.at / "killed.db"), 0)
        self.assertEqual(akgen("cot", "documents", "--db", self.at / "killed.db").returncode, 0)
        self.assertEqual(rows(self.at / "killed.db"), made)


if __name__ == "__main__":
    unittest.main()
