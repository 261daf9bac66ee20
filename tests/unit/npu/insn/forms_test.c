/* Every element-wise instruction of isa.def, in every data type and form: random and special operands, counts, masks,
 * repeats and strides around every boundary, against one plain loop over repeats and elements. */
/* test: cost=8 leaves=covered with=core builds=both */
#include "unit/npu/coverage.h"
#include "elements.h"
#include "unit/npu/isa_types.h"
#include "unit/npu/core.h"

enum { ROOM = 0x4000, DST = 0, SRC0 = ROOM, SRC1 = 2 * ROOM, AUX = 3 * ROOM };

/* How an element comes about. */
enum rule { NO_RULE, ARITHMETIC, FILL, INDEX, MOVE, PICK, CHOOSE };
struct instruction {
    enum rule rule;
    fake_check *check;
    fake_execute *execute;
    const char *family;
};
#define FAMILY(name, family_rule) {family_rule, npu_check_##name, npu_exec_##name, #name}
static const struct instruction families[] = {
    FAMILY(binary, ARITHMETIC), FAMILY(ternary, ARITHMETIC),  FAMILY(scalar, ARITHMETIC), FAMILY(unary, ARITHMETIC),
    FAMILY(cast, ARITHMETIC),   FAMILY(compound, ARITHMETIC), FAMILY(duplicate, FILL),    FAMILY(create_index, INDEX),
    FAMILY(copy, MOVE),         FAMILY(gather, PICK),         FAMILY(select, CHOOSE)};

static struct instruction instruction_of(uint16_t op)
{
#define NPU_INSN(id, name, pipe, family, types, ...) [NPU_OP_##id] = #family,
    static const char *const names[NPU_OPS] = {
#include "abi/isa.def"
    };
#undef NPU_INSN
    for (size_t i = 0; i < sizeof families / sizeof *families; i++)
        if (names[op] && !strcmp(names[op], families[i].family))
            return families[i];
    return (struct instruction){.rule = NO_RULE};
}

static bool is_family(uint16_t op, const char *family)
{
    const char *name = instruction_of(op).family;
    return name && !strcmp(name, family);
}

/* Operands: of three elements one is special, one small, one of random bits. */
static void put_element(struct rng *rng, uint8_t *at, uint8_t type)
{
    static const long double specials[] = {0,
                                           -0.0L,
                                           1,
                                           -1,
                                           (long double)INFINITY,
                                           -INFINITY,
                                           (long double)NAN,
                                           65504,
                                           -65504,
                                           0x1p-24L,
                                           -0x1p-24L,
                                           0x1p-14L,
                                           0.5L,
                                           -0.5L,
                                           2.5L,
                                           32767,
                                           -32768,
                                           127,
                                           -128,
                                           0x1p31L,
                                           -0x1p31L,
                                           0x1p-149L,
                                           3e38L,
                                           -3e38L};
    static const int64_t ends[] = {INT64_MAX, INT64_MIN, INT32_MAX, INT32_MIN, INT16_MAX, INT16_MIN,
                                   0,         1,         -1,        127,       -128,      0x8000};
    bool floating = type == AKGEN_FLOAT || type == AKGEN_FLOAT16 || type == AKGEN_BF16;
    uint64_t bits = rng_next(rng), choice = bits >> 32;
    if (choice % 3 == 0 && floating)
        element_store(at, 0, type, specials[choice / 3 % (sizeof specials / sizeof *specials)]);
    else if (choice % 3 == 1 && floating)
        element_store(at, 0, type, (long double)(int32_t)bits * 0x1p-27L);
    else {
        int64_t end = ends[choice / 3 % (sizeof ends / sizeof *ends)];
        uint64_t value = floating || choice % 3 == 2 ? bits * 0x9e3779b97f4a7c15u : (uint64_t)end;
        memcpy(at, &value, type == AKGEN_INT4 ? 1 : akgen_dtype_size((enum akgen_dtype)type));
    }
}

static void put_operand(struct rng *rng, uint32_t offset, uint8_t type)
{
    size_t size = type == AKGEN_INT4 ? 1 : akgen_dtype_size((enum akgen_dtype)type);
    for (size_t i = 0; i < ROOM; i += size)
        put_element(rng, fake_ub + offset + i, type);
}

/* All of UB before each run of one instruction: written once, then restored. */
static uint8_t before[SMALL_UB], want[SMALL_UB];

static void put_operands(struct rng *rng, const struct npu_insn *insn)
{
    put_operand(rng, DST, insn->dst_type);
    put_operand(rng, SRC0, insn->src_type);
    put_operand(rng, SRC1, insn->src_type);
    for (size_t i = 0; i < ROOM; i += 8) {
        uint64_t bits = rng_next(rng);
        memcpy(fake_ub + AUX + i, &bits, 8);
    }
    size_t size = akgen_dtype_size((enum akgen_dtype)insn->src_type);
    for (size_t i = 0; i < ROOM && insn->op == NPU_OP_GATHER; i += 4) {
        uint32_t offset = (uint32_t)(rng_integer(rng, 0, (int64_t)((ROOM - 64) / size)) * (int64_t)size);
        memcpy(fake_ub + SRC1 + i, &offset, 4);
    }
    memcpy(before, fake_ub, SMALL_UB);
}

/* CreateVecIndex: a block from the one before, a repeat from the one before; by bits each element alone. */
static long double index_of(const struct npu_insn *insn, uint32_t lanes, uint32_t r, uint32_t lane)
{
    uint32_t per_block = lanes / 8;
    uint8_t type = insn->dst_type;
    long double value = element_load((const uint8_t *)&insn->scalar, 0, type);
    bool chained = insn->form != NPU_FORM_MASK_BITS;
    if (type != AKGEN_FLOAT16) /* the test's indices are exact */
        return value + r * lanes + lane;
    value = element_rounded(value + (chained ? lane % per_block : lane), type);
    for (uint32_t i = 0; chained && i < lane / per_block; i++)
        value = element_rounded(value + per_block, type);
    for (uint32_t i = 0; i < r; i++)
        value = element_rounded(value + lanes, type);
    return value;
}

/* One element; d, a, b are bits from the start of UB, `number` is its place among all elements. */
static void specify_element(const struct npu_insn *insn, const struct npu_regs *regs, enum rule rule, uint32_t lanes,
                            uint32_t r, uint32_t lane, size_t d, size_t a, size_t b)
{
    size_t size = akgen_dtype_size((enum akgen_dtype)insn->dst_type), bit = (size_t)r * lanes + lane;
    const uint8_t *scalar = (const uint8_t *)&insn->scalar, *from = want + a / 8;
    uint32_t offset;
    switch (rule) {
    case ARITHMETIC:
        element_store(want, d, insn->dst_type,
                      element_of(insn, regs->deq_scale, element_load(want, a, insn->src_type),
                                 insn->src1.addr ? element_load(want, b, insn->src_type)
                                                 : element_load(scalar, 0, insn->src_type),
                                 element_load(want, d, insn->dst_type)));
        return;
    case INDEX:
        element_store(want, d, insn->dst_type, index_of(insn, lanes, r, lane));
        return;
    case FILL:
        from = scalar;
        break;
    case PICK:
        memcpy(&offset, want + SRC1 + bit * 4, sizeof offset);
        from = want + SRC0 + insn->scalar1 + offset;
        break;
    case CHOOSE:
        bit = insn->mode == 0 ? lane : bit;
        if (!(want[AUX + bit / 8] >> bit % 8 & 1))
            from = insn->flags & NPU_INSN_SCALAR_SRC1 ? scalar : want + b / 8;
        break;
    default:
        break;
    }
    memcpy(want + d / 8, from, size);
}

/* The plain loop. */
static void specify(const struct npu_insn *insn, const struct npu_regs *regs, enum rule rule)
{
    uint32_t dst_bits = npu_element_bits(insn->dst_type), src_bits = npu_element_bits(insn->src_type);
    uint32_t lanes = form_lanes(dst_bits, src_bits);
    for (uint32_t r = 0; r < form_turns(insn, regs, lanes); r++)
        for (uint32_t lane = 0; lane < lanes; lane++)
            if (form_selects(insn, regs, lanes, r, lane))
                specify_element(insn, regs, rule, lanes, r, lane,
                                (insn->dst.addr - (uint64_t)fake_ub) * 8 +
                                    form_bit(insn, lanes, dst_bits, insn->dst_blk, insn->dst_rep, r, lane),
                                SRC0 * 8 + form_bit(insn, lanes, src_bits, insn->src0_blk, insn->src0_rep, r, lane),
                                SRC1 * 8 + form_bit(insn, lanes, src_bits, insn->src1_blk, insn->src1_rep, r, lane));
}

/* In counter mode Copy takes the mask as elements of each repeat. */
static void specify_counted_copy(const struct npu_insn *insn, const struct npu_regs *regs)
{
    uint32_t bits = npu_element_bits(insn->dst_type);
    uint64_t n = (insn->form == NPU_FORM_MASK_REG ? regs->mask : insn->mask)[0];
    for (uint32_t r = 0; r < insn->repeat; r++)
        for (uint32_t i = 0; i < n; i++)
            memcpy(want + DST + form_bit(insn, 1, bits, insn->dst_blk, insn->dst_rep, r, i) / 8,
                   want + SRC0 + form_bit(insn, 1, bits, insn->src0_blk, insn->src0_rep, r, i) / 8, bits / 8);
}

static struct npu_insn insn_of(uint16_t op, uint8_t src, uint8_t dst, int mode)
{
    struct npu_insn insn = {.op = op,
                            .mode = (uint8_t)mode,
                            .src_type = src,
                            .dst_type = dst,
                            .src1_type = src,
                            .dst = fake_tensor(DST),
                            .src0 = fake_tensor(SRC0)};
    insn.src0.bytes = ROOM;
    if (is_family(op, "duplicate") || is_family(op, "create_index"))
        insn.src0 = (struct npu_tensor){0};
    if (is_family(op, "binary") || is_family(op, "compound") || op == NPU_OP_FUSED_MUL_ADD || op == NPU_OP_GATHER ||
        (op == NPU_OP_SELECT && mode != 1))
        insn.src1 = fake_tensor(SRC1);
    if (op == NPU_OP_SELECT)
        insn.aux = fake_tensor(AUX);
    if (op == NPU_OP_SELECT && mode == 1)
        insn.flags = NPU_INSN_SCALAR_SRC1;
    return insn;
}

/* The scalar, registers and places that change from turn to turn. */
static void vary(struct rng *rng, struct npu_insn *insn, struct npu_regs *regs, uint32_t turn)
{
    uint32_t width = npu_element_bits(insn->src_type);
    put_element(rng, (uint8_t *)&insn->scalar, insn->src_type);
    if (insn->op == NPU_OP_SHIFT_LEFT || insn->op == NPU_OP_SHIFT_RIGHT)
        insn->scalar = turn % 4 ? turn % width : turn % 8 ? width : 0;
    if (insn->op == NPU_OP_CREATE_VEC_INDEX)
        element_store((uint8_t *)&insn->scalar, 0, insn->dst_type, (int)(turn * 37) - 500);
    if (insn->op == NPU_OP_GATHER)
        insn->scalar1 = turn % 3 * 16;
    element_store((uint8_t *)&regs->deq_scale, 0, AKGEN_FLOAT16, turn % 2 ? 1 : 0.0123L);
}

/* dst = src0, where that is legal: the same blocks, and nothing that a later repeat reads. */
static void put_in_place(struct npu_insn *insn, uint32_t turn)
{
    bool level2 = insn->form == NPU_FORM_COUNT;
    if (turn % 4 != 3 || !insn->src0.addr || insn->op == NPU_OP_GATHER ||
        npu_element_bits(insn->dst_type) != npu_element_bits(insn->src_type))
        return;
    insn->dst = insn->src0;
    if (level2)
        return;
    insn->dst_blk = insn->src0_blk = 1;
    insn->dst_rep = insn->src0_rep = insn->dst_rep < 8 && insn->repeat > ROOM / NPU_REPEAT ? 0 : 8;
    if (insn->repeat > ROOM / NPU_REPEAT)
        insn->repeat = ROOM / NPU_REPEAT;
}

/* Elements that an instruction may take: those of its narrowest table, and no more repeats than that table has. */
static struct form_room room_of(const struct npu_insn *insn)
{
    struct form_room room = {ROOM, 255, insn->dst_type == AKGEN_INT4 || insn->src_type == AKGEN_INT4};
    uint32_t lanes = form_lanes(npu_element_bits(insn->dst_type), npu_element_bits(insn->src_type));
    if (insn->op == NPU_OP_GATHER)
        room.repeats = ROOM / 4 / lanes;
    return room;
}

static void assert_as_specified(struct npu_core *core, const struct instruction *with, struct npu_insn *insn,
                                enum form form)
{
    bool counted_copy = insn->op == NPU_OP_COPY && core->regs.counter;
    memcpy(want, before, SMALL_UB);
    memcpy(fake_ub, before, SMALL_UB);
    if (counted_copy)
        specify_counted_copy(insn, &core->regs);
    else
        specify(insn, &core->regs, with->rule);
    struct npu_insn issued = *insn;
    const char *trap = fake_issue(core, &issued, with->check, with->execute, NULL, NULL);
    const char *from = akgen_dtype_name((enum akgen_dtype)insn->src_type),
               *to = akgen_dtype_name((enum akgen_dtype)insn->dst_type);
    if (trap)
        fail_msg("%s from %s to %s, %s: %s", npu_isa[insn->op].name, from, to, form_names[form], trap);
    uint32_t bits = npu_element_bits(insn->dst_type), step = bits < 8 ? 8 : bits;
    bool same = !memcmp(fake_ub, want, SMALL_UB);
    for (size_t bit = 0; !same && bit < SMALL_UB * 8; bit += step)
        if (memcmp(fake_ub + bit / 8, want + bit / 8, step / 8) &&
            (bits < 8 || !element_same(insn, fake_ub, want, bit)))
            fail_msg("%s from %s to %s, %s, mode %d, %u repeats, count %u: byte %zu is %Lg, expected %Lg",
                     npu_isa[insn->op].name, from, to, form_names[form], insn->mode, insn->repeat, insn->count, bit / 8,
                     element_load(fake_ub, bit, insn->dst_type), element_load(want, bit, insn->dst_type));
    covered(insn, form);
}

/* Modes to go through: round modes, SELMODE, roundEn; 1 where there is no mode. A Cast's mode may not exist. */
static int turns_of(uint16_t op)
{
    return op == NPU_OP_CAST ? MODES : op == NPU_OP_SELECT ? 3 : op == NPU_OP_SHIFT_RIGHT ? 2 : 1;
}

/* All turns of one form in one pair of types. A Cast's modes and a Select's take turns. */
static void one_form(struct rng *rng, uint16_t op, uint8_t src, uint8_t dst, enum form form)
{
    struct instruction with = instruction_of(op);
    if ((op == NPU_OP_COPY && form == COUNT) || (op == NPU_OP_GATHER && (form == REG || form == REG_COUNTER)) ||
        (op == NPU_OP_CREATE_VEC_INDEX && (form == REG || form == REG_COUNTER)))
        return; /* CANN has no such call */
    for (int mode = 0; mode < turns_of(op); mode++) {
        if (!isa_has_mode(op, src, dst, mode))
            continue;
        int turns = turns_of(op) > 1 ? FORM_COUNTS : FORM_TURNS;
        for (int turn = 0; turn < turns; turn++) {
            struct npu_insn insn = insn_of(op, src, dst, mode);
            struct form_room room = room_of(&insn);
            memset(&fake.regs, 0, sizeof fake.regs);
            vary(rng, &insn, &fake.regs, (uint32_t)turn);
            form_put(&insn, &fake.regs, form, (uint32_t)turn, npu_element_bits(dst), npu_element_bits(src), &room);
            if (op == NPU_OP_GATHER)
                insn.dst_blk = 1;
            if (op == NPU_OP_COPY && fake.regs.counter && insn.repeat > 3)
                insn.repeat = 3, insn.dst_rep = insn.src0_rep = 1;
            if (op == NPU_OP_COPY && fake.regs.counter) {
                uint64_t *n = form == COUNTER ? insn.mask : fake.regs.mask;
                *n = *n < 500 ? *n : 500;
            }
            if (op != NPU_OP_COPY || !fake.regs.counter)
                put_in_place(&insn, (uint32_t)turn);
            assert_as_specified(&fake, &with, &insn, form);
        }
    }
}

static void every_type_and_form(void **state)
{
    (void)state;
    struct rng rng;
    rng_seed(&rng, 1);
    for (uint16_t op = 1; op < NPU_OPS; op++)
        for (uint8_t src = 0; src < AKGEN_DTYPE_CODES && instruction_of(op).rule != NO_RULE; src++) {
            uint8_t dst[8];
            if (!(npu_isa[op].types >> src & 1))
                continue;
            int n = isa_destinations(op, src, dst);
            for (int i = 0; i < n; i++) {
                fake_core(&rng);
                struct npu_insn insn = insn_of(op, src, dst[i], 0);
                put_operands(&rng, &insn);
                for (enum form form = 0; form < FORMS; form++)
                    one_form(&rng, op, src, dst[i], form);
            }
        }
}

/* Every half through the instructions that take one operand or a scalar. */
static void every_half(void **state)
{
    (void)state;
    struct rng rng;
    rng_seed(&rng, 2);
    struct npu_core *core = fake_core(&rng);
    for (uint16_t op = 1; op < NPU_OPS; op++) {
        struct instruction with = instruction_of(op);
        if ((!is_family(op, "unary") && !is_family(op, "scalar")) || !(npu_isa[op].types >> AKGEN_FLOAT16 & 1))
            continue;
        for (uint32_t first = 0; first < 65536; first += ROOM / 2) {
            for (uint32_t i = 0; i < ROOM / 2; i++) {
                uint16_t bits = (uint16_t)(first + i);
                memcpy(before + SRC0 + 2 * i, &bits, 2);
            }
            struct npu_insn insn = insn_of(op, AKGEN_FLOAT16, AKGEN_FLOAT16, 0);
            element_store((uint8_t *)&insn.scalar, 0, AKGEN_FLOAT16, -0.37L);
            insn.form = NPU_FORM_COUNT;
            insn.count = ROOM / 2;
            assert_as_specified(core, &with, &insn, COUNT);
        }
    }
}

/* Rows of 附录/Memory矢量计算接口边界值汇总 that a plain formula could miss: signs of zeros, NaNs, what does not wrap. */
static void documented_special_values(void **state)
{
    (void)state;
    enum { F = AKGEN_FLOAT, H = AKGEN_FLOAT16, S = AKGEN_INT16, W = AKGEN_INT32, B = AKGEN_INT8 };
    const long double nan_ = (long double)NAN, inf = (long double)INFINITY;
    const struct {
        uint16_t op;
        uint8_t src, dst, mode;
        long double a, b, want;
    } rows[] = {{NPU_OP_LEAKY_RELU, H, H, 0, -0.0L, -65504, 0},
                {NPU_OP_LEAKY_RELU, F, F, 0, -0.0L, 2, -0.0L},
                {NPU_OP_LEAKY_RELU, H, H, 0, -0.0L, inf, nan_},
                {NPU_OP_LEAKY_RELU, H, H, 0, 0, nan_, 0},
                {NPU_OP_LEAKY_RELU, H, H, 0, inf, nan_, inf},
                {NPU_OP_LEAKY_RELU, H, H, 0, -65504, inf, -inf},
                {NPU_OP_CAST, F, F, RINT, -0.0L, 0, 0},
                {NPU_OP_CAST, F, F, FLOOR, inf, 0, inf},
                {NPU_OP_CAST, F, AKGEN_BF16, RINT, -0.0L, 0, -0.0L},
                {NPU_OP_CAST, F, H, RINT, 3.4028235e38L, 0, inf},
                {NPU_OP_CAST, F, AKGEN_INT64, RINT, nan_, 0, 0},
                {NPU_OP_CAST, H, B, RINT, -inf, 0, -128},
                {NPU_OP_ADD_RELU_CAST, F, H, 0, inf, -inf, 0},
                {NPU_OP_ADD_RELU_CAST, F, H, 0, nan_, 1, 0},
                {NPU_OP_ADD_RELU_CAST, F, H, 0, inf, 1, inf},
                {NPU_OP_ADD_RELU_CAST, S, B, 0, 32767, 32767, 127},
                {NPU_OP_ADD_RELU_CAST, S, B, 0, -32768, -32768, 0},
                {NPU_OP_SUB_RELU_CAST, S, B, 0, 32767, -32768, 127},
                {NPU_OP_SUB_RELU_CAST, F, H, 0, inf, inf, 0},
                {NPU_OP_ADD_RELU, H, H, 0, inf, -inf, nan_},
                {NPU_OP_ADD_RELU, F, F, 0, -0.0L, -0.0L, 0},
                {NPU_OP_MUL_CAST, H, B, 0, 0, inf, 0},
                {NPU_OP_MUL_CAST, H, B, 0, 65504, -65504, -128},
                {NPU_OP_ADD, S, S, 0, 32767, 32767, -2},
                {NPU_OP_SUB, W, W, 0, INT32_MIN, INT32_MAX, 1},
                {NPU_OP_MAX, F, F, 0, -0.0L, 0, 0},
                {NPU_OP_MAX, H, H, 0, inf, nan_, nan_},
                {NPU_OP_MIN, H, H, 0, 0, -0.0L, -0.0L},
                {NPU_OP_MINS, F, F, 0, -0.0L, inf, -0.0L},
                {NPU_OP_SUB, F, F, 0, -0.0L, 0, -0.0L},
                {NPU_OP_RSQRT, F, F, 0, -0.0L, 0, -inf},
                {NPU_OP_SQRT, H, H, 0, -0.0L, 0, -0.0L},
                {NPU_OP_RELU, H, H, 0, -0.0L, 0, 0},
                {NPU_OP_LN, F, F, 0, -0.0L, 0, -inf},
                {NPU_OP_EXP, H, H, 0, 65504, 0, inf}};
    struct rng rng;
    rng_seed(&rng, 3);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct npu_core *core = fake_core(&rng);
        struct instruction with = instruction_of(rows[i].op);
        struct npu_insn insn = insn_of(rows[i].op, rows[i].src, rows[i].dst, rows[i].mode);
        insn.form = NPU_FORM_COUNT;
        insn.count = 1;
        element_store((uint8_t *)&insn.scalar, 0, rows[i].src, rows[i].b);
        element_store(fake_ub, SRC0 * 8, rows[i].src, rows[i].a);
        element_store(fake_ub, SRC1 * 8, rows[i].src, rows[i].b);
        assert_null(fake_issue(core, &insn, with.check, with.execute, NULL, NULL));
        long double got = element_load(fake_ub, DST * 8, rows[i].dst), want_here = rows[i].want;
        if (isnan(want_here) ? !isnan(got) : got != want_here || !signbit(got) != !signbit(want_here))
            fail_msg("row %zu, %s(%Lg, %Lg) is %Lg, documented is %Lg", i, npu_isa[insn.op].name, rows[i].a, rows[i].b,
                     got, want_here);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_type_and_form), cmocka_unit_test(every_half),
                                       cmocka_unit_test(documented_special_values)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
