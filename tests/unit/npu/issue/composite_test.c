/* A reduction that ends with a scalar store orders its result before MTE3; one that ends with a vector instruction does
 * not. Reading a result register waits for V. On the whole machine, in program order and in random ones. */
#include "unit/npu/launch.h"

enum { MOST = 4096 };

static int reduction, with_index;
static uint32_t elements;
static uint64_t (*result_register)(void); /* NULL: none is read */

static void kernel(uint64_t in, uint64_t out)
{
    struct npu_tensor src, dst, tmp;
    npu_local_tensor(NPU_VECIN, 0, MOST * 4, &src);
    npu_local_tensor(NPU_VECOUT, 65536, 32, &dst);
    npu_local_tensor(NPU_VECCALC, 131072, 8192, &tmp);
    struct npu_insn load = {.op = NPU_OP_DATA_COPY,
                            .form = NPU_FORM_COUNT,
                            .dst_type = AKGEN_FLOAT,
                            .src_type = AKGEN_FLOAT,
                            .count = MOST,
                            .dst = src,
                            .src0 = {.addr = in, .position = NPU_GM}};
    npu_issue(&load);
    npu_pipe_barrier(NPU_PIPE_ALL);
    struct npu_insn reduce = {.op = (uint16_t)reduction,
                              .form = NPU_FORM_COUNT,
                              .flags = with_index ? NPU_INSN_CAL_INDEX : 0,
                              .dst_type = AKGEN_FLOAT,
                              .src_type = AKGEN_FLOAT,
                              .count = elements,
                              .dst = dst,
                              .src0 = src,
                              .aux = tmp};
    npu_issue(&reduce);
    struct npu_insn store = {.op = NPU_OP_DATA_COPY_PAD,
                             .form = NPU_FORM_MASK_REG,
                             .dst_type = AKGEN_FLOAT,
                             .src_type = AKGEN_FLOAT,
                             .copy = {.block_count = 1, .block_len = 4},
                             .dst = {.addr = out, .position = NPU_GM},
                             .src0 = dst};
    npu_issue(&store);
}

/* MTE3 reads a number, V waits for it and computes something; then the scalar unit overwrites the number. */
static void register_kernel(uint64_t in, uint64_t out)
{
    struct npu_tensor all, number, other;
    npu_local_tensor(NPU_VECIN, 0, MOST * 4, &all);
    npu_local_tensor(NPU_VECIN, 32, 32, &number);
    npu_local_tensor(NPU_VECCALC, 131072, 256, &other);
    struct npu_insn load = {.op = NPU_OP_DATA_COPY,
                            .form = NPU_FORM_COUNT,
                            .dst_type = AKGEN_FLOAT,
                            .src_type = AKGEN_FLOAT,
                            .count = MOST,
                            .dst = all,
                            .src0 = {.addr = in, .position = NPU_GM}};
    npu_issue(&load);
    npu_pipe_barrier(NPU_PIPE_ALL);
    struct npu_insn store = {.op = NPU_OP_DATA_COPY_PAD,
                             .form = NPU_FORM_MASK_REG,
                             .dst_type = AKGEN_FLOAT,
                             .src_type = AKGEN_FLOAT,
                             .copy = {.block_count = 1, .block_len = 4},
                             .dst = {.addr = out, .position = NPU_GM},
                             .src0 = number};
    npu_issue(&store);
    npu_set_flag(NPU_PIPE_MTE3, NPU_PIPE_V, 0);
    npu_wait_flag(NPU_PIPE_MTE3, NPU_PIPE_V, 0);
    struct npu_insn compute = {.op = NPU_OP_ABS,
                               .form = NPU_FORM_COUNT,
                               .dst_type = AKGEN_FLOAT,
                               .src_type = AKGEN_FLOAT,
                               .count = 64,
                               .dst = other,
                               .src0 = all};
    npu_issue(&compute);
    if (result_register)
        result_register();
    npu_scalar_store(&number, 0, 4, 0);
}

/* Runs a kernel. The hazard found, "" if there is none; the stored value in *result. */
static const char *launch_with(void (*entry)(uint64_t, uint64_t), uint64_t seed, float *result)
{
    static struct outcome outcome;
    static _Alignas(512) float x[MOST], y[128];
    const struct npu_config config = manual_sync(seed);
    const struct gm_part parts[] = {{"x", x, sizeof x, NPU_GM_INPUT, true}, {"y", y, sizeof y, NPU_GM_INOUT, true}};
    for (int i = 0; i < MOST; i++)
        x[i] = (float)(i % 100);
    outcome = launch_once(&config, (void *)entry, parts, 2);
    *result = y[0];
    return outcome.first;
}

static const char *run(int op, int index, uint32_t count, uint64_t seed, float *result)
{
    reduction = op, with_index = index, elements = count;
    return launch_with(kernel, seed, result);
}

static void scalar_stores_are_ordered(void **state)
{
    (void)state;
    float result;
    for (uint64_t seed = 0; seed < 6; seed++) {
        assert_string_equal(run(NPU_OP_REDUCE_SUM, 0, MOST, seed, &result), "");
        /* 40 times 0..99 and 96 more numbers 0..95 */
        assert_float_equal(result, 40 * 4950 + 4560, 0);
        assert_string_equal(run(NPU_OP_REDUCE_MAX, 0, 64, seed, &result), "");
        assert_float_equal(result, 63, 0);
        assert_string_equal(run(NPU_OP_REDUCE_MAX, 1, 65, seed, &result), "");
        assert_float_equal(result, 64, 0);
    }
}

static void a_vector_store_is_not(void **state)
{
    (void)state;
    float result;
    for (uint64_t seed = 0; seed < 6; seed++)
        assert_string_equal(run(NPU_OP_REDUCE_MAX, 1, 64, seed, &result), "hazard_raw");
}

static uint64_t max_and_min(void)
{
    uint64_t value, index;
    npu_get_reduce_max_min(AKGEN_FLOAT, &value, &index);
    return value;
}

static void a_result_register_waits_for_v(void **state)
{
    (void)state;
    static uint64_t (*const registers[])(void) = {npu_get_acc_val, npu_get_rsvd_count, npu_get_merge_counts,
                                                  max_and_min};
    float result;
    for (uint64_t seed = 0; seed < 6; seed++) {
        result_register = NULL;
        assert_string_equal(launch_with(register_kernel, seed, &result), "hazard_war");
        for (size_t i = 0; i < sizeof registers / sizeof *registers; i++) {
            result_register = registers[i];
            assert_string_equal(launch_with(register_kernel, seed, &result), "");
            assert_float_equal(result, 8, 0); /* the ninth number of 0, 1, 2, ... */
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(scalar_stores_are_ordered),
                                       cmocka_unit_test(a_vector_store_is_not),
                                       cmocka_unit_test(a_result_register_waits_for_v)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
