/* The samples of a run in the database: what is kept comes back, files of older versions are extended, a run is one process's, and
 * what keeps a run from being resumed is named. */
#include "runs/bench.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>
#include <sqlite3.h>

struct place {
    char file[64];
    struct store *store;
    struct arena arena;
};

static void succeed(struct akgen_error *error)
{
    if (error)
        print_error("%s\n", error->message);
    assert_null(error);
}

static int set_up(void **state)
{
    struct place *place = calloc(1, sizeof *place);
    snprintf(place->file, sizeof place->file, "/tmp/akgen-samples-%d.db", (int)getpid());
    unlink(place->file);
    *state = place;
    return 0;
}

static int tear_down(void **state)
{
    struct place *place = *state;
    store_close(place->store);
    arena_free(&place->arena);
    unlink(place->file);
    free(place);
    return 0;
}

static struct bench a_run(const char *settings, int planned)
{
    return (struct bench){.suite = "npukernelbench",
                          .provider = "openai:http://localhost/v1",
                          .soc = "Ascend910B2",
                          .mode = "dynamic",
                          .scope = "project",
                          .profile = "upstream",
                          .language = "ascendc",
                          .akgen = "1",
                          .protocol = "",
                          .baseline = "eager",
                          .settings = settings,
                          .planned = planned};
}

static void test_a_sample_comes_back_as_it_was(void **state)
{
    struct place *place = *state;
    struct bench bench = a_run("{\"model\":\"a\"}", 3);
    const struct sample samples[] = {
        {"level1/Math/Sqrt", 1, 0, -1, "p", "{\"n\":2}", "{}", "text \xc3\xa4 '\"", "why", "stop", NULL, 70, 30, 0.25,
         1.5, 2},
        {"level1/Math/Sqrt", 2, 1, 1, "p", NULL, NULL, " \n\t", NULL, SAMPLE_CUT, NULL, 0, 0, 0, 1.5, 2},
        {"level1/Math/Abs", 0, 0, -1, "q", "{}", NULL, NULL, NULL, NULL, "refused", -1, -1, 0, 9, 5},
        {"level1/Math/Abs", 1, 0, -1, "q", "{}", NULL, "x", NULL, "stop", NULL, 5, -1, 0.5, 9, 1},
    };
    struct sample *loaded, one;
    struct sample_totals totals;
    int count;
    succeed(store_open(place->file, &place->store));
    succeed(store_begin_run(place->store, &bench));
    succeed(store_add_prompt(place->store, "p", "[]", 70));
    succeed(store_add_prompt(place->store, "p", "[]", 70));
    succeed(store_add_samples(place->store, bench.run, samples, 2));
    succeed(store_add_samples(place->store, bench.run, samples + 2, 2));
    succeed(store_load_samples(place->store, bench.run, &place->arena, &loaded, &count));
    assert_int_equal(count, 4);
    assert_string_equal(loaded[0].task, "level1/Math/Abs");
    assert_null(loaded[0].answer);
    assert_string_equal(loaded[0].failure, "refused");
    assert_string_equal(loaded[2].answer, "text \xc3\xa4 '\"");
    assert_string_equal(loaded[2].reasoning, "why");
    assert_string_equal(loaded[2].request, "{\"n\":2}");
    assert_true(loaded[2].prompt_tokens == 70 && loaded[2].completion_tokens == 30 && loaded[2].cost == 0.25);
    assert_true(loaded[2].tries == 2 && loaded[2].seconds == 1.5 && loaded[2].parent == -1);
    assert_true(loaded[3].round == 1 && loaded[3].parent == 1);

    succeed(store_list_samples(place->store, bench.run, &place->arena, &loaded, &count));
    assert_null(loaded[0].answer);
    assert_string_equal(loaded[2].answer, "");
    assert_null(loaded[2].request);

    succeed(store_load_sample(place->store, bench.run, "level1/Math/Sqrt", 2, &place->arena, &one));
    assert_string_equal(one.answer, " \n\t");
    struct akgen_error *error = store_load_sample(place->store, bench.run, "level1/Math/Sqrt", 7, &place->arena, &one);
    assert_non_null(strstr(error->message, "run 1 has no sample 7 of level1/Math/Sqrt"));
    error_free(error);

    succeed(store_sample_totals(place->store, bench.run, &totals));
    assert_true(totals.samples == 4 && totals.answered == 3 && totals.failed == 1);
    assert_true(totals.empty == 1 && totals.cut == 1 && totals.requests == 3 && totals.uncounted == 1);
    assert_true(totals.prompt_tokens == 75 && totals.completion_tokens == 30 && totals.cost == 0.75);
}

static void test_older_files_are_extended(void **state)
{
    struct place *place = *state;
    sqlite3 *db;
    struct bench bench;
    assert_int_equal(sqlite3_open(place->file, &db), SQLITE_OK);
    assert_int_equal(
        sqlite3_exec(db,
                     "CREATE TABLE runs (id INTEGER PRIMARY KEY, started TEXT NOT NULL, seconds REAL, akgen TEXT NOT "
                     "NULL, suite TEXT NOT NULL, provider TEXT NOT NULL, soc TEXT NOT NULL, mode TEXT NOT NULL, scope "
                     "TEXT NOT NULL, profile TEXT NOT NULL);"
                     "INSERT INTO runs VALUES (1, 'then', 2.5, '0', 'npukernelbench', 'reference', 'Ascend910B2', "
                     "'dynamic', 'project', 'upstream');"
                     "PRAGMA user_version = 1",
                     NULL, NULL, NULL),
        SQLITE_OK);
    sqlite3_close(db);
    succeed(store_open(place->file, &place->store));
    succeed(store_load(place->store, 1, &bench));
    assert_string_equal(bench.provider, "reference");
    assert_string_equal(bench.protocol, "");
    assert_string_equal(bench.settings, "");
    assert_string_equal(bench.baseline, "eager");
    assert_true(bench.seconds == 2.5 && bench.planned == 0);
    bench_free(&bench);
    store_close(place->store);
    place->store = NULL;
    succeed(store_open(place->file, &place->store)); /* it is of this version now */
    bench = a_run("{}", 1);
    succeed(store_begin_run(place->store, &bench));
    assert_int_equal(bench.run, 2);
}

/* The error of resuming `bench`, which the arena gets. */
static const char *why_not(struct place *place, struct bench bench)
{
    struct akgen_error *error = store_resume(place->store, &bench);
    const char *text = error ? arena_strdup(&place->arena, error->message) : NULL;
    error_free(error);
    bench_free(&bench);
    return text;
}

static void test_what_keeps_a_run_from_being_resumed_is_named(void **state)
{
    struct place *place = *state;
    static const char settings[] = "{\"model\":\"a\",\"sampling\":{\"temperature\":0.2,\"top_p\":0.95}}";
    struct bench bench = a_run(settings, 2), other;
    succeed(store_open(place->file, &place->store));
    assert_non_null(strstr(why_not(place, a_run(settings, 2)), "has no unfinished run with these settings"));
    succeed(store_begin_run(place->store, &bench));
    const char *text =
        why_not(place, a_run("{\"model\":\"b\",\"sampling\":{\"temperature\":0.8,\"top_p\":0.95,\"top_k\":4}}", 2));
    assert_non_null(strstr(text, "run 1 differs in model (\"a\", now \"b\"), sampling.temperature (0.2, now 0.8), "
                                 "sampling.top_k (none, now 4)"));
    other = a_run(settings, 2);
    other.soc = "Ascend910B1";
    assert_non_null(strstr(why_not(place, other), "run 1 differs in soc (Ascend910B2, now Ascend910B1)"));
    other = a_run(settings, 2);
    other.baseline = "dir:kernels";
    assert_non_null(strstr(why_not(place, other), "run 1 differs in baseline (eager, now dir:kernels)"));
    assert_null(why_not(place, a_run(settings, 2)));
    assert_null(why_not(place, a_run(settings, 3)));
    succeed(store_load(place->store, 1, &other));
    assert_int_equal(other.planned, 3);
    bench_free(&other);
}

static void test_the_end_of_a_models_run_is_none_while_verdicts_lack(void **state)
{
    struct place *place = *state;
    struct bench bench = a_run("{}", 2);
    struct bench_row rows[] = {
        {.task = "t", .category = "c", .evaluated = true, .sample = 0, .kind = AKGEN_VERDICT_PASS},
        {.task = "t", .category = "c", .evaluated = true, .sample = 1, .kind = AKGEN_VERDICT_INFRA_ERROR}};
    struct bench resumed = a_run("{}", 2);
    struct bench_row again[] = {{.task = "t", .category = "c", .sample = 0},
                                {.task = "t", .category = "c", .sample = 1}};
    succeed(store_open(place->file, &place->store));
    succeed(store_begin_run(place->store, &bench));
    for (int i = 0; i < 2; i++) {
        bench_row_open(&bench.arena, &rows[i], strdup("{}"));
        succeed(store_add(place->store, &bench, &rows[i]));
        bench_row_free(&rows[i]);
    }
    bench.seconds = 1;
    succeed(store_end_run(place->store, &bench));
    resumed.rows = again;
    resumed.count = 2;
    succeed(store_resume(place->store, &resumed));
    assert_int_equal(resumed.run, 1);
    assert_true(again[0].evaluated && again[0].kind == AKGEN_VERDICT_PASS);
    assert_false(again[1].evaluated); /* the server failed: it is asked again */
    bench_row_free(&again[0]);
    resumed.count = 0;
    bench_free(&resumed);

    rows[1].kind = AKGEN_VERDICT_WRONG;
    bench_row_open(&bench.arena, &rows[1], strdup("{}"));
    succeed(store_add(place->store, &bench, &rows[1]));
    bench_row_free(&rows[1]);
    assert_non_null(strstr(why_not(place, a_run("{}", 2)), "has no unfinished run"));
    assert_null(why_not(place, a_run("{}", 3))); /* more samples of each task */
}

static void test_a_run_is_one_process_s(void **state)
{
    struct place *place = *state;
    struct bench bench = a_run("{}", 2), same = a_run("{}", 2);
    struct store *second;
    succeed(store_open(place->file, &place->store));
    succeed(store_begin_run(place->store, &bench));
    succeed(store_open(place->file, &second));
    struct akgen_error *error = store_resume(second, &same);
    assert_non_null(error);
    assert_non_null(strstr(error->message, "run 1 goes on in another akgen"));
    error_free(error);
    store_close(place->store);
    place->store = NULL;
    succeed(store_resume(second, &same));
    bench_free(&same);
    store_close(second);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_a_sample_comes_back_as_it_was, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_older_files_are_extended, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_what_keeps_a_run_from_being_resumed_is_named, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_the_end_of_a_models_run_is_none_while_verdicts_lack, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_a_run_is_one_process_s, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
