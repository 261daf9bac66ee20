/* DataCopyPad: GM->UB and UB->GM with block lengths in bytes. On UB every block starts at a multiple of 32 bytes.
 *
 * asc-devkit docs, 基础API/Memory矢量计算/数据搬运/: DataCopyPad（GMToUB非对齐数据搬运）,
 * DataCopyPad（UBToGM非对齐数据搬运）. A block arrives in UB as
 *   left padding | block | right padding | dummy up to 32 bytes
 * What the padding holds:
 *   left = right = 0   dummy repeats the block's first element, whatever isPad says
 *   isPad              left, right and dummy hold paddingValue
 *   otherwise          left, right and dummy are random, undefined here, unless SetPadValue was called: then they hold
 *                      its value */
#include "npu/gm/atomic.h"
#include "npu/gm/gm.h"
#include "npu/gm/shadow.h"
#include "npu/insn/copy_internal.h"
#include "npu/insn/insn.h"
#include "npu/isa.h"
#include "npu/report.h"

static uint64_t round_up(uint64_t bytes)
{
    return (bytes + NPU_BLOCK - 1) / NPU_BLOCK * NPU_BLOCK;
}

static void check_field(struct npu_core *core, const char *field, int64_t value, int64_t limit)
{
    if (value < 0 || value > limit)
        npu_trap(core, FAULT(copy_params), field, "%s is %lld, the limit is %lld", field, (long long)value,
                 (long long)limit);
}

static void check_params(struct npu_core *core, const struct npu_insn *insn, size_t size)
{
    const struct npu_copy *copy = &insn->copy;
    check_field(core, "blockCount", copy->block_count, NPU_MAX_BLOCK_COUNT);
    check_field(core, "blockLen", copy->block_len, NPU_MAX_PAD_LEN);
    check_field(core, "srcStride", copy->src_stride, UINT32_MAX);
    check_field(core, "dstStride", copy->dst_stride, UINT32_MAX);
    if (copy->block_len % size)
        npu_trap(core, FAULT(copy_params), "blockLen", "blockLen is %u bytes, no multiple of the element's %zu",
                 copy->block_len, size);
    if (npu_on_gm(&insn->dst))
        return;
    if (copy->left * size > NPU_BLOCK || copy->right * size > NPU_BLOCK)
        npu_trap(core, FAULT(copy_params), "padParams",
                 "padding of %u and %u elements is %zu and %zu bytes, the limit is 32", copy->left, copy->right,
                 copy->left * size, copy->right * size);
    if (copy->pad && copy->pad_value && size == 8)
        npu_trap(core, FAULT(copy_params), "paddingValue", "paddingValue of a 64-bit type can only be 0");
}

/* Both sides in bytes; a block on UB counts with its padding. */
static struct npu_blocks pad_blocks(const struct npu_insn *insn, bool dst_side)
{
    const struct npu_copy *copy = &insn->copy;
    uint64_t size = akgen_dtype_size(insn->src_type), len = copy->block_len;
    bool out = npu_on_gm(&insn->dst);
    uint64_t padded = out ? round_up(len) : round_up((copy->left + copy->right) * size + len);
    struct npu_blocks blocks = {len ? copy->block_count : 0, len, 0, 0};
    if (out) {
        blocks.src_step = (int64_t)padded + copy->src_stride * NPU_BLOCK;
        blocks.dst_step = (int64_t)len + copy->dst_stride;
    } else {
        blocks.src_step = (int64_t)len + copy->src_stride;
        blocks.dst_step = (int64_t)padded + copy->dst_stride * NPU_BLOCK;
        if (dst_side)
            blocks.bytes = padded;
    }
    return blocks;
}

int npu_check_data_copy_pad(struct npu_core *core, struct npu_insn *insn, const struct npu_regs *regs,
                            struct npu_access *accesses)
{
    size_t size = akgen_dtype_size(insn->src_type);
    npu_check_copy_path(core, insn, false, 1);
    check_params(core, insn, size);
    struct npu_blocks src = pad_blocks(insn, false), dst = pad_blocks(insn, true);
    if (!src.count)
        return 0;
    npu_check_atomic(core, insn, regs, src.bytes);
    npu_copy_access(insn, regs, &dst, true, &accesses[0]);
    npu_copy_access(insn, regs, &src, false, &accesses[1]);
    return 2;
}

/* What a random byte looks like: the same in every run, and seldom right by accident. */
enum { NPU_RANDOM_BYTE = 0xa5 };

static void fill(struct npu_core *core, uint8_t *at, size_t bytes, const uint8_t *element, size_t size, bool defined)
{
    for (size_t i = 0; i < bytes; i++)
        at[i] = element ? element[i % size] : NPU_RANDOM_BYTE;
    if (defined)
        npu_ub_define(core, at, bytes);
    else
        npu_ub_undefine(core, at, bytes);
}

static void move_in(struct npu_core *core, const struct npu_insn *insn, const struct npu_regs *regs, uint8_t *to,
                    const uint8_t *from)
{
    const struct npu_copy *copy = &insn->copy;
    size_t size = akgen_dtype_size(insn->src_type), len = copy->block_len;
    size_t left = copy->left * size, end = left + len, padded = round_up(end + copy->right * size);
    npu_move_block(core, insn, regs, to + left, from, len);
    if (padded == len)
        return;
    if (!copy->left && !copy->right) {
        fill(core, to + len, padded - len, from, size, npu_gm_defined(core, from, size));
        return;
    }
    const uint8_t *element = copy->pad       ? (const uint8_t *)&copy->pad_value
                             : regs->pad_set ? (const uint8_t *)&regs->pad_value
                                             : NULL;
    fill(core, to, left, element, size, element);
    fill(core, to + end, padded - end, element, size, element);
}

void npu_exec_data_copy_pad(struct npu_core *core, const struct npu_insn *insn, const struct npu_regs *regs)
{
    uint8_t *to = (uint8_t *)insn->dst.addr;
    const uint8_t *from = (const uint8_t *)insn->src0.addr;
    struct npu_blocks blocks = pad_blocks(insn, false);
    for (uint32_t i = 0; i < blocks.count; i++, to += blocks.dst_step, from += blocks.src_step) {
        if (npu_on_gm(&insn->dst))
            npu_move_block(core, insn, regs, to, from, blocks.bytes);
        else
            move_in(core, insn, regs, to, from);
    }
}
