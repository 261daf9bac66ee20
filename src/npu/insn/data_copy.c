/* DataCopy: GM->UB and GM->L1 (MTE2), UB->GM and L1->GM (MTE3) and UB->UB (V), contiguous or in equal blocks with gaps;
 * L1->BT and L1->FB are in table_copy.c.
 *
 * asc-devkit docs, 基础API/Memory矢量计算/数据搬运/: DataCopy（GM与UB连续数据搬运）,
 * DataCopy（GM与UB高维切分数据搬运）, DataCopy（UBToUB连续数据搬运）, DataCopy（UBToUB高维切分数据搬运）. */
#include "npu/cube/cube.h"
#include "npu/gm/atomic.h"
#include "npu/gm/gm.h"
#include "npu/gm/shadow.h"
#include "npu/insn/copy_internal.h"
#include "npu/insn/insn.h"
#include "npu/isa.h"
#include "npu/memory.h"
#include "npu/report.h"

#include <string.h>

/* Checks. */
static void check_operand(struct npu_core *core, const struct npu_tensor *tensor, const char *operand,
                          size_t gm_alignment)
{
    enum npu_memory memory = npu_memory_of(tensor->position);
    if (npu_on_gm(tensor)) {
        if (tensor->addr % gm_alignment)
            npu_trap(core, FAULT(gm_alignment), operand,
                     "an address in GM that is %llu bytes past a multiple of the element's %zu bytes",
                     (unsigned long long)(tensor->addr % gm_alignment), gm_alignment);
    } else if ((memory == NPU_MEM_UB || memory == NPU_MEM_L1) && npu_memory_on(core, memory)) {
        uint64_t offset = tensor->addr - npu_memory_base(core, memory);
        if (offset % NPU_BLOCK)
            npu_trap_of(core, memory == NPU_MEM_UB ? FAULT(ub_alignment) : FAULT(cube_alignment), operand,
                        "%s offset %lld is not a multiple of 32 bytes", npu_memories[memory].name, (long long)offset);
    } else {
        npu_trap(core, FAULT(copy_path), operand, "DataCopy does not reach %s this way",
                 memory == NPU_MEM_NONE ? "this position" : npu_memories[memory].name);
    }
}

void npu_check_copy_path(struct npu_core *core, const struct npu_insn *insn, bool within_ub, size_t gm_alignment)
{
    if (npu_on_gm(&insn->dst) && npu_on_gm(&insn->src0))
        npu_trap(core, FAULT(copy_path), "dst", "a copy from GM to GM: no DMA path does that");
    if (!within_ub && !npu_on_gm(&insn->dst) && !npu_on_gm(&insn->src0))
        npu_trap(core, FAULT(copy_path), "dst", "DataCopyPad between two local tensors: one side has to be GM");
    check_operand(core, &insn->dst, "dst", gm_alignment);
    check_operand(core, &insn->src0, "src", gm_alignment);
}

void npu_copy_access(const struct npu_insn *insn, const struct npu_regs *regs, const struct npu_blocks *blocks,
                     bool write, struct npu_access *access)
{
    const struct npu_tensor *tensor = write ? &insn->dst : &insn->src0;
    int64_t step = write ? blocks->dst_step : blocks->src_step;
    uint64_t total = blocks->bytes * blocks->count;
    bool joined = blocks->count == 1 || (step == (int64_t)blocks->bytes && total <= UINT32_MAX);
    *access = (struct npu_access){
        .addr = tensor->addr,
        .bytes = (uint32_t)(joined ? total : blocks->bytes),
        .count = joined ? 1 : blocks->count,
        .count2 = 1,
        .stride = joined ? 0 : step,
        .write = write,
        .atomic = write && npu_on_gm(tensor) && regs->atomic,
        .flags = tensor->flags,
        .tensor = tensor,
        .operand = write ? "dst" : "src",
    };
}

/* Rounds a ragged count down to whole 32-byte blocks, as the DMA does. */
static struct npu_blocks contiguous(struct npu_core *core, struct npu_insn *insn, size_t size)
{
    uint64_t bytes = insn->count * size, moved = bytes / NPU_BLOCK * NPU_BLOCK;
    if (moved != bytes) {
        npu_note(core, false, FAULT(datacopy_ragged_count), "count", 0,
                 "count %u of %s is %llu bytes; DataCopy moves whole 32-byte blocks and leaves the last %llu bytes",
                 insn->count, akgen_dtype_name(insn->src_type), (unsigned long long)bytes,
                 (unsigned long long)(bytes - moved));
        insn->count = (uint32_t)(moved / size);
    }
    return (struct npu_blocks){moved > 0, moved, (int64_t)moved, (int64_t)moved};
}

static void check_range(struct npu_core *core, const char *field, int64_t value, int64_t limit)
{
    if (value < 0 || value > limit)
        npu_trap(core, FAULT(copy_params), field, "%s is %lld, the field holds 0 to %lld", field, (long long)value,
                 (long long)limit);
}

static struct npu_blocks strided(const struct npu_copy *copy)
{
    int64_t bytes = (int64_t)copy->block_len * NPU_BLOCK;
    return (struct npu_blocks){bytes ? copy->block_count : 0, (uint64_t)bytes, bytes + copy->dst_stride * NPU_BLOCK,
                               bytes + copy->src_stride * NPU_BLOCK};
}

static void check_copy(struct npu_core *core, const struct npu_copy *copy)
{
    check_range(core, "blockCount", copy->block_count, NPU_MAX_BLOCK_COUNT);
    check_range(core, "blockLen", copy->block_len, NPU_MAX_BLOCK_LEN);
    check_range(core, "srcGap", copy->src_stride, NPU_MAX_GAP);
    check_range(core, "dstGap", copy->dst_stride, NPU_MAX_GAP);
}

int npu_check_data_copy(struct npu_core *core, struct npu_insn *insn, const struct npu_regs *regs,
                        struct npu_access *accesses)
{
    size_t size = akgen_dtype_size(insn->src_type);
    if (npu_memory_of(insn->dst.position) >= NPU_MEM_BT)
        return npu_check_table_copy(core, insn, accesses);
    if (__builtin_expect(insn->dst_type != insn->src_type, 0))
        npu_trap(core, FAULT(cube_dtype), "dst",
                 "DataCopy of %s to %s: only the bias table takes another type than it is given",
                 akgen_dtype_name(insn->src_type), akgen_dtype_name(insn->dst_type));
    /* Between L1 and GM any byte will do (docs, DataCopy（GMToL1连续数据搬运）, （L1ToGM…）). */
    npu_check_copy_path(core, insn, true, core->aic ? 1 : size);
    struct npu_blocks blocks;
    if (insn->form == NPU_FORM_COUNT) {
        blocks = contiguous(core, insn, size);
    } else {
        check_copy(core, &insn->copy);
        blocks = strided(&insn->copy);
    }
    if (!blocks.count)
        return 0;
    npu_check_atomic(core, insn, regs, blocks.bytes);
    npu_copy_access(insn, regs, &blocks, true, &accesses[0]);
    npu_copy_access(insn, regs, &blocks, false, &accesses[1]);
    return 2;
}

/* Execution. */
static void move_atomic(struct npu_core *core, const struct npu_regs *regs, uint8_t *to, const uint8_t *from,
                        size_t bytes)
{
    size_t size = npu_atomic_size(regs->atomic_type);
    if (npu_ub_defined(core, from, bytes) && npu_gm_defined(core, to, bytes)) {
        for (size_t at = 0; at < bytes; at += size)
            npu_combine(regs->atomic, regs->atomic_type, to + at, from + at);
        npu_gm_written(core, to, bytes, true, true);
        return;
    }
    for (size_t at = 0; at < bytes; at += size) {
        bool defined = npu_ub_defined(core, from + at, size) && npu_gm_defined(core, to + at, size);
        npu_combine(regs->atomic, regs->atomic_type, to + at, from + at);
        npu_gm_written(core, to + at, size, defined, true);
    }
}

/* UB -> GM in runs of equal definedness. */
static void move_out(struct npu_core *core, uint8_t *to, const uint8_t *from, size_t bytes)
{
    memcpy(to, from, bytes);
    if (npu_ub_defined(core, from, bytes)) {
        npu_gm_written(core, to, bytes, true, false);
        return;
    }
    for (size_t at = 0; at < bytes;) {
        bool defined = npu_ub_defined(core, from + at, 1);
        size_t end = at + 1;
        while (end < bytes && npu_ub_defined(core, from + end, 1) == defined)
            end++;
        npu_gm_written(core, to + at, end - at, defined, false);
        at = end;
    }
}

void npu_move_block(struct npu_core *core, const struct npu_insn *insn, const struct npu_regs *regs, uint8_t *to,
                    const uint8_t *from, size_t bytes)
{
    if (!npu_on_gm(&insn->dst)) {
        memmove(to, from, bytes);
        npu_shadow_copy(core, to, from, bytes);
    } else if (regs->atomic) {
        move_atomic(core, regs, to, from, bytes);
    } else {
        move_out(core, to, from, bytes);
    }
}

void npu_exec_data_copy(struct npu_core *core, const struct npu_insn *insn, const struct npu_regs *regs)
{
    uint8_t *to = (uint8_t *)insn->dst.addr;
    const uint8_t *from = (const uint8_t *)insn->src0.addr;
    if (npu_memory_of(insn->dst.position) >= NPU_MEM_BT) {
        npu_exec_table_copy(core, insn);
        return;
    }
    if (insn->form == NPU_FORM_COUNT) {
        size_t bytes = insn->count * akgen_dtype_size(insn->src_type);
        if (bytes)
            npu_move_block(core, insn, regs, to, from, bytes);
        return;
    }
    struct npu_blocks blocks = strided(&insn->copy);
    if (blocks.dst_step == (int64_t)blocks.bytes && blocks.src_step == (int64_t)blocks.bytes && blocks.count) {
        npu_move_block(core, insn, regs, to, from, blocks.bytes * blocks.count);
        return;
    }
    for (uint32_t i = 0; i < blocks.count; i++)
        npu_move_block(core, insn, regs, to + i * blocks.dst_step, from + i * blocks.src_step, blocks.bytes);
}
