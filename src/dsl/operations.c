#include "dsl/program.h"
#include "task/task.h"

#include <string.h>

const char *dsl_type_text(enum dsl_type type)
{
    static const char *const texts[] = {
#define TYPE(value, text) [value] = text,
        DSL_TYPES(TYPE)
#undef TYPE
    };
    return type == DSL_TYPE_UNKNOWN ? "something unknown" : texts[type];
}

#define OPERATION(name, result, parameters, place) {#name, DSL_TYPE_##result, parameters, DSL_PLACE_##place},
static const struct dsl_operation operations[] = {
#include "dsl/operations.def"
};
static const struct dsl_operation lowered[] = {
#include "dsl/lowered.def"
};
#undef OPERATION

static const struct dsl_operation *find(const struct dsl_operation *rows, size_t count, const char *name)
{
    for (size_t i = 0; i < count; i++)
        if (same_name(rows[i].name, name))
            return &rows[i];
    return NULL;
}

const struct dsl_operation *dsl_operation_find(const char *name)
{
    return find(operations, sizeof operations / sizeof *operations, name);
}

const struct dsl_operation *dsl_operation_called(const struct dsl_expr *call)
{
    const struct dsl_operation *known = call->operation, *end = operations + sizeof operations / sizeof *operations;
    const char *name = call->items[0]->name;
    return known >= operations && known < end && same_name(known->name, name) ? known : dsl_operation_find(name);
}

const struct dsl_operation *dsl_operation_find_lowered(const char *name)
{
    return find(lowered, sizeof lowered / sizeof *lowered, name);
}

bool dsl_transfer_converts(enum akgen_dtype tensor, enum akgen_dtype buffer, bool load)
{
    const bool of_float = task_is_float(tensor), to_float = task_is_float(buffer);
    const bool floats = of_float && to_float && tensor != AKGEN_DOUBLE && buffer != AKGEN_DOUBLE;
    const bool integers = !of_float && !to_float && tensor != AKGEN_BOOL && buffer != AKGEN_BOOL &&
                          akgen_dtype_size(tensor) == akgen_dtype_size(buffer);
    const bool truths = load && buffer == AKGEN_BOOL && (tensor == AKGEN_INT8 || tensor == AKGEN_UINT8);
    return tensor == buffer || floats || integers || truths;
}

bool dsl_number_misleads(const struct dsl_operation *operation, enum akgen_dtype type, int64_t number)
{
    static const char *const bounds[] = {"vmin", "vmax", "vmin_scalar", "vmax_scalar", "vclamp_max", "vclamp_min"};
    static const struct {
        enum akgen_dtype type;
        int64_t least, most;
    } rows[] = {{AKGEN_INT8, INT8_MIN, INT8_MAX},    {AKGEN_UINT8, 0, UINT8_MAX},
                {AKGEN_INT16, INT16_MIN, INT16_MAX}, {AKGEN_UINT16, 0, UINT16_MAX},
                {AKGEN_INT32, INT32_MIN, INT32_MAX}, {AKGEN_UINT32, 0, UINT32_MAX}};
    bool bound = false, fits = true;
    for (size_t i = 0; i < sizeof bounds / sizeof *bounds; i++)
        bound |= same_name(operation->name, bounds[i]);
    for (size_t i = 0; bound && i < sizeof rows / sizeof *rows; i++)
        fits &= rows[i].type != type || (number >= rows[i].least && number <= rows[i].most);
    return !fits;
}

size_t dsl_names_differ_by(const char *name)
{
    return strlen(name) > 4 ? 3 : 2;
}

bool dsl_name_is_nearer(const char *name, const char *other, size_t *differing)
{
    size_t length = strlen(name), others = strlen(other), longer = length > others ? length : others, same = 0,
           ends = 0;
    while (same < length && same < others && name[same] == other[same])
        same++;
    if (length == others && same + 1 < length && name[same] == other[same + 1] && name[same + 1] == other[same] &&
        strcmp(name + same + 2, other + same + 2) == 0 && *differing) {
        *differing = 0; /* two characters that have changed places are the likeliest mistake */
        return true;
    }
    while (ends < length - same && ends < others - same && name[length - 1 - ends] == other[others - 1 - ends])
        ends++;
    if (longer - same - ends >= *differing)
        return false;
    *differing = longer - same - ends;
    return true;
}

const char *dsl_operation_nearest(const char *name)
{
    const char *best = NULL;
    size_t differing = dsl_names_differ_by(name);
    for (size_t i = 0; i < sizeof operations / sizeof *operations; i++)
        if (dsl_name_is_nearer(name, operations[i].name, &differing))
            best = operations[i].name;
    return best;
}
