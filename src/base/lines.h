/* The lines of a file that somebody else wrote: of a regular file, and none longer than the reader allows. */
#ifndef BASE_LINES_H
#define BASE_LINES_H

#include "base/error.h"
#include "base/text.h"

/* Opens it as files_open does, links followed; the caller closes `in`. */
struct akgen_error *lines_open(const char *path, FILE **in);
/* The next line, without its end. Of one that has more than `longest` bytes the rest is read over: `too_long`. False: there is none, or it
 * could not be read (ferror). */
bool lines_next(FILE *in, size_t longest, struct text *line, bool *too_long);

#endif
