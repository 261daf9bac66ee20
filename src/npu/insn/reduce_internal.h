/* What all reductions share: reading one repeat, its binary tree of additions, its first largest or smallest element.
 *
 * asc-devkit docs, 基础API/Memory矢量计算/归约计算/ReduceDataBlock.md, 关键特性说明: neighbours are added in pairs,
 * then the sums in pairs, until one is left; every addition rounds to the element's type. ReduceRepeat.md: the same
 * over a repeat; of equal extremes the smallest index. Assumed where that is silent (docs/machine.md): an unselected
 * element adds +0; a NaN is larger than any number for Max and smaller than any for Min, and the first one counts. */
#ifndef NPU_INSN_REDUCE_INTERNAL_H
#define NPU_INSN_REDUCE_INTERNAL_H

#include "npu/insn/lanes.h"

enum { NPU_MAX_LANES = 128 };
enum npu_reduction { NPU_REDUCE_SUM, NPU_REDUCE_MAX, NPU_REDUCE_MIN };

/* One repeat of the source, widened exactly to float. */
struct npu_repeat {
    float lane[NPU_MAX_LANES]; /* 0 where not selected */
    uint64_t mask[2];
    const uint8_t *undefined; /* first selected block with an undefined element in it, or NULL */
};

/* Reads repeat r of src0. blk and rep in 32-byte blocks. */
void npu_load_repeat(struct npu_core *core, const struct npu_insn *insn, const struct npu_vector *v, uint32_t blk,
                     uint32_t rep, uint32_t r, struct npu_repeat *repeat);
/* Adds neighbours until one is left; n is a power of two; overwrites lane. */
float npu_tree_sum(float *lane, uint32_t n, bool half);
/* a + b, rounded to the element's type. */
float npu_reduce_add(float a, float b, bool half);
/* Lane of the first extreme among the selected ones of [from, from + n); NPU_MAX_LANES if none is selected. */
uint32_t npu_first_extreme(const struct npu_repeat *repeat, uint32_t from, uint32_t n, enum npu_reduction reduction);
/* Stores one value of the element's type. */
void npu_store_lane(uint8_t *at, float value, bool half);
/* Bits of a value in the element's type. */
uint64_t npu_lane_bits(float value, bool half);
/* Traps unless dst lies in UB at a multiple of `alignment`. */
void npu_check_reduce_dst(struct npu_core *core, const struct npu_tensor *dst, uint32_t alignment);
/* True if mask or repeat time is 0: the call does nothing. */
bool npu_reduce_nop(const struct npu_insn *insn, const struct npu_regs *regs);

#endif
