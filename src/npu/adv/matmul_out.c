/* Blocks of C on their way out of L0C, and the calls that compute more than one block. */
#include "npu/adv/matmul.h"
#include "npu/issue/issue.h"
#include "npu/memory.h"
#include "npu/own_memory.h"
#include "npu/report.h"
#include "npu/time/rates.h"
#include "npu/time/tape.h"

/* Fixpipe's conversion from what L0C holds to the type of C. */
static uint8_t conversion(struct npu_core *core, const struct npu_matmul *mm)
{
    uint8_t sum = matmul_sum_type(mm), type = mm->types[NPU_MATMUL_C].dtype;
    bool by_column = mm->sources[NPU_MATMUL_QUANT].set;
    if (type == sum)
        return NPU_QUANT_NONE;
    if (sum == AKGEN_FLOAT && type == AKGEN_FLOAT16)
        return NPU_QUANT_F322F16;
    if (sum == AKGEN_FLOAT && type == AKGEN_BF16)
        return NPU_QUANT_F322BF16;
    if (!by_column && !mm->quant)
        npu_trap(core, FAULT(matmul_not_ready), "C",
                 "C of %s from sums of %s needs SetQuantScalar or SetQuantVector before the calculation",
                 akgen_dtype_name(type), akgen_dtype_name(sum));
    if (type == AKGEN_FLOAT16)
        return by_column ? NPU_QUANT_VDEQF16 : NPU_QUANT_DEQF16;
    if (sum == AKGEN_FLOAT)
        return by_column ? NPU_QUANT_VQF322B8 : NPU_QUANT_QF322B8;
    return by_column ? NPU_QUANT_VREQ8 : NPU_QUANT_REQ8;
}

static uint32_t columns_of_c(const struct npu_matmul *mm)
{
    return (uint32_t)(mm->org_kc ? mm->org_kc : mm->org_n);
}

/* Rows of C, one after the other or where they belong. */
static void as_rows(const struct npu_matmul *mm, const struct matmul_block *block, bool sequential, uint32_t size,
                    struct npu_insn *insn)
{
    uint32_t stride = sequential ? block->n : columns_of_c(mm);
    if (mm->types[NPU_MATMUL_C].format == NPU_FORMAT_ND_ALIGN)
        stride = matmul_align(stride, NPU_BLOCK / size);
    insn->fixpipe.nz2nd = 1;
    insn->fixpipe.n = (uint16_t)block->n;
    insn->fixpipe.dst_stride = stride;
    if (!sequential)
        insn->dst.addr += ((uint64_t)block->row * stride + block->column) * size;
}

static void as_fractals(const struct npu_matmul *mm, const struct matmul_block *block, bool sequential, uint32_t size,
                        struct npu_insn *insn)
{
    bool split = mm->flags & NPU_MATMUL_SPLIT && size == 4;
    uint32_t columns = split ? 8 : size == 1 ? 32 : 16;
    uint32_t height = matmul_align(sequential ? block->m : (uint32_t)mm->org_m, 16);
    insn->fixpipe.channel_split = split;
    insn->fixpipe.n = (uint16_t)matmul_align(block->n, split ? 8 : 16);
    insn->fixpipe.dst_stride = height * columns * size / NPU_BLOCK;
    if (!sequential)
        insn->dst.addr += ((uint64_t)block->column * height + (uint64_t)block->row * columns) * size;
}

/* The kernel's own function copies the block. */
static void call_out(struct npu_core *core, const struct npu_matmul *mm, const struct matmul_block *block,
                     const struct npu_insn *insn)
{
    const struct TCubeTiling *t = matmul_tiling(mm);
    bool rows = insn->fixpipe.nz2nd;
    struct npu_matmul_copied copied = {.bursts = (uint16_t)npu_ceil_div(block->n, 16),
                                       .burst_len = (uint16_t)(block->m * 2),
                                       .n = (uint16_t)(rows ? block->n : 0),
                                       .stride = insn->fixpipe.dst_stride,
                                       .row = (int32_t)(block->row / (uint32_t)t->baseM),
                                       .column = (int32_t)(block->column / (uint32_t)t->baseN)};
    if (insn->fixpipe.quant > NPU_QUANT_F322BF16) {
        copied.quantised = mm->sources[NPU_MATMUL_QUANT].set ? 2 : 1;
        copied.quant = mm->quant;
        copied.vector = insn->src1.addr;
    }
    struct npu_tensor l0c = insn->src0;
    l0c.bytes = matmul_align(block->m, 16) * matmul_align(block->n, 16) * 4;
    const char *api = core->api;
    uint64_t pc = core->pc;
    core->api = NULL;
    struct npu_tensor *tensor = npu_own_lend(core, &l0c, sizeof l0c);
    struct npu_matmul_copied *lent = npu_own_lend(core, &copied, sizeof copied);
    core->matmul->callbacks[matmul_index(core, mm)].c(insn->dst.addr, tensor, lent, mm->user_tiling, mm->user_data);
    npu_own_give_back(core, lent, sizeof copied);
    npu_own_give_back(core, tensor, sizeof l0c);
    core->api = api;
    core->pc = pc;
}

void matmul_store(struct npu_core *core, const struct npu_matmul *mm, const struct matmul_block *block,
                  const struct npu_tensor *c, uint8_t atomic, bool sequential)
{
    const struct npu_matmul_type *type = &mm->types[NPU_MATMUL_C];
    uint32_t size = (uint32_t)akgen_dtype_size(type->dtype);
    if (block->skipped)
        return;
    struct npu_insn insn = {.op = NPU_OP_FIXPIPE, .dst_type = type->dtype, .src_type = matmul_sum_type(mm), .dst = *c};
    insn.src0 = (struct npu_tensor){.addr = block->l0c, .position = NPU_CO1};
    insn.fixpipe = (struct npu_fixpipe){.m = (uint16_t)block->m,
                                        .src_stride = (uint16_t)matmul_align(block->m, 16),
                                        .nd_num = 1,
                                        .quant = conversion(core, mm),
                                        .relu = (mm->flags & NPU_MATMUL_RELU) != 0};
    if (type->format == NPU_FORMAT_NZ)
        as_fractals(mm, block, sequential, size, &insn);
    else if (type->format == NPU_FORMAT_ND || type->format == NPU_FORMAT_ND_ALIGN)
        as_rows(mm, block, sequential, size, &insn);
    else
        npu_lacks(core, "Matmul with this CubeFormat of C");
    insn.scalar = mm->quant;
    if (mm->sources[NPU_MATMUL_QUANT].set && insn.fixpipe.quant > NPU_QUANT_F322BF16) {
        matmul_edge(core, NPU_LANE_FIX, NPU_LANE_MTE2);
        insn.src1 = matmul_load_row(core, &mm->sources[NPU_MATMUL_QUANT].tensor, AKGEN_UINT64, block->column, block->n,
                                    core->matmul->objects[matmul_index(core, mm)].quant);
        matmul_edge(core, NPU_LANE_MTE2, NPU_LANE_FIX);
    }
    if (core->tape)
        npu_tape_scalar(core, NPU_RATE_MATMUL_BLOCK * (mm->flags & NPU_MATMUL_FIXED ? NPU_RATE_MATMUL_FIXED : 1));
    struct npu_regs before = core->regs;
    core->regs.atomic = atomic;
    core->regs.atomic_type = type->dtype;
    if (matmul_shares_l0c(mm))
        matmul_edge_since(core, NPU_LANE_M, NPU_LANE_FIX, matmul_runs(core, NPU_LANE_M) - 1);
    else
        matmul_edge(core, NPU_LANE_M, NPU_LANE_FIX);
    if (mm->flags & NPU_MATMUL_OWN_C)
        call_out(core, mm, block, &insn);
    else
        npu_issue_from(core, &insn);
    core->matmul->l0c_read[block->l0c != npu_memory_base(core, NPU_MEM_L0C)] = matmul_runs(core, NPU_LANE_FIX);
    core->regs.atomic = before.atomic;
    core->regs.atomic_type = before.atomic_type;
}

void matmul_run_all(struct npu_core *core, const struct npu_matmul *mm, uint32_t sub,
                    const struct npu_matmul_output *out)
{
    const struct TCubeTiling *tiling = matmul_tiling(mm);
    struct npu_tensor c = out->gm.addr ? out->gm : out->local;
    uint64_t step =
        out->sequential ? (uint64_t)tiling->baseM * tiling->baseN * akgen_dtype_size(mm->types[NPU_MATMUL_C].dtype) : 0;
    for (uint32_t i = 0; i < matmul_blocks(mm); i++) {
        struct matmul_block block = matmul_block_at(mm, i);
        matmul_compute(core, mm, sub, &block, out->partial_sum);
        matmul_store(core, mm, &block, &c, out->atomic, out->sequential);
        c.addr += step;
    }
}

/* One matrix of a batch: its offset in elements and the distance of its rows. */
struct sheet {
    uint64_t offset;
    uint32_t rows, columns; /* of the matrix as the object's shape has it; columns is the distance of rows */
};

struct axes {
    int32_t b, s, n, g, d;
};
/* Matrix number i of a batch in a layout with axes B, S, N, G, D: S x D is one matrix, N x G of them for each B.
 * asc-devkit docs, Matmul-Kernel侧接口/IterateBatch. */
static struct sheet sheet_of(uint8_t layout, struct axes axes, uint32_t i, uint32_t stride, uint32_t rows,
                             uint32_t columns)
{
    uint64_t b = (uint64_t)axes.b, s = (uint64_t)axes.s, heads = (uint64_t)axes.n * (uint64_t)axes.g,
             d = (uint64_t)axes.d;
    uint64_t outer = heads ? i / heads : 0, head = heads ? i % heads : 0;
    switch (layout) {
    case NPU_LAYOUT_BSNGD:
        return (struct sheet){outer * s * heads * d + head * d, rows, (uint32_t)(heads * d)};
    case NPU_LAYOUT_SBNGD:
        return (struct sheet){outer * heads * d + head * d, rows, (uint32_t)(b * heads * d)};
    case NPU_LAYOUT_BNGS1S2:
        return (struct sheet){(uint64_t)i * s * d, rows, (uint32_t)d};
    default:
        return (struct sheet){(uint64_t)i * (stride ? stride : (uint64_t)rows * columns), rows, columns};
    }
}

static uint64_t move(const struct npu_matmul *mm, int matrix, uint64_t elements)
{
    return elements * akgen_dtype_size(mm->types[matrix].dtype);
}

static uint32_t at_least_one(int32_t axis)
{
    return axis > 1 ? (uint32_t)axis : 1;
}

/* Which matrix of an operand belongs to product i of `count`, where the operand has fewer along G, N or B than the
 * other: asc-devkit, CalcBatchIterateAOffsetInfo of the batch scheduler. */
static uint32_t own_index(uint8_t layout, struct axes own, struct axes other, uint32_t i, uint32_t batch,
                          uint32_t count)
{
    uint32_t g = at_least_one(other.g), n = at_least_one(other.n), b = at_least_one(other.b);
    if (layout == NPU_LAYOUT_NORMAL || layout == NPU_LAYOUT_NONE)
        return i / (count / batch);
    if (own.g <= 1 && g > 1)
        return i / g;
    if (own.n <= 1 && n > 1)
        return i % g + i / (g * n);
    if (own.b <= 1 && b > 1)
        return i % (g * n) + i / (g * n * b);
    return i;
}

/* Products that are added to one matrix of C, since C has no axis G and A or B has one; 1: each has its own. */
static uint32_t added_along_g(const struct npu_matmul *mm)
{
    const struct TCubeTiling *t = matmul_tiling(mm);
    uint32_t a = at_least_one(t->ALayoutInfoG), b = at_least_one(t->BLayoutInfoG);
    if (mm->types[NPU_MATMUL_A].layout == NPU_LAYOUT_NORMAL || t->CLayoutInfoG != 1)
        return 1;
    return a > b ? a : b;
}

uint32_t matmul_batch_of_c(const struct npu_matmul *mm, const struct npu_matmul_batch *batch)
{
    uint32_t count = batch->a > batch->b ? batch->a : batch->b, added = added_along_g(mm);
    return count > added ? count / added : 1;
}

/* A, B and bias of the product `i` of a batch: `one` is the object as if it had only that. */
static void choose_sources(const struct npu_matmul *mm, const struct npu_matmul_batch *batch, uint32_t loop, uint32_t i,
                           struct npu_matmul *one)
{
    const struct TCubeTiling *t = matmul_tiling(mm);
    const struct axes axes_a = {t->ALayoutInfoB, t->ALayoutInfoS, t->ALayoutInfoN, t->ALayoutInfoG, t->ALayoutInfoD};
    const struct axes axes_b = {t->BLayoutInfoB, t->BLayoutInfoS, t->BLayoutInfoN, t->BLayoutInfoG, t->BLayoutInfoD};
    const uint8_t layout_a = mm->types[NPU_MATMUL_A].layout, layout_b = mm->types[NPU_MATMUL_B].layout;
    uint32_t count = batch->a > batch->b ? batch->a : batch->b;
    uint32_t a = loop * batch->a + own_index(layout_a, axes_a, axes_b, i, batch->a, count),
             b = loop * batch->b + own_index(layout_b, axes_b, axes_a, i, batch->b, count);
    bool ta = mm->sources[NPU_MATMUL_A].transposed, tb = mm->sources[NPU_MATMUL_B].transposed;
    struct sheet at_a = sheet_of(layout_a, axes_a, a, batch->stride_a, (uint32_t)(ta ? mm->org_ka : mm->org_m),
                                 (uint32_t)(ta ? mm->org_m : mm->org_ka));
    struct sheet at_b = sheet_of(layout_b, axes_b, b, batch->stride_b, (uint32_t)(tb ? mm->org_n : mm->org_kb),
                                 (uint32_t)(tb ? mm->org_kb : mm->org_n));
    *(ta ? &one->org_m : &one->org_ka) = (int32_t)at_a.columns;
    *(tb ? &one->org_kb : &one->org_n) = (int32_t)at_b.columns;
    one->sources[NPU_MATMUL_A].tensor.addr += move(mm, NPU_MATMUL_A, at_a.offset);
    one->sources[NPU_MATMUL_B].tensor.addr += move(mm, NPU_MATMUL_B, at_b.offset);
    uint32_t bias = loop * matmul_batch_of_c(mm, batch) + (mm->flags & NPU_MATMUL_ONE_BIAS ? 0 : i / added_along_g(mm));
    one->sources[NPU_MATMUL_BIAS].tensor.addr += move(mm, NPU_MATMUL_BIAS, (uint64_t)bias * (uint32_t)mm->n);
    one->changes += (loop * count + i) << 16; /* another matrix than what L1 holds */
}

uint64_t matmul_batch_offset(const struct npu_matmul *mm, uint32_t index, uint32_t *columns)
{
    const struct TCubeTiling *t = matmul_tiling(mm);
    const struct axes axes = {t->CLayoutInfoB, t->CLayoutInfoS1, t->CLayoutInfoN, t->CLayoutInfoG, t->CLayoutInfoS2};
    struct sheet at = sheet_of(mm->types[NPU_MATMUL_C].layout, axes, index, 0, (uint32_t)mm->org_m, columns_of_c(mm));
    *columns = at.columns;
    return move(mm, NPU_MATMUL_C, at.offset);
}

void matmul_run_batch(struct npu_core *core, const struct npu_matmul *mm, uint32_t sub,
                      const struct npu_matmul_batch *batch, uint32_t loop, const struct npu_matmul_output *out)
{
    uint32_t count = batch->a > batch->b ? batch->a : batch->b, added = added_along_g(mm);
    for (uint32_t i = 0; i < count; i++) {
        struct npu_matmul one = *mm;
        struct npu_matmul_output here = *out;
        uint32_t columns, c = loop * matmul_batch_of_c(mm, batch) + i / added;
        choose_sources(mm, batch, loop, i, &one);
        uint64_t offset = matmul_batch_offset(mm, c, &columns);
        one.org_kc = (int32_t)columns;
        if (added > 1) { /* what lies in C already is added to as well */
            here.atomic = 1;
            if (i % added)
                one.sources[NPU_MATMUL_BIAS].set = 0;
        }
        *(here.gm.addr ? &here.gm.addr : &here.local.addr) += offset;
        matmul_run_all(core, &one, sub, &here);
    }
}
