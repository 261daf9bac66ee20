/* Calls of the Matmul object besides IterateAll of one product: batches, partial sums, halves of C, the kernel's own
 * copies, quantisation; each compared with a plain loop. */
/* test: builds=both */
#include "unit/npu/adv/product.h"

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
    struct npu_tensor b = gm_tensor(it.b);
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
    struct npu_tensor a = gm_tensor(it.a), b = gm_tensor(it.b);
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
    struct npu_tensor a = gm_tensor(it.a), b = gm_tensor(it.b);
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
    struct npu_tensor a = gm_tensor(it.a), b = gm_tensor(it.b);
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
    struct npu_tensor a = gm_tensor(it.a), b = gm_tensor(it.b);
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
/* A's halves of K as an axis G that C has not: both products are added to what C holds. */
static void added_along_g(struct npu_matmul *mm, struct npu_tensor c)
{
    struct TCubeTiling *t = (struct TCubeTiling *)mm->tiling;
    struct npu_tensor a = gm_tensor(it.a), b = gm_tensor(it.b);
    struct npu_matmul_output out = {.gm = c, .sync = 1};
    struct npu_matmul_batch batch = {.a = 2, .b = 2, .loops = 1};
    memset((void *)c.addr, 0, (size_t)it.p->m * (size_t)it.p->n * 4);
    mm->types[NPU_MATMUL_A].layout = NPU_LAYOUT_BSNGD;
    mm->types[NPU_MATMUL_B].layout = mm->types[NPU_MATMUL_C].layout = NPU_LAYOUT_BNGS1S2;
    t->ALayoutInfoB = t->ALayoutInfoN = t->BLayoutInfoB = t->BLayoutInfoN = 1;
    t->CLayoutInfoB = t->CLayoutInfoN = t->CLayoutInfoG = 1;
    t->ALayoutInfoG = t->BLayoutInfoG = 2;
    t->ALayoutInfoS = t->CLayoutInfoS1 = it.p->m;
    t->ALayoutInfoD = t->BLayoutInfoS = it.p->k / 2;
    t->BLayoutInfoD = t->CLayoutInfoS2 = it.p->n;
    npu_matmul_set_shape(mm, NPU_MATMUL_SINGLE_SHAPE, it.p->m, it.p->n, it.p->k / 2, 0, 0);
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

/* C without its blocks below the diagonal of blocks. */
static void half_of_c(struct npu_matmul *mm, struct npu_tensor c)
{
    struct npu_matmul_output out = {.gm = c, .sync = 1};
    mm->flags |= NPU_MATMUL_UPPER;
    set_both(mm);
    npu_matmul_iterate_all(mm, &out);
}
static void check_half_of_c(void)
{
    for (int row = 0; row < it.p->m; row++)
        for (int column = 0; column < it.p->n; column++) {
            double sum = 0;
            for (int k = 0; k < it.p->k; k++)
                sum += a_of(row, k) * b_of(k, column);
            uint32_t untouched = 0x55555555;
            const uint8_t *at = it.c + (size_t)(row * it.p->n + column) * 4;
            if (row / it.tiling.baseM > column / it.tiling.baseN)
                assert_memory_equal(at, &untouched, 4);
            else
                assert_true(get(AKGEN_FLOAT, at, 0) == sum);
        }
}

/* An Iterate for each baseK; the parts of one block lie one behind the other. */
static void parts_of_k(struct npu_matmul *mm, struct npu_tensor c)
{
    struct npu_matmul_output out = {.gm = c, .sync = 1, .sequential = 1};
    mm->flags |= NPU_MATMUL_PARTIAL;
    set_both(mm);
    int blocks = 0;
    for (; npu_matmul_iterate(mm, 1, 0, NULL); blocks++) {
        npu_matmul_get_c(mm, &out);
        out.gm.addr += 32 * 32 * 4;
    }
    assert_int_equal(blocks, 2 * 2 * 2);
}
static void check_parts_of_k(void)
{
    for (int block = 0; block < 4; block++) /* along M first */
        for (int part = 0; part < 2; part++)
            for (int row = 0; row < 32; row++)
                for (int column = 0; column < (block < 2 ? 32 : it.p->n - 32); column++) {
                    double sum = 0;
                    for (int k = part * 32; k < part * 32 + 32; k++)
                        sum += a_of(block % 2 * 32 + row, k) * b_of(k, block / 2 * 32 + column);
                    int width = block < 2 ? 32 : it.p->n - 32;
                    assert_true(c_at((size_t)((block * 2 + part) * 32 * 32 + row * width + column)) == sum);
                }
}

static void test_other_calls(void **state)
{
    (void)state;
    static const struct product plain = {"other calls", AKGEN_FLOAT16, AKGEN_FLOAT, 64, 48, 64, .trans_a = false};
    static const struct {
        void (*calls)(struct npu_matmul *mm, struct npu_tensor c);
        void (*check)(void);
    } all[] = {{scalar_a, check_scalar_a},     {vector_a, check_vector_a},    {partial_sums, check_partial_sums},
               {one_b_for_two, check_product}, {heads, check_heads},          {added_along_g, check_product},
               {half_of_c, check_half_of_c},   {parts_of_k, check_parts_of_k}};
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

/* Two batches of one matrix each, left in the workspace. */
enum { CACHE = 20 << 20 };
static uint64_t taken[2];
static void two_batches(struct npu_matmul *mm, struct npu_tensor c)
{
    struct npu_matmul_output out = {.sync = 0};
    struct npu_matmul_batch batch = {.a = 1, .b = 1, .loops = 2};
    struct TCubeTiling *t = (struct TCubeTiling *)mm->tiling;
    (void)c;
    mm->types[NPU_MATMUL_A].layout = NPU_LAYOUT_BSNGD;
    mm->types[NPU_MATMUL_B].layout = mm->types[NPU_MATMUL_C].layout = NPU_LAYOUT_BNGS1S2;
    t->ALayoutInfoB = t->ALayoutInfoG = t->BLayoutInfoB = t->BLayoutInfoG = t->CLayoutInfoB = t->CLayoutInfoG = 1;
    t->ALayoutInfoN = t->BLayoutInfoN = t->CLayoutInfoN = 2;
    t->ALayoutInfoS = t->CLayoutInfoS1 = it.p->m;
    t->ALayoutInfoD = t->BLayoutInfoS = it.p->k / 2;
    t->BLayoutInfoD = t->CLayoutInfoS2 = it.p->n;
    npu_matmul_set_workspace(mm, (uint64_t)it.workspace + CACHE + (uint64_t)npu_sub_block_idx() * (1 << 20));
    npu_matmul_set_shape(mm, NPU_MATMUL_SINGLE_SHAPE, it.p->m, it.p->n, it.p->k / 2, 0, 0);
    set_both(mm);
    npu_matmul_iterate_batch(mm, &batch, &out);
    for (int i = 0; i < 2; i++)
        taken[i] = npu_matmul_next_batch(mm, 1, 1) - (uint64_t)npu_sub_block_idx() * (1 << 20);
}

static void test_many_batches(void **state)
{
    (void)state;
    static const struct product p = {"IterateNBatch", AKGEN_FLOAT16, AKGEN_FLOAT, 64, 48, 64, .trans_a = false};
    for (uint64_t seed = 0; seed < 2; seed++) {
        fill_memory(&p);
        it.calls = two_batches;
        struct npu *npu = machine(true, seed);
        no_finding(npu, p.name, npu_launch(npu, (void *)asking, no_arguments, 0, 1));
        assert_int_equal(taken[0], (uint64_t)it.workspace + CACHE);
        assert_int_equal(taken[1], taken[0] + (uint64_t)(p.m * p.n * 4));
        memcpy(it.c, (const void *)taken[0], (size_t)(2 * p.m * p.n * 4));
        check_heads();
        npu_destroy(npu);
    }
    it.calls = NULL;
}

/* The kernel copies all three matrices itself: row and column say which block it is. */
static void copy_in(const struct npu_tensor *l1, uint64_t gm, int row, int column, int rows, int columns,
                    uint64_t width, uint64_t data)
{
    struct npu_insn insn = {.op = NPU_OP_ND2NZ, .dst_type = AKGEN_FLOAT16, .src_type = AKGEN_FLOAT16, .dst = *l1};
    uint64_t first = ((uint64_t)row * 32 * width + (uint64_t)column * 32) * 2;
    insn.src0 = (struct npu_tensor){.addr = gm + first, .position = NPU_GM};
    insn.nd2nz = (struct npu_nd2nz){.nd_num = 1,
                                    .n = (uint32_t)rows,
                                    .d = (uint32_t)columns,
                                    .src_d = (uint32_t)width,
                                    .dst_c0 = up((uint32_t)rows, 16),
                                    .dst_n = 1};
    assert_int_equal(data, 99);
    npu_issue_cube(&insn);
}
static void copy_out(uint64_t gm, const struct npu_tensor *l0c, const struct npu_matmul_copied *block, uint64_t width,
                     uint64_t data)
{
    struct npu_insn insn = {.op = NPU_OP_FIXPIPE, .dst_type = AKGEN_FLOAT, .src_type = AKGEN_FLOAT, .src0 = *l0c};
    insn.dst = (struct npu_tensor){.addr = gm, .position = NPU_GM};
    insn.fixpipe = (struct npu_fixpipe){.m = block->burst_len / 2,
                                        .n = block->n,
                                        .src_stride = (uint16_t)up(block->burst_len / 2, 16),
                                        .dst_stride = block->stride,
                                        .nz2nd = 1,
                                        .nd_num = 1};
    assert_int_equal(data, 99);
    assert_int_equal(block->stride, width);
    assert_int_equal(gm - (uint64_t)it.c, ((uint64_t)block->row * 32 * width + (uint64_t)block->column * 32) * 4);
    npu_issue_cube(&insn);
}
static void own_copies(struct npu_matmul *mm, struct npu_tensor c)
{
    const struct npu_matmul_callbacks callbacks = {copy_out, {copy_in, copy_in}};
    struct npu_matmul_output out = {.gm = c, .sync = 1};
    mm->flags |= NPU_MATMUL_OWN_A | NPU_MATMUL_OWN_B | NPU_MATMUL_OWN_C;
    npu_matmul_call_back(mm->id, &callbacks);
    npu_matmul_set_user(mm, (uint64_t)it.p->n, 99);
    set_both(mm);
    npu_matmul_iterate_all(mm, &out);
}

static void test_callbacks(void **state)
{
    (void)state;
    /* All three matrices are of one width; blocks of K that the tiling would load together come one by one. */
    static const struct product p = {"callbacks", AKGEN_FLOAT16, AKGEN_FLOAT, 40, 80, 80, .step_k = 2};
    fill_memory(&p);
    it.calls = own_copies;
    struct npu *npu = machine(false, 0);
    no_finding(npu, p.name, npu_launch(npu, NULL, no_arguments, 0, 1));
    check_product();
    npu_destroy(npu);
    it.calls = NULL;
}

/* L0A and L0B are halved only where both are doubled: a block of A that fills L0A goes with dbL0A 2. */
static void test_whole_l0(void **state)
{
    (void)state;
    static const struct product p = {"whole L0A", AKGEN_FLOAT16, AKGEN_FLOAT,  256,          32,
                                     256,         .base_m = 256, .base_n = 32, .base_k = 128};
    fill_memory(&p);
    it.tiling.dbL0B = 1;
    struct npu *npu = machine(false, 0);
    no_finding(npu, p.name, npu_launch(npu, NULL, no_arguments, 0, 1));
    check_product();
    npu_destroy(npu);
}

/* int8 to half by one factor and by factors of columns. */
static void quantised(struct npu_matmul *mm, struct npu_tensor c)
{
    struct npu_tensor a = gm_tensor(it.a), b = gm_tensor(it.b), factors = gm_tensor(it.bias);
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

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_other_calls), cmocka_unit_test(test_many_batches),
                                       cmocka_unit_test(test_callbacks), cmocka_unit_test(test_whole_l0),
                                       cmocka_unit_test(test_quantisation)};
    return cmocka_run_group_tests(tests, make_memory, NULL);
}
