/* Two threads: libmicrohttpd's, which reads requests and sends what there is, and one that writes with the engine. */
#include "lm/server.h"

#include "base/clock.h"
#include "base/files.h"
#include "base/memory.h"
#include "lm/server_job.h"

#include <arpa/inet.h>
#include <errno.h>
#include <microhttpd.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { LARGEST_BODY = 64 << 20, MOST_JOBS = 4096 };
#define LOOK_SECONDS 0.2

struct server {
    const struct lm_server_options *options;
    struct lm_writer writer; /* its engine is the writing thread's, the rest the serving one's */
    const char *name;
    pthread_mutex_t lock;
    pthread_cond_t work;
    struct lm_job *inbox[MOST_JOBS]; /* that the engine has not got yet */
    int waiting;
    struct lm_job *jobs; /* all that are not freed */
    bool ends;
};
/* A connection's request: its body while it comes, then its job. */
struct exchange {
    struct server *server;
    struct text body;
    struct lm_job *job;
    bool too_long;
};

/* ---- The writing thread */

/* Clients that closed their connections while their texts are written: libmicrohttpd does not look at one that sleeps. */
static void look_for_gone(struct server *server)
{
    char byte;
    pthread_mutex_lock(&server->lock);
    for (struct lm_job *job = server->jobs; job; job = job->next)
        if (job->sleeping && !job->abandoned) {
            ssize_t length = recv(job->socket, &byte, 1, MSG_PEEK | MSG_DONTWAIT);
            job->abandoned = length == 0 || (length < 0 && errno != EAGAIN && errno != EINTR);
        }
    pthread_mutex_unlock(&server->lock);
}

static void *write_all(void *closure)
{
    struct server *server = closure;
    bool busy = false;
    double looked = 0;
    for (;;) {
        struct lm_job *job = NULL;
        if (busy && clock_seconds() > looked + LOOK_SECONDS) {
            look_for_gone(server);
            looked = clock_seconds();
        }
        pthread_mutex_lock(&server->lock);
        while (!busy && !server->waiting && !server->ends)
            pthread_cond_wait(&server->work, &server->lock);
        if (server->ends) {
            pthread_mutex_unlock(&server->lock);
            return NULL;
        }
        if (server->waiting) {
            job = server->inbox[0];
            memmove(server->inbox, server->inbox + 1, (size_t)--server->waiting * sizeof *server->inbox);
        }
        pthread_mutex_unlock(&server->lock);
        for (int i = 0; job && i < job->choice_count; i++) {
            struct lm_request request = job->request;
            request.sampling.seed += (uint64_t)i;
            request.on_token = lm_job_on_token;
            request.wanted = lm_job_wanted;
            request.closure = &job->choices[i];
            error_free(
                lm_engine_add(server->writer.engine, &request)); /* which checked its length when it was parsed */
        }
        busy = lm_engine_step(server->writer.engine);
    }
}

/* ---- The serving thread */

/* Called under the lock by the writing thread. */
static void wake(struct lm_job *job)
{
    if (!job->sleeping)
        return;
    job->sleeping = false;
    MHD_resume_connection(job->connection);
}

static ssize_t read_stream(void *closure, uint64_t at, char *buffer, size_t room)
{
    struct lm_job *job = closure;
    ssize_t length = 0;
    (void)at;
    pthread_mutex_lock(job->lock);
    size_t left = job->out.length - job->sent;
    if (left) {
        length = (ssize_t)(left < room ? left : room);
        memcpy(buffer, job->out.bytes + job->sent, (size_t)length);
        job->sent += (size_t)length;
        if (job->sent == job->out.length)
            job->sent = job->out.length = 0;
    } else if (job->ended == job->choice_count) {
        length = MHD_CONTENT_READER_END_OF_STREAM;
    } else {
        job->sleeping = true;
        MHD_suspend_connection(job->connection);
    }
    pthread_mutex_unlock(job->lock);
    return length;
}

/* `text` is the response's from now on. */
static enum MHD_Result answer(struct MHD_Connection *connection, int status, char *text, const char *type)
{
    struct MHD_Response *response = MHD_create_response_from_buffer(strlen(text), text, MHD_RESPMEM_MUST_FREE);
    MHD_add_response_header(response, "Content-Type", type);
    enum MHD_Result result = MHD_queue_response(connection, (unsigned)status, response);
    MHD_destroy_response(response);
    return result;
}

static enum MHD_Result refuse(struct MHD_Connection *connection, int status, const char *message)
{
    return answer(connection, status, lm_job_error(message, status >= 500 ? "server_error" : "invalid_request_error"),
                  "application/json");
}

static enum MHD_Result list_models(const struct server *server, struct MHD_Connection *connection)
{
    json_t *root = json_pack("{s:s s:[{s:s s:s s:i s:s s:i}]}", "object", "list", "data", "id", server->name, "object",
                             "model", "created", 0, "owned_by", "akgen", "max_model_len", server->writer.longest);
    char *text = json_dumps(root, JSON_COMPACT);
    json_decref(root);
    return answer(connection, MHD_HTTP_OK, text, "application/json");
}

static enum MHD_Result send_stream(struct lm_job *job, struct MHD_Connection *connection)
{
    struct MHD_Response *response =
        MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, 1 << 14, read_stream, job, NULL);
    MHD_add_response_header(response, "Content-Type", "text/event-stream");
    MHD_add_response_header(response, "Cache-Control", "no-cache");
    enum MHD_Result result = MHD_queue_response(connection, MHD_HTTP_OK, response);
    MHD_destroy_response(response);
    return result;
}

/* The body is there: it becomes a job. */
static enum MHD_Result start(struct exchange *exchange, struct MHD_Connection *connection, bool chat)
{
    struct server *server = exchange->server;
    if (exchange->too_long)
        return refuse(connection, MHD_HTTP_CONTENT_TOO_LARGE, "the body has more than 64 MiB");
    struct lm_job *job;
    struct akgen_error *error = lm_job_parse(exchange->body.bytes ? exchange->body.bytes : "", exchange->body.length,
                                             chat, &server->writer, &job);
    if (!error && (error = lm_engine_check(server->writer.engine, &job->request)))
        lm_job_free(job);
    if (error) {
        enum MHD_Result result = refuse(connection, MHD_HTTP_BAD_REQUEST, error->message);
        error_free(error);
        return result;
    }
    job->lock = &server->lock;
    job->model = server->name;
    job->connection = connection;
    job->socket = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD)->connect_fd;
    job->wake = wake;
    job->holders = 2;
    exchange->job = job;
    pthread_mutex_lock(&server->lock);
    job->next = server->jobs;
    job->before = &server->jobs;
    if (job->next)
        job->next->before = &job->next;
    server->jobs = job;
    bool room = server->waiting < MOST_JOBS;
    if (room) {
        server->inbox[server->waiting++] = job;
        pthread_cond_signal(&server->work);
        if (!job->stream) {
            job->sleeping = true;
            MHD_suspend_connection(connection);
        }
    } else {
        job->holders = 1;
    }
    pthread_mutex_unlock(&server->lock);
    if (!room)
        return refuse(connection, MHD_HTTP_SERVICE_UNAVAILABLE, "too many requests wait");
    return job->stream ? send_stream(job, connection) : MHD_YES;
}

static enum MHD_Result on_request(void *closure, struct MHD_Connection *connection, const char *url, const char *method,
                                  const char *version, const char *data, size_t *length, void **state)
{
    struct server *server = closure;
    struct exchange *exchange = *state;
    bool chat = strcmp(url, "/v1/chat/completions") == 0, completions = strcmp(url, "/v1/completions") == 0;
    (void)version;
    if (!exchange) {
        *state = exchange = memory_alloc(sizeof *exchange);
        exchange->server = server;
        return MHD_YES;
    }
    if (*length) {
        exchange->too_long |= exchange->body.length + *length > LARGEST_BODY;
        if (!exchange->too_long)
            text_append(&exchange->body, data, *length);
        *length = 0;
        return MHD_YES;
    }
    if (exchange->job) { /* it was woken: the answer is whole */
        char *text = exchange->job->out.bytes;
        if (exchange->job->no_number)
            return refuse(connection, MHD_HTTP_INTERNAL_SERVER_ERROR, LM_NO_NUMBER);
        if (!text)
            return refuse(connection, MHD_HTTP_SERVICE_UNAVAILABLE, "the server ends");
        exchange->job->out = (struct text){0};
        return answer(connection, MHD_HTTP_OK, text, "application/json");
    }
    if (strcmp(method, "GET") == 0 && strcmp(url, "/v1/models") == 0)
        return list_models(server, connection);
    if (strcmp(method, "GET") == 0 && strcmp(url, "/health") == 0)
        return answer(connection, MHD_HTTP_OK, memory_string("{}"), "application/json");
    if (!chat && !completions)
        return refuse(connection, MHD_HTTP_NOT_FOUND, "there are /v1/models, /v1/completions and /v1/chat/completions");
    if (strcmp(method, "POST") != 0)
        return refuse(connection, MHD_HTTP_METHOD_NOT_ALLOWED, "this takes POST");
    return start(exchange, connection, chat);
}

static void on_end(void *closure, struct MHD_Connection *connection, void **state, enum MHD_RequestTerminationCode code)
{
    struct exchange *exchange = *state;
    (void)closure;
    (void)connection;
    (void)code;
    if (!exchange)
        return;
    struct lm_job *job = exchange->job;
    if (job) {
        pthread_mutex_lock(&exchange->server->lock);
        job->abandoned = true;
        job->sleeping = false;
        bool last = lm_job_leave(job);
        pthread_mutex_unlock(&exchange->server->lock);
        if (last)
            lm_job_free(job);
    }
    text_free(&exchange->body);
    free(exchange);
}

/* ---- Begin and end */

static struct akgen_error *load(struct server *server, struct arena *arena)
{
    const struct lm_server_options *options = server->options;
    const struct lm_engine_options how = {
        .threads = options->threads, .texts = options->texts, .longest = options->longest, .int8 = options->int8};
    char *last = arena_strdup(arena, options->folder);
    for (size_t n = strlen(last); n > 1 && last[n - 1] == '/'; n--)
        last[n - 1] = '\0';
    server->name = options->name ? options->name : strrchr(last, '/') ? strrchr(last, '/') + 1 : last;
    return lm_writer_open(options->folder, &how, &server->writer);
}

/* Nobody writes any more: who waits is told, and the writer's share of the jobs is given up. */
static void let_go(struct server *server)
{
    pthread_mutex_lock(&server->lock);
    for (struct lm_job *next, *job = server->jobs; job; job = next) {
        next = job->next;
        bool written = job->ended == job->choice_count;
        job->ended = job->choice_count;
        wake(job);
        if (!written && lm_job_leave(job))
            lm_job_free(job);
    }
    pthread_mutex_unlock(&server->lock);
}

static struct akgen_error *serve(struct server *server)
{
    const struct lm_server_options *options = server->options;
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)options->port)};
    pthread_t writer;
    if (inet_pton(AF_INET, options->host, &address.sin_addr) != 1)
        return error_new("'%s' is no IPv4 address", options->host);
    struct MHD_Daemon *daemon = MHD_start_daemon(
        MHD_USE_INTERNAL_POLLING_THREAD | MHD_ALLOW_SUSPEND_RESUME, (uint16_t)options->port, NULL, NULL, on_request,
        server, MHD_OPTION_SOCK_ADDR, &address, MHD_OPTION_NOTIFY_COMPLETED, on_end, NULL, MHD_OPTION_END);
    if (!daemon)
        return error_new("%s:%d cannot be had: %s", options->host, options->port, strerror(errno));
    if (pthread_create(&writer, NULL, write_all, server) != 0) {
        MHD_stop_daemon(daemon);
        return error_new("no thread to write with: %s", strerror(errno));
    }
    const union MHD_DaemonInfo *info = MHD_get_daemon_info(daemon, MHD_DAEMON_INFO_BIND_PORT);
    if (options->on_ready)
        options->on_ready(options->closure, info ? info->port : options->port);
    while (!*options->stop)
        usleep(50000);
    pthread_mutex_lock(&server->lock);
    server->ends = true;
    pthread_cond_signal(&server->work);
    pthread_mutex_unlock(&server->lock);
    pthread_join(writer, NULL);
    let_go(server);
    MHD_stop_daemon(daemon);
    return NULL;
}

struct akgen_error *lm_serve(const struct lm_server_options *options)
{
    struct arena arena = {0};
    struct server *server = memory_alloc(sizeof *server);
    *server = (struct server){.options = options, .lock = PTHREAD_MUTEX_INITIALIZER, .work = PTHREAD_COND_INITIALIZER};
    struct akgen_error *error = load(server, &arena);
    if (!error)
        error = serve(server);
    lm_writer_close(&server->writer);
    free(server);
    arena_free(&arena);
    return error;
}
