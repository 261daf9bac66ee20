/* DataCopy with Nd2NzParams from GM into UB: not an instruction but padded copies, as kernel_operator_data_copy_impl.h of
 * CANN 8.1 makes them for NPU_ARCH 2201, with what it does to the parameters. A matrix becomes strips of 32 bytes of
 * columns (16 columns of float), one row of a strip after the other; the strides between matrices are added once,
 * whichever matrix it is, and rows beyond the 255th begin 255 times dValue further on. */
#include "npu/issue/issue.h"
#include "npu/isa.h"

enum { ROWS = 255, FLOAT_COLUMNS = 16 };

/* Rows from `row` on of the strip that begins at `column`, `columns` wide. */
static void copy_strip(struct npu_core *core, const struct npu_insn *given, uint32_t column, uint32_t strip,
                       uint32_t columns, uint32_t row)
{
    const struct npu_nd2nz *p = &given->nd2nz;
    uint32_t size = (uint32_t)akgen_dtype_size(given->src_type), length = columns * size;
    bool wide = given->src_type == AKGEN_FLOAT;
    int64_t gap = wide && columns < strip ? (int64_t)(strip - columns) * size / NPU_BLOCK
                  : wide                  ? ((int64_t)p->dst_n * NPU_BLOCK - (int64_t)strip * size) / NPU_BLOCK
                                          : ((int64_t)p->dst_n - NPU_BLOCK) / NPU_BLOCK;
    struct npu_insn insn = {.op = NPU_OP_DATA_COPY_PAD,
                            .form = NPU_FORM_MASK_REG,
                            .dst_type = given->dst_type,
                            .src_type = given->src_type,
                            .dst = given->dst,
                            .src0 = given->src0};
    uint32_t rows = p->n - row < ROWS ? p->n - row : ROWS;
    insn.copy.block_count = (uint16_t)rows;
    insn.copy.block_len = length;
    insn.copy.src_stride = p->src_d * size - length;
    insn.copy.dst_stride = (uint32_t)gap;
    insn.dst.addr += (uint64_t)p->dst_matrix * size + (uint64_t)(column / strip) * p->dst_c0 * NPU_BLOCK +
                     (uint64_t)row * strip * size;
    insn.src0.addr += ((uint64_t)p->src_matrix + column + (uint64_t)(row / ROWS) * ROWS * p->d) * size;
    insn.dst.bytes = insn.src0.bytes = 0;
    npu_issue_from(core, &insn);
}

void npu_copy_nd2nz_to_ub(struct npu_core *core, const struct npu_insn *given)
{
    const struct npu_nd2nz *p = &given->nd2nz;
    uint32_t size = (uint32_t)akgen_dtype_size(given->src_type);
    uint32_t strip = given->src_type == AKGEN_FLOAT ? FLOAT_COLUMNS : NPU_BLOCK / size;
    for (uint32_t matrix = 0; matrix < p->nd_num; matrix++)
        for (uint32_t column = 0; column < p->d; column += strip)
            for (uint32_t row = 0; row < p->n; row += ROWS)
                copy_strip(core, given, column, strip, p->d - column < strip ? p->d - column : strip, row);
}
