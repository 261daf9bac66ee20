/* akgen cot failures: of what kinds failures are. */
#include "cot/failures.h"
#include "cli/cli.h"
#include "cli/cot.h"

#include <jansson.h>
#include <string.h>

struct arguments {
    const char *db, *verdicts;
    struct cot_filter filter;
    int64_t run;
    bool json;
};

#define CLI_OF struct arguments
static const struct cli_option rows[] = {
    {"db", 0, "FILE", CLI_TEXT(db), 0, "a database of samples: the wrong answers of its samples about errors"},
    {"verdicts", 0, "FILE", CLI_TEXT(verdicts), 0, "a database of 'akgen bench --db'"},
    {"run", 0, "N", CLI_NUMBER(run, 1, INT32_MAX), 0, "of --verdicts: run number N alone (default: all)"},
    {"json", 0, NULL, CLI_FLAG(json), 2, "one JSON object"},
};

static void check_arguments(void *failures, const struct argp_state *state)
{
    const struct arguments *arguments = failures;
    if (!arguments->db == !arguments->verdicts)
        argp_error(state, "one of --db FILE and --verdicts FILE is needed");
    if (arguments->db && cli_given(state, "run"))
        argp_error(state, "--run is of --verdicts");
    if (arguments->verdicts)
        cli_refuse_options(state, &cli_cot_filter_table, "chooses samples: it is of --db");
}

static json_t *share_json(int64_t count, int64_t all)
{
    double low, high;
    cot_share_interval(count, all, &low, &high);
    return json_pack("{s:I, s:f, s:f, s:f}", "count", (json_int_t)count, "share", all ? (double)count / (double)all : 0,
                     "low", low, "high", high);
}

static void print_share(const char *name, int64_t count, int64_t all)
{
    double low, high;
    cot_share_interval(count, all, &low, &high);
    cli_print_clean(stdout, name);
    printf("%*s %8lld  %5.1f %%  [%.1f, %.1f]\n", (int)(strlen(name) < 34 ? 34 - strlen(name) : 0), "",
           (long long)count, 100 * (double)count / (double)all, 100 * low, 100 * high);
}

static void print(const struct cot_failures *failures, bool json)
{
    json_t *whole = json_object();
    int64_t all = 0;
    for (int i = 0; i < failures->count; i++)
        all += failures->items[i].count;
    json_object_set_new(whole, "candidates", json_integer(failures->candidates));
    json_object_set_new(whole, "failures", json_integer(all));
    json_t *verdicts = json_object();
    json_object_set_new(whole, "verdicts", verdicts);
    if (!json)
        printf("%lld failures of %lld candidates\n%-34s %8s  %7s  %s\n", (long long)all,
               (long long)failures->candidates, "verdict, then class of these", "count", "share", "95 %");
    for (int i = 0; i < failures->count;) {
        const char *verdict = failures->items[i].verdict;
        int64_t of = 0;
        int end = i;
        for (; end < failures->count && strcmp(failures->items[end].verdict, verdict) == 0; end++)
            of += failures->items[end].count;
        json_t *share = share_json(of, all), *classes = json_object();
        json_object_set_new(share, "classes", classes);
        json_object_set_new(verdicts, verdict, share);
        if (!json)
            print_share(verdict, of, all);
        for (; i < end; i++) {
            char name[128];
            snprintf(name, sizeof name, "  %s", failures->items[i].class);
            json_object_set_new(classes, failures->items[i].class, share_json(failures->items[i].count, of));
            if (!json)
                print_share(name, failures->items[i].count, of);
        }
    }
    if (json)
        cli_print_json(whole, JSON_INDENT(2) | JSON_REAL_PRECISION(6));
    else
        json_decref(whole);
}

int cli_cot_failures(int argc, char **argv)
{
    static const struct cli_table table = {
        CLI_ROWS(rows),
        .parts = {{&cli_cot_filter_table, CLI_AT(filter)}},
        .check = check_arguments,
        .args_doc = "--verdicts FILE\n--db FILE",
        .doc =
            "Counts failures by verdict and class: of a compile error the class of its first error (api, dtype, scope, "
            "memory, syntax, macro), of a fault its name, of wrong results how far they came. Shares of a class are of "
            "its verdict's failures, with 95 % intervals (Wilson).\v",
    };
    struct arguments arguments = {0};
    struct arena arena = {0};
    struct store *store = NULL;
    struct cot_failures failures = {0};
    cli_parse(&table, argc, argv, &arguments);
    struct akgen_error *error = arguments.db
                                    ? store_open_to_read(arguments.db, &store)
                                    : cot_failures_of_verdicts(&arena, arguments.verdicts, arguments.run, &failures);
    if (!error && arguments.db)
        error = cot_failures_of_samples(&arena, store, &arguments.filter, &failures);
    if (!error)
        print(&failures, arguments.json);
    store_close(store);
    arena_free(&arena);
    return error ? cli_fail(EXIT_USAGE, error) : EXIT_PASS;
}
