/* The map beside a candidate: any text is a map or none, and a map answers for any line. */
#include "candidate/source_map.h"
#include "fuzz.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

void fuzz_seeds(void)
{
    static const char *const maps[] = {
        "{\"version\":1,\"program\":\"p.py\",\"digest\":\"0\",\"files\":{\"op_kernel/"
        "x.cpp\":[[1,7],[3,0],[9,8]],\"\":[]},"
        "\"lines\":{\"7\":\"tl.load(x, x_ub)\",\"8\":\"\"}}",
        "{\"version\":1,\"program\":\"p.py\",\"files\":{\"op_kernel/"
        "x.cpp\":[[2147483648,-1],[1e9,true],[2]]},\"lines\":{}}",
    };
    for (size_t i = 0; i < sizeof maps / sizeof *maps; i++)
        fuzz_seed(maps[i], strlen(maps[i]));
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    static const int lines[] = {INT_MIN, 0, 1, 2, 3, 10, INT_MAX};
    struct arena arena = {0};
    const struct source_map *map = source_map_parse(&arena, (const char *)bytes, size);
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        struct source_place place = source_map_find(map, "op_kernel/x.cpp", lines[i]);
        if (place.program && (!map || place.line < 1 || !*place.program))
            abort();
    }
    arena_free(&arena);
    return 0;
}
