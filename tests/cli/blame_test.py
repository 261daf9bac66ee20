#!/usr/bin/env python3
# test: cost=11 labels=long
"""Who gets the blame. What a candidate causes is never `infra_error`, and what it writes is never `unsupported`; what happens to the
processes that work for it is never its fault (inject_test.py kills those by number)."""
import json
import os
import pathlib
import shutil
import signal
import subprocess
import tempfile
import threading
import time
import unittest

from akgen_program import AKGEN, HOME, TASKS, akgen, copy_reference, edit, verdict

SQRT = "level1/Math/Sqrt"
HEADERS = "#include <csignal>\n#include <cstdlib>\n#include <cstring>\n#include <fcntl.h>\n#include <stdexcept>\n#include <string>\n" \
          "#include <sys/mman.h>\n#include <unistd.h>\n"
MARK = "akgen-unsupported: MmadWithSparse"
LACKING = HOME / "include/ascendc/basic/unsupported.h"
ND = ".Format({ge::FORMAT_ND, ge::FORMAT_ND, ge::FORMAT_ND});"
MANY_ATTRS = 'for (int i = 0; i < %d; i++) this->Attr(("a" + std::to_string(i)).c_str()).AttrType(OPTIONAL).Int(1);'
FIELDS = "".join(f"TILING_DATA_FIELD_DEF(uint8_t, f{i});\n" for i in range(1100))

# What is tried, the statement, the verdict, its stage, what the reason must say.
TILING = [
    ("kills itself", "kill(getpid(), SIGKILL);", "fault", "tiling", "exit code 137"),
    ("ends itself", "raise(SIGTERM);", "fault", "tiling", "exit code 143"),
    ("stops itself", "raise(SIGSTOP);", "fault", "tiling", "exit code 147"),
    ("feigns a crash", "raise(SIGFPE);", "fault", "tiling", "signal 8"),
    ("a breakpoint", "__builtin_debugtrap();", "fault", "tiling", "signal 5"),
    ("a trap", "__builtin_trap();", "fault", "tiling", "signal 4"),
    ("a division by zero", "{ volatile int zero = 0; ubBytes = 5 / zero; }", "fault", "tiling", "signal 8"),
    ("takes the handler away and crashes", "signal(SIGSEGV, SIG_DFL); *(volatile int *)8 = 1;", "fault", "tiling", "signal 11"),
    ("blocks signals and crashes",
     "{ sigset_t all; sigfillset(&all); sigprocmask(SIG_BLOCK, &all, nullptr); *(volatile int *)8 = 1; }",
     "fault", "tiling", "signal 11"),
    ("endless recursion",
     "{ struct R { static int f(int n) { volatile char b[1000]; b[0] = (char)n; return f(n + 1) + b[0]; } }; ubBytes = R::f(0); }",
     "fault", "tiling", "signal 11"),
    ("a heap that is overwritten", "{ char *one = (char *)malloc(40), *two = (char *)malloc(40); memset(one, 0x41, 200); free(two); free(one); }",
     "fault", "(tiling|run)", "signal (6|11)"),
    ("our exit code", "_exit(70);", "fault", "tiling", "exit code 70"),
    ("the exit code of no memory", "_exit(3);", "fault", "tiling", "exit code 3"),
    ("an exception that speaks our words", f'throw std::runtime_error("{MARK}");', "fault", "tiling", "signal 6"),
    ("a message that is no text", 'throw std::runtime_error("\\xff\\xfe");', "fault", "tiling", "signal 6"),
    ("prints our words", f'puts("{MARK}"); puts("\\xff\\xfe");', "pass", "compare", None),
    ("all of the address space", "for (size_t b = 1UL << 46; b >= 4096; b /= 2) while (mmap(nullptr, b, PROT_NONE, MAP_PRIVATE | "
     "MAP_ANONYMOUS | MAP_NORESERVE, -1, 0) != MAP_FAILED) {}", "(pass|fault)", "(tiling|compare)", "^"),
    ("all of the descriptors", "for (int k = 0; k < 300; k++) fcntl(1, F_DUPFD, 3);", "rejected", "tiling",
     "system call fcntl"),
    ("closes the result", "for (int fd = 3; fd < 16; fd++) close(fd);", "fault", "tiling", "exit code 70"),
    ("makes the result unreadable", 'for (int fd = 3; fd < 16; fd++) { if (write(fd, "x", 1) > 0) { break; } }',
     "rejected", "tiling", "(wrote into the result|system call write)"),
    ("takes all memory away", "munmap((void *)0x10000, 0x7ff000000000);", "fault", "tiling", "signal 11"),
]
OPDEF = [
    ("an attribute with a hyphen", 'this->Attr("a-b").AttrType(OPTIONAL).Int(1);', "compile_error", "'a-b' is no identifier"),
    ("an attribute without a name", 'this->Attr("").AttrType(OPTIONAL).Int(1);', "compile_error", "'' is no identifier"),
    ("an attribute that is no text", 'this->Attr("\\xff\\xfe").AttrType(OPTIONAL).Int(1);', "compile_error", "is no identifier"),
    ("an attribute with a very long name", "this->Attr(std::string(1000000, 'a').c_str()).AttrType(OPTIONAL).Int(1);",
     "compile_error", "is no identifier"),
    ("values that are none", 'this->Attr("n").AttrType(OPTIONAL).Float(__builtin_nanf("")); '
     'this->Attr("s").AttrType(OPTIONAL).String("\\xff");', "pass", None),
    ("300 attributes", MANY_ATTRS % 300, "pass", None),
    ("2000 attributes", MANY_ATTRS % 2000, "compile_error", "more than 1024"),
    ("an input that is no text", 'this->Input("\\xff").ParamType(OPTIONAL).DataType({ge::DT_FLOAT16, ge::DT_FLOAT, ge::DT_BF16})' + ND,
     "compile_error", "is no identifier"),
    ("a chip that is no text", 'this->AICore().AddConfig("\\xff");', "pass", None),
]
KERNEL = [
    ("#error", f'#error "{MARK}"', "compile_error"),
    ("static_assert", f'static_assert(false, "{MARK}");', "compile_error"),
    ("an attribute", f'__attribute__((unavailable("{MARK}"))) __aicore__ void mine();\n__aicore__ inline void user() {{ mine(); }}',
     "compile_error"),
    ("a line that says it is ours", f'#line 20 "{LACKING}"\n#error "akgen-unsupported: Foo"', "compile_error"),
    ("a message with a line of its own", f'static_assert(false, "x\\n{LACKING}:3:1: error: akgen-unsupported: Foo");', "compile_error"),
    ("words of the compiler", "#error no template named 'Shape'", "compile_error"),
    ("words about a header", "#error 'hccl/hccl.h' file not found", "compile_error"),
    ("a lack of its own", '__aicore__ inline void user() { npu_unsupported("anything"); }', "compile_error"),
    ("a header of its own that is missing", '#include "hccl/mine.h"', "compile_error"),
    ("a warning beside an error", f'#warning "{MARK}"\nint nope = nix;', "compile_error"),
    ("an object of more than the disk's share", "__gm__ char many[1u << 30] = {1};", "compile_error"),
    ("text that is none", b"#error \xff\xfe", "compile_error"),
    # These are on the list.
    ("a function that CANN has", "__aicore__ inline void user() { MmadWithSparse(1); }", "unsupported"),
    ("a type that CANN has", "__aicore__ inline void user() { LoadImageToLocalParams parameters; }", "unsupported"),
    ("a template that CANN has", "Shape<int> shape;", "unsupported"),
    ("a header that CANN has", '#include "hccl/hccl_types.h"', "unsupported"),
]
SIZES = [
    ("a workspace of 2^64 - 1 bytes", "GetWorkspaceSizes(1)[0] = 0", "GetWorkspaceSizes(1)[0] = ~0ull", "wrong", "no memory"),
    ("a workspace of 1 TiB", "GetWorkspaceSizes(1)[0] = 0", "GetWorkspaceSizes(1)[0] = 1ull << 40", "wrong", "no memory"),
    ("a number of workspaces", "GetWorkspaceSizes(1)[0] = 0", "GetWorkspaceSizes(1000000000)[0] = 0", "fault", "signal 11"),
    ("2^32 - 1 blocks", "SetBlockDim(static_cast<uint32_t>(blocks))", "SetBlockDim(0xffffffff)", "wrong", "block dim"),
    ("tiling data of 2^64 - 1 bytes", "SetDataSize(tiling.GetDataSize())", "SetDataSize(~0ull)", "wrong", "has room for"),
]
STRUCTURES = [
    ("a megabyte", "TILING_DATA_FIELD_DEF_ARR(uint8_t, 1000000, big);\n", "wrong", "has room for"),
    ("a gigabyte", "TILING_DATA_FIELD_DEF_ARR(uint8_t, 1000000000, big);\n", "compile_error", "up to 1048576"),
    ("1100 fields", FIELDS, "compile_error", "more than 1024"),
]


def fifo(project, name):
    (project / name).unlink()
    os.mkfifo(project / name)


def folder(project, name):
    (project / name).unlink()
    (project / name).mkdir()


def link(target):
    def make(project, name):
        (project / name).unlink()
        (project / name).symlink_to(target)
    return make


def deep(project, name):
    """Paths that are longer than the system takes."""
    here = os.open(project / name, os.O_RDONLY)
    for _ in range(20):
        os.mkdir("d" * 250, dir_fd=here)
        below = os.open("d" * 250, os.O_RDONLY, dir_fd=here)
        os.close(here)
        here = below
    os.close(here)


def large(project, name):
    with open(project / name, "wb") as file:
        file.truncate(1 << 30)


FILES = [
    (fifo, "op_kernel/sqrt.cpp", "^op_kernel/sqrt.cpp: neither a file nor a folder"),
    (fifo, "op_host/sqrt.cpp", "^op_host/sqrt.cpp: neither a file nor a folder"),
    (fifo, "op_host/sqrt_tiling.h", "neither a file nor a folder"), (folder, "op_kernel/sqrt.cpp", "no kernel source"),
    (folder, "op_host/sqrt_tiling.h", "file not found|is a directory|Is a directory"),
    (link("sqrt.cpp"), "op_kernel/sqrt.cpp", "^op_kernel/sqrt.cpp: a link"),
    (link("/dev/zero"), "op_kernel/sqrt.cpp", "^op_kernel/sqrt.cpp: a link"),
    (link("/dev/zero"), "op_host/sqrt.cpp", "^op_host/sqrt.cpp: a link"), (deep, "op_kernel", "a path of more than 1024 bytes"),
    (large, "op_kernel/sqrt.cpp", "^op_kernel/sqrt.cpp: more than 16777216 bytes"), (large, "op_host/sqrt_tiling.h", "more than 16777216 bytes"),
]


class Candidate(unittest.TestCase):
    def setUp(self):
        self.directory = pathlib.Path(tempfile.mkdtemp(prefix="akgen-test-"))
        # Python's rmtree gives up on paths of this length.
        self.addCleanup(subprocess.run, ["rm", "-rf", self.directory], check=True)

    def project(self):
        shutil.rmtree(self.directory / "project", ignore_errors=True)
        return copy_reference(SQRT, self.directory)

    def check(self, project, kind, stage, reason, *options):
        result = verdict(SQRT, project, "--case", "2", *options)
        self.assertRegex(result["verdict"], f"^{kind}$", result["reason"])
        self.assertRegex(result["stage"], f"^{stage}$", result["reason"])
        if reason is None:
            self.assertIsNone(result["reason"])
        else:
            self.assertRegex(result["reason"] or "", reason)

    @unittest.skipIf("ok     seccomp" not in akgen("doctor").stdout, "this kernel has no seccomp")
    def test_what_a_tiling_function_does(self):
        for what, statement, kind, stage, reason in TILING:
            with self.subTest(what):
                host = self.project() / "op_host" / "sqrt.cpp"
                host.write_text(HEADERS + host.read_text())
                edit(host, "    uint64_t ubBytes = 0;\n", f"    uint64_t ubBytes = 0;\n    {statement}\n")
                self.check(host.parents[1], kind, stage, reason)

    def test_what_an_opdef_says(self):
        for what, statement, kind, reason in OPDEF:
            with self.subTest(what):
                host = self.project() / "op_host" / "sqrt.cpp"
                host.write_text(HEADERS + host.read_text())
                edit(host, "        this->AICore().SetTiling", f"        {statement}\n        this->AICore().SetTiling")
                self.check(host.parents[1], kind, "host" if kind == "compile_error" else "compare", reason)

    def test_what_the_tiling_asks_for(self):
        for what, old, new, kind, reason in SIZES:
            with self.subTest(what):
                project = self.project()
                edit(project / "op_host" / "sqrt.cpp", old, new)
                self.check(project, kind, "tiling", reason)
        with self.subTest("more workspace than a share of the machine's memory"):
            project = self.project()
            edit(project / "op_host" / "sqrt.cpp", "GetWorkspaceSizes(1)[0] = 0", "GetWorkspaceSizes(1)[0] = 3ull << 30")
            self.check(project, "pass", "compare", None, "--jobs=1000")
        for what, fields, kind, reason in STRUCTURES:
            with self.subTest(what):
                project = self.project()
                header = project / "op_host" / "sqrt_tiling.h"
                before, end, after = header.read_text().partition("END_TILING_DATA_DEF")
                header.write_text(before + fields + end + after)
                self.check(project, kind, "(host|tiling)", reason)

    def test_what_a_kernel_says(self):
        for what, text, kind in KERNEL:
            with self.subTest(what):
                kernel = self.project() / "op_kernel" / "sqrt.cpp"
                using = b"using namespace AscendC;\n"
                added = text if isinstance(text, bytes) else text.encode()
                kernel.write_bytes(kernel.read_bytes().replace(using, using + added + b"\n", 1))
                for _ in range(2):  # the second answer comes from the cache
                    self.check(kernel.parents[1], kind, "kernel", ".")

    def test_a_lack_that_a_host_part_claims(self):
        """By a name that is not on the list it is a lie. By one that is, it excuses nothing that is not right besides."""
        claim = 'extern "C" void *akgen_never_run(const char *) __attribute__((noreturn));\n'
        host = self.project() / "op_host" / "sqrt.cpp"
        plain = host.read_text()
        for name, kind in (("anything", "rejected"), ("ge::Operator::GetName", "unsupported")):
            host.write_text(claim + plain)
            edit(host, "    uint64_t ubBytes = 0;\n", f'    uint64_t ubBytes = 0;\n    akgen_never_run("{name}");\n')
            self.check(host.parents[1], kind, "tiling", ".")
        host.write_text(claim + plain)
        small = "context->GetInputShape(0)->GetStorageShape().GetShapeSize() == 48 * 8192"
        edit(host, "    uint64_t ubBytes = 0;\n", f'    uint64_t ubBytes = 0;\n    if ({small}) akgen_never_run("ge::Operator::GetName");\n')
        for wrong, kind in ((False, "unsupported"), (True, "wrong")):
            if wrong:
                kernel = host.parents[1] / "op_kernel" / "sqrt.cpp"
                kernel.write_text(kernel.read_text().replace("Sqrt(", "Exp("))
            result = verdict(SQRT, host.parents[1])
            self.assertEqual(result["verdict"], kind, result["reason"])
            self.assertEqual(result["cases"][4]["verdict"], "unsupported")

    def test_files_that_are_none(self):
        for make, name, reason in FILES:
            with self.subTest(name=name, make=make):
                subprocess.run(["rm", "-rf", self.directory / "project"], check=True)
                project = copy_reference(SQRT, self.directory)
                make(project, name)
                self.check(project, "compile_error", "(parse|host)", reason)

    def test_a_type_that_no_source_of_op_kernel_spells(self):
        """AICs are started by what a header elsewhere names, and by what macros make."""
        for declaration, named in (('#include "../common/type.h"', "MY_TYPE"),
                                   ("#define MAKE(cores) KERNEL_TYPE_MIX_AIC##cores\n#define TIMES(n) MAKE(_1_##n)", "TIMES(2)")):
            project = self.project()
            (project / "common").mkdir()
            (project / "common" / "type.h").write_text("#define MY_TYPE KERNEL_TYPE_MIX_AIC_1_2\n")
            kernel = project / "op_kernel" / "sqrt.cpp"
            edit(kernel, "using namespace AscendC;\n", f"using namespace AscendC;\n{declaration}\n")
            edit(kernel, "    TPipe pipe;\n", f"    KERNEL_TASK_TYPE_DEFAULT({named});\n    TPipe pipe;\n")
            result = verdict(SQRT, project, "--case", "2")
            self.assertEqual(result["verdict"], "fault", result["reason"])  # 24 blocks of two AIVs are too many
            self.assertEqual(result["cases"][0]["run"]["kernel_type"], "MIX_AIC_1_2")

    def test_an_operator_for_other_chips(self):
        """CANN builds an operator for the chips that its OpDef names."""
        lines = {chip: f'        this->AICore().AddConfig("{chip}");\n' for chip in ("ascend910b", "ascend910_93")}
        for left_out, soc, kind in (("ascend910b", "Ascend910B2", "compile_error"), ("ascend910b", "Ascend910B4-1", "compile_error"),
                                    ("ascend910_93", "Ascend910B2", "pass"), ("ascend910_93", "Ascend910_9392", "compile_error"),
                                    ("ascend910b", "Ascend910_9392", "pass")):
            with self.subTest(left_out=left_out, soc=soc):
                project = self.project()
                edit(project / "op_host" / "sqrt.cpp", lines[left_out], "")
                result = verdict(SQRT, project, "--case", "2", "--soc", soc)
                self.assertEqual(result["verdict"], kind, result["reason"])
                if kind == "compile_error":
                    self.assertEqual(result["stage"], "host")
                    self.assertRegex(result["reason"], rf'no AddConfig\("{left_out}"\).*{soc}.*it has AddConfig for "ascend910')


class Builds(unittest.TestCase):
    def test_programs_of_different_builds(self):
        """Each of the two in turn has a table of messages with another field in it: neither it nor akgen takes the other's at its word."""
        build = pathlib.Path(AKGEN).resolve().parent
        for changed in ("akgen-host", "akgen-run"):
            with self.subTest(changed):
                folder = pathlib.Path(tempfile.mkdtemp(prefix="builds-", dir=build))
                self.addCleanup(shutil.rmtree, folder)
                for path in (build / name for name in ("akgen", "akgen-host", "akgen-run", "akgen-init", "akgen-read", "akgen-confine", "akgen-clang")):
                    if path.exists() and path.name != changed:
                        os.link(path, folder / path.name)
                program = (build / changed).read_bytes()
                self.assertIn(b"\0shape_depends\0", program)
                (folder / changed).write_bytes(program.replace(b"\0shape_depends\0", b"\0shape_hinders\0"))
                (folder / changed).chmod(0o755)
                done = subprocess.run([folder / "akgen", "eval", SQRT, TASKS / SQRT / "reference", "--case=2", "--json"],
                                      capture_output=True, text=True, env=dict(os.environ, AKGEN_HOME=str(HOME)))
                result = json.loads(done.stdout)
                self.assertEqual(result["verdict"], "infra_error", result["reason"])
                self.assertIn(f"{changed} is of another build than this program", result["reason"])


class Killer(threading.Thread):
    """Kills processes of one program below `pid`: those that have run for `after` seconds of processor time."""

    def __init__(self, name, after, most, number):
        super().__init__(daemon=True)
        self.name_wanted, self.after, self.most, self.number = name, after, most, number
        self.killed, self.ended, self.parent = set(), threading.Event(), None

    def children(self):
        for entry in pathlib.Path("/proc").iterdir():
            if not entry.name.isdigit() or int(entry.name) in self.killed:
                continue
            try:
                name, _, rest = (entry / "stat").read_text().rpartition(")")
                fields = rest.split()
                used = (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
                if name.partition("(")[2] == self.name_wanted and int(fields[1]) == self.parent and used >= self.after:
                    yield int(entry.name)
            except OSError:
                continue

    def run(self):
        while not self.ended.is_set() and len(self.killed) < self.most:
            for pid in self.children():
                if len(self.killed) < self.most:
                    os.kill(pid, self.number)
                    self.killed.add(pid)
            time.sleep(0.002)


class Killed(unittest.TestCase):
    def setUp(self):
        self.directory = pathlib.Path(tempfile.mkdtemp(prefix="akgen-test-"))
        self.addCleanup(shutil.rmtree, self.directory)
        project = copy_reference(SQRT, self.directory)
        # A kernel that takes a while, so that it is met at work.
        edit(project / "op_kernel" / "sqrt.cpp", "    TPipe pipe;\n",
             "    TPipe pipe;\n    for (volatile int wait = 0; wait < 2000000; wait = wait + 1) {}\n")
        self.right = self.evaluate(None)
        self.assertEqual(self.right["verdict"], "pass", self.right["reason"])

    def evaluate(self, killer):
        process = subprocess.Popen([AKGEN, "eval", SQRT, self.directory / "project", "--case=2", "--json"], stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, text=True)
        if killer:
            killer.parent = process.pid
            killer.start()
        output, _ = process.communicate(timeout=300)
        if killer:
            killer.ended.set()
            killer.join()
        return json.loads(output)

    def test_a_kernel_at_work_is_killed(self):
        """Once: it runs again and is right. Every time: nothing is said about the candidate."""
        for number in (signal.SIGKILL, signal.SIGTERM, signal.SIGSEGV, signal.SIGBUS):
            for most, kind in ((1, "pass"), (99, "infra_error")):
                with self.subTest(signal=number, most=most):
                    for _ in range(4):  # on a busy machine the kernel may be over before the killer has had its turn
                        killer = Killer("akgen-run", 0.05, most, number)
                        result = self.evaluate(killer)
                        if killer.killed:
                            break
                    self.assertEqual(len(killer.killed), 1 if most == 1 else 2)
                    self.assertEqual(result["verdict"], kind, result["reason"])


if __name__ == "__main__":
    unittest.main()
