/* Values at the ends of a floating type: what an operator defines for them, its input's `special` names. They are
 * planted in the first half of a tensor, so that an operator that reduces rows has clean rows as well. */
#include "task/task_internal.h"

#include <math.h>

enum { MOST_VALUES = 5, SPACING = 61 };

bool task_special_any(const struct task_param *param, enum task_variant variant)
{
    unsigned planted = variant == TASK_NAN_VALUES     ? TASK_NAN
                       : variant == TASK_LIMIT_VALUES ? TASK_ZERO | TASK_SUBNORMAL | TASK_INF
                                                      : 0;
    return param->special & planted;
}

/* The values of the variant, of this type; returns their number. */
static int values_of(const struct task_param *param, enum task_variant variant, enum akgen_dtype type,
                     float values[MOST_VALUES])
{
    float subnormal = type == AKGEN_FLOAT16 ? 0x1.4p-20f : 0x1.4p-129f;
    int count = 0;
    if (variant == TASK_NAN_VALUES) {
        values[count++] = NAN;
        return count;
    }
    if (param->special & TASK_INF) {
        values[count++] = INFINITY;
        values[count++] = -INFINITY;
    }
    if (param->special & TASK_ZERO)
        values[count++] = 0;
    if (param->special & TASK_SUBNORMAL) {
        values[count++] = subnormal;
        values[count++] = -subnormal;
    }
    return count;
}

void task_special_plant(const struct task_param *param, enum task_variant variant, uint64_t key,
                        struct task_tensor *tensor)
{
    float values[MOST_VALUES];
    int count = values_of(param, variant, tensor->type, values);
    int64_t room = (tensor->elements + 1) / 2;
    if (!count || !task_is_float(tensor->type) || tensor->type == AKGEN_COMPLEX64)
        return;
    for (int64_t at = (int64_t)(expr_mix(key, 0) % SPACING); at < room; at += SPACING) /* scattered, any residue */
        task_write_float(tensor, at, 1, &values[expr_mix(key, (uint64_t)at) % (uint64_t)count]);
    for (int k = 0; k < count && k < room; k++) /* each at least once, if there is room */
        task_write_float(tensor, (int64_t)(expr_mix(~key, (uint64_t)k) % (uint64_t)room), 1, &values[k]);
}
