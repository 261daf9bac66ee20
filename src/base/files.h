/* Files and directories: whole-file reading, writing that is never seen half done, walking a tree. */
#ifndef BASE_FILES_H
#define BASE_FILES_H

#include "base/arena.h"
#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>

/* The whole file, NUL-terminated, in the arena. `length` may be NULL. Errors: unreadable, or larger than `limit`
 * bytes. */
struct akgen_error *files_read(struct arena *arena, const char *path, size_t limit, char **bytes, size_t *length);
/* Writes beside the target and renames: readers see the old file or the new one, never a part. */
struct akgen_error *files_write(const char *path, const void *bytes, size_t length);
/* Writes all of it to a descriptor. False: errno says why not; a part may have been written. */
bool files_write_all(int fd, const void *bytes, size_t length);
bool files_exists(const char *path);
/* mkdir -p. */
struct akgen_error *files_make_directory(const char *path);
enum { FILES_MAX = 20000 };
/* Every regular file under `dir`, sorted by path, without following links; hidden directories are left out.
 * A directory that does not exist has no files. Relative paths; list and strings in the arena. More than FILES_MAX
 * are an error, with a count above that. */
struct akgen_error *files_list(struct arena *arena, const char *dir, const char ***paths, size_t *count);
/* Removes a directory and what is in it. Errors are ignored. */
void files_remove_tree(const char *path);

#endif
