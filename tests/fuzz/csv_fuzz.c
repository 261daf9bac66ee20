/* cases.csv of any text: a table whose rows are as wide as its header, in the order of their lines, or an error. */
#include "fuzz.h"

#include "task/csv.h"

#include <stdlib.h>
#include <string.h>

void fuzz_seeds(void)
{
    fuzz_seed_files("tasks", "/cases.csv");
    fuzz_seed_text("a;b\r\n\"x;\"\"y\";\"\n\"\r\n\r\n1;\n");
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    struct arena arena = {0};
    struct csv_table table = {0};
    const char *text = arena_strndup(&arena, (const char *)bytes, length);
    struct akgen_error *error = csv_parse(&arena, "cases.csv", text, &table);
    if (error && strncmp(error->message, "cases.csv:", strlen("cases.csv:")) != 0)
        abort();
    for (int i = 0, line = 1; !error && i < table.row_count; line = table.rows[i++].line) {
        if (table.rows[i].line < line)
            abort();
        for (int j = 0; j < table.column_count; j++)
            if (strlen(table.rows[i].values[j]) > strlen(text))
                abort();
    }
    error_free(error);
    arena_free(&arena);
    return 0;
}
