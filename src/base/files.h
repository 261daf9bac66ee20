/* Files and directories: whole-file reading, writing that is never seen half done, walking a tree. */
#ifndef BASE_FILES_H
#define BASE_FILES_H

#include "base/arena.h"
#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>

/* True if a system call failed with this errno because of what the file is or may be (no right to read it, a name that is
 * too long, ...), not because this machine lacks something. Errors of files_read and files_list that tell of such a
 * reason, or of a file that is too large or none, are of_the_file. */
bool files_of_the_file(int reason);
/* A path that names what is inside a stranger's folder must not be a link: it leads to files of whoever reads the folder. */
enum files_links { FILES_FOLLOW_LINKS, FILES_REFUSE_LINKS };
/* Opens what a single name leads to in an open folder (AT_FDCWD: what a path leads to) to read it, whatever it is, and never waits. -1 with
 * errno. The caller looks at it with fstat, and closes it. */
int files_open_at(int folder, const char *name, enum files_links links);
/* Opens a regular file to read it, and never waits. The caller closes `fd`; `status` is what the file is. Errors: unreadable, a FIFO, a device
 * or anything else that is no regular file, a link that is refused. */
struct akgen_error *files_open(const char *path, enum files_links links, int *fd, struct stat *status);
/* The whole file, NUL-terminated, in the arena. `length` may be NULL. Errors: those of files_open, or larger than `limit`
 * bytes. */
struct akgen_error *files_read(struct arena *arena, const char *path, size_t limit, char **bytes, size_t *length);
/* The same of the file `name` inside a stranger's folder. */
struct akgen_error *files_read_inside(struct arena *arena, const char *folder, const char *name, size_t limit,
                                      char **bytes, size_t *length);
/* Writes beside the target and renames: readers see the old file or the new one, never a part. */
struct akgen_error *files_write(const char *path, const void *bytes, size_t length);
/* Writes all of it to a descriptor. False: errno says why not; a part may have been written. */
bool files_write_all(int fd, const void *bytes, size_t length);
bool files_exists(const char *path);
/* mkdir -p. */
struct akgen_error *files_make_directory(const char *path);
/* files_write, and the folders above the file where they are missing. */
struct akgen_error *files_write_path(const char *path, const void *bytes, size_t length);
/* A folder that is never seen half done: a new one beside `path`, hidden, whose name is in the arena, ... */
struct akgen_error *files_begin_directory(struct arena *arena, const char *path, const char **unfinished);
/* ... becomes `path`. If that exists by now, somebody else made the same: it stays, and this one goes. */
struct akgen_error *files_finish_directory(const char *unfinished, const char *path);
enum { FILES_MAX = 20000 };
/* Every regular file under `dir`, sorted by path, without following links; hidden directories are left out.
 * A directory that does not exist has no files. Relative paths; list and strings in the arena. More than FILES_MAX
 * are an error, and so is what is neither a file nor a directory nor a link: who opens a FIFO waits. */
struct akgen_error *files_list(struct arena *arena, const char *dir, const char ***paths, size_t *count);
/* Removes a directory and what is in it. Errors are ignored. */
void files_remove_tree(const char *path);

/* The absolute path of another program of akgen's, which lies beside the running one, or one folder up (tests, benchmarks);
 * NULL: there is none. */
const char *files_program(struct arena *arena, const char *name);

#endif
