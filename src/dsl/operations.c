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

const struct dsl_operation *dsl_operation_find(const char *name)
{
    static const struct dsl_operation operations[] = {
#define OPERATION(name, result, parameters, place) {#name, DSL_TYPE_##result, parameters, DSL_PLACE_##place},
#include "dsl/operations.def"
#undef OPERATION
    };
    for (size_t i = 0; i < sizeof operations / sizeof *operations; i++)
        if (strcmp(operations[i].name, name) == 0)
            return &operations[i];
    return NULL;
}
