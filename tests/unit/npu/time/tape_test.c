/* What a core leaves on its tape is what a reader finds: loops of every shape, whose rounds the tape tells once. */
#include "base/random.h"
#include "npu/machine.h"
#include "npu/time/tape_reader.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <stdlib.h>

enum { MOST = 200000, TRANSFERS_MOST = 3 };

/* A step as it was recorded, with what a reader has to find. */
struct wanted {
    uint8_t kind, lane, to, event, transfers;
    float scalar;
    uint32_t count;
    uint64_t pc;
    struct npu_transfer moves[TRANSFERS_MOST];
};
static struct wanted wanted[MOST];
static int steps;

static struct npu npu;
static struct npu_core core;
static struct rng rng;

static int setup(void **state)
{
    (void)state;
    npu = (struct npu){0};
    core = (struct npu_core){.npu = &npu, .tape = npu_tape_create()};
    steps = 0;
    rng_seed(&rng, 7);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    npu_tape_destroy(core.tape);
    npu_tape_free_all(&npu);
    return 0;
}

static struct wanted *next(int kind, int lane, int to, float scalar)
{
    assert_true(steps < MOST);
    wanted[steps] = (struct wanted){.kind = (uint8_t)kind, .lane = (uint8_t)lane, .to = (uint8_t)to, .scalar = scalar};
    npu_tape_scalar(&core, scalar);
    return &wanted[steps++];
}

static void flag(int kind, int lane, int to, int event, float scalar)
{
    next(kind, lane, to, scalar)->event = (uint8_t)event;
    npu_tape_add(&core, (enum npu_step_kind)kind, lane, to, event, 0);
}

/* A copy at a line of a kernel; `apart`: from one of its transfers to the next; `runs` of each. */
static void copy(uint64_t pc, uint64_t addr, int transfers, int64_t apart, uint32_t runs, float scalar)
{
    struct npu_access accesses[TRANSFERS_MOST];
    struct wanted *step = next(NPU_STEP_RUN, NPU_LANE_MTE2, 0, scalar);
    step->pc = core.pc = pc;
    step->transfers = (uint8_t)transfers;
    for (int i = 0; i < transfers; i++) {
        const uint64_t at = addr + (uint64_t)(i * apart);
        accesses[i] = (struct npu_access){
            .addr = at, .bytes = 256, .count = runs, .count2 = 1, .stride = runs > 1 ? 512 : 0, .write = pc % 2};
        step->moves[i] = (struct npu_transfer){
            .addr = at, .bytes = 256, .count = runs, .count2 = 1, .stride = runs > 1 ? 512 : 0, .write = pc % 2};
    }
    const struct npu_insn insn = {.op = NPU_OP_DATA_COPY};
    npu_tape_run(&core, NPU_LANE_MTE2, &insn, accesses, transfers);
}

/* How many bytes of chunks there are. */
static size_t used(void)
{
    size_t bytes = 0;
    const struct npu_tape_chunk *first = core.tape ? core.tape->first : core.recorded.first;
    for (const struct npu_tape_chunk *chunk = first; chunk; chunk = chunk->next)
        bytes += chunk->used;
    return bytes;
}

static void reads_as_written(void)
{
    npu_tape_end(&core);
    struct npu_tape_reader reader = npu_tape_read(&core.recorded);
    struct npu_step step;
    for (int i = 0; i < steps; i++) {
        const struct wanted *want = &wanted[i];
        if (!npu_tape_step(&reader, &step))
            fail_msg("the tape ends after %d of %d steps", i, steps);
        if (step.kind != want->kind || step.lane != want->lane || step.to != want->to || step.scalar != want->scalar ||
            step.count != want->count || step.transfers != want->transfers ||
            (want->kind == NPU_STEP_RUN ? step.work->pc != want->pc : step.event != want->event))
            fail_msg("step %d is another one", i);
        for (int t = 0; t < want->transfers; t++) {
            struct npu_transfer found;
            npu_tape_transfer(&reader, &found);
            const struct npu_transfer *move = &want->moves[t];
            if (found.addr != move->addr || found.bytes != move->bytes || found.count != move->count ||
                found.stride != move->stride || found.write != move->write)
                fail_msg("transfer %d of step %d is another one", t, i);
        }
    }
    assert_false(npu_tape_step(&reader, &step));
}

/* Rounds that are alike but for addresses take no room, however many: every time, every other time, every third. */
static void test_loops(void **state)
{
    (void)state;
    for (int turns = 1; turns <= 3; turns++)
        for (int round = 0; round < 5000; round++) {
            copy(2, 0x100000u + 256u * (unsigned)round, 1, 0, 1, 0);
            flag(NPU_STEP_SET, NPU_LANE_MTE2, NPU_LANE_V, round % turns, 0);
            flag(NPU_STEP_WAIT, NPU_LANE_MTE2, NPU_LANE_V, round % turns, 1.5F);
            copy(3, 0x900000u + 512u * (unsigned)round, 2, 64, 3, 0);
        }
    reads_as_written();
    assert_int_equal(steps, 3 * 5000 * 4);
    assert_in_range(used(), 100, 2000);
}

/* Rounds that nothing repeats are there one by one. */
static void test_no_loop(void **state)
{
    (void)state;
    uint64_t addr = 0;
    for (int round = 0; round < 20000; round++) {
        addr += (uint64_t)rng_next(&rng) >> (round % 64); /* near and far */
        copy(2, addr, 1, 0, 1, 0);
        flag(NPU_STEP_SET, NPU_LANE_MTE2, NPU_LANE_V, (int)rng_integer(&rng, 0, 8), 0);
    }
    reads_as_written();
    assert_true(used() > 20000 * 17);
}

/* Any mixture: loops in loops that end anywhere, of few works and of many, steps that differ once. */
static void test_any(void **state)
{
    (void)state;
    for (int loop = 0; loop < 600; loop++) {
        const int body = (int)rng_integer(&rng, 1, 6), rounds = (int)rng_integer(&rng, 1, 60);
        const uint64_t line = (uint64_t)rng_integer(&rng, 1, 80), base = (uint64_t)rng_next(&rng) >> 20;
        for (int round = 0; round < rounds; round++) {
            for (int k = 0; k < body; k++) {
                const int inner = (int)rng_integer(&rng, 1, 30) == 1 ? 2 : 1;
                for (int i = 0; i < inner; i++)
                    copy(line + (uint64_t)k * 3, base + (uint64_t)(round * 256 + k),
                         (k + (int)line) % (TRANSFERS_MOST + 1), 32, (uint32_t)(k % 3 + 1), k % 4 == 3 ? 2.25F : 0);
                if (k % 2)
                    flag(NPU_STEP_WAIT, NPU_LANE_V, NPU_LANE_MTE3, round % (1 + body % 3), 0);
            }
            if ((int)rng_integer(&rng, 0, 20) == 0)
                next(NPU_STEP_JOIN, 0, 0, 0), npu_tape_add(&core, NPU_STEP_JOIN, 0, 0, 0, 0);
            if ((int)rng_integer(&rng, 0, 50) == 0) {
                next(NPU_STEP_HEAR, 0, 0, 0)->count = 9;
                npu_tape_hear(&core, 9);
            }
        }
    }
    reads_as_written();
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test_setup_teardown(test_loops, setup, teardown),
                                       cmocka_unit_test_setup_teardown(test_no_loop, setup, teardown),
                                       cmocka_unit_test_setup_teardown(test_any, setup, teardown)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
