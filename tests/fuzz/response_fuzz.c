/* Answers of any text: reading ends, keeps its promises about problems and names, and reads the wrapper of whatever it
 * has got. */
#include "op/response.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length);

static void read_wrapper(struct arena *arena, const struct py_strings *strings)
{
    enum akgen_dtype type = AKGEN_FLOAT;
    struct op_param input = {.name = "x", .types = &type, .count = 1},
                    output = {.name = "y", .types = &type, .count = 1};
    struct op_attr attr = {.name = "slope", .type = OP_ATTR_FLOAT};
    const struct op_def def = {.type = "XCustom",
                               .inputs = &input,
                               .outputs = &output,
                               .attrs = &attr,
                               .input_count = 1,
                               .output_count = 1,
                               .attr_count = 1};
    struct op_response response = {.python_bind = py_find(strings, "b"), .model = py_find(strings, "m")};
    struct op_wrapper wrapper;
    if (!response.python_bind || !response.model)
        return;
    op_wrapper_read(arena, &response, &def, &wrapper);
    if ((wrapper.kind == OP_WRAPPER_PLAIN) != (wrapper.reason == NULL))
        abort();
    op_wrapper_release(&wrapper);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    struct arena arena = {0};
    struct py_strings strings;
    struct py_problem problem;
    py_read(&arena, arena_strndup(&arena, (const char *)bytes, length), 1, &strings, &problem);
    if ((problem.kind == PY_NONE) != (problem.message == NULL))
        abort();
    for (int i = 0; i < strings.count; i++)
        if (py_find(&strings, strings.values[i].name) != &strings.values[i])
            abort();
    read_wrapper(&arena, &strings);
    arena_free(&arena);
    return 0;
}
