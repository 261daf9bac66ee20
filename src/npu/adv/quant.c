/* AscendQuant (half or float to int8), AscendDequant (int32 to float, half or bfloat16), AscendAntiQuant (int8 or int4
 * to half or bfloat16). Scales and offsets are one for all, or one for each column. Steps, the types in which they
 * compute and temporary space: asc-devkit, the APIs' documents and NPU_ARCH 2201. */
#include "npu/adv/rows.h"
#include "npu/order/order.h"
#include "npu/order/schedule.h"
#include "npu/report.h"
#include "npu/scalar/access.h"

#include <string.h>

enum { CAST_NONE = 0, CAST_RINT = 1, UNIT = 32 };

static uint32_t pieces(struct npu_core *core, uint32_t bytes, uint32_t element_bytes)
{
    uint32_t step = bytes / element_bytes / UNIT * UNIT;
    if (!step)
        npu_trap(core, FAULT(adv_tmp_too_small), "sharedTmpBuffer",
                 "%s needs at least %u bytes of temporary space more, it has %u", core->api, UNIT * element_bytes,
                 bytes);
    return step;
}

/* AscendQuant: count = calCount; shape[0] = scaleCount (0: scalar[0] is the scale); src[1] = scale, src[2] = offset,
 * or scalar[1]. Everything is computed in half. */

static void quantise(struct npu_core *core, const struct npu_adv *call, uint32_t first, uint32_t column, uint32_t n)
{
    struct npu_tensor work = adv_tmp(core, call, 0, n * 2), src = adv_part(&call->src[0], call->type, first, n);
    if (call->type == AKGEN_FLOAT) {
        adv_cast(core, work, AKGEN_FLOAT16, src, AKGEN_FLOAT, CAST_NONE, n);
        src = work;
    }
    if (call->shape[0])
        adv_binary(core, NPU_OP_MUL, work, src, adv_part(&call->src[1], AKGEN_FLOAT16, column, n), AKGEN_FLOAT16, n);
    else
        adv_scalar_op(core, NPU_OP_MULS, work, src, adv_number(call->dst_type, call->scalar[0]), AKGEN_FLOAT16, n);
    if (call->src[2].addr)
        adv_binary(core, NPU_OP_ADD, work, work, adv_part(&call->src[2], AKGEN_FLOAT16, column, n), AKGEN_FLOAT16, n);
    else
        adv_scalar_op(core, NPU_OP_ADDS, work, work, adv_number(call->dst_type, call->scalar[1]), AKGEN_FLOAT16, n);
    adv_cast(core, adv_part(&call->dst[0], AKGEN_INT8, first, n), AKGEN_INT8, work, AKGEN_FLOAT16, CAST_NONE, n);
}

void adv_quant(struct npu_core *core, const struct npu_adv *call)
{
    uint32_t columns = call->shape[0] ? call->shape[0] : call->count;
    uint32_t step = pieces(core, call->tmp.bytes, 2);
    if (call->shape[0] && (columns % UNIT || call->count % columns))
        npu_trap(core, FAULT(adv_shape), "scaleCount",
                 "AscendQuant of %u elements with %u scales: scales come in 32s and divide the elements", call->count,
                 columns);
    adv_reset_mask(core);
    if (call->shape[0] && call->type == AKGEN_FLOAT) { /* in the caller's own tensors */
        adv_cast(core, call->src[1], AKGEN_FLOAT16, call->src[1], AKGEN_FLOAT, CAST_NONE, columns);
        if (call->src[2].addr)
            adv_cast(core, call->src[2], AKGEN_FLOAT16, call->src[2], AKGEN_FLOAT, CAST_NONE, columns);
    }
    for (uint32_t row = 0; row < call->count; row += columns)
        for (uint32_t column = 0; column < columns; column += step)
            quantise(core, call, row + column, column, columns - column < step ? columns - column : step);
}

/* AscendDequant: count = elements; shape = m, n, calCount; src[1] = scales of type shape[3], or scalar[0]. */

static struct npu_tensor scales_in_float(struct npu_core *core, const struct npu_adv *call, uint32_t count)
{
    struct npu_tensor scales = adv_tmp(core, call, 0, (count + 7) / 8 * UNIT), given = call->src[1];
    uint8_t type = (uint8_t)call->shape[3];
    if (!given.addr) {
        adv_duplicate(core, scales, adv_number(type, call->scalar[0]), AKGEN_FLOAT, count);
    } else if (type == AKGEN_FLOAT) {
        adv_rows_copy(core, adv_nd(scales, AKGEN_FLOAT, 0), adv_nd(given, AKGEN_FLOAT, 0), 1, count);
    } else if (type == AKGEN_BF16) {
        adv_cast(core, scales, AKGEN_FLOAT, given, AKGEN_BF16, CAST_NONE, count);
    } else { /* uint64: the low word is a float */
        enum { EVEN_ELEMENTS = 1 };
        struct npu_insn insn = ADV_INSN(NPU_OP_GATHER_MASK, MASK_REG, AKGEN_FLOAT, .mode = EVEN_ELEMENTS,
                                        .flags = NPU_INSN_REDUCE_MODE, .repeat = 1, .src0_blk = 1);
        insn.mask[0] = count * 2;
        insn.dst = scales;
        insn.src0 = given;
        adv_issue(core, &insn);
        adv_reset_mask(core);
    }
    return scales;
}

void adv_dequant(struct npu_core *core, const struct npu_adv *call)
{
    uint32_t n = call->shape[1], valid = call->shape[2], dst_bits = npu_element_bits(call->dst_type);
    uint32_t dst_block = NPU_BLOCK * 8 / dst_bits, dst_pitch = (n + dst_block - 1) / dst_block * dst_block;
    if (!n || n % 8 || !valid || valid > n)
        npu_trap(core, FAULT(adv_shape), "params",
                 "AscendDequant of rows of %u elements, %u of them to scale: rows are whole 32-byte blocks of int32", n,
                 valid);
    adv_reset_mask(core);
    struct npu_tensor scales = scales_in_float(core, call, valid);
    uint32_t used = (valid + 7) / 8 * UNIT;
    uint32_t step = (call->tmp.bytes - used) / (n * 4), total = (call->count + n - 1) / n;
    if (call->tmp.bytes < used || !step)
        npu_trap(core, FAULT(adv_tmp_too_small), "sharedTmpBuffer",
                 "AscendDequant needs %u bytes of temporary space, it has %u", used + n * 4, call->tmp.bytes);
    for (uint32_t row = 0; row < total; row += step) {
        uint32_t rows = total - row < step ? total - row : step, last = call->count - (row + rows - 1) * n;
        uint32_t whole = last >= n ? rows : rows - 1, rest = last >= n ? 0 : last;
        struct adv_rows work = adv_nd(adv_tmp(core, call, used, rows * n * 4), AKGEN_FLOAT, n);
        struct adv_rows src = adv_rows_from(adv_nd(call->src[0], AKGEN_INT32, n), row);
        struct adv_rows dst = adv_rows_from(adv_nd(call->dst[0], call->dst_type, dst_pitch), row);
        int mode = call->dst_type == AKGEN_BF16 ? CAST_RINT : CAST_NONE;
        for (int part = 0; part < 2; part++) {
            uint32_t part_rows = part ? 1 : whole, cols = part ? rest : n, scaled = cols < valid ? cols : valid;
            if (!part_rows || !cols)
                continue;
            struct adv_rows from = part ? adv_rows_from(src, whole) : src, to = part ? adv_rows_from(dst, whole) : dst;
            struct adv_rows at = part ? adv_rows_from(work, whole) : work;
            adv_rows_cast(core, at, from, CAST_NONE, part_rows, cols);
            adv_rows_binary(core, NPU_OP_MUL, at, at, adv_nd(scales, AKGEN_FLOAT, 0), part_rows, scaled);
            if (call->dst_type == AKGEN_FLOAT)
                adv_rows_copy(core, to, at, part_rows, cols);
            else
                adv_rows_cast(core, to, at, mode, part_rows, cols);
        }
    }
}

/* AscendAntiQuant: shape = rows, columns, whether a scale belongs to a row (isTranspose); src[1] = offset (or none),
 * src[2] = scale, or scalar[0] and scalar[1] with flags SCALARS. dst_type half or bfloat16. */

/* One value of the type of the result, as the scalar unit reads it. */
static double read_number(struct npu_core *core, const struct npu_tensor *tensor, uint8_t type, uint32_t i)
{
    uint64_t bits = 0, addr = tensor->addr + (uint64_t)i * 2;
    npu_scalar_access(core, addr, 2, false, false);
    memcpy(&bits, (const void *)addr, 2);
    return adv_number(type, bits);
}

struct antiquant {
    bool has_offset, by_column;
    double offset, scale;              /* of all, or of the row */
    struct npu_tensor offsets, scales; /* by_column: of the type in which the work is done */
};

static void antiquant_part(struct npu_core *core, const struct npu_adv *call, const struct antiquant *a, uint32_t first,
                           uint32_t column, uint32_t n, uint32_t space)
{
    bool half = call->dst_type == AKGEN_FLOAT16;
    uint8_t type = half ? AKGEN_FLOAT16 : AKGEN_FLOAT;
    struct npu_tensor dst = adv_part(&call->dst[0], call->dst_type, first, n), work = dst;
    struct npu_tensor narrow = half ? dst : adv_tmp(core, call, space + n * 4, n * 2);
    adv_cast(core, narrow, AKGEN_FLOAT16, adv_part(&call->src[0], call->type, first, n), call->type, CAST_NONE, n);
    if (!half) {
        work = adv_tmp(core, call, space, n * 4);
        adv_cast(core, work, AKGEN_FLOAT, narrow, AKGEN_FLOAT16, CAST_NONE, n);
    }
    if (a->has_offset && a->by_column)
        adv_binary(core, NPU_OP_ADD, work, work, adv_part(&a->offsets, type, column, n), type, n);
    else if (a->has_offset)
        adv_scalar_op(core, NPU_OP_ADDS, work, work, a->offset, type, n);
    if (a->by_column)
        adv_binary(core, NPU_OP_MUL, work, work, adv_part(&a->scales, type, column, n), type, n);
    else
        adv_scalar_op(core, NPU_OP_MULS, work, work, a->scale, type, n);
    if (!half)
        adv_cast(core, dst, AKGEN_BF16, work, AKGEN_FLOAT, CAST_RINT, n);
}

void adv_antiquant(struct npu_core *core, const struct npu_adv *call)
{
    uint32_t rows = call->shape[0], cols = call->shape[1], space = 0;
    bool half = call->dst_type == AKGEN_FLOAT16, scalars = call->flags & NPU_ADV_SCALARS, by_row = call->shape[2];
    uint32_t src_bits = npu_element_bits(call->type);
    if (!rows || !cols || (rows > 1 && !scalars && cols * src_bits / 8 % NPU_BLOCK))
        npu_trap(core, FAULT(adv_shape), "k", "AscendAntiQuant of %u x %u elements: rows are whole 32-byte blocks",
                 rows, cols);
    adv_reset_mask(core);
    struct antiquant a = {.has_offset = scalars ? call->flags & NPU_ADV_HAS_OFFSET : call->src[1].addr != 0,
                          .by_column = !scalars && !by_row,
                          .offset = adv_number(call->dst_type, call->scalar[0]),
                          .scale = adv_number(call->dst_type, call->scalar[1]),
                          .offsets = call->src[1],
                          .scales = call->src[2]};
    if (a.by_column && !half) {
        uint32_t bytes = (cols + 7) / 8 * UNIT;
        a.offsets = adv_tmp(core, call, 0, bytes);
        a.scales = adv_tmp(core, call, bytes, bytes);
        if (a.has_offset)
            adv_cast(core, a.offsets, AKGEN_FLOAT, call->src[1], AKGEN_BF16, CAST_NONE, cols);
        adv_cast(core, a.scales, AKGEN_FLOAT, call->src[2], AKGEN_BF16, CAST_NONE, cols);
        space = 2 * bytes;
    }
    uint32_t step = half ? rows * cols : pieces(core, call->tmp.bytes - space, 6) / 64 * 64;
    if (!step)
        step = UNIT;
    if (scalars) { /* one row, whatever the shape */
        cols *= rows;
        rows = 1;
    }
    if (by_row && !scalars) {
        npu_order_edge(core->order, NPU_LANE_V, NPU_LANE_S);
        npu_schedule_drain(core, NPU_PIPE_V);
    }
    for (uint32_t row = 0; row < rows; row++) {
        if (by_row && !scalars) {
            a.offset = a.has_offset ? read_number(core, &call->src[1], call->dst_type, row) : 0;
            a.scale = read_number(core, &call->src[2], call->dst_type, row);
        }
        for (uint32_t column = 0; column < cols; column += step)
            antiquant_part(core, call, &a, row * cols + column, column, cols - column < step ? cols - column : step,
                           space);
    }
}
