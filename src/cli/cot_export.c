/* akgen cot export | page: samples as files. */
#include "runs/cot_export.h"
#include "cli/cli.h"
#include "cli/cot.h"

enum { PAGE_LIMIT = 2000 };

struct arguments {
    const char *db, *output;
    struct cot_filter filter;
    int format; /* -1: none was given */
    bool no_chain;
};

#define CLI_OF struct arguments
static const struct cli_option export_rows[] = {
    {"output", 'o', "DIR", CLI_TEXT(output), 2, "the new folder"},
    {"format", 0, WORD_CHOICE(COT_FORMATS, ""), CLI_WORD(format, cot_formats, CLI_SEE_HELP), 2,
     "whose loader reads the rows"},
    {"limit", 0, "N", CLI_NUMBER(filter.most, 1, INT32_MAX), 2, "the first N samples (default: all)"},
    {"no-chain", 0, NULL, CLI_FLAG(no_chain), 2, "answers without the chains before them"},
};
static const struct cli_option page_rows[] = {
    {"output", 'o', "FILE", CLI_TEXT(output), 2, "the HTML file"},
    {"limit", 0, "N", CLI_NUMBER(filter.most, 1, INT32_MAX), 2,
     "the first N samples (default 2000); a browser holds some ten thousand"},
};

static void check_arguments(void *export, const struct argp_state *state)
{
    const struct arguments *arguments = export;
    if (!arguments->output || arguments->format < 0)
        argp_error(state, arguments->output ? "--format is needed" : "-o is needed");
}

int cli_cot_export(int argc, char **argv)
{
    static const struct cli_table table = {
        CLI_ROWS(export_rows),
        .parts = {{&cli_cot_db_table, CLI_AT(db)}, {&cli_cot_filter_table, CLI_AT(filter)}},
        .excess = CLI_UNEXPECTED,
        .check = check_arguments,
        .doc = "Writes samples into a folder that trainers and Hugging Face's datasets read: a file for each split and "
               "README.md.\v",
    };
    struct arguments arguments = {.format = -1};
    cli_parse(&table, argc, argv, &arguments);
    struct store *store = NULL;
    struct akgen_error *error = store_open_to_read(arguments.db, &store);
    if (!error)
        error = cot_export(store, &arguments.filter, (enum cot_format)arguments.format, // NOLINT: one of the table's
                           !arguments.no_chain, arguments.output);
    store_close(store);
    return error ? cli_fail(EXIT_USAGE, error) : EXIT_PASS;
}

int cli_cot_page(int argc, char **argv)
{
    static const struct cli_table table = {
        CLI_ROWS(page_rows),
        .parts = {{&cli_cot_db_table, CLI_AT(db)}, {&cli_cot_filter_table, CLI_AT(filter)}},
        .excess = CLI_UNEXPECTED,
        .check = check_arguments,
        .doc =
            "Writes one HTML file in which samples are searched, chosen by part, mode, verdict and split, and read.\v",
    };
    struct arguments arguments = {.filter.most = PAGE_LIMIT};
    cli_parse(&table, argc, argv, &arguments);
    struct store *store = NULL;
    struct akgen_error *error = store_open_to_read(arguments.db, &store);
    if (!error)
        error = cot_page(store, &arguments.filter, arguments.output);
    store_close(store);
    return error ? cli_fail(EXIT_USAGE, error) : EXIT_PASS;
}
