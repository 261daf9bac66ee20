/* Values at the ends of a floating type: what an operator defines for them, its input's `special` names. They are
 * planted in the first half of a tensor, so that an operator that reduces rows has clean rows as well. */
#include "task/expr/expr_internal.h"
#include "task/task_internal.h"

#include <math.h>
#include <string.h>

enum { KINDS = 4, MOST_VALUES = 5, SPACING = 61 };
static const char *const kinds[KINDS] = {"zero", "subnormal", "inf", "nan"};

bool task_special_known(const char *words)
{
    for (const char *at = words; *at;) {
        size_t length = strcspn(at, " ");
        bool known = false;
        for (int k = 0; k < KINDS; k++)
            known |= strlen(kinds[k]) == length && memcmp(kinds[k], at, length) == 0;
        if (!known)
            return false;
        at += length;
        at += strspn(at, " ");
    }
    return true;
}

bool task_special_any(const struct task_param *param, enum task_variant variant)
{
    if (variant == TASK_NAN_VALUES)
        return task_has_word(param->special, "nan");
    return variant == TASK_LIMIT_VALUES &&
           (task_has_word(param->special, "zero") || task_has_word(param->special, "subnormal") ||
            task_has_word(param->special, "inf"));
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
    if (task_has_word(param->special, "inf")) {
        values[count++] = INFINITY;
        values[count++] = -INFINITY;
    }
    if (task_has_word(param->special, "zero"))
        values[count++] = 0;
    if (task_has_word(param->special, "subnormal")) {
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
    if (!task_is_float(tensor->type) || tensor->type == AKGEN_COMPLEX64)
        return;
    for (int64_t at = (int64_t)(expr_mix(key, 0) % SPACING); at < room; at += SPACING) /* scattered, any residue */
        task_write_float(tensor, at, 1, &values[expr_mix(key, (uint64_t)at) % (uint64_t)count]);
    for (int k = 0; k < count && k < room; k++) /* each at least once, if there is room */
        task_write_float(tensor, (int64_t)(expr_mix(~key, (uint64_t)k) % (uint64_t)room), 1, &values[k]);
}
