/* The pass over a kernel's code, on small modules: what it refuses, what it puts in, and what comes of it. */
#include "abi/npu_hooks.h"
#include "base/files.h"
#include "toolchain/confine/confine.h"
#include "toolchain/confine/confine_internal.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <llvm-c/IRReader.h>

#define LAYOUT                                                                                                         \
    "target datalayout = \"e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128\"\n"        \
    "target triple = \"x86_64-pc-linux-gnu\"\n"

/* A module and what the pass makes of it. */
struct made {
    LLVMContextRef context;
    LLVMModuleRef module;
    struct confine_report report;
    bool good;
    char *text;
};

static void make(struct made *made, const char *text)
{
    char *message = NULL, *whole;
    assert_true(asprintf(&whole, "%s%s", LAYOUT, text) > 0);
    *made = (struct made){.context = LLVMContextCreate()};
    LLVMMemoryBufferRef buffer = LLVMCreateMemoryBufferWithMemoryRangeCopy(whole, strlen(whole), "kernel.ll");
    if (LLVMParseIRInContext(made->context, buffer, &made->module, &message))
        fail_msg("%s", message);
    made->good = confine_module(made->module, "akgen_kernel_k", &made->report);
    made->text = LLVMPrintModuleToString(made->module);
    free(whole);
}

static void drop(struct made *made)
{
    confine_report_free(&made->report);
    LLVMDisposeMessage(made->text);
    LLVMDisposeModule(made->module);
    LLVMContextDispose(made->context);
}

/* What must not be in a kernel, and what is said of it. */
static const struct {
    const char *module, *message;
} refused[] = {
    {"module asm \"nop\"\n", "inline assembly"},
    {"@a = internal global [1048576 x i8] zeroinitializer\n@b = internal global i8 0\n",
     "more than 1048576 bytes outside GM"},
    {"define void @akgen_kernel_k() { call void asm sideeffect \"syscall\", \"\"()\n ret void }\n", "inline assembly"},
    {"define void @akgen_kernel_k() naked { unreachable }\n", "naked"},
    {"define void @akgen_kernel_k(ptr %p) { %x = va_arg ptr %p, i32\n ret void }\n", "variable number of arguments"},
    {"define void @akgen_kernel_k(i32 %n, ...) { ret void }\n", "variable number of arguments"},
    {"define void @akgen_kernel_k() { ret void }\ndefine void @f() section \".init\" { ret void }\n",
     "a function in a section of its own"},
    {"@x = global i32 0, section \".init_array\"\n", "a variable in a section of its own"},
    {"@x = global i32 0, section \"akgen_data\"\n", "a variable in a section of its own"},
    {"@x = global i32 0, section \"akgen_callbacks\"\n", "a variable in a section of its own"},
    {"@x = global i64 3, section \"akgen_task_types\"\n", "kernel type that is no constant number"},
    {"@x = constant ptr @x, section \"akgen_task_types\"\n", "kernel type that is no constant number"},
    {"@x = thread_local global i32 0\n", "thread_local"},
    {"@x = extern_weak global i32\n", "a weak reference"},
    {"declare extern_weak void @f()\n", "a weak reference"},
    {"@llvm.global_ctors = appending global [1 x { i32, ptr, ptr }] [{ i32, ptr, ptr } { i32 1, ptr @f, ptr null }]\n"
     "define void @f() { ret void }\n",
     "code that runs before or after the kernel"},
    {"@f = ifunc void (), ptr @g\ndefine ptr @g() { ret ptr null }\n", "ifunc"},
    {"@npu_issue = alias void (ptr), ptr @g\ndefine void @g(ptr %p) { ret void }\n", "alias 'npu_issue'"},
    {"define void @npu_issue(ptr %p) { ret void }\n", "the kernel defines npu_issue"},
    {"define void @npu_load(ptr %p, i64 %n) { ret void }\n", "the kernel defines npu_load"},
    {"@npu_current = global ptr null\n", "by a name of the machine's"},
    {"declare void @npu_issue(ptr, i64)\ndefine void @akgen_kernel_k() { call void @npu_issue(ptr null, i64 1)\n"
     "ret void }\n",
     "npu_issue is called with other arguments"},
    {"declare void @npu_issue(ptr)\ndefine void @akgen_kernel_k() { call void @npu_issue(i64 1)\nret void }\n",
     "npu_issue is called with other arguments"},
    {"declare void @npu_frame_back(ptr)\ndefine void @akgen_kernel_k() { call void @npu_frame_back(ptr null)\n"
     "ret void }\n",
     "npu_frame_back belongs to the machine"},
    {"define void @akgen_kernel_k() { %a = load i32, ptr addrspace(257) null\nret void }\n", "address space"},
    {"define void @akgen_kernel_k(ptr addrspace(8) %p) { ret void }\n", "address space"},
    {"define void @akgen_kernel_k(float %x) { ret void }\n", "something else than pointers and whole numbers"},
    {"define i32 @akgen_kernel_k() { ret i32 0 }\n", "something else than pointers and whole numbers"},
    {"define void @akgen_kernel_k(ptr %p) { indirectbr ptr %p, [label %a]\na: ret void }\n", "a jump to a computed"},
    {"define void @akgen_kernel_k() { br label %a\na: ret void }\n@t = global ptr blockaddress(@akgen_kernel_k, %a)\n",
     "the address of a label"},
    {"declare i32 @p(...)\ndefine void @akgen_kernel_k() personality ptr @p { ret void }\n", "catches exceptions"},
    {"define void @akgen_kernel_k() gc \"shadow-stack\" { ret void }\n", "garbage collector"},
    {"define void @akgen_kernel_k() prefix i32 1 { ret void }\n", "data beside a function's code"},
    {"define void @akgen_kernel_k() prologue i32 1 { ret void }\n", "data beside a function's code"},
    {"define void @f(ptr inalloca(i32) %p) { ret void }\n", "a parameter of this kind"},
    {"define fastcc void @g(ptr nest %p) { ret void }\n", "a parameter of this kind"},
    {"define x86_stdcallcc void @g() { ret void }\n", "a calling convention of its own"},
    {"define void @f() { musttail call void @f()\nret void }\n", "musttail"},
    {"define void @f() { call void @f() [ \"deopt\"(i32 1) ]\nret void }\n", "operand bundle"},
    {"define void @f(<vscale x 4 x i32> %v) { ret void }\n", "only this processor has"},
    {"define void @f() { %a = alloca i32, align 8192\nret void }\n", "a variable of this kind"},
    {"!llvm.linker.options = !{!0}\n!0 = !{!\"-lc\"}\n", "llvm.linker.options"},
    {"!llvm.dependent-libraries = !{!0}\n!0 = !{!\"c\"}\n", "llvm.dependent-libraries"},
    {"!llvm.module.flags = !{!0}\n!0 = !{i32 1, !\"stack-protector-guard\", !\"tls\"}\n", "stack-protector-guard"},
};

/* Intrinsics that reach what a kernel has no business with; each is refused by its name. */
static const char *const refused_intrinsics[] = {
    "ptr @llvm.returnaddress(i32)",
    "ptr @llvm.frameaddress.p0(i32)",
    "ptr @llvm.addressofreturnaddress.p0()",
    "i64 @llvm.read_register.i64(metadata)",
    "void @llvm.write_register.i64(metadata, i64)",
    "void @llvm.va_start.p0(ptr)",
    "void @llvm.init.trampoline(ptr, ptr, ptr)",
    "void @llvm.clear_cache(ptr, ptr)",
    "void @llvm.masked.store.v4i32.p0(<4 x i32>, ptr, i32, <4 x i1>)",
    "<4 x i32> @llvm.masked.gather.v4i32.v4p0(<4 x ptr>, i32, <4 x i1>, <4 x i32>)",
    "void @llvm.memcpy.element.unordered.atomic.p0.p0.i64(ptr, ptr, i64, i32)",
    "ptr @llvm.load.relative.i64(ptr, i64)",
    "void @llvm.eh.unwind.init()",
    "i32 @llvm.eh.sjlj.setjmp(ptr)",
    "void @llvm.x86.sse2.clflush(ptr)",
    "void @llvm.x86.wrgsbase.64(i64)",
    "void @llvm.x86.xsave(ptr, i32, i32)",
    "void @llvm.x86.monitorx(ptr, i32, i32)",
    "ptr @llvm.thread.pointer()",
    "ptr @llvm.localaddress()",
};

static void what_is_unknown_is_refused(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        struct made made;
        make(&made, refused[i].module);
        assert_false(made.good);
        bool said = false;
        for (int k = 0; k < made.report.count; k++)
            said |= strstr(made.report.refusals[k].message, refused[i].message) != NULL;
        if (!said)
            fail_msg("%s\nis refused for: %s", refused[i].module, made.report.refusals[0].message);
        drop(&made);
    }
}

/* "ptr @llvm.f(i32)": the result's type, the name and the types of the parameters. */
static void call_of(char *text, size_t bytes, const char *declared)
{
    const char *at = strchr(declared, '@'), *open = strchr(at, '(');
    char arguments[256] = "", types[256];
    snprintf(types, sizeof types, "%.*s", (int)strcspn(open + 1, "\n"), open + 1);
    types[strlen(types) - 1] = '\0';
    int depth = 0;
    size_t used = 0;
    for (const char *type = types; *type;) {
        size_t length = 0;
        while (type[length] && (depth || type[length] != ',')) {
            depth += type[length] == '<';
            depth -= type[length] == '>';
            length++;
        }
        bool metadata = strncmp(type, "metadata", 8) == 0;
        used += (size_t)snprintf(arguments + used, sizeof arguments - used, "%s%.*s %s", used ? ", " : "", (int)length,
                                 type,
                                 metadata                     ? "!{!\"rsp\"}"
                                 : strncmp(type, "i", 1) == 0 ? "0"
                                                              : "zeroinitializer");
        type += length;
        type += strspn(type, ", ");
    }
    snprintf(text, bytes, "declare %s\ndefine void @f() { call %.*s%.*s(%s)\nret void }\n", declared,
             (int)(at - declared), declared, (int)(open - at), at, arguments);
}

static void intrinsics_are_known_or_refused(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof refused_intrinsics / sizeof *refused_intrinsics; i++) {
        struct made made;
        char text[1024];
        call_of(text, sizeof text, refused_intrinsics[i]);
        make(&made, text);
        assert_false(made.good);
        if (!strstr(made.report.refusals[0].message, "the intrinsic function llvm."))
            fail_msg("%s\nis refused for: %s", text, made.report.refusals[0].message);
        drop(&made);
    }
}

/* What becomes of what may stay: a piece of the module that must be there afterwards, one that must not. */
static const struct {
    const char *module, *there, *gone;
} rewritten[] = {
    /* An access of any width: an admission with its bytes and its own, frozen address. */
    {"define void @akgen_kernel_k(ptr %p) { %v = load i32, ptr %p\nret void }\n",
     "freeze ptr %p\n  call void @npu_load(ptr %1, i64 4)\n  %v = load i32, ptr %1", NULL},
    {"define void @akgen_kernel_k(ptr %p) { %v = load <32 x i64>, ptr %p\nret void }\n", "npu_load(ptr %1, i64 256)",
     NULL},
    {"define void @akgen_kernel_k(ptr %p) { store [100 x i8] zeroinitializer, ptr %p\nret void }\n",
     "npu_store(ptr %1, i64 100)", NULL},
    {"define void @akgen_kernel_k(ptr %p) { store i24 1, ptr %p\nret void }\n", "npu_store(ptr %1, i64 3)", NULL},
    {"define void @akgen_kernel_k(ptr addrspace(1) %p) { store i8 1, ptr addrspace(1) %p\nret void }\n",
     "npu_store(ptr %2, i64 1)\n  store i8 1, ptr addrspace(1) %1", NULL},
    {"define void @akgen_kernel_k(ptr %p) { %v = atomicrmw add ptr %p, i64 1 seq_cst\nret void }\n",
     "npu_update(ptr %1, i64 8)\n  %v = atomicrmw add ptr %1", NULL},
    {"define void @akgen_kernel_k(ptr %p) { %v = cmpxchg ptr %p, i32 0, i32 1 seq_cst seq_cst\nret void }\n",
     "npu_update(ptr %1, i64 4)\n  %v = cmpxchg ptr %1", NULL},
    {"declare void @llvm.memcpy.p0.p1.i64(ptr, ptr addrspace(1), i64, i1)\n"
     "define void @akgen_kernel_k(ptr %p, ptr addrspace(1) %q, i64 %n) {\n"
     "call void @llvm.memcpy.p0.p1.i64(ptr %p, ptr addrspace(1) %q, i64 %n, i1 false)\nret void }\n",
     "call void @npu_copy(ptr %2, ptr %4, i64 %1)", NULL},
    {"declare void @llvm.memset.inline.p0.i64(ptr, i8, i64, i1)\ndefine void @akgen_kernel_k(ptr %p) {\n"
     "call void @llvm.memset.inline.p0.i64(ptr %p, i8 0, i64 100, i1 false)\nret void }\n",
     "call void @npu_fill(ptr %1, i64 100)", NULL},
    {"declare i32 @memcmp(ptr, ptr, i64)\ndefine void @akgen_kernel_k(ptr %p, ptr %q, i64 %n) {\n"
     "%r = call i32 @memcmp(ptr %p, ptr %q, i64 %n)\nret void }\n",
     "call void @npu_load(ptr %2, i64 %1)", NULL},
    /* Null and numbers are no exception; nor is a constant behind the end of a variable, or a store to a constant. */
    {"define void @akgen_kernel_k() { store i32 1, ptr inttoptr (i64 4096 to ptr)\nret void }\n", "npu_store(", NULL},
    {"@x = global [4 x i32] zeroinitializer\ndefine void @akgen_kernel_k() {\n"
     "store i32 1, ptr getelementptr (i8, ptr @x, i64 16)\nret void }\n",
     "npu_store(", NULL},
    {"@x = global [4 x i32] zeroinitializer\ndefine void @akgen_kernel_k() {\n"
     "store i32 1, ptr getelementptr (i8, ptr @x, i64 -1)\nret void }\n",
     "npu_store(", NULL},
    {"@x = global [4 x i32] zeroinitializer\ndefine void @akgen_kernel_k() {\n"
     "store i64 1, ptr getelementptr (i8, ptr @x, i64 12)\nret void }\n",
     "npu_store(", NULL},
    {"@x = global [4 x i32] zeroinitializer\ndefine void @akgen_kernel_k() {\n"
     "store i32 1, ptr getelementptr (i8, ptr @x, i64 12)\nret void }\n",
     "section \"akgen_block\"", "npu_store("},
    {"@x = constant i32 1\ndefine void @akgen_kernel_k() { store i32 1, ptr @x\nret void }\n", "npu_store(", NULL},
    {"@x = constant i32 1\ndefine void @akgen_kernel_k() { %v = load i32, ptr @x\nret void }\n",
     "section \"akgen_const\"", "npu_load("},
    {"@x = external global i32\ndefine void @akgen_kernel_k() { %v = load i32, ptr @x\nret void }\n", "npu_load(",
     NULL},
    {"@x = constant ptr @x\n", "section \"akgen_addresses\"", NULL},
    {"@x = global i32 1, section \"akgen_gm\"\ndefine void @akgen_kernel_k() { store i32 1, ptr @x\nret void }\n",
     "npu_store(", NULL},
    /* Variables lie in a frame of the second stack; what is at a constant place in it needs no admission. */
    {"define void @akgen_kernel_k() { %a = alloca [8 x i32]\n%p = getelementptr i8, ptr %a, i64 28\n"
     "store i32 1, ptr %p\nret void }\n",
     "call ptr @npu_frame(i64 64)", "npu_store("},
    {"define void @akgen_kernel_k() { %a = alloca [8 x i32]\n%p = getelementptr i8, ptr %a, i64 61\n"
     "store i32 1, ptr %p\nret void }\n",
     "npu_store(", "alloca"},
    {"define void @akgen_kernel_k(i64 %i) { %a = alloca [8 x i32]\n%p = getelementptr i32, ptr %a, i64 %i\n"
     "store i32 1, ptr %p\nret void }\n",
     "npu_store(", "alloca"},
    {"define void @akgen_kernel_k() { %a = alloca i32\nstore i32 1, ptr %a\nret void }\n",
     "call void @npu_frame_end(ptr %1, i64 64)\n  ret void", "alloca"},
    {"define void @akgen_kernel_k(i32 %n) { %a = alloca i64, i32 %n\nstore i64 1, ptr %a\nret void }\n",
     "call ptr @npu_frame_more(i64 %3, i64 8, i64 8)", "alloca"},
    {"define void @akgen_kernel_k() { %a = alloca i64, align 4096\nret void }\n",
     "@npu_frame_more(i64 %3, i64 8, i64 4096)", "alloca"},
    {"declare ptr @llvm.stacksave.p0()\ndeclare void @llvm.stackrestore.p0(ptr)\ndefine void @akgen_kernel_k() {\n"
     "%s = call ptr @llvm.stacksave.p0()\ncall void @llvm.stackrestore.p0(ptr %s)\nret void }\n",
     "call void @npu_frame_back(ptr %2)", "call void @llvm.stack"},
    /* A structure by value is the caller's copy. */
    {"define void @f(ptr byval([64 x i8]) %p) { ret void }\ndefine void @akgen_kernel_k(ptr %q) {\n"
     "call void @f(ptr byval([64 x i8]) %q)\nret void }\n",
     "@npu_load(ptr %2, i64 64)\n  call void @llvm.memcpy", "byval"},
    /* Calls through pointers choose among functions of their type. */
    {"@p = global ptr @f\ndefine void @f(i32 %i) { ret void }\ndefine void @g(i64 %i) { ret void }\n@q = global ptr "
     "@g\n"
     "define void @akgen_kernel_k() { %f = load ptr, ptr @p\ncall void %f(i32 1)\nret void }\n",
     "icmp eq ptr %0, @kernel.f", "icmp eq ptr %0, @kernel.g"},
    {"define void @f(i32 %i) { ret void }\ndefine void @akgen_kernel_k(ptr %f) {\ncall void @f(i32 1)\n"
     "call void %f(i32 1)\nret void }\n",
     "call void @npu_bad_call(ptr %0)", "icmp eq"},
    {"define void @f(i32 %i) { ret void }\ndefine void @akgen_kernel_k() { call void @f(i64 1)\nret void }\n",
     "call void @choose.0(ptr %1, i64 1)", "call void @kernel.f(i64"},
    {"define void @akgen_kernel_k(ptr %f) { call void (i32, ...) %f(i32 1, i32 2)\nret void }\n",
     "call void @npu_bad_call(", "call void (i32"},
    /* What cannot be reached stops. */
    {"define void @akgen_kernel_k(i32 %i) { switch i32 %i, label %d [ i32 0, label %a\ni32 1, label %a\ni32 2, label "
     "%a\n"
     "i32 3, label %a ]\na: ret void\nd: unreachable }\n",
     "call void @llvm.trap()\n  unreachable", NULL},
    {"declare void @foo()\ndefine void @akgen_kernel_k() { call void @foo()\nret void }\n",
     "call void @llvm.trap()\n  call void @foo()", NULL},
    /* Also behind the copies of what it is given by value. */
    {"declare void @foo(ptr byval([64 x i8]))\ndefine void @akgen_kernel_k(ptr %p) { call void @foo(ptr byval([64 x "
     "i8]) "
     "%p)\nret void }\n",
     "call void @llvm.trap()", NULL},
    /* Nothing is said to code generation. */
    {"define void @akgen_kernel_k(ptr noundef nonnull align 64 dereferenceable(64) %p, i32 range(i32 0, 4) %i) {\n"
     "%v = load i32, ptr %p, !range !0, !noundef !1, !invariant.load !1\nret void }\n!0 = !{i32 0, i32 2}\n!1 = !{}\n",
     "define void @akgen_kernel_k(ptr %p, i32 %i)", "!range"},
    {"define void @akgen_kernel_k(i64 %i) { %a = add nuw nsw i64 %i, 1\n%b = udiv exact i64 %a, 3\n"
     "%c = or disjoint i64 %b, 1\n%d = getelementptr inbounds i8, ptr null, i64 %c\nret void }\n",
     "add i64", "inbounds"},
    {"declare void @llvm.assume(i1)\ndefine void @akgen_kernel_k(i1 %i) { call void @llvm.assume(i1 %i)\nret void }\n",
     "ret void", "call void @llvm.assume"},
    /* The number of an element is one of the vector's. */
    {"define i8 @f(<4 x i8> %v, i32 %i) { %x = extractelement <4 x i8> %v, i32 %i\nret i8 %x }\n", "icmp ult i32 %1, 4",
     NULL},
    /* Arguments of the machine: copies, but of constant text. */
    {"declare void @npu_que_alloc(i32, ptr)\ndefine void @akgen_kernel_k(ptr %p) { call void @npu_que_alloc(i32 1, ptr "
     "%p)\n"
     "ret void }\n",
     "call ptr @npu_argument(ptr %p, i64 16, i32 3)\n  call void @npu_que_alloc(i32 1, ptr %1)\n"
     "  call void @npu_arguments_end(i32 1)",
     NULL},
    {"declare void @npu_que_alloc(i32, ptr)\ndefine void @akgen_kernel_k() { %t = alloca [16 x i8]\n"
     "call void @npu_que_alloc(i32 1, ptr %t)\nret void }\n",
     "npu_argument(", NULL},
    {"declare void @npu_que_alloc(i32, ptr)\n@t = constant [16 x i8] zeroinitializer\ndefine void @akgen_kernel_k() {\n"
     "call void @npu_que_alloc(i32 1, ptr @t)\nret void }\n",
     "npu_argument(", NULL},
    {"declare void @npu_tiling_copy(ptr, i64, i32)\ndefine void @akgen_kernel_k(ptr %p, i32 %n) {\n"
     "call void @npu_tiling_copy(ptr %p, i64 1, i32 %n)\nret void }\n",
     "%4 = call ptr @npu_argument(ptr %p, i64 %3, i32 3)\n  call void @npu_tiling_copy(ptr %4, i64 1, i32 %1)", NULL},
    {"declare void @npu_unsupported(ptr)\n@s = constant [2 x i8] c\"ab\"\ndefine void @akgen_kernel_k() {\n"
     "call void @npu_unsupported(ptr @s)\nret void }\n",
     "i32 9)\n  call void @npu_unsupported", NULL},
    {"declare void @npu_unsupported(ptr)\n@s = constant [3 x i8] c\"ab\\00\"\ndefine void @akgen_kernel_k() {\n"
     "call void @npu_unsupported(ptr @s)\nret void }\n",
     "call void @npu_unsupported", "npu_argument("},
    {"declare void @npu_printf(ptr, ...)\n@s = constant [3 x i8] c\"ab\\00\"\ndefine void @akgen_kernel_k(i32 %i) {\n"
     "call void (ptr, ...) @npu_printf(ptr @s, i32 %i, double 1.0)\nret void }\n",
     "call void @npu_print(ptr @kernel.s, ptr %1, i32 2)", "call void (ptr, ...)"},
    /* Names and tables. */
    {"define i32 @memcmp(ptr %a, ptr %b, i64 %n) { ret i32 0 }\n", "define internal i32 @kernel.memcmp", NULL},
    {"@g = alias void (), ptr @f\ndefine void @f() { ret void }\ndefine void @akgen_kernel_k() { call void @g()\nret "
     "void }\n",
     "call void @kernel.f()", NULL},
    {"define void @h(i64 %g, ptr %t, ptr %b, i64 %u, i64 %d) { ret void }\n@p = global ptr @h\n",
     "[{ ptr, i64 } { ptr @kernel.h, i64 2 }], section \"akgen_callbacks\"", NULL},
    {"define void @f(i32 %i, float %f, ptr %p) { %a = add i32 %i, 1\n%b = mul i32 %a, 3\n%c = fadd float %f, %f\n"
     "%d = getelementptr i32, ptr %p, i32 %b\n%e = load i32, ptr %d\nret void }\n",
     "@blocks = internal constant [1 x [8 x i32]] [[8 x i32] [i32 2, i32 1, i32 1, i32 1, i32 1, i32 0, i32 0, i32 "
     "0]], "
     "section \"akgen_blocks\"",
     NULL},
    {"define void @f(<16 x float> %v, ptr %p) { %a = fadd <16 x float> %v, %v\n%b = extractelement <16 x float> %a, "
     "i32 3\n"
     "ret void }\n",
     "[[8 x i32] [i32 0, i32 17, i32 0, i32 1, i32 0, i32 0, i32 0, i32 0]], section \"akgen_blocks\"", NULL},
};

static void what_may_stay_is_rewritten(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof rewritten / sizeof *rewritten; i++) {
        struct made made;
        make(&made, rewritten[i].module);
        if (!made.good)
            fail_msg("%s\nis refused: %s", rewritten[i].module, made.report.refusals[0].message);
        if (!strstr(made.text, rewritten[i].there))
            fail_msg("%s\nis without '%s':\n%s", rewritten[i].module, rewritten[i].there, made.text);
        if (rewritten[i].gone && strstr(made.text, rewritten[i].gone))
            fail_msg("%s\nstill has '%s':\n%s", rewritten[i].module, rewritten[i].gone, made.text);
        drop(&made);
    }
}

/* The table of calls has every function that the headers declare, with its arguments. */
static void every_function_of_the_machine_has_a_row(void **state)
{
    (void)state;
    static const char *const headers[] = {"npu_abi.h", "npu_adv.h", "npu_matmul.h"};
    int found = 0;
    for (size_t i = 0; i < sizeof headers / sizeof *headers; i++) {
        struct arena arena = {0};
        char *bytes, name[64];
        const char *path = arena_printf(&arena, "%s/include/abi/%s", AKGEN_SOURCE_DIR, headers[i]);
        assert_null(files_read(&arena, path, 1 << 20, &bytes, NULL));
        for (char *line = bytes, *rest; (rest = strchr(line, '\n')); line = rest + 1) {
            const char *at = strstr(line, "npu_"), *open = strchr(line, '(');
            bool declares = line[0] != ' ' && line[0] != '/' && line[0] != '#' && strncmp(line, "typedef", 7) != 0;
            if (!declares || !at || !open || open > rest || at > open)
                continue;
            while (at && open > at && at[strspn(at, "abcdefghijklmnopqrstuvwxyz0123456789_")] != '(')
                at = strstr(at + 4, "npu_");
            if (!at || at > open)
                continue;
            snprintf(name, sizeof name, "%.*s", (int)(open - at), at);
            if (!machine_call_find(name))
                fail_msg("%s: %s has no row in machine_calls.def", headers[i], name);
            found++;
        }
        arena_free(&arena);
    }
    assert_in_range(found, 100, 200);
}

/* A kernel that calls the function once, with a pointer of its own for every pointer. */
static void call_a_row(const struct machine_call *row, char *module, size_t size)
{
    static const char *const types[] = {
        [PARAMETER_I32] = "i32",       [PARAMETER_I64] = "i64",     [PARAMETER_FLOAT] = "float",
        [PARAMETER_DOUBLE] = "double", [PARAMETER_POINTER] = "ptr", [PARAMETER_STRING] = "ptr"};
    static const char *const values[] = {
        [PARAMETER_I32] = "1",      [PARAMETER_I64] = "1",      [PARAMETER_FLOAT] = "1.0",
        [PARAMETER_DOUBLE] = "1.0", [PARAMETER_POINTER] = "%p", [PARAMETER_STRING] = "%p"};
    const char *result = row->result == 'i' ? "i32" : row->result == 'l' ? "i64" : row->result == 'p' ? "ptr" : "void";
    char declared[256] = "", given[256] = "";
    for (int i = 0; row->parameters[i].kind != PARAMETER_END; i++) {
        const int kind = row->parameters[i].kind;
        size_t a = strlen(declared), b = strlen(given);
        snprintf(declared + a, sizeof declared - a, "%s%s", i ? ", " : "", types[kind]);
        snprintf(given + b, sizeof given - b, "%s%s %s", i ? ", " : "", types[kind], values[kind]);
    }
    snprintf(module, size, "declare %s @%s(%s)\ndefine void @akgen_kernel_k(ptr %%p) { call %s @%s(%s)\nret void }\n",
             result, row->name, declared, result, row->name, given);
}

/* The machine gets a copy of all memory that the table says it reads or writes, and releases it directly after the call. */
static void the_machine_gets_no_pointer_of_a_kernel(void **state)
{
    (void)state;
    int copied = 0;
    const struct machine_call *row;
    for (size_t i = 0; (row = machine_call_at(i)); i++) {
        char text[1024];
        struct made made;
        unsigned copies = 0;
        if (row->kind != CALL_MACHINE)
            continue;
        call_a_row(row, text, sizeof text);
        make(&made, text);
        assert_true(made.good);
        LLVMValueRef call = LLVMGetFirstUse(LLVMGetNamedFunction(made.module, row->name))
                                ? LLVMGetUser(LLVMGetFirstUse(LLVMGetNamedFunction(made.module, row->name)))
                                : NULL;
        assert_non_null(call);
        for (unsigned k = 0; row->parameters[k].kind != PARAMETER_END; k++) {
            if (row->parameters[k].kind != PARAMETER_POINTER && row->parameters[k].kind != PARAMETER_STRING)
                continue;
            LLVMValueRef given = LLVMGetOperand(call, k);
            if (!LLVMIsACallInst(given) || strcmp(value_name(LLVMGetCalledValue(given)), "npu_argument") != 0)
                fail_msg("%s gets a pointer that is no copy:\n%s", row->name, made.text);
            copies++;
        }
        LLVMValueRef next = LLVMGetNextInstruction(call);
        if (copies &&
            (!LLVMIsACallInst(next) || strcmp(value_name(LLVMGetCalledValue(next)), "npu_arguments_end") != 0 ||
             LLVMConstIntGetZExtValue(LLVMGetOperand(next, 0)) != copies))
            fail_msg("%s does not give back its copies:\n%s", row->name, made.text);
        copied += copies != 0;
        drop(&made);
    }
    assert_in_range(copied, 50, 100);
}

/* The line of a refusal is the instruction's. */
static void a_refusal_has_its_line(void **state)
{
    (void)state;
    struct made made;
    make(
        &made,
        "define void @f() !dbg !3 { call void asm sideeffect \"nop\", \"\"(), !dbg !4\nret void }\n"
        "!llvm.dbg.cu = !{!1}\n!llvm.module.flags = !{!0}\n!0 = !{i32 2, !\"Debug Info Version\", i32 3}\n"
        "!1 = distinct !DICompileUnit(language: DW_LANG_C_plus_plus_17, file: !2, emissionKind: LineTablesOnly)\n"
        "!2 = !DIFile(filename: \"op_kernel/add.cpp\", directory: \".\")\n"
        "!3 = distinct !DISubprogram(name: \"f\", file: !2, line: 7, type: !5, unit: !1, spFlags: DISPFlagDefinition)\n"
        "!4 = !DILocation(line: 12, column: 5, scope: !3)\n!5 = !DISubroutineType(types: !{})\n");
    assert_false(made.good);
    assert_string_equal(made.report.refusals[0].file, "op_kernel/add.cpp");
    assert_int_equal(made.report.refusals[0].line, 12);
    assert_int_equal(made.report.refusals[0].column, 5);
    drop(&made);
}

/* Blocks that a module has in no order: their numbers grow along every way that does not begin the loop again, and the
 * loop's first block is announced on the loop's line, not on its first statement's. */
static void blocks_are_numbered_as_control_flows(void **state)
{
    static const char module[] =
        "define void @akgen_kernel_k(i32 %n) !dbg !4 {\n"
        "entry:\n br label %head, !dbg !6\n"
        "exit:\n ret void, !dbg !7\n"
        "body:\n br label %head, !dbg !7, !llvm.loop !9\n"
        "head:\n %more = icmp eq i32 %n, 3, !dbg !6\n br i1 %more, label %body, label %exit, !dbg !6\n}\n"
        "!llvm.dbg.cu = !{!0}\n!llvm.module.flags = !{!1}\n"
        "!0 = distinct !DICompileUnit(language: DW_LANG_C_plus_plus_14, file: !2, emissionKind: LineTablesOnly)\n"
        "!1 = !{i32 2, !\"Debug Info Version\", i32 3}\n"
        "!2 = !DIFile(filename: \"op_kernel/k.cpp\", directory: \"/\")\n"
        "!3 = !DISubroutineType(types: !{})\n"
        "!4 = distinct !DISubprogram(name: \"k\", scope: !2, file: !2, line: 10, type: !3, unit: !0, spFlags: "
        "DISPFlagDefinition)\n"
        "!6 = !DILocation(line: 20, scope: !4)\n!7 = !DILocation(line: 21, scope: !4)\n"
        "!9 = distinct !{!9, !10, !11}\n"
        "!10 = !DILocation(line: 30, scope: !4)\n!11 = !DILocation(line: 31, scope: !4)\n";
    static const struct {
        const char *block;
        unsigned number, line;
    } expected[] = {{"entry", 0, 10}, {"exit", 2, 21}, {"body", 3, 30}, {"head", 1, 30}};
    struct made made;
    (void)state;
    make(&made, module);
    assert_true(made.good);
    size_t at = 0;
    FOR_BLOCKS(LLVMGetNamedFunction(made.module, "akgen_kernel_k"), block)
    {
        LLVMValueRef call = LLVMGetFirstInstruction(block);
        assert_string_equal(LLVMGetBasicBlockName(block), expected[at].block);
        assert_string_equal(value_name(LLVMGetCalledValue(call)), "npu_block");
        assert_int_equal(LLVMConstIntGetZExtValue(LLVMGetOperand(call, 0)), expected[at].number);
        assert_int_equal(LLVMGetDebugLocLine(call), expected[at++].line);
    }
    assert_int_equal(at, 4);
    drop(&made);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_unknown_is_refused),
        cmocka_unit_test(intrinsics_are_known_or_refused),
        cmocka_unit_test(what_may_stay_is_rewritten),
        cmocka_unit_test(every_function_of_the_machine_has_a_row),
        cmocka_unit_test(the_machine_gets_no_pointer_of_a_kernel),
        cmocka_unit_test(a_refusal_has_its_line),
        cmocka_unit_test(blocks_are_numbered_as_control_flows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
