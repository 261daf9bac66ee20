/* akgen report: what is in a database of runs. */
#include "cli/cli.h"
#include "runs/bench.h"

#include <unistd.h>

#define FORMATS(X) X(FORMAT_TABLE, "table") X(FORMAT_CSV, "csv") X(FORMAT_JSON, "json") X(FORMAT_HTML, "html")
enum format { FORMATS(WORD_VALUE) };
static const struct words formats = WORDS(FORMATS);

struct report_arguments {
    const char *db, *output;
    enum format format;
    int64_t run, compare;
    struct cli_ks ks;
};

#define CLI_OF struct report_arguments
static const struct cli_option rows[] = {
    {"db", 0, "FILE", CLI_TEXT(db, .needed = true), 0, "database written by 'akgen bench --db'"},
    {"run", 0, "N", CLI_NUMBER(run, 1, INT32_MAX), 0, "number of the run (default: the newest)"},
    {"compare", 0, "N", CLI_NUMBER(compare, 1, INT32_MAX), 0, "an earlier run to compare it with"},
    {"format", 0, WORD_CHOICE(FORMATS, ""), CLI_WORD(format, formats, CLI_NONE_OF), 0, "default table"},
    {"pass-at", 'k', "K[,K..]", CLI_CALL(cli_take_ks, .at = CLI_AT(ks)), 0,
     "pass@k for these k (default, of several samples: 1, 5, 10, 100)"},
    {"output", 0, "FILE", CLI_TEXT(output), 0, "where html goes (default report.html)"},
};

static void check_arguments(void *report, const struct argp_state *state)
{
    const struct report_arguments *arguments = report;
    const char *format = formats.of[arguments->format];
    if (arguments->compare && arguments->format != FORMAT_TABLE)
        argp_error(state, "--compare is a table; --format %s is of one run", format);
    if (arguments->ks.count && (arguments->compare || arguments->format == FORMAT_CSV))
        argp_error(state, "--pass-at: %s has no pass@k",
                   arguments->compare ? "a comparison, beside that of k = 1," : "--format csv");
    if (cli_given(state, "output") && arguments->format != FORMAT_HTML)
        argp_error(state, "--output is of --format html; a %s goes to standard output", format);
}

static struct akgen_error *write_report(const struct report_arguments *arguments, struct bench *bench)
{
    struct cli_colors colors = cli_colors_for(stdout);
    const struct report_style style = {colors.bold, colors.off};
    if (arguments->format == FORMAT_HTML)
        return report_write_html(arguments->output, bench);
    if (arguments->format == FORMAT_CSV)
        report_write_csv(stdout, bench);
    else if (arguments->format == FORMAT_JSON)
        cli_print_json(report_to_json(bench), JSON_INDENT(1) | JSON_ENSURE_ASCII);
    else
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
    static const struct cli_table table = {
        CLI_ROWS(rows),
        .needs = "--db is needed",
        .excess = CLI_UNEXPECTED,
        .check = check_arguments,
        .doc = "Shows a stored run: rates by level and category, pass@k where there are several samples, errors by "
               "class; or "
               "compares it with an earlier one.",
    };
    struct report_arguments arguments = {.output = "report.html"};
    struct store *store = NULL;
    cli_parse(&table, argc, argv, &arguments);
    struct akgen_error *error = store_open_to_read(arguments.db, &store);
    if (!error)
        error = report(&arguments, store);
    store_close(store);
    return error ? cli_fail(EXIT_USAGE, error) : EXIT_PASS;
}
