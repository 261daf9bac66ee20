/* The Matmul object against the plain loop over m, n and k: data types, transpositions, formats and shapes that fill no
 * block, on an AIC by itself and through the queue of a block with two AIVs. Elements are small integers, so that every
 * sum is exact. */
#include "akgen/npu_matmul.h"
#include "base/half.h"
#include "npu/adv/tiling.h"
#include "npu/npu.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

enum { MOST = 1 << 20, WORKSPACE = 24 << 20 };

struct product {
    const char *name;
    uint8_t type, c_type;
    int m, n, k;
    bool trans_a, trans_b, nz_a, nz_b, nz_c, biased, half_bias;
    int base_m, base_n, base_k, step_k; /* 0: 32, 32, 32 and 1 */
    bool by_blocks, async, sequential, along_n;
};

static struct {
    const struct product *p;
    uint8_t *a, *b, *c, *bias, *workspace;
    int8_t elements[3][MOST]; /* A (m x k), B (k x n), bias */
    struct TCubeTiling tiling;
    void (*calls)(struct npu_matmul *mm, struct npu_tensor c); /* instead of the usual ones */
} it;

static const uint64_t no_arguments[1];

static uint32_t up(uint32_t value, uint32_t to)
{
    return (value + to - 1) / to * to;
}

static void put(uint8_t type, uint8_t *at, size_t index, int value)
{
    float wide = (float)value;
    half_t narrow = (half_t)wide;
    uint16_t brain = bf16_from_float(wide);
    if (type == AKGEN_FLOAT)
        memcpy(at + index * 4, &wide, 4);
    else if (type == AKGEN_FLOAT16)
        memcpy(at + index * 2, &narrow, 2);
    else if (type == AKGEN_BF16)
        memcpy(at + index * 2, &brain, 2);
    else if (type == AKGEN_INT8)
        at[index] = (uint8_t)value;
    else
        memcpy(at + index * 4, &value, 4);
}

static double get(uint8_t type, const uint8_t *at, size_t index)
{
    float wide;
    half_t narrow;
    uint16_t brain;
    int32_t whole;
    if (type == AKGEN_FLOAT)
        return memcpy(&wide, at + index * 4, 4), wide;
    if (type == AKGEN_FLOAT16)
        return memcpy(&narrow, at + index * 2, 2), (double)narrow;
    if (type == AKGEN_BF16)
        return memcpy(&brain, at + index * 2, 2), bf16_to_float(brain);
    return memcpy(&whole, at + index * 4, 4), whole;
}

/* Where element (row, column) of a matrix lies: by rows, or in fractals of 16 rows by c0 columns. */
static size_t place(bool nz, uint32_t rows, uint32_t columns, uint32_t c0, uint32_t row, uint32_t column)
{
    if (!nz)
        return (size_t)row * columns + column;
    return ((size_t)(column / c0) * up(rows, 16) + row) * c0 + column % c0;
}

static void store_matrix(uint8_t *to, uint8_t type, const int8_t *elements, uint32_t rows, uint32_t columns,
                         bool transposed, bool nz)
{
    uint32_t c0 = 32 / (uint32_t)akgen_dtype_size(type);
    for (uint32_t row = 0; row < rows; row++)
        for (uint32_t column = 0; column < columns; column++)
            put(type, to,
                transposed ? place(nz, columns, rows, c0, column, row) : place(nz, rows, columns, c0, row, column),
                elements[(size_t)row * columns + column]);
}

static void make_tiling(const struct product *p)
{
    int base_m = p->base_m ? p->base_m : 32, base_n = p->base_n ? p->base_n : 32, base_k = p->base_k ? p->base_k : 32;
    int step = p->step_k ? p->step_k : 1;
    it.tiling = (struct TCubeTiling){.usedCoreNum = 1,
                                     .M = p->m,
                                     .N = p->n,
                                     .Ka = p->k,
                                     .Kb = p->k,
                                     .singleCoreM = p->m,
                                     .singleCoreN = p->n,
                                     .singleCoreK = p->k,
                                     .baseM = base_m,
                                     .baseN = base_n,
                                     .baseK = base_k,
                                     .depthA1 = 2 * step,
                                     .depthB1 = 2 * step,
                                     .stepM = 1,
                                     .stepN = 1,
                                     .stepKa = step,
                                     .stepKb = step,
                                     .isBias = p->biased,
                                     .iterateOrder = p->along_n,
                                     .dbL0A = 2,
                                     .dbL0B = 2,
                                     .dbL0C = 1};
}

static struct npu_tensor in_gm(uint8_t *at)
{
    return (struct npu_tensor){.addr = (uint64_t)at, .position = NPU_GM};
}

static uint8_t bias_type(const struct product *p)
{
    return p->type == AKGEN_INT8 ? AKGEN_INT32 : p->half_bias ? AKGEN_FLOAT16 : AKGEN_FLOAT;
}

static void describe(struct npu_matmul *mm, const struct product *p)
{
    mm->types[NPU_MATMUL_A] = (struct npu_matmul_type){NPU_GM, p->nz_a, p->type, 1, 0, 0};
    mm->types[NPU_MATMUL_B] = (struct npu_matmul_type){NPU_GM, p->nz_b, p->type, 1, 0, 0};
    mm->types[NPU_MATMUL_C] = (struct npu_matmul_type){NPU_GM, p->nz_c, p->c_type, 0, 0, 0};
    mm->types[NPU_MATMUL_BIAS] = (struct npu_matmul_type){NPU_GM, NPU_FORMAT_ND, bias_type(p), 0, 0, 0};
    mm->order = 2;
}

/* The calls of one core; c: where its result goes. */
static void calculate(struct npu_tensor c)
{
    const struct product *p = it.p;
    struct npu_matmul mm = {0};
    struct npu_tensor a = in_gm(it.a), b = in_gm(it.b), bias = in_gm(it.bias);
    describe(&mm, p);
    npu_matmul_register(&mm);
    npu_matmul_init(&mm, (uint64_t)&it.tiling, sizeof it.tiling);
    if (it.calls) {
        it.calls(&mm, c);
        return;
    }
    npu_matmul_set_source(&mm, NPU_MATMUL_A, &a, 0, p->trans_a);
    npu_matmul_set_source(&mm, NPU_MATMUL_B, &b, 0, p->trans_b);
    if (p->biased)
        npu_matmul_set_source(&mm, NPU_MATMUL_BIAS, &bias, 0, 0);
    struct npu_matmul_output out = {.gm = c, .sync = !p->async, .wait = p->async, .sequential = p->sequential};
    if (p->by_blocks)
        while (npu_matmul_iterate(&mm, 1, 0, NULL))
            npu_matmul_get_c(&mm, &out);
    else
        npu_matmul_iterate_all(&mm, &out);
    if (p->async)
        npu_matmul_wait(&mm);
    npu_matmul_end(&mm);
}

static size_t c_bytes(void)
{
    return (size_t)up((uint32_t)it.p->m, 32) * up((uint32_t)it.p->n, 32) * 8;
}

static void on_aic(uint64_t unused, ...)
{
    (void)unused;
    npu_pipe_create();
    calculate(in_gm(it.c));
    npu_pipe_destroy();
}

static void serving(uint64_t unused, ...)
{
    (void)unused;
    npu_pipe_create();
    npu_matmul_serve((uint64_t)it.workspace);
    npu_pipe_destroy();
}

static void asking(uint64_t unused, ...)
{
    (void)unused;
    npu_pipe_create();
    npu_matmul_open((uint64_t)it.workspace);
    calculate(in_gm(it.c + (size_t)npu_sub_block_idx() * c_bytes()));
    npu_matmul_close();
    npu_pipe_destroy();
}

/* Where block-wise output puts element (row, column): blocks one behind the other, or the matrix. */
static size_t place_in_c(const struct product *p, uint32_t row, uint32_t column)
{
    if (!p->sequential) {
        uint32_t wide = akgen_dtype_size(p->c_type) == 1 ? 32 : 16;
        return place(p->nz_c, (uint32_t)p->m, (uint32_t)p->n, wide, row, column);
    }
    uint32_t bm = (uint32_t)it.tiling.baseM, bn = (uint32_t)it.tiling.baseN;
    uint32_t rows = ((uint32_t)p->m + bm - 1) / bm, columns = ((uint32_t)p->n + bn - 1) / bn;
    uint32_t i = row / bm, j = column / bn, step = p->along_n ? i * columns + j : j * rows + i;
    uint32_t width = (uint32_t)p->n - j * bn < bn ? (uint32_t)p->n - j * bn : bn;
    return (size_t)step * bm * bn + (size_t)(row % bm) * width + column % bn;
}

static void compare(const struct product *p, const uint8_t *c)
{
    for (int row = 0; row < p->m; row++)
        for (int column = 0; column < p->n; column++) {
            int sum = p->biased ? it.elements[2][column] : 0;
            for (int k = 0; k < p->k; k++)
                sum += it.elements[0][row * p->k + k] * it.elements[1][k * p->n + column];
            double got = get(p->c_type, c, place_in_c(p, (uint32_t)row, (uint32_t)column));
            if (got != sum)
                fail_msg("%s: C(%d, %d) is %g, not %d", p->name, row, column, got, sum);
        }
}

static struct npu *machine(bool mixed, uint64_t seed)
{
    const struct npu_config config = {.soc = npu_soc_find("910B2"),
                                      .random_order = seed != 0,
                                      .seed = seed,
                                      .kernel_type = mixed ? NPU_TYPE_MIX_AIC_1_2 : NPU_TYPE_AIC_ONLY,
                                      .aic_kernel = mixed ? (void *)serving : (void *)on_aic,
                                      .reserved_workspace = 16 << 20};
    struct npu *npu = npu_create(&config);
    npu_gm_add(npu, "a", it.a, MOST, NPU_GM_INPUT, true);
    npu_gm_add(npu, "b", it.b, MOST, NPU_GM_INPUT, true);
    npu_gm_add(npu, "bias", it.bias, MOST, NPU_GM_INPUT, true);
    npu_gm_add(npu, "c", it.c, MOST, NPU_GM_OUTPUT, true);
    npu_gm_add(npu, "workspace", it.workspace, WORKSPACE, NPU_GM_WORKSPACE, false);
    return npu;
}

static void fill_memory(const struct product *p)
{
    it.p = p;
    make_tiling(p);
    for (int i = 0; i < p->m * p->k; i++)
        it.elements[0][i] = (int8_t)((i * 7 + i / 5) % 5 - 2);
    for (int i = 0; i < p->k * p->n; i++)
        it.elements[1][i] = (int8_t)((i * 11 + i / 3) % 5 - 2);
    for (int i = 0; i < p->n; i++)
        it.elements[2][i] = (int8_t)(i % 9 - 4);
    memset(it.c, 0x55, MOST);
    store_matrix(it.a, p->type, it.elements[0], (uint32_t)p->m, (uint32_t)p->k, p->trans_a, p->nz_a);
    store_matrix(it.b, p->type, it.elements[1], (uint32_t)p->k, (uint32_t)p->n, p->trans_b, p->nz_b);
    store_matrix(it.bias, bias_type(p), it.elements[2], 1, (uint32_t)p->n, false, false);
}

static void no_finding(struct npu *npu, const char *name, bool clean)
{
    size_t count;
    const struct npu_finding *findings = npu_findings(npu, &count);
    for (size_t i = 0; i < count; i++)
        fail_msg("%s: %s: %s", name, findings[i].fault, findings[i].message);
    assert_true(clean);
}

static void run(const struct product *p, bool mixed, uint64_t seed)
{
    fill_memory(p);
    struct npu *npu = machine(mixed, seed);
    no_finding(npu, p->name, npu_launch(npu, mixed ? (void *)asking : NULL, no_arguments, 0, 1));
    compare(p, it.c);
    if (mixed)
        compare(p, it.c + c_bytes());
    npu_destroy(npu);
}

static void on_both(const struct product *p)
{
    run(p, false, 0);
    run(p, true, 0);
    run(p, true, 3);
}

static void test_types_and_transpositions(void **state)
{
    (void)state;
    static const struct {
        uint8_t type, c_type;
        const char *name;
    } types[] = {{AKGEN_FLOAT16, AKGEN_FLOAT, "half"},  {AKGEN_FLOAT16, AKGEN_FLOAT16, "half to half"},
                 {AKGEN_BF16, AKGEN_FLOAT, "bfloat16"}, {AKGEN_BF16, AKGEN_BF16, "bfloat16 to bfloat16"},
                 {AKGEN_FLOAT, AKGEN_FLOAT, "float"},   {AKGEN_INT8, AKGEN_INT32, "int8"}};
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        for (int form = 0; form < 4; form++) {
            struct product p = {.name = types[i].name,
                                .type = types[i].type,
                                .c_type = types[i].c_type,
                                .m = 50,
                                .n = 45,
                                .k = 71,
                                .trans_a = form & 1,
                                .trans_b = form & 2,
                                .biased = form == 3};
            on_both(&p);
        }
}

static void test_shapes(void **state)
{
    (void)state;
    static const int sizes[] = {1, 15, 16, 17, 33, 64};
    for (int m = 0; m < 6; m++)
        for (int n = 0; n < 6; n++)
            for (int form = 0; form < 4; form++) {
                struct product p = {.name = "shape",
                                    .type = form < 2    ? AKGEN_FLOAT16
                                            : form == 2 ? AKGEN_FLOAT
                                                        : AKGEN_INT8,
                                    .c_type = form < 3 ? AKGEN_FLOAT : AKGEN_INT32,
                                    .m = sizes[m],
                                    .n = sizes[n],
                                    .k = sizes[(m + n + form) % 6] + 3,
                                    .trans_a = form != 0,
                                    .trans_b = form == 1,
                                    .biased = n & 1,
                                    .step_k = 2};
                run(&p, false, 0);
            }
}

static void test_formats(void **state)
{
    (void)state;
    static const struct product products[] = {
        {"A in fractals", AKGEN_FLOAT16, AKGEN_FLOAT, 48, 40, 64, .nz_a = true},
        {"A in fractals, transposed", AKGEN_FLOAT16, AKGEN_FLOAT, 48, 40, 64, .nz_a = true, .trans_a = true},
        {"B in fractals", AKGEN_FLOAT16, AKGEN_FLOAT, 50, 48, 64, .nz_b = true},
        {"B in fractals, transposed", AKGEN_FLOAT16, AKGEN_FLOAT, 50, 48, 64, .nz_b = true, .trans_b = true},
        {"float in fractals", AKGEN_FLOAT, AKGEN_FLOAT, 48, 48, 64, .nz_a = true, .nz_b = true},
        {"float in fractals, A transposed", AKGEN_FLOAT, AKGEN_FLOAT, 48, 48, 64, .trans_a = true, .nz_a = true},
        {"int8 in fractals", AKGEN_INT8, AKGEN_INT32, 64, 64, 96, .nz_a = true, .nz_b = true},
        {"C in fractals", AKGEN_FLOAT16, AKGEN_FLOAT, 48, 64, 40, .nz_c = true},
        {"C of half in fractals", AKGEN_FLOAT16, AKGEN_FLOAT16, 48, 64, 40, .nz_c = true, .biased = true},
        {"bias of half", AKGEN_FLOAT16, AKGEN_FLOAT, 40, 45, 40, .biased = true, .half_bias = true}};
    for (size_t i = 0; i < sizeof products / sizeof *products; i++)
        on_both(&products[i]);
}

static void test_ways_of_calling(void **state)
{
    (void)state;
    static const struct product products[] = {
        {"Iterate", AKGEN_FLOAT16, AKGEN_FLOAT, 70, 90, 40, .by_blocks = true},
        {"Iterate along N", AKGEN_FLOAT16, AKGEN_FLOAT, 70, 90, 40, .by_blocks = true, .along_n = true},
        {"IterateAll, blocks in a row", AKGEN_FLOAT16, AKGEN_FLOAT, 70, 90, 40, .sequential = true},
        {"the same along N", AKGEN_FLOAT16, AKGEN_FLOAT, 70, 90, 40, .sequential = true, .along_n = true},
        {"large base blocks", AKGEN_FLOAT16, AKGEN_FLOAT, 300, 200, 520, .base_m = 128, .base_n = 128, .base_k = 64,
         .step_k = 4}};
    for (size_t i = 0; i < sizeof products / sizeof *products; i++)
        on_both(&products[i]);
    struct product late = {"asynchronous", AKGEN_FLOAT16, AKGEN_FLOAT, 70, 90, 40, .async = true};
    run(&late, true, 0);
    run(&late, true, 5);
}

/* Calls of their own, each compared with a loop of its own. */
static double a_of(int row, int k)
{
    return it.elements[0][row * it.p->k + k];
}
static double b_of(int k, int column)
{
    return it.elements[1][k * it.p->n + column];
}
static double c_at(size_t index)
{
    return get(it.p->c_type, it.c, index);
}

static void scalar_a(struct npu_matmul *mm, struct npu_tensor c)
{
    struct npu_tensor b = in_gm(it.b);
    struct npu_matmul_output out = {.gm = c, .sync = 1};
    npu_matmul_set_shape(mm, NPU_MATMUL_SINGLE_SHAPE, 1, it.p->n, it.p->k, 0, 0);
    npu_matmul_set_source(mm, NPU_MATMUL_A, NULL, 0x3c00 /* 1 as half */, 0);
    npu_matmul_set_source(mm, NPU_MATMUL_B, &b, 0, 0);
    npu_matmul_iterate_all(mm, &out);
}
static void check_scalar_a(void)
{
    for (int column = 0; column < it.p->n; column++) {
        double sum = 0;
        for (int k = 0; k < it.p->k; k++)
            sum += b_of(k, column);
        assert_true(c_at((size_t)column) == sum);
    }
}

static void vector_a(struct npu_matmul *mm, struct npu_tensor c)
{
    mm->types[NPU_MATMUL_A].format = NPU_FORMAT_VECTOR;
    struct npu_tensor a = in_gm(it.a), b = in_gm(it.b);
    struct npu_matmul_output out = {.gm = c, .sync = 1};
    npu_matmul_set_shape(mm, NPU_MATMUL_SINGLE_SHAPE, 1, it.p->n, it.p->k, 0, 0);
    npu_matmul_set_source(mm, NPU_MATMUL_A, &a, 0, 0);
    npu_matmul_set_source(mm, NPU_MATMUL_B, &b, 0, 0);
    npu_matmul_iterate_all(mm, &out);
}
static void check_vector_a(void)
{
    for (int column = 0; column < it.p->n; column++) {
        double sum = 0;
        for (int k = 0; k < it.p->k; k++)
            sum += a_of(0, k) * b_of(k, column);
        assert_true(c_at((size_t)column) == sum);
    }
}

/* Two pieces of K, added in L0C; then once more onto C in GM. */
static void partial_sums(struct npu_matmul *mm, struct npu_tensor c)
{
    struct npu_tensor a = in_gm(it.a), b = in_gm(it.b);
    struct npu_matmul_output out = {.gm = c, .sync = 1};
    int half = it.p->k / 2;
    for (int i = 0; i < 3; i++) {
        npu_matmul_set_shape(mm, NPU_MATMUL_SINGLE_SHAPE, 32, 32, half, 0, 0);
        a.addr = (uint64_t)it.a + (uint64_t)(i % 2 * half * 2);
        b.addr = (uint64_t)it.b + (uint64_t)(i % 2 * half * it.p->n * 2);
        npu_matmul_set_source(mm, NPU_MATMUL_A, &a, 0, 0);
        npu_matmul_set_source(mm, NPU_MATMUL_B, &b, 0, 0);
        assert_true(npu_matmul_iterate(mm, 1, i == 1, NULL));
        out.atomic = i == 2;
        if (i)
            npu_matmul_get_c(mm, &out);
    }
}
static void check_partial_sums(void)
{
    for (int row = 0; row < 32; row++)
        for (int column = 0; column < 32; column++) {
            double sum = 0;
            for (int k = 0; k < it.p->k; k++)
                sum += a_of(row, k) * b_of(k, column) * (k < it.p->k / 2 ? 2 : 1);
            assert_true(c_at((size_t)(row * it.p->n + column)) == sum);
        }
}

/* A batch of two matrices A with one B; NORMAL layout: M is half of the rows. */
static void one_b_for_two(struct npu_matmul *mm, struct npu_tensor c)
{
    struct npu_tensor a = in_gm(it.a), b = in_gm(it.b);
    struct npu_matmul_output out = {.gm = c, .sync = 1};
    struct npu_matmul_batch batch = {.a = 2, .b = 1, .loops = 1};
    for (int i = NPU_MATMUL_A; i <= NPU_MATMUL_C; i++)
        mm->types[i].layout = NPU_LAYOUT_NORMAL;
    npu_matmul_set_shape(mm, NPU_MATMUL_ORG_SHAPE, it.p->m / 2, it.p->n, it.p->k, it.p->k, 0);
    npu_matmul_set_shape(mm, NPU_MATMUL_SINGLE_SHAPE, it.p->m / 2, it.p->n, it.p->k, 0, 0);
    npu_matmul_set_source(mm, NPU_MATMUL_A, &a, 0, 0);
    npu_matmul_set_source(mm, NPU_MATMUL_B, &b, 0, 0);
    npu_matmul_iterate_batch(mm, &batch, &out);
}
/* A as 2 heads beside each other (B = 1, S = m, N = 2, D = k / 2), B as 2 matrices, C by matrices. */
static void heads(struct npu_matmul *mm, struct npu_tensor c)
{
    struct npu_tensor a = in_gm(it.a), b = in_gm(it.b);
    struct npu_matmul_output out = {.gm = c, .sync = 1};
    struct npu_matmul_batch batch = {.a = 2, .b = 2, .loops = 1};
    int32_t k = it.p->k / 2;
    struct TCubeTiling *t = (struct TCubeTiling *)mm->tiling;
    mm->types[NPU_MATMUL_A].layout = NPU_LAYOUT_BSNGD;
    mm->types[NPU_MATMUL_B].layout = mm->types[NPU_MATMUL_C].layout = NPU_LAYOUT_BNGS1S2;
    t->ALayoutInfoB = t->ALayoutInfoG = t->BLayoutInfoB = t->BLayoutInfoG = t->CLayoutInfoB = t->CLayoutInfoG = 1;
    t->ALayoutInfoN = t->BLayoutInfoN = t->CLayoutInfoN = 2;
    t->ALayoutInfoS = t->CLayoutInfoS1 = it.p->m;
    t->ALayoutInfoD = t->BLayoutInfoS = k;
    t->BLayoutInfoD = t->CLayoutInfoS2 = it.p->n;
    npu_matmul_set_shape(mm, NPU_MATMUL_SINGLE_SHAPE, it.p->m, it.p->n, k, 0, 0);
    npu_matmul_set_source(mm, NPU_MATMUL_A, &a, 0, 0);
    npu_matmul_set_source(mm, NPU_MATMUL_B, &b, 0, 0);
    npu_matmul_iterate_batch(mm, &batch, &out);
}
static void check_product(void)
{
    compare(it.p, it.c);
}
static void check_heads(void)
{
    int k = it.p->k / 2;
    for (int head = 0; head < 2; head++)
        for (int row = 0; row < it.p->m; row++)
            for (int column = 0; column < it.p->n; column++) {
                double sum = 0;
                for (int i = 0; i < k; i++)
                    sum += a_of(row, head * k + i) * b_of(head * k + i, column);
                assert_true(c_at((size_t)((head * it.p->m + row) * it.p->n + column)) == sum);
            }
}

static void test_other_calls(void **state)
{
    (void)state;
    static const struct product plain = {"other calls", AKGEN_FLOAT16, AKGEN_FLOAT, 64, 48, 64, .trans_a = false};
    static const struct {
        void (*calls)(struct npu_matmul *mm, struct npu_tensor c);
        void (*check)(void);
    } all[] = {{scalar_a, check_scalar_a},
               {vector_a, check_vector_a},
               {partial_sums, check_partial_sums},
               {one_b_for_two, check_product},
               {heads, check_heads}};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        for (int mixed = 0; mixed < 2; mixed++) {
            fill_memory(&plain);
            it.calls = all[i].calls;
            struct npu *npu = machine(mixed, 0);
            no_finding(npu, "other calls", npu_launch(npu, mixed ? (void *)asking : NULL, no_arguments, 0, 1));
            all[i].check();
            npu_destroy(npu);
        }
    it.calls = NULL;
}

/* int8 to half by one factor and by factors of columns. */
static void quantised(struct npu_matmul *mm, struct npu_tensor c)
{
    struct npu_tensor a = in_gm(it.a), b = in_gm(it.b), factors = in_gm(it.bias);
    struct npu_matmul_output out = {.gm = c, .sync = 1};
    npu_matmul_set_source(mm, NPU_MATMUL_A, &a, 0, 0);
    npu_matmul_set_source(mm, NPU_MATMUL_B, &b, 0, 0);
    npu_matmul_set_quant(mm, 0x3f000000 /* 0.5 */);
    npu_matmul_iterate_all(mm, &out);
    npu_matmul_set_source(mm, NPU_MATMUL_QUANT, &factors, 0, 0);
    out.gm.addr += (uint64_t)it.p->m * (uint64_t)it.p->n * 2;
    npu_matmul_set_source(mm, NPU_MATMUL_A, &a, 0, 0);
    npu_matmul_iterate_all(mm, &out);
}

static void test_quantisation(void **state)
{
    (void)state;
    static const struct product p = {"quantised", AKGEN_INT8, AKGEN_FLOAT16, 40, 48, 64, .trans_a = false};
    fill_memory(&p);
    for (int column = 0; column < p.n; column++) {
        float factor = column % 3 ? 1.0f : 2.0f;
        uint64_t bits = 0;
        memcpy(&bits, &factor, sizeof factor);
        memcpy(it.bias + (size_t)column * 8, &bits, sizeof bits);
    }
    it.calls = quantised;
    struct npu *npu = machine(false, 0);
    no_finding(npu, p.name, npu_launch(npu, NULL, no_arguments, 0, 1));
    it.calls = NULL;
    for (int row = 0; row < p.m; row++)
        for (int column = 0; column < p.n; column++) {
            double sum = 0;
            for (int k = 0; k < p.k; k++)
                sum += a_of(row, k) * b_of(k, column);
            size_t index = (size_t)row * (size_t)p.n + (size_t)column;
            assert_true(c_at(index) == sum / 2);
            assert_true(c_at(index + (size_t)p.m * (size_t)p.n) == sum * (column % 3 ? 1 : 2));
        }
    npu_destroy(npu);
}

/* What the machine says of wrong calls. */
static void no_b(struct npu_matmul *mm, struct npu_tensor c)
{
    struct npu_tensor a = in_gm(it.a);
    struct npu_matmul_output out = {.gm = c, .sync = 1};
    npu_matmul_set_source(mm, NPU_MATMUL_A, &a, 0, 0);
    npu_matmul_iterate_all(mm, &out);
}
static void early_get(struct npu_matmul *mm, struct npu_tensor c)
{
    struct npu_matmul_output out = {.gm = c, .sync = 1};
    npu_matmul_get_c(mm, &out);
}
static void unwanted_bias(struct npu_matmul *mm, struct npu_tensor c)
{
    npu_matmul_set_source(mm, NPU_MATMUL_BIAS, &c, 0, 0);
}
static void set_both(struct npu_matmul *mm)
{
    struct npu_tensor a = in_gm(it.a), b = in_gm(it.b);
    npu_matmul_set_source(mm, NPU_MATMUL_A, &a, 0, 0);
    npu_matmul_set_source(mm, NPU_MATMUL_B, &b, 0, 0);
}
static void empty_shape(struct npu_matmul *mm, struct npu_tensor c)
{
    struct npu_matmul_output out = {.gm = c, .sync = 1};
    set_both(mm);
    npu_matmul_set_shape(mm, NPU_MATMUL_SINGLE_SHAPE, 0, 8, 8, 0, 0);
    npu_matmul_iterate_all(mm, &out);
}
static void large_shape(struct npu_matmul *mm, struct npu_tensor c)
{
    (void)c;
    npu_matmul_set_shape(mm, NPU_MATMUL_TAIL, 1000, -1, -1, 0, 0);
}
static void no_transposition(struct npu_matmul *mm, struct npu_tensor c)
{
    (void)c;
    struct npu_tensor a = in_gm(it.a);
    mm->types[NPU_MATMUL_A].transposed = 0;
    npu_matmul_set_source(mm, NPU_MATMUL_A, &a, 0, 1);
}
static void c_in_ub(struct npu_matmul *mm, struct npu_tensor c)
{
    (void)c;
    struct npu_matmul_output out = {.local = {.addr = 64, .position = NPU_VECIN}, .sync = 1};
    set_both(mm);
    npu_matmul_iterate_all(mm, &out);
}
static void many_objects(struct npu_matmul *mm, struct npu_tensor c)
{
    (void)mm, (void)c;
    struct npu_matmul others[4] = {0};
    for (int i = 0; i < 4; i++)
        npu_matmul_register(&others[i]);
}

static void expect(struct npu *npu, const char *fault, bool clean, bool launched)
{
    size_t count;
    const struct npu_finding *findings = npu_findings(npu, &count);
    bool found = false;
    for (size_t i = 0; i < count; i++)
        found |= strcmp(findings[i].fault, fault) == 0;
    if (!found)
        fail_msg("no %s among %zu findings", fault, count);
    assert_int_equal(launched, clean);
    npu_destroy(npu);
}

static void test_wrong_calls(void **state)
{
    (void)state;
    static const struct product p = {"wrong", AKGEN_FLOAT16, AKGEN_FLOAT, 32, 32, 32, .trans_a = false};
    static const struct {
        void (*calls)(struct npu_matmul *mm, struct npu_tensor c);
        const char *fault;
        bool note;
    } wrong[] = {{no_b, "matmul_not_ready", false},          {early_get, "matmul_not_ready", false},
                 {unwanted_bias, "matmul_not_ready", false}, {empty_shape, "matmul_shape", false},
                 {large_shape, "matmul_shape", true},        {no_transposition, "matmul_transpose", true},
                 {c_in_ub, "matmul_position", false},        {many_objects, "matmul_objects", true}};
    it.p = &p;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        make_tiling(&p);
        it.calls = wrong[i].calls;
        struct npu *npu = machine(false, 0);
        expect(npu, wrong[i].fault, wrong[i].note, npu_launch(npu, NULL, no_arguments, 0, 1));
    }
    it.calls = NULL;
}

static void test_wrong_tilings(void **state)
{
    (void)state;
    static const struct product p = {"wrong", AKGEN_FLOAT16, AKGEN_FLOAT, 32, 32, 32, .trans_a = false};
    int32_t *const fields[] = {&it.tiling.singleCoreK, &it.tiling.baseM,  &it.tiling.baseN,  &it.tiling.baseK,
                               &it.tiling.depthA1,     &it.tiling.stepKb, &it.tiling.depthB1};
    static const int32_t values[] = {0, 24, 1 << 12, 1 << 11, 1 << 9, 0, 1 << 10};
    it.p = &p;
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        make_tiling(&p);
        *fields[i] = values[i];
        struct npu *npu = machine(false, 0);
        expect(npu, "matmul_tiling", false, npu_launch(npu, NULL, no_arguments, 0, 1));
    }
}

static void open_only(uint64_t unused, ...)
{
    (void)unused;
    npu_matmul_open((uint64_t)it.workspace);
}

static void test_needs_its_aic(void **state)
{
    (void)state;
    const struct npu_config config = {.soc = npu_soc_find("910B2"), .kernel_type = NPU_TYPE_AIV_ONLY};
    struct npu *npu = npu_create(&config);
    npu_gm_add(npu, "workspace", it.workspace, WORKSPACE, NPU_GM_WORKSPACE, false);
    expect(npu, "matmul_no_cube", false, npu_launch(npu, (void *)open_only, no_arguments, 0, 1));
}

static int make_memory(void **state)
{
    (void)state;
    uint8_t **all[] = {&it.a, &it.b, &it.c, &it.bias};
    for (int i = 0; i < 4; i++)
        *all[i] = aligned_alloc(512, MOST);
    it.workspace = aligned_alloc(512, WORKSPACE);
    return it.workspace ? 0 : -1;
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_types_and_transpositions),
                                       cmocka_unit_test(test_shapes),
                                       cmocka_unit_test(test_formats),
                                       cmocka_unit_test(test_ways_of_calling),
                                       cmocka_unit_test(test_other_calls),
                                       cmocka_unit_test(test_quantisation),
                                       cmocka_unit_test(test_wrong_calls),
                                       cmocka_unit_test(test_wrong_tilings),
                                       cmocka_unit_test(test_needs_its_aic)};
    return cmocka_run_group_tests(tests, make_memory, NULL);
}
