/* What a kernel's module may hold: everything that is not known here is refused by name. Nothing is changed. */
#include "toolchain/confine/confine_internal.h"

#include "abi/npu_abi.h"
#include "abi/npu_hooks.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_ALIGNMENT = 4096, MOST_BITS = 1024, LAST_SPACE = 7 /* __fbuf__, basic/qualifiers.h */ };

static bool is_one_of(const char *name, const char *const *names)
{
    for (; *names; names++)
        if (strcmp(name, *names) == 0)
            return true;
    return false;
}

/* Types. */

static const char *refused_type(LLVMTypeRef type, int depth)
{
    const char *inner = NULL;
    enum { DEEPEST = 64 };
    if (depth > DEEPEST)
        return "a type of too many levels";
    switch (LLVMGetTypeKind(type)) {
    case LLVMVoidTypeKind:
    case LLVMHalfTypeKind:
    case LLVMBFloatTypeKind:
    case LLVMFloatTypeKind:
    case LLVMDoubleTypeKind:
    case LLVMX86_FP80TypeKind:
    case LLVMLabelTypeKind:
    case LLVMMetadataTypeKind:
        return NULL;
    case LLVMIntegerTypeKind:
        return LLVMGetIntTypeWidth(type) <= MOST_BITS ? NULL : "an integer of more than 1024 bits";
    case LLVMPointerTypeKind:
        return LLVMGetPointerAddressSpace(type) <= LAST_SPACE ? NULL : "a pointer into an address space that is none";
    case LLVMArrayTypeKind:
    case LLVMVectorTypeKind:
        return refused_type(LLVMGetElementType(type), depth + 1);
    case LLVMStructTypeKind:
        for (unsigned i = 0; i < LLVMCountStructElementTypes(type) && !inner; i++)
            inner = refused_type(LLVMStructGetTypeAtIndex(type, i), depth + 1);
        return inner;
    default:
        return "a type that only this processor has";
    }
}

/* Values. */

static const char *refused_constant_expression(LLVMValueRef value)
{
    switch (LLVMGetConstOpcode(value)) {
    case LLVMGetElementPtr:
    case LLVMBitCast:
    case LLVMPtrToInt:
    case LLVMIntToPtr:
    case LLVMAddrSpaceCast:
    case LLVMTrunc:
    case LLVMAdd:
    case LLVMSub:
    case LLVMMul:
    case LLVMXor:
        return NULL;
    default:
        return "a constant that the loader would have to compute";
    }
}

/* Why a value may not be used; NULL: it may. Its parts are looked at by the caller. */
static const char *refused_value(LLVMValueRef value)
{
    const char *type = refused_type(LLVMTypeOf(value), 0);
    if (type)
        return type;
    switch (LLVMGetValueKind(value)) {
    case LLVMArgumentValueKind:
    case LLVMBasicBlockValueKind:
    case LLVMFunctionValueKind:
    case LLVMGlobalVariableValueKind:
    case LLVMGlobalAliasValueKind:
    case LLVMConstantArrayValueKind:
    case LLVMConstantStructValueKind:
    case LLVMConstantVectorValueKind:
    case LLVMUndefValueValueKind:
    case LLVMPoisonValueValueKind:
    case LLVMConstantAggregateZeroValueKind:
    case LLVMConstantDataArrayValueKind:
    case LLVMConstantDataVectorValueKind:
    case LLVMConstantIntValueKind:
    case LLVMConstantFPValueKind:
    case LLVMConstantPointerNullValueKind:
    case LLVMMetadataAsValueValueKind:
    case LLVMInstructionValueKind:
        return NULL;
    case LLVMConstantExprValueKind:
        return refused_constant_expression(value);
    case LLVMBlockAddressValueKind:
        return "the address of a label";
    case LLVMInlineAsmValueKind:
        return "inline assembly";
    case LLVMGlobalIFuncValueKind:
        return "a function that the loader would choose (ifunc)";
    default:
        return "a constant that is neither a number nor an address";
    }
}

struct walk {
    struct confine *confine;
    struct value_set seen;
    LLVMValueRef *open; /* constants whose parts are still to be looked at */
    size_t count, room;
};

static void open_value(struct walk *walk, LLVMValueRef value)
{
    if (!value_set_add(&walk->seen, value))
        return;
    if (walk->count == walk->room) {
        walk->room = walk->room ? 2 * walk->room : 64;
        walk->open = realloc(walk->open, walk->room * sizeof(LLVMValueRef));
        if (!walk->open)
            abort();
    }
    walk->open[walk->count++] = value;
}

/* Looks at a value and at what it is made of. Instructions and what has a name have a turn of their own. */
static void check_value(struct walk *walk, LLVMValueRef user, LLVMValueRef value)
{
    open_value(walk, value);
    while (walk->count) {
        LLVMValueRef at = walk->open[--walk->count];
        const char *reason = refused_value(at);
        if (reason)
            refuse_at(walk->confine, user, "%s is not allowed in a kernel", reason);
        if (!LLVMIsAConstant(at) || LLVMIsAGlobalValue(at) || LLVMIsABlockAddress(at))
            continue;
        for (int i = 0; i < LLVMGetNumOperands(at); i++)
            open_value(walk, LLVMGetOperand(at, (unsigned)i));
    }
}

/* Instructions. */

static const char *const call_attributes_refused[] = {"inalloca",   "preallocated", "nest", "swiftself",
                                                      "swifterror", "swiftasync",   NULL};

static const char *refused_attribute(LLVMContextRef context, LLVMValueRef value, bool call, unsigned parameters)
{
    for (unsigned i = 1; i <= parameters; i++)
        for (const char *const *name = call_attributes_refused; *name; name++) {
            unsigned kind = LLVMGetEnumAttributeKindForName(*name, strlen(*name));
            if (call ? LLVMGetCallSiteEnumAttribute(value, i, kind) : LLVMGetEnumAttributeAtIndex(value, i, kind))
                return *name;
        }
    (void)context;
    return NULL;
}

static void check_call(struct confine *confine, LLVMValueRef call)
{
    LLVMValueRef called = called_function(call);
    const char *name = intrinsic_name(call), *attribute;
    if (LLVMIsAInlineAsm(LLVMGetCalledValue(call)))
        return; /* its operand says so */
    if (name && intrinsic_kind(name) == INTRINSIC_REFUSED) {
        refuse_at(confine, call, "the intrinsic function %s is not allowed in a kernel", name);
        return;
    }
    if (LLVMGetNumOperandBundles(call) && !(name && intrinsic_kind(name) == INTRINSIC_DROPPED))
        refuse_at(confine, call, "a call with an operand bundle is not allowed in a kernel");
    if (LLVMGetTailCallKind(call) == LLVMTailCallKindMustTail)
        refuse_at(confine, call, "a call that takes its caller's place (musttail) is not allowed in a kernel");
    if ((attribute = refused_attribute(confine->context, call, true, LLVMGetNumArgOperands(call))))
        refuse_at(confine, call, "a call with the attribute '%s' is not allowed in a kernel", attribute);
    if (!called || name || is_defined(called))
        return;
    const struct machine_call *row = machine_call_find(value_name(called));
    if (is_hook_name(value_name(called)))
        refuse_at(confine, call, "%s belongs to the machine: a kernel must not call it", value_name(called));
    else if (row && (LLVMGlobalGetValueType(called) != machine_call_type(confine, row) ||
                     LLVMGetCalledFunctionType(call) != machine_call_type(confine, row)))
        refuse_at(confine, call, "%s is called with other arguments than the machine gives it", value_name(called));
}

static const char *refused_instruction(LLVMValueRef instruction)
{
    switch (LLVMGetInstructionOpcode(instruction)) {
    case LLVMRet:
    case LLVMBr:
    case LLVMSwitch:
    case LLVMUnreachable:
    case LLVMFNeg:
    case LLVMAdd:
    case LLVMFAdd:
    case LLVMSub:
    case LLVMFSub:
    case LLVMMul:
    case LLVMFMul:
    case LLVMUDiv:
    case LLVMSDiv:
    case LLVMFDiv:
    case LLVMURem:
    case LLVMSRem:
    case LLVMFRem:
    case LLVMShl:
    case LLVMLShr:
    case LLVMAShr:
    case LLVMAnd:
    case LLVMOr:
    case LLVMXor:
    case LLVMAlloca:
    case LLVMLoad:
    case LLVMStore:
    case LLVMGetElementPtr:
    case LLVMTrunc:
    case LLVMZExt:
    case LLVMSExt:
    case LLVMFPToUI:
    case LLVMFPToSI:
    case LLVMUIToFP:
    case LLVMSIToFP:
    case LLVMFPTrunc:
    case LLVMFPExt:
    case LLVMPtrToInt:
    case LLVMIntToPtr:
    case LLVMBitCast:
    case LLVMAddrSpaceCast:
    case LLVMICmp:
    case LLVMFCmp:
    case LLVMPHI:
    case LLVMCall:
    case LLVMSelect:
    case LLVMExtractElement:
    case LLVMInsertElement:
    case LLVMShuffleVector:
    case LLVMExtractValue:
    case LLVMInsertValue:
    case LLVMFence:
    case LLVMAtomicCmpXchg:
    case LLVMAtomicRMW:
    case LLVMFreeze:
        return NULL;
    case LLVMIndirectBr:
        return "a jump to a computed address";
    case LLVMCallBr:
        return "inline assembly that jumps";
    case LLVMInvoke:
    case LLVMLandingPad:
    case LLVMResume:
    case LLVMCleanupRet:
    case LLVMCatchRet:
    case LLVMCatchPad:
    case LLVMCleanupPad:
    case LLVMCatchSwitch:
        return "an exception";
    case LLVMVAArg:
        return "a variable number of arguments";
    default:
        return "an instruction of an unknown kind";
    }
}

/* The pointer of a load, a store and the like must be one, of an address space that has memory. */
static void check_instruction(struct walk *walk, LLVMValueRef instruction)
{
    struct confine *confine = walk->confine;
    const char *reason = refused_instruction(instruction);
    if (reason) {
        refuse_at(confine, instruction, "%s is not allowed in a kernel", reason);
        return;
    }
    if (LLVMIsAAllocaInst(instruction) &&
        (LLVMGetPointerAddressSpace(LLVMTypeOf(instruction)) != 0 || LLVMGetAlignment(instruction) > MOST_ALIGNMENT ||
         !LLVMTypeIsSized(LLVMGetAllocatedType(instruction)) || refused_type(LLVMGetAllocatedType(instruction), 0)))
        refuse_at(confine, instruction, "a variable of this kind is not allowed in a kernel");
    check_value(walk, instruction, instruction);
    for (int i = 0; i < LLVMGetNumOperands(instruction); i++)
        check_value(walk, instruction, LLVMGetOperand(instruction, (unsigned)i));
    if (LLVMIsACallInst(instruction))
        check_call(confine, instruction);
}

/* Functions. */

static bool has_attribute(LLVMValueRef function, const char *name)
{
    unsigned kind = LLVMGetEnumAttributeKindForName(name, strlen(name));
    return LLVMGetEnumAttributeAtIndex(function, LLVMAttributeFunctionIndex, kind) != NULL;
}

static void check_entry(struct confine *confine, LLVMValueRef function)
{
    LLVMTypeRef type = LLVMGlobalGetValueType(function), parameters[NPU_KERNEL_ARGUMENTS];
    unsigned count = LLVMCountParamTypes(type);
    bool good = count <= NPU_KERNEL_ARGUMENTS && LLVMGetTypeKind(LLVMGetReturnType(type)) == LLVMVoidTypeKind;
    if (good)
        LLVMGetParamTypes(type, parameters);
    for (unsigned i = 0; i < count && good; i++)
        good = LLVMGetTypeKind(parameters[i]) == LLVMPointerTypeKind ||
               (LLVMGetTypeKind(parameters[i]) == LLVMIntegerTypeKind && LLVMGetIntTypeWidth(parameters[i]) <= 64);
    if (!good)
        refuse_at(confine, function, "the kernel's entry takes something else than pointers and whole numbers");
}

/* The headers' calls would go there. Any other name of the kernel's own nobody outside the module sees (strip.c). */
static bool is_the_machines(const char *name)
{
    return strncmp(name, "npu_", 4) == 0;
}

static const char *refused_function(struct confine *confine, LLVMValueRef function)
{
    unsigned convention = LLVMGetFunctionCallConv(function);
    const char *attribute = refused_attribute(confine->context, function, false, LLVMCountParams(function));
    if (attribute)
        return "a parameter of this kind";
    if (has_attribute(function, "naked"))
        return "a function without a frame (naked)";
    if (LLVMIsFunctionVarArg(LLVMGlobalGetValueType(function)))
        return "a function with a variable number of arguments";
    if (*section_name(function))
        return "a function in a section of its own";
    if (LLVMHasPersonalityFn(function))
        return "a function that catches exceptions";
    if (LLVMHasPrefixData(function) || LLVMHasPrologueData(function))
        return "data beside a function's code";
    if (LLVMGetGC(function))
        return "a garbage collector";
    if (convention != LLVMCCallConv && convention != LLVMFastCallConv)
        return "a function with a calling convention of its own";
    if (LLVMGetPointerAddressSpace(LLVMTypeOf(function)) != 0)
        return "a function in another address space";
    return NULL;
}

static void check_function(struct walk *walk, LLVMValueRef function)
{
    struct confine *confine = walk->confine;
    const char *name = value_name(function);
    if (LLVMGetLinkage(function) == LLVMExternalWeakLinkage)
        refuse_at(confine, function, "a weak reference ('%s') is not allowed in a kernel", name);
    if (!is_defined(function)) /* the linker reports what nobody defines */
        return;
    if (is_the_machines(name)) {
        refuse_at(confine, function, "the kernel defines %s, which is the machine's", name);
        return;
    }
    const char *reason = refused_function(confine, function);
    if (reason)
        refuse_at(confine, function, "%s is not allowed in a kernel", reason);
    if (strcmp(name, confine->entry) == 0)
        check_entry(confine, function);
    check_value(walk, function, function);
    for (unsigned i = 0; i < LLVMCountParams(function); i++)
        check_value(walk, function, LLVMGetParam(function, i));
    FOR_BLOCKS(function, block)
    FOR_INSTRUCTIONS(block, instruction)
    check_instruction(walk, instruction);
}

/* Variables. */

/* Whole numbers, structures and arrays of them: nothing that the loader would fill in. */
static bool is_plain_data(LLVMValueRef value)
{
    if (LLVMIsAConstantInt(value) || LLVMIsAConstantAggregateZero(value) || LLVMIsAConstantDataArray(value))
        return true;
    bool plain = LLVMIsAConstantStruct(value) || LLVMIsAConstantArray(value);
    for (int i = 0; plain && i < LLVMGetNumOperands(value); i++)
        plain = is_plain_data(LLVMGetOperand(value, (unsigned)i));
    return plain;
}

static const char *refused_section(LLVMValueRef global)
{
    const char *section = section_name(global);
    if (strcmp(section, NPU_TASK_TYPES) == 0)
        return LLVMIsGlobalConstant(global) && is_plain_data(LLVMGetInitializer(global))
                   ? NULL
                   : "a kernel type that is no constant number";
    if (!*section || strcmp(section, SECTION_METADATA) == 0 || strcmp(section, NPU_SECTION_BLOCK) == 0 ||
        strcmp(section, NPU_SECTION_GM) == 0)
        return NULL;
    return "a variable in a section of its own";
}

/* llvm.used and the like say something about other variables. */
static bool is_list(LLVMValueRef global)
{
    static const char *const known[] = {"llvm.used", "llvm.compiler.used", "llvm.global.annotations", NULL};
    return is_one_of(value_name(global), known);
}

static void check_global(struct walk *walk, LLVMValueRef global)
{
    struct confine *confine = walk->confine;
    LLVMValueRef initial = LLVMGetInitializer(global);
    const char *name = value_name(global), *reason = NULL;
    if (is_list(global))
        return;
    if (strcmp(name, "llvm.global_ctors") == 0 || strcmp(name, "llvm.global_dtors") == 0)
        reason = "code that runs before or after the kernel";
    else if (strncmp(name, "llvm.", 5) == 0)
        reason = "a variable of the compiler's";
    else if (LLVMIsThreadLocal(global))
        reason = "a variable of a thread (thread_local)";
    else if (LLVMGetLinkage(global) == LLVMExternalWeakLinkage)
        reason = "a weak reference";
    else if (initial && is_the_machines(name))
        reason = "a variable by a name of the machine's";
    else if (LLVMGetAlignment(global) > MOST_ALIGNMENT)
        reason = "a variable of such an alignment";
    else if (refused_type(LLVMGlobalGetValueType(global), 0))
        reason = refused_type(LLVMGlobalGetValueType(global), 0);
    else if (initial)
        reason = refused_section(global);
    if (reason)
        refuse_at(confine, global, "%s is not allowed in a kernel (%s)", reason, name);
    check_value(walk, global, global);
    if (initial)
        check_value(walk, global, initial);
}

/* An alias of a function or variable of the module stands for it (strip.c). */
static void check_aliases(struct confine *confine)
{
    for (LLVMValueRef alias = LLVMGetFirstGlobalAlias(confine->module); alias; alias = LLVMGetNextGlobalAlias(alias)) {
        LLVMValueRef target = LLVMAliasGetAliasee(alias);
        bool function = LLVMIsAFunction(target) && is_defined(target);
        bool variable = LLVMIsAGlobalVariable(target) && LLVMGetInitializer(target);
        if (is_the_machines(value_name(alias)) || strcmp(value_name(alias), confine->entry) == 0 ||
            (!function && !variable))
            refuse_at(confine, NULL, "the alias '%s' is not allowed in a kernel", value_name(alias));
    }
}

/* The module as a whole. */

/* What clang notes about its own options. */
static const char *const flags_kept[] = {
    "SDK Version", "Dwarf Version", "Debug Info Version", "wchar_size",    "PIC Level",
    "PIE Level",   "uwtable",       "frame-pointer",      "max-page-size", NULL};
static const char *const named_kept[] = {"llvm.dbg.cu", "llvm.ident", "llvm.module.flags", NULL};

static void check_metadata(struct confine *confine)
{
    size_t count, length;
    for (LLVMNamedMDNodeRef node = LLVMGetFirstNamedMetadata(confine->module); node;
         node = LLVMGetNextNamedMetadata(node)) {
        const char *name = LLVMGetNamedMetadataName(node, &length);
        if (!is_one_of(name, named_kept))
            refuse_at(confine, NULL, "%s (a word to the linker or the like) is not allowed in a kernel", name);
    }
    LLVMModuleFlagEntry *flags = LLVMCopyModuleFlagsMetadata(confine->module, &count);
    for (size_t i = 0; i < count; i++) {
        const char *name = LLVMModuleFlagEntriesGetKey(flags, (unsigned)i, &length);
        bool known = false;
        for (const char *const *kept = flags_kept; *kept; kept++)
            known |= strlen(*kept) == length && memcmp(*kept, name, length) == 0;
        if (!known)
            refuse_at(confine, NULL, "the module flag %.*s is not allowed in a kernel", (int)length, name);
    }
    LLVMDisposeModuleFlagsMetadata(flags);
}

/* Refuses variables outside GM that are too large to be copied for each core (npu/launch/own_variables.c). */
static void check_variables(struct confine *confine)
{
    enum { MOST = 1 << 20 };
    uint64_t bytes = 0;
    FOR_GLOBALS(confine->module, global)
    {
        const bool own = LLVMGetInitializer(global) && !LLVMIsGlobalConstant(global) &&
                         LLVMGetPointerAddressSpace(LLVMTypeOf(global)) == 0;
        bytes += own ? bytes_of(confine, LLVMGlobalGetValueType(global)) : 0;
        if (own && bytes > MOST) {
            refuse_at(confine, global, "variables of more than %d bytes outside GM are not allowed in a kernel (%s)",
                      MOST, value_name(global));
            return;
        }
    }
}

void refuse_module(struct confine *confine)
{
    struct walk walk = {.confine = confine};
    size_t length;
    LLVMGetModuleInlineAsm(confine->module, &length);
    if (length)
        refuse_at(confine, NULL, "inline assembly is not allowed in a kernel");
    if (LLVMGetFirstGlobalIFunc(confine->module))
        refuse_at(confine, NULL, "a function that the loader would choose (ifunc) is not allowed in a kernel");
    check_metadata(confine);
    check_aliases(confine);
    check_variables(confine);
    FOR_GLOBALS(confine->module, global)
    check_global(&walk, global);
    FOR_FUNCTIONS(confine->module, function)
    check_function(&walk, function);
    value_set_free(&walk.seen);
    free(walk.open);
}
