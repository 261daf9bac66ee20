/* Expressions of any text, over three columns: parsing ends with a tree or an error, binding with a constant or with
 * numbers per element, and these can be computed. */
#include "fuzz.h"

#include "base/files.h"
#include "task/expr/expr.h"

#include <stdlib.h>
#include <string.h>

/* What stands behind "name: " in a line of task.yaml, without quotes. */
static void seed_lines(char *yaml)
{
    char *rest = yaml;
    for (char *line; (line = strsep(&rest, "\n"));) {
        char *value = strstr(line, ": ");
        if (!value)
            continue;
        value += 2;
        size_t length = strlen(value);
        if (length > 1 && *value == '"') {
            value[length - 1] = '\0';
            value++;
        }
        fuzz_seed_text(value);
    }
}

void fuzz_seeds(void)
{
    struct arena arena = {0};
    const char **paths, *root = AKGEN_SOURCE_DIR "/tasks";
    size_t count;
    if (files_list(&arena, root, &paths, &count))
        abort();
    for (size_t i = 0; i < count; i++) {
        char *text;
        if (!strstr(paths[i], "/task.yaml"))
            continue;
        if (files_read(&arena, arena_printf(&arena, "%s/%s", root, paths[i]), SIZE_MAX, &text, NULL))
            abort();
        seed_lines(text);
    }
    arena_free(&arena);
    fuzz_seed_text("$shape[0] * 2 // 3 % 4 - -1 == [1, $n, 3][1:2][-1]");
    fuzz_seed_text("($n != 3 ? rand : $dtype) <= inf / nan");
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    enum { LONGEST = 4096, ELEMENTS = 3 };
    static const char *const names[] = {"shape", "dtype", "n"};
    static const struct expr_columns columns = {names, 3};
    struct arena arena = {0};
    const struct expr_value cells[] = {expr_cell(&arena, "[4, 3, 1]"), expr_cell(&arena, "float16"),
                                       expr_cell(&arena, "7")};
    const struct expr_scope scope = {
        .arena = &arena, .cells = cells, .key = 1, .type = AKGEN_FLOAT, .elements = ELEMENTS};
    const struct expr *expr, *bound;
    double out[EXPR_BLOCK];
    const char *text = arena_strndup(&arena, (const char *)bytes, length < LONGEST ? length : LONGEST);
    struct akgen_error *error = expr_parse(&arena, text, &columns, &expr);
    if (!error && !(error = expr_bind(expr, &scope, &bound))) {
        if (expr_constant(bound))
            expr_show(&arena, expr_constant(bound));
        else
            expr_block(bound, &scope, 0, ELEMENTS, out);
    }
    error_free(error);
    arena_free(&arena);
    return 0;
}
