/* A model over a suite. Samples go one way:
 *
 *   planned (a row of the run) -> asked for (the collector's thread, up to `concurrency` requests at a time, task by task)
 *   -> stored, whatever came (a transaction for each request) -> ready -> candidate (made of the stored answer by the thread
 *   that evaluates it) -> verdict
 *
 * Answers are read where they are evaluated, so what waits there is a number: memory does not grow with how far the model is
 * ahead. A run that is resumed begins with what is stored as ready, and goes the same way. */
#include "gen/sampler.h"
#include "base/memory.h"
#include "candidate/reader.h"
#include "gen/client_internal.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

const struct words gen_sampling_ends = WORDS(GEN_SAMPLING_ENDS);

enum progress { PLANNED, ASKED, READY };

/* What the sampler knows of a row of the run. */
struct sampled {
    enum progress progress;
    const struct gen_prompt *prompt; /* of its task; NULL: the task is broken */
    struct arena arena;              /* its candidate's, while it is evaluated */
};
/* The samples of one request: rows one behind the other. */
struct group {
    int first, count;
};
struct gen_sampler {
    struct bench *bench;
    struct store *store;
    const struct gen_model *model;
    const struct eval_options *eval;
    struct gen_client *client;
    struct bench_source source;
    struct sampled *rows;             /* as those of the run */
    int next_row;                     /* no row before it is PLANNED */
    struct arena arena;               /* prompts, groups; the collector's once it runs */
    struct gen_prompt_options prompt; /* the model's, with what prompts are made of read once */
    struct gen_shelf *shelf;
    int in_vain; /* requests without any answer, since the last that had one */
    pthread_t collector;
    bool collecting;

    pthread_mutex_t lock; /* guards what follows */
    pthread_cond_t changed;
    int *ready; /* rows, in the order in which they came */
    int taken, came;
    bool ended, stopped;
    struct gen_sampling_state state;
    struct akgen_error *error;
};

void gen_sampler_prepare(struct bench *bench, const struct gen_model *model, const struct task *tasks, int count,
                         const struct eval_options *options)
{
    const struct gen_endpoint *endpoint = &model->endpoint;
    struct arena *arena = &bench->arena;
    const char *provider = gen_endpoint_name(arena, endpoint);
    bench_prepare_samples(bench, gen_without_key(arena, provider, endpoint->key), tasks, count, model->samples,
                          options);
    bench->settings = gen_model_settings(arena, model);
    bench->planned = bench->count;
}

/* For servers that do not count: of the text alone, as prompts are counted. */
static int64_t estimate(const struct gen_sampler *sampler, const char *text)
{
    struct arena arena = {0};
    struct gen_prompt_options options = sampler->prompt;
    options.token_limit = 0;
    const struct gen_message message = {"assistant", text ? text : ""};
    struct gen_prompt counted = {0};
    struct akgen_error *error = gen_prompt_of_messages(&arena, &message, 1, &options, &counted);
    int64_t tokens = error ? (int64_t)strlen(message.text) / 4 : counted.tokens;
    error_free(error);
    arena_free(&arena);
    return tokens;
}

/* Opening. */
static struct akgen_error *make_prompt(struct gen_sampler *sampler, const struct task *task,
                                       const struct gen_prompt **made)
{
    struct gen_prompt *prompt = arena_alloc(&sampler->arena, sizeof *prompt);
    struct arena scratch = {0};
    *made = NULL;
    if (task->broken)
        return NULL;
    struct akgen_error *error = gen_prompt_of_task(&sampler->arena, task, &sampler->prompt, prompt);
    if (error)
        return error_prefix(error, "%s", task->name);
    error = store_add_prompt(sampler->store, prompt->hash, gen_messages_text(&scratch, prompt->messages, prompt->count),
                             prompt->tokens);
    arena_free(&scratch);
    prompt->grammar = gen_model_grammar(&sampler->arena, sampler->model, task, sampler->eval->only_case);
    *made = prompt;
    return error;
}

static struct akgen_error *make_prompts(struct gen_sampler *sampler)
{
    const struct bench *bench = sampler->bench;
    struct akgen_error *error = gen_shelf_open(&sampler->prompt, &sampler->shelf);
    sampler->prompt.shelf = sampler->shelf;
    for (int i = 0; i < bench->count && !error; i++)
        if (i && bench->rows[i].definition == bench->rows[i - 1].definition)
            sampler->rows[i].prompt = sampler->rows[i - 1].prompt;
        else
            error = make_prompt(sampler, bench->rows[i].definition, &sampler->rows[i].prompt);
    return error;
}

static void add_ready(struct gen_sampler *sampler, int row)
{
    sampler->rows[row].progress = READY;
    sampler->ready[sampler->came++] = row;
}

static int by_name(const void *left, const void *right)
{
    const struct sample *a = left, *b = right;
    int order = strcmp(a->task, b->task);
    return order ? order : (a->sample > b->sample) - (a->sample < b->sample);
}

/* A sample that the database has: it counts in what is spent, and is not asked for again if it was answered. */
static struct akgen_error *take_stored(struct gen_sampler *sampler, int row, const struct sample *stored)
{
    const struct gen_prompt *prompt = sampler->rows[row].prompt;
    struct gen_sampling_state *state = &sampler->state;
    struct akgen_error *error = NULL;
    state->cost += stored->cost;
    if (!stored->answer)
        return NULL;
    if (prompt && stored->prompt && strcmp(prompt->hash, stored->prompt) != 0)
        return error_new("the answers that run %lld has for %s are to another prompt: its templates or documents have "
                         "changed; a new run takes the new ones",
                         (long long)sampler->bench->run, stored->task);
    state->tokens += stored->prompt_tokens >= 0 ? stored->prompt_tokens : prompt ? prompt->tokens : 0;
    state->tokens += stored->completion_tokens > 0 ? stored->completion_tokens : 0;
    if (stored->completion_tokens < 0) {
        struct arena scratch = {0};
        struct sample whole = {0};
        error = store_load_sample(sampler->store, sampler->bench->run, stored->task, stored->sample, &scratch, &whole);
        state->tokens += error ? 0 : estimate(sampler, whole.answer);
        arena_free(&scratch);
    }
    state->answered++;
    sampler->rows[row].progress = READY;
    if (!sampler->bench->rows[row].evaluated)
        add_ready(sampler, row);
    return error;
}

static struct akgen_error *take_all_stored(struct gen_sampler *sampler)
{
    struct arena scratch = {0};
    struct sample *stored;
    int count;
    struct akgen_error *error = store_list_samples(sampler->store, sampler->bench->run, &scratch, &stored, &count);
    for (int i = 0; i < sampler->bench->count && !error; i++) {
        const struct bench_row *row = &sampler->bench->rows[i];
        const struct sample wanted = {.task = row->task, .sample = row->sample};
        const struct sample *found = count ? bsearch(&wanted, stored, (size_t)count, sizeof *stored, by_name) : NULL;
        if (found)
            error = take_stored(sampler, i, found);
        if (!error && row->definition->broken && !row->evaluated)
            add_ready(sampler, i); /* there is nothing to ask: its verdict says what is broken */
        else if (row->evaluated)
            sampler->rows[i].progress = READY;
    }
    arena_free(&scratch);
    return error;
}

/* Asking. */
/* The next samples that nobody was asked for: at most as many as a request may have, of one task, and those that one request of
 * an undisturbed run would ask for together. */
static bool next_group(struct gen_sampler *sampler, struct group *group)
{
    const struct bench *bench = sampler->bench;
    int most = sampler->model->per_request > 1 ? sampler->model->per_request : 1, i = sampler->next_row;
    while (i < bench->count && sampler->rows[i].progress != PLANNED)
        i++;
    *group = (struct group){i, 0};
    for (; i < bench->count && sampler->rows[i].progress == PLANNED; i++) {
        const struct bench_row *row = &bench->rows[i];
        if (group->count && (row->definition != bench->rows[i - 1].definition || row->sample % most == 0))
            break;
        group->count++;
    }
    sampler->next_row = group->first;
    return group->count > 0;
}

/* False: nothing more is asked for. */
static bool may_ask(struct gen_sampler *sampler)
{
    const struct gen_model *model = sampler->model;
    struct gen_sampling_state *state = &sampler->state;
    if (state->end == GEN_SAMPLING_WHOLE && model->token_limit && state->tokens >= model->token_limit)
        state->end = GEN_SAMPLING_TOKENS;
    if (state->end == GEN_SAMPLING_WHOLE && model->cost_limit > 0 && state->cost >= model->cost_limit)
        state->end = GEN_SAMPLING_COST;
    return state->end == GEN_SAMPLING_WHOLE && !sampler->stopped;
}

/* The body of a request without its prompt, of which the hash is left: it stands once in the database. */
static const char *without_prompt(struct arena *arena, const char *request, const char *hash)
{
    static const char *const members[] = {"messages", "prompt"};
    json_t *body = json_loads(request, 0, NULL);
    const char *reference = arena_printf(arena, "prompts.%s", hash);
    if (!json_is_object(body)) {
        json_decref(body);
        return reference; /* of a command, which is given nothing else */
    }
    for (size_t i = 0; i < sizeof members / sizeof *members; i++)
        if (json_object_get(body, members[i]))
            json_object_set_new(body, members[i], json_string(reference));
    char *dumped = json_dumps(body, JSON_COMPACT);
    const char *text = dumped ? arena_strdup(arena, dumped) : reference;
    free(dumped);
    json_decref(body);
    return text;
}

/* The samples of a reply, as the database keeps them. `state` gets what they spent. */
static struct sample *read_reply(const struct gen_sampler *sampler, struct gen_reply *reply,
                                 struct gen_sampling_state *spent)
{
    const struct group *group = reply->closure;
    const struct gen_model *model = sampler->model;
    const struct gen_prompt *prompt = sampler->rows[group->first].prompt;
    struct sample *samples = arena_alloc(&reply->arena, sizeof *samples * (size_t)group->count);
    const char *failure = reply->failure                ? reply->failure
                          : reply->count < group->count ? "the server sent fewer answers than were asked for"
                                                        : NULL;
    bool counted = reply->completion_tokens >= 0;
    int64_t answer_tokens = counted ? reply->completion_tokens : 0;
    for (int i = 0; i < group->count; i++) {
        const struct gen_choice *choice = i < reply->count ? &reply->choices[i] : NULL;
        const struct bench_row *row = &sampler->bench->rows[group->first + i];
        samples[i] = (struct sample){
            .task = row->task,
            .sample = row->sample,
            .parent = -1,
            .prompt = prompt->hash,
            .request = i ? NULL : without_prompt(&reply->arena, reply->request, prompt->hash),
            .response = i ? NULL : reply->response,
            .answer = choice ? choice->text : NULL,
            .reasoning = choice ? choice->reasoning : NULL,
            .finish = choice ? choice->finish : NULL,
            .failure = choice ? NULL : failure,
            .prompt_tokens = i ? 0 : reply->prompt_tokens,
            .completion_tokens = i && counted ? 0 : reply->completion_tokens,
            .seconds = reply->seconds,
            .tries = reply->tries,
        };
        if (choice && !counted)
            answer_tokens += estimate(sampler, choice->text);
        spent->answered += choice != NULL;
        spent->failed += !choice;
    }
    int64_t prompt_tokens = reply->prompt_tokens >= 0 ? reply->prompt_tokens : reply->count ? prompt->tokens : 0;
    samples[0].cost = gen_model_cost(model, prompt_tokens, answer_tokens);
    spent->tokens = prompt_tokens + answer_tokens;
    spent->cost = samples[0].cost;
    return samples;
}

/* A server that is gone, or that no request can please, is not asked for all of thousands of samples. */
static void note_failure(struct gen_sampler *sampler, const struct gen_reply *reply)
{
    enum { AT_LEAST = 10 };
    struct gen_sampling_state *state = &sampler->state;
    int most = 2 * sampler->model->endpoint.concurrency;
    sampler->in_vain = reply->count ? 0 : sampler->in_vain + 1;
    if (reply->failure)
        snprintf(state->last_failure, sizeof state->last_failure, "%s", reply->failure);
    if (state->end == GEN_SAMPLING_WHOLE &&
        (reply->hopeless || sampler->in_vain >= (most > AT_LEAST ? most : AT_LEAST)))
        state->end = GEN_SAMPLING_FAILING;
}

static void take_reply(struct gen_sampler *sampler, struct gen_reply *reply)
{
    const struct group *group = reply->closure;
    struct gen_sampling_state spent = {0}, *state = &sampler->state;
    const struct sample *samples = read_reply(sampler, reply, &spent);
    struct akgen_error *error = store_add_samples(sampler->store, sampler->bench->run, samples, group->count);
    pthread_mutex_lock(&sampler->lock);
    state->under_way -= group->count;
    state->answered += error ? 0 : spent.answered;
    state->failed += error ? 0 : spent.failed;
    state->tokens += spent.tokens;
    state->cost += spent.cost;
    for (int i = 0; i < group->count && !error; i++)
        add_ready(sampler, group->first + i);
    note_failure(sampler, reply);
    if (error && !sampler->error) {
        sampler->error = error;
        state->end = GEN_SAMPLING_BROKEN; /* what cannot be kept is not paid for */
    } else
        error_free(error);
    pthread_cond_broadcast(&sampler->changed);
    pthread_mutex_unlock(&sampler->lock);
}

static void *collect(void *closure)
{
    struct gen_sampler *sampler = closure;
    struct gen_reply *reply;
    struct group group;
    int most = sampler->model->endpoint.concurrency > 1 ? sampler->model->endpoint.concurrency : 1, requests = 0;
    do {
        pthread_mutex_lock(&sampler->lock);
        for (; requests < most && may_ask(sampler) && next_group(sampler, &group); requests++) {
            const struct gen_model *model = sampler->model;
            const struct gen_prompt *prompt = sampler->rows[group.first].prompt;
            const struct gen_request request = {
                .messages = prompt->messages,
                .message_count = prompt->count,
                .grammar = prompt->grammar,
                .grammar_tries = model->grammar_tries,
                .sampling = model->sampling,
                .n = group.count,
                .seeded = model->seeded,
                .seed = model->seed + (uint64_t)sampler->bench->rows[group.first].sample,
                .closure = arena_copy(&sampler->arena, &group, sizeof group),
            };
            for (int i = 0; i < group.count; i++)
                sampler->rows[group.first + i].progress = ASKED;
            sampler->state.under_way += group.count;
            gen_client_submit(sampler->client, &request);
        }
        pthread_mutex_unlock(&sampler->lock);
        reply = requests ? gen_client_next(sampler->client) : NULL;
        if (reply) {
            requests--;
            take_reply(sampler, reply);
            gen_reply_free(reply);
        }
    } while (reply);
    pthread_mutex_lock(&sampler->lock);
    sampler->ended = true;
    pthread_cond_broadcast(&sampler->changed);
    pthread_mutex_unlock(&sampler->lock);
    return NULL;
}

/* Candidates. */
static bool is_blank(const char *text)
{
    return !text[strspn(text, " \t\r\n\v\f")];
}

/* The candidate that an answer is. What cannot be read is the model's failure: a compile error of class syntax, as upstream counts
 * it. */
static void read_answer(const struct gen_sampler *sampler, const struct sample *sample, struct arena *arena,
                        const struct task *task, struct candidate *candidate)
{
    bool cut = sample->finish && strcmp(sample->finish, SAMPLE_CUT) == 0;
    const char *note =
        cut ? (sampler->model->sampling.max_tokens
                   ? arena_printf(arena, "cut at the token limit of %" PRId64, sampler->model->sampling.max_tokens)
                   : "cut at the server's token limit")
            : NULL;
    struct answer answer;
    if (is_blank(sample->answer)) {
        candidate_refuse_for(arena, DIAG_SYNTAX, NULL,
                             arena_printf(arena, "the answer is empty%s%s", cut ? ": " : "", cut ? note : ""),
                             candidate);
        return;
    }
    const struct candidate_asked asked = eval_asked(sampler->eval);
    candidate_read_answer(arena, "", sample->answer, strlen(sample->answer), task, &asked, &answer, candidate);
    if (cut && answer.kind == ANSWER_IS_NOTHING && candidate->refusal->kind == AKGEN_VERDICT_COMPILE_ERROR)
        candidate_refuse_for(arena, DIAG_SYNTAX, NULL,
                             arena_printf(arena, "the answer was %s: %s", note,
                                          answer.problem ? answer.problem : "there is no candidate in it"),
                             candidate);
}

/* Sets the candidate of a row. */
static void make_candidate(struct gen_sampler *sampler, int number)
{
    struct bench_row *row = &sampler->bench->rows[number];
    struct arena *arena = &sampler->rows[number].arena;
    struct candidate *candidate = arena_alloc(arena, sizeof *candidate);
    struct sample sample;
    row->candidate = candidate;
    *candidate = (struct candidate){.name = "", .language = EVAL_ANY};
    if (row->definition->broken)
        return;
    struct akgen_error *error =
        store_load_sample(sampler->store, sampler->bench->run, row->task, row->sample, arena, &sample);
    if (!error && sample.answer)
        read_answer(sampler, &sample, arena, row->definition, candidate);
    else
        candidate_refuse(arena, AKGEN_VERDICT_INFRA_ERROR,
                         error ? error->message
                               : arena_printf(arena, "no answer: %s", sample.failure ? sample.failure : ""),
                         candidate);
    error_free(error);
}

static int next_candidate(void *closure, struct bench *bench)
{
    struct gen_sampler *sampler = closure;
    int row = -1;
    (void)bench;
    pthread_mutex_lock(&sampler->lock);
    while (sampler->taken == sampler->came && !sampler->ended && !sampler->stopped)
        pthread_cond_wait(&sampler->changed, &sampler->lock);
    if (sampler->taken < sampler->came && !sampler->stopped)
        row = sampler->ready[sampler->taken++];
    pthread_mutex_unlock(&sampler->lock);
    if (row >= 0)
        make_candidate(sampler, row);
    return row;
}

static void drop_candidate(void *closure, struct bench *bench, int number)
{
    struct gen_sampler *sampler = closure;
    bench->rows[number].candidate = NULL;
    arena_free(&sampler->rows[number].arena);
}

static bool is_stopped(void *closure)
{
    struct gen_sampler *sampler = closure;
    pthread_mutex_lock(&sampler->lock);
    bool stopped = sampler->stopped;
    pthread_mutex_unlock(&sampler->lock);
    return stopped;
}

struct akgen_error *gen_sampler_open(struct bench *bench, struct store *store, const struct gen_model *model,
                                     const struct eval_options *options, struct gen_sampler **result)
{
    struct gen_sampler *sampler = memory_alloc(sizeof *sampler);
    *sampler = (struct gen_sampler){.bench = bench,
                                    .store = store,
                                    .model = model,
                                    .eval = options,
                                    .prompt = model->prompt,
                                    .lock = PTHREAD_MUTEX_INITIALIZER,
                                    .changed = PTHREAD_COND_INITIALIZER,
                                    .state.planned = bench->count};
    sampler->source = (struct bench_source){next_candidate, drop_candidate, is_stopped, sampler};
    sampler->rows = arena_alloc(&sampler->arena, sizeof *sampler->rows * (size_t)(bench->count + 1));
    sampler->ready = arena_alloc(&sampler->arena, sizeof *sampler->ready * (size_t)(bench->count + 1));
    struct akgen_error *error = make_prompts(sampler);
    if (!error)
        error = take_all_stored(sampler);
    if (!error)
        error = gen_client_open(&model->endpoint, &sampler->client);
    if (!error && pthread_create(&sampler->collector, NULL, collect, sampler) != 0)
        error = error_new("no thread can be made for the model's answers");
    sampler->collecting = !error;
    if (error)
        gen_sampler_close(sampler);
    else
        *result = sampler;
    return error;
}

const struct bench_source *gen_sampler_source(const struct gen_sampler *sampler)
{
    return &sampler->source;
}

struct gen_sampling_state gen_sampler_state(struct gen_sampler *sampler)
{
    pthread_mutex_lock(&sampler->lock);
    struct gen_sampling_state state = sampler->state;
    pthread_mutex_unlock(&sampler->lock);
    return state;
}

void gen_sampler_stop(struct gen_sampler *sampler)
{
    pthread_mutex_lock(&sampler->lock);
    sampler->stopped = true;
    sampler->state.end = GEN_SAMPLING_STOPPED;
    pthread_cond_broadcast(&sampler->changed);
    pthread_mutex_unlock(&sampler->lock);
    gen_client_stop(sampler->client);
}

const struct akgen_error *gen_sampler_finish(struct gen_sampler *sampler)
{
    if (sampler->collecting)
        pthread_join(sampler->collector, NULL);
    sampler->collecting = false;
    return sampler->error;
}

void gen_sampler_close(struct gen_sampler *sampler)
{
    if (!sampler)
        return;
    if (sampler->collecting)
        gen_client_stop(sampler->client);
    gen_sampler_finish(sampler);
    if (sampler->client)
        gen_client_close(sampler->client);
    for (int i = 0; i < sampler->bench->count; i++)
        arena_free(&sampler->rows[i].arena);
    gen_shelf_close(sampler->shelf);
    error_free(sampler->error);
    pthread_cond_destroy(&sampler->changed);
    pthread_mutex_destroy(&sampler->lock);
    arena_free(&sampler->arena);
    free(sampler);
}
