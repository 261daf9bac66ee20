/* Mmad: C (L0C, Nz, 32-bit) = A (L0A, Zz) x B (L0B, Zn) + what C starts with: zero, itself, or a row of the bias table.
 *
 * asc-devkit docs, 矩阵计算（ISASI）/Mmad计算/Mmad; Mmad计算关键特性说明/GEMV, HF32, K-方向对齐约束. Only the m x k, k
 * x n and m x n elements that count are read and written, whatever lies in the rest of their fractals. With m = 1 the
 * row of A lies in one piece. kDirectionAlign: rows of fractals of 32-bit operands in L0A are an even number of
 * fractals long. HF32 keeps 11 bits of the fraction.
 *
 * Assumed: sums are float, C's first value plus products in order of k (the order of the chip's adders is not
 * published); int32 saturates once, when the sum of an instruction is added to C. */
#include "npu/cube/mmad.h"

#include "base/half.h"
#include "npu/cube/cube.h"
#include "npu/cube/cube_internal.h"
#include "npu/gm/shadow.h"
#include "npu/memory.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_ELEMENTS = NPU_L0A_BYTES * 2 + 64 * 4096 /* int4; and the zeros that fill the last rows */ };
/* Operands as the loops want them: a[m][k], b[n / 16][k][16]; one column of fractals of C; which rows of A and columns
 * of B are defined. Elements are float or int32. */
struct npu_cube_scratch {
    union {
        float f[MOST_ELEMENTS];
        int32_t i[MOST_ELEMENTS];
    } a, b;
    union {
        float f[4096 * NPU_MMAD_COLUMNS];
        int32_t i[4096 * NPU_MMAD_COLUMNS];
    } c;
    bool row[4096], column[4096];
};

struct shape {
    uint32_t m, n, k, c0, m1, n1, k1;
    uint32_t a_row; /* fractals from a row of fractals of A to the next */
    bool vector;    /* m = 1 */
};

static struct shape shape_of(const struct npu_insn *insn)
{
    struct shape s = {.m = insn->mmad.m, .n = insn->mmad.n, .k = insn->mmad.k, .c0 = npu_c0(insn->src_type)};
    s.m1 = npu_ceil_div(s.m, 16);
    s.n1 = npu_ceil_div(s.n, 16);
    s.k1 = npu_ceil_div(s.k, s.c0);
    s.a_row = insn->mmad.k_align && s.c0 == 8 ? npu_ceil_div(s.k, 16) * 2 : s.k1;
    s.vector = s.m == 1;
    return s;
}

int npu_check_mmad(struct npu_core *core, struct npu_insn *insn, const struct npu_regs *regs,
                   struct npu_access *accesses)
{
    (void)regs;
    npu_check_cube_operand(core, &insn->dst, "dst", 1u << NPU_MEM_L0C, NPU_C_FRACTAL);
    npu_check_cube_operand(core, &insn->src0, "fm", 1u << NPU_MEM_L0A, NPU_FRACTAL);
    npu_check_cube_operand(core, &insn->src1, "filter", 1u << NPU_MEM_L0B, NPU_FRACTAL);
    if (insn->mmad.init == NPU_C_BIAS)
        npu_check_cube_operand(core, &insn->aux, "bias", 1u << NPU_MEM_BT, 64);
    npu_check_cube_field(core, "m", insn->mmad.m, 4095);
    npu_check_cube_field(core, "n", insn->mmad.n, 4095);
    npu_check_cube_field(core, "k", insn->mmad.k, 4095);
    struct shape s = shape_of(insn);
    if (!s.m || !s.n || !s.k)
        return 0;
    int count = 0;
    accesses[count] = npu_cube_access(&insn->src0, "fm", false, 0, s.k1 * NPU_FRACTAL);
    if (s.vector) {
        accesses[count].bytes = npu_ceil_div(s.k * npu_cube_bits(insn->src_type), 8);
    } else {
        accesses[count].count = s.m1;
        accesses[count].stride = (int64_t)s.a_row * NPU_FRACTAL;
    }
    count++;
    accesses[count++] = npu_cube_access(&insn->src1, "filter", false, 0, s.k1 * s.n1 * NPU_FRACTAL);
    if (insn->mmad.init == NPU_C_BIAS)
        accesses[count++] = npu_cube_access(&insn->aux, "bias", false, 0, s.n * 4);
    if (insn->mmad.init == NPU_C_ACCUMULATE)
        accesses[count++] = npu_cube_access(&insn->dst, "dst", false, 0, s.m1 * s.n1 * NPU_C_FRACTAL);
    accesses[count++] = npu_cube_access(&insn->dst, "dst", true, 0, s.m1 * s.n1 * NPU_C_FRACTAL);
    return count;
}

/* Round to 11 bits of fraction, to nearest, ties to even or to zero. */
static float to_hf32(float value, bool ties_to_zero)
{
    enum { DROPPED = 12 };
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    if ((bits & 0x7f800000u) == 0x7f800000u)
        return value;
    uint32_t half = 1u << (DROPPED - 1), odd = bits >> DROPPED & 1;
    bits += ties_to_zero ? half - 1 : half - 1 + odd;
    bits &= ~((1u << DROPPED) - 1);
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* n elements of an operand in a row. */
static void convert(const struct npu_insn *insn, const struct npu_regs *regs, const uint8_t *from, uint32_t n,
                    void *out)
{
    float *floats = out;
    int32_t *ints = out;
    switch (insn->src_type) {
    case AKGEN_FLOAT16:
        npu_mmad_widen(n, (const uint16_t *)from, floats);
        break;
    case AKGEN_BF16:
        for (uint32_t i = 0; i < n; i++)
            floats[i] = bf16_to_float((uint16_t)(from[2 * i] | from[2 * i + 1] << 8));
        break;
    case AKGEN_FLOAT:
        memcpy(floats, from, n * sizeof *floats);
        for (uint32_t i = 0; regs->cube.at[NPU_CUBE_HF32] && i < n; i++)
            floats[i] = to_hf32(floats[i], regs->cube.at[NPU_CUBE_HF32_TIES]);
        break;
    case AKGEN_INT8:
        for (uint32_t i = 0; i < n; i++)
            ints[i] = (int8_t)from[i];
        break;
    default: /* int4 */
        for (uint32_t i = 0; i < n; i++)
            ints[i] = (int8_t)(uint8_t)(from[i / 2] << (i % 2 ? 0 : 4)) >> 4;
    }
}

static void pack_a(struct npu_cube_scratch *scratch, const struct npu_insn *insn, const struct npu_regs *regs,
                   const struct shape *s)
{
    const uint8_t *a = (const uint8_t *)insn->src0.addr;
    if (s->vector) {
        convert(insn, regs, a, s->k, scratch->a.i);
        return;
    }
    for (uint32_t i = 0; i < s->m; i++)
        for (uint32_t k1 = 0; k1 < s->k1; k1++) {
            uint32_t left = s->k - k1 * s->c0;
            convert(insn, regs, a + ((size_t)(i / 16) * s->a_row + k1) * NPU_FRACTAL + i % 16 * NPU_BLOCK,
                    left < s->c0 ? left : s->c0, scratch->a.i + (size_t)i * s->k + k1 * s->c0);
        }
}

static void pack_b(struct npu_cube_scratch *scratch, const struct npu_insn *insn, const struct npu_regs *regs,
                   const struct shape *s)
{
    int32_t fractal[16 * 64]; /* its 16 columns, C0 elements each */
    for (uint32_t k1 = 0; k1 < s->k1; k1++)
        for (uint32_t n1 = 0; n1 < s->n1; n1++) {
            convert(insn, regs, (const uint8_t *)insn->src1.addr + ((size_t)k1 * s->n1 + n1) * NPU_FRACTAL, 16 * s->c0,
                    fractal);
            uint32_t rows = s->k - k1 * s->c0 < s->c0 ? s->k - k1 * s->c0 : s->c0;
            int32_t *to = scratch->b.i + ((size_t)n1 * s->k + k1 * s->c0) * NPU_MMAD_COLUMNS;
            if (rows == 16 && s->c0 == 16) /* constant sizes: many times faster */
                for (uint32_t kk = 0; kk < 16; kk++)
                    for (uint32_t column = 0; column < 16; column++)
                        to[kk * NPU_MMAD_COLUMNS + column] = fractal[column * 16 + kk];
            else
                for (uint32_t kk = 0; kk < rows; kk++)
                    for (uint32_t column = 0; column < 16; column++)
                        to[kk * NPU_MMAD_COLUMNS + column] = fractal[column * s->c0 + kk];
        }
}

static int32_t saturating_add(int32_t a, int32_t b)
{
    int32_t sum;
    return __builtin_add_overflow(a, b, &sum) ? (a < 0 ? INT32_MIN : INT32_MAX) : sum;
}

/* One column of fractals of C: `columns` of 16 count. first: 16 values to start every row with, or NULL for zeros. */
static void multiply_column(struct npu_cube_scratch *scratch, const struct npu_insn *insn, const struct shape *s,
                            uint32_t n1, uint8_t *c, const uint8_t *first)
{
    enum { ROW = NPU_MMAD_COLUMNS * 4 };
    uint32_t columns = s->n - n1 * 16 < 16 ? s->n - n1 * 16 : 16;
    bool ints = insn->dst_type == AKGEN_INT32, accumulate = insn->mmad.init == NPU_C_ACCUMULATE;
    uint8_t *sums = (uint8_t *)scratch->c.i;
    for (uint32_t i = 0; i < s->m; i++)
        if (accumulate && !ints)
            memcpy(sums + i * ROW, c + i * ROW, ROW);
        else if (first && !ints)
            memcpy(sums + i * ROW, first, ROW);
        else
            memset(sums + i * ROW, 0, ROW);
    const size_t b = (size_t)n1 * s->k * NPU_MMAD_COLUMNS;
    if (ints)
        npu_mmad_int(s->m, s->k, scratch->a.i, scratch->b.i + b, scratch->c.i);
    else
        npu_mmad_float(s->m, s->k, scratch->a.f, scratch->b.f + b, scratch->c.f, insn->src_type == AKGEN_FLOAT16);
    for (uint32_t i = 0; i < s->m; i++) {
        for (uint32_t j = 0; ints && j < columns; j++) {
            int32_t old = 0;
            if (accumulate || first)
                memcpy(&old, accumulate ? c + i * ROW + j * 4 : first + j * 4, sizeof old);
            scratch->c.i[i * NPU_MMAD_COLUMNS + j] = saturating_add(old, scratch->c.i[i * NPU_MMAD_COLUMNS + j]);
        }
        memcpy(c + i * ROW, sums + i * ROW, columns * 4);
    }
}

/* Which rows of A and columns of B are defined; true if all are. */
static bool find_undefined(struct npu_core *core, struct npu_cube_scratch *scratch, const struct npu_insn *insn,
                           const struct shape *s)
{
    uint32_t bits = npu_cube_bits(insn->src_type);
    const uint8_t *a = (const uint8_t *)insn->src0.addr, *b = (const uint8_t *)insn->src1.addr;
    const uint8_t *bad_a = NULL, *bad_b = NULL;
    for (uint32_t i = 0; i < s->m; i++)
        scratch->row[i] = !s->vector || npu_ub_defined(core, a, npu_ceil_div(s->k * bits, 8));
    for (uint32_t j = 0; j < s->n; j++)
        scratch->column[j] = true;
    for (uint32_t k1 = 0; k1 < s->k1; k1++) {
        uint32_t left = s->k - k1 * s->c0, bytes = npu_ceil_div((left < s->c0 ? left : s->c0) * bits, 8);
        for (uint32_t i = 0; !s->vector && i < s->m; i++)
            scratch->row[i] &=
                npu_ub_defined(core, a + ((size_t)(i / 16) * s->a_row + k1) * NPU_FRACTAL + i % 16 * NPU_BLOCK, bytes);
        for (uint32_t j = 0; j < s->n; j++)
            scratch->column[j] &=
                npu_ub_defined(core, b + ((size_t)k1 * s->n1 + j / 16) * NPU_FRACTAL + j % 16 * NPU_BLOCK, bytes);
    }
    for (uint32_t i = 0; i < s->m && !bad_a; i++)
        bad_a = scratch->row[i] ? NULL : a;
    for (uint32_t j = 0; j < s->n && !bad_b; j++)
        bad_b = scratch->column[j] ? NULL : b;
    if (bad_a)
        npu_undefined_read(core, "fm", bad_a);
    if (bad_b)
        npu_undefined_read(core, "filter", bad_b);
    return !bad_a && !bad_b;
}

static bool all_defined(const struct npu_core *core, const struct npu_insn *insn, const struct shape *s)
{
    size_t a =
        s->vector ? npu_ceil_div(s->k * npu_cube_bits(insn->src_type), 8) : (size_t)s->m1 * s->a_row * NPU_FRACTAL;
    return npu_ub_defined(core, (const void *)insn->src0.addr, a) &&
           npu_ub_defined(core, (const void *)insn->src1.addr, (size_t)s->k1 * s->n1 * NPU_FRACTAL);
}

/* What element (i, j) of a column of fractals starts with: itself, its element of the bias, or NULL for zero. */
static const uint8_t *starts_with(const struct npu_insn *insn, const uint8_t *at, uint32_t column)
{
    return insn->mmad.init == NPU_C_ACCUMULATE ? at
           : insn->mmad.init == NPU_C_BIAS     ? (const uint8_t *)insn->aux.addr + column * 4
                                               : NULL;
}

/* C is defined where its row, its column and what it started with are. */
static void define_c(struct npu_core *core, struct npu_cube_scratch *scratch, const struct npu_insn *insn,
                     const struct shape *s, bool operands)
{
    uint8_t *c = (uint8_t *)insn->dst.addr;
    bool accumulate = insn->mmad.init == NPU_C_ACCUMULATE, bias = insn->mmad.init == NPU_C_BIAS;
    bool rest = !accumulate && (!bias || npu_ub_defined(core, (const void *)insn->aux.addr, s->n * 4));
    bool anything = !accumulate; /* in C to begin with */
    for (uint32_t n1 = 0; n1 < s->n1; n1++) {
        uint32_t columns = s->n - n1 * 16 < 16 ? s->n - n1 * 16 : 16;
        uint8_t *fractals = c + (size_t)n1 * s->m1 * NPU_C_FRACTAL;
        if (operands && columns == 16 && accumulate && npu_ub_defined(core, fractals, s->m * 64)) {
            anything = true;
            continue;
        }
        if (operands && rest && columns == 16) {
            npu_ub_define(core, fractals, s->m * 64);
            continue;
        }
        for (uint32_t i = 0; i < s->m; i++)
            for (uint32_t j = 0; j < columns; j++) {
                uint8_t *at = fractals + i * 64 + j * 4;
                const uint8_t *from = starts_with(insn, at, n1 * 16 + j);
                bool start = !from || npu_ub_defined(core, from, 4);
                anything |= start;
                npu_cube_define(core, at, 4, start && (operands || (scratch->row[i] && scratch->column[n1 * 16 + j])));
            }
    }
    /* Columns beyond the matrix may be made of a bias that ends before them: no matter. */
    if (!anything)
        npu_undefined_read(core, "dst", c);
}

static struct npu_cube_scratch *scratch_of(struct npu_core *core)
{
    if (!core->cube_scratch)
        core->cube_scratch = malloc(sizeof *core->cube_scratch);
    if (!core->cube_scratch)
        abort();
    return core->cube_scratch;
}

void npu_exec_mmad(struct npu_core *core, const struct npu_insn *insn, const struct npu_regs *regs)
{
    struct shape s = shape_of(insn);
    if (!s.m || !s.n || !s.k)
        return;
    struct npu_cube_scratch *scratch = scratch_of(core);
    bool operands = all_defined(core, insn, &s) || find_undefined(core, scratch, insn, &s);
    pack_a(scratch, insn, regs, &s);
    pack_b(scratch, insn, regs, &s);
    for (uint32_t n1 = 0; n1 < s.n1; n1++) {
        uint8_t first[64] = {0};
        uint32_t columns = s.n - n1 * 16 < 16 ? s.n - n1 * 16 : 16;
        if (insn->mmad.init == NPU_C_BIAS)
            memcpy(first, (const uint8_t *)insn->aux.addr + (size_t)n1 * 64, columns * 4);
        multiply_column(scratch, insn, &s, n1, (uint8_t *)insn->dst.addr + (size_t)n1 * s.m1 * NPU_C_FRACTAL,
                        insn->mmad.init == NPU_C_BIAS ? first : NULL);
    }
    define_c(core, scratch, insn, &s, operands);
}
