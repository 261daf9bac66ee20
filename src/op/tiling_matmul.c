/* Tiling of matrix products: an algorithm of our own for the constraints of asc-devkit docs, 高阶API, Matmul Tiling,
 * "TCubeTiling" (tables 1 to 3).
 *
 * 1. Cores: the grid of cores whose largest part is smallest, by volume, then by what it reads, then with more rows. A
 * grid whose parts are all equal counts as half of that: CANN's tiling looks for factors of the shape, and kernels rely
 * on it.
 * 2. Base blocks: of all that L0A, L0B (two buffers each) and L0C hold, those that read A and B least often from GM;
 *    among equals the longest k, then the smallest.
 * 3. L1: all of k if A's and B's blocks fit, else as many base blocks of k as fit twice, so that the next come while
 *    these are used. */
#include "abi/tiling_abi.h"

#include <limits.h>

enum {
    FRACTAL = 16,
    FRACTAL_BYTES = 32,
    ACCUMULATOR_BYTES = 4,
    BIAS_TABLE_COLUMNS = 256,
    MOST_BASE = 256,
    GOOD_BASE_K_BYTES = 128,
    MEMORY_L0A = 0, /* platform_ascendc::CoreMemType */
    MEMORY_L0B = 1,
    MEMORY_L0C = 2,
    MEMORY_L1 = 3,
    MEMORY_UB = 5,
    MEMORY_BT = 8
};

static int32_t ceil_div(int32_t value, int32_t by)
{
    return (value + by - 1) / by;
}

static int32_t round_up(int32_t value, int32_t unit)
{
    return ceil_div(value, unit) * unit;
}

static int32_t smaller(int32_t a, int32_t b)
{
    return a < b ? a : b;
}

static int32_t memory(int which)
{
    return (int32_t)akgen_platform_tiling_memory(akgen_platform_current(), which);
}

/* Bits of an element of a matmul_tiling::DataType; 0 for one that the cube does not take. */
static int32_t type_bits(int dtype)
{
    switch (dtype) {
    case 0: /* float */
    case 3: /* int32 */
        return 32;
    case 1:  /* half */
    case 27: /* bfloat16, by either code */
    case 33:
        return 16;
    case 2: /* int8 */
    case 4: /* uint8 */
        return 8;
    case 29: /* int4 */
        return 4;
    default:
        return 0;
    }
}

static int64_t type_bytes(int dtype, int64_t elements)
{
    return elements * type_bits(dtype) / 8;
}

void akgen_matmul_init(struct akgen_matmul *matmul)
{
    *matmul = (struct akgen_matmul){
        .m = -1,
        .n = -1,
        .k = -1,
        .org_m = -1,
        .org_n = -1,
        .org_ka = -1,
        .org_kb = -1,
        .single_m = -1,
        .single_n = -1,
        .single_k = -1,
        .max_single_m = -1,
        .max_single_n = -1,
        .max_single_k = -1,
        .min_single_m = -1,
        .min_single_n = -1,
        .min_single_k = -1,
        .align_m = 1,
        .align_n = 1,
        .align_k = 1,
        .base_m = -1,
        .base_n = -1,
        .base_k = -1,
        .max_base_m = -1,
        .max_base_n = -1,
        .max_base_k = -1,
        .min_base_m = -1,
        .min_base_n = -1,
        .min_base_k = -1,
        .l1 = -1,
        .l0c = -1,
        .ub = -1,
        .bt = -1,
    };
}

static int32_t fractal_k(const struct akgen_matmul *matmul)
{
    int32_t bits = type_bits(matmul->a.dtype);
    return bits ? FRACTAL_BYTES * 8 / bits : FRACTAL;
}

int32_t akgen_matmul_fix_split(struct akgen_matmul *matmul, int32_t m, int32_t n, int32_t k)
{
    bool whole = m && n && k && (m == -1 || m % FRACTAL == 0) && (n == -1 || n % FRACTAL == 0) &&
                 (k == -1 || k % fractal_k(matmul) == 0);
    if (!whole)
        return -1;
    matmul->base_m = m == -1 ? matmul->base_m : m;
    matmul->base_n = n == -1 ? matmul->base_n : n;
    matmul->base_k = k == -1 ? matmul->base_k : k;
    return 0;
}

int32_t akgen_matmul_buffer_space(struct akgen_matmul *matmul, int32_t l1, int32_t l0c, int32_t ub, int32_t bt)
{
    if (l1 < -1 || l1 > memory(MEMORY_L1) || l0c < -1 || l0c > memory(MEMORY_L0C) || ub < -1 ||
        ub > memory(MEMORY_UB) || bt < -1 || bt > memory(MEMORY_BT))
        return -1;
    matmul->l1 = l1 == -1 ? matmul->l1 : l1;
    matmul->l0c = l0c == -1 ? matmul->l0c : l0c;
    matmul->ub = ub == -1 ? matmul->ub : ub;
    matmul->bt = bt == -1 ? matmul->bt : bt;
    return 0;
}

/* Cores. */

struct part { /* what one core computes */
    int32_t m, n, k;
};

static int32_t in_range(int32_t value, int32_t least, int32_t most)
{
    if (most > 0 && value > most)
        value = most;
    return least > 0 && value < least ? least : value;
}

/* The part of `whole` when it is cut for `cores`, or the size that was asked for. */
static int32_t part_size(int32_t whole, int32_t cores, int32_t fixed, int32_t align, int32_t least, int32_t most)
{
    if (fixed > 0)
        return smaller(fixed, whole);
    int32_t size = in_range(round_up(ceil_div(whole, cores), align), least, most);
    return smaller(size, whole);
}

static int32_t grid_cores(const struct akgen_matmul *matmul, const struct part *part)
{
    return ceil_div(matmul->m, part->m) * ceil_div(matmul->n, part->n) * ceil_div(matmul->k, part->k);
}

static struct part cut(const struct akgen_matmul *matmul, int32_t rows, int32_t columns, int32_t layers)
{
    int32_t align_m = round_up(matmul->align_m, FRACTAL), align_n = round_up(matmul->align_n, FRACTAL);
    int32_t align_k = round_up(matmul->align_k, fractal_k(matmul));
    return (struct part){
        part_size(matmul->m, rows, matmul->single_m, align_m, matmul->min_single_m, matmul->max_single_m),
        part_size(matmul->n, columns, matmul->single_n, align_n, matmul->min_single_n, matmul->max_single_n),
        part_size(matmul->k, layers, matmul->single_k, align_k, matmul->min_single_k, matmul->max_single_k),
    };
}

static bool equal_parts(const struct akgen_matmul *matmul, const struct part *part)
{
    return matmul->m % part->m == 0 && matmul->n % part->n == 0 && matmul->k % part->k == 0;
}

/* A product that one core holds in its buffers and that has no more fractals of C than there are cores is one core's,
 * as in CANN's tiling (PreProcessMiniShape). */
static bool is_small(const struct akgen_matmul *matmul)
{
    enum { LONGEST = 32 };
    int32_t m = ceil_div(matmul->m, FRACTAL), n = ceil_div(matmul->n, FRACTAL);
    int32_t k = ceil_div(matmul->k, fractal_k(matmul)), l0 = memory(MEMORY_L0A) / (FRACTAL * FRACTAL_BYTES);
    bool free = matmul->single_m <= 0 && matmul->single_n <= 0 && matmul->single_k <= 0 && matmul->max_single_m <= 0 &&
                matmul->max_single_n <= 0 && matmul->max_single_k <= 0;
    return free && m * n <= matmul->cores && m <= LONGEST && n <= LONGEST && m * k <= l0 && n * k <= l0 &&
           (k <= LONGEST || !matmul->split_k);
}

/* False if no grid of so many cores covers the product. */
static bool divide(const struct akgen_matmul *matmul, struct part *best)
{
    int64_t best_volume = INT64_MAX, best_reads = INT64_MAX;
    if (is_small(matmul)) {
        *best = (struct part){matmul->m, matmul->n, matmul->k};
        return true;
    }
    for (int32_t layers = 1; layers <= (matmul->split_k ? matmul->cores : 1); layers++)
        for (int32_t rows = 1; rows * layers <= matmul->cores; rows++) {
            struct part part = cut(matmul, rows, matmul->cores / (rows * layers), layers);
            if (grid_cores(matmul, &part) > matmul->cores)
                continue;
            int64_t volume = (int64_t)part.m * part.n * part.k * (equal_parts(matmul, &part) ? 1 : 2),
                    reads = ((int64_t)part.m + part.n) * part.k;
            if (volume < best_volume || (volume == best_volume && reads <= best_reads)) {
                best_volume = volume;
                best_reads = reads;
                *best = part;
            }
        }
    return best_volume != INT64_MAX;
}

/* Base blocks. */

struct base {
    int32_t m, n, k;
    int64_t reads; /* bytes of A and B for the whole part */
};

static int32_t unit_k(const struct akgen_matmul *matmul)
{
    int32_t fractal = fractal_k(matmul);
    return !matmul->a.transposed && matmul->b.transposed ? fractal : fractal > FRACTAL ? fractal : FRACTAL;
}

/* The longest k whose blocks of A and B fit into L0A and L0B, each twice; 0 if none does. */
static int32_t longest_k(const struct akgen_matmul *matmul, int32_t m, int32_t n, int32_t k)
{
    int32_t unit = unit_k(matmul), buffers = 2;
    int32_t a = memory(MEMORY_L0A) * 8 / type_bits(matmul->a.dtype) / (m * buffers);
    int32_t b = memory(MEMORY_L0B) * 8 / type_bits(matmul->b.dtype) / (n * buffers);
    int32_t most = smaller(smaller(a, b) / unit * unit, round_up(k, unit));
    if (matmul->max_base_k > 0)
        most = smaller(most, matmul->max_base_k / unit * unit);
    return most;
}

static bool fits_l0(const struct akgen_matmul *matmul, const struct base *base, int32_t buffers)
{
    return type_bytes(matmul->a.dtype, (int64_t)base->m * base->k) * buffers <= memory(MEMORY_L0A) &&
           type_bytes(matmul->b.dtype, (int64_t)base->k * base->n) * buffers <= memory(MEMORY_L0B);
}

static int32_t l0c_space(const struct akgen_matmul *matmul)
{
    return matmul->l0c > 0 ? matmul->l0c : memory(MEMORY_L0C);
}

static bool better(const struct base *base, const struct base *best)
{
    if (base->reads != best->reads)
        return base->reads < best->reads;
    if (base->k != best->k)
        return base->k > best->k;
    int64_t area = (int64_t)base->m * base->n, best_area = (int64_t)best->m * best->n;
    return area != best_area ? area < best_area : base->n > best->n;
}

/* Tries one pair of m and n. good_k: a k below which the cube would wait for its loads. */
static void try_base(const struct akgen_matmul *matmul, const struct part *part, int32_t m, int32_t n, int32_t good_k,
                     struct base *best)
{
    if ((int64_t)m * n * ACCUMULATOR_BYTES > l0c_space(matmul))
        return;
    struct base base = {m, n, matmul->base_k > 0 ? matmul->base_k : longest_k(matmul, m, n, part->k), 0};
    if (base.k <= 0 || base.k < good_k || !fits_l0(matmul, &base, matmul->base_k > 0 ? 1 : 2))
        return;
    base.reads = type_bytes(matmul->a.dtype, (int64_t)part->m * part->k) * ceil_div(part->n, n) +
                 type_bytes(matmul->b.dtype, (int64_t)part->k * part->n) * ceil_div(part->m, m);
    if (!best->m || better(&base, best))
        *best = base;
}

struct sizes {
    int32_t least, most, unit;
};

static struct sizes base_sizes(int32_t size, int32_t fixed, int32_t least, int32_t most, int32_t unit)
{
    if (fixed > 0)
        return (struct sizes){fixed, fixed, FRACTAL};
    int32_t limit = smaller(round_up(size, unit), MOST_BASE);
    return (struct sizes){least > 0 ? smaller(round_up(least, unit), limit) : unit,
                          most >= unit ? smaller(most / unit * unit, limit) : limit, unit};
}

static bool find_base(const struct akgen_matmul *matmul, const struct part *part, struct base *best)
{
    int32_t unit = fractal_k(matmul) > FRACTAL ? fractal_k(matmul) : FRACTAL;
    struct sizes m = base_sizes(part->m, matmul->base_m, matmul->min_base_m, matmul->max_base_m,
                                matmul->a.transposed ? unit : FRACTAL);
    struct sizes n = base_sizes(part->n, matmul->base_n, matmul->min_base_n, matmul->max_base_n,
                                matmul->b.transposed ? FRACTAL : unit);
    if (matmul->has_bias)
        n.most = smaller(n.most, BIAS_TABLE_COLUMNS);
    int32_t good_k = smaller(GOOD_BASE_K_BYTES * 8 / type_bits(matmul->a.dtype), round_up(part->k, unit_k(matmul)));
    if (matmul->max_base_k > 0 || matmul->base_k > 0)
        good_k = 1;
    *best = (struct base){0};
    for (int pass = 0; pass < 2 && !best->m; pass++, good_k = 1)
        for (int32_t i = m.least; i <= m.most; i += m.unit)
            for (int32_t j = n.least; j <= n.most; j += n.unit)
                try_base(matmul, part, i, j, good_k, best);
    return best->m > 0;
}

/* L1. */

static bool fill_l1(const struct akgen_matmul *matmul, const struct part *part, const struct base *base,
                    struct akgen_TCubeTiling *tiling)
{
    int64_t space = matmul->l1 > 0 ? matmul->l1 : memory(MEMORY_L1);
    int64_t bias = matmul->has_bias ? type_bytes(matmul->bias.dtype, base->n) : 0;
    int64_t step = type_bytes(matmul->a.dtype, (int64_t)base->m * base->k) +
                   type_bytes(matmul->b.dtype, (int64_t)base->k * base->n);
    int64_t fit = (space - bias) / step, steps = ceil_div(part->k, base->k);
    if (fit < 1)
        return false;
    int32_t buffers = fit >= steps || fit < 2 ? 1 : 2;
    int32_t taken = (int32_t)(fit >= steps ? steps : fit / buffers);
    tiling->stepM = tiling->stepN = 1;
    tiling->stepKa = tiling->stepKb = taken;
    tiling->depthA1 = tiling->depthB1 = taken * buffers;
    tiling->shareL1Size = (int32_t)(step * taken * buffers + bias);
    return true;
}

static void write_layout(const struct akgen_matmul *matmul, struct akgen_TCubeTiling *tiling)
{
    int32_t *const fields[] = {
        &tiling->ALayoutInfoB, &tiling->ALayoutInfoS, &tiling->ALayoutInfoN,  &tiling->ALayoutInfoG,
        &tiling->ALayoutInfoD, &tiling->BLayoutInfoB, &tiling->BLayoutInfoS,  &tiling->BLayoutInfoN,
        &tiling->BLayoutInfoG, &tiling->BLayoutInfoD, &tiling->CLayoutInfoB,  &tiling->CLayoutInfoS1,
        &tiling->CLayoutInfoN, &tiling->CLayoutInfoG, &tiling->CLayoutInfoS2,
    };
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
        *fields[i] = matmul->layout[i];
    tiling->BatchNum = matmul->batch_number;
}

static int32_t either(int32_t size, int32_t otherwise)
{
    return size == -1 ? otherwise : size;
}

int64_t akgen_matmul_tiling(const struct akgen_matmul *given, struct akgen_TCubeTiling *tiling)
{
    struct akgen_matmul whole = *given, *matmul = &whole;
    whole.m = either(given->m, given->org_m);
    whole.n = either(given->n, given->org_n);
    whole.k = either(given->k, given->org_ka);
    struct part part = {matmul->m, matmul->n, matmul->k};
    struct base base;
    struct akgen_TCubeTiling made = {0};
    bool typed = type_bits(matmul->a.dtype) && type_bits(matmul->b.dtype);
    if (!typed || part.m <= 0 || part.n <= 0 || part.k <= 0)
        return -1;
    if (matmul->cores > 0 && !divide(matmul, &part))
        return -1;
    if (!find_base(matmul, &part, &base) || !fill_l1(matmul, &part, &base, &made))
        return -1;
    int64_t block = (int64_t)base.m * base.n * ACCUMULATOR_BYTES;
    made.usedCoreNum = matmul->cores > 0 ? grid_cores(matmul, &part) : 1;
    made.M = matmul->org_m > 0 ? matmul->org_m : matmul->m;
    made.N = matmul->org_n > 0 ? matmul->org_n : matmul->n;
    made.Ka = matmul->org_ka > 0 ? matmul->org_ka : matmul->k;
    made.Kb = matmul->org_kb > 0 ? matmul->org_kb : matmul->k;
    made.singleCoreM = part.m;
    made.singleCoreN = part.n;
    made.singleCoreK = part.k;
    made.baseM = base.m;
    made.baseN = base.n;
    made.baseK = base.k;
    made.isBias = matmul->has_bias;
    made.iterateOrder = matmul->n_first;
    made.dbL0A = made.dbL0B = fits_l0(matmul, &base, 2) ? 2 : 1;
    made.dbL0C = 2 * block <= l0c_space(matmul) ? 2 : 1;
    made.shareL0CSize = (int32_t)block;
    write_layout(matmul, &made);
    *tiling = made;
    return 0;
}
