/* What the steps of confine.c share. */
#ifndef TOOLCHAIN_CONFINE_CONFINE_INTERNAL_H
#define TOOLCHAIN_CONFINE_CONFINE_INTERNAL_H

#include "toolchain/confine/confine.h"

#include <llvm-c/Core.h>
#include <llvm-c/Target.h>
#include <stddef.h>
#include <stdint.h>

/* Functions of the machine that the rewriting calls (abi/npu_hooks.h), in the order of hooks.def. */
enum confine_hook {
#define HOOK(name, ...) HOOK_##name,
#include "toolchain/confine/hooks.def"
#undef HOOK
    HOOKS
};

struct confine {
    LLVMModuleRef module;
    LLVMContextRef context;
    LLVMTargetDataRef layout;
    LLVMBuilderRef builder;
    struct confine_report *report;
    const char *entry;
    LLVMTypeRef none, byte, word, pointer; /* void, i8, i64, ptr */
    LLVMValueRef hooks[HOOKS];
    LLVMTypeRef hook_types[HOOKS];
    unsigned debug_kind; /* the metadata kind !dbg */
    unsigned loop_kind;  /* and !llvm.loop */
    unsigned blocks;     /* counted so far */
    bool debugged;       /* variables are described for a debugger */
};

/* Where clang puts what it says of other variables; nothing of it is for the object. */
#define SECTION_METADATA "llvm.metadata"

#define FOR_FUNCTIONS(module, function)                                                                                \
    for (LLVMValueRef function = LLVMGetFirstFunction(module); function; function = LLVMGetNextFunction(function))
#define FOR_GLOBALS(module, global)                                                                                    \
    for (LLVMValueRef global = LLVMGetFirstGlobal(module); global; global = LLVMGetNextGlobal(global))
#define FOR_BLOCKS(function, block)                                                                                    \
    for (LLVMBasicBlockRef block = LLVMGetFirstBasicBlock(function); block; block = LLVMGetNextBasicBlock(block))
#define FOR_INSTRUCTIONS(block, instruction)                                                                           \
    for (LLVMValueRef instruction = LLVMGetFirstInstruction(block); instruction;                                       \
         instruction = LLVMGetNextInstruction(instruction))
/* The same where the body may remove the instruction. */
#define FOR_INSTRUCTIONS_REMOVING(block, instruction)                                                                  \
    for (LLVMValueRef instruction = LLVMGetFirstInstruction(block), next_;                                             \
         instruction && (next_ = LLVMGetNextInstruction(instruction), true); instruction = next_)

/* Pointers that were seen; confine.c. */
struct value_set {
    const void **slots;
    size_t count, room;
};
/* True if it was not in the set yet. */
bool value_set_add(struct value_set *set, const void *value);
bool value_set_has(const struct value_set *set, const void *value);
void value_set_free(struct value_set *set);

/* Adds a refusal at the line of an instruction, a function, a variable, or (NULL) of none. */
void refuse_at(struct confine *confine, LLVMValueRef value, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* The name of a value; "" without one. */
const char *value_name(LLVMValueRef value);
/* The section of a function or variable; "" without one. */
const char *section_name(LLVMValueRef value);
/* The function that a call names, whatever its type; NULL: it goes through a pointer. */
LLVMValueRef called_function(LLVMValueRef call);
/* "llvm.memcpy", without the types behind it; NULL: not a call of an intrinsic. */
const char *intrinsic_name(LLVMValueRef call);
bool is_defined(LLVMValueRef function);
/* The builder stands before the instruction, with its line. */
void build_before(struct confine *confine, LLVMValueRef instruction);
/* Calls a hook at the builder's place. */
LLVMValueRef build_hook(struct confine *confine, enum confine_hook hook, LLVMValueRef *arguments);
LLVMValueRef word_constant(const struct confine *confine, uint64_t value);

/* Tables (tables.c). */
enum intrinsic_kind {
    INTRINSIC_REFUSED,
    INTRINSIC_KEPT,
    INTRINSIC_DROPPED, /* says something to the optimiser and computes nothing */
    INTRINSIC_FIRST,   /* its value is its first operand */
    INTRINSIC_COPY,    /* memcpy, memmove */
    INTRINSIC_FILL,    /* memset */
    INTRINSIC_TRAP,    /* the kernel ends here */
    INTRINSIC_STACK,   /* saves the stack */
    INTRINSIC_UNSTACK  /* and takes it back */
};
enum intrinsic_kind intrinsic_kind(const char *name);

/* What the machine does with an argument. */
enum parameter_kind {
    PARAMETER_END,
    PARAMETER_I32,
    PARAMETER_I64,
    PARAMETER_FLOAT,
    PARAMETER_DOUBLE,
    PARAMETER_POINTER, /* reads or writes `bytes` behind it, times the argument number `times` - 1 if that is not 0 */
    PARAMETER_STRING,  /* reads up to a zero byte */
    PARAMETER_MORE     /* any number of further arguments */
};
/* How memory behind a pointer is used: npu_argument(). */
struct parameter {
    uint8_t kind, use, times; /* use: NPU_ARGUMENT_* */
    uint32_t bytes;
};
enum { MAX_PARAMETERS = 10 };
enum machine_call_kind {
    CALL_MACHINE,
    CALL_COPY,    /* memcpy, memmove: to, from, bytes */
    CALL_FILL,    /* memset */
    CALL_COMPARE, /* memcmp */
    CALL_MATH,
    CALL_NOTHING, /* does nothing on a device: destructors of variables */
    CALL_TRAP,    /* must not be reached */
    CALL_PRINT    /* npu_printf */
};
struct machine_call {
    const char *name;
    enum machine_call_kind kind;
    char result; /* 'v', 'i' (i32), 'l' (i64), 'p', 'f', 'd' */
    struct parameter parameters[MAX_PARAMETERS];
};
/* NULL: the module may not call it. */
const struct machine_call *machine_call_find(const char *name);
/* Row number `i`; NULL behind the last. */
const struct machine_call *machine_call_at(size_t i);
LLVMTypeRef machine_call_type(const struct confine *confine, const struct machine_call *call);
LLVMTypeRef hook_type(const struct confine *confine, enum confine_hook hook);
const char *hook_name(enum confine_hook hook);
/* True for the name of a hook: the kernel itself may not call it. */
bool is_hook_name(const char *name);

/* Bytes of a value of a type in memory (offset.c). */
uint64_t bytes_of(const struct confine *confine, LLVMTypeRef type);
/* The value that `pointer` is a constant distance from, and that distance. */
LLVMValueRef base_of(const struct confine *confine, LLVMValueRef pointer, int64_t *offset);
/* True if [pointer, pointer + bytes) lies in one frame or one variable of the module, whatever happens. */
bool is_in_bounds(const struct confine *confine, LLVMValueRef pointer, uint64_t bytes, bool write);

/* A block of a function; `loop`: if a loop begins with it, the place of what begins it again, or NULL. */
struct flow_block {
    LLVMBasicBlockRef block;
    LLVMMetadataRef loop;
};
/* All of them, so that a branch to the same block or one before it begins a loop again, and no other does (flow.c). The
 * caller frees the array. */
struct flow_block *flow_order(LLVMValueRef function, size_t *count);

/* The attributes of every function of the object (strip.c). */
void add_our_attributes(struct confine *confine, LLVMValueRef function);

/* The steps. */
void refuse_module(struct confine *confine);
void strip_module(struct confine *confine);
void copy_arguments_by_value(struct confine *confine);
void rewrite_intrinsics(struct confine *confine);
void rewrite_calls(struct confine *confine);
void count_blocks(struct confine *confine);
void move_frames(struct confine *confine);
void check_accesses(struct confine *confine);
void verify_module(struct confine *confine);

#endif
