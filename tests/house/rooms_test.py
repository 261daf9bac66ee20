#!/usr/bin/env python3
"""Rooms and floors call what is below them. The order stands in docs/architecture.md: each table whose first column names
folders lists them from the highest to the lowest, and a folder with a table of its own has floors. Every #include of the
tree and every symbol that an object of the build folder takes from another one is held against it."""
import collections
import json
import os
import pathlib
import re
import shlex
import subprocess
import unittest

HOME = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ["AKGEN"]).parent
# Where an #include "..." is looked up besides its own folder, as the builds of AKGen and of candidates do.
PATHS = {"src": ["src", "include"], "include": ["include"], "include/cann": ["include/cann", "include", "include/ascendc"],
         "include/ascendc": ["include/ascendc", "include", "include/cann"]}


def tables(text):
    """The tables of folders: {a room, or '' for the house: [folder, ...] from the lowest to the highest}."""
    found = {}
    for block in re.findall(r"(?:^\|.*\n)+", text, re.M):
        folders = re.findall(r"^\| `((?:src|include)[\w/]*)` \|", block, re.M)
        if folders:
            room = os.path.commonpath(folders)
            found["" if room in ("", "src", "include") else room] = folders[::-1]
    return found


class House:
    def __init__(self, text):
        self.tables = tables(text)

    def at(self, path):
        """(room, floor) that a file stands in; the floor is the room where it has none. None where no row names it."""
        folder = os.path.dirname(path)
        for room in self.tables[""]:
            if folder == room or folder.startswith(room + "/"):
                if room in self.tables:
                    return (room, folder) if folder in self.tables[room] else None
                return (room, room) if folder == room or room.startswith("include/") else None
        return None

    def wrong(self, edges):
        """Complaints about edges (from file, to file, how): arrows upwards, and what stands in no row."""
        complaints = []
        for source, target, how in edges:
            ends = self.at(source), self.at(target)
            for path, end in zip((source, target), ends):
                if not end:
                    complaints.append(f"{path}: no table of docs/architecture.md has its folder")
            if None in ends or ends[0] == ends[1]:
                continue
            order, level = (self.tables[ends[0][0]], 1) if ends[0][0] == ends[1][0] else (self.tables[""], 0)
            above, below = ends[0][level], ends[1][level]
            if order.index(above) < order.index(below):
                complaints.append(f"{source} {how} of {target}: {below} is above {above}")
            if target.endswith("_internal.h") and ends[0][0 if ends[1][0] == ends[1][1] else 1] != ends[1][1]:
                complaints.append(f"{source} {how} of {target}: a header that is private to {ends[1][1]}")
        return sorted(set(complaints))


def circle(edges, place):
    """One circle of places, as a list that ends where it begins; None if there is none."""
    onward = collections.defaultdict(set)
    for source, target, _ in edges:
        if place(source) != place(target):
            onward[place(source)].add(place(target))
    done = set()

    def walk(at, path):
        if at in path:
            return path[path.index(at):] + [at]
        if at not in done:
            for following in sorted(onward[at]):
                found = walk(following, path + [at])
                if found:
                    return found
            done.add(at)
        return None

    return next(filter(None, (walk(start, []) for start in sorted(onward))), None)


def files():
    return [path for folder in ("src", "include") for path in sorted((HOME / folder).rglob("*"))
            if path.suffix in (".c", ".h", ".cpp", ".def")]


def includes():
    edges = []
    for path in files():
        name = str(path.relative_to(HOME))
        ours = next(value for key, value in sorted(PATHS.items(), reverse=True) if name.startswith(key + "/"))
        for wanted in re.findall(r'^[ \t]*#[ \t]*include[ \t]*"([^"]+)"', path.read_text(), re.M):
            for folder in [path.parent] + [HOME / folder for folder in ours]:
                if (folder / wanted).exists():
                    edges.append((name, str((folder / wanted).resolve().relative_to(HOME)), f"includes {wanted}"))
                    break
            else:
                if name.startswith("src/"): # candidates' paths may come from a list instead
                    raise FileNotFoundError(f"{name} includes {wanted}, which is nowhere")
    return edges


def objects():
    """{source under src: its object}, by what the build was told to compile."""
    with open(BUILD / "compile_commands.json") as file:
        commands = json.load(file)
    found = {}
    for command in commands:
        path = pathlib.Path(command["file"])
        if path.is_relative_to(HOME / "src"):
            words = shlex.split(command["command"])
            found[str(path.relative_to(HOME))] = BUILD / words[words.index("-o") + 1]
    return found


def calls():
    """What an object takes from another one. Weak symbols, which many may define, have no home; nor have names of
    libc's and libstdc++'s that akgen-run puts in their place, in a file of its own that is in no library (main_*.c) or in cxx.c."""
    sources = {str(path): source for source, path in objects().items()}
    home, taken = {}, []
    listing = subprocess.run(["nm", "-A", "-g", *sources], capture_output=True, text=True, check=True).stdout
    for line in listing.splitlines():
        path, symbol = line.split(":", 1)
        kind, name = symbol.split()[-2:]
        if kind == "U":
            taken.append((sources[path], name))
        elif kind in "TDBRC" and not re.search(r"/(main_\w+|cxx)\.c$", sources[path]):
            home[name] = sources[path]
    return [(source, home[name], f"uses {name}") for source, name in taken if name in home]


DRAWN = """
| room | |
|---|---|
| `src/roof` | |
| `src/middle` | |
| `src/ground` | |
| `include/abi` | |

| floor | |
|---|---|
| `src/middle/upper` | |
| `src/middle` | |
| `src/middle/lower` | |
"""


class TheTestItself(unittest.TestCase):
    house = House(DRAWN)

    def complaints(self, source, target):
        return self.house.wrong([(source, target, "uses one")])

    def test_downwards_is_no_complaint(self):
        for source, target in (("src/roof/a.c", "src/ground/b.h"), ("src/roof/a.c", "src/middle/lower/b.c"),
                               ("src/middle/upper/a.c", "src/middle/b.c"), ("src/middle/a.c", "src/middle/lower/b.c"),
                               ("src/ground/a.c", "include/abi/t.def"), ("src/roof/a.c", "src/roof/a_internal.h")):
            self.assertEqual(self.complaints(source, target), [])

    def test_upwards_is(self):
        for source, target in (("src/ground/a.c", "src/roof/b.h"), ("src/ground/a.c", "src/middle/lower/b.c"),
                               ("src/middle/upper/a.c", "src/roof/b.c"), ("include/abi/a.h", "src/ground/b.h")):
            self.assertRegex(self.complaints(source, target)[0], f"{source} uses one of {target}: .* is above")
        self.assertEqual(self.complaints("src/middle/lower/a.c", "src/middle/b.c"),
                         ["src/middle/lower/a.c uses one of src/middle/b.c: src/middle is above src/middle/lower"])

    def test_unknown_folders_are(self):
        for path in ("src/cellar/a.c", "src/middle/attic/a.c", "src/roof/attic/a.c", "src/a.c"):
            self.assertIn("no table", self.complaints(path, "include/abi/t.h")[0])
            self.assertIn("no table", self.complaints("src/roof/b.c", path)[0])

    def test_private_headers_are(self):
        self.assertIn("private to src/ground", self.complaints("src/roof/a.c", "src/ground/b_internal.h")[0])
        self.assertIn("private to src/middle", self.complaints("src/roof/a.c", "src/middle/b_internal.h")[0])
        self.assertIn("private to src/middle/lower", self.complaints("src/middle/a.c", "src/middle/lower/b_internal.h")[0])
        self.assertEqual(self.complaints("src/middle/upper/a.c", "src/middle/b_internal.h"), [], "a room's own is its floors' too")

    def test_circles_are_found(self):
        edges = [(f"src/{a}/f.c", f"src/{b}/f.h", "") for a, b in ("ab", "bc", "ad", "de")]
        self.assertIsNone(circle(edges, os.path.dirname))
        self.assertEqual(circle(edges + [("src/c/g.c", "src/a/g.h", "")], os.path.dirname),
                         ["src/a", "src/b", "src/c", "src/a"])


class TheHouse(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.house = House((HOME / "docs/architecture.md").read_text())
        cls.includes, cls.calls = includes(), calls()

    def test_everything_was_read(self):
        self.assertEqual(sorted(str(path.relative_to(HOME)) for path in (HOME / "src").rglob("*.c")),
                         sorted(path for path in objects() if path.endswith(".c")))
        self.assertGreater(len(self.includes), 500)
        self.assertGreater(len(self.calls), 1000)

    def test_each_file_has_a_place_and_each_row_a_folder(self):
        for path in files():
            self.assertIsNotNone(self.house.at(str(path.relative_to(HOME))), f"no table has the folder of {path}")
        for rows in self.house.tables.values():
            for folder in rows:
                self.assertTrue((HOME / folder).is_dir(), f"{folder} is in docs/architecture.md and nowhere else")

    def none(self, complaints):
        self.assertFalse(complaints, "\n".join(["", *complaints]))

    def test_no_include_goes_upwards(self):
        self.none(self.house.wrong(self.includes))

    def test_no_call_goes_upwards(self):
        self.none(self.house.wrong(self.calls))

    def test_no_circles(self):
        edges = self.includes + self.calls
        for level in (0, 1):
            self.assertIsNone(circle(edges, lambda path: (self.house.at(path) or ("nowhere", "nowhere"))[level]))


if __name__ == "__main__":
    unittest.main()
