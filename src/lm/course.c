/* Rows, steps and epochs. */
#include "lm/course.h"

#include "base/files.h"
#include "base/memory.h"

#include <math.h>
#include <stdlib.h>

struct akgen_error *lm_course_read(const struct lm_train_options *options, const struct lm_config *config,
                                   struct lm_tokenizer **tokenizer, struct lm_samples *data, struct lm_samples *eval)
{
    static const enum lm_samples_kind kinds[] = {[LM_SFT] = LM_SINGLE, [LM_DPO] = LM_PAIRS, [LM_GRPO] = LM_GROUPS};
    struct arena arena = {0};
    const char *path = arena_printf(&arena, "%s/tokenizer.json", options->model);
    *tokenizer = NULL;
    struct akgen_error *error = files_exists(path) ? lm_tokenizer_read(path, tokenizer) : NULL;
    if (!error && *tokenizer && lm_tokenizer_size(*tokenizer) > (uint32_t)config->vocabulary)
        error = error_of_the_file(error_new("%s has ids up to %u, and config.json says 'vocab_size' %d", path,
                                            lm_tokenizer_size(*tokenizer) - 1, config->vocabulary));
    const struct lm_samples_options how = {.kind = options->online ? LM_PROMPTS : kinds[options->objective.kind],
                                           .folder = options->model,
                                           .tokenizer = *tokenizer,
                                           .longest = options->longest ? options->longest : config->max_positions,
                                           .vocabulary = config->vocabulary,
                                           .end = config->end_token};
    for (int i = 0; i < options->data_count && !error; i++)
        error = lm_samples_read(data, options->data[i], &how);
    if (!error && options->eval)
        error = lm_samples_read(eval, options->eval, &how);
    if (!error && !data->count)
        error = error_of_the_file(
            error_new("%s: there is nothing to learn in it", options->data_count ? options->data[0] : "no data"));
    arena_free(&arena);
    return error;
}

void lm_course_make(struct lm_course *course, const struct lm_train_options *options, const struct lm_samples *samples)
{
    int groups = lm_samples_groups(samples);
    *course = (struct lm_course){.options = options, .samples = samples, .epoch = -1};
    course->steps_of_an_epoch = (groups + options->batch - 1) / options->batch;
    course->steps = options->steps ? options->steps : course->steps_of_an_epoch * options->epochs;
    course->warmup = (int)(options->warmup < 1 ? ceil(options->warmup * course->steps) : options->warmup);
    course->order = memory_alloc((size_t)groups * sizeof *course->order);
}

void lm_course_free(struct lm_course *course)
{
    free(course->order);
    *course = (struct lm_course){0};
}

void lm_course_step(struct lm_course *course, int step, int *first, int *last)
{
    const struct lm_train_options *options = course->options;
    int groups = lm_samples_groups(course->samples);
    int epoch = step / course->steps_of_an_epoch, inside = step % course->steps_of_an_epoch;
    if (epoch != course->epoch) {
        course->epoch = epoch;
        for (int i = 0; i < groups; i++)
            course->order[i] = i;
        if (!options->in_order)
            lm_samples_shuffle(course->samples, options->seed, epoch, course->order);
    }
    *first = inside * options->batch;
    *last = options->batch < groups - *first ? *first + options->batch : groups;
}

double lm_course_whole(const struct lm_train_options *options, const struct lm_samples *samples, const int *order,
                       int first, int last)
{
    double learned = 0;
    if (options->objective.kind != LM_SFT)
        return (last - first) * (options->objective.kind == LM_GRPO ? samples->group : 1);
    for (int i = first; i < last; i++)
        for (int64_t at = samples->starts[order[i]]; at < samples->starts[order[i] + 1]; at++)
            learned += samples->labels[at] != LM_NO_LABEL;
    return learned;
}
