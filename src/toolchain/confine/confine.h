/* Kernels as code that is safe by construction. A kernel's module, optimised and ready for code generation, is read
 * against a list of what it may hold (refuse.c), rewritten so that it reaches its own memory, UB and GM and nothing else,
 * with every access and every block in the machine's sight (strip.c, frames.c, calls.c, accesses.c, blocks.c), and walked
 * once more by code that shares nothing with the rewriting and emits nothing that breaks a rule (verify.c). Only then it
 * becomes an object (emit.c). Uses LLVM's C interface; akgen itself does not link LLVM: the program akgen-confine does, and
 * the compile server.
 *
 * What holds of every module that confine_module() returns true for:
 *   1. Every load, store, atomic operation and memory intrinsic either lies at a constant distance inside a frame of the
 *      second stack or a variable of the module, or follows at once on a call of the machine that admits exactly these
 *      bytes. The address is one value for both (frozen).
 *   2. There is no alloca: no pointer that the module can name leads to the stack that holds return addresses and spilled
 *      registers.
 *   3. There is no indirect call and no indirect branch: a call through a pointer is a chain of comparisons and direct
 *      calls (calls.c), a switch has no table, and behind what cannot be reached stands a trap.
 *   4. Calls leave the module for the functions of machine_calls.def alone, with arguments of their types; what a pointer
 *      among them leads to has been admitted as well.
 *   5. Every block of the kernel begins with a call that counts it. */
#ifndef TOOLCHAIN_CONFINE_CONFINE_H
#define TOOLCHAIN_CONFINE_CONFINE_H

#include <llvm-c/Types.h>
#include <stdbool.h>

/* One refusal, at a line of the source. */
struct confine_refusal {
    char *file; /* as the debug information names it: relative to the project, or a header's path */
    unsigned line, column;
    char *message;
};
enum { CONFINE_MAX_REFUSALS = 30 };
struct confine_report {
    struct confine_refusal refusals[CONFINE_MAX_REFUSALS];
    int count;
};

/* Options of code generation, which LLVM keeps for the process: once, before the first module. */
void confine_begin(void);
/* Refuses, rewrites and verifies. False: `report` says why, and the module must not be used any more. `entry` is the
 * function that the machine calls, the only one that keeps its name. */
bool confine_module(LLVMModuleRef module, const char *entry, struct confine_report *report);
/* Makes the object of a module that confine_module() has returned true for. NULL, or what went wrong, which
 * confine_free_text() frees. */
char *confine_emit(LLVMModuleRef module, const char *path);
void confine_free_text(char *text);
/* The refusals as clang prints an error, one a line; a file that is named relative gets `root` before it. */
void confine_print(const struct confine_report *report, const char *root);
void confine_report_free(struct confine_report *report);

#endif
