/* akgen cot export | page: samples as files. */
#include "runs/cot_export.h"
#include "cli/cli.h"
#include "cli/cot.h"

#include <stdlib.h>

enum { KEY_FORMAT = 0x500, KEY_LIMIT, KEY_NO_CHAIN, PAGE_LIMIT = 2000 };

struct arguments {
    const char *db, *output;
    struct cot_filter filter;
    int format; /* -1: none was given */
    bool no_chain;
};

static const struct argp_option export_options[] = {
    {"output", 'o', "DIR", 0, "the new folder", 2},
    {"format", KEY_FORMAT, WORD_CHOICE(COT_FORMATS, ""), 0, "whose loader reads the rows", 2},
    {"limit", KEY_LIMIT, "N", 0, "the first N samples (default: all)", 2},
    {"no-chain", KEY_NO_CHAIN, NULL, 0, "answers without the chains before them", 2},
    {0},
};
static const struct argp_option page_options[] = {
    {"output", 'o', "FILE", 0, "the HTML file", 2},
    {"limit", KEY_LIMIT, "N", 0, "the first N samples (default 2000); a browser holds some ten thousand", 2},
    {0},
};

static error_t parse(int key, char *text, struct argp_state *state)
{
    struct arguments *arguments = state->input;
    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &arguments->db;
        state->child_inputs[1] = &arguments->filter;
        break;
    case 'o':
        arguments->output = text;
        break;
    case KEY_FORMAT:
        arguments->format = words_find(&cot_formats, text);
        if (arguments->format < 0)
            argp_error(state, "--format: no '%s'; --help lists what there is", text);
        break;
    case KEY_NO_CHAIN:
        arguments->no_chain = true;
        break;
    case KEY_LIMIT:
        arguments->filter.most = cli_parse_number(state, "limit", text, 1, INT32_MAX);
        break;
    case ARGP_KEY_ARG:
        argp_error(state, "unexpected argument '%s'", text);
        break;
    case ARGP_KEY_END:
        if (!arguments->output || arguments->format < 0)
            argp_error(state, arguments->output ? "--format is needed" : "-o is needed");
        break;
    default:
        return ARGP_ERR_UNKNOWN;
    }
    return 0;
}

static const struct argp_child children[] = {{&cli_cot_db_argp, 0, NULL, 0}, {&cli_cot_filter_argp, 0, NULL, 0}, {0}};

int cli_cot_export(int argc, char **argv)
{
    static const struct argp argp = {
        .options = export_options,
        .parser = parse,
        .doc = "Writes samples into a folder that trainers and Hugging Face's datasets read: a file for each split and "
               "README.md.\v",
        .children = children,
    };
    struct arguments arguments = {.format = -1};
    cli_parse(&argp, argc, argv, &arguments);
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
    static const struct argp argp = {
        .options = page_options,
        .parser = parse,
        .doc =
            "Writes one HTML file in which samples are searched, chosen by part, mode, verdict and split, and read.\v",
        .children = children,
    };
    struct arguments arguments = {.filter.most = PAGE_LIMIT};
    cli_parse(&argp, argc, argv, &arguments);
    struct store *store = NULL;
    struct akgen_error *error = store_open_to_read(arguments.db, &store);
    if (!error)
        error = cot_page(store, &arguments.filter, arguments.output);
    store_close(store);
    return error ? cli_fail(EXIT_USAGE, error) : EXIT_PASS;
}
