/* Atomic writes: a copy to GM that adds to what is there, or keeps the larger or the smaller of both.
 *
 * asc-devkit docs, 原子操作/SetAtomicAdd, SetAtomicMax, SetAtomicMin. */
#include "npu/gm/atomic.h"

#include "base/half.h"
#include "npu/report.h"

#include <string.h>

size_t npu_atomic_size(int type)
{
    switch (type) {
    case AKGEN_INT8:
    case AKGEN_INT16:
    case AKGEN_FLOAT16:
    case AKGEN_BF16:
    case AKGEN_INT32:
    case AKGEN_FLOAT:
        return akgen_dtype_size(type);
    default:
        return 0;
    }
}

void npu_check_atomic(struct npu_core *core, const struct npu_insn *insn, const struct npu_regs *regs, uint64_t bytes)
{
    if (!regs->atomic || insn->dst.position != NPU_GM)
        return;
    size_t size = npu_atomic_size(regs->atomic_type);
    if (!size)
        npu_trap(core, FAULT(atomic_type), "dst",
                 "an atomic operation on %s: int8, int16, float16, bfloat16, int32 and float32 have one",
                 akgen_dtype_name(regs->atomic_type));
    if (bytes % size || insn->dst.addr % size)
        npu_trap(core, FAULT(atomic_type), "dst",
                 "an atomic write of %llu bytes, %llu past a multiple of the element's, cuts an element of %s",
                 (unsigned long long)bytes, (unsigned long long)(insn->dst.addr % size),
                 akgen_dtype_name(regs->atomic_type));
}

/* One element of an atomic write. Integers wrap; a NaN on either side gives NaN (see docs/machine.md). */
static float combine_float(int kind, float old, float value)
{
    if (kind == 1)
        return old + value;
    if (old != old || value != value)
        return __builtin_nanf("");
    return (kind == 2) == (value > old) ? value : old;
}

static int64_t combine_int(int kind, int64_t old, int64_t value)
{
    if (kind == 1)
        return old + value;
    return (kind == 2) == (value > old) ? value : old;
}

void npu_combine(int kind, int type, uint8_t *old, const uint8_t *value)
{
#define COMBINE(T, wide, function)                                                                                     \
    do {                                                                                                               \
        T a, b;                                                                                                        \
        memcpy(&a, old, sizeof a);                                                                                     \
        memcpy(&b, value, sizeof b);                                                                                   \
        a = (T)function(kind, (wide)a, (wide)b);                                                                       \
        memcpy(old, &a, sizeof a);                                                                                     \
    } while (0)
    switch (type) {
    case AKGEN_INT8:
        COMBINE(int8_t, int64_t, combine_int);
        break;
    case AKGEN_INT16:
        COMBINE(int16_t, int64_t, combine_int);
        break;
    case AKGEN_INT32:
        COMBINE(int32_t, int64_t, combine_int);
        break;
    case AKGEN_FLOAT:
        COMBINE(float, float, combine_float);
        break;
    case AKGEN_FLOAT16: /* float holds the exact sum of two halves closely enough that the rounding to half is
                         * correct */
        COMBINE(half_t, float, combine_float);
        break;
    case AKGEN_BF16: {
        uint16_t a, b;
        memcpy(&a, old, sizeof a);
        memcpy(&b, value, sizeof b);
        a = bf16_from_float(combine_float(kind, bf16_to_float(a), bf16_to_float(b)));
        memcpy(old, &a, sizeof a);
        break;
    }
    }
#undef COMBINE
}
