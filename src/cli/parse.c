/* A command's options are read by argp. Here the command line is looked through once more, for what argp drops in silence: a second
 * value of an option that has one, and options that mean nothing beside others. */
#include "base/array.h"
#include "cli/cli.h"

#include <getopt.h>
#include <stdlib.h>
#include <string.h>

enum { LONG = 0x10000 /* what getopt returns for the long option of index 0 */ };

/* argp's options in getopt's form. */
struct known {
    const struct argp_option *real; /* that an alias is of */
    const struct argp *of;
};
struct table {
    struct arena *arena;
    struct known *known;
    struct option *longs;
    const char *letters;
    int known_count, known_capacity, long_count, long_capacity;
};
/* An option of a command line. */
struct given {
    const struct argp_option *option;
    const struct argp *of;
    const char *value; /* NULL: none */
};
struct command_line {
    struct given *items;
    int count, capacity;
};

static void add_option(struct table *table, const struct argp *of, const struct argp_option *option,
                       const struct argp_option *real)
{
    static const char *const colons[] = {[no_argument] = "", [required_argument] = ":", [optional_argument] = "::"};
    const int argument = !real->arg                            ? no_argument
                         : (real->flags & OPTION_ARG_OPTIONAL) ? optional_argument
                                                               : required_argument;
    const struct option name = {option->name, argument, NULL, LONG + table->known_count};
    const struct known known = {real, of};
    if (option->name)
        ARRAY_ADD(table->arena, table->longs, table->long_count, table->long_capacity, name);
    if (option->key > ' ' && option->key < 0x7f)
        table->letters = arena_printf(table->arena, "%s%c%s", table->letters, option->key, colons[argument]);
    ARRAY_ADD(table->arena, table->known, table->known_count, table->known_capacity, known);
}

static void add_options(struct table *table, const struct argp *argp)
{
    const struct argp_option *real = NULL, *option = argp->options;
    for (; option && (option->key || option->name || option->doc || option->group); option++) {
        if ((option->flags & OPTION_DOC) || (!option->name && !option->key))
            continue;
        real = real && (option->flags & OPTION_ALIAS) ? real : option;
        add_option(table, argp, option, real);
    }
    for (const struct argp_child *child = argp->children; child && child->argp; child++)
        add_options(table, child->argp);
}

static struct known find(const struct table *table, int got)
{
    for (int i = 0; got < LONG && i < table->known_count; i++)
        if (table->known[i].real->key == got)
            return table->known[i];
    return table->known[got < LONG ? 0 : got - LONG];
}

/* The options of a command line, in order, up to the first that argp refuses. */
static void read_command_line(struct arena *arena, const struct argp *argp, int argc, char **argv,
                              struct command_line *line)
{
    static const struct argp_option helps[] = {
        {"help", 0x7000, NULL, 0, NULL, 0}, {"usage", 0x7001, NULL, 0, NULL, 0}, {0}};
    static const struct argp help = {.options = helps};
    struct table table = {.arena = arena, .letters = ""};
    char **words = arena_copy(arena, argv, sizeof *words * ((size_t)argc + 1)); /* getopt sorts them */
    const int errors = opterr;
    add_options(&table, argp);
    add_options(&table, &help);
    ARRAY_ADD(arena, table.longs, table.long_count, table.long_capacity, (struct option){0});
    opterr = 0;
    optind = 0;
    for (int got; (got = getopt_long(argc, words, table.letters, table.longs, NULL)) != -1 && got != '?';) {
        const struct known known = find(&table, got);
        ARRAY_ADD(arena, line->items, line->count, line->capacity, (struct given){known.real, known.of, optarg});
    }
    opterr = errors;
}

/* "--task", "-k" */
static const char *name_of(struct arena *arena, const struct argp_option *option)
{
    return option->name ? arena_printf(arena, "--%s", option->name) : arena_printf(arena, "-%c", option->key);
}

void cli_parse(const struct cli_table *table, int argc, char **argv, void *arguments)
{
    struct arena arena = {0};
    struct command_line line = {0};
    struct cli_bound *bound = cli_bind(&arena, table, arguments);
    read_command_line(&arena, &bound->argp, argc, argv, &line);
    for (int i = 0; i < line.count; i++)
        for (int k = 0; k < i; k++) {
            const struct given *first = &line.items[k], *second = &line.items[i];
            if (first->option != second->option || !first->value || !second->value ||
                (first->option->flags & (CLI_SEVERAL | OPTION_HIDDEN)) || strcmp(first->value, second->value) == 0)
                continue;
            fprintf(stderr, "%s: %s takes one value, and is given two: ", argv[0], name_of(&arena, first->option));
            cli_print_clean(stderr, arena_printf(&arena, "%s and %s", first->value, second->value));
            fprintf(stderr, "\nTry `%s --help' or `%s --usage' for more information.\n", argv[0], argv[0]);
            exit(EXIT_USAGE);
        }
    argp_parse(&bound->argp, argc, argv, 0, NULL, bound);
    arena_free(&arena);
}

/* The first option of a table, or of a name; NULL for any. */
static const char *first_given(struct arena *arena, const struct argp_state *state, const struct cli_table *of,
                               const char *name)
{
    struct command_line line = {0};
    read_command_line(arena, state->root_argp, state->argc, state->argv, &line);
    for (int i = 0; i < line.count; i++)
        if ((!of || cli_table_of(line.items[i].of) == of) &&
            (!name || (line.items[i].option->name && strcmp(line.items[i].option->name, name) == 0)))
            return name_of(arena, line.items[i].option);
    return NULL;
}

bool cli_given(const struct argp_state *state, const char *name)
{
    struct arena arena = {0};
    const bool found = first_given(&arena, state, NULL, name);
    arena_free(&arena);
    return found;
}

bool cli_given_of(const struct argp_state *state, const struct cli_table *of)
{
    struct arena arena = {0};
    const bool found = first_given(&arena, state, of, NULL);
    arena_free(&arena);
    return found;
}

void cli_refuse_options(const struct argp_state *state, const struct cli_table *of, const char *why)
{
    struct arena arena = {0};
    const char *given = first_given(&arena, state, of, NULL);
    if (given)
        argp_error(state, "%s %s", given, why);
    arena_free(&arena);
}

/* True if `word` is one of the words of a list, "check, explain". */
static bool has_word(const char *list, const char *word)
{
    const size_t length = strlen(word);
    for (const char *at = list; (at = strstr(at, word)); at += length)
        if ((at == list || at[-1] == ' ') && (!at[length] || at[length] == ','))
            return true;
    return false;
}

void cli_check_uses(const struct cli_table *table, int argc, char **argv, const char *word)
{
    struct arena arena = {0};
    struct command_line line = {0};
    read_command_line(&arena, &cli_bind(&arena, table, NULL)->argp, argc, argv, &line);
    for (int i = 0; i < line.count; i++) {
        const struct cli_option *row = cli_row(table, line.items[i].option->key);
        if (row && row->taken.of && !has_word(row->taken.of, word)) {
            fprintf(stderr, "%s: %s is for %s, not for %s\n", argv[0], name_of(&arena, line.items[i].option),
                    row->taken.of, word);
            exit(EXIT_USAGE);
        }
    }
    arena_free(&arena);
}
