/* The forms in which a kernel can issue a vector instruction, with values around every boundary, and which elements
 * each form selects. Sources: asc-devkit docs/zh/api/SIMD-API, "SIMD计算说明/掩码", "SIMD计算说明/高维切分". */
#ifndef TESTS_NPU_FORMS_H
#define TESTS_NPU_FORMS_H

#include "npu/isa.h"

#include <string.h>

enum form {
    COUNT,       /* level 2 */
    LENGTH,      /* level 0, the first so many elements of a repeat */
    BITS,        /* level 0, bit by bit */
    COUNTER,     /* level 0 in counter mode: so many elements in all */
    REG,         /* isSetMask = false: the mask registers' bits */
    REG_COUNTER, /* isSetMask = false in counter mode */
    FORMS
};
static const char *const form_names[FORMS] = {"count",        "mask length",    "mask bits",
                                              "counter mode", "mask registers", "mask registers in counter mode"};

static const uint32_t form_counts[] = {0,  1,   7,   8,   9,   31,  32,  33,   63,   64,
                                       65, 127, 128, 129, 255, 256, 257, 2047, 2048, 4096};
enum { FORM_COUNTS = sizeof form_counts / sizeof *form_counts, FORM_TURNS = 2 * FORM_COUNTS };
static const uint32_t form_lengths[] = {1, 7, 8, 9, 31, 32, 33, 63, 64, 65, 127, 128};
static const uint64_t form_masks[][2] = {{1, 0},
                                         {0x55, 0},
                                         {UINT64_C(0x5555555555555555), UINT64_C(0x5555555555555555)},
                                         {UINT64_C(0xaaaaaaaaaaaaaaaa), UINT64_C(0xaaaaaaaaaaaaaaaa)},
                                         {UINT64_C(1) << 63, 0},
                                         {0, UINT64_C(1) << 63},
                                         {0, 1},
                                         {0, UINT64_MAX},
                                         {UINT64_MAX, 0},
                                         {UINT64_MAX, UINT64_MAX},
                                         {UINT64_C(1) << 31 | 1, 3},
                                         {UINT64_C(0xff00ff00f0f0f0f0), UINT64_C(0x8000000000000001)}};
static const uint32_t form_repeats[] = {0, 1, 2, 3, 254, 255};
static const uint16_t form_blks[] = {1, 2, 0, 3, 8, 1};
static const uint16_t form_reps[] = {8, 0, 1, 4, 9, 255};
#define FORM_PICK(table, i) (table)[(i) % (sizeof(table) / sizeof *(table))]

/* How much room an operand has, and how many repeats there may be. */
struct form_room {
    uint32_t bytes, repeats;
    bool pairs; /* int4: two elements share a byte */
};

/* Elements of a whole repeat: 256 bytes of the wider type, at most 128. */
static inline uint32_t form_lanes(uint32_t dst_bits, uint32_t src_bits)
{
    uint32_t widest = dst_bits > src_bits ? dst_bits : src_bits, lanes = NPU_REPEAT * 8 / widest;
    return lanes < 128 ? lanes : 128;
}

/* The largest distance of repeats, up to `wanted`, with which an operand stays inside its room. */
static inline uint16_t form_fitting(uint32_t room, uint32_t repeats, uint32_t blk, uint32_t blocks, uint16_t wanted)
{
    uint32_t one = ((blocks - 1) * blk + 1) * NPU_BLOCK;
    uint32_t most = repeats > 1 ? (room - one) / ((repeats - 1) * NPU_BLOCK) : wanted;
    return (uint16_t)(wanted < most ? wanted : most);
}

static inline uint32_t form_blocks(uint32_t lanes, uint32_t bits)
{
    return (lanes * bits + NPU_BLOCK * 8 - 1) / (NPU_BLOCK * 8);
}

static inline void form_put_mask(uint64_t mask[2], uint32_t turn, uint32_t lanes, bool pairs)
{
    memcpy(mask, FORM_PICK(form_masks, turn), 2 * sizeof *mask);
    if (pairs)
        for (int i = 0; i < 2; i++)
            mask[i] = (mask[i] & UINT64_C(0x5555555555555555)) * 3;
    if (lanes <= 64)
        mask[1] = 0;
    if (lanes < 64)
        mask[0] &= (UINT64_C(1) << lanes) - 1;
    if (!mask[0] && !mask[1])
        mask[0] = pairs ? 3 : UINT64_C(1) << (lanes <= 64 ? lanes - 1 : 63);
}

/* Sets form, mask, repeats, strides and registers of an instruction whose operands are already in it. */
static inline void form_put(struct npu_insn *insn, struct npu_regs *regs, enum form form, uint32_t turn,
                            uint32_t dst_bits, uint32_t src_bits, const struct form_room *room)
{
    uint32_t lanes = form_lanes(dst_bits, src_bits), widest = dst_bits > src_bits ? dst_bits : src_bits;
    uint32_t most = room->bytes * 8 / widest;
    uint32_t count = FORM_PICK(form_counts, turn) < most ? FORM_PICK(form_counts, turn) : most;
    if (count > room->repeats * lanes)
        count = room->repeats * lanes;
    if (room->pairs)
        count &= ~1u;
    uint32_t repeats = FORM_PICK(form_repeats, turn) < room->repeats ? FORM_PICK(form_repeats, turn) : room->repeats;
    regs->counter = form == COUNTER || form == REG_COUNTER;
    insn->repeat = repeats;
    switch (form) {
    case COUNT:
        insn->form = NPU_FORM_COUNT;
        insn->count = count;
        return;
    case LENGTH:
        insn->form = NPU_FORM_MASK_LEN;
        insn->mask[0] = FORM_PICK(form_lengths, turn) + (room->pairs && FORM_PICK(form_lengths, turn) % 2);
        break;
    case BITS:
        insn->form = NPU_FORM_MASK_BITS;
        form_put_mask(insn->mask, turn, lanes, room->pairs);
        break;
    case COUNTER:
        insn->form = NPU_FORM_MASK_LEN;
        insn->mask[0] = count;
        break;
    case REG:
        insn->form = NPU_FORM_MASK_REG;
        form_put_mask(regs->mask, turn, lanes, room->pairs);
        break;
    default:
        insn->form = NPU_FORM_MASK_REG;
        regs->mask[0] = count;
        regs->mask[1] = 0;
    }
    if (regs->counter)
        repeats = (count + lanes - 1) / lanes;
    uint32_t dst_blocks = form_blocks(lanes, dst_bits), src_blocks = form_blocks(lanes, src_bits);
    insn->dst_blk = FORM_PICK(form_blks, turn) ? FORM_PICK(form_blks, turn) : 1;
    insn->src0_blk = FORM_PICK(form_blks, turn + 1);
    insn->src1_blk = FORM_PICK(form_blks, turn / 2 + 3);
    insn->dst_rep = form_fitting(room->bytes, repeats, insn->dst_blk, dst_blocks, FORM_PICK(form_reps, turn / 3));
    insn->src0_rep = form_fitting(room->bytes, repeats, insn->src0_blk, src_blocks, FORM_PICK(form_reps, turn / 2));
    insn->src1_rep = form_fitting(room->bytes, repeats, insn->src1_blk, src_blocks, FORM_PICK(form_reps, turn + 2));
}

/* Repeats that take place. */
static inline uint32_t form_turns(const struct npu_insn *insn, const struct npu_regs *regs, uint32_t lanes)
{
    uint64_t n = insn->form == NPU_FORM_COUNT ? insn->count
                 : !regs->counter             ? (uint64_t)insn->repeat * lanes
                                              : (insn->form == NPU_FORM_MASK_REG ? regs->mask : insn->mask)[0];
    return (uint32_t)((n + lanes - 1) / lanes);
}

/* Whether element `lane` of repeat r takes part. */
static inline bool form_selects(const struct npu_insn *insn, const struct npu_regs *regs, uint32_t lanes, uint32_t r,
                                uint32_t lane)
{
    const uint64_t *mask = insn->form == NPU_FORM_MASK_REG ? regs->mask : insn->mask;
    if (insn->form == NPU_FORM_COUNT)
        return r * lanes + lane < insn->count;
    if (regs->counter)
        return r * lanes + lane < mask[0];
    if (insn->form == NPU_FORM_MASK_LEN)
        return lane < mask[0];
    return mask[lane / 64] >> lane % 64 & 1;
}

/* The bit, counted from the operand's start, at which the element lies. */
static inline size_t form_bit(const struct npu_insn *insn, uint32_t lanes, uint32_t bits, uint32_t blk, uint32_t rep,
                              uint32_t r, uint32_t lane)
{
    enum { BLOCK_BITS = NPU_BLOCK * 8 };
    if (insn->form == NPU_FORM_COUNT)
        return ((size_t)r * lanes + lane) * bits;
    size_t within = (size_t)lane * bits;
    return (size_t)r * rep * BLOCK_BITS + within / BLOCK_BITS * blk * BLOCK_BITS + within % BLOCK_BITS;
}

#endif
