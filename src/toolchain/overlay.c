/* clang's overlay: what the toolchain rewrote stands in the place of the author's file, under its name. */
#include "base/files.h"
#include "toolchain/build_internal.h"

#include <stdlib.h>
#include <string.h>

struct akgen_error *overlay_add(struct arena *arena, struct overlay *overlay, const char *path, const char *text)
{
    const char *contents = arena_printf(arena, "%s-%d", overlay->file, overlay->count++);
    json_t *file = json_pack("{ss ss ss}", "name", path, "type", "file", "external-contents", contents);
    char *row = json_dumps(file, JSON_COMPACT);
    if (row)
        overlay->rows =
            arena_printf(arena, "%s%s%s", overlay->rows ? overlay->rows : "", overlay->rows ? "," : "", row);
    free(row);
    json_decref(file);
    return files_write(contents, text, strlen(text));
}

struct akgen_error *overlay_write(struct arena *arena, const struct overlay *overlay)
{
    const char *text =
        arena_printf(arena, "{\"version\":0,\"case-sensitive\":\"true\",\"use-external-names\":false,\"roots\":[%s]}",
                     overlay->rows ? overlay->rows : "");
    return files_write(overlay->file, text, strlen(text));
}
