/* DataCopy from L1 into the bias table (pipe MTE1) and the fixpipe buffer (pipe FIX).
 *
 * asc-devkit docs, 矩阵计算的搬入/DataCopy（L1ToBiasTable-Buffer数据搬运）, DataCopy（L1ToFixpipe-Buffer数据搬运）:
 * blocks of blockLen units of 64 bytes (BT) or 128 (FB). Gaps are in 32 bytes in L1 and in units in the table: in BT
 * from the end of a block to the next, in FB from start to start. half becomes float on its way into the bias table:
 * blockLen then counts what arrives. */
#include "base/half.h"
#include "npu/cube/cube.h"
#include "npu/cube/cube_internal.h"
#include "npu/gm/shadow.h"
#include "npu/isa.h"
#include "npu/memory.h"
#include "npu/report.h"

#include <string.h>

enum { BT_UNIT = 64, FB_UNIT = 128 };

struct table_blocks {
    uint32_t count, to_bytes, from_bytes;
    int64_t to_step, from_step;
    bool widen; /* half to float */
};

static struct table_blocks shape_of(const struct npu_insn *insn)
{
    bool bias = npu_memory_of(insn->dst.position) == NPU_MEM_BT;
    uint32_t unit = bias ? BT_UNIT : FB_UNIT, size = (uint32_t)akgen_dtype_size(insn->src_type);
    struct table_blocks blocks = {.widen = insn->src_type == AKGEN_FLOAT16 && insn->dst_type == AKGEN_FLOAT};
    if (insn->form == NPU_FORM_COUNT) {
        blocks.from_bytes = insn->count * size / unit * unit;
        blocks.count = blocks.from_bytes > 0;
    } else {
        blocks.from_bytes = insn->copy.block_len * unit;
        blocks.count = blocks.from_bytes ? insn->copy.block_count : 0;
    }
    blocks.to_bytes = blocks.widen ? blocks.from_bytes * 2 : blocks.from_bytes;
    blocks.to_step = insn->copy.dst_stride * (int64_t)unit + (bias ? blocks.to_bytes : 0);
    blocks.from_step = insn->copy.src_stride * NPU_BLOCK + (bias ? blocks.from_bytes : 0);
    return blocks;
}

/* True if a copy changes nothing: kernels load the bias of a tile again for each step, while Mmad may be reading it.
 * Undefined elements over undefined ones (columns beyond the matrix) change nothing either. */
static bool changes_nothing(const struct npu_core *core, const struct npu_insn *insn, const struct table_blocks *blocks)
{
    for (uint32_t i = 0; i < blocks->count; i++) {
        const uint8_t *to = (const uint8_t *)insn->dst.addr + i * blocks->to_step;
        const uint8_t *from = (const uint8_t *)insn->src0.addr + i * blocks->from_step;
        if (!npu_in_ub(core, (uint64_t)to + blocks->to_bytes - 1) ||
            !npu_in_ub(core, (uint64_t)from + blocks->from_bytes - 1))
            return false;
        for (uint32_t at = 0; at < blocks->to_bytes; at += 4) {
            const uint8_t *source = from + (blocks->widen ? at / 2 : at);
            bool defined = npu_ub_defined(core, source, blocks->widen ? 2 : 4);
            half_t narrow;
            memcpy(&narrow, source, sizeof narrow);
            float wide = (float)narrow;
            if (npu_ub_defined(core, to + at, 4) != defined ||
                (defined && memcmp(to + at, blocks->widen ? (const void *)&wide : source, 4) != 0))
                return false;
        }
    }
    return true;
}

int npu_check_table_copy(struct npu_core *core, struct npu_insn *insn, struct npu_access *accesses)
{
    bool bias = npu_memory_of(insn->dst.position) == NPU_MEM_BT;
    npu_check_cube_operand(core, &insn->dst, "dst", bias ? 1u << NPU_MEM_BT : 1u << NPU_MEM_FB,
                           bias ? BT_UNIT : FB_UNIT);
    npu_check_cube_operand(core, &insn->src0, "src", 1u << NPU_MEM_L1, NPU_BLOCK);
    if (insn->form != NPU_FORM_COUNT) {
        npu_check_cube_field(core, "blockCount", insn->copy.block_count, NPU_MAX_BLOCK_COUNT);
        npu_check_cube_field(core, "blockLen", insn->copy.block_len, NPU_MAX_BLOCK_LEN);
    }
    if (insn->dst_type != insn->src_type && (insn->src_type != AKGEN_FLOAT16 || insn->dst_type != AKGEN_FLOAT))
        npu_trap(core, FAULT(cube_dtype), "dst",
                 "DataCopy into the bias table turns half into float; %s into %s it does not",
                 akgen_dtype_name(insn->src_type), akgen_dtype_name(insn->dst_type));
    struct table_blocks blocks = shape_of(insn);
    if (!blocks.count)
        return 0;
    accesses[0] = npu_cube_access(&insn->dst, "dst", true, 0, blocks.to_bytes);
    accesses[1] = npu_cube_access(&insn->src0, "src", false, 0, blocks.from_bytes);
    accesses[0].count = accesses[1].count = blocks.count;
    accesses[0].stride = blocks.to_step;
    accesses[1].stride = blocks.from_step;
    accesses[0].same_value = bias && changes_nothing(core, insn, &blocks);
    return 2;
}

static void widen(struct npu_core *core, uint8_t *to, const uint8_t *from, uint32_t elements)
{
    for (uint32_t i = 0; i < elements; i++) {
        half_t narrow;
        memcpy(&narrow, from + 2 * i, sizeof narrow);
        float wide = (float)narrow;
        memcpy(to + 4 * i, &wide, sizeof wide);
        npu_cube_define(core, to + 4 * i, sizeof wide, npu_ub_defined(core, from + 2 * i, sizeof narrow));
    }
}

void npu_exec_table_copy(struct npu_core *core, const struct npu_insn *insn)
{
    struct table_blocks blocks = shape_of(insn);
    for (uint32_t i = 0; i < blocks.count; i++) {
        uint8_t *to = (uint8_t *)insn->dst.addr + i * blocks.to_step;
        const uint8_t *from = (const uint8_t *)insn->src0.addr + i * blocks.from_step;
        if (blocks.widen)
            widen(core, to, from, blocks.from_bytes / 2);
        else
            npu_cube_move(core, to, from, blocks.from_bytes);
    }
}
