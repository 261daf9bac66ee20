/* The database of samples: each is there once, a source is all there or not at all, also when its process is killed at any moment,
 * and splits do not change. */
#include "runs/cot_store.h"
#include "runs/store_internal.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
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

static void fails_with(struct akgen_error *error, const char *words)
{
    assert_non_null(error);
    if (!strstr(error->message, words))
        print_error("'%s' is not in: %s\n", words, error->message);
    assert_non_null(strstr(error->message, words));
    error_free(error);
}

static int set_up(void **state)
{
    struct place *place = calloc(1, sizeof *place);
    snprintf(place->file, sizeof place->file, "/tmp/akgen-cot-%d.db", (int)getpid());
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

static struct cot_sample a_sample(const char *question, const char *answer)
{
    return (struct cot_sample){.part = COT_SYNTH,
                               .mode = COT_GRAPH,
                               .question = question,
                               .chain = "because",
                               .answer = answer,
                               .provenance = "seed 1"};
}

static struct cot_put put(struct place *place, const char *source, const struct cot_sample *samples, int count)
{
    struct cot_put result = {0};
    succeed(cot_store_put(place->store,
                          &(struct cot_batch){.step = "synth", .source = source, .samples = samples, .count = count},
                          &result));
    return result;
}

static int64_t total(struct place *place, const struct cot_filter *filter, enum cot_by by, const char *name)
{
    struct cot_count *rows;
    int count;
    int64_t sum = 0;
    succeed(cot_store_count(place->store, filter, by, &place->arena, &rows, &count));
    for (int i = 0; i < count; i++)
        if (!name || strcmp(rows[i].name, name) == 0)
            sum += rows[i].samples;
    return sum;
}

static void a_sample_is_there_once(void **state)
{
    struct place *place = *state;
    succeed(store_open(place->file, &place->store));
    struct cot_sample samples[] = {a_sample("sqrt", "sqrt(x)"), a_sample("sqrt", "sqrt(x)"),
                                   a_sample("sqrt", "x ** 0.5"), a_sample("sqrt", "sqrt(x)")};
    samples[3].part = COT_KERNEL; /* another part's: another sample */
    struct cot_put first = put(place, "1", samples, 4);
    assert_int_equal(first.added, 3);
    assert_int_equal(first.repeated, 1);
    samples[0].chain = "for another reason"; /* the chain does not make it another */
    struct cot_put second = put(place, "2", samples, 1);
    assert_int_equal(second.added, 0);
    assert_int_equal(second.repeated, 1);
    assert_int_equal(total(place, &(struct cot_filter){0}, COT_BY_PART, NULL), 3);
    assert_int_equal(total(place, &(struct cot_filter){0}, COT_BY_PART, "kernel"), 1);
    assert_int_equal(total(place, &(struct cot_filter){0}, COT_BY_DROP, "duplicate"), 2);
}

static void several_sources_enter_together_or_not(void **state)
{
    struct place *place = *state;
    bool done;
    struct cot_put puts[3];
    succeed(store_open(place->file, &place->store));
    struct cot_sample one = a_sample("abs", "abs(x)"), other = a_sample("exp", "exp(x)"), wrong = a_sample("log", "");
    const struct cot_drop drop = {"too long", 3};
    struct cot_batch batches[] = {
        {.step = "s", .source = "1", .samples = &one, .count = 1},
        {.step = "s", .source = "2", .samples = &one, .count = 1, .drops = &drop, .drop_count = 1},
        {.step = "s", .source = "3", .samples = &wrong, .count = 1}};
    struct akgen_error *error = cot_store_put_all(place->store, batches, 3, puts);
    assert_non_null(error);
    error_free(error);
    succeed(cot_store_done(place->store, "s", "1", &done));
    assert_false(done);
    assert_int_equal(total(place, &(struct cot_filter){0}, COT_BY_PART, NULL), 0);
    batches[2].samples = &other;
    succeed(cot_store_put_all(place->store, batches, 3, puts));
    assert_int_equal(puts[0].added, 1);
    assert_int_equal(puts[1].added, 0);
    assert_int_equal(puts[1].repeated, 1);
    assert_int_equal(puts[2].added, 1);
    succeed(cot_store_put_all(place->store, batches, 3, puts));
    assert_true(puts[0].done_before && puts[1].done_before && puts[2].done_before);
    assert_int_equal(total(place, &(struct cot_filter){0}, COT_BY_PART, NULL), 2);
    assert_int_equal(total(place, &(struct cot_filter){0}, COT_BY_DROP, "too long"), 3);
    assert_int_equal(total(place, &(struct cot_filter){0}, COT_BY_DROP, "duplicate"), 1);
}

static void a_source_is_done_once(void **state)
{
    struct place *place = *state;
    bool done;
    succeed(store_open(place->file, &place->store));
    struct cot_sample sample = a_sample("abs", "abs(x)"), other = a_sample("exp", "exp(x)");
    succeed(cot_store_done(place->store, "synth", "1", &done));
    assert_false(done);
    put(place, "1", &sample, 1);
    succeed(cot_store_done(place->store, "synth", "1", &done));
    assert_true(done);
    succeed(cot_store_done(place->store, "corpus", "1", &done)); /* of another step */
    assert_false(done);
    struct cot_put again = put(place, "1", &other, 1); /* as another process may, between the question and the answer */
    assert_true(again.done_before);
    assert_int_equal(again.added, 0);
    assert_int_equal(total(place, &(struct cot_filter){0}, COT_BY_PART, NULL), 1);
}

static void wrong_samples_leave_no_trace(void **state)
{
    struct place *place = *state;
    succeed(store_open(place->file, &place->store));
    const struct {
        struct cot_sample sample;
        const char *words;
    } wrong[] = {
        {a_sample("", "x"), "no question"},
        {a_sample("x", NULL), "no answer"},
        {a_sample("x", "caf\xe9"), "no UTF-8"},
        {{.question = "x", .answer = "x"}, "where it comes from"},
        {{.question = "x", .answer = "x", .provenance = "", .verdict = "pass"}, "no JSON object"},
        {{.question = "x", .answer = "x", .provenance = "", .verdict = "{\"verdict\": 1}"}, "text 'verdict'"},
        {{.question = "x", .answer = "x", .provenance = "", .tags = "[1]"}, "array of strings"},
        {{.question = "x", .answer = "x", .provenance = "", .tags = "norm"}, "array of strings"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct cot_sample samples[] = {a_sample("good", "good"), wrong[i].sample};
        fails_with(cot_store_put(place->store,
                                 &(struct cot_batch){.step = "synth", .source = "1", .samples = samples, .count = 2},
                                 NULL),
                   wrong[i].words);
    }
    bool done;
    succeed(cot_store_done(place->store, "synth", "1", &done));
    assert_false(done);
    assert_int_equal(total(place, &(struct cot_filter){0}, COT_BY_PART, NULL), 0);
}

enum { SOURCES = 300, OF_A_SOURCE = 7 };

/* Does all that is not done, with a byte to `progress` before each transaction. */
static void work(const char *file, int progress)
{
    struct store *store = NULL;
    struct akgen_error *error = store_open(file, &store);
    for (int source = 0; !error && source < SOURCES; source++) {
        char name[16], questions[OF_A_SOURCE][32];
        struct cot_sample samples[OF_A_SOURCE];
        bool done = false;
        snprintf(name, sizeof name, "%d", source);
        error = cot_store_done(store, "synth", name, &done);
        if (error || done)
            continue;
        for (int i = 0; i < OF_A_SOURCE; i++) {
            snprintf(questions[i], sizeof questions[i], "question %d of %d", i, source);
            samples[i] = a_sample(questions[i], "answer");
        }
        if (write(progress, "", 1) != 1)
            _exit(3);
        error = cot_store_put(store,
                              &(struct cot_batch){.step = "synth",
                                                  .source = name,
                                                  .samples = samples,
                                                  .count = OF_A_SOURCE,
                                                  .drops = &(struct cot_drop){"too long", 1},
                                                  .drop_count = 1},
                              NULL);
    }
    if (error)
        fprintf(stderr, "%s\n", error->message);
    store_close(store);
    _exit(error ? 3 : 0);
}

/* Killed after about 10, 20, ... transactions, in the midst of one mostly. */
static void kills_lose_and_repeat_nothing(void **state)
{
    struct place *place = *state;
    int kills = 0, status = 0;
    for (bool finished = false; !finished;) {
        int pipe_ends[2];
        assert_int_equal(pipe(pipe_ends), 0);
        pid_t child = fork();
        if (!child) {
            close(pipe_ends[0]);
            work(place->file, pipe_ends[1]);
        }
        close(pipe_ends[1]);
        char byte;
        for (int left = 10 + kills; left > 0 && read(pipe_ends[0], &byte, 1) == 1; left--)
            ;
        for (int spin = 0; spin < kills * 20000; spin++)
            __asm__ volatile("");
        kill(child, SIGKILL);
        close(pipe_ends[0]);
        assert_int_equal(waitpid(child, &status, 0), child);
        finished = WIFEXITED(status);
        if (finished)
            assert_int_equal(WEXITSTATUS(status), 0);
        else
            kills++;
        succeed(store_open(place->file, &place->store));
        int64_t count = total(place, &(struct cot_filter){0}, COT_BY_PART, NULL);
        assert_int_equal(count % OF_A_SOURCE, 0); /* never a part of a source */
        assert_int_equal(total(place, &(struct cot_filter){0}, COT_BY_DROP, "too long") * OF_A_SOURCE, count);
        assert_int_equal(total(place, &(struct cot_filter){0}, COT_BY_DROP, "duplicate"), 0);
        store_close(place->store);
        place->store = NULL;
    }
    assert_true(kills > 5);
    succeed(store_open_to_read(place->file, &place->store));
    assert_int_equal(total(place, &(struct cot_filter){0}, COT_BY_PART, NULL), SOURCES * OF_A_SOURCE);
}

static void splits_go_by_operator_and_stay(void **state)
{
    struct place *place = *state;
    succeed(store_open(place->file, &place->store));
    char questions[3000][24];
    struct cot_sample samples[3000];
    for (int i = 0; i < 3000; i++) {
        snprintf(questions[i], sizeof questions[i], "question %d", i);
        samples[i] = a_sample(questions[i], "answer");
        if (i < 1000)
            samples[i].graph = "mul(x,y)";
    }
    put(place, "1", samples, 3000);
    struct cot_count *rows;
    int count;
    /* 2000 samples of their own: 40 of each kept split are expected, deviation 6.3; 1000 of one operator are all together. */
    succeed(cot_store_count(place->store, &(struct cot_filter){0}, COT_BY_PART, &place->arena, &rows, &count));
    for (int split = COT_VALID; split <= COT_TEST; split++)
        assert_in_range(rows[0].splits[split] % 1000, 15, 65);
    assert_int_equal(rows[0].splits[COT_TRAIN] + rows[0].splits[COT_VALID] + rows[0].splits[COT_TEST], 3000);
    /* Keys that the hash put there when it was chosen: another hash would mix up every data set that exists. */
    static const struct {
        const char *graph;
        enum cot_split split;
    } kept[] = {{"operator 0", COT_TRAIN}, {"operator 21", COT_TEST}, {"operator 142", COT_VALID}};
    for (size_t i = 0; i < sizeof kept / sizeof *kept; i++) {
        samples[0].graph = kept[i].graph;
        samples[0].question = kept[i].graph;
        put(place, kept[i].graph, samples, 1);
        succeed(cot_store_count(place->store, &(struct cot_filter){.source = kept[i].graph}, COT_BY_PART, &place->arena,
                                &rows, &count));
        assert_int_equal(rows[0].splits[kept[i].split], 1);
    }
}

struct seen {
    int count;
    char questions[256];
};

static struct akgen_error *see(void *closure, const struct cot_sample *sample)
{
    struct seen *seen = closure;
    seen->count++;
    strncat(seen->questions, sample->question, sizeof seen->questions - strlen(seen->questions) - 2);
    strcat(seen->questions, ";");
    return seen->count == 3 ? error_new("enough") : NULL;
}

static void expect(struct place *place, const struct cot_filter *filter, const char *questions)
{
    struct seen seen = {0};
    succeed(cot_store_each(place->store, filter, see, &seen));
    assert_string_equal(seen.questions, questions);
}

static void filters_choose(void **state)
{
    struct place *place = *state;
    succeed(store_open(place->file, &place->store));
    struct cot_sample samples[] = {a_sample("DataPad and \"quotes\"", "one"), a_sample("DataCopy", "two"),
                                   a_sample("ReduceSum", "NOT three OR DataCopy")};
    samples[0].verdict = "{\"verdict\": \"pass\"}";
    samples[1].verdict = "{\"verdict\": \"wrong\"}";
    samples[1].licence = "MIT";
    samples[1].tags = "[\"copy\",\"memory\"]";
    samples[2].mode = COT_ASCENDC;
    put(place, "1", samples, 3);
    expect(place, &(struct cot_filter){.verdict = "pass"}, "DataPad and \"quotes\";");
    expect(place, &(struct cot_filter){.verdict = "none"}, "ReduceSum;");
    expect(place, &(struct cot_filter){.licence = "MIT"}, "DataCopy;");
    expect(place, &(struct cot_filter){.known_licence = true}, "DataCopy;");
    expect(place, &(struct cot_filter){.licence = COT_NO_LICENCE, .modes = 1u << COT_GRAPH}, "DataPad and \"quotes\";");
    expect(place, &(struct cot_filter){.most = 1}, "DataPad and \"quotes\";");
    expect(place, &(struct cot_filter){.source = "2"}, "");
    /* Words are words, whatever FTS5 would make of them. */
    expect(place, &(struct cot_filter){.search = "\"quotes\""}, "DataPad and \"quotes\";");
    expect(place, &(struct cot_filter){.search = "datacopy OR"}, "ReduceSum;");
    expect(place, &(struct cot_filter){.search = "NOT datapad"}, "");
    assert_int_equal(total(place, &(struct cot_filter){0}, COT_BY_TAG, "memory"), 1);
    assert_int_equal(total(place, &(struct cot_filter){0}, COT_BY_VERDICT, "wrong"), 1);
    assert_int_equal(total(place, &(struct cot_filter){.search = "DataCopy"}, COT_BY_MODE, NULL), 2);
    struct seen seen = {0};
    fails_with(cot_store_each(place->store, &(struct cot_filter){0}, see, &seen), "enough");
}

static void other_databases_are_refused(void **state)
{
    struct place *place = *state;
    sqlite3 *db;
    fails_with(store_open_to_read(place->file, &place->store), "No such file");
    assert_int_equal(sqlite3_open(place->file, &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, "CREATE TABLE runs (id INTEGER)", NULL, NULL, NULL), SQLITE_OK);
    fails_with(store_open(place->file, &place->store), "another kind");
    fails_with(store_open_to_read(place->file, &place->store), "another kind");
    sqlite3_close(db);
    unlink(place->file);
    succeed(store_open(place->file, &place->store));
    store_close(place->store);
    place->store = NULL;
    assert_int_equal(sqlite3_open(place->file, &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, "PRAGMA user_version = 99", NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(db);
    fails_with(store_open(place->file, &place->store), "newer akgen");
    FILE *file = fopen(place->file, "w");
    for (int i = 0; i < 1000; i++)
        fprintf(file, "no database at all\n");
    fclose(file);
    fails_with(store_open(place->file, &place->store), "not a database");
}

/* A new file of akgen's on which somebody else ran some SQL. */
static void make_edited(struct place *place, const char *sql)
{
    sqlite3 *db;
    char *why = NULL;
    unlink(place->file);
    succeed(store_open(place->file, &place->store));
    store_close(place->store);
    place->store = NULL;
    assert_int_equal(sqlite3_open(place->file, &db), SQLITE_OK);
    if (sqlite3_exec(db, sql, NULL, NULL, &why) != SQLITE_OK)
        fail_msg("%s: %s", sql, why);
    sqlite3_close(db);
}

static void files_hold_tables_alone(void **state)
{
    static const struct {
        const char *sql, *why;
    } edits[] = {
        {"CREATE VIEW later AS SELECT * FROM runs", "holds the view 'later', expected tables alone"},
        {"DROP TABLE verdicts; CREATE VIEW verdicts AS SELECT 1 AS run", "holds the view 'verdicts'"},
        {"CREATE TRIGGER mine AFTER INSERT ON done BEGIN DELETE FROM done; END", "holds the trigger 'mine'"},
        {"DROP TABLE runs; CREATE VIRTUAL TABLE runs USING fts5 (id)", "holds the virtual table 'runs'"},
        {"DROP TABLE words; CREATE VIRTUAL TABLE words USING fts5 (question, chain, answer)",
         "holds the virtual table 'words'"},
        {"ALTER TABLE runs ADD COLUMN much AS (zeroblob(900000000))", "column 'much' of 'runs' is computed"},
        {"CREATE VIEW later AS SELECT 1; PRAGMA writable_schema = ON;"
         "UPDATE sqlite_master SET type = 'table' WHERE name = 'later'",
         "malformed database schema (later)"},
    };
    struct place *place = *state;
    for (size_t i = 0; i < sizeof edits / sizeof *edits; i++) {
        make_edited(place, edits[i].sql);
        fails_with(store_open(place->file, &place->store), edits[i].why);
        fails_with(store_open_to_read(place->file, &place->store), edits[i].why);
    }
    make_edited(place, "CREATE INDEX mine ON runs (suite); CREATE TABLE notes (text); ANALYZE");
    succeed(store_open(place->file, &place->store));
}

/* The file's trigger on samples has akgen's name and does something else. */
static void no_trigger_runs(void **state)
{
    struct place *place = *state;
    struct cot_sample sample = a_sample("What does DataCopy do?", "It copies.");
    make_edited(place, "DROP TRIGGER samples_words;"
                       "CREATE TRIGGER samples_words AFTER INSERT ON samples BEGIN DELETE FROM samples; END");
    succeed(store_open(place->file, &place->store));
    put(place, "1", &sample, 1);
    expect(place, &(struct cot_filter){.search = "DataCopy"}, "What does DataCopy do?;");
}

/* A column that takes long may hide in an index or in a check; here a statement itself has no end. */
static void a_statement_ends(void **state)
{
    static const char endless[] =
        "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n";
    struct place *place = *state;
    succeed(store_open(place->file, &place->store));
    assert_int_equal(store_number(place->store, -1, endless, ""), -1);
    fails_with(store_error(place->store), "a query takes longer than akgen's tables of this size need");
    assert_int_equal(store_number(place->store, -1, "SELECT 1", ""), 1);
    assert_int_equal(store_number(place->store, -1, "SELECT length(zeroblob(134217729))", ""), -1);
    fails_with(store_error(place->store), "too big");
}

static void a_pipe_is_no_database(void **state)
{
    struct place *place = *state;
    assert_int_equal(mkfifo(place->file, 0600), 0);
    fails_with(store_open(place->file, &place->store), "not a regular file");
    fails_with(store_open_to_read(place->file, &place->store), "not a regular file");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_sample_is_there_once, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_source_is_done_once, set_up, tear_down),
        cmocka_unit_test_setup_teardown(several_sources_enter_together_or_not, set_up, tear_down),
        cmocka_unit_test_setup_teardown(wrong_samples_leave_no_trace, set_up, tear_down),
        cmocka_unit_test_setup_teardown(kills_lose_and_repeat_nothing, set_up, tear_down),
        cmocka_unit_test_setup_teardown(splits_go_by_operator_and_stay, set_up, tear_down),
        cmocka_unit_test_setup_teardown(filters_choose, set_up, tear_down),
        cmocka_unit_test_setup_teardown(other_databases_are_refused, set_up, tear_down),
        cmocka_unit_test_setup_teardown(files_hold_tables_alone, set_up, tear_down),
        cmocka_unit_test_setup_teardown(no_trigger_runs, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_statement_ends, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_pipe_is_no_database, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
