#include "lm/likelihood.h"

#include "base/digest.h"
#include "base/memory.h"
#include "lm/cpu.h"
#include "lm/pass.h"
#include "lm/samples.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { TOKENS = 4096 /* of a pass */ };

struct lm_likelihood {
    struct arena arena;
    struct lm_model model;
    struct lm_tokenizer *tokenizer;
    struct lm_backend *cpu;
    struct lm_pass *pass;
    const char *digest;
    int longest;
};

struct akgen_error *lm_likelihood_new(const char *folder, int longest, int threads, struct lm_likelihood **result)
{
    struct lm_likelihood *l = memory_alloc(sizeof *l);
    struct akgen_error *error = lm_model_read(&l->model, folder);
    const struct lm_config *config = &l->model.layout.config;
    const char *path = arena_printf(&l->arena, "%s/tokenizer.json", folder);
    *result = NULL;
    if (!error && (error = lm_tokenizer_read(path, &l->tokenizer)))
        lm_model_free(&l->model);
    if (error) {
        arena_free(&l->arena);
        free(l);
        return error;
    }
    l->cpu = lm_cpu_new(threads);
    l->longest = longest < config->max_positions ? longest : config->max_positions;
    if (l->longest > TOKENS)
        l->longest = TOKENS;
    struct digest *digest = digest_new();
    digest_bytes(digest, l->model.weights, (size_t)l->model.layout.size * sizeof *l->model.weights);
    l->digest = digest_finish(digest, &l->arena);
    if (lm_tokenizer_size(l->tokenizer) > (uint32_t)config->vocabulary)
        error = error_of_the_file(error_new("%s has ids up to %u, and config.json says 'vocab_size' %d", path,
                                            lm_tokenizer_size(l->tokenizer) - 1, config->vocabulary));
    const struct lm_pass_options options = {.tokens = TOKENS};
    if (!error)
        error = lm_pass_new(l->cpu, &l->model.layout, l->model.weights, &options, &l->pass);
    if (error)
        lm_likelihood_free(l);
    else
        *result = l;
    return error;
}

void lm_likelihood_free(struct lm_likelihood *l)
{
    if (!l)
        return;
    if (l->pass)
        lm_pass_free(l->pass);
    lm_cpu_free(l->cpu);
    lm_tokenizer_free(l->tokenizer);
    lm_model_free(&l->model);
    arena_free(&l->arena);
    free(l);
}

const char *lm_likelihood_model(const struct lm_likelihood *l)
{
    return l->digest;
}

/* Adds a text's first tokens; false: it has no loss. */
static bool add(const struct lm_likelihood *l, const char *text, struct lm_samples *samples)
{
    struct arena arena = {0};
    uint32_t *ids;
    int64_t count = 0;
    struct akgen_error *error = lm_tokenizer_encode(l->tokenizer, &arena, text, strlen(text), &ids, &count);
    const bool some = !error && count > 1;
    if (some)
        lm_samples_add(samples, (const int32_t *)ids, (int)(count < l->longest ? count : l->longest), 1, 0);
    error_free(error);
    arena_free(&arena);
    return some;
}

/* The means over the texts of a batch. */
static void means(struct lm_likelihood *l, const struct lm_batch *batch, double *losses)
{
    float *log_probs = memory_alloc((size_t)lm_batch_tokens(batch) * sizeof *log_probs);
    lm_pass_forward(l->pass, batch);
    lm_pass_log_probs(l->pass, log_probs);
    for (int t = 0; t < batch->texts; t++) {
        double sum = 0;
        for (int i = batch->starts[t]; i < batch->starts[t + 1]; i++)
            sum -= (double)log_probs[i];
        losses[t] = sum / (batch->starts[t + 1] - batch->starts[t] - 1);
    }
    free(log_probs);
}

void lm_likelihood_of(struct lm_likelihood *l, const char *const *texts, int count, double *losses)
{
    struct lm_samples samples = {.group = 1};
    int *order = memory_alloc((size_t)(count + 1) * sizeof *order),
        *which = memory_alloc((size_t)(count + 1) * sizeof *which);
    double *found = memory_alloc((size_t)(count + 1) * sizeof *found);
    for (int i = 0; i < count; i++) {
        losses[i] = NAN;
        order[i] = i;
        if (add(l, texts[i], &samples))
            which[samples.count - 1] = i;
    }
    for (int at = 0; at < samples.count;) {
        struct lm_batch batch;
        const int first = at;
        lm_samples_pack(&samples, order, &at, samples.count, TOKENS, &batch);
        means(l, &batch, found + first);
        lm_samples_release(&batch);
    }
    for (int i = 0; i < samples.count; i++)
        losses[which[i]] = found[i];
    lm_samples_free(&samples);
    free(order);
    free(which);
    free(found);
}
