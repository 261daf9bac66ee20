/* What a task needs to look up: words and signs of its description and formulas, and the names that they lead to. */
#include "base/array.h"
#include "gen/library.h"
#include "gen/library_internal.h"
#include "gen/prompt_internal.h"

#include <ctype.h>
#include <string.h>

/* What every kernel needs. */
static const char every_kernel[] = "DataCopyPad";
/* Bytes of entries that a prompt shows. */
enum { RETRIEVED = 12000, LONGEST_WORD = 40 };

static const struct {
    const char *word, *names;
} table[] = {
#define QUERY(word, names) {word, names},
#include "gen/query_names.def"
#undef QUERY
};

/* Words that say nothing: of every description, or of no one. */
static const char *const empty_words[] = {
    "the",     "and",         "of",      "is",        "a",     "in",     "to",     "be",           "are",
    "that",    "with",        "for",     "or",        "not",   "need",   "any",    "may",          "come",
    "shape",   "sizes",       "rules",   "name",      "role",  "input",  "output", "tensor",       "data",
    "types",   "type",        "bytes",   "multiples", "cores", "number", "same",   "all",          "call",
    "have",    "has",         "offers",  "opdef",     "order", "this",   "these",  "combinations", "attributes",
    "default", "elementwise", "float32", "by",        "it",    "on",     "as"};

struct terms {
    struct arena *arena;
    const char **names, **words;
    int name_count, name_capacity, word_count, word_capacity;
};

static bool has(const char *const *list, int count, const char *term)
{
    for (int i = 0; i < count; i++)
        if (strcmp(list[i], term) == 0)
            return true;
    return false;
}

static void add_names(struct terms *terms, const char *names)
{
    char *list = arena_strdup(terms->arena, names), *rest;
    for (char *name = strtok_r(list, " ", &rest); name; name = strtok_r(NULL, " ", &rest))
        if (!has(terms->names, terms->name_count, name))
            ARRAY_ADD(terms->arena, terms->names, terms->name_count, terms->name_capacity, name);
}

/* A word in small letters, or a sign. `told`: it is one of a person's description, worth a look at documents. */
static void add_word(struct terms *terms, const char *word, bool told)
{
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if (strcmp(table[i].word, word) == 0)
            add_names(terms, table[i].names);
    if (!told || strlen(word) < 3 || !isalpha((unsigned char)*word) || has(terms->words, terms->word_count, word) ||
        has(empty_words, sizeof empty_words / sizeof *empty_words, word))
        return;
    ARRAY_ADD(terms->arena, terms->words, terms->word_count, terms->word_capacity, arena_strdup(terms->arena, word));
}

/* Words and signs of a text; names in CamelCase are several words. */
static void add_text(struct terms *terms, const char *text)
{
    char word[LONGEST_WORD + 1];
    for (const char *at = text; *at;) {
        size_t length = 0;
        if (isalnum((unsigned char)*at)) {
            while (isalnum((unsigned char)at[length]))
                length++;
        } else if (strchr("+-*/<>@", *at) && at > text && at[-1] == ' ') {
            length = strspn(at, "+-*/<>@=");
            if (at[length] != ' ')
                length = 0;
        }
        if (length && length <= LONGEST_WORD) {
            for (size_t i = 0; i < length; i++)
                word[i] = (char)tolower((unsigned char)at[i]);
            word[length] = 0;
            add_word(terms, word, true);
        }
        at += length ? length : 1;
    }
}

/* The description above its tables and rules, which are much the same for all tasks. */
static const char *without_tables(struct arena *arena, const char *description)
{
    const char *table = strstr(description, "\n|");
    return table ? arena_strndup(arena, description, (size_t)(table - description)) : description;
}

struct akgen_error *prompt_query(struct arena *arena, const struct task *task, struct gen_query *query)
{
    struct terms terms = {.arena = arena};
    const char *description;
    struct akgen_error *error = prompt_description(arena, task, &description);
    if (error)
        return error;
    add_names(&terms, every_kernel);
    char *words = arena_strdup(terms.arena, library_words(terms.arena, task->op)), *rest;
    for (char *word = strtok_r(words, " ", &rest); word; word = strtok_r(NULL, " ", &rest))
        add_word(&terms, word, true);
    add_text(&terms, without_tables(arena, description));
    for (int i = 0; i < task->output_count; i++)
        if (task->outputs[i].formula)
            add_text(&terms, task->outputs[i].formula->text);
    for (int i = 0; i < task->combination_count * task->combination_width; i++)
        add_word(&terms, akgen_dtype_name(task->combinations[i / task->combination_width][i % task->combination_width]),
                 false);
    *query = (struct gen_query){terms.names, terms.name_count, terms.words, terms.word_count};
    return NULL;
}

struct akgen_error *prompt_text_retrieved(struct prompt_maker *maker, const char **text)
{
    struct gen_query query;
    *text = NULL;
    if (!maker->shelf->library)
        return NULL;
    struct akgen_error *error = prompt_query(maker->arena, maker->task, &query);
    return error ? error
                 : gen_library_find(maker->shelf->library, maker->arena, &query, maker->task->dir, RETRIEVED, text);
}
