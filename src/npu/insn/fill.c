/* Filling UB: Duplicate, Brcb, Copy, CreateVecIndex.
 *
 * asc-devkit docs, 基础API/Memory矢量计算/: 数据填充/Duplicate, 数据填充/Brcb, 数据填充/CreateVecIndex,
 * 数据搬运/Copy（UBToUB掩码式高维数据搬运）. */
#include "npu/gm/shadow.h"
#include "npu/insn/insn.h"
#include "npu/insn/overlap.h"
#include "npu/report.h"

#include <assert.h>
#include <string.h>

/* Duplicate. */
int npu_check_duplicate(struct npu_core *core, struct npu_insn *insn, const struct npu_regs *regs,
                        struct npu_access *accesses)
{
    return npu_check_vector(core, insn, regs, accesses, NULL, NULL);
}

static void duplicate_run(struct npu_core *core, const struct npu_insn *insn, const struct npu_regs *regs,
                          const struct npu_run *run, void *closure)
{
    (void)regs;
    (void)closure;
    size_t size = akgen_dtype_size(insn->dst_type);
    if (size == 2) {
        npu_u16 *dst = (npu_u16 *)run->dst;
        uint16_t value = (uint16_t)insn->scalar;
        for (uint32_t i = 0; i < run->n; i++)
            dst[i] = value;
    } else {
        npu_u32 *dst = (npu_u32 *)run->dst;
        uint32_t value = (uint32_t)insn->scalar;
        for (uint32_t i = 0; i < run->n; i++)
            dst[i] = value;
    }
    npu_ub_define(core, run->dst, run->n * size);
}

void npu_exec_duplicate(struct npu_core *core, const struct npu_insn *insn, const struct npu_regs *regs)
{
    npu_lanes(core, insn, regs, duplicate_run, NULL);
}

/* Brcb: eight elements become eight blocks. */
enum { BRCB_ELEMENTS = 8 };

int npu_check_brcb(struct npu_core *core, struct npu_insn *insn, const struct npu_regs *regs,
                   struct npu_access *accesses)
{
    (void)regs;
    if (!insn->repeat)
        return 0;
    if (insn->repeat > NPU_MAX_REPEAT)
        npu_trap(core, FAULT(vec_repeat), "repeatTime", "Brcb repeats %u times; the register holds 0 to 255",
                 insn->repeat);
    if (!insn->dst_blk)
        npu_trap(core, FAULT(vec_stride), "dst",
                 "Brcb writes its blocks to one place: dstBlkStride is 0, it must be 1 or more");
    npu_check_operand(core, &insn->dst, "dst");
    npu_check_operand(core, &insn->src0, "src0");
    accesses[0] = (struct npu_access){.addr = insn->dst.addr,
                                      .bytes = NPU_BLOCK,
                                      .count = BRCB_ELEMENTS,
                                      .count2 = insn->repeat,
                                      .stride = insn->dst_blk * NPU_BLOCK,
                                      .stride2 = insn->dst_rep * NPU_BLOCK,
                                      .write = true,
                                      .flags = insn->dst.flags,
                                      .tensor = &insn->dst,
                                      .operand = "dst"};
    uint32_t read = insn->repeat * BRCB_ELEMENTS * (uint32_t)akgen_dtype_size(insn->src_type);
    accesses[1] = (struct npu_access){.addr = insn->src0.addr,
                                      .bytes = read,
                                      .count = 1,
                                      .count2 = 1,
                                      .flags = insn->src0.flags,
                                      .tensor = &insn->src0,
                                      .operand = "src0"};
    return 2;
}

void npu_exec_brcb(struct npu_core *core, const struct npu_insn *insn, const struct npu_regs *regs)
{
    (void)regs;
    size_t size = akgen_dtype_size(insn->src_type);
    bool reported = false;
    for (uint32_t r = 0; r < insn->repeat; r++) {
        const uint8_t *src = (const uint8_t *)insn->src0.addr + r * BRCB_ELEMENTS * size;
        uint8_t element[BRCB_ELEMENTS * sizeof(uint32_t)];
        bool defined[BRCB_ELEMENTS];
        memcpy(element, src, BRCB_ELEMENTS * size); /* read before the first write: dst may lie over src */
        for (int i = 0; i < BRCB_ELEMENTS; i++)
            defined[i] = npu_ub_defined(core, src + i * size, size);
        for (int i = 0; i < BRCB_ELEMENTS; i++) {
            uint8_t *block =
                (uint8_t *)insn->dst.addr + ((size_t)r * insn->dst_rep + (size_t)i * insn->dst_blk) * NPU_BLOCK;
            for (size_t at = 0; at < NPU_BLOCK; at += size)
                memcpy(block + at, element + i * size, size);
            if (defined[i]) {
                npu_ub_define(core, block, NPU_BLOCK);
                continue;
            }
            npu_ub_undefine(core, block, NPU_BLOCK);
            if (!reported)
                npu_undefined_read(core, "src0", src + i * size);
            reported = true;
        }
    }
}

/* Copy. */
/* In counter mode, unlike every other instruction, the mask counts the elements of each repeat, which may be more than
 * 256 bytes, and the repeat count holds. */
static uint64_t copy_counted(const struct npu_insn *insn, const struct npu_regs *regs)
{
    return insn->form == NPU_FORM_MASK_REG ? regs->mask[0] : insn->mask[0];
}

/* One operand of a counted Copy: whole blocks, then what is left of the last one. */
static int list_counted(const struct npu_insn *insn, uint64_t bytes, bool write, struct npu_access *accesses, int n)
{
    const struct npu_tensor *tensor = write ? &insn->dst : &insn->src0;
    int64_t blk = (int64_t)(write ? insn->dst_blk : insn->src0_blk) * NPU_BLOCK;
    int64_t rep = (int64_t)(write ? insn->dst_rep : insn->src0_rep) * NPU_BLOCK;
    uint32_t blocks = (uint32_t)(bytes / NPU_BLOCK), rest = bytes % NPU_BLOCK;
    struct npu_access run = {.addr = tensor->addr,
                             .bytes = NPU_BLOCK,
                             .count = blocks,
                             .count2 = insn->repeat,
                             .stride = blk,
                             .stride2 = rep,
                             .write = write,
                             .flags = tensor->flags,
                             .tensor = tensor,
                             .operand = write ? "dst" : "src0"};
    if (blocks)
        accesses[n++] = run;
    if (rest) {
        run.addr += blocks * blk;
        run.bytes = rest;
        run.count = 1;
        accesses[n++] = run;
    }
    return n;
}

int npu_check_copy(struct npu_core *core, struct npu_insn *insn, const struct npu_regs *regs,
                   struct npu_access *accesses)
{
    enum { MAX_COPY_REPEAT_STRIDE = 4095 };
    if (insn->dst_rep > MAX_COPY_REPEAT_STRIDE || insn->src0_rep > MAX_COPY_REPEAT_STRIDE)
        npu_trap(core, FAULT(copy_params), insn->dst_rep > MAX_COPY_REPEAT_STRIDE ? "dstRepeatSize" : "srcRepeatSize",
                 "dstRepeatSize is %u and srcRepeatSize is %u, the limit is 4095", insn->dst_rep, insn->src0_rep);
    if (!regs->counter)
        return npu_check_vector(core, insn, regs, accesses, "src0", NULL);
    uint64_t bytes = copy_counted(insn, regs) * akgen_dtype_size(insn->src_type);
    if (!bytes || !insn->repeat)
        return 0;
    if (bytes > core->ub_bytes || insn->repeat > NPU_MAX_REPEAT)
        npu_trap(core, FAULT(vec_mask), "mask",
                 "a counted Copy of %llu bytes in %u repeats: UB holds %u bytes, the register 255",
                 (unsigned long long)bytes, insn->repeat, core->ub_bytes);
    npu_check_operand(core, &insn->dst, "dst");
    npu_check_operand(core, &insn->src0, "src0");
    return list_counted(insn, bytes, false, accesses, list_counted(insn, bytes, true, accesses, 0));
}

static void copy_run(struct npu_core *core, const struct npu_insn *insn, const struct npu_regs *regs,
                     const struct npu_run *run, void *closure)
{
    (void)regs;
    (void)closure;
    size_t bytes = run->n * akgen_dtype_size(insn->src_type);
    memmove(run->dst, run->src0, bytes);
    npu_shadow_copy(core, run->dst, run->src0, bytes);
}

static void copy_b16(const struct npu_run *run, uint64_t scalar)
{
    (void)scalar;
    memcpy(run->dst, run->src0, run->n * sizeof(uint16_t));
}

static void copy_b32(const struct npu_run *run, uint64_t scalar)
{
    (void)scalar;
    memcpy(run->dst, run->src0, run->n * sizeof(uint32_t));
}

void npu_exec_copy(struct npu_core *core, const struct npu_insn *insn, const struct npu_regs *regs)
{
    if (!regs->counter && insn->flags & NPU_INSN_OVERLAP) {
        npu_execute_apart(core, insn, regs, akgen_dtype_size(insn->src_type) == 2 ? copy_b16 : copy_b32, false);
        return;
    }
    if (!regs->counter) {
        npu_lanes(core, insn, regs, copy_run, NULL);
        return;
    }
    size_t bytes = copy_counted(insn, regs) * akgen_dtype_size(insn->src_type);
    for (uint32_t r = 0; r < insn->repeat; r++)
        for (size_t block = 0; block * NPU_BLOCK < bytes; block++) {
            size_t left = bytes - block * NPU_BLOCK, n = left < NPU_BLOCK ? left : NPU_BLOCK;
            uint8_t *to = (uint8_t *)insn->dst.addr + ((size_t)r * insn->dst_rep + block * insn->dst_blk) * NPU_BLOCK;
            const uint8_t *from =
                (const uint8_t *)insn->src0.addr + ((size_t)r * insn->src0_rep + block * insn->src0_blk) * NPU_BLOCK;
            memmove(to, from, n);
            npu_shadow_copy(core, to, from, n);
        }
}

/* CreateVecIndex. */
int npu_check_create_index(struct npu_core *core, struct npu_insn *insn, const struct npu_regs *regs,
                           struct npu_access *accesses)
{
    return npu_check_vector(core, insn, regs, accesses, NULL, NULL);
}

/* value + step, rounded to the element's type; integers wrap. */
static uint32_t add_index(uint8_t type, uint32_t value, uint32_t step)
{
    if (type == AKGEN_FLOAT16) {
        uint16_t bits = (uint16_t)value;
        half_t number;
        memcpy(&number, &bits, sizeof number);
        number = (half_t)((float)number + (float)step);
        memcpy(&bits, &number, sizeof bits);
        return bits;
    }
    if (type == AKGEN_FLOAT) {
        float number;
        memcpy(&number, &value, sizeof number);
        number += (float)step;
        memcpy(&value, &number, sizeof value);
        return value;
    }
    return value + step;
}

enum { INDEX_LANES = 128 };

/* The first repeat. The API writes one block and derives the others by adding the elements of a block, then repeats by
 * adding the elements of a repeat: in half that rounds differently from adding the index once. A bitwise mask has each
 * element of the first repeat written alone. */
static void first_indices(const struct npu_insn *insn, uint32_t lanes, uint32_t value[INDEX_LANES])
{
    uint32_t per_block = lanes / 8;
    assert(per_block > 0 && lanes <= INDEX_LANES);
    bool chained = insn->form != NPU_FORM_MASK_BITS;
    for (uint32_t i = 0; i < lanes; i++)
        value[i] = chained && i >= per_block ? add_index(insn->dst_type, value[i - per_block], per_block)
                                             : add_index(insn->dst_type, (uint32_t)insn->scalar, i);
}

/* The indices of the next repeat. One loop per type, so that it runs on vectors. */
static void next_indices(uint8_t type, uint32_t lanes, uint32_t value[INDEX_LANES])
{
    if (type == AKGEN_FLOAT) {
        npu_f32 *number = (npu_f32 *)value;
        for (uint32_t i = 0; i < lanes; i++)
            number[i] += (float)lanes;
    } else {
        for (uint32_t i = 0; i < lanes; i++)
            value[i] = add_index(type, value[i], lanes);
    }
}

static void store_indices(uint8_t *dst, const uint32_t value[INDEX_LANES], uint32_t n, uint32_t size)
{
    if (size == 4) {
        memcpy(dst, value, n * sizeof *value);
        return;
    }
    npu_u16 *narrow = (npu_u16 *)dst;
    for (uint32_t i = 0; i < n; i++)
        narrow[i] = (uint16_t)value[i];
}

void npu_exec_create_index(struct npu_core *core, const struct npu_insn *insn, const struct npu_regs *regs)
{
    uint32_t bits = npu_element_bits(insn->dst_type), size = bits / 8;
    struct npu_vector v = npu_vector_shape(insn, regs, bits);
    bool level2 = insn->form == NPU_FORM_COUNT;
    uint32_t per_block = NPU_BLOCK / size, blk = level2 ? 1 : insn->dst_blk, rep = level2 ? 8 : insn->dst_rep;
    bool rows = blk == 1 && npu_vector_whole(&v);
    uint32_t value[INDEX_LANES];
    first_indices(insn, v.per_repeat, value);
    for (uint32_t r = 0; r < v.repeats; r++) {
        uint8_t *row = (uint8_t *)insn->dst.addr + (size_t)r * rep * NPU_BLOCK;
        uint64_t mask[2];
        npu_vector_mask(&v, r, mask);
        if (rows) {
            uint32_t n = r + 1 < v.repeats ? v.per_repeat : v.last;
            store_indices(row, value, n, size);
            npu_ub_define(core, row, n * size);
        }
        for (uint32_t i = 0; !rows && i < v.per_repeat; i++)
            if (npu_lane_selected(mask, i)) {
                uint8_t *at = row + (size_t)(i / per_block) * blk * NPU_BLOCK + i % per_block * size;
                memcpy(at, &value[i], size);
                npu_ub_define(core, at, size);
            }
        next_indices(insn->dst_type, v.per_repeat, value);
    }
}
