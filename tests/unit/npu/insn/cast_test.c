/* Cast against cast_element.h. All
 * 65536 values of 16-bit sources, boundaries and random bits of the wider ones, in every pair and mode of cast.def. */
/* test: with=core builds=both */
#include "cast_element.h"
#include "unit/npu/core.h"

enum { DST = 0x8000, SRC = 0, BATCH = 2048 };

struct pair {
    uint8_t dst, src, modes;
};
static const struct pair pairs[] = {
#define NPU_CAST(dst, src, modes, rate) {AKGEN_##dst, AKGEN_##src, (uint8_t)(modes)},
#include "abi/cast.def"
};
enum { PAIRS = sizeof pairs / sizeof pairs[0] };

static long double load(const uint8_t *base, size_t i, uint8_t type)
{
    union {
        float f;
        half_t h;
        int8_t s8;
        int16_t s16;
        int32_t s32;
        int64_t s64;
        uint16_t u16;
    } v;
    if (type == AKGEN_INT4)
        return (int8_t)(uint8_t)(base[i / 2] << (i % 2 ? 0 : 4)) >> 4;
    size_t size = akgen_dtype_size((enum akgen_dtype)type);
    memcpy(&v, base + i * size, size);
    switch (type) {
    case AKGEN_FLOAT:
        return v.f;
    case AKGEN_FLOAT16:
        return (long double)(float)v.h;
    case AKGEN_BF16:
        return bf16_to_float(v.u16);
    case AKGEN_INT8:
        return v.s8;
    case AKGEN_UINT8:
        return (uint8_t)v.s8;
    case AKGEN_INT16:
        return v.s16;
    case AKGEN_INT32:
        return v.s32;
    default:
        return (long double)v.s64;
    }
}

static struct npu_insn insn_of(const struct pair *pair, int mode, uint32_t count)
{
    return (struct npu_insn){.op = NPU_OP_CAST,
                             .form = NPU_FORM_COUNT,
                             .count = count,
                             .mode = (uint8_t)mode,
                             .dst_type = pair->dst,
                             .src_type = pair->src,
                             .dst = fake_tensor(DST),
                             .src0 = fake_tensor(SRC)};
}

static void assert_batch(struct npu_core *core, const struct pair *pair, int mode, uint32_t count)
{
    struct npu_insn insn = insn_of(pair, mode, count);
    half_t scale;
    memcpy(&scale, &core->regs.deq_scale, sizeof scale);
    assert_null(fake_issue(core, &insn, npu_check_cast, npu_exec_cast, NULL, NULL));
    assert_int_equal(fake_note_count, 0);
    for (uint32_t i = 0; i < count; i++) {
        long double x = load(fake_ub + SRC, i, pair->src),
                    want = cast_element(pair->dst, pair->src, mode, x, (long double)(float)scale);
        long double got = load(fake_ub + DST, i, pair->dst);
        bool integer = pair->dst != AKGEN_FLOAT && pair->dst != AKGEN_FLOAT16 && pair->dst != AKGEN_BF16;
        if (isnan(want) ? !isnan(got) : got != want || (!integer && !signbit(got) != !signbit(want)))
            fail_msg("%s to %s, mode %d: %La became %La, expected %La", akgen_dtype_name((enum akgen_dtype)pair->src),
                     akgen_dtype_name((enum akgen_dtype)pair->dst), mode, x, got, want);
    }
}

static void every_16_bit_source_value(void **state)
{
    (void)state;
    struct rng rng;
    rng_seed(&rng, 1);
    struct npu_core *core = fake_core(&rng);
    for (int p = 0; p < PAIRS; p++) {
        if (akgen_dtype_size((enum akgen_dtype)pairs[p].src) > 2)
            continue;
        for (int mode = 0; mode < MODES; mode++)
            for (uint32_t first = 0; first < 65536 && pairs[p].modes >> mode & 1; first += BATCH) {
                for (uint32_t i = 0; i < BATCH; i++) {
                    uint16_t bits = (uint16_t)(first + i);
                    memcpy(fake_ub + SRC + i * 2, &bits, 2);
                }
                assert_batch(core, &pairs[p], mode, BATCH);
            }
    }
}

/* Values around what a 32- or 64-bit source can lose: ties, ends of ranges, powers of two, random bits. */
static void wide_sources(void **state)
{
    (void)state;
    struct rng rng;
    rng_seed(&rng, 2);
    for (int p = 0; p < PAIRS; p++) {
        size_t size = akgen_dtype_size((enum akgen_dtype)pairs[p].src);
        if (size <= 2)
            continue;
        for (int mode = 0; mode < MODES; mode++)
            for (int round = 0; round < 24 && pairs[p].modes >> mode & 1; round++) {
                struct npu_core *core = fake_core(&rng);
                half_t scale = (half_t)(round % 2 ? 1.0f : 0.0123f);
                memcpy(&core->regs.deq_scale, &scale, sizeof scale);
                for (uint32_t i = 0; i < BATCH && round % 4; i++) {
                    int64_t near = (INT64_C(1) << rng_integer(&rng, 0, 63)) +
                                   rng_integer(&rng, -3, 4) * (INT64_C(1) << rng_integer(&rng, 0, 40));
                    float as_float = round % 4 == 1   ? (float)near
                                     : round % 4 == 2 ? (float)(rng_integer(&rng, -80000, 80000) * 0.25)
                                                      : ldexpf((float)rng_integer(&rng, -10000000, 10000000),
                                                               (int)rng_integer(&rng, -50, 8));
                    if (rng_integer(&rng, 0, 2))
                        near = -near;
                    memcpy(fake_ub + SRC + i * size, pairs[p].src == AKGEN_FLOAT ? (void *)&as_float : (void *)&near,
                           size);
                }
                assert_batch(core, &pairs[p], mode, BATCH);
            }
    }
}

/* The examples of the documentation (precision_conversion). */
static void documented_examples(void **state)
{
    (void)state;
    static const struct {
        struct pair pair;
        long double x;
        int mode;
        long double y;
    } examples[] = {
        {{AKGEN_INT8, AKGEN_FLOAT16, 0}, 127.5L, RINT, 127},
        {{AKGEN_INT16, AKGEN_FLOAT16, 0}, 127.5L, RINT, 128},
        {{AKGEN_INT16, AKGEN_FLOAT16, 0}, 127.5L, TRUNC, 127},
        {{AKGEN_FLOAT16, AKGEN_FLOAT, 0}, 0.5L + 0x1p-12L, ROUND, 0.5L + 0x1p-11L},
        {{AKGEN_FLOAT16, AKGEN_FLOAT, 0}, 0.5L + 0x1p-12L, RINT, 0.5L},
        {{AKGEN_FLOAT16, AKGEN_FLOAT, 0}, 0.5L + 0x1p-12L, ODD, 0.5L + 0x1p-11L},
        {{AKGEN_BF16, AKGEN_FLOAT, 0}, 0.5L + 0x1p-9L + 0x1p-11L, FLOOR, 0.5L},
        {{AKGEN_FLOAT, AKGEN_INT32, 0}, 0x1p25L + 3, RINT, 0x1p25L + 4},
        {{AKGEN_FLOAT, AKGEN_INT64, 0}, 0x1p35L + 0x1p12L + 0x1p11L, TRUNC, 0x1p35L + 0x1p12L},
        {{AKGEN_FLOAT16, AKGEN_INT16, 0}, 4098, CEIL, 4100},
        {{AKGEN_INT16, AKGEN_INT32, 0}, 0x1p31L - 1, NONE, 32767},
    };
    struct rng rng;
    rng_seed(&rng, 3);
    struct npu_core *core = fake_core(&rng);
    for (size_t i = 0; i < sizeof examples / sizeof examples[0]; i++) {
        float f = (float)examples[i].x;
        half_t h = (half_t)f;
        int64_t n = (int64_t)examples[i].x;
        uint8_t src = examples[i].pair.src;
        memcpy(fake_ub + SRC,
               src == AKGEN_FLOAT     ? (void *)&f
               : src == AKGEN_FLOAT16 ? (void *)&h
                                      : (void *)&n,
               akgen_dtype_size((enum akgen_dtype)src));
        struct npu_insn insn = insn_of(&examples[i].pair, examples[i].mode, 1);
        assert_null(fake_issue(core, &insn, npu_check_cast, npu_exec_cast, NULL, NULL));
        assert_true(load(fake_ub + DST, 0, examples[i].pair.dst) == examples[i].y);
    }
}

static void narrowing_in_place_and_strides(void **state)
{
    (void)state;
    struct rng rng;
    rng_seed(&rng, 4);
    struct npu_core *core = fake_core(&rng);
    float values[300];
    for (int i = 0; i < 300; i++)
        values[i] = (float)i * 0.25f;
    memcpy(fake_ub + SRC, values, sizeof values);
    struct pair pair = {AKGEN_FLOAT16, AKGEN_FLOAT, 0};
    struct npu_insn insn = insn_of(&pair, RINT, 300);
    insn.dst = insn.src0;
    assert_null(fake_issue(core, &insn, npu_check_cast, npu_exec_cast, NULL, NULL));
    assert_int_equal(fake_note_count, 0);
    for (uint32_t i = 0; i < 300; i++)
        assert_true(load(fake_ub + SRC, i, AKGEN_FLOAT16) == (long double)values[i]);
    /* half to int32: 64 elements a repeat, four blocks of source to eight of destination. */
    pair = (struct pair){AKGEN_INT32, AKGEN_FLOAT16, 0};
    insn = insn_of(&pair, FLOOR, 0);
    insn.form = NPU_FORM_MASK_LEN;
    insn.mask[0] = 64;
    insn.repeat = 3;
    insn.dst_blk = insn.src0_blk = 1;
    insn.dst_rep = 8;
    insn.src0_rep = 4;
    struct npu_access accesses[NPU_MAX_ACCESSES];
    int n = 0;
    assert_null(fake_issue(core, &insn, npu_check_cast, npu_exec_cast, accesses, &n));
    for (uint32_t i = 0; i < 192; i++)
        assert_true(load(fake_ub + DST, i, AKGEN_INT32) == floorl((long double)values[i]));
    assert_int_equal(n, 2);
    assert_int_equal(accesses[0].bytes, 192 * 4);
    assert_int_equal(accesses[1].bytes, 192 * 2);
    /* Widening onto its own source is noted. */
    insn = insn_of(&pair, FLOOR, 100);
    insn.dst = insn.src0;
    assert_null(fake_issue(core, &insn, npu_check_cast, npu_exec_cast, NULL, NULL));
    assert_string_equal(fake_last_note, "vec_overlap");
}

static void what_cast_refuses(void **state)
{
    (void)state;
    struct rng rng;
    rng_seed(&rng, 5);
    struct npu_core *core = fake_core(&rng);
    struct pair none = {AKGEN_INT8, AKGEN_FLOAT, 0};
    struct npu_insn insn = insn_of(&none, RINT, 8);
    assert_string_equal(fake_issue(core, &insn, npu_check_cast, npu_exec_cast, NULL, NULL), "vec_dtype");
    /* A mode the pair lacks: nothing is written. */
    struct pair widen = {AKGEN_FLOAT, AKGEN_FLOAT16, 0};
    insn = insn_of(&widen, RINT, 64);
    static uint8_t before[SMALL_UB];
    memcpy(before, fake_ub, SMALL_UB);
    npu_ub_undefine(core, fake_ub + DST, 256);
    assert_null(fake_issue(core, &insn, npu_check_cast, npu_exec_cast, NULL, NULL));
    assert_string_equal(fake_last_note, "cast_round_mode");
    assert_memory_equal(fake_ub, before, SMALL_UB);
    assert_false(npu_ub_defined(core, fake_ub + DST, 1));
    struct pair int4 = {AKGEN_INT4, AKGEN_FLOAT16, 0};
    insn = insn_of(&int4, RINT, 7);
    assert_string_equal(fake_issue(core, &insn, npu_check_cast, npu_exec_cast, NULL, NULL), "cast_int4");
    insn.form = NPU_FORM_MASK_BITS;
    insn.mask[0] = 6;
    insn.repeat = insn.dst_blk = insn.src0_blk = 1;
    assert_string_equal(fake_issue(core, &insn, npu_check_cast, npu_exec_cast, NULL, NULL), "cast_int4");
    insn.mask[0] = 12;
    assert_null(fake_issue(core, &insn, npu_check_cast, npu_exec_cast, NULL, NULL));
}

static void definedness_of_packed_elements(void **state)
{
    (void)state;
    struct rng rng;
    rng_seed(&rng, 6);
    struct npu_core *core = fake_core(&rng);
    npu_ub_undefine(core, fake_ub + SRC + 5 * 2, 1); /* element 5 shares its byte with element 4 */
    struct pair int4 = {AKGEN_INT4, AKGEN_FLOAT16, 0};
    struct npu_insn insn = insn_of(&int4, RINT, 64);
    assert_null(fake_issue(core, &insn, npu_check_cast, npu_exec_cast, NULL, NULL));
    for (uint32_t i = 0; i < 32; i++)
        assert_int_equal(npu_ub_defined(core, fake_ub + DST + i, 1), i != 2);
    assert_int_equal(fake_undefined_reads, 1);
    assert_string_equal(fake_undefined, "src0");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_16_bit_source_value), cmocka_unit_test(wide_sources),
        cmocka_unit_test(documented_examples),       cmocka_unit_test(narrowing_in_place_and_strides),
        cmocka_unit_test(what_cast_refuses),         cmocka_unit_test(definedness_of_packed_elements),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
