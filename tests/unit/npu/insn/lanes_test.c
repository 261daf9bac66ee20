/* The walk over lanes against a plain loop over (repeat, lane), the footprints against the bytes that loop touches, and
 * every trap of the vector forms. */
/* test: with=core builds=both */
#include "unit/npu/core.h"

/* Where a lane of one operand lies, from the documentation's words: block of 32 bytes, block stride, repeat stride. */
static uint64_t address_of(uint64_t base, uint32_t bits, uint32_t blk, uint32_t rep, uint32_t repeat, uint32_t lane)
{
    uint32_t lanes_per_block = 256 / bits;
    return base + (uint64_t)repeat * rep * 32 + (uint64_t)(lane / lanes_per_block) * blk * 32 +
           (uint64_t)(lane % lanes_per_block) * bits / 8;
}

struct step {
    uint64_t dst, src0, src1;
};
enum { MAX_STEPS = 255 * 128 };
static struct step expected[MAX_STEPS], walked[MAX_STEPS];
static uint32_t walked_count, runs;

static void record(struct npu_core *core, const struct npu_insn *insn, const struct npu_regs *regs,
                   const struct npu_run *run, void *closure)
{
    (void)core, (void)regs, (void)closure;
    uint32_t dst_bytes = (uint32_t)akgen_dtype_size(insn->dst_type),
             src_bytes = (uint32_t)akgen_dtype_size(insn->src_type);
    runs++;
    for (uint32_t i = 0; i < run->n; i++)
        walked[walked_count++] =
            (struct step){(uint64_t)run->dst + (uint64_t)i * dst_bytes, (uint64_t)run->src0 + (uint64_t)i * src_bytes,
                          run->src1 ? (uint64_t)run->src1 + (uint64_t)i * src_bytes : 0};
}

static uint32_t specify(const struct npu_insn *insn, const struct npu_regs *regs)
{
    uint32_t dst_bits = (uint32_t)akgen_dtype_size(insn->dst_type) * 8,
             src_bits = (uint32_t)akgen_dtype_size(insn->src_type) * 8;
    uint32_t per_repeat = 2048 / (dst_bits > src_bits ? dst_bits : src_bits);
    bool level2 = insn->form == NPU_FORM_COUNT, counter = level2 || regs->counter;
    const uint64_t *mask = insn->form == NPU_FORM_MASK_REG ? regs->mask : insn->mask;
    uint64_t left = level2 ? insn->count : mask[0];
    uint32_t n = 0;
    for (uint32_t r = 0; counter ? left > 0 : r < insn->repeat; r++)
        for (uint32_t lane = 0; lane < per_repeat; lane++) {
            bool selected = counter                           ? left > 0
                            : insn->form == NPU_FORM_MASK_LEN ? lane < mask[0]
                                                              : mask[lane / 64] >> (lane % 64) & 1;
            if (!selected)
                continue;
            left -= counter;
            expected[n++] = (struct step){
                address_of(insn->dst.addr, dst_bits, level2 ? 1 : insn->dst_blk,
                           level2 ? per_repeat * dst_bits / 256 : insn->dst_rep, r, lane),
                address_of(insn->src0.addr, src_bits, level2 ? 1 : insn->src0_blk,
                           level2 ? per_repeat * src_bits / 256 : insn->src0_rep, r, lane),
                insn->src1.addr ? address_of(insn->src1.addr, src_bits, level2 ? 1 : insn->src1_blk,
                                             level2 ? per_repeat * src_bits / 256 : insn->src1_rep, r, lane)
                                : 0};
        }
    return n;
}

static void assert_walk(struct npu_core *core, const struct npu_insn *insn)
{
    uint32_t n = specify(insn, &core->regs);
    walked_count = runs = 0;
    npu_lanes(core, insn, &core->regs, record, NULL);
    assert_int_equal(walked_count, n);
    assert_memory_equal(walked, expected, n * sizeof expected[0]);
}

static const uint32_t lengths[] = {0, 1, 7, 8, 63, 64, 65, 127, 128, 129, 255, 256, 257, 1000};
static const uint8_t types[][2] = {{AKGEN_FLOAT, AKGEN_FLOAT},   {AKGEN_FLOAT16, AKGEN_FLOAT16},
                                   {AKGEN_FLOAT, AKGEN_FLOAT16}, {AKGEN_FLOAT16, AKGEN_FLOAT},
                                   {AKGEN_INT64, AKGEN_INT32},   {AKGEN_FLOAT16, AKGEN_INT8}};

static void counts_are_one_run(void **state)
{
    (void)state;
    struct rng rng;
    rng_seed(&rng, 1);
    struct npu_core *core = fake_core(&rng);
    for (size_t t = 0; t < 6; t++)
        for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++) {
            struct npu_insn insn = {.op = NPU_OP_ADD,
                                    .form = NPU_FORM_COUNT,
                                    .count = lengths[i],
                                    .dst_type = types[t][0],
                                    .src_type = types[t][1],
                                    .dst = fake_tensor(0),
                                    .src0 = fake_tensor(0x4000),
                                    .src1 = fake_tensor(0x8000)};
            assert_walk(core, &insn);
            assert_int_equal(runs, lengths[i] ? 1 : 0);
        }
}

static struct npu_insn random_insn(struct rng *rng, struct npu_core *core)
{
    size_t t = (size_t)rng_integer(rng, 0, 6);
    struct npu_insn insn = {.op = NPU_OP_ADD,
                            .dst_type = types[t][0],
                            .src_type = types[t][1],
                            .dst = fake_tensor(0),
                            .src0 = fake_tensor(0x5000),
                            .src1 = fake_tensor(0xa000)};
    size_t wide = akgen_dtype_size(insn.dst_type) > akgen_dtype_size(insn.src_type) ? akgen_dtype_size(insn.dst_type)
                                                                                    : akgen_dtype_size(insn.src_type);
    uint32_t per_repeat = (uint32_t)(256 / wide);
    insn.form = (uint8_t)rng_integer(rng, NPU_FORM_MASK_LEN, NPU_FORM_MASK_REG + 1);
    insn.repeat = (uint32_t)rng_integer(rng, 0, 12);
    insn.dst_blk = (uint16_t)rng_integer(rng, 1, 3);
    insn.src0_blk = (uint16_t)rng_integer(rng, 0, 3);
    insn.src1_blk = (uint16_t)rng_integer(rng, 0, 3);
    insn.dst_rep = (uint16_t)rng_integer(rng, 0, 12);
    insn.src0_rep = (uint16_t)rng_integer(rng, 0, 12);
    insn.src1_rep = (uint16_t)rng_integer(rng, 0, 12);
    core->regs.counter = rng_integer(rng, 0, 3) == 0;
    uint64_t *mask = insn.form == NPU_FORM_MASK_REG ? core->regs.mask : insn.mask;
    if (core->regs.counter) {
        mask[0] = (uint64_t)rng_integer(rng, 1, 600);
        mask[1] = 0;
    } else if (insn.form == NPU_FORM_MASK_LEN) {
        mask[0] = (uint64_t)rng_integer(rng, 1, per_repeat + 1);
    } else {
        mask[0] = rng_next(rng) & rng_next(rng);
        mask[1] = rng_next(rng) | rng_next(rng);
        if (per_repeat < 128)
            mask[1] = 0;
        if (per_repeat < 64)
            mask[0] &= UINT32_MAX;
        mask[0] |= 1;
    }
    return insn;
}

static void any_mask_and_stride_in_hardware_order(void **state)
{
    (void)state;
    struct rng rng;
    rng_seed(&rng, 2);
    struct npu_core *core = fake_core(&rng);
    for (int i = 0; i < 3000; i++) {
        struct npu_insn insn = random_insn(&rng, core);
        assert_walk(core, &insn);
    }
}

/* Bytes covered by the accesses of one operand. */
static void paint(uint8_t *map, const struct npu_access *a)
{
    for (uint32_t k = 0; k < a->count2; k++)
        for (uint32_t i = 0; i < a->count; i++) {
            uint64_t at = a->addr + (uint64_t)(k * a->stride2) + (uint64_t)(i * a->stride) - (uint64_t)fake_ub;
            assert_true(at + a->bytes <= SMALL_UB);
            memset(map + at, 1, a->bytes);
        }
}

static void footprints_cover_what_is_touched(void **state)
{
    (void)state;
    struct rng rng;
    rng_seed(&rng, 3);
    static uint8_t listed[SMALL_UB], touched[SMALL_UB];
    for (int i = 0; i < 2000; i++) {
        struct npu_core *core = &fake;
        if (!i)
            core = fake_core(&rng);
        struct npu_insn insn = random_insn(&rng, core);
        insn.dst_type = insn.src_type = types[i % 2][0];
        if (insn.form == NPU_FORM_MASK_LEN && !core->regs.counter && insn.mask[0] > 64)
            insn.mask[0] = 64;
        if (insn.form == NPU_FORM_MASK_BITS && !core->regs.counter)
            insn.mask[1] = 0;
        uint32_t n = specify(&insn, &core->regs);
        struct npu_access accesses[NPU_MAX_ACCESSES];
        core->insn = &insn;
        struct npu_regs regs = core->regs;
        bool holes = !regs.counter && insn.form != NPU_FORM_MASK_LEN;
        int count = npu_check_vector(core, &insn, &regs, accesses, "src0", "src1");
        assert_true(count <= NPU_MAX_ACCESSES);
        memset(listed, 0, sizeof listed);
        memset(touched, 0, sizeof touched);
        for (int k = 0; k < count; k++) {
            assert_int_equal(accesses[k].write, !strcmp(accesses[k].operand, "dst"));
            paint(listed, &accesses[k]);
        }
        size_t size = akgen_dtype_size(insn.src_type);
        for (uint32_t k = 0; k < n; k++) {
            memset(touched + (expected[k].dst - (uint64_t)fake_ub), 1, size);
            memset(touched + (expected[k].src0 - (uint64_t)fake_ub), 1, size);
            memset(touched + (expected[k].src1 - (uint64_t)fake_ub), 1, size);
        }
        for (size_t at = 0; at < SMALL_UB; at++) {
            if (touched[at])
                assert_true(listed[at]);
            else if (!holes) /* without holes in the mask the footprint is exact */
                assert_false(listed[at]);
        }
    }
}

static const char *fault_of(struct npu_insn insn)
{
    return fake_issue(&fake, &insn, npu_check_binary, npu_exec_binary, NULL, NULL);
}

/* Docs 掩码, table 5: too much counts as the maximum, nothing does nothing. */
static void masks_beyond_a_repeat_are_cut(void **state)
{
    (void)state;
    struct rng rng;
    rng_seed(&rng, 5);
    fake_core(&rng);
    enum { FLOATS = 64, DST = 2048 };
    struct npu_insn insn = {.op = NPU_OP_ADD,
                            .form = NPU_FORM_MASK_LEN,
                            .repeat = 1,
                            .src_type = AKGEN_FLOAT,
                            .dst_type = AKGEN_FLOAT,
                            .dst = fake_tensor(DST),
                            .src0 = fake_tensor(0),
                            .src1 = fake_tensor(256),
                            .dst_blk = 1,
                            .src0_blk = 1,
                            .src1_blk = 1};
    static const struct {
        enum npu_form form;
        uint64_t low, high;
        bool note, runs;
    } masks[] = {{NPU_FORM_MASK_LEN, FLOATS, 0, false, true},     {NPU_FORM_MASK_LEN, FLOATS + 1, 0, true, true},
                 {NPU_FORM_MASK_LEN, UINT64_MAX, 0, true, true},  {NPU_FORM_MASK_LEN, 0, 0, true, false},
                 {NPU_FORM_MASK_BITS, UINT64_MAX, 1, true, true}, {NPU_FORM_MASK_BITS, 0, UINT64_MAX, true, false},
                 {NPU_FORM_MASK_BITS, 0, 0, true, false}};
    for (size_t i = 0; i < sizeof masks / sizeof *masks; i++) {
        for (int k = 0; k <= FLOATS; k++) {
            ((float *)fake_ub)[k % FLOATS] = (float)(k % FLOATS);
            ((float *)(fake_ub + 256))[k % FLOATS] = 100;
            ((float *)(fake_ub + DST))[k] = -1;
        }
        insn.form = masks[i].form;
        insn.mask[0] = masks[i].low;
        insn.mask[1] = masks[i].high;
        int before = fake_note_count;
        assert_null(fault_of(insn));
        assert_int_equal(fake_note_count - before, masks[i].note);
        for (int k = 0; k < FLOATS; k++)
            assert_float_equal(((float *)(fake_ub + DST))[k], masks[i].runs ? 100 + k : -1, 0);
        assert_float_equal(((float *)(fake_ub + DST))[FLOATS], -1, 0);
    }
}

static void what_the_chip_does_not_forgive(void **state)
{
    (void)state;
    struct rng rng;
    rng_seed(&rng, 4);
    fake_core(&rng);
    const struct npu_insn good = {.op = NPU_OP_ADD,
                                  .form = NPU_FORM_MASK_LEN,
                                  .mask = {64},
                                  .repeat = 2,
                                  .dst_type = AKGEN_FLOAT,
                                  .src_type = AKGEN_FLOAT,
                                  .dst = fake_tensor(0),
                                  .src0 = fake_tensor(0x1000),
                                  .src1 = fake_tensor(0x2000),
                                  .dst_blk = 1,
                                  .src0_blk = 1,
                                  .src1_blk = 1,
                                  .dst_rep = 8,
                                  .src0_rep = 8,
                                  .src1_rep = 8};
    assert_null(fault_of(good));
    struct npu_insn bad = good;
    bad.src1.addr += 4;
    assert_string_equal(fault_of(bad), "vec_alignment");
    bad = good;
    bad.dst.addr = (uint64_t)&bad;
    bad.dst.position = NPU_GM;
    assert_string_equal(fault_of(bad), "vec_position");
    bad = good;
    bad.repeat = 256;
    assert_string_equal(fault_of(bad), "vec_repeat");
    bad = good;
    bad.dst_blk = 0;
    assert_string_equal(fault_of(bad), "vec_stride");
    bad.mask[0] = 8; /* one block: the stride is not used */
    assert_null(fault_of(bad));
    bad = good;
    bad.src_type = bad.dst_type = AKGEN_BF16;
    assert_string_equal(fault_of(bad), "vec_dtype");
    /* 128 elements of half fill a repeat, 129 do not fit. */
    bad = good;
    bad.src_type = bad.dst_type = AKGEN_FLOAT16;
    bad.mask[0] = 128;
    assert_null(fault_of(bad));
    /* A negative count of a level-2 call, and a count that wraps around 32 bits of bytes. */
    bad = good;
    bad.form = NPU_FORM_COUNT;
    bad.count = (uint32_t)-1;
    assert_string_equal(fault_of(bad), "vec_count");
    bad.count = 0x40000000;
    assert_string_equal(fault_of(bad), "vec_count");
    /* Nothing is done and nothing is checked but the form. */
    bad = good;
    bad.repeat = 0;
    assert_null(fault_of(bad));
}

static void partial_overlap_is_noted(void **state)
{
    (void)state;
    struct rng rng;
    rng_seed(&rng, 5);
    fake_core(&rng);
    struct npu_insn insn = {.op = NPU_OP_ADD,
                            .form = NPU_FORM_COUNT,
                            .count = 64,
                            .dst_type = AKGEN_FLOAT,
                            .src_type = AKGEN_FLOAT,
                            .dst = fake_tensor(0x1000),
                            .src0 = fake_tensor(0x1000),
                            .src1 = fake_tensor(0x2000)};
    assert_null(fault_of(insn));
    assert_int_equal(fake_note_count, 0); /* in place */
    insn.dst = fake_tensor(0x1020);
    assert_null(fault_of(insn));
    assert_int_equal(fake_note_count, 1);
    assert_string_equal(fake_last_note, "vec_overlap");
    insn.dst = fake_tensor(0x1100);
    assert_null(fault_of(insn));
    assert_int_equal(fake_note_count, 1); /* behind the source */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counts_are_one_run),
        cmocka_unit_test(any_mask_and_stride_in_hardware_order),
        cmocka_unit_test(footprints_cover_what_is_touched),
        cmocka_unit_test(masks_beyond_a_repeat_are_cut),
        cmocka_unit_test(what_the_chip_does_not_forgive),
        cmocka_unit_test(partial_overlap_is_noted),

    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
