/* How a vector instruction walks its elements: shared by the families of element-wise instructions.
 *
 * One repeat takes 256 bytes of the widest operand: eight blocks of 32 bytes, `blk` blocks apart; repeats are `rep`
 * blocks apart. A narrower operand (Cast, Axpy half->float) uses fewer blocks for the same elements. The mask chooses
 * elements of every repeat; in counter mode it is a number of elements and the number of repeats follows from it.
 * Sources: asc-devkit docs/zh/api/SIMD-API, "SIMD计算说明/高维切分", "SIMD计算说明/掩码" and Cast.md, constraints. */
#ifndef NPU_INSN_LANES_H
#define NPU_INSN_LANES_H

#include "base/half.h"
#include "npu/npu_internal.h"

/* Element types of UB memory. Two operands of different types may share bytes (in-place Cast), hence may_alias. */
typedef float npu_f32 __attribute__((may_alias));
typedef half_t npu_f16 __attribute__((may_alias));
typedef int8_t npu_s8 __attribute__((may_alias));
typedef uint8_t npu_u8 __attribute__((may_alias));
typedef int16_t npu_s16 __attribute__((may_alias));
typedef uint16_t npu_u16 __attribute__((may_alias));
typedef int32_t npu_s32 __attribute__((may_alias));
typedef uint32_t npu_u32 __attribute__((may_alias));
typedef int64_t npu_s64 __attribute__((may_alias));

/* Which elements an instruction selects. */
struct npu_vector {
    uint32_t per_repeat; /* elements of a whole repeat */
    uint32_t repeats;    /* 0: the instruction does nothing */
    uint32_t last;       /* elements of the last repeat that take part: per_repeat unless counter mode cuts it */
    uint64_t mask[2];    /* elements of every repeat, one bit each */
};

/* Bits of one element in UB: 4 for int4, else 8 times its size. */
uint32_t npu_element_bits(uint8_t dtype);
/* True if it is the number of a type whose elements have a width. */
bool npu_type_has_width(uint8_t dtype);
/* The selection of an instruction whose widest operand has `bits` per element. Checks nothing. */
struct npu_vector npu_vector_shape(const struct npu_insn *insn, const struct npu_regs *regs, uint32_t bits);
/* The mask of the first so many elements. */
void npu_mask_of_length(uint64_t mask[2], uint64_t elements);
/* The mask of repeat r: v->mask, cut to v->last elements in the last repeat. */
void npu_vector_mask(const struct npu_vector *v, uint32_t repeat, uint64_t mask[2]);
static inline bool npu_lane_selected(const uint64_t mask[2], uint32_t lane)
{
    return mask[lane / 64] >> (lane % 64) & 1;
}
/* True if every element up to the last one is selected. */
bool npu_vector_whole(const struct npu_vector *v);

/* Calls body for maximal runs of consecutive selected elements, in the order in which the hardware takes them. Strides
 * are in 32-byte blocks; element sizes differ for Cast, so each operand has its own size. */
struct npu_run {
    uint8_t *dst;
    const uint8_t *src0, *src1;
    uint32_t n; /* elements */
};
typedef void npu_run_body(struct npu_core *core, const struct npu_insn *insn, const struct npu_regs *regs,
                          const struct npu_run *run, void *closure);
/* One operand: where lane 0 is and how far blocks and repeats are apart, in bytes. base is 0 for an absent operand. */
struct npu_lane_operand {
    uint64_t base;
    uint32_t bits, blk, rep;
};
/* An instruction's lanes: dst, src0, src1. */
struct npu_walk {
    struct npu_vector v;
    struct npu_lane_operand o[3];
};
struct npu_walk npu_walk_of(const struct npu_insn *insn, const struct npu_regs *regs);
/* The next run of a repeat from *lane on, which moves behind it; mask is npu_vector_mask's. False: there is none. */
bool npu_walk_next(const struct npu_walk *walk, uint32_t repeat, const uint64_t mask[2], uint32_t *lane,
                   struct npu_run *run);
void npu_lanes(struct npu_core *core, const struct npu_insn *insn, const struct npu_regs *regs, npu_run_body *body,
               void *closure);

/* Checks common to the vector forms (32-byte alignment, mask and repeat limits of the element width, dtype in isa.def,
 * UB position) and lists the accesses of dst, src0 and src1 (operand names in order, NULL = unused). */
int npu_check_vector(struct npu_core *core, struct npu_insn *insn, const struct npu_regs *regs,
                     struct npu_access *accesses, const char *src0, const char *src1);
/* Traps unless the operand starts in UB on a 32-byte boundary. */
void npu_check_operand(struct npu_core *core, const struct npu_tensor *tensor, const char *operand);
/* Traps unless the instruction has a form for src_type. */
void npu_check_types(struct npu_core *core, const struct npu_insn *insn);
/* Traps unless `count` elements of `bits` fit UB: no operand could hold more. */
void npu_check_count(struct npu_core *core, const struct npu_insn *insn, uint64_t count, uint32_t bits);
/* Traps unless mask, repeat count, element count and type are legal. `bits`: of the widest operand's elements. */
void npu_check_form(struct npu_core *core, const struct npu_insn *insn, const struct npu_regs *regs, uint32_t bits);
/* Appends the footprint of one operand to accesses[n]; returns the new n. */
int npu_list_operand(struct npu_access *accesses, int n, const struct npu_vector *v, const struct npu_tensor *tensor,
                     uint32_t bits, uint32_t blk, uint32_t rep, bool write, const char *operand);

/* dst, which npu_check_vector lists first, is read where it is written; returns the new n. */
int npu_list_dst_as_source(struct npu_access *accesses, int n);

/* One inner loop: run->n elements; `scalar` holds the bits of the scalar operand. */
typedef void npu_loop(const struct npu_run *run, uint64_t scalar);
/* Runs `loop` over all elements and moves definedness: a dst element is defined if every source byte of it is.
 * reads_dst: the old value of dst is a source as well. */
void npu_vector_execute(struct npu_core *core, const struct npu_insn *insn, const struct npu_regs *regs, npu_loop *loop,
                        bool reads_dst);

#endif
