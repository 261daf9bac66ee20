/* The scalar unit: raw pointers seen by the compiler's hooks, its cache, tiling data; and waiting for other blocks. */
#include "abi/npu_hooks.h"
#include "unit/npu/launch.h"

/* What the compiler inserts before each access of a candidate. */

static float load(float *at)
{
    npu_load(at, 4);
    return *at;
}

static void store(float *at, float value)
{
    npu_store(at, 4);
    *at = value;
}

static void scalar_add_kernel(float *x, float *y, float *z)
{
    int share = ELEMENTS / (int)npu_block_num(), first = share * (int)npu_block_idx();
    for (int i = first; i < first + share; i++) {
        npu_block(0);
        store(&z[i], load(&x[i]) + load(&y[i]));
    }
}

/* More lines than the cache holds, so that evictions write them back too. */
static void raw_pointers_compute(void **state)
{
    (void)state;
    struct fixture f;
    fixture_make(&f, false, 0);
    assert_true(launch(&f, scalar_add_kernel, BLOCKS));
    no_findings(&f);
    for (int i = 0; i < ELEMENTS; i++)
        assert_true(f.z[i] == (float)i + (float)(3 * i + 1));
    struct npu_stats stats = npu_stats(f.npu);
    assert_int_equal(stats.scalar_loads, 2 * ELEMENTS);
    assert_int_equal(stats.scalar_stores, ELEMENTS);
    assert_int_equal(stats.scalar_blocks, ELEMENTS);
    assert_int_equal(npu_gm_undefined(f.npu, f.z, NULL), 0);
    fixture_free(&f);
}

static void raw_overrun_kernel(float *x, float *y, float *z)
{
    (void)y, (void)z;
    for (int i = ELEMENTS - 2; i <= ELEMENTS; i++)
        npu_load(&x[i], 4);
}

static void raw_race_kernel(float *x, float *y, float *z, float *workspace)
{
    (void)x, (void)y, (void)z;
    if (npu_block_idx() == 0)
        (void)load(&workspace[0]);
    else
        store(&workspace[0], 1.0f);
}

static void raw_pointers_are_checked(void **state)
{
    (void)state;
    struct fixture f;
    fixture_make(&f, false, 0);
    npu_gm_span(f.npu, f.x, (ELEMENTS + 1) * sizeof *f.x);
    assert_false(launch(&f, raw_overrun_kernel, 1));
    assert_non_null(strstr(finding(&f, "gm_out_of_bounds")->message, "of x, which has 49152: 4 bytes past its end"));
    fixture_free(&f);
    fixture_make(&f, false, 0);
    assert_false(launch(&f, raw_race_kernel, 2));
    assert_true(finding(&f, "undefined_scalar")->fatal);
    assert_true(finding(&f, "gm_race")->fatal);
    fixture_free(&f);
}

/* Stack and static memory are the kernel's own. */
static void own_memory_kernel(void)
{
    static float constant;
    float local_value = 0;
    store(&local_value, 1.0f);
    store(&constant, load(&local_value));
}

static void own_memory_is_not_counted(void **state)
{
    (void)state;
    struct fixture f;
    fixture_make(&f, false, 0);
    assert_true(launch(&f, own_memory_kernel, 1));
    assert_int_equal(npu_stats(f.npu).scalar_stores, 0);
    fixture_free(&f);
}

/* Copies of every length: none, as much as the buffer of copies has left, more; and what is written goes back. */
static void arguments_kernel(void)
{
    enum { BUFFER = 16 << 10, MOST = 3 * BUFFER };
    static const uint32_t lengths[][3] = {{BUFFER, 0, 0}, {BUFFER - 16, 16, 0}, {BUFFER - 15, 1, 16},
                                          {0, BUFFER, 1}, {MOST, BUFFER, 0},    {1, MOST, 15}};
    static uint8_t bytes[3][MOST];
    for (size_t row = 0; row < sizeof lengths / sizeof *lengths; row++) {
        uint8_t *copies[3];
        for (int i = 0; i < 3; i++) {
            memset(bytes[i], i + 1, lengths[row][i]);
            copies[i] =
                npu_argument(bytes[i], lengths[row][i], NPU_ARGUMENT_READ | (i == 1 ? NPU_ARGUMENT_WRITTEN : 0));
        }
        for (int i = 0; i < 3; i++)
            for (uint32_t at = 0; at < lengths[row][i]; at++) {
                assert_int_equal(copies[i][at], i + 1);
                copies[i][at] = 7;
            }
        npu_arguments_end(2);
        assert_null(npu_argument(NULL, 8, NPU_ARGUMENT_READ | NPU_ARGUMENT_OR_NULL));
        npu_arguments_end(2);
        for (int i = 0; i < 3; i++)
            for (uint32_t at = 0; at < lengths[row][i]; at++)
                assert_int_equal(bytes[i][at], i == 1 ? 7 : i + 1);
    }
}

static void arguments_are_copied(void **state)
{
    (void)state;
    struct fixture f;
    fixture_make(&f, false, 0);
    assert_true(launch(&f, arguments_kernel, 1));
    fixture_free(&f);
}

/* A variable of the kernel's is its own however near a tensor the loader puts it. */
static float *variable;

static void neighbour_kernel(void)
{
    store(variable, load(variable) + 1.0f);
}

static void own_memory_beside_a_tensor_is_not_counted(void **state)
{
    (void)state;
    enum { NEAR = 500, BYTES = 4096 };
    static _Alignas(512) float room[3][BYTES / sizeof(float)]; /* a variable, the tensor, a variable */
    float *const places[] = {room[0] + BYTES / sizeof(float) - NEAR, room[2] + NEAR};
    for (int i = 0; i < 2; i++) {
        const struct npu_config config = manual_sync(0);
        const struct gm_part parts[] = {{"x", room[1], BYTES, NPU_GM_INPUT, true}};
        variable = places[i];
        struct outcome outcome = launch_once(&config, neighbour_kernel, parts, 1);
        assert_string_equal(outcome.message, "");
    }
    assert_true(*places[0] == 1.0f && *places[1] == 1.0f);
}

/* Reads a word, meets the others, reads it again after block 1 has changed it. */
static void stale(float *workspace, float *z, bool clean)
{
    struct npu_tensor word = global(workspace, 0);
    uint64_t me = (uint64_t)npu_block_idx();
    if (me == 0) {
        npu_scalar_store(&word, 0, 4, 0);
        npu_dcache_clean(&word, 0, 2);
        (void)npu_scalar_load(&word, 0, 4);
    }
    npu_sync_all(1);
    if (me == 1) {
        npu_scalar_store(&word, 0, 4, 7);
        npu_dcache_clean(&word, 0, 2);
    }
    npu_sync_all(1);
    if (me == 0) {
        struct npu_tensor out = global(z, 0);
        if (clean)
            npu_dcache_clean(&word, 0, 2);
        npu_scalar_store(&out, 0, 4, npu_scalar_load(&word, 0, 4));
    }
}

static void stale_kernel(float *x, float *y, float *z, float *workspace)
{
    (void)x, (void)y;
    stale(workspace, z, false);
}

static void fresh_kernel(float *x, float *y, float *z, float *workspace)
{
    (void)x, (void)y;
    stale(workspace, z, true);
}

static void stale_lines(void **state)
{
    (void)state;
    struct fixture f;
    fixture_make(&f, false, 0);
    assert_true(launch(&f, stale_kernel, 2));
    assert_int_equal(finding(&f, "dcache_stale_read")->kind, NPU_DIFFERS);
    assert_int_equal(((int32_t *)f.z)[0], 0);
    fixture_free(&f);
    fixture_make(&f, false, 0);
    assert_true(launch(&f, fresh_kernel, 2));
    no_findings(&f);
    assert_int_equal(((int32_t *)f.z)[0], 7);
    fixture_free(&f);
}

static void dma_past_cache_kernel(float *x, float *y, float *z, float *workspace)
{
    (void)x, (void)y;
    npu_pipe_create();
    struct npu_tensor word = global(workspace, 0), room = local(64);
    for (uint64_t i = 0; i < 16; i++)
        npu_scalar_store(&word, 4 * i, 4, 7);
    copy(room, word, 16);
    npu_pipe_barrier(NPU_PIPE_ALL);
    copy(global(z, 0), room, 16);
    npu_pipe_destroy();
}

/* Without DataCacheCleanAndInvalid a DMA does not see what the same core's scalar unit has stored. */
static void dma_sees_gm_not_the_cache(void **state)
{
    (void)state;
    struct fixture f;
    fixture_make(&f, false, 0);
    assert_false(launch(&f, dma_past_cache_kernel, 1));
    finding(&f, "undefined_output");
    assert_int_equal(((int32_t *)f.z)[0], 0x7f7f7f7f);
    assert_int_equal(((int32_t *)f.workspace)[0], 7);
    fixture_free(&f);
}

/* Block 0 fills a line, stores into `other_lines` more, and copies the first by DMA. */
static uint64_t other_lines;

static void many_lines_kernel(float *x, float *y, float *z, float *workspace)
{
    (void)x, (void)y;
    npu_pipe_create();
    struct npu_tensor word = global(workspace, 0), room = local(64);
    for (uint64_t i = 0; i < 16; i++)
        npu_scalar_store(&word, 4 * i, 4, 7);
    for (uint64_t i = 1; i <= other_lines; i++)
        npu_scalar_store(&word, 64 * i, 4, 7);
    copy(room, word, 16);
    npu_pipe_barrier(NPU_PIPE_ALL);
    copy(global(z, 0), room, 16);
    npu_pipe_destroy();
}

/* An AIV's cache has 32 KB (guide, 缓存一致性): so many other lines drive a stored one out to GM; 7 of 8 ways do not. */
static void cache_is_as_large_as_documented(void **state)
{
    (void)state;
    enum { LINES = (32 << 10) / 64 };
    const uint64_t others[] = {LINES / 8 * 7, LINES};
    for (int i = 0; i < 2; i++) {
        struct fixture f;
        fixture_make(&f, false, 0);
        other_lines = others[i];
        assert_int_equal(launch(&f, many_lines_kernel, 1), i == 1);
        assert_int_equal(((int32_t *)f.z)[0], i == 1 ? 7 : 0x7f7f7f7f);
        fixture_free(&f);
    }
}

static void undefined_scalar_kernel(void)
{
    npu_pipe_create();
    struct npu_tensor room = local(64);
    (void)npu_scalar_load(&room, 8, 4);
    npu_pipe_destroy();
}

static void undefined_scalars(void **state)
{
    (void)state;
    struct fixture f;
    fixture_make(&f, false, 0);
    assert_false(launch(&f, undefined_scalar_kernel, 1));
    assert_int_equal(finding(&f, "undefined_scalar")->kind, NPU_UNDEFINED);
    fixture_free(&f);
}

/* The first 8 words of the buffer are written, the next 8 are not. The scalar unit copies all 16, as a kernel does with
 * a tile and its padding; `words` of the copy go to z. */
static void copy_tile(float *z, uint32_t words, bool branch, bool to_gm)
{
    npu_pipe_create();
    struct npu_tensor room = local(128), second = room;
    second.addr += 64;
    float *tile = (float *)room.addr;
    for (int i = 0; i < 8; i++)
        store(&tile[i], (float)i);
    for (int i = 0; i < 16; i++) {
        npu_block(0);
        float word = load(&tile[i]);
        if (branch)
            npu_block(0);
        store(to_gm ? &z[i] : &tile[16 + i], word);
    }
    npu_pipe_barrier(NPU_PIPE_ALL);
    if (words)
        copy(global(z, 0), second, words);
    npu_pipe_destroy();
}

static void padding_kernel(float *x, float *y, float *z)
{
    (void)x, (void)y;
    copy_tile(z, 8, false, false);
}

static void padding_out_kernel(float *x, float *y, float *z)
{
    (void)x, (void)y;
    copy_tile(z, 16, false, false);
}

static void padding_branch_kernel(float *x, float *y, float *z)
{
    (void)x, (void)y;
    copy_tile(z, 8, true, false);
}

static void padding_to_gm_kernel(float *x, float *y, float *z)
{
    (void)x, (void)y;
    copy_tile(z, 0, false, true);
}

static void load_and_use_kernel(float *x, float *y, float *z)
{
    (void)y, (void)z;
    npu_pipe_create();
    struct npu_tensor room = local(64);
    (void)npu_scalar_load(&room, 0, 4);
    copy(room, global(x, 0), 16); /* where the value may have gone */
    npu_scalar_store(&room, 0, 4, 0);
    npu_pipe_destroy();
}

/* Undefined values that are stored where they came from stay undefined and do no harm by themselves. */
static void undefined_values_travel(void **state)
{
    (void)state;
    struct fixture f;
    fixture_make(&f, false, 0);
    assert_true(launch(&f, padding_kernel, 1));
    const struct npu_finding *note = finding(&f, "undefined_scalar");
    assert_false(note->fatal);
    assert_int_equal(note->count, 8);
    assert_true(f.z[7] == 7.0f);
    fixture_free(&f);
    fixture_make(&f, false, 0);
    assert_false(launch(&f, padding_out_kernel, 1));
    assert_false(finding(&f, "undefined_scalar")->fatal);
    assert_true(finding(&f, "undefined_output")->fatal);
    fixture_free(&f);
    void *const faulty[] = {(void *)padding_branch_kernel, (void *)padding_to_gm_kernel, (void *)load_and_use_kernel};
    for (int i = 0; i < 3; i++) {
        fixture_make(&f, false, 0);
        assert_false(launch(&f, faulty[i], 1));
        assert_true(finding(&f, "undefined_scalar")->fatal);
        fixture_free(&f);
    }
}

/* The host's tiling data has 24 bytes; the kernel's structure 24 or 32. */
static void tiling_kernel(uint64_t tiling)
{
    uint8_t structure[32];
    npu_tiling_copy(structure, tiling, 24);
    if (structure[23] != 23)
        npu_user_trap();
    npu_tiling_copy(structure, tiling, 32);
}

static void tiling_mismatch(void **state)
{
    (void)state;
    struct npu_config config = {.soc = &npu_socs[0]};
    uint8_t *tiling = aligned_alloc(512, 512);
    const struct gm_part part = {"tiling", tiling, 24, NPU_GM_TILING, true};
    for (int i = 0; i < 24; i++)
        tiling[i] = (uint8_t)i;
    struct outcome outcome = launch_once(&config, (void *)tiling_kernel, &part, 1);
    assert_string_equal(outcome.fatal, "tiling_mismatch");
    assert_string_equal(outcome.names, " tiling_mismatch ");
    assert_non_null(strstr(outcome.message, "structure has 32 bytes, the host's has 24"));
    free(tiling);
}

/* Soft SyncAll and cross-core flags. */

static void soft_sync_kernel(float *x, float *y, float *z, float *workspace)
{
    (void)x, (void)y;
    npu_pipe_create();
    struct npu_tensor room = local(BLOCKS * 32), slots = global(workspace, 0);
    slots.bytes = BLOCKS * 32;
    uint64_t me = (uint64_t)npu_block_idx();
    for (int round = 0; round < 2; round++)
        npu_sync_all_soft(&slots, &room, 0);
    struct npu_tensor out = global(z, 16 * me);
    npu_scalar_store(&out, 0, 4, 1);
    npu_pipe_destroy();
}

static void soft_sync(void **state)
{
    (void)state;
    struct fixture f;
    fixture_make(&f, false, 0);
    assert_false(launch(&f, soft_sync_kernel, BLOCKS));
    assert_int_equal(finding(&f, "sync_workspace_not_zero")->count, BLOCKS);
    fixture_free(&f);

    fixture_make(&f, false, 0);
    float *zeroed = aligned_alloc(512, 1024);
    memset(zeroed, 0, 1024);
    npu_gm_add(f.npu, "zeroed", zeroed, 512, NPU_GM_WORKSPACE, true);
    uint64_t args[] = {0, 0, (uint64_t)f.z, (uint64_t)zeroed};
    assert_true(npu_launch(f.npu, (void *)soft_sync_kernel, args, 4, BLOCKS));
    no_findings(&f);
    for (int block = 0; block < BLOCKS; block++)
        assert_int_equal(((int32_t *)zeroed)[8 * block], 2);
    fixture_free(&f);
    free(zeroed);
}

/* Block 0 writes, all set and wait, the others read. */
static void flags_kernel(float *x, float *y, float *z, float *workspace)
{
    (void)x, (void)y;
    npu_pipe_create();
    struct npu_tensor room = local(256);
    if (npu_block_idx() == 0) {
        for (uint64_t i = 0; i < 64; i++)
            npu_scalar_store(&room, 4 * i, 4, i);
        copy(global(workspace, 0), room, 64);
    }
    npu_cross_core_set_flag(0, NPU_PIPE_MTE3, 3);
    npu_cross_core_wait_flag(0, 3);
    copy(room, global(workspace, 0), 64);
    npu_pipe_barrier(NPU_PIPE_ALL);
    copy(global(z, 64 * (uint64_t)npu_block_idx()), room, 64);
    npu_pipe_destroy();
}

static void flags_without_set_kernel(void)
{
    if (npu_block_idx() != 2)
        npu_cross_core_set_flag(0, NPU_PIPE_MTE3, 3);
    npu_cross_core_wait_flag(0, 3);
}

static void cross_core_flags(void **state)
{
    (void)state;
    struct fixture f;
    fixture_make(&f, false, 0);
    assert_true(launch(&f, flags_kernel, BLOCKS));
    no_findings(&f);
    assert_int_equal(((int32_t *)f.z)[64 * 3 + 63], 63);
    fixture_free(&f);
    fixture_make(&f, false, 0);
    assert_false(launch(&f, flags_without_set_kernel, BLOCKS));
    assert_non_null(strstr(finding(&f, "deadlock")->message,
                           "CrossCoreWaitFlag<0>(3), which 3 of 4 blocks have set with mode 0; 4 of 4 blocks wait"));
    fixture_free(&f);
}

/* One block polls until the other, `setter`, has set the word, and takes what that has left for it. */
static void spin_kernel(uint64_t setter, float *mailbox, float *flags)
{
    struct npu_tensor word = global(flags, 0), letter = global(mailbox, 0), answer = global(mailbox, 32);
    if (npu_block_idx() == (int64_t)setter) {
        npu_scalar_store(&letter, 0, 4, 77);
        npu_dcache_clean(&letter, 0, 2);
        npu_scalar_store(&word, 0, 4, 1);
        npu_dcache_clean(&word, 0, 2);
        return;
    }
    do
        npu_dcache_clean(&word, 0, 2);
    while (npu_scalar_load(&word, 0, 4) != 1);
    npu_scalar_store(&answer, 0, 4, npu_scalar_load(&letter, 0, 4));
}

static void spinning_lets_others_run(void **state)
{
    (void)state;
    /* The first to run waits, or the word is there when the other one looks. */
    for (uint64_t setter = 0; setter < 2; setter++) {
        struct fixture f;
        fixture_make(&f, false, 0);
        float *memory = aligned_alloc(512, 1024), *flags = memory + 128;
        memset(memory, 0, 1024);
        npu_gm_add(f.npu, "mailbox", memory, 512, NPU_GM_WORKSPACE, true);
        npu_gm_add(f.npu, "flags", flags, 512, NPU_GM_WORKSPACE, true);
        uint64_t args[] = {setter, (uint64_t)memory, (uint64_t)flags};
        assert_true(npu_launch(f.npu, (void *)spin_kernel, args, 3, 2));
        no_findings(&f);
        assert_int_equal(((int32_t *)flags)[0], 1);
        assert_int_equal(((int32_t *)memory)[32], 77);
        fixture_free(&f);
        free(memory);
    }
}

/* The chips. */

static void chips_by_name(void **state)
{
    (void)state;
    assert_string_equal(npu_socs[0].name, "Ascend910B2");
    assert_string_equal(npu_soc_find("910b4-1")->name, "Ascend910B4-1");
    assert_string_equal(npu_soc_find("ascend910_9392")->name, "Ascend910_9392");
    assert_int_equal(npu_soc_find("Ascend910B3")->aiv, 40);
    assert_int_equal(npu_soc_find("Ascend910B4")->l2_bytes, 96 << 20);
    assert_null(npu_soc_find("Ascend310P"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(raw_pointers_compute),
        cmocka_unit_test(raw_pointers_are_checked),
        cmocka_unit_test(own_memory_is_not_counted),
        cmocka_unit_test(arguments_are_copied),
        cmocka_unit_test(own_memory_beside_a_tensor_is_not_counted),
        cmocka_unit_test(stale_lines),
        cmocka_unit_test(cache_is_as_large_as_documented),
        cmocka_unit_test(dma_sees_gm_not_the_cache),
        cmocka_unit_test(undefined_scalars),
        cmocka_unit_test(undefined_values_travel),
        cmocka_unit_test(tiling_mismatch),
        cmocka_unit_test(soft_sync),
        cmocka_unit_test(cross_core_flags),
        cmocka_unit_test(spinning_lets_others_run),
        cmocka_unit_test(chips_by_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
