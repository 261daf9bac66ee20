/* akgen-confine IN.bc OUT.o ENTRY ROOT: a kernel's bitcode, as clang leaves it, becomes an object that reaches its
 * own memory, UB and GM and nothing else (confine.h). Refusals are printed as clang prints errors; exit status 1. */
#include "toolchain/confine/confine.h"

#include <llvm-c/BitReader.h>
#include <llvm-c/Core.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int complain(const char *what, const char *message)
{
    fprintf(stderr, "akgen-confine: %s: %s\n", what, message);
    return EXIT_FAILURE;
}

int main(int argc, char **argv)
{
    LLVMMemoryBufferRef buffer;
    LLVMModuleRef module;
    struct confine_report report;
    char *message = NULL;
    if (argc < 5)
        return complain("usage", "akgen-confine IN.bc OUT.o ENTRY ROOT");
    confine_begin();
    LLVMContextRef context = LLVMContextCreate();
    if (LLVMCreateMemoryBufferWithContentsOfFile(argv[1], &buffer, &message))
        return complain(argv[1], message);
    if (LLVMParseBitcodeInContext2(context, buffer, &module))
        return complain(argv[1], "not bitcode");
    if (!confine_module(module, argv[3], &report)) {
        confine_print(&report, argv[4]);
        return EXIT_FAILURE;
    }
    message = confine_emit(module, argv[2]);
    fflush(NULL);
    if (message)
        return complain(argv[2], message);
    _Exit(EXIT_SUCCESS); /* what LLVM would take apart the system does at once */
}
