/* The thread, and the wait until it listens. */
#include "gen/local.h"

#include "base/digest.h"
#include "base/files.h"
#include "base/memory.h"
#include "lm/backend.h"
#include "lm/server.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { LONGEST = 16384, PIECE = 1 << 20 };

struct start {
    struct lm_server_options options;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    int port;
    bool ended;
    struct akgen_error *error;
};

static void on_ready(void *closure, int port)
{
    struct start *start = closure;
    pthread_mutex_lock(&start->lock);
    start->port = port;
    pthread_cond_signal(&start->changed);
    pthread_mutex_unlock(&start->lock);
}

static void *serve(void *closure)
{
    struct start *start = closure;
    struct akgen_error *error = lm_serve(&start->options);
    pthread_mutex_lock(&start->lock);
    start->ended = true;
    start->error = error;
    pthread_cond_signal(&start->changed);
    pthread_mutex_unlock(&start->lock);
    return NULL;
}

struct akgen_error *gen_local_start(struct gen_model *model)
{
    static const volatile sig_atomic_t never = 0;
    static struct start start = {.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};
    int texts = model->endpoint.concurrency;
    pthread_t thread;
    start.options = (struct lm_server_options){.folder = model->endpoint.folder,
                                               .name = model->endpoint.model,
                                               .host = "127.0.0.1",
                                               .texts = texts < 1        ? 1
                                                        : texts < LM_FEW ? texts
                                                                         : LM_FEW,
                                               .longest = LONGEST,
                                               .int8 = model->endpoint.int8,
                                               .on_ready = on_ready,
                                               .closure = &start,
                                               .stop = &never};
    int problem = pthread_create(&thread, NULL, serve, &start);
    if (problem)
        return error_new("no thread for the model: %s", strerror(problem));
    pthread_detach(thread);
    pthread_mutex_lock(&start.lock);
    while (!start.port && !start.ended)
        pthread_cond_wait(&start.changed, &start.lock);
    struct akgen_error *error = start.error;
    pthread_mutex_unlock(&start.lock);
    if (!error)
        model->endpoint.url = arena_printf(&model->arena, "http://127.0.0.1:%d/v1", start.port);
    return error;
}

const char *gen_local_digest(struct arena *arena, const char *folder)
{
    struct digest *digest = digest_new();
    const char **paths;
    size_t count = 0;
    char *bytes = memory_alloc(PIECE);
    error_free(files_list(arena, folder, &paths, &count)); /* who reads the model complains */
    for (size_t i = 0; i < count; i++) {
        int file =
            strchr(paths[i], '/') ? -1 : open(arena_printf(arena, "%s/%s", folder, paths[i]), O_RDONLY | O_CLOEXEC);
        digest_string(digest, paths[i]);
        for (ssize_t got; file >= 0 && (got = read(file, bytes, PIECE)) > 0;)
            digest_bytes(digest, bytes, (size_t)got);
        if (file >= 0)
            close(file);
    }
    free(bytes);
    return digest_finish(digest, arena);
}
