/* What the processes of a candidate may use together. */
#include "jail/budget.h"
#include "jail/sandbox.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <sys/eventfd.h>
#include <unistd.h>

static void test_each_takes_what_is_left(void **state)
{
    (void)state;
    struct budget budget;
    budget_open(&budget, 10, 0);
    assert_true(budget_allows(&budget, 4) == 4);
    budget_charge(&budget, 4);
    assert_true(budget_allows(&budget, 60) == 6);
    assert_true(budget_allows(&budget, 5) == 5);
    budget_charge(&budget, 5.5);
    assert_true(budget_allows(&budget, 60) == 0); /* too little to begin with */
    assert_true(budget_allows(&budget, 0.25) == 0.25);
    budget_charge(&budget, 3); /* side by side they may take more than there was */
    assert_true(budget_allows(&budget, 0.25) == 0);
    budget_close(&budget);
    assert_true(budget_allows(NULL, 60) == 60);
}

static void test_the_end(void **state)
{
    (void)state;
    struct budget budget;
    budget_open(&budget, 1e6, 0);
    budget_end(&budget);
    assert_true(budget_allows(&budget, 1) == 0);
    budget_close(&budget);
    budget_end(NULL);
}

/* A process is charged for the time that it sleeps, and for no more than it ran. */
static void test_what_a_process_is_charged(void **state)
{
    (void)state;
    struct arena arena = {0};
    struct sandbox_result result;
    static const char *const argv[] = {"/usr/bin/sleep", "0.5", NULL}, *const readable[] = {"/usr", "/lib", "/lib64",
                                                                                            "/dev/null", NULL};
    const struct sandbox_limits limits = {.seconds = 60, .readable = readable};
    sandbox_spawn(&arena, argv, &limits, NULL, 1000, &result);
    if (!result.started)
        fail_msg("%s", result.error);
    assert_int_equal(result.exit_code, 0);
    assert_true(result.charged >= 0.4);
    assert_true(result.charged <= result.seconds);
    arena_free(&arena);
}

/* What is cancelled begins no process, and ends the one that runs. */
static void test_cancel(void **state)
{
    (void)state;
    static const char *const argv[] = {"/usr/bin/sleep", "50", NULL}, *const readable[] = {"/usr", "/lib", "/lib64",
                                                                                           "/dev/null", NULL};
    struct arena arena = {0};
    struct budget budget;
    struct sandbox_result result;
    const int cancel = eventfd(0, EFD_CLOEXEC);
    const struct sandbox_limits limits = {.seconds = 60, .readable = readable, .cancel_fd = cancel};
    budget_open(&budget, 10, cancel);
    assert_true(budget_allows(&budget, 4) == 4);
    assert_int_equal(eventfd_write(cancel, 1), 0);
    assert_true(budget_allows(&budget, 4) == 0);
    budget_close(&budget);
    sandbox_spawn(&arena, argv, &limits, NULL, 1000, &result);
    if (!result.started)
        fail_msg("%s", result.error);
    assert_true(result.timed_out);
    assert_false(result.killed);
    assert_true(result.seconds < 20);
    close(cancel);
    arena_free(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_each_takes_what_is_left),
        cmocka_unit_test(test_the_end),
        cmocka_unit_test(test_what_a_process_is_charged),
        cmocka_unit_test(test_cancel),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
