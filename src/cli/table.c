/* Options of a table: argp's form of them, and what becomes of their values. */
#include "base/text.h"
#include "cli/cli.h"

#include <errno.h>
#include <stdlib.h>

enum { KEY = 0x200 /* of row 0, unless it has a letter */ };

long cli_parse_number(const struct argp_state *state, const char *option, const char *text, long low, long high)
{
    char *end;
    errno = 0;
    long value = strtol(text, &end, 10);
    if (errno || end == text || *end || value < low || value > high)
        argp_error(state, "--%s: '%s' is not a whole number from %ld to %ld", option, text, low, high);
    return value;
}

int cli_parse_word(const struct argp_state *state, const char *option, const char *text, const struct words *words,
                   enum cli_complaint complaint)
{
    static const struct {
        const char *says, *between, *last;
    } complaints[] = {[CLI_NEITHER] = {"--%s: '%s' is neither %s", ", ", " nor "},
                      [CLI_NONE_OF] = {"--%s: '%s' is none of %s", ", ", ", "},
                      [CLI_NONE_OF_AND] = {"--%s: '%s' is none of %s", ", ", " and "},
                      [CLI_THERE_ARE] = {"--%s: no '%s'; there are %s", ", ", " and "},
                      [CLI_SEE_HELP] = {"--%s: no '%s'; --help lists what there is", "", ""}};
    const int value = words_find(words, text);
    struct text known = {0};
    if (value >= 0)
        return value;
    for (int i = 0; i < words->count; i++)
        text_addf(&known, "%s%s",
                  !i                      ? ""
                  : i == words->count - 1 ? complaints[complaint].last
                                          : complaints[complaint].between,
                  words->of[i]);
    argp_error(state, complaints[complaint].says, option, text, known.bytes);
    text_free(&known);
    return 0;
}

static double parse_real(const struct argp_state *state, const struct cli_option *row, const char *text)
{
    const struct cli_taken *taken = &row->taken;
    char *end;
    const double value = strtod(text, &end);
    if (end == text || *end || !(value >= taken->from && value <= taken->to))
        argp_error(state, "--%s: '%s' is %s from %g to %g", row->name, text, taken->shape ? taken->shape : "no number",
                   taken->from, taken->to);
    return value;
}

static void put(void *field, enum cli_type type, long value)
{
    if (type == CLI_BOOL)
        *(bool *)field = value;
    else if (type == CLI_INT)
        *(int *)field = (int)value;
    else if (type == CLI_LONG)
        *(long *)field = value;
    else
        *(double *)field = (double)value;
}

static void add(const struct cli_option *row, char *arguments, const char *text, const struct argp_state *state)
{
    const struct cli_taken *taken = &row->taken;
    int *count = (int *)(arguments + taken->count_at);
    if (*count == taken->most && taken->full)
        argp_error(state, taken->full, text);
    else if (*count == taken->most && row->name)
        argp_error(state, "--%s: more than %d", row->name, taken->most);
    else if (*count == taken->most)
        argp_error(state, "more than %d %s", taken->most, row->value);
    ((const char **)(arguments + taken->at))[(*count)++] = text;
}

static void take(const struct cli_option *row, char *arguments, char *text, const struct argp_state *state)
{
    const struct cli_taken *taken = &row->taken;
    void *field = arguments + taken->at;
    if (taken->also)
        *(bool *)(arguments + taken->also - 1) = true;
    switch (taken->kind) {
    case CLI_HEADS:
        break;
    case CLI_SETS:
        put(field, taken->type, taken->low);
        break;
    case CLI_STRING:
        *(const char **)field = text;
        break;
    case CLI_WHOLE:
        put(field, taken->type, text ? cli_parse_number(state, row->name, text, taken->low, taken->high) : 0);
        break;
    case CLI_FRACTION:
        *(double *)field = parse_real(state, row, text);
        break;
    case CLI_ENUM:
        put(field, taken->type, cli_parse_word(state, row->name, text, taken->words, taken->complaint));
        break;
    case CLI_BITS:
        *(unsigned *)field |= 1U << cli_parse_word(state, row->name, text, taken->words, taken->complaint);
        break;
    case CLI_ADDS:
        add(row, arguments, text, state);
        break;
    case CLI_CALLS:
        taken->call(field, text, state);
        break;
    }
}

static bool is_argument(const struct cli_option *row)
{
    return !row->name && row->taken.kind != CLI_HEADS;
}

/* The next row of an argument takes it; one that calls or adds takes all the rest. */
static error_t take_argument(struct cli_bound *bound, char *text, const struct argp_state *state)
{
    const struct cli_table *table = bound->table;
    while (bound->argument < table->count && !is_argument(&table->rows[bound->argument]))
        bound->argument++;
    if (bound->argument == table->count && !table->excess)
        return ARGP_ERR_UNKNOWN;
    if (bound->argument == table->count) {
        argp_error(state, table->excess, text);
        return 0;
    }
    const struct cli_option *row = &table->rows[bound->argument];
    bound->argument += row->taken.kind == CLI_STRING;
    take(row, bound->arguments, text, state);
    return 0;
}

static bool lacks(const struct cli_option *row, const char *arguments)
{
    const struct cli_taken *taken = &row->taken;
    if (!taken->needed)
        return false;
    if (taken->kind == CLI_STRING)
        return !*(const char *const *)(arguments + taken->at);
    return !*(const int *)(arguments + (taken->kind == CLI_ADDS ? taken->count_at : taken->at));
}

const struct cli_option *cli_row(const struct cli_table *table, int key)
{
    if (key >= KEY && key - KEY < table->count)
        return &table->rows[key - KEY];
    for (int i = 0; key && i < table->count; i++)
        if (table->rows[i].letter == key)
            return &table->rows[i];
    return NULL;
}

static error_t parse(int key, char *text, struct argp_state *state)
{
    struct cli_bound *bound = state->input;
    const struct cli_table *table = bound->table;
    const struct cli_option *row;
    switch (key) {
    case ARGP_KEY_INIT:
        if (bound->errors)
            state->err_stream = bound->errors;
        for (int i = 0; i < CLI_PARTS && bound->parts[i]; i++)
            state->child_inputs[i] = bound->parts[i];
        return 0;
    case ARGP_KEY_ARG:
        return take_argument(bound, text, state);
    case ARGP_KEY_END:
        for (int i = 0; i < table->count; i++)
            if (lacks(&table->rows[i], bound->arguments))
                argp_error(state, "%s", table->needs);
        if (table->check)
            table->check(bound->arguments, state);
        return 0;
    default:
        if (!(row = cli_row(table, key)))
            return ARGP_ERR_UNKNOWN;
        take(row, bound->arguments, text, state);
        return 0;
    }
}

const struct cli_table *cli_table_of(const struct argp *argp)
{
    return argp->parser == parse ? ((const struct cli_bound *)argp)->table : NULL;
}

struct cli_bound *cli_bind(struct arena *arena, const struct cli_table *table, void *arguments)
{
    struct cli_bound *bound = arena_alloc(arena, sizeof *bound);
    struct argp_option *options = arena_alloc(arena, sizeof *options * ((size_t)table->count + 1)), *end = options;
    struct argp_child *children = arena_alloc(arena, sizeof *children * (CLI_PARTS + 1));
    for (int i = 0; i < table->count; i++) {
        const struct cli_option *row = &table->rows[i];
        const int key = row->letter ? row->letter : row->taken.kind == CLI_HEADS ? 0 : KEY + i;
        if (!is_argument(row))
            *end++ = (struct argp_option){row->name, key, row->value, row->taken.flags, row->doc, row->group};
    }
    *bound = (struct cli_bound){.table = table, .arguments = arguments};
    /* An empty list is one that argp's --help does not free. */
    bound->argp = (struct argp){.options = end > options ? options : NULL,
                                .parser = parse,
                                .args_doc = table->args_doc,
                                .doc = table->doc,
                                .children = children};
    for (int i = 0; i < CLI_PARTS && table->parts[i].table; i++) {
        bound->parts[i] = cli_bind(arena, table->parts[i].table, bound->arguments + table->parts[i].at);
        *children++ = (struct argp_child){&bound->parts[i]->argp, 0, NULL, table->parts[i].table->group};
    }
    return bound;
}

int cli_usage(const struct cli_table *table, char *name)
{
    struct arena arena = {0};
    argp_help(&cli_bind(&arena, table, NULL)->argp, stderr, ARGP_HELP_USAGE, name);
    arena_free(&arena);
    return EXIT_USAGE;
}
