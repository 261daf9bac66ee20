/* Bytes as a table in Parquet: read or refused, and every text of a cell lies in memory of ours. */
#include "fuzz.h"

#include "cot/parquet_read.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

void fuzz_seeds(void)
{
    fuzz_seed_files("tests/cli/tables", ".parquet");
}

/* All bytes of the cells, so that a sanitizer sees where they lie. */
static unsigned sum_of(const struct cot_column *column, int64_t rows)
{
    unsigned sum = 0;
    for (int64_t row = 0; row < rows && column->starts; row++)
        if (column->starts[row] > column->starts[row + 1])
            abort();
    const int64_t cells = column->starts ? column->starts[rows] : rows;
    for (int64_t cell = 0; cell < cells; cell++)
        for (size_t i = 0; i < column->cells[cell].length; i++)
            sum += (unsigned char)column->cells[cell].text[i];
    return sum;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    static const char *const columns[] = {"question",      "answer",           "n",         "tags",
                                          "messages.role", "messages.content", "row.answer"};
    static volatile unsigned sum;
    struct arena arena = {0};
    struct cot_parquet_file *file;
    int fd = memfd_create("table", MFD_CLOEXEC);
    if (fd < 0 || write(fd, bytes, length) != (ssize_t)length)
        abort();
    struct akgen_error *error = cot_parquet_open(&arena, fd, &file);
    for (int g = 0; !error && g < cot_parquet_groups(file); g++)
        for (size_t i = 0; !error && i < sizeof columns / sizeof *columns; i++) {
            struct cot_column column;
            error = cot_parquet_column(&arena, file, g, columns[i], &column);
            if (!error && column.cells)
                sum += sum_of(&column, cot_parquet_group_rows(file, g));
        }
    if (error && strncmp(error->message, "Parquet: ", 9) != 0)
        abort();
    error_free(error);
    arena_free(&arena);
    close(fd);
    return 0;
}
