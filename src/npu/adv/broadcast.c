/* Broadcast along one axis of a matrix. */
#include "npu/adv/rows.h"
#include "npu/order/order.h"
#include "npu/order/schedule.h"
#include "npu/report.h"
#include "npu/scalar/access.h"

#include <string.h>

enum { ELEMENTS_OF_BRCB = 8, BROADCAST_REPEATS = 248 /* at most 255, rows in eights */ };

/* One call on 16- or 32-bit elements. */
struct broadcast {
    struct npu_tensor dst, src, tmp;
    uint8_t type;
    uint32_t rows, cols; /* of dst */
};

static uint32_t block_elements(uint8_t type)
{
    return NPU_BLOCK * 8 / npu_element_bits(type);
}

static struct npu_tensor tmp_of(struct npu_core *core, const struct broadcast *b, uint32_t offset, uint32_t bytes)
{
    struct npu_adv call = {.tmp = b->tmp};
    return adv_tmp(core, &call, offset, bytes);
}

static void brcb(struct npu_core *core, struct npu_tensor dst, struct npu_tensor src, uint8_t type, uint32_t rows)
{
    struct npu_insn insn = ADV_INSN(NPU_OP_BRCB, MASK_REG, type);
    insn.repeat = (rows + ELEMENTS_OF_BRCB - 1) / ELEMENTS_OF_BRCB;
    insn.dst_blk = 1;
    insn.dst_rep = ELEMENTS_OF_BRCB;
    insn.dst = dst;
    insn.src0 = src;
    adv_issue(core, &insn);
}

/* `rows` elements become rows: a block each, which Copy repeats; rows that are not whole blocks are closed up by
 * GatherMask. Steps and temporary space: asc-devkit, Broadcast, NPU_ARCH 2201. */
static void last_axis_part(struct npu_core *core, const struct broadcast *b, uint32_t first, uint32_t rows)
{
    uint32_t block = block_elements(b->type), whole = (b->cols + block - 1) / block * block;
    uint32_t block_rows = (rows + ELEMENTS_OF_BRCB - 1) / ELEMENTS_OF_BRCB * ELEMENTS_OF_BRCB;
    struct npu_tensor blocks = tmp_of(core, b, 0, block_rows * NPU_BLOCK);
    struct npu_tensor dst = adv_part(&b->dst, b->type, first * b->cols, rows * b->cols);
    struct npu_tensor wide = dst;
    if (whole != b->cols)
        wide = tmp_of(core, b, block_rows * NPU_BLOCK, adv_bytes(b->type, rows * whole));
    brcb(core, blocks, adv_part(&b->src, b->type, first, block_rows), b->type, rows);
    adv_rows_copy(core, adv_nd(wide, b->type, whole), adv_spread(blocks, b->type, block), rows, whole);
    if (whole == b->cols)
        return;
    struct npu_insn insn = {.op = NPU_OP_GATHER_MASK, .dst_type = b->type, .src_type = b->type};
    enum { EVERY_ELEMENT = 7 };
    insn.form = NPU_FORM_MASK_REG;
    insn.mode = EVERY_ELEMENT;
    insn.flags = NPU_INSN_REDUCE_MODE;
    insn.mask[0] = b->cols;
    insn.repeat = rows;
    insn.src0_blk = 1;
    insn.src0_rep = (uint16_t)(whole / block);
    insn.dst = dst;
    insn.src0 = wide;
    adv_issue(core, &insn);
    adv_reset_mask(core);
}

/* How many rows the temporary space holds at a time: units of as many rows as a block has elements. A part must end
 * on a 32-byte boundary of dst, which such a unit does. */
static void last_axis(struct npu_core *core, const struct broadcast *b)
{
    uint32_t block = block_elements(b->type), whole = (b->cols + block - 1) / block * block;
    uint32_t unit = adv_bytes(b->type, block * (whole == b->cols ? block : block + whole));
    uint32_t step = b->tmp.bytes / unit * block;
    if (!step)
        npu_trap(core, FAULT(adv_tmp_too_small), "sharedTmpBuffer",
                 "%s needs at least %u bytes of temporary space to broadcast to rows of %u elements, it has %u",
                 core->api, unit, b->cols, b->tmp.bytes);
    if (step > BROADCAST_REPEATS)
        step = BROADCAST_REPEATS / block * block;
    for (uint32_t first = 0; first < b->rows; first += step)
        last_axis_part(core, b, first, b->rows - first < step ? b->rows - first : step);
}

static void first_axis(struct npu_core *core, const struct broadcast *b)
{
    if (adv_bytes(b->type, b->cols) % NPU_BLOCK)
        npu_trap(core, FAULT(adv_shape), "dstShape",
                 "%s along the first axis takes rows of whole 32-byte blocks; %u elements are %u bytes", core->api,
                 b->cols, adv_bytes(b->type, b->cols));
    tmp_of(core, b, 0, NPU_BLOCK); /* asked for by the documentation; Copy needs none */
    adv_rows_copy(core, adv_nd(b->dst, b->type, b->cols), adv_nd(b->src, b->type, 0), b->rows, b->cols);
}

/* The scalar unit reads the one element when the vector pipe has written it, and Duplicate waits for it. */
static void one_element(struct npu_core *core, const struct broadcast *b)
{
    uint32_t size = npu_element_bits(b->type) / 8;
    npu_order_edge(core->order, NPU_LANE_V, NPU_LANE_S);
    npu_schedule_drain(core, NPU_PIPE_V);
    npu_scalar_access(core, b->src.addr, size, false, false);
    uint64_t bits = 0;
    memcpy(&bits, (const void *)b->src.addr, size);
    npu_order_edge(core->order, NPU_LANE_S, NPU_LANE_V);
    struct npu_insn insn = ADV_INSN(NPU_OP_DUPLICATE, COUNT, b->type);
    insn.dst = b->dst;
    insn.scalar = bits;
    insn.count = b->rows * b->cols;
    adv_issue(core, &insn);
}

static void broadcast(struct npu_core *core, const struct broadcast *b, const uint32_t *shape)
{
    uint32_t src_count = shape[2] * shape[3];
    if (src_count == b->rows * b->cols)
        adv_rows_copy(core, adv_nd(b->dst, b->type, 0), adv_nd(b->src, b->type, 0), 1, src_count);
    else if (src_count == 1)
        one_element(core, b);
    else if (shape[4] == 1)
        last_axis(core, b);
    else
        first_axis(core, b);
}

static void check_shape(struct npu_core *core, const struct npu_adv *call)
{
    for (int i = 0; i < 2; i++)
        if (!call->shape[i] || (call->shape[2 + i] != call->shape[i] && call->shape[2 + i] != 1))
            npu_trap(core, FAULT(adv_shape), "srcShape",
                     "%s cannot make %u x %u of %u x %u: an axis grows from 1 or stays", core->api, call->shape[0],
                     call->shape[1], call->shape[2], call->shape[3]);
    if (call->shape[4] > 1)
        npu_trap(core, FAULT(adv_shape), "axis", "%s has the axes 0 and 1, not %u", core->api, call->shape[4]);
    uint32_t other = 1 - call->shape[4], grown = call->shape[2] * call->shape[3];
    if (call->shape[2 + other] != call->shape[other] && grown != 1)
        npu_trap(core, FAULT(adv_shape), "axis", "%s along axis %u, but it is axis %u that grows from 1 to %u",
                 core->api, call->shape[4], other, call->shape[other]);
}

void adv_broadcast(struct npu_core *core, const struct npu_adv *call)
{
    check_shape(core, call);
    const uint32_t *shape = call->shape;
    struct broadcast b = {.dst = call->dst[0],
                          .src = call->src[0],
                          .tmp = call->tmp,
                          .type = call->type,
                          .rows = shape[0],
                          .cols = shape[1]};
    if (npu_element_bits(call->type) > 8) {
        broadcast(core, &b, shape);
        return;
    }
    /* Bytes are broadcast as half, which holds all of them. */
    enum { HALF_BLOCK = 16, NONE = 0 };
    uint32_t src_count = shape[2] * shape[3], dst_count = b.rows * b.cols;
    uint32_t src_bytes = (src_count + HALF_BLOCK - 1) / HALF_BLOCK * NPU_BLOCK;
    uint32_t dst_bytes = (dst_count + HALF_BLOCK - 1) / HALF_BLOCK * NPU_BLOCK;
    struct npu_tensor src = adv_tmp(core, call, 0, src_bytes), dst = adv_tmp(core, call, src_bytes, dst_bytes);
    adv_cast(core, src, AKGEN_FLOAT16, b.src, call->type, NONE, src_count);
    struct broadcast wide = b;
    wide.type = AKGEN_FLOAT16;
    wide.src = src;
    wide.dst = dst;
    wide.tmp.addr += src_bytes + dst_bytes;
    wide.tmp.bytes -= src_bytes + dst_bytes;
    broadcast(core, &wide, shape);
    adv_cast(core, b.dst, call->type, dst, AKGEN_FLOAT16, NONE, dst_count);
}
