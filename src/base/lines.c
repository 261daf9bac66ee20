#include "base/lines.h"
#include "base/files.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

struct akgen_error *lines_open(const char *path, FILE **in)
{
    int fd;
    struct stat status;
    *in = NULL;
    struct akgen_error *error = files_open(path, FILES_FOLLOW_LINKS, &fd, &status);
    if (error)
        return error;
    *in = fdopen(fd, "r");
    if (*in)
        return NULL;
    error = error_new("%s: %s", path, strerror(errno));
    close(fd);
    return error;
}

bool lines_next(FILE *in, size_t longest, struct text *line, bool *too_long)
{
    int c = getc_unlocked(in);
    *too_long = false;
    line->length = 0;
    if (c == EOF)
        return false;
    for (; c != EOF && c != '\n'; c = getc_unlocked(in))
        if (line->length < longest)
            text_append(line, &(char){(char)c}, 1);
        else
            *too_long = true;
    return true;
}
