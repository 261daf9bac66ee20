/* A file that an option names, as --trace (whole_file.c): whole under its name, or as it was before. */
#ifndef CLI_WHOLE_FILE_H
#define CLI_WHOLE_FILE_H

#include "base/error.h"

#include <stdbool.h>

struct whole_file {
    int fd;          /* to write to; -1: it is not open */
    char *path;      /* where it is to be; links are followed */
    char *beside;    /* where it is until it is whole; NULL: the path is no ordinary file and is written at once */
    const char *end; /* the two bytes that a whole one ends with */
};

/* Opens a file beside the path; the error names the path. `end`: two bytes. */
struct akgen_error *whole_file_open(struct whole_file *file, const char *path, const char *end);
/* Closes it, and gives it its name if it is whole; else it is removed. `failed`: the errno of what could not be written, or 0. False, and said,
 * where something could not be written, or it cannot get its name or lacks its end. Nothing is done for one that is not open. */
bool whole_file_close(struct whole_file *file, bool whole, int failed);

#endif
