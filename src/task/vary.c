/* Hidden cases: what a shown one becomes with other sizes or other values.
 *
 * `vary` of task.yaml says how sizes follow, step by step. A step gives other sizes: each size is replaced by another
 * one, the same everywhere in the case, so that columns that repeat a size stay in step (a normalized_shape is still
 * the end of its input_shape). Sizes up to KEPT_SIZES stay: they tend to have a meaning (the 3 of a cross product, the
 * 1 of a broadcast). Or a step computes one column from the columns as they are by then, and from $hidden, a size of
 * the variant. */
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
        int64_t next = (size < map->tail_cap ? size : map->tail_cap / factor * factor) + factor;
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

/* Other sizes in the cells that the step names. */
static void vary_sizes(struct arena *arena, const struct task_step *step, int columns, struct size_map *map,
                       struct expr_value *cells)
{
    for (int i = 1; i < columns; i++) {
        if (cells[i].kind == EXPR_LIST && step->lists)
            vary_list(arena, map, &cells[i]);
        else if (cells[i].kind == EXPR_INT && step->columns[i])
            cells[i].integer = replaced(map, cells[i].integer);
        else
            continue;
        cells[i] = expr_as_cell(arena, cells[i]);
    }
}

/* `column = value`; `cells` has room for $hidden behind the columns. */
static struct akgen_error *assign(struct arena *arena, const struct task_step *step, struct expr_value *cells)
{
    struct expr_scope scope = {.arena = arena, .cells = cells};
    struct expr_value value;
    struct akgen_error *error = expr_eval(step->value, &scope, &value);
    if (error)
        return error_prefix(error, "in '%.100s'", expr_text(step->value));
    cells[step->column] = expr_as_cell(arena, value);
    return NULL;
}

/* A row's cells as the arena's own, with room for $hidden. */
static struct expr_value *own_cells(struct arena *arena, const struct task *task, const struct task_case *row)
{
    size_t count = (size_t)task->columns.count;
    struct expr_value *cells = arena_alloc(arena, sizeof *cells * (count + 1));
    memcpy(cells, row->cells, sizeof *cells * count);
    return cells;
}

struct akgen_error *task_case_smaller(struct arena *arena, const struct task *task, struct task_case *row)
{
    struct akgen_error *error = NULL;
    struct expr_value *cells = own_cells(arena, task, row);
    for (int i = 0; i < task->smaller.count && !error; i++)
        error = assign(arena, &task->smaller.steps[i], cells);
    row->cells = cells;
    return error;
}

/* The case with sizes below one row of `caps`. */
static struct akgen_error *vary_below(struct arena *arena, const struct task *task, const struct task_case *shown,
                                      struct size_map *map, struct task_case *hidden, bool *changed)
{
    struct akgen_error *error = NULL;
    int columns = task->columns.count;
    struct expr_value *cells = own_cells(arena, task, shown);
    map->count = 0;
    hidden->cells = cells;
    *changed = false;
    cells[columns] = (struct expr_value){
        .kind = EXPR_INT, .integer = map->variant == TASK_TAIL_SIZES ? map->tail_cap + 1 : map->prime_cap};
    for (int i = 0; i < task->vary.count && !error; i++) {
        const struct task_step *step = &task->vary.steps[i];
        map->even = step->even;
        if (step->value) {
            error = assign(arena, step, cells);
            *changed |= expr_mentions(step->value, columns);
        } else
            vary_sizes(arena, step, columns, map, cells);
    }
    *changed |= map->count > 0;
    return error ? error : task_case_measure(task, hidden);
}

static struct akgen_error *vary(struct arena *arena, const struct task *task, const struct task_case *shown,
                                struct task_case *hidden, bool *changed)
{
    struct akgen_error *error = NULL;
    *changed = false;
    for (int i = 0; task->vary.count && !error && i < CAPS; i++) {
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

int task_case_origin(const struct task_case *task_case)
{
    return task_case->variant == TASK_SHOWN ? task_case->id : (task_case->id - HIDDEN_IDS) / TASK_VARIANTS;
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
