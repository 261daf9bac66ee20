/* What a pointer is a constant distance from. Accesses that are in bounds whatever happens need no call of the machine:
 * nearly all that the headers' functions do to their own structures. */
#include "toolchain/confine/confine_internal.h"

#include "abi/npu_hooks.h"

#include <string.h>

uint64_t bytes_of(const struct confine *confine, LLVMTypeRef type)
{
    return LLVMStoreSizeOfType(confine->layout, type);
}

static bool is_gep(LLVMValueRef value)
{
    return LLVMIsAGetElementPtrInst(value) ||
           (LLVMIsAConstantExpr(value) && LLVMGetConstOpcode(value) == LLVMGetElementPtr);
}

/* One index of a getelementptr, at `type`; moves *type inwards. False: not constant, or beyond all reason. */
static bool add_index(const struct confine *confine, LLVMValueRef index, bool first, LLVMTypeRef *type, int64_t *step)
{
    int64_t scaled;
    if (!LLVMIsAConstantInt(index) || LLVMGetIntTypeWidth(LLVMTypeOf(index)) > 64)
        return false;
    int64_t number = LLVMConstIntGetSExtValue(index);
    if (!first && LLVMGetTypeKind(*type) == LLVMStructTypeKind) {
        if (number < 0 || number >= LLVMCountStructElementTypes(*type))
            return false;
        scaled = (int64_t)LLVMOffsetOfElement(confine->layout, *type, (unsigned)number);
        *type = LLVMStructGetTypeAtIndex(*type, (unsigned)number);
        return !__builtin_add_overflow(*step, scaled, step);
    }
    if (!first) {
        if (LLVMGetTypeKind(*type) != LLVMArrayTypeKind && LLVMGetTypeKind(*type) != LLVMVectorTypeKind)
            return false;
        *type = LLVMGetElementType(*type);
    }
    uint64_t size = LLVMABISizeOfType(confine->layout, *type);
    return size <= INT64_MAX && !__builtin_mul_overflow((int64_t)size, number, &scaled) &&
           !__builtin_add_overflow(*step, scaled, step);
}

static bool step_of(const struct confine *confine, LLVMValueRef gep, int64_t *step)
{
    LLVMTypeRef type = LLVMGetGEPSourceElementType(gep);
    int operands = LLVMGetNumOperands(gep);
    *step = 0;
    if (LLVMGetTypeKind(LLVMTypeOf(gep)) != LLVMPointerTypeKind || !LLVMTypeIsSized(type))
        return false;
    for (int i = 1; i < operands; i++)
        if (!add_index(confine, LLVMGetOperand(gep, (unsigned)i), i == 1, &type, step))
            return false;
    return true;
}

LLVMValueRef base_of(const struct confine *confine, LLVMValueRef pointer, int64_t *offset)
{
    int64_t step, sum;
    *offset = 0;
    while (is_gep(pointer) && step_of(confine, pointer, &step) && !__builtin_add_overflow(*offset, step, &sum)) {
        *offset = sum;
        pointer = LLVMGetOperand(pointer, 0);
    }
    return pointer;
}

/* Bytes behind a value that is the beginning of a frame or a variable; 0: it is neither. */
static uint64_t room_behind(const struct confine *confine, LLVMValueRef base, bool write)
{
    if (LLVMIsACallInst(base) && LLVMGetCalledValue(base) == confine->hooks[HOOK_npu_frame])
        return LLVMConstIntGetZExtValue(LLVMGetOperand(base, 0));
    if (!LLVMIsAGlobalVariable(base) || !LLVMGetInitializer(base) || (write && LLVMIsGlobalConstant(base)) ||
        LLVMGetPointerAddressSpace(LLVMTypeOf(base)) != 0 || strcmp(section_name(base), NPU_SECTION_GM) == 0)
        return 0;
    return LLVMABISizeOfType(confine->layout, LLVMGlobalGetValueType(base));
}

bool is_in_bounds(const struct confine *confine, LLVMValueRef pointer, uint64_t bytes, bool write)
{
    int64_t offset;
    LLVMValueRef base = base_of(confine, pointer, &offset);
    uint64_t room = room_behind(confine, base, write);
    return offset >= 0 && bytes <= room && (uint64_t)offset <= room - bytes;
}
