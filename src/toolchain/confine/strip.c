/* Takes away what says more than the instructions do. An attribute, a flag or a piece of metadata that does not hold is
 * undefined behaviour, which code generation may turn into a missing comparison; without them it has nothing to go by.
 * What is needed for the object to be made as akgen wants it is put in their place. */
#include "toolchain/confine/confine_internal.h"

#include "abi/npu_abi.h"
#include "abi/npu_hooks.h"

#include <llvm-c/Comdat.h>
#include <llvm-c/DebugInfo.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Attributes. */

static const struct {
    const char *key, *value;
} our_attributes[] = {
    {"frame-pointer", "all"},
    {"disable-tail-calls", "true"}, /* a call that ends the kernel returns to its line all the same */
    {"no-jump-tables", "true"},     /* a switch compares */
    {"no-trapping-math", "true"},
    {"probe-stack", "inline-asm"}, /* a large frame touches each of its pages, so none steps over the guard */
#if defined(__x86_64__)
    {"target-cpu", "x86-64-v3"},
#else
    {"target-cpu", "generic"},
#endif
};

void add_our_attributes(struct confine *confine, LLVMValueRef function)
{
    for (size_t i = 0; i < sizeof our_attributes / sizeof *our_attributes; i++) {
        const char *key = our_attributes[i].key, *value = our_attributes[i].value;
        LLVMAttributeRef attribute =
            LLVMCreateStringAttribute(confine->context, key, (unsigned)strlen(key), value, (unsigned)strlen(value));
        LLVMAddAttributeAtIndex(function, LLVMAttributeFunctionIndex, attribute);
    }
    enum { UNWIND_ASYNC = 2 }; /* debuggers walk the stack of a kernel */
    static const struct {
        const char *name;
        uint64_t value;
    } kinds[] = {{"nounwind", 0}, {"uwtable", UNWIND_ASYNC}};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        unsigned kind = LLVMGetEnumAttributeKindForName(kinds[i].name, strlen(kinds[i].name));
        LLVMAddAttributeAtIndex(function, LLVMAttributeFunctionIndex,
                                LLVMCreateEnumAttribute(confine->context, kind, kinds[i].value));
    }
}

static void drop_attributes_at(LLVMValueRef value, LLVMAttributeIndex index, bool call)
{
    unsigned count = call ? LLVMGetCallSiteAttributeCount(value, index) : LLVMGetAttributeCountAtIndex(value, index);
    if (!count)
        return;
    LLVMAttributeRef *attributes = malloc(count * sizeof(LLVMAttributeRef));
    if (!attributes)
        abort();
    if (call)
        LLVMGetCallSiteAttributes(value, index, attributes);
    else
        LLVMGetAttributesAtIndex(value, index, attributes);
    for (unsigned i = 0; i < count; i++) {
        unsigned length, kind = LLVMIsStringAttribute(attributes[i]) ? 0 : LLVMGetEnumAttributeKind(attributes[i]);
        const char *key = kind ? NULL : LLVMGetStringAttributeKind(attributes[i], &length);
        if (kind && call)
            LLVMRemoveCallSiteEnumAttribute(value, index, kind);
        else if (kind)
            LLVMRemoveEnumAttributeAtIndex(value, index, kind);
        else if (call)
            LLVMRemoveCallSiteStringAttribute(value, index, key, length);
        else
            LLVMRemoveStringAttributeAtIndex(value, index, key, length);
    }
    free(attributes);
}

static void drop_attributes(LLVMValueRef value, bool call, unsigned parameters)
{
    drop_attributes_at(value, LLVMAttributeFunctionIndex, call);
    for (unsigned i = 0; i <= parameters; i++) /* 0: the result */
        drop_attributes_at(value, i, call);
}

/* Instructions. */

static void drop_flags(LLVMValueRef instruction)
{
    switch (LLVMGetInstructionOpcode(instruction)) {
    case LLVMAdd:
    case LLVMSub:
    case LLVMMul:
    case LLVMShl:
    case LLVMTrunc:
        LLVMSetNUW(instruction, false);
        LLVMSetNSW(instruction, false);
        break;
    case LLVMUDiv:
    case LLVMSDiv:
    case LLVMLShr:
    case LLVMAShr:
        LLVMSetExact(instruction, false);
        break;
    case LLVMOr:
        LLVMSetIsDisjoint(instruction, false);
        break;
    case LLVMZExt:
    case LLVMUIToFP:
        LLVMSetNNeg(instruction, false);
        break;
    case LLVMGetElementPtr:
        LLVMGEPSetNoWrapFlags(instruction, 0);
        break;
    default:
        if (LLVMCanValueUseFastMathFlags(instruction))
            LLVMSetFastMathFlags(instruction, LLVMFastMathNone);
    }
}

/* A branch that begins a loop again says where the loop is: there the branch is from now on. */
static void move_to_loop(struct confine *confine, LLVMValueRef branch)
{
    enum { LOOP_PARTS = 16 };
    LLVMValueRef parts[LOOP_PARTS], loop = LLVMGetMetadata(branch, confine->loop_kind);
    unsigned count = loop ? LLVMGetMDNodeNumOperands(loop) : 0;
    if (!count || count > LOOP_PARTS)
        return;
    LLVMGetMDNodeOperands(loop, parts);
    for (unsigned i = 1; i < count; i++) { /* the first is the loop itself; then its beginning, its end */
        LLVMMetadataRef place = parts[i] ? LLVMValueAsMetadata(parts[i]) : NULL;
        if (place && LLVMGetMetadataKind(place) == LLVMDILocationMetadataKind) {
            LLVMInstructionSetDebugLoc(branch, place);
            return;
        }
    }
}

static void drop_metadata(struct confine *confine, LLVMValueRef instruction)
{
    size_t count = 0;
    if (LLVMIsATerminatorInst(instruction))
        move_to_loop(confine, instruction);
    LLVMValueMetadataEntry *entries = LLVMInstructionGetAllMetadataOtherThanDebugLoc(instruction, &count);
    for (size_t i = 0; i < count; i++)
        if (LLVMValueMetadataEntriesGetKind(entries, (unsigned)i) != confine->debug_kind)
            LLVMSetMetadata(instruction, LLVMValueMetadataEntriesGetKind(entries, (unsigned)i), NULL);
    LLVMDisposeValueMetadataEntries(entries);
}

static void strip_call(LLVMValueRef call)
{
    drop_attributes(call, true, LLVMGetNumArgOperands(call));
    LLVMSetTailCallKind(call, LLVMTailCallKindNone);
    LLVMSetInstructionCallConv(call, LLVMCCallConv);
}

/* Functions and variables. */

/* Nobody outside needs the name, and no call of the compiler's own finds a function of the candidate's by it. */
static void hide(LLVMValueRef global)
{
    char name[256];
    snprintf(name, sizeof name, "kernel.%s", value_name(global));
    LLVMSetLinkage(global, LLVMInternalLinkage);
    LLVMSetVisibility(global, LLVMDefaultVisibility);
    LLVMSetValueName2(global, name, strlen(name));
}

static void drop_global_metadata(struct confine *confine, LLVMValueRef global)
{
    size_t count = 0;
    LLVMValueMetadataEntry *entries = LLVMGlobalCopyAllMetadata(global, &count);
    for (size_t i = 0; i < count; i++) {
        unsigned kind = LLVMValueMetadataEntriesGetKind(entries, (unsigned)i);
        if (kind != confine->debug_kind)
            LLVMGlobalEraseMetadata(global, kind);
    }
    LLVMDisposeValueMetadataEntries(entries);
}

static void strip_function(struct confine *confine, LLVMValueRef function)
{
    if (!LLVMGetIntrinsicID(function))
        drop_attributes(function, false, LLVMCountParams(function));
    drop_global_metadata(confine, function);
    LLVMSetComdat(function, NULL);
    LLVMSetUnnamedAddress(function, LLVMNoUnnamedAddr);
    LLVMSetDLLStorageClass(function, LLVMDefaultStorageClass);
    if (!is_defined(function)) {
        if (!LLVMGetIntrinsicID(function))
            LLVMSetFunctionCallConv(function, LLVMCCallConv);
        return;
    }
    LLVMSetFunctionCallConv(function, LLVMCCallConv);
    add_our_attributes(confine, function);
    if (strcmp(value_name(function), confine->entry) != 0) {
        hide(function);
    } else {
        LLVMSetLinkage(function, LLVMExternalLinkage);
        LLVMSetVisibility(function, LLVMDefaultVisibility);
    }
    FOR_BLOCKS(function, block)
    FOR_INSTRUCTIONS(block, instruction)
    {
        drop_flags(instruction);
        drop_metadata(confine, instruction);
        if (LLVMIsACallInst(instruction))
            strip_call(instruction);
    }
}

/* The loader writes into it: it cannot be in a section that nobody writes. */
static bool holds_address(LLVMValueRef value)
{
    if (LLVMIsAGlobalValue(value))
        return true;
    bool found = false;
    for (int i = 0; LLVMIsAUser(value) && i < LLVMGetNumOperands(value) && !found; i++)
        found = holds_address(LLVMGetOperand(value, (unsigned)i));
    return found;
}

static const char *section_of(LLVMValueRef global)
{
    if (*section_name(global) && strcmp(section_name(global), SECTION_METADATA) != 0)
        return section_name(global);
    if (LLVMGetPointerAddressSpace(LLVMTypeOf(global)) == 1)
        return NPU_SECTION_GM;
    if (!LLVMIsGlobalConstant(global))
        return NPU_SECTION_BLOCK;
    return holds_address(LLVMGetInitializer(global)) ? NPU_SECTION_ADDRESSES : NPU_SECTION_CONST;
}

static void strip_global(struct confine *confine, LLVMValueRef global)
{
    if (!LLVMGetInitializer(global))
        return;
    drop_global_metadata(confine, global);
    LLVMSetComdat(global, NULL);
    LLVMSetUnnamedAddress(global, LLVMNoUnnamedAddr);
    LLVMSetDLLStorageClass(global, LLVMDefaultStorageClass);
    LLVMSetExternallyInitialized(global, false);
    if (strcmp(section_of(global), NPU_SECTION_GM) == 0) /* it is the machine's to say who may write there */
        LLVMSetGlobalConstant(global, false);
    LLVMSetSection(global, section_of(global));
    hide(global);
}

static void strip_aliases(struct confine *confine)
{
    for (LLVMValueRef alias = LLVMGetFirstGlobalAlias(confine->module); alias; alias = LLVMGetNextGlobalAlias(alias)) {
        LLVMReplaceAllUsesWith(alias, LLVMAliasGetAliasee(alias));
        hide(alias);
    }
}

void strip_module(struct confine *confine)
{
    static const char *const lists[] = {"llvm.used", "llvm.compiler.used", "llvm.global.annotations"};
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        LLVMValueRef list = LLVMGetNamedGlobal(confine->module, lists[i]);
        if (list)
            LLVMDeleteGlobal(list);
    }
    strip_aliases(confine);
    FOR_GLOBALS(confine->module, global)
    strip_global(confine, global);
    FOR_FUNCTIONS(confine->module, function)
    strip_function(confine, function);
}
