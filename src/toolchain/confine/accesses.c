/* Before each access a call of the machine that admits it, unless it lies inside a frame or a variable whatever happens.
 * Address and length are frozen, so the call and the access see the same ones. */
#include "toolchain/confine/confine_internal.h"

#include "abi/npu_hooks.h"

/* Freezes an operand in place and returns it. */
static LLVMValueRef freeze(struct confine *confine, LLVMValueRef instruction, unsigned operand)
{
    LLVMValueRef value = LLVMGetOperand(instruction, operand);
    if (LLVMIsAConstantInt(value) || LLVMIsAFreezeInst(value))
        return value;
    value = LLVMBuildFreeze(confine->builder, value, "");
    LLVMSetOperand(instruction, operand, value);
    return value;
}

/* As the machine's functions take it. */
static LLVMValueRef plain_pointer(struct confine *confine, LLVMValueRef pointer)
{
    if (LLVMGetPointerAddressSpace(LLVMTypeOf(pointer)) == 0)
        return pointer;
    return LLVMBuildAddrSpaceCast(confine->builder, pointer, confine->pointer, "");
}

/* One that can stand in a call: an address in the code is the same each time. */
static void check_one(struct confine *confine, LLVMValueRef instruction, unsigned operand, LLVMTypeRef type,
                      enum confine_hook hook)
{
    uint64_t bytes = bytes_of(confine, type);
    if (LLVMIsAAllocaInst(LLVMGetOperand(instruction, operand))) /* a debugger's slot (frames.c) */
        return;
    if (is_in_bounds(confine, LLVMGetOperand(instruction, operand), bytes, hook != HOOK_npu_load))
        return;
    build_before(confine, instruction);
    LLVMValueRef pointer = freeze(confine, instruction, operand);
    LLVMValueRef arguments[] = {plain_pointer(confine, pointer), word_constant(confine, bytes)};
    build_hook(confine, hook, arguments);
}

/* The number of bytes, if it is known and they lie where they may. */
static bool is_known(const struct confine *confine, LLVMValueRef pointer, LLVMValueRef bytes, bool write)
{
    return LLVMIsAConstantInt(bytes) && LLVMGetIntTypeWidth(LLVMTypeOf(bytes)) <= 64 &&
           is_in_bounds(confine, pointer, LLVMConstIntGetZExtValue(bytes), write);
}

static LLVMValueRef frozen_length(struct confine *confine, LLVMValueRef call, unsigned operand)
{
    return LLVMBuildIntCast2(confine->builder, freeze(confine, call, operand), confine->word, false, "");
}

/* memcpy, memmove: to, from, bytes. */
static void check_copy(struct confine *confine, LLVMValueRef call)
{
    LLVMValueRef bytes = LLVMGetOperand(call, 2);
    bool to = is_known(confine, LLVMGetOperand(call, 0), bytes, true);
    bool from = is_known(confine, LLVMGetOperand(call, 1), bytes, false);
    if (to && from)
        return;
    build_before(confine, call);
    LLVMValueRef length = frozen_length(confine, call, 2);
    LLVMValueRef first = to ? NULL : plain_pointer(confine, freeze(confine, call, 0));
    LLVMValueRef second = from ? NULL : plain_pointer(confine, freeze(confine, call, 1));
    LLVMValueRef both[] = {first, second, length}, one[] = {first ? first : second, length};
    if (first && second)
        build_hook(confine, HOOK_npu_copy, both);
    else
        build_hook(confine, first ? HOOK_npu_store : HOOK_npu_load, one);
}

/* memset: to, value, bytes. */
static void check_fill(struct confine *confine, LLVMValueRef call)
{
    if (is_known(confine, LLVMGetOperand(call, 0), LLVMGetOperand(call, 2), true))
        return;
    build_before(confine, call);
    LLVMValueRef length = frozen_length(confine, call, 2);
    LLVMValueRef arguments[] = {plain_pointer(confine, freeze(confine, call, 0)), length};
    build_hook(confine, HOOK_npu_fill, arguments);
}

/* memcmp: one, other, bytes. */
static void check_compare(struct confine *confine, LLVMValueRef call)
{
    build_before(confine, call);
    LLVMValueRef length = frozen_length(confine, call, 2);
    for (unsigned i = 0; i < 2; i++) {
        LLVMValueRef arguments[] = {plain_pointer(confine, freeze(confine, call, i)), length};
        build_hook(confine, HOOK_npu_load, arguments);
    }
}

/* Arguments of the machine's functions. */

/* A text of the module that ends inside it. */
static bool is_known_string(const struct confine *confine, LLVMValueRef pointer)
{
    int64_t offset;
    LLVMValueRef base = base_of(confine, pointer, &offset), text;
    size_t length;
    if (!LLVMIsAGlobalVariable(base) || !LLVMIsGlobalConstant(base) || !(text = LLVMGetInitializer(base)) ||
        !LLVMIsConstantString(text) || offset < 0)
        return false;
    const char *bytes = LLVMGetAsString(text, &length);
    bool ends = false;
    for (size_t i = (size_t)offset; i < length && !ends; i++)
        ends = !bytes[i];
    return ends;
}

/* Replaces the pointer by that of a copy, except for constant strings. Returns true if it did. */
static bool lend_argument(struct confine *confine, LLVMValueRef call, unsigned index, const struct parameter *parameter)
{
    LLVMValueRef pointer = LLVMGetOperand(call, index), length = word_constant(confine, parameter->bytes);
    if (parameter->kind == PARAMETER_STRING && is_known_string(confine, pointer))
        return false;
    build_before(confine, call);
    if (parameter->times)
        length = LLVMBuildMul(confine->builder, length, frozen_length(confine, call, parameter->times - 1U), "");
    LLVMValueRef arguments[] = {pointer, length,
                                LLVMConstInt(LLVMInt32TypeInContext(confine->context), parameter->use, false)};
    LLVMSetOperand(call, index, build_hook(confine, HOOK_npu_argument, arguments));
    return true;
}

static void check_call(struct confine *confine, LLVMValueRef call)
{
    const char *intrinsic = intrinsic_name(call);
    LLVMValueRef called = called_function(call);
    if (intrinsic && intrinsic_kind(intrinsic) == INTRINSIC_COPY)
        check_copy(confine, call);
    else if (intrinsic && intrinsic_kind(intrinsic) == INTRINSIC_FILL)
        check_fill(confine, call);
    const struct machine_call *row = intrinsic || is_defined(called) ? NULL : machine_call_find(value_name(called));
    if (!row)
        return;
    if (row->kind == CALL_COPY)
        check_copy(confine, call);
    else if (row->kind == CALL_FILL)
        check_fill(confine, call);
    else if (row->kind == CALL_COMPARE)
        check_compare(confine, call);
    unsigned lent = 0;
    for (unsigned i = 0; row->parameters[i].kind != PARAMETER_END; i++)
        lent += row->parameters[i].use && lend_argument(confine, call, i, &row->parameters[i]);
    if (!lent)
        return;
    build_before(confine, LLVMGetNextInstruction(call));
    LLVMValueRef count = LLVMConstInt(LLVMInt32TypeInContext(confine->context), lent, false);
    build_hook(confine, HOOK_npu_arguments_end, &count);
}

void check_accesses(struct confine *confine)
{
    FOR_FUNCTIONS(confine->module, function)
    FOR_BLOCKS(function, block)
    FOR_INSTRUCTIONS(block, instruction)
    {
        if (LLVMIsALoadInst(instruction))
            check_one(confine, instruction, 0, LLVMTypeOf(instruction), HOOK_npu_load);
        else if (LLVMIsAStoreInst(instruction))
            check_one(confine, instruction, 1, LLVMTypeOf(LLVMGetOperand(instruction, 0)), HOOK_npu_store);
        else if (LLVMIsAAtomicRMWInst(instruction) || LLVMIsAAtomicCmpXchgInst(instruction))
            check_one(confine, instruction, 0, LLVMTypeOf(LLVMGetOperand(instruction, 1)), HOOK_npu_update);
        else if (LLVMIsACallInst(instruction))
            check_call(confine, instruction);
    }
}
