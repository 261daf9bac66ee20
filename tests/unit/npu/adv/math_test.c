/* The element-wise high-level APIs on the whole machine: accuracy against libm in double, in half and float, in as
 * little temporary space as CANN's host side reserves and in odd sizes, with counts around blocks, repeats and pieces,
 * in program order and random order under manual synchronisation; what they may overwrite and what not; special
 * values. */
/* test: leaves=covered builds=both */
#include "unit/npu/coverage.h"
#include "unit/npu/launch.h"

#include "abi/npu_adv.h"
#include "base/random.h"

#include <float.h>
#include <math.h>

enum { MOST = 1100, REGION = 8192, UB = 196608 }; /* elements; bytes between the operands in UB; of UB */

static struct npu_adv call;            /* op, type, count, flags, scalars, tmp.bytes; which sources it has */
static int sources;                    /* tensors among them: bit i for src[i] */
static uint32_t booked;                /* bytes of UB that InitBuffer gives away */
static uint32_t region[3] = {0, 1, 2}; /* where the operands lie, in REGIONs of UB */

static void copy_region(struct npu_tensor dst, struct npu_tensor src)
{
    struct npu_insn insn = {.op = NPU_OP_DATA_COPY,
                            .form = NPU_FORM_COUNT,
                            .dst_type = AKGEN_INT8,
                            .src_type = AKGEN_INT8,
                            .count = REGION,
                            .dst = dst,
                            .src0 = src};
    npu_issue(&insn);
}

/* in: two sources and what dst holds before, REGION bytes each; out: the result and the sources afterwards. */
static void kernel(uint64_t in, uint64_t out)
{
    npu_pipe_create();
    uint32_t buffer = 0;
    if (booked)
        npu_buf_init(&buffer, NPU_VECCALC, booked);
    struct npu_adv mine = call;
    struct npu_tensor operand[3];
    for (uint32_t i = 0; i < 3; i++) {
        npu_local_tensor(NPU_VECCALC, region[i] * REGION, REGION, &operand[i]);
        copy_region(operand[i], gm_tensor((const void *)(in + i * REGION)));
    }
    npu_pipe_barrier(NPU_PIPE_ALL);
    for (int i = 0; i < 2; i++)
        if (sources >> i & 1)
            mine.src[i] = operand[i];
    mine.dst[0] = operand[2];
    if (call.op == NPU_ADV_CUMSUM && call.shape[3])
        mine.dst[1] = operand[1];
    if (call.tmp.bytes)
        npu_local_tensor(NPU_VECCALC, 3 * REGION, call.tmp.bytes, &mine.tmp);
    npu_advanced(&mine);
    npu_pipe_barrier(NPU_PIPE_ALL);
    for (uint32_t i = 0; i < 3; i++)
        copy_region(gm_tensor((const void *)(out + (i + 1) % 3 * REGION)), operand[i]);
    npu_pipe_destroy();
}

static _Alignas(512) uint8_t in[3 * REGION], out[3 * REGION];

/* CANN's routine is made with Reciprocal, which is noted. */
static bool takes_reciprocal(void)
{
    return call.op == NPU_ADV_LGAMMA || call.flags & NPU_ADV_HIGH_PERFORMANCE;
}

/* The first finding's name but for that, "" if there is none. */
static const char *run(uint64_t seed)
{
    static struct outcome outcome;
    const struct npu_config config = manual_sync(seed);
    const struct gm_part parts[] = {{"in", in, sizeof in, NPU_GM_INPUT, true},
                                    {"out", out, sizeof out, NPU_GM_OUTPUT, true}};
    outcome = launch_once(&config, kernel, parts, 2);
    const char *first = strcmp(outcome.first, "vec_estimate") == 0 && takes_reciprocal() ? "" : outcome.first;
    if (!*first)
        covered_adv(&call, !call.tmp.bytes);
    return first;
}

static double get(const uint8_t *at, uint32_t i, uint8_t type)
{
    if (type == AKGEN_FLOAT)
        return (double)((const float *)at)[i];
    if (type == AKGEN_FLOAT16)
        return (double)((const _Float16 *)at)[i];
    return type == AKGEN_INT32 ? ((const int32_t *)at)[i] : ((const int16_t *)at)[i];
}
static void put(uint8_t *at, uint32_t i, uint8_t type, double value)
{
    if (type == AKGEN_FLOAT)
        ((float *)at)[i] = (float)value;
    else if (type == AKGEN_FLOAT16)
        ((_Float16 *)at)[i] = (_Float16)value;
    else if (type == AKGEN_INT32)
        ((int32_t *)at)[i] = (int32_t)value;
    else
        ((int16_t *)at)[i] = (int16_t)value;
}
static uint32_t size_of(uint8_t type)
{
    return (uint32_t)akgen_dtype_size((enum akgen_dtype)type);
}

/* One API: what it computes of x (and y), where, and how far it may be off: absolute plus relative error. `bytes`:
 * temporary bytes that CANN's host side reserves at least for float, float with isReuseSource and half
 * (asc-devkit impl/adv_api/tiling). */
struct api {
    uint16_t op;
    double (*f)(double x, double y);
    double low, high;
    double float_abs, float_rel, half_abs, half_rel;
    uint16_t bytes[3];
    bool pair; /* two sources, both from low to high */
    uint32_t flags;
    double scalar;
};

#define OF(name, expression)                                                                                           \
    static double of_##name(double x, double y)                                                                        \
    {                                                                                                                  \
        (void)y;                                                                                                       \
        return expression;                                                                                             \
    }
OF(acos, acos(x))
OF(acosh, acosh(x))
OF(asin, asin(x))
OF(asinh, asinh(x))
OF(atan, atan(x))
OF(atanh, atanh(x))
OF(ceil, ceil(x))
OF(cos, cos(x))
OF(cosh, cosh(x))
OF(erf, erf(x))
OF(erfc, erfc(x))
OF(floor, floor(x))
OF(frac, x - trunc(x))
OF(lgamma, lgamma(x))
OF(log, log(x))
OF(log2, log2(x))
OF(log10, log10(x))
OF(round, nearbyint(x))
OF(sign, x > 0 ? 1.0 : x < 0 ? -1.0 : 0.0)
OF(sigmoid, 1 / (1 + exp(-x)))
OF(silu, x / (1 + exp(-x)))
OF(sin, sin(x))
OF(sinh, sinh(x))
OF(tan, tan(x))
OF(tanh, tanh(x))
OF(trunc, trunc(x))
OF(gelu, x / 2 * (1 + tanh(0.7978845608028654 * (x + 0.044715 * x * x * x))))
OF(faster_gelu, x / (1 + exp(-1.702 * x)))
OF(exp, exp(x))
OF(clamp_max, fmin(x, 1.5))
OF(clamp_min, fmax(x, 1.5))
OF(swish, x / (1 + exp(-1.5 * x)))
OF(fmod, fmod(x, y))
OF(pow, pow(x, y))
OF(pow_scalar, pow(x, 1.5))
OF(geglu, x *of_gelu(y, 0))
OF(reglu, x *fmax(y, 0))
OF(swiglu, x *y / (1 + exp(-1.5 * y)))

/* psi(x): recurrence up to x > 20, asymptotic series there, reflection below 0. */
static double of_digamma(double x, double y)
{
    (void)y;
    if (x < 0)
        return of_digamma(1 - x, 0) - M_PI / tan(M_PI * x);
    double less = 0;
    for (; x < 20; x++)
        less += 1 / x;
    double s = 1 / (x * x);
    return log(x) - 0.5 / x - s * (1.0 / 12 - s * (1.0 / 120 - s * (1.0 / 252 - s / 240))) - less;
}
/* FasterGeluV2 approximates gelu: specified by its own formula. */
static double of_faster_gelu_v2(double x, double y)
{
    (void)y;
    double t = fmin(fabs(0.7071 * x), 1.769) - 1.769;
    return x * (0.5 + (x >= 0 ? 1 : -1) * (0.5 - 0.1444 * t * t));
}

/* Bounds. float: a few units of the last place, or where that is more the error of CANN's polynomial (asin ends at
 * x^15, which is 5.6e-5 off at 1 / sqrt 2; atan at x^9, 5e-6 off at tan(pi / 8); lgamma's denominator between 3 and 5.8
 * lacks its highest power, 1.9e-4) or of Reciprocal (in lgamma from 5.8 on, in the Gelu of high performance). half: half
 * a unit of the last place where the steps are in float, more where they are in half. */
#define ULP  1.2e-7
#define HULP 0.00049
static const struct api apis[] = {
    {NPU_ADV_ACOS, of_acos, -1, 1, 6e-5, 0, 2e-3, 0, .bytes = {512, 512, 1536}},
    {NPU_ADV_ACOSH, of_acosh, 1.01, 1000, 4e-7, 4 * ULP, 1e-4, HULP, .bytes = {256, 256, 512}},
    {NPU_ADV_ASIN, of_asin, -1, 1, 6e-5, 0, 2e-3, 0, .bytes = {512, 512, 1536}},
    {NPU_ADV_ASINH, of_asinh, -1000, 1000, 3e-7, 4 * ULP, 1e-4, HULP, .bytes = {768, 768, 768}},
    {NPU_ADV_ATAN, of_atan, -20, 20, 6e-6, 0, 1e-4, HULP, .bytes = {1280, 1280, 3072}},
    {NPU_ADV_ATANH, of_atanh, -0.99, 0.99, 3e-7, 10 * ULP, 1e-4, HULP, .bytes = {256, 256, 1024}},
    {NPU_ADV_CEIL, of_ceil, -3000, 3000, 0, 0, 0, 0, .bytes = {256, 256, 512}},
    {NPU_ADV_COS, of_cos, -65504, 65504, 3e-7, 0, HULP, 0, .bytes = {768, 512, 2048}},
    {NPU_ADV_COSH, of_cosh, -10, 10, 0, 12 * ULP, 0, HULP, .bytes = {512, 512, 1536}},
    {NPU_ADV_DIGAMMA, of_digamma, 0.01, 60, 1e-5, 1e-6, 2e-2, 2e-3, .bytes = {1792, 1536, 4096}},
    {NPU_ADV_DIGAMMA, of_digamma, -6.9, -6.1, 1e-4, 1e-4, 3e-2, 2e-2, .bytes = {1792, 1536, 4096}},
    {NPU_ADV_ERF, of_erf, -5, 5, 6e-7, 0, HULP, 0, .bytes = {768, 768, 2048}},
    {NPU_ADV_ERFC, of_erfc, -6, 6, 6e-7, 1e-6, HULP, 0, .bytes = {1792, 1792, 4096}},
    {NPU_ADV_FLOOR, of_floor, -3000, 3000, 0, 0, 0, 0, .bytes = {0, 0, 512}},
    {NPU_ADV_FRAC, of_frac, -3000, 3000, 0, 0, 0, 0, .bytes = {0, 0, 1024}},
    {NPU_ADV_LGAMMA, of_lgamma, 0.01, 3, 1e-6, 1e-6, 2e-3, 2e-3, .bytes = {2048, 1792, 6656}},
    {NPU_ADV_LGAMMA, of_lgamma, 3, 5.8, 2e-4, 0, 2e-3, 2e-3, .bytes = {2048, 1792, 6656}},
    {NPU_ADV_LGAMMA, of_lgamma, 5.8, 100, 5e-5, 1e-6, 2e-3, 2e-3, .bytes = {2048, 1792, 6656}},
    {NPU_ADV_LGAMMA, of_lgamma, -2.9, -2.1, 1e-5, 1e-5, 2e-2, 2e-3, .bytes = {2048, 1792, 6656}},
    {NPU_ADV_LGAMMA, of_lgamma, -5.9, -5.1, 2e-4, 0, 2e-2, 2e-3, .bytes = {2048, 1792, 6656}},
    {NPU_ADV_LOG, of_log, 0.001, 60000, 0, ULP, 0, HULP, .bytes = {0, 0, 0}},
    {NPU_ADV_LOG2, of_log2, 0.001, 60000, 0, 3 * ULP, 1e-4, HULP, .bytes = {0, 0, 512}},
    {NPU_ADV_LOG10, of_log10, 0.001, 60000, 0, 3 * ULP, 0, 3 * HULP, .bytes = {0, 0, 0}},
    {NPU_ADV_ROUND, of_round, -3000, 3000, 0, 0, 0, 0, .bytes = {0, 0, 256}},
    {NPU_ADV_SIGMOID, of_sigmoid, -8, 8, 2e-7, 8 * ULP, 0, 8 * HULP, .bytes = {256, 256, 256}},
    {NPU_ADV_SIGN, of_sign, -2, 2, 0, 0, 0, 0, .bytes = {768, 768, 768}},
    {NPU_ADV_SILU, of_silu, -8, 8, 0, 8 * ULP, 0, 5 * HULP, .bytes = {0, 0, 0}},
    {NPU_ADV_SIN, of_sin, -65504, 65504, 3e-7, 0, HULP, 0, .bytes = {768, 512, 2048}},
    {NPU_ADV_SINH, of_sinh, -10, 10, 2e-7, 12 * ULP, 1e-4, HULP, .bytes = {256, 256, 1024}},
    {NPU_ADV_TAN, of_tan, -1.5, 1.5, 3e-7, 1e-6, 1e-4, HULP, .bytes = {1024, 1024, 2560}},
    {NPU_ADV_TANH, of_tanh, -10, 10, 2e-7, 4 * ULP, HULP, 0, .bytes = {256, 256, 1024}},
    {NPU_ADV_TRUNC, of_trunc, -3000, 3000, 0, 0, 0, 0, .bytes = {256, 256, 512}},
    {NPU_ADV_GELU, of_gelu, -6, 6, 2e-7, 1e-6, 2e-3, 1e-2, .bytes = {512, 512, 512}},
    {NPU_ADV_GELU, of_gelu, -6, 6, 2e-7, 1e-6, 1e-4, HULP, .bytes = {512, 512, 1536}, .flags = NPU_ADV_HIGH_PRECISION},
    {NPU_ADV_GELU, of_gelu, -6, 6, 2e-7, 3e-3, 2e-3, 1e-2, .bytes = {512, 512, 512}, .flags = NPU_ADV_HIGH_PERFORMANCE},
    {NPU_ADV_FASTER_GELU, of_faster_gelu, -5, 5, 2e-7, 1e-6, 2e-3, 1e-2, .bytes = {256, 256, 256}},
    {NPU_ADV_FASTER_GELU, of_faster_gelu, -5, 5, 2e-7, 1e-6, 1e-4, HULP, .bytes = {256, 256, 1024},
     .flags = NPU_ADV_HIGH_PRECISION},
    {NPU_ADV_FASTER_GELU_V2, of_faster_gelu_v2, -5, 5, 1e-6, 1e-6, 5e-3, 5e-3, .bytes = {768, 768, 768}},
    {NPU_ADV_FASTER_GELU_V2, of_faster_gelu_v2, -5, 5, 1e-6, 1e-6, 1e-4, HULP, .bytes = {768, 768, 2048},
     .flags = NPU_ADV_HIGH_PRECISION},
    {NPU_ADV_EXP, of_exp, -9, 9, 0, 4 * ULP, 0, HULP, .bytes = {768, 512, 1024}, .scalar = 10},
    {NPU_ADV_EXP, of_exp, -9, 9, 0, ULP, 0, HULP, .bytes = {0, 0, 0}, .scalar = 0},
    {NPU_ADV_CLAMP_MAX, of_clamp_max, -9, 9, 0, 0, 0, 0, .bytes = {64, 64, 128}, .scalar = 1.5},
    {NPU_ADV_CLAMP_MIN, of_clamp_min, -9, 9, 0, 0, 0, 0, .bytes = {64, 64, 128}, .scalar = 1.5},
    {NPU_ADV_SWISH, of_swish, -5, 5, 0, 8 * ULP, 0, 8 * HULP, .bytes = {0, 0, 0}, .scalar = 1.5},
    {NPU_ADV_FMOD, of_fmod, 1, 9, 5e-6, 0, HULP, 0, .bytes = {256, 256, 2048}, .pair = true},
    {NPU_ADV_POWER, of_pow, 0.25, 4, 0, 8 * ULP, 0, HULP, .bytes = {1280, 1280, 3840}, .pair = true},
    {NPU_ADV_POWER, of_pow_scalar, 0, 40, 0, 12 * ULP, 0, HULP, .bytes = {1536, 1536, 3840}, .scalar = 1.5},
    {NPU_ADV_GEGLU, of_geglu, -4, 4, 2e-7, 4e-6, 1e-4, HULP, .bytes = {0, 0, 1024}, .pair = true},
    {NPU_ADV_REGLU, of_reglu, -4, 4, 0, ULP, 0, HULP, .bytes = {0, 0, 1536}, .pair = true},
    {NPU_ADV_SWIGLU, of_swiglu, -4, 4, 0, 8 * ULP, 0, HULP, .bytes = {0, 0, 1536}, .pair = true, .scalar = 1.5},
};
enum { APIS = sizeof apis / sizeof *apis };

static void fill(const struct api *api, uint8_t type, struct rng *rng)
{
    memset(in, 0x55, sizeof in);
    memset(out, 0, sizeof out);
    for (uint32_t i = 0; i < MOST; i++)
        for (int k = 0; k < 2; k++) {
            double x = api->low + (api->high - api->low) * (double)rng_integer(rng, 0, 1000000) / 999999;
            /* half of the inputs near the middle of the domain, in all magnitudes */
            if (i & 1 && api->low < 0 && api->high > 0)
                x *= pow(10, -(double)rng_integer(rng, 0, 4));
            put(in + k * REGION, i, type, x);
        }
}

static void set_call(const struct api *api, uint8_t type, uint32_t count, uint32_t tmp, bool reuse)
{
    call = (struct npu_adv){.op = api->op, .type = type, .dst_type = type, .count = count, .flags = api->flags};
    call.flags |= reuse ? NPU_ADV_REUSE_SOURCE : 0;
    call.flags |= tmp ? 0 : NPU_ADV_NO_TMP;
    call.tmp.bytes = tmp;
    sources = api->pair ? 3 : 1;
    float beta = (float)api->scalar;
    call.scalar[0] = api->op == NPU_ADV_EXP ? (uint64_t)api->scalar : 0;
    if (api->op == NPU_ADV_SWIGLU)
        memcpy(&call.scalar[0], &beta, sizeof beta);
    else if (api->op != NPU_ADV_EXP)
        put((uint8_t *)&call.scalar[0], 0, type, api->scalar);
}

/* Below 2^-14 half has steps of 2^-24. */
static void assert_accurate(const struct api *api, uint8_t type)
{
    bool half = type == AKGEN_FLOAT16;
    double absolute = half ? api->half_abs + 0x1p-24 : api->float_abs, relative = half ? api->half_rel : api->float_rel;
    for (uint32_t i = 0; i < call.count; i++) {
        double x = get(in, i, type), want = api->f(x, get(in + REGION, i, type)), got = get(out, i, type);
        if (!(fabs(got - want) <= absolute + relative * fabs(want)))
            fail_msg("api %u (%s) at %u of %u, tmp %u: f(%.9g) = %.9g, want %.9g (off by %.3g)", api->op,
                     half ? "half" : "float", i, call.count, call.tmp.bytes, x, got, want, fabs(got - want));
    }
}

/* What is not the API's to write is as before: dst beyond the count (rounded up to a block), and the sources. */
static void assert_untouched(const struct api *api, uint8_t type, bool reuse)
{
    uint32_t bytes = (call.count * size_of(type) + 31) / 32 * 32;
    assert_memory_equal(out + bytes, in + 2 * REGION + bytes, REGION - bytes);
    if (!reuse)
        assert_memory_equal(out + REGION, in, REGION);
    if (api->pair)
        assert_memory_equal(out + 2 * REGION, in + REGION, REGION);
}

/* ClampMax and ClampMin are given temporary space and do not use it. */
static bool is_clamp(const struct api *api)
{
    return api->op == NPU_ADV_CLAMP_MAX || api->op == NPU_ADV_CLAMP_MIN;
}

static const uint32_t counts[] = {1, 8, 31, 64, 100, 129, 256, 1001};

static void accurate_in_any_space(void **state)
{
    (void)state;
    struct rng rng;
    rng_seed(&rng, 1);
    for (const struct api *api = apis; api < apis + APIS; api++)
        for (int form = 0; form < 3; form++) {
            uint8_t type = form == 2 ? AKGEN_FLOAT16 : AKGEN_FLOAT;
            uint32_t least = api->bytes[form];
            for (int i = 0; i < 12; i++) {
                uint32_t count = i < 8 ? counts[i] : (uint32_t)rng_integer(&rng, 1, MOST);
                uint32_t tmp = !least ? 0 : i % 3 == 0 ? least : i % 3 == 1 ? least + 37 : least * 6 + 100;
                fill(api, type, &rng);
                set_call(api, type, count, tmp, form == 1);
                assert_string_equal(run((uint64_t)(i & 3)), "");
                assert_accurate(api, type);
                assert_untouched(api, type, form == 1);
            }
        }
}

/* Without sharedTmpBuffer an API takes what InitBuffer has left, and one that needs none does not look. */
static void space_of_its_own(void **state)
{
    (void)state;
    struct rng rng;
    rng_seed(&rng, 5);
    for (const struct api *api = apis; api < apis + APIS; api++)
        for (int half = 0; half < 2; half++) {
            uint8_t type = half ? AKGEN_FLOAT16 : AKGEN_FLOAT;
            fill(api, type, &rng);
            set_call(api, type, 1000, 0, false);
            call.flags &= ~(uint32_t)NPU_ADV_NO_TMP;
            booked = 3 * REGION;
            assert_string_equal(run((uint64_t)half), "");
            assert_accurate(api, type);
            booked = UB;
            assert_string_equal(run(0), "ub_overflow");
            call.flags |= NPU_ADV_NO_TMP;
            assert_string_equal(run(0), api->bytes[half * 2] && !is_clamp(api) ? "adv_tmp_too_small" : "");
        }
    booked = 0;
}

static void too_little_space(void **state)
{
    (void)state;
    struct rng rng;
    rng_seed(&rng, 2);
    for (const struct api *api = apis; api < apis + APIS; api++)
        for (int form = 0; form < 3; form++) {
            uint8_t type = form == 2 ? AKGEN_FLOAT16 : AKGEN_FLOAT;
            if (!api->bytes[form] || is_clamp(api)) /* takes none */
                continue;
            fill(api, type, &rng);
            set_call(api, type, 64, 31, form == 1);
            assert_string_equal(run(0), "adv_tmp_too_small");
        }
}

/* The result of one element. */
static double of_one(uint16_t op, uint8_t type, double x, double y)
{
    struct api api = {.op = op, .pair = op == NPU_ADV_POWER || op == NPU_ADV_FMOD};
    for (uint32_t i = 0; i < 64; i++) {
        put(in, i, type, x);
        put(in + REGION, i, type, y);
    }
    set_call(&api, type, 64, 8192, false);
    assert_string_equal(run(0), "");
    return get(out, 13, type);
}

static void special_values(void **state)
{
    (void)state;
    static const struct {
        uint16_t op;
        double x, y, want;
    } table[] = {
        {NPU_ADV_TANH, INFINITY, 0, 1},
        {NPU_ADV_TANH, -INFINITY, 0, -1},
        {NPU_ADV_TANH, NAN, 0, NAN},
        {NPU_ADV_ERF, INFINITY, 0, 1},
        {NPU_ADV_ERFC, INFINITY, 0, 0},
        {NPU_ADV_ERFC, -INFINITY, 0, 2},
        {NPU_ADV_SIGN, NAN, 0, 0},
        {NPU_ADV_SIGN, -0.0, 0, 0},
        {NPU_ADV_SIGN, -INFINITY, 0, -1},
        {NPU_ADV_DIGAMMA, 0, 0, -INFINITY},
        {NPU_ADV_DIGAMMA, -2, 0, NAN},
        {NPU_ADV_DIGAMMA, NAN, 0, NAN},
        {NPU_ADV_DIGAMMA, INFINITY, 0, INFINITY},
        {NPU_ADV_LGAMMA, 0, 0, INFINITY},
        {NPU_ADV_LGAMMA, -3, 0, INFINITY},
        {NPU_ADV_LGAMMA, INFINITY, 0, INFINITY},
        {NPU_ADV_LGAMMA, -INFINITY, 0, INFINITY},
        {NPU_ADV_LGAMMA, NAN, 0, NAN},
        {NPU_ADV_LGAMMA, 1, 0, 0},
        {NPU_ADV_LOG, 0, 0, -INFINITY},
        {NPU_ADV_LOG, -1, 0, NAN},
        {NPU_ADV_LOG2, 8, 0, 3},
        {NPU_ADV_ROUND, 2.5, 0, 2},
        {NPU_ADV_ROUND, -3.5, 0, -4},
        {NPU_ADV_TRUNC, -INFINITY, 0, -INFINITY},
        {NPU_ADV_ACOSH, 0.5, 0, NAN},
        {NPU_ADV_ATANH, 1, 0, INFINITY},
        {NPU_ADV_ATANH, 2, 0, NAN},
        {NPU_ADV_ATAN, INFINITY, 0, 1.5706963}, /* the argument is cut at 10000 */
        {NPU_ADV_ASIN, 0, 0, 0},
        {NPU_ADV_SILU, -INFINITY, 0, NAN},
        {NPU_ADV_POWER, 0, 0, 1},
        {NPU_ADV_POWER, NAN, 0, 1},
        {NPU_ADV_POWER, 1, INFINITY, 1},
        {NPU_ADV_POWER, -1, -INFINITY, 1},
        {NPU_ADV_POWER, -2, 3, -8},
        {NPU_ADV_POWER, -2, -2, 0.25},
        {NPU_ADV_POWER, -2, 0.5, NAN},
        {NPU_ADV_POWER, 0, -1, INFINITY},
        {NPU_ADV_POWER, -0.0, -1, -INFINITY},
        {NPU_ADV_POWER, -INFINITY, 3, -INFINITY},
        {NPU_ADV_FMOD, -7, 3, -1},
        {NPU_ADV_FMOD, 7, 0, NAN},
    };
    static const uint8_t types[] = {AKGEN_FLOAT, AKGEN_FLOAT16};
    memset(in, 0, sizeof in);
    for (int t = 0; t < 2; t++)
        for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
            double got = of_one(table[i].op, types[t], table[i].x, table[i].y), want = table[i].want;
            bool same = isnan(want) ? isnan(got) : isinf(want) ? got == want : fabs(got - want) < (t ? 4e-3 : 3e-6);
            if (!same)
                fail_msg("api %u of %g, %g as %s is %g, want %g", table[i].op, table[i].x, table[i].y,
                         akgen_dtype_name(types[t]), got, want);
        }
}

/* 32-bit arithmetic that wraps, one multiplication at a time. */
static int32_t int_power(int32_t base, int32_t exponent)
{
    if (exponent < 0)
        return base == 1 ? 1 : base == -1 ? (exponent % 2 ? -1 : 1) : 0;
    uint32_t product = 1;
    for (int32_t i = 0; i < exponent; i++)
        product *= (uint32_t)base;
    return (int32_t)product;
}

static void powers_of_integers(void **state)
{
    (void)state;
    struct rng rng;
    rng_seed(&rng, 3);
    for (int i = 0; i < 24; i++) {
        uint32_t count = i < 8 ? counts[i] : (uint32_t)rng_integer(&rng, 1, MOST);
        int form = i % 3; /* tensor and tensor, scalar exponent, scalar base */
        memset(in, 0, sizeof in);
        for (uint32_t k = 0; k < count; k++) {
            put(in, k, AKGEN_INT32, (double)rng_integer(&rng, -9, 10));
            put(in + REGION, k, AKGEN_INT32, (double)rng_integer(&rng, -4, 20));
        }
        call = (struct npu_adv){.op = NPU_ADV_POWER, .type = AKGEN_INT32, .dst_type = AKGEN_INT32, .count = count};
        call.tmp.bytes = i % 2 ? 1792 : 7000; /* the least is 6 * 256, with a scalar 7 * 256 */
        int32_t scalar = (int32_t)rng_integer(&rng, -3, 9);
        memcpy(&call.scalar[0], &scalar, sizeof scalar);
        sources = form == 0 ? 3 : form;
        assert_string_equal(run((uint64_t)(i & 3)), "");
        for (uint32_t k = 0; k < count; k++) {
            int32_t base = form == 2 ? scalar : ((int32_t *)in)[k];
            int32_t exponent = form == 1 ? scalar : ((int32_t *)(in + REGION))[k];
            assert_int_equal(((int32_t *)out)[k], int_power(base, exponent));
        }
    }
}

static void bits_of_two_tensors(void **state)
{
    (void)state;
    struct rng rng;
    rng_seed(&rng, 4);
    for (int i = 0; i < 8; i++) {
        for (size_t k = 0; k < sizeof in; k++)
            in[k] = (uint8_t)rng_next(&rng);
        call = (struct npu_adv){.op = NPU_ADV_XOR, .type = i & 1 ? AKGEN_INT16 : AKGEN_UINT16, .count = counts[i]};
        call.dst_type = call.type;
        call.tmp.bytes = i & 4 ? 0 : i & 2 ? 64 : 256;
        booked = call.tmp.bytes ? 0 : 3 * REGION;
        sources = 3;
        assert_string_equal(run((uint64_t)i), "");
        for (uint32_t k = 0; k < counts[i]; k++)
            assert_int_equal(((uint16_t *)out)[k], ((uint16_t *)in)[k] ^ ((uint16_t *)(in + REGION))[k]);
    }
}

/* dst += src * scalar in three combinations of types; ReGlu of bfloat16. */
static void mixed_types(void **state)
{
    (void)state;
    static const uint8_t types[3][2] = {
        {AKGEN_FLOAT, AKGEN_FLOAT}, {AKGEN_FLOAT, AKGEN_FLOAT16}, {AKGEN_FLOAT16, AKGEN_FLOAT16}};
    for (int i = 0; i < 72; i++) {
        uint8_t dst = types[i % 3][0], src = types[i % 3][1];
        memset(in, 0, sizeof in);
        for (uint32_t k = 0; k < MOST; k++) {
            put(in, k, src, 0.01 * k - 3);
            put(in + 2 * REGION, k, dst, 7 - 0.02 * k);
        }
        call = (struct npu_adv){.op = NPU_ADV_AXPY, .type = src, .dst_type = dst, .count = counts[i / 9]};
        put((uint8_t *)&call.scalar[0], 0, src, -1.25);
        call.tmp.bytes = i / 3 % 3 == 0 ? 0 : i / 3 % 3 == 1 ? 1024 : 4100; /* the least for half is 4 * 256 */
        booked = call.tmp.bytes ? 0 : 3 * REGION;
        sources = 1;
        assert_string_equal(run((uint64_t)(i & 3)), "");
        for (uint32_t k = 0; k < call.count; k++) {
            double want = get(in, k, src) * -1.25 + get(in + 2 * REGION, k, dst);
            assert_true(fabs(get(out, k, dst) - want) <= fabs(want) * (dst == AKGEN_FLOAT ? ULP : HULP) + 1e-6);
        }
    }
    booked = 0;
    for (uint32_t k = 0; k < MOST; k++) {
        ((uint16_t *)in)[k] = (uint16_t)(0x3f80 + k % 256);       /* 1 to 4 */
        ((uint16_t *)(in + REGION))[k] = k % 3 ? 0x4040 : 0xc040; /* 3 or -3 */
    }
    call = (struct npu_adv){.op = NPU_ADV_REGLU, .type = AKGEN_BF16, .dst_type = AKGEN_BF16, .count = 500};
    call.tmp.bytes = 1536;
    sources = 3;
    assert_string_equal(run(1), "");
    for (uint32_t k = 0; k < call.count; k++) {
        uint32_t x = (uint32_t)((uint16_t *)in)[k] << 16, y = (uint32_t)((uint16_t *)out)[k] << 16;
        float a, b;
        memcpy(&a, &x, 4);
        memcpy(&b, &y, 4);
        assert_true(fabsf(b - (k % 3 ? 3 * a : 0)) <= a * 3 / 256);
    }
}

static void progressions(void **state)
{
    (void)state;
    static const uint8_t types[] = {AKGEN_FLOAT, AKGEN_FLOAT16, AKGEN_INT16, AKGEN_INT32};
    static const uint32_t lengths[] = {1, 7, 8, 9, 16, 17, 63, 64, 65, 127, 128, 129, 200, 256, 300};
    for (int t = 0; t < 4; t++)
        for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
            memset(in, 0, sizeof in);
            call = (struct npu_adv){.op = NPU_ADV_ARANGE, .type = types[t], .dst_type = types[t], .count = lengths[i]};
            call.flags = NPU_ADV_NO_TMP;
            put((uint8_t *)&call.scalar[0], 0, types[t], -50);
            put((uint8_t *)&call.scalar[1], 0, types[t], 3);
            sources = 0;
            assert_string_equal(run(i & 3), "");
            for (uint32_t k = 0; k < lengths[i]; k++)
                assert_true(get(out, k, types[t]) == -50.0 + 3.0 * k);
            uint32_t end = (lengths[i] * size_of(types[t]) + 31) / 32 * 32;
            assert_memory_equal(out + end, in + end, REGION - end);
        }
}

/* Sums along the last axis and the first, with the last row; rows beyond the temporary space go in parts. */
static void running_sums(void **state)
{
    (void)state;
    static const uint32_t shapes[][2] = {{1, 16}, {16, 16}, {5, 48}, {17, 32}, {48, 16}, {33, 16}, {3, 128}, {64, 16}};
    for (int i = 0; i < 64; i++) {
        uint8_t type = i & 1 ? AKGEN_FLOAT16 : AKGEN_FLOAT;
        bool last = i & 2, spacious = i & 4;
        uint32_t rows = shapes[i / 8][0], columns = shapes[i / 8][1], least = columns * 16 * (i & 1 ? 6 : 8);
        memset(in, 0, sizeof in);
        for (uint32_t k = 0; k < rows * columns; k++)
            put(in, k, type, (double)(k * 7 % 11) / 4 - 1.25);
        call = (struct npu_adv){.op = NPU_ADV_CUMSUM, .type = type, .dst_type = type};
        call.shape[0] = rows;
        call.shape[1] = columns;
        call.shape[2] = last;
        call.shape[3] = i / 8 & 1; /* the last row as well */
        call.tmp.bytes = i / 8 == 3 ? 0 : last ? least * (spacious ? 3 : 1) + 64 : rows * columns * 4;
        booked = call.tmp.bytes ? 0 : 3 * REGION;
        call.count = rows * columns;
        sources = 1;
        assert_string_equal(run((uint64_t)(i & 3)), "");
        for (uint32_t r = 0; r < rows; r++)
            for (uint32_t c = 0; c < columns; c++) {
                double sum = 0; /* exact in either type: quarters below 512 */
                for (uint32_t k = 0; k <= (last ? c : r); k++)
                    sum += get(in, last ? r * columns + k : k * columns + c, type);
                assert_true(get(out, r * columns + c, type) == sum);
            }
        const uint8_t *end = out + (rows - 1) * columns * size_of(type);
        assert_memory_equal(out + 2 * REGION, call.shape[3] ? end : in + REGION, columns * size_of(type));
        booked = 0;
        call.tmp.bytes = last ? least - 32 : 32;
        if (last || type == AKGEN_FLOAT16)
            assert_string_equal(run(0), "adv_tmp_too_small");
    }
}

/* Select as such uses the last 8 KB of UB. The routines that select have a place of their own for what it needs. */
static void the_end_of_ub_is_the_kernels(void **state)
{
    (void)state;
    call = (struct npu_adv){.op = NPU_ADV_SIGN, .type = AKGEN_FLOAT, .count = 1000};
    sources = 1;
    region[2] = UB / REGION - 1;
    for (uint32_t i = 0; i < 1000; i++)
        put(in, i, AKGEN_FLOAT, (double)i - 500);
    assert_string_equal(run(0), "");
    for (uint32_t i = 0; i < 1000; i++)
        assert_true(get(out, i, AKGEN_FLOAT) == (i > 500) - (i < 500));
    region[2] = 2;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(accurate_in_any_space), cmocka_unit_test(space_of_its_own),
        cmocka_unit_test(too_little_space),      cmocka_unit_test(special_values),
        cmocka_unit_test(powers_of_integers),    cmocka_unit_test(bits_of_two_tensors),
        cmocka_unit_test(mixed_types),           cmocka_unit_test(progressions),
        cmocka_unit_test(running_sums),          cmocka_unit_test(the_end_of_ub_is_the_kernels),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
