/* Select in its three modes against one choice per element; definedness follows the chosen source only. */
/* test: with=core builds=both */
#include "unit/npu/core.h"

enum { CMPMASK, SCALAR, TENSOR };
enum { DST = 0x0, SRC0 = 0x4000, SRC1 = 0x8000, MASK = 0xc000 };

static struct npu_insn insn_of(uint8_t type, uint8_t mode)
{
    struct npu_insn insn = {.op = NPU_OP_SELECT,
                            .mode = mode,
                            .flags = mode == SCALAR ? NPU_INSN_SCALAR_SRC1 : 0,
                            .dst_type = type,
                            .src_type = type,
                            .src1_type = AKGEN_UINT8,
                            .dst = fake_tensor(DST),
                            .src0 = fake_tensor(SRC0),
                            .aux = fake_tensor(MASK),
                            .scalar = 0x1234567890abcdef};
    if (mode != SCALAR)
        insn.src1 = fake_tensor(SRC1);
    return insn;
}

static uint8_t want[SMALL_UB];
static bool want_defined[SMALL_UB];

/* Element `lane` of repeat r, whose operands lie at these offsets. */
static void specify(const struct npu_insn *insn, uint32_t r, uint32_t lane, size_t d, size_t a, size_t b)
{
    size_t size = akgen_dtype_size((enum akgen_dtype)insn->src_type), per_repeat = 256 / size;
    size_t bit = insn->mode == CMPMASK ? lane : r * per_repeat + lane;
    bool first = fake_ub[MASK + bit / 8] >> (bit % 8) & 1;
    bool defined = fake_ub_flag[MASK + bit / 8] || (fake_ub_bits[MASK + bit / 8] >> (bit % 8) & 1);
    size_t from = first ? a : b;
    for (size_t i = 0; i < size; i++)
        defined = defined && ((!first && insn->mode == SCALAR) || fake_ub_flag[from + i]);
    memcpy(want + d, !first && insn->mode == SCALAR ? (const uint8_t *)&insn->scalar : fake_ub + from, size);
    for (size_t i = 0; i < size; i++)
        want_defined[d + i] = defined;
}

static void assert_as_specified(struct npu_core *core, struct npu_insn *insn)
{
    memcpy(want, fake_ub, SMALL_UB);
    for (size_t i = 0; i < SMALL_UB; i++)
        want_defined[i] = fake_ub_flag[i];
    uint32_t size = (uint32_t)akgen_dtype_size((enum akgen_dtype)insn->src_type), per_repeat = 256 / size,
             per_block = 32 / size;
    bool level2 = insn->form == NPU_FORM_COUNT;
    for (uint32_t r = 0; level2 ? r * per_repeat < insn->count : r < insn->repeat; r++)
        for (uint32_t lane = 0; lane < per_repeat; lane++) {
            uint32_t block = lane / per_block, within = lane % per_block * size, i = r * per_repeat + lane;
            if (level2 && i < insn->count)
                specify(insn, r, lane, DST + i * size, SRC0 + i * size, SRC1 + i * size);
            else if (!level2 && npu_lane_selected(insn->mask, lane))
                specify(insn, r, lane, DST + (r * insn->dst_rep + block * insn->dst_blk) * 32 + within,
                        SRC0 + (r * insn->src0_rep + block * insn->src0_blk) * 32 + within,
                        SRC1 + (r * insn->src1_rep + block * insn->src1_blk) * 32 + within);
        }
    assert_null(fake_issue(core, insn, npu_check_select, npu_exec_select, NULL, NULL));
    assert_memory_equal(fake_ub, want, SMALL_UB);
    for (size_t i = 0; i < SMALL_UB; i++)
        assert_int_equal(fake_ub_flag[i], want_defined[i]);
    assert_true(fake_undefined_reads <= 1);
}

static const uint8_t types[] = {AKGEN_FLOAT, AKGEN_FLOAT16};

static void every_mode_and_size(void **state)
{
    (void)state;
    struct rng rng;
    rng_seed(&rng, 1);
    static const uint32_t counts[] = {0, 1, 7, 8, 63, 64, 65, 127, 128, 129, 255, 256, 257, 3000};
    for (int t = 0; t < 2; t++)
        for (uint8_t mode = 0; mode < 3; mode++)
            for (int i = 0; i < 28; i++) {
                struct npu_core *core = fake_core(&rng);
                struct npu_insn insn = insn_of(types[t], mode);
                insn.count = counts[i % 14];
                for (int k = 0; k < 30 && i >= 14; k++)
                    npu_ub_undefine(core, fake_ub + rng_integer(&rng, 0, SMALL_UB), 1);
                if (i == 27) /* undefined bits of the mask */
                    npu_ub_undefine(core, fake_ub + MASK + 2, 3);
                if (i == 26) /* some of its bits: what Compare leaves at the end of a tile */
                    npu_ub_define_bits(core, fake_ub + MASK + 1, 0x1f);
                assert_as_specified(core, &insn);
            }
}

static void masks_and_strides(void **state)
{
    (void)state;
    struct rng rng;
    rng_seed(&rng, 2);
    for (int t = 0; t < 2; t++)
        for (uint8_t mode = 0; mode < 3; mode++)
            for (int i = 0; i < 40; i++) {
                struct npu_core *core = fake_core(&rng);
                struct npu_insn insn = insn_of(types[t], mode);
                insn.form = NPU_FORM_MASK_BITS;
                insn.mask[0] = i % 2 ? rng_next(&rng) | 1 : UINT64_MAX;
                insn.mask[1] = types[t] == AKGEN_FLOAT ? 0 : i % 2 ? rng_next(&rng) : UINT64_MAX;
                insn.repeat = (uint32_t)rng_integer(&rng, 0, 9);
                insn.dst_blk = (uint16_t)rng_integer(&rng, 1, 3);
                insn.src0_blk = (uint16_t)rng_integer(&rng, 0, 3);
                insn.src1_blk = (uint16_t)rng_integer(&rng, 0, 3);
                insn.dst_rep = (uint16_t)rng_integer(&rng, 8, 20);
                insn.src0_rep = (uint16_t)rng_integer(&rng, 0, 20);
                insn.src1_rep = (uint16_t)rng_integer(&rng, 0, 20);
                if (i % 4 == 0) { /* dense */
                    insn.dst_blk = insn.src0_blk = insn.src1_blk = 1;
                    insn.dst_rep = insn.src0_rep = insn.src1_rep = 8;
                }
                for (int k = 0; k < 100 && i % 8; k++)
                    npu_ub_undefine(core, fake_ub + rng_integer(&rng, 0, SMALL_UB), 1);
                assert_as_specified(core, &insn);
            }
}

static void cmpmask_register(void **state)
{
    (void)state;
    struct rng rng;
    rng_seed(&rng, 3);
    struct npu_core *core = fake_core(&rng);
    struct npu_insn insn = insn_of(AKGEN_FLOAT16, CMPMASK);
    insn.count = 128;
    assert_as_specified(core, &insn);
    assert_memory_equal(core->results.cmp_mask, fake_ub + MASK, 16); /* mode 0 loads the register */
    /* Without selMask the register decides. */
    insn.aux.addr = 0;
    memset(core->results.cmp_mask, 0x0f, 16);
    assert_null(fake_issue(core, &insn, npu_check_select, npu_exec_select, NULL, NULL));
    for (uint32_t i = 0; i < 128; i++)
        assert_memory_equal(fake_ub + DST + i * 2, fake_ub + (i % 8 < 4 ? SRC0 : SRC1) + i * 2, 2);
    /* In mode 2 it holds the address of selMask: the low 32 bits. */
    insn.mode = TENSOR;
    uint32_t low = (uint32_t)(uint64_t)(fake_ub + MASK + 64);
    memcpy(core->results.cmp_mask, &low, sizeof low);
    struct npu_insn addressed = insn;
    assert_null(fake_issue(core, &addressed, npu_check_select, npu_exec_select, NULL, NULL));
    for (uint32_t i = 0; i < 128; i++)
        assert_memory_equal(fake_ub + DST + i * 2,
                            fake_ub + (fake_ub[MASK + 64 + i / 8] >> i % 8 & 1 ? SRC0 : SRC1) + i * 2, 2);
    memset(core->results.cmp_mask, 0x0f, 16);
    assert_string_equal(fake_issue(core, &insn, npu_check_select, npu_exec_select, NULL, NULL), "select_mode");
    insn.mode = 3;
    assert_string_equal(fake_issue(core, &insn, npu_check_select, npu_exec_select, NULL, NULL), "select_mode");
}

static void the_bits_of_the_mask_are_listed(void **state)
{
    (void)state;
    struct rng rng;
    rng_seed(&rng, 4);
    struct npu_core *core = fake_core(&rng);
    struct npu_access accesses[NPU_MAX_ACCESSES];
    static const struct {
        uint8_t mode;
        uint32_t count, bytes;
    } cases[] = {{TENSOR, 100, 13}, {TENSOR, 64, 8}, {SCALAR, 65, 9}, {CMPMASK, 300, 8}, {CMPMASK, 3, 1}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct npu_insn insn = insn_of(AKGEN_FLOAT, cases[i].mode);
        insn.count = cases[i].count;
        int n = 0;
        assert_null(fake_issue(core, &insn, npu_check_select, npu_exec_select, accesses, &n));
        assert_string_equal(accesses[n - 1].operand, "mask");
        assert_int_equal(accesses[n - 1].bytes, cases[i].bytes);
        assert_int_equal(n, cases[i].mode == SCALAR ? 3 : 4);
    }
    struct npu_insn insn = insn_of(AKGEN_FLOAT, TENSOR);
    insn.count = 8;
    insn.aux.addr += 8;
    assert_string_equal(fake_issue(core, &insn, npu_check_select, npu_exec_select, NULL, NULL), "vec_alignment");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_mode_and_size),
        cmocka_unit_test(masks_and_strides),
        cmocka_unit_test(cmpmask_register),
        cmocka_unit_test(the_bits_of_the_mask_are_listed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
