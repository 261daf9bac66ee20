/* Requests -> verdicts. One thread, the caller's, reads lines and looks for signals; as many workers as --jobs says take requests in
 * their order, evaluate them and write the replies. Under `lock` is the list of the requests that have no reply yet. */
#include "serve/serve_internal.h"
#include "base/clock.h"
#include "base/jsons.h"
#include "base/memory.h"
#include "base/text.h"
#include "eval/kernel_baseline.h"
#include "eval/tree.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

enum {
    CACHED_BYTES = 1 << 30,
    LONGEST_LINE = 64 << 20,
    READ_AT_ONCE = 1 << 16,
    MOST_WAITING = 256, /* requests without a reply; beyond, and beyond so many bytes of lines, nothing is read */
    MOST_WAITING_BYTES = LONGEST_LINE,
};
static const double ending_seconds = 3;

/* A request without a reply. */
struct served {
    struct served *next;
    struct serve_request request;
    struct eval_options eval;
    const char *baseline;
    size_t bytes;  /* of its line */
    bool running;  /* by the worker whose this is: */
    int cancel_fd; /* of sandbox_limits */
    bool cancelled;
    struct arena arena;
};
struct serve {
    const struct serve_options *options;
    struct eval_cache *cache;
    struct serve_tasks *tasks;
    int out;
    pthread_mutex_t writing; /* held while a reply is written */
    int wake;                /* an eventfd: something has changed for who reads */

    pthread_mutex_t lock; /* guards what follows */
    pthread_cond_t work;
    struct served *first;
    int waiting, running; /* running: until the reply is written */
    size_t waiting_bytes;
    bool ends, unheard;

    struct text
        input; /* of the reading thread: what of it has come, from `at` on without an end of line up to `scanned` */
    size_t at, scanned;
    bool skipping; /* the rest of a line that is too long */
    bool input_ended;
};

/* Replies. */
static bool write_whole(int fd, const char *bytes, size_t length)
{
    while (length) {
        ssize_t n = write(fd, bytes, length);
        if (n < 0 && errno == EAGAIN) /* the other end has made it so */
            poll(&(struct pollfd){.fd = fd, .events = POLLOUT}, 1, -1);
        else if (n < 0 && errno != EINTR)
            return false;
        bytes += n > 0 ? n : 0;
        length -= n > 0 ? (size_t)n : 0;
    }
    return true;
}

/* Writes {"id": ID, KEY: value} as a line, and releases the value. Without a request's id it is null. */
static void serve_reply(struct serve *serve, const json_t *id, const char *key, json_t *value)
{
    json_t *reply = json_object();
    json_object_set_new(reply, "id", id ? json_deep_copy(id) : json_null());
    json_object_set_new(reply, key, value);
    char *text = json_dumps(reply, JSON_COMPACT | JSON_ENSURE_ASCII);
    json_decref(reply);
    if (!text)
        memory_exhausted(0);
    const size_t length = strlen(text);
    text[length] = '\n'; /* in the place of its end */
    pthread_mutex_lock(&serve->writing);
    bool heard = write_whole(serve->out, text, length + 1);
    pthread_mutex_unlock(&serve->writing);
    free(text);
    if (heard)
        return;
    pthread_mutex_lock(&serve->lock);
    serve->unheard = true;
    pthread_mutex_unlock(&serve->lock);
    eventfd_write(serve->wake, 1);
}

/* The same of {"error": {"kind": ..., "message": ...}}; frees the error. */
static void serve_reply_error(struct serve *serve, const json_t *id, const char *kind, struct akgen_error *error)
{
    json_t *json = json_object();
    json_object_set_new(json, "kind", json_string(kind));
    json_object_set_new(json, "message", jsons_text(error->message));
    error_free(error);
    serve_reply(serve, id, "error", json);
}

static void served_free(struct served *item)
{
    json_decref(item->request.json);
    arena_free(&item->arena);
    free(item);
}

/* Evaluating. */
static void read_candidate(struct served *item, const struct task *task, struct candidate *candidate)
{
    const struct serve_request *request = &item->request;
    const struct candidate_asked asked = eval_asked(&item->eval);
    if (request->path)
        candidate_read_path(&item->arena, request->path, task, &asked, candidate);
    else if (request->text)
        candidate_read_file(&item->arena, request->name, request->text, strlen(request->text), task, &asked, candidate);
    else
        candidate_read_files(&item->arena, request->name, request->files, request->file_count, task, &asked, candidate);
}

/* The verdict as `akgen eval --json` prints it. */
static json_t *serve_verdict(struct served *item, const struct task *task, struct kernel_baseline *baseline)
{
    struct candidate candidate;
    struct verdict verdict;
    read_candidate(item, task, &candidate);
    eval_run(&candidate, task, &item->eval, &verdict);
    speedup_add(task, baseline ? kernel_baseline_times(baseline, task, &item->eval) : NULL, &verdict);
    json_t *json = verdict_to_json(&verdict);
    verdict_free(&verdict);
    return json;
}

/* NULL, and an error with its kind, if there is nothing to evaluate. */
static json_t *serve_evaluate(struct serve *serve, struct served *item, const char **kind, struct akgen_error **error)
{
    struct served_task *taken = NULL;
    struct kernel_baseline *baseline = NULL;
    json_t *verdict = NULL;
    *kind = "task";
    *error = serve_tasks_take(serve->tasks, item->request.task, item->eval.tolerance, &taken);
    const struct task *task = *error ? NULL : serve_task(taken);
    if (task) {
        *kind = "request";
        *error = task_require_case(task, item->eval.only_case);
    }
    if (!*error)
        *error = kernel_baseline_open_for(item->baseline, task, &baseline);
    if (!*error && item->request.path) {
        *kind = "candidate";
        *error = tree_check_candidate(item->request.path);
    }
    if (!*error) {
        *kind = "jail";
        *error = eval_check_jail(&item->eval);
    }
    if (!*error)
        verdict = serve_verdict(item, task, baseline);
    kernel_baseline_close(baseline);
    serve_tasks_release(serve->tasks, taken);
    return verdict;
}

/* Waits for a request that nobody evaluates, and takes it. NULL: there will be none. */
static struct served *next_request(struct serve *serve, int cancel_fd)
{
    struct served *item = NULL;
    pthread_mutex_lock(&serve->lock);
    while (!item) {
        for (item = serve->first; item && item->running;)
            item = item->next;
        if (!item && serve->ends)
            break;
        if (!item)
            pthread_cond_wait(&serve->work, &serve->lock);
    }
    if (item) {
        item->running = true;
        item->cancel_fd = item->eval.cancel_fd = cancel_fd;
        serve->waiting--;
        serve->running++;
        serve->waiting_bytes -= item->bytes;
    }
    pthread_mutex_unlock(&serve->lock);
    if (item)
        eventfd_write(serve->wake, 1);
    return item;
}

/* Takes it out of the list, under the lock. */
static void remove_request(struct serve *serve, const struct served *item)
{
    for (struct served **at = &serve->first; *at; at = &(*at)->next)
        if (*at == item) {
            *at = item->next;
            return;
        }
}

static void *serve_work(void *closure)
{
    struct serve *serve = closure;
    const int cancel_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    for (struct served *item; (item = next_request(serve, cancel_fd));) {
        const char *kind;
        struct akgen_error *error;
        eventfd_t ignored;
        json_t *verdict = serve_evaluate(serve, item, &kind, &error);
        pthread_mutex_lock(&serve->lock);
        remove_request(serve, item); /* from here on its id is free */
        pthread_mutex_unlock(&serve->lock);
        if (item->cancelled) {
            eventfd_read(cancel_fd, &ignored);
            error_free(error);
            error = error_new("cancelled");
            kind = "cancelled";
        }
        if (error)
            serve_reply_error(serve, item->request.id, kind, error);
        else
            serve_reply(serve, item->request.id, "verdict", json_incref(verdict));
        json_decref(verdict);
        served_free(item);
        pthread_mutex_lock(&serve->lock);
        serve->running--;
        pthread_mutex_unlock(&serve->lock);
        eventfd_write(serve->wake, 1);
    }
    if (cancel_fd >= 0)
        close(cancel_fd);
    return NULL;
}

/* Reading. */
static struct served *find_request(struct serve *serve, const json_t *id)
{
    struct served *item = serve->first;
    while (item && !json_equal(item->request.id, id))
        item = item->next;
    return item;
}

/* Cancels one, under the lock: ends it if it runs; else takes it out of the list, and the reply is still to be written. Returns it in
 * the latter case. */
static struct served *cancel_request(struct serve *serve, struct served *item)
{
    if (item->running) {
        item->cancelled = true;
        eventfd_write(item->cancel_fd, 1);
        return NULL;
    }
    serve->waiting--;
    serve->waiting_bytes -= item->bytes;
    remove_request(serve, item);
    return item;
}

static void reply_cancelled(struct serve *serve, struct served *item)
{
    if (!item)
        return;
    serve_reply_error(serve, item->request.id, "cancelled", error_new("cancelled"));
    served_free(item);
}

static struct akgen_error *serve_cancel(struct serve *serve, const struct serve_request *request)
{
    struct served *unbegun = NULL;
    pthread_mutex_lock(&serve->lock);
    struct served *item = find_request(serve, request->cancel);
    if (item)
        unbegun = cancel_request(serve, item);
    pthread_mutex_unlock(&serve->lock);
    if (!item)
        return error_new("cancel: no request with this id waits for its reply");
    reply_cancelled(serve, unbegun);
    serve_reply(serve, request->id, "cancelled", json_deep_copy(request->cancel));
    return NULL;
}

/* Appends a request to the list. An error if its id is one of a request that has no reply yet. */
static struct akgen_error *serve_add(struct serve *serve, struct served *item)
{
    pthread_mutex_lock(&serve->lock);
    bool known = find_request(serve, item->request.id);
    if (!known) {
        struct served **end = &serve->first;
        while (*end)
            end = &(*end)->next;
        *end = item;
        serve->waiting++;
        serve->waiting_bytes += item->bytes;
        pthread_cond_signal(&serve->work);
    }
    pthread_mutex_unlock(&serve->lock);
    return known ? error_new("another request with this id waits for its reply") : NULL;
}

/* One line, without its end. */
static void serve_line(struct serve *serve, const char *line, size_t length)
{
    struct served *item = memory_alloc(sizeof *item);
    const struct serve_request *request = &item->request;
    struct akgen_error *error = serve_request_read(&item->arena, line, length, &item->request);
    item->eval = serve->options->eval;
    item->eval.side_by_side = item->eval.jobs;
    item->eval.jobs = 1;
    item->eval.cache = serve->cache;
    item->baseline = serve->options->baseline;
    item->bytes = length;
    if (!error && request->kind == SERVE_CANCEL)
        error = serve_cancel(serve, request);
    else if (!error && request->kind == SERVE_PING)
        serve_reply(serve, request->id, "ping", json_true());
    else if (!error) {
        error = serve->options->set_options(&item->arena, request->options, request->option_count, &item->eval,
                                            &item->baseline);
        if (!error && !(error = serve_add(serve, item)))
            return;
    }
    if (error)
        serve_reply_error(serve, request->id, "request", error);
    served_free(item);
}

/* True if another request may be read. */
static bool has_place(struct serve *serve)
{
    pthread_mutex_lock(&serve->lock);
    bool place = serve->waiting < MOST_WAITING && serve->waiting_bytes < MOST_WAITING_BYTES;
    pthread_mutex_unlock(&serve->lock);
    return place;
}

/* Serves the first line of what was read, if the whole of it is there. False: it is not. */
static bool take_line(struct serve *serve)
{
    struct text *input = &serve->input;
    const char *end = input->length > serve->scanned
                          ? memchr(input->bytes + serve->scanned, '\n', input->length - serve->scanned)
                          : NULL;
    size_t length = end ? (size_t)(end - input->bytes) - serve->at : input->length - serve->at;
    if (length > LONGEST_LINE && !serve->skipping) {
        serve_reply_error(serve, NULL, "request",
                          error_new("a line of more than %d bytes; candidates may have 32 MiB", LONGEST_LINE));
        serve->skipping = true;
    }
    const bool whole = end || (serve->input_ended && length);
    if (whole && !serve->skipping)
        serve_line(serve, input->bytes + serve->at, length);
    if (whole || serve->skipping)
        serve->at += length + (end != NULL);
    if (end)
        serve->skipping = false;
    if (!whole && serve->at) { /* the rest to the front */
        input->length -= serve->at;
        memmove(input->bytes, input->bytes + serve->at, input->length);
        serve->at = 0;
    }
    serve->scanned = end ? serve->at : input->length;
    return end;
}

/* The end of a pipe into which the signal's handler writes its number. */
static int signal_pipe = -1;

static void on_signal(int number)
{
    const int reason = errno;
    const char byte = (char)number;
    if (write(signal_pipe, &byte, 1) < 0)
        errno = reason; /* the pipe is full: who reads it ends already */
    errno = reason;
}

/* Waits for input, a signal, replies that were written, or the end of who reads them. Returns a signal's number, or 0. */
static int await(struct serve *serve, int signals, bool reads)
{
    enum { INPUT, SIGNAL, WAKE, OUT, ENDS };
    char number = 0;
    eventfd_t ignored;
    struct pollfd ends[ENDS] = {[INPUT] = {.fd = reads ? STDIN_FILENO : -1, .events = POLLIN},
                                [SIGNAL] = {.fd = signals, .events = POLLIN},
                                [WAKE] = {.fd = serve->wake, .events = POLLIN},
                                [OUT] = {.fd = serve->out}};
    if (poll(ends, ENDS, -1) <= 0)
        return 0;
    if (ends[WAKE].revents)
        eventfd_read(serve->wake, &ignored);
    if (ends[SIGNAL].revents && read(signals, &number, 1) == 1)
        return number;
    if (ends[OUT].revents) {
        pthread_mutex_lock(&serve->lock);
        serve->unheard = true;
        pthread_mutex_unlock(&serve->lock);
    }
    if (ends[INPUT].revents) {
        char buffer[READ_AT_ONCE];
        ssize_t n = read(STDIN_FILENO, buffer, sizeof buffer);
        if (n > 0)
            text_append(&serve->input, buffer, (size_t)n);
        else if (n == 0 || (errno != EINTR && errno != EAGAIN))
            serve->input_ended = true;
    }
    return 0;
}

static enum serve_end serve_read(struct serve *serve, int signals, int *signal)
{
    for (;;) {
        bool more = true;
        while (more && has_place(serve))
            more = take_line(serve);
        pthread_mutex_lock(&serve->lock);
        const bool unheard = serve->unheard, done = !serve->waiting && !serve->running;
        pthread_mutex_unlock(&serve->lock);
        if (unheard)
            return SERVE_UNHEARD;
        if (done && serve->input_ended && !more)
            return SERVE_ENDED;
        if ((*signal = await(serve, signals, !more && !serve->input_ended)))
            return SERVE_INTERRUPTED;
    }
}

/* Waits until no request runs. False: one still does after some seconds. */
static bool wait_for_end(struct serve *serve)
{
    const double end = clock_seconds() + ending_seconds;
    for (;;) {
        pthread_mutex_lock(&serve->lock);
        const int running = serve->running;
        pthread_mutex_unlock(&serve->lock);
        const double left = end - clock_seconds();
        eventfd_t ignored;
        if (!running || left <= 0)
            return !running;
        if (poll(&(struct pollfd){.fd = serve->wake, .events = POLLIN}, 1, (int)(left * 1e3) + 1) > 0)
            eventfd_read(serve->wake, &ignored);
    }
}

/* With the descriptors that it needs. */
static struct akgen_error *serve_run(struct serve *serve, int signals, enum serve_end *end, int *signal, bool *idle)
{
    enum { MOST = 256 };
    pthread_t threads[MOST];
    const int wanted = serve->options->eval.jobs;
    int started = 0;
    while (started < wanted && started < MOST && !pthread_create(&threads[started], NULL, serve_work, serve))
        started++;
    if (!started)
        return error_new("no thread: %m");
    *end = serve_read(serve, signals, signal);
    if (*end != SERVE_ENDED) { /* all that were not answered are cancelled */
        struct served *unbegun = NULL;
        pthread_mutex_lock(&serve->lock);
        for (struct served *item = serve->first, *next; item; item = next) {
            next = item->next;
            if (cancel_request(serve, item)) {
                item->next = unbegun;
                unbegun = item;
            }
        }
        pthread_mutex_unlock(&serve->lock);
        for (struct served *next; unbegun; unbegun = next) {
            next = unbegun->next;
            reply_cancelled(serve, unbegun);
        }
    }
    *idle = *end == SERVE_ENDED || wait_for_end(serve);
    if (!*idle)
        return NULL;
    pthread_mutex_lock(&serve->lock);
    serve->ends = true;
    pthread_cond_broadcast(&serve->work);
    pthread_mutex_unlock(&serve->lock);
    for (int i = 0; i < started; i++)
        pthread_join(threads[i], NULL);
    return NULL;
}

struct akgen_error *serve_stdio(const struct serve_options *options, enum serve_end *end, int *signal, bool *idle)
{
    static const int ending_signals[] = {SIGINT, SIGTERM, SIGHUP};
    int signals[2];
    struct serve *serve = memory_alloc(sizeof *serve); /* not the stack's: a thread may outlive this call */
    *serve = (struct serve){.options = options,
                            .out = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1),
                            .wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK),
                            .writing = PTHREAD_MUTEX_INITIALIZER,
                            .lock = PTHREAD_MUTEX_INITIALIZER,
                            .work = PTHREAD_COND_INITIALIZER};
    if (serve->out < 0 || serve->wake < 0 || pipe2(signals, O_CLOEXEC | O_NONBLOCK))
        return error_new("no descriptors: %m");
    signal_pipe = signals[1];
    for (size_t i = 0; i < sizeof ending_signals / sizeof *ending_signals; i++)
        sigaction(ending_signals[i], &(struct sigaction){.sa_handler = on_signal, .sa_flags = SA_RESTART}, NULL);
    sigaction(SIGPIPE, &(struct sigaction){.sa_handler = SIG_IGN}, NULL);
    dup2(STDERR_FILENO, STDOUT_FILENO); /* nothing else may stand between the replies */
    serve->cache = eval_cache_create(CACHED_BYTES);
    serve->tasks = serve_tasks_create(serve->cache);
    struct akgen_error *error = serve_run(serve, signals[0], end, signal, idle);
    if (error || !*idle)
        return error;
    serve_tasks_destroy(serve->tasks);
    eval_cache_destroy(serve->cache);
    text_free(&serve->input);
    close(serve->out);
    close(serve->wake);
    free(serve);
    return NULL;
}
