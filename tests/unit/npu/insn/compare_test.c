/* Compare and CompareScalar against one comparison per element; bits, definedness, CMPMASK, ragged counts. */
/* test: leaves=covered with=core builds=both */
#include "unit/npu/coverage.h"
#include "unit/npu/core.h"

#include <math.h>

enum { LT, GT, EQ, LE, GE, NE, CMPMODES };
enum { DST = 0x8000, SRC0 = 0, SRC1 = 0x4000 };

static double load(const uint8_t *at, uint8_t type)
{
    float f;
    half_t h;
    int32_t n;
    if (type == AKGEN_FLOAT)
        return memcpy(&f, at, 4), f;
    if (type == AKGEN_FLOAT16)
        return memcpy(&h, at, 2), (double)(float)h;
    return memcpy(&n, at, 4), n;
}

static bool specified(double a, double b, int mode)
{
    return mode == LT   ? a < b
           : mode == GT ? a > b
           : mode == EQ ? a == b
           : mode == LE ? a <= b
           : mode == GE ? a >= b
                        : a < b || a > b;
}

/* Few different values, so that equality happens; a NaN and both zeros among them. */
static void fill(struct rng *rng, uint8_t type)
{
    static const float values[] = {0.0f, -0.0f, 1.0f, -1.0f, NAN, INFINITY, 2.5f, -2.5f};
    size_t size = akgen_dtype_size((enum akgen_dtype)type);
    for (size_t i = 0; i < DST; i += size) {
        float f = values[rng_integer(rng, 0, 8)];
        half_t h = (half_t)f;
        int32_t n = (int32_t)rng_integer(rng, -2, 3);
        memcpy(fake_ub + i, type == AKGEN_FLOAT ? (void *)&f : type == AKGEN_FLOAT16 ? (void *)&h : (void *)&n, size);
    }
}

static struct npu_insn insn_of(uint8_t type, int mode, bool scalar)
{
    struct npu_insn insn = {.op = scalar ? NPU_OP_COMPARE_SCALAR : NPU_OP_COMPARE,
                            .mode = (uint8_t)mode,
                            .flags = scalar ? NPU_INSN_SCALAR_SRC1 : 0,
                            .dst_type = AKGEN_UINT8,
                            .src_type = type,
                            .dst = fake_tensor(DST),
                            .src0 = fake_tensor(SRC0)};
    if (!scalar)
        insn.src1 = fake_tensor(SRC1);
    return insn;
}

static const uint8_t types[] = {AKGEN_FLOAT, AKGEN_FLOAT16, AKGEN_INT32};

static void one_bit_per_element(void **state)
{
    (void)state;
    struct rng rng;
    rng_seed(&rng, 1);
    static const uint32_t repeats[] = {0, 1, 2, 7};
    for (int t = 0; t < 3; t++)
        for (int mode = 0; mode < CMPMODES; mode++)
            for (int i = 0; i < 16; i++) {
                if (types[t] == AKGEN_INT32 && mode != EQ)
                    continue;
                struct npu_core *core = fake_core(&rng);
                fill(&rng, types[t]);
                bool scalar = i & 1, level0 = i & 2;
                size_t size = akgen_dtype_size((enum akgen_dtype)types[t]);
                uint32_t per_repeat = (uint32_t)(256 / size);
                struct npu_insn insn = insn_of(types[t], mode, scalar);
                memcpy(&insn.scalar, fake_ub + 64 * size, size);
                uint32_t n = repeats[i / 4] * per_repeat;
                insn.form = !level0 ? NPU_FORM_COUNT : repeats[i / 4] % 2 ? NPU_FORM_MASK_LEN : NPU_FORM_MASK_BITS;
                insn.count = n;
                insn.repeat = repeats[i / 4];
                insn.mask[0] = 1; /* without effect */
                insn.src0_blk = 2;
                insn.src1_blk = 1;
                insn.src0_rep = 3;
                insn.src1_rep = 9;
                uint8_t before[64];
                memcpy(before, fake_ub + DST + n / 8, sizeof before);
                assert_null(fake_issue(core, &insn, npu_check_compare, npu_exec_compare, NULL, NULL));
                for (uint32_t k = 0; k < n; k++) {
                    uint32_t r = k / per_repeat, lane = k % per_repeat, block = (uint32_t)(lane * size / 32);
                    size_t within = lane * size % 32;
                    double a = load(fake_ub + SRC0 + (level0 ? (r * 3 + block * 2) * 32 + within : k * size), types[t]);
                    double b =
                        scalar ? load((uint8_t *)&insn.scalar, types[t])
                               : load(fake_ub + SRC1 + (level0 ? (r * 9 + block) * 32 + within : k * size), types[t]);
                    assert_int_equal(fake_ub[DST + k / 8] >> (k % 8) & 1, specified(a, b, mode));
                }
                assert_memory_equal(before, fake_ub + DST + n / 8, sizeof before);
                assert_int_equal(fake_note_count, 0);
                covered(&insn, covered_form(&insn, &core->regs));
                assert_true(core->regs.mask[0] == UINT64_MAX); /* the mask is no argument */
            }
}

static void undefined_inputs_make_undefined_bits(void **state)
{
    (void)state;
    struct rng rng;
    rng_seed(&rng, 2);
    struct npu_core *core = fake_core(&rng);
    struct npu_insn insn = insn_of(AKGEN_FLOAT, LT, false);
    insn.count = 128;
    npu_ub_undefine(core, fake_ub + DST, 16);
    npu_ub_undefine(core, fake_ub + SRC1 + 70 * 4 + 3, 1);
    assert_null(fake_issue(core, &insn, npu_check_compare, npu_exec_compare, NULL, NULL));
    for (uint32_t i = 0; i < 16; i++)
        assert_int_equal(npu_ub_bits(core, fake_ub + DST + i), i == 70 / 8 ? 0xff & ~(1 << 70 % 8) : 0xff);
    assert_int_equal(fake_undefined_reads, 1);
    assert_string_equal(fake_undefined, "src1");
}

/* NPU_INSN_CUT: nothing beyond the count is read, the bits there are 0, and an undefined element is one undefined
 * bit. */
static void cut_at_the_count(void **state)
{
    (void)state;
    struct rng rng;
    rng_seed(&rng, 7);
    for (int t = 0; t < 3; t++)
        for (uint32_t count = 1; count < 300; count += 1 + count / 9) {
            struct npu_core *core = fake_core(&rng);
            fill(&rng, types[t]);
            uint32_t size = (uint32_t)akgen_dtype_size((enum akgen_dtype)types[t]);
            struct npu_insn insn = insn_of(types[t], EQ, count & 1);
            insn.flags |= NPU_INSN_CUT;
            insn.count = count;
            memcpy(&insn.scalar, fake_ub + SRC1, size);
            uint32_t bad = count / 2;
            npu_ub_undefine(core, fake_ub + SRC0 + bad * size, 1);
            npu_ub_undefine(core, fake_ub + SRC0 + count * size, 512);
            struct npu_access accesses[NPU_MAX_ACCESSES];
            int n = 0;
            assert_null(fake_issue(core, &insn, npu_check_compare, npu_exec_compare, accesses, &n));
            for (int i = 1; i < n; i++)
                assert_int_equal(accesses[i].bytes, count * size);
            uint32_t per_repeat = 256 / size, end = (count + per_repeat - 1) / per_repeat * per_repeat;
            for (uint32_t k = 0; k < end; k++) {
                double a = load(fake_ub + SRC0 + k * size, types[t]);
                double b =
                    count & 1 ? load((uint8_t *)&insn.scalar, types[t]) : load(fake_ub + SRC1 + k * size, types[t]);
                assert_int_equal(fake_ub[DST + k / 8] >> (k % 8) & 1, k < count && specified(a, b, EQ));
                assert_int_equal(npu_ub_bits(core, fake_ub + DST + k / 8) >> (k % 8) & 1, k != bad);
            }
            assert_int_equal(fake_undefined_reads, 1);
        }
}

static void what_the_chip_does_instead(void **state)
{
    (void)state;
    struct rng rng;
    rng_seed(&rng, 3);
    struct npu_core *core = fake_core(&rng);
    memset(fake_ub + DST, 0xa5, 64);
    struct npu_insn insn = insn_of(AKGEN_FLOAT, NE, false);
    insn.count = 100;
    struct npu_access accesses[NPU_MAX_ACCESSES];
    int n = 0;
    assert_null(fake_issue(core, &insn, npu_check_compare, npu_exec_compare, accesses, &n));
    assert_string_equal(fake_last_note, "compare_count");
    assert_int_equal(fake_ub[DST + 8], 0xa5); /* only one whole repeat */
    assert_int_equal(n, 3);
    assert_int_equal(accesses[0].bytes, 8);
    assert_int_equal(accesses[1].bytes, 256);
    /* int32: EQ whatever was asked for. */
    core = fake_core(&rng);
    fill(&rng, AKGEN_INT32);
    insn = insn_of(AKGEN_INT32, GT, false);
    insn.count = 64;
    assert_null(fake_issue(core, &insn, npu_check_compare, npu_exec_compare, NULL, NULL));
    assert_string_equal(fake_last_note, "compare_int32_mode");
    for (uint32_t k = 0; k < 64; k++)
        assert_int_equal(fake_ub[DST + k / 8] >> (k % 8) & 1,
                         load(fake_ub + SRC0 + k * 4, AKGEN_INT32) == load(fake_ub + SRC1 + k * 4, AKGEN_INT32));
    insn = insn_of(AKGEN_INT16, EQ, false);
    insn.count = 128;
    assert_string_equal(fake_issue(core, &insn, npu_check_compare, npu_exec_compare, NULL, NULL), "vec_dtype");
    insn = insn_of(AKGEN_FLOAT, 6, false);
    assert_string_equal(fake_issue(core, &insn, npu_check_compare, npu_exec_compare, NULL, NULL), "compare_mode");
}

static void without_dst_into_the_register_under_the_mask(void **state)
{
    (void)state;
    struct rng rng;
    rng_seed(&rng, 4);
    for (int t = 0; t < 2; t++)
        for (int mode = 0; mode < CMPMODES; mode++) {
            struct npu_core *core = fake_core(&rng);
            fill(&rng, types[t]);
            memset(core->results.cmp_mask, 0xf0, 16);
            struct npu_insn insn = insn_of(types[t], mode, false);
            insn.dst.addr = 0;
            insn.form = NPU_FORM_MASK_BITS;
            insn.mask[0] = rng_next(&rng) | 1;
            insn.mask[1] = types[t] == AKGEN_FLOAT16 ? rng_next(&rng) : 0;
            insn.src0_blk = 1;
            insn.src1_blk = 2;
            assert_null(fake_issue(core, &insn, npu_check_compare, npu_exec_compare, NULL, NULL));
            size_t size = akgen_dtype_size((enum akgen_dtype)types[t]);
            for (uint32_t lane = 0; lane < 128; lane++) {
                bool in = npu_lane_selected(insn.mask, lane);
                double a = load(fake_ub + SRC0 + lane * size, types[t]);
                double b = load(fake_ub + SRC1 + lane * size / 32 * 64 + lane * size % 32, types[t]);
                assert_int_equal(core->results.cmp_mask[lane / 8] >> (lane % 8) & 1,
                                 in ? specified(a, b, mode) : lane % 8 >= 4);
            }
        }
}

/* SetCmpMask and GetCmpMask move 16 bytes, whatever the tensor's type. */
static void the_register_moves_to_and_from_ub(void **state)
{
    (void)state;
    struct rng rng;
    rng_seed(&rng, 9);
    for (uint8_t type = 0; type < AKGEN_DTYPE_CODES; type++) {
        if (!(npu_isa[NPU_OP_SET_CMP_MASK].types >> type & 1))
            continue;
        struct npu_core *core = fake_core(&rng);
        uint32_t from = (uint32_t)rng_integer(&rng, 0, 100) * 16, to = DST + (uint32_t)rng_integer(&rng, 0, 100) * 16;
        uint8_t want[SMALL_UB];
        memcpy(want, fake_ub, SMALL_UB);
        memcpy(want + to, want + from, 16);
        npu_ub_undefine(core, fake_ub + to, 16);
        struct npu_insn set = {
            .op = NPU_OP_SET_CMP_MASK, .dst_type = type, .src_type = type, .src0 = fake_tensor(from)};
        struct npu_insn get = {.op = NPU_OP_GET_CMP_MASK, .dst_type = type, .src_type = type, .dst = fake_tensor(to)};
        assert_null(fake_issue(core, &set, npu_check_set_cmp_mask, npu_exec_set_cmp_mask, NULL, NULL));
        assert_null(fake_issue(core, &get, npu_check_get_cmp_mask, npu_exec_get_cmp_mask, NULL, NULL));
        assert_memory_equal(fake_ub, want, SMALL_UB);
        assert_true(npu_ub_defined(core, fake_ub + to, 16));
        covered(&set, COUNT);
        if (npu_isa[NPU_OP_GET_CMP_MASK].types >> type & 1) /* GetCmpMask has no 64-bit types */
            covered(&get, COUNT);
        set.src0.addr += 8;
        assert_string_equal(fake_issue(core, &set, npu_check_set_cmp_mask, npu_exec_set_cmp_mask, NULL, NULL),
                            "misaligned_address");
        get.dst.addr = (uint64_t)(fake_ub + SMALL_UB);
        assert_string_equal(fake_issue(core, &get, npu_check_get_cmp_mask, npu_exec_get_cmp_mask, NULL, NULL),
                            "ub_out_of_bounds");
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_bit_per_element),
        cmocka_unit_test(undefined_inputs_make_undefined_bits),
        cmocka_unit_test(cut_at_the_count),
        cmocka_unit_test(what_the_chip_does_instead),
        cmocka_unit_test(the_register_moves_to_and_from_ub),
        cmocka_unit_test(without_dst_into_the_register_under_the_mask),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
