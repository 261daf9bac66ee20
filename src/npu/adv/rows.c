/* Matrices in UB: see rows.h. */
#include "npu/adv/rows.h"

#include "npu/order/order.h"
#include "npu/order/schedule.h"
#include "npu/report.h"
#include "npu/scalar/access.h"

#include <assert.h>
#include <string.h>

struct adv_rows adv_nd(struct npu_tensor tensor, uint8_t type, uint32_t pitch)
{
    return (struct adv_rows){.tensor = tensor, .type = type, .pitch = pitch};
}

struct adv_rows adv_nz(struct npu_tensor tensor, uint8_t type, uint32_t rows)
{
    return (struct adv_rows){.tensor = tensor, .type = type, .pitch = ADV_PANEL, .panel = rows * ADV_PANEL};
}

struct adv_rows adv_spread(struct npu_tensor tensor, uint8_t type, uint32_t pitch)
{
    return (struct adv_rows){.tensor = tensor, .type = type, .pitch = pitch, .spread = true};
}

struct npu_tensor adv_behind(const struct npu_tensor *tensor, uint8_t type, uint32_t first)
{
    struct npu_tensor part = *tensor;
    uint32_t bytes = adv_bytes(type, first);
    part.addr += bytes;
    part.bytes = part.bytes > bytes ? part.bytes - bytes : 1;
    return part;
}

struct adv_rows adv_rows_from(struct adv_rows all, uint32_t row)
{
    all.tensor = adv_behind(&all.tensor, all.type, row * all.pitch);
    return all;
}

static struct npu_tensor column(const struct adv_rows *m, uint32_t first)
{
    return m->spread ? m->tensor : adv_behind(&m->tensor, m->type, first);
}

void adv_count_mask(struct npu_core *core, uint64_t count)
{
    core->regs.counter = true;
    core->regs.mask[0] = count;
    core->regs.mask[1] = 0;
}

void adv_reset_mask(struct npu_core *core)
{
    core->regs.counter = false;
    core->regs.mask[0] = core->regs.mask[1] = UINT64_MAX;
}

/* One instruction over a matrix: up to three operands, the first the result. */
struct over_rows {
    struct npu_insn insn; /* op, types, scalar, mode */
    struct adv_rows operand[3];
    int operands;
};

static uint32_t rep_blocks(const struct adv_rows *m)
{
    uint32_t bytes = adv_bytes(m->type, m->pitch);
    assert(bytes % NPU_BLOCK == 0);
    return bytes / NPU_BLOCK;
}

static uint32_t lanes_of(const struct over_rows *o)
{
    uint32_t bits = 1; /* there is an operand */
    for (int i = 0; i < o->operands; i++) {
        uint32_t own = npu_element_bits(o->operand[i].type);
        bits = own > bits ? own : bits;
    }
    return NPU_REPEAT * 8 / bits;
}

static void set_operand(struct npu_insn *insn, int which, struct npu_tensor tensor, uint32_t blk, uint32_t rep)
{
    if (which == 0) {
        insn->dst = tensor;
        insn->dst_blk = (uint16_t)blk;
        insn->dst_rep = (uint16_t)rep;
    } else if (which == 1) {
        insn->src0 = tensor;
        insn->src0_blk = (uint16_t)blk;
        insn->src0_rep = (uint16_t)rep;
    } else {
        insn->src1 = tensor;
        insn->src1_blk = (uint16_t)blk;
        insn->src1_rep = (uint16_t)rep;
    }
}

/* All elements are consecutive in every operand. */
static bool is_dense(const struct over_rows *o, uint32_t rows, uint32_t cols)
{
    for (int i = 0; i < o->operands; i++)
        if (o->operand[i].spread || (rows > 1 && o->operand[i].pitch != cols))
            return false;
    return true;
}

static void issue_dense(struct npu_core *core, const struct over_rows *o, uint32_t count)
{
    struct npu_insn insn = o->insn;
    adv_reset_mask(core);
    insn.form = NPU_FORM_COUNT;
    insn.count = count;
    for (int i = 0; i < o->operands; i++)
        set_operand(&insn, i, o->operand[i].tensor, 1, 0);
    adv_issue(core, &insn);
}

static void issue_row(struct npu_core *core, const struct over_rows *o, uint32_t row, uint32_t cols)
{
    struct npu_insn insn = o->insn;
    adv_count_mask(core, cols);
    insn.form = NPU_FORM_MASK_REG;
    insn.repeat = 1;
    for (int i = 0; i < o->operands; i++) {
        struct adv_rows m = adv_rows_from(o->operand[i], row);
        uint32_t rep = adv_bytes(m.type, lanes_of(o)) / NPU_BLOCK;
        set_operand(&insn, i, m.tensor, m.spread ? 0 : 1, m.spread ? 0 : rep);
    }
    adv_issue(core, &insn);
}

/* Columns [first, first + width) of rows [row, row + repeat). */
static void issue_columns(struct npu_core *core, const struct over_rows *o, uint32_t first, uint32_t width,
                          uint32_t row, uint32_t repeat)
{
    struct npu_insn insn = o->insn;
    core->regs.counter = false;
    insn.form = NPU_FORM_MASK_LEN;
    insn.mask[0] = width;
    insn.repeat = repeat;
    for (int i = 0; i < o->operands; i++) {
        struct adv_rows m = adv_rows_from(o->operand[i], row);
        set_operand(&insn, i, column(&m, first), m.spread ? 0 : 1, rep_blocks(&m));
    }
    adv_issue(core, &insn);
}

static void issue_nd(struct npu_core *core, const struct over_rows *o, uint32_t rows, uint32_t cols)
{
    if (!rows || !cols)
        return;
    if (is_dense(o, rows, cols)) {
        issue_dense(core, o, rows * cols);
        return;
    }
    uint32_t lanes = lanes_of(o), chunks = (cols + lanes - 1) / lanes;
    bool far = false;
    for (int i = 0; i < o->operands; i++)
        far |= rep_blocks(&o->operand[i]) > NPU_MAX_REPEAT;
    if (far || rows <= chunks) {
        for (uint32_t row = 0; row < rows; row++)
            issue_row(core, o, row, cols);
        return;
    }
    for (uint32_t first = 0; first < cols; first += lanes) {
        uint32_t width = cols - first < lanes ? cols - first : lanes;
        for (uint32_t row = 0; row < rows; row += NPU_MAX_REPEAT)
            issue_columns(core, o, first, width, row, rows - row < NPU_MAX_REPEAT ? rows - row : NPU_MAX_REPEAT);
    }
}

static struct adv_rows nth_panel(struct adv_rows m, uint32_t n)
{
    if (m.panel)
        m.tensor = adv_behind(&m.tensor, m.type, n * m.panel);
    else if (!m.spread)
        m.tensor = adv_behind(&m.tensor, m.type, n * ADV_PANEL);
    m.panel = 0;
    return m;
}

static void issue(struct npu_core *core, struct over_rows *o, uint32_t rows, uint32_t cols)
{
    bool panels = false;
    for (int i = 0; i < o->operands; i++)
        panels |= o->operand[i].panel != 0;
    if (panels) {
        for (uint32_t first = 0; first < cols; first += ADV_PANEL) {
            struct over_rows part = *o;
            for (int i = 0; i < o->operands; i++)
                part.operand[i] = nth_panel(o->operand[i], first / ADV_PANEL);
            issue_nd(core, &part, rows, cols - first < ADV_PANEL ? cols - first : ADV_PANEL);
        }
    } else {
        issue_nd(core, o, rows, cols);
    }
    adv_reset_mask(core);
}

static struct npu_insn typed(enum npu_op op, uint8_t dst_type, uint8_t src_type)
{
    return (struct npu_insn){.op = (uint16_t)op, .dst_type = dst_type, .src_type = src_type, .src1_type = src_type};
}

void adv_rows_binary(struct npu_core *core, enum npu_op op, struct adv_rows dst, struct adv_rows src0,
                     struct adv_rows src1, uint32_t rows, uint32_t cols)
{
    struct over_rows o = {typed(op, dst.type, src0.type), {dst, src0, src1}, 3};
    issue(core, &o, rows, cols);
}

void adv_rows_unary(struct npu_core *core, enum npu_op op, struct adv_rows dst, struct adv_rows src, uint32_t rows,
                    uint32_t cols)
{
    struct over_rows o = {typed(op, dst.type, src.type), {dst, src}, 2};
    issue(core, &o, rows, cols);
}

void adv_rows_scalar(struct npu_core *core, enum npu_op op, struct adv_rows dst, struct adv_rows src, double value,
                     uint32_t rows, uint32_t cols)
{
    struct over_rows o = {typed(op, dst.type, src.type), {dst, src}, 2};
    o.insn.scalar = adv_scalar(src.type, value);
    issue(core, &o, rows, cols);
}

void adv_rows_fill(struct npu_core *core, struct adv_rows dst, uint64_t bits, uint32_t rows, uint32_t cols)
{
    struct over_rows o = {typed(NPU_OP_DUPLICATE, dst.type, dst.type), {dst}, 1};
    o.insn.scalar = bits;
    issue(core, &o, rows, cols);
}

/* In counter mode the mask counts the elements of each repeat of a Copy: a repeat is a row of any length. */
static void copy_nd(struct npu_core *core, struct adv_rows dst, struct adv_rows src, uint32_t rows, uint32_t cols)
{
    adv_count_mask(core, cols);
    for (uint32_t row = 0; row < rows; row += NPU_MAX_REPEAT) {
        struct npu_insn insn = typed(NPU_OP_COPY, dst.type, src.type);
        insn.form = NPU_FORM_MASK_REG;
        insn.repeat = rows - row < NPU_MAX_REPEAT ? rows - row : NPU_MAX_REPEAT;
        set_operand(&insn, 0, adv_rows_from(dst, row).tensor, 1, rep_blocks(&dst));
        set_operand(&insn, 1, adv_rows_from(src, row).tensor, src.spread ? 0 : 1, rep_blocks(&src));
        adv_issue(core, &insn);
    }
    adv_reset_mask(core);
}

void adv_rows_copy(struct npu_core *core, struct adv_rows dst, struct adv_rows src, uint32_t rows, uint32_t cols)
{
    if (!dst.panel && !src.panel) {
        copy_nd(core, dst, src, rows, cols);
        return;
    }
    for (uint32_t first = 0; first < cols; first += ADV_PANEL)
        copy_nd(core, nth_panel(dst, first / ADV_PANEL), nth_panel(src, first / ADV_PANEL), rows,
                cols - first < ADV_PANEL ? cols - first : ADV_PANEL);
}

void adv_rows_cast(struct npu_core *core, struct adv_rows dst, struct adv_rows src, int round_mode, uint32_t rows,
                   uint32_t cols)
{
    struct over_rows o = {typed(NPU_OP_CAST, dst.type, src.type), {dst, src}, 2};
    o.insn.mode = (uint8_t)round_mode;
    issue(core, &o, rows, cols);
}

/* Reductions. */
static enum npu_op over_repeat(enum npu_op op)
{
    return op == NPU_OP_ADD   ? NPU_OP_WHOLE_REDUCE_SUM
           : op == NPU_OP_MAX ? NPU_OP_WHOLE_REDUCE_MAX
                              : NPU_OP_WHOLE_REDUCE_MIN;
}

static enum npu_op over_block(enum npu_op op)
{
    return op == NPU_OP_ADD   ? NPU_OP_BLOCK_REDUCE_SUM
           : op == NPU_OP_MAX ? NPU_OP_BLOCK_REDUCE_MAX
                              : NPU_OP_BLOCK_REDUCE_MIN;
}

/* Rows of at most one repeat: one instruction for up to 255 of them. */
static void reduce_narrow(struct npu_core *core, enum npu_op op, struct npu_tensor dst, struct adv_rows src,
                          uint32_t rows, uint32_t cols)
{
    enum { ONLY_VALUE = 2 };
    core->regs.counter = false;
    for (uint32_t row = 0; row < rows; row += NPU_MAX_REPEAT) {
        struct npu_insn insn = typed(over_repeat(op), src.type, src.type);
        insn.form = NPU_FORM_MASK_LEN;
        insn.mode = op == NPU_OP_ADD ? 0 : ONLY_VALUE;
        insn.mask[0] = cols;
        insn.repeat = rows - row < NPU_MAX_REPEAT ? rows - row : NPU_MAX_REPEAT;
        set_operand(&insn, 0, adv_behind(&dst, src.type, row), 1, 1);
        set_operand(&insn, 1, adv_rows_from(src, row).tensor, 1, rep_blocks(&src));
        adv_issue(core, &insn);
    }
    adv_reset_mask(core);
}

/* 64 floats a row to one: blocks of 8 to one element, twice. */
static void reduce_repeats(struct npu_core *core, enum npu_op op, struct npu_tensor dst, struct npu_tensor folds,
                           uint32_t rows)
{
    struct npu_insn insn = typed(over_block(op), AKGEN_FLOAT, AKGEN_FLOAT);
    insn.form = NPU_FORM_MASK_REG;
    insn.repeat = 1;
    set_operand(&insn, 1, folds, 1, NPU_REPEAT / NPU_BLOCK);
    set_operand(&insn, 0, folds, 1, 1);
    adv_count_mask(core, rows * ADV_LANES32);
    adv_issue(core, &insn);
    set_operand(&insn, 0, dst, 1, 1);
    adv_count_mask(core, rows * 8);
    adv_issue(core, &insn);
    adv_reset_mask(core);
}

static void reduce_panels(struct npu_core *core, enum npu_op op, struct npu_tensor dst, struct adv_rows src,
                          struct npu_tensor folds, uint32_t rows, uint32_t cols)
{
    struct adv_rows acc = adv_nd(folds, AKGEN_FLOAT, ADV_PANEL);
    uint32_t width = cols < ADV_PANEL ? cols : ADV_PANEL;
    if (cols <= ADV_PANEL) {
        reduce_narrow(core, op, dst, nth_panel(src, 0), rows, width);
        return;
    }
    struct adv_rows rest = nth_panel(src, 1);
    uint32_t second = cols - ADV_PANEL < ADV_PANEL ? cols - ADV_PANEL : ADV_PANEL;
    if (second < ADV_PANEL)
        adv_rows_copy(core, acc, nth_panel(src, 0), rows, ADV_PANEL);
    adv_rows_binary(core, op, acc, second < ADV_PANEL ? acc : nth_panel(src, 0), rest, rows, second);
    for (uint32_t first = 2 * ADV_PANEL; first < cols; first += ADV_PANEL)
        adv_rows_binary(core, op, acc, acc, nth_panel(src, first / ADV_PANEL), rows,
                        cols - first < ADV_PANEL ? cols - first : ADV_PANEL);
    reduce_narrow(core, op, dst, acc, rows, ADV_PANEL);
}

/* Rows of more than 64 columns to rows of 64. */
static struct npu_tensor fold_repeats(struct npu_core *core, enum npu_op op, struct adv_rows src,
                                      struct npu_tensor folds, uint32_t rows, uint32_t cols)
{
    struct adv_rows acc = adv_nd(folds, AKGEN_FLOAT, ADV_LANES32), rest = src;
    rest.tensor = column(&src, ADV_LANES32);
    uint32_t width = cols - ADV_LANES32 < ADV_LANES32 ? cols - ADV_LANES32 : ADV_LANES32;
    if (width < ADV_LANES32)
        adv_rows_copy(core, acc, src, rows, ADV_LANES32);
    adv_rows_binary(core, op, acc, width < ADV_LANES32 ? acc : src, rest, rows, width);
    for (uint32_t first = 2 * ADV_LANES32; first < cols; first += ADV_LANES32) {
        rest.tensor = column(&src, first);
        adv_rows_binary(core, op, acc, acc, rest, rows, cols - first < ADV_LANES32 ? cols - first : ADV_LANES32);
    }
    return folds;
}

void adv_rows_reduce(struct npu_core *core, enum npu_op op, struct npu_tensor dst, struct adv_rows src,
                     struct npu_tensor folds, uint32_t rows, uint32_t cols)
{
    if (src.panel)
        reduce_panels(core, op, dst, src, folds, rows, cols);
    else if (cols <= ADV_LANES32)
        reduce_narrow(core, op, dst, src, rows, cols);
    else
        reduce_repeats(core, op, dst, fold_repeats(core, op, src, folds, rows, cols), rows);
}

void adv_rows_reduce_spread(struct npu_core *core, enum npu_op op, struct npu_tensor dst, struct adv_rows src,
                            struct npu_tensor folds, uint32_t rows, uint32_t cols, uint32_t pitch)
{
    if (rows > 1 || src.panel) {
        adv_rows_reduce(core, op, dst, src, folds, rows, cols);
        adv_rows_spread(core, dst, dst, folds, rows, pitch);
        return;
    }
    /* One row: the same repeat is reduced once for each element of the block. */
    uint32_t width = cols < ADV_LANES32 ? cols : ADV_LANES32;
    if (cols > ADV_LANES32)
        src.tensor = fold_repeats(core, op, src, folds, 1, cols);
    src.pitch = 0;
    reduce_narrow(core, op, dst, src, pitch, width);
}

static void brcb(struct npu_core *core, struct npu_tensor dst, struct npu_tensor packed, uint32_t rows)
{
    enum { EACH = 8, MOST = 254 }; /* 255 times 8 half elements would leave a source that is not aligned */
    uint32_t groups = (rows + EACH - 1) / EACH;
    for (uint32_t group = 0; group < groups; group += MOST) {
        struct npu_insn insn = typed(NPU_OP_BRCB, AKGEN_FLOAT, AKGEN_FLOAT);
        insn.form = NPU_FORM_MASK_REG;
        insn.repeat = groups - group < MOST ? groups - group : MOST;
        set_operand(&insn, 0, adv_behind(&dst, AKGEN_FLOAT, group * EACH * 8), 1, EACH);
        set_operand(&insn, 1, adv_behind(&packed, AKGEN_FLOAT, group * EACH), 1, 0);
        adv_issue(core, &insn);
    }
}

void adv_rows_spread(struct npu_core *core, struct npu_tensor dst, struct npu_tensor packed, struct npu_tensor scratch,
                     uint32_t rows, uint32_t pitch)
{
    enum { WIDTH = 8 };
    brcb(core, scratch, packed, rows);
    for (uint32_t at = 0; at < pitch; at += WIDTH) {
        struct adv_rows to = adv_nd(adv_behind(&dst, AKGEN_FLOAT, at), AKGEN_FLOAT, pitch);
        adv_rows_copy(core, to, adv_nd(scratch, AKGEN_FLOAT, WIDTH), rows, WIDTH);
    }
}

void adv_close_up(struct npu_core *core, struct npu_tensor dst, struct npu_tensor src, uint32_t rows, uint32_t kept,
                  uint32_t given)
{
    /* 240 rows: at most 255, and they end on a 32-byte block of dst. */
    enum { MOST = 240, EVERY_ELEMENT = 7 };
    if (given % NPU_BLOCK || kept % 2 || !kept || kept > given)
        npu_trap(core, FAULT(adv_shape), "info",
                 "%s: rows of the mask are %u bytes, of which %u count; they must be whole 32-byte blocks and at least "
                 "as long as the source's",
                 core->api, given, kept);
    for (uint32_t row = 0; row < rows; row += MOST) {
        struct npu_insn insn =
            ADV_INSN(NPU_OP_GATHER_MASK, MASK_REG, AKGEN_UINT16, .mode = EVERY_ELEMENT, .flags = NPU_INSN_REDUCE_MODE,
                     .mask = {kept / 2}, .src0_blk = 1, .src0_rep = (uint16_t)(given / NPU_BLOCK));
        insn.repeat = rows - row < MOST ? rows - row : MOST;
        insn.dst = adv_part(&dst, AKGEN_UINT8, row * kept, insn.repeat * kept);
        insn.src0 = adv_part(&src, AKGEN_UINT8, row * given, insn.repeat * given);
        adv_issue(core, &insn);
        adv_reset_mask(core);
    }
}

uint32_t adv_fold(struct npu_core *core, struct adv_rows x, uint32_t rows, uint32_t cols)
{
    if (cols <= ADV_LANES32)
        return cols;
    for (uint32_t first = ADV_LANES32; first < cols; first += ADV_LANES32) {
        struct adv_rows part = x;
        part.tensor.addr += first * 4;
        adv_rows_binary(core, NPU_OP_ADD, x, x, part, rows, cols - first < ADV_LANES32 ? cols - first : ADV_LANES32);
    }
    return ADV_LANES32;
}

void adv_row_sums(struct npu_core *core, struct npu_tensor packed, struct adv_rows x, uint32_t rows, uint32_t width)
{
    for (uint32_t row = 0; row < rows; row += NPU_MAX_REPEAT) {
        struct npu_insn insn = ADV_INSN(NPU_OP_WHOLE_REDUCE_SUM, MASK_LEN, AKGEN_FLOAT, .dst_rep = 1, .src0_blk = 1);
        core->regs.counter = false;
        insn.mask[0] = width;
        insn.repeat = rows - row < NPU_MAX_REPEAT ? rows - row : NPU_MAX_REPEAT;
        insn.src0_rep = (uint16_t)(x.pitch / ADV_BLOCK32);
        insn.dst = adv_part(&packed, AKGEN_FLOAT, row, insn.repeat);
        insn.src0 = adv_rows_from(x, row).tensor;
        adv_issue(core, &insn);
    }
    adv_reset_mask(core);
}

float adv_read_float(struct npu_core *core, const struct npu_tensor *tensor, uint32_t i)
{
    float value;
    uint64_t addr = tensor->addr + (uint64_t)i * 4;
    npu_scalar_access(core, addr, sizeof value, false, false);
    memcpy(&value, (const void *)addr, sizeof value);
    return value;
}

void adv_await_vector(struct npu_core *core)
{
    npu_order_edge(core->order, NPU_LANE_V, NPU_LANE_S);
    npu_schedule_drain(core, NPU_PIPE_V);
}
