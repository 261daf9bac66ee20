#include "dsl/program.h"

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

const struct dsl_operation *dsl_operation_find_lowered(const char *name)
{
    return find(lowered, sizeof lowered / sizeof *lowered, name);
}
