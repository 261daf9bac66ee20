/* Making a right kernel faster: who is given back, when it ends, and what is told of a time. */
#include "gen/repair_internal.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 16 };

struct fixture {
    struct arena arena;
    struct attempt attempts[MOST];
    struct gen_repair_options options;
    struct gen_repair_outcome outcome;
    struct repair repair;
};

static struct fixture *begin(int beam)
{
    struct fixture *f = calloc(1, sizeof *f);
    f->options.beam = beam;
    f->options.faster = (struct gen_faster_options){.rounds = 5, .patience = 2, .roofline = 0.95};
    f->repair = (struct repair){
        .arena = &f->arena, .options = &f->options, .outcome = &f->outcome, .attempts = f->attempts, .best = -1};
    return f;
}

static void end(struct fixture *f)
{
    arena_free(&f->arena);
    free(f);
}

static struct attempt *add(struct fixture *f, int parent, enum akgen_verdict_kind kind)
{
    struct attempt *attempt = &f->attempts[f->repair.count];
    *attempt = (struct attempt){.sample = f->repair.count++,
                                .parent = parent,
                                .judged = true,
                                .same_as = -1,
                                .row = {.kind = kind, .stage = AKGEN_STAGE_COMPARE},
                                .ended = "wrong at stage compare, 0 of 1 cases right"};
    return attempt;
}

/* A right one of one case that takes so long; the best if it is the fastest. */
static int right(struct fixture *f, int parent, double us, bool shared, double roofline)
{
    struct attempt *attempt = add(f, parent, AKGEN_VERDICT_PASS);
    struct times_case *row = arena_alloc(&f->arena, sizeof *row);
    *row = (struct times_case){
        .dtype = "float16", .shape = "x[8]", .us = us, .bound_us = us * roofline, .bound = "HBM", .shared = shared};
    attempt->timed = true;
    attempt->times = (struct times){.cases = row, .count = 1, .mean_us = us};
    attempt->ended = arena_printf(&f->arena, "pass, modelled %.2f us", us);
    if (f->repair.best < 0 || repair_is_better(attempt, &f->attempts[f->repair.best]))
        f->repair.best = attempt->sample;
    return attempt->sample;
}

static int wrong(struct fixture *f, int parent, enum akgen_verdict_kind kind)
{
    return add(f, parent, kind)->sample;
}

static void expect(struct fixture *f, int count, int first, int second)
{
    int chosen[MOST];
    assert_int_equal(optimise_choose(&f->repair, chosen), count);
    assert_int_equal(chosen[0], first);
    if (count > 1)
        assert_int_equal(chosen[1], second);
}

static void test_the_best(void **state)
{
    (void)state;
    struct fixture *f = begin(1);
    right(f, -1, 20, true, 0.5);
    assert_int_equal(right(f, 0, 30, true, 0.9), 1);
    assert_int_equal(f->repair.best, 0); /* slower, however near its bound */
    right(f, 0, 10, true, 0.1);
    assert_int_equal(f->repair.best, 2);
    struct attempt *untimed = add(f, 0, AKGEN_VERDICT_PASS);
    assert_false(repair_is_better(untimed, &f->attempts[0]));
    assert_true(repair_is_better(&f->attempts[0], untimed));
    struct attempt *cheat = add(f, 0, AKGEN_VERDICT_WRONG);
    cheat->times = (struct times){.cases = f->attempts[2].times.cases, .count = 1, .mean_us = 0.1};
    assert_false(repair_is_better(cheat, &f->attempts[0]));
    end(f);
}

static void test_who_is_given_back(void **state)
{
    (void)state;
    struct fixture *f = begin(1);
    right(f, -1, 20, true, 0.5);
    right(f, -1, 10, true, 0.5);
    wrong(f, -1, AKGEN_VERDICT_WRONG); /* of before the pass: not made of a right one */
    expect(f, 1, 1, -1);
    wrong(f, 1, AKGEN_VERDICT_REJECTED);
    wrong(f, 1, AKGEN_VERDICT_INFRA_ERROR);
    expect(f, 1, 1, -1); /* neither a cheat nor what could not be judged */
    int broken = wrong(f, 1, AKGEN_VERDICT_FAULT);
    expect(f, 1, broken, -1);
    f->options.beam = 2;
    expect(f, 2, broken, 1); /* the fastest keeps its place */
    f->options.beam = 1;
    f->attempts[broken].mended = 1;
    int again = wrong(f, broken, AKGEN_VERDICT_FAULT);
    expect(f, 1, again, -1);
    f->attempts[again].mended = 1;
    wrong(f, again, AKGEN_VERDICT_FAULT);
    expect(f, 1, 1, -1); /* two rounds for one idea are enough */
    f->options.beam = 3;
    int chosen[MOST];
    assert_int_equal(optimise_choose(&f->repair, chosen), 2);
    assert_int_equal(chosen[1], 0);
    end(f);
}

static void expect_end(struct fixture *f, int number, const char *why)
{
    const char *ended = optimise_ended(&f->repair, number);
    if (!why)
        assert_null(ended);
    else {
        assert_non_null(ended);
        assert_string_equal(ended, why);
    }
}

static void test_when_it_ends(void **state)
{
    (void)state;
    struct fixture *f = begin(1);
    right(f, -1, 20, true, 0.5);
    optimise_begin(&f->repair);
    expect_end(f, 0, NULL);
    right(f, 0, 25, true, 0.5);
    expect_end(f, 1, NULL); /* one round that brought nothing */
    right(f, 0, 15, true, 0.5);
    expect_end(f, 2, NULL); /* a faster one: counted anew */
    wrong(f, 2, AKGEN_VERDICT_WRONG);
    expect_end(f, 3, NULL);
    wrong(f, 3, AKGEN_VERDICT_WRONG);
    expect_end(f, 4, "2 rounds in a row brought nothing faster");
    right(f, 2, 12, true, 0.5);
    expect_end(f, 5, "rounds that make it faster: 5, all done");
    right(f, 2, 11, false, 0.99); /* a pipe that is always busy may still do too much */
    expect_end(f, 4, NULL);
    right(f, 2, 10, true, 0.96);
    expect_end(f, 4, "every case is at 96 % of its bound or above");
    optimise_end(&f->repair);
    assert_int_equal(f->outcome.faster.before, 0);
    assert_int_equal(f->outcome.faster.after, f->repair.best);
    assert_float_equal(f->outcome.faster.times_after.mean_us, 10, 1e-9);
    end(f);
}

/* ---- What is told */

static void test_what_is_told(void **state)
{
    (void)state;
    struct arena arena = {0};
    struct times times;
    struct verdict_case rows[40] = {0};
    static const struct npu_soc soc = {.name = "Ascend910B2", .aiv = 48, .aic = 24, .mhz = 1800};
    static const struct eval_options options = {.soc = &soc};
    for (int i = 0; i < 40; i++) {
        rows[i] = (struct verdict_case){.id = i, .shape = "x[8]", .dtype = "float16", .hidden = i >= 30};
        rows[i].run.timing.model = (struct npu_timing){.known = true,
                                                       .mhz = 1800,
                                                       .cycles = 18000 + i,
                                                       .launch = 3600,
                                                       .of = {{.cores = 48, .mean = 14000, .longest = 14400}},
                                                       .read = i == 7    ? 1 << 20
                                                               : i >= 30 ? 1 << 30
                                                                         : 1 << 10,
                                                       .bound = NPU_BOUND_HBM,
                                                       .bound_cycles = i >= 30            ? 1
                                                                       : i == 3 || i == 5 ? 900
                                                                                          : 9000};
    }
    struct verdict verdict = {.kind = AKGEN_VERDICT_PASS, .cases = rows, .case_count = 40, .options = &options};
    assert_true(times_of(&arena, &verdict, &times));
    const char *told = optimise_told(&arena, &verdict, &times);
    assert_non_null(strstr(told, "\n| 0 | float16 x[8] | 10.00 | 2.00 | HBM | 5.00 | 50 % |\n"));
    assert_non_null(strstr(told, "\n6 more cases are not shown.\n"));
    const char *const gone_into[] = {"  modelled, case 7: 10.00 us", "  modelled, case 5: 10.00 us",
                                     "  modelled, case 3: 10.00 us"};
    for (int i = 0; i < 3; i++)
        assert_non_null(strstr(told, gone_into[i]));
    int details = 0;
    for (const char *at = told; (at = strstr(at, "modelled, case ")); at++)
        details++;
    assert_int_equal(details, 3);
    assert_null(strstr(told, "case 3"
                             "0")); /* nothing of a case that the task hides */
    arena_free(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_best),
        cmocka_unit_test(test_who_is_given_back),
        cmocka_unit_test(test_when_it_ends),
        cmocka_unit_test(test_what_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
