/* Result registers on the whole machine, in program order and under random schedules: what reads one waits for the
 * vector pipe and gets what the last instruction left. On an AIC no vector instruction does anything. */
#include "unit/npu/launch.h"

enum { FLOATS = 512, HALF_WORD = 0x3c00 /* 1.0 */ };

static float read_sum;
static uint64_t read_value, read_index, read_kept, read_merged, read_bits;

static struct npu_tensor at(uint32_t offset)
{
    struct npu_tensor t;
    npu_local_tensor(NPU_VECCALC, offset, 8192, &t);
    return t;
}

static struct npu_insn insn_of(enum npu_op op, uint32_t dst, uint32_t src)
{
    return (struct npu_insn){.op = (uint16_t)op,
                             .form = NPU_FORM_MASK_LEN,
                             .mask = {64},
                             .repeat = 8,
                             .src_type = AKGEN_FLOAT,
                             .dst_type = AKGEN_FLOAT,
                             .dst = at(dst),
                             .src0 = at(src),
                             .dst_blk = 1,
                             .src0_blk = 1,
                             .src1_blk = 1,
                             .dst_rep = 1,
                             .src0_rep = 8,
                             .src1_rep = 8};
}

static void barrier(void)
{
    npu_pipe_barrier(NPU_PIPE_V);
}

/* Each group doubles the numbers first, so that a register that is read too early holds an old value. */
static void double_them(void)
{
    struct npu_insn insn = insn_of(NPU_OP_ADD, 0, 0);
    insn.form = NPU_FORM_COUNT;
    insn.count = FLOATS;
    insn.src1 = at(0);
    npu_issue(&insn);
    barrier();
}

static void reductions(void)
{
    struct npu_insn insn = insn_of(NPU_OP_REDUCE_SUM, 16384, 0);
    insn.form = NPU_FORM_COUNT;
    insn.count = FLOATS;
    insn.aux = at(24576);
    npu_issue(&insn);
    uint64_t bits = npu_get_acc_val();
    memcpy(&read_sum, &bits, sizeof read_sum);
    barrier();
    double_them();
    insn = insn_of(NPU_OP_WHOLE_REDUCE_MAX, 16384, 0);
    npu_issue(&insn);
    npu_get_reduce_max_min(AKGEN_FLOAT, &read_value, &read_index);
    barrier();
}

static void counts(void)
{
    double_them();
    struct npu_insn insn = insn_of(NPU_OP_GATHER_MASK, 16384, 0);
    insn.mode = 3;
    npu_issue(&insn);
    read_kept = npu_get_rsvd_count();
    barrier();
    insn = (struct npu_insn){.op = NPU_OP_MRG_SORT, /* pairs of 8 bytes: scores 0 2 4 ... of each list fall */
                             .form = NPU_FORM_MASK_REG,
                             .flags = NPU_INSN_SUSPEND,
                             .mode = 3,
                             .repeat = 1,
                             .mask = {5 | 3 << 16},
                             .src_type = AKGEN_FLOAT,
                             .dst_type = AKGEN_FLOAT,
                             .dst = at(16384),
                             .src0 = at(32768),
                             .src1 = at(32768 + 64)};
    npu_issue(&insn);
    read_merged = npu_get_merge_counts();
    barrier();
}

static void comparisons(void)
{
    double_them();
    struct npu_insn insn = insn_of(NPU_OP_COMPARE, 16384, 0);
    insn.dst = (struct npu_tensor){0};
    insn.src1 = at(8192);
    insn.mode = 1; /* GT */
    npu_issue(&insn);
    insn = insn_of(NPU_OP_GET_CMP_MASK, 16384, 0);
    npu_issue(&insn);
    npu_set_flag(NPU_PIPE_V, NPU_PIPE_S, 0);
    npu_wait_flag(NPU_PIPE_V, NPU_PIPE_S, 0);
    struct npu_tensor bits = at(16384);
    read_bits = npu_scalar_load(&bits, 0, 8);
}

static void kernel(float *x, float *y)
{
    (void)y;
    if (npu_block_idx())
        return;
    npu_pipe_create();
    struct npu_tensor lists = at(32768);
    copy(at(0), global(x, 0), FLOATS);
    copy(at(8192), global(x, FLOATS), FLOATS);
    static const float scores[] = {9, 7, 5, 3, 1, 0, 0, 0, 8, 6, 4};
    for (uint64_t i = 0; i < sizeof scores / sizeof scores[0]; i++) {
        uint32_t bits;
        memcpy(&bits, &scores[i], sizeof bits);
        npu_scalar_store(&lists, 8 * i, 4, bits);
        npu_scalar_store(&lists, 8 * i + 4, 4, i);
    }
    npu_set_flag(NPU_PIPE_MTE2, NPU_PIPE_V, 0);
    npu_wait_flag(NPU_PIPE_MTE2, NPU_PIPE_V, 0);
    npu_set_flag(NPU_PIPE_S, NPU_PIPE_V, 0);
    npu_wait_flag(NPU_PIPE_S, NPU_PIPE_V, 0);
    double_them();
    reductions();
    counts();
    comparisons();
    npu_pipe_barrier(NPU_PIPE_ALL);
    npu_pipe_destroy();
}

static void registers_hold_what_the_last_instruction_left(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 20; seed++) {
        struct fixture f;
        struct npu_config config = {
            .soc = npu_soc_find("910B2"), .sync = NPU_SYNC_MANUAL, .random_order = seed != 0, .seed = seed};
        fixture_make_with(&f, &config);
        float sum = 0, most = 0;
        uint64_t first = 0, greater = 0;
        for (int i = 0; i < 2 * FLOATS; i++)
            f.x[i] = (float)(i * 37 % 101);
        for (int i = 0; i < FLOATS; i++) {
            sum += 2 * f.x[i];
            if (f.x[i] > most)
                most = f.x[i], first = (uint64_t)i;
        }
        for (int i = 0; i < 64; i++)
            greater |= (uint64_t)(16 * f.x[i] > f.x[FLOATS + i]) << i;
        assert_true(launch(&f, (void *)kernel, 1));
        no_findings(&f);
        float value;
        memcpy(&value, &read_value, sizeof value);
        assert_true(read_sum == sum);
        assert_true(value == 4 * most);
        assert_int_equal(read_index, first);
        assert_int_equal(read_kept, FLOATS / 4);
        /* 9 8 7 6 5 4: then the second list is empty. */
        assert_int_equal(read_merged, 3 | 3 << 16);
        assert_int_equal(read_bits, greater);
        fixture_free(&f);
    }
}

/* Every vector instruction in isa.def, and the registers around them. */
static void everything_of_a_vector_core(void)
{
    static const int pipes[NPU_OPS] = {
#define NPU_INSN(id, name, pipe, family, types, ...) [NPU_OP_##id] = NPU_PIPE_##pipe,
#define NPU_PIPE_DMA                                 -1
#include "abi/isa.def"
#undef NPU_INSN
    };
    npu_pipe_create();
    for (int op = 1; op < NPU_OPS; op++)
        for (int form = NPU_FORM_COUNT; form <= NPU_FORM_MASK_REG && pipes[op] == NPU_PIPE_V; form++) {
            struct npu_insn insn = insn_of((enum npu_op)op, 16384, 0);
            insn.form = (uint8_t)form;
            insn.count = FLOATS;
            insn.src1 = insn.aux = at(8192);
            npu_issue(&insn);
        }
    npu_set_mask_counter(1);
    npu_set_vector_mask(0, 7);
    npu_set_deq_scale(HALF_WORD);
    npu_get_reduce_max_min(AKGEN_FLOAT, &read_value, &read_index);
    read_merged = npu_get_acc_val() | npu_get_rsvd_count() | npu_get_merge_counts();
    npu_pipe_destroy();
}

static void vector_instructions_do_nothing_on_an_aic(void **state)
{
    (void)state;
    struct fixture f;
    struct npu_config config = {.soc = npu_soc_find("910B2"),
                                .kernel_type = NPU_TYPE_AIC_ONLY,
                                .aic_kernel = (void *)everything_of_a_vector_core};
    fixture_make_with(&f, &config);
    read_value = read_index = read_merged = 1;
    assert_true(launch(&f, (void *)everything_of_a_vector_core, 1));
    no_findings(&f);
    assert_int_equal(npu_stats(f.npu).instructions, 0);
    assert_true(!read_value && !read_index && !read_merged);
    fixture_free(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(registers_hold_what_the_last_instruction_left),
                                       cmocka_unit_test(vector_instructions_do_nothing_on_an_aic)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
