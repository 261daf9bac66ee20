/* Files: where they are, and what licence those have that name none. */
#include "cli/cot_files.h"
#include "cli/cot.h"

#define CLI_OF struct cli_cot_files
static const struct cli_option rows[] = {
    {"of-licence", 0, "SPDX", CLI_TEXT(licence), 1, "the licence of what names none (default: unknown)"},
    {NULL, 0, "PATH", CLI_TEXT(path), 0, NULL},
};

static void check_path(void *arguments, const struct argp_state *state)
{
    const struct cli_cot_files *files = arguments;
    if (!files->path && files->needed)
        argp_error(state, "%s is needed", files->needed);
}

const struct cli_table cli_cot_files_table = {CLI_ROWS(rows), .parts = {{&cli_cot_db_table, CLI_AT(db)}},
                                              .excess = CLI_UNEXPECTED, .check = check_path};
