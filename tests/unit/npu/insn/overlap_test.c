/* Destination and source with bytes in common, against the documents' words: a repeat reads before it writes; what it
 * reads of another element of the repeat, or of an earlier repeat, is undefined but for the exceptions. */
/* test: with=core builds=both */
#include "unit/npu/core.h"

enum { BASE = 0x2000, AREA = 0x4000, LANES = 128 };

struct form {
    uint16_t op;
    uint8_t src, dst;
    bool two;     /* sources */
    bool adds_up; /* may add to what earlier repeats have left in src1 */
    bool within;  /* of a wider dst: noted, not undefined */
};
static const struct form forms[] = {{NPU_OP_ADD, AKGEN_FLOAT, AKGEN_FLOAT, true, true, false},
                                    {NPU_OP_ADD, AKGEN_INT32, AKGEN_INT32, true, true, false},
                                    {NPU_OP_ADD, AKGEN_INT16, AKGEN_INT16, true, false, false},
                                    {NPU_OP_DIV, AKGEN_FLOAT, AKGEN_FLOAT, true, false, false},
                                    {NPU_OP_CAST, AKGEN_FLOAT16, AKGEN_FLOAT, false, false, true},
                                    {NPU_OP_CAST, AKGEN_FLOAT, AKGEN_FLOAT16, false, false, false}};

static struct npu_insn random_overlap(struct rng *rng, const struct form *form)
{
    struct npu_insn insn = {.op = form->op,
                            .src_type = form->src,
                            .dst_type = form->dst,
                            .dst = fake_tensor(BASE + (size_t)rng_integer(rng, 0, 40) * 32),
                            .src0 = fake_tensor(BASE + (size_t)rng_integer(rng, 0, 40) * 32),
                            .src1 = fake_tensor(BASE + (size_t)rng_integer(rng, 0, 40) * 32),
                            .count = (uint32_t)rng_integer(rng, 1, 500),
                            .repeat = (uint32_t)rng_integer(rng, 1, 5)};
    if (!form->two)
        insn.src1 = (struct npu_tensor){0};
    if (rng_integer(rng, 0, 3) == 0) /* in one place */
        insn.src0 = insn.dst;
    if (form->two && rng_integer(rng, 0, 3) == 0)
        insn.src1 = insn.dst;
    insn.form = rng_integer(rng, 0, 3) == 0 ? NPU_FORM_COUNT : NPU_FORM_MASK_BITS;
    insn.mask[0] = rng_integer(rng, 0, 2) ? UINT64_MAX : rng_next(rng) | 1;
    insn.mask[1] = akgen_dtype_size(form->src) == 2 && form->src == form->dst ? insn.mask[0] : 0;
    insn.dst_blk = (uint16_t)rng_integer(rng, 1, 3);
    insn.src0_blk = (uint16_t)rng_integer(rng, 0, 3);
    insn.src1_blk = (uint16_t)rng_integer(rng, 1, 3);
    insn.dst_rep = (uint16_t)(rng_integer(rng, 0, 3) * 4);
    insn.src0_rep = (uint16_t)(rng_integer(rng, 0, 3) * 4);
    insn.src1_rep = (uint16_t)(rng_integer(rng, 0, 3) * 4);
    return insn;
}

/* The operands of an instruction, and one element of a repeat. */
struct place {
    uint64_t addr;
    uint32_t size, blk, rep;
};
static size_t at(const struct place *p, uint32_t r, uint32_t lane)
{
    uint32_t per_block = 32 / p->size;
    return (size_t)(p->addr - (uint64_t)fake_ub) + (size_t)r * p->rep * 32 + (size_t)(lane / per_block) * p->blk * 32 +
           (size_t)(lane % per_block) * p->size;
}

static void compute(const struct form *form, uint8_t *to, const uint8_t *a, const uint8_t *b)
{
    if (form->op == NPU_OP_CAST && form->src == AKGEN_FLOAT16) {
        float wide = (float)*(const npu_f16 *)a;
        memcpy(to, &wide, 4);
    } else if (form->op == NPU_OP_CAST) {
        half_t narrow = (half_t) * (const npu_f32 *)a;
        memcpy(to, &narrow, 2);
    } else if (form->src == AKGEN_FLOAT) {
        float x = *(const npu_f32 *)a, y = *(const npu_f32 *)b, z = form->op == NPU_OP_ADD ? x + y : x / y;
        memcpy(to, &z, 4);
    } else if (form->src == AKGEN_INT32) {
        uint32_t z = *(const npu_u32 *)a + *(const npu_u32 *)b;
        memcpy(to, &z, 4);
    } else {
        uint16_t z = (uint16_t)(*(const npu_u16 *)a + *(const npu_u16 *)b);
        memcpy(to, &z, 2);
    }
}

static _Alignas(32) uint8_t want[SMALL_UB], before[SMALL_UB];
static uint8_t want_flag[SMALL_UB], before_flag[SMALL_UB];
static int32_t writer[SMALL_UB]; /* repeat * LANES + lane of who wrote the byte, -1 for nobody */

/* False if one of the bytes is what the documents rule out. */
static bool allowed(const struct form *form, const struct npu_insn *insn, const struct place *dst,
                    const struct place *src, bool second, size_t from, uint32_t r, uint32_t lane)
{
    bool sums = second && form->adds_up && insn->form != NPU_FORM_COUNT && (!insn->dst_rep || !insn->src1_rep);
    bool narrower = dst->size < src->size && dst->addr == src->addr && dst->blk == 1 && src->blk == 1;
    for (size_t k = from; k < from + src->size; k++) {
        int32_t by = writer[k];
        if (by < 0 || by == (int32_t)(r * LANES + lane))
            continue;
        if (by / LANES == (int32_t)r ? !form->within && !narrower : !sums)
            return false;
    }
    return true;
}

static void specify(const struct form *form, const struct npu_insn *insn)
{
    bool level2 = insn->form == NPU_FORM_COUNT;
    uint32_t dst_size = (uint32_t)akgen_dtype_size(form->dst), src_size = (uint32_t)akgen_dtype_size(form->src);
    uint32_t per_repeat = 256 / (dst_size > src_size ? dst_size : src_size);
    struct place p[3] = {{insn->dst.addr, dst_size, insn->dst_blk, insn->dst_rep},
                         {insn->src0.addr, src_size, insn->src0_blk, insn->src0_rep},
                         {insn->src1.addr, src_size, insn->src1_blk, insn->src1_rep}};
    for (int i = 0; level2 && i < 3; i++)
        p[i].blk = 1, p[i].rep = per_repeat * p[i].size / 32;
    memset(writer, -1, sizeof writer);
    for (uint32_t r = 0; level2 ? r * per_repeat < insn->count : r < insn->repeat; r++) {
        memcpy(before, want, SMALL_UB);
        memcpy(before_flag, want_flag, SMALL_UB);
        for (int pass = 0; pass < 2; pass++)
            for (uint32_t lane = 0; lane < per_repeat; lane++) {
                if (level2 ? r * per_repeat + lane >= insn->count : !npu_lane_selected(insn->mask, lane))
                    continue;
                size_t to = at(&p[0], r, lane), a = at(&p[1], r, lane), b = form->two ? at(&p[2], r, lane) : a;
                for (size_t k = 0; k < dst_size && pass == 0; k++)
                    writer[to + k] = (int32_t)(r * LANES + lane);
                if (pass == 0)
                    continue;
                bool good = allowed(form, insn, &p[0], &p[1], false, a, r, lane) &&
                            (!form->two || allowed(form, insn, &p[0], &p[2], true, b, r, lane));
                for (size_t k = 0; k < src_size; k++)
                    good &= before_flag[a + k] && before_flag[b + k];
                compute(form, want + to, before + a, before + b);
                memset(want_flag + to, good, dst_size);
            }
    }
}

static void reads_come_before_writes(void **state)
{
    (void)state;
    struct rng rng;
    rng_seed(&rng, 7);
    int overlaps = 0, spoiled = 0;
    for (int trial = 0; trial < 6000; trial++) {
        const struct form *form = &forms[trial % (sizeof forms / sizeof *forms)];
        struct npu_core *core = fake_core(&rng);
        struct npu_insn insn = random_overlap(&rng, form);
        for (int k = 0; k < 10; k++)
            npu_ub_undefine(core, fake_ub + BASE + rng_integer(&rng, 0, AREA), 1);
        memcpy(want, fake_ub, SMALL_UB);
        memcpy(want_flag, fake_ub_flag, SMALL_UB);
        specify(form, &insn);
        fake_note_count = 0;
        if (form->op == NPU_OP_CAST)
            assert_null(fake_issue(core, &insn, npu_check_cast, npu_exec_cast, NULL, NULL));
        else
            assert_null(fake_issue(core, &insn, npu_check_binary, npu_exec_binary, NULL, NULL));
        assert_memory_equal(fake_ub_flag, want_flag, SMALL_UB);
        for (size_t i = 0; i < SMALL_UB; i++)
            if (fake_ub_flag[i] && fake_ub[i] != want[i])
                fail_msg("trial %d: byte %zu is %u, expected %u", trial, i, fake_ub[i], want[i]);
        overlaps += insn.flags & NPU_INSN_OVERLAP ? 1 : 0;
        spoiled += fake_note_count;
    }
    assert_true(overlaps > 2000 && spoiled > 1000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(reads_come_before_writes)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
