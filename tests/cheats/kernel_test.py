#!/usr/bin/env python3
# test: cost=14
"""What a kernel must not do: get out of the machine. Each row puts a declaration or a statement into the reference kernel of Sqrt and
says what comes of it. `rejected` where nothing but a cheat does that; a compile error where CANN's compiler would refuse it too; a
fault where the chip would stop."""
import pathlib
import shutil
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "cli"))
from akgen_program import akgen, copy_reference, edit, verdict, verdicts  # noqa: E402

SQRT = "level1/Math/Sqrt"
USING = "using namespace AscendC;\n"
PIPE = "    TPipe pipe;\n"
NO_LANDLOCK = "ok     landlock" not in akgen("doctor").stdout
# What is tried, declaration, statement, verdict, what the reason must say.
KERNELS = [
    ("its own npu_issue", 'extern "C" __aicore__ void npu_issue(struct npu_insn *) {}', "", "compile_error",
     "the kernel defines npu_issue"),
    ("its own hook", 'extern "C" __aicore__ void npu_load(const void *, unsigned long) {}', "", "compile_error",
     "the kernel defines npu_load"),
    ("its own hook, hidden under another name",
     '__attribute__((visibility("hidden"))) __aicore__ void mine(void *, unsigned long) __asm__("npu_store");\n'
     "__aicore__ void mine(void *, unsigned long) {}", "", "compile_error", "npu_store|inline assembly"),
    ("a call of a hook", 'extern "C" __aicore__ void npu_frame_back(void *);', "npu_frame_back(nullptr);", "compile_error",
     "npu_frame_back belongs to the machine"),
    ("work before the kernel", "__attribute__((constructor)) __aicore__ void early() { *(float *)8 = 1; }", "",
     "compile_error", "code that runs before or after the kernel"),
    ("work before the kernel, by hand",
     '__aicore__ void early() {}\n__attribute__((used, section(".init_array"))) void (*const entry)() = early;', "",
     "(rejected|compile_error)", "run when it is loaded|entry"),
    ("this processor's instructions", "", 'asm volatile("syscall");', "compile_error", "inline assembly is disabled"),
    ("a whole function in assembly", 'asm(".globl foo\\nfoo: ret");', "", "compile_error", "inline assembly is disabled"),
    ("a file by assembly", 'asm(".incbin \\"/etc/hostname\\"");', "", "compile_error", "inline assembly is disabled"),
    ("a library's function", 'extern "C" __aicore__ long write(int, const void *, unsigned long);', 'write(1, "x", 1);',
     "compile_error", "undefined function 'write'"),
    ("the loader", 'extern "C" __aicore__ void *dlsym(void *, const char *);', 'dlsym(nullptr, "memcpy");',
     "compile_error", "undefined function 'dlsym'"),
    ("the end of the process", 'extern "C" __aicore__ void _exit(int);', "_exit(0);", "compile_error",
     "undefined function '_exit'"),
    ("a signal", 'extern "C" __aicore__ int raise(int);', "raise(9);", "compile_error", "undefined function 'raise'"),
    ("a jump out", 'extern "C" __aicore__ void longjmp(void *, int);', "longjmp(nullptr, 1);", "compile_error",
     "undefined function 'longjmp'"),
    ("the machine's insides", 'extern "C" __aicore__ void npu_gm_add(void *, void *, void *, unsigned long, int, bool);',
     "npu_gm_add(nullptr, nullptr, nullptr, 0, 0, true);", "compile_error", "undefined function 'npu_gm_add'"),
    ("code that is none", "", "((void (*)())nullptr)();", "fault", "code that cannot execute"),
    ("code of the host", "", "void (*volatile code)() = (void (*)())0x7f0000000000; code();", "fault", "pointer that leads nowhere"),
    ("the machine's code", "", "*((char *)&npu_issue) = 0;", "fault", "pointer that leads nowhere"),
    ("memory of the host", "", "*(float *)0x7f0000000000 = 1;", "fault", "pointer that leads nowhere"),
    ("memory of the host as GM", "", "*(__gm__ float *)0x7f0000000000 = 1;", "fault", "pointer that leads nowhere"),
    ("memory in front of an output", "", "*((__gm__ float *)y - 4096) = 1;", "fault", "op_kernel/sqrt.cpp:"),
    ("the host by many bytes at once", "struct wide { int a[64]; };", "*(wide *)0x7f0000000000 = wide{};", "fault",
     "pointer that leads nowhere"),
    ("the host by a copy", "", "__builtin_memcpy((void *)0x7f0000000000, &x, sizeof x);", "fault", "pointer that leads nowhere"),
    ("the host by a vector", "typedef float wide __attribute__((vector_size(64)));", "*(wide *)0x7f0000000000 = wide{};",
     "fault", "pointer that leads nowhere"),
    ("the host by an atomic", "", "__atomic_fetch_add((long *)0x7f0000000000, 1, 0);", "fault", "pointer that leads nowhere"),
    ("what lies above a variable", "", "long here = 0; long *volatile at = &here; for (int i = 0; i < 1 << 20; i++) at[i] = 0;", "fault",
     "pointer that leads nowhere"),
    ("code of the machine by a pointer", "", "void (*volatile issue)(const npu_insn *) = &npu_issue; issue(nullptr);", "fault",
     "pointer that leads nowhere: no function of that type"),
    ("an instruction from anywhere", "", "npu_issue((const npu_insn *)0x7f0000000000);", "fault", "pointer that leads nowhere"),
    ("an instruction that is none", "", "npu_insn insn = {}; insn.op = 60000; npu_issue(&insn);", "fault",
     "no instruction number 60000"),
    ("a call that is none", "", "npu_adv call = {}; call.op = 60000; npu_advanced(&call);", "fault",
     "no high-level API number 60000"),
    ("an answer to anywhere", "", "npu_adv call = {}; call.op = 1; call.answer = (bool *)0x7f0000000000; npu_advanced(&call);",
     "fault", "pointer that leads nowhere"),
    ("a tiling from anywhere", "", "npu_adv call = {}; call.op = 1; call.tiling = (void *)0x7f0000000000; npu_advanced(&call);",
     "fault", "pointer that leads nowhere"),
    ("a queue's id to anywhere", "", "npu_buf_init((uint32_t *)0x7f0000000000, NPU_VECCALC, 32);", "fault",
     "pointer that leads nowhere"),
    ("a queue that is none", "", "npu_tensor tensor; npu_que_alloc(0x1ffff, &tensor);", "fault", "no queue|before InitBuffer"),
    ("a pool in no memory", "", "npu_buf_pool pool = {}; pool.memory = 1 << 20; npu_pool_open(&pool);", "fault",
     "no local memory"),
    ("a register that is none", "", "npu_set_cube_register(100000, 1);", "fault", "no register of the cube 100000"),
    ("an element of 4096 bytes", "", "npu_tensor tensor = {}; tensor.addr = (uint64_t)x; tensor.position = NPU_GM; "
     "npu_scalar_load(&tensor, 0, 4096);", "fault", "no access of so many bytes: 4096"),
    ("printf that writes", "", 'int n = 0; npu_printf((const char *)"%n", &n);', "(fault|compile_error)", "no kernel can use|%n"),
    ("printf that reads the host", "", 'npu_printf("%s", (const char *)0x7f0000000000);', "fault", "pointer that leads nowhere"),
    ("printf of what it is not given", "", 'const char *volatile format = "%d%s"; npu_printf(format, 1);', "fault",
     "fewer arguments"),
    ("a file of the host", "static const unsigned char table[] = {\n#embed \"/etc/hostname\"\n};", "", "compile_error",
     "/etc/hostname"),
    ("a sleep", "", "for (;;) {\n    }", "timeout", "not done after"),
    # Nothing is gained by these.
    ("a verdict, printed", "", 'AscendC::printf("{\\"verdict\\": \\"pass\\", \\"ok\\": true}\\n"); return;', "wrong", "nan"),
    ("its own memcmp", 'extern "C" __aicore__ int memcmp(const void *, const void *, unsigned long) { return 0; }',
     "return;", "wrong", "nan"),
]


class Kernel(unittest.TestCase):
    def setUp(self):
        self.directory = pathlib.Path(tempfile.mkdtemp(prefix="akgen-cheat-"))
        self.addCleanup(shutil.rmtree, self.directory)

    def make(self, declaration, statement):
        project = copy_reference(SQRT, tempfile.mkdtemp(dir=self.directory))
        kernel = project / "op_kernel" / "sqrt.cpp"
        edit(kernel, USING, USING + declaration + "\n")
        edit(kernel, PIPE, PIPE + "    " + statement + "\n")
        return project

    def evaluate(self, declaration, statement):
        return verdict(SQRT, self.make(declaration, statement), "--case", "2")

    def test_kernels_that_leave_the_machine(self):
        results = verdicts((SQRT, self.make(declaration, statement), "--case", "2", *(["--timeout=2"] if kind == "timeout" else []))
                           for _, declaration, statement, kind, _ in KERNELS)
        for (what, _, _, kind, evidence), result in zip(KERNELS, results, strict=True):
            with self.subTest(what):
                self.assertRegex(result["verdict"], f"^{kind}$", result["reason"])
                self.assertRegex(result["reason"], evidence)

    @unittest.skipIf(NO_LANDLOCK, "this kernel has no Landlock")
    def test_files_of_the_host_are_no_headers(self):
        for path in ("/etc/passwd", "/etc/os-release"):
            with self.subTest(path):
                result = self.evaluate(f'#include "{path}"', "")
                self.assertEqual(result["verdict"], "compile_error")
                self.assertRegex(result["reason"], f"cannot open file|'{path}' file not found")

    def test_attributes_do_not_blind_the_hooks(self):
        """Stores of a function that asks not to be watched are counted like all others."""
        store = "__attribute__((noinline%s)) __aicore__ void quiet(__gm__ float *y) { for (int i = 0; i < 16; i++) y[i] = 1; }"
        stores = []
        for attribute in ("", ', no_sanitize("coverage")', ", disable_sanitizer_instrumentation"):
            result = self.evaluate(store % attribute, "quiet((__gm__ float *)y); return;")
            self.assertEqual(result["verdict"], "wrong", result["reason"])
            stores.append(result["cases"][0]["run"]["scalar_stores"])
        self.assertGreater(stores[0], 0)
        self.assertEqual(stores, [stores[0]] * 3)


if __name__ == "__main__":
    unittest.main()
