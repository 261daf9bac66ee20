/* One try of a model that this process runs: each answer is a request of the engine (lm/engine.h), whose steps the client's thread takes. */
#include "base/clock.h"
#include "base/memory.h"
#include "gen/client_internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* An answer that is being written: lm_request.closure. */
struct gen_written {
    struct gen_job *job;
    int index;
};

static bool engine_take_token(void *closure, const struct lm_token *token)
{
    const struct gen_written *written = closure;
    struct gen_job *job = written->job;
    struct gen_partial *choice = &job->incoming.choices[written->index];
    size_t before = choice->text.length;
    text_add(&choice->text, token->text);
    text_make_utf8(choice->text.bytes + before);
    job->incoming.completion_tokens++;
    if (token->finish == LM_GOES_ON)
        return true;
    choice->seen = true;
    choice->finish = memory_string(lm_finish_words[token->finish]);
    job->engine.no_number |= token->finish == LM_AT_NO_NUMBER;
    job->engine.ended++;
    return true;
}

static bool engine_is_wanted(void *closure)
{
    const struct gen_job *job = ((const struct gen_written *)closure)->job;
    struct gen_client *client = job->client;
    pthread_mutex_lock(&client->lock);
    bool stopping = client->stopping;
    pthread_mutex_unlock(&client->lock);
    return !stopping && !job->engine.left;
}

/* The prompt, and how an answer is drawn. */
static struct akgen_error *engine_request(struct gen_job *job, struct lm_request *request)
{
    struct lm_writer *writer = job->client->endpoint.writer;
    const struct gen_request *asked = &job->request;
    const struct gen_sampling *sampling = &asked->sampling;
    struct arena *arena = &job->engine.arena;
    struct lm_grammar *grammar = NULL;
    struct akgen_error *error;
    *request = (struct lm_request){.sampling = lm_sampling_defaults,
                                   .most = LM_PROMPT_MOST,
                                   .stops = sampling->stop,
                                   .stop_count = sampling->stop_count,
                                   .tries = asked->grammar ? asked->grammar_tries : 0,
                                   .on_token = engine_take_token,
                                   .wanted = engine_is_wanted};
    if (!isnan(sampling->temperature))
        request->sampling.temperature = sampling->temperature;
    if (!isnan(sampling->top_p))
        request->sampling.top_p = sampling->top_p;
    if (!isnan(sampling->min_p))
        request->sampling.min_p = sampling->min_p;
    if (sampling->top_k)
        request->sampling.top_k = sampling->top_k;
    request->sampling.seed = asked->seeded ? asked->seed + (uint64_t)job->reply->count : lm_writer_seed();
    if (job->client->endpoint.api == GEN_CHAT) {
        json_t *messages = gen_messages_json(asked->messages, asked->message_count);
        /* A grammar has no thought in it, so that the thought is given, and empty. */
        error = lm_writer_messages(writer, messages, NULL, !asked->grammar, arena, request);
        json_decref(messages);
        request->most = writer->longest;
    } else {
        char *prompt = gen_protocol_prompt(asked->messages, asked->message_count);
        error = lm_writer_text(writer, prompt, strlen(prompt), arena, request);
        free(prompt);
    }
    if (sampling->max_tokens)
        request->most = sampling->max_tokens < INT32_MAX ? (int)sampling->max_tokens : INT32_MAX;
    if (!error && asked->grammar)
        error = lm_grammars_take(&writer->grammars, "grammar", asked->grammar, &grammar);
    request->grammar = job->engine.grammar = grammar;
    return error;
}

void gen_engine_begin(struct gen_job *job, struct gen_outcome *outcome)
{
    struct lm_engine *engine = job->client->endpoint.writer->engine;
    const int wanted = job->request.n - job->reply->count;
    struct lm_request request;
    job->engine = (struct gen_engine_try){0};
    job->began = clock_seconds();
    struct akgen_error *error = engine_request(job, &request);
    if (!error)
        error = lm_engine_check(engine, &request);
    struct gen_written *written = arena_alloc(&job->engine.arena, (size_t)wanted * sizeof *written);
    job->incoming = (struct gen_incoming){.wanted = wanted,
                                          .choices = memory_alloc((size_t)wanted * sizeof *job->incoming.choices),
                                          .count = wanted,
                                          .prompt_tokens = request.prompt_count,
                                          .counted = true};
    memset(job->incoming.choices, 0, (size_t)wanted * sizeof *job->incoming.choices);
    for (int i = 0; i < wanted && !error; i++, request.sampling.seed++) {
        written[i] = (struct gen_written){job, i};
        request.closure = &written[i];
        error = lm_engine_add(engine, &request);
    }
    if (error)
        *outcome = (struct gen_outcome){.end = GEN_REFUSED, .why = memory_string(error->message)};
    error_free(error);
}

void gen_engine_look(struct gen_job *job, double now, struct gen_outcome *outcome)
{
    const double limit = job->client->endpoint.total_seconds;
    char *why = NULL;
    if (job->engine.no_number)
        *outcome = (struct gen_outcome){.end = GEN_REFUSED, .why = memory_string(LM_NO_NUMBER)};
    else if (job->engine.ended == job->incoming.wanted)
        gen_job_take(job, outcome);
    else if (limit > 0 && now >= job->began + limit) {
        if (asprintf(&why,
                     "no whole answer within %g s; --max-answer-tokens limits an answer, --answer-timeout its time",
                     limit) < 0)
            memory_exhausted(0);
        *outcome = (struct gen_outcome){.end = GEN_REFUSED, .why = why};
    }
}

void gen_engine_drop(struct gen_job *job)
{
    if (!job->client->endpoint.writer || !job->incoming.choices)
        return;
    job->engine.left = true;
    lm_engine_forget(job->client->endpoint.writer->engine);
    gen_incoming_free(&job->incoming);
    free(job->body);
    job->body = NULL;
    lm_grammar_free(job->engine.grammar);
    arena_free(&job->engine.arena);
    job->engine = (struct gen_engine_try){0};
}

char *gen_engine_asked(const struct gen_job *job)
{
    return gen_protocol_body(&job->client->endpoint, &job->request, job->request.n, job->request.seed, &job->quirks);
}

char *gen_engine_said(const struct gen_job *job)
{
    struct gen_incoming incoming = job->incoming;
    incoming.frame =
        json_pack("{s:s s:s}", "object", job->client->endpoint.api == GEN_CHAT ? "chat.completion" : "text_completion",
                  "model", job->client->endpoint.model);
    char *text = gen_incoming_text(&incoming);
    json_decref(incoming.frame);
    return text;
}
