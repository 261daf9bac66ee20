/* DataCopy with Nd2NzParams: matrices by rows in GM become fractal matrices (Nz) in L1, on pipe MTE2. asc-devkit docs,
 * 矩阵计算的搬入/DataCopy（GMToL1随路转换-ND2NZ搬运）. Columns that a 32-byte block lacks come out as zeros; rows that
 * a fractal lacks are not written. */
#include "npu/cube/cube.h"
#include "npu/cube/cube_internal.h"
#include "npu/gm/gm.h"
#include "npu/gm/shadow.h"
#include "npu/memory.h"
#include "npu/report.h"

#include <string.h>

static void check_fields(struct npu_core *core, const struct npu_nd2nz *p)
{
    npu_check_cube_field(core, "ndNum", p->nd_num, 4095);
    npu_check_cube_field(core, "nValue", p->n, 16384);
    npu_check_cube_field(core, "dValue", p->d, 65535);
    npu_check_cube_field(core, "srcDValue", p->src_d, 65535);
    npu_check_cube_field(core, "dstNzC0Stride", p->dst_c0, 16384);
    npu_check_cube_field(core, "dstNzNStride", p->dst_n, 16384);
    npu_check_cube_field(core, "dstNzMatrixStride", p->dst_matrix, 65535);
}

int npu_check_nd2nz(struct npu_core *core, struct npu_insn *insn, const struct npu_regs *regs,
                    struct npu_access *accesses)
{
    (void)regs;
    const struct npu_nd2nz *p = &insn->nd2nz;
    uint32_t size = (uint32_t)akgen_dtype_size(insn->src_type);
    npu_check_cube_operand(core, &insn->dst, "dst", 1u << NPU_MEM_L1, NPU_BLOCK);
    check_fields(core, p);
    if (!p->nd_num || !p->n || !p->d)
        return 0;
    accesses[0] = npu_cube_access(&insn->src0, "src", false, 0, p->d * size);
    accesses[0].count = p->n;
    accesses[0].stride = (int64_t)p->src_d * size;
    accesses[0].count2 = p->nd_num;
    accesses[0].stride2 = (int64_t)p->src_matrix * size;
    uint32_t columns = npu_ceil_div(p->d * size, NPU_BLOCK);
    struct npu_access dst = npu_cube_access(&insn->dst, "dst", true, 0, NPU_BLOCK);
    if (p->dst_n == 1) { /* a column of blocks is one run */
        dst.bytes *= p->n;
        dst.count = columns;
        dst.stride = (int64_t)p->dst_c0 * NPU_BLOCK;
        dst.count2 = p->nd_num;
        dst.stride2 = (int64_t)p->dst_matrix * size;
        accesses[1] = dst;
        return 2;
    }
    dst.count = p->n;
    dst.stride = (int64_t)p->dst_n * NPU_BLOCK;
    dst.count2 = columns;
    dst.stride2 = (int64_t)p->dst_c0 * NPU_BLOCK;
    int count = 1;
    for (uint32_t i = 0; i < p->nd_num; i++) {
        if (count == NPU_MAX_ACCESSES)
            npu_lacks(core, "Nd2Nz of more than 15 matrices with gaps between rows");
        accesses[count] = dst;
        accesses[count++].addr += (uint64_t)i * p->dst_matrix * size;
    }
    return count;
}

/* One row of GM, to blocks that are `step` apart. */
static void spread_row(struct npu_core *core, uint8_t *to, size_t step, const uint8_t *from, uint32_t bytes,
                       bool all_defined)
{
    for (uint32_t at = 0; at < bytes; at += NPU_BLOCK, to += step) {
        uint32_t here = bytes - at < NPU_BLOCK ? bytes - at : NPU_BLOCK;
        memcpy(to, from + at, here);
        memset(to + here, 0, NPU_BLOCK - here);
        if (all_defined) {
            npu_ub_define(core, to, NPU_BLOCK);
            continue;
        }
        npu_shadow_copy(core, to, from + at, here);
        npu_ub_define(core, to + here, NPU_BLOCK - here);
    }
}

void npu_exec_nd2nz(struct npu_core *core, const struct npu_insn *insn, const struct npu_regs *regs)
{
    (void)regs;
    const struct npu_nd2nz *p = &insn->nd2nz;
    uint32_t size = (uint32_t)akgen_dtype_size(insn->src_type), bytes = p->d * size;
    for (uint32_t matrix = 0; matrix < p->nd_num; matrix++)
        for (uint32_t row = 0; row < p->n; row++) {
            const uint8_t *from =
                (const uint8_t *)insn->src0.addr + ((size_t)matrix * p->src_matrix + (size_t)row * p->src_d) * size;
            uint8_t *to =
                (uint8_t *)insn->dst.addr + (size_t)matrix * p->dst_matrix * size + (size_t)row * p->dst_n * NPU_BLOCK;
            spread_row(core, to, (size_t)p->dst_c0 * NPU_BLOCK, from, bytes, npu_gm_defined(core, from, bytes));
        }
}
