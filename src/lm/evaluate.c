/* Scores of all tokens before a learned one give its probability and whether it is the most probable; sums of these by source. */
#include "lm/evaluate.h"

#include "base/files.h"
#include "base/memory.h"
#include "lm/cpu.h"
#include "lm/pass.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS = 64 }; /* whose scores exist at a time */

/* What a model says of each token that has a label; 0 where there is none. */
struct said {
    float *log_probs;
    bool *first; /* the label is the most probable token */
};

static void judge(const float *scores, int vocabulary, int32_t label, float *log_prob, bool *first)
{
    int best = 0;
    for (int v = 1; v < vocabulary; v++)
        best = scores[v] > scores[best] ? v : best;
    double sum = 0;
    for (int v = 0; v < vocabulary; v++)
        sum += (double)expf(scores[v] - scores[best]);
    *log_prob = (float)((double)(scores[label] - scores[best]) - log(sum));
    *first = best == label;
}

static void judge_batch(struct lm_pass *pass, const struct lm_batch *batch, int vocabulary, float *scores,
                        const struct said *said, int64_t at)
{
    int n = lm_batch_tokens(batch), count = 0;
    int32_t rows[ROWS];
    lm_pass_forward(pass, batch);
    for (int i = 0; i < n; i++) {
        if (batch->labels[i] != LM_NO_LABEL)
            rows[count++] = i;
        if (!count || (count < ROWS && i + 1 < n))
            continue;
        lm_pass_scores(pass, rows, count, scores);
        for (int r = 0; r < count; r++)
            judge(scores + (int64_t)r * vocabulary, vocabulary, batch->labels[rows[r]], &said->log_probs[at + rows[r]],
                  &said->first[at + rows[r]]);
        count = 0;
    }
}

static void ask_pass(struct lm_pass *pass, const struct lm_samples *samples, int tokens, int vocabulary,
                     const struct said *said)
{
    int groups = lm_samples_groups(samples);
    int *order = memory_alloc((size_t)(groups + 1) * sizeof *order);
    float *scores = memory_alloc((size_t)ROWS * (size_t)vocabulary * sizeof *scores);
    for (int i = 0; i < groups; i++)
        order[i] = i;
    int64_t done = 0;
    for (int at = 0; at < groups;) {
        struct lm_batch batch;
        lm_samples_pack(samples, order, &at, groups, tokens, &batch);
        judge_batch(pass, &batch, vocabulary, scores, said, done);
        done += lm_batch_tokens(&batch);
        lm_samples_release(&batch);
    }
    free(order);
    free(scores);
}

/* Asks a folder's model, of which nothing is left behind it. */
static struct akgen_error *ask(const struct lm_evaluate_options *options, const char *folder, const char *adapter,
                               bool int8, const struct lm_samples *samples, int vocabulary, const struct said *said)
{
    struct lm_model model;
    struct lm_pass *pass = NULL;
    struct lm_int8 *rounded = NULL;
    struct akgen_error *error = lm_model_read_merged(&model, folder, adapter);
    if (error)
        return error;
    struct lm_backend *cpu = lm_cpu_new(options->threads);
    int64_t longest = lm_samples_longest(samples);
    if (model.layout.config.vocabulary != vocabulary)
        error = error_of_the_file(error_new("%s: a reference needs the model's vocabulary, %d tokens, and has %d",
                                            folder, vocabulary, model.layout.config.vocabulary));
    if (!error && int8)
        error = lm_int8_new(cpu, &model.layout, model.weights, &rounded);
    if (!error) {
        const struct lm_pass_options how = {.tokens = longest > options->tokens ? (int)longest : options->tokens,
                                            .int8 = rounded};
        error = lm_pass_new(cpu, &model.layout, model.weights, &how, &pass);
    }
    if (!error)
        ask_pass(pass, samples, options->tokens, vocabulary, said);
    if (pass)
        lm_pass_free(pass);
    lm_int8_free(rounded);
    lm_cpu_free(cpu);
    lm_model_free(&model);
    return error;
}

static struct said new_said(const struct lm_samples *samples)
{
    size_t count = (size_t)samples->starts[samples->count] + 1;
    return (struct said){memory_alloc(count * sizeof(float)), memory_alloc(count * sizeof(bool))};
}

static void free_said(struct said *said)
{
    free(said->log_probs);
    free(said->first);
}

/* The sum of a sample's log-probabilities. */
static double sum_of(const struct lm_samples *samples, int sample, const float *log_probs, int64_t *learned)
{
    double sum = 0;
    *learned = 0;
    for (int64_t i = samples->starts[sample]; i < samples->starts[sample + 1]; i++)
        if (samples->labels[i] != LM_NO_LABEL) {
            sum += (double)log_probs[i];
            ++*learned;
        }
    return sum;
}

static void add_sample(struct lm_evaluated *sums, const struct lm_samples *samples, int sample, const struct said *said)
{
    int64_t learned;
    sums->loss -= sum_of(samples, sample, said->log_probs, &learned);
    sums->learned += learned;
    sums->tokens += samples->starts[sample + 1] - samples->starts[sample];
    for (int64_t i = samples->starts[sample]; i < samples->starts[sample + 1]; i++)
        sums->accuracy += said->first[i];
}

/* reference->log_probs NULL: there is none. */
static void add_pair(struct lm_evaluated *sums, const struct lm_samples *samples, int pair, const struct said *said,
                     const struct said *reference, double beta)
{
    double values[2], means[2];
    for (int i = 0; i < 2; i++) {
        int64_t learned;
        values[i] = sum_of(samples, 2 * pair + i, said->log_probs, &learned);
        means[i] = values[i] / (double)learned;
        if (reference->log_probs)
            values[i] = beta * (values[i] - sum_of(samples, 2 * pair + i, reference->log_probs, &learned));
    }
    sums->chosen += values[0];
    sums->rejected += values[1];
    sums->right += values[0] > values[1];
    sums->right_by_token += means[0] > means[1];
}

static void finish(struct lm_evaluated *sums)
{
    double rows = sums->rows ? sums->rows : 1, learned = sums->learned ? (double)sums->learned : 1;
    sums->loss /= learned;
    sums->accuracy /= learned;
    sums->chosen /= rows;
    sums->rejected /= rows;
    sums->right /= rows;
    sums->right_by_token /= rows;
}

static void sum_up(struct lm_evaluation *evaluation, const struct lm_samples *samples, const struct said *said,
                   const struct said *reference, double beta)
{
    bool named = samples->source_count > 1; /* number 0 is that of rows without one */
    evaluation->source_count = named ? samples->source_count : 0;
    evaluation->sources =
        arena_alloc(&evaluation->arena, (size_t)samples->source_count * sizeof *evaluation->sources + 1);
    for (int i = 0; i < evaluation->source_count; i++)
        evaluation->sources[i].source = arena_strdup(&evaluation->arena, samples->source_names[i]);
    for (int row = 0; row < lm_samples_groups(samples); row++) {
        struct lm_evaluated *of[] = {&evaluation->all,
                                     named ? &evaluation->sources[samples->sources[row * samples->group]] : NULL};
        for (int i = 0; i < 2 && of[i]; i++) {
            of[i]->rows++;
            for (int j = 0; j < samples->group; j++)
                add_sample(of[i], samples, row * samples->group + j, said);
            if (evaluation->pairs)
                add_pair(of[i], samples, row, said, reference, beta);
        }
    }
    finish(&evaluation->all);
    for (int i = 0; i < evaluation->source_count; i++)
        finish(&evaluation->sources[i]);
}

static struct akgen_error *read_rows(const struct lm_evaluate_options *options, const struct lm_config *config,
                                     enum lm_samples_kind kind, struct lm_samples *samples)
{
    struct arena arena = {0};
    struct lm_tokenizer *tokenizer = NULL;
    const char *path = arena_printf(&arena, "%s/tokenizer.json", options->folder);
    struct akgen_error *error = files_exists(path) ? lm_tokenizer_read(path, &tokenizer) : NULL;
    if (!error && tokenizer && lm_tokenizer_size(tokenizer) > (uint32_t)config->vocabulary)
        error = error_of_the_file(error_new("%s has ids up to %u, and config.json says 'vocab_size' %d", path,
                                            lm_tokenizer_size(tokenizer) - 1, config->vocabulary));
    const struct lm_samples_options how = {.kind = kind,
                                           .folder = options->folder,
                                           .tokenizer = tokenizer,
                                           .longest = options->longest ? options->longest : config->max_positions,
                                           .vocabulary = config->vocabulary,
                                           .end = config->end_token};
    for (int i = 0; i < options->data_count && !error; i++)
        error = lm_samples_read(samples, options->data[i], &how);
    if (!error && !samples->count)
        error = error_of_the_file(error_new("%s: there is nothing to learn in it", options->data[0]));
    lm_tokenizer_free(tokenizer);
    arena_free(&arena);
    return error;
}

struct akgen_error *lm_evaluate(const struct lm_evaluate_options *options, struct lm_evaluation *evaluation)
{
    struct lm_config config;
    struct lm_samples samples = {0};
    struct said said = {0}, reference = {0};
    enum lm_samples_kind kind = lm_samples_kind_of(options->data[0]);
    *evaluation = (struct lm_evaluation){.pairs = kind == LM_PAIRS, .referred = options->reference != NULL};
    struct akgen_error *error =
        lm_config_read(arena_printf(&evaluation->arena, "%s/config.json", options->folder), &config);
    if (!error && options->reference && !evaluation->pairs)
        error = error_of_the_file(error_new(
            "%s: a reference is for rows with 'chosen' and 'rejected', and the first has none", options->data[0]));
    if (!error)
        error = read_rows(options, &config, kind, &samples);
    if (!error) {
        said = new_said(&samples);
        error = ask(options, options->folder, options->adapter, options->int8, &samples, config.vocabulary, &said);
    }
    if (!error && options->reference) {
        reference = new_said(&samples);
        error = ask(options, options->reference, NULL, false, &samples, config.vocabulary, &reference);
    }
    if (!error) {
        sum_up(evaluation, &samples, &said, &reference, options->beta);
        evaluation->cut = samples.cut;
        evaluation->left_out = samples.left_out;
    }
    free_said(&said);
    free_said(&reference);
    lm_samples_free(&samples);
    return error;
}
