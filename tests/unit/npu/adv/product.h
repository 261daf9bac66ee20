/* Products of matrices by the Matmul object, and what they must be: for the tests of its calls. Elements are small
 * integers, so that every sum is exact. */
#ifndef TESTS_NPU_ADV_PRODUCT_H
#define TESTS_NPU_ADV_PRODUCT_H

#include "unit/npu/launch.h"

#include "abi/npu_matmul.h"
#include "base/half.h"
#include "npu/adv/tiling.h"

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

static inline uint32_t up(uint32_t value, uint32_t to)
{
    return (value + to - 1) / to * to;
}

static inline void put(uint8_t type, uint8_t *at, size_t index, int value)
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
    else if (type == AKGEN_INT4) /* the first of a byte in its low half */
        at[index / 2] = (uint8_t)(index % 2 ? (at[index / 2] & 15) | (uint32_t)value << 4 : value & 15);
    else
        memcpy(at + index * 4, &value, 4);
}

static inline double get(uint8_t type, const uint8_t *at, size_t index)
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
static inline size_t place(bool nz, uint32_t rows, uint32_t columns, uint32_t c0, uint32_t row, uint32_t column)
{
    if (!nz)
        return (size_t)row * columns + column;
    return ((size_t)(column / c0) * up(rows, 16) + row) * c0 + column % c0;
}

static inline void store_matrix(uint8_t *to, uint8_t type, const int8_t *elements, uint32_t rows, uint32_t columns,
                                bool transposed, bool nz)
{
    uint32_t c0 = type == AKGEN_INT4 ? 64 : 32 / (uint32_t)akgen_dtype_size(type);
    for (uint32_t row = 0; row < rows; row++)
        for (uint32_t column = 0; column < columns; column++)
            put(type, to,
                transposed ? place(nz, columns, rows, c0, column, row) : place(nz, rows, columns, c0, row, column),
                elements[(size_t)row * columns + column]);
}

static inline void make_tiling(const struct product *p)
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

static inline uint8_t bias_type(const struct product *p)
{
    return p->type == AKGEN_INT8 || p->type == AKGEN_INT4 ? AKGEN_INT32 : p->half_bias ? AKGEN_FLOAT16 : AKGEN_FLOAT;
}

static inline void describe(struct npu_matmul *mm, const struct product *p)
{
    mm->types[NPU_MATMUL_A] = (struct npu_matmul_type){NPU_GM, p->nz_a, p->type, 1, 0, 0};
    mm->types[NPU_MATMUL_B] = (struct npu_matmul_type){NPU_GM, p->nz_b, p->type, 1, 0, 0};
    mm->types[NPU_MATMUL_C] = (struct npu_matmul_type){NPU_GM, p->nz_c, p->c_type, 0, 0, 0};
    mm->types[NPU_MATMUL_BIAS] = (struct npu_matmul_type){NPU_GM, NPU_FORMAT_ND, bias_type(p), 0, 0, 0};
    mm->order = 2;
}

/* The calls of one core; c: where its result goes. */
static inline void calculate(struct npu_tensor c)
{
    const struct product *p = it.p;
    struct npu_matmul mm = {0};
    struct npu_tensor a = gm_tensor(it.a), b = gm_tensor(it.b), bias = gm_tensor(it.bias);
    describe(&mm, p);
    npu_matmul_register(&mm);
    npu_matmul_init(&mm, (uint64_t)&it.tiling, sizeof it.tiling, NULL);
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

static inline size_t c_bytes(void)
{
    return (size_t)up((uint32_t)it.p->m, 32) * up((uint32_t)it.p->n, 32) * 8;
}

static inline void on_aic(uint64_t unused, ...)
{
    (void)unused;
    npu_pipe_create();
    calculate(gm_tensor(it.c));
    npu_pipe_destroy();
}

static inline void serving(uint64_t unused, ...)
{
    (void)unused;
    npu_pipe_create();
    npu_matmul_serve((uint64_t)it.workspace);
    npu_pipe_destroy();
}

static inline void asking(uint64_t unused, ...)
{
    (void)unused;
    npu_pipe_create();
    npu_matmul_open((uint64_t)it.workspace);
    calculate(gm_tensor(it.c + (size_t)npu_sub_block_idx() * c_bytes()));
    npu_matmul_close();
    npu_pipe_destroy();
}

/* Where block-wise output puts element (row, column): blocks one behind the other, or the matrix. */
static inline size_t place_in_c(const struct product *p, uint32_t row, uint32_t column)
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

static inline void compare(const struct product *p, const uint8_t *c)
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

static inline struct npu *machine(bool mixed, uint64_t seed)
{
    const struct npu_config config = {.soc = npu_soc_find("910B2"),
                                      .random_order = seed != 0,
                                      .seed = seed,
                                      .kernel_type = mixed ? NPU_TYPE_MIX_AIC_1_2 : NPU_TYPE_AIC_ONLY,
                                      .aic_kernel = mixed ? (void *)serving : (void *)on_aic,
                                      .reserved_workspace = 16 << 20};
    const struct gm_part parts[] = {{"a", it.a, MOST, NPU_GM_INPUT, true},
                                    {"b", it.b, MOST, NPU_GM_INPUT, true},
                                    {"bias", it.bias, MOST, NPU_GM_INPUT, true},
                                    {"c", it.c, MOST, NPU_GM_OUTPUT, true},
                                    {"workspace", it.workspace, WORKSPACE, NPU_GM_WORKSPACE, false}};
    return machine_make(&config, parts, 5);
}

static inline void fill_memory(const struct product *p)
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

static inline void no_finding(struct npu *npu, const char *name, bool clean)
{
    machine_clean(npu, name);
    assert_true(clean);
}

static inline void run(const struct product *p, bool mixed, uint64_t seed)
{
    fill_memory(p);
    struct npu *npu = machine(mixed, seed);
    no_finding(npu, p->name, npu_launch(npu, mixed ? (void *)asking : NULL, no_arguments, 0, 1));
    compare(p, it.c);
    if (mixed)
        compare(p, it.c + c_bytes());
    npu_destroy(npu);
}

static inline void on_both(const struct product *p)
{
    run(p, false, 0);
    run(p, true, 0);
    run(p, true, 3);
}

static inline void set_both(struct npu_matmul *mm)
{
    struct npu_tensor a = gm_tensor(it.a), b = gm_tensor(it.b);
    npu_matmul_set_source(mm, NPU_MATMUL_A, &a, 0, 0);
    npu_matmul_set_source(mm, NPU_MATMUL_B, &b, 0, 0);
}

static inline int make_memory(void **state)
{
    (void)state;
    uint8_t **all[] = {&it.a, &it.b, &it.c, &it.bias};
    for (int i = 0; i < 4; i++)
        *all[i] = aligned_alloc(512, MOST);
    it.workspace = aligned_alloc(512, WORKSPACE);
    return it.workspace ? 0 : -1;
}

#endif
