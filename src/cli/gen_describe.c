/* akgen gen --describe FILE: words and formulas become a task, once somebody has said that it is the one that is meant. */
#include "base/files.h"
#include "cli/gen.h"
#include "gen/describe.h"

#include <unistd.h>

enum { LONGEST_DESCRIPTION = 1 << 20 };

/* True if what was understood is confirmed: by --yes, or by a person at a terminal. */
static bool is_confirmed(const struct gen_arguments *arguments)
{
    char answer[8];
    if (arguments->yes || !isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO))
        return arguments->yes;
    printf("Is that what is meant? [y/N] ");
    fflush(stdout);
    return fgets(answer, sizeof answer, stdin) && (*answer == 'y' || *answer == 'Y');
}

struct akgen_error *cli_gen_describe(struct arena *arena, struct gen_arguments *arguments, bool *confirmed)
{
    struct gen_description *description;
    struct gen_draft draft;
    char *text;
    struct akgen_error *error = files_read(arena, arguments->description, LONGEST_DESCRIPTION, &text, NULL);
    if (!error)
        error = gen_description_read(arena, arguments->description, text, &description);
    if (error)
        return error;
    if (!arguments->output)
        arguments->output = op_snake_case(arena, gen_description_op(description));
    arguments->task = arena_printf(arena, "%s/task", arguments->output);
    error = cli_gen_folder(arena, arguments->output);
    error = error ? error : gen_description_draft(description, arguments->task, &draft);
    if (error)
        return error;
    printf("%s: %s\n%s\n%s", gen_description_op(description), draft.tensors, draft.formulas, draft.chosen);
    *confirmed = is_confirmed(arguments);
    if (!*confirmed)
        printf("%s holds the draft. To go on: akgen gen %s -o %s\n", arguments->task, arguments->task,
               arguments->output);
    return NULL;
}
