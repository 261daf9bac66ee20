#include "cot/mutate.h"
#include "base/text.h"

#include <ctype.h>
#include <regex.h>
#include <stdlib.h>
#include <string.h>

enum edit {
    REPLACE,    /* the group is `with` */
    DROP_LINE,  /* the line in which the group begins is gone */
    MISSPELL,   /* the group is a name, and is another */
    SWAP,       /* the first and the second group stand in each other's place */
    TIMES,      /* the group is an integer, `with` times as large */
    SWAP_LINES, /* the line in which the group begins stands behind the next one */
};
enum { FORMULAS = COT_FORMULAS, PROGRAM = COT_PROGRAM, KERNEL = COT_KERNEL_FILE, HOST = COT_HOST_FILE };
static const struct row {
    enum cot_mutable of;
    const char *name;
    enum edit edit;
    const char *place, *with, *why;
} rows[] = {
#define MUTATION(of, name, edit, place, with, why) {of, name, edit, place, with, why},
#include "cot/mutations.def"
};
enum { ROWS = sizeof rows / sizeof *rows, PLACES = 256 };

/* Where a row may change the text: its first and second group. */
struct place {
    regmatch_t first, second;
};

static size_t line_begin(const char *text, size_t at)
{
    while (at && text[at - 1] != '\n')
        at--;
    return at;
}

static size_t line_end(const char *text, size_t at)
{
    return at + strcspn(text + at, "\n");
}

static bool in_comment(const char *text, size_t at)
{
    const char *line = text + line_begin(text, at);
    line += strspn(line, " ");
    return *line == '#' ? strncmp(line, "#include", 8) != 0 : strncmp(line, "//", 2) == 0;
}

static int find_places(const struct row *row, const char *text, struct place *places)
{
    regex_t expression;
    regmatch_t groups[3];
    int count = 0;
    if (regcomp(&expression, row->place, REG_EXTENDED) != 0)
        abort(); /* mutations.def is ours */
    for (size_t at = 0; text[at] && count < PLACES && !regexec(&expression, text + at, 3, groups, 0);) {
        struct place place = {groups[1], groups[2]};
        place.first.rm_so += (regoff_t)at;
        place.first.rm_eo += (regoff_t)at;
        place.second.rm_so += (regoff_t)at;
        place.second.rm_eo += (regoff_t)at;
        if (!in_comment(text, (size_t)place.first.rm_so))
            places[count++] = place;
        at = (size_t)place.first.rm_eo + (place.first.rm_so == place.first.rm_eo);
    }
    regfree(&expression);
    return count;
}

/* Another name: a letter less, twice, or in its neighbour's place. */
static const char *misspelt(struct arena *arena, struct rng *rng, const char *name, size_t length)
{
    size_t at = (size_t)rng_integer(rng, length > 1, (int64_t)length);
    int kind = (int)rng_integer(rng, 0, 3);
    if (kind == 0 && length > 2)
        return arena_printf(arena, "%.*s%.*s", (int)at, name, (int)(length - at - 1), name + at + 1);
    if (kind == 1 && at + 1 < length && name[at] != name[at + 1])
        return arena_printf(arena, "%.*s%c%c%.*s", (int)at, name, name[at + 1], name[at], (int)(length - at - 2),
                            name + at + 2);
    return arena_printf(arena, "%.*s%c%.*s", (int)(at + 1), name, name[at], (int)(length - at - 1), name + at + 1);
}

/* What stands in [*from, *to) of the text afterwards. */
static const char *changed(struct arena *arena, struct rng *rng, const struct row *row, const char *text,
                           const struct place *place, size_t *from, size_t *to)
{
    size_t begin = (size_t)place->first.rm_so, end = (size_t)place->first.rm_eo, length = end - begin, next;
    *from = begin;
    *to = end;
    switch (row->edit) {
    case REPLACE:
        return row->with;
    case MISSPELL:
        return misspelt(arena, rng, text + begin, length);
    case TIMES:
        return arena_printf(arena, "%lld", strtoll(text + begin, NULL, 10) * strtoll(row->with, NULL, 10));
    case SWAP:
        *to = (size_t)place->second.rm_eo;
        next = (size_t)place->second.rm_so;
        return arena_printf(arena, "%.*s%.*s%.*s", (int)(*to - next), text + next, (int)(next - end), text + end,
                            (int)length, text + begin);
    case DROP_LINE:
        *from = line_begin(text, begin);
        *to = line_end(text, begin);
        *to += text[*to] == '\n';
        return "";
    case SWAP_LINES:
        *from = line_begin(text, begin);
        next = line_end(text, begin) + 1;
        *to = line_end(text, next);
        return arena_printf(arena, "%.*s\n%.*s", (int)(*to - next), text + next, (int)(next - 1 - *from), text + *from);
    }
    return NULL;
}

static bool apply(struct arena *arena, struct rng *rng, const struct row *row, const char *text,
                  const struct place *place, struct cot_mutation *mutation)
{
    size_t from, to;
    const char *with = changed(arena, rng, row, text, place, &from, &to);
    if (strlen(with) == to - from && memcmp(with, text + from, to - from) == 0)
        return false;
    size_t begin = line_begin(text, from), end = line_end(text, to), behind = strlen(text + end);
    char *broken = arena_printf(arena, "%.*s%s%s", (int)from, text, with, text + to);
    bool gone = row->edit == DROP_LINE;
    if (gone)
        end = to - (to && text[to - 1] == '\n');
    *mutation = (struct cot_mutation){.name = row->name, .why = row->why, .text = broken, .line = 1};
    mutation->right = arena_strndup(arena, text + begin, end - begin);
    mutation->wrong = gone ? NULL : arena_strndup(arena, broken + begin, strlen(broken) - behind - begin);
    for (size_t i = 0; i < begin; i++)
        mutation->line += text[i] == '\n';
    return true;
}

bool cot_mutate(struct arena *arena, struct rng *rng, enum cot_mutable of, const char *text,
                struct cot_mutation *mutation)
{
    struct place *places = arena_alloc(arena, sizeof *places * PLACES);
    bool tried[ROWS] = {0};
    int mine = 0;
    for (int i = 0; i < ROWS; i++)
        mine += rows[i].of == of;
    for (; mine; mine--) { /* a row by chance, of those that were not tried */
        int64_t skip = rng_integer(rng, 0, mine);
        int i = 0;
        for (; rows[i].of != of || tried[i] || skip--; i++)
            ;
        tried[i] = true;
        int count = find_places(&rows[i], text, places);
        if (count && apply(arena, rng, &rows[i], text, &places[rng_integer(rng, 0, count)], mutation))
            return true;
    }
    return false;
}
