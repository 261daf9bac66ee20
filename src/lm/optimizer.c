/* Rates, norms and steps. */
#include "lm/optimizer.h"

#include <math.h>

const struct lm_optimizer_options lm_optimizer_defaults = {
    .rate = 1e-5, .cosine = true, .steps = 1, .beta1 = 0.9, .beta2 = 0.999, .eps = 1e-8, .clip = 1};

struct akgen_error *lm_optimizer_new(struct lm_optimizer *optimizer, struct lm_backend *backend,
                                     const struct lm_layout *layout, const struct lm_optimizer_options *options)
{
    const struct lm_operations *ops = backend->operations;
    int64_t bytes = layout->size * (int64_t)sizeof(float);
    *optimizer = (struct lm_optimizer){.options = *options, .backend = backend, .layout = layout};
    optimizer->m = ops->allocate(backend, bytes);
    optimizer->v = ops->allocate(backend, bytes);
    if (!optimizer->m || !optimizer->v) {
        lm_optimizer_free(optimizer);
        return error_new("%s has not the %.2f GB that the optimizer's running means need", ops->name,
                         2e-9 * (double)bytes);
    }
    ops->zero(backend, optimizer->m, bytes);
    ops->zero(backend, optimizer->v, bytes);
    return NULL;
}

void lm_optimizer_free(struct lm_optimizer *optimizer)
{
    if (!optimizer->backend)
        return;
    optimizer->backend->operations->release(optimizer->backend, optimizer->m);
    optimizer->backend->operations->release(optimizer->backend, optimizer->v);
    *optimizer = (struct lm_optimizer){0};
}

double lm_optimizer_rate(const struct lm_optimizer_options *options, int step)
{
    if (step < options->warmup)
        return options->rate * step / options->warmup;
    if (!options->cosine)
        return options->rate;
    int falling = options->steps - options->warmup;
    double progress = (double)(step - options->warmup) / (falling > 1 ? falling : 1);
    return options->rate * fmax(0, 0.5 * (1 + cos(M_PI * progress)));
}

/* Parameters that lie beside each other and have the same decay make a step together. */
static void step_part(struct lm_optimizer *optimizer, int first, int *last, const struct lm_adamw *step, float *weights,
                      void *elements, const float *gradient)
{
    const struct lm_operations *ops = optimizer->backend->operations;
    const struct lm_parameter *parameters = optimizer->layout->parameters;
    int64_t from = parameters[first].offset, to;
    for (*last = first; *last < optimizer->layout->count && parameters[*last].rank == parameters[first].rank;)
        ++*last;
    to = *last < optimizer->layout->count ? parameters[*last].offset : optimizer->layout->size;
    struct lm_adamw part = *step;
    part.decay = parameters[first].rank > 1 ? step->decay : 0;
    ops->adamw(optimizer->backend, weights + from, elements ? (char *)elements + from * ops->element : NULL,
               optimizer->m + from, optimizer->v + from, gradient + from, to - from, &part);
}

double lm_optimizer_step(struct lm_optimizer *optimizer, float *weights, void *elements, const float *gradient)
{
    const struct lm_optimizer_options *options = &optimizer->options;
    double norm = sqrt(optimizer->backend->operations->squares(optimizer->backend, gradient, optimizer->layout->size));
    double scale = options->clip > 0 ? fmin(1, options->clip / (norm + 1e-6)) : 1; /* as torch.nn.utils has it */
    double rate = lm_optimizer_rate(options, optimizer->step++);
    const struct lm_adamw step = {.rate = (float)rate,
                                  .beta1 = (float)options->beta1,
                                  .beta2 = (float)options->beta2,
                                  .eps = (float)options->eps,
                                  .decay = (float)options->decay,
                                  .bias1 = (float)(1 - pow(options->beta1, optimizer->step)),
                                  .bias2 = (float)(1 - pow(options->beta2, optimizer->step)),
                                  .scale = (float)scale};
    for (int first = 0, last; isfinite(norm) && first < optimizer->layout->count; first = last)
        step_part(optimizer, first, &last, &step, weights, elements, gradient);
    return norm;
}
