/* Giant cases: what stands in for one is made of the case's own cells, by halves. The largest shapes shrink, all alike,
 * so that columns that repeat a shape stay in step. */
#include "task/task_internal.h"

#include <string.h>

static int64_t product_of(const struct expr_value *shape)
{
    int64_t product = shape->count ? 1 : 0;
    for (int i = 0; i < shape->count; i++) {
        const struct expr_value *dim = &shape->items[i];
        if (dim->kind != EXPR_INT || dim->integer < 1 || __builtin_mul_overflow(product, dim->integer, &product))
            return 0;
    }
    return product;
}

/* About half of a size: even sizes stay even (an operator may split them), the remainder modulo 64 of the only or last
 * dimension stays (tails). 0: cannot shrink. */
static int64_t halved(int64_t size, bool last)
{
    int64_t half = last && size >= 256 ? size / 2 / 64 * 64 + size % 64 : (size + 1) / 2;
    half += size % 2 == 0 && half % 2;
    return half < size && size > 2 ? half : 0;
}

/* Halves the outermost dimension of one shape that can shrink; rank, dtype and last dimension stay where possible. */
static bool shrink_shape(struct arena *arena, struct expr_value *shape)
{
    for (int i = 0; i < shape->count; i++) {
        int64_t half = halved(shape->items[i].integer, i == shape->count - 1);
        if (!half)
            continue;
        struct expr_value *items = arena_alloc(arena, sizeof *items * (size_t)shape->count);
        memcpy(items, shape->items, sizeof *items * (size_t)shape->count);
        items[i].integer = half;
        shape->items = items;
        return true;
    }
    return false;
}

static int64_t largest_shape(const struct expr_value *cell)
{
    int64_t largest = cell->kind == EXPR_LIST ? product_of(cell) : 0;
    for (int i = 0; cell->kind == EXPR_LIST && i < cell->count; i++) {
        int64_t inner = cell->items[i].kind == EXPR_LIST ? product_of(&cell->items[i]) : 0;
        largest = inner > largest ? inner : largest;
    }
    return largest;
}

/* Shrinks every shape of this size in a cell: a list of sizes or a list of shapes. */
static bool shrink_cell(struct arena *arena, struct expr_value *cell, int64_t size)
{
    if (cell->kind != EXPR_LIST)
        return false;
    if (product_of(cell) == size)
        return shrink_shape(arena, cell);
    bool shrunk = false;
    struct expr_value *items = arena_alloc(arena, sizeof *items * (size_t)(cell->count + 1));
    for (int i = 0; i < cell->count; i++) {
        items[i] = cell->items[i];
        if (items[i].kind == EXPR_LIST && product_of(&items[i]) == size)
            shrunk |= shrink_shape(arena, &items[i]);
    }
    cell->items = items;
    return shrunk;
}

/* Does the shape of a tensor mention this column? */
static bool is_size(const struct task *task, int column)
{
    bool mentioned = false;
    for (int i = 0; i < task->input_count; i++)
        mentioned |= expr_mentions(task->inputs[i].shape, column);
    for (int i = 0; i < task->output_count; i++)
        mentioned |= expr_mentions(task->outputs[i].shape, column);
    return mentioned;
}

/* The same for sizes that stand in columns of their own (m, k, n): halves the largest, wherever it occurs. */
static bool shrink_sizes(struct arena *arena, const struct task *task, struct expr_value *cells)
{
    int count = task->columns.count;
    int64_t *sizes = arena_alloc(arena, sizeof *sizes * (size_t)(count + 1)), largest = 0;
    for (int i = 0; i < count; i++) {
        sizes[i] = cells[i].kind == EXPR_INT && is_size(task, i) ? cells[i].integer : 0;
        largest = sizes[i] > largest ? sizes[i] : largest;
    }
    int64_t half = halved(largest, true);
    for (int i = 0; half && i < count; i++)
        if (sizes[i] == largest)
            cells[i] = expr_as_cell(arena, (struct expr_value){.kind = EXPR_INT, .integer = half});
    return half > 0;
}

bool task_cells_shrink(struct arena *arena, const struct task *task, const struct expr_value **row)
{
    int count = task->columns.count;
    int64_t largest = 0;
    bool shrunk = false;
    struct expr_value *cells = arena_copy(arena, *row, sizeof *cells * (size_t)count);
    *row = cells;
    for (int i = 0; i < count; i++) {
        int64_t size = largest_shape(&cells[i]);
        largest = size > largest ? size : largest;
    }
    for (int i = 0; i < count && largest > 1; i++)
        if (shrink_cell(arena, &cells[i], largest)) {
            cells[i] = expr_as_cell(arena, cells[i]);
            shrunk = true;
        }
    return shrunk || shrink_sizes(arena, task, cells);
}
