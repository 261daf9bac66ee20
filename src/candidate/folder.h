/* A candidate as it is given: the files of a folder, or the text of a file; at a path, or in memory. */
#ifndef CANDIDATE_FOLDER_H
#define CANDIDATE_FOLDER_H

#include "base/error.h"
#include "op/op.h"

struct candidate_source {
    struct op_files files; /* of a folder */
    char *text;            /* of a file, NUL-terminated; NULL: it is a folder */
    size_t length;         /* without that NUL */
    const char *digest;    /* of every name and byte; NULL: it was not read */
};
/* Reads it into the arena. `tree`: a folder that the user named, in which the candidate lies and below which no link is followed;
 * NULL: the user named the candidate itself. Errors that are of_the_file are the candidate's: what it holds is no file and no
 * folder, or too much. */
struct akgen_error *candidate_source_read(struct arena *arena, const char *tree, const char *path,
                                          struct candidate_source *source);
/* The same of files in memory, which are not copied, by the same rules; their paths lead nowhere else and name no hidden file. */
struct akgen_error *candidate_source_of_files(struct arena *arena, const struct op_file *files, size_t count,
                                              struct candidate_source *source);
/* The same of the text of a file of that name. */
struct akgen_error *candidate_source_of_text(struct arena *arena, const char *name, const char *text, size_t length,
                                             struct candidate_source *source);

#endif
