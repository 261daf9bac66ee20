/* CumSum: running sums over the rows of a matrix (first axis) or along them (last axis). shape = rows, columns, whether
 * the last axis is meant, whether dst[1] gets the last row. half is summed in float.
 *
 * Along a row there is no instruction that carries a sum, so the matrix is transposed with TransDataTo5HD, sixteen rows
 * at a time or more where the temporary space allows, summed row by row, and transposed back. Steps: asc-devkit,
 * CumSum. */
#include "npu/adv/piece.h"
#include "npu/adv/transpose.h"
#include "npu/insn/lanes.h"

enum { GROUP = 16, LIST = ADV_LIST }; /* rows that one TransDataTo5HD takes */

/* A matrix in UB: element (row, column) lies at row * pitch + column. */
struct matrix {
    uint64_t addr;
    uint32_t pitch;
    uint32_t size; /* of an element */
};
static uint64_t at(const struct matrix *m, uint32_t row, uint32_t column)
{
    return m->addr + ((uint64_t)row * m->pitch + column) * m->size;
}

struct cumsum {
    struct npu_core *core;
    const struct npu_adv *call;
    uint8_t type;
    uint32_t rows, columns;
    uint32_t aligned; /* rows, rounded up to whole groups */
    uint32_t block;   /* columns in 32 bytes */
};

/* The tile of GROUP rows and `block` columns of `m`, and the same of its transpose `t`. Rows that the matrix lacks are
 * rows that it has. Of 32-bit elements a row of the transposed tile is two blocks: neighbours in the list where the
 * tile is written, eight apart where it is read. */
static void tile(const struct cumsum *c, const struct matrix *m, const struct matrix *t, uint32_t group, uint32_t block,
                 bool back, uint64_t in_m[LIST], uint64_t in_t[LIST])
{
    uint32_t row = group * GROUP, column = block * c->block;
    uint32_t present = back || c->rows - row > GROUP ? GROUP : c->rows - row;
    bool wide = m->size == 4;
    for (uint32_t n = 0; n < LIST; n++) {
        uint32_t m_row = back && wide ? n / 2 + n % 2 * 8 : n;
        in_m[n] = at(m, row + m_row % present, column);
        uint32_t t_row = !wide ? n : back ? n % 8 : n / 2, half = !wide ? 0 : back ? n / 8 : n % 2;
        in_t[n] = at(t, column + t_row, row + half * 8);
    }
}

/* m to its transpose t, or back: along the longer side in one instruction. */
static void transpose(const struct cumsum *c, const struct matrix *m, const struct matrix *t, bool back)
{
    uint32_t groups = c->aligned / GROUP, blocks = c->columns / c->block, per_block = NPU_BLOCK / m->size;
    bool down = c->aligned > c->columns && (back || c->rows == c->aligned);
    uint32_t repeat = down ? groups : blocks;
    uint32_t m_rep = down ? GROUP * m->pitch / per_block : 1, t_rep = down ? GROUP / per_block : t->pitch;
    uint64_t in_m[LIST], in_t[LIST];
    for (uint32_t i = 0; i < (down ? blocks : groups); i++) {
        tile(c, m, t, down ? 0 : i, down ? i : 0, back, in_m, in_t);
        if (back)
            adv_transpose_blocks(c->core, c->type, in_m, in_t, repeat, m_rep, t_rep);
        else
            adv_transpose_blocks(c->core, c->type, in_t, in_m, repeat, t_rep, m_rep);
    }
}

static struct npu_tensor piece_of(struct npu_tensor tensor, uint64_t offset)
{
    tensor.addr += offset;
    tensor.bytes = 0;
    return tensor;
}

/* rows[i] += rows[i-1], `count` floats each */
static void sum_rows(const struct cumsum *c, struct npu_tensor rows, uint32_t lines, uint32_t count)
{
    for (uint32_t i = 1; i < lines; i++)
        adv_binary(c->core, NPU_OP_ADD, piece_of(rows, (uint64_t)i * count * 4),
                   piece_of(rows, (uint64_t)(i - 1) * count * 4), piece_of(rows, (uint64_t)i * count * 4), AKGEN_FLOAT,
                   count);
}

/* c->rows rows, whose sums along the row go to dst. */
static void along_rows(const struct cumsum *c, struct npu_tensor dst, struct npu_tensor src)
{
    uint32_t size = npu_element_bits(c->type) / 8, elements = c->aligned * c->columns;
    struct npu_tensor front = c->call->tmp, behind = piece_of(front, (uint64_t)elements * size);
    const struct matrix in = {src.addr, c->columns, size}, turned = {front.addr, c->aligned, size},
                        out = {behind.addr, c->columns, size};
    transpose(c, &in, &turned, false);
    if (c->type == AKGEN_FLOAT16) {
        adv_cast(c->core, behind, AKGEN_FLOAT, front, AKGEN_FLOAT16, ROUND_NONE, elements);
        sum_rows(c, behind, c->columns, c->aligned);
        adv_cast(c->core, front, AKGEN_FLOAT16, behind, AKGEN_FLOAT, ROUND_NONE, elements);
    } else {
        sum_rows(c, front, c->columns, c->aligned);
    }
    transpose(c, &out, &turned, true);
    adv_scalar_op(c->core, NPU_OP_ADDS, dst, behind, 0, c->type, c->rows * c->columns);
}

static void last_axis(struct cumsum *c)
{
    uint32_t size = npu_element_bits(c->type) / 8, rows = c->rows;
    uint32_t least = GROUP * c->columns * (c->type == AKGEN_FLOAT16 ? 6 : 8);
    adv_tmp(c->core, c->call, 0, least);
    uint32_t step = least ? c->call->tmp.bytes / least * GROUP : rows;
    for (uint32_t first = 0; first < rows; first += step) {
        uint64_t offset = (uint64_t)first * c->columns * size;
        c->rows = rows - first < step ? rows - first : step;
        c->aligned = (c->rows + GROUP - 1) / GROUP * GROUP;
        along_rows(c, piece_of(c->call->dst[0], offset), piece_of(c->call->src[0], offset));
    }
    c->rows = rows;
}

static void first_axis(const struct cumsum *c)
{
    const struct npu_adv *call = c->call;
    uint32_t elements = c->rows * c->columns;
    if (c->type == AKGEN_FLOAT16) {
        struct npu_tensor sums = adv_tmp(c->core, call, 0, elements * 4);
        adv_cast(c->core, sums, AKGEN_FLOAT, call->src[0], AKGEN_FLOAT16, ROUND_NONE, elements);
        sum_rows(c, sums, c->rows, c->columns);
        adv_cast(c->core, call->dst[0], AKGEN_FLOAT16, sums, AKGEN_FLOAT, ROUND_NONE, elements);
        return;
    }
    adv_scalar_op(c->core, NPU_OP_ADDS, call->dst[0], call->src[0], 0, c->type, c->columns);
    for (uint32_t i = 1; i < c->rows; i++) {
        uint64_t row = (uint64_t)i * c->columns * 4;
        adv_binary(c->core, NPU_OP_ADD, piece_of(call->dst[0], row), piece_of(call->dst[0], row - c->columns * 4),
                   piece_of(call->src[0], row), c->type, c->columns);
    }
}

void adv_cumsum(struct npu_core *core, const struct npu_adv *call)
{
    uint32_t size = npu_element_bits(call->type) / 8;
    struct cumsum c = {core, call, call->type, call->shape[0], call->shape[1], 0, NPU_BLOCK / size};
    if (!c.rows || !c.columns)
        return;
    if (call->shape[2])
        last_axis(&c);
    else
        first_axis(&c);
    if (call->shape[3])
        adv_scalar_op(core, NPU_OP_ADDS, call->dst[1],
                      piece_of(call->dst[0], (uint64_t)(c.rows - 1) * c.columns * size), 0, c.type, c.columns);
}
