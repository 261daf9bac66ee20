/* GroupNorm on the whole machine with the host's tiling, against loops in double. */
/* test: leaves=covered builds=both */
#include "unit/npu/coverage.h"
#include "unit/npu/adv/case.h"
#include "abi/tiling_abi.h"

#include <math.h>

enum { MOST = 65536 };
static _Alignas(512) uint8_t x_in[MOST], gamma_in[MOST], beta_in[MOST], y_out[MOST], mean_out[MOST], variance_out[MOST];

static double load(const uint8_t *at, uint8_t type, uint32_t i)
{
    return type == AKGEN_FLOAT ? ((const float *)at)[i] : (double)((const _Float16 *)at)[i];
}

static void store(uint8_t *at, uint8_t type, uint32_t i, double value)
{
    if (type == AKGEN_FLOAT)
        ((float *)at)[i] = (float)value;
    else
        ((_Float16 *)at)[i] = (_Float16)value;
}

static void near(double got, double want, uint8_t type, double scale)
{
    double bound = type == AKGEN_FLOAT ? 0x1p-18 * (fabs(want) + scale) : 0x1p-10 * fabs(want) + 0x1p-12 * scale;
    assert_float_equal(got, want, bound);
}

struct group_case {
    uint8_t type;
    uint32_t n, c, hw, groups, channel; /* channel: hw with its padding */
};

/* Channels with zeros behind the data. */
static void fill(const struct group_case *g)
{
    for (uint32_t i = 0; i < g->n * g->c * g->channel; i++)
        store(x_in, g->type, i, i % g->channel < g->hw ? ((double)((i * 37 + 3) % 113) / 113 - 0.4) * 4 : 0);
    for (uint32_t i = 0; i < g->c; i++) {
        store(gamma_in, g->type, i, 0.5 + (double)(i % 7) / 4);
        store(beta_in, g->type, i, (double)(i % 5) / 2 - 1);
    }
}

static void check_group(const struct group_case *g, uint32_t group, double epsilon)
{
    uint32_t d = g->c / g->groups, first = group * d;
    double mean = 0, variance = 0;
    for (uint32_t i = 0; i < d * g->hw; i++)
        mean += load(x_in, g->type, (first + i / g->hw) * g->channel + i % g->hw) / (d * g->hw);
    for (uint32_t i = 0; i < d * g->hw; i++)
        variance += pow(load(x_in, g->type, (first + i / g->hw) * g->channel + i % g->hw) - mean, 2) / (d * g->hw);
    near(load(mean_out, g->type, group), mean, g->type, 4);
    near(load(variance_out, g->type, group), variance, g->type, 16);
    for (uint32_t i = 0; i < d * g->hw; i++) {
        uint32_t channel = first + i / g->hw, at = channel * g->channel + i % g->hw;
        double want = (load(x_in, g->type, at) - mean) / sqrt(variance + epsilon);
        want = want * load(gamma_in, g->type, channel % g->c) + load(beta_in, g->type, channel % g->c);
        near(load(y_out, g->type, at), want, g->type, 16);
    }
}

static void check(struct group_case g, uint32_t h, bool reuse, uint32_t percent)
{
    static struct akgen_GroupNormTiling t;
    double epsilon = 0.0009765625; /* exact in half */
    uint32_t size = g.type == AKGEN_FLOAT ? 4 : 2, block = 32 / size, max, min;
    struct akgen_shape shape = {.rank = 4, .dims = {g.n, g.c, h, g.hw / h}};
    g.channel = (g.hw + block - 1) / block * block;
    akgen_tmp_group_norm(&shape, size, reuse, g.groups, &max, &min);
    uint32_t space = min + (max - min) / 100 * percent, all = g.n * g.c * g.channel;
    t = (struct akgen_GroupNormTiling){0};
    akgen_group_norm_tiling(&shape, space, size, reuse, g.groups, &t);
    if (size == 2 && t.n == 0) /* the host wants room for gamma */
        return;
    fill(&g);
    uint64_t bits = 0;
    store((uint8_t *)&bits, g.type, 0, epsilon);
    adv_now =
        (struct adv_case){.call = {.op = NPU_ADV_GROUP_NORM,
                                   .type = g.type,
                                   .flags = reuse ? NPU_ADV_REUSE_SOURCE : 0,
                                   .scalar = {bits},
                                   .tiling = &t},
                          .in = {{x_in, 1, all * size, 0}, {gamma_in, 1, g.c * size, 0}, {beta_in, 1, g.c * size, 0}},
                          .out = {{y_out, 1, all * size, 0},
                                  {mean_out, 1, g.n * g.groups * size, 0},
                                  {variance_out, 1, g.n * g.groups * size, 0}},
                          .tmp_bytes = space};
    adv_run_clean();
    for (uint32_t group = 0; group < g.n * g.groups; group++)
        check_group(&g, group, epsilon);
}

static void group_norm(void **state)
{
    (void)state;
    static const struct {
        uint32_t n, c, h, w, groups;
    } shapes[] = {{2, 8, 4, 2, 4},   {1, 4, 3, 5, 2},   {2, 6, 10, 13, 3},
                  {3, 32, 2, 8, 32}, {1, 8, 16, 16, 1}, {5, 20, 1, 7, 20}};
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
        for (uint32_t percent = 0; percent <= 100; percent += 25)
            for (int how = 0; how < 3; how++)
                check((struct group_case){.type = how == 2 ? AKGEN_FLOAT16 : AKGEN_FLOAT,
                                          .n = shapes[i].n,
                                          .c = shapes[i].c,
                                          .hw = shapes[i].h * shapes[i].w,
                                          .groups = shapes[i].groups},
                      shapes[i].h, how == 1, percent);
    struct akgen_GroupNormTiling *t = (struct akgen_GroupNormTiling *)adv_now.call.tiling;
    uint32_t end = (t->thirdTmpStartPos + t->oneTmpSize) * 4;
    adv_now.tmp_bytes = end - 4;
    assert_string_equal(adv_run(0), "adv_tmp_too_small");
    t->bsCurLength = 0;
    assert_string_equal(adv_run(0), "adv_tiling");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(group_norm)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
