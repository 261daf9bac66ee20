/* Reciprocal and Rsqrt are estimates: the results that documents print, the size of the error in both types, and what it
 * depends on. That every half and random floats give what the integers of elements.h say is forms_test's and
 * vec_test's business. */
/* test: with=core builds=both */
#include "elements.h"
#include "unit/npu/core.h"

enum { ROOM = 0x8000, DST = 0, SRC0 = ROOM };

/* dst = op(src) of n elements, written and read as numbers. */
static void compute(uint16_t op, uint8_t type, const long double *src, long double *dst, uint32_t n)
{
    struct rng rng;
    rng_seed(&rng, 1);
    struct npu_core *core = fake_core(&rng);
    size_t size = akgen_dtype_size((enum akgen_dtype)type);
    struct npu_insn insn = {.op = op,
                            .form = NPU_FORM_COUNT,
                            .dst_type = type,
                            .src_type = type,
                            .dst = fake_tensor(DST),
                            .src0 = fake_tensor(SRC0),
                            .count = n};
    for (uint32_t i = 0; i < n; i++)
        element_store(fake_ub, (SRC0 + i * size) * 8, type, src[i]);
    assert_null(fake_issue(core, &insn, npu_check_unary, npu_exec_unary, NULL, NULL));
    for (uint32_t i = 0; i < n; i++)
        dst[i] = element_load(fake_ub, (DST + i * size) * 8, type);
}

/* asc-devkit's Reciprocal.md and Rsqrt.md, and TIK's vec_rec and vec_rsqrt, which are the same instructions: five results in
 * half each and five of vec_rec in float, as they print. */
static void documents_print_these(void **state)
{
    (void)state;
    static const struct {
        uint16_t op;
        uint8_t type;
        long double src[5], printed[5];
        long double half_unit; /* of the last printed digit */
    } rows[] = {{NPU_OP_RECIPROCAL,
                 AKGEN_FLOAT16,
                 {-7.152L, -7.24L, 1.771L, -1.339L, 4.473L},
                 {-0.1396L, -0.1382L, 0.5645L, -0.748L, 0.2231L},
                 5.1e-5L},
                {NPU_OP_RECIPROCAL,
                 AKGEN_FLOAT,
                 {1.2017815L, -8.758528L, -3.9551935L, -1.3599057L, -2.319316L},
                 {0.83203125L, -0.11401367L, -0.2529297L, -0.734375L, -0.43164062L},
                 5.1e-8L},
                {NPU_OP_RSQRT,
                 AKGEN_FLOAT16,
                 {0.8335L, 2.2L, 2.672L, 2.312L, 5.36L},
                 {1.094L, 0.676L, 0.6113L, 0.6562L, 0.4316L},
                 2.6e-4L},
                {NPU_OP_RSQRT, AKGEN_FLOAT16, {1, 2, 3, 4, 128}, {0.998L, 0.705L, 0.576L, 0.499L, 0.08813L}, 1.8e-4L}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        long double dst[5];
        compute(rows[i].op, rows[i].type, rows[i].src, dst, 5);
        for (int k = 0; k < 5; k++)
            if (fabsl(dst[k] - rows[i].printed[k]) > rows[i].half_unit)
                fail_msg("row %zu: of %Lg came %.9Lg, the document prints %.9Lg", i, rows[i].src[k], dst[k],
                         rows[i].printed[k]);
    }
}

static long double exact(uint16_t op, long double a)
{
    return op == NPU_OP_RSQRT ? 1 / sqrtl(a) : 1 / a;
}

/* Nine bits: measurements on an Ascend 910B3 report about 3e-3 for both instructions, in half and in float. */
static void error_is_that_of_nine_bits(void **state)
{
    (void)state;
    enum { N = ROOM / 4 };
    static long double src[N], dst[N], other[N];
    for (int t = 0; t < 2; t++)
        for (int o = 0; o < 2; o++) {
            uint16_t op = o ? NPU_OP_RSQRT : NPU_OP_RECIPROCAL;
            uint8_t type = t ? AKGEN_FLOAT : AKGEN_FLOAT16;
            long double largest = 0, sum = 0;
            for (int i = 0; i < N; i++)
                src[i] = element_rounded(1 + 3.0L * i / N, type);
            compute(op, type, src, dst, N);
            for (int i = 0; i < N; i++) {
                long double error = fabsl(dst[i] / exact(op, src[i]) - 1);
                largest = error > largest ? error : largest;
                sum += error / N;
            }
            assert_true(largest > 2.5e-3L && largest < 3.5e-3L);
            assert_true(sum > 8e-4L && sum < 1.2e-3L);
            /* A scale of 4 changes nothing but the exponent, and the place in the tensor nothing at all. */
            for (int i = 0; i < N; i++)
                src[i] = 4 * element_rounded(1 + 3.0L * (N - 1 - i) / N, type);
            compute(op, type, src, other, N);
            for (int i = 0; i < N; i++)
                assert_true(other[i] * (o ? 2 : 4) == dst[N - 1 - i]);
        }
}

/* 附录/Memory矢量计算接口边界值汇总, tables 5 and 7. */
static void boundary_values(void **state)
{
    (void)state;
    const long double inf = INFINITY, most = 0x1.fffffep127L;
    const long double src[] = {most, -most, 0, -0.0L, inf, -inf};
    const long double reciprocal[] = {0x1p-128L, -0x1p-128L, inf, -inf, 0, -0.0L};
    long double dst[6];
    compute(NPU_OP_RECIPROCAL, AKGEN_FLOAT, src, dst, 6);
    for (int i = 0; i < 6; i++)
        assert_true(dst[i] == reciprocal[i] && !signbit(dst[i]) == !signbit(reciprocal[i]));
    compute(NPU_OP_RSQRT, AKGEN_FLOAT, src, dst, 6);
    assert_true(dst[0] == 0x1p-64L && isnan(dst[1]) && dst[2] == inf && dst[3] == -inf && dst[4] == 0 && isnan(dst[5]));
    const long double small[] = {0x1p-149L, 0x1p-127L, 0x1.8p-128L, NAN};
    compute(NPU_OP_RECIPROCAL, AKGEN_FLOAT, small, dst, 4);
    assert_true(dst[0] == inf && dst[1] == 0x1.ffp126L && dst[2] < inf && isnan(dst[3]));
    compute(NPU_OP_RSQRT, AKGEN_FLOAT, small, dst, 4);
    assert_true(fabsl(dst[0] / 0x1.6a09e6p74L - 1) < 3.5e-3L && isnan(dst[3]));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(documents_print_these),
                                       cmocka_unit_test(error_is_that_of_nine_bits), cmocka_unit_test(boundary_values)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
