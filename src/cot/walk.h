/* The files of a folder that a user named, whatever else lies in it. */
#ifndef COT_WALK_H
#define COT_WALK_H

#include "base/arena.h"
#include "base/error.h"

#include <stddef.h>

struct cot_file {
    const char *path;   /* as it was named, with what is below */
    const char *reason; /* why it is none to read: "a link", ..; NULL: it is one */
};
/* Every file below `path` with one of these ends (".md"; NULL behind the last), by name, or `path` itself if it is a file; links are not
 * followed and hidden folders left out. Lists links with such an end, and what is neither file nor folder or cannot be looked into, with the reason. An
 * error: there is nothing at `path`. */
struct akgen_error *cot_walk(struct arena *arena, const char *path, const char *const *ends, struct cot_file **files,
                             size_t *count);
/* The text of a file: at most `largest` bytes of UTF-8 without NUL. NULL: *reason says why it is none to read. */
const char *cot_read_text(struct arena *arena, const char *path, size_t largest, size_t *length, const char **reason);

#endif
