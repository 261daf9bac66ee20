/* A reduction that ends with a scalar store orders its result before MTE3; one that ends with a vector instruction does
 * not. On the whole machine, in program order and in random ones. */
#include "npu/npu.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

enum { COUNT = 4096 };

static int reduction, with_index;
static uint32_t elements;

static void kernel(uint64_t in, uint64_t out)
{
    struct npu_tensor src, dst, tmp;
    npu_local_tensor(NPU_VECIN, 0, COUNT * 4, &src);
    npu_local_tensor(NPU_VECOUT, 65536, 32, &dst);
    npu_local_tensor(NPU_VECCALC, 131072, 8192, &tmp);
    struct npu_insn load = {.op = NPU_OP_DATA_COPY,
                            .form = NPU_FORM_COUNT,
                            .dst_type = AKGEN_FLOAT,
                            .src_type = AKGEN_FLOAT,
                            .count = COUNT,
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

/* The hazard found, "" if there is none; the stored value in *result. */
static const char *run(int op, int index, uint32_t count, uint64_t seed, float *result)
{
    static char fault[64];
    static _Alignas(512) float x[COUNT], y[128];
    struct npu_config config = {
        .soc = npu_soc_find("910B2"), .sync = NPU_SYNC_MANUAL, .random_order = seed != 0, .seed = seed};
    struct npu *npu = npu_create(&config);
    for (int i = 0; i < COUNT; i++)
        x[i] = (float)(i % 100);
    npu_gm_add(npu, "x", x, sizeof x, NPU_GM_INPUT, true);
    npu_gm_add(npu, "y", y, sizeof y, NPU_GM_INOUT, true);
    uint64_t args[] = {(uint64_t)x, (uint64_t)y};
    reduction = op, with_index = index, elements = count;
    npu_launch(npu, kernel, args, 2, 1);
    size_t n;
    const struct npu_finding *findings = npu_findings(npu, &n);
    strcpy(fault, n ? findings[0].fault : "");
    *result = y[0];
    npu_destroy(npu);
    return fault;
}

static void scalar_stores_are_ordered(void **state)
{
    (void)state;
    float result;
    for (uint64_t seed = 0; seed < 6; seed++) {
        assert_string_equal(run(NPU_OP_REDUCE_SUM, 0, COUNT, seed, &result), "");
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

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(scalar_stores_are_ordered),
                                       cmocka_unit_test(a_vector_store_is_not)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
