/* The Matmul object against the plain loop over m, n and k: data types, transpositions, formats and shapes that fill no
 * block, on an AIC by itself and through the queue of a block with two AIVs; and what it says of wrong calls. */
/* test: builds=both */
#include "unit/npu/adv/product.h"

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

static void test_int4(void **state)
{
    (void)state;
    static const struct product products[] = {
        {"int4", AKGEN_INT4, AKGEN_INT32, 50, 46, 136, .base_n = 64, .base_k = 64, .biased = true},
        {"int4, one column of squares", AKGEN_INT4, AKGEN_INT32, 17, 16, 64, .base_n = 16, .base_k = 64},
        {"int4, B transposed", AKGEN_INT4, AKGEN_INT32, 50, 45, 136, .base_k = 64, .trans_b = true},
        {"int4, several blocks", AKGEN_INT4, AKGEN_INT32, 70, 200, 256, .base_n = 64, .base_k = 128, .step_k = 2},
        {"int4 in fractals", AKGEN_INT4, AKGEN_INT32, 64, 64, 128, .base_k = 64, .nz_a = true, .trans_b = true}};
    for (size_t i = 0; i < sizeof products / sizeof *products; i++)
        on_both(&products[i]);
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

/* What the machine says of wrong calls. */
static void no_b(struct npu_matmul *mm, struct npu_tensor c)
{
    struct npu_tensor a = gm_tensor(it.a);
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
    struct npu_tensor a = gm_tensor(it.a);
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
    if (!machine_finding(npu, fault))
        fail_msg("no %s", fault);
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
    const struct gm_part part = {"workspace", it.workspace, WORKSPACE, NPU_GM_WORKSPACE, false};
    struct npu *npu = machine_make(&config, &part, 1);
    expect(npu, "matmul_no_cube", false, npu_launch(npu, (void *)open_only, no_arguments, 0, 1));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_types_and_transpositions),
                                       cmocka_unit_test(test_int4),
                                       cmocka_unit_test(test_shapes),
                                       cmocka_unit_test(test_formats),
                                       cmocka_unit_test(test_ways_of_calling),
                                       cmocka_unit_test(test_wrong_calls),
                                       cmocka_unit_test(test_wrong_tilings),
                                       cmocka_unit_test(test_needs_its_aic)};
    return cmocka_run_group_tests(tests, make_memory, NULL);
}
