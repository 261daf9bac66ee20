/* From a module as clang leaves it to one that may become an object; confine.h says what then holds. */
#include "toolchain/confine/confine_internal.h"

#include <llvm-c/DebugInfo.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void *checked(void *memory)
{
    if (!memory)
        abort();
    return memory;
}

static size_t slot_of(const struct value_set *set, const void *value)
{
    size_t at = ((uintptr_t)value >> 4) * UINT64_C(0x9e3779b97f4a7c15) >> 20;
    while (set->slots[at & (set->room - 1)] && set->slots[at & (set->room - 1)] != value)
        at++;
    return at & (set->room - 1);
}

bool value_set_has(const struct value_set *set, const void *value)
{
    return set->room && set->slots[slot_of(set, value)];
}

bool value_set_add(struct value_set *set, const void *value)
{
    if (2 * set->count >= set->room) {
        struct value_set larger = {.room = set->room ? 2 * set->room : 256, .count = set->count};
        larger.slots = checked(calloc(larger.room, sizeof *larger.slots));
        for (size_t i = 0; i < set->room; i++)
            if (set->slots[i])
                larger.slots[slot_of(&larger, set->slots[i])] = set->slots[i];
        free(set->slots);
        *set = larger;
    }
    size_t slot = slot_of(set, value);
    if (set->slots[slot])
        return false;
    set->slots[slot] = value;
    set->count++;
    return true;
}

void value_set_free(struct value_set *set)
{
    free(set->slots);
    *set = (struct value_set){0};
}

static char *copy_text(const char *text, size_t length)
{
    char *copy = checked(malloc(length + 1));
    memcpy(copy, text, length);
    copy[length] = '\0';
    return copy;
}

/* A file of the candidate's is named relative to the project. */
static bool is_header(LLVMMetadataRef location)
{
    unsigned length = 0;
    LLVMMetadataRef file = LLVMDIScopeGetFile(LLVMDILocationGetScope(location));
    const char *name = file ? LLVMDIFileGetFilename(file, &length) : "";
    return length && name[0] == '/';
}

/* The place of an instruction; of code from a header the place in the project that led there, if there is one. */
static void place_of_instruction(LLVMValueRef instruction, struct confine_refusal *refusal)
{
    LLVMMetadataRef innermost = LLVMInstructionGetDebugLoc(instruction), location = innermost;
    unsigned length = 0;
    if (!innermost)
        return;
    while (is_header(location) && LLVMDILocationGetInlinedAt(location))
        location = LLVMDILocationGetInlinedAt(location);
    if (is_header(location))
        location = innermost;
    LLVMMetadataRef file = LLVMDIScopeGetFile(LLVMDILocationGetScope(location));
    const char *name = file ? LLVMDIFileGetFilename(file, &length) : "";
    refusal->file = copy_text(name, length);
    refusal->line = LLVMDILocationGetLine(location);
    refusal->column = LLVMDILocationGetColumn(location);
}

void refuse_at(struct confine *confine, LLVMValueRef value, const char *format, ...)
{
    struct confine_report *report = confine->report;
    char text[512];
    va_list args;
    if (report->count == CONFINE_MAX_REFUSALS)
        return;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    struct confine_refusal *refusal = &report->refusals[report->count++];
    *refusal = (struct confine_refusal){.message = copy_text(text, strlen(text))};
    if (value && LLVMIsAInstruction(value)) {
        place_of_instruction(value, refusal);
    } else if (value && (LLVMIsAFunction(value) || LLVMIsAGlobalVariable(value))) {
        unsigned length = 0;
        const char *name = LLVMGetDebugLocFilename(value, &length);
        if (name)
            refusal->file = copy_text(name, length);
        refusal->line = LLVMGetDebugLocLine(value);
    }
    if (!refusal->file) {
        size_t length;
        const char *name = LLVMGetSourceFileName(confine->module, &length);
        refusal->file = copy_text(name, length);
    }
    refusal->line += !refusal->line;
    refusal->column += !refusal->column;
}

const char *value_name(LLVMValueRef value)
{
    size_t length;
    const char *name = LLVMGetValueName2(value, &length);
    return name ? name : "";
}

const char *section_name(LLVMValueRef value)
{
    const char *name = LLVMGetSection(value);
    return name ? name : "";
}

LLVMValueRef called_function(LLVMValueRef call)
{
    LLVMValueRef called = LLVMGetCalledValue(call);
    return LLVMIsAFunction(called) ? called : NULL;
}

const char *intrinsic_name(LLVMValueRef call)
{
    LLVMValueRef called = called_function(call);
    unsigned id = called ? LLVMGetIntrinsicID(called) : 0;
    size_t length;
    return id ? LLVMIntrinsicGetName(id, &length) : NULL;
}

bool is_defined(LLVMValueRef function)
{
    return LLVMCountBasicBlocks(function) > 0;
}

void build_before(struct confine *confine, LLVMValueRef instruction)
{
    LLVMPositionBuilderBefore(confine->builder, instruction);
    LLVMSetCurrentDebugLocation2(confine->builder, LLVMInstructionGetDebugLoc(instruction));
}

LLVMValueRef build_hook(struct confine *confine, enum confine_hook hook, LLVMValueRef *arguments)
{
    return LLVMBuildCall2(confine->builder, confine->hook_types[hook], confine->hooks[hook], arguments,
                          LLVMCountParamTypes(confine->hook_types[hook]), "");
}

LLVMValueRef word_constant(const struct confine *confine, uint64_t value)
{
    return LLVMConstInt(confine->word, value, false);
}

static void declare_hooks(struct confine *confine)
{
    for (int i = 0; i < HOOKS; i++) {
        confine->hook_types[i] = hook_type(confine, (enum confine_hook)i);
        confine->hooks[i] = LLVMAddFunction(confine->module, hook_name((enum confine_hook)i), confine->hook_types[i]);
    }
}

/* Without what nothing calls, the object would ask the loader for it all the same. */
static void forget_hooks(struct confine *confine)
{
    for (int i = 0; i < HOOKS; i++)
        if (!LLVMGetFirstUse(confine->hooks[i]))
            LLVMDeleteFunction(confine->hooks[i]);
}

static void rewrite(struct confine *confine)
{
    confine->debugged = LLVMGetNamedFunction(confine->module, "llvm.dbg.declare");
    declare_hooks(confine);
    copy_arguments_by_value(confine);
    strip_module(confine);
    count_blocks(confine);
    rewrite_intrinsics(confine);
    rewrite_calls(confine);
    move_frames(confine);
    check_accesses(confine);
}

bool confine_module(LLVMModuleRef module, const char *entry, struct confine_report *report)
{
    *report = (struct confine_report){0};
    LLVMContextRef context = LLVMGetModuleContext(module);
    struct confine confine = {.module = module,
                              .context = context,
                              .layout = LLVMGetModuleDataLayout(module),
                              .builder = LLVMCreateBuilderInContext(context),
                              .report = report,
                              .entry = entry,
                              .none = LLVMVoidTypeInContext(context),
                              .byte = LLVMInt8TypeInContext(context),
                              .word = LLVMInt64TypeInContext(context),
                              .pointer = LLVMPointerTypeInContext(context, 0),
                              .debug_kind = LLVMGetMDKindIDInContext(context, "dbg", 3),
                              .loop_kind = LLVMGetMDKindIDInContext(context, "llvm.loop", 9)};
    LLVMSetIsNewDbgInfoFormat(module, false); /* what describes variables is calls, which can be walked */
    refuse_module(&confine);
    if (!report->count) {
        rewrite(&confine);
        if (!report->count)
            verify_module(&confine);
        if (!report->count)
            forget_hooks(&confine);
    }
    LLVMDisposeBuilder(confine.builder);
    return report->count == 0;
}

void confine_print(const struct confine_report *report, const char *root)
{
    for (int i = 0; i < report->count; i++) {
        const struct confine_refusal *refusal = &report->refusals[i];
        const char *file = strncmp(refusal->file, "./", 2) == 0 ? refusal->file + 2 : refusal->file;
        bool relative = root && file[0] != '/';
        fprintf(stderr, "%s%s%s:%u:%u: error: %s\n", relative ? root : "", relative ? "/" : "", file, refusal->line,
                refusal->column, refusal->message);
    }
}

void confine_report_free(struct confine_report *report)
{
    for (int i = 0; i < report->count; i++) {
        free(report->refusals[i].file);
        free(report->refusals[i].message);
    }
    *report = (struct confine_report){0};
}
