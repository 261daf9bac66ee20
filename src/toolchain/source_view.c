/* The files of a project as one stage of a build compiles them. A compile server is handed them as bytes and has them in its memory;
 * only for a compiler that is a process of its own are they written to the folder at which both see them. */
#include "base/files.h"
#include "base/text.h"
#include "toolchain/toolchain_internal.h"

#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

void source_view_open(struct arena *arena, struct source_view *view, const char *root, const struct op_files *files)
{
    *view = (struct source_view){.root = root,
                                 .items = arena_copy(arena, files->items, files->count * sizeof *files->items),
                                 .count = files->count,
                                 .bytes = -1,
                                 .lock = PTHREAD_MUTEX_INITIALIZER};
}

void source_view_close(struct source_view *view)
{
    if (view->bytes >= 0)
        close(view->bytes);
    view->bytes = -1;
    view->written = false;
}

void source_view_change(struct source_view *view, const char *path, const char *text)
{
    source_view_close(view);
    for (size_t i = 0; i < view->count; i++)
        if (strcmp(view->items[i].path, path) == 0)
            view->items[i] = (struct op_file){path, text, strlen(text)};
}

const char *source_view_path(struct arena *arena, const struct source_view *view, const char *path)
{
    return arena_printf(arena, "%s/%s", view->root, path);
}

/* The bytes as server/job.h reads them: of each file its path and its length, each with a NUL, then what it holds and a NUL. */
static int file_of_bytes(const struct source_view *view)
{
    struct text all = {0};
    for (size_t i = 0; i < view->count; i++) {
        const struct op_file *file = &view->items[i];
        if (op_file_is_folder(file))
            continue;
        text_addf(&all, "%s/%s%c%zu%c", view->root, file->path, 0, file->length, 0);
        text_append(&all, file->bytes, file->length);
        text_append(&all, "", 1);
    }
    int fd = memfd_create("akgen-sources", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    /* Sealed: a compiler cannot change the bytes that the next one gets. */
    if (fd >= 0 && (!files_write_all(fd, all.bytes, all.length) ||
                    fcntl(fd, F_ADD_SEALS, F_SEAL_WRITE | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL))) {
        close(fd);
        fd = -1;
    }
    text_free(&all);
    return fd;
}

int source_view_bytes(struct source_view *view)
{
    pthread_mutex_lock(&view->lock);
    if (view->bytes < 0)
        view->bytes = file_of_bytes(view);
    const int bytes = view->bytes;
    pthread_mutex_unlock(&view->lock);
    return bytes;
}

struct akgen_error *source_view_write(struct source_view *view)
{
    pthread_mutex_lock(&view->lock);
    struct akgen_error *error = NULL;
    if (!view->written)
        error = op_files_write(view->root, &(struct op_files){view->items, view->count});
    view->written = !error;
    pthread_mutex_unlock(&view->lock);
    return error;
}
