/* Modules of any text: the pass refuses each or makes one of it that LLVM finds whole, without a variable on the
 * processor's stack, without assembly, and without a jump or a call to a computed address. */
#include "fuzz.h"

#include "toolchain/confine/confine.h"

#include <llvm-c/Analysis.h>
#include <llvm-c/Core.h>
#include <llvm-c/IRReader.h>
#include <stdlib.h>
#include <string.h>

static const char *const seeds[] = {
    "define void @akgen_kernel_k(ptr %p, i64 %i) {\n  %a = alloca [8 x i32]\n  %e = getelementptr inbounds i32, ptr "
    "%a, i64 %i\n"
    "  %v = load i32, ptr %p, !range !0\n  store i32 %v, ptr %e\n  %f = load ptr, ptr @t\n  call void %f(i32 %v)\n"
    "  ret void\n}\n@t = global ptr @f\ndefine void @f(i32 %i) { ret void }\n!0 = !{i32 0, i32 2}\n",
    "declare void @npu_que_alloc(i32, ptr)\ndeclare void @npu_printf(ptr, ...)\n@s = constant [3 x i8] c\"%d\\00\"\n"
    "define void @akgen_kernel_k(ptr addrspace(1) %p, i32 %i) {\n  %t = alloca [16 x i8]\n"
    "  call void @npu_que_alloc(i32 %i, ptr %t)\n  call void (ptr, ...) @npu_printf(ptr @s, i32 %i)\n"
    "  switch i32 %i, label %d [ i32 0, label %a\n i32 7, label %a ]\na:\n  ret void\nd:\n  unreachable\n}\n",
    "declare void @llvm.memcpy.p0.p1.i64(ptr, ptr addrspace(1), i64, i1)\ndeclare ptr @llvm.stacksave.p0()\n"
    "declare void @llvm.stackrestore.p0(ptr)\ndefine void @akgen_kernel_k(ptr %p, ptr addrspace(1) %q, i64 %n) {\n"
    "  %s = call ptr @llvm.stacksave.p0()\n  %v = alloca i8, i64 %n\n"
    "  call void @llvm.memcpy.p0.p1.i64(ptr %v, ptr addrspace(1) %q, i64 %n, i1 false)\n"
    "  call void @llvm.stackrestore.p0(ptr %s)\n  br label %l\nl:\n  %c = phi i64 [ 0, %0 ], [ %d, %l ]\n"
    "  %d = add nuw i64 %c, 1\n  %x = atomicrmw add ptr %p, i64 %d seq_cst\n  %y = icmp ult i64 %d, %n\n"
    "  br i1 %y, label %l, label %o\no:\n  ret void\n}\n",
    "@x = thread_local global i32 0, section \".data\"\n@c = constant [2 x ptr] [ptr @x, ptr @g]\n"
    "@g = alias void (ptr), ptr @f\ndefine fastcc void @f(ptr byval([64 x i8]) noundef %p) naked { ret void }\n"
    "define i8 @h(<4 x i8> %v, i32 %i) {\n  %x = extractelement <4 x i8> %v, i32 %i\n  ret i8 %x\n}\n"
    "define void @k(ptr %q) {\n  call fastcc void @f(ptr byval([64 x i8]) %q)\n  %r = cmpxchg ptr %q, i32 0, i32 1 "
    "seq_cst seq_cst\n"
    "  ret void\n}\n",
};

void fuzz_seeds(void)
{
    for (size_t i = 0; i < sizeof seeds / sizeof *seeds; i++)
        fuzz_seed_text(seeds[i]);
}

static void look_at(LLVMModuleRef module)
{
    char *message = NULL;
    if (LLVMVerifyModule(module, LLVMReturnStatusAction, &message))
        abort();
    LLVMDisposeMessage(message);
    for (LLVMValueRef function = LLVMGetFirstFunction(module); function; function = LLVMGetNextFunction(function))
        for (LLVMBasicBlockRef block = LLVMGetFirstBasicBlock(function); block; block = LLVMGetNextBasicBlock(block))
            for (LLVMValueRef at = LLVMGetFirstInstruction(block); at; at = LLVMGetNextInstruction(at))
                if (LLVMIsAAllocaInst(at) || LLVMIsAIndirectBrInst(at) || LLVMIsAInvokeInst(at) ||
                    (LLVMIsACallInst(at) && !LLVMIsAFunction(LLVMGetCalledValue(at))))
                    abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    LLVMContextRef context = LLVMContextCreate();
    LLVMModuleRef module = NULL;
    struct confine_report report;
    char *message = NULL, *broken = NULL;
    LLVMMemoryBufferRef buffer = LLVMCreateMemoryBufferWithMemoryRangeCopy((const char *)bytes, length, "fuzz.ll");
    if (!LLVMParseIRInContext(context, buffer, &module, &message) &&
        !LLVMVerifyModule(module, LLVMReturnStatusAction, &broken)) {
        bool good = confine_module(module, "akgen_kernel_k", &report);
        if (good)
            look_at(module);
        else if (!report.count)
            abort();
        confine_report_free(&report);
    }
    LLVMDisposeMessage(message);
    LLVMDisposeMessage(broken);
    if (module)
        LLVMDisposeModule(module);
    LLVMContextDispose(context);
    return 0;
}
