/* High-level APIs on the whole machine: what they compute piece by piece, that they keep to their temporary space, and
 * that they order nothing but their own steps. */
#include "abi/npu_adv.h"
#include "npu/npu.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

enum { COUNT = 1024 };

static struct npu_adv call; /* op, type, count and tmp.bytes are the test's */

static void copy(struct npu_tensor dst, struct npu_tensor src, uint32_t count)
{
    struct npu_insn insn = {.op = NPU_OP_DATA_COPY,
                            .form = NPU_FORM_COUNT,
                            .dst_type = AKGEN_FLOAT,
                            .src_type = AKGEN_FLOAT,
                            .count = count,
                            .dst = dst,
                            .src0 = src};
    npu_issue(&insn);
}

static void kernel(uint64_t in, uint64_t out)
{
    npu_pipe_create();
    struct npu_adv mine = call;
    npu_local_tensor(NPU_VECIN, 0, COUNT * 4, &mine.src[0]);
    npu_local_tensor(NPU_VECOUT, 65536, COUNT * 4, &mine.dst[0]);
    npu_local_tensor(NPU_VECCALC, 131072, call.tmp.bytes, &mine.tmp);
    copy(mine.src[0], (struct npu_tensor){.addr = in, .position = NPU_GM}, COUNT);
    npu_pipe_barrier(NPU_PIPE_ALL);
    npu_advanced(&mine);
    npu_pipe_barrier(NPU_PIPE_ALL);
    copy((struct npu_tensor){.addr = out, .position = NPU_GM}, mine.dst[0], call.count);
    npu_pipe_destroy();
}

/* Runs the call on x; the first finding's name, "" if there is none. */
static const char *run(uint64_t seed, const float *x, float *y)
{
    static char fault[64];
    struct npu_config config = {
        .soc = npu_soc_find("910B2"), .sync = NPU_SYNC_MANUAL, .random_order = seed != 0, .seed = seed};
    struct npu *npu = npu_create(&config);
    npu_gm_add(npu, "x", (void *)x, COUNT * 4, NPU_GM_INPUT, true);
    npu_gm_add(npu, "y", y, COUNT * 4, NPU_GM_OUTPUT, true);
    uint64_t args[] = {(uint64_t)x, (uint64_t)y};
    npu_launch(npu, kernel, args, 2, 1);
    size_t n;
    const struct npu_finding *findings = npu_findings(npu, &n);
    strcpy(fault, n ? findings[0].fault : "");
    npu_destroy(npu);
    return fault;
}

static void sigmoid_in_pieces(void **state)
{
    (void)state;
    static _Alignas(512) float x[COUNT], y[COUNT];
    for (int i = 0; i < COUNT; i++)
        x[i] = (float)(i - COUNT / 2) / 32;
    static const uint32_t space[] = {32, 96, 256, 1000, 8192};
    for (size_t s = 0; s < sizeof space / sizeof *space; s++)
        for (uint32_t count = COUNT - 8; count <= COUNT; count += 8) {
            call = (struct npu_adv){.op = NPU_ADV_SIGMOID, .type = AKGEN_FLOAT, .count = count};
            call.tmp.bytes = space[s];
            for (uint64_t seed = 0; seed < 3; seed++) {
                assert_string_equal(run(seed, x, y), "");
                for (uint32_t i = 0; i < count; i++)
                    assert_float_equal(y[i], 1 / (1 + exp(-(double)x[i])), 2e-7);
            }
        }
}

static void too_little_space(void **state)
{
    (void)state;
    static _Alignas(512) float x[COUNT], y[COUNT];
    call = (struct npu_adv){.op = NPU_ADV_SIGMOID, .type = AKGEN_FLOAT, .count = COUNT};
    call.tmp.bytes = 31;
    assert_string_equal(run(0, x, y), "adv_tmp_too_small");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sigmoid_in_pieces),
        cmocka_unit_test(too_little_space),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
