/* A request's prompt is read alone, in pieces of PIECE tokens, and once for all that come with the same one; from then on it is one row of the step
 * that all share. */
#include "lm/engine.h"

#include "base/memory.h"
#include "lm/aligned.h"
#include "lm/cpu.h"
#include "lm/int8.h"
#include "lm/pass.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { PIECE = 512 };

/* An answer that is told of when it is accepted. */
struct drafted {
    struct lm_aligned *aligned;
    float *first; /* (V): scores of what comes behind the prompt */
    struct told {
        struct lm_token token;
        struct lm_likely likely[LM_MOST_LIKELY];
    } *tokens;
    int count, room;
};
struct slot {
    struct lm_request request;
    struct lm_stream stream;
    struct lm_guided guided; /* where it has a grammar */
    struct drafted *draft;   /* where it may be drawn again; else NULL */
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
    struct lm_guides *guides;
    struct waiting *first, **last;
    bool no_number; /* a text ended with that */
    float *scores;
    float *allowed; /* (V): scores of the tokens that a grammar allows, -INFINITY of others */
    /* The newest prompt that was read, whose keys and values lie in the cells of a slot, be it used or not; others of it need not be read. */
    struct {
        int32_t *tokens;
        int count; /* 0: none */
        int slot;
        float *scores; /* (V): of what comes behind it */
    } read;
};

/* Of the tokens that end a text number i, up to the count of the options; below 0: it is none. */
static int32_t end_number(const struct lm_engine *engine, int i)
{
    int count = engine->options.end_count;
    return i < count ? engine->options.ends[i] : engine->model->layout.config.end_token;
}

static struct lm_guides *new_guides(const struct lm_engine *engine)
{
    int count = engine->options.end_count + 1;
    int32_t *ends = memory_alloc((size_t)count * sizeof *ends);
    for (int i = 0; i < count; i++)
        ends[i] = end_number(engine, i);
    struct lm_guides *guides =
        lm_guides_new(engine->tokenizer, engine->model->layout.config.vocabulary, ends, count, LM_GUIDE_BYTES);
    free(ends);
    return guides;
}

struct akgen_error *lm_engine_new(struct lm_model *model, const struct lm_tokenizer *tokenizer,
                                  const struct lm_engine_options *options, struct lm_engine **made)
{
    const struct lm_config *config = &model->layout.config;
    struct lm_engine *engine = *made = memory_alloc(sizeof *engine);
    *engine = (struct lm_engine){.options = *options, .model = model, .tokenizer = tokenizer, .last = &engine->first};
    if (!engine->options.longest || engine->options.longest > config->max_positions)
        engine->options.longest = config->max_positions;
    int piece = engine->options.longest < PIECE ? engine->options.longest : PIECE;
    struct lm_pass_options how = {.tokens = piece > LM_FEW ? piece : LM_FEW,
                                  .adapters = options->adapters,
                                  .adapter_weights = options->adapter_weights};
    engine->backend = lm_cpu_new(options->threads);
    struct akgen_error *error =
        options->int8 ? lm_int8_take(engine->backend, &model->layout, model->weights, &engine->int8) : NULL;
    how.int8 = engine->int8;
    if (!error)
        error = lm_pass_new(engine->backend, &model->layout, model->weights, &how, &engine->pass);
    if (!error)
        error = lm_cache_new(engine->pass, (int64_t)options->texts * engine->options.longest, &engine->cache);
    engine->slots = memory_alloc((size_t)options->texts * sizeof *engine->slots);
    engine->scores = memory_alloc((size_t)options->texts * (size_t)config->vocabulary * sizeof *engine->scores);
    engine->allowed = memory_alloc((size_t)config->vocabulary * sizeof *engine->allowed);
    engine->read.tokens = memory_alloc((size_t)engine->options.longest * sizeof *engine->read.tokens);
    engine->read.scores = memory_alloc((size_t)config->vocabulary * sizeof *engine->read.scores);
    engine->sampler = lm_sampler_new(config->vocabulary);
    engine->guides = new_guides(engine);
    if (error) {
        lm_engine_free(engine);
        *made = NULL;
    }
    return error;
}

static struct drafted *new_draft(const struct lm_request *request, int vocabulary)
{
    struct drafted *draft = memory_alloc(sizeof *draft);
    *draft = (struct drafted){.aligned = lm_aligned_new(vocabulary, &request->sampling, request->tries)};
    draft->first = memory_alloc((size_t)vocabulary * sizeof *draft->first);
    return draft;
}

static void free_draft(struct drafted *draft)
{
    if (draft) {
        lm_aligned_free(draft->aligned);
        free(draft->first);
        free(draft->tokens);
    }
    free(draft);
}

static void leave(struct slot *slot)
{
    slot->used = false;
    free_draft(slot->draft);
    lm_stream_free(&slot->stream);
    lm_guided_end(&slot->guided);
    lm_grammar_free(slot->request.grammar);
}

void lm_engine_free(struct lm_engine *engine)
{
    if (!engine)
        return;
    for (struct waiting *next, *at = engine->first; at; at = next) {
        next = at->next;
        lm_grammar_free(at->request.grammar);
        free(at);
    }
    for (int i = 0; i < engine->options.texts; i++)
        if (engine->slots[i].used)
            leave(&engine->slots[i]);
    free(engine->slots);
    free(engine->scores);
    free(engine->allowed);
    free(engine->read.tokens);
    free(engine->read.scores);
    lm_sampler_free(engine->sampler);
    lm_guides_free(engine->guides);
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
    for (int i = 0; i < request->stop_count; i++)
        if (!*request->stops[i])
            return error_new("a text to stop at is empty");
    return request->sampling.top_p > 0 ? NULL
                                       : error_new("top_p is %g, and has to be above 0", request->sampling.top_p);
}

struct akgen_error *lm_engine_add(struct lm_engine *engine, const struct lm_request *request)
{
    struct akgen_error *error = lm_engine_check(engine, request);
    if (error)
        return error;
    struct waiting *waiting = memory_alloc(sizeof *waiting);
    waiting->request = *request;
    waiting->request.grammar = lm_grammar_hold(request->grammar);
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

/* Whether one of the tokens that end a text may be drawn. */
static bool may_end(const struct lm_engine *engine, const struct slot *slot)
{
    bool any = engine->options.end_count || engine->model->layout.config.end_token >= 0;
    return any && !slot->request.ignore_end && lm_guided_may_end(&slot->guided);
}

/* The scores from which a slot's next token is drawn. NULL: its grammar allows none. */
static const float *allowed_scores(struct lm_engine *engine, struct slot *slot, const float *scores)
{
    const int vocabulary = engine->model->layout.config.vocabulary;
    const uint64_t *mask;
    if (!slot->request.grammar)
        return scores;
    bool any = lm_guided_allowed(&slot->guided, &mask), end = may_end(engine, slot);
    for (int token = 0; token < vocabulary; token++)
        engine->allowed[token] = mask[token / 64] >> token % 64 & 1 ? scores[token] : -INFINITY;
    for (int i = 0; i <= engine->options.end_count; i++) {
        int32_t token = end_number(engine, i);
        if (token >= 0 && token < vocabulary)
            engine->allowed[token] = end ? scores[token] : -INFINITY;
    }
    return any || end ? engine->allowed : NULL;
}

/* Why a text goes no further behind a token that ended it not: no other may follow. */
static enum lm_finish follow_grammar(const struct lm_engine *engine, struct slot *slot, int32_t token)
{
    const uint64_t *mask;
    lm_guided_take(&slot->guided, token);
    if (lm_guided_allowed(&slot->guided, &mask) || may_end(engine, slot))
        return LM_GOES_ON;
    return lm_guided_may_end(&slot->guided) ? LM_AT_END : LM_AT_DEAD_END;
}

/* Keeps a token until its answer is accepted. */
static void hold(struct drafted *draft, const struct lm_token *token, int likely)
{
    if (draft->count == draft->room) {
        draft->room = draft->room ? 2 * draft->room : 64;
        draft->tokens = memory_grow(draft->tokens, (size_t)draft->room * sizeof *draft->tokens);
    }
    struct told *told = &draft->tokens[draft->count++];
    told->token = *token;
    memcpy(told->likely, token->likely, (size_t)likely * sizeof *told->likely);
}

static bool is_wanted(const struct lm_request *request)
{
    return !request->wanted || request->wanted(request->closure);
}

/* Tells of a token, and of those that were held in front of it; all text comes with the last. False: nobody wants more. */
static bool tell(struct slot *slot, struct lm_token *token)
{
    const struct lm_request *request = &slot->request;
    struct drafted *draft = slot->draft;
    if (draft && token->finish == LM_GOES_ON) {
        hold(draft, token, request->likely);
        return is_wanted(request) || request->on_token(request->closure, token);
    }
    for (int i = 0; draft && i < draft->count; i++) {
        draft->tokens[i].token.likely = draft->tokens[i].likely;
        if (!request->on_token(request->closure, &draft->tokens[i].token))
            return false;
    }
    token->text = token->token < 0 ? "" : lm_stream_next(&slot->stream, token->finish != LM_GOES_ON);
    return request->on_token(request->closure, token);
}

/* The answer begins anew, behind the prompt. */
static void begin_anew(struct lm_engine *engine, struct slot *slot)
{
    const struct lm_request *request = &slot->request;
    slot->past = request->prompt_count;
    slot->written = slot->draft->count = 0;
    lm_stream_free(&slot->stream);
    lm_stream_begin(&slot->stream, engine->tokenizer, request->stops, request->stop_count);
    lm_guided_end(&slot->guided);
    lm_guided_begin(engine->guides, request->grammar, &slot->guided);
}

/* Why a text ends with the token that was drawn, or that it goes on. */
static enum lm_finish finish_of(struct lm_engine *engine, struct slot *slot)
{
    const struct lm_request *request = &slot->request;
    if (is_end(engine, slot->token) && !request->ignore_end)
        return LM_AT_END;
    enum lm_finish finish = LM_GOES_ON;
    bool stopped = lm_stream_add(&slot->stream, slot->token);
    if (request->grammar)
        finish = follow_grammar(engine, slot, slot->token);
    if (stopped)
        return LM_AT_STOP;
    bool full = slot->written >= request->most || slot->past + 1 >= engine->options.longest;
    return !finish && full ? LM_AT_LENGTH : finish;
}

/* Draws a slot's next token, and tells of it. False: what was drawn is not accepted, the answer begins anew. */
static bool draw_token(struct lm_engine *engine, struct slot *slot, const float *scores)
{
    const struct lm_request *request = &slot->request;
    struct lm_likely likely[LM_MOST_LIKELY];
    struct lm_aligned *aligned = slot->draft ? slot->draft->aligned : NULL;
    int vocabulary = engine->model->layout.config.vocabulary;
    struct lm_token told = {.token = -1, .text = "", .likely = likely};
    const float *allowed = NULL;
    if (!lm_scores_are_numbers(scores, vocabulary)) {
        engine->no_number = true;
        told.finish = LM_AT_NO_NUMBER;
    } else if (!(allowed =
                     allowed_scores(engine, slot, scores))) { /* of the first token: of others it is known before */
        told.finish = lm_guided_may_end(&slot->guided) ? LM_AT_END : LM_AT_DEAD_END;
        lm_log_prob(scores, vocabulary, 0, likely, request->likely);
    } else {
        if (aligned && !lm_aligned_weigh(aligned, scores, engine->allowed))
            return false;
        int place = aligned ? lm_aligned_place(aligned, slot->written) : slot->written;
        told.token = slot->token = lm_sampler_draw(engine->sampler, allowed, &request->sampling, place);
        told.log_prob = lm_log_prob(scores, vocabulary, told.token, likely, request->likely);
        slot->written++;
        if (aligned)
            lm_aligned_take(aligned, told.token);
        told.finish = finish_of(engine, slot);
        if (aligned && (told.finish == LM_AT_LENGTH || told.finish == LM_AT_DEAD_END) && lm_aligned_reject(aligned))
            return false;
    }
    if (!tell(slot, &told) || told.finish != LM_GOES_ON)
        leave(slot);
    return true;
}

static void draw(struct lm_engine *engine, struct slot *slot, const float *scores)
{
    if (slot->draft && !slot->written)
        memcpy(slot->draft->first, scores, (size_t)engine->model->layout.config.vocabulary * sizeof *scores);
    while (!draw_token(engine, slot, scores)) {
        begin_anew(engine, slot);
        scores = slot->draft->first;
    }
}

static int64_t cells_of(const struct lm_engine *engine, const struct slot *slot)
{
    return (slot - engine->slots) * (int64_t)engine->options.longest;
}

/* Whether a prompt is the newest one that was read. */
static bool is_read(const struct lm_engine *engine, const struct lm_request *request)
{
    return engine->read.count == request->prompt_count &&
           memcmp(engine->read.tokens, request->prompt, (size_t)request->prompt_count * sizeof *request->prompt) == 0;
}

/* Reads a slot's prompt, in pieces. False: before it was read nobody waited for its answer any more. */
static bool read_prompt(struct lm_engine *engine, struct slot *slot)
{
    const struct lm_request *request = &slot->request;
    int32_t last = 0;
    while (slot->past < request->prompt_count) {
        if (!is_wanted(request)) {
            if (engine->read.slot == slot - engine->slots)
                engine->read.count = 0; /* its cells are overwritten */
            return false;
        }
        int left = request->prompt_count - slot->past, starts[2] = {0, left < PIECE ? left : PIECE};
        int64_t cells = cells_of(engine, slot);
        const struct lm_batch batch = {.tokens = request->prompt + slot->past, .starts = starts, .texts = 1};
        lm_pass_continue(engine->pass, &batch, engine->cache, &cells, &slot->past);
        slot->past += starts[1];
        last = starts[1] - 1;
    }
    lm_pass_scores(engine->pass, &last, 1, engine->read.scores);
    memcpy(engine->read.tokens, request->prompt, (size_t)request->prompt_count * sizeof *request->prompt);
    engine->read.count = request->prompt_count;
    engine->read.slot = (int)(slot - engine->slots);
    return true;
}

/* Gives a request a free slot, with its prompt read, and draws its first token. */
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
    if (request->grammar)
        lm_guided_begin(engine->guides, request->grammar, &slot->guided);
    if (request->grammar && request->tries > 1 && request->sampling.temperature > 0)
        slot->draft = new_draft(request, engine->model->layout.config.vocabulary);
    if (is_read(engine, request)) {
        const struct slot *from = &engine->slots[engine->read.slot];
        if (from != slot)
            lm_cache_copy(engine->cache, cells_of(engine, slot), cells_of(engine, from), request->prompt_count);
        slot->past = request->prompt_count;
    } else if (!read_prompt(engine, slot)) {
        request->on_token(request->closure, &(struct lm_token){.token = -1, .text = "", .finish = LM_AT_STOP});
        leave(slot);
        return;
    }
    draw(engine, slot, engine->read.scores);
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
        } else if (engine->first && (!taken || is_read(engine, &engine->first->request))) {
            take_in(engine, slot);
            taken = true;
        }
    }
    if (count)
        go_on(engine, going, count);
    return count || taken;
}

void lm_engine_forget(struct lm_engine *engine)
{
    for (int i = 0; i < engine->options.texts; i++)
        if (engine->slots[i].used && !is_wanted(&engine->slots[i].request))
            leave(&engine->slots[i]);
    for (struct waiting **at = &engine->first; *at;) {
        struct waiting *waiting = *at;
        if (is_wanted(&waiting->request)) {
            at = &waiting->next;
            continue;
        }
        *at = waiting->next;
        lm_grammar_free(waiting->request.grammar);
        free(waiting);
    }
    engine->last = &engine->first;
    while (*engine->last)
        engine->last = &(*engine->last)->next;
}

struct akgen_error *lm_engine_error(const struct lm_engine *engine)
{
    return engine->no_number ? error_new(LM_NO_NUMBER) : NULL;
}
