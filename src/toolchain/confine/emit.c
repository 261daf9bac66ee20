/* From a confined module to an object: code generation with options of ours. */
#include "toolchain/confine/confine_internal.h"

#include <llvm-c/Support.h>
#include <llvm-c/TargetMachine.h>
#include <stdlib.h>
#include <string.h>

#if defined(__x86_64__)
#define PROCESSOR "x86-64-v3" /* conversions of _Float16 in hardware */
#else
#define PROCESSOR "generic"
#endif

void confine_begin(void)
{
    static const char *const options[] = {"akgen",
                                          "-enable-tail-merge=false", /* a call of both branches has two lines */
                                          "-trap-unreachable"};
    static bool begun;
    if (begun)
        return;
    begun = true;
    LLVMInitializeNativeTarget();
    LLVMInitializeNativeAsmPrinter();
    LLVMParseCommandLineOptions(sizeof options / sizeof *options, options, "");
}

static char *copy_of(const char *text)
{
    char *copy = strdup(text);
    if (!copy)
        abort();
    return copy;
}

char *confine_emit(LLVMModuleRef module, const char *path)
{
    LLVMTargetRef target;
    char *message = NULL, *copy;
    if (LLVMGetTargetFromTriple(LLVMGetTarget(module), &target, &message)) {
        copy = copy_of(message);
        LLVMDisposeMessage(message);
        return copy;
    }
    /* The module is optimised already: more than a plain selection of instructions costs a candidate 13 ms, and makes only
     * loops faster that neither call the machine nor access memory. */
    LLVMTargetMachineRef machine = LLVMCreateTargetMachine(target, LLVMGetTarget(module), PROCESSOR, "",
                                                           LLVMCodeGenLevelNone, LLVMRelocPIC, LLVMCodeModelDefault);
    bool failed = LLVMTargetMachineEmitToFile(machine, module, path, LLVMObjectFile, &message);
    copy = failed ? copy_of(message) : NULL;
    if (failed)
        LLVMDisposeMessage(message);
    LLVMDisposeTargetMachine(machine);
    return copy;
}

void confine_free_text(char *text)
{
    free(text);
}
