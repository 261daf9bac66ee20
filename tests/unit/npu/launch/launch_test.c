/* Launching: kernels written in C against the machine's ABI, as the headers would call it. */
#include "unit/npu/launch.h"

/* Kernels. */

static void add_kernel(float *x, float *y, float *z)
{
    uint32_t in_x = 0, in_y = 0, out = 0;
    npu_pipe_create();
    npu_que_init(&in_x, NPU_GM, NPU_VECIN, 2, 2, TILE * 4);
    npu_que_init(&in_y, NPU_GM, NPU_VECIN, 2, 2, TILE * 4);
    npu_que_init(&out, NPU_VECOUT, NPU_GM, 2, 2, TILE * 4);
    uint64_t share = ELEMENTS / (uint64_t)npu_block_num();
    for (uint64_t at = share * (uint64_t)npu_block_idx(), end = at + share; at < end; at += TILE) {
        struct npu_tensor a, b, c;
        npu_que_alloc(in_x, &a);
        npu_que_alloc(in_y, &b);
        copy(a, global(x, at), TILE);
        copy(b, global(y, at), TILE);
        npu_que_enque(in_x, &a);
        npu_que_enque(in_y, &b);
        npu_que_deque(in_x, &a);
        npu_que_deque(in_y, &b);
        npu_que_alloc(out, &c);
        add(c, a, b, TILE);
        npu_que_enque(out, &c);
        npu_que_free(in_x, &a);
        npu_que_free(in_y, &b);
        npu_que_deque(out, &c);
        copy(global(z, at), c, TILE);
        npu_que_free(out, &c);
    }
    npu_pipe_destroy();
}

static void check_sum(struct fixture *f)
{
    for (int i = 0; i < ELEMENTS; i++)
        assert_true(f->z[i] == (float)i + (float)(3 * i + 1));
}

static void adds_in_order(void **state)
{
    (void)state;
    struct fixture f;
    fixture_make(&f, false, 0);
    assert_true(launch(&f, add_kernel, BLOCKS));
    no_findings(&f);
    check_sum(&f);
    struct npu_stats stats = npu_stats(f.npu);
    assert_int_equal(stats.blocks, BLOCKS);
    assert_int_equal(stats.waves, 1);
    assert_int_equal(stats.instructions, BLOCKS * TILES * 4);
    assert_int_equal(stats.bytes_in, 2 * ELEMENTS * 4);
    assert_int_equal(stats.bytes_out, ELEMENTS * 4);
    assert_int_equal(stats.cores_busy, BLOCKS);
    assert_int_equal(npu_gm_undefined(f.npu, f.z, NULL), 0);
    fixture_free(&f);
}

static void adds_in_random_order(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 20; seed++) {
        struct fixture f;
        fixture_make(&f, true, seed);
        assert_true(launch(&f, add_kernel, BLOCKS));
        no_findings(&f);
        check_sum(&f);
        fixture_free(&f);
    }
}

static void store_unwritten_kernel(float *x, float *y, float *z)
{
    (void)x, (void)y;
    npu_pipe_create();
    copy(global(z, 8), local(256), 64);
    npu_pipe_destroy();
}

static void undefined_bytes_in_output(void **state)
{
    (void)state;
    struct fixture f;
    fixture_make(&f, false, 0);
    assert_false(launch(&f, store_unwritten_kernel, 1));
    const struct npu_finding *found = finding(&f, "undefined_output");
    assert_true(found->fatal);
    assert_non_null(strstr(found->message, "256 bytes of output z from offset 32"));
    size_t first = 0;
    assert_int_equal(npu_gm_undefined(f.npu, f.z, &first), 256);
    assert_int_equal(first, 32);
    fixture_free(&f);
}

static void write_most_kernel(float *x, float *y, float *part)
{
    (void)x, (void)y;
    struct npu_tensor tensor = global(part, 0);
    for (uint64_t i = 0; i < 100; i++)
        if (i / 3 != 20)
            npu_scalar_store(&tensor, 4 * i, 4, 0);
}

static void never_written(void **state)
{
    (void)state;
    struct fixture f;
    fixture_make(&f, false, 0);
    float *part = gm_memory(400);
    npu_gm_add(f.npu, "part", part, 400, NPU_GM_OUTPUT, false);
    uint64_t args[] = {0, 0, (uint64_t)part};
    assert_true(npu_launch(f.npu, write_most_kernel, args, 3, 1));
    const struct npu_finding *found = finding(&f, "unwritten_output");
    assert_int_equal(found->pc, 0);
    assert_string_equal(found->message, "12 bytes of output part, from offset 240 on, were never written");
    fixture_free(&f);
    free(part);
}

static void overrun_kernel(float *x, float *y, float *z)
{
    (void)y, (void)z;
    npu_pipe_create();
    copy(local(256), global(x, ELEMENTS - 40), 64);
    npu_pipe_destroy();
}

static void past_the_end(void **state)
{
    (void)state;
    struct fixture f;
    fixture_make(&f, false, 0);
    assert_false(launch(&f, overrun_kernel, 2));
    const struct npu_finding *found = finding(&f, "gm_out_of_bounds");
    assert_int_equal(found->kind, NPU_TRAP);
    assert_string_equal(found->api, "DataCopy");
    assert_int_equal(found->pipe, NPU_PIPE_MTE2);
    assert_non_null(strstr(found->message, "of x, which has"));
    assert_non_null(strstr(found->message, "96 bytes past its end"));
    assert_int_equal(found->count, 1); /* the run ended there */
    fixture_free(&f);
}

/* Eight floats of x and eight behind them, to the end of z: what comes from behind x goes behind z. */
static void padding_kernel(float *x, float *y, float *z)
{
    (void)y;
    npu_pipe_create();
    struct npu_tensor tensor = local(256);
    copy(tensor, global(x, ELEMENTS - 8), 16);
    npu_pipe_barrier(NPU_PIPE_ALL);
    copy(global(z, ELEMENTS - 8), tensor, 16);
    npu_pipe_destroy();
}

static void padding_to_output_kernel(float *x, float *y, float *z)
{
    (void)y;
    npu_pipe_create();
    struct npu_tensor tensor = local(256);
    copy(tensor, global(x, ELEMENTS), 8);
    npu_pipe_barrier(NPU_PIPE_ALL);
    copy(global(z, 0), tensor, 8);
    npu_pipe_destroy();
}

static void behind_the_padding_kernel(float *x, float *y, float *z)
{
    (void)y, (void)z;
    npu_pipe_create();
    copy(local(256), global(x, ELEMENTS - 8), 24);
    npu_pipe_destroy();
}

/* z's allocation may be read there. */
static void write_behind_the_padding_kernel(float *x, float *y, float *z)
{
    (void)y;
    npu_pipe_create();
    copy(local(256), global(x, 0), 24);
    npu_set_flag(NPU_PIPE_MTE2, NPU_PIPE_MTE3, 0);
    npu_wait_flag(NPU_PIPE_MTE2, NPU_PIPE_MTE3, 0);
    copy(local(512), global(z, ELEMENTS - 8), 24);
    copy(global(z, ELEMENTS - 8), local(256), 24);
    npu_pipe_destroy();
}

static void padding_of_an_allocation(void **state)
{
    (void)state;
    static void (*const kernels[])(float *, float *, float *) = {
        padding_kernel, padding_to_output_kernel, behind_the_padding_kernel, write_behind_the_padding_kernel};
    static const char *const faults[] = {NULL, "undefined_output", "gm_out_of_bounds", "gm_out_of_bounds"};
    for (int i = 0; i < 4; i++) {
        struct fixture f;
        fixture_make(&f, false, 0);
        npu_gm_padding(f.npu, f.x, 32, 32);
        npu_gm_padding(f.npu, f.z, 64, 32);
        assert_int_equal(launch(&f, kernels[i], 1), !faults[i]);
        if (faults[i]) {
            assert_true(finding(&f, faults[i])->fatal);
        } else {
            const struct npu_finding *found = finding(&f, "gm_padding");
            assert_int_equal(found->kind, NPU_DIFFERS);
            assert_non_null(strstr(found->message, "of x, which has"));
            assert_non_null(strstr(found->message, "32 bytes past its end"));
            for (int k = ELEMENTS - 8; k < ELEMENTS; k++)
                assert_true(f.z[k] == f.x[k]);
        }
        fixture_free(&f);
    }
}

/* All blocks write the same 256 bytes; block 2 another value, or the same. */
static void overlap(float *z, float value)
{
    npu_pipe_create();
    struct npu_tensor tensor = local(256);
    for (uint64_t i = 0; i < 64; i++) {
        uint32_t bits;
        memcpy(&bits, &value, 4);
        npu_scalar_store(&tensor, 4 * i, 4, bits);
    }
    copy(global(z, 0), tensor, 64);
    npu_pipe_destroy();
}

static void overlap_different_kernel(float *x, float *y, float *z)
{
    (void)x, (void)y;
    overlap(z, npu_block_idx() == 2 ? 2.0f : 1.0f);
}

static void overlap_same_kernel(float *x, float *y, float *z)
{
    (void)x, (void)y;
    overlap(z, 1.0f);
}

static void overlapping_writes(void **state)
{
    (void)state;
    struct fixture f;
    fixture_make(&f, false, 0);
    assert_false(launch(&f, overlap_different_kernel, BLOCKS));
    const struct npu_finding *found = finding(&f, "gm_overlap");
    assert_true(found->fatal);
    assert_int_equal(found->core, 2);
    assert_int_not_equal(found->pc_other, 0);
    /* 1.0f and 2.0f differ in their two high bytes. */
    assert_non_null(strstr(found->message, "128 bytes of z from offset 2"));
    fixture_free(&f);
    fixture_make(&f, false, 0);
    assert_true(launch(&f, overlap_same_kernel, BLOCKS));
    assert_false(finding(&f, "gm_same_value")->fatal);
    fixture_free(&f);
}

/* Each block writes 256 bytes of the workspace and reads the next block's. */
static void exchange(float *workspace, float *z, bool sync)
{
    npu_pipe_create();
    struct npu_tensor mine = local(256), theirs = local(256);
    uint64_t me = (uint64_t)npu_block_idx(), next = (me + 1) % (uint64_t)npu_block_num();
    for (uint64_t i = 0; i < 64; i++) {
        float value = (float)me;
        uint32_t bits;
        memcpy(&bits, &value, 4);
        npu_scalar_store(&mine, 4 * i, 4, bits);
    }
    copy(global(workspace, me * 64), mine, 64);
    if (sync)
        npu_sync_all(1);
    copy(theirs, global(workspace, next * 64), 64);
    npu_pipe_barrier(NPU_PIPE_ALL);
    copy(global(z, me * 64), theirs, 64);
    npu_pipe_destroy();
}

static void exchange_kernel(float *x, float *y, float *z, float *workspace)
{
    (void)x, (void)y;
    exchange(workspace, z, true);
}

static void exchange_without_sync_kernel(float *x, float *y, float *z, float *workspace)
{
    (void)x, (void)y;
    exchange(workspace, z, false);
}

static void sync_all_orders(void **state)
{
    (void)state;
    struct fixture f;
    fixture_make(&f, false, 0);
    bool ok = launch(&f, exchange_kernel, BLOCKS);
    no_findings(&f);
    assert_true(ok);
    for (int block = 0; block < BLOCKS; block++)
        assert_true(f.z[block * 64 + 5] == (float)((block + 1) % BLOCKS));
    fixture_free(&f);
    fixture_make(&f, false, 0);
    assert_false(launch(&f, exchange_without_sync_kernel, BLOCKS));
    assert_int_equal(finding(&f, "gm_race")->kind, NPU_HAZARD);
    fixture_free(&f);
}

static void sync_half_kernel(void)
{
    if (npu_block_idx() % 2)
        npu_sync_all(1);
}

static void sync_kernel(void)
{
    npu_sync_all(1);
}

static void deadlocks(void **state)
{
    (void)state;
    struct fixture f;
    fixture_make(&f, false, 0);
    assert_false(launch(&f, sync_half_kernel, BLOCKS));
    assert_non_null(
        strstr(finding(&f, "deadlock")->message, "block 1 waits for SyncAll(); 2 of 4 blocks wait, 2 have"));
    fixture_free(&f);
    fixture_make(&f, false, 0);
    assert_false(launch(&f, sync_kernel, 49));
    assert_non_null(strstr(finding(&f, "sync_more_blocks_than_cores")->message, "49 blocks on 48 cores"));
    fixture_free(&f);
    fixture_make(&f, false, 0);
    assert_true(launch(&f, sync_kernel, 48));
    no_findings(&f);
    fixture_free(&f);
}

/* Two blocks' SetValue in one cache line: whole lines are written back, so one of the two values is lost. */
static void one_line_kernel(float *x, float *y, float *z)
{
    (void)x, (void)y;
    struct npu_tensor tensor = global(z, 0);
    npu_scalar_store(&tensor, 4 * (uint64_t)npu_block_idx(), 4, 0x3f800000);
    npu_dcache_clean(&tensor, 0, 2);
}

static void own_line_kernel(float *x, float *y, float *z)
{
    (void)x, (void)y;
    struct npu_tensor tensor = global(z, 16 * (uint64_t)npu_block_idx());
    npu_scalar_store(&tensor, 0, 4, 0x3f800000);
}

static void cache_lines(void **state)
{
    (void)state;
    struct fixture f;
    fixture_make(&f, false, 0);
    assert_true(launch(&f, one_line_kernel, 2));
    assert_int_equal(finding(&f, "dcache_line_shared")->kind, NPU_DIFFERS);
    assert_true((f.z[0] == 1.0f) != (f.z[1] == 1.0f));
    fixture_free(&f);
    fixture_make(&f, false, 0);
    assert_true(launch(&f, own_line_kernel, 2));
    no_findings(&f);
    assert_true(f.z[0] == 1.0f && f.z[16] == 1.0f);
    fixture_free(&f);
}

/* The bugs are for the machine to find, not for a sanitizer. */
#define PLANTED __attribute__((no_sanitize("undefined", "address")))

PLANTED static void null_kernel(void)
{
    volatile int *nowhere = NULL;
    *nowhere = 1;
}

PLANTED static int endless(volatile int *depth)
{
    char room[4096];
    memset(room, *depth, sizeof room);
    if (++*depth < 0)
        return 0;
    return endless(depth) + room[*depth % 4096];
}

PLANTED static void recursion_kernel(void)
{
    volatile int depth = 0;
    endless(&depth);
}

/* Quotients and remainders in every width; -1: not run yet. */
static int64_t divided[10];

#define DIVIDE(at, type, dividend)                                                                                     \
    do {                                                                                                               \
        volatile type a = (type)(dividend), b = 0;                                                                     \
        divided[at] = (int64_t)(type)(a / b);                                                                          \
        divided[at + 1] = (int64_t)(type)(a % b);                                                                      \
    } while (0)

PLANTED static void divide_kernel(void)
{
    volatile int64_t least = INT64_MIN, minus = -1, *where = &least;
    DIVIDE(0, int, -7);
    DIVIDE(2, uint64_t, 1234567890123);
    DIVIDE(4, int8_t, 100);
    DIVIDE(6, uint16_t, 40000);
    divided[8] = *where / minus;
    divided[9] = *where % minus;
}

/* The scalar unit goes on: with aarch64's results. */
static void division_by_zero(void **state)
{
    (void)state;
    struct fixture f;
    fixture_make(&f, false, 0);
    memset(divided, -1, sizeof divided);
    assert_true(launch(&f, (void *)divide_kernel, 1));
    const struct npu_finding *found = finding(&f, "division_by_zero");
    assert_int_equal(found->kind, NPU_DIFFERS);
    assert_false(found->fatal);
    static const int64_t expected[] = {0, -7, 0, 1234567890123, 0, 100, 0, 40000, INT64_MIN, 0};
    assert_memory_equal(divided, expected, sizeof expected);
    fixture_free(&f);
}

static void signals(void **state)
{
    (void)state;
    static const struct {
        void (*kernel)(void);
        const char *fault;
    } cases[] = {{null_kernel, "bad_pointer"}, {recursion_kernel, "stack_overflow"}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct fixture f;
        fixture_make(&f, false, 0);
        assert_false(launch(&f, (void *)cases[i].kernel, 2));
        assert_int_not_equal(finding(&f, cases[i].fault)->pc, 0);
        fixture_free(&f);
    }
}

static void waves_kernel(float *x, float *y, float *z)
{
    (void)x, (void)y;
    own_line_kernel(x, y, z);
}

static void waves(void **state)
{
    (void)state;
    struct fixture f;
    fixture_make(&f, false, 0);
    assert_true(launch(&f, waves_kernel, 100));
    assert_int_equal(npu_stats(f.npu).waves, 3);
    for (int i = 0; i < 100; i++)
        assert_true(f.z[16 * i] == 1.0f);
    fixture_free(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(adds_in_order),
        cmocka_unit_test(adds_in_random_order),
        cmocka_unit_test(undefined_bytes_in_output),
        cmocka_unit_test(past_the_end),
        cmocka_unit_test(padding_of_an_allocation),
        cmocka_unit_test(never_written),
        cmocka_unit_test(overlapping_writes),
        cmocka_unit_test(sync_all_orders),
        cmocka_unit_test(deadlocks),
        cmocka_unit_test(cache_lines),
        cmocka_unit_test(signals),
        cmocka_unit_test(division_by_zero),
        cmocka_unit_test(waves),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
