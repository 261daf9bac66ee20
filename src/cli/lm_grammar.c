/* akgen lm grammar: the grammars that there are, as texts in GBNF. */
#include "base/arena.h"
#include "base/files.h"
#include "cli/cli.h"
#include "cli/lm.h"
#include "dsl/dsl.h"
#include "lm/grammar.h"
#include "task/expr/formula.h"
#include "task/task.h"
#include "toolchain/toolchain.h"

#include <string.h>

static const struct {
    const char *name;
    const char *(*text)(struct arena *arena);
} grammars[] = {
    {"dsl", dsl_grammar},
    {"formula", formula_grammar},
    {"graph", formula_statements_grammar},
};

/* The text of one of them; NULL: there is none of this name. */
static const char *grammar_text(struct arena *arena, const char *name)
{
    for (size_t i = 0; i < sizeof grammars / sizeof *grammars; i++)
        if (strcmp(grammars[i].name, name) == 0)
            return grammars[i].text(arena);
    return NULL;
}

struct akgen_error *cli_lm_read_grammar(const char *name, struct lm_grammar **grammar)
{
    struct arena arena = {0};
    const char *text = grammar_text(&arena, name);
    size_t length = text ? strlen(text) : 0;
    char *bytes;
    struct akgen_error *error = NULL;
    if (!text) {
        error = files_read(&arena, name, LM_GRAMMAR_LARGEST, &bytes, &length);
        text = error ? NULL : bytes;
    }
    if (!error)
        error = lm_grammar_parse(name, text, length, grammar);
    arena_free(&arena);
    return error;
}

struct arguments {
    const char *name, *task;
};

#define CLI_OF struct arguments
static const struct cli_option rows[] = {
    {"task", 0, "TASK", CLI_TEXT(task), 1,
     "graph: the grammar of the answers to a task, over its names and with all its outputs"},
    {NULL, 0, "NAME", CLI_TEXT(name, .needed = true), 0, NULL},
};

static void check_arguments(void *grammar, const struct argp_state *state)
{
    const struct arguments *arguments = grammar;
    if (arguments->task && strcmp(arguments->name, "graph") != 0)
        argp_error(state, "--task is for graph");
}

int cli_lm_grammar(int argc, char **argv)
{
    static const struct cli_table table = {
        CLI_ROWS(rows),
        .needs = "dsl, formula or graph is needed",
        .excess = CLI_UNEXPECTED,
        .check = check_arguments,
        .args_doc = "dsl|formula|graph",
        .doc = "Prints a grammar in GBNF, for 'akgen lm sample --grammar' and other programs that take one.\vdsl: "
               "programs "
               "in AscendDSL. formula: what an output of task.yaml has as its 'formula'. graph: statements of "
               "formulas; with "
               "--task those alone that read and assign the task's names, in a grammar that akgen alone reads.",
    };
    struct arena arena = {0};
    struct arguments arguments = {0};
    struct task task;
    cli_parse(&table, argc, argv, &arguments);
    struct akgen_error *error = arguments.task ? task_find(&arena, toolchain_home(), arguments.task, &task) : NULL;
    const char *text = error            ? NULL
                       : arguments.task ? task_answer_grammar(&arena, &task)
                                        : grammar_text(&arena, arguments.name);
    if (text)
        fputs(text, stdout);
    else if (error)
        return cli_fail(EXIT_USAGE, error);
    else if (arguments.task)
        fprintf(stderr, "akgen lm grammar: task '%s' has none: no statement can have the names of its outputs\n",
                arguments.task);
    else
        fprintf(stderr, "akgen lm grammar: there is no grammar '%s', but dsl, formula and graph\n", arguments.name);
    arena_free(&arena);
    return text ? EXIT_PASS : EXIT_USAGE;
}
