/* tokenizer.json gets added tokens, the embedding gets rows; everything else is copied. */
#include "lm/extend.h"

#include "base/files.h"
#include "base/memory.h"
#include "lm/checkpoint.h"
#include "lm/tokenizer.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <utf8proc.h>

enum { LARGEST_TOKENIZER = 64 << 20 };

static bool is_utf8(const char *text)
{
    for (utf8proc_int32_t character; *text;) {
        utf8proc_ssize_t width = utf8proc_iterate((const utf8proc_uint8_t *)text, -1, &character);
        if (width <= 0)
            return false;
        text += width;
    }
    return true;
}

/* What the texts are by the old tokenizer. */
struct pieces {
    uint32_t *ids;
    int64_t count;
};

static struct akgen_error *cut(struct arena *arena, const struct lm_tokenizer *tokenizer, const char *text,
                               struct pieces *pieces)
{
    struct akgen_error *error = lm_tokenizer_encode(tokenizer, arena, text, strlen(text), &pieces->ids, &pieces->count);
    if (!error && (!*text || !is_utf8(text)))
        error = error_of_the_file(error_new("a new token has to be a text in UTF-8, not '%.60s'", text));
    if (!error && pieces->count == 1)
        error = error_of_the_file(error_new("'%.60s' is a token already", text));
    return error;
}

/* tokenizer.json with the texts as added tokens from id `first` on. */
static struct akgen_error *write_tokenizer(struct arena *arena, const struct lm_extend_options *options, uint32_t first,
                                           const char *folder)
{
    const char *path = arena_printf(arena, "%s/tokenizer.json", options->folder);
    char *bytes;
    size_t length;
    json_error_t problem;
    struct akgen_error *error = files_read(arena, path, LARGEST_TOKENIZER, &bytes, &length);
    if (error)
        return error;
    /* Read exactly: what this reader cannot hold it could not write again. */
    json_t *root = json_loadb(bytes, length, 0, &problem), *added = json_object_get(root, "added_tokens");
    if (!root)
        return error_of_the_file(error_new("%s:%d: %s", path, problem.line, problem.text));
    if (!added)
        json_object_set_new(root, "added_tokens", added = json_array());
    for (int i = 0; i < options->count; i++)
        json_array_append_new(added, json_pack("{s:I s:s s:b s:b s:b s:b s:b}", "id", (json_int_t)first + i, "content",
                                               options->texts[i], "single_word", 0, "lstrip", 0, "rstrip", 0,
                                               "normalized", 0, "special", 0));
    char *text = json_dumps(root, JSON_COMPACT);
    error = text ? files_write(arena_printf(arena, "%s/tokenizer.json", folder), text, strlen(text))
                 : error_new("%s: %s", path, "its texts cannot be written");
    free(text);
    json_decref(root);
    return error;
}

/* Rows of a matrix (vocabulary, hidden) that stands at `to`: the old ones, and a mean for each text. */
static void extend_rows(const float *from, float *to, int rows, int hidden, uint32_t first, const struct pieces *pieces,
                        int count)
{
    memcpy(to, from, (size_t)rows * (size_t)hidden * sizeof *to);
    for (int i = 0; i < count; i++)
        for (int channel = 0; channel < hidden; channel++) {
            double sum = 0;
            for (int64_t piece = 0; piece < pieces[i].count; piece++)
                sum += (double)from[(int64_t)pieces[i].ids[piece] * hidden + channel];
            to[((int64_t)first + i) * hidden + channel] = (float)(sum / (double)pieces[i].count);
        }
}

static void extend_weights(const struct lm_model *old, struct lm_model *extended, uint32_t first,
                           const struct pieces *pieces, int count)
{
    const struct lm_layout *from = &old->layout, *to = &extended->layout;
    for (int i = 0; i < from->count; i++) {
        const struct lm_parameter *parameter = &from->parameters[i];
        const float *values = old->weights + parameter->offset;
        float *place = extended->weights + to->parameters[i].offset;
        if (parameter->offset == from->embedding || parameter->offset == from->head)
            extend_rows(values, place, from->config.vocabulary, from->config.hidden, first, pieces, count);
        else
            memcpy(place, values, (size_t)parameter->count * sizeof *values);
    }
}

static struct akgen_error *write_folder(struct arena *arena, const struct lm_extend_options *options,
                                        const struct lm_model *extended, uint32_t first)
{
    const struct lm_trained trained = {.model = *extended, .folder = options->folder};
    const char *unfinished, *out = options->out;
    enum lm_dtype dtype = LM_F32;
    struct akgen_error *error = lm_model_type(options->folder, &dtype);
    if (!error)
        error = files_begin_directory(arena, out, &unfinished);
    if (error)
        return error;
    error = lm_trained_write(&trained, unfinished, dtype, 0);
    if (!error)
        error = write_tokenizer(arena, options, first, unfinished);
    if (!error)
        return files_finish_directory(unfinished, out);
    files_remove_tree(unfinished);
    return error;
}

struct akgen_error *lm_extend(const struct lm_extend_options *options, struct lm_extended *extended)
{
    struct arena arena = {0};
    struct lm_tokenizer *tokenizer = NULL;
    struct lm_model old = {0}, model = {0};
    struct pieces *pieces = memory_alloc(((size_t)options->count + 1) * sizeof *pieces);
    struct akgen_error *error = NULL;
    if (files_exists(options->out))
        error = error_of_the_file(error_new("%s is there already; remove it, or write elsewhere", options->out));
    if (!error)
        error = lm_tokenizer_read(arena_printf(&arena, "%s/tokenizer.json", options->folder), &tokenizer);
    for (int i = 0; i < options->count && !error; i++)
        error = cut(&arena, tokenizer, options->texts[i], &pieces[i]);
    if (!error)
        error = lm_model_read(&old, options->folder);
    if (!error && (uint32_t)old.layout.config.vocabulary < lm_tokenizer_size(tokenizer))
        error = error_of_the_file(error_new("%s: %u tokens, and %d rows of the embedding", options->folder,
                                            lm_tokenizer_size(tokenizer), old.layout.config.vocabulary));
    if (!error) {
        struct lm_config config = old.layout.config;
        uint32_t first = lm_tokenizer_size(tokenizer), size = first + (uint32_t)options->count;
        if (size > (uint32_t)config.vocabulary) /* some models have rows to spare */
            config.vocabulary = (int)size;
        lm_layout_make(&model.layout, &config);
        model.weights = memory_alloc((size_t)model.layout.size * sizeof *model.weights);
        extend_weights(&old, &model, first, pieces, options->count);
        error = write_folder(&arena, options, &model, first);
        *extended = (struct lm_extended){model.layout.size, config.vocabulary};
    }
    lm_model_free(&old);
    lm_model_free(&model);
    lm_tokenizer_free(tokenizer);
    free(pieces);
    arena_free(&arena);
    return error;
}
