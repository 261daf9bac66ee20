/* Answers of any text: reading ends, keeps its promises about problems and names, and reads the wrapper of whatever it
 * has got. */
#include "fuzz.h"

#include "base/files.h"
#include "candidate/response.h"

#include <stdlib.h>
#include <string.h>

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

void fuzz_seeds(void)
{
    fuzz_seed_files("tests/cli/responses", ".py");
    struct arena arena = {0};
    const char **paths, *folder = AKGEN_SOURCE_DIR "/tests/cli/responses";
    size_t count;
    if (files_list(&arena, folder, &paths, &count))
        abort();
    for (size_t i = 0; i < count; i++) { /* the code between fences */
        char *text;
        if (files_read(&arena, arena_printf(&arena, "%s/%s", folder, paths[i]), SIZE_MAX, &text, NULL))
            abort();
        char *fence = strstr(text, "\n```"), *begin = fence ? strchr(fence + 1, '\n') : NULL;
        char *end = begin ? strstr(begin, "\n```") : NULL;
        if (end)
            fuzz_seed(begin + 1, (size_t)(end - begin));
    }
    arena_free(&arena);
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
