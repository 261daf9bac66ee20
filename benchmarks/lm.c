/* lm write LAYERS HIDDEN HEADS KV_HEADS HEAD_SIZE INNER VOCABULARY float32|int8 TEXTS [THREADS]: for each line of standard input WRITTEN tokens of
 * each of that many texts, and a line: their seconds, and those of the processors. benchmarks/llama/llama.py runs it beside llama.cpp.
 * lm train LAYERS HIDDEN HEADS KV_HEADS HEAD_SIZE INNER VOCABULARY TEXT TEXTS [THREADS [bfloat16]]: for each line of standard input a step of training on that
 * many texts of so many tokens, and a line: its seconds, those of the processors, and the loss. benchmarks/lm.py runs it beside PyTorch. */
#include "base/clock.h"
#include "base/memory.h"
#include "lm/cpu.h"
#include "lm/pass.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct moment {
    double seconds, processor; /* of all of this program's threads */
};

static struct moment now(void)
{
    struct timespec used;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
    return (struct moment){clock_seconds(), (double)used.tv_sec + 1e-9 * (double)used.tv_nsec};
}

static void print_since(const struct moment *start)
{
    struct moment end = now();
    printf("%.6f %.6f", end.seconds - start->seconds, end.processor - start->processor);
}

struct training {
    struct lm_model model;
    struct lm_backend *cpu;
    struct lm_pass *pass;
    struct lm_batch batch;
    float *gradients, *m, *v, *factors, *log_probs;
    int n, step;
};

static void make_batch(struct training *training, int length, int texts)
{
    int n = training->n = length * texts;
    int32_t *tokens = memory_alloc((size_t)n * sizeof *tokens), *labels = memory_alloc((size_t)n * sizeof *labels);
    int *starts = memory_alloc((size_t)(texts + 1) * sizeof *starts);
    struct rng rng;
    rng_seed(&rng, 1);
    training->factors = memory_alloc((size_t)n * sizeof *training->factors);
    training->log_probs = memory_alloc((size_t)n * sizeof *training->log_probs);
    for (int i = 0; i < n; i++)
        tokens[i] = (int32_t)rng_integer(&rng, 0, training->model.layout.config.vocabulary);
    for (int i = 0; i < n; i++) {
        bool last = i % length == length - 1;
        labels[i] = last ? LM_NO_LABEL : tokens[i + 1];
        training->factors[i] = last ? 0 : -1.0F / (float)(n - texts);
    }
    for (int t = 0; t <= texts; t++)
        starts[t] = t * length;
    training->batch = (struct lm_batch){tokens, labels, starts, texts};
}

static double take_step(struct training *training)
{
    const struct lm_layout *layout = &training->model.layout;
    const struct lm_operations *ops = training->cpu->operations;
    double loss = 0;
    lm_pass_renew(training->pass, training->gradients);
    lm_pass_forward(training->pass, &training->batch);
    lm_pass_backward(training->pass, training->factors, training->log_probs, training->gradients);
    for (int i = 0; i < training->n; i++)
        loss += training->factors[i] * training->log_probs[i];
    double norm = sqrt(ops->squares(training->cpu, training->gradients, layout->size));
    training->step++;
    struct lm_adamw step = {.rate = 1e-4F,
                            .beta1 = 0.9F,
                            .beta2 = 0.999F,
                            .eps = 1e-8F,
                            .decay = 0.1F,
                            .scale = norm > 1 ? (float)(1 / norm) : 1};
    step.bias1 = 1 - powf(step.beta1, (float)training->step);
    step.bias2 = 1 - powf(step.beta2, (float)training->step);
    ops->adamw(training->cpu, training->model.weights, NULL, training->m, training->v, training->gradients,
               layout->size, &step);
    return loss;
}

/* ---- Writing */

enum { WRITTEN = 16 };

static void write_tokens(struct lm_pass *pass, struct lm_cache *cache, int texts, float *scores)
{
    int32_t tokens[LM_FEW], rows[LM_FEW];
    int starts[LM_FEW + 1] = {0}, past[LM_FEW];
    int64_t cells[LM_FEW];
    for (int place = 0; place < WRITTEN; place++) {
        for (int i = 0; i < texts; i++) {
            tokens[i] = (13 * i + 7 * place) % 1000;
            rows[i] = i;
            starts[i + 1] = i + 1;
            past[i] = place;
            cells[i] = (int64_t)i * WRITTEN;
        }
        const struct lm_batch batch = {.tokens = tokens, .starts = starts, .texts = texts};
        lm_pass_continue(pass, &batch, cache, cells, past);
        lm_pass_scores(pass, rows, texts, scores);
    }
}

static struct akgen_error *write_texts(const struct lm_config *config, bool rounded, int texts, int threads)
{
    struct lm_model model;
    struct lm_int8 *int8 = NULL;
    struct lm_pass *pass = NULL;
    struct lm_cache *cache = NULL;
    struct rng rng;
    char line[16];
    rng_seed(&rng, 0);
    lm_model_new(&model, config, &rng);
    struct lm_backend *cpu = lm_cpu_new(threads);
    struct akgen_error *error = rounded ? lm_int8_take(cpu, &model.layout, model.weights, &int8) : NULL;
    const struct lm_pass_options options = {.tokens = LM_FEW, .int8 = int8};
    if (!error)
        error = lm_pass_new(cpu, &model.layout, model.weights, &options, &pass);
    if (!error)
        error = lm_cache_new(pass, (int64_t)texts * WRITTEN, &cache);
    if (error)
        return error;
    float *scores = memory_alloc((size_t)texts * (size_t)config->vocabulary * sizeof *scores);
    printf("%lld parameters, %d threads\n", (long long)model.layout.size, lm_cpu_threads(cpu));
    fflush(stdout);
    while (fgets(line, sizeof line, stdin)) {
        struct moment start = now();
        write_tokens(pass, cache, texts, scores);
        print_since(&start);
        putchar('\n');
        fflush(stdout);
    }
    free(scores);
    lm_cache_free(cache);
    lm_pass_free(pass);
    lm_int8_free(int8);
    lm_cpu_free(cpu);
    lm_model_free(&model);
    return NULL;
}

int main(int argc, char **argv)
{
    char line[16];
    int sizes[9];
    struct training training = {0};
    bool writes = argc > 1 && strcmp(argv[1], "write") == 0;
    if (argc < 11 || argc > 13 || (argc == 13 && (writes || strcmp(argv[12], "bfloat16") != 0)) ||
        (!writes && strcmp(argv[1], "train") != 0)) {
        fprintf(
            stderr,
            "usage: lm train LAYERS HIDDEN HEADS KV_HEADS HEAD_SIZE INNER VOCABULARY TEXT TEXTS [THREADS [bfloat16]]\n"
            "       lm write LAYERS HIDDEN HEADS KV_HEADS HEAD_SIZE INNER VOCABULARY float32|int8 TEXTS [THREADS]\n");
        return 2;
    }
    int threads = argc > 11 ? atoi(argv[11]) : 0;
    for (int i = 0; i < 9; i++)
        sizes[i] = atoi(argv[2 + i]);
    struct lm_config config = {.layers = sizes[0],
                               .hidden = sizes[1],
                               .heads = sizes[2],
                               .kv_heads = sizes[3],
                               .head_size = sizes[4],
                               .intermediate = sizes[5],
                               .vocabulary = sizes[6],
                               .max_positions = writes ? WRITTEN : sizes[7],
                               .rope_theta = 1e6F,
                               .norm_eps = 1e-6F,
                               .initial_spread = 0.02F,
                               .tied = true};
    struct akgen_error *error = NULL;
    if (writes) {
        error = write_texts(&config, strcmp(argv[9], "int8") == 0, sizes[8] < LM_FEW ? sizes[8] : LM_FEW, threads);
        if (error)
            fprintf(stderr, "%s\n", error->message);
        return error != NULL;
    }
    struct rng rng;
    rng_seed(&rng, 0);
    lm_model_new(&training.model, &config, &rng);
    make_batch(&training, sizes[7], sizes[8]);
    if (argc == 13)
        error = lm_cpu_new_bf16(threads, &training.cpu);
    else
        training.cpu = lm_cpu_new_split(threads);
    const struct lm_pass_options options = {.tokens = training.n, .training = true};
    if (!error)
        error = lm_pass_new(training.cpu, &training.model.layout, training.model.weights, &options, &training.pass);
    if (error) {
        fprintf(stderr, "%s\n", error->message);
        return 1;
    }
    training.gradients = memory_alloc((size_t)training.model.layout.size * 4);
    training.m = memory_alloc((size_t)training.model.layout.size * 4);
    training.v = memory_alloc((size_t)training.model.layout.size * 4);
    printf("%lld parameters, %d threads\n", (long long)training.model.layout.size, lm_cpu_threads(training.cpu));
    fflush(stdout);
    while (fgets(line, sizeof line, stdin)) {
        struct moment start = now();
        double loss = take_step(&training);
        print_since(&start);
        printf(" %.6f\n", loss);
        fflush(stdout);
    }
    return 0;
}
