/* ReduceSum, ReduceMean, ReduceMax and ReduceMin of a matrix with a pattern: AR reduces rows to a column, RA columns to
 * a row. shape = rows, columns, whether the rows are reduced (RA). Rows are whole 32-byte blocks in memory.
 *
 * Temporary space and types: asc-devkit docs, 高阶API/归约操作. AR folds rows to one repeat each, in temporary space or
 * (isReuseSource) in the source; RA works in the result. */
#include "npu/adv/rows.h"
#include "npu/report.h"

enum { ONLY_VALUE = 2 };

/* Rows of more than one repeat to one repeat, 64 or 128 elements at a time. */
static struct adv_rows fold_rows(struct npu_core *core, const struct npu_adv *call, enum npu_op op, struct adv_rows src,
                                 uint32_t rows, uint32_t cols, uint32_t lanes)
{
    uint32_t size = npu_element_bits(call->type) / 8;
    struct adv_rows acc = src, rest = src;
    bool reuse = call->flags & NPU_ADV_REUSE_SOURCE;
    if (!reuse) {
        acc = adv_nd(adv_tmp(core, call, 0, rows * NPU_REPEAT), call->type, lanes);
        adv_rows_copy(core, acc, src, rows, lanes);
    }
    for (uint32_t first = lanes; first < cols; first += lanes) {
        rest.tensor = src.tensor;
        rest.tensor.addr += (uint64_t)first * size;
        adv_rows_binary(core, op, acc, acc, rest, rows, cols - first < lanes ? cols - first : lanes);
    }
    return acc;
}

static void rows_to_column(struct npu_core *core, const struct npu_adv *call, enum npu_op op, enum npu_op whole,
                           uint32_t pitch)
{
    uint32_t rows = call->shape[0], cols = call->shape[1], lanes = NPU_REPEAT * 8 / npu_element_bits(call->type);
    struct adv_rows src = adv_nd(call->src[0], call->type, pitch);
    if (cols > lanes)
        src = fold_rows(core, call, op, src, rows, cols, lanes);
    for (uint32_t row = 0; row < rows; row += NPU_MAX_REPEAT) {
        struct npu_insn insn = ADV_INSN(whole, MASK_LEN, call->type, .mode = op == NPU_OP_ADD ? 0 : ONLY_VALUE,
                                        .dst_rep = 1, .src0_blk = 1);
        insn.mask[0] = cols < lanes ? cols : lanes;
        insn.repeat = rows - row < NPU_MAX_REPEAT ? rows - row : NPU_MAX_REPEAT;
        insn.src0_rep = (uint16_t)(adv_bytes(call->type, src.pitch) / NPU_BLOCK);
        insn.dst = adv_part(&call->dst[0], call->type, row, insn.repeat);
        insn.src0 = adv_rows_from(src, row).tensor;
        adv_issue(core, &insn);
    }
    adv_reset_mask(core);
}

static void columns_to_row(struct npu_core *core, const struct npu_adv *call, enum npu_op op, uint32_t pitch)
{
    uint32_t rows = call->shape[0], cols = call->shape[1];
    struct adv_rows src = adv_nd(call->src[0], call->type, pitch), dst = adv_nd(call->dst[0], call->type, pitch);
    if (rows == 1)
        adv_rows_copy(core, dst, src, 1, cols);
    for (uint32_t row = 1; row < rows; row++)
        adv_rows_binary(core, op, dst, row == 1 ? src : dst, adv_rows_from(src, row), 1, cols);
}

static void reduce(struct npu_core *core, const struct npu_adv *call, enum npu_op op, enum npu_op whole)
{
    uint32_t block = NPU_BLOCK * 8 / npu_element_bits(call->type);
    uint32_t pitch = (call->shape[1] + block - 1) / block * block;
    if (!call->shape[0] || !call->shape[1])
        npu_trap(core, FAULT(adv_shape), "srcShape", "%s of %u x %u elements", core->api, call->shape[0],
                 call->shape[1]);
    adv_reset_mask(core);
    if (call->shape[2])
        columns_to_row(core, call, op, pitch);
    else
        rows_to_column(core, call, op, whole, pitch);
}

ADV_VARIANT(pattern_sum, reduce, NPU_OP_ADD, NPU_OP_WHOLE_REDUCE_SUM)

void adv_pattern_mean(struct npu_core *core, const struct npu_adv *call)
{
    reduce(core, call, NPU_OP_ADD, NPU_OP_WHOLE_REDUCE_SUM);
    uint32_t averaged = call->shape[2] ? call->shape[0] : call->shape[1];
    adv_scalar_op(core, NPU_OP_MULS, call->dst[0], call->dst[0], 1.0F / (float)averaged, call->type,
                  call->shape[2] ? call->shape[1] : call->shape[0]);
}

ADV_VARIANT(pattern_max, reduce, NPU_OP_MAX, NPU_OP_WHOLE_REDUCE_MAX)
ADV_VARIANT(pattern_min, reduce, NPU_OP_MIN, NPU_OP_WHOLE_REDUCE_MIN)
