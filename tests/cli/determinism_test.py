#!/usr/bin/env python3
# test: builds=release cost=31
"""The same candidate gets the same verdict, byte by byte, but for times: candidates that look at all that could tell two runs
apart, each evaluated under several circumstances (circumstances.py). tests/prove/determinism.py does it with many more."""
import pathlib
import shutil
import tempfile
import unittest

from akgen_program import HOME, akgen, copy_reference, edit
from circumstances import Circumstances, difference

RUNS = (1, 2, 6)  # a cache without objects and many open files; a busy machine; another limit of the stack
SQRT = "level1/Math/Sqrt"
# A kernel that prints where everything lies, and what it finds where it has written nothing.
KERNEL = """    static uint32_t own[500] = {1, 2, 3};
    own[GetBlockIdx() % 500] += 1;
    volatile uint64_t unwritten[400];
    uint64_t found = 0;
    for (int i = 0; i < 400; i++) {
        found = found * 31 + unwritten[i];
    }
    if (GetBlockIdx() == 1) {
        AscendC::printf("own %llx stack %llx system cycles %llx x %llx found %llx cycles %llx\\n", (uint64_t)own, (uint64_t)unwritten,
                        (uint64_t)AscendC::GetSystemCycle(), (uint64_t)x, found, (uint64_t)__builtin_readcyclecounter());
    }
    TPipe pipe;
"""
# A kernel that takes its own variable for GM, and one that runs out of its tensor into nothing.
WILD = """    static uint32_t own[500] = {1, 2, 3};
    GlobalTensor<half> wild;
    wild.SetGlobalBuffer((__gm__ half *)(uint64_t)own, 256);
    wild.SetValue(0, (half)1);
    TPipe pipe;
"""
BEYOND = """    volatile uint64_t own = 0;
    ((__gm__ half *)(uint64_t)&own)[1 << 20] = (half)1;
    TPipe pipe;
"""
# What a host part can look at.
HOST_HEADERS = """#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <random>
#include <string>
#include <sys/random.h>
#include <sys/time.h>
#include <sys/utsname.h>
#include <sys/auxv.h>
#include <thread>
#include <unistd.h>
#include <unordered_set>
#include <vector>
#if defined(__x86_64__)
#include <x86intrin.h>
#endif
extern char **environ;
__attribute__((noinline)) static uint64_t Unwritten()
{
    volatile uint64_t words[3000];
    uint64_t sum = 0;
    for (volatile uint64_t &word : words) {
        sum = sum * 31 + word;
    }
    return sum;
}
"""
HOST = r"""    printf("stack %p code %p libc %p unwritten %lx\n", (void *)context, (void *)&TilingFunc, (void *)&printf, Unwritten());
    std::unordered_set<void *> order;
    for (size_t bytes = 8; bytes < (1 << 20); bytes += bytes / 2) {
        uint64_t *words = (uint64_t *)malloc(bytes), sum = 0;
        for (size_t i = 0; i < bytes / 8; i++) {
            sum = sum * 31 + words[i];
        }
        printf("%p holds %lx\n", (void *)words, sum);
        order.insert(words);
    }
    for (void *at : order) {
        printf("%p ", at);
    }
    uint64_t all = 0;
    for (size_t bytes = 16; bytes <= 4096; bytes += 16) {
        for (int times = 0; times < 4; times++) {
            uint64_t *words = (uint64_t *)malloc(bytes);
            for (size_t i = 0; i < bytes / 8; i++) {
                all = all * 31 + words[i];
            }
        }
    }
    printf("\nall %lx\n", all);
    const char *gone = std::string(200, 'x').c_str();
    uint64_t past[4];
    memcpy(past, gone, sizeof past);
    printf("\nfreed %lx %lx %lx %lx\n", past[0], past[1], past[2], past[3]);
    struct timespec now;
    struct timeval day;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    gettimeofday(&day, nullptr);
    printf("time %ld %ld %ld %ld %ld %ld\n", time(nullptr), (long)clock(), now.tv_nsec, day.tv_usec,
           (long)std::chrono::system_clock::now().time_since_epoch().count(),
           (long)std::chrono::steady_clock::now().time_since_epoch().count());
    uint64_t random = 0;
    struct utsname name;
    uname(&name);
    getrandom(&random, sizeof random, 0);
    printf("random %lx %x %d, process %d, %s, %u processors, kernel %lx\n", random, std::random_device()(), rand(), getpid(),
           name.nodename, std::thread::hardware_concurrency(), *(uint64_t *)getauxval(AT_RANDOM));
#if defined(__x86_64__)
    unsigned processor;
    printf("cycles %lx %lx\n", (unsigned long)__rdtsc(), (unsigned long)__rdtscp(&processor));
#endif
    for (char **variable = environ; *variable; variable++) {
        printf("%p %s\n", (void *)*variable, *variable);
    }
    fflush(stdout);
    uint64_t ubBytes = 0;
"""


class Determinism(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.top = pathlib.Path(tempfile.mkdtemp(prefix="akgen-determinism-"))
        cls.addClassCleanup(shutil.rmtree, cls.top)

    def setUp(self):
        self.scratch = self.top / self.id().split(".")[-1]
        self.scratch.mkdir()

    def same(self, what, task, project, expected, *options):
        """Every run gives the same text; it holds `expected`."""
        first = Circumstances(self.top, 0).verdict(task, project, *options)
        for part in expected:
            self.assertIn(part, first)
        for number in RUNS:
            around = Circumstances(self.top, number)
            text = around.verdict(task, project, *options)
            around.forget()
            self.assertEqual(text, first, f"{what}, run {number}: {difference(first, text)}")

    def kernel(self, statements):
        project = self.scratch / "kernel"
        shutil.copytree(HOME / "tests/kernels/good/flags", project)
        edit(project / "op_kernel/unalign_add.cpp", "    TPipe pipe;\n", statements)
        return project

    @unittest.skipIf("ok     fixed addresses" not in akgen("doctor").stdout, "this container gives every process other addresses")
    def test_a_kernel_that_prints_addresses(self):
        self.same("addresses", "UnalignAdd", self.kernel(KERNEL), ['"verdict": "pass"', "own ", " cycles "], "--scope=kernel", "--case=0")

    def test_a_variable_of_its_own(self):
        self.same("variable", "UnalignAdd", self.kernel(KERNEL.split("    if (GetBlockIdx() == 1)")[0] + "    TPipe pipe;\n"),
                  ['"verdict": "pass"'], "--scope=kernel", "--case=0")

    def test_pointers_that_lead_out(self):
        for statements in (WILD, BEYOND):
            self.same("wild", "UnalignAdd", self.kernel(statements), ['"verdict": "fault"'], "--scope=kernel", "--case=0")
            shutil.rmtree(self.scratch / "kernel")

    @unittest.skipIf("ok     fixed addresses" not in akgen("doctor").stdout, "this container gives every process other addresses")
    @unittest.skipIf("ok     seccomp" not in akgen("doctor").stdout, "this kernel has no seccomp")
    def test_a_host_part_that_looks_around(self):
        project = copy_reference(SQRT, self.scratch)
        host = project / "op_host/sqrt.cpp"
        host.write_text(HOST_HEADERS + host.read_text())
        edit(host, "    uint64_t ubBytes = 0;\n", HOST)
        self.same("host part", SQRT, project, ['"verdict": "pass"', "cycles ", "processors"], "--case=0")

    def test_what_cannot_be_loaded(self):
        project = copy_reference(SQRT, self.scratch)
        host = project / "op_host/sqrt.cpp"
        host.write_text("extern int missing();\n" + host.read_text())
        edit(host, "    uint64_t ubBytes = 0;\n", "    uint64_t ubBytes = missing();\n")
        self.same("missing function", SQRT, project, ["missing"], "--case=0")

    def test_what_does_not_compile(self):
        project = copy_reference(SQRT, self.scratch)
        edit(project / "op_kernel/sqrt.cpp", "op.Process();", "op.Proces(); static_assert(sizeof(__DATE__ __TIME__) == 0, __FILE__);")
        self.same("error", SQRT, project, ['"verdict": "compile_error"'], "--case=0")

    def test_what_is_missing(self):
        project = copy_reference(SQRT, self.scratch)
        shutil.move(project / "op_kernel/sqrt.cpp", project / "op_kernel/cube.cpp")
        self.same("entry", SQRT, project, ['"verdict": "compile_error"', '"reason": "op_kernel'], "--case=0")
        shutil.rmtree(project / "op_kernel")
        self.same("folder", SQRT, project, ['"verdict": "compile_error"', '"reason": "there is no folder op_kernel"'], "--case=0")

    def test_the_time_of_compiling(self):
        project = self.kernel('    if (GetBlockIdx() == 1) {\n        AscendC::printf("%s %s %s %s\\n", __FILE__, __DATE__, __TIME__, '
                              "__TIMESTAMP__);\n    }\n    TPipe pipe;\n")
        self.same("time", "UnalignAdd", project, ['"verdict": "pass"', "unalign_add.cpp "], "--scope=kernel", "--case=0")


if __name__ == "__main__":
    unittest.main()
