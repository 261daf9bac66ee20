/* Texts that a model writes, many at a time: requests join and leave between any two tokens (continuous batching). A request's text
 * depends on it alone, not on what is written beside it, to the last bit of its probabilities. */
#ifndef LM_ENGINE_H
#define LM_ENGINE_H

#include "lm/adapters.h"
#include "lm/aligned.h"
#include "lm/guide.h"
#include "lm/sampler.h"
#include "lm/stream.h"

/* LM_AT_DEAD_END: no token of the model goes on with the text as the grammar wants it, which may not end there. LM_AT_NO_NUMBER: the
 * scores of the next token are no finite numbers. */
enum lm_finish { LM_GOES_ON, LM_AT_END, LM_AT_STOP, LM_AT_LENGTH, LM_AT_DEAD_END, LM_AT_NO_NUMBER };
#define LM_NO_NUMBER "the model's scores are no finite numbers: its weights are too large"
/* A token of a request, and what came with it. */
struct lm_token {
    int32_t
        token; /* below 0: there is none, of a text that its grammar does not let begin or whose scores are no numbers */
    const char *text;               /* whole characters; "" where they are held back. Until the callback returns */
    float log_prob;                 /* before temperature, cuts and grammar */
    const struct lm_likely *likely; /* the request's `likely` most probable ones, likewise */
    enum lm_finish finish;
};
struct lm_request {
    const int32_t *prompt;
    int prompt_count, most; /* tokens; most: to write */
    struct lm_sampling sampling;
    const char *const *stops; /* the text ends before them */
    int stop_count;
    int likely; /* at most LM_MOST_LIKELY */
    bool ignore_end;
    const struct lm_grammar
        *grammar; /* the answer follows it, and ends where it may; NULL: none. lm_engine_add holds it */
    /* How often an answer of a grammar is drawn at most, until one is accepted (lm/aligned.h); all tokens of it are told of when it has ended. At
     * most LM_MOST_TRIES; 0, 1, and where the temperature is 0: once, and tokens are told of as they come. */
    int tries;
    /* After each token. false: the request is not needed any more. */
    bool (*on_token)(void *closure, const struct lm_token *token);
    /* Whether anybody waits for it still, asked at each piece of the prompt and at each token that is not told of yet; NULL: somebody does. If not,
     * on_token is called once more, and has to say the same. */
    bool (*wanted)(void *closure);
    void *closure;
};
enum { LM_MOST_LIKELY = 20 };

struct lm_engine_options {
    int threads;         /* 0: one for each processor */
    int texts;           /* at a time, at most LM_FEW */
    int longest;         /* tokens of a text, prompt included; 0: what the model can read */
    const int32_t *ends; /* tokens that end a text, besides the configuration's */
    int end_count;
    bool int8; /* weights are rounded to int8 (lm_int8_take): the model keeps in float32 what the engine needs of it */
    const struct lm_adapters *adapters; /* or NULL; the engine writes by the model and them, and both have to stay */
    const float *adapter_weights;
};
struct lm_engine;
/* The model and tokenizer have to stay. Errors: no memory for so many long texts, said with how much it would be. The caller frees. */
struct akgen_error *lm_engine_new(struct lm_model *model, const struct lm_tokenizer *tokenizer,
                                  const struct lm_engine_options *options, struct lm_engine **engine);
void lm_engine_free(struct lm_engine *engine);
/* What is wrong with a request: no prompt, one that leaves no room for an answer, tokens that the model has not, an empty stop, top_p 0. */
struct akgen_error *lm_engine_check(const struct lm_engine *engine, const struct lm_request *request);
/* Adds a copy of a request; its arrays have to stay until it ends. Errors: lm_engine_check's. */
struct akgen_error *lm_engine_add(struct lm_engine *engine, const struct lm_request *request);
/* Takes one waiting request in, if there is room, and those behind it that have the same prompt, which is read once; writes one token of each that goes on. False: there was nothing to do. */
bool lm_engine_step(struct lm_engine *engine);
/* Ends the requests that nobody waits for any more, as `wanted` says; on_token is not called. */
void lm_engine_forget(struct lm_engine *engine);
/* NULL, or that a text ended with LM_AT_NO_NUMBER. */
struct akgen_error *lm_engine_error(const struct lm_engine *engine);

#endif
