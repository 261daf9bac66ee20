/* The last walk: what confine.h promises is looked at in the module that will be emitted, by code that knows nothing of
 * how it came about. A module that breaks a rule here was rewritten wrongly: it is refused all the same, for a reason that
 * names the rule. */
#include "toolchain/confine/confine_internal.h"

#include "abi/npu_abi.h"
#include "abi/npu_hooks.h"

#include <llvm-c/Analysis.h>
#include <llvm-c/Comdat.h>
#include <string.h>

static void broken(struct confine *confine, LLVMValueRef where, const char *rule)
{
    refuse_at(confine, where, "this cannot be compiled safely: %s", rule);
}

static bool is_hook(const struct confine *confine, LLVMValueRef value, enum confine_hook hook)
{
    return value && LLVMIsACallInst(value) && LLVMGetCalledValue(value) == confine->hooks[hook] &&
           LLVMGetCalledFunctionType(value) == confine->hook_types[hook];
}

static bool is_trap(LLVMValueRef value)
{
    const char *name = value && LLVMIsACallInst(value) ? intrinsic_name(value) : NULL;
    return name && strcmp(name, "llvm.trap") == 0;
}

/* Rule 1. */

/* The same address in another address space is the same address. */
static LLVMValueRef without_cast(LLVMValueRef value)
{
    while (LLVMIsAAddrSpaceCastInst(value) || LLVMIsAZExtInst(value))
        value = LLVMGetOperand(value, 0);
    return value;
}

static bool is_one_value(LLVMValueRef value)
{
    return LLVMIsAConstantInt(value) || LLVMIsAFreezeInst(value);
}

static bool lies_inside(const struct confine *confine, LLVMValueRef pointer, uint64_t bytes, bool write)
{
    int64_t offset;
    LLVMValueRef base = base_of(confine, pointer, &offset);
    uint64_t room = 0;
    if (is_hook(confine, base, HOOK_npu_frame)) {
        room = LLVMIsAConstantInt(LLVMGetOperand(base, 0)) ? LLVMConstIntGetZExtValue(LLVMGetOperand(base, 0)) : 0;
    } else if (LLVMIsAGlobalVariable(base) && LLVMGetInitializer(base) && LLVMGetLinkage(base) == LLVMInternalLinkage &&
               !(write && LLVMIsGlobalConstant(base)) && strcmp(section_name(base), NPU_SECTION_GM) != 0) {
        room = LLVMABISizeOfType(confine->layout, LLVMGlobalGetValueType(base));
    }
    return offset >= 0 && bytes <= room && (uint64_t)offset <= room - bytes;
}

/* What may stand between the admission and what it admits: nothing that changes memory or ends the block. */
static bool is_between(const struct confine *confine, LLVMValueRef value)
{
    static const enum confine_hook admissions[] = {HOOK_npu_load, HOOK_npu_store, HOOK_npu_update,
                                                   HOOK_npu_copy, HOOK_npu_fill,  HOOK_npu_argument};
    for (size_t i = 0; i < sizeof admissions / sizeof *admissions; i++)
        if (is_hook(confine, value, admissions[i]))
            return true;
    return LLVMIsAFreezeInst(value) || LLVMIsACastInst(value) || LLVMIsABinaryOperator(value) ||
           LLVMIsAGetElementPtrInst(value);
}

static bool admits(LLVMValueRef call, LLVMValueRef pointer, unsigned argument)
{
    return without_cast(LLVMGetOperand(call, argument)) == pointer;
}

/* True if a call before `instruction` admits the bytes. length: a value, or NULL with `bytes`. */
static bool is_admitted(const struct confine *confine, LLVMValueRef instruction, LLVMValueRef pointer,
                        LLVMValueRef length, uint64_t bytes, bool write)
{
    pointer = without_cast(pointer);
    length = length ? without_cast(length) : NULL;
    if (!is_one_value(pointer) || (length && !is_one_value(length)))
        return false;
    for (LLVMValueRef at = LLVMGetPreviousInstruction(instruction); at && is_between(confine, at);
         at = LLVMGetPreviousInstruction(at)) {
        bool copy = is_hook(confine, at, HOOK_npu_copy), update = is_hook(confine, at, HOOK_npu_update);
        bool one = update || is_hook(confine, at, write ? HOOK_npu_store : HOOK_npu_load) ||
                   (write && is_hook(confine, at, HOOK_npu_fill));
        if (!(one && admits(at, pointer, 0)) && !(copy && admits(at, pointer, write ? 0 : 1)))
            continue;
        LLVMValueRef admitted = without_cast(LLVMGetOperand(at, copy ? 2 : 1));
        if (length ? admitted == length || (LLVMIsAConstantInt(admitted) && LLVMIsAConstantInt(length) &&
                                            LLVMConstIntGetZExtValue(admitted) == LLVMConstIntGetZExtValue(length))
                   : LLVMIsAConstantInt(admitted) && LLVMConstIntGetZExtValue(admitted) >= bytes)
            return true;
    }
    return false;
}

static void verify_access(struct confine *confine, LLVMValueRef instruction, LLVMValueRef pointer, LLVMTypeRef type,
                          bool write)
{
    uint64_t bytes = LLVMStoreSizeOfType(confine->layout, type);
    if (!lies_inside(confine, pointer, bytes, write) && !is_admitted(confine, instruction, pointer, NULL, bytes, write))
        broken(confine, instruction, "an access that nothing admits");
}

static void verify_stretch(struct confine *confine, LLVMValueRef call, unsigned operand, bool write)
{
    LLVMValueRef pointer = LLVMGetOperand(call, operand), length = LLVMGetOperand(call, 2);
    if (LLVMIsAConstantInt(length) && lies_inside(confine, pointer, LLVMConstIntGetZExtValue(length), write))
        return;
    if (!is_admitted(confine, call, pointer, length, 0, write))
        broken(confine, call, "a copy that nothing admits");
}

/* Rule 4. */

static bool is_text(LLVMValueRef pointer)
{
    LLVMValueRef base = pointer;
    while (LLVMIsAConstantExpr(base))
        base = LLVMGetOperand(base, 0);
    return LLVMIsAGlobalVariable(base) && LLVMIsGlobalConstant(base) && LLVMGetInitializer(base) &&
           LLVMIsConstantString(LLVMGetInitializer(base));
}

static bool argument_admitted(const struct confine *confine, LLVMValueRef call, unsigned index,
                              const struct parameter *parameter)
{
    LLVMValueRef copy = LLVMGetOperand(call, index);
    for (LLVMValueRef at = LLVMGetPreviousInstruction(call); at && is_between(confine, at);
         at = LLVMGetPreviousInstruction(at)) {
        if (at != copy || !is_hook(confine, at, HOOK_npu_argument))
            continue;
        LLVMValueRef length = LLVMGetOperand(at, 1), use = LLVMGetOperand(at, 2);
        bool enough = parameter->kind == PARAMETER_STRING || parameter->times
                          ? true
                          : LLVMIsAConstantInt(length) && LLVMConstIntGetZExtValue(length) >= parameter->bytes;
        return enough && LLVMConstIntGetZExtValue(use) == parameter->use;
    }
    return false;
}

/* Returns true if the call's copies are released directly after it, all of them. */
static bool gives_back(const struct confine *confine, LLVMValueRef call, unsigned copies)
{
    LLVMValueRef next = LLVMGetNextInstruction(call);
    return next && is_hook(confine, next, HOOK_npu_arguments_end) &&
           LLVMConstIntGetZExtValue(LLVMGetOperand(next, 0)) == copies;
}

static void verify_machine_call(struct confine *confine, LLVMValueRef call, const struct machine_call *row)
{
    LLVMValueRef called = called_function(call);
    if (LLVMGetCalledFunctionType(call) != machine_call_type(confine, row) ||
        LLVMGlobalGetValueType(called) != machine_call_type(confine, row))
        broken(confine, call, "a call of the machine by another type");
    if (row->kind == CALL_PRINT || row->kind == CALL_NOTHING || row->kind == CALL_TRAP)
        broken(confine, call, "a call that should have been rewritten");
    if (row->kind == CALL_COPY || row->kind == CALL_FILL)
        verify_stretch(confine, call, 0, true);
    if (row->kind == CALL_COPY)
        verify_stretch(confine, call, 1, false);
    for (unsigned i = 0; i < 2 && row->kind == CALL_COMPARE; i++)
        verify_stretch(confine, call, i, false);
    unsigned copies = 0;
    for (unsigned i = 0; row->parameters[i].kind != PARAMETER_END; i++) {
        const struct parameter *parameter = &row->parameters[i];
        if (!parameter->use || (parameter->kind == PARAMETER_STRING && is_text(LLVMGetOperand(call, i))))
            continue;
        copies++;
        if (!argument_admitted(confine, call, i, parameter))
            broken(confine, call, "an argument of a call of the machine that nothing admits");
    }
    if (copies && !gives_back(confine, call, copies))
        broken(confine, call, "copies of arguments that nothing takes back");
}

static void verify_intrinsic(struct confine *confine, LLVMValueRef call, enum intrinsic_kind kind)
{
    if (kind == INTRINSIC_COPY || kind == INTRINSIC_FILL)
        verify_stretch(confine, call, 0, true);
    if (kind == INTRINSIC_COPY)
        verify_stretch(confine, call, 1, false);
    if (kind != INTRINSIC_COPY && kind != INTRINSIC_FILL && kind != INTRINSIC_KEPT && !is_trap(call))
        broken(confine, call, "an intrinsic function that should be gone");
}

/* Nothing in a block runs behind a trap. */
static bool stands_behind_a_trap(LLVMValueRef instruction)
{
    while ((instruction = LLVMGetPreviousInstruction(instruction)))
        if (is_trap(instruction))
            return true;
    return false;
}

/* Rule 3. */
static void verify_call(struct confine *confine, LLVMValueRef call)
{
    LLVMValueRef called = called_function(call);
    const char *intrinsic = intrinsic_name(call);
    if (!called || LLVMGetCalledFunctionType(call) != LLVMGlobalGetValueType(called)) {
        broken(confine, call, "a call through a pointer");
        return;
    }
    if (LLVMGetNumOperandBundles(call) || LLVMGetTailCallKind(call) != LLVMTailCallKindNone ||
        LLVMGetInstructionCallConv(call) != LLVMCCallConv)
        broken(confine, call, "a call in a form of its own");
    if (intrinsic) {
        verify_intrinsic(confine, call, intrinsic_kind(intrinsic));
        return;
    }
    if (is_defined(called))
        return;
    for (int i = 0; i < HOOKS; i++)
        if (called == confine->hooks[i])
            return;
    const struct machine_call *row = machine_call_find(value_name(called));
    if (row)
        verify_machine_call(confine, call, row);
    else if (!stands_behind_a_trap(call))
        broken(confine, call, "a call of what nobody defines");
}

/* A slot that keeps the frame's address for a debugger: written once, with that address, and nothing else. */
static bool is_slot(const struct confine *confine, LLVMValueRef alloca)
{
    LLVMUseRef use = LLVMGetFirstUse(alloca);
    LLVMValueRef store = use ? LLVMGetUser(use) : NULL;
    return LLVMIsAAllocaInst(alloca) && use && !LLVMGetNextUse(use) && LLVMIsAStoreInst(store) &&
           LLVMGetAllocatedType(alloca) == confine->pointer && LLVMGetOperand(store, 1) == alloca &&
           is_hook(confine, LLVMGetOperand(store, 0), HOOK_npu_frame) &&
           LLVMIsAConstantInt(LLVMGetOperand(alloca, 0)) && LLVMConstIntGetZExtValue(LLVMGetOperand(alloca, 0)) == 1;
}

static void verify_instruction(struct confine *confine, LLVMValueRef instruction)
{
    switch (LLVMGetInstructionOpcode(instruction)) {
    case LLVMLoad:
        verify_access(confine, instruction, LLVMGetOperand(instruction, 0), LLVMTypeOf(instruction), false);
        break;
    case LLVMStore:
        if (is_slot(confine, LLVMGetOperand(instruction, 1)))
            break;
        verify_access(confine, instruction, LLVMGetOperand(instruction, 1), LLVMTypeOf(LLVMGetOperand(instruction, 0)),
                      true);
        break;
    case LLVMAtomicRMW:
    case LLVMAtomicCmpXchg:
        verify_access(confine, instruction, LLVMGetOperand(instruction, 0), LLVMTypeOf(LLVMGetOperand(instruction, 1)),
                      true);
        break;
    case LLVMCall:
        verify_call(confine, instruction);
        break;
    case LLVMUnreachable:
        if (!is_trap(LLVMGetPreviousInstruction(instruction)))
            broken(confine, instruction, "an end of a block that nothing stops at");
        break;
    case LLVMAlloca: /* rule 2 */
        if (is_slot(confine, instruction))
            break;
        broken(confine, instruction, "a variable on the processor's stack");
        break;
    case LLVMInvoke:
    case LLVMIndirectBr:
    case LLVMCallBr:
    case LLVMVAArg:
    case LLVMLandingPad:
    case LLVMResume:
    case LLVMCleanupRet:
    case LLVMCatchRet:
    case LLVMCatchPad:
    case LLVMCleanupPad:
    case LLVMCatchSwitch:
    case LLVMUserOp1:
    case LLVMUserOp2:
        broken(confine, instruction, "an instruction that should have been refused");
        break;
    default:
        break;
    }
}

/* Rule 5: but for the functions that choose whom a pointer calls, which only compare and call. */
static void verify_block(struct confine *confine, LLVMValueRef function, LLVMBasicBlockRef block)
{
    bool counted = false, chooses = strncmp(value_name(function), "choose.", 7) == 0;
    FOR_INSTRUCTIONS(block, instruction)
    {
        LLVMOpcode opcode = LLVMGetInstructionOpcode(instruction);
        counted |= is_hook(confine, instruction, HOOK_npu_block);
        chooses &= opcode == LLVMICmp || opcode == LLVMBr || opcode == LLVMCall || opcode == LLVMRet ||
                   opcode == LLVMUnreachable;
        verify_instruction(confine, instruction);
    }
    if (!counted && !chooses)
        broken(confine, function, "a block that nobody counts");
}

static bool has_string(LLVMValueRef function, const char *key, const char *value)
{
    unsigned length;
    LLVMAttributeRef attribute =
        LLVMGetStringAttributeAtIndex(function, LLVMAttributeFunctionIndex, key, (unsigned)strlen(key));
    const char *has = attribute ? LLVMGetStringAttributeValue(attribute, &length) : NULL;
    return has && length == strlen(value) && memcmp(has, value, length) == 0;
}

static void verify_function(struct confine *confine, LLVMValueRef function)
{
    bool entry = strcmp(value_name(function), confine->entry) == 0;
    if (LLVMGetLinkage(function) != (entry ? LLVMExternalLinkage : LLVMInternalLinkage) || *section_name(function) ||
        LLVMGetComdat(function) || LLVMHasPrefixData(function) || LLVMHasPrologueData(function) ||
        LLVMHasPersonalityFn(function) || LLVMGetFunctionCallConv(function) != LLVMCCallConv ||
        LLVMIsFunctionVarArg(LLVMGlobalGetValueType(function)))
        broken(confine, function, "a function in a form of its own");
    if (!has_string(function, "no-jump-tables", "true") || !has_string(function, "probe-stack", "inline-asm") ||
        !has_string(function, "disable-tail-calls", "true"))
        broken(confine, function, "a function without what it must be compiled by");
    for (unsigned i = 0; i <= LLVMCountParams(function); i++)
        if (LLVMGetAttributeCountAtIndex(function, i))
            broken(confine, function, "a parameter with an attribute");
    FOR_BLOCKS(function, block)
    verify_block(confine, function, block);
}

static void verify_global(struct confine *confine, LLVMValueRef global)
{
    static const char *const sections[] = {
        NPU_SECTION_CONST,  NPU_SECTION_ADDRESSES, NPU_SECTION_BLOCK,     NPU_SECTION_GM,
        NPU_SECTION_BLOCKS, NPU_TASK_TYPES,        NPU_SECTION_CALLBACKS, NULL};
    bool known = false;
    for (const char *const *section = sections; *section; section++)
        known |= strcmp(section_name(global), *section) == 0;
    if (LLVMIsThreadLocal(global) || LLVMGetComdat(global) || (LLVMGetInitializer(global) && !known) ||
        (LLVMGetInitializer(global) && LLVMGetLinkage(global) != LLVMInternalLinkage))
        broken(confine, global, "a variable in a form of its own");
}

void verify_module(struct confine *confine)
{
    FOR_GLOBALS(confine->module, global)
    verify_global(confine, global);
    FOR_FUNCTIONS(confine->module, function)
    if (is_defined(function))
        verify_function(confine, function);
    char *message = NULL;
    if (LLVMVerifyModule(confine->module, LLVMReturnStatusAction, &message))
        broken(confine, NULL, message);
    LLVMDisposeMessage(message);
}
