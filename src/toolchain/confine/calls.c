/* Calls, and the intrinsics that are rewritten. A call through a pointer becomes a call of a function of ours, one for
 * each type, that compares the pointer with each function of that type whose address the module takes and calls the one
 * it is, by name. */
#include "toolchain/confine/confine_internal.h"

#include "abi/npu_hooks.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void build_trap(struct confine *confine)
{
    unsigned id = LLVMLookupIntrinsicID("llvm.trap", 9);
    LLVMValueRef trap = LLVMGetIntrinsicDeclaration(confine->module, id, NULL, 0);
    LLVMBuildCall2(confine->builder, LLVMIntrinsicGetType(confine->context, id, NULL, 0), trap, NULL, 0, "");
}

/* The value of an instruction that goes. */
static void erase(LLVMValueRef instruction, LLVMValueRef value)
{
    if (LLVMGetTypeKind(LLVMTypeOf(instruction)) != LLVMVoidTypeKind)
        LLVMReplaceAllUsesWith(instruction, value ? value : LLVMConstNull(LLVMTypeOf(instruction)));
    LLVMInstructionEraseFromParent(instruction);
}

static void rewrite_intrinsic(struct confine *confine, LLVMValueRef call)
{
    LLVMValueRef argument;
    build_before(confine, call);
    switch (intrinsic_kind(intrinsic_name(call))) {
    case INTRINSIC_DROPPED:
        erase(call, NULL);
        break;
    case INTRINSIC_FIRST:
        erase(call, LLVMGetOperand(call, 0));
        break;
    case INTRINSIC_TRAP:
        build_trap(confine);
        erase(call, NULL);
        break;
    case INTRINSIC_STACK:
        erase(call, build_hook(confine, HOOK_npu_frame_top, NULL));
        break;
    case INTRINSIC_UNSTACK:
        argument = LLVMBuildFreeze(confine->builder, LLVMGetOperand(call, 0), "");
        build_hook(confine, HOOK_npu_frame_back, &argument);
        erase(call, NULL);
        break;
    default:
        break;
    }
}

/* The number of an element that is computed: within the vector, whatever it is. */
static void keep_element_inside(struct confine *confine, LLVMValueRef instruction, unsigned operand)
{
    LLVMValueRef index = LLVMGetOperand(instruction, operand);
    LLVMTypeRef type = LLVMTypeOf(index);
    unsigned count = LLVMGetVectorSize(LLVMTypeOf(LLVMGetOperand(instruction, 0)));
    if (LLVMIsAConstantInt(index) && LLVMConstIntGetZExtValue(index) < count)
        return;
    build_before(confine, instruction);
    index = LLVMBuildFreeze(confine->builder, index, "");
    LLVMValueRef inside = LLVMBuildICmp(confine->builder, LLVMIntULT, index, LLVMConstInt(type, count, false), "");
    LLVMSetOperand(instruction, operand,
                   LLVMBuildSelect(confine->builder, inside, index, LLVMConstInt(type, 0, false), ""));
}

void rewrite_intrinsics(struct confine *confine)
{
    FOR_FUNCTIONS(confine->module, function)
    FOR_BLOCKS(function, block)
    FOR_INSTRUCTIONS_REMOVING(block, instruction)
    {
        if (LLVMIsACallInst(instruction) && intrinsic_name(instruction)) {
            rewrite_intrinsic(confine, instruction);
        } else if (LLVMIsAUnreachableInst(instruction)) {
            build_before(confine, instruction);
            build_trap(confine);
        } else if (LLVMIsAExtractElementInst(instruction)) {
            keep_element_inside(confine, instruction, 1);
        } else if (LLVMIsAInsertElementInst(instruction)) {
            keep_element_inside(confine, instruction, 2);
        }
    }
}

/* Functions whose address is taken. */

static bool is_called_only(LLVMValueRef function, LLVMValueRef user)
{
    if (!LLVMIsACallInst(user) || LLVMGetCalledValue(user) != function ||
        LLVMGetCalledFunctionType(user) != LLVMGlobalGetValueType(function))
        return false;
    for (unsigned i = 0; i < LLVMGetNumArgOperands(user); i++)
        if (LLVMGetOperand(user, i) == function)
            return false;
    return true;
}

static bool is_address_taken(LLVMValueRef function)
{
    for (LLVMUseRef use = LLVMGetFirstUse(function); use; use = LLVMGetNextUse(use))
        if (!is_called_only(function, LLVMGetUser(use)))
            return true;
    return false;
}

struct list {
    LLVMValueRef *items;
    size_t count;
};

static void list_add(struct list *list, LLVMValueRef value)
{
    if ((list->count & (list->count - 1)) == 0)
        list->items = realloc(list->items, (list->count ? 2 * list->count : 1) * sizeof(LLVMValueRef));
    if (!list->items)
        abort();
    list->items[list->count++] = value;
}

static struct list functions_taken(const struct confine *confine)
{
    struct list list = {0};
    FOR_FUNCTIONS(confine->module, function)
    if (is_defined(function) && is_address_taken(function))
        list_add(&list, function);
    return list;
}

/* Calls through pointers. */

enum { MOST_PARAMETERS = 256 };

/* The function that chooses for calls of `type`: its parameters are the pointer and those of the type. */
static LLVMValueRef chooser_of(struct confine *confine, struct list *choosers, LLVMTypeRef type)
{
    LLVMTypeRef parameters[MOST_PARAMETERS + 1] = {confine->pointer};
    char name[48];
    LLVMGetParamTypes(type, parameters + 1);
    LLVMTypeRef own = LLVMFunctionType(LLVMGetReturnType(type), parameters, LLVMCountParamTypes(type) + 1, false);
    for (size_t i = 0; i < choosers->count; i++)
        if (LLVMGlobalGetValueType(choosers->items[i]) == own)
            return choosers->items[i];
    snprintf(name, sizeof name, "choose.%zu", choosers->count);
    LLVMValueRef chooser = LLVMAddFunction(confine->module, name, own);
    LLVMSetLinkage(chooser, LLVMInternalLinkage);
    add_our_attributes(confine, chooser);
    list_add(choosers, chooser);
    return chooser;
}

static void build_call(struct confine *confine, LLVMValueRef chooser, LLVMValueRef function)
{
    LLVMTypeRef type = LLVMGlobalGetValueType(function);
    LLVMValueRef arguments[MOST_PARAMETERS];
    unsigned count = LLVMCountParamTypes(type);
    for (unsigned i = 0; i < count; i++)
        arguments[i] = LLVMGetParam(chooser, i + 1);
    LLVMValueRef result = LLVMBuildCall2(confine->builder, type, function, arguments, count, "");
    if (LLVMGetTypeKind(LLVMGetReturnType(type)) == LLVMVoidTypeKind)
        LLVMBuildRetVoid(confine->builder);
    else
        LLVMBuildRet(confine->builder, result);
}

static bool is_of_type(LLVMValueRef function, LLVMTypeRef chooser)
{
    LLVMTypeRef type = LLVMGlobalGetValueType(function), wanted[MOST_PARAMETERS + 1], has[MOST_PARAMETERS];
    unsigned count = LLVMCountParamTypes(type);
    if (count + 1 != LLVMCountParamTypes(chooser) || LLVMGetReturnType(type) != LLVMGetReturnType(chooser))
        return false;
    LLVMGetParamTypes(chooser, wanted);
    LLVMGetParamTypes(type, has);
    return memcmp(has, wanted + 1, count * sizeof *has) == 0;
}

static void build_chooser(struct confine *confine, LLVMValueRef chooser, const struct list *taken)
{
    LLVMValueRef pointer = LLVMGetParam(chooser, 0);
    LLVMSetCurrentDebugLocation2(confine->builder, NULL);
    LLVMPositionBuilderAtEnd(confine->builder, LLVMAppendBasicBlockInContext(confine->context, chooser, ""));
    for (size_t i = 0; i < taken->count; i++) {
        if (!is_of_type(taken->items[i], LLVMGlobalGetValueType(chooser)))
            continue;
        LLVMBasicBlockRef found = LLVMAppendBasicBlockInContext(confine->context, chooser, "");
        LLVMBasicBlockRef on = LLVMAppendBasicBlockInContext(confine->context, chooser, "");
        LLVMValueRef same = LLVMBuildICmp(confine->builder, LLVMIntEQ, pointer, taken->items[i], "");
        LLVMBuildCondBr(confine->builder, same, found, on);
        LLVMPositionBuilderAtEnd(confine->builder, found);
        build_call(confine, chooser, taken->items[i]);
        LLVMPositionBuilderAtEnd(confine->builder, on);
    }
    build_hook(confine, HOOK_npu_bad_call, &pointer);
    build_trap(confine);
    LLVMBuildUnreachable(confine->builder);
}

static void choose(struct confine *confine, struct list *choosers, LLVMValueRef call)
{
    LLVMTypeRef type = LLVMGetCalledFunctionType(call);
    LLVMValueRef arguments[MOST_PARAMETERS + 1];
    unsigned count = LLVMCountParamTypes(type);
    build_before(confine, call);
    arguments[0] = LLVMBuildFreeze(confine->builder, LLVMGetCalledValue(call), "");
    if (LLVMGetPointerAddressSpace(LLVMTypeOf(arguments[0])) != 0)
        arguments[0] = LLVMBuildAddrSpaceCast(confine->builder, arguments[0], confine->pointer, "");
    if (LLVMIsFunctionVarArg(type) || count > MOST_PARAMETERS) {
        build_hook(confine, HOOK_npu_bad_call, arguments);
        build_trap(confine);
        erase(call, NULL);
        return;
    }
    LLVMValueRef chooser = chooser_of(confine, choosers, type);
    for (unsigned i = 0; i < count; i++)
        arguments[i + 1] = LLVMGetOperand(call, i);
    LLVMValueRef result =
        LLVMBuildCall2(confine->builder, LLVMGlobalGetValueType(chooser), chooser, arguments, count + 1, "");
    erase(call, LLVMGetTypeKind(LLVMTypeOf(result)) == LLVMVoidTypeKind ? NULL : result);
}

/* printf. */

/* The bits of an argument as C passes it; NULL: none that printf can print. */
static LLVMValueRef word_of(struct confine *confine, LLVMValueRef value)
{
    LLVMTypeRef type = LLVMTypeOf(value);
    switch (LLVMGetTypeKind(type)) {
    case LLVMIntegerTypeKind:
        return LLVMGetIntTypeWidth(type) <= 64 ? LLVMBuildIntCast2(confine->builder, value, confine->word, false, "")
                                               : NULL;
    case LLVMDoubleTypeKind:
        return LLVMBuildBitCast(confine->builder, value, confine->word, "");
    case LLVMPointerTypeKind:
        return LLVMBuildPtrToInt(confine->builder, value, confine->word, "");
    default:
        return NULL;
    }
}

/* npu_printf(format, ...) becomes npu_print(format, words, count): what is printed is in the kernel's own memory. */
static void pack_print(struct confine *confine, LLVMValueRef call)
{
    unsigned count = LLVMGetNumArgOperands(call) - 1;
    LLVMTypeRef words = LLVMArrayType2(confine->word, count + 1);
    LLVMBasicBlockRef entry = LLVMGetEntryBasicBlock(LLVMGetBasicBlockParent(LLVMGetInstructionParent(call)));
    LLVMPositionBuilderBefore(confine->builder, LLVMGetFirstInstruction(entry));
    LLVMValueRef array = LLVMBuildAlloca(confine->builder, words, "");
    build_before(confine, call);
    for (unsigned i = 0; i < count; i++) {
        LLVMValueRef word = word_of(confine, LLVMGetOperand(call, i + 1)), index = word_constant(confine, i);
        if (!word) {
            refuse_at(confine, call, "printf is given something else than a number or a pointer");
            return;
        }
        LLVMBuildStore(confine->builder, word, LLVMBuildGEP2(confine->builder, confine->word, array, &index, 1, ""));
    }
    LLVMValueRef arguments[] = {LLVMGetOperand(call, 0), array,
                                LLVMConstInt(LLVMInt32TypeInContext(confine->context), count, false)};
    build_hook(confine, HOOK_npu_print, arguments);
    erase(call, NULL);
}

/* Calls of what the module does not define. What nobody defines is the linker's to report; nothing runs there. */
static void rewrite_outward(struct confine *confine, LLVMValueRef call)
{
    const char *name = value_name(called_function(call));
    const struct machine_call *row = machine_call_find(name);
    if (is_hook_name(name))
        return;
    build_before(confine, call);
    if (!row || row->kind == CALL_TRAP)
        build_trap(confine);
    if (row && row->kind == CALL_PRINT)
        pack_print(confine, call);
    else if (row && (row->kind == CALL_TRAP || row->kind == CALL_NOTHING))
        erase(call, NULL);
}

/* Functions that the machine may call. */

static LLVMTypeRef callback_type(const struct confine *confine, int kind)
{
    LLVMTypeRef p = confine->pointer, l = confine->word, i = LLVMInt32TypeInContext(confine->context);
    LLVMTypeRef in[] = {p, l, i, i, i, i, l, l}, out[] = {l, p, p, l, l};
    return kind == NPU_CALLBACK_IN ? LLVMFunctionType(confine->none, in, sizeof in / sizeof *in, false)
                                   : LLVMFunctionType(confine->none, out, sizeof out / sizeof *out, false);
}

static void list_callbacks(struct confine *confine, const struct list *taken)
{
    struct list rows = {0};
    LLVMTypeRef fields[] = {confine->pointer, confine->word};
    LLVMTypeRef type = LLVMStructTypeInContext(confine->context, fields, 2, false);
    for (size_t i = 0; i < taken->count; i++)
        for (uint64_t kind = NPU_CALLBACK_IN; kind <= NPU_CALLBACK_OUT; kind++)
            if (LLVMGlobalGetValueType(taken->items[i]) == callback_type(confine, (int)kind)) {
                LLVMValueRef row[] = {taken->items[i], word_constant(confine, kind)};
                list_add(&rows, LLVMConstStructInContext(confine->context, row, 2, false));
            }
    if (rows.count) {
        LLVMValueRef table = LLVMAddGlobal(confine->module, LLVMArrayType2(type, rows.count), "callbacks");
        LLVMSetInitializer(table, LLVMConstArray2(type, rows.items, rows.count));
        LLVMSetGlobalConstant(table, true);
        LLVMSetLinkage(table, LLVMInternalLinkage);
        LLVMSetSection(table, NPU_SECTION_CALLBACKS);
    }
    free(rows.items);
}

static bool is_direct(LLVMValueRef call)
{
    LLVMValueRef called = called_function(call);
    return called && LLVMGlobalGetValueType(called) == LLVMGetCalledFunctionType(call);
}

void rewrite_calls(struct confine *confine)
{
    struct list taken = functions_taken(confine), choosers = {0};
    FOR_FUNCTIONS(confine->module, function)
    FOR_BLOCKS(function, block)
    FOR_INSTRUCTIONS_REMOVING(block, instruction)
    {
        if (!LLVMIsACallInst(instruction) || intrinsic_name(instruction))
            continue;
        if (!is_direct(instruction))
            choose(confine, &choosers, instruction);
        else if (!is_defined(called_function(instruction)))
            rewrite_outward(confine, instruction);
    }
    for (size_t i = 0; i < choosers.count; i++)
        build_chooser(confine, choosers.items[i], &taken);
    list_callbacks(confine, &taken);
    free(taken.items);
    free(choosers.items);
}
