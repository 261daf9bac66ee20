/* What a call leaves in the mask registers, seen by the next call that takes them as they are (isSetMask = false). */
#include "unit/npu/launch.h"

static int touched; /* elements that the last probe wrote */

static struct npu_tensor at(uint32_t offset)
{
    struct npu_tensor t;
    npu_local_tensor(NPU_VECCALC, offset, 4096, &t);
    return t;
}

static struct npu_insn adds(enum npu_form form)
{
    float one = 1;
    struct npu_insn insn = {.op = NPU_OP_ADDS,
                            .form = (uint8_t)form,
                            .repeat = 1,
                            .dst_type = AKGEN_FLOAT,
                            .src_type = AKGEN_FLOAT,
                            .dst = at(0),
                            .src0 = at(4096),
                            .dst_blk = 1,
                            .src0_blk = 1,
                            .dst_rep = 8,
                            .src0_rep = 8};
    memcpy(&insn.scalar, &one, sizeof one);
    return insn;
}

static void fill(uint32_t offset)
{
    struct npu_insn insn = {.op = NPU_OP_DUPLICATE,
                            .form = NPU_FORM_COUNT,
                            .count = 1024,
                            .dst_type = AKGEN_FLOAT,
                            .src_type = AKGEN_FLOAT,
                            .dst = at(offset)};
    npu_issue(&insn);
}

/* Zeroes dst, restores the registers' state by `prepare`, adds 1 under it and counts the ones. */
static void probe(void (*prepare)(void))
{
    fill(0);
    fill(4096);
    prepare();
    struct npu_insn insn = adds(NPU_FORM_MASK_REG);
    npu_issue(&insn);
    struct npu_tensor dst = at(0);
    touched = 0;
    for (uint32_t i = 0; i < 1024; i++)
        touched += npu_scalar_load(&dst, i * 4, 4) != 0;
    npu_set_mask_counter(0);
    npu_reset_mask();
}

static void after_level_2(void)
{
    npu_set_mask_counter(1);
    npu_set_vector_mask(0, 5);
    struct npu_insn insn = adds(NPU_FORM_COUNT);
    insn.count = 3;
    insn.dst = at(8192);
    npu_issue(&insn);
}

static void after_contiguous_mask(void)
{
    struct npu_insn insn = adds(NPU_FORM_MASK_LEN);
    insn.mask[0] = 10;
    insn.dst = at(8192);
    npu_issue(&insn);
}

static void after_bit_mask(void)
{
    struct npu_insn insn = adds(NPU_FORM_MASK_BITS);
    insn.mask[0] = 0x8421;
    insn.dst = at(8192);
    npu_issue(&insn);
}

/* Compare into a tensor neither takes the mask nor touches the registers. */
static void after_compare(void)
{
    npu_set_mask_counter(1);
    npu_set_vector_mask(0, 100);
    struct npu_insn insn = {.op = NPU_OP_COMPARE,
                            .form = NPU_FORM_COUNT,
                            .count = 64,
                            .dst_type = AKGEN_UINT8,
                            .src_type = AKGEN_FLOAT,
                            .dst = at(8192),
                            .src0 = at(4096),
                            .src1 = at(4096)};
    npu_issue(&insn);
}

/* GatherMask leaves its mask argument, whatever reduceMode says, and normal mode: 5 elements become bits 0 and 2. */
static void after_gather_mask(void)
{
    npu_set_mask_counter(1);
    struct npu_insn insn = {.op = NPU_OP_GATHER_MASK,
                            .form = NPU_FORM_MASK_LEN,
                            .mode = 1,
                            .flags = NPU_INSN_REDUCE_MODE,
                            .mask = {5},
                            .repeat = 1,
                            .dst_type = AKGEN_FLOAT,
                            .src_type = AKGEN_FLOAT,
                            .dst = at(8192),
                            .src0 = at(4096),
                            .src0_blk = 1};
    npu_issue(&insn);
}

/* Brcb takes no mask and resets it. */
static void after_brcb(void)
{
    npu_set_vector_mask(0, 5);
    struct npu_insn insn = {.op = NPU_OP_BRCB,
                            .repeat = 1,
                            .dst_type = AKGEN_FLOAT,
                            .src_type = AKGEN_FLOAT,
                            .dst = at(8192),
                            .src0 = at(4096),
                            .dst_blk = 1,
                            .dst_rep = 8};
    npu_issue(&insn);
}

static void (*prepare)(void);
static void kernel(void)
{
    if (npu_block_idx() == 0)
        probe(prepare);
}

static int touched_after(void (*state)(void))
{
    struct fixture f;
    fixture_make(&f, false, 0);
    prepare = state;
    assert_true(launch(&f, (void *)kernel, 1));
    fixture_free(&f);
    return touched;
}

static void calls_leave_the_mask_registers(void **state)
{
    (void)state;
    assert_int_equal(touched_after(after_level_2), 64);
    assert_int_equal(touched_after(after_contiguous_mask), 10);
    assert_int_equal(touched_after(after_bit_mask), 4);
    assert_int_equal(touched_after(after_compare), 100);
    assert_int_equal(touched_after(after_gather_mask), 2);
    assert_int_equal(touched_after(after_brcb), 64);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(calls_leave_the_mask_registers)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
