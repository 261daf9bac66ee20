/* Add to Not: values against elements.h and definedness, on sizes around every boundary, with masks and strides. */
/* test: with=core builds=both */
#include "elements.h"
#include "unit/npu/core.h"

enum { DST = 0x1000, SRC0 = 0x4000, SRC1 = 0x8000, SPAN = 0x3000 };

struct family {
    fake_check *check;
    fake_execute *execute;
    bool has_src1, has_scalar, reads_dst;
};
static struct family family_of(uint16_t op)
{
#define NPU_INSN(id, name, pipe, family, types, ...) [NPU_OP_##id] = #family,
    static const char *const families[NPU_OPS] = {
#include "abi/isa.def"
    };
#undef NPU_INSN
    if (!strcmp(families[op], "binary"))
        return (struct family){npu_check_binary, npu_exec_binary, true, false, false};
    if (!strcmp(families[op], "ternary"))
        return (struct family){npu_check_ternary, npu_exec_ternary, op == NPU_OP_FUSED_MUL_ADD, op == NPU_OP_AXPY,
                               true};
    if (!strcmp(families[op], "scalar"))
        return (struct family){npu_check_scalar, npu_exec_scalar, false, true, false};
    return (struct family){npu_check_unary, npu_exec_unary, false, false, false};
}

static uint8_t want[SMALL_UB];
static bool want_defined[SMALL_UB];

static bool all_defined(const uint8_t *at, size_t size)
{
    bool all = true;
    for (size_t i = 0; i < size; i++)
        all = all && want_defined[at - fake_ub + i];
    return all;
}

static void specify_lane(const struct npu_insn *insn, const struct family *f, size_t d, size_t s0, size_t s1)
{
    size_t size = akgen_dtype_size((enum akgen_dtype)insn->dst_type),
           from = akgen_dtype_size((enum akgen_dtype)insn->src_type);
    long double b = f->has_src1     ? element_load(want + s1, 0, insn->src_type)
                    : f->has_scalar ? element_load((const uint8_t *)&insn->scalar, 0, insn->src_type)
                                    : 0;
    bool defined = all_defined(fake_ub + s0, from) && (!f->has_src1 || all_defined(fake_ub + s1, from)) &&
                   (!f->reads_dst || all_defined(fake_ub + d, size));
    /* These work on bits: one is defined if both operands' are, or if one that is defined decides alone. */
    bool by_bit = insn->op == NPU_OP_AND || insn->op == NPU_OP_OR || insn->op == NPU_OP_NOT;
    for (size_t i = 0; by_bit && i < size; i++) {
        uint8_t alone = insn->op == NPU_OP_AND ? 0 : 1, known = 0;
        for (int bit = 0; bit < 8; bit++) {
            bool both = want_defined[s0 + i] && (!f->has_src1 || want_defined[s1 + i]);
            bool first = want_defined[s0 + i] && (want[s0 + i] >> bit & 1) == alone;
            bool second = want_defined[s1 + i] && (want[s1 + i] >> bit & 1) == alone;
            known = (uint8_t)(known + (both || (f->has_src1 && (first || second))));
        }
        want_defined[d + i] = known == 8;
    }
    element_store(
        want + d, 0, insn->dst_type,
        element_of(insn, 0, element_load(want + s0, 0, insn->src_type), b, element_load(want + d, 0, insn->dst_type)));
    if (!by_bit)
        memset(want_defined + d, defined, size);
}

/* Runs the instruction and the specification from the same UB, then compares every byte of UB and every definedness
 * bit. */
static void assert_as_specified(struct npu_core *core, struct npu_insn *insn)
{
    struct family f = family_of(insn->op);
    memcpy(want, fake_ub, SMALL_UB);
    for (size_t i = 0; i < SMALL_UB; i++)
        want_defined[i] = fake_ub_flag[i];
    size_t dst_size = akgen_dtype_size((enum akgen_dtype)insn->dst_type),
           src_size = akgen_dtype_size((enum akgen_dtype)insn->src_type);
    size_t per_repeat = 256 / (dst_size > src_size ? dst_size : src_size);
    bool level2 = insn->form == NPU_FORM_COUNT;
    uint32_t repeats = level2 ? (uint32_t)((insn->count + per_repeat - 1) / per_repeat) : insn->repeat;
    for (uint32_t r = 0; r < repeats; r++)
        for (uint32_t lane = 0; lane < per_repeat; lane++) {
            bool in = level2                            ? r * per_repeat + lane < insn->count
                      : insn->form == NPU_FORM_MASK_LEN ? lane < insn->mask[0]
                                                        : npu_lane_selected(insn->mask, lane);
            size_t db = 32 / dst_size, sb = 32 / src_size;
            if (in)
                specify_lane(insn, &f,
                             DST + (level2 ? r * per_repeat * dst_size : (size_t)r * insn->dst_rep * 32) +
                                 lane / db * (level2 ? 1 : insn->dst_blk) * 32 + lane % db * dst_size,
                             SRC0 + (level2 ? r * per_repeat * src_size : (size_t)r * insn->src0_rep * 32) +
                                 lane / sb * (level2 ? 1 : insn->src0_blk) * 32 + lane % sb * src_size,
                             SRC1 + (level2 ? r * per_repeat * src_size : (size_t)r * insn->src1_rep * 32) +
                                 lane / sb * (level2 ? 1 : insn->src1_blk) * 32 + lane % sb * src_size);
        }
    assert_null(fake_issue(core, insn, f.check, f.execute, NULL, NULL));
    for (size_t i = 0; i < SMALL_UB; i++)
        assert_int_equal(fake_ub_flag[i], want_defined[i]);
    for (size_t i = 0; i < SMALL_UB; i += dst_size)
        if (memcmp(fake_ub + i, want + i, dst_size) && !element_same(insn, fake_ub, want, i * 8))
            fail_msg("%s %s at %zu: %La, specified %La", npu_isa[insn->op].name,
                     akgen_dtype_name((enum akgen_dtype)insn->dst_type), i,
                     element_load(fake_ub + i, 0, insn->dst_type), element_load(want + i, 0, insn->dst_type));
}

static const uint16_t arithmetic[] = {
    NPU_OP_ADD,  NPU_OP_SUB,   NPU_OP_DIV,           NPU_OP_MUL,  NPU_OP_MAX,  NPU_OP_MIN,
    NPU_OP_AND,  NPU_OP_OR,    NPU_OP_FUSED_MUL_ADD, NPU_OP_AXPY, NPU_OP_ADDS, NPU_OP_MULS,
    NPU_OP_MAXS, NPU_OP_MINS,  NPU_OP_LEAKY_RELU,    NPU_OP_ABS,  NPU_OP_EXP,  NPU_OP_LN,
    NPU_OP_SQRT, NPU_OP_RSQRT, NPU_OP_RECIPROCAL,    NPU_OP_RELU, NPU_OP_NOT};
enum { ARITHMETIC = sizeof arithmetic / sizeof arithmetic[0] };
static const uint8_t all_types[] = {AKGEN_FLOAT, AKGEN_FLOAT16, AKGEN_INT16, AKGEN_INT32, AKGEN_UINT16};

/* Random bits include NaN, infinities and subnormals; half of the runs use values of one magnitude instead. */
static void fill(struct rng *rng, uint8_t type, bool tame)
{
    if (!tame)
        return;
    size_t size = akgen_dtype_size((enum akgen_dtype)type);
    for (size_t i = 0; i < SMALL_UB; i += size)
        element_store(fake_ub + i, 0, type,
                      type == AKGEN_FLOAT || type == AKGEN_FLOAT16 ? rng_normal(rng) * 4
                                                                   : (double)rng_integer(rng, -3000, 3000));
}

static struct npu_insn insn_of(struct rng *rng, uint16_t op, uint8_t type)
{
    struct npu_insn insn = {.op = op,
                            .dst_type = type,
                            .src_type = type,
                            .dst = fake_tensor(DST),
                            .src0 = fake_tensor(SRC0),
                            .scalar = rng_next(rng)};
    if (op == NPU_OP_AXPY && type == AKGEN_FLOAT16 && rng_integer(rng, 0, 2))
        insn.dst_type = AKGEN_FLOAT;
    if (family_of(op).has_src1)
        insn.src1 = fake_tensor(SRC1);
    return insn;
}

static bool has_type(uint16_t op, uint8_t type)
{
    return npu_isa[op].types >> type & 1;
}

static void every_size_of_level_2(void **state)
{
    (void)state;
    struct rng rng;
    rng_seed(&rng, 1);
    static const uint32_t counts[] = {0, 1, 7, 8, 63, 64, 65, 127, 128, 129, 255, 256, 257, 3000};
    for (int o = 0; o < ARITHMETIC; o++)
        for (size_t t = 0; t < sizeof all_types; t++)
            for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
                bool tame = i % 2;
                if (!has_type(arithmetic[o], all_types[t]))
                    continue;
                struct npu_core *core = fake_core(&rng);
                fill(&rng, all_types[t], tame);
                struct npu_insn insn = insn_of(&rng, arithmetic[o], all_types[t]);
                insn.form = NPU_FORM_COUNT;
                insn.count = counts[i] < SPAN / 4 ? counts[i] : SPAN / 4;
                if (tame)
                    element_store((uint8_t *)&insn.scalar, 0, insn.src_type, 3);
                assert_as_specified(core, &insn);
            }
}

static void masks_strides_and_undefined_bytes(void **state)
{
    (void)state;
    struct rng rng;
    rng_seed(&rng, 2);
    for (int o = 0; o < ARITHMETIC; o++)
        for (size_t t = 0; t < sizeof all_types; t++)
            for (int i = 0; i < 12; i++) {
                if (!has_type(arithmetic[o], all_types[t]))
                    continue;
                struct npu_core *core = fake_core(&rng);
                struct npu_insn insn = insn_of(&rng, arithmetic[o], all_types[t]);
                size_t size = akgen_dtype_size((enum akgen_dtype)insn.dst_type);
                insn.form = i % 2 ? NPU_FORM_MASK_BITS : NPU_FORM_MASK_LEN;
                insn.mask[0] = i % 2 ? rng_next(&rng) | 1 : (uint64_t)rng_integer(&rng, 1, (int64_t)(256 / size) + 1);
                insn.mask[1] = i % 2 && size == 2 ? rng_next(&rng) : 0;
                insn.repeat = (uint32_t)rng_integer(&rng, 0, 10);
                insn.dst_blk = (uint16_t)rng_integer(&rng, 1, 3);
                insn.src0_blk = (uint16_t)rng_integer(&rng, 0, 3);
                insn.src1_blk = (uint16_t)rng_integer(&rng, 0, 3);
                insn.dst_rep = (uint16_t)rng_integer(&rng, 0, 20);
                insn.src0_rep = (uint16_t)rng_integer(&rng, 0, 20);
                insn.src1_rep = (uint16_t)rng_integer(&rng, 0, 20);
                for (int k = 0; k < 40; k++)
                    npu_ub_undefine(core, fake_ub + rng_integer(&rng, 0, SMALL_UB), 1);
                assert_as_specified(core, &insn);
                assert_true(fake_undefined_reads <= 1);
            }
}

/* Every pair of zeros, infinities, NaN, subnormals and ordinary numbers. */
/* Bytes of 0 and 0xff beside undefined ones: a 0 decides an And and a 1 an Or, in place as well. */
static void one_operand_decides_bits(void **state)
{
    (void)state;
    enum { BYTES = 512 };
    struct rng rng;
    rng_seed(&rng, 9);
    for (int i = 0; i < 6; i++) {
        struct npu_core *core = fake_core(&rng);
        struct npu_insn insn = insn_of(&rng, i % 2 ? NPU_OP_OR : NPU_OP_AND, AKGEN_INT16);
        insn.dst.addr = i < 2 ? insn.dst.addr : i < 4 ? insn.src0.addr : insn.src1.addr;
        insn.form = NPU_FORM_COUNT;
        insn.count = BYTES / 2;
        bool defined[BYTES];
        for (size_t at = 0; at < BYTES; at++) {
            uint8_t alone = i % 2 ? 0xff : 0;
            fake_ub[SRC0 + at] = rng_next(&rng) % 2 ? 0 : 0xff;
            fake_ub[SRC1 + at] = rng_next(&rng) % 2 ? 0 : 0xff;
            bool first = rng_next(&rng) % 2, second = rng_next(&rng) % 2;
            if (!first)
                npu_ub_undefine(core, fake_ub + SRC0 + at, 1);
            if (!second)
                npu_ub_undefine(core, fake_ub + SRC1 + at, 1);
            defined[at] =
                (first && second) || (first && fake_ub[SRC0 + at] == alone) || (second && fake_ub[SRC1 + at] == alone);
        }
        struct family f = family_of(insn.op);
        assert_null(fake_issue(core, &insn, f.check, f.execute, NULL, NULL));
        for (size_t at = 0; at < BYTES; at++)
            assert_int_equal(fake_ub_flag[insn.dst.addr - (uint64_t)fake_ub + at], defined[at]);
    }
}

static void special_values(void **state)
{
    (void)state;
    static const double values[] = {0.0,     -0.0,     1.0,      -1.0,  INFINITY, -INFINITY, NAN,
                                    0x1p-24, -0x1p-24, 0x1p-149, 65504, -65504,   3.25};
    enum { VALUES = sizeof values / sizeof values[0] };
    struct rng rng;
    rng_seed(&rng, 6);
    for (int o = 0; o < ARITHMETIC; o++)
        for (size_t t = 0; t < 2; t++)
            for (int scalar = 0; scalar < VALUES; scalar++) {
                if (!has_type(arithmetic[o], all_types[t]))
                    continue;
                struct npu_core *core = fake_core(&rng);
                struct npu_insn insn = insn_of(&rng, arithmetic[o], all_types[t]);
                size_t size = akgen_dtype_size((enum akgen_dtype)insn.src_type),
                       to = akgen_dtype_size((enum akgen_dtype)insn.dst_type);
                for (int i = 0; i < VALUES * VALUES; i++) {
                    element_store(fake_ub + SRC0 + (size_t)i * size, 0, insn.src_type, values[i / VALUES]);
                    element_store(fake_ub + SRC1 + (size_t)i * size, 0, insn.src_type, values[i % VALUES]);
                    element_store(fake_ub + DST + (size_t)i * to, 0, insn.dst_type,
                                  values[(i / VALUES + i % VALUES) % VALUES]);
                }
                element_store((uint8_t *)&insn.scalar, 0, insn.src_type, values[scalar]);
                insn.count = VALUES * VALUES;
                assert_as_specified(core, &insn);
            }
}

static void integers_wrap(void **state)
{
    (void)state;
    struct rng rng;
    rng_seed(&rng, 3);
    struct npu_core *core = fake_core(&rng);
    int32_t a[3] = {INT32_MAX, INT32_MIN, 123456789}, b[3] = {1, -1, 987654321}, got[3];
    memcpy(fake_ub + SRC0, a, sizeof a);
    memcpy(fake_ub + SRC1, b, sizeof b);
    struct npu_insn insn = insn_of(&rng, NPU_OP_ADD, AKGEN_INT32);
    insn.count = 3;
    assert_null(fake_issue(core, &insn, npu_check_binary, npu_exec_binary, NULL, NULL));
    memcpy(got, fake_ub + DST, sizeof got);
    assert_int_equal(got[0], INT32_MIN);
    assert_int_equal(got[1], INT32_MAX);
    insn.op = NPU_OP_MUL;
    assert_null(fake_issue(core, &insn, npu_check_binary, npu_exec_binary, NULL, NULL));
    memcpy(got, fake_ub + DST, sizeof got);
    assert_int_equal(got[1], INT32_MIN);
    assert_int_equal(got[2], (int32_t)(uint32_t)(123456789ull * 987654321ull));
}

static int32_t shift(uint16_t op, uint8_t type, int32_t value, int64_t distance, bool round)
{
    struct npu_insn insn = {.op = op,
                            .form = NPU_FORM_COUNT,
                            .count = 1,
                            .dst_type = type,
                            .src_type = type,
                            .mode = round,
                            .dst = fake_tensor(DST),
                            .src0 = fake_tensor(SRC0),
                            .scalar = (uint64_t)distance};
    memcpy(fake_ub + SRC0, &value, 4);
    memset(fake_ub + DST, 0, 4);
    assert_null(fake_issue(&fake, &insn, npu_check_scalar, npu_exec_scalar, NULL, NULL));
    memcpy(&value, fake_ub + DST, 4);
    return value;
}

/* The examples of the documentation of ShiftLeft and ShiftRight, and the ends of the range. */
static void shifts(void **state)
{
    (void)state;
    struct rng rng;
    rng_seed(&rng, 4);
    fake_core(&rng);
    assert_int_equal(shift(NPU_OP_SHIFT_LEFT, AKGEN_UINT16, 0xaaaa, 1, false), 0x5554);
    assert_int_equal(shift(NPU_OP_SHIFT_LEFT, AKGEN_INT16, 0xaaaa, 1, false), 0xd554);
    assert_int_equal(shift(NPU_OP_SHIFT_LEFT, AKGEN_INT16, 0xaaaa, 3, false), 0xd550);
    assert_int_equal(shift(NPU_OP_SHIFT_RIGHT, AKGEN_UINT16, 0xaaaa, 1, false), 0x5555);
    assert_int_equal(shift(NPU_OP_SHIFT_RIGHT, AKGEN_INT16, 0xaaaa, 1, false), 0xd555);
    assert_int_equal(shift(NPU_OP_SHIFT_RIGHT, AKGEN_INT16, 0xaaaa, 3, false), 0xf555);
    assert_int_equal(shift(NPU_OP_SHIFT_RIGHT, AKGEN_INT16, 17, 5, false), 0);
    assert_int_equal(shift(NPU_OP_SHIFT_RIGHT, AKGEN_INT16, 17, 5, true), 1);
    assert_int_equal(shift(NPU_OP_SHIFT_RIGHT, AKGEN_INT32, -8, 1, true), -4);
    assert_int_equal(shift(NPU_OP_SHIFT_RIGHT, AKGEN_INT32, -7, 1, true), -3);
    assert_int_equal(shift(NPU_OP_SHIFT_RIGHT, AKGEN_INT32, -8, 32, false), -1);
    assert_int_equal(shift(NPU_OP_SHIFT_RIGHT, AKGEN_UINT32, -8, 32, false), 0);
    assert_int_equal(shift(NPU_OP_SHIFT_RIGHT, AKGEN_UINT16, 17, 5, true), 0); /* roundEn: signed types only */
    assert_int_equal(shift(NPU_OP_SHIFT_LEFT, AKGEN_INT32, INT32_MIN | 1, 32, false), INT32_MIN);
    struct npu_insn bad = {.op = NPU_OP_SHIFT_LEFT,
                           .count = 1,
                           .dst_type = AKGEN_INT16,
                           .src_type = AKGEN_INT16,
                           .dst = fake_tensor(DST),
                           .src0 = fake_tensor(SRC0),
                           .scalar = 17};
    assert_string_equal(fake_issue(&fake, &bad, npu_check_scalar, npu_exec_scalar, NULL, NULL), "vec_shift");
    bad.scalar = (uint64_t)-1;
    assert_string_equal(fake_issue(&fake, &bad, npu_check_scalar, npu_exec_scalar, NULL, NULL), "vec_shift");
}

/* dst of a compound instruction is listed as read and written. */
static void compound_instructions_read_dst(void **state)
{
    (void)state;
    struct rng rng;
    rng_seed(&rng, 5);
    struct npu_core *core = fake_core(&rng);
    struct npu_insn insn = insn_of(&rng, NPU_OP_FUSED_MUL_ADD, AKGEN_FLOAT);
    insn.count = 100;
    struct npu_access accesses[NPU_MAX_ACCESSES];
    int n = 0;
    assert_null(fake_issue(core, &insn, npu_check_ternary, npu_exec_ternary, accesses, &n));
    assert_int_equal(n, 4);
    assert_true(accesses[0].write);
    assert_true(accesses[3].addr == accesses[0].addr && accesses[3].bytes == 400 && !accesses[3].write);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_size_of_level_2),
        cmocka_unit_test(masks_strides_and_undefined_bytes),
        cmocka_unit_test(one_operand_decides_bits),
        cmocka_unit_test(special_values),
        cmocka_unit_test(integers_wrap),
        cmocka_unit_test(shifts),
        cmocka_unit_test(compound_instructions_read_dst),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
