/* The protocol's JSON. */
#include "lm/server_job.h"

#include "base/jsons.h"
#include "base/memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

char *lm_job_error(const char *message, const char *type)
{
    json_t *root =
        json_pack("{s:{s:o s:s s:n s:n}}", "error", "message", jsons_text(message), "type", type, "param", "code");
    char *text = json_dumps(root, JSON_COMPACT);
    json_decref(root);
    return text;
}

/* ---- What is asked for */

static struct akgen_error *number_in(const json_t *root, const char *name, double low, double high, double *value)
{
    const json_t *given = json_object_get(root, name);
    if (!given || json_is_null(given))
        return NULL;
    if (!json_is_number(given) || !(json_number_value(given) >= low && json_number_value(given) <= high))
        return error_new("'%s' has to be a number from %g to %g", name, low, high);
    *value = json_number_value(given);
    return NULL;
}

static struct akgen_error *whole_in(const json_t *root, const char *name, long low, long high, int *value)
{
    const json_t *given = json_object_get(root, name);
    if (!given || json_is_null(given))
        return NULL;
    if (!json_is_integer(given) || json_integer_value(given) < low || json_integer_value(given) > high)
        return error_new("'%s' has to be a whole number from %ld to %ld", name, low, high);
    *value = (int)json_integer_value(given);
    return NULL;
}

static struct akgen_error *flag_in(const json_t *root, const char *name, bool *value)
{
    const json_t *given = json_object_get(root, name);
    if (!given || json_is_null(given))
        return NULL;
    if (!json_is_boolean(given))
        return error_new("'%s' has to be true or false", name);
    *value = json_is_true(given);
    return NULL;
}

/* An object in an object, NULL where there is none. */
static struct akgen_error *object_in(const json_t *root, const char *name, const json_t **value)
{
    const json_t *given = json_object_get(root, name);
    *value = json_is_object(given) ? given : NULL;
    return !given || json_is_null(given) || *value ? NULL : error_new("'%s' has to be a JSON object", name);
}

static struct akgen_error *parse_sampling(const json_t *root, struct lm_sampling *sampling)
{
    int seed = 0;
    struct akgen_error *error = number_in(root, "temperature", 0, 100, &sampling->temperature);
    if (!error)
        error = number_in(root, "top_p", 1e-9, 1, &sampling->top_p);
    if (!error)
        error = number_in(root, "min_p", 0, 1, &sampling->min_p);
    if (!error)
        error = whole_in(root, "top_k", 0, INT32_MAX, &sampling->top_k);
    if (!error)
        error = whole_in(root, "seed", INT32_MIN, INT32_MAX, &seed);
    sampling->seed = json_is_integer(json_object_get(root, "seed")) ? (uint64_t)(uint32_t)seed : lm_writer_seed();
    return error;
}

static struct akgen_error *parse_stops(struct lm_job *job, const json_t *root)
{
    const json_t *stop = json_object_get(root, "stop");
    if (!stop || json_is_null(stop))
        return NULL;
    size_t count = json_is_array(stop) ? json_array_size(stop) : 1;
    if (count > LM_MOST_STOPS)
        return error_new("'stop' has more than %d texts", LM_MOST_STOPS);
    for (size_t i = 0; i < count; i++) {
        const char *text = json_string_value(json_is_array(stop) ? json_array_get(stop, i) : stop);
        if (!text || !*text)
            return error_new("'stop' has to be a text, or a list of texts, none of them empty");
        job->stops[i] = arena_strdup(&job->arena, text);
    }
    job->request.stops = job->stops;
    job->request.stop_count = (int)count;
    return NULL;
}

static struct akgen_error *parse_messages(struct lm_job *job, const json_t *root, const struct lm_writer *writer)
{
    const json_t *tools = json_object_get(root, "tools"), *template;
    bool thinking = true;
    struct akgen_error *error = object_in(root, "chat_template_kwargs", &template);
    if (!error)
        error = flag_in(template, "enable_thinking", &thinking);
    if (!error && tools && !json_is_array(tools) && !json_is_null(tools))
        error = error_new("'tools' has to be a list");
    return error ? error
                 : lm_writer_messages(writer, json_object_get(root, "messages"), tools, thinking, &job->arena,
                                      &job->request);
}

static struct akgen_error *parse_prompt(struct lm_job *job, const json_t *root, const struct lm_writer *writer)
{
    const json_t *prompt = json_object_get(root, "prompt"), *id;
    size_t i;
    if (json_is_array(prompt) && json_array_size(prompt) == 1 && !json_is_integer(json_array_get(prompt, 0)))
        prompt = json_array_get(prompt, 0); /* a list of one prompt */
    if (json_is_string(prompt))
        return lm_writer_text(writer, json_string_value(prompt), json_string_length(prompt), &job->arena,
                              &job->request);
    if (!json_is_array(prompt))
        return error_new("'prompt' has to be a text or a list of tokens");
    int32_t *tokens = arena_alloc(&job->arena, (json_array_size(prompt) + 1) * sizeof *tokens);
    job->request.prompt = tokens;
    json_array_foreach((json_t *)prompt, i, id)
    {
        if (!json_is_integer(id) || json_integer_value(id) < 0 || json_integer_value(id) > INT32_MAX)
            return error_new("'prompt' has to be a text or a list of tokens");
        tokens[job->request.prompt_count++] = (int32_t)json_integer_value(id);
    }
    return NULL;
}

/* llama.cpp's servers call it grammar, vLLM's guided_grammar and later structured_outputs.grammar. */
static struct akgen_error *parse_grammar(struct lm_job *job, const json_t *root, struct lm_grammars *grammars)
{
    static const char *const names[] = {"grammar", "guided_grammar", "structured_outputs.grammar"};
    const json_t *structured;
    struct akgen_error *error = object_in(root, "structured_outputs", &structured);
    const json_t *given[] = {json_object_get(root, names[0]), json_object_get(root, names[1]),
                             json_object_get(structured, "grammar")};
    for (int i = 0; i < 3 && !error; i++) {
        if (!given[i] || json_is_null(given[i]))
            continue;
        if (!json_is_string(given[i]) || job->request.grammar)
            return job->request.grammar ? error_new("'%s' is a second grammar", names[i])
                                        : error_new("'%s' has to be a text", names[i]);
        struct lm_grammar *grammar;
        if (!(error = lm_grammars_take(grammars, names[i], json_string_value(given[i]), &grammar)))
            job->request.grammar = grammar;
    }
    return error;
}

/* completions has the number of the most probable ones, chat a switch and a number. */
static struct akgen_error *parse_likely(struct lm_job *job, const json_t *root)
{
    bool asked = false;
    job->likely = -1;
    if (!job->chat)
        return whole_in(root, "logprobs", 0, LM_MOST_LIKELY, &job->likely);
    struct akgen_error *error = flag_in(root, "logprobs", &asked);
    if (!error)
        error = whole_in(root, "top_logprobs", 0, LM_MOST_LIKELY, &job->likely);
    if (!error && job->likely > 0 && !asked)
        error = error_new("'top_logprobs' needs 'logprobs': true");
    job->likely = !asked ? -1 : job->likely < 0 ? 0 : job->likely;
    return error;
}

static struct akgen_error *parse_stream(struct lm_job *job, const json_t *root)
{
    const json_t *options;
    struct akgen_error *error = flag_in(root, "stream", &job->stream);
    if (!error)
        error = object_in(root, "stream_options", &options);
    if (!error)
        error = flag_in(options, "include_usage", &job->usage);
    return error;
}

static struct akgen_error *parse(struct lm_job *job, const json_t *root, struct lm_writer *writer)
{
    int most = job->chat ? writer->longest : LM_PROMPT_MOST;
    job->request.sampling = lm_sampling_defaults;
    job->choice_count = 1;
    const json_t *model = json_object_get(root, "model");
    struct akgen_error *error = json_is_object(root) ? NULL : error_new("the body has to be a JSON object");
    if (model && !json_is_string(model) && !json_is_null(model))
        error = error_new("'model' has to be a text");
    if (!error)
        error = job->chat ? parse_messages(job, root, writer) : parse_prompt(job, root, writer);
    if (!error)
        error = parse_sampling(root, &job->request.sampling);
    if (!error)
        error = parse_stops(job, root);
    if (!error)
        error = whole_in(root, "max_tokens", 1, INT32_MAX, &most);
    if (!error && job->chat)
        error = whole_in(root, "max_completion_tokens", 1, INT32_MAX, &most);
    if (!error)
        error = whole_in(root, "n", 1, LM_MOST_CHOICES, &job->choice_count);
    if (!error)
        error = parse_likely(job, root);
    if (!error)
        error = parse_grammar(job, root, &writer->grammars);
    if (!error)
        error = whole_in(root, "grammar_tries", 1, LM_MOST_TRIES, &job->request.tries);
    if (!error)
        error = parse_stream(job, root);
    job->request.most = most;
    job->request.likely = job->likely > 0 ? job->likely : 0;
    return error;
}

struct akgen_error *lm_job_parse(const char *body, size_t length, bool chat, struct lm_writer *writer,
                                 struct lm_job **made)
{
    static _Atomic unsigned number;
    json_error_t problem;
    json_t *root = jsons_read(body, length, 0, &problem);
    struct lm_job *job = memory_alloc(sizeof *job);
    *job = (struct lm_job){.chat = chat, .tokenizer = writer->tokenizer, .created = (long)time(NULL)};
    struct akgen_error *error = root ? parse(job, root, writer) : error_new("the body is no JSON: %s", problem.text);
    json_decref(root);
    *made = error ? NULL : job;
    if (error) {
        lm_job_free(job);
        return error;
    }
    snprintf(job->id, sizeof job->id, "%s-%lx%08x", chat ? "chatcmpl" : "cmpl", job->created, number++);
    job->choices = arena_alloc(&job->arena, (size_t)job->choice_count * sizeof *job->choices);
    for (int i = 0; i < job->choice_count; i++)
        job->choices[i] = (struct lm_choice){.job = job, .index = i, .tokens = job->likely >= 0 ? json_array() : NULL};
    return NULL;
}

void lm_job_free(struct lm_job *job)
{
    for (int i = 0; job->choices && i < job->choice_count; i++) {
        text_free(&job->choices[i].text);
        json_decref(job->choices[i].tokens);
    }
    text_free(&job->out);
    lm_grammar_free(job->request.grammar);
    arena_free(&job->arena);
    free(job);
}

bool lm_job_leave(struct lm_job *job)
{
    if (--job->holders > 0)
        return false;
    *job->before = job->next;
    if (job->next)
        job->next->before = job->before;
    return true;
}

/* ---- What it is told */

static json_t *token_json(const struct lm_job *job, int32_t token, float log_prob)
{
    struct arena arena = {0};
    uint32_t id = (uint32_t)token;
    size_t length;
    char *bytes = lm_tokenizer_decode(job->tokenizer, &arena, &id, 1, &length);
    json_t *list = json_array();
    for (size_t i = 0; i < length; i++)
        json_array_append_new(list, json_integer((unsigned char)bytes[i]));
    json_t *row = json_pack("{s:o s:f s:o}", "token", jsons_text(bytes), "logprob", (double)log_prob, "bytes", list);
    arena_free(&arena);
    return row;
}

/* A token as chat has it; the likely ones under "top_logprobs". */
static json_t *log_probs_json(const struct lm_job *job, const struct lm_token *token)
{
    json_t *row = token_json(job, token->token, token->log_prob), *likely = json_array();
    for (int i = 0; i < job->likely; i++)
        json_array_append_new(likely, token_json(job, token->likely[i].token, token->likely[i].log_prob));
    json_object_set_new(row, "top_logprobs", likely);
    return row;
}

/* Of a list of tokens, in the endpoint's own form. */
static json_t *form_log_probs(const struct lm_job *job, const json_t *tokens)
{
    if (!tokens)
        return json_null();
    if (job->chat)
        return json_pack("{s:O}", "content", tokens);
    json_t *words = json_array(), *numbers = json_array(), *likely = json_array(), *row, *other;
    size_t i, j;
    json_array_foreach((json_t *)tokens, i, row)
    {
        json_t *best = json_object();
        json_array_append(words, json_object_get(row, "token"));
        json_array_append(numbers, json_object_get(row, "logprob"));
        json_array_foreach(json_object_get(row, "top_logprobs"), j, other) json_object_set(
            best, json_string_value(json_object_get(other, "token")), json_object_get(other, "logprob"));
        json_array_append_new(likely, best);
    }
    return json_pack("{s:o s:o s:o}", "tokens", words, "token_logprobs", numbers, "top_logprobs", likely);
}

static json_t *usage_json(const struct lm_job *job)
{
    int written = 0;
    for (int i = 0; i < job->choice_count; i++)
        written += job->choices[i].count;
    return json_pack("{s:i s:i s:i}", "prompt_tokens", job->request.prompt_count, "completion_tokens", written,
                     "total_tokens", job->request.prompt_count + written);
}

static json_t *frame(const struct lm_job *job, json_t *choices)
{
    const char *object = job->chat ? (job->stream ? "chat.completion.chunk" : "chat.completion") : "text_completion";
    return json_pack("{s:s s:s s:I s:s s:o}", "id", job->id, "object", object, "created", (json_int_t)job->created,
                     "model", job->model, "choices", choices);
}

static void add_event(struct lm_job *job, json_t *event)
{
    char *text = json_dumps(event, JSON_COMPACT);
    text_addf(&job->out, "data: %s\n\n", text);
    free(text);
    json_decref(event);
}

/* The event of a token that has something to show. */
static void tell(struct lm_choice *choice, const struct lm_token *token)
{
    struct lm_job *job = choice->job;
    bool first = choice->count == 1;
    json_t *row = json_pack("{s:i}", "index", choice->index), *one = NULL;
    if (job->likely >= 0) {
        one = json_array();
        json_array_append_new(one, log_probs_json(job, token));
    }
    if (job->chat) {
        json_t *delta = json_pack("{s:o}", "content", jsons_text(token->text));
        if (first)
            json_object_set_new(delta, "role", json_string("assistant"));
        json_object_set_new(row, "delta", delta);
    } else {
        json_object_set_new(row, "text", jsons_text(token->text));
    }
    json_object_set_new(row, "logprobs", form_log_probs(job, one));
    json_object_set_new(row, "finish_reason",
                        token->finish == LM_GOES_ON ? json_null() : json_string(lm_finish_words[token->finish]));
    add_event(job, frame(job, json_pack("[o]", row)));
    json_decref(one);
}

static void end_stream(struct lm_job *job)
{
    if (job->usage) {
        json_t *event = frame(job, json_array());
        json_object_set_new(event, "usage", usage_json(job));
        add_event(job, event);
    }
    if (job->no_number) {
        char *error = lm_job_error(LM_NO_NUMBER, "server_error");
        text_addf(&job->out, "data: %s\n\n", error);
        free(error);
    }
    text_add(&job->out, "data: [DONE]\n\n");
}

static void end_whole(struct lm_job *job)
{
    json_t *choices = json_array();
    for (int i = 0; i < job->choice_count; i++) {
        const struct lm_choice *choice = &job->choices[i];
        json_t *text = jsons_text(choice->text.bytes ? choice->text.bytes : ""),
               *row = json_pack("{s:i s:s s:o}", "index", i, "finish_reason", lm_finish_words[choice->finish],
                                "logprobs", form_log_probs(job, choice->tokens));
        if (job->chat)
            json_object_set_new(row, "message", json_pack("{s:s s:o}", "role", "assistant", "content", text));
        else
            json_object_set_new(row, "text", text);
        json_array_append_new(choices, row);
    }
    json_t *root = frame(job, choices);
    json_object_set_new(root, "usage", usage_json(job));
    char *text = json_dumps(root, JSON_COMPACT);
    text_add(&job->out, text);
    free(text);
    json_decref(root);
}

bool lm_job_on_token(void *closure, const struct lm_token *token)
{
    struct lm_choice *choice = closure;
    struct lm_job *job = choice->job;
    pthread_mutex_lock(job->lock);
    bool wanted = !job->abandoned;
    choice->count++;
    choice->finish = token->finish;
    if (token->finish == LM_AT_NO_NUMBER) {
        job->no_number = true; /* which the end tells */
    } else if (job->stream) {
        if (*token->text || token->finish != LM_GOES_ON || job->likely >= 0)
            tell(choice, token);
    } else {
        text_add(&choice->text, token->text);
        if (choice->tokens)
            json_array_append_new(choice->tokens, log_probs_json(job, token));
    }
    if (token->finish != LM_GOES_ON || !wanted)
        job->ended++;
    bool all = job->ended == job->choice_count;
    if (all && job->stream)
        end_stream(job);
    else if (all)
        end_whole(job);
    if (all || job->stream)
        job->wake(job);
    bool last = all && lm_job_leave(job);
    pthread_mutex_unlock(job->lock);
    if (last)
        lm_job_free(job);
    return wanted;
}

bool lm_job_wanted(void *closure)
{
    struct lm_job *job = ((struct lm_choice *)closure)->job;
    pthread_mutex_lock(job->lock);
    bool wanted = !job->abandoned;
    pthread_mutex_unlock(job->lock);
    return wanted;
}
