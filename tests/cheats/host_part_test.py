#!/usr/bin/env python3
# test: cost=13
"""What a host part must not do: everything but describing the operator and computing its tiling. Each row is a statement put
into the tiling function, or into a constructor, of the reference project of Sqrt. The evidence is in the verdict's reason."""
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "cli"))
from akgen_program import AKGEN, akgen, copy_reference, edit, verdict, verdicts  # noqa: E402

SQRT = "level1/Math/Sqrt"
TILING = "    uint64_t ubBytes = 0;\n"
HEADERS = """#include <arpa/inet.h>
#include <chrono>
#include <csetjmp>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
enum { PIPE = 4 /* the way out of akgen-host */, FIRST = 3 };
"""
# What the statement tries, the statement, what the reason must say.
REJECTED = [
    ("looks for references", 'fopen("/proc/self/mem", "r");', "system call open"),
    ("reads what libraries there are", 'open("/usr/lib/os-release", O_RDONLY);', "system call open"),
    ("reads the environment of the process", 'fopen("/proc/self/environ", "r");', "system call open"),
    ("writes a file", 'fopen("/tmp/answer", "w");', "system call open"),
    ("asks the network", "socket(AF_INET, SOCK_STREAM, 0);", "system call socket"),
    ("goes on in a child", "if (fork() == 0) { for (;;) {} }", "system call (clone|fork)"),
    ("starts a program", 'system("true");', "system call"),
    ("becomes a program", 'execl("/usr/bin/true", "true", nullptr);', "system call execve"),
    ("leaves a thread behind", "std::thread([] { for (;;) {} }).detach();", "forbidden system call .*thread"),
    ("sleeps", "std::this_thread::sleep_for(std::chrono::milliseconds(1));", "system call (clock_)?nanosleep"),
    ("sets an alarm", "alarm(1);", "system call (alarm|setitimer)"),
    ("sends a signal to its parent", "kill(getppid(), SIGTERM);", "system call"),
    ("kills the process group", "kill(0, SIGKILL);", "system call kill"),
    ("takes the evidence's handler away", "signal(SIGSYS, SIG_IGN);", "system call rt_sigaction"),
    ("takes it away by another number of the same signal",
     "{ char action[32] = {}; syscall(SYS_rt_sigaction, (1L << 32) | SIGSYS, action, nullptr, 8); }",
     "system call rt_sigaction"),
    ("makes code of its own",
     "mmap(nullptr, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);", "system call mmap"),
    ("makes code of what it wrote",
     "{ void *page = mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);\n"
     "      mprotect(page, 4096, PROT_READ | PROT_EXEC); }", "system call mprotect"),
    ("takes time from a lock",
     "{ pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; timespec soon = {1, 0}; pthread_mutex_lock(&lock);\n"
     "      pthread_mutex_timedlock(&lock, &soon); }", "system call futex"),
    ("asks a device", "{ int count; ioctl(0, FIONREAD, &count); }", "system call ioctl"),
    ("changes a descriptor", "fcntl(1, F_SETFL, O_NONBLOCK);", "system call fcntl"),
    ("copies a descriptor", "fcntl(1, F_DUPFD, 20);", "system call fcntl"),
    ("holds the evidence back",
     "{ sigset_t all; sigfillset(&all); sigprocmask(SIG_BLOCK, &all, nullptr); socket(AF_INET, SOCK_STREAM, 0); }",
     "forbidden system call in stage tiling"),
    ("outlives its parent", "prctl(PR_SET_PDEATHSIG, 0);", "system call prctl"),
    ("writes the result itself",
     'for (int fd = 3; fd < 16; fd++) {\n        const char text[] = "{\\"status\\": 0}";\n'
     "        if (pwrite(fd, text, sizeof text - 1, 0) > 0)\n            _exit(0);\n    }",
     "system call (pwrite64|write)"),
    ("spoils the result", 'if (write(PIPE, "{", 1) < 0) { abort(); }', "wrote into the result"),
]
# A whole answer through the pipe, as akgen-host writes it (forge_answer.c): what a tiling function can say it may say like this, too.
FORGED = '{ const unsigned char answer[] = {%s}; if (write(PIPE, answer, sizeof answer) > 0) { _exit(0); } }'
ANSWERS = [
    ("no tiling data", "plain", "(wrong|fault)", "."),
    ("more blocks than there are", "wide", "rejected", "wrote into the result"),
    ("bytes that are not there", "cut", "rejected", "wrote into the result"),
    ("a message of another build", "foreign", "rejected", "wrote into the result"),
    ("a failure of ours", "ours", "rejected", "wrote into the result"),
    ("a missing feature", "lacking", "rejected", "wrote into the result"),
    ("an OpDef where a tiling was asked for", "def", "rejected", "wrote into the result"),
    ("a failed tiling", "failed", "wrong", "GRAPH_FAILED"),
]
# What a loader would run, or draw in, before anything of ours is called.
LOADED = [
    ("a function chosen by another one",
     'extern "C" {\nint One() { return 1; }\nvoid *Choose() { return reinterpret_cast<void *>(One); }\n'
     'int Chosen() __attribute__((ifunc("Choose")));\n}\nint (*volatile pointer)() = Chosen;\n', "function chosen when it is loaded"),
    ("a function before all others",
     'static void Early() {}\n__attribute__((section(".preinit_array"), used)) static void (*const early)() = Early;\n', "run before everything else"),
    ("a library", '#pragma comment(lib, "m")\n', "library"),
]
# Harmless, or stopped by itself: neither gains anything.
OTHERWISE = [
    ("prints a verdict", 'puts("{\\"verdict\\": \\"pass\\"}"); return ge::GRAPH_FAILED;', "wrong", "GRAPH_FAILED"),
    ("ends the process well", "exit(0);", "fault", "exit code 0 in stage tiling"),
    ("ends the process at once", "_exit(0);", "fault", "exit code 0 in stage tiling"),
    ("aborts", "abort();", "fault", "signal 6"),
    ("jumps out", "{ static jmp_buf there; memset(&there, 0, sizeof there); longjmp(there, 1); }", "fault", "signal"),
    ("knows the seed", 'if (getenv("AKGEN_SEED") || getenv("USER")) { return ge::GRAPH_SUCCESS; } return ge::GRAPH_FAILED;',
     "wrong", "GRAPH_FAILED"),
    ("reads the input on the host", "memcpy(&ubBytes, context->GetInputTensor(0)->GetData<float>(), 8);", "fault", "signal 11"),
]


@unittest.skipIf("ok     seccomp" not in akgen("doctor").stdout, "this kernel has no seccomp")
class HostPart(unittest.TestCase):
    def setUp(self):
        self.directory = pathlib.Path(tempfile.mkdtemp(prefix="akgen-cheat-"))
        self.addCleanup(shutil.rmtree, self.directory)

    def make(self, statement, constructor=False):
        project = copy_reference(SQRT, tempfile.mkdtemp(dir=self.directory))
        host = project / "op_host" / "sqrt.cpp"
        if constructor:
            statement = "namespace {\nconst int early = [] {\n    " + statement + "\n    return 0;\n}();\n}\n"
            host.write_text(HEADERS + host.read_text() + statement)
        else:
            host.write_text(HEADERS + host.read_text())
            edit(host, TILING, TILING + "    " + statement + "\n")
        return project

    def evaluate(self, *arguments):
        return verdict(SQRT, self.make(*arguments), "--case", "2")

    def evaluate_all(self, rows, make):
        """Each row with the verdict of the project that is made of it."""
        return zip(rows, verdicts((SQRT, make(*row), "--case", "2") for row in rows), strict=True)

    def test_host_parts_that_are_rejected(self):
        for (what, _, evidence), result in self.evaluate_all(REJECTED, lambda _, statement, __: self.make(statement)):
            with self.subTest(what):
                self.assertEqual(result["verdict"], "rejected", result["reason"])
                self.assertEqual(result["stage"], "tiling")
                self.assertRegex(result["reason"], evidence)

    def test_constructors_that_are_rejected(self):
        for statement, evidence in (('fopen("/usr/lib/os-release", "r");', "system call open"),
                                    ("socket(AF_INET, SOCK_STREAM, 0);", "system call socket")):
            with self.subTest(statement):
                result = self.evaluate(statement, True)
                self.assertEqual((result["verdict"], result["stage"]), ("rejected", "host"), result["reason"])
                self.assertRegex(result["reason"], evidence + ".* in stage load")
                self.assertFalse(result["compile"]["ok"])

    def test_what_a_loader_would_run(self):
        def make(_, text, __):
            project = copy_reference(SQRT, tempfile.mkdtemp(dir=self.directory))
            host = project / "op_host" / "sqrt.cpp"
            host.write_text(host.read_text() + text)
            return project
        for (what, _, evidence), result in self.evaluate_all(LOADED, make):
            with self.subTest(what):
                self.assertEqual((result["verdict"], result["stage"]), ("compile_error", "host"), result["reason"])
                self.assertRegex(result["reason"], evidence)

    def test_host_parts_that_gain_nothing(self):
        for (what, _, kind, evidence), result in self.evaluate_all(OTHERWISE, lambda _, statement, *rest: self.make(statement)):
            with self.subTest(what):
                self.assertEqual(result["verdict"], kind, result["reason"])
                self.assertRegex(result["reason"], evidence)

    def test_answers_of_its_own(self):
        forge = subprocess.run([pathlib.Path(AKGEN).parent / "tests/forge_answer"], capture_output=True, text=True, check=True)
        answers = dict(line.split() for line in forge.stdout.splitlines())

        def make(_, name, *rest):
            return self.make(FORGED % ", ".join(str(byte) for byte in bytes.fromhex(answers[name])))
        for (what, _, kind, evidence), result in self.evaluate_all(ANSWERS, make):
            with self.subTest(what):
                self.assertRegex(result["verdict"], f"^{kind}$", result["reason"])
                self.assertRegex(result["reason"], evidence)

    def test_a_process_of_its_own(self):
        """Neither the tensors nor the machine nor the kernel is in the host part's process, and nothing that it leaves there is
        found by the next call of it."""
        result = self.evaluate('if (dlsym(RTLD_DEFAULT, "npu_issue") || dlsym(RTLD_DEFAULT, "npu_launch")) { abort(); }\n'
                               "    static int calls = 0;\n    if (++calls != 1) { abort(); }\n"
                               "    void *tensors = (void *)0x300040000000;\n"
                               "    if (mmap(tensors, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0) != tensors) "
                               "{ abort(); }\n    for (int fd = FIRST; fd < 256; fd++) { if (fd != PIPE && fcntl(fd, F_GETFD) >= 0) { abort(); } }")
        self.assertEqual(result["verdict"], "pass", result["reason"])

    def test_honest_host_parts_are_not_rejected(self):
        """Prints, allocates, looks at the clock, sorts: all that a tiling function may."""
        result = self.evaluate(
            'printf("%d\\n", (int)std::chrono::steady_clock::now().time_since_epoch().count());\n'
            "    std::string many(40 << 20, 'x');\n    fprintf(stderr, \"%zu\\n\", many.size() + time(nullptr));\n"
            "    fflush(nullptr);")
        self.assertEqual(result["verdict"], "pass", result["reason"])

    def test_values_that_only_the_device_has(self):
        """With ValueDepend the host part could compute the result and hand it over in the tiling data."""
        host = copy_reference(SQRT, self.directory) / "op_host" / "sqrt.cpp"
        text = host.read_text()
        at = text.index('Input("x")')
        host.write_text(text[:at] + text[at:].replace(".Format(", ".ValueDepend(REQUIRED).Format(", 1)
                        if ".Format(" in text[at:] else text[:at] + text[at:].replace(";", ".ValueDepend(REQUIRED);", 1))
        result = verdict(SQRT, self.directory / "project", "--case", "2")
        self.assertEqual(result["verdict"], "compile_error", result["reason"])
        self.assertRegex(result["reason"], "ValueDepend for 'x'")


if __name__ == "__main__":
    unittest.main()
