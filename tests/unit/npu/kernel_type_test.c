/* Kernel types: which cores a launch starts and how they are numbered, and what flags order among them. */
#include "unit/npu/launch.h"

/* Choosing. */

static void a_key_goes_before_the_default(void **state)
{
    (void)state;
    const struct npu_task_type named[] = {{NPU_EVERY_KEY, 0}, {1, 2}, {2, 5}, {3, 9}};
    assert_int_equal(npu_kernel_type_choose(named, 4, 1), NPU_TYPE_MIX_AIV_1_0);
    assert_int_equal(npu_kernel_type_choose(named, 4, 2), NPU_TYPE_MIX_AIC_1_2);
    assert_int_equal(npu_kernel_type_choose(named, 4, 7), NPU_TYPE_AIV_ONLY);
    /* MIX_VECTOR_CORE belongs to another product. */
    assert_int_equal(npu_kernel_type_choose(named, 4, 3), NPU_TYPE_INFERRED);
    assert_int_equal(npu_kernel_type_choose(named + 1, 3, 7), NPU_TYPE_MISSING);
    assert_int_equal(npu_kernel_type_choose(NULL, 0, 7), NPU_TYPE_INFERRED);
    /* An entry that is a template: key 1 has an instance of no type of its own, 2 none for these data types. */
    const struct npu_task_type instances[] = {
        {1, NPU_TEMPLATE_KEY}, {1, NPU_TEMPLATE_KEY}, {2, NPU_TEMPLATE_UNUSED}, {3, NPU_TEMPLATE_KEY}, {3, 1},
        {NPU_EVERY_KEY, 5}};
    assert_int_equal(npu_kernel_type_choose(instances, 5, 1), NPU_TYPE_MISSING);
    assert_int_equal(npu_kernel_type_choose(instances, 4, 1), NPU_TYPE_INFERRED);
    assert_int_equal(npu_kernel_type_choose(instances, 6, 1), NPU_TYPE_MIX_AIC_1_2);
    assert_int_equal(npu_kernel_type_choose(instances, 6, 2), NPU_TYPE_NO_INSTANCE);
    assert_int_equal(npu_kernel_type_choose(instances, 6, 3), NPU_TYPE_AIC_ONLY);
    assert_int_equal(npu_kernel_type_choose(instances, 6, 4), NPU_TYPE_NO_INSTANCE);
    assert_string_equal(npu_kernel_type_name(NPU_TYPE_MIX_AIC_1_2), "MIX_AIC_1_2");
    assert_string_equal(npu_kernel_type_name(-1), "");
}

/* Numbering. */

/* What a core says of itself: 16 words of the workspace, AICs in the first 64 slots. */
enum { SLOT = 16, AIVS_FROM = 64 };

static void introduce(float *workspace, int64_t slot)
{
    const int64_t said[] = {
        1, npu_block_idx(), npu_group_idx(), npu_block_num(), npu_sub_block_idx(), npu_sub_block_num()};
    struct npu_tensor tensor = global(workspace, (uint64_t)slot * SLOT);
    for (uint64_t i = 0; i < sizeof said / sizeof said[0]; i++)
        npu_scalar_store(&tensor, 4 * i, 4, (uint64_t)said[i]);
}

static void introduce_aiv(float *x, float *y, float *z, float *workspace)
{
    (void)x, (void)y, (void)z;
    introduce(workspace, AIVS_FROM + npu_block_idx());
}

static void introduce_aic(float *x, float *y, float *z, float *workspace)
{
    (void)x, (void)y, (void)z;
    introduce(workspace, npu_block_idx());
}

static bool launch_as(struct fixture *f, enum npu_kernel_type type, void *aic, void *aiv, int blocks)
{
    struct npu_config config = {.soc = npu_soc_find("910B2"), .kernel_type = type, .aic_kernel = aic};
    fixture_make_with(f, &config);
    return launch(f, aiv, blocks);
}

static void check_slot(const struct fixture *f, int slot, const int *said)
{
    const int32_t *found = (const int32_t *)f->workspace + (size_t)slot * SLOT;
    for (int i = 0; i < 6; i++)
        if (found[i] != said[i])
            fail_msg("slot %d, word %d: %d, expected %d", slot, i, found[i], said[i]);
}

static void cores_are_numbered(void **state)
{
    (void)state;
    enum { N = 3 };
    for (int type = NPU_TYPE_INFERRED; type <= NPU_TYPE_MIX_AIC_1_2; type++) {
        struct fixture f;
        int aic, aiv;
        npu_kernel_type_cores((enum npu_kernel_type)type, &aic, &aiv);
        assert_true(launch_as(&f, (enum npu_kernel_type)type, (void *)introduce_aic, (void *)introduce_aiv, N));
        no_findings(&f);
        for (int i = 0; i < N * aic; i++)
            check_slot(&f, i, (const int[]){1, i, i, N, 0, 1});
        for (int i = 0; i < N * aiv; i++)
            check_slot(&f, AIVS_FROM + i, (const int[]){1, i, i / aiv, N, i % aiv, aiv});
        assert_int_not_equal(((int32_t *)f.workspace)[N * aic * SLOT], 1);
        assert_int_not_equal(((int32_t *)f.workspace)[(AIVS_FROM + N * aiv) * SLOT], 1);
        assert_int_equal(npu_stats(f.npu).kernel_type, type ? type : NPU_TYPE_AIV_ONLY);
        fixture_free(&f);
    }
}

static void more_blocks_than_cores_run_in_waves(void **state)
{
    (void)state;
    static const struct {
        enum npu_kernel_type type;
        int blocks, waves;
    } launches[] = {{NPU_TYPE_AIV_ONLY, 48, 1},    {NPU_TYPE_AIV_ONLY, 49, 2},    {NPU_TYPE_AIC_ONLY, 24, 1},
                    {NPU_TYPE_AIC_ONLY, 25, 2},    {NPU_TYPE_MIX_AIC_1_1, 24, 1}, {NPU_TYPE_MIX_AIC_1_1, 25, 2},
                    {NPU_TYPE_MIX_AIC_1_2, 24, 1}, {NPU_TYPE_MIX_AIC_1_2, 49, 3}};
    for (size_t i = 0; i < sizeof launches / sizeof launches[0]; i++) {
        struct fixture f;
        assert_true(launch_as(&f, launches[i].type, (void *)introduce_aic, (void *)introduce_aiv, launches[i].blocks));
        assert_int_equal(npu_stats(f.npu).waves, launches[i].waves);
        if (launches[i].type >= NPU_TYPE_MIX_AIC_1_1 && launches[i].waves > 1)
            assert_false(finding(&f, "mix_blocks")->fatal);
        fixture_free(&f);
    }
}

static void a_key_without_a_type_is_refused(void **state)
{
    (void)state;
    struct fixture f;
    assert_false(launch_as(&f, NPU_TYPE_MISSING, NULL, (void *)introduce_aiv, 1));
    assert_true(finding(&f, "kernel_type_missing")->fatal);
    fixture_free(&f);
}

/* Vector calls on an AIC. */

/* The unguarded vector kernel: on an AIC it must leave z alone, and read zeros from UB. */
static void vector_kernel(float *x, float *y, float *z)
{
    npu_pipe_create();
    struct npu_tensor a = local(256), b = local(256);
    uint64_t at = 64 * (uint64_t)npu_block_idx();
    copy(a, global(x, at), 64);
    copy(b, global(y, at), 64);
    npu_set_flag(NPU_PIPE_MTE2, NPU_PIPE_V, 0);
    npu_wait_flag(NPU_PIPE_MTE2, NPU_PIPE_V, 0);
    add(a, a, b, 64);
    npu_set_flag(NPU_PIPE_V, NPU_PIPE_MTE3, 0);
    npu_wait_flag(NPU_PIPE_V, NPU_PIPE_MTE3, 0);
    copy(global(z, at), a, 64);
    npu_pipe_destroy();
}

static void vector_calls_do_nothing_on_an_aic(void **state)
{
    (void)state;
    struct fixture f;
    assert_true(launch_as(&f, NPU_TYPE_AIC_ONLY, (void *)vector_kernel, NULL, 4));
    no_findings(&f);
    assert_int_equal(npu_stats(f.npu).instructions, 0);
    assert_int_equal(((int32_t *)f.z)[0], 0x7f7f7f7f);
    fixture_free(&f);
    assert_true(launch_as(&f, NPU_TYPE_MIX_AIC_1_2, (void *)vector_kernel, (void *)vector_kernel, 4));
    no_findings(&f);
    for (int i = 0; i < 8 * 64; i++)
        assert_true(f.z[i] == f.x[i] + f.y[i]);
    fixture_free(&f);
}

/* Flags. */

/* An AIV's part of an exchange with its AIC: 64 words at its place in the workspace, doubled by the AIC, back to z. The
 * workspace is used ROUNDS times. */
enum { ROUNDS = 12, TO_AIC = 3, TO_AIV = 4 };

static void exchange_aiv(float *x, float *y, float *z, float *workspace)
{
    (void)x, (void)y;
    npu_pipe_create();
    struct npu_tensor out = local(256), in = local(256);
    uint64_t me = (uint64_t)npu_block_idx();
    for (uint64_t round = 0; round < ROUNDS; round++) {
        for (uint64_t i = 0; i < 64; i++)
            npu_scalar_store(&out, 4 * i, 4, 1000 * round + 100 * me + i);
        copy(global(workspace, me * 64), out, 64);
        npu_cross_core_set_flag(2, NPU_PIPE_MTE3, TO_AIC);
        npu_cross_core_wait_flag(2, TO_AIV);
        copy(in, global(workspace, 4096 + me * 64), 64);
        npu_set_flag(NPU_PIPE_MTE2, NPU_PIPE_MTE3, 0);
        npu_wait_flag(NPU_PIPE_MTE2, NPU_PIPE_MTE3, 0);
        copy(global(z, (round * 16 + me) * 64), in, 64);
        npu_set_flag(NPU_PIPE_MTE3, NPU_PIPE_MTE2, 0);
        npu_wait_flag(NPU_PIPE_MTE3, NPU_PIPE_MTE2, 0);
    }
    npu_pipe_destroy();
}

static void exchange_aic_doubles(float *workspace)
{
    for (uint64_t sub = 0; sub < 2; sub++) {
        uint64_t aiv = 2 * (uint64_t)npu_block_idx() + sub;
        struct npu_tensor in = global(workspace, aiv * 64), out = global(workspace, 4096 + aiv * 64);
        npu_dcache_clean(&in, 1, 2);
        for (uint64_t i = 0; i < 64; i++)
            npu_scalar_store(&out, 4 * i, 4, 2 * npu_scalar_load(&in, 4 * i, 4));
        npu_dcache_clean(&out, 1, 2);
    }
}

static void exchange_aic(float *x, float *y, float *z, float *workspace)
{
    (void)x, (void)y, (void)z;
    for (int round = 0; round < ROUNDS; round++) {
        npu_cross_core_wait_flag(2, TO_AIC);
        exchange_aic_doubles(workspace);
        npu_cross_core_set_flag(2, NPU_PIPE_MTE3, TO_AIV);
    }
}

static void mode_2_joins_an_aic_with_its_aivs(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 12; seed++) {
        struct fixture f;
        struct npu_config config = {.soc = npu_soc_find("910B2"),
                                    .random_order = seed > 0,
                                    .seed = seed,
                                    .kernel_type = NPU_TYPE_MIX_AIC_1_2,
                                    .aic_kernel = (void *)exchange_aic};
        fixture_make_with(&f, &config);
        bool good = launch(&f, (void *)exchange_aiv, 4);
        no_findings(&f);
        assert_true(good);
        for (int round = 0; round < ROUNDS; round++)
            for (int aiv = 0; aiv < 8; aiv++)
                for (int i = 0; i < 64; i++)
                    assert_int_equal(((int32_t *)f.z)[(round * 16 + aiv) * 64 + i], 2 * (1000 * round + 100 * aiv + i));
        fixture_free(&f);
    }
}

/* AIVs of a block swap 64 words through the workspace; `mode` 0 joins all AIVs, 1 those of the block. */
static void swap(float *workspace, float *z, int mode, int pipe, uint64_t partner)
{
    npu_pipe_create();
    struct npu_tensor mine = local(256), theirs = local(256);
    uint64_t me = (uint64_t)npu_block_idx();
    for (uint64_t i = 0; i < 64; i++)
        npu_scalar_store(&mine, 4 * i, 4, 100 * me + i);
    copy(global(workspace, me * 64), mine, 64);
    npu_cross_core_set_flag(mode, pipe, 5);
    npu_cross_core_wait_flag(mode, 5);
    copy(theirs, global(workspace, partner * 64), 64);
    npu_set_flag(NPU_PIPE_MTE2, NPU_PIPE_MTE3, 0);
    npu_wait_flag(NPU_PIPE_MTE2, NPU_PIPE_MTE3, 0);
    copy(global(z, me * 64), theirs, 64);
    npu_pipe_destroy();
}

static void swap_in_block(float *x, float *y, float *z, float *workspace)
{
    (void)x, (void)y;
    swap(workspace, z, 1, NPU_PIPE_MTE3, (uint64_t)npu_block_idx() ^ 1);
}

/* Mode 1 says nothing of the AIVs of the next block. */
static void swap_beyond_block(float *x, float *y, float *z, float *workspace)
{
    (void)x, (void)y;
    swap(workspace, z, 1, NPU_PIPE_MTE3, (uint64_t)npu_block_idx() ^ 2);
}

static void swap_with_all(float *x, float *y, float *z, float *workspace)
{
    (void)x, (void)y;
    swap(workspace, z, 0, NPU_PIPE_MTE3, (uint64_t)npu_block_idx() ^ 2);
}

/* The flag waits for MTE2; MTE3 is still writing. */
static void swap_wrong_pipe(float *x, float *y, float *z, float *workspace)
{
    (void)x, (void)y;
    swap(workspace, z, 1, NPU_PIPE_MTE2, (uint64_t)npu_block_idx() ^ 1);
}

static void idle(void)
{
}

static void modes_order_whom_they_join(void **state)
{
    (void)state;
    static const struct {
        void *kernel;
        int partner;
        bool good;
    } kernels[] = {{(void *)swap_in_block, 1, true},
                   {(void *)swap_with_all, 2, true},
                   {(void *)swap_beyond_block, 2, false},
                   {(void *)swap_wrong_pipe, 1, false}};
    for (size_t k = 0; k < sizeof kernels / sizeof kernels[0]; k++) {
        struct fixture f;
        bool good = launch_as(&f, NPU_TYPE_MIX_AIC_1_2, (void *)idle, kernels[k].kernel, 4);
        assert_int_equal(good, kernels[k].good);
        if (good) {
            no_findings(&f);
            for (int i = 0; i < 8 * 64; i++)
                assert_int_equal(((int32_t *)f.z)[i], 100 * (i / 64 ^ kernels[k].partner) + i % 64);
        } else {
            assert_non_null(strstr(finding(&f, "gm_race")->message, "no cross-core flag between"));
        }
        fixture_free(&f);
    }
}

/* AIC and AIVs take turns in writing the same word, with and without a flag between. */
static bool ordered_turns;

static void turn_aiv(float *x, float *y, float *z)
{
    (void)x, (void)y;
    npu_pipe_create();
    struct npu_tensor tensor = local(256);
    for (uint64_t i = 0; i < 64; i++)
        npu_scalar_store(&tensor, 4 * i, 4, 1);
    copy(global(z, 64 * (uint64_t)npu_block_idx()), tensor, 64);
    npu_cross_core_set_flag(2, NPU_PIPE_MTE3, 0);
    npu_pipe_destroy();
}

static void turn_aic(float *x, float *y, float *z)
{
    (void)x, (void)y;
    struct npu_tensor first = global(z, 128 * (uint64_t)npu_block_idx());
    if (ordered_turns)
        npu_cross_core_wait_flag(2, 0);
    npu_scalar_store(&first, 0, 4, 2);
}

static void writes_in_turn_are_no_overlap(void **state)
{
    (void)state;
    for (int ordered = 0; ordered < 2; ordered++) {
        struct fixture f;
        ordered_turns = ordered;
        bool good = launch_as(&f, NPU_TYPE_MIX_AIC_1_2, (void *)turn_aic, (void *)turn_aiv, 2);
        assert_int_equal(good, ordered);
        if (ordered)
            assert_int_equal(((int32_t *)f.z)[128], 2);
        else
            assert_non_null(finding(&f, "gm_overlap"));
        fixture_free(&f);
    }
}

/* SyncAll. */

/* Every core leaves its number, all meet, and each AIV copies what the first AIC and the last AIV have left. */
static void meet_aic(float *x, float *y, float *z, float *workspace)
{
    (void)x, (void)y, (void)z;
    struct npu_tensor mine = global(workspace, 16 * (uint64_t)npu_block_idx());
    npu_scalar_store(&mine, 0, 4, 7 + (uint64_t)npu_block_idx());
    npu_dcache_clean(&mine, 1, 2);
    npu_sync_all(0);
}

static void meet_aiv(float *x, float *y, float *z, float *workspace)
{
    (void)x, (void)y;
    npu_pipe_create();
    struct npu_tensor word = local(64);
    npu_sync_all(0);
    copy(word, global(workspace, 16), 8);
    npu_pipe_barrier(NPU_PIPE_ALL);
    copy(global(z, 8 * (uint64_t)npu_block_idx()), word, 8);
    npu_pipe_destroy();
}

/* SyncAll<true> joins the AIVs only: what the AIC has written is not ordered. */
static void meet_aiv_only(float *x, float *y, float *z, float *workspace)
{
    (void)x, (void)y;
    npu_pipe_create();
    struct npu_tensor word = local(64);
    npu_sync_all(1);
    copy(word, global(workspace, 16), 8);
    npu_pipe_barrier(NPU_PIPE_ALL);
    copy(global(z, 8 * (uint64_t)npu_block_idx()), word, 8);
    npu_pipe_destroy();
}

static void meet_aic_alone(float *x, float *y, float *z, float *workspace)
{
    (void)x, (void)y, (void)z;
    struct npu_tensor mine = global(workspace, 16 * (uint64_t)npu_block_idx());
    npu_scalar_store(&mine, 0, 4, 7 + (uint64_t)npu_block_idx());
    npu_dcache_clean(&mine, 1, 2);
}

static void sync_all_joins_both_kinds(void **state)
{
    (void)state;
    struct fixture f;
    struct npu_config config = {
        .soc = npu_soc_find("910B2"), .kernel_type = NPU_TYPE_MIX_AIC_1_2, .aic_kernel = (void *)meet_aic};
    fixture_make_with(&f, &config);
    memset(f.workspace, 0, 65536);
    launch(&f, (void *)meet_aiv, 3);
    for (int aiv = 0; aiv < 6; aiv++)
        assert_int_equal(((int32_t *)f.z)[8 * aiv], 8);
    size_t count;
    const struct npu_finding *findings = npu_findings(f.npu, &count);
    for (size_t i = 0; i < count; i++) /* seven of the eight words were never written */
        assert_true(strcmp(findings[i].fault, "uninitialized_read") == 0 ||
                    strcmp(findings[i].fault, "undefined_output") == 0);
    fixture_free(&f);
    assert_false(launch_as(&f, NPU_TYPE_MIX_AIC_1_2, (void *)meet_aic_alone, (void *)meet_aiv_only, 3));
    assert_non_null(finding(&f, "gm_race"));
    fixture_free(&f);
    /* AICs that do not come */
    assert_false(launch_as(&f, NPU_TYPE_MIX_AIC_1_2, (void *)idle, (void *)meet_aiv, 3));
    assert_non_null(strstr(finding(&f, "deadlock")->message, "AIV 0 waits for SyncAll<false>(); 6 of 9 cores wait"));
    fixture_free(&f);
}

static void a_sync_infers_a_mix_type(void **state)
{
    (void)state;
    struct fixture f;
    assert_true(launch_as(&f, NPU_TYPE_INFERRED, NULL, (void *)idle, 4));
    assert_int_equal(npu_stats(f.npu).kernel_type, NPU_TYPE_AIV_ONLY);
    fixture_free(&f);
    assert_true(launch_as(&f, NPU_TYPE_INFERRED, NULL, (void *)swap_with_all, 4));
    assert_int_equal(npu_stats(f.npu).kernel_type, NPU_TYPE_MIX_AIV_1_0);
    fixture_free(&f);
}

/* Faults. */

static void waits_for_one_aiv(float *x)
{
    (void)x;
    npu_cross_core_wait_flag(2, 9);
}

static void first_aiv_sets(float *x)
{
    (void)x;
    if (npu_sub_block_idx() == 0)
        npu_cross_core_set_flag(2, NPU_PIPE_MTE3, 9);
}

static void sets_mode_1(float *x)
{
    (void)x;
    npu_cross_core_set_flag(1, NPU_PIPE_MTE3, 0);
}

static void sets_mode_4(float *x)
{
    (void)x;
    npu_cross_core_set_flag(4, NPU_PIPE_MTE3, 0);
}

static void sets_16_times(float *x)
{
    (void)x;
    for (int i = 0; i < 16; i++)
        npu_cross_core_set_flag(2, NPU_PIPE_MTE3, 1);
}

static void waits_16_times(float *x)
{
    (void)x;
    for (int i = 0; i < 16; i++)
        npu_cross_core_wait_flag(2, 1);
}

/* The AIC has its turn first and could set 16 times before an AIV has waited once: told and no more, since on the chip
 * they run at the same time. */
static void a_full_flag_lets_the_others_run(void **state)
{
    (void)state;
    static const enum npu_kernel_type types[] = {NPU_TYPE_MIX_AIC_1_1, NPU_TYPE_MIX_AIC_1_2};
    for (int i = 0; i < 2; i++) {
        struct fixture f;
        assert_true(launch_as(&f, types[i], (void *)waits_16_times, (void *)sets_16_times, 1));
        fixture_free(&f);
        assert_true(launch_as(&f, types[i], (void *)sets_16_times, (void *)waits_16_times, 2));
        const struct npu_finding *found = finding(&f, "cross_core_flag_overflow");
        assert_int_equal(found->kind, NPU_DIFFERS);
        assert_false(found->fatal);
        fixture_free(&f);
    }
}

static void sync_only_vectors(float *x)
{
    (void)x;
    npu_sync_all(1);
}

static void sets_and_ends(float *x)
{
    (void)x;
    npu_cross_core_set_flag(2, NPU_PIPE_MTE3, 6);
    npu_cross_core_set_flag(2, NPU_PIPE_MTE3, 6);
}

static void flags_left_set_are_noted(void **state)
{
    (void)state;
    struct fixture f;
    assert_true(launch_as(&f, NPU_TYPE_MIX_AIC_1_2, (void *)idle, (void *)sets_and_ends, 1));
    const struct npu_finding *found = finding(&f, "cross_core_flag_not_waited");
    assert_non_null(strstr(found->message, "flag 6 of AIC 0 is still set 2 times"));
    assert_int_not_equal(found->pc, 0);
    assert_true(found->aic);
    fixture_free(&f);
}

static void each_fault(void **state)
{
    (void)state;
    static const struct {
        enum npu_kernel_type type;
        void *aic, *aiv;
        int blocks;
        const char *fault, *words;
    } cases[] = {
        {NPU_TYPE_MIX_AIC_1_2, (void *)waits_for_one_aiv, (void *)first_aiv_sets, 2, "deadlock",
         "AIC 0 waits for CrossCoreWaitFlag<2>(9), which 1 of 2 AIVs of its block have set with mode 2; 2 of 6 cores "
         "wait, 4 have ended"},
        {NPU_TYPE_MIX_AIC_1_2, (void *)waits_for_one_aiv, (void *)idle, 1, "deadlock", "which nobody has set"},
        {NPU_TYPE_MIX_AIV_1_0, NULL, (void *)sets_mode_1, 1, "cross_core_mode", "CrossCoreSetFlag<1>"},
        {NPU_TYPE_MIX_AIC_1_2, (void *)sets_mode_1, (void *)idle, 1, "cross_core_mode", "on an AIC"},
        {NPU_TYPE_MIX_AIC_1_2, (void *)idle, (void *)sets_mode_4, 1, "cross_core_mode", "modes 0, 1 and 2"},
        {NPU_TYPE_MIX_AIC_1_1, (void *)idle, (void *)sets_16_times, 1, "cross_core_flag_overflow", "flag 1"},
        {NPU_TYPE_MIX_AIC_1_2, (void *)idle, (void *)sets_16_times, 1, "cross_core_flag_overflow", "flag 1"},
        {NPU_TYPE_AIV_ONLY, NULL, (void *)sync_only_vectors, 2, "sync_kernel_type", "MIX_AIV_1_0 does"},
        {NPU_TYPE_AIC_ONLY, (void *)sync_only_vectors, NULL, 2, "sync_kernel_type", "MIX_AIC_1_0 does"},
        {NPU_TYPE_MIX_AIC_1_2, (void *)idle, (void *)sync_only_vectors, 25, "sync_more_blocks_than_cores",
         "25 blocks on 24 cores"},
        {NPU_TYPE_MIX_AIV_1_0, NULL, (void *)sync_only_vectors, 49, "sync_more_blocks_than_cores",
         "49 blocks on 48 cores"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct fixture f;
        assert_false(launch_as(&f, cases[i].type, cases[i].aic, cases[i].aiv, cases[i].blocks));
        const struct npu_finding *found = finding(&f, cases[i].fault);
        if (!strstr(found->message, cases[i].words))
            fail_msg("%s: %s", cases[i].fault, found->message);
        assert_int_equal(found->kind, NPU_TRAP);
        fixture_free(&f);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_key_goes_before_the_default),
        cmocka_unit_test(cores_are_numbered),
        cmocka_unit_test(more_blocks_than_cores_run_in_waves),
        cmocka_unit_test(a_key_without_a_type_is_refused),
        cmocka_unit_test(vector_calls_do_nothing_on_an_aic),
        cmocka_unit_test(mode_2_joins_an_aic_with_its_aivs),
        cmocka_unit_test(modes_order_whom_they_join),
        cmocka_unit_test(writes_in_turn_are_no_overlap),
        cmocka_unit_test(sync_all_joins_both_kinds),
        cmocka_unit_test(a_sync_infers_a_mix_type),
        cmocka_unit_test(flags_left_set_are_noted),
        cmocka_unit_test(a_full_flag_lets_the_others_run),
        cmocka_unit_test(each_fault),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
