/* The hazard detector: each rule by itself, then thousands of random programs against an oracle that keeps the set of
 * completed instructions of every pipe instead of clocks. */
/* test: with=core */
#include "unit/npu/core.h"

enum { S = NPU_PIPE_S, V = NPU_PIPE_V, MTE2 = NPU_PIPE_MTE2, MTE3 = NPU_PIPE_MTE3 };
static uint8_t gm[65536];

static struct npu_access span(uint64_t addr, uint32_t bytes, bool write)
{
    return (struct npu_access){.addr = addr, .bytes = bytes, .count = 1, .count2 = 1, .write = write, .operand = "dst"};
}

static void issue(int pipe, uint64_t pc, struct npu_access access)
{
    fake.pc = pc;
    npu_order_issue(&fake, pipe, &access, 1);
}

static void ub(int pipe, uint64_t pc, uint32_t offset, uint32_t bytes, bool write)
{
    issue(pipe, pc, span((uint64_t)fake.ub + offset, bytes, write));
}

static void flag(int from, int to)
{
    npu_set_flag(from, to, 3);
    npu_wait_flag(from, to, 3);
}

static void expect_hazard(const char *fault, uint64_t pc, uint64_t pc_other)
{
    assert_int_equal(fake_note_count, 1);
    assert_string_equal(fake_notes[0].fault, fault);
    assert_true(fake_notes[0].fatal);
    assert_int_equal(fake_notes[0].pc, pc);
    assert_int_equal(fake_notes[0].pc_other, pc_other);
    fake_note_count = 0;
}

static void expect_quiet(void)
{
    if (fake_note_count)
        print_error("%s: %s\n", fake_notes[0].fault, fake_notes[0].message);
    assert_int_equal(fake_note_count, 0);
}

static void copy_in_then_compute(void **state)
{
    (void)state;
    fake_start(NPU_SYNC_AUTO, false, 0);
    ub(MTE2, 10, 4096, 256, true);
    ub(V, 11, 4096, 256, false);
    assert_string_equal(fake_notes[0].message,
                        "V reads UB 0x1000..0x10ff that MTE2 wrote before, and nothing orders the "
                        "two: EnQue/DeQue (AllocTensor/FreeTensor for reuse) or "
                        "SetFlag<MTE2_V>/WaitFlag<MTE2_V>");
    expect_hazard("hazard_raw", 11, 10);
    flag(MTE2, V);
    ub(V, 12, 4096, 256, false);
    expect_quiet();
    /* Reuse: MTE2 may overwrite only what V has read. */
    ub(MTE2, 13, 4128, 32, true);
    expect_hazard("hazard_war", 13, 12);
    flag(V, MTE2);
    ub(MTE2, 14, 8192, 32, true);
    ub(V, 15, 8192, 64, true);
    expect_hazard("hazard_waw", 15, 14);
    fake_stop();
}

static void order_is_transitive(void **state)
{
    (void)state;
    fake_start(NPU_SYNC_AUTO, false, 0);
    ub(MTE2, 20, 0, 64, true);
    flag(MTE2, V);
    flag(V, MTE3);
    ub(MTE3, 21, 0, 64, false);
    expect_quiet();
    /* A flag covers what came before SetFlag, not what came before WaitFlag. */
    npu_set_flag(MTE3, MTE2, 0);
    ub(MTE3, 22, 64, 64, false);
    npu_wait_flag(MTE3, MTE2, 0);
    ub(MTE2, 23, 0, 64, true);
    expect_quiet();
    ub(MTE2, 24, 64, 64, true);
    expect_hazard("hazard_war", 24, 22);
    fake_stop();
}

static void one_pipe_with_itself(void **state)
{
    (void)state;
    for (int sync = NPU_SYNC_AUTO; sync <= NPU_SYNC_MANUAL; sync++) {
        fake_start(sync, false, 0);
        ub(V, 1, 0, 64, true);
        ub(V, 2, 0, 64, false);
        if (sync == NPU_SYNC_AUTO)
            expect_quiet();
        else
            expect_hazard("hazard_raw", 2, 1);
        /* A write over what was read is told and forgiven, a second write is not. */
        ub(V, 20, 2048, 64, false);
        ub(V, 21, 2048, 64, true);
        if (sync == NPU_SYNC_MANUAL) {
            assert_int_equal(fake_note_count, 1);
            assert_string_equal(fake_notes[0].fault, "hazard_war");
            assert_false(fake_notes[0].fatal);
            fake_note_count = 0;
            ub(V, 22, 2048, 64, true);
            expect_hazard("hazard_waw", 22, 21);
        }
        ub(V, 3, 512, 64, true);
        npu_pipe_barrier(V);
        ub(V, 4, 512, 64, false);
        expect_quiet();
        ub(MTE2, 5, 1024, 64, true);
        ub(MTE2, 6, 1024, 64, true);
        expect_hazard("hazard_waw", 6, 5);
        npu_pipe_barrier(MTE2);
        ub(MTE2, 7, 1024, 64, true);
        expect_quiet();
        npu_pipe_barrier(NPU_PIPE_ALL);
        ub(MTE3, 8, 1024, 64, false);
        ub(MTE3, 9, 1024, 64, false);
        ub(V, 9, 512, 32, true);
        expect_quiet();
        fake_stop();
    }
}

static void scalar_and_vector(void **state)
{
    (void)state;
    uint64_t at;
    fake_start(NPU_SYNC_AUTO, false, 0);
    at = (uint64_t)fake.ub + 96;
    npu_order_scalar(&fake, at, 4, true, false);
    ub(V, 2, 64, 64, false);
    ub(V, 3, 64, 64, true);
    npu_order_scalar(&fake, at, 4, false, false);
    expect_quiet();
    /* The edge V->S carries on: MTE3 after S is after V. */
    flag(S, MTE3);
    ub(MTE3, 4, 64, 64, false);
    expect_quiet();
    /* Plain pointers are not seen. */
    ub(V, 5, 4096, 64, true);
    fake.pc = 6;
    npu_order_scalar(&fake, (uint64_t)fake.ub + 4096, 4, false, true);
    expect_hazard("hazard_raw", 6, 5);
    fake.pc = 7;
    npu_order_scalar(&fake, (uint64_t)fake.ub + 8192, 4, true, true);
    ub(MTE3, 8, 8192, 32, false);
    expect_hazard("hazard_raw", 8, 7);
    fake_stop();

    fake_start(NPU_SYNC_MANUAL, false, 0);
    at = (uint64_t)fake.ub + 96;
    fake.pc = 1;
    npu_order_scalar(&fake, at, 4, true, false);
    ub(V, 2, 64, 64, false);
    expect_hazard("hazard_raw", 2, 1);
    flag(S, V);
    npu_pipe_barrier(V);
    ub(V, 3, 64, 64, true);
    expect_quiet();
    fake.pc = 4;
    npu_order_scalar(&fake, at, 4, false, false);
    expect_hazard("hazard_raw", 4, 3);
    flag(V, S);
    npu_order_scalar(&fake, at, 4, false, false);
    npu_pipe_barrier(V);
    ub(V, 5, 64, 64, true); /* the load is over when V is issued */
    expect_quiet();
    fake_stop();
}

/* While the scalar unit waits it issues nothing, so what it has waited for is over before whatever comes next. Its own
 * stores are not: those have to be waited for. */
static void what_the_scalar_unit_waits_for_is_over(void **state)
{
    (void)state;
    fake_start(NPU_SYNC_MANUAL, false, 0);
    ub(MTE2, 1, 0, 64, true);
    ub(V, 2, 512, 64, true);
    flag(MTE2, S);
    ub(MTE3, 3, 0, 64, false);
    ub(V, 4, 0, 64, false);
    expect_quiet();
    ub(MTE3, 5, 512, 64, false);
    expect_hazard("hazard_raw", 5, 2);
    ub(MTE2, 6, 1024, 64, true);
    npu_set_flag(MTE2, S, 0);
    ub(MTE3, 7, 1024, 64, false); /* before the wait */
    expect_hazard("hazard_raw", 7, 6);
    npu_wait_flag(MTE2, S, 0);
    fake.pc = 8;
    npu_order_scalar(&fake, (uint64_t)fake.ub + 2048, 4, true, false);
    ub(V, 9, 2048, 32, false);
    expect_hazard("hazard_raw", 9, 8);
    fake_stop();

    /* The wait of auto-sync does the same: MTE2 is done when GetValue returns. */
    fake_start(NPU_SYNC_AUTO, false, 0);
    ub(MTE2, 10, 0, 64, true);
    npu_order_scalar(&fake, (uint64_t)fake.ub, 4, false, false);
    ub(MTE3, 11, 0, 64, false);
    expect_quiet();
    fake_stop();
}

static void only_shared_bytes_conflict(void **state)
{
    (void)state;
    fake_start(NPU_SYNC_MANUAL, false, 0);
    npu_order_scalar(&fake, (uint64_t)fake.ub + 4, 4, true, false);
    ub(V, 1, 8, 20, true);
    ub(MTE2, 2, 0, 4, true);
    ub(MTE3, 3, 28, 8, false);
    expect_quiet();
    ub(MTE3, 4, 27, 2, false);
    expect_hazard("hazard_raw", 4, 1);
    /* Interleaved rows: 2-D copies whose runs never meet. */
    struct npu_access even = {.addr = (uint64_t)fake.ub + 1024,
                              .bytes = 32,
                              .count = 8,
                              .count2 = 1,
                              .stride = 64,
                              .write = true,
                              .operand = "dst"};
    struct npu_access odd = even;
    odd.addr += 32;
    issue(MTE2, 5, even);
    issue(V, 6, odd);
    expect_quiet();
    odd.addr += 64 * 7 - 32;
    odd.count = 1;
    issue(V, 7, odd);
    expect_hazard("hazard_waw", 7, 5);
    fake_stop();
}

static void gm_of_one_core(void **state)
{
    (void)state;
    uint64_t base = (uint64_t)gm;
    fake_start(NPU_SYNC_AUTO, false, 0);
    issue(MTE2, 1, span(base, 1024, false));
    issue(MTE2, 2, span(base, 1024, false));
    issue(MTE3, 3, span(base + 1024, 1024, true));
    expect_quiet();
    issue(MTE2, 4, span(base + 2016, 64, false));
    expect_hazard("hazard_raw", 4, 3);
    issue(MTE3, 5, span(base + 992, 32, true));
    expect_hazard("hazard_war", 5, 2);
    flag(MTE3, MTE2);
    issue(MTE2, 6, span(base + 992, 1056, false));
    expect_quiet();
    issue(MTE3, 7, span(base + 1024, 32, true));
    expect_hazard("hazard_war", 7, 6);
    npu_pipe_barrier(NPU_PIPE_ALL);
    struct npu_access add = span(base, 64, true);
    add.atomic = true;
    issue(MTE3, 8, add);
    issue(MTE3, 9, add);
    expect_quiet();
    struct npu_access left = {
        .addr = base + 8192, .bytes = 100, .count = 16, .count2 = 1, .stride = 200, .write = true, .operand = "dst"};
    struct npu_access right = left;
    right.addr += 100;
    issue(MTE3, 10, left);
    issue(MTE3, 11, right);
    expect_quiet();
    right.addr -= 1;
    right.count = 3;
    issue(MTE3, 12, right);
    assert_int_equal(fake_note_count, 1); /* nearest first: the write at 11 */
    assert_int_equal(fake_notes[0].pc_other, 11);
    fake_note_count = 0;
    /* The scalar unit reads what MTE3 wrote: auto-sync waits, a plain pointer does not. */
    issue(MTE3, 13, span(base + 32768, 64, true));
    fake.pc = 14;
    npu_order_scalar(&fake, base + 32800, 4, false, true);
    expect_hazard("hazard_raw", 14, 13);
    npu_order_scalar(&fake, base + 32800, 4, false, false);
    npu_order_scalar(&fake, base + 32800, 4, false, true);
    expect_quiet();
    fake_stop();
}

/* Random programs against sets. */
enum { OPS = 60, BYTES = 128, PIPES = 4 };
static const int pipes[PIPES] = {S, V, MTE2, MTE3};
struct oracle_op {
    int pipe;
    uint32_t low, high;
    bool write;
};

/* Bit i: operation i is complete. */
static uint64_t known[PIPES], issued[PIPES], flags[PIPES][PIPES];
static bool flag_set[PIPES][PIPES];

static bool oracle_conflict(const struct oracle_op *ops, int n)
{
    const struct oracle_op *op = &ops[n];
    for (int i = 0; i < n; i++) {
        const struct oracle_op *earlier = &ops[i];
        bool load = earlier->pipe == 0 && !earlier->write;
        if (earlier->pipe >= 0 && !(known[op->pipe] >> i & 1) && (op->write || earlier->write) && !load &&
            !(op->pipe == 0 && earlier->pipe == 0) && earlier->low < op->high && op->low < earlier->high)
            return true;
    }
    return false;
}

static void synchronise(struct rng *rng)
{
    int a = (int)rng_integer(rng, 0, PIPES), b = (int)rng_integer(rng, 0, PIPES);
    if (a == b && a) {
        npu_pipe_barrier(pipes[a]);
        known[a] |= issued[a];
    } else if (a != b && flag_set[a][b]) {
        npu_wait_flag(pipes[a], pipes[b], 5);
        known[b] |= flags[a][b];
        for (int pipe = 0; b == 0 && pipe < PIPES; pipe++) /* S issues nothing while it waits */
            known[pipe] |= known[0];
        flag_set[a][b] = false;
    } else if (a != b) {
        npu_set_flag(pipes[a], pipes[b], 5);
        flags[a][b] = known[a] | issued[a];
        flag_set[a][b] = true;
    }
}

static void one_program(uint64_t seed, int *conflicts)
{
    struct rng rng;
    rng_seed(&rng, seed);
    fake_start(NPU_SYNC_MANUAL, false, 0);
    memset(known, 0, sizeof known);
    memset(issued, 0, sizeof issued);
    memset(flag_set, 0, sizeof flag_set);
    struct oracle_op ops[OPS];
    for (int i = 0; i < OPS; i++) {
        ops[i].pipe = -1;
        if (rng_integer(&rng, 0, 3)) {
            synchronise(&rng);
            continue;
        }
        struct oracle_op *op = &ops[i];
        op->pipe = (int)rng_integer(&rng, 0, PIPES);
        op->write = rng_integer(&rng, 0, 2);
        op->low = (uint32_t)rng_integer(&rng, 0, BYTES);
        op->high = op->low + (op->pipe ? (uint32_t)rng_integer(&rng, 1, 70) : 4);
        fake_note_count = 0;
        if (op->pipe)
            ub(pipes[op->pipe], 0, op->low, op->high - op->low, op->write);
        else
            npu_order_scalar(&fake, (uint64_t)fake.ub + op->low, 4, op->write, rng_integer(&rng, 0, 2));
        bool expected = oracle_conflict(ops, i);
        assert_int_equal(fake_note_count > 0, expected);
        *conflicts += expected;
        issued[op->pipe] |= UINT64_C(1) << i;
    }
    fake_stop();
}

static void random_programs_agree_with_sets(void **state)
{
    (void)state;
    int conflicts = 0;
    for (uint64_t seed = 0; seed < 3000; seed++)
        one_program(seed, &conflicts);
    assert_in_range(conflicts, 5000, 100000); /* the programs are neither all wrong nor all right: 3000 x 20 accesses */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(copy_in_then_compute),
        cmocka_unit_test(order_is_transitive),
        cmocka_unit_test(one_pipe_with_itself),
        cmocka_unit_test(scalar_and_vector),
        cmocka_unit_test(what_the_scalar_unit_waits_for_is_over),
        cmocka_unit_test(only_shared_bytes_conflict),
        cmocka_unit_test(gm_of_one_core),
        cmocka_unit_test(random_programs_agree_with_sets),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
