/* Launches that have no end: they are ended after so many steps, in the same place each time, and the loops that their cores
 * were in are told. Kernels in C call npu_block() themselves, as the pass has compiled kernels do. */
#include "../launch.h"

enum { LIMIT = 2000000, NUMBERS = 16 };
static const struct npu_block_mix mixes[NUMBERS] = {0};

static struct npu *machine_of(struct npu_steps steps, enum npu_kernel_type type)
{
    const struct npu_config config = {.soc = npu_soc_find("910B2"), .steps = steps, .kernel_type = type};
    struct npu *npu = npu_create(&config);
    npu_blocks(npu, false, mixes, NUMBERS);
    return npu;
}

static struct npu *machine(uint64_t steps, enum npu_kernel_type type)
{
    return machine_of((struct npu_steps){steps, steps}, type);
}

static struct npu_endless only_loop(struct npu *npu)
{
    size_t count;
    const struct npu_finding *findings = npu_findings(npu, &count);
    for (size_t i = 0; i < count; i++)
        print_message("%s: %s\n", findings[i].fault, findings[i].message);
    const struct npu_endless *endless = npu_endless(npu, &count);
    assert_int_equal(count, 1);
    return endless[0];
}

static void an_end(void)
{
    for (int i = 0; i < LIMIT / 2; i++)
        npu_block(1);
}

static void no_end(void)
{
    npu_block(0);
    for (;;)
        npu_block(1);
}

static void test_what_ends_is_not_ended(void **state)
{
    (void)state;
    struct npu *npu = machine(LIMIT, NPU_TYPE_AIV_ONLY);
    size_t count;
    assert_true(npu_launch(npu, an_end, NULL, 0, 1));
    npu_endless(npu, &count);
    assert_int_equal(count, 0);
    assert_int_equal(npu_stats(npu).steps.control, LIMIT / 2 + NPU_STEPS_RESUME);
    npu_destroy(npu);
    npu = machine(LIMIT / 2, NPU_TYPE_AIV_ONLY);
    npu_launch(npu, an_end, NULL, 0, 1);
    assert_int_equal(only_loop(npu).cores, 1);
    npu_destroy(npu);
}

static void test_a_loop_without_an_end_is_ended(void **state)
{
    (void)state;
    uint64_t steps = 0;
    for (int again = 0; again < 2; again++) {
        struct npu *npu = machine(LIMIT, NPU_TYPE_AIV_ONLY);
        npu_launch(npu, no_end, NULL, 0, 48);
        const struct npu_endless loop = only_loop(npu);
        assert_int_equal(loop.cores, 48);
        assert_int_equal(loop.core, 0);
        assert_false(loop.aic);
        assert_true(loop.pc != 0);
        /* Watched from half of the steps on, or a few thousand blocks later. */
        assert_in_range(loop.rounds, LIMIT / 2 - 8192, LIMIT / 2);
        /* The other cores have a sixteenth together. */
        assert_in_range(npu_stats(npu).steps.control, LIMIT + LIMIT / 17, LIMIT + LIMIT / 14);
        assert_true(!again || steps == npu_stats(npu).steps.control);
        steps = npu_stats(npu).steps.control;
        npu_destroy(npu);
    }
}

/* A loop of one instruction that does nothing in each round. */
static void no_length(void)
{
    struct npu_tensor tensor = local_at(NPU_VECCALC, 0, 1024);
    npu_block(0);
    for (;;) {
        npu_block(1);
        add(tensor, tensor, tensor, 0);
    }
}

static void test_instructions_without_a_length_are_steps(void **state)
{
    (void)state;
    struct npu *npu = machine(LIMIT, NPU_TYPE_AIV_ONLY);
    npu_launch(npu, no_length, NULL, 0, 1);
    assert_in_range(only_loop(npu).rounds, LIMIT / 2 / (NPU_STEPS_INSTRUCTION + 1) * 9 / 10,
                    LIMIT / 2 / (NPU_STEPS_INSTRUCTION + 1));
    assert_int_equal(npu_stats(npu).instructions, npu_stats(npu).scalar_blocks - 1);
    npu_destroy(npu);
}

/* A loop that touches much data in few blocks. */
static void much_data(void)
{
    struct npu_tensor tensor = local_at(NPU_VECCALC, 0, 1024);
    npu_block(0);
    for (;;) {
        npu_block(1);
        add(tensor, tensor, tensor, 1024);
    }
}

static void test_data_has_a_limit_of_its_own(void **state)
{
    (void)state;
    enum { DATA_OF_A_ROUND = 3 * 1024 * sizeof(float) / NPU_STEP_BYTES };
    struct npu *npu = machine_of((struct npu_steps){UINT64_C(1) << 40, LIMIT}, NPU_TYPE_AIV_ONLY);
    npu_launch(npu, much_data, NULL, 0, 1);
    assert_in_range(only_loop(npu).rounds, LIMIT / 2 / DATA_OF_A_ROUND - 8192, LIMIT / 2 / DATA_OF_A_ROUND + 1);
    assert_in_range(npu_stats(npu).steps.data, LIMIT, LIMIT + DATA_OF_A_ROUND);
    npu_destroy(npu);
}

/* First a loop that ends, then three in each other of which the outermost does not, with a branch that is seldom taken. */
__attribute__((noinline)) static void called(int rounds)
{
    npu_block(8);
    for (int i = 0; i < rounds; i++)
        npu_block(9);
    npu_block(10);
}

static void nested(void)
{
    npu_block(0);
    for (int i = 0; i < LIMIT / 20; i++)
        npu_block(1);
    for (uint32_t round = 0;; round++) {
        npu_block(2);
        for (int i = 0; i < 7; i++)
            npu_block(3);
        if (round % 100 == 0)
            for (int i = 0; i < 3; i++)
                npu_block(4);
        called(5);
        npu_block(5);
    }
}

static void test_the_outermost_loop_is_told(void **state)
{
    (void)state;
    struct npu *npu = machine(LIMIT, NPU_TYPE_AIV_ONLY);
    npu_launch(npu, nested, NULL, 0, 1);
    const struct npu_endless loop = only_loop(npu);
    /* 1 + 7 + 3 / 100 + 7 + 1 blocks a round */
    assert_in_range(loop.rounds, LIMIT / 2 / 1603 * 99, LIMIT / 2 / 1603 * 101);
    npu_destroy(npu);
}

/* The loop is in a function, so that its frame is deeper than the kernel's, which has the lower number. */
static void in_a_function(void)
{
    npu_block(0);
    called(1 << 30);
    npu_block(1);
}

static void test_a_loop_in_a_function(void **state)
{
    (void)state;
    struct npu *npu = machine(LIMIT, NPU_TYPE_AIV_ONLY);
    npu_launch(npu, in_a_function, NULL, 0, 1);
    assert_in_range(only_loop(npu).rounds, LIMIT / 2 * 9 / 10, LIMIT / 2);
    npu_destroy(npu);
}

/* Core 3 alone has no end; the others wait for it, or have ended. */
static void one_of_many(void)
{
    npu_block(0);
    if (npu_block_idx() == 3)
        for (;;)
            npu_block(1);
    if (npu_block_idx() > 3)
        npu_sync_all(1);
}

static void test_cores_that_wait_are_in_no_loop(void **state)
{
    (void)state;
    struct npu *npu = machine(LIMIT, NPU_TYPE_MIX_AIV_1_0);
    npu_launch(npu, one_of_many, NULL, 0, 8);
    assert_int_equal(only_loop(npu).core, 3);
    assert_int_equal(only_loop(npu).cores, 1);
    assert_null(machine_finding(npu, "deadlock"));
    npu_destroy(npu);
}

/* Another core may trap first or later: a trap stops the chip. */
static void one_traps(void)
{
    npu_block(0);
    if (npu_block_idx() == 1)
        npu_issue(&(struct npu_insn){.op = NPU_OPS});
    for (;;)
        npu_block(1);
}

static void test_a_trap_of_another_core_is_a_fault(void **state)
{
    (void)state;
    struct npu *npu = machine(LIMIT, NPU_TYPE_AIV_ONLY);
    size_t count;
    assert_false(npu_launch(npu, one_traps, NULL, 0, 2));
    npu_endless(npu, &count);
    assert_int_equal(count, 0);
    assert_non_null(machine_finding(npu, "illegal_instruction"));
    npu_destroy(npu);
}

static void test_no_limit(void **state)
{
    (void)state;
    struct npu *npu = machine(0, NPU_TYPE_AIV_ONLY);
    assert_true(npu_launch(npu, an_end, NULL, 0, 3));
    assert_int_equal(npu_stats(npu).steps.control, 3 * (LIMIT / 2 + NPU_STEPS_RESUME));
    npu_destroy(npu);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_ends_is_not_ended),
        cmocka_unit_test(test_a_loop_without_an_end_is_ended),
        cmocka_unit_test(test_instructions_without_a_length_are_steps),
        cmocka_unit_test(test_data_has_a_limit_of_its_own),
        cmocka_unit_test(test_the_outermost_loop_is_told),
        cmocka_unit_test(test_a_loop_in_a_function),
        cmocka_unit_test(test_cores_that_wait_are_in_no_loop),
        cmocka_unit_test(test_a_trap_of_another_core_is_a_fault),
        cmocka_unit_test(test_no_limit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
