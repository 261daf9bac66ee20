/* akgen lm grammar: the grammars that there are, as texts in GBNF. */
#include "base/arena.h"
#include "base/files.h"
#include "cli/cli.h"
#include "cli/lm.h"
#include "dsl/dsl.h"
#include "lm/grammar.h"
#include "task/expr/formula.h"

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

static error_t parse(int key, char *text, struct argp_state *state)
{
    const char **name = state->input;
    switch (key) {
    case ARGP_KEY_ARG:
        if (state->arg_num > 0)
            argp_error(state, "unexpected argument '%s'", text);
        *name = text;
        break;
    case ARGP_KEY_END:
        if (!state->arg_num)
            argp_error(state, "dsl, formula or graph is needed");
        break;
    default:
        return ARGP_ERR_UNKNOWN;
    }
    return 0;
}

int cli_lm_grammar(int argc, char **argv)
{
    static const struct argp argp = {
        .parser = parse,
        .args_doc = "dsl|formula|graph",
        .doc =
            "Prints a grammar in GBNF, for 'akgen lm sample --grammar' and other programs that take one.\vdsl: "
            "programs "
            "in AscendDSL. formula: what an output of task.yaml has as its 'formula'. graph: statements of formulas.",
    };
    struct arena arena = {0};
    const char *name = NULL;
    argp_parse(&argp, argc, argv, 0, NULL, &name);
    const char *text = grammar_text(&arena, name);
    if (text)
        fputs(text, stdout);
    else
        fprintf(stderr, "akgen lm grammar: there is no grammar '%s', but dsl, formula and graph\n", name);
    arena_free(&arena);
    return text ? EXIT_PASS : EXIT_USAGE;
}
