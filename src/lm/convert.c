/* Everything is read, and written beside its place. */
#include "lm/convert.h"

#include "base/files.h"
#include "lm/checkpoint.h"

#include <string.h>

/* What was written can be read; counts its files. */
static struct akgen_error *look_at(const char *folder, struct lm_converted *converted)
{
    struct lm_tensors tensors;
    struct akgen_error *error = lm_tensors_open(folder, &tensors);
    if (error)
        return error;
    converted->files = tensors.file_count;
    for (int i = 0; i < tensors.count; i++)
        converted->parameters += tensors.items[i].count;
    converted->bytes = converted->parameters * lm_dtype_bytes(converted->dtype);
    lm_tensors_close(&tensors);
    return NULL;
}

static bool same_shapes(const struct lm_layout *a, const struct lm_layout *b)
{
    bool same = a->count == b->count && a->size == b->size;
    for (int i = 0; i < a->count && same; i++)
        same = strcmp(a->parameters[i].name, b->parameters[i].name) == 0 &&
               a->parameters[i].offset == b->parameters[i].offset &&
               memcmp(a->parameters[i].shape, b->parameters[i].shape, sizeof a->parameters[i].shape) == 0;
    return same;
}

/* Each weight is as far on the way to that of another model. */
static struct akgen_error *move(struct lm_model *model, const char *toward, double share)
{
    struct lm_model other;
    struct akgen_error *error = lm_model_read(&other, toward);
    if (error)
        return error;
    if (!same_shapes(&model->layout, &other.layout))
        error = error_of_the_file(error_new("%s: its parameters are not those of the model", toward));
    for (int64_t i = 0; i < model->layout.size && !error; i++)
        model->weights[i] = (float)((1 - share) * (double)model->weights[i] + share * (double)other.weights[i]);
    lm_model_free(&other);
    return error;
}

struct akgen_error *lm_convert(const struct lm_convert_options *options, struct lm_converted *converted)
{
    struct arena arena = {0};
    struct lm_trained trained = {.folder = options->folder};
    const char *out = options->out;
    const char *unfinished;
    *converted = (struct lm_converted){.dtype = options->dtype};
    struct akgen_error *error =
        files_exists(out) ? error_of_the_file(error_new("%s is there already; remove it, or write elsewhere", out))
                          : NULL;
    if (!error && options->as_it_is)
        error = lm_model_type(options->folder, &converted->dtype);
    if (!error)
        error = lm_model_read_merged(&trained.model, options->folder, options->adapter);
    if (error) {
        arena_free(&arena);
        return error;
    }
    if (options->toward)
        error = move(&trained.model, options->toward, options->share);
    if (!error)
        error = files_begin_directory(&arena, out, &unfinished);
    if (!error) {
        error = lm_trained_write(&trained, unfinished, converted->dtype, options->largest);
        if (!error)
            error = look_at(unfinished, converted);
        if (!error)
            error = files_finish_directory(unfinished, out);
        else
            files_remove_tree(unfinished);
    }
    lm_model_free(&trained.model);
    arena_free(&arena);
    return error;
}
