/* What fills an input: a bound generator, block by block, rounded to the tensor's type once. */
#include "task/task_internal.h"

#include <inttypes.h>

static struct akgen_error *check_constant(const struct expr *generate, const struct expr_scope *scope,
                                          const struct expr_value *constant)
{
    const char *text = expr_text(generate);
    if (constant->kind != EXPR_LIST)
        return expr_is_number(constant)
                   ? NULL
                   : error_new("generate '%s' is %s, expected numbers", text, expr_show(scope->arena, constant));
    if (constant->count != scope->elements)
        return error_new("generate '%s' has %d values for %" PRId64 " elements", text, constant->count,
                         scope->elements);
    for (int i = 0; i < constant->count; i++)
        if (!expr_is_number(&constant->items[i]))
            return error_new("generate '%s' holds %s, expected numbers", text,
                             expr_show(scope->arena, &constant->items[i]));
    return NULL;
}

struct akgen_error *task_generator_bind(const struct expr *generate, struct expr_scope *scope,
                                        const struct task_tensor *tensor, const struct expr **bound)
{
    scope->type = tensor->type;
    scope->elements = tensor->elements;
    struct akgen_error *error = expr_bind(generate, scope, bound);
    if (error)
        return error_prefix(error, "generate '%s'", expr_text(generate));
    const struct expr_value *constant = expr_constant(*bound);
    return constant ? check_constant(generate, scope, constant) : NULL;
}

void task_generate(const struct expr *bound, const struct expr_scope *scope, const struct task_tensor *tensor)
{
    double wide[EXPR_BLOCK];
    float narrow[EXPR_BLOCK];
    for (int64_t first = 0; first < task_scalars(tensor); first += EXPR_BLOCK) {
        int n = task_scalars(tensor) - first < EXPR_BLOCK ? (int)(task_scalars(tensor) - first) : EXPR_BLOCK;
        expr_block(bound, scope, first, n, wide);
        if (!task_is_float(tensor->type) || tensor->type == AKGEN_DOUBLE) {
            task_write_double(tensor, first, n, wide);
            continue;
        }
        for (int i = 0; i < n; i++)
            narrow[i] = (float)wide[i];
        task_write_float(tensor, first, n, narrow);
    }
}
