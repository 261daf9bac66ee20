/* Folders for what a run needs while it lasts. One that was killed cannot remove its own: the next run does. */
#ifndef BASE_SCRATCH_H
#define BASE_SCRATCH_H

#include "base/arena.h"
#include "base/error.h"

struct scratch {
    const char *path; /* NULL: there is none */
    int lock;         /* held as long as the folder is in use: the file .akgen-scratch in it */
};
/* Makes a folder "NAME-.." of one's own below TMPDIR or /tmp, and removes those of this name and user whose processes have ended without
 * doing so. The path is in the arena. */
struct akgen_error *scratch_make(struct arena *arena, const char *name, struct scratch *scratch);
/* Removes it with what is in it; nothing where there is none. */
void scratch_remove(struct scratch *scratch);

#endif
