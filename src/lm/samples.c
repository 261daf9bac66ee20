/* Lines to tokens, and tokens to batches. */
#include "lm/samples.h"

#include "base/files.h"
#include "base/memory.h"

#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NOT_LEARNED = -100, LONGEST_LINE = 64 << 20 };

/* A line while it is read. */
struct line {
    const struct lm_samples_options *options;
    struct arena arena;
    int32_t *tokens;
    bool *learned;
    int64_t count, capacity;
};

static void add_token(struct line *line, int32_t token, bool learned)
{
    if (line->count == line->capacity) {
        line->capacity = line->capacity ? 2 * line->capacity : 1024;
        line->tokens = memory_grow(line->tokens, (size_t)line->capacity * sizeof *line->tokens);
        line->learned = memory_grow(line->learned, (size_t)line->capacity * sizeof *line->learned);
    }
    line->tokens[line->count] = token;
    line->learned[line->count++] = learned;
}

static struct akgen_error *add_text(struct line *line, const json_t *text, bool learned)
{
    uint32_t *ids;
    int64_t count;
    if (!line->options->tokenizer)
        return error_new("a text, but there is no tokenizer.json");
    struct akgen_error *error = lm_tokenizer_encode(line->options->tokenizer, &line->arena, json_string_value(text),
                                                    json_string_length(text), &ids, &count);
    for (int64_t i = 0; !error && i < count; i++)
        add_token(line, (int32_t)ids[i], learned);
    return error;
}

static void add_end(struct line *line)
{
    if (line->options->end != LM_NO_LABEL)
        add_token(line, line->options->end, true);
}

static struct akgen_error *add_ids(struct line *line, const json_t *ids, const json_t *labels)
{
    const json_t *id;
    size_t i;
    if (labels && json_array_size(labels) != json_array_size(ids))
        return error_new("'labels' has %zu numbers, 'input_ids' %zu", json_array_size(labels), json_array_size(ids));
    json_array_foreach((json_t *)ids, i, id)
    {
        const json_t *label = labels ? json_array_get(labels, i) : id;
        if (!json_is_integer(id) || !json_is_integer(label))
            return error_new("'input_ids' and 'labels' have to hold whole numbers");
        if (json_integer_value(label) != json_integer_value(id) && json_integer_value(label) != NOT_LEARNED)
            return error_new("label %zu is %lld, expected its token, %lld, or %d", i, json_integer_value(label),
                             json_integer_value(id), NOT_LEARNED);
        if (json_integer_value(id) < 0 || json_integer_value(id) >= line->options->vocabulary)
            return error_new("token %zu is %lld, and the vocabulary has %d", i, json_integer_value(id),
                             line->options->vocabulary);
        add_token(line, (int32_t)json_integer_value(id), json_integer_value(label) != NOT_LEARNED);
    }
    return NULL;
}

static struct akgen_error *add_row(struct line *line, const json_t *row)
{
    const json_t *text = json_object_get(row, "text"), *prompt = json_object_get(row, "prompt"),
                 *completion = json_object_get(row, "completion"), *ids = json_object_get(row, "input_ids");
    struct akgen_error *error;
    if (json_is_array(ids))
        return add_ids(line, ids, json_object_get(row, "labels"));
    if (json_is_string(text)) {
        error = add_text(line, text, true);
    } else if (json_is_string(prompt) && json_is_string(completion)) {
        error = add_text(line, prompt, false);
        if (!error)
            error = add_text(line, completion, true);
    } else {
        return error_new("expected an object with 'text', with 'prompt' and 'completion', or with 'input_ids'");
    }
    if (!error)
        add_end(line);
    return error;
}

/* The tokens of the line become a sample. */
static void take(struct lm_samples *samples, struct line *line)
{
    int64_t count = line->count < line->options->longest ? line->count : line->options->longest, learned = 0;
    samples->cut += count < line->count;
    for (int64_t i = 1; i < count; i++)
        learned += line->learned[i];
    if (!learned) {
        samples->left_out++;
        return;
    }
    if (samples->count + 2 > samples->starts_capacity) {
        samples->starts_capacity = samples->starts_capacity ? 2 * samples->starts_capacity : 1024;
        samples->starts = memory_grow(samples->starts, (size_t)samples->starts_capacity * sizeof *samples->starts);
        samples->starts[0] = 0;
    }
    int64_t at = samples->starts[samples->count];
    if (at + count > samples->capacity) {
        samples->capacity = 2 * (at + count);
        samples->tokens = memory_grow(samples->tokens, (size_t)samples->capacity * sizeof *samples->tokens);
        samples->labels = memory_grow(samples->labels, (size_t)samples->capacity * sizeof *samples->labels);
    }
    memcpy(samples->tokens + at, line->tokens, (size_t)count * sizeof *line->tokens);
    for (int64_t i = 0; i < count; i++)
        samples->labels[at + i] = i + 1 < count && line->learned[i + 1] ? line->tokens[i + 1] : LM_NO_LABEL;
    samples->starts[++samples->count] = at + count;
    samples->learned += learned;
}

static struct akgen_error *read_line(struct lm_samples *samples, struct line *line, const char *text, size_t length)
{
    json_error_t problem;
    json_t *row = json_loadb(text, length, 0, &problem);
    struct akgen_error *error = row ? NULL : error_new("%s", problem.text);
    line->count = 0;
    if (!error)
        error = add_row(line, row);
    if (!error)
        take(samples, line);
    json_decref(row);
    arena_free(&line->arena);
    return error;
}

struct akgen_error *lm_samples_read(struct lm_samples *samples, const char *path,
                                    const struct lm_samples_options *options)
{
    FILE *file = fopen(path, "re");
    if (!file)
        return error_new("%s: %s", path, strerror(errno));
    struct akgen_error *error = NULL;
    struct line line = {.options = options};
    char *text = NULL;
    size_t room = 0;
    ssize_t length;
    for (long number = 1; !error && (length = getline(&text, &room, file)) >= 0; number++) {
        if (strspn(text, " \t\r\n") == (size_t)length)
            continue;
        error =
            length > LONGEST_LINE ? error_new("longer than 64 MiB") : read_line(samples, &line, text, (size_t)length);
        if (error)
            error = error_of_the_file(error_prefix(error, "%s:%ld", path, number));
    }
    if (!error && ferror(file))
        error = error_new("%s: %s", path, strerror(errno));
    fclose(file);
    free(text);
    free(line.tokens);
    free(line.learned);
    return error;
}

void lm_samples_free(struct lm_samples *samples)
{
    free(samples->tokens);
    free(samples->labels);
    free(samples->starts);
    *samples = (struct lm_samples){0};
}

void lm_samples_shuffle(const struct lm_samples *samples, uint64_t seed, int epoch, int *order)
{
    struct rng rng;
    rng_seed(&rng, seed * 1000003 + (uint64_t)epoch);
    for (int i = 0; i < samples->count; i++)
        order[i] = i;
    for (int i = samples->count - 1; i > 0; i--) {
        int64_t other = rng_integer(&rng, 0, i + 1);
        int moved = order[i];
        order[i] = order[other];
        order[other] = moved;
    }
}

void lm_samples_pack(const struct lm_samples *samples, const int *order, int *at, int last, int tokens,
                     struct lm_batch *batch)
{
    int64_t count = 0;
    int end = *at;
    for (; end < last; end++) {
        int64_t length = samples->starts[order[end] + 1] - samples->starts[order[end]];
        if (end > *at && count + length > tokens)
            break;
        count += length;
    }
    int32_t *all = memory_alloc((size_t)count * sizeof *all), *labels = memory_alloc((size_t)count * sizeof *labels);
    int *starts = memory_alloc((size_t)(end - *at + 1) * sizeof *starts);
    for (int i = *at; i < end; i++) {
        int64_t from = samples->starts[order[i]];
        int length = (int)(samples->starts[order[i] + 1] - from), to = starts[i - *at];
        memcpy(all + to, samples->tokens + from, (size_t)length * sizeof *all);
        memcpy(labels + to, samples->labels + from, (size_t)length * sizeof *labels);
        starts[i - *at + 1] = to + length;
    }
    *batch = (struct lm_batch){.tokens = all, .labels = labels, .starts = starts, .texts = end - *at};
    *at = end;
}

void lm_samples_release(struct lm_batch *batch)
{
    free((void *)batch->tokens);
    free((void *)batch->labels);
    free((void *)batch->starts);
    *batch = (struct lm_batch){0};
}
