/* The loop of training: passes to gradients, gradients to steps, and between them what is written. */
#include "lm/train.h"

#include "base/clock.h"
#include "base/digest.h"
#include "base/files.h"
#include "base/memory.h"
#include "lm/checkpoint.h"
#include "lm/cpu.h"
#include "lm/pass.h"
#include "lm/samples.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

enum { LONGEST_METRICS = 1 << 30 };

const struct lm_train_options lm_train_defaults = {
    .optimizer = {.rate = 1e-5, .cosine = true, .beta1 = 0.9, .beta2 = 0.999, .eps = 1e-8, .clip = 1},
    .warmup = 0.03,
    .batch = 16,
    .tokens = 4096,
    .epochs = 1,
    .seed = 1,
    .save_every = 100,
    .keep = 2,
};

struct training {
    const struct lm_train_options *options;
    struct arena arena;
    int lock;
    struct lm_trained trained;
    struct lm_tokenizer *tokenizer;
    struct lm_samples samples, eval;
    struct lm_backend *backend;
    struct lm_pass *pass;
    struct lm_optimizer optimizer;
    float *gradient; /* in the backend's memory */
    int longest, steps, steps_of_an_epoch;
    int *order, epoch; /* of the samples, and which epoch's it is */
    float *factors, *log_probs;
    struct lm_state state;
    json_t *settings;
    FILE *metrics;
    struct lm_progress progress;
};

/* ---- What is trained, on what */

static struct akgen_error *lock_output(struct training *training)
{
    const char *out = training->options->out;
    struct akgen_error *error = files_make_directory(out);
    if (error)
        return error;
    training->lock = open(out, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (training->lock < 0)
        return error_new("%s: %s", out, strerror(errno));
    if (flock(training->lock, LOCK_EX | LOCK_NB) != 0)
        return error_new("%s: another run writes here", out);
    if (lm_checkpoint_newest(out) >= 0 && !training->options->resume)
        return error_new("%s holds a run already: go on with it (--resume), or write elsewhere", out);
    return NULL;
}

static struct akgen_error *read_model(struct training *training)
{
    const struct lm_train_options *options = training->options;
    struct lm_trained *trained = &training->trained;
    struct lm_config config;
    struct rng rng;
    rng_seed(&rng, options->seed);
    trained->folder = options->model;
    struct akgen_error *error =
        options->fresh ? lm_config_read(arena_printf(&training->arena, "%s/config.json", options->model), &config)
                       : lm_model_read(&trained->model, options->model);
    if (error)
        return error;
    if (options->fresh)
        lm_model_new(&trained->model, &config, &rng);
    if (options->adapters) {
        error = lm_adapters_make(&trained->adapters, &trained->model.layout, options->adapters);
        if (!error)
            trained->adapter_weights = lm_adapters_new(&trained->adapters, &rng);
    }
    return error;
}

static struct akgen_error *read_samples(struct training *training)
{
    const struct lm_train_options *options = training->options;
    const struct lm_config *config = &training->trained.model.layout.config;
    const char *path = arena_printf(&training->arena, "%s/tokenizer.json", options->model);
    struct akgen_error *error = files_exists(path) ? lm_tokenizer_read(path, &training->tokenizer) : NULL;
    if (!error && training->tokenizer && lm_tokenizer_size(training->tokenizer) > (uint32_t)config->vocabulary)
        error = error_new("%s has ids up to %u, and config.json says 'vocab_size' %d", path,
                          lm_tokenizer_size(training->tokenizer) - 1, config->vocabulary);
    training->longest = options->longest ? options->longest : config->max_positions;
    const struct lm_samples_options how = {.tokenizer = training->tokenizer,
                                           .longest = training->longest,
                                           .vocabulary = config->vocabulary,
                                           .end = config->end_token};
    for (int i = 0; i < options->data_count && !error; i++)
        error = lm_samples_read(&training->samples, options->data[i], &how);
    if (!error && options->eval)
        error = lm_samples_read(&training->eval, options->eval, &how);
    if (!error && !training->samples.count)
        error = error_new("%s: there is nothing to learn in it", options->data_count ? options->data[0] : "no data");
    return error;
}

static int64_t longest_sample(const struct lm_samples *samples)
{
    int64_t longest = 0;
    for (int i = 0; i < samples->count; i++)
        if (samples->starts[i + 1] - samples->starts[i] > longest)
            longest = samples->starts[i + 1] - samples->starts[i];
    return longest;
}

static struct akgen_error *make_pass(struct training *training)
{
    const struct lm_train_options *options = training->options;
    const struct lm_trained *trained = &training->trained;
    int64_t most = longest_sample(&training->samples), other = longest_sample(&training->eval);
    most = other > most ? other : most;
    most = options->tokens > most ? options->tokens : most;
    training->backend = lm_cpu_new(options->threads);
    const struct lm_pass_options how = {.tokens = (int)most,
                                        .training = true,
                                        .checkpoint = options->recompute,
                                        .adapters = trained->adapters.layers ? &trained->adapters : NULL,
                                        .adapter_weights = trained->adapter_weights};
    struct akgen_error *error =
        lm_pass_new(training->backend, &trained->model.layout, trained->model.weights, &how, &training->pass);
    if (error)
        return error;
    int64_t bytes = lm_trained_layout(trained)->size * (int64_t)sizeof(float);
    training->gradient = training->backend->operations->allocate(training->backend, bytes);
    training->factors = memory_alloc((size_t)most * sizeof *training->factors);
    training->log_probs = memory_alloc((size_t)most * sizeof *training->log_probs);
    return training->gradient ? NULL
                              : error_new("there are not the %.2f GB that the gradients need", 1e-9 * (double)bytes);
}

static struct akgen_error *make_optimizer(struct training *training)
{
    const struct lm_train_options *options = training->options;
    struct lm_optimizer_options how = options->optimizer;
    training->steps_of_an_epoch = (training->samples.count + options->batch - 1) / options->batch;
    training->steps = options->steps ? options->steps : training->steps_of_an_epoch * options->epochs;
    how.steps = training->steps;
    how.warmup = (int)(options->warmup < 1 ? ceil(options->warmup * training->steps) : options->warmup);
    training->order = memory_alloc((size_t)training->samples.count * sizeof *training->order);
    training->epoch = -1;
    return lm_optimizer_new(&training->optimizer, training->backend, lm_trained_layout(&training->trained), &how);
}

/* Whatever decides what a step does. */
static json_t *make_settings(struct training *training)
{
    const struct lm_train_options *options = training->options;
    const struct lm_optimizer_options *optimizer = &training->optimizer.options;
    const struct lm_samples *samples = &training->samples;
    struct digest *digest = digest_new();
    digest_bytes(digest, samples->tokens, (size_t)samples->starts[samples->count] * sizeof *samples->tokens);
    digest_bytes(digest, samples->labels, (size_t)samples->starts[samples->count] * sizeof *samples->labels);
    digest_bytes(digest, samples->starts, (size_t)(samples->count + 1) * sizeof *samples->starts);
    json_t *settings = json_pack(
        "{s:s s:i s:i s:i s:b s:I s:f s:b s:i s:f s:f s:f s:f s:f s:i s:f s:i}", "data",
        digest_finish(digest, &training->arena), "batch", options->batch, "tokens of a pass", options->tokens, "steps",
        training->steps, "in order", options->in_order, "seed", (json_int_t)options->seed, "rate", optimizer->rate,
        "cosine", optimizer->cosine, "warm-up", optimizer->warmup, "beta1", optimizer->beta1, "beta2", optimizer->beta2,
        "eps", optimizer->eps, "decay", optimizer->decay, "clip", optimizer->clip, "rank",
        options->adapters ? options->adapters->rank : 0, "alpha",
        options->adapters ? (double)options->adapters->alpha : 0, "threads", lm_cpu_threads(training->backend));
    return settings;
}

/* ---- Going on */

static struct akgen_error *open_metrics(struct training *training)
{
    const char *path = arena_printf(&training->arena, "%s/metrics.jsonl", training->options->out);
    struct akgen_error *error = NULL;
    char *bytes = NULL;
    size_t length = 0, kept = 0;
    if (training->state.step && files_exists(path))
        error = files_read(&training->arena, path, LONGEST_METRICS, &bytes, &length);
    /* Lines of steps behind the checkpoint are written again. */
    for (size_t at = 0; at < length;) {
        const char *end = memchr(bytes + at, '\n', length - at);
        json_t *row = end ? json_loadb(bytes + at, (size_t)(end - bytes) - at, 0, NULL) : NULL;
        bool ours = row && json_integer_value(json_object_get(row, "step")) <= training->state.step;
        json_decref(row);
        if (!ours)
            break;
        kept = at = (size_t)(end - bytes) + 1;
    }
    if (!error)
        error = files_write(path, bytes ? bytes : "", kept);
    if (!error && !(training->metrics = fopen(path, "ae")))
        error = error_new("%s: %s", path, strerror(errno));
    return error;
}

static struct akgen_error *go_on(struct training *training)
{
    int step = lm_checkpoint_newest(training->options->out);
    int64_t count = training->optimizer.layout->size, bytes = count * (int64_t)sizeof(float);
    training->state.settings = training->settings = make_settings(training);
    if (step < 0)
        return NULL;
    float *m = memory_alloc((size_t)bytes), *v = memory_alloc((size_t)bytes);
    struct akgen_error *error =
        lm_checkpoint_read(training->options->out, step, &training->trained, m, v, &training->state);
    if (!error) {
        training->optimizer.step = training->state.step;
        training->backend->operations->upload(training->backend, training->optimizer.m, m, bytes);
        training->backend->operations->upload(training->backend, training->optimizer.v, v, bytes);
    }
    free(m);
    free(v);
    return error;
}

static struct akgen_error *save(struct training *training)
{
    const struct lm_operations *ops = training->backend->operations;
    int64_t bytes = training->optimizer.layout->size * (int64_t)sizeof(float);
    float *m = memory_alloc((size_t)bytes), *v = memory_alloc((size_t)bytes);
    ops->download(training->backend, m, training->optimizer.m, bytes);
    ops->download(training->backend, v, training->optimizer.v, bytes);
    struct akgen_error *error = lm_checkpoint_write(training->options->out, &training->trained, m, v, &training->state,
                                                    training->options->keep > 1 ? training->options->keep : 1);
    free(m);
    free(v);
    return error;
}

/* ---- Steps */

static void report(struct training *training)
{
    const struct lm_progress *progress = &training->progress;
    bool evaluated = !isnan(progress->eval_loss);
    json_t *row = json_pack("{s:i s:f}", "step", progress->step, "epoch", progress->epoch);
    if (evaluated) {
        json_object_set_new(row, "eval_loss", json_real(progress->eval_loss));
    } else {
        json_object_set_new(row, "loss", isfinite(progress->loss) ? json_real(progress->loss) : json_null());
        json_object_set_new(row, "rate", json_real(progress->rate));
        json_object_set_new(row, "norm", isfinite(progress->norm) ? json_real(progress->norm) : json_null());
        json_object_set_new(row, "tokens", json_integer(progress->tokens));
        json_object_set_new(row, "tokens_per_second", json_real(progress->tokens_per_second));
        json_object_set_new(row, "seconds", json_real(progress->seconds));
    }
    json_dumpf(row, training->metrics, JSON_COMPACT | JSON_REAL_PRECISION(9));
    fputc('\n', training->metrics);
    fflush(training->metrics);
    json_decref(row);
    if (training->options->on_progress)
        training->options->on_progress(training->options->closure, progress);
}

/* The samples of a step, as a range of training->order. */
static void step_samples(struct training *training, int step, int *first, int *last)
{
    int epoch = step / training->steps_of_an_epoch, inside = step % training->steps_of_an_epoch;
    if (epoch != training->epoch) {
        training->epoch = epoch;
        for (int i = 0; i < training->samples.count; i++)
            training->order[i] = i;
        if (!training->options->in_order)
            lm_samples_shuffle(&training->samples, training->options->seed, epoch, training->order);
    }
    *first = inside * training->options->batch;
    *last = *first + training->options->batch < training->samples.count ? *first + training->options->batch
                                                                        : training->samples.count;
}

static int64_t labels_of(const struct lm_samples *samples, const int *order, int first, int last)
{
    int64_t learned = 0;
    for (int i = first; i < last; i++)
        for (int64_t at = samples->starts[order[i]]; at < samples->starts[order[i] + 1]; at++)
            learned += samples->labels[at] != LM_NO_LABEL;
    return learned;
}

/* The sum of the log-probabilities of a batch's labels; with `share`, the gradient of -share times it is added. */
static double through(struct training *training, const struct lm_batch *batch, double share)
{
    int n = lm_batch_tokens(batch);
    double sum = 0;
    lm_pass_forward(training->pass, batch);
    if (share > 0) {
        for (int i = 0; i < n; i++)
            training->factors[i] = (float)-share;
        lm_pass_backward(training->pass, training->factors, training->log_probs, training->gradient);
    } else {
        lm_pass_log_probs(training->pass, training->log_probs);
    }
    for (int i = 0; i < n; i++)
        sum += training->log_probs[i];
    return sum;
}

static void step(struct training *training)
{
    struct lm_progress *progress = &training->progress;
    const struct lm_operations *ops = training->backend->operations;
    double start = clock_seconds(), sum = 0;
    int at, last;
    int64_t tokens = 0;
    step_samples(training, training->state.step, &at, &last);
    int64_t learned = labels_of(&training->samples, training->order, at, last);
    ops->zero(training->backend, training->gradient, training->optimizer.layout->size * (int64_t)sizeof(float));
    while (at < last) {
        struct lm_batch batch;
        lm_samples_pack(&training->samples, training->order, &at, last, training->options->tokens, &batch);
        sum += through(training, &batch, 1 / (double)learned);
        tokens += lm_batch_tokens(&batch);
        lm_samples_release(&batch);
    }
    progress->rate = lm_optimizer_rate(&training->optimizer.options, training->optimizer.step);
    progress->norm =
        lm_optimizer_step(&training->optimizer, lm_trained_weights(&training->trained), NULL, training->gradient);
    double seconds = clock_seconds() - start;
    training->state.step++;
    training->state.tokens += tokens;
    training->state.seconds += seconds;
    progress->step = training->state.step;
    progress->epoch = (double)training->state.step / training->steps_of_an_epoch;
    progress->loss = -sum / (double)learned;
    progress->eval_loss = NAN;
    progress->tokens = training->state.tokens;
    progress->tokens_per_second = (double)tokens / seconds;
    progress->seconds = training->state.seconds;
    report(training);
}

static void evaluate(struct training *training)
{
    const struct lm_samples *eval = &training->eval;
    double sum = 0;
    if (!eval->count)
        return;
    int *order = memory_alloc((size_t)eval->count * sizeof *order);
    for (int i = 0; i < eval->count; i++)
        order[i] = i;
    for (int at = 0; at < eval->count;) {
        struct lm_batch batch;
        lm_samples_pack(eval, order, &at, eval->count, training->options->tokens, &batch);
        sum += through(training, &batch, 0);
        lm_samples_release(&batch);
    }
    free(order);
    training->progress.eval_loss = -sum / (double)eval->learned;
    report(training);
}

static bool due(const struct training *training, int every)
{
    return training->state.step == training->steps || (every && training->state.step % every == 0);
}

static struct akgen_error *loop(struct training *training)
{
    const struct lm_train_options *options = training->options;
    struct akgen_error *error = NULL;
    training->progress.steps = training->steps;
    while (training->state.step < training->steps && !error) {
        step(training);
        bool stop = options->stop && *options->stop;
        if (due(training, options->eval_every) && !stop)
            evaluate(training);
        if (due(training, options->save_every) || stop)
            error = save(training);
        if (stop)
            break;
    }
    return error;
}

static struct akgen_error *prepare(struct training *training)
{
    struct akgen_error *(*const parts[])(struct training *) = {lock_output,    read_model, read_samples, make_pass,
                                                               make_optimizer, go_on,      open_metrics};
    struct akgen_error *error = NULL;
    for (size_t i = 0; i < sizeof parts / sizeof *parts && !error; i++)
        error = parts[i](training);
    return error;
}

static void release(struct training *training)
{
    if (training->metrics)
        fclose(training->metrics);
    lm_optimizer_free(&training->optimizer);
    if (training->backend)
        training->backend->operations->release(training->backend, training->gradient);
    lm_pass_free(training->pass);
    if (training->backend)
        lm_cpu_free(training->backend);
    lm_samples_free(&training->samples);
    lm_samples_free(&training->eval);
    lm_tokenizer_free(training->tokenizer);
    if (training->trained.adapters.layers)
        lm_adapters_free(&training->trained.adapters);
    free(training->trained.adapter_weights);
    lm_model_free(&training->trained.model);
    json_decref(training->settings);
    free(training->order);
    free(training->factors);
    free(training->log_probs);
    if (training->lock >= 0)
        close(training->lock);
    arena_free(&training->arena);
}

struct akgen_error *lm_train(const struct lm_train_options *options, struct lm_train_result *result)
{
    struct training training = {.options = options, .lock = -1, .progress = {.loss = NAN, .eval_loss = NAN}};
    struct akgen_error *error = prepare(&training);
    if (!error)
        error = loop(&training);
    if (!error && training.state.step == training.steps)
        error = lm_trained_write(&training.trained, options->out, options->dtype);
    *result = (struct lm_train_result){.step = training.state.step,
                                       .steps = training.steps,
                                       .samples = training.samples.count,
                                       .cut = training.samples.cut,
                                       .left_out = training.samples.left_out,
                                       .learned = training.samples.learned,
                                       .loss = training.progress.loss,
                                       .eval_loss = training.progress.eval_loss,
                                       .stopped = training.state.step < training.steps};
    release(&training);
    return error;
}
