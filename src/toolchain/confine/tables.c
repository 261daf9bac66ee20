/* The tables that say what a module may hold and call. */
#include "toolchain/confine/confine_internal.h"

#include "abi/npu_adv.h"
#include "abi/npu_hooks.h"
#include "abi/npu_matmul.h"

#include <string.h>

static const struct {
    const char *name;
    enum intrinsic_kind kind;
} intrinsics[] = {
#define INTRINSIC(name, kind) {name, INTRINSIC_##kind},
#include "toolchain/confine/intrinsics.def"
#undef INTRINSIC
};

enum intrinsic_kind intrinsic_kind(const char *name)
{
    for (size_t i = 0; i < sizeof intrinsics / sizeof *intrinsics; i++)
        if (strcmp(intrinsics[i].name, name) == 0)
            return intrinsics[i].kind;
    return INTRINSIC_REFUSED;
}

#define I32    {.kind = PARAMETER_I32}
#define I64    {.kind = PARAMETER_I64}
#define FLOAT  {.kind = PARAMETER_FLOAT}
#define DOUBLE {.kind = PARAMETER_DOUBLE}
#define STRING {.kind = PARAMETER_STRING, .use = NPU_ARGUMENT_READ | NPU_ARGUMENT_STRING}
#define MORE   {.kind = PARAMETER_MORE}
#define ANY    {.kind = PARAMETER_POINTER} /* nothing is read or written behind it, or the kind of the call says what */
#define BEHIND(type, how, many, ...)                                                                                   \
    {.kind = PARAMETER_POINTER, .use = (how)__VA_ARGS__, .times = (many), .bytes = sizeof(type)}
#define READS(type, ...)            BEHIND(type, NPU_ARGUMENT_READ, 0, __VA_ARGS__)
#define WRITES(type, ...)           BEHIND(type, NPU_ARGUMENT_READ | NPU_ARGUMENT_WRITTEN, 0, __VA_ARGS__)
#define READS_MANY(type, n, ...)    BEHIND(type, NPU_ARGUMENT_READ, n, __VA_ARGS__)
#define WRITES_MANY(type, n, ...)   BEHIND(type, NPU_ARGUMENT_READ | NPU_ARGUMENT_WRITTEN, n, __VA_ARGS__)
#define READS_OR_NULL(type)         READS(type, | NPU_ARGUMENT_OR_NULL)
#define WRITES_OR_NULL(type)        WRITES(type, | NPU_ARGUMENT_OR_NULL)
#define READS_MANY_OR_NULL(type, n) READS_MANY(type, n, | NPU_ARGUMENT_OR_NULL)

static const struct machine_call calls[] = {
#define CALL(name, result, ...)          {#name, CALL_MACHINE, result, {__VA_ARGS__}},
#define SPECIAL(name, kind, result, ...) {#name, CALL_##kind, result, {__VA_ARGS__}},
#include "toolchain/confine/machine_calls.def"
#undef CALL
#undef SPECIAL
};

const struct machine_call *machine_call_at(size_t i)
{
    return i < sizeof calls / sizeof *calls ? &calls[i] : NULL;
}

const struct machine_call *machine_call_find(const char *name)
{
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
        if (strcmp(calls[i].name, name) == 0)
            return &calls[i];
    return NULL;
}

static const struct {
    const char *name;
    char result;
    const char *parameters;
} hooks[HOOKS] = {
#define HOOK(name, result, parameters) {#name, result, parameters},
#include "toolchain/confine/hooks.def"
#undef HOOK
};

const char *hook_name(enum confine_hook hook)
{
    return hooks[hook].name;
}

bool is_hook_name(const char *name)
{
    for (int i = 0; i < HOOKS; i++)
        if (strcmp(hooks[i].name, name) == 0)
            return true;
    return false;
}

static LLVMTypeRef type_of_letter(const struct confine *confine, char letter)
{
    switch (letter) {
    case 'i':
        return LLVMInt32TypeInContext(confine->context);
    case 'l':
        return confine->word;
    case 'p':
        return confine->pointer;
    case 'f':
        return LLVMFloatTypeInContext(confine->context);
    case 'd':
        return LLVMDoubleTypeInContext(confine->context);
    default:
        return confine->none;
    }
}

LLVMTypeRef hook_type(const struct confine *confine, enum confine_hook hook)
{
    LLVMTypeRef types[8];
    unsigned count = 0;
    for (const char *letter = hooks[hook].parameters; *letter; letter++)
        types[count++] = type_of_letter(confine, *letter);
    return LLVMFunctionType(type_of_letter(confine, hooks[hook].result), types, count, false);
}

LLVMTypeRef machine_call_type(const struct confine *confine, const struct machine_call *call)
{
    static const char letters[] = {[PARAMETER_I32] = 'i',    [PARAMETER_I64] = 'l',     [PARAMETER_FLOAT] = 'f',
                                   [PARAMETER_DOUBLE] = 'd', [PARAMETER_POINTER] = 'p', [PARAMETER_STRING] = 'p'};
    LLVMTypeRef types[MAX_PARAMETERS];
    unsigned count = 0;
    while (call->parameters[count].kind != PARAMETER_END && call->parameters[count].kind != PARAMETER_MORE) {
        types[count] = type_of_letter(confine, letters[call->parameters[count].kind]);
        count++;
    }
    return LLVMFunctionType(type_of_letter(confine, call->result), types, count,
                            call->parameters[count].kind == PARAMETER_MORE);
}
