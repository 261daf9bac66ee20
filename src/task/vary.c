/* Hidden cases: what a shown one becomes with other sizes or other values.
 *
 * `vary` of task.yaml says how sizes follow: segments separated by ';'. A segment is a list of words: `sizes` replaces
 * every size in the lists of a case by another one, the same everywhere in the case, so that columns that repeat a size
 * stay in step (a normalized_shape is still the end of its input_shape); further words are columns that hold one size
 * each; `even` keeps even sizes even. Sizes up to KEPT_SIZES stay: they tend to have a meaning (the 3 of a cross
 * product, the 1 of a broadcast). Or a segment is `column = expression` of the columns as they are by then, and of
 * $hidden, a size of the variant. */
#include "task/expr/expr.h"
#include "task/task_internal.h"

#include <inttypes.h>
#include <string.h>

enum { MAX_SIZES = 32, KEPT_SIZES = 4, HIDDEN_IDS = 100000, HIDDEN_ELEMENTS = 1 << 21 };

/* Sizes are cut here; the next row where the case has more than HIDDEN_ELEMENTS otherwise. */
static const struct {
    int64_t prime, tail;
} caps[] = {{131, 300}, {61, 130}, {31, 65}, {17, 33}, {7, 9}};
enum { CAPS = sizeof caps / sizeof *caps };

/* What replaces what, for one case. */
struct size_map {
    int64_t from[MAX_SIZES], to[MAX_SIZES];
    int count;
    bool even; /* the operator splits a dimension in two: sizes that were even stay even */
    enum task_variant variant;
    int64_t prime_cap, tail_cap;
};

static int64_t largest_prime(int64_t limit)
{
    for (int64_t n = limit; n > 2; n--) {
        bool prime = n % 2;
        for (int64_t d = 3; prime && d * d <= n; d += 2)
            prime = n % d != 0;
        if (prime)
            return n;
    }
    return 2;
}

static bool taken(const struct size_map *map, int64_t size)
{
    for (int i = 0; i < map->count; i++)
        if (map->to[i] == size)
            return true;
    return false;
}

/* A size of the variant near `size` that no other size of the case has become: different sizes stay different. */
static int64_t other_size(const struct size_map *map, int64_t size)
{
    int64_t factor = map->even && size % 2 == 0 ? 2 : 1;
    if (map->variant == TASK_TAIL_SIZES) {
        int64_t next = (size < map->tail_cap ? size : map->tail_cap) + factor;
        while (taken(map, next))
            next += factor;
        return next;
    }
    int64_t prime = largest_prime((size <= map->prime_cap ? size - 1 : map->prime_cap) / factor);
    while (prime > 2 && taken(map, prime * factor))
        prime = largest_prime(prime - 1);
    return prime * factor;
}

static int64_t replaced(struct size_map *map, int64_t size)
{
    if (size <= KEPT_SIZES)
        return size;
    for (int i = 0; i < map->count; i++)
        if (map->from[i] == size)
            return map->to[i];
    if (map->count == MAX_SIZES)
        return size;
    map->from[map->count] = size;
    map->to[map->count] = other_size(map, size);
    return map->to[map->count++];
}

/* A list of sizes or a list of such lists with its sizes replaced; anything else is left alone. */
static void vary_list(struct arena *arena, struct size_map *map, struct expr_value *list)
{
    struct expr_value *items = arena_alloc(arena, sizeof *items * (size_t)(list->count + 1));
    for (int i = 0; i < list->count; i++) {
        items[i] = list->items[i];
        if (items[i].kind == EXPR_LIST)
            vary_list(arena, map, &items[i]);
        else if (items[i].kind == EXPR_INT)
            items[i].integer = replaced(map, items[i].integer);
    }
    list->items = items;
}

static int column_index(const struct task_case *row, const char *name)
{
    for (int i = 0; i < row->column_count; i++)
        if (strcmp(row->columns[i], name) == 0)
            return i;
    return -1;
}

/* Replaces the sizes in the cells that `words` names. */
static void vary_sizes(struct arena *arena, const char *words, struct size_map *map, struct task_case *row)
{
    for (int i = 1; i < row->column_count; i++) {
        struct expr_value cell = expr_cell(arena, row->values[i]);
        if (cell.kind == EXPR_LIST && task_has_word(words, "sizes"))
            vary_list(arena, map, &cell);
        else if (cell.kind == EXPR_INT && task_has_word(words, row->columns[i]))
            cell.integer = replaced(map, cell.integer);
        else
            continue;
        row->values[i] = arena_strdup(arena, expr_show(arena, &cell));
    }
}

static struct akgen_error *known_words(struct arena *arena, const char *words, const struct task_case *row)
{
    for (const char *at = words; *at;) {
        size_t length = strcspn(at, " ");
        const char *word = arena_printf(arena, "%.*s", (int)length, at);
        if (strcmp(word, "sizes") != 0 && strcmp(word, "even") != 0 && column_index(row, word) < 0)
            return error_new("'%s' is no column of cases.csv", word);
        at += length;
        at += strspn(at, " ");
    }
    return NULL;
}

/* `column = expression`, split at its '=', with the columns as they are by now and, unless it is NULL, $hidden. */
static struct akgen_error *assign(struct arena *arena, const char *segment, const char *expression, const char *hidden,
                                  struct task_case *row)
{
    size_t length = strcspn(segment, " =");
    const char *name = arena_printf(arena, "%.*s", (int)length, segment);
    int at = column_index(row, name), count = row->column_count;
    if (at < 0)
        return error_new("'%s' is no column of cases.csv", name);
    const char **columns = arena_alloc(arena, sizeof *columns * (size_t)(count + 1));
    const char **values = arena_alloc(arena, sizeof *values * (size_t)(count + 1));
    memcpy(columns, row->columns, sizeof *columns * (size_t)count);
    memcpy(values, row->values, sizeof *values * (size_t)count);
    columns[count] = "hidden";
    values[count] = hidden;
    struct expr_scope scope = {
        .arena = arena, .columns = columns, .values = values, .column_count = count + (hidden != NULL)};
    struct expr_value value;
    struct akgen_error *error = expr_eval_text(expression, &scope, &value);
    if (!error)
        row->values[at] = arena_strdup(arena, value.kind == EXPR_TEXT ? value.text : expr_show(arena, &value));
    return error;
}

/* Cuts the text at the next ';': the segment without leading spaces; *rest is what follows, NULL at the end. */
static char *next_segment(char *text, char **rest)
{
    *rest = strchr(text, ';');
    if (*rest)
        *(*rest)++ = 0;
    return text + strspn(text, " ");
}

struct akgen_error *task_case_smaller(struct arena *arena, const struct task *task, struct task_case *row)
{
    struct akgen_error *error = NULL;
    const char **values = arena_copy(arena, row->values, sizeof *values * (size_t)row->column_count);
    row->values = values;
    char *rest = *task->smaller ? arena_strdup(arena, task->smaller) : NULL;
    while (rest && !error) {
        char *segment = next_segment(rest, &rest), *equals = strchr(segment, '=');
        error = equals ? assign(arena, segment, equals + 1, NULL, row)
                       : error_new("'%s' is not of the form 'column = expression'", segment);
    }
    return error;
}

/* The case with sizes below one row of `caps`. */
static struct akgen_error *vary_below(struct arena *arena, const struct task *task, const struct task_case *shown,
                                      struct size_map *map, struct task_case *hidden, bool *changed)
{
    struct akgen_error *error = NULL;
    map->count = 0;
    hidden->values = arena_copy(arena, shown->values, sizeof *hidden->values * (size_t)shown->column_count);
    *changed = false;
    const char *size =
        arena_printf(arena, "%" PRId64, map->variant == TASK_TAIL_SIZES ? map->tail_cap + 1 : map->prime_cap);
    for (char *rest = arena_strdup(arena, task->vary); rest && !error;) {
        char *segment = next_segment(rest, &rest), *equals = strchr(segment, '=');
        if (equals) {
            error = assign(arena, segment, equals + 1, size, hidden);
            *changed |= strstr(equals, "$hidden") != NULL;
        } else if (!(error = known_words(arena, segment, shown))) {
            map->even = task_has_word(segment, "even");
            vary_sizes(arena, segment, map, hidden);
        }
    }
    *changed |= map->count > 0;
    return error ? error : task_case_measure(task, hidden);
}

static struct akgen_error *vary(struct arena *arena, const struct task *task, const struct task_case *shown,
                                struct task_case *hidden, bool *changed)
{
    struct akgen_error *error = NULL;
    *changed = false;
    for (int i = 0; *task->vary && !error && i < CAPS; i++) {
        struct size_map map = {.variant = hidden->variant, .prime_cap = caps[i].prime, .tail_cap = caps[i].tail};
        error = vary_below(arena, task, shown, &map, hidden, changed);
        if (hidden->elements <= HIDDEN_ELEMENTS)
            break;
    }
    return error;
}

struct akgen_error *task_vary_check(struct arena *arena, const struct task *task, const struct task_case *shown)
{
    struct akgen_error *error = NULL;
    for (int variant = TASK_PRIME_SIZES; !error && variant <= TASK_TAIL_SIZES; variant++) {
        struct task_case hidden = *shown;
        bool changed;
        hidden.variant = (enum task_variant)variant;
        error = vary(arena, task, shown, &hidden, &changed);
    }
    return error;
}

/* Does any floating input of this case take the variant's values? */
static bool takes_values(const struct task *task, const struct task_case *shown, enum task_variant variant)
{
    struct task_instance *shapes;
    struct akgen_error *error = task_instance_shapes(task, shown, &shapes);
    bool takes = false;
    for (int i = 0; !error && i < task->input_count; i++)
        takes |= task_special_any(&task->inputs[i], variant) && shapes->inputs[i].count &&
                 task_is_float(shapes->inputs[i].tensors[0].type);
    task_instance_free(shapes);
    error_free(error);
    return takes;
}

bool task_case_vary(struct arena *arena, const struct task *task, const struct task_case *shown,
                    enum task_variant variant, struct task_case *hidden)
{
    bool changed = false;
    *hidden = *shown;
    hidden->id = HIDDEN_IDS + shown->id * TASK_VARIANTS + (int)variant;
    hidden->variant = variant;
    if (variant == TASK_PRIME_SIZES || variant == TASK_TAIL_SIZES) {
        error_free(vary(arena, task, shown, hidden, &changed)); /* loading the task has shown that there is none */
        return changed;
    }
    return takes_values(task, shown, variant);
}
