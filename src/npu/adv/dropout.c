/* DropOut: elements whose mask is 0 become 0, the others are divided by keepProb. The mask has a byte or a bit for each
 * element; its rows can be longer than those of the source and are then closed up in place, as CANN's does.
 * shape = firstAxis, srcLastAxis, maskLastAxis (bytes), mode; scalar[0] = keepProb as float; src[1] = mask. */
#include "npu/adv/rows.h"
#include "npu/report.h"

enum { BYTE_MISALIGNED = 1, BYTE_ALIGNED, BIT_ALIGNED, BIT_MISALIGNED };
enum { CAST_NONE = 0, TENSOR_SCALAR = 1, BIT_SPACE = 256, UNIT = 32 };

static void by_bits(struct npu_core *core, const struct npu_adv *call, double factor, uint32_t count)
{
    if (!(call->flags & NPU_ADV_PREPARED))
        adv_tmp(core, call, 0, BIT_SPACE);
    struct npu_insn select = ADV_INSN(NPU_OP_SELECT, COUNT, call->type, .src1_type = AKGEN_UINT8, .mode = TENSOR_SCALAR,
                                      .flags = NPU_INSN_SCALAR_SRC1, .count = count, .dst = call->dst[0],
                                      .src0 = call->src[0], .aux = call->src[1]);
    adv_issue(core, &select);
    adv_scalar_op(core, NPU_OP_MULS, call->dst[0], call->dst[0], factor, call->type, count);
}

/* The mask in the type of the data, as many elements at a time as the temporary space holds. */
static void by_bytes(struct npu_core *core, const struct npu_adv *call, double factor, uint32_t count)
{
    bool half = call->type == AKGEN_FLOAT16;
    uint32_t step = call->tmp.bytes / (half ? 2 : 6) / UNIT * UNIT;
    if (!step)
        npu_trap(core, FAULT(adv_tmp_too_small), "sharedTmpBuffer",
                 "DropOut needs at least %u bytes of temporary space, it has %u", UNIT * (half ? 2 : 6),
                 call->tmp.bytes);
    struct npu_tensor narrow = adv_tmp(core, call, 0, step * 2);
    struct npu_tensor wide = half ? narrow : adv_tmp(core, call, step * 2, step * 4);
    for (uint32_t first = 0; first < count; first += step) {
        uint32_t n = count - first < step ? count - first : step;
        struct npu_tensor dst = adv_part(&call->dst[0], call->type, first, n);
        adv_cast(core, narrow, AKGEN_FLOAT16, adv_part(&call->src[1], AKGEN_UINT8, first, n), AKGEN_UINT8, CAST_NONE,
                 n);
        if (!half)
            adv_cast(core, wide, AKGEN_FLOAT, narrow, AKGEN_FLOAT16, CAST_NONE, n);
        adv_binary(core, NPU_OP_MUL, dst, wide, adv_part(&call->src[0], call->type, first, n), call->type, n);
        adv_scalar_op(core, NPU_OP_MULS, dst, dst, factor, call->type, n);
    }
}

void adv_dropout(struct npu_core *core, const struct npu_adv *call)
{
    uint32_t rows = call->shape[0], cols = call->shape[1], given = call->shape[2], mode = call->shape[3];
    float keep = (float)adv_number(AKGEN_FLOAT, call->scalar[0]);
    if (!(keep > 0 && keep < 1))
        npu_trap(core, FAULT(adv_shape), "keepProb", "DropOut keeps with probability %g; it lies between 0 and 1",
                 (double)keep);
    bool bits = mode == BIT_ALIGNED || mode == BIT_MISALIGNED;
    adv_reset_mask(core);
    if (mode == BYTE_MISALIGNED || mode == BIT_MISALIGNED)
        adv_close_up(core, call->src[1], call->src[1], rows, bits ? cols / 8 : cols, given);
    if (bits)
        by_bits(core, call, 1.0F / keep, rows * cols);
    else
        by_bytes(core, call, 1.0F / keep, rows * cols);
}
