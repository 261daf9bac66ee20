/* Shapes that a task does not show. Every size in the shapes of a case is replaced by another one, the same everywhere
 * in the case, so that columns that repeat a size stay in step (a normalized_shape is still the end of its
 * input_shape). Sizes up to `keep` stay: they tend to have a meaning (the 3 of a cross product, the 1 of a broadcast).
 */
#include "task/expr.h"
#include "task/task_internal.h"

#include <string.h>

enum { MAX_SIZES = 32, PRIME_CAP = 131, TAIL_CAP = 300, HIDDEN_IDS = 100000 };

/* What replaces what, for one case. */
struct size_map {
    int64_t from[MAX_SIZES], to[MAX_SIZES];
    int count;
    bool even; /* the operator splits a dimension in two: sizes that were even stay even */
    int64_t keep;
    enum task_variant variant;
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
        int64_t next = (size < TAIL_CAP ? size : TAIL_CAP) + factor;
        while (taken(map, next))
            next += factor;
        return next;
    }
    int64_t prime = largest_prime((size < PRIME_CAP ? size - 1 : PRIME_CAP) / factor);
    while (prime > 2 && taken(map, prime * factor))
        prime = largest_prime(prime - 1);
    return prime * factor;
}

static int64_t replaced(struct size_map *map, int64_t size)
{
    if (size <= map->keep)
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

bool task_case_vary(struct arena *arena, const struct task *task, const struct task_case *shown,
                    enum task_variant variant, struct task_case *hidden)
{
    struct size_map map = {.variant = variant, .even = task_has_word(task->vary, "even"), .keep = 4};
    if (!*task->vary)
        return false;
    *hidden = *shown;
    hidden->id = HIDDEN_IDS + shown->id * TASK_VARIANTS + (int)variant;
    hidden->values = arena_alloc(arena, sizeof *hidden->values * (size_t)shown->column_count);
    for (int i = 0; i < shown->column_count; i++) {
        struct expr_value cell = expr_cell(arena, shown->values[i]);
        hidden->values[i] = shown->values[i];
        if (cell.kind == EXPR_LIST) {
            vary_list(arena, &map, &cell);
            hidden->values[i] = arena_strdup(arena, expr_show(arena, &cell));
        }
    }
    return map.count > 0;
}
