/* One try of a server: a POST, what comes back of it, and what its end means. */
#include "base/clock.h"
#include "base/memory.h"
#include "gen/client_internal.h"

#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

enum { WORDS_OF_SERVER = 300 };
static const double after_done_seconds = 1; /* behind [DONE] nothing comes but the end */

static size_t take_bytes(char *bytes, size_t size, size_t count, void *closure)
{
    struct gen_job *job = closure;
    long status = 0;
    size_t length = size * count;
    job->heard = clock_seconds();
    if (job->incoming.length + length > GEN_REPLY_LIMIT) {
        job->too_long = true;
        return 0;
    }
    if (!job->incoming.length) {
        gen_curl.easy_getinfo(job->easy, CURLINFO_RESPONSE_CODE, &status);
        job->incoming.whole = status >= 300;
    }
    gen_incoming_add(&job->incoming, bytes, length);
    if (job->incoming.done && !job->over)
        job->over = job->heard + after_done_seconds;
    return length;
}

/* Programs that akgen starts inherit no connection: one that stays open in them would not end where it is closed here. */
static curl_socket_t open_socket(void *closure, curlsocktype purpose, struct curl_sockaddr *address)
{
    (void)closure, (void)purpose;
    return socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
}

static long milliseconds(double seconds)
{
    return seconds > 1e6 ? 1000000000L : seconds > 0 ? (long)(seconds * 1e3) + 1 : 0; /* 0: no limit */
}

void gen_http_begin(struct gen_job *job)
{
    const struct gen_client *client = job->client;
    const struct gen_endpoint *endpoint = &client->endpoint;
    int wanted = client->quirks.single ? 1 : job->request.n - job->reply->count;
    job->quirks = client->quirks;
    job->incoming = (struct gen_incoming){.wanted = wanted};
    job->body = gen_protocol_body(endpoint, &job->request, wanted, job->request.seed + (uint64_t)job->reply->count,
                                  &job->quirks);
    job->began = job->heard = clock_seconds();
    job->over = 0;
    job->too_long = false;
    *job->curl_error = '\0';
    const char *key = job->client->endpoint.key;
    job->headers = gen_curl.slist_append(NULL, "Content-Type: application/json");
    job->headers =
        gen_curl.slist_append(job->headers, job->client->endpoint.stream ? "Accept: text/event-stream, application/json"
                                                                         : "Accept: application/json");
    job->headers = gen_curl.slist_append(job->headers, "Expect:"); /* a long prompt waits for no permission */
    if (key) {
        char *line = memory_alloc(strlen(key) + sizeof "Authorization: Bearer ");
        stpcpy(stpcpy(line, "Authorization: Bearer "), key);
        job->headers = gen_curl.slist_append(job->headers, line);
        explicit_bzero(line, strlen(line));
        free(line);
    }
    if (!(job->easy = gen_curl.easy_init()))
        memory_exhausted(0);
    gen_curl.easy_setopt(job->easy, CURLOPT_URL, client->address);
    gen_curl.easy_setopt(job->easy, CURLOPT_PROTOCOLS_STR, "http,https");
    gen_curl.easy_setopt(job->easy, CURLOPT_FOLLOWLOCATION, 0L); /* the key goes to the host that was named */
    gen_curl.easy_setopt(job->easy, CURLOPT_NOPROXY, client->no_proxy);
    gen_curl.easy_setopt(job->easy, CURLOPT_POST, 1L);
    gen_curl.easy_setopt(job->easy, CURLOPT_POSTFIELDS, job->body);
    gen_curl.easy_setopt(job->easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)strlen(job->body));
    gen_curl.easy_setopt(job->easy, CURLOPT_HTTPHEADER, job->headers);
    gen_curl.easy_setopt(job->easy, CURLOPT_USERAGENT, "akgen/" AKGEN_VERSION);
    gen_curl.easy_setopt(job->easy, CURLOPT_WRITEFUNCTION, take_bytes);
    gen_curl.easy_setopt(job->easy, CURLOPT_WRITEDATA, job);
    gen_curl.easy_setopt(job->easy, CURLOPT_OPENSOCKETFUNCTION, open_socket);
    gen_curl.easy_setopt(job->easy, CURLOPT_ERRORBUFFER, job->curl_error);
    gen_curl.easy_setopt(job->easy, CURLOPT_PRIVATE, job);
    gen_curl.easy_setopt(job->easy, CURLOPT_NOSIGNAL, 1L);
    gen_curl.easy_setopt(job->easy, CURLOPT_QUICK_EXIT, 1L); /* a name that is looked up delays no gen_client_stop */
    gen_curl.easy_setopt(job->easy, CURLOPT_TCP_KEEPALIVE, 1L);
    gen_curl.easy_setopt(job->easy, CURLOPT_CONNECTTIMEOUT_MS, milliseconds(endpoint->connect_seconds));
    gen_curl.easy_setopt(job->easy, CURLOPT_TIMEOUT_MS, milliseconds(endpoint->total_seconds));
    gen_curl.multi_add_handle(client->multi, job->easy);
}

void gen_http_drop(struct gen_job *job)
{
    if (!job->easy)
        return;
    gen_curl.multi_remove_handle(job->client->multi, job->easy); /* closes the connection unless the reply was whole */
    gen_curl.easy_cleanup(job->easy);
    job->easy = NULL;
    for (struct curl_slist *line = job->headers; line; line = line->next)
        explicit_bzero(line->data, strlen(line->data));
    gen_curl.slist_free_all(job->headers);
    job->headers = NULL;
    free(job->body);
    job->body = NULL;
    gen_incoming_free(&job->incoming);
}

/* Ends. */
/* What is done about a reply of this status, below 400 a redirection; the first row that holds it. */
static const struct status {
    int low, high;
    bool again, hopeless;
    const char *remedy; /* printf: one string, the URL */
} statuses[] = {
    {300, 399, false, true,
     "redirections are not followed, so that the key reaches no other host; give the URL that it names"},
    {401, 401, false, true, "a key that the server takes belongs into AKGEN_API_KEY or --key-file"},
    {402, 402, false, true, "the account has to pay"},
    {403, 403, false, true,
     "this key has no right to this model; another one belongs into AKGEN_API_KEY or --key-file"},
    {404, 404, false, true,
     "either --model names no model of the server (URL/models lists them) or the URL is not the protocol's base"},
    {405, 405, false, true, "the URL is not the protocol's base, as http://HOST:PORT/v1 is"},
    {408, 409, true, false, NULL},
    {413, 413, false, false, "the prompt is too long for the server"},
    {425, 425, true, false, NULL},
    {429, 429, true, false, NULL},
    {400, 499, false, false,
     "the server does not take this request; --model, sampling options and the length of the prompt are in it"},
    {500, 599, true, false, NULL},
    {0, INT32_MAX, true, false, NULL},
};

/* The first line of what the server says, without the key and what would spoil a line. */
static void add_words_of_server(struct text *why, const struct gen_job *job)
{
    const struct gen_incoming *incoming = &job->incoming;
    struct arena scratch = {0};
    const char *said = incoming->error ? incoming->error : incoming->body.bytes ? incoming->body.bytes : "";
    const char *words = gen_without_key(&scratch, said + strspn(said, " \t\r\n"), job->client->endpoint.key);
    size_t length = 0, begin = why->length;
    while (words[length] && length < WORDS_OF_SERVER && !strchr("\r\n", words[length]))
        length++;
    text_append(why, words, length);
    for (size_t i = begin; i < why->length; i++)
        if ((unsigned char)why->bytes[i] < ' ' || why->bytes[i] == 0x7f)
            why->bytes[i] = ' ';
    text_make_utf8(why->bytes + begin);
    arena_free(&scratch);
}

static void end_by_status(struct gen_job *job, int status, struct gen_outcome *outcome)
{
    const struct status *row = statuses;
    struct text why = {0};
    curl_off_t wait = 0;
    const char *words = job->incoming.error;
    if (job->incoming.whole && gen_quirks_learn(&job->quirks, words, job->incoming.wanted) &&
        (status == 400 || status == 422)) {
        outcome->end = GEN_AGAIN;
        return;
    }
    while (status < row->low || status > row->high)
        row++;
    gen_curl.easy_getinfo(job->easy, CURLINFO_RETRY_AFTER, &wait);
    bool no_quota = status == 429 && words && strstr(words, "insufficient_quota");
    text_addf(&why, "HTTP %d: ", status);
    add_words_of_server(&why, job);
    if (row->remedy)
        text_addf(&why, "; %s", row->remedy);
    *outcome = (struct gen_outcome){.end = row->again && !no_quota ? GEN_RETRY : GEN_REFUSED,
                                    .why = why.bytes,
                                    .wait = (double)wait,
                                    .hopeless = row->hopeless || no_quota};
}

/* What libcurl gives up for, where another try may help, and where none can. */
static const CURLcode passing[] = {
    CURLE_COULDNT_RESOLVE_PROXY,
    CURLE_COULDNT_RESOLVE_HOST,
    CURLE_COULDNT_CONNECT,
    CURLE_WEIRD_SERVER_REPLY,
    CURLE_PARTIAL_FILE,
    CURLE_OPERATION_TIMEDOUT,
    CURLE_GOT_NOTHING,
    CURLE_SEND_ERROR,
    CURLE_RECV_ERROR,
    CURLE_HTTP2,
    CURLE_HTTP2_STREAM,
    CURLE_SSL_CONNECT_ERROR,
    CURLE_AGAIN,
};

static void end_by_code(struct gen_job *job, CURLcode code, struct gen_outcome *outcome)
{
    bool again = false;
    const char *words = *job->curl_error ? job->curl_error : gen_curl.easy_strerror(code);
    for (size_t i = 0; i < sizeof passing / sizeof *passing; i++)
        again |= passing[i] == code;
    struct text why = {0};
    bool too_long =
        code == CURLE_OPERATION_TIMEDOUT && clock_seconds() - job->began >= job->client->endpoint.total_seconds;
    if (too_long)
        text_addf(&why, "no whole answer within %g s", job->client->endpoint.total_seconds);
    else
        text_add(&why, words);
    if (too_long && job->incoming.count) { /* the model goes on and on, and would again */
        text_add(&why, "; --max-answer-tokens limits an answer, --answer-timeout its time");
        again = false;
    }
    *outcome =
        (struct gen_outcome){.end = again ? GEN_RETRY : GEN_REFUSED, .why = why.bytes, .hopeless = !again && !too_long};
}

void gen_http_ended(struct gen_job *job, CURLcode code, struct gen_outcome *outcome)
{
    long status = 0;
    gen_curl.easy_getinfo(job->easy, CURLINFO_RESPONSE_CODE, &status);
    gen_incoming_end(&job->incoming);
    const char *wrong = gen_incoming_wrong(&job->incoming);
    if (job->too_long)
        *outcome = (struct gen_outcome){.end = GEN_REFUSED, .why = memory_string("the reply is longer than 64 MiB")};
    else if (status >= 300)
        end_by_status(job, (int)status, outcome);
    else if (status && !wrong)
        gen_job_take(job, outcome);
    else if (status && job->incoming.error)
        end_by_status(job, job->incoming.code ? job->incoming.code : 500, outcome);
    else if (code != CURLE_OK)
        end_by_code(job, code, outcome);
    else
        *outcome = (struct gen_outcome){.end = GEN_RETRY, .why = memory_string(wrong)};
}

void gen_http_look(struct gen_job *job, double now, double *next, struct gen_outcome *outcome)
{
    /* A reply that is no stream has no bytes until the model has ended. */
    const struct gen_endpoint *endpoint = &job->client->endpoint;
    bool waits = endpoint->idle_seconds > 0 && (endpoint->stream || job->incoming.length);
    double silent = job->heard + endpoint->idle_seconds;
    char *why = NULL;
    if ((job->over && now >= job->over) || (waits && now >= silent)) {
        gen_http_ended(job, CURLE_OK, outcome);
        if (outcome->end == GEN_RETRY && waits && now >= silent && !job->over) {
            free(outcome->why);
            if (asprintf(&why, "the stream stalled: no byte for %g s", endpoint->idle_seconds) < 0)
                memory_exhausted(0);
            outcome->why = why;
        }
        return;
    }
    if (job->over && job->over < *next)
        *next = job->over;
    if (waits && silent < *next)
        *next = silent;
}
