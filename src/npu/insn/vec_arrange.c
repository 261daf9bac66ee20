/* Rearranging whole blocks: Gatherb, Transpose (vtranspose), TransDataTo5HD (scatter_vnchwconv).
 *
 * asc-devkit docs, 基础API/Memory矢量计算/: 离散与聚合/Gatherb(ISASI), 数据排布转换/Transpose, TransDataTo5HD. */
#include "npu/gm/shadow.h"
#include "npu/insn/insn.h"
#include "npu/insn/lanes.h"
#include "npu/isa.h"
#include "npu/report.h"

#include <string.h>

static void check_repeat(struct npu_core *core, const struct npu_insn *insn)
{
    if (insn->repeat > NPU_MAX_REPEAT)
        npu_trap(core, FAULT(vec_repeat), "repeatTimes", "%s repeats %u times; the register holds 0 to 255",
                 npu_isa[insn->op].name, insn->repeat);
}

/* Gatherb: eight blocks a repeat, each from the byte offset that src1 holds. */
enum { GATHERB_BLOCKS = 8 };

int npu_check_gatherb(struct npu_core *core, struct npu_insn *insn, const struct npu_regs *regs,
                      struct npu_access *accesses)
{
    (void)regs;
    npu_check_types(core, insn);
    check_repeat(core, insn);
    if (!insn->repeat)
        return 0;
    if (!insn->dst_blk)
        insn->dst_blk = 1;
    npu_check_operand(core, &insn->dst, "dst");
    npu_check_operand(core, &insn->src0, "src");
    npu_check_operand(core, &insn->src1, "offset");
    accesses[0] = (struct npu_access){.addr = insn->dst.addr,
                                      .bytes = NPU_BLOCK,
                                      .count = GATHERB_BLOCKS,
                                      .count2 = insn->repeat,
                                      .stride = insn->dst_blk * NPU_BLOCK,
                                      .stride2 = insn->dst_rep * NPU_BLOCK,
                                      .write = true,
                                      .flags = insn->dst.flags,
                                      .tensor = &insn->dst,
                                      .operand = "dst"};
    accesses[1] = (struct npu_access){.addr = insn->src1.addr,
                                      .bytes = insn->repeat * GATHERB_BLOCKS * (uint32_t)sizeof(uint32_t),
                                      .count = 1,
                                      .count2 = 1,
                                      .flags = insn->src1.flags,
                                      .tensor = &insn->src1,
                                      .operand = "offset"};
    /* The blocks are known when the offsets are: any of src may be read, of UB where its extent is not known. */
    uint64_t ub_end = (uint64_t)core->ub + core->ub_bytes;
    accesses[2] =
        (struct npu_access){.addr = insn->src0.addr,
                            .bytes = insn->src0.bytes ? insn->src0.bytes : (uint32_t)(ub_end - insn->src0.addr),
                            .count = 1,
                            .count2 = 1,
                            .flags = insn->src0.flags,
                            .tensor = &insn->src0,
                            .operand = "src"};
    return 3;
}

static void gather_block(struct npu_core *core, const struct npu_insn *insn, uint8_t *dst, const uint8_t *offset_at)
{
    uint32_t offset;
    memcpy(&offset, offset_at, sizeof offset);
    uint64_t end = insn->src0.bytes ? insn->src0.addr + insn->src0.bytes : (uint64_t)core->ub + core->ub_bytes;
    if (!npu_ub_defined(core, offset_at, sizeof offset)) {
        npu_undefined_read(core, "offset", offset_at);
        npu_note(core, true, FAULT(undefined_address), "offset", 0,
                 "offset of Gatherb holds bytes that were never written; they decide which blocks are taken");
        npu_ub_undefine(core, dst, NPU_BLOCK);
        return;
    }
    if (offset % NPU_BLOCK)
        npu_trap(core, FAULT(gatherb_offset), "offset", "offset %u of Gatherb is no multiple of 32 bytes", offset);
    if (insn->src0.addr + offset + NPU_BLOCK > end)
        npu_trap(core, FAULT(gatherb_offset), "offset", "offset %u of Gatherb lies beyond src, which has %llu bytes",
                 offset, (unsigned long long)(end - insn->src0.addr));
    const uint8_t *src = (const uint8_t *)insn->src0.addr + offset;
    memmove(dst, src, NPU_BLOCK);
    npu_shadow_copy(core, dst, src, NPU_BLOCK);
}

void npu_exec_gatherb(struct npu_core *core, const struct npu_insn *insn, const struct npu_regs *regs)
{
    (void)regs;
    for (uint32_t r = 0; r < insn->repeat; r++)
        for (uint32_t b = 0; b < GATHERB_BLOCKS; b++)
            gather_block(core, insn,
                         (uint8_t *)insn->dst.addr + ((size_t)r * insn->dst_rep + b * insn->dst_blk) * NPU_BLOCK,
                         (const uint8_t *)insn->src1.addr + (r * GATHERB_BLOCKS + b) * sizeof(uint32_t));
}

/* One element and its definedness. */
static void take(uint8_t *to, uint64_t *to_defined, const struct npu_core *core, uint32_t at, const uint8_t *from,
                 uint32_t size)
{
    memcpy(to + at, from, size);
    if (npu_ub_defined(core, from, size))
        to_defined[at / 64] |= ((UINT64_C(1) << size) - 1) << at % 64;
}

static void put(struct npu_core *core, uint8_t *dst, const uint8_t *from, const uint64_t *defined, uint32_t at,
                uint32_t bytes)
{
    memcpy(dst, from + at, bytes);
    for (uint32_t i = 0; i < bytes; i++)
        if (defined[(at + i) / 64] >> (at + i) % 64 & 1)
            npu_ub_define(core, dst + i, 1);
        else
            npu_ub_undefine(core, dst + i, 1);
}

/* Transpose: 16 x 16 elements of 16 bits; dst may be src. */
enum { TRANSPOSE_ROWS = 16, TRANSPOSE_BYTES = 512 };

int npu_check_transpose(struct npu_core *core, struct npu_insn *insn, const struct npu_regs *regs,
                        struct npu_access *accesses)
{
    (void)regs;
    npu_check_types(core, insn);
    npu_check_operand(core, &insn->dst, "dst");
    npu_check_operand(core, &insn->src0, "src");
    for (int i = 0; i < 2; i++) {
        const struct npu_tensor *tensor = i ? &insn->src0 : &insn->dst;
        accesses[i] = (struct npu_access){.addr = tensor->addr,
                                          .bytes = TRANSPOSE_BYTES,
                                          .count = 1,
                                          .count2 = 1,
                                          .write = !i,
                                          .flags = tensor->flags,
                                          .tensor = tensor,
                                          .operand = i ? "src" : "dst"};
    }
    return 2;
}

void npu_exec_transpose(struct npu_core *core, const struct npu_insn *insn, const struct npu_regs *regs)
{
    (void)regs;
    uint8_t result[TRANSPOSE_BYTES];
    uint64_t defined[TRANSPOSE_BYTES / 64] = {0};
    const uint8_t *src = (const uint8_t *)insn->src0.addr;
    for (uint32_t row = 0; row < TRANSPOSE_ROWS; row++)
        for (uint32_t column = 0; column < TRANSPOSE_ROWS; column++)
            take(result, defined, core, (column * TRANSPOSE_ROWS + row) * 2, src + (row * TRANSPOSE_ROWS + column) * 2,
                 2);
    put(core, (uint8_t *)insn->dst.addr, result, defined, 0, TRANSPOSE_BYTES);
}

/* TransDataTo5HD: the i-th element of sixteen source blocks makes a destination block; of 32-bit elements a pair of
 * blocks; of 8-bit ones half a block. The addresses are in VA registers, eight in each: mode holds the first register
 * of dst in its bits 0..2 and that of src in bits 3..5; of dst and src0 only the flags are read. A stride counts from
 * the second repeat on, but is added once where there is one repeat. */
enum { LIST = 16, VA_ADDRESSES = 8 };

static uint32_t va_offset(const struct npu_regs *regs, uint32_t first, uint32_t i)
{
    return regs->va[(first + i / VA_ADDRESSES) % NPU_VA_REGISTERS][i % VA_ADDRESSES];
}

int npu_check_trans_5hd(struct npu_core *core, struct npu_insn *insn, const struct npu_regs *regs,
                        struct npu_access *accesses)
{
    npu_check_types(core, insn);
    check_repeat(core, insn);
    if (!insn->repeat)
        return 0;
    uint32_t bytes = akgen_dtype_size((enum akgen_dtype)insn->src_type) == 1 ? NPU_BLOCK / 2 : NPU_BLOCK;
    int n = 0;
    for (int k = 0; k < 2; k++)
        for (uint32_t i = 0; i < LIST; i++) {
            const char *operand = k ? "srcList" : "dstList";
            uint32_t offset = va_offset(regs, insn->mode >> (k ? 3 : 0) & 7, i);
            uint32_t step = (k ? insn->src0_rep : insn->dst_rep) * NPU_BLOCK;
            if (offset == NPU_VA_OUTSIDE)
                npu_trap(core, FAULT(vec_position), operand,
                         "address %u of %s of TransDataTo5HD does not lie in Unified Buffer", i, operand);
            if (offset % NPU_BLOCK)
                npu_trap(core, FAULT(vec_alignment), operand,
                         "address %u of %s of TransDataTo5HD is UB byte %u, which is no multiple of 32", i, operand,
                         offset);
            bool high = insn->flags & (k ? NPU_INSN_SRC_HIGH : NPU_INSN_DST_HIGH);
            accesses[n++] = (struct npu_access){.addr = (uint64_t)core->ub + offset + (insn->repeat == 1 ? step : 0) +
                                                        (bytes < NPU_BLOCK && high ? bytes : 0),
                                                .bytes = bytes,
                                                .count = insn->repeat,
                                                .count2 = 1,
                                                .stride = step,
                                                .write = !k,
                                                .flags = k ? insn->src0.flags : insn->dst.flags,
                                                .operand = operand};
        }
    return n;
}

static void convert(struct npu_core *core, const struct npu_insn *insn, uint8_t *const dst[LIST],
                    const uint8_t *const src[LIST])
{
    uint32_t size = (uint32_t)akgen_dtype_size((enum akgen_dtype)insn->src_type);
    uint32_t taken = size == 1 ? 16 : NPU_BLOCK / size; /* elements of a source block */
    uint32_t row = LIST * size;                         /* bytes that the i-th elements make */
    uint8_t result[NPU_BLOCK * LIST];
    uint64_t defined[sizeof result / 64] = {0};
    const uint32_t from = insn->flags & NPU_INSN_SRC_HIGH && size == 1 ? 16 : 0;
    const uint32_t to = insn->flags & NPU_INSN_DST_HIGH && size == 1 ? 16 : 0;
    for (uint32_t i = 0; i < taken; i++)
        for (uint32_t k = 0; k < LIST; k++)
            take(result, defined, core, i * row + k * size, src[k] + from + i * size, size);
    uint32_t piece = row < NPU_BLOCK ? row : NPU_BLOCK;
    for (uint32_t i = 0; i < LIST; i++)
        put(core, dst[i] + to, result, defined, i * piece, piece);
}

void npu_exec_trans_5hd(struct npu_core *core, const struct npu_insn *insn, const struct npu_regs *regs)
{
    for (uint32_t r = 0; r < insn->repeat; r++) {
        uint8_t *dst[LIST];
        const uint8_t *src[LIST];
        uint32_t steps = insn->repeat == 1 ? 1 : r;
        for (uint32_t i = 0; i < LIST; i++) {
            dst[i] = core->ub + va_offset(regs, insn->mode & 7, i) + (size_t)steps * insn->dst_rep * NPU_BLOCK;
            src[i] = core->ub + va_offset(regs, insn->mode >> 3 & 7, i) + (size_t)steps * insn->src0_rep * NPU_BLOCK;
        }
        convert(core, insn, dst, src);
    }
}
