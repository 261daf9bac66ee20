/* Blocks that wait for each other in pairs (IBSet, IBWait) and in turns (WaitPreBlock, NotifyNextBlock), and GM past
 * the scalar cache, on whole launches. */
#include "unit/npu/launch.h"

enum { WORDS = 8, LAST = BLOCKS - 1 };

static bool zero_workspace = true;

static struct npu_tensor part_of_ub(uint32_t offset, uint32_t bytes)
{
    struct npu_tensor tensor;
    npu_local_tensor(NPU_VECCALC, offset, bytes, &tensor);
    return tensor;
}

static void fill(struct npu_tensor dst, float value, uint32_t count)
{
    struct npu_insn insn = {.op = NPU_OP_DUPLICATE,
                            .form = NPU_FORM_COUNT,
                            .dst_type = AKGEN_FLOAT,
                            .src_type = AKGEN_FLOAT,
                            .count = count,
                            .dst = dst};
    memcpy(&insn.scalar, &value, sizeof value);
    npu_issue(&insn);
}

/* Copies `count` floats of z from block to block, each adding 1: block b reads what block b - 1 wrote. */
static void add_one(float *z, int block)
{
    struct npu_tensor a = part_of_ub(0, 32), b = part_of_ub(32, 32);
    fill(b, 1, WORDS);
    if (block)
        copy(a, global(z, (uint64_t)(block - 1) * WORDS), WORDS);
    else
        fill(a, 0, WORDS);
    npu_pipe_barrier(NPU_PIPE_ALL);
    add(a, a, b, WORDS);
    npu_pipe_barrier(NPU_PIPE_ALL);
    copy(global(z, (uint64_t)block * WORDS), a, WORDS);
    npu_pipe_barrier(NPU_PIPE_ALL);
}

static void clear_workspace(float *workspace)
{
    struct npu_tensor zeros = part_of_ub(64, 1024);
    if (zero_workspace && npu_block_idx() == 0) {
        fill(zeros, 0, 256);
        npu_pipe_barrier(NPU_PIPE_ALL);
        copy(global(workspace, 0), zeros, 256);
    }
    npu_sync_all(1);
}

/* The last block begins to wait before the first has set anything. */
static void chain_kernel(float *x, float *y, float *z, float *workspace)
{
    (void)x, (void)y;
    int block = (int)npu_block_idx();
    struct npu_tensor words = global(workspace, 0), ub = part_of_ub(2048, 32);
    clear_workspace(workspace);
    if (block)
        npu_ib_wait(&words, &ub, block, 1);
    add_one(z, block);
    if (block < LAST)
        npu_ib_set(&words, &ub, block + 1, 1);
}

static void pairs_order_blocks(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 8; seed++) {
        struct fixture f;
        fixture_make(&f, seed > 0, seed);
        assert_true(launch(&f, chain_kernel, BLOCKS));
        no_findings(&f);
        for (int i = 0; i < BLOCKS * WORDS; i++)
            assert_true(f.z[i] == (float)(i / WORDS + 1));
        const int32_t *words = (const int32_t *)f.workspace; /* every set was waited for */
        for (int i = 0; i < 2 * BLOCKS; i++)
            assert_int_equal(words[i * WORDS], 0);
        fixture_free(&f);
    }
}

/* Block 0 tells block 1 that it has written z; block 2 reads it too, after both, and nobody has told it. */
static bool third_reads;
static void third_block_kernel(float *x, float *y, float *z, float *workspace)
{
    (void)x, (void)y;
    int block = (int)npu_block_idx();
    struct npu_tensor words = global(workspace, 0), ub = part_of_ub(2048, 32);
    clear_workspace(workspace);
    if (block == 0) {
        npu_ib_set(&words, &ub, 2, 1); /* about nothing */
        add_one(z, 0);
        npu_ib_set(&words, &ub, 1, 1);
    } else if (block == 1) {
        npu_ib_wait(&words, &ub, 1, 1);
        copy(part_of_ub(0, 32), global(z, 0), WORDS);
    } else if (block == 2) {
        npu_ib_wait(&words, &ub, 2, 1);
        if (third_reads)
            copy(part_of_ub(0, 32), global(z, 0), WORDS);
    }
}

static void pairs_order_nobody_else(void **state)
{
    (void)state;
    for (int read = 0; read < 2; read++) {
        struct fixture f;
        fixture_make(&f, false, 0);
        third_reads = read;
        assert_int_equal(launch(&f, third_block_kernel, BLOCKS), !read);
        if (read)
            finding(&f, "gm_race");
        else
            no_findings(&f);
        fixture_free(&f);
    }
}

/* Some blocks are in SyncAll already when the first IBSet comes. */
static void set_while_others_meet_kernel(float *x, float *y, float *z, float *workspace)
{
    (void)x, (void)y;
    int block = (int)npu_block_idx();
    struct npu_tensor words = global(workspace, 0), ub = part_of_ub(2048, 32);
    clear_workspace(workspace);
    fill(part_of_ub(0, 32), 1, WORDS);
    npu_pipe_barrier(NPU_PIPE_ALL);
    copy(global(z, (uint64_t)block * WORDS), part_of_ub(0, 32), WORDS);
    if (block == 1)
        npu_ib_set(&words, &ub, 1, 1);
    npu_sync_all(1);
    if (block == 0)
        npu_ib_wait(&words, &ub, 1, 1);
    copy(part_of_ub(0, 32), global(z, (uint64_t)(LAST - block) * WORDS), WORDS);
}

static void a_meeting_survives_the_first_pair(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 8; seed++) {
        struct fixture f;
        fixture_make(&f, seed > 0, seed);
        assert_true(launch(&f, set_while_others_meet_kernel, BLOCKS));
        no_findings(&f);
        fixture_free(&f);
    }
}

static void a_workspace_of_pairs_is_zero(void **state)
{
    (void)state;
    struct fixture f;
    fixture_make(&f, false, 0);
    zero_workspace = false;
    assert_false(launch(&f, chain_kernel, BLOCKS));
    zero_workspace = true;
    finding(&f, "sync_workspace_not_zero");
    fixture_free(&f);
}

static void lone_wait_kernel(float *x, float *y, float *z, float *workspace)
{
    (void)x, (void)y, (void)z;
    struct npu_tensor words = global(workspace, 0), ub = part_of_ub(2048, 32);
    clear_workspace(workspace);
    if (npu_block_idx() == 1)
        npu_ib_wait(&words, &ub, 0, 0);
}

static void small_kernel(float *x, float *y, float *z, float *workspace)
{
    (void)x, (void)y, (void)z;
    struct npu_tensor words = global(workspace, 0), ub = part_of_ub(2048, 16);
    npu_ib_set(&words, &ub, 0, 0);
}

static void beyond_kernel(float *x, float *y, float *z, float *workspace)
{
    (void)x, (void)y, (void)z;
    struct npu_tensor words = global(workspace, 0), ub = part_of_ub(2048, 32);
    npu_ib_set(&words, &ub, BLOCKS, 0);
}

static void bad_pairs_are_found(void **state)
{
    (void)state;
    static const struct {
        void *kernel;
        const char *fault;
    } cases[] = {{lone_wait_kernel, "deadlock"}, {small_kernel, "sync_workspace_small"}, {beyond_kernel, "sync_pair"}};
    for (int i = 0; i < 3; i++) {
        struct fixture f;
        fixture_make(&f, false, 0);
        assert_false(launch(&f, cases[i].kernel, BLOCKS));
        finding(&f, cases[i].fault);
        fixture_free(&f);
    }
}

/* Two rounds of turns; the order shows in a sum whose rounding depends on it. */
static void turns_kernel(float *x, float *y, float *z, float *workspace)
{
    (void)x, (void)y;
    struct npu_tensor words = global(workspace, 0), ub = part_of_ub(2048, (BLOCKS + 1) * 32), a = part_of_ub(0, 32);
    npu_block_turn(NPU_TURN_INIT, &words, &ub);
    npu_sync_all(1);
    for (int round = 0; round < 2; round++) {
        npu_block_turn(NPU_TURN_WAIT, &words, &ub);
        copy(a, global(z, 0), WORDS);
        npu_pipe_barrier(NPU_PIPE_ALL);
        struct npu_tensor b = part_of_ub(32, 32), three = part_of_ub(64, 32);
        fill(three, 3, WORDS);
        fill(b, (float)npu_block_idx(), WORDS);
        npu_pipe_barrier(NPU_PIPE_ALL);
        struct npu_insn times = {.op = NPU_OP_MUL,
                                 .form = NPU_FORM_COUNT,
                                 .dst_type = AKGEN_FLOAT,
                                 .src_type = AKGEN_FLOAT,
                                 .count = WORDS,
                                 .dst = a,
                                 .src0 = a,
                                 .src1 = three};
        npu_issue(&times);
        npu_pipe_barrier(NPU_PIPE_ALL);
        add(a, a, b, WORDS);
        npu_pipe_barrier(NPU_PIPE_ALL);
        copy(global(z, 0), a, WORDS);
        npu_block_turn(NPU_TURN_NOTIFY, &words, &ub);
    }
}

static void blocks_take_turns(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 8; seed++) {
        struct fixture f;
        fixture_make(&f, seed > 0, seed);
        for (int i = 0; i < WORDS; i++)
            f.z[i] = 1;
        assert_true(launch(&f, turns_kernel, BLOCKS));
        no_findings(&f);
        float expected = 1;
        for (int i = 0; i < 2 * BLOCKS; i++)
            expected = expected * 3 + (float)(i % BLOCKS);
        for (int i = 0; i < WORDS; i++)
            assert_true(f.z[i] == expected);
        fixture_free(&f);
    }
}

/* Each block adds 1 to what the block before it left; READER also reads what block 0 left: in its turn, in place of one
 * (before it has waited), or after it, when it is ordered as well. */
enum { READER = 3, BEFORE = 0, WITHIN = 1, AFTER = 2 };
static int when_it_reads;
static void reader_of_turns_kernel(float *x, float *y, float *z, float *workspace)
{
    (void)x, (void)y;
    int block = (int)npu_block_idx();
    struct npu_tensor words = global(workspace, 0), ub = part_of_ub(2048, (BLOCKS + 1) * 32), room = part_of_ub(96, 32);
    npu_block_turn(NPU_TURN_INIT, &words, &ub);
    npu_sync_all(1);
    if (block == READER && when_it_reads == BEFORE)
        copy(room, global(z, 0), WORDS);
    npu_block_turn(NPU_TURN_WAIT, &words, &ub);
    add_one(z, block);
    if (block == READER && when_it_reads == WITHIN)
        copy(room, global(z, 0), WORDS);
    npu_block_turn(NPU_TURN_NOTIFY, &words, &ub);
    if (block == READER && when_it_reads == AFTER)
        copy(room, global(z, 0), WORDS);
}

static void turns_order_what_came_before_them(void **state)
{
    (void)state;
    for (when_it_reads = BEFORE; when_it_reads <= AFTER; when_it_reads++)
        for (uint64_t seed = 0; seed < 4; seed++) {
            struct fixture f;
            fixture_make(&f, seed > 0, seed);
            assert_int_equal(launch(&f, reader_of_turns_kernel, BLOCKS), when_it_reads != BEFORE);
            if (when_it_reads == BEFORE)
                finding(&f, "gm_race");
            else
                no_findings(&f);
            fixture_free(&f);
        }
}

/* What a block writes after its turn is over, the next block does not wait for. */
static void late_writer_kernel(float *x, float *y, float *z, float *workspace)
{
    (void)x, (void)y;
    int block = (int)npu_block_idx();
    struct npu_tensor words = global(workspace, 0), ub = part_of_ub(2048, (BLOCKS + 1) * 32);
    npu_block_turn(NPU_TURN_INIT, &words, &ub);
    npu_sync_all(1);
    npu_block_turn(NPU_TURN_WAIT, &words, &ub);
    if (block == 1)
        copy(part_of_ub(96, 32), global(z, 0), WORDS);
    npu_block_turn(NPU_TURN_NOTIFY, &words, &ub);
    if (block == 0)
        add_one(z, 0);
}

static void turns_do_not_order_what_comes_after(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 4; seed++) {
        struct fixture f;
        fixture_make(&f, seed > 0, seed);
        for (int i = 0; i < WORDS; i++)
            f.z[i] = 0;
        launch(&f, late_writer_kernel, BLOCKS);
        finding(&f, "gm_race");
        fixture_free(&f);
    }
}

/* Nobody waits for a turn: three blocks write bytes that overlap in part, so each conflicts with two others. */
static void impatient_kernel(float *x, float *y, float *z, float *workspace)
{
    (void)x, (void)y;
    int block = (int)npu_block_idx();
    struct npu_tensor words = global(workspace, 0), ub = part_of_ub(2048, (BLOCKS + 1) * 32), a = part_of_ub(0, 128);
    npu_block_turn(NPU_TURN_INIT, &words, &ub);
    npu_sync_all(1);
    if (block > 2)
        return;
    fill(a, (float)(block + 1), 4 * WORDS);
    npu_pipe_barrier(NPU_PIPE_ALL);
    copy(global(z, block == 2 ? WORDS : 0), a, 4 * WORDS);
}

static void a_write_conflicts_with_two_blocks(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 8; seed++) {
        struct fixture f;
        fixture_make(&f, seed > 0, seed);
        launch(&f, impatient_kernel, BLOCKS);
        finding(&f, "gm_overlap");
        fixture_free(&f);
    }
}

/* The first two blocks meet twice; between the meetings block 0 writes what block 1 reads after them, and, if it does
 * not wait for anybody, block 2. */
static void some_meet_kernel(float *x, float *y, float *z, float *workspace)
{
    (void)x, (void)y;
    int block = (int)npu_block_idx();
    struct npu_tensor words = global(workspace, 0), ub = part_of_ub(2048, BLOCKS * 32);
    clear_workspace(workspace);
    if (block < 2)
        npu_sync_all_soft(&words, &ub, 2);
    npu_sync_all(1); /* what was done before the first meeting of some counts as settled: let there be nothing */
    if (block == 0)
        add_one(z, 0);
    if (block < 2)
        npu_sync_all_soft(&words, &ub, 2);
    if (block == 1 || (block == 2 && third_reads))
        copy(part_of_ub(0, 32), global(z, 0), WORDS);
}

static void a_meeting_of_some_orders_nobody_else(void **state)
{
    (void)state;
    for (int i = 0; i < 8; i++) {
        struct fixture f;
        fixture_make(&f, i > 1, (uint64_t)i);
        third_reads = i % 2;
        assert_int_equal(launch(&f, some_meet_kernel, BLOCKS), !third_reads);
        if (third_reads)
            finding(&f, "gm_race");
        else
            no_findings(&f);
        fixture_free(&f);
    }
}

/* The first two blocks meet in a workspace of their own while the others already wait for all in another. */
static void two_meetings_kernel(float *x, float *y, float *z, float *workspace)
{
    (void)x, (void)y;
    int block = (int)npu_block_idx();
    struct npu_tensor pairs = global(workspace, 0), ub = part_of_ub(2048, BLOCKS * 32);
    struct npu_tensor of_two = global(workspace, 128), of_all = global(workspace, 192);
    clear_workspace(workspace);
    if (block == 0)
        add_one(z, 0);
    if (block == 1)
        npu_ib_wait(&pairs, &ub, 1, 1);
    if (block == 2)
        npu_ib_set(&pairs, &ub, 1, 1);
    for (int round = 0; round < 2; round++) {
        if (block < 2)
            npu_sync_all_soft(&of_two, &ub, 2);
        if (block == 1)
            copy(part_of_ub(0, 32), global(z, 0), WORDS);
        npu_sync_all_soft(&of_all, &ub, BLOCKS);
        if (block == 3 || (third_reads && block == 2))
            copy(part_of_ub(0, 32), global(z, 0), WORDS);
    }
}

static void blocks_meet_in_two_workspaces_at_once(void **state)
{
    (void)state;
    for (int i = 0; i < 8; i++) {
        struct fixture f;
        fixture_make(&f, i > 1, (uint64_t)i);
        third_reads = i % 2;
        assert_true(launch(&f, two_meetings_kernel, BLOCKS));
        no_findings(&f);
        fixture_free(&f);
    }
}

static void hasty_kernel(float *x, float *y, float *z, float *workspace)
{
    (void)x, (void)y, (void)z;
    struct npu_tensor words = global(workspace, 0), ub = part_of_ub(2048, (BLOCKS + 1) * 32);
    npu_block_turn(NPU_TURN_WAIT, &words, &ub);
}

static void turns_begin_with_their_workspace(void **state)
{
    (void)state;
    struct fixture f;
    fixture_make(&f, false, 0);
    assert_false(launch(&f, hasty_kernel, BLOCKS));
    finding(&f, "sync_turn");
    fixture_free(&f);
}

/* Every block writes its word of one 64-byte line past its cache: none is lost, and the others see it. */
static void through_kernel(float *x, float *y, float *z, float *workspace)
{
    (void)x, (void)y, (void)workspace;
    uint64_t line = (uint64_t)z, block = (uint64_t)npu_block_idx();
    npu_gm_write_through(line + 4 * block, 4, 100 + block);
    npu_sync_all(1);
    uint64_t other = (block + 1) % BLOCKS;
    npu_gm_write_through(line + 64 + 4 * block, 4, npu_gm_read_through(line + 4 * other, 4));
}

static void accesses_past_the_cache_meet_in_gm(void **state)
{
    (void)state;
    struct fixture f;
    fixture_make(&f, false, 0);
    assert_true(launch(&f, through_kernel, BLOCKS));
    no_findings(&f);
    const int32_t *words = (const int32_t *)f.z;
    for (int i = 0; i < BLOCKS; i++) {
        assert_int_equal(words[i], 100 + i);
        assert_int_equal(words[16 + i], 100 + (i + 1) % BLOCKS);
    }
    fixture_free(&f);
}

/* Blocks accumulate into the same floats of z one after the other; a word each behind them hands on the turn, and its
 * reader clears it. The first writes plainly, and so does an impatient block, which does not wait. */
static bool impatient;
enum { WORDS_AT = 1024 };

static void hand_over_kernel(float *x, float *y, float *z, float *workspace)
{
    (void)y, (void)workspace;
    int block = (int)npu_block_idx();
    bool waits_not = impatient && block == LAST;
    uint64_t word = (uint64_t)(z + WORDS_AT);
    if (block && !waits_not) {
        uint64_t before = word + (uint64_t)(block - 1) * 4;
        while (npu_gm_read_through(before, 4) != 1)
            ;
        npu_gm_write_through(before, 4, 0);
    }
    struct npu_tensor a = part_of_ub(0, 32);
    copy(a, global(x, (uint64_t)block * WORDS), WORDS);
    npu_set_flag(NPU_PIPE_MTE2, NPU_PIPE_MTE3, 0);
    npu_wait_flag(NPU_PIPE_MTE2, NPU_PIPE_MTE3, 0);
    if (block && !waits_not)
        npu_set_atomic(1, AKGEN_FLOAT);
    copy(global(z, 0), a, WORDS);
    npu_set_flag(NPU_PIPE_MTE3, NPU_PIPE_S, 0);
    npu_wait_flag(NPU_PIPE_MTE3, NPU_PIPE_S, 0);
    npu_gm_write_through(word + (uint64_t)block * 4, 4, 1);
}

static void words_past_the_cache_order_blocks(void **state)
{
    (void)state;
    struct fixture f;
    for (uint64_t seed = 0; seed < 8; seed++) {
        fixture_make(&f, seed > 0, seed);
        assert_true(launch(&f, hand_over_kernel, BLOCKS));
        no_findings(&f);
        for (int i = 0; i < WORDS; i++)
            assert_true(f.z[i] == (float)(BLOCKS * i + WORDS * BLOCKS * (BLOCKS - 1) / 2));
        fixture_free(&f);
    }
    impatient = true;
    fixture_make(&f, false, 0);
    assert_false(launch(&f, hand_over_kernel, BLOCKS));
    assert_true(finding(&f, "gm_race")->fatal);
    fixture_free(&f);
    impatient = false;
}

/* The reader polls through its cache, and writes over what it was handed. */
static void plain_reader_kernel(float *x, float *y, float *z, float *workspace)
{
    (void)y, (void)workspace;
    uint64_t word = (uint64_t)(z + WORDS_AT);
    struct npu_tensor a = part_of_ub(0, 32), b = part_of_ub(32, 32), line = global(z, WORDS_AT);
    int block = (int)npu_block_idx();
    if (block > 1)
        return;
    if (block) {
        for (uint64_t value = 0; value != 1; value = npu_scalar_load(&line, 0, 4))
            npu_dcache_clean(&line, 0, 2);
        copy(b, global(z, 0), WORDS);
        npu_pipe_barrier(NPU_PIPE_ALL);
        add(b, b, b, WORDS);
        npu_pipe_barrier(NPU_PIPE_ALL);
        copy(global(z, 0), b, WORDS);
        return;
    }
    npu_gm_write_through(word, 4, 0); /* from here on clocks order blocks */
    copy(a, global(x, 0), WORDS);
    npu_pipe_barrier(NPU_PIPE_ALL);
    copy(global(z, 0), a, WORDS);
    npu_pipe_barrier(NPU_PIPE_ALL);
    npu_gm_write_through(word, 4, 1);
}

static void plain_reads_of_words_order_blocks(void **state)
{
    (void)state;
    struct fixture f;
    for (uint64_t seed = 0; seed < 8; seed++) {
        fixture_make(&f, seed > 0, seed);
        assert_true(launch(&f, plain_reader_kernel, BLOCKS));
        no_findings(&f);
        for (int i = 0; i < WORDS; i++)
            assert_true(f.z[i] == (float)(2 * i));
        fixture_free(&f);
    }
}

/* More words than have clocks of their own: those that hand on the turn share theirs with others. */
static void many_words_kernel(float *x, float *y, float *z, float *workspace)
{
    enum { MANY = 2048, FROM = 2 * WORDS_AT };
    uint64_t share = (uint64_t)(z + FROM) + (uint64_t)npu_block_idx() * MANY * 4;
    for (uint64_t i = 0; i < MANY; i++)
        npu_gm_write_through(share + 4 * i, 4, i);
    hand_over_kernel(x, y, z, workspace);
    for (uint64_t i = 0; i < MANY; i++)
        if (npu_gm_read_through(share + 4 * i, 4) != i)
            npu_user_trap();
}

static void many_words_past_the_cache(void **state)
{
    (void)state;
    struct fixture f;
    fixture_make(&f, false, 0);
    assert_true(launch(&f, many_words_kernel, BLOCKS));
    no_findings(&f);
    for (int i = 0; i < WORDS; i++)
        assert_true(f.z[i] == (float)(BLOCKS * i + WORDS * BLOCKS * (BLOCKS - 1) / 2));
    fixture_free(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pairs_order_blocks),
        cmocka_unit_test(pairs_order_nobody_else),
        cmocka_unit_test(a_meeting_survives_the_first_pair),
        cmocka_unit_test(a_workspace_of_pairs_is_zero),
        cmocka_unit_test(bad_pairs_are_found),
        cmocka_unit_test(blocks_take_turns),
        cmocka_unit_test(turns_order_what_came_before_them),
        cmocka_unit_test(turns_do_not_order_what_comes_after),
        cmocka_unit_test(a_write_conflicts_with_two_blocks),
        cmocka_unit_test(a_meeting_of_some_orders_nobody_else),
        cmocka_unit_test(blocks_meet_in_two_workspaces_at_once),
        cmocka_unit_test(turns_begin_with_their_workspace),
        cmocka_unit_test(accesses_past_the_cache_meet_in_gm),
        cmocka_unit_test(words_past_the_cache_order_blocks),
        cmocka_unit_test(plain_reads_of_words_order_blocks),
        cmocka_unit_test(many_words_past_the_cache),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
