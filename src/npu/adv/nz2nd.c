/* DataCopy with Nz2NdParamsFull: fractal matrices in UB to matrices by rows in GM. dst = result, src = source; tiling =
 * struct npu_nz2nd. Steps: asc-devkit, the same API of NPU_ARCH 2201; rules: docs/zh/api,
 * 数据搬运/DataCopy（UBToGM随路转换NZ2ND搬运）. A matrix lies in UB as strips of 16 columns, of whichever type, one row
 * of a strip after the other; a padded copy moves up to 4095 rows of one strip. */
#include "npu/adv/adv.h"
#include "npu/insn/lanes.h"
#include "npu/issue/issue.h"
#include "npu/report.h"

enum { STRIP = 16, FRACTAL = 256, MOST_ROWS = 4095 };

static void check_params(struct npu_core *core, const struct npu_nz2nd *p)
{
    const struct {
        const char *name;
        uint32_t value, least, most;
    } fields[] = {{"ndNum", p->matrices, 0, 4095},        {"nValue", p->rows, 1, 8192},
                  {"dValue", p->columns, 1, 8192},        {"srcNdMatrixStride", p->src_matrix, 1, 512},
                  {"srcNStride", p->src_column, 0, 4096}, {"dstDStride", p->dst_row, 1, 65535}};
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
        if (fields[i].value < fields[i].least || fields[i].value > fields[i].most)
            npu_trap(core, FAULT(copy_params), "intriParams", "%s is %u, expected %u to %u", fields[i].name,
                     fields[i].value, fields[i].least, fields[i].most);
    if (p->columns % STRIP)
        npu_trap(core, FAULT(copy_params), "intriParams", "dValue is %u, expected a multiple of %d", p->columns, STRIP);
    if (p->dst_row < STRIP)
        npu_trap(core, FAULT(copy_params), "intriParams",
                 "dstDStride is %u, less than the %d columns that a copy moves", p->dst_row, STRIP);
}

void adv_copy_nz2nd(struct npu_core *core, const struct npu_adv *call)
{
    const struct npu_nz2nd *p = call->tiling;
    check_params(core, p);
    uint32_t size = npu_element_bits(call->type) / 8;
    struct npu_insn insn = ADV_INSN(NPU_OP_DATA_COPY_PAD, MASK_REG, call->type,
                                    .copy = {.block_len = STRIP * size, .dst_stride = (p->dst_row - STRIP) * size});
    for (uint32_t matrix = 0; matrix < p->matrices; matrix++)
        for (uint32_t strip = 0; strip < p->columns / STRIP; strip++)
            for (uint32_t row = 0; row < p->rows; row += MOST_ROWS) {
                uint64_t from =
                    (uint64_t)matrix * p->src_matrix * FRACTAL + ((uint64_t)strip * p->src_column + row) * STRIP;
                uint64_t to = (uint64_t)matrix * p->dst_matrix + strip * STRIP + (uint64_t)row * p->dst_row;
                insn.copy.block_count = (uint16_t)(p->rows - row < MOST_ROWS ? p->rows - row : MOST_ROWS);
                insn.dst = call->dst[0];
                insn.src0 = call->src[0];
                insn.dst.addr += to * size;
                insn.src0.addr += from * size;
                npu_issue_from(core, &insn);
            }
}
