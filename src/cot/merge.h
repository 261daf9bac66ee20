/* A source file with what it includes from its own folder put in the place of the #include lines. */
#ifndef COT_MERGE_H
#define COT_MERGE_H

#include "cot/walk.h"

/* The files that may be included: those of a walk, which can be read. */
struct cot_sources {
    const struct cot_file *files;
    size_t count;
    size_t largest;                      /* bytes of one file, and of all that is merged */
    const struct cot_source_path *paths; /* cot_sources_sort() */
};
/* Makes the index by which includes are found; in the arena. */
void cot_sources_sort(struct arena *arena, struct cot_sources *sources);
/* The text of the file `path` with its includes: a name is looked for beside the file that has the line, then below every folder above it, then by the
 * end of a path that one file alone has. What is not found stays as it is. A header that guards itself comes once. NULL: *reason says
 * why not: what cot_read_text says of one of the files, or that they are too large or too deep. */
const char *cot_merge(struct arena *arena, const struct cot_sources *sources, const char *path, const char **reason);

#endif
