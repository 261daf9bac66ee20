/* TPipe, TQue and TBuf: budgets, ids, order in and out, every misuse that the chip does not forgive, and the order that
 * queues give to the pipes. */
/* test: with=core */
#include "unit/npu/core.h"

#include "npu/queue/queue_internal.h"

static uint32_t que, que2, buf;
static struct npu_tensor t0, t1, t2;

static void start(void)
{
    fake_start(NPU_SYNC_AUTO, false, 0);
    que = que2 = buf = 0;
    memset(&t0, 0, sizeof t0);
    memset(&t1, 0, sizeof t1);
    memset(&t2, 0, sizeof t2);
    npu_pipe_create();
}

/* How many notes carry this fault. */
static int notes(const char *fault)
{
    int n = 0;
    for (int i = 0; i < fake_note_count; i++)
        n += !strcmp(fake_notes[i].fault, fault);
    return n;
}

static void access_ub(int pipe, const struct npu_tensor *tensor, bool write)
{
    struct npu_access access = {
        .addr = tensor->addr, .bytes = tensor->bytes, .count = 1, .count2 = 1, .write = write, .operand = "dst"};
    npu_order_issue(&fake, pipe, &access, 1);
}

static void tensors_come_out_first_in_first_out(void **state)
{
    (void)state;
    start();
    npu_que_init(&que, NPU_GM, NPU_VECIN, 2, 2, 100);
    npu_que_alloc(que, &t0);
    npu_que_alloc(que, &t1);
    assert_int_equal(npu_que_is_occupied(que, &t0), 1);
    assert_int_equal(npu_que_is_occupied(que, &t2), 0); /* it comes from no queue */
    assert_int_equal(t0.addr, (uint64_t)fake.ub);
    assert_int_equal(t1.addr, (uint64_t)fake.ub + 128); /* 100 bytes round up to four blocks */
    assert_int_equal(t0.bytes, 128);
    assert_int_equal(t0.position, NPU_VECIN);
    assert_int_equal(npu_que_has_idle_buffer(que), 0);
    npu_que_enque(que, &t1);
    npu_que_enque(que, &t0);
    assert_int_equal(npu_que_tensors(que), 2);
    assert_int_equal(npu_que_is_occupied(que, &t0), 1);
    assert_int_equal(npu_que_vacant(que), 0);
    npu_que_deque(que, &t2);
    assert_int_equal(t2.addr, t1.addr);
    npu_que_deque(que, &t2);
    assert_int_equal(t2.addr, t0.addr);
    assert_int_equal(npu_que_has_tensor(que), 0);
    assert_int_equal(npu_que_is_occupied(que, &t0), 1);
    npu_que_free(que, &t0);
    assert_int_equal(npu_que_is_occupied(que, &t0), 0);
    assert_int_equal(npu_que_has_idle_buffer(que), 1);
    npu_que_alloc(que, &t2);
    assert_int_equal(t2.addr, t0.addr);
    npu_que_free(que, &t2);
    npu_que_free(que, &t1);
    npu_pipe_destroy();
    npu_pipe_object_destroy(&fake);
    assert_int_equal(fake_note_count, 0);
    fake_stop();
}

static void buffers_have_places(void **state)
{
    (void)state;
    start();
    uint32_t other = 0;
    npu_que_init(&que, NPU_GM, NPU_VECIN, 2, 2, 100);
    npu_que_init(&other, NPU_GM, NPU_VECIN, 1, 1, 64);
    npu_que_alloc(que, &t0);
    npu_que_alloc(que, &t1);
    struct npu_tensor tensor;
    assert_int_equal(npu_que_buffer(que, t1.buffer, &tensor), 128);
    assert_memory_equal(&tensor, &t1, sizeof tensor);
    assert_int_equal(npu_que_buffer(que, t0.buffer, &tensor), 0);
    EXPECT_TRAP("que_deque_foreign", npu_que_buffer(other, t1.buffer, &tensor));
    fake_stop();
}

static void ub_has_a_budget(void **state)
{
    (void)state;
    start();
    npu_que_init(&que, NPU_GM, NPU_VECIN, 2, 2, 65536);
    npu_buf_init(&buf, NPU_VECCALC, 65504);
    assert_int_equal(npu_pop_stack_buffer(NPU_VECCALC, &t0), 1);
    assert_int_equal(t0.bytes, 32);
    assert_int_equal(t0.addr, (uint64_t)fake.ub + 196608 - 32);
    npu_buf_init(&buf, NPU_VECCALC, 33);
    assert_int_equal(notes("ub_overbooked"), 1);
    npu_buf_get(buf, 0, 0, &t0);
    assert_int_equal(t0.addr, (uint64_t)fake.ub + 196576); /* the chip counts on: only the second half is not there */
    EXPECT_TRAP("ub_out_of_bounds", npu_local_overrun(&fake, NPU_MEM_UB, "dst", t0.addr, 64));
    assert_int_equal(notes("ub_overflow"), 1);
    EXPECT_TRAP("ub_overflow", npu_buf_init(&buf, NPU_VECCALC, UINT32_MAX));
    assert_string_equal(fake_message, "InitBuffer of 1 x 4294967296 bytes: no UB has that many");
    npu_pipe_reset();
    npu_buf_init(&buf, NPU_VECCALC, 196608);
    EXPECT_TRAP("ub_overflow", npu_pop_stack_buffer(NPU_VECCALC, &t0));
    npu_buf_get(buf, 1024, 256, &t0);
    assert_int_equal(t0.addr, (uint64_t)fake.ub + 1024);
    assert_int_equal(t0.bytes, 256);
    npu_buf_get(buf, 1024, 0, &t0);
    assert_int_equal(t0.bytes, 195584);
    npu_buf_get(buf, 1024, 195616, &t0); /* an address is an address */
    assert_int_equal(notes("buf_get_overflow"), 1);
    assert_int_equal(t0.addr, (uint64_t)fake.ub + 1024);
    assert_int_equal(t0.bytes, 195616);
    assert_int_equal(notes("ub_overflow"), 1);
    EXPECT_TRAP("ub_out_of_bounds", npu_local_overrun(&fake, NPU_MEM_UB, "dst", t0.addr, t0.bytes));
    assert_int_equal(notes("ub_overflow"), 2); /* at the Get */
    npu_local_tensor(NPU_VECCALC, 196576, 32, &t0);
    assert_int_equal(t0.addr, (uint64_t)fake.ub + 196576);
    EXPECT_TRAP("ub_overflow", npu_local_tensor(NPU_VECCALC, 196576, 64, &t0));
    npu_pipe_reset();
    for (int i = 0; i < 64; i++)
        npu_buf_init(&buf, NPU_VECCALC, 32);
    EXPECT_TRAP("pipe_too_many_buffers", npu_buf_init(&buf, NPU_VECCALC, 32));
    npu_pipe_reset();
    npu_buf_init(&buf, NPU_VECCALC, 0);
    assert_int_equal(notes("init_buffer_empty"), 1);
    fake_stop();
}

/* Two queues of the same positions may free each other's tensors: the flag is the one that the owner waits for. */
static void freed_by_a_twin(void **state)
{
    (void)state;
    start();
    npu_que_init(&que, NPU_GM, NPU_VECIN, 1, 1, 32);
    npu_que_init(&que2, NPU_GM, NPU_VECIN, 1, 1, 32);
    npu_que_alloc(que, &t0);
    npu_que_alloc(que2, &t1);
    npu_que_free(que2, &t0);
    npu_que_free(que, &t1);
    assert_int_equal(notes("que_free_foreign"), 2);
    npu_que_alloc(que, &t2);
    assert_int_equal(t2.addr, t0.addr);
    EXPECT_TRAP("que_alloc_exhausted", npu_que_alloc(que, &t0));
    npu_que_alloc(que2, &t0);
    assert_int_equal(t0.addr, t1.addr);
    fake_stop();
}

/* Get only makes a tensor; using it stops, as an operand and by the scalar unit. */
static void get_before_init_buffer(void **state)
{
    (void)state;
    start();
    uint32_t never = 0;
    npu_buf_get(never, 64, 128, &t0);
    assert_int_equal(notes("que_uninitialized"), 1);
    assert_int_equal(t0.bytes, 128);
    EXPECT_TRAP("que_uninitialized", npu_local_overrun(&fake, NPU_MEM_UB, "dst", t0.addr, 128));
    npu_trap_unplaced(&fake, "dst", (uint64_t)fake.ub); /* any other address is none of its business */
    npu_buf_init(&never, NPU_VECCALC, 32);
    npu_pipe_reset();
    EXPECT_TRAP("que_uninitialized", npu_buf_get(never, 0, 0, &t0));
    fake_stop();
}

static void misuse_traps(void **state)
{
    (void)state;
    start();
    EXPECT_TRAP("que_uninitialized", npu_que_alloc(que, &t0));
    npu_que_init(&que, NPU_GM, NPU_VECIN, 1, 2, 32);
    npu_que_init(&que2, NPU_VECOUT, NPU_GM, 1, 1, 32);
    EXPECT_TRAP("que_deque_empty", npu_que_deque(que, &t0));
    npu_que_alloc(que, &t0);
    npu_que_alloc(que, &t1);
    EXPECT_TRAP("que_alloc_exhausted", npu_que_alloc(que, &t2));
    EXPECT_TRAP("que_enque_foreign", npu_que_enque(que2, &t0));
    t2.addr = t0.addr; /* a tensor from elsewhere at the same place */
    EXPECT_TRAP("que_enque_foreign", npu_que_enque(que, &t2));
    npu_que_enque(que, &t0);
    EXPECT_TRAP("que_enque_twice", npu_que_enque(que, &t0));
    EXPECT_TRAP("que_depth_exceeded", npu_que_enque(que, &t1));
    npu_que_deque(que, &t0);
    EXPECT_TRAP("que_free_foreign", npu_que_free(que2, &t0)); /* its flag would be MTE3_V, the owner waits for V_MTE2 */
    npu_que_free(que, &t0);
    EXPECT_TRAP("que_free_twice", npu_que_free(que, &t0));
    EXPECT_TRAP("que_enque_free", npu_que_enque(que, &t0));
    EXPECT_TRAP("pipe_twice", npu_pipe_create());
    npu_que_enque(que, &t1);
    npu_que_alloc(que2, &t2);
    npu_pipe_destroy();
    assert_int_equal(notes("que_not_empty"), 1);
    assert_int_equal(notes("que_not_freed"), 1);
    EXPECT_TRAP("pipe_missing", npu_que_alloc(que, &t0));
    EXPECT_TRAP("pipe_missing", npu_fetch_event(NPU_PIPE_V, NPU_PIPE_S));
    npu_pipe_create();
    EXPECT_TRAP("que_uninitialized", npu_que_alloc(que, &t0));
    npu_pipe_object_destroy(&fake);
    assert_int_equal(notes("flag_not_waited"), 1); /* the tensor in the queue */
    fake_stop();
}

static void flags_have_rules(void **state)
{
    (void)state;
    start();
    EXPECT_TRAP("flag_wait_without_set", npu_wait_flag(NPU_PIPE_MTE2, NPU_PIPE_V, 0));
    npu_set_flag(NPU_PIPE_MTE2, NPU_PIPE_V, 0);
    npu_set_flag(NPU_PIPE_MTE2, NPU_PIPE_V, 0);
    assert_int_equal(notes("flag_set_twice"), 1);
    EXPECT_TRAP("flag_set_twice", npu_pipe_barrier(NPU_PIPE_ALL));
    npu_wait_flag(NPU_PIPE_MTE2, NPU_PIPE_V, 0);
    npu_pipe_barrier(NPU_PIPE_ALL); /* one of the two is left */
    for (int i = 1; i < NPU_FLAG_SETS; i++)
        npu_set_flag(NPU_PIPE_MTE2, NPU_PIPE_V, 0);
    EXPECT_TRAP("flag_set_twice", npu_set_flag(NPU_PIPE_MTE2, NPU_PIPE_V, 0));
    for (int i = 1; i < NPU_FLAG_SETS; i++)
        npu_wait_flag(NPU_PIPE_MTE2, NPU_PIPE_V, 0);
    EXPECT_TRAP("flag_wait_without_set", npu_wait_flag(NPU_PIPE_MTE2, NPU_PIPE_V, 1));
    EXPECT_TRAP("flag_wait_without_set", npu_wait_flag(NPU_PIPE_V, NPU_PIPE_MTE2, 0));
    npu_wait_flag(NPU_PIPE_MTE2, NPU_PIPE_V, 0);
    EXPECT_TRAP("flag_bad_event", npu_set_flag(NPU_PIPE_MTE2, NPU_PIPE_V, 8));
    EXPECT_TRAP("flag_bad_event", npu_wait_flag(NPU_PIPE_MTE2, NPU_PIPE_V, -1));
    EXPECT_TRAP("flag_bad_pipes", npu_set_flag(NPU_PIPE_MTE2, NPU_PIPE_MTE2, 0));
    EXPECT_TRAP("flag_bad_pipes", npu_set_flag(NPU_PIPE_V, NPU_PIPE_M, 0));
    EXPECT_TRAP("flag_bad_pipes", npu_set_flag(NPU_PIPE_V, NPU_PIPE_ALL, 0));
    npu_wait_flag(NPU_PIPE_MTE1, NPU_PIPE_M, 0); /* the cube core's: skipped here */
    npu_set_flag(NPU_PIPE_V, NPU_PIPE_MTE3, 7);
    npu_pipe_object_destroy(&fake);
    assert_int_equal(notes("flag_not_waited"), 1);
    fake_stop();
}

static void event_ids(void **state)
{
    (void)state;
    start();
    int v = NPU_PIPE_V, s = NPU_PIPE_S;
    assert_int_equal(npu_fetch_event(v, s), 0);
    assert_int_equal(npu_fetch_event(v, s), 0); /* fetching reserves nothing */
    for (int i = 0; i < 8; i++)
        assert_int_equal(npu_alloc_event(v, s), i);
    EXPECT_TRAP("event_exhausted", npu_alloc_event(v, s));
    EXPECT_TRAP("event_exhausted", npu_fetch_event(v, s));
    npu_release_event(v, s, 5);
    assert_int_equal(npu_fetch_event(v, s), 5);
    EXPECT_TRAP("flag_bad_event", npu_release_event(v, s, 8));
    assert_int_equal(npu_fetch_event(NPU_PIPE_V, NPU_PIPE_MTE3), 0); /* every pair has its own */
    npu_pipe_reset();
    /* Nine buffers of VECIN freed and not allocated again hold nine flags of V_MTE2: one too many. */
    npu_que_init(&que, NPU_GM, NPU_VECIN, 1, 9, 32);
    for (int i = 0; i < 9; i++) {
        npu_que_alloc(que, &t0);
        if (i < 8)
            npu_que_free(que, &t0);
    }
    EXPECT_TRAP("event_exhausted", npu_que_free(que, &t0));
    fake_stop();
    start();
    npu_que_init(&que, NPU_GM, NPU_VECIN, 1, 8, 32);
    for (int i = 0; i < 8; i++) {
        npu_que_alloc(que, &t0);
        npu_que_free(que, &t0);
    }
    EXPECT_TRAP("event_exhausted", npu_alloc_event(NPU_PIPE_V, NPU_PIPE_MTE2));
    npu_que_free_all(que);
    assert_int_equal(npu_alloc_event(NPU_PIPE_V, NPU_PIPE_MTE2), 0);
    fake_stop();
}

/* Copy in, compute, copy out over two buffers, ten tiles; without DeQue the vector unit does not wait. */
static void tile(bool deque)
{
    npu_que_alloc(que, &t0);
    access_ub(NPU_PIPE_MTE2, &t0, true);
    npu_que_enque(que, &t0);
    if (deque)
        npu_que_deque(que, &t0);
    npu_que_alloc(que2, &t1);
    access_ub(NPU_PIPE_V, &t0, false);
    access_ub(NPU_PIPE_V, &t1, true);
    npu_que_enque(que2, &t1);
    npu_que_free(que, &t0);
    npu_que_deque(que2, &t1);
    access_ub(NPU_PIPE_MTE3, &t1, false);
    npu_que_free(que2, &t1);
}

static void queues_order_the_pipes(void **state)
{
    (void)state;
    for (int depth = 0; depth < 3; depth++) {
        start();
        npu_que_init(&que, NPU_GM, NPU_VECIN, depth, 2, 256);
        npu_que_init(&que2, NPU_VECOUT, NPU_GM, depth, 2, 256);
        for (int i = 0; i < 10; i++)
            tile(true);
        npu_pipe_destroy();
        npu_pipe_object_destroy(&fake);
        assert_int_equal(fake_note_count, 0);
        fake_stop();
    }
    start();
    npu_que_init(&que, NPU_GM, NPU_VECIN, 1, 2, 256);
    npu_que_init(&que2, NPU_VECOUT, NPU_GM, 1, 2, 256);
    tile(false);
    assert_int_equal(notes("hazard_raw"), 1);
    assert_int_equal(notes("que_free_enqueued"), 1);
    fake_stop();
    /* One buffer bound to both ends: MTE2 and MTE3 order each other without V. */
    start();
    npu_que_init(&que, NPU_VECIN, NPU_VECOUT, 1, 1, 256);
    for (int i = 0; i < 3; i++) {
        npu_que_alloc(que, &t0);
        access_ub(NPU_PIPE_MTE2, &t0, true);
        npu_que_enque(que, &t0);
        npu_que_deque(que, &t0);
        access_ub(NPU_PIPE_MTE3, &t0, false);
        npu_que_free(que, &t0);
    }
    assert_int_equal(fake_note_count, 0);
    access_ub(NPU_PIPE_V, &t0, false);
    assert_int_equal(notes("hazard_raw"), 1);
    fake_stop();
}

/* One queue bound to both ends, in which V works in between: EnQue and DeQue say for which step they are. */
static void positions_of_a_step(void **state)
{
    (void)state;
    start();
    npu_que_init(&que, NPU_VECIN, NPU_VECOUT, 1, 1, 256);
    for (int i = 0; i < 3; i++) {
        npu_que_alloc(que, &t0);
        access_ub(NPU_PIPE_MTE2, &t0, true);
        npu_que_enque_between(que, &t0, NPU_GM, NPU_VECIN);
        npu_que_deque_between(que, &t0, NPU_GM, NPU_VECIN);
        access_ub(NPU_PIPE_V, &t0, true);
        npu_que_enque_between(que, &t0, NPU_VECOUT, NPU_GM);
        npu_que_deque_between(que, &t0, NPU_VECOUT, NPU_GM);
        access_ub(NPU_PIPE_MTE3, &t0, false);
        npu_que_free(que, &t0);
    }
    assert_int_equal(fake_note_count, 0);
    npu_que_alloc(que, &t0);
    npu_que_enque_between(que, &t0, NPU_GM, NPU_VECIN);
    EXPECT_TRAP("que_position_mismatch", npu_que_deque(que, &t0));
    fake_stop();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tensors_come_out_first_in_first_out),
        cmocka_unit_test(buffers_have_places),
        cmocka_unit_test(ub_has_a_budget),
        cmocka_unit_test(freed_by_a_twin),
        cmocka_unit_test(get_before_init_buffer),
        cmocka_unit_test(misuse_traps),
        cmocka_unit_test(flags_have_rules),
        cmocka_unit_test(event_ids),
        cmocka_unit_test(queues_order_the_pipes),
        cmocka_unit_test(positions_of_a_step),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
