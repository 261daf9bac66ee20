/* The pass is made on a backend that has no memory, and counts what it is asked for. */
#include "lm/plan.h"

#include "lm/cpu.h"
#include "lm/int8.h"
#include "lm/pass.h"

enum { PIECE = 512 }; /* engine.c */

struct counter {
    struct lm_backend backend;
    int64_t bytes;
};

static void *count(struct lm_backend *backend, int64_t bytes)
{
    ((struct counter *)backend)->bytes += bytes;
    return backend; /* which nobody looks at */
}

static void keep(struct lm_backend *backend, void *array)
{
    (void)backend;
    (void)array;
}

static const struct lm_operations counting = {
    .name = "a plan", .element = sizeof(float), .on_host = true, .allocate = count, .release = keep};

/* What the pass and its cache allocate. */
static struct akgen_error *count_pass(const struct lm_layout *layout, const struct lm_adapters *adapters,
                                      const struct lm_plan_options *options, struct lm_plan *plan)
{
    struct counter counter = {.backend = {&counting}};
    struct lm_pass *pass;
    struct lm_cache *cache = NULL;
    int piece = options->longest < PIECE ? options->longest : PIECE;
    const struct lm_pass_options how = {.tokens = options->training ? options->tokens
                                                  : piece > LM_FEW  ? piece
                                                                    : LM_FEW,
                                        .training = options->training,
                                        .checkpoint = options->recompute,
                                        .adapters = adapters};
    struct akgen_error *error = lm_pass_new(&counter.backend, layout, NULL, &how, &pass);
    if (error)
        return error;
    const struct lm_heads heads = {
        .heads = layout->config.heads, .kv_heads = layout->config.kv_heads, .size = layout->config.head_size};
    int keys = options->training ? options->tokens : options->longest;
    plan->activations = counter.bytes + lm_cpu_room(&heads, options->threads, keys, options->training);
    counter.bytes = 0;
    if (!options->training)
        error = lm_cache_new(pass, (int64_t)options->texts * options->longest, &cache);
    plan->cache = counter.bytes;
    lm_cache_free(cache);
    lm_pass_free(pass);
    return error;
}

/* What a step of an online run has besides: the engine that writes, and the reference's weights where all are trained. */
static struct akgen_error *add_online(const struct lm_layout *layout, const struct lm_plan_options *options,
                                      struct lm_plan *plan)
{
    const struct lm_plan_options writing = {
        .texts = options->texts, .longest = options->longest, .threads = options->threads};
    struct lm_plan engine;
    struct akgen_error *error = count_pass(layout, NULL, &writing, &engine);
    if (error)
        return error;
    plan->activations += engine.activations;
    plan->cache = engine.cache;
    if (!options->adapters)
        plan->weights += 4 * layout->size;
    return NULL;
}

/* For each weight of a matrix one multiplication and one addition, there; twice that back, or once where only adapters are trained, whose
 * own are few; attention sees half of a text on average. */
static double operations_of(const struct lm_layout *layout, const struct lm_plan_options *options,
                            const struct lm_plan *plan)
{
    const struct lm_config *config = &layout->config;
    double matrices = (double)(plan->active - (config->tied ? 0 : (int64_t)config->vocabulary * config->hidden));
    double seen = options->training ? options->tokens / 2.0 : options->longest / 2.0;
    double there = 2 * matrices + 4 * seen * config->heads * config->head_size * config->layers;
    if (!options->training)
        return there;
    return there * (options->adapters ? 2 : 3) + (options->recompute ? there : 0) +
           6 * (options->adapters ? (double)plan->trained : 0);
}

struct akgen_error *lm_plan(const struct lm_config *config, const struct lm_plan_options *options, struct lm_plan *plan)
{
    struct lm_layout layout;
    struct lm_adapters adapters = {0};
    lm_layout_make(&layout, config);
    *plan = (struct lm_plan){.parameters = layout.size, .active = lm_layout_active(&layout)};
    struct akgen_error *error =
        options->training && options->adapters ? lm_adapters_make(&adapters, &layout, options->adapters) : NULL;
    if (!error)
        error = count_pass(&layout, adapters.layers ? &adapters : NULL, options, plan);
    if (!error) {
        plan->trained = !options->training ? 0 : adapters.layers ? adapters.layout.size : layout.size;
        plan->weights =
            options->int8 ? lm_int8_bytes(&layout) : 4 * (layout.size + (adapters.layers ? adapters.layout.size : 0));
        plan->gradients = 4 * plan->trained;
        plan->means = 8 * plan->trained;
        error = options->online ? add_online(&layout, options, plan) : NULL;
    }
    if (!error) {
        plan->all = plan->weights + plan->gradients + plan->means + plan->activations + plan->cache;
        plan->operations = operations_of(&layout, options, plan);
    }
    if (adapters.layers)
        lm_adapters_free(&adapters);
    lm_layout_free(&layout);
    return error;
}
