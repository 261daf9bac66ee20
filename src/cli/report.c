/* akgen report: what is in a database of runs. */
#include "cli/cli.h"
#include "runs/bench.h"

#include <string.h>
#include <unistd.h>

enum { KEY_DB = 0x500, KEY_RUN, KEY_COMPARE, KEY_FORMAT, KEY_OUTPUT };

struct report_arguments {
    const char *db, *format, *output;
    int64_t run, compare;
    struct cli_ks ks;
};

static const struct argp_option options[] = {
    {"db", KEY_DB, "FILE", 0, "database written by 'akgen bench --db'", 0},
    {"run", KEY_RUN, "N", 0, "number of the run (default: the newest)", 0},
    {"compare", KEY_COMPARE, "N", 0, "an earlier run to compare it with", 0},
    {"format", KEY_FORMAT, "table|csv|json|html", 0, "default table", 0},
    {"pass-at", 'k', "K[,K..]", 0, "pass@k for these k (default, of several samples: 1, 5, 10, 100)", 0},
    {"output", KEY_OUTPUT, "FILE", 0, "where html goes (default report.html)", 0},
    {0},
};

static error_t parse(int key, char *text, struct argp_state *state)
{
    static const char formats[] = " table csv json html ";
    struct report_arguments *arguments = state->input;
    struct arena arena = {0};
    switch (key) {
    case KEY_DB:
        arguments->db = text;
        break;
    case KEY_RUN:
        arguments->run = cli_parse_number(state, "run", text, 1, INT32_MAX);
        break;
    case KEY_COMPARE:
        arguments->compare = cli_parse_number(state, "compare", text, 1, INT32_MAX);
        break;
    case KEY_FORMAT:
        if (strchr(text, ' ') || !strstr(formats, arena_printf(&arena, " %s ", text)))
            argp_error(state, "--format: '%s' is none of table, csv, json, html", text);
        arena_free(&arena);
        arguments->format = text;
        break;
    case 'k':
        cli_parse_ks(state, text, &arguments->ks);
        break;
    case KEY_OUTPUT:
        arguments->output = text;
        break;
    case ARGP_KEY_ARG:
        argp_error(state, "unexpected argument '%s'", text);
        break;
    case ARGP_KEY_END:
        if (!arguments->db)
            argp_error(state, "--db is needed");
        if (arguments->compare && strcmp(arguments->format, "table") != 0)
            argp_error(state, "--compare is a table; --format %s is of one run", arguments->format);
        if (arguments->ks.count && (arguments->compare || strcmp(arguments->format, "csv") == 0))
            argp_error(state, "--pass-at: %s has no pass@k",
                       arguments->compare ? "a comparison, beside that of k = 1," : "--format csv");
        if (cli_given(state, KEY_OUTPUT) && strcmp(arguments->format, "html") != 0)
            argp_error(state, "--output is of --format html; a %s goes to standard output", arguments->format);
        break;
    default:
        return ARGP_ERR_UNKNOWN;
    }
    return 0;
}

static struct akgen_error *write_report(const struct report_arguments *arguments, struct bench *bench)
{
    struct cli_colors colors = cli_colors_for(stdout);
    const struct report_style style = {colors.bold, colors.off};
    if (strcmp(arguments->format, "html") == 0)
        return report_write_html(arguments->output, bench);
    if (strcmp(arguments->format, "csv") == 0)
        report_write_csv(stdout, bench);
    else if (strcmp(arguments->format, "json") == 0) {
        json_t *json = report_to_json(bench);
        json_dumpf(json, stdout, JSON_INDENT(1) | JSON_ENSURE_ASCII);
        putchar('\n');
        json_decref(json);
    } else
        report_write_table(stdout, bench, &style);
    return NULL;
}

static struct akgen_error *report(const struct report_arguments *arguments, struct store *store)
{
    struct bench bench, earlier = {0};
    struct akgen_error *error = store_load(store, arguments->run, &bench);
    bench.ks = arguments->ks.count ? arguments->ks.of : NULL;
    bench.k_count = arguments->ks.count;
    if (!error && arguments->compare) {
        error = store_load(store, arguments->compare, &earlier);
        if (!error)
            report_write_comparison(stdout, &earlier, &bench);
    } else if (!error)
        error = write_report(arguments, &bench);
    bench_free(&bench);
    bench_free(&earlier);
    return error;
}

int cli_report(int argc, char **argv)
{
    static const struct argp argp = {
        .options = options,
        .parser = parse,
        .doc = "Shows a stored run: rates by level and category, pass@k where there are several samples, errors by "
               "class; or "
               "compares it with an earlier one.",
    };
    struct report_arguments arguments = {.format = "table", .output = "report.html"};
    struct store *store = NULL;
    cli_parse(&argp, argc, argv, &arguments);
    struct akgen_error *error = store_open_to_read(arguments.db, &store);
    if (!error)
        error = report(&arguments, store);
    store_close(store);
    return error ? cli_fail(EXIT_USAGE, error) : EXIT_PASS;
}
