"""An attack: a file tests/attacks/CAUSE/NAME.attack. Its head is `key: words` a line (a line that begins with a space goes on):

    tries     what it tries, and what it would gain
    fails     why it must fail
    verdict   the verdicts that are allowed; `pass` and `infra_error` never are
    reason    a pattern that the verdict's reason must match (optional)
    never     a pattern that nothing akgen prints may match (optional)
    text      a pattern that what `akgen eval` prints for people must match (optional); without it that is not looked at
    options   further options of akgen eval (optional); such an attack is left out of the run with neighbours
    time      of an attack on the modelled time: the kernel does its work and may pass, but its time is unknown or at least this share
              of the reference's (optional)
    task      another task than Sqrt (optional)
    seconds   of processor time that the evaluation may take, default 20
    memory    MiB that the evaluator may take, default 1024

Then come sections, `=== PLACE`, with the lines that the attack adds to the base: the reference project of Sqrt, whose kernel does
no work here, so that nothing but an attack that succeeds can pass. The places are keys of PLACES; `file PATH` is a file of its own,
`shell` is run in the project's folder once it stands, `meanwhile` from then on until the verdict is there, `afterwards` when it is
evaluated, before it is evaluated again (the second verdict counts); `answer` prints an
answer, a text in any form, in place of the project. Words like @SECRET@ stand for the keys of the `words` given."""
import pathlib
import re
import shutil
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[0] / "cli"))
from akgen_program import TASKS, edit  # noqa: E402

SQRT = "level1/Math/Sqrt"
ALLOWED = {"wrong", "fault", "timeout", "compile_error", "rejected", "unsupported"}
KERNEL, HOST, HEADER = "op_kernel/sqrt.cpp", "op_host/sqrt.cpp", "op_host/sqrt_tiling.h"
# Where a section's lines go: the file, a line of it, and whether they stand before that line, behind it or in its place. No line: at
# the file's begin or end.
PLACES = {
    "kernel top": (KERNEL, None, "before"),
    "kernel": (KERNEL, "using namespace AscendC;\n", "behind"),
    "kernel statement": (KERNEL, "    TPipe pipe;\n", "behind"),
    "kernel end": (KERNEL, None, "behind"),
    "host top": (HOST, None, "before"),
    "opdef": (HOST, "        this->AICore().SetTiling(optiling::TilingFunc);\n", "before"),
    "tiling": (HOST, "    uint64_t ubBytes = 0;\n", "behind"),
    "host": (HOST, None, "behind"),
    "tiling fields": (HEADER, "END_TILING_DATA_DEF;\n", "before"),
    "cmake": ("CMakeLists.txt", None, "behind"),
}


class Attack:
    def __init__(self, path, words):
        self.name = f"{path.parent.name}/{path.stem}"
        head, *rest = re.split(r"^=== *(.*)\n", path.read_text(), flags=re.MULTILINE)
        keys = re.findall(r"^(\w+): +((?:.|\n )*)", head, flags=re.MULTILINE)
        self.head = {key: " ".join(text.split()) for key, text in keys}
        known = {"tries", "fails", "verdict", "reason", "never", "text", "time", "options", "task", "seconds", "memory"}
        assert {"tries", "fails", "verdict"} <= self.head.keys() <= known, f"{path}: its head"
        self.verdicts = set(self.head["verdict"].split())
        self.time = float(self.head["time"]) if "time" in self.head else None
        assert self.verdicts and self.verdicts <= ALLOWED | ({"pass"} if self.time else set()), f"{path}: {self.verdicts} are no verdicts of an attack"
        self.reason, self.never = self.head.get("reason", ""), self.head.get("never")
        self.options = self.head.get("options", "").split()
        self.task = self.head.get("task", SQRT)
        self.seconds = float(self.head.get("seconds", 20))
        self.memory = int(self.head.get("memory", 1024))
        self.sections = []
        for place, text in zip(rest[::2], rest[1::2]):
            for word, value in words.items():
                text = text.replace(f"@{word}@", str(value))
            self.sections.append((place.strip(), text))
        assert self.sections, f"{path}: no section"

    def section(self, wanted):
        return "".join(text for place, text in self.sections if place == wanted)

    def make(self, project):
        """Writes the candidate; returns what akgen gets, a folder or a file."""
        answer = self.section("answer")
        if answer:
            project.parent.mkdir(parents=True, exist_ok=True)
            file = project.with_suffix(".txt")
            file.write_bytes(subprocess.run(["sh", "-ec", answer], check=True, capture_output=True).stdout)
            return file
        make_base(project, works=self.time is not None)
        for place, text in self.sections:
            if place.startswith("file "):
                file = project / place[len("file "):]
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_text(text)
            elif place in PLACES:
                add(project, place, text)
            else:
                assert place in ("shell", "meanwhile", "afterwards"), f"{self.name}: no place '{place}'"
        self.run("shell", project)
        return project

    def run(self, place, project):
        """A section that is a script."""
        subprocess.run(["sh", "-ec", self.section(place)], cwd=project, check=True, stdout=subprocess.DEVNULL)

    def meanwhile(self, project):
        """What goes on while the candidate is evaluated, or None. In a group of its own."""
        script = self.section("meanwhile")
        return script and subprocess.Popen(["sh", "-c", script], cwd=project, start_new_session=True,
                                           stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def make_base(project, works):
    """The reference of Sqrt, whose kernel does no work if it must not."""
    shutil.copytree(TASKS / SQRT / "reference", project)
    if not works:
        edit(project / KERNEL, "    op.Process();\n", "")


def add(project, place, text):
    name, line, where = PLACES[place]
    path = project / name
    if line:
        edit(path, line, text + line if where == "before" else line + text)
    else:
        path.write_text(text + path.read_text() if where == "before" else path.read_text() + text)


def attacks_of(cause, words):
    """All attacks of one cause, by name."""
    return [Attack(path, words) for path in sorted((HERE / cause).glob("*.attack"))]
