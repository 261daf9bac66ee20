/* High-level APIs on the whole machine: what they compute piece by piece, that they keep to their temporary space, and
 * that they order nothing but their own steps. */
/* test: builds=both */
#include "unit/npu/launch.h"

#include "abi/npu_adv.h"

#include <math.h>

enum { MOST = 1024 };

static struct npu_adv call; /* op, type, count and tmp.bytes are the test's */

static void kernel(uint64_t in, uint64_t out)
{
    npu_pipe_create();
    struct npu_adv mine = call;
    npu_local_tensor(NPU_VECIN, 0, MOST * 4, &mine.src[0]);
    npu_local_tensor(NPU_VECOUT, 65536, MOST * 4, &mine.dst[0]);
    npu_local_tensor(NPU_VECCALC, 131072, call.tmp.bytes, &mine.tmp);
    copy(mine.src[0], gm_tensor((const void *)in), MOST);
    npu_pipe_barrier(NPU_PIPE_ALL);
    npu_advanced(&mine);
    npu_pipe_barrier(NPU_PIPE_ALL);
    copy(gm_tensor((const void *)out), mine.dst[0], call.count);
    npu_pipe_destroy();
}

/* Runs the call on x; the first finding's name, "" if there is none. */
static const char *run(uint64_t seed, const float *x, float *y)
{
    static struct outcome outcome;
    const struct npu_config config = manual_sync(seed);
    const struct gm_part parts[] = {{"x", (void *)x, MOST * 4, NPU_GM_INPUT, true},
                                    {"y", y, MOST * 4, NPU_GM_OUTPUT, true}};
    outcome = launch_once(&config, kernel, parts, 2);
    return outcome.first;
}

static void sigmoid_in_pieces(void **state)
{
    (void)state;
    static _Alignas(512) float x[MOST], y[MOST];
    for (int i = 0; i < MOST; i++)
        x[i] = (float)(i - MOST / 2) / 32;
    static const uint32_t space[] = {32, 96, 256, 1000, 8192};
    for (size_t s = 0; s < sizeof space / sizeof *space; s++)
        for (uint32_t count = MOST - 8; count <= MOST; count += 8) {
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
    static _Alignas(512) float x[MOST], y[MOST];
    call = (struct npu_adv){.op = NPU_ADV_SIGMOID, .type = AKGEN_FLOAT, .count = MOST};
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
