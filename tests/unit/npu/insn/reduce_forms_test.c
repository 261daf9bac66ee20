/* Every reduction of isa.def in both data types, every form and every ReduceOrder against the documented tree: sums of
 * neighbours, the first of equal extremes, a NaN before every number. Masks, repeats and strides around every
 * boundary. */
/* test: leaves=covered with=core builds=both */
#include "unit/npu/coverage.h"
#include "elements.h"
#include "unit/npu/core.h"

enum { DST = 0, SRC = 0x8000, TMP = 0xc000, ROOM = 0x4000, LANES = 128 };
enum { VALUE_INDEX, INDEX_VALUE, ONLY_VALUE, ONLY_INDEX, ORDERS };
enum kind { NO_KIND, WHOLE, BLOCK, PAIR, ACCUMULATE, ALL };
struct instruction {
    enum kind kind;
    fake_check *check;
    fake_execute *execute;
    const char *family;
};
static const struct instruction families[] = {{WHOLE, npu_check_whole_reduce, npu_exec_whole_reduce, "whole_reduce"},
                                              {BLOCK, npu_check_block_reduce, npu_exec_block_reduce, "block_reduce"},
                                              {PAIR, npu_check_pair_reduce, npu_exec_pair_reduce, "pair_reduce"},
                                              {ACCUMULATE, npu_check_vcadd_acc, npu_exec_vcadd_acc, "vcadd_acc"},
                                              {ALL, npu_check_reduce, npu_exec_reduce, "reduce"}};

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
    return (struct instruction){.kind = NO_KIND};
}

static bool is_max(uint16_t op)
{
    return op == NPU_OP_WHOLE_REDUCE_MAX || op == NPU_OP_BLOCK_REDUCE_MAX || op == NPU_OP_REDUCE_MAX;
}
static bool is_min(uint16_t op)
{
    return op == NPU_OP_WHOLE_REDUCE_MIN || op == NPU_OP_BLOCK_REDUCE_MIN || op == NPU_OP_REDUCE_MIN;
}

/* The elements of one repeat; what is not selected is 0. */
struct repeat {
    uint32_t lanes;
    uint8_t type;
    long double value[LANES];
    bool selected[LANES];
};

static struct repeat repeat_of(const struct npu_insn *insn, const struct npu_regs *regs, uint32_t r)
{
    uint32_t bits = npu_element_bits(insn->src_type), lanes = form_lanes(bits, bits);
    struct repeat repeat = {.lanes = lanes, .type = insn->src_type};
    for (uint32_t i = 0; i < lanes; i++) {
        repeat.selected[i] = form_selects(insn, regs, lanes, r, i);
        size_t bit = SRC * 8 + form_bit(insn, lanes, bits, insn->src0_blk, insn->src0_rep, r, i);
        repeat.value[i] = repeat.selected[i] ? element_load(fake_ub, bit, insn->src_type) : 0;
    }
    return repeat;
}

/* The sum of neighbours, then of neighbouring sums; n is a power of two. */
static long double tree(const long double *a, uint32_t n, uint8_t type)
{
    return n == 1 ? a[0] : element_rounded(tree(a, n / 2, type) + tree(a + n / 2, n / 2, type), type);
}

static bool better(long double a, long double b, bool max)
{
    return isnan(a) ? !isnan(b) : max ? a > b : a < b;
}

static int extreme(const struct repeat *repeat, uint32_t from, uint32_t n, bool max)
{
    int best = -1;
    for (uint32_t i = from; i < from + n; i++)
        if (repeat->selected[i] && (best < 0 || better(repeat->value[i], repeat->value[best], max)))
            best = (int)i;
    return best;
}

static uint8_t want[SMALL_UB];
static struct npu_results want_results;

static void put(size_t at, uint8_t type, long double value)
{
    element_store(want, at * 8, type, value);
}

static uint64_t bits_of(uint8_t type, long double value)
{
    uint64_t bits = 0;
    element_store((uint8_t *)&bits, 0, type, value);
    return bits;
}

static void specify_whole(const struct npu_insn *insn, const struct repeat *repeat, uint32_t r)
{
    uint32_t size = insn->src_type == AKGEN_FLOAT ? 4 : 2;
    bool sum = !is_max(insn->op) && !is_min(insn->op);
    uint32_t unit = sum || insn->mode == ONLY_VALUE ? size : insn->mode == ONLY_INDEX ? 4 : 2 * size;
    size_t at = DST + (size_t)r * insn->dst_rep * unit;
    if (sum) {
        put(at, insn->src_type, tree(repeat->value, repeat->lanes, repeat->type));
        return;
    }
    uint32_t lane = (uint32_t)extreme(repeat, 0, repeat->lanes, is_max(insn->op));
    if (insn->mode != ONLY_INDEX)
        put(at + (insn->mode == INDEX_VALUE ? size : 0), insn->src_type, repeat->value[lane]);
    if (insn->mode != ONLY_VALUE)
        memcpy(want + at + (insn->mode == VALUE_INDEX ? size : 0), &lane, insn->mode == ONLY_INDEX ? 4 : size);
    long double best = element_load((const uint8_t *)&want_results.reduce_value, 0, insn->src_type);
    if (r == 0 || better(repeat->value[lane], best, is_max(insn->op))) {
        want_results.reduce_value = bits_of(insn->src_type, repeat->value[lane]);
        want_results.reduce_index = (uint64_t)r * repeat->lanes + lane;
    }
}

/* One result for each unit of so many elements, if one of them is selected. */
static void specify_units(const struct npu_insn *insn, const struct repeat *repeat, uint32_t r, uint32_t unit)
{
    uint32_t size = insn->src_type == AKGEN_FLOAT ? 4 : 2;
    size_t at = DST + (size_t)r * insn->dst_rep * (repeat->lanes / unit) * size;
    for (uint32_t i = 0; i < repeat->lanes; i += unit) {
        int first = extreme(repeat, i, unit, is_max(insn->op));
        if (first < 0)
            continue;
        bool sum = !is_max(insn->op) && !is_min(insn->op);
        put(at + i / unit * size, insn->src_type,
            sum ? tree(repeat->value + i, unit, repeat->type) : repeat->value[first]);
    }
}

/* ReduceSum with a mask: the repeats' sums by trees of a repeat each, until one is left. */
static long double tree_of_trees(long double *sums, uint32_t n, uint32_t lanes, uint8_t type)
{
    while (n > 1) {
        uint32_t next = (n + lanes - 1) / lanes;
        for (uint32_t i = 0; i < next; i++) {
            long double part[LANES] = {0};
            for (uint32_t k = 0; k < lanes && i * lanes + k < n; k++)
                part[k] = sums[i * lanes + k];
            sums[i] = tree(part, lanes, type);
        }
        n = next;
    }
    return sums[0];
}

static void specify_all(const struct npu_insn *insn, const struct npu_regs *regs, uint32_t repeats)
{
    static long double sums[256];
    uint8_t type = insn->src_type;
    uint32_t size = type == AKGEN_FLOAT ? 4 : 2, lanes = 256 / size, index = 0;
    bool sum = insn->op == NPU_OP_REDUCE_SUM, added = insn->form == NPU_FORM_COUNT || insn->form == NPU_FORM_MASK_REG;
    long double result = 0;
    for (uint32_t r = 0; r < repeats; r++) {
        struct repeat repeat = repeat_of(insn, regs, r);
        sums[r] = tree(repeat.value, lanes, type);
        if (sum && added)
            result = r ? element_rounded(result + sums[r], type) : sums[r];
        uint32_t lane = (uint32_t)extreme(&repeat, 0, lanes, is_max(insn->op));
        if (!sum && (r == 0 || better(repeat.value[lane], result, is_max(insn->op)))) {
            result = repeat.value[lane];
            index = r * (insn->form == NPU_FORM_COUNT ? lanes : (uint32_t)insn->src0_rep * 32 / size) + lane;
        }
    }
    if (!repeats)
        return;
    put(DST, type, sum && !added ? tree_of_trees(sums, repeats, lanes, type) : result);
    if (sum && added)
        want_results.acc_value = bits_of(type, result);
    if (insn->flags & NPU_INSN_CAL_INDEX)
        memcpy(want + DST + size, &index, size);
    if (sum)
        return;
    want_results.reduce_value = bits_of(type, result);
    want_results.reduce_index = repeats == 1 ? index : 0;
}

static void specify(const struct npu_insn *insn, const struct npu_regs *regs, enum kind kind)
{
    uint32_t bits = npu_element_bits(insn->src_type), lanes = form_lanes(bits, bits);
    uint32_t repeats = form_turns(insn, regs, lanes);
    long double sum = 0;
    for (uint32_t r = 0; r < repeats && kind != ALL; r++) {
        struct repeat repeat = repeat_of(insn, regs, r);
        if (kind == WHOLE)
            specify_whole(insn, &repeat, r);
        else if (kind != ACCUMULATE)
            specify_units(insn, &repeat, r, kind == PAIR ? 2 : lanes / 8);
        long double partial = tree(repeat.value, lanes, repeat.type);
        sum = r ? element_rounded(sum + partial, repeat.type) : partial;
    }
    if (kind == ALL)
        specify_all(insn, regs, repeats);
    if (kind == ACCUMULATE && repeats)
        want_results.acc_value = bits_of(insn->src_type, sum);
}

/* A NaN, infinities and both zeros among few values that tie, or numbers whose sums round. */
static void put_numbers(struct rng *rng, uint8_t type, bool ties)
{
    static const float few[] = {0.0f, -0.0f, 1.0f, -1.0f, 2.5f, -2.5f, 2.5f, -2.5f, 1.0f, 0.5f, INFINITY, -INFINITY};
    size_t size = type == AKGEN_FLOAT ? 4 : 2;
    for (size_t i = 0; i < ROOM; i += size) {
        long double number = (long double)rng_integer(rng, -10000, 10000) * 0.0137L;
        if (ties)
            number = rng_integer(rng, 0, 400) ? few[rng_integer(rng, 0, 12)] : NAN;
        element_store(fake_ub, (SRC + i) * 8, type, number);
    }
}

static bool same_bits(uint8_t type, uint64_t got, uint64_t expected)
{
    return got == expected || (isnan(element_load((const uint8_t *)&got, 0, type)) &&
                               isnan(element_load((const uint8_t *)&expected, 0, type)));
}

static void assert_as_specified(struct npu_core *core, const struct instruction *with, struct npu_insn *insn,
                                enum form form)
{
    memcpy(want, fake_ub, SMALL_UB);
    want_results = core->results;
    specify(insn, &core->regs, with->kind);
    struct npu_insn issued = *insn;
    const char *trap = fake_issue(core, &issued, with->check, with->execute, NULL, NULL);
    const char *type = akgen_dtype_name((enum akgen_dtype)insn->src_type), *name = npu_isa[insn->op].name;
    if (trap)
        fail_msg("%s of %s, %s: %s", name, type, form_names[form], trap);
    memcpy(want + TMP, fake_ub + TMP, ROOM); /* what is in sharedTmpBuffer is not documented */
    size_t size = insn->src_type == AKGEN_FLOAT ? 4 : 2;
    for (size_t i = 0; i < SMALL_UB; i += size)
        if (memcmp(fake_ub + i, want + i, size) && !element_same(insn, fake_ub, want, i * 8))
            fail_msg("%s of %s, %s, mode %d, %u repeats: byte %zu is %Lg, expected %Lg", name, type, form_names[form],
                     insn->mode, insn->repeat, i, element_load(fake_ub, i * 8, insn->src_type),
                     element_load(want, i * 8, insn->src_type));
    assert_true(same_bits(insn->src_type, core->results.acc_value, want_results.acc_value));
    assert_true(same_bits(insn->src_type, core->results.reduce_value, want_results.reduce_value));
    assert_int_equal(core->results.reduce_index, want_results.reduce_index);
    covered(insn, form);
}

static bool exists(enum kind kind, uint16_t op, enum form form)
{
    if (kind != ALL)
        return form != COUNT;
    return form == COUNT || form == LENGTH || form == BITS ||
           (op == NPU_OP_REDUCE_SUM && (form == REG || form == REG_COUNTER));
}

static void one_form(struct rng *rng, uint16_t op, uint8_t type, enum form form)
{
    struct instruction with = instruction_of(op);
    uint32_t bits = npu_element_bits(type);
    for (uint32_t turn = 0; turn < FORM_TURNS; turn++) {
        struct npu_core *core = fake_core(rng);
        put_numbers(rng, type, is_max(op) || is_min(op));
        struct npu_insn insn = {.op = op,
                                .src_type = type,
                                .dst_type = type,
                                .src0 = fake_tensor(SRC),
                                .aux = fake_tensor(TMP),
                                .mode = with.kind == WHOLE && (is_max(op) || is_min(op)) ? turn % ORDERS : 0};
        if (with.kind != ACCUMULATE)
            insn.dst = fake_tensor(DST);
        struct form_room room = {.bytes = ROOM, .repeats = 255};
        form_put(&insn, &core->regs, form, turn, bits, bits, &room);
        if (with.kind == ALL && form != COUNT) {
            insn.src0_blk = 1;
            insn.src0_rep = insn.repeat * 8 * 32 > ROOM ? (uint16_t)(turn % 2) : 8;
        }
        if (with.kind == ALL && (form == REG || form == REG_COUNTER))
            insn.repeat = 1, insn.src0_rep = 8; /* as the API says */
        if (with.kind == ALL && op != NPU_OP_REDUCE_SUM && turn % 2)
            insn.flags = NPU_INSN_CAL_INDEX;
        insn.dst_rep = (uint16_t)(turn % 3 && insn.repeat < 100 ? turn % 3 : 1);
        if (turn % 7 == 6)
            insn.dst_rep = 0;
        assert_as_specified(core, &with, &insn, form);
    }
}

static void every_reduction_and_form(void **state)
{
    (void)state;
    struct rng rng;
    rng_seed(&rng, 1);
    for (uint16_t op = 1; op < NPU_OPS; op++)
        for (uint8_t type = 0; type < AKGEN_DTYPE_CODES && instruction_of(op).kind != NO_KIND; type++)
            for (enum form form = 0; form < FORMS && npu_isa[op].types >> type & 1; form++)
                if (exists(instruction_of(op).kind, op, form))
                    one_form(&rng, op, type, form);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_reduction_and_form)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
