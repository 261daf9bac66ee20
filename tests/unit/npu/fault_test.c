/* One kernel per fault that a single call makes, and findings that merge. */
#include "unit/npu/launch.h"

static void assertion(void)
{
    npu_assert_failed("n < 8", "k.cpp", 12);
}

static void copy_gm_to_gm(float *x, float *y, float *z)
{
    (void)y;
    copy(global(z, 0), global(x, 0), 64);
}

static void cross_core_pipe(void)
{
    npu_cross_core_set_flag(0, NPU_PIPE_S, 0);
}

static void cross_core_flag_overflow(void)
{
    for (int i = 0; i < 16; i++)
        npu_cross_core_set_flag(0, NPU_PIPE_MTE3, 1);
}

static void sync_without_cube(void)
{
    npu_sync_all(0);
}

static void soft_sync(float *workspace, uint32_t ub_bytes, int used_cores)
{
    npu_pipe_create();
    struct npu_tensor slots = global(workspace, 0), room = local(ub_bytes);
    npu_sync_all_soft(&slots, &room, used_cores);
    npu_pipe_destroy();
}

static void sync_of_first_block(float *x, float *y, float *z, float *workspace)
{
    (void)x, (void)y, (void)z;
    soft_sync(workspace, 64, 1);
}
static void sync_used_cores(float *x, float *y, float *z, float *workspace)
{
    (void)x, (void)y, (void)z;
    soft_sync(workspace, 256, 3);
}

static void sync_workspace_small(float *x, float *y, float *z, float *workspace)
{
    (void)x, (void)y, (void)z;
    soft_sync(workspace, 32, 2);
}

static void tiling_missing(void)
{
    int tiling;
    npu_tiling_copy(&tiling, 64, sizeof tiling);
}

static void user_trap(void)
{
    npu_user_trap();
}

static void unsupported_api(void)
{
    npu_unsupported(NPU_LACKING); /* not on the list */
    npu_unsupported(NPU_LACKS_DataCopyEnhanced);
}

/* Saturation of half is lacking; what moves half, and what computes in float, does not need it. */
static void fill_and_double(uint8_t type)
{
    npu_pipe_create();
    npu_set_ctrl(0);
    struct npu_insn insn = {.op = NPU_OP_DUPLICATE,
                            .form = NPU_FORM_COUNT,
                            .dst_type = type,
                            .src_type = type,
                            .src1_type = type,
                            .count = 16,
                            .dst = local(64)};
    npu_issue(&insn);
    insn.src0 = insn.src1 = insn.dst;
    insn.op = NPU_OP_ADD;
    npu_issue(&insn);
}
static void saturation_of_half(void)
{
    fill_and_double(AKGEN_FLOAT16);
}
static void saturation_of_masks(void)
{
    npu_pipe_create();
    npu_set_ctrl(0);
    struct npu_insn insn = {.op = NPU_OP_DUPLICATE,
                            .form = NPU_FORM_COUNT,
                            .dst_type = AKGEN_FLOAT16,
                            .src_type = AKGEN_FLOAT16,
                            .count = 16,
                            .dst = local(64)};
    npu_issue(&insn);
    insn.src0 = insn.dst;
    insn.op = NPU_OP_SET_CMP_MASK;
    npu_issue(&insn);
    insn.op = NPU_OP_GET_CMP_MASK;
    npu_issue(&insn);
    npu_user_trap();
}
static void saturation_of_float(void)
{
    fill_and_double(AKGEN_FLOAT);
    if (npu_get_ctrl() != 0)
        return;
    npu_set_ctrl(UINT64_C(1) << 48);
    if (npu_get_ctrl() == UINT64_C(1) << 48)
        npu_user_trap();
}

static void ub_out_of_bounds(void)
{
    npu_pipe_create();
    struct npu_tensor room = local(64);
    (void)npu_scalar_load(&room, 196608, 4);
}

static void misaligned_address(void)
{
    npu_pipe_create();
    struct npu_tensor room = local(64);
    room.addr += 8;
    struct npu_insn insn = {.op = NPU_OP_GET_CMP_MASK, .form = NPU_FORM_MASK_REG, .dst = room};
    npu_issue(&insn);
}

static void input_written(float *x)
{
    npu_pipe_create();
    struct npu_tensor room = local(64);
    for (uint64_t i = 0; i < 16; i++)
        npu_scalar_store(&room, 4 * i, 4, 0);
    copy(global(x, 0), room, 16);
    npu_pipe_destroy();
}

static void tensor_overflow(float *x)
{
    npu_pipe_create();
    struct npu_tensor room = local(256);
    room.bytes = 64;
    copy(room, global(x, 0), 32);
    npu_pipe_destroy();
}

struct planted {
    void *kernel;
    const char *fault, *words;
    enum npu_kind kind;
    bool fatal;
    int count;
};

static void each_fault(void **state)
{
    (void)state;
    static const struct planted cases[] = {
        {assertion, "assertion", "ASSERT(n < 8) failed at k.cpp:12", NPU_TRAP, true, 1},
        {copy_gm_to_gm, "copy_gm_to_gm", "through local memory", NPU_TRAP, true, 1},
        {cross_core_pipe, "cross_core_pipe", "other than PIPE_S", NPU_TRAP, true, 1},
        {cross_core_flag_overflow, "cross_core_flag_overflow", "flag 1 was set 16 times", NPU_TRAP, true, 1},
        {sync_without_cube, "sync_without_cube", "it hangs", NPU_TRAP, true, 1},
        {sync_of_first_block, "sync_used_cores", "block 1 calls the SyncAll of the first 1 blocks", NPU_TRAP, true, 1},
        {sync_used_cores, "sync_used_cores", "usedCores is 3, the launch has 2 blocks", NPU_TRAP, true, 1},
        {sync_workspace_small, "sync_workspace_small", "32 bytes; 2 cores need 64", NPU_TRAP, true, 1},
        {tiling_missing, "tiling_missing", "reads 4 bytes of tiling data", NPU_TRAP, true, 1},
        {user_trap, "user_trap", "Trap()", NPU_TRAP, true, 1},
        {unsupported_api, "unsupported_api", "DataCopy with DataCopyEnhancedParams into or out of L0C is not simulated",
         NPU_UNSUPPORTED, true, 1},
        {saturation_of_half, "unsupported_api", "CTRL[48] = 0: half", NPU_UNSUPPORTED, true, 1},
        {saturation_of_masks, "user_trap", "Trap()", NPU_TRAP, true, 1},
        {saturation_of_float, "user_trap", "Trap()", NPU_TRAP, true, 1},
        {ub_out_of_bounds, "ub_out_of_bounds", "UB offset 196608", NPU_TRAP, true, 1},
        {misaligned_address, "misaligned_address", "multiple of 16", NPU_TRAP, true, 1},
        {input_written, "input_written", "writes to x", NPU_DIFFERS, false, 1},
        /* the same line of two blocks: one finding */
        {tensor_overflow, "tensor_overflow", "64 bytes past the end", NPU_DIFFERS, false, 2},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct fixture f;
        fixture_make(&f, false, 0);
        assert_int_equal(launch(&f, cases[i].kernel, 2), !cases[i].fatal);
        const struct npu_finding *found = finding(&f, cases[i].fault);
        if (!strstr(found->message, cases[i].words))
            fail_msg("%s: %s", cases[i].fault, found->message);
        assert_int_equal(found->kind, cases[i].kind);
        assert_int_equal(found->fatal, cases[i].fatal);
        assert_int_equal(found->count, cases[i].count);
        fixture_free(&f);
    }
}

static void block_dim(void **state)
{
    (void)state;
    struct fixture f;
    fixture_make(&f, false, 0);
    assert_false(launch(&f, user_trap, 0));
    assert_non_null(strstr(finding(&f, "block_dim")->message, "0 blocks"));
    fixture_free(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(each_fault), cmocka_unit_test(block_dim)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
