/* Which lanes of which repeat take part: the same rule for every vector instruction that has to know an element's
 * place.
 *
 * asc-devkit docs, 基础API/Memory矢量计算/SIMD计算说明/掩码.md: in normal mode the mask selects lanes of every repeat;
 * in counter mode it is the number of elements in all, and the repeat count is not read. */
#ifndef NPU_REPEAT_INTERNAL_H
#define NPU_REPEAT_INTERNAL_H

#include "npu/npu_internal.h"

/* The lanes of a vector instruction, decoded. lanes = elements of a 256-byte repeat; count is 0 in normal mode. */
struct npu_lane_mask {
    uint32_t lanes, repeats;
    uint64_t count;
    uint64_t bits[2];
};

static inline void npu_low_bits(uint64_t n, uint64_t bits[2])
{
    bits[0] = n >= 64 ? ~UINT64_C(0) : (UINT64_C(1) << n) - 1;
    bits[1] = n >= 128 ? ~UINT64_C(0) : n > 64 ? (UINT64_C(1) << (n - 64)) - 1 : 0;
}

static inline struct npu_lane_mask npu_decode_mask(const struct npu_insn *insn, const struct npu_regs *regs,
                                                   size_t size)
{
    struct npu_lane_mask mask = {.lanes = (uint32_t)(NPU_REPEAT / size), .repeats = insn->repeat};
    const uint64_t *value = insn->form == NPU_FORM_MASK_REG ? regs->mask : insn->mask;
    if (insn->form == NPU_FORM_COUNT || regs->counter) {
        mask.count = insn->form == NPU_FORM_COUNT ? insn->count : (uint32_t)value[0];
        mask.repeats = (uint32_t)((mask.count + mask.lanes - 1) / mask.lanes);
    } else if (insn->form == NPU_FORM_MASK_LEN) {
        npu_low_bits(value[0], mask.bits);
    } else {
        mask.bits[0] = value[0];
        mask.bits[1] = mask.lanes > 64 ? value[1] : 0;
    }
    return mask;
}

/* The lanes of one repeat. */
static inline void npu_repeat_lanes(const struct npu_lane_mask *mask, uint32_t repeat, uint64_t bits[2])
{
    if (mask->count) {
        uint64_t left = mask->count - (uint64_t)repeat * mask->lanes;
        npu_low_bits(left < mask->lanes ? left : mask->lanes, bits);
    } else {
        bits[0] = mask->bits[0];
        bits[1] = mask->bits[1];
    }
}

static inline bool npu_lane_on(const uint64_t bits[2], uint32_t lane)
{
    return bits[lane / 64] >> lane % 64 & 1;
}

#endif
