/* Schedules: program order executes at once; a random order keeps every promise of flags and of each pipe's own order,
 * breaks what was never promised, and is the same for the same seed. */
/* test: with=core */
#include "unit/npu/core.h"

enum { S = NPU_PIPE_S, V = NPU_PIPE_V, MTE2 = NPU_PIPE_MTE2, MTE3 = NPU_PIPE_MTE3, TILES = 50 };

/* The instruction is known by `number`. */
static void submit(int pipe, uint64_t number)
{
    struct npu_insn insn = {.op = NPU_OP_ADD, .scalar = number};
    fake.pc = number;
    npu_schedule_submit(&fake, pipe, &insn, &fake.regs);
}

static int position(uint64_t number)
{
    for (int i = 0; i < fake_log_count; i++)
        if (fake_log[i] == number)
            return i;
    fail_msg("instruction %d has not executed", (int)number);
    return -1;
}

/* Copy in, compute, copy out, each tile: numbers 3t, 3t+1, 3t+2; one buffer. */
static void pipeline(bool with_flags)
{
    for (uint64_t t = 0; t < TILES; t++) {
        if (with_flags && t)
            npu_wait_flag(MTE3, MTE2, 0);
        submit(MTE2, 3 * t);
        if (with_flags) {
            npu_set_flag(MTE2, V, 1);
            npu_wait_flag(MTE2, V, 1);
        }
        submit(V, 3 * t + 1);
        if (with_flags) {
            npu_set_flag(V, MTE3, 2);
            npu_wait_flag(V, MTE3, 2);
        }
        submit(MTE3, 3 * t + 2);
        if (with_flags && t + 1 < TILES)
            npu_set_flag(MTE3, MTE2, 0);
    }
    npu_schedule_drain(&fake, NPU_PIPE_ALL);
    assert_int_equal(fake_log_count, 3 * TILES);
}

static void program_order_executes_at_once(void **state)
{
    (void)state;
    fake_start(NPU_SYNC_AUTO, false, 1);
    for (uint64_t i = 0; i < 6; i++) {
        submit(i % 2 ? V : MTE3, i);
        assert_int_equal(fake_log_count, i + 1);
        assert_int_equal(fake_log[i], i);
    }
    fake_stop();
}

static void flags_hold_under_every_seed(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 200; seed++) {
        fake_start(NPU_SYNC_AUTO, true, seed);
        pipeline(true);
        for (int i = 0; i < fake_log_count; i++) /* one buffer, all flags: no freedom is left */
            assert_int_equal(fake_log[i], i);
        fake_stop();
    }
}

static void without_flags_pipes_drift_apart(void **state)
{
    (void)state;
    int v_first = 0, copy_far_ahead = 0;
    for (uint64_t seed = 0; seed < 200; seed++) {
        fake_start(NPU_SYNC_AUTO, true, seed);
        pipeline(false);
        for (uint64_t t = 0; t + 1 < TILES; t++)
            for (uint64_t pipe = 0; pipe < 3; pipe++)
                assert_true(position(3 * t + pipe) < position(3 * t + 3 + pipe));
        v_first += position(1) < position(0);
        copy_far_ahead += position(3 * 10) < position(1);
        fake_stop();
    }
    assert_in_range(v_first, 20, 180);
    assert_in_range(copy_far_ahead, 5, 180);
}

static void same_seed_same_order(void **state)
{
    (void)state;
    uint64_t first[3 * TILES];
    fake_start(NPU_SYNC_AUTO, true, 7);
    pipeline(false);
    memcpy(first, fake_log, sizeof first);
    fake_stop();
    fake_start(NPU_SYNC_AUTO, true, 7);
    pipeline(false);
    assert_memory_equal(first, fake_log, sizeof first);
    fake_stop();
    fake_start(NPU_SYNC_AUTO, true, 8);
    pipeline(false);
    assert_memory_not_equal(first, fake_log, sizeof first);
    fake_stop();
}

static void waiting_scalar_runs_what_it_waits_for(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 50; seed++) {
        fake_start(NPU_SYNC_AUTO, true, seed);
        submit(MTE2, 0);
        npu_set_flag(MTE2, V, 0);
        npu_wait_flag(MTE2, V, 0);
        submit(V, 1);
        npu_set_flag(V, S, 4);
        submit(V, 2);
        npu_wait_flag(V, S, 4);
        assert_true(position(0) < position(1));
        /* Scalar accesses through tensors that meet V's result wait as well. */
        struct npu_access write = {.addr = (uint64_t)fake.ub, .bytes = 32, .count = 1, .count2 = 1, .write = true};
        npu_order_issue(&fake, V, &write, 1);
        submit(V, 3);
        npu_order_scalar(&fake, (uint64_t)fake.ub + 8, 4, false, false);
        assert_true(position(2) < position(3));
        npu_order_issue(&fake, V, &write, 1);
        submit(V, 4);
        npu_pipe_barrier(NPU_PIPE_ALL);
        assert_int_equal(position(4), 4);
        fake_stop();
    }
}

static void a_late_instruction_reports_its_own_line(void **state)
{
    (void)state;
    fake_start(NPU_SYNC_AUTO, true, 3);
    fake.pc = 99;
    submit(V, 5);
    fake.pc = 98;
    npu_schedule_drain(&fake, V);
    assert_int_equal(fake_log[0], 5);
    assert_int_equal(fake_log_pc, 5);
    assert_int_equal(fake.pc, 98); /* put back after the deferred execution */
    fake_stop();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(program_order_executes_at_once),
        cmocka_unit_test(flags_hold_under_every_seed),
        cmocka_unit_test(without_flags_pipes_drift_apart),
        cmocka_unit_test(same_seed_same_order),
        cmocka_unit_test(waiting_scalar_runs_what_it_waits_for),
        cmocka_unit_test(a_late_instruction_reports_its_own_line),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
