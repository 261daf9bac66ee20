#!/usr/bin/env python3
"""Files that somebody else may have written are opened by src/base/files.c and src/base/lines.c alone, which follow no link out of a
stranger's folder, wait for no FIFO and know how much they may read. Whatever else calls an opener is a row here, with what it opens. And
what a stranger answered is read in a process of its own alone."""
import pathlib
import re
import unittest

HOME = pathlib.Path(__file__).resolve().parents[2]
OPENERS = re.compile(r"(?<![\w>.])(open|openat|creat|fopen|freopen|opendir|json_load_file|sqlite3_open(?:_v2)?)\(")
OTHERS = {
    "src/jail/": "what a jail is made of: our own programs and objects, the places that it shows, /proc",
    "src/lm/cluster.c": "writes",
    "src/lm/train.c": "the user's own folder of a training: its lock, metrics that it writes",
    "src/lm/checkpoint.c": "lists that folder",
    "src/lm/cuda.c": "a function of akgen-cuda.so that is called open",
    "src/gen/evidence.c": "writes",
    "src/gen/library.c": "a database in memory",
    "src/cli/lm_answers.c": "writes",
    "src/cli/whole_file.c": "writes",
    "src/cli/dump.c": "writes",
    "src/cli/run.c": "writes",
    "src/toolchain/clang.c": "locks of the cache",
    "src/toolchain/work.c": "folders of builds, without following links",
    "src/toolchain/cache_bound.c": "lists the cache",
    "src/eval/tree.c": "lists a folder of answers; what is in it is read by src/candidate/folder.c",
    "src/eval/full_size.c": "/proc/meminfo",
    "src/runs/cot_export.c": "writes",
    "src/runs/cot_page.c": "writes",
    "src/runs/report_html.c": "writes",
    "src/runs/store_sql.c": "databases, by SQLite: open_as() has looked whether it is a regular file",
}


def calls(text):
    """(line, opener) of each call in a text of C, comments and strings left out."""
    text = re.sub(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"', lambda part: "\n" * part[0].count("\n"), text, flags=re.S)
    return [(text.count("\n", 0, found.start()) + 1, found[1]) for found in OPENERS.finditer(text)]


class Files(unittest.TestCase):
    def test_who_opens(self):
        used = set()
        for path in sorted((HOME / "src").rglob("*")):
            name = str(path.relative_to(HOME))
            if path.suffix not in (".c", ".cpp", ".h") or name.startswith("src/base/"):
                continue
            row = next((other for other in OTHERS if name == other or (other.endswith("/") and name.startswith(other))), None)
            found = calls(path.read_text())
            if row and found:
                used.add(row)
            elif found:
                self.fail(f"{name}:{found[0][0]}: {found[0][1]}(): files are opened by base/files.h and base/lines.h, or {pathlib.Path(__file__).name} says why not")
        self.assertEqual(set(OTHERS) - used, set(), "rows that nothing needs any more")

    def test_who_reads_answers(self):
        """A stranger's text is read by akgen-read (src/candidate/reader.h). These read one in the process at hand."""
        readers = re.compile(r"\b(answer_read|answer_read_file|candidate_of_answer|op_response_read|op_wrapper_read|candidate_program_review)\(")
        ours = {"src/cot/synth_prove.c"}  # answers that AKGen itself has made up
        found = {str(path.relative_to(HOME)) for path in (HOME / "src").rglob("*.c")
                 if path.parent.name != "candidate" and readers.search(path.read_text())}
        self.assertEqual(found, ours)

    def test_what_is_a_call(self):
        self.assertEqual(calls('int a; /* open( */\n f = fopen (x);\n "open(";\n x = open(path, 0); fdopen(3); it.open(1); it->open(1);'), [(4, "open")])
        self.assertEqual(calls("DIR *d = opendir(p);\njson = json_load_file(p, 0, 0);"), [(1, "opendir"), (2, "json_load_file")])


if __name__ == "__main__":
    unittest.main()
