/* Transpose with TransposeParamsExt: a 16 x 16 matrix of uint16, or [N,C,H,W] to [N,H,W,C] and back.
 *
 * CANN makes the four-dimensional forms out of TransDataTo5HD and copies through sharedTmpBuffer. Here each is one
 * instruction that reads src, writes dst and leaves sharedTmpBuffer, up to the size that the documentation asks for,
 * undefined. Source: asc-devkit docs, 基础API/Memory矢量计算/数据排布转换/Transpose. */
#include "npu/gm/shadow.h"
#include "npu/insn/insn.h"
#include "npu/insn/lanes.h"
#include "npu/report.h"

#include <inttypes.h>
#include <string.h>

enum { TYPE_NONE = 0, ND2ND_B16 = 10, NCHW2NHWC = 11, NHWC2NCHW = 12, MOST = 4095 };

struct shape {
    uint64_t n, c, hw, size;
};
static struct shape shape_of(const struct npu_insn *insn)
{
    struct shape s = {insn->count, insn->repeat, insn->mask[0] * insn->mask[1],
                      akgen_dtype_size((enum akgen_dtype)insn->src_type)};
    if (insn->mode == ND2ND_B16)
        s = (struct shape){1, 16, 16, 2};
    return s;
}

static uint64_t tmp_bytes(const struct npu_insn *insn, const struct shape *s)
{
    uint64_t rows = s->size == 1 ? 32 : 16;
    return insn->mode == NCHW2NHWC   ? (s->c + 2) * rows * NPU_BLOCK
           : insn->mode == NHWC2NCHW ? (s->c * 2 + 1) * rows * NPU_BLOCK
                                     : 0;
}

static void check_shape(struct npu_core *core, const struct npu_insn *insn, const struct shape *s)
{
    if (insn->mode == ND2ND_B16) {
        if (insn->src_type != AKGEN_UINT16)
            npu_trap(core, FAULT(vec_dtype), "src", "Transpose with TRANSPOSE_ND2ND_B16 takes uint16");
        return;
    }
    if (insn->mode != NCHW2NHWC && insn->mode != NHWC2NCHW)
        npu_trap(core, FAULT(transpose_type), "transposeType",
                 "transposeType %d: this chip has TRANSPOSE_ND2ND_B16, TRANSPOSE_NCHW2NHWC and TRANSPOSE_NHWC2NCHW",
                 insn->mode);
    if (s->c > MOST || s->hw > MOST || s->hw * s->size % NPU_BLOCK)
        npu_trap(core, FAULT(transpose_shape), "transposeParams",
                 "Transpose of C %" PRIu64 ", H x W %" PRIu64 ": both are at most 4095, H x W is whole 32-byte blocks",
                 s->c, s->hw);
    if (insn->aux.bytes < tmp_bytes(insn, s))
        npu_trap(core, FAULT(transpose_tmp_too_small), "sharedTmpBuffer",
                 "sharedTmpBuffer of Transpose has %u bytes; this shape needs %" PRIu64, insn->aux.bytes,
                 tmp_bytes(insn, s));
}

static struct npu_access whole(const struct npu_tensor *tensor, uint64_t bytes, bool write, const char *operand)
{
    return (struct npu_access){.addr = tensor->addr,
                               .bytes = (uint32_t)bytes,
                               .count = 1,
                               .count2 = 1,
                               .write = write,
                               .flags = tensor->flags,
                               .tensor = tensor,
                               .operand = operand};
}

int npu_check_transpose_4d(struct npu_core *core, struct npu_insn *insn, const struct npu_regs *regs,
                           struct npu_access *accesses)
{
    (void)regs;
    npu_check_types(core, insn);
    struct shape s = shape_of(insn);
    uint64_t bytes = s.n * s.c * s.hw * s.size;
    if (insn->mode == TYPE_NONE || !bytes)
        return 0;
    check_shape(core, insn, &s);
    npu_check_operand(core, &insn->dst, "dst");
    npu_check_operand(core, &insn->src0, "src");
    npu_check_count(core, insn, bytes / s.size, (uint32_t)s.size * 8);
    int n = 0;
    accesses[n++] = whole(&insn->dst, bytes, true, "dst");
    accesses[n++] = whole(&insn->src0, bytes, false, "src");
    if (insn->mode != ND2ND_B16) {
        npu_check_operand(core, &insn->aux, "sharedTmpBuffer");
        accesses[n] = whole(&insn->aux, tmp_bytes(insn, &s), true, "sharedTmpBuffer");
        accesses[n++].temporary = true;
        if (insn->dst.addr < insn->src0.addr + bytes && insn->src0.addr < insn->dst.addr + bytes)
            npu_note(core, false, FAULT(vec_overlap), "src", 0,
                     "dst and src of Transpose overlap; they must be disjoint");
    }
    return n;
}

/* rows x columns elements become columns x rows. */
static void transpose(struct npu_core *core, uint8_t *dst, const uint8_t *src, uint64_t rows, uint64_t columns,
                      uint64_t size)
{
    for (uint64_t r = 0; r < rows; r++)
        for (uint64_t c = 0; c < columns; c++) {
            uint8_t *to = dst + (c * rows + r) * size;
            const uint8_t *from = src + (r * columns + c) * size;
            memcpy(to, from, size);
            if (npu_ub_defined(core, from, size))
                npu_ub_define(core, to, size);
            else
                npu_ub_undefine(core, to, size);
        }
}

void npu_exec_transpose_4d(struct npu_core *core, const struct npu_insn *insn, const struct npu_regs *regs)
{
    struct shape s = shape_of(insn);
    uint64_t image = s.c * s.hw * s.size;
    if (insn->mode == TYPE_NONE || !image)
        return;
    if (insn->mode == ND2ND_B16) {
        npu_exec_transpose(core, insn, regs); /* in place as well */
        return;
    }
    for (uint64_t n = 0; n < s.n; n++) {
        uint8_t *dst = (uint8_t *)insn->dst.addr + n * image;
        const uint8_t *src = (const uint8_t *)insn->src0.addr + n * image;
        if (insn->mode == NCHW2NHWC)
            transpose(core, dst, src, s.c, s.hw, s.size);
        else
            transpose(core, dst, src, s.hw, s.c, s.size);
    }
    if (s.n)
        npu_ub_undefine(core, (void *)insn->aux.addr, tmp_bytes(insn, &s));
}
