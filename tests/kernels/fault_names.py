"""The names that the machine can report, read from its sources: the literals that stand where a function takes its
parameter `fault`, the columns of the memories that are names of faults, and fields called `fault` that are set."""
import re

import pathlib

SOURCES = pathlib.Path(__file__).resolve().parents[2] / "src"
LITERAL = re.compile(r'"((?:[^"\\]|\\.)*)"')
# Parameters and fields that only pass on a name that stands elsewhere.
PASSED_ON = re.compile(r"fault$|const char \*|arena_strdup|\w+(\[\w+\])?(->|\.)(fault|overflow|overbooked|out_of_bounds)$")


def arguments(text, start):
    """The arguments of a call whose opening bracket is at `start`, split at commas outside brackets and strings."""
    depth, quoted, begin, found = 0, False, start + 1, []
    at = start
    while True:
        c = text[at]
        if c == "\\":
            at += 1
        elif c == '"':
            quoted = not quoted
        elif not quoted and c in "([{":
            depth += 1
        elif not quoted and (c in ")]}" or (c == "," and depth == 1)):
            if c == "," or depth == 1:
                found.append(" ".join(text[begin:at].split()))
                begin = at + 1
            depth -= c != ","
            if depth == 0:
                return found
        at += 1


def sources():
    return {path: path.read_text() for path in sorted(SOURCES.rglob("*")) if path.suffix in (".c", ".h", ".def")}


def reporters(texts):
    """Functions with a parameter `const char *fault`, and its place."""
    found = {}
    for text in texts.values():
        for match in re.finditer(r"\b(\w+)\(", text):
            if "const char *fault" not in text[match.end():match.end() + 400].split(";")[0].split("{")[0]:
                continue
            for place, argument in enumerate(arguments(text, match.end() - 1)):
                if argument == "const char *fault":
                    found[match.group(1)] = place
    return found


def reported():
    """name -> where it is reported; raises if a place gives a name that is neither a literal nor passed on."""
    texts = {path: text for path, text in sources().items() if "npu" in path.parts}
    functions, names = reporters(texts), {}
    for path, text in texts.items():
        where = str(path.relative_to(SOURCES.parent))
        given = [arguments(text, match.end() - 1)[functions[match.group(1)]]
                 for match in re.finditer(r"\b(" + "|".join(functions) + r")\(", text)]
        given += re.findall(r"(?:\.|->|\*)fault = ([^;,}]+)[;,}]", text)
        if path.name == "memory.c":
            given += re.findall(r'"(?:\w+_(?:out_of_bounds|overflow|overbooked))"', text)
        for expression in given:
            literals = LITERAL.findall(expression)
            assert literals or PASSED_ON.match(expression), f"{where}: whose name is '{expression}'?"
            for name in literals:
                names.setdefault(name, where)
    return names


if __name__ == "__main__":
    for name, where in sorted(reported().items()):
        print(f"{name:32} {where}")
