/* Files: where they are, and what licence those have that name none. */
#include "cli/cot_files.h"
#include "cli/cot.h"

enum { KEY_LICENCE_OF = 0x580 };
static const struct argp_option options[] = {
    {"of-licence", KEY_LICENCE_OF, "SPDX", 0, "the licence of what names none (default: unknown)", 1},
    {0},
};
static const struct argp_child children[] = {{&cli_cot_db_argp, 0, NULL, 0}, {0}};

static error_t parse(int key, char *text, struct argp_state *state)
{
    struct cli_cot_files *files = state->input;
    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &files->db;
        break;
    case KEY_LICENCE_OF:
        files->licence = text;
        break;
    case ARGP_KEY_ARG:
        if (state->arg_num > 0)
            argp_error(state, "unexpected argument '%s'", text);
        files->path = text;
        break;
    case ARGP_KEY_END:
        if (!files->path && files->needed)
            argp_error(state, "%s is needed", files->needed);
        break;
    default:
        return ARGP_ERR_UNKNOWN;
    }
    return 0;
}

const struct argp cli_cot_files_argp = {.options = options, .parser = parse, .children = children};
