/* The loop of training: passes to gradients, gradients to steps, and between them what is written. */
#include "lm/train.h"

#include "base/clock.h"
#include "base/digest.h"
#include "base/files.h"
#include "base/memory.h"
#include "lm/checkpoint.h"
#include "lm/course.h"
#include "lm/cpu.h"
#include "lm/cuda.h"
#include "lm/curves.h"
#include "lm/pass.h"
#include "lm/rollout.h"

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
    .device = LM_ON_CPU,
    .elements = LM_F32,
};

/* Samples, and what models that do not change say of their tokens. */
struct set {
    struct lm_samples samples;
    float *reference,
        *old; /* logarithms of probabilities, one for each token; old: by the model at the begin. NULL: not needed */
};
struct training {
    const struct lm_train_options *options;
    struct arena arena;
    int lock;
    struct lm_trained trained;
    struct lm_tokenizer *tokenizer;
    struct set data, eval;
    struct set round; /* online: of the step that is taken */
    /* Online: what the answers stay close to. Adapters that are trained are beside it nothing at all, their products zero. */
    float *reference_weights;  /* NULL: those of the model, which adapters leave as they are */
    float *reference_adapters; /* zeros; NULL: there are no adapters */
    struct lm_backend *backend;
    struct lm_pass *pass;
    struct lm_optimizer optimizer;
    float *weights, *gradient; /* in the backend's memory; weights: of what is trained */
    struct lm_course course;
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
    const struct lm_samples *eval = &training->eval.samples;
    struct akgen_error *error = lm_course_read(options, &training->trained.model.layout.config, &training->tokenizer,
                                               &training->data.samples, &training->eval.samples);
    /* A row that the judge refuses is said now, not at the first evaluation. */
    for (int i = 0; options->online && i < lm_samples_groups(eval) && !error; i++)
        if ((error = options->online->judge->judge(eval->rows[i], NULL, 0, NULL)))
            error = error_prefix(error, "%s", options->eval);
    return error;
}

static struct akgen_error *make_pass(struct training *training)
{
    const struct lm_train_options *options = training->options;
    const struct lm_trained *trained = &training->trained;
    int64_t most = lm_samples_longest(&training->data.samples), other = lm_samples_longest(&training->eval.samples);
    most = other > most ? other : most;
    if (options->online)
        most = (most + options->online->most) * options->online->group;
    most = options->tokens > most ? options->tokens : most;
    struct akgen_error *error = NULL;
    if (options->device != LM_ON_CPU && trained->model.layout.config.head_size > LM_CUDA_HEAD)
        return error_new("heads of %d: on a GPU they are at most %d long", trained->model.layout.config.head_size,
                         LM_CUDA_HEAD);
    if (options->device == LM_ON_CPU && options->elements == LM_F32)
        training->backend = lm_cpu_new_split(options->threads);
    else
        error = options->device == LM_ON_CPU ? lm_cpu_new_bf16(options->threads, &training->backend)
                                             : lm_cuda_new(options->device, options->elements, &training->backend);
    if (error)
        return error;
    const struct lm_pass_options how = {.tokens = (int)most,
                                        .training = true,
                                        .checkpoint = options->recompute,
                                        .adapters = trained->adapters.layers ? &trained->adapters : NULL,
                                        .adapter_weights = trained->adapter_weights};
    error = lm_pass_new(training->backend, &trained->model.layout, trained->model.weights, &how, &training->pass);
    if (error)
        return error;
    int64_t bytes = lm_trained_layout(trained)->size * (int64_t)sizeof(float);
    training->gradient = training->backend->operations->allocate(training->backend, bytes);
    training->weights = training->backend->operations->on_host
                            ? lm_trained_weights(trained)
                            : training->backend->operations->allocate(training->backend, bytes);
    if (!training->weights || !training->gradient)
        return error_new("%s has not the %.2f GB that weights and gradients need", training->backend->operations->name,
                         2e-9 * (double)bytes);
    training->factors = memory_alloc((size_t)most * sizeof *training->factors);
    training->log_probs = memory_alloc((size_t)most * sizeof *training->log_probs);
    return NULL;
}

static struct akgen_error *make_optimizer(struct training *training)
{
    const struct lm_train_options *options = training->options;
    struct lm_optimizer_options how = options->optimizer;
    lm_course_make(&training->course, options, &training->data.samples);
    how.steps = training->course.steps;
    how.warmup = training->course.warmup;
    return lm_optimizer_new(&training->optimizer, training->backend, lm_trained_layout(&training->trained), &how);
}

static void add_samples(struct digest *digest, const struct lm_samples *samples)
{
    if (!samples->count)
        return;
    digest_bytes(digest, samples->tokens, (size_t)samples->starts[samples->count] * sizeof *samples->tokens);
    digest_bytes(digest, samples->labels, (size_t)samples->starts[samples->count] * sizeof *samples->labels);
    digest_bytes(digest, samples->starts, (size_t)(samples->count + 1) * sizeof *samples->starts);
    digest_bytes(digest, samples->rewards, (size_t)samples->count * sizeof *samples->rewards);
}

static const float *reference_weights(const struct training *training)
{
    return training->reference_weights ? training->reference_weights : training->trained.model.weights;
}

/* Whatever decides what a step does. */
static json_t *make_settings(struct training *training)
{
    const struct lm_train_options *options = training->options;
    const struct lm_optimizer_options *optimizer = &training->optimizer.options;
    const struct lm_samples *samples = &training->data.samples;
    struct digest *digest = digest_new();
    add_samples(digest, samples);
    json_t *settings = json_pack(
        "{s:s s:i s:f s:f s:i s:i s:i s:b s:I s:f s:b s:i s:f s:f s:f s:f s:f s:i s:f s:i s:s}", "data",
        digest_finish(digest, &training->arena), "objective", (int)options->objective.kind, "beta",
        options->objective.beta, "ratio's clip", options->objective.clip, "batch", options->batch, "tokens of a pass",
        options->tokens, "steps", training->course.steps, "in order", options->in_order, "seed",
        (json_int_t)options->seed, "rate", optimizer->rate, "cosine", optimizer->cosine, "warm-up", optimizer->warmup,
        "beta1", optimizer->beta1, "beta2", optimizer->beta2, "eps", optimizer->eps, "decay", optimizer->decay, "clip",
        optimizer->clip, "rank", options->adapters ? options->adapters->rank : 0, "alpha",
        options->adapters ? (double)options->adapters->alpha : 0, "threads",
        options->device == LM_ON_CPU ? lm_cpu_threads(training->backend) : 0, "device",
        training->backend->operations->name);
    if (options->online) {
        struct digest *reference = digest_new();
        digest_bytes(reference, reference_weights(training),
                     (size_t)training->trained.model.layout.size * sizeof(float));
        json_t *online =
            json_pack("{s:i s:i s:i s:s s:s}", "answers of a prompt", options->online->group, "tokens of an answer",
                      options->online->most, "longest text", options->longest, "judge", options->online->judge->name,
                      "reference", digest_finish(reference, &training->arena));
        json_object_update(settings, online);
        json_decref(online);
    }
    return settings;
}

/* ---- What models that do not change say */

static int *in_order(int count)
{
    int *order = memory_alloc((size_t)(count + 1) * sizeof *order);
    for (int i = 0; i < count; i++)
        order[i] = i;
    return order;
}

/* The logarithms of the probabilities that the pass gives now to a set's labels. */
static float *log_probs_of(struct training *training, const struct lm_samples *samples)
{
    int groups = lm_samples_groups(samples);
    float *log_probs = memory_alloc((size_t)(samples->count ? samples->starts[samples->count] : 1) * sizeof *log_probs),
          *to = log_probs;
    int *order = in_order(groups);
    for (int at = 0; at < groups;) {
        struct lm_batch batch;
        lm_samples_pack(samples, order, &at, groups, training->options->tokens, &batch);
        lm_pass_forward(training->pass, &batch);
        lm_pass_log_probs(training->pass, to);
        to += lm_batch_tokens(&batch);
        lm_samples_release(&batch);
    }
    free(order);
    return log_probs;
}

/* The reference, whose layers have to be the model's; the caller frees it unless there is an error. */
static struct akgen_error *read_reference(const struct training *training, struct lm_model *model)
{
    const char *folder = training->options->reference;
    struct akgen_error *error = lm_model_read(model, folder);
    if (error || (model->layout.size == training->trained.model.layout.size &&
                  model->layout.count == training->trained.model.layout.count))
        return error;
    lm_model_free(model);
    return error_new("%s: a reference needs the sizes of the model, %s", folder, training->options->model);
}

/* Online: the weights that it has, kept beside those that are trained. */
static struct akgen_error *keep_reference(struct training *training)
{
    const struct lm_trained *trained = &training->trained;
    const struct lm_model *own = &trained->model;
    size_t bytes = (size_t)own->layout.size * sizeof(float);
    struct lm_model model;
    if (trained->adapters.layers)
        training->reference_adapters =
            memory_alloc((size_t)trained->adapters.layout.size * sizeof *training->reference_adapters);
    if (trained->adapters.layers && !training->options->reference)
        return NULL;
    struct akgen_error *error = training->options->reference ? read_reference(training, &model) : NULL;
    if (error)
        return error;
    training->reference_weights = memory_alloc(bytes);
    memcpy(training->reference_weights, training->options->reference ? model.weights : own->weights, bytes);
    if (training->options->reference)
        lm_model_free(&model);
    return NULL;
}

/* By the reference. */
static struct akgen_error *ask_reference(struct training *training, struct set *const sets[2])
{
    struct lm_model model;
    struct akgen_error *error = read_reference(training, &model);
    if (error)
        return error;
    lm_pass_weights(training->pass, model.weights);
    for (int i = 0; i < 2; i++)
        sets[i]->reference = log_probs_of(training, &sets[i]->samples);
    lm_pass_weights(training->pass, training->trained.model.weights);
    lm_model_free(&model);
    return NULL;
}

static struct akgen_error *read_frozen(const char *path, struct set *const sets[2])
{
    static const char *const names[2][2] = {{"data.reference", "data.old"}, {"eval.reference", "eval.old"}};
    struct lm_tensors tensors;
    struct akgen_error *error = lm_tensors_open(path, &tensors);
    for (int i = 0; i < 4 && !error; i++) {
        const struct lm_samples *samples = &sets[i / 2]->samples;
        const struct lm_tensor *tensor = lm_tensors_find(&tensors, names[i / 2][i % 2]);
        int64_t count = samples->count ? samples->starts[samples->count] : 0;
        float *values = memory_alloc((size_t)(count + 1) * sizeof *values);
        *(i % 2 ? &sets[i / 2]->old : &sets[i / 2]->reference) = values;
        error =
            tensor && tensor->count == count
                ? lm_tensors_read(&tensors, tensor, 0, count, values)
                : error_of_the_file(error_new("%s: '%s' is missing or has another size", path, names[i / 2][i % 2]));
    }
    lm_tensors_close(&tensors);
    return error;
}

static struct akgen_error *write_frozen(const char *path, struct set *const sets[2])
{
    struct lm_tensor tensors[4] = {
        {.name = "data.reference"}, {.name = "data.old"}, {.name = "eval.reference"}, {.name = "eval.old"}};
    for (int i = 0; i < 4; i++) {
        const struct lm_samples *samples = &sets[i / 2]->samples;
        tensors[i].rank = 1;
        tensors[i].shape[0] = tensors[i].count = samples->count ? samples->starts[samples->count] : 0;
        tensors[i].values = i % 2 ? sets[i / 2]->old : sets[i / 2]->reference;
    }
    return lm_tensors_write_file(path, tensors, 4, LM_F32);
}

/* Computed before the first step, while the pass has the weights of the begin; kept for runs that go on. */
static struct akgen_error *ask_frozen(struct training *training)
{
    const struct lm_train_options *options = training->options;
    const struct lm_model *model = &training->trained.model;
    struct set *const sets[2] = {&training->data, &training->eval};
    struct akgen_error *error = NULL;
    if (options->objective.kind == LM_SFT)
        return NULL;
    if (options->online)
        return keep_reference(training);
    struct digest *digest = digest_new();
    add_samples(digest, &training->data.samples);
    add_samples(digest, &training->eval.samples);
    digest_bytes(digest, model->weights, (size_t)model->layout.size * sizeof *model->weights);
    digest_string(digest, options->reference ? options->reference : "");
    const char *path = arena_printf(&training->arena, "%s/reference-%.16s.safetensors", options->out,
                                    digest_finish(digest, &training->arena));
    if (files_exists(path))
        return read_frozen(path, sets);
    for (int i = 0; i < 2; i++)
        sets[i]->old = log_probs_of(training, &sets[i]->samples);
    if (options->reference)
        error = ask_reference(training, sets);
    for (int i = 0; i < 2 && !options->reference; i++) {
        size_t bytes =
            (size_t)(sets[i]->samples.count ? sets[i]->samples.starts[sets[i]->samples.count] : 0) * sizeof(float);
        sets[i]->reference = memory_alloc(bytes + 1);
        memcpy(sets[i]->reference, sets[i]->old, bytes);
    }
    return error ? error : write_frozen(path, sets);
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

/* An array of the backend's on the host: itself, where that is its memory, or a copy. */
static float *on_host(const struct training *training, float *array, int64_t bytes)
{
    const struct lm_operations *ops = training->backend->operations;
    if (ops->on_host)
        return array;
    float *copy = memory_alloc((size_t)bytes);
    ops->download(training->backend, copy, array, bytes);
    return copy;
}

static void from_host(const struct training *training, float *array, const float *copy, int64_t bytes)
{
    if (!training->backend->operations->on_host)
        training->backend->operations->upload(training->backend, array, copy, bytes);
}

static void leave_host(const struct training *training, float *copy)
{
    if (!training->backend->operations->on_host)
        free(copy);
}

/* What is trained, from the backend's memory to the host's. */
static void fetch_weights(struct training *training)
{
    int64_t bytes = training->optimizer.layout->size * (int64_t)sizeof(float);
    if (!training->backend->operations->on_host)
        training->backend->operations->download(training->backend, lm_trained_weights(&training->trained),
                                                training->weights, bytes);
}

/* And back, with what the pass uses of it. */
static void give_weights(struct training *training)
{
    const float *weights = lm_trained_weights(&training->trained);
    from_host(training, training->weights, weights, training->optimizer.layout->size * (int64_t)sizeof(float));
    if (training->trained.adapters.layers)
        lm_pass_adapters(training->pass, weights);
    else
        lm_pass_weights(training->pass, weights);
}

static struct akgen_error *go_on(struct training *training)
{
    int step = lm_checkpoint_newest(training->options->out);
    int64_t count = training->optimizer.layout->size, bytes = count * (int64_t)sizeof(float);
    training->state.settings = training->settings = make_settings(training);
    if (step < 0) {
        give_weights(training);
        return NULL;
    }
    float *m = on_host(training, training->optimizer.m, bytes), *v = on_host(training, training->optimizer.v, bytes);
    struct akgen_error *error =
        lm_checkpoint_read(training->options->out, step, &training->trained, m, v, &training->state);
    if (!error) {
        training->optimizer.step = training->state.step;
        from_host(training, training->optimizer.m, m, bytes);
        from_host(training, training->optimizer.v, v, bytes);
    }
    leave_host(training, m);
    leave_host(training, v);
    if (!error)
        give_weights(training);
    return error;
}

static struct akgen_error *save(struct training *training)
{
    fetch_weights(training);
    int64_t bytes = training->optimizer.layout->size * (int64_t)sizeof(float);
    float *m = on_host(training, training->optimizer.m, bytes), *v = on_host(training, training->optimizer.v, bytes);
    struct akgen_error *error = lm_checkpoint_write(training->options->out, &training->trained, m, v, &training->state,
                                                    training->options->keep > 1 ? training->options->keep : 1);
    leave_host(training, m);
    leave_host(training, v);
    if (!error)
        error_free(lm_curves_of_run(training->options->out)); /* a picture stops no run */
    return error;
}

/* ---- Steps */

static void report(struct training *training)
{
    const struct lm_progress *progress = &training->progress;
    bool online = training->options->online, evaluated = !isnan(online ? progress->eval_reward : progress->eval_loss);
    json_t *row = json_pack("{s:i s:f}", "step", progress->step, "epoch", progress->epoch);
    if (evaluated && online) {
        json_object_set_new(row, "eval_reward", json_real(progress->eval_reward));
        json_object_set_new(row, "eval_solved", json_real(progress->right));
        json_object_set_new(row, "eval_valid", json_real(progress->valid));
    } else if (evaluated) {
        json_object_set_new(row, "eval_loss", json_real(progress->eval_loss));
    } else {
        json_object_set_new(row, "loss", isfinite(progress->loss) ? json_real(progress->loss) : json_null());
        json_object_set_new(row, "rate", json_real(progress->rate));
        json_object_set_new(row, "norm", isfinite(progress->norm) ? json_real(progress->norm) : json_null());
        if (training->options->objective.kind == LM_DPO) {
            json_object_set_new(row, "chosen", json_real(progress->chosen));
            json_object_set_new(row, "rejected", json_real(progress->rejected));
            json_object_set_new(row, "right", json_real(progress->right));
        } else if (training->options->objective.kind == LM_GRPO) {
            json_object_set_new(row, "reward", json_real(progress->reward));
            json_object_set_new(row, "kl", json_real(progress->kl));
        }
        if (online) {
            json_object_set_new(row, "solved", json_real(progress->right));
            json_object_set_new(row, "valid", json_real(progress->valid));
            json_object_set_new(row, "written", json_integer(progress->written));
            json_object_set_new(row, "writing_seconds", json_real(progress->writing));
            json_object_set_new(row, "judging_seconds", json_real(progress->judging));
        }
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

/* What belongs to the tokens of some groups, one group behind the other. */
static float *gather(const struct lm_samples *samples, const int *order, int first, int last, const float *of, int n)
{
    float *values = memory_alloc((size_t)n * sizeof *values), *to = values;
    for (int i = first; i < last && of; i++) {
        int64_t from = samples->starts[order[i] * samples->group],
                end = samples->starts[(order[i] + 1) * samples->group];
        memcpy(to, of + from, (size_t)(end - from) * sizeof *to);
        to += end - from;
    }
    return values;
}

/* A pass of the groups [first, last) of the order: their part of the objective, and with `back` its gradient. */
static void through(struct training *training, const struct set *set, const int *order, int first, int last,
                    const struct lm_batch *batch, double whole, bool back, struct lm_objective_sums *sums)
{
    const struct lm_objective_options *objective = &training->options->objective;
    int n = lm_batch_tokens(batch), group = set->samples.group;
    float *reference = gather(&set->samples, order, first, last, set->reference, n),
          *old = gather(&set->samples, order, first, last, set->old, n),
          *rewards = memory_alloc((size_t)batch->texts * sizeof *rewards);
    for (int i = first; i < last; i++)
        memcpy(rewards + (i - first) * group, set->samples.rewards + order[i] * group, (size_t)group * sizeof *rewards);
    lm_pass_forward(training->pass, batch);
    if (objective->kind == LM_SFT && back) { /* whose derivatives need no probabilities: these come on the way back */
        struct lm_objective_sums none = {0};
        lm_objective(objective, batch, whole, training->log_probs, NULL, NULL, NULL, 1, &none, training->factors);
        lm_pass_backward(training->pass, training->factors, training->log_probs, training->gradient);
    } else {
        lm_pass_log_probs(training->pass, training->log_probs);
    }
    lm_objective(objective, batch, whole, training->log_probs, reference, set->old ? old : NULL, rewards, group, sums,
                 training->factors);
    if (objective->kind != LM_SFT && back)
        lm_pass_backward(training->pass, training->factors, NULL, training->gradient);
    free(reference);
    free(old);
    free(rewards);
}

/* Means of the step that is done; `first`, `last`: its groups. */
static void describe(struct training *training, const struct lm_objective_sums *sums, int first, int last)
{
    struct lm_progress *progress = &training->progress;
    const struct lm_samples *samples = &training->data.samples;
    int groups = last - first;
    progress->loss = sums->loss;
    progress->chosen = sums->chosen / groups;
    progress->rejected = sums->rejected / groups;
    progress->right = sums->right / groups;
    progress->kl = sums->kl / (groups * samples->group);
    progress->reward = 0;
    for (int i = first; i < last; i++)
        for (int j = 0; j < samples->group; j++)
            progress->reward +=
                samples->rewards[training->course.order[i] * samples->group + j] / (groups * samples->group);
}

/* The optimizer's part of a step that began at `start`, and what is told of it. */
static void take_step(struct training *training, int64_t tokens, double start)
{
    struct lm_progress *progress = &training->progress;
    progress->rate = lm_optimizer_rate(&training->optimizer.options, training->optimizer.step);
    progress->norm = lm_optimizer_step(&training->optimizer, training->weights, lm_pass_elements(training->pass),
                                       training->gradient);
    double seconds = clock_seconds() - start;
    training->state.step++;
    training->state.tokens += tokens;
    training->state.seconds += seconds;
    progress->step = training->state.step;
    progress->epoch = (double)training->state.step / training->course.steps_of_an_epoch;
    progress->eval_loss = progress->eval_reward = NAN;
    progress->tokens = training->state.tokens;
    progress->tokens_per_second = (double)tokens / seconds;
    progress->seconds = training->state.seconds;
    report(training);
}

static void step(struct training *training)
{
    struct lm_objective_sums sums = {0};
    double start = clock_seconds();
    int first, last;
    int64_t tokens = 0;
    lm_course_step(&training->course, training->state.step, &first, &last);
    double whole = lm_course_whole(training->options, &training->data.samples, training->course.order, first, last);
    lm_pass_renew(training->pass, training->gradient);
    for (int at = first; at < last;) {
        struct lm_batch batch;
        int from = at;
        lm_samples_pack(&training->data.samples, training->course.order, &at, last, training->options->tokens, &batch);
        through(training, &training->data, training->course.order, from, at, &batch, whole, true, &sums);
        tokens += lm_batch_tokens(&batch);
        lm_samples_release(&batch);
    }
    describe(training, &sums, first, last);
    take_step(training, tokens, start);
}

/* What an online step learns from: of the prompts whose answers differ in worth all answers, for without a term of divergence the
 * others change nothing. */
static void gather_answers(struct training *training, const struct lm_rollout *rollout, const int *order)
{
    const struct lm_samples *prompts = &training->data.samples;
    struct lm_samples *samples = &training->round.samples;
    samples->group = rollout->group;
    for (int i = 0; i < rollout->prompts * rollout->group; i++) {
        const struct lm_answer *answer = &rollout->answers[i];
        int prompt = order[i / rollout->group], length = (int)(prompts->starts[prompt + 1] - prompts->starts[prompt]);
        if (training->options->objective.beta <= 0 && !lm_rollout_differs(rollout, i / rollout->group))
            continue;
        int32_t *tokens = memory_alloc((size_t)(length + answer->count) * sizeof *tokens);
        memcpy(tokens, prompts->tokens + prompts->starts[prompt], (size_t)length * sizeof *tokens);
        memcpy(tokens + length, answer->tokens, (size_t)answer->count * sizeof *tokens);
        lm_samples_add(samples, tokens, length + answer->count, length, answer->worth.reward);
        free(tokens);
    }
}

/* Returns it; the shares of answers that are right and valid go to `progress`. */
static double mean_reward(struct lm_progress *progress, const struct lm_rollout *rollout)
{
    int count = rollout->prompts * rollout->group;
    double reward = 0;
    progress->right = progress->valid = 0;
    for (int i = 0; i < count; i++) {
        reward += (double)rollout->answers[i].worth.reward / count;
        progress->right += (double)rollout->answers[i].worth.right / count;
        progress->valid += (double)rollout->answers[i].worth.valid / count;
    }
    return reward;
}

static void describe_online(struct training *training, const struct lm_rollout *rollout,
                            const struct lm_objective_sums *sums)
{
    struct lm_progress *progress = &training->progress;
    progress->loss = sums->loss;
    progress->kl = training->round.samples.count ? sums->kl / training->round.samples.count : 0;
    progress->reward = mean_reward(progress, rollout);
    progress->written = rollout->written;
    progress->writing = rollout->writing;
    progress->judging = rollout->judging;
}

/* The gradient of the answers of the round; the reference's probabilities come first, in passes of their own. Returns the
 * tokens. The model wrote the answers with the weights that it still has, so the ratio of probabilities is 1. */
static int64_t learn_answers(struct training *training, double whole, struct lm_objective_sums *sums)
{
    struct set *round = &training->round;
    int groups = lm_samples_groups(&round->samples), *order = in_order(groups);
    int64_t tokens = 0;
    lm_pass_weights(training->pass, reference_weights(training));
    lm_pass_adapters(training->pass, training->reference_adapters);
    round->reference = log_probs_of(training, &round->samples);
    lm_pass_weights(training->pass, training->trained.model.weights);
    lm_pass_adapters(training->pass, training->trained.adapter_weights);
    for (int at = 0; at < groups;) {
        struct lm_batch batch;
        int from = at;
        lm_samples_pack(&round->samples, order, &at, groups, training->options->tokens, &batch);
        through(training, round, order, from, at, &batch, whole, true, sums);
        tokens += lm_batch_tokens(&batch);
        lm_samples_release(&batch);
    }
    free(order);
    free(round->reference);
    round->reference = NULL;
    return tokens;
}

/* Answers to the prompts order[first..last), by the weights of now. */
static struct akgen_error *write_answers(struct training *training, const struct lm_samples *prompts, const int *order,
                                         int first, int last, int round, struct lm_rollout *rollout)
{
    const struct lm_train_options *options = training->options;
    const struct lm_rollout_options how = {.group = options->online->group,
                                           .most = options->online->most,
                                           .longest = options->longest,
                                           .seed = options->seed,
                                           .threads = options->threads,
                                           .judge = options->online->judge,
                                           .adapters = options->adapters ? &training->trained.adapters : NULL,
                                           .adapter_weights = training->trained.adapter_weights};
    return lm_rollout(&training->trained.model, training->tokenizer, prompts, order, first, last, round, &how, rollout);
}

static struct akgen_error *step_online(struct training *training)
{
    struct lm_objective_sums sums = {0};
    struct lm_rollout rollout;
    double start = clock_seconds();
    int first, last;
    lm_course_step(&training->course, training->state.step, &first, &last);
    struct akgen_error *error = write_answers(training, &training->data.samples, training->course.order, first, last,
                                              training->state.step, &rollout);
    if (!error) {
        training->backend->operations->zero(training->backend, training->gradient,
                                            training->optimizer.layout->size * (int64_t)sizeof(float));
        gather_answers(training, &rollout, training->course.order + first);
        int64_t tokens = learn_answers(training, rollout.prompts * rollout.group, &sums);
        describe_online(training, &rollout, &sums);
        take_step(training, tokens, start);
        lm_samples_free(&training->round.samples);
    }
    lm_rollout_free(&rollout);
    return error;
}

static struct akgen_error *evaluate_online(struct training *training, const int *order, int prompts)
{
    enum { ROUND = -1 }; /* no step's: the draws are the same at each evaluation */
    struct lm_rollout rollout;
    struct akgen_error *error = write_answers(training, &training->eval.samples, order, 0, prompts, ROUND, &rollout);
    if (!error)
        training->progress.eval_reward = mean_reward(&training->progress, &rollout);
    lm_rollout_free(&rollout);
    return error;
}

static void evaluate_loss(struct training *training, const int *order, int groups)
{
    const struct lm_samples *samples = &training->eval.samples;
    struct lm_objective_sums sums = {0};
    double whole = lm_course_whole(training->options, samples, order, 0, groups);
    for (int at = 0; at < groups;) {
        struct lm_batch batch;
        int from = at;
        lm_samples_pack(samples, order, &at, groups, training->options->tokens, &batch);
        through(training, &training->eval, order, from, at, &batch, whole, false, &sums);
        lm_samples_release(&batch);
    }
    training->progress.eval_loss = sums.loss;
}

static struct akgen_error *evaluate(struct training *training)
{
    int groups = lm_samples_groups(&training->eval.samples);
    if (!groups)
        return NULL;
    int *order = in_order(groups);
    struct akgen_error *error = NULL;
    if (training->options->online)
        error = evaluate_online(training, order, groups);
    else
        evaluate_loss(training, order, groups);
    free(order);
    if (!error)
        report(training);
    return error;
}

static bool due(const struct training *training, int every)
{
    return training->state.step == training->course.steps || (every && training->state.step % every == 0);
}

static struct akgen_error *loop(struct training *training)
{
    const struct lm_train_options *options = training->options;
    struct akgen_error *error = NULL;
    training->progress.steps = training->course.steps;
    while (training->state.step < training->course.steps && !error) {
        if (options->online)
            error = step_online(training);
        else
            step(training);
        if (error)
            break;
        bool stop = options->stop && *options->stop;
        if (due(training, options->eval_every) && !stop)
            error = evaluate(training);
        if (!error && (due(training, options->save_every) || stop))
            error = save(training);
        if (stop)
            break;
    }
    return error;
}

static struct akgen_error *prepare(struct training *training)
{
    struct akgen_error *(*const parts[])(struct training *) = {lock_output,    read_model, read_samples, make_pass,
                                                               make_optimizer, ask_frozen, go_on,        open_metrics};
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
    if (training->backend && !training->backend->operations->on_host)
        training->backend->operations->release(training->backend, training->weights);
    lm_pass_free(training->pass);
    if (training->backend && training->options->device == LM_ON_CPU)
        lm_cpu_free(training->backend);
    else if (training->backend)
        lm_cuda_free(training->backend);
    struct set *const sets[] = {&training->data, &training->eval};
    for (int i = 0; i < 2; i++) {
        lm_samples_free(&sets[i]->samples);
        free(sets[i]->reference);
        free(sets[i]->old);
    }
    lm_samples_free(&training->round.samples);
    free(training->reference_weights);
    free(training->reference_adapters);
    lm_tokenizer_free(training->tokenizer);
    if (training->trained.adapters.layers)
        lm_adapters_free(&training->trained.adapters);
    free(training->trained.adapter_weights);
    lm_model_free(&training->trained.model);
    json_decref(training->settings);
    lm_course_free(&training->course);
    free(training->factors);
    free(training->log_probs);
    if (training->lock >= 0)
        close(training->lock);
    arena_free(&training->arena);
}

struct akgen_error *lm_train(const struct lm_train_options *options, struct lm_train_result *result)
{
    struct training training = {
        .options = options,
        .lock = -1,
        .progress = {.kind = options->objective.kind, .loss = NAN, .eval_loss = NAN, .eval_reward = NAN}};
    struct akgen_error *error = prepare(&training);
    if (!error)
        error = loop(&training);
    if (!error && training.state.step == training.course.steps) {
        fetch_weights(&training);
        error = lm_trained_write(&training.trained, options->out, options->dtype, 0);
    }
    *result = (struct lm_train_result){.step = training.state.step,
                                       .steps = training.course.steps,
                                       .samples = lm_samples_groups(&training.data.samples),
                                       .cut = training.data.samples.cut,
                                       .left_out = training.data.samples.left_out,
                                       .learned = training.data.samples.learned,
                                       .loss = training.progress.loss,
                                       .eval_loss = training.progress.eval_loss,
                                       .eval_reward = training.progress.eval_reward,
                                       .stopped = training.state.step < training.course.steps};
    release(&training);
    return error;
}
