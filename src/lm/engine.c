/* A request is read alone, in pieces of PIECE tokens; from then on it is one row of the step that all share. */
#include "lm/engine.h"

#include "base/memory.h"
#include "lm/cpu.h"
#include "lm/int8.h"
#include "lm/pass.h"

#include <stdlib.h>
#include <string.h>

enum { PIECE = 512 };

struct slot {
    struct lm_request request;
    struct lm_stream stream;
    bool used;
    int past;      /* tokens in the cache */
    int written;   /* of the answer */
    int32_t token; /* the newest, which is not in the cache yet */
};
struct waiting {
    struct lm_request request;
    struct waiting *next;
};
struct lm_engine {
    struct lm_engine_options options;
    const struct lm_model *model;
    const struct lm_tokenizer *tokenizer;
    struct lm_backend *backend;
    struct lm_int8 *int8; /* or NULL */
    struct lm_pass *pass;
    struct lm_cache *cache;
    struct lm_sampler *sampler;
    struct slot *slots;
    struct waiting *first, **last;
    float *scores;
};

struct akgen_error *lm_engine_new(const struct lm_model *model, const struct lm_tokenizer *tokenizer,
                                  const struct lm_engine_options *options, struct lm_engine **made)
{
    const struct lm_config *config = &model->layout.config;
    struct lm_engine *engine = *made = memory_alloc(sizeof *engine);
    *engine = (struct lm_engine){.options = *options, .model = model, .tokenizer = tokenizer, .last = &engine->first};
    if (!engine->options.longest || engine->options.longest > config->max_positions)
        engine->options.longest = config->max_positions;
    int piece = engine->options.longest < PIECE ? engine->options.longest : PIECE;
    struct lm_pass_options how = {.tokens = piece > LM_FEW ? piece : LM_FEW};
    engine->backend = lm_cpu_new(options->threads);
    struct akgen_error *error =
        options->int8 ? lm_int8_new(engine->backend, &model->layout, model->weights, &engine->int8) : NULL;
    how.int8 = engine->int8;
    if (!error)
        error = lm_pass_new(engine->backend, &model->layout, model->weights, &how, &engine->pass);
    if (!error)
        error = lm_cache_new(engine->pass, (int64_t)options->texts * engine->options.longest, &engine->cache);
    engine->slots = memory_alloc((size_t)options->texts * sizeof *engine->slots);
    engine->scores = memory_alloc((size_t)options->texts * (size_t)config->vocabulary * sizeof *engine->scores);
    engine->sampler = lm_sampler_new(config->vocabulary);
    if (error) {
        lm_engine_free(engine);
        *made = NULL;
    }
    return error;
}

void lm_engine_free(struct lm_engine *engine)
{
    if (!engine)
        return;
    for (struct waiting *next, *at = engine->first; at; at = next) {
        next = at->next;
        free(at);
    }
    for (int i = 0; i < engine->options.texts; i++)
        lm_stream_free(&engine->slots[i].stream);
    free(engine->slots);
    free(engine->scores);
    lm_sampler_free(engine->sampler);
    lm_cache_free(engine->cache);
    lm_pass_free(engine->pass);
    lm_int8_free(engine->int8);
    lm_cpu_free(engine->backend);
    free(engine);
}

struct akgen_error *lm_engine_check(const struct lm_engine *engine, const struct lm_request *request)
{
    if (request->prompt_count < 1)
        return error_new("the prompt has no token");
    if (request->prompt_count >= engine->options.longest)
        return error_new("the prompt has %d tokens, and there is room for %d, an answer included",
                         request->prompt_count, engine->options.longest);
    for (int i = 0; i < request->prompt_count; i++)
        if (request->prompt[i] < 0 || request->prompt[i] >= engine->model->layout.config.vocabulary)
            return error_new("token %d of the prompt is %d, and the vocabulary has %d", i, (int)request->prompt[i],
                             engine->model->layout.config.vocabulary);
    return NULL;
}

struct akgen_error *lm_engine_add(struct lm_engine *engine, const struct lm_request *request)
{
    struct akgen_error *error = lm_engine_check(engine, request);
    if (error)
        return error;
    struct waiting *waiting = memory_alloc(sizeof *waiting);
    waiting->request = *request;
    *engine->last = waiting;
    engine->last = &waiting->next;
    return NULL;
}

static bool is_end(const struct lm_engine *engine, int32_t token)
{
    for (int i = 0; i < engine->options.end_count; i++)
        if (engine->options.ends[i] == token)
            return true;
    return token == engine->model->layout.config.end_token;
}

/* Draws a slot's next token, and tells of it. */
static void draw(struct lm_engine *engine, struct slot *slot, const float *scores)
{
    const struct lm_request *request = &slot->request;
    struct lm_likely likely[LM_MOST_LIKELY];
    int vocabulary = engine->model->layout.config.vocabulary;
    int32_t token = lm_sampler_draw(engine->sampler, scores, &request->sampling, slot->written);
    struct lm_token told = {.token = token, .likely = likely};
    told.log_prob = lm_log_prob(scores, vocabulary, token, likely, request->likely);
    slot->token = token;
    slot->written++;
    if (is_end(engine, token) && !request->ignore_end)
        told.finish = LM_AT_END;
    else if (lm_stream_add(&slot->stream, token))
        told.finish = LM_AT_STOP;
    else if (slot->written >= request->most || slot->past + 1 >= engine->options.longest)
        told.finish = LM_AT_LENGTH;
    told.text = lm_stream_next(&slot->stream, told.finish != LM_GOES_ON);
    if (!request->on_token(request->closure, &told) || told.finish != LM_GOES_ON) {
        slot->used = false;
        lm_stream_free(&slot->stream);
    }
}

static int64_t cells_of(const struct lm_engine *engine, const struct slot *slot)
{
    return (slot - engine->slots) * (int64_t)engine->options.longest;
}

/* Reads a request's prompt into a free slot, and draws its first token. */
static void take_in(struct lm_engine *engine, struct slot *slot)
{
    struct waiting *waiting = engine->first;
    const struct lm_request *request = &slot->request;
    *slot = (struct slot){.request = waiting->request, .used = true};
    engine->first = waiting->next;
    if (!engine->first)
        engine->last = &engine->first;
    free(waiting);
    lm_stream_begin(&slot->stream, engine->tokenizer, request->stops, request->stop_count);
    int32_t last = 0;
    while (slot->past < request->prompt_count) {
        int left = request->prompt_count - slot->past, starts[2] = {0, left < PIECE ? left : PIECE};
        int64_t cells = cells_of(engine, slot);
        const struct lm_batch batch = {.tokens = request->prompt + slot->past, .starts = starts, .texts = 1};
        lm_pass_continue(engine->pass, &batch, engine->cache, &cells, &slot->past);
        slot->past += starts[1];
        last = starts[1] - 1;
    }
    lm_pass_scores(engine->pass, &last, 1, engine->scores);
    draw(engine, slot, engine->scores);
}

/* One more token of each. */
static void go_on(struct lm_engine *engine, struct slot *const *slots, int count)
{
    int32_t tokens[LM_FEW], rows[LM_FEW];
    int starts[LM_FEW + 1] = {0}, past[LM_FEW];
    int64_t cells[LM_FEW], vocabulary = engine->model->layout.config.vocabulary;
    for (int i = 0; i < count; i++) {
        tokens[i] = slots[i]->token;
        rows[i] = i;
        starts[i + 1] = i + 1;
        past[i] = slots[i]->past++;
        cells[i] = cells_of(engine, slots[i]);
    }
    const struct lm_batch batch = {.tokens = tokens, .starts = starts, .texts = count};
    lm_pass_continue(engine->pass, &batch, engine->cache, cells, past);
    lm_pass_scores(engine->pass, rows, count, engine->scores);
    for (int i = 0; i < count; i++)
        draw(engine, slots[i], engine->scores + i * vocabulary);
}

bool lm_engine_step(struct lm_engine *engine)
{
    struct slot *going[LM_FEW];
    int count = 0;
    bool taken = false;
    for (int i = 0; i < engine->options.texts; i++) {
        struct slot *slot = &engine->slots[i];
        if (slot->used) {
            going[count++] = slot;
        } else if (engine->first && !taken) {
            take_in(engine, slot);
            taken = true;
        }
    }
    if (count)
        go_on(engine, going, count);
    return count || taken;
}
