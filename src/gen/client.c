/* The thread that asks: a queue of jobs, places for those that are being asked, and what the end of a try means for its
 * job. client_internal.h tells the story. */
#include "base/clock.h"
#include "base/memory.h"
#include "gen/client_internal.h"
#include "gen/model.h"

#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const double longest_backoff_seconds = 60, longest_wait_seconds = 3600, look_again_seconds = 60;

/* Jobs. */
static const char *kept_string(struct arena *arena, const char *text)
{
    return text ? arena_strdup(arena, text) : NULL;
}

static struct gen_job *job_new(struct gen_client *client, const struct gen_request *request)
{
    struct gen_job *job = memory_alloc(sizeof *job);
    struct gen_reply *reply = memory_alloc(sizeof *reply);
    struct gen_message *messages = arena_alloc(&reply->arena, sizeof *messages * (size_t)(request->message_count + 1));
    for (int i = 0; i < request->message_count; i++)
        messages[i] = (struct gen_message){.role = arena_strdup(&reply->arena, request->messages[i].role),
                                           .text = arena_strdup(&reply->arena, request->messages[i].text)};
    job->client = client;
    job->reply = reply;
    job->request = *request;
    job->request.n = request->n > 1 ? request->n : 1;
    job->request.messages = messages;
    job->request.grammar = request->grammar ? arena_strdup(&reply->arena, request->grammar) : NULL;
    struct gen_sampling kept = request->sampling;
    const char **stop = arena_alloc(&reply->arena, sizeof *stop * (size_t)(request->sampling.stop_count + 1));
    for (int i = 0; i < request->sampling.stop_count; i++)
        stop[i] = arena_strdup(&reply->arena, request->sampling.stop[i]);
    kept.stop = stop;
    job->request.sampling = kept;
    job->run = (struct gen_run){.input = -1, .output = -1, .errors = -1, .ended = -1};
    reply->closure = request->closure;
    reply->choices = arena_alloc(&reply->arena, sizeof *reply->choices * (size_t)job->request.n);
    return job;
}

/* What the try holds; the job can be tried again. */
static void drop_try(struct gen_job *job)
{
    gen_http_drop(job);
    gen_command_drop(job);
    gen_engine_drop(job);
    job->trying = false;
}

static void job_free(struct gen_job *job)
{
    drop_try(job);
    gen_reply_free(job->reply);
    free(job);
}

void gen_job_answer(struct gen_job *job, const struct text *text, const struct text *reasoning, const char *finish)
{
    struct gen_reply *reply = job->reply;
    const char *key = job->client->endpoint.key;
    if (reply->count == job->request.n)
        return;
    struct gen_choice *choice = &reply->choices[reply->count++];
    choice->text = gen_without_key(&reply->arena, text->bytes ? text->bytes : "", key);
    if (reasoning)
        choice->reasoning = gen_without_key(&reply->arena, reasoning->bytes ? reasoning->bytes : "", key);
    if (finish)
        choice->finish = gen_without_key(&reply->arena, finish, key);
}

void gen_job_take(struct gen_job *job, struct gen_outcome *outcome)
{
    const struct gen_incoming *incoming = &job->incoming;
    for (int i = 0; i < incoming->count; i++) {
        const struct gen_partial *choice = &incoming->choices[i];
        if (choice->seen)
            gen_job_answer(job, &choice->text, choice->reasoned ? &choice->reasoning : NULL, choice->finish);
    }
    job->uncounted |= !incoming->counted;
    job->reply->prompt_tokens += incoming->prompt_tokens;
    job->reply->completion_tokens += incoming->completion_tokens;
    outcome->end = GEN_ANSWERED;
}

/* Keeps what was sent and what came of a try that is the last. */
static void keep_try(struct gen_job *job)
{
    struct gen_reply *reply = job->reply;
    const bool own = job->client->endpoint.writer;
    if (own)
        job->body = gen_engine_asked(job);
    const char *key = job->client->endpoint.key, *sent = job->body ? job->body : job->run.prompt;
    char *came = own ? gen_engine_said(job) : job->easy ? gen_incoming_text(&job->incoming) : NULL;
    const char *text = came ? came : job->run.out.bytes ? job->run.out.bytes : "";
    reply->request = gen_without_key(&reply->arena, sent ? sent : "", key);
    char *response = gen_without_key(&reply->arena, text, key);
    if (strlen(response) > GEN_KEPT_LIMIT)
        response[GEN_KEPT_LIMIT] = '\0';
    text_make_utf8(response);
    reply->response = response;
    free(came);
}

/* The end of a try. */
static void fail(struct gen_job *job, const char *why, bool hopeless)
{
    struct gen_reply *reply = job->reply;
    const struct gen_endpoint *endpoint = &job->client->endpoint;
    struct arena scratch = {0};
    const char *where = endpoint->url      ? job->client->address
                        : endpoint->writer ? gen_endpoint_name(&scratch, endpoint)
                                           : "exec";
    const char *tries = job->failures > 1 ? arena_printf(&scratch, " (%d tries)", job->failures) : "";
    reply->failure =
        gen_without_key(&reply->arena, arena_printf(&scratch, "%s: %s%s", where, why, tries), endpoint->key);
    reply->hopeless = hopeless;
    arena_free(&scratch);
}

/* When to try again what has failed; 0: the server wants to be left alone for longer than anybody waits. */
static double moment_of_retry(struct gen_job *job, const struct gen_outcome *outcome, double now)
{
    struct gen_client *client = job->client;
    double wait = client->endpoint.backoff_seconds * exp2(fmin(job->failures - 1, 30));
    wait = fmin(wait, longest_backoff_seconds) * (0.5 + 0.5 * rng_uniform(&client->jitter));
    if (outcome->wait > longest_wait_seconds)
        return 0;
    if (outcome->wait > 0) {
        wait = fmax(wait, outcome->wait);
        client->not_before = fmax(client->not_before, now + outcome->wait);
    }
    return now + wait;
}

/* True if the job's reply is there. */
static bool settle(struct gen_job *job, struct gen_outcome *outcome)
{
    double now = clock_seconds(), due = now;
    bool over = false;
    if (outcome->end == GEN_ANSWERED) {
        job->failures = 0;
        over = job->reply->count == job->request.n;
    } else if (outcome->end == GEN_AGAIN) {
        job->client->quirks.no_usage |= job->quirks.no_usage;
        job->client->quirks.single |= job->quirks.single;
        job->client->quirks.completion_tokens |= job->quirks.completion_tokens;
    } else {
        job->failures++;
        over = outcome->end == GEN_REFUSED || job->failures > job->client->endpoint.retries;
        if (!over && !(due = moment_of_retry(job, outcome, now))) {
            char *why = outcome->why;
            if (asprintf(&outcome->why, "%s; it asks to wait for %.0f s", why, outcome->wait) < 0)
                memory_exhausted(0);
            free(why);
            over = true;
        }
        if (over)
            fail(job, outcome->why, outcome->hopeless);
    }
    free(outcome->why);
    *outcome = (struct gen_outcome){0};
    if (over) {
        struct gen_client *client = job->client;
        struct gen_reply *reply = job->reply;
        reply->seconds = clock_seconds() - job->first;
        if (job->uncounted || !reply->count)
            reply->prompt_tokens = reply->completion_tokens = -1;
        keep_try(job);
        drop_try(job);
        pthread_mutex_lock(&client->lock);
        *client->done_end = job;
        client->done_end = &job->next;
        pthread_cond_broadcast(&client->changed);
        pthread_mutex_unlock(&client->lock);
        return true;
    }
    drop_try(job);
    job->due = due;
    return false;
}

/* The thread. */
static void begin_try(struct gen_job *job, struct gen_outcome *outcome)
{
    job->trying = true;
    job->reply->tries++;
    if (job->client->endpoint.url)
        gen_http_begin(job);
    else if (job->client->endpoint.writer)
        gen_engine_begin(job, outcome);
    else
        gen_command_begin(job, outcome);
}

/* Lets a job do what is due. True if its reply is there. */
static bool step(struct gen_job *job, double *next)
{
    struct gen_client *client = job->client;
    struct gen_outcome outcome = {0};
    double now = clock_seconds(), due = fmax(job->due, client->not_before);
    if (!job->trying && now < due) {
        *next = fmin(*next, due);
        return false;
    }
    if (!job->trying)
        begin_try(job, &outcome);
    else if (client->endpoint.url)
        gen_http_look(job, now, next, &outcome);
    else if (client->endpoint.writer)
        gen_engine_look(job, now, &outcome);
    else
        gen_command_look(job, now, next, &outcome);
    if (!outcome.end)
        return false;
    *next = 0;
    return settle(job, &outcome);
}

/* Settles the transfers that libcurl has ended. */
static bool take_ended(struct gen_client *client)
{
    int left;
    bool any = false;
    for (CURLMsg *message; (message = gen_curl.multi_info_read(client->multi, &left)); any = true) {
        struct gen_job *job;
        struct gen_outcome outcome = {0};
        CURLcode code = message->data.result;
        gen_curl.easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, &job);
        gen_http_ended(job, code, &outcome);
        if (settle(job, &outcome))
            for (int i = 0; i < client->endpoint.concurrency; i++)
                if (client->places[i] == job)
                    client->places[i] = NULL;
    }
    return any;
}

static void free_list(struct gen_job **list, struct gen_job ***end)
{
    while (*list) {
        struct gen_job *job = *list;
        *list = job->next;
        job_free(job);
    }
    *end = list;
}

/* Does what is due and waits for what is next. */
static void turn(struct gen_client *client)
{
    int running, count = 0;
    double next = clock_seconds() + look_again_seconds;
    /* Fills free places from the queue. */
    pthread_mutex_lock(&client->lock);
    for (int i = 0; i < client->endpoint.concurrency && client->queue; i++)
        if (!client->places[i]) {
            struct gen_job *job = client->queue;
            client->queue = job->next;
            if (!client->queue)
                client->queue_end = &client->queue;
            job->next = NULL;
            job->first = clock_seconds();
            client->places[i] = job;
        }
    pthread_mutex_unlock(&client->lock);
    for (int i = 0; i < client->endpoint.concurrency; i++)
        if (client->places[i] && step(client->places[i], &next))
            client->places[i] = NULL;
    if (client->endpoint.writer) {
        /* Lets the engine write one token of each answer, or waits for a request. */
        if (!lm_engine_step(client->endpoint.writer->engine)) {
            pthread_mutex_lock(&client->lock);
            while (!client->queue && !client->closing && client->stopping == client->stopped)
                pthread_cond_wait(&client->changed, &client->lock);
            pthread_mutex_unlock(&client->lock);
        }
        return;
    }
    gen_curl.multi_perform(client->multi, &running);
    if (take_ended(client))
        return;
    for (int i = 0; i < client->endpoint.concurrency; i++)
        if (client->places[i])
            count += gen_command_fds(client->places[i], client->fds + count);
    double wait = ceil((next - clock_seconds()) * 1e3);
    gen_curl.multi_poll(client->multi, client->fds, (unsigned)count, wait > 0 ? (int)wait : 0, NULL);
}

static void *serve(void *closure)
{
    struct gen_client *client = closure;
    for (;;) {
        pthread_mutex_lock(&client->lock);
        bool stopping = client->stopping && !client->stopped, closing = client->closing;
        pthread_mutex_unlock(&client->lock);
        if (stopping) {
            /* Ends everything that has no reply yet. */
            for (int i = 0; i < client->endpoint.concurrency; i++)
                if (client->places[i]) {
                    job_free(client->places[i]);
                    client->places[i] = NULL;
                }
            pthread_mutex_lock(&client->lock);
            free_list(&client->queue, &client->queue_end);
            client->under_way = 0;
            for (const struct gen_job *job = client->done; job; job = job->next)
                client->under_way++;
            client->stopped = true;
            pthread_cond_broadcast(&client->changed);
            pthread_mutex_unlock(&client->lock);
        }
        if (closing)
            return NULL;
        turn(client);
    }
}

/* The door. */
/* The URL that is posted to: the protocol's path behind the base's, before a query. */
static struct akgen_error *address_of(struct gen_client *client)
{
    struct gen_endpoint *endpoint = &client->endpoint;
    enum gen_api api = endpoint->api;
    struct akgen_error *error = gen_client_url(&client->arena, endpoint->url, &endpoint->url, &api);
    if (error)
        return error;
    char *path = NULL, *url = NULL;
    CURLU *parsed = gen_curl.url();
    if (!parsed)
        memory_exhausted(0);
    gen_curl.url_set(parsed, CURLUPART_URL, endpoint->url, 0);
    gen_curl.url_get(parsed, CURLUPART_PATH, &path, 0);
    const char *end = endpoint->api == GEN_CHAT ? "chat/completions" : "completions";
    gen_curl.url_set(parsed, CURLUPART_PATH, arena_printf(&client->arena, "%s/%s", path ? path : "", end), 0);
    gen_curl.url_get(parsed, CURLUPART_URL, &url, 0);
    client->address = arena_strdup(&client->arena, url ? url : "");
    gen_curl.free(path);
    gen_curl.free(url);
    gen_curl.url_cleanup(parsed);
    return NULL;
}

static struct akgen_error *check(const struct gen_endpoint *endpoint)
{
    if (!!endpoint->url + !!endpoint->command + !!endpoint->writer != 1)
        return error_new("a model needs a server's URL, a command or a folder that was read");
    if (endpoint->url && !endpoint->model)
        return error_new("a server needs the name of a model (--model); URL/models lists those that it has");
    if (endpoint->concurrency < 1 || endpoint->retries < 0)
        return error_new("%d requests at a time with %d retries: at least 1 and 0 are needed", endpoint->concurrency,
                         endpoint->retries);
    return NULL;
}

static void client_free(struct gen_client *client)
{
    free_list(&client->queue, &client->queue_end);
    free_list(&client->done, &client->done_end);
    if (client->multi)
        gen_curl.multi_cleanup(client->multi);
    for (int i = 0; i < 2; i++)
        if (client->life[i] >= 0)
            close(client->life[i]);
    pthread_mutex_destroy(&client->lock);
    pthread_cond_destroy(&client->changed);
    arena_free(&client->arena);
    free(client);
}

struct akgen_error *gen_client_open(const struct gen_endpoint *endpoint, struct gen_client **opened)
{
    struct akgen_error *error = check(endpoint);
    const bool curl = !endpoint->writer;
    if (!error && curl)
        error = gen_curl_load();
    if (error)
        return error;
    struct gen_client *client = memory_alloc(sizeof *client);
    size_t places = (size_t)endpoint->concurrency;
    pthread_mutex_init(&client->lock, NULL);
    pthread_cond_init(&client->changed, NULL);
    client->life[0] = client->life[1] = -1;
    if (endpoint->command && pipe2(client->life, O_CLOEXEC) != 0)
        error = error_new("no pipe for commands: %m");
    client->queue_end = &client->queue;
    client->done_end = &client->done;
    struct arena *arena = &client->arena;
    const char *proxied = getenv("no_proxy");
    proxied = proxied ? proxied : getenv("NO_PROXY");
    client->endpoint = *endpoint;
    client->endpoint.url = kept_string(arena, endpoint->url);
    client->endpoint.folder = kept_string(arena, endpoint->folder);
    client->endpoint.command = kept_string(arena, endpoint->command);
    client->endpoint.model = kept_string(arena, endpoint->model);
    client->endpoint.key = kept_string(arena, endpoint->key);
    client->no_proxy =
        arena_printf(arena, "localhost,127.0.0.0/8,::1%s%s", proxied && *proxied ? "," : "", proxied ? proxied : "");
    client->places = arena_alloc(&client->arena, sizeof(struct gen_job *) * places);
    client->fds = arena_alloc(&client->arena, sizeof *client->fds * places * GEN_COMMAND_FDS);
    rng_seed(&client->jitter, (uint64_t)(clock_seconds() * 1e9));
    if (curl && !(client->multi = gen_curl.multi_init()) && !error)
        error = error_new("libcurl cannot begin");
    if (!error && curl)
        gen_curl.multi_setopt(client->multi, CURLMOPT_MAXCONNECTS, (long)endpoint->concurrency);
    if (!error && endpoint->url)
        error = address_of(client);
    if (!error) {
        sigset_t all, old;
        sigfillset(&all); /* signals are for the other threads; a pipe that nobody reads is an error here */
        pthread_sigmask(SIG_BLOCK, &all, &old);
        int failed = pthread_create(&client->thread, NULL, serve, client);
        pthread_sigmask(SIG_SETMASK, &old, NULL);
        error = failed ? error_new("a thread cannot be started: %s", strerror(failed)) : NULL;
    }
    if (error)
        client_free(client);
    *opened = error ? NULL : client;
    return error;
}

/* Lets the thread look again; what it looks at was changed under the lock. */
static void wake(struct gen_client *client)
{
    if (client->multi)
        gen_curl.multi_wakeup(client->multi);
    else
        pthread_cond_broadcast(&client->changed);
}

void gen_client_submit(struct gen_client *client, const struct gen_request *request)
{
    struct gen_job *job = job_new(client, request);
    pthread_mutex_lock(&client->lock);
    bool stopped = client->stopping;
    if (!stopped) {
        *client->queue_end = job;
        client->queue_end = &job->next;
        client->under_way++;
    }
    pthread_mutex_unlock(&client->lock);
    if (stopped)
        job_free(job);
    else
        wake(client);
}

struct gen_reply *gen_client_next(struct gen_client *client)
{
    struct gen_reply *reply = NULL;
    pthread_mutex_lock(&client->lock);
    while (!client->done && client->under_way)
        pthread_cond_wait(&client->changed, &client->lock);
    struct gen_job *job = client->done;
    if (job) {
        client->done = job->next;
        if (!client->done)
            client->done_end = &client->done;
        client->under_way--;
        if (!client->under_way)
            pthread_cond_broadcast(&client->changed); /* others that wait */
        reply = job->reply;
        job->reply = NULL;
    }
    pthread_mutex_unlock(&client->lock);
    free(job);
    return reply;
}

void gen_client_stop(struct gen_client *client)
{
    pthread_mutex_lock(&client->lock);
    client->stopping = true;
    wake(client);
    while (!client->stopped)
        pthread_cond_wait(&client->changed, &client->lock);
    pthread_mutex_unlock(&client->lock);
}

void gen_client_close(struct gen_client *client)
{
    if (!client)
        return;
    pthread_mutex_lock(&client->lock);
    client->stopping = client->closing = true;
    wake(client);
    pthread_mutex_unlock(&client->lock);
    pthread_join(client->thread, NULL);
    client_free(client);
}

void gen_reply_free(struct gen_reply *reply)
{
    if (!reply)
        return;
    arena_free(&reply->arena);
    free(reply);
}
