/* Pad and UnPad: rows of a matrix to whole 32-byte blocks and back. dst = result, src = x; shape = leftPad, rightPad;
 * scalar[0] = padValue. Steps: asc-devkit, Pad and UnPad, NPU_ARCH 2201. */
#include "npu/adv/rows.h"
#include "npu/adv/tiling.h"
#include "npu/adv/transpose.h"
#include "npu/report.h"

enum { BRCB_ROWS = 8 };

struct pad {
    struct npu_core *core;
    const struct npu_adv *call;
    const struct PadTiling *t;
    uint8_t type;
    uint32_t block; /* elements in 32 bytes */
    uint32_t left, right;
    struct npu_tensor spread, rows; /* every element a block: as they come, and a part of a row with its padding */
    uint32_t used, full, refills;   /* blocks of `spread`; how often it was filled */
};

static struct npu_tensor from(const struct npu_tensor *tensor, uint8_t type, uint32_t first)
{
    struct npu_tensor part = *tensor;
    uint32_t bytes = adv_bytes(type, first);
    part.addr += bytes;
    part.bytes = part.bytes > bytes ? part.bytes - bytes : 1;
    return part;
}

static void move_blocks(const struct pad *p, struct npu_tensor dst, struct npu_tensor src, uint32_t count,
                        uint32_t length, uint32_t gap)
{
    struct npu_insn insn =
        ADV_INSN(NPU_OP_DATA_COPY, MASK_REG, p->type,
                 .copy = {.block_count = count, .block_len = length, .src_stride = gap}, .dst = dst, .src0 = src);
    adv_issue(p->core, &insn);
}

static void fill_blocks(const struct pad *p, uint32_t first, uint32_t count)
{
    struct adv_rows blocks = adv_nd(from(&p->rows, p->type, first * p->block), p->type, p->block);
    adv_rows_fill(p->core, blocks, p->call->scalar[0], count, p->block);
}

/* The next elements of the source, each to a block. */
static void refill(struct pad *p)
{
    uint32_t first = p->refills * p->t->brcbTiling;
    if (p->refills == p->t->brcbFractal)
        p->full = p->t->brcbFractalTail;
    for (uint32_t at = 0; at < p->full / BRCB_ROWS; at += p->t->maxRepeatTimes) {
        uint32_t left = p->full / BRCB_ROWS - at;
        struct npu_insn insn = ADV_INSN(NPU_OP_BRCB, MASK_REG, p->type, .dst_blk = 1, .dst_rep = BRCB_ROWS,
                                        .dst = from(&p->spread, p->type, at * BRCB_ROWS * p->block),
                                        .src0 = from(&p->call->src[0], p->type, first + at * BRCB_ROWS));
        insn.repeat = left < p->t->maxRepeatTimes ? left : p->t->maxRepeatTimes;
        adv_issue(p->core, &insn);
    }
    p->refills++;
    p->used = 0;
}

/* `count` blocks from `first` on get the next elements. */
static void take(struct pad *p, uint32_t first, uint32_t count)
{
    while (count) {
        if (p->used == p->full)
            refill(p);
        uint32_t left = p->full - p->used, n = left < count ? left : count;
        move_blocks(p, from(&p->rows, p->type, first * p->block), from(&p->spread, p->type, p->used * p->block), 1, n,
                    0);
        p->used += n;
        first += n;
        count -= n;
    }
}

/* Blocks of equal elements to rows: transposed sixteen at a time, of which the first row is wanted. */
static void gather(const struct pad *p, struct npu_tensor dst, uint32_t count)
{
    uint64_t list[ADV_LIST];
    for (uint32_t i = 0; i < ADV_LIST; i++)
        list[i] = p->rows.addr + (uint64_t)i * NPU_BLOCK;
    adv_transpose_blocks(p->core, p->type, list, list, p->t->tmpBuffer1BlockNum, ADV_LIST, ADV_LIST);
    uint32_t groups = count / ADV_LIST, blocks = ADV_LIST / p->block;
    if (groups)
        move_blocks(p, dst, p->rows, groups, blocks, ADV_LIST - blocks);
    if (count % ADV_LIST)
        move_blocks(p, from(&dst, p->type, groups * ADV_LIST), from(&p->rows, p->type, groups * ADV_LIST * p->block), 1,
                    1, 0);
}

static void pad_row(struct pad *p, uint32_t row)
{
    const struct PadTiling *t = p->t;
    uint32_t width = t->srcWidth + p->left + p->right, step = t->tmpBuffer1RowNum, last = t->widthFractalTailAlingned;
    for (uint32_t part = 0; part <= t->widthFractal; part++) {
        uint32_t have = part ? 0 : p->left, count = part == t->widthFractal ? last : step;
        uint32_t right = part == t->widthFractal ? p->right : 0;
        if (have)
            fill_blocks(p, 0, have);
        if (right)
            fill_blocks(p, count - right, right);
        take(p, have, count - have - right);
        gather(p, from(&p->call->dst[0], p->type, row * width + part * step), count);
    }
}

static void pad_unaligned(struct pad *p)
{
    const struct PadTiling *t = p->t;
    uint32_t bytes = t->tmpBuffer1RowNum * NPU_BLOCK, width = t->srcWidth + p->left + p->right;
    if (!bytes || width % p->block || width - t->srcWidth >= p->block || t->srcHeight * t->srcWidth % p->block ||
        t->widthFractalTailAlingned < p->left + p->right)
        npu_trap(p->core, FAULT(adv_shape), "padParams",
                 "Pad of %u x %u elements by %u and %u, %u at a time: rows grow to the next 32-byte block, and the "
                 "source as a whole is whole blocks",
                 t->srcHeight, t->srcWidth, p->left, p->right, t->tmpBuffer1RowNum);
    p->spread = adv_tmp(p->core, p->call, 0, bytes);
    p->rows = adv_tmp(p->core, p->call, t->tmpBuffer2Offset * npu_element_bits(p->type) / 8, bytes);
    p->full = p->used = t->tmpBuffer1RowNum;
    for (uint32_t row = 0; row < t->srcHeight; row++)
        pad_row(p, row);
}

/* The source is copied, and the last block of each row written over. */
static void pad_aligned(const struct pad *p)
{
    const struct PadTiling *t = p->t;
    uint32_t surplus = t->srcWidth - t->srcOriWidth, count = t->srcHeight * t->srcWidth;
    if (surplus >= p->block)
        npu_trap(p->core, FAULT(adv_shape), "padParams", "Pad of rows of %u elements, of which %u are data",
                 t->srcWidth, t->srcOriWidth);
    struct npu_insn copy =
        ADV_INSN(NPU_OP_DATA_COPY, COUNT, p->type, .count = count, .dst = p->call->dst[0], .src0 = p->call->src[0]);
    adv_issue(p->core, &copy);
    for (uint32_t row = 0; p->right && row < t->srcHeight; row += t->heightTiling) {
        uint32_t left = t->srcHeight - row;
        struct npu_insn insn = ADV_INSN(NPU_OP_DUPLICATE, MASK_BITS, p->type, .scalar = p->call->scalar[0],
                                        .mask = {((UINT64_C(1) << p->right) - 1) << (p->block - surplus)}, .dst_blk = 1,
                                        .dst_rep = (uint16_t)t->blocksPerRow);
        insn.repeat = left < t->heightTiling ? left : t->heightTiling;
        insn.dst = from(&p->call->dst[0], p->type, row * t->srcWidth + t->widthWithoutLastBlock);
        adv_issue(p->core, &insn);
    }
}

void adv_pad(struct npu_core *core, const struct npu_adv *call)
{
    struct pad p = {.core = core, .call = call, .t = call->tiling, .type = call->type, .left = call->shape[0]};
    p.block = NPU_BLOCK * 8 / npu_element_bits(call->type);
    p.right = call->shape[1];
    adv_reset_mask(core);
    if (p.t->srcWidth % p.block)
        pad_unaligned(&p);
    else
        pad_aligned(&p);
    adv_reset_mask(core);
}

void adv_unpad(struct npu_core *core, const struct npu_adv *call)
{
    const struct UnPadTiling *t = call->tiling;
    uint32_t bytes = adv_bytes(call->type, t->srcWidth), right = call->shape[1];
    if (!t->srcHeight || !bytes || bytes % NPU_BLOCK || adv_bytes(call->type, right) >= NPU_BLOCK)
        npu_trap(core, FAULT(adv_shape), "unPadParams",
                 "UnPad of %u x %u elements by %u: rows are whole 32-byte blocks and lose less than one", t->srcHeight,
                 t->srcWidth, right);
    struct npu_insn insn = {.op = NPU_OP_GATHER_MASK,
                            .form = NPU_FORM_MASK_REG,
                            .dst_type = call->type,
                            .src_type = call->type,
                            .mode = 7, /* every element */
                            .flags = NPU_INSN_REDUCE_MODE,
                            .mask = {t->srcWidth - right},
                            .repeat = t->srcHeight,
                            .src0_blk = 1,
                            .src0_rep = (uint16_t)(bytes / NPU_BLOCK),
                            .dst = call->dst[0],
                            .src0 = call->src[0]};
    adv_issue(core, &insn);
    adv_reset_mask(core);
}
