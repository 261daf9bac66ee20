/* Every block of the kernel says that it begins, by its number. A table in the object says what is in it: whole numbers,
 * floating point, addresses, branches and accesses, as the optimiser left them. */
#include "toolchain/confine/confine_internal.h"

#include "abi/npu_hooks.h"

#include <llvm-c/DebugInfo.h>
#include <stdlib.h>

static bool is_floating(LLVMTypeRef type)
{
    if (LLVMGetTypeKind(type) == LLVMVectorTypeKind)
        type = LLVMGetElementType(type);
    switch (LLVMGetTypeKind(type)) {
    case LLVMHalfTypeKind:
    case LLVMBFloatTypeKind:
    case LLVMFloatTypeKind:
    case LLVMDoubleTypeKind:
    case LLVMX86_FP80TypeKind:
        return true;
    default:
        return false;
    }
}

static enum npu_mix mix_of_call(LLVMValueRef call)
{
    const char *name = intrinsic_name(call);
    if (!name)
        return NPU_MIX_CALL;
    if (intrinsic_kind(name) != INTRINSIC_KEPT)
        return intrinsic_kind(name) == INTRINSIC_COPY || intrinsic_kind(name) == INTRINSIC_FILL ? NPU_MIX_STORE
                                                                                                : NPU_MIX_OTHER;
    return is_floating(LLVMTypeOf(call)) ? NPU_MIX_FLOAT : NPU_MIX_INTEGER;
}

static enum npu_mix mix_of(LLVMValueRef instruction)
{
    switch (LLVMGetInstructionOpcode(instruction)) {
    case LLVMBr:
    case LLVMSwitch:
    case LLVMRet:
        return NPU_MIX_BRANCH;
    case LLVMLoad:
        return NPU_MIX_LOAD;
    case LLVMStore:
    case LLVMAtomicRMW:
    case LLVMAtomicCmpXchg:
        return NPU_MIX_STORE;
    case LLVMGetElementPtr:
        return NPU_MIX_ADDRESS;
    case LLVMCall:
        return mix_of_call(instruction);
    case LLVMFCmp:
    case LLVMFPToSI:
    case LLVMFPToUI:
        return NPU_MIX_FLOAT;
    case LLVMPHI:
    case LLVMAlloca:
    case LLVMUnreachable:
    case LLVMFence:
    case LLVMFreeze:
    case LLVMBitCast:
    case LLVMAddrSpaceCast:
    case LLVMPtrToInt:
    case LLVMIntToPtr:
        return NPU_MIX_OTHER;
    default:
        return is_floating(LLVMTypeOf(instruction)) ? NPU_MIX_FLOAT : NPU_MIX_INTEGER;
    }
}

static uint64_t lanes_of_type(LLVMTypeRef type)
{
    return LLVMGetTypeKind(type) == LLVMVectorTypeKind ? LLVMGetVectorSize(type) : 1;
}

/* Elements that an instruction computes, those of a vector one by one. */
static uint64_t lanes_of(LLVMValueRef instruction)
{
    const LLVMOpcode opcode = LLVMGetInstructionOpcode(instruction);
    uint64_t lanes = lanes_of_type(LLVMTypeOf(instruction));
    if (opcode == LLVMExtractElement || opcode == LLVMInsertElement)
        return 1;
    for (int i = 0; i < LLVMGetNumOperands(instruction); i++) {
        const uint64_t more = lanes_of_type(LLVMTypeOf(LLVMGetOperand(instruction, (unsigned)i)));
        lanes = more > lanes ? more : lanes;
    }
    return lanes;
}

static LLVMValueRef row_of(struct confine *confine, LLVMBasicBlockRef block)
{
    uint64_t counts[NPU_MIXES] = {0};
    LLVMTypeRef type = LLVMInt32TypeInContext(confine->context);
    LLVMValueRef row[NPU_MIXES];
    FOR_INSTRUCTIONS(block, instruction)
    counts[mix_of(instruction)] += lanes_of(instruction);
    for (int i = 0; i < NPU_MIXES; i++)
        row[i] = LLVMConstInt(type, counts[i] < UINT32_MAX ? counts[i] : UINT32_MAX, false);
    return LLVMConstArray2(type, row, NPU_MIXES);
}

/* The call stands on the line of what follows it, the first of a function on the function's, the first of a loop on the
 * loop's. */
static void announce(struct confine *confine, LLVMValueRef function, const struct flow_block *flow)
{
    LLVMValueRef number = LLVMConstInt(LLVMInt32TypeInContext(confine->context), confine->blocks, false);
    LLVMValueRef before = LLVMGetFirstInstruction(flow->block);
    while (LLVMIsAPHINode(before))
        before = LLVMGetNextInstruction(before);
    build_before(confine, before);
    LLVMMetadataRef scope = LLVMGetSubprogram(function);
    bool entry = scope && flow->block == LLVMGetEntryBasicBlock(function);
    /* To a debugger what has no place is part of a function's beginning, before the first statement. */
    if (entry && confine->debugged)
        LLVMSetCurrentDebugLocation2(confine->builder, NULL);
    else if (entry)
        LLVMSetCurrentDebugLocation2(
            confine->builder,
            LLVMDIBuilderCreateDebugLocation(confine->context, LLVMDISubprogramGetLine(scope), 0, scope, NULL));
    else if (flow->loop)
        LLVMSetCurrentDebugLocation2(confine->builder, flow->loop);
    build_hook(confine, HOOK_npu_block, &number);
    confine->blocks++;
}

void count_blocks(struct confine *confine)
{
    size_t room = 64, count;
    LLVMValueRef *rows = malloc(room * sizeof(LLVMValueRef));
    FOR_FUNCTIONS(confine->module, function)
    {
        struct flow_block *flow = is_defined(function) ? flow_order(function, &count) : NULL;
        for (size_t i = 0; flow && i < count; i++) {
            if (confine->blocks == room)
                rows = realloc(rows, (room *= 2) * sizeof(LLVMValueRef));
            if (!rows)
                abort();
            rows[confine->blocks] = row_of(confine, flow[i].block);
            announce(confine, function, &flow[i]);
        }
        free(flow);
    }
    LLVMTypeRef type = LLVMArrayType2(LLVMInt32TypeInContext(confine->context), NPU_MIXES);
    LLVMValueRef table = LLVMAddGlobal(confine->module, LLVMArrayType2(type, confine->blocks), "blocks");
    LLVMSetInitializer(table, LLVMConstArray2(type, rows, confine->blocks));
    LLVMSetGlobalConstant(table, true);
    LLVMSetLinkage(table, LLVMInternalLinkage);
    LLVMSetSection(table, NPU_SECTION_BLOCKS);
    LLVMSetAlignment(table, sizeof(struct npu_block_mix));
    free(rows);
}
