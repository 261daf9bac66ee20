/* akgen lm curves: training runs as a page. */
#include "base/files.h"
#include "cli/cli.h"
#include "cli/lm.h"
#include "lm/curves.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_RUNS = 64 };
struct arguments {
    const char *runs[MOST_RUNS], *out;
    int count;
};

#define CLI_OF struct arguments
static const struct cli_option rows[] = {
    {"output", 'o', "FILE", CLI_TEXT(out, .needed = true), 1,
     "the page, of HTML, that needs no network and no other file"},
    {NULL, 0, "runs", CLI_LIST(runs, count, .needed = true), 0, NULL},
};

int cli_lm_curves(int argc, char **argv)
{
    static const struct cli_table table = {
        CLI_ROWS(rows),
        .needs = "RUN and -o FILE are needed",
        .args_doc = "RUN...",
        .doc = "Draws training runs over each other: loss, evaluations, rate, norm, tokens per second.\vRUN is the "
               "folder of 'lm train' "
               "or its metrics.jsonl. 'lm train' writes the page of its own run, metrics.html, with each checkpoint.",
    };
    struct arguments arguments = {0};
    cli_parse(&table, argc, argv, &arguments);
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
    if (!error)
        printf("written   %s\n", arguments.out);
    return cli_end(error);
}
