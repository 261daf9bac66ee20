/* Steps of a model that writes, weights float32 and int8 in turn, in one thread: tokens for each second of the processor, and their ratio. The
 * model is as wide as Qwen3-0.6B, six layers of it: its weights fit no cache. */
#include "base/memory.h"
#include "lm/cpu.h"
#include "lm/pass.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { MOST = 8, CELLS = 32, REPEATS = 12, WAYS = 2 };

struct way {
    struct lm_pass *pass;
    struct lm_cache *cache;
};

static double processor_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* Seconds of one more token of each of n texts that have `past`. */
static double step(const struct way *way, int n, int past, float *scores)
{
    int32_t tokens[MOST], rows[MOST];
    int starts[MOST + 1] = {0}, pasts[MOST];
    int64_t cells[MOST];
    for (int i = 0; i < n; i++) {
        tokens[i] = 13 * i;
        rows[i] = i;
        starts[i + 1] = i + 1;
        pasts[i] = past;
        cells[i] = (int64_t)i * CELLS;
    }
    const struct lm_batch batch = {.tokens = tokens, .starts = starts, .texts = n};
    double start = processor_seconds();
    lm_pass_continue(way->pass, &batch, way->cache, cells, pasts);
    lm_pass_scores(way->pass, rows, n, scores);
    return processor_seconds() - start;
}

static void require(struct akgen_error *error)
{
    if (!error)
        return;
    fprintf(stderr, "lm_int8: %s\n", error->message);
    exit(1);
}

int main(void)
{
    const struct lm_config config = {.layers = 6,
                                     .hidden = 1024,
                                     .heads = 16,
                                     .kv_heads = 8,
                                     .head_size = 128,
                                     .intermediate = 3072,
                                     .vocabulary = 50000,
                                     .max_positions = 512,
                                     .rope_theta = 1e6F,
                                     .norm_eps = 1e-6F,
                                     .initial_spread = 0.02F,
                                     .tied = true};
    struct lm_model model;
    struct lm_int8 *int8;
    struct way ways[WAYS];
    struct rng rng;
    rng_seed(&rng, 0);
    lm_model_new(&model, &config, &rng);
    struct lm_backend *cpu = lm_cpu_new(1);
    require(lm_int8_new(cpu, &model.layout, model.weights, &int8));
    for (int i = 0; i < WAYS; i++) {
        const struct lm_pass_options options = {.tokens = 32, .int8 = i ? int8 : NULL};
        require(lm_pass_new(cpu, &model.layout, model.weights, &options, &ways[i].pass));
        require(lm_cache_new(ways[i].pass, MOST * CELLS, &ways[i].cache));
    }
    float *scores = memory_alloc((size_t)MOST * (size_t)config.vocabulary * sizeof *scores);
    printf("%lld parameters, tokens a second of one processor\n", (long long)model.layout.size);
    for (int n = 1; n <= MOST; n *= 2) {
        double best[WAYS] = {1e9, 1e9};
        for (int repeat = 0; repeat < REPEATS; repeat++)
            for (int i = 0; i < WAYS; i++) {
                double seconds = step(&ways[i], n, repeat, scores);
                best[i] = seconds < best[i] ? seconds : best[i];
            }
        printf("%d texts: float32 %.1f, int8 %.1f, %.2f times\n", n, n / best[0], n / best[1], best[0] / best[1]);
    }
    for (int i = 0; i < WAYS; i++) {
        lm_cache_free(ways[i].cache);
        lm_pass_free(ways[i].pass);
    }
    free(scores);
    lm_int8_free(int8);
    lm_cpu_free(cpu);
    lm_model_free(&model);
    return 0;
}
