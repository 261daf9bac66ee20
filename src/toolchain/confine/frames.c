/* Local variables: from the processor's stack, where return addresses lie, to the second stack, which the machine keeps
 * for each fiber. What a function's variables need is asked for when it begins and given back when it returns. */
#include "toolchain/confine/confine_internal.h"

#include "abi/npu_hooks.h"

#include <llvm-c/DebugInfo.h>
#include <stdlib.h>
#include <string.h>

static LLVMValueRef first_of(LLVMValueRef function)
{
    return LLVMGetFirstInstruction(LLVMGetEntryBasicBlock(function));
}

/* Structures by value. The caller makes the copy, which code generation would put on the processor's stack. */

static LLVMTypeRef type_by_value(LLVMValueRef call, unsigned parameter)
{
    unsigned kind = LLVMGetEnumAttributeKindForName("byval", 5);
    LLVMAttributeRef attribute = LLVMGetCallSiteEnumAttribute(call, parameter + 1, kind);
    LLVMValueRef called = called_function(call);
    if (!attribute && called && parameter < LLVMCountParams(called))
        attribute = LLVMGetEnumAttributeAtIndex(called, parameter + 1, kind);
    return attribute ? LLVMGetTypeAttributeValue(attribute) : NULL;
}

static void copy_argument(struct confine *confine, LLVMValueRef call, unsigned parameter, LLVMTypeRef type)
{
    LLVMValueRef from = LLVMGetOperand(call, parameter);
    LLVMPositionBuilderBefore(confine->builder, first_of(LLVMGetBasicBlockParent(LLVMGetInstructionParent(call))));
    LLVMValueRef copy = LLVMBuildAlloca(confine->builder, type, "");
    build_before(confine, call);
    unsigned alignment = LLVMABIAlignmentOfType(confine->layout, type);
    LLVMBuildMemCpy(confine->builder, copy, alignment, from, 1,
                    word_constant(confine, LLVMABISizeOfType(confine->layout, type)));
    LLVMSetOperand(call, parameter, copy);
}

void copy_arguments_by_value(struct confine *confine)
{
    FOR_FUNCTIONS(confine->module, function)
    FOR_BLOCKS(function, block)
    FOR_INSTRUCTIONS(block, instruction)
    {
        unsigned count = LLVMIsACallInst(instruction) ? LLVMGetNumArgOperands(instruction) : 0;
        for (unsigned i = 0; i < count; i++) {
            LLVMTypeRef type = type_by_value(instruction, i);
            if (type)
                copy_argument(confine, instruction, i, type);
        }
    }
}

/* Frames. */

struct frame {
    LLVMValueRef function, start; /* start: what npu_frame() gave */
    LLVMValueRef slot;            /* for debuggers: where the processor's stack keeps it */
    uint64_t bytes;
    bool needed;
};

static uint64_t round_up(uint64_t value, uint64_t unit)
{
    return (value + unit - 1) / unit * unit;
}

static bool is_static(LLVMValueRef alloca)
{
    LLVMBasicBlockRef block = LLVMGetInstructionParent(alloca);
    return block == LLVMGetEntryBasicBlock(LLVMGetBasicBlockParent(block)) &&
           LLVMIsAConstantInt(LLVMGetOperand(alloca, 0)) &&
           LLVMGetIntTypeWidth(LLVMTypeOf(LLVMGetOperand(alloca, 0))) <= 64 &&
           LLVMGetAlignment(alloca) <= NPU_FRAME_ALIGNMENT;
}

/* False: more than any stack has, which is asked for when the function runs. */
static bool place(const struct confine *confine, LLVMValueRef alloca, uint64_t *end, uint64_t *offset)
{
    uint64_t alignment = LLVMGetAlignment(alloca) ? LLVMGetAlignment(alloca) : 1, bytes;
    uint64_t count = LLVMConstIntGetZExtValue(LLVMGetOperand(alloca, 0));
    enum { MOST = 1 << 30 };
    if (__builtin_mul_overflow(LLVMABISizeOfType(confine->layout, LLVMGetAllocatedType(alloca)), count, &bytes) ||
        bytes > MOST || *end > MOST)
        return false;
    *offset = round_up(*end, alignment);
    *end = *offset + bytes;
    return true;
}

static LLVMValueRef part_of(struct confine *confine, const struct frame *frame, uint64_t offset)
{
    LLVMValueRef index = word_constant(confine, offset);
    return offset ? LLVMBuildGEP2(confine->builder, confine->byte, frame->start, &index, 1, "") : frame->start;
}

/* For debuggers (-O0 -g): a variable is described by the frame's address, which a slot of the processor's stack keeps as
 * long as the function runs; nothing but a debugger reads it. */
static void make_slot(struct confine *confine, struct frame *frame)
{
    LLVMPositionBuilderBefore(confine->builder, first_of(frame->function));
    frame->slot = LLVMBuildAlloca(confine->builder, confine->pointer, "");
    LLVMPositionBuilderBefore(confine->builder, LLVMGetNextInstruction(frame->start));
    LLVMSetCurrentDebugLocation2(confine->builder, LLVMInstructionGetDebugLoc(frame->start));
    LLVMBuildStore(confine->builder, frame->start, frame->slot);
}

static bool describes(LLVMValueRef call, LLVMValueRef alloca)
{
    const char *name = LLVMIsACallInst(call) ? intrinsic_name(call) : NULL;
    if (!name || strcmp(name, "llvm.dbg.declare") != 0 || LLVMGetMDNodeNumOperands(LLVMGetOperand(call, 0)) != 1)
        return false;
    LLVMValueRef described = NULL;
    LLVMGetMDNodeOperands(LLVMGetOperand(call, 0), &described);
    return described == alloca;
}

static void describe(struct confine *confine, struct frame *frame, LLVMValueRef alloca, uint64_t offset)
{
    enum { DW_OP_DEREF = 0x06, DW_OP_PLUS_UCONST = 0x23 };
    uint64_t steps[] = {DW_OP_DEREF, DW_OP_PLUS_UCONST, offset};
    if (!confine->debugged)
        return;
    LLVMDIBuilderRef builder = LLVMCreateDIBuilderDisallowUnresolved(confine->module);
    FOR_BLOCKS(frame->function, block)
    FOR_INSTRUCTIONS(block, instruction)
    {
        if (!describes(instruction, alloca))
            continue;
        if (!frame->slot)
            make_slot(confine, frame);
        LLVMMetadataRef way = LLVMDIBuilderCreateExpression(builder, steps, sizeof steps / sizeof *steps);
        LLVMSetOperand(instruction, 0, LLVMMetadataAsValue(confine->context, LLVMValueAsMetadata(frame->slot)));
        LLVMSetOperand(instruction, 2, LLVMMetadataAsValue(confine->context, way));
    }
    LLVMDisposeDIBuilder(builder);
}

/* A user that can be given an address of its own. */
static LLVMValueRef next_user(LLVMValueRef alloca)
{
    for (LLVMUseRef use = LLVMGetFirstUse(alloca); use; use = LLVMGetNextUse(use))
        if (LLVMIsAInstruction(LLVMGetUser(use)) && !LLVMIsAPHINode(LLVMGetUser(use)))
            return LLVMGetUser(use);
    return NULL;
}

/* Each use gets the address from the frame's, in place of one that would be kept in a register from the function's
 * beginning on. */
static void replace_static(struct confine *confine, struct frame *frame, LLVMValueRef alloca, uint64_t offset)
{
    describe(confine, frame, alloca, offset);
    for (LLVMValueRef user; (user = next_user(alloca));) {
        build_before(confine, user);
        LLVMValueRef at = part_of(confine, frame, offset);
        for (int i = 0; i < LLVMGetNumOperands(user); i++)
            if (LLVMGetOperand(user, (unsigned)i) == alloca)
                LLVMSetOperand(user, (unsigned)i, at);
    }
    LLVMPositionBuilderBefore(confine->builder, LLVMGetNextInstruction(frame->start));
    LLVMSetCurrentDebugLocation2(confine->builder, NULL);
    LLVMReplaceAllUsesWith(alloca, part_of(confine, frame, offset));
}

static void replace_dynamic(struct confine *confine, LLVMValueRef alloca)
{
    build_before(confine, alloca);
    LLVMValueRef count = LLVMBuildFreeze(confine->builder, LLVMGetOperand(alloca, 0), "");
    uint64_t alignment = LLVMGetAlignment(alloca) ? LLVMGetAlignment(alloca) : 1;
    LLVMValueRef arguments[] = {
        LLVMBuildIntCast2(confine->builder, count, confine->word, false, ""),
        word_constant(confine, LLVMABISizeOfType(confine->layout, LLVMGetAllocatedType(alloca))),
        word_constant(confine, alignment)};
    LLVMReplaceAllUsesWith(alloca, build_hook(confine, HOOK_npu_frame_more, arguments));
}

/* The first place in the source: where the frame is asked for, and where the report says that there is no room. */
static LLVMMetadataRef first_place(LLVMValueRef function)
{
    FOR_BLOCKS(function, block)
    FOR_INSTRUCTIONS(block, instruction)
    if (LLVMInstructionGetDebugLoc(instruction))
        return LLVMInstructionGetDebugLoc(instruction);
    return NULL;
}

static void begin_frame(struct confine *confine, struct frame *frame)
{
    LLVMValueRef bytes = word_constant(confine, frame->bytes);
    LLVMPositionBuilderBefore(confine->builder, first_of(frame->function));
    LLVMSetCurrentDebugLocation2(confine->builder, confine->debugged ? NULL : first_place(frame->function));
    frame->start = build_hook(confine, HOOK_npu_frame, &bytes);
}

static void end_frame(struct confine *confine, const struct frame *frame)
{
    LLVMValueRef arguments[] = {frame->start, word_constant(confine, frame->bytes)};
    FOR_BLOCKS(frame->function, block)
    {
        LLVMValueRef last = LLVMGetBasicBlockTerminator(block);
        if (LLVMGetInstructionOpcode(last) != LLVMRet)
            continue;
        build_before(confine, last);
        build_hook(confine, HOOK_npu_frame_end, arguments);
    }
}

/* Where each variable lies in the frame of its function, decided before the frame is asked for. */
static void measure(struct confine *confine, struct frame *frame)
{
    uint64_t offset;
    FOR_BLOCKS(frame->function, block)
    FOR_INSTRUCTIONS(block, instruction)
    {
        if (!LLVMIsAAllocaInst(instruction))
            continue;
        frame->needed = true;
        if (is_static(instruction))
            place(confine, instruction, &frame->bytes, &offset);
    }
    frame->bytes = round_up(frame->bytes, NPU_FRAME_ALIGNMENT);
}

static void move_variables(struct confine *confine, struct frame *frame)
{
    uint64_t end = 0, offset;
    FOR_BLOCKS(frame->function, block)
    FOR_INSTRUCTIONS_REMOVING(block, instruction)
    {
        if (!LLVMIsAAllocaInst(instruction))
            continue;
        if (is_static(instruction) && place(confine, instruction, &end, &offset))
            replace_static(confine, frame, instruction, offset);
        else
            replace_dynamic(confine, instruction);
        LLVMInstructionEraseFromParent(instruction);
    }
}

void move_frames(struct confine *confine)
{
    FOR_FUNCTIONS(confine->module, function)
    {
        struct frame frame = {.function = function};
        if (!is_defined(function))
            continue;
        measure(confine, &frame);
        if (!frame.needed)
            continue;
        begin_frame(confine, &frame);
        move_variables(confine, &frame);
        end_frame(confine, &frame);
    }
}
