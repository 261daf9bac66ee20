/* akgen lm curves: training runs as a page. */
#include "base/files.h"
#include "cli/cli.h"
#include "cli/lm.h"
#include "lm/curves.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_RUNS = 64 };
static const struct argp_option options[] = {
    {"output", 'o', "FILE", 0, "the page, of HTML, that needs no network and no other file", 1},
    {0},
};
struct arguments {
    const char *runs[MOST_RUNS], *out;
    int count;
};

static error_t parse(int key, char *text, struct argp_state *state)
{
    struct arguments *arguments = state->input;
    switch (key) {
    case 'o':
        arguments->out = text;
        break;
    case ARGP_KEY_ARG:
        if (arguments->count == MOST_RUNS)
            argp_error(state, "more than %d runs", MOST_RUNS);
        arguments->runs[arguments->count++] = text;
        break;
    case ARGP_KEY_END:
        if (!arguments->count || !arguments->out)
            argp_error(state, "RUN and -o FILE are needed");
        break;
    default:
        return ARGP_ERR_UNKNOWN;
    }
    return 0;
}

int cli_lm_curves(int argc, char **argv)
{
    static const struct argp argp = {
        .options = options,
        .parser = parse,
        .args_doc = "RUN...",
        .doc = "Draws training runs over each other: loss, evaluations, rate, norm, tokens per second.\vRUN is the "
               "folder of 'lm train' "
               "or its metrics.jsonl. 'lm train' writes the page of its own run, metrics.html, with each checkpoint.",
    };
    struct arguments arguments = {0};
    cli_parse(&argp, argc, argv, &arguments);
    struct lm_curves *curves = lm_curves_new();
    struct akgen_error *error = NULL;
    for (int i = 0; i < arguments.count && !error; i++)
        error = lm_curves_read(curves, arguments.runs[i]);
    if (!error) {
        char *page = lm_curves_page(curves);
        error = files_write(arguments.out, page, strlen(page));
        free(page);
    }
    lm_curves_free(curves);
    if (error)
        return cli_fail(error->of_the_file ? EXIT_USAGE : EXIT_OWN_FAILURE, error);
    printf("written   %s\n", arguments.out);
    return EXIT_PASS;
}
