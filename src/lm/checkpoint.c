/* Checkpoints: written beside their place and renamed, read with their settings compared. */
#include "lm/checkpoint.h"

#include "base/files.h"
#include "base/memory.h"

#include <ctype.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LONGEST_STATE = 1 << 20, LARGEST_COPY = 256 << 20 };
static const int64_t LARGEST_FILE = 5000000000; /* of weights, as transformers has it */
static const char PREFIX[] = "checkpoint-", UNWANTED[] = ".checkpoint-";

const char *const lm_companions[] = {"tokenizer.json",
                                     "tokenizer_config.json",
                                     "special_tokens_map.json",
                                     "added_tokens.json",
                                     "vocab.json",
                                     "merges.txt",
                                     "chat_template.jinja",
                                     "generation_config.json",
                                     NULL};

static struct akgen_error *copy_companions(struct arena *arena, const char *from, const char *to)
{
    struct akgen_error *error = NULL;
    for (size_t i = 0; lm_companions[i] && !error; i++) {
        char *bytes;
        size_t length;
        const char *path = arena_printf(arena, "%s/%s", from, lm_companions[i]);
        if (!files_exists(path))
            continue;
        error = files_read(arena, path, LARGEST_COPY, &bytes, &length);
        if (!error)
            error = files_write(arena_printf(arena, "%s/%s", to, lm_companions[i]), bytes, length);
    }
    return error;
}

struct akgen_error *lm_trained_write(const struct lm_trained *trained, const char *folder, enum lm_dtype dtype,
                                     int64_t largest)
{
    struct arena arena = {0};
    struct akgen_error *error =
        trained->adapters.layers
            ? lm_adapters_write(&trained->adapters, trained->adapter_weights, folder, trained->folder)
            : lm_model_write(&trained->model, folder, dtype, largest ? largest : LARGEST_FILE);
    if (!error)
        error = copy_companions(&arena, trained->folder, folder);
    arena_free(&arena);
    return error;
}

/* The step that a folder's name says; -1: it is no checkpoint. */
static int step_of(const char *name)
{
    if (strncmp(name, PREFIX, sizeof PREFIX - 1) != 0 || !isdigit((unsigned char)name[sizeof PREFIX - 1]))
        return -1;
    char *end;
    long step = strtol(name + sizeof PREFIX - 1, &end, 10);
    return *end || step > INT32_MAX ? -1 : (int)step;
}

/* Removed under another name, so that a half removed one is no checkpoint. */
static void remove_checkpoint(struct arena *arena, const char *out, int step)
{
    const char *path = arena_printf(arena, "%s/%s%d", out, PREFIX, step),
               *unwanted = arena_printf(arena, "%s/%s%d.old", out, UNWANTED, step);
    files_remove_tree(unwanted);
    if (rename(path, unwanted) == 0)
        files_remove_tree(unwanted);
}

/* The steps of all checkpoints, in no order; the caller frees. Returns how many. */
static int list_steps(const char *out, int **steps)
{
    DIR *directory = opendir(out);
    int count = 0, capacity = 0;
    *steps = NULL;
    for (const struct dirent *entry; directory && (entry = readdir(directory));) {
        if (step_of(entry->d_name) < 0)
            continue;
        if (count == capacity)
            *steps = memory_grow(*steps, (size_t)(capacity = 2 * capacity + 16) * sizeof **steps);
        (*steps)[count++] = step_of(entry->d_name);
    }
    if (directory)
        closedir(directory);
    return count;
}

static void prune(struct arena *arena, const char *out, int keep)
{
    int *steps, count = list_steps(out, &steps);
    for (int i = 0; i < count; i++) {
        int newer = 0;
        for (int j = 0; j < count; j++)
            newer += steps[j] > steps[i];
        if (newer >= keep)
            remove_checkpoint(arena, out, steps[i]);
    }
    free(steps);
}

int lm_checkpoint_newest(const char *out)
{
    struct arena arena = {0};
    int *steps, count = list_steps(out, &steps), newest = -1;
    for (int i = 0; i < count; i++)
        newest = steps[i] > newest ? steps[i] : newest;
    free(steps);
    DIR *directory = opendir(out);
    for (const struct dirent *entry; directory && (entry = readdir(directory));)
        if (strncmp(entry->d_name, UNWANTED, sizeof UNWANTED - 1) == 0)
            files_remove_tree(arena_printf(&arena, "%s/%s", out, entry->d_name));
    if (directory)
        closedir(directory);
    arena_free(&arena);
    return newest;
}

static struct akgen_error *write_state(struct arena *arena, const char *folder, const struct lm_state *state)
{
    json_t *root = json_pack("{s:i s:I s:f s:O}", "step", state->step, "tokens", (json_int_t)state->tokens, "seconds",
                             state->seconds, "settings", state->settings);
    char *text = json_dumps(root, JSON_INDENT(2));
    struct akgen_error *error = files_write(arena_printf(arena, "%s/state.json", folder), text, strlen(text));
    free(text);
    json_decref(root);
    return error;
}

struct akgen_error *lm_checkpoint_write(const char *out, const struct lm_trained *trained, const float *m,
                                        const float *v, const struct lm_state *state, int keep)
{
    struct arena arena = {0};
    const char *path = arena_printf(&arena, "%s/%s%d", out, PREFIX, state->step), *unfinished;
    int64_t size = lm_trained_layout(trained)->size;
    const struct lm_tensor means[] = {{.name = "m", .rank = 1, .shape = {size}, .count = size, .values = m},
                                      {.name = "v", .rank = 1, .shape = {size}, .count = size, .values = v}};
    struct akgen_error *error = files_begin_directory(&arena, path, &unfinished);
    if (!error) {
        error = lm_trained_write(trained, unfinished, LM_F32, 0);
        if (!error)
            error =
                lm_tensors_write_file(arena_printf(&arena, "%s/optimizer.safetensors", unfinished), means, 2, LM_F32);
        if (!error)
            error = write_state(&arena, unfinished, state);
        if (!error)
            error = files_finish_directory(unfinished, path);
        else
            files_remove_tree(unfinished);
    }
    if (!error)
        prune(&arena, out, keep);
    arena_free(&arena);
    return error;
}

/* Settings that are not the same: the first one's name. */
static struct akgen_error *compare_settings(const char *path, const json_t *written, const json_t *now)
{
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)now, key, value)
    {
        if (json_equal(value, json_object_get(written, key)))
            continue;
        char *was = json_dumps(json_object_get(written, key), JSON_ENCODE_ANY),
             *is = json_dumps(value, JSON_ENCODE_ANY);
        struct akgen_error *error = error_new("%s: the run that goes on has another %s: it was %s, and is %s now", path,
                                              key, was ? was : "missing", is);
        free(was);
        free(is);
        return error;
    }
    return NULL;
}

static struct akgen_error *read_state(struct arena *arena, const char *folder, struct lm_state *state)
{
    const char *path = arena_printf(arena, "%s/state.json", folder);
    char *bytes;
    size_t length;
    json_error_t problem;
    struct akgen_error *error = files_read(arena, path, LONGEST_STATE, &bytes, &length);
    if (error)
        return error;
    json_t *root = json_loadb(bytes, length, JSON_REJECT_DUPLICATES, &problem);
    const json_t *step = json_object_get(root, "step"), *tokens = json_object_get(root, "tokens"),
                 *seconds = json_object_get(root, "seconds"), *settings = json_object_get(root, "settings");
    if (!json_is_integer(step) || !json_is_integer(tokens) || !json_is_number(seconds) || !json_is_object(settings))
        error = error_of_the_file(error_new("%s: 'step', 'tokens', 'seconds' or 'settings' is missing or wrong", path));
    else
        error = compare_settings(path, settings, state->settings);
    if (!error) {
        state->step = (int)json_integer_value(step);
        state->tokens = json_integer_value(tokens);
        state->seconds = json_number_value(seconds);
    }
    json_decref(root);
    return error;
}

static struct akgen_error *read_mean(const struct lm_tensors *tensors, const char *name, int64_t size, float *values)
{
    const struct lm_tensor *tensor = lm_tensors_find(tensors, name);
    if (!tensor || tensor->count != size || tensor->dtype != LM_F32)
        return error_of_the_file(
            error_new("%s: '%s' is missing or not %lld numbers of F32", tensors->paths[0], name, (long long)size));
    return lm_tensors_read(tensors, tensor, 0, size, values);
}

static struct akgen_error *read_optimizer(const char *path, int64_t size, float *m, float *v)
{
    struct lm_tensors tensors;
    struct akgen_error *error = lm_tensors_open(path, &tensors);
    if (error)
        return error;
    error = read_mean(&tensors, "m", size, m);
    if (!error)
        error = read_mean(&tensors, "v", size, v);
    lm_tensors_close(&tensors);
    return error;
}

/* Takes another's array where the two have the same layout. */
static struct akgen_error *read_weights(const char *folder, struct lm_trained *trained)
{
    float *weights = NULL;
    int64_t size = 0;
    struct lm_adapters adapters = {0};
    struct lm_model model = {0};
    struct akgen_error *error = trained->adapters.layers
                                    ? lm_adapters_read(folder, &trained->model.layout, &adapters, &weights)
                                    : lm_model_read(&model, folder);
    if (error)
        return error;
    if (!trained->adapters.layers)
        weights = model.weights;
    size = trained->adapters.layers ? adapters.layout.size : model.layout.size;
    if (size != lm_trained_layout(trained)->size)
        error = error_of_the_file(error_new("%s: its weights are %lld, and the model's %lld", folder, (long long)size,
                                            (long long)lm_trained_layout(trained)->size));
    else
        memcpy(lm_trained_weights(trained), weights, (size_t)size * sizeof *weights);
    if (trained->adapters.layers) {
        free(weights);
        lm_adapters_free(&adapters);
    } else {
        lm_model_free(&model);
    }
    return error;
}

struct akgen_error *lm_checkpoint_read(const char *out, int step, struct lm_trained *trained, float *m, float *v,
                                       struct lm_state *state)
{
    struct arena arena = {0};
    const char *folder = arena_printf(&arena, "%s/%s%d", out, PREFIX, step);
    struct akgen_error *error = read_state(&arena, folder, state);
    if (!error)
        error = read_weights(folder, trained);
    if (!error)
        error = read_optimizer(arena_printf(&arena, "%s/optimizer.safetensors", folder),
                               lm_trained_layout(trained)->size, m, v);
    arena_free(&arena);
    return error;
}
