/* Lines to tokens, and tokens to batches. */
#include "lm/samples.h"

#include "base/jsons.h"
#include "base/lines.h"
#include "base/memory.h"
#include "lm/chat.h"

#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { NOT_LEARNED = -100, LONGEST_LINE = 64 << 20 };

/* A line while it is read. */
struct line {
    const struct lm_samples_options *options;
    const json_t *row;
    struct arena arena;
    int32_t *tokens;
    bool *learned;
    int64_t count, capacity;
    bool cut;                /* one of its texts was */
    bool checked;            /* the chat template */
    lm_take_text *take_text; /* or NULL: gets texts in the place of tokenising them */
    void *closure;
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

static struct akgen_error *add_text(struct line *line, const char *text, size_t length, bool learned)
{
    uint32_t *ids;
    int64_t count;
    if (line->take_text)
        return line->take_text(line->closure, text, length);
    if (!line->options->tokenizer)
        return error_new("a text, but there is no tokenizer.json");
    struct akgen_error *error = lm_tokenizer_encode(line->options->tokenizer, &line->arena, text, length, &ids, &count);
    for (int64_t i = 0; !error && i < count; i++)
        add_token(line, (int32_t)ids[i], learned);
    return error;
}

static struct akgen_error *add_string(struct line *line, const json_t *text, bool learned)
{
    return add_text(line, json_string_value(text), json_string_length(text), learned);
}

/* Messages, and (or NULL) those behind them, of which alone the answers are learned then. */
static struct akgen_error *add_messages(struct line *line, const json_t *messages, const json_t *behind)
{
    struct lm_part *parts;
    int count = 0;
    json_t *all = json_copy((json_t *)messages);
    const struct lm_chat_options how = {.tools = json_object_get(line->row, "tools"),
                                        .learned_from = behind ? (int)json_array_size(messages) : 0};
    if (behind)
        json_array_extend(all, (json_t *)behind);
    struct akgen_error *error = line->checked || !line->options->folder ? NULL : lm_chat_check(line->options->folder);
    line->checked = !error;
    if (!error)
        error = lm_chat_render(all, &how, &line->arena, &parts, &count);
    for (int i = 0; i < count && !error; i++)
        error = add_text(line, parts[i].text, parts[i].length, parts[i].learned);
    json_decref(all);
    return error;
}

/* Messages, and the begin of an answer to them. */
static struct akgen_error *ask_messages(struct line *line, const json_t *messages)
{
    struct lm_part *parts;
    int count = 0;
    const struct lm_chat_options how = {.tools = json_object_get(line->row, "tools"), .ask = true};
    struct akgen_error *error = line->checked || !line->options->folder ? NULL : lm_chat_check(line->options->folder);
    line->checked = !error;
    if (!error)
        error = lm_chat_render(messages, &how, &line->arena, &parts, &count);
    if (error)
        return error;
    const char *text = lm_chat_text(parts, count, &line->arena);
    return add_text(line, text, strlen(text), false);
}

static bool is_messages(const json_t *value)
{
    return json_is_object(json_array_get(value, 0));
}

static void add_end(struct line *line)
{
    if (line->options->end != LM_NO_LABEL)
        add_token(line, line->options->end, true);
}

static struct akgen_error *add_ids(struct line *line, const json_t *ids, const json_t *labels, bool learned)
{
    const json_t *id;
    size_t i;
    if (line->take_text)
        return error_new("tokens, where a text is needed: they are those of another vocabulary");
    if (labels && json_array_size(labels) != json_array_size(ids))
        return error_new("'labels' has %zu numbers, 'input_ids' %zu", json_array_size(labels), json_array_size(ids));
    json_array_foreach((json_t *)ids, i, id)
    {
        const json_t *label = labels ? json_array_get(labels, i) : id;
        if (!json_is_integer(id) || !json_is_integer(label))
            return error_new("tokens and labels have to be whole numbers");
        if (json_integer_value(label) != json_integer_value(id) && json_integer_value(label) != NOT_LEARNED)
            return error_new("label %zu is %lld, expected its token, %lld, or %d", i, json_integer_value(label),
                             json_integer_value(id), NOT_LEARNED);
        if (json_integer_value(id) < 0 || json_integer_value(id) >= line->options->vocabulary)
            return error_new("token %zu is %lld, and the vocabulary has %d", i, json_integer_value(id),
                             line->options->vocabulary);
        add_token(line, (int32_t)json_integer_value(id), learned && json_integer_value(label) != NOT_LEARNED);
    }
    return NULL;
}

/* A text or a list of tokens. */
static struct akgen_error *add_either(struct line *line, const json_t *either, bool learned)
{
    return json_is_string(either) ? add_string(line, either, learned) : add_ids(line, either, NULL, learned);
}

static bool is_either(const json_t *value)
{
    return json_is_string(value) || json_is_array(value);
}

/* The row's value of this name, or of its tokens; NULL: it has neither. */
static const json_t *either_of(const json_t *row, const char *name)
{
    char ids[64];
    const json_t *text = json_object_get(row, name);
    snprintf(ids, sizeof ids, "%s_input_ids", name);
    return is_either(text) ? text : json_object_get(row, ids);
}

/* Room for one more sample of `count` tokens. */
static void make_room(struct lm_samples *samples, int64_t count)
{
    int64_t at = samples->count ? samples->starts[samples->count] : 0;
    if (samples->count + 2 > samples->starts_capacity) {
        samples->starts_capacity = samples->starts_capacity ? 2 * samples->starts_capacity : 1024;
        samples->starts = memory_grow(samples->starts, (size_t)samples->starts_capacity * sizeof *samples->starts);
        samples->rewards = memory_grow(samples->rewards, (size_t)samples->starts_capacity * sizeof *samples->rewards);
        samples->sources = memory_grow(samples->sources, (size_t)samples->starts_capacity * sizeof *samples->sources);
        samples->starts[0] = 0;
    }
    if (at + count > samples->capacity) {
        samples->capacity = 2 * (at + count);
        samples->tokens = memory_grow(samples->tokens, (size_t)samples->capacity * sizeof *samples->tokens);
        samples->labels = memory_grow(samples->labels, (size_t)samples->capacity * sizeof *samples->labels);
    }
}

/* The number of a name, which becomes one of the known. */
static int source_of(struct lm_samples *samples, const char *name)
{
    if (!samples->source_count) {
        samples->source_names = memory_alloc(sizeof *samples->source_names);
        samples->source_names[samples->source_count++] = memory_string("");
    }
    for (int i = samples->source_count - 1; i >= 0; i--) /* rows of a source often stand together */
        if (strcmp(samples->source_names[i], name) == 0)
            return i;
    samples->source_names =
        memory_grow(samples->source_names, (size_t)(samples->source_count + 1) * sizeof *samples->source_names);
    samples->source_names[samples->source_count] = memory_string(name);
    return samples->source_count++;
}

void lm_samples_add(struct lm_samples *samples, const int32_t *tokens, int count, int learned_from, float reward)
{
    make_room(samples, count);
    int64_t at = samples->starts[samples->count];
    memcpy(samples->tokens + at, tokens, (size_t)count * sizeof *tokens);
    for (int i = 0; i < count; i++)
        samples->labels[at + i] = i + 1 < count && i + 1 >= learned_from ? tokens[i + 1] : LM_NO_LABEL;
    samples->rewards[samples->count] = reward;
    samples->sources[samples->count] = source_of(samples, "");
    samples->starts[++samples->count] = at + count;
    samples->learned += count > learned_from ? count - learned_from : 0;
}

/* The tokens of the line become a sample; false: there is nothing to learn in it. */
static bool take(struct lm_samples *samples, struct line *line, float reward)
{
    int64_t count = line->count < line->options->longest ? line->count : line->options->longest, learned = 0;
    for (int64_t i = 1; i < count; i++)
        learned += line->learned[i];
    line->cut |= count < line->count;
    if (!learned)
        return false;
    make_room(samples, count);
    int64_t at = samples->starts[samples->count];
    memcpy(samples->tokens + at, line->tokens, (size_t)count * sizeof *line->tokens);
    for (int64_t i = 0; i < count; i++)
        samples->labels[at + i] = i + 1 < count && line->learned[i + 1] ? line->tokens[i + 1] : LM_NO_LABEL;
    samples->rewards[samples->count] = reward;
    const char *source = json_string_value(json_object_get(line->row, "source"));
    samples->sources[samples->count] = source_of(samples, source ? source : "");
    samples->starts[++samples->count] = at + count;
    samples->learned += learned;
    return true;
}

/* A prompt and what came behind it. */
static struct akgen_error *add_answer(struct lm_samples *samples, struct line *line, const json_t *prompt,
                                      const json_t *answer, float reward, bool *taken)
{
    struct akgen_error *error;
    line->count = 0;
    if (is_messages(prompt) || is_messages(answer)) {
        if (!is_messages(prompt) || !is_messages(answer))
            return error_new("a prompt and what comes behind it have to be both messages, or none of them");
        error = add_messages(line, prompt, answer);
    } else {
        error = add_either(line, prompt, false);
        if (!error)
            error = add_either(line, answer, true);
    }
    if (error)
        return error;
    if (json_is_string(answer))
        add_end(line);
    *taken &= take(samples, line, reward);
    return NULL;
}

static struct akgen_error *add_single(struct lm_samples *samples, struct line *line, const json_t *row, bool *taken)
{
    const json_t *text = json_object_get(row, "text"), *ids = json_object_get(row, "input_ids"),
                 *prompt = either_of(row, "prompt"), *completion = either_of(row, "completion");
    const json_t *messages = json_object_get(row, "messages");
    struct akgen_error *error = NULL;
    line->count = 0;
    if (json_is_array(messages))
        error = add_messages(line, messages, NULL);
    else if (json_is_array(ids))
        error = add_ids(line, ids, json_object_get(row, "labels"), true);
    else if (json_is_string(text))
        error = add_string(line, text, true);
    else if (is_either(prompt) && is_either(completion))
        return add_answer(samples, line, prompt, completion, 0, taken);
    else
        return error_new(
            "expected an object with 'text', with 'messages', with 'prompt' and 'completion', or with 'input_ids'");
    if (error)
        return error;
    if (json_is_string(text))
        add_end(line);
    *taken &= take(samples, line, 0);
    return NULL;
}

static struct akgen_error *add_pair(struct lm_samples *samples, struct line *line, const json_t *row, bool *taken)
{
    const json_t *prompt = either_of(row, "prompt"), *chosen = either_of(row, "chosen"),
                 *rejected = either_of(row, "rejected");
    if (!is_either(prompt) || !is_either(chosen) || !is_either(rejected))
        return error_new("expected an object with 'prompt', 'chosen' and 'rejected'");
    struct akgen_error *error = add_answer(samples, line, prompt, chosen, 1, taken);
    return error ? error : add_answer(samples, line, prompt, rejected, 0, taken);
}

/* Whose squares are summed in float32. */
static const double LARGEST_REWARD = 1e9;

static struct akgen_error *add_group(struct lm_samples *samples, struct line *line, const json_t *row, bool *taken)
{
    const json_t *prompt = either_of(row, "prompt"), *completions = either_of(row, "completions"),
                 *rewards = json_object_get(row, "rewards");
    size_t count = json_array_size(completions);
    if (!is_either(prompt) || count < 2 || json_array_size(rewards) != count)
        return error_new("expected an object with 'prompt', at least two 'completions', and as many 'rewards'");
    if (samples->group && samples->group != (int)count)
        return error_new("%zu completions, and the line before has %d: all groups have to be of one size", count,
                         samples->group);
    samples->group = (int)count;
    for (size_t i = 0; i < count; i++) {
        const json_t *reward = json_array_get(rewards, i), *completion = json_array_get(completions, i);
        if (!json_is_number(reward) || !is_either(completion))
            return error_new("'rewards' have to be numbers, and 'completions' texts or lists of tokens");
        double worth = json_number_value(reward);
        if (!(fabs(worth) <= LARGEST_REWARD))
            return error_new("reward %zu is %g, and has to be from %g to %g", i, worth, -LARGEST_REWARD,
                             LARGEST_REWARD);
        struct akgen_error *error = add_answer(samples, line, prompt, completion, (float)worth, taken);
        if (error)
            return error;
    }
    return NULL;
}

/* A prompt, as the model is asked it; a longer one than leaves room for an answer is left out. */
static struct akgen_error *add_prompt(struct lm_samples *samples, struct line *line, const json_t *row, bool *taken)
{
    const json_t *prompt = either_of(row, "prompt");
    struct akgen_error *error;
    line->count = 0;
    if (!is_either(prompt))
        return error_new("expected an object with 'prompt'");
    error = is_messages(prompt) ? ask_messages(line, prompt) : add_either(line, prompt, false);
    if (!error && !line->count)
        error = error_new("the prompt is empty");
    if (error || line->count >= line->options->longest) {
        *taken = false;
        return error;
    }
    lm_samples_add(samples, line->tokens, (int)line->count, (int)line->count, 0);
    samples->rows = memory_grow(samples->rows, (size_t)samples->count * sizeof *samples->rows);
    samples->rows[samples->count - 1] = json_dumps(row, JSON_COMPACT);
    return NULL;
}

static struct akgen_error *add_row(struct lm_samples *samples, struct line *line, enum lm_samples_kind kind,
                                   bool *taken)
{
    static struct akgen_error *(*const add[])(struct lm_samples *, struct line *, const json_t *, bool *) = {
        [LM_SINGLE] = add_single, [LM_PAIRS] = add_pair, [LM_GROUPS] = add_group, [LM_PROMPTS] = add_prompt};
    return add[kind](samples, line, line->row, taken);
}

static struct akgen_error *read_row(struct lm_samples *samples, struct line *line)
{
    int before = samples->count;
    int64_t learned = samples->learned;
    bool taken = true;
    line->cut = false;
    struct akgen_error *error = add_row(samples, line, line->options->kind, &taken);
    samples->cut += line->cut;
    if (!taken) { /* all of a line, or nothing */
        samples->left_out++;
        samples->count = before;
        samples->learned = learned;
    }
    return error;
}

static enum lm_samples_kind kind_of(const json_t *row)
{
    return either_of(row, "chosen") ? LM_PAIRS : either_of(row, "completions") ? LM_GROUPS : LM_SINGLE;
}

/* Of a row of any kind; what would be learned of it does not matter. */
static struct akgen_error *read_texts(struct lm_samples *samples, struct line *line)
{
    bool taken = true;
    samples->group = 0;
    return add_row(samples, line, kind_of(line->row), &taken);
}

static bool is_blank(const struct text *line)
{
    return !line->length || strspn(line->bytes, " \t\r\n") == line->length;
}

struct akgen_error *lm_samples_rows(const char *path, int64_t most, lm_take_row *take, void *closure)
{
    FILE *file;
    struct text line = {0};
    bool too_long;
    struct akgen_error *error = lines_open(path, &file);
    if (error)
        return error;
    for (long number = 1; !error && most && lines_next(file, LONGEST_LINE, &line, &too_long); number++) {
        if (is_blank(&line))
            continue;
        json_error_t problem;
        json_t *row = too_long ? NULL : jsons_read(line.bytes, line.length, 0, &problem);
        error = too_long ? error_new("longer than 64 MiB") : row ? take(closure, row) : error_new("%s", problem.text);
        json_decref(row);
        most--;
        if (error)
            error = error_of_the_file(error_prefix(error, "%s:%ld", path, number));
    }
    if (!error && ferror(file))
        error = error_new("%s: %s", path, strerror(errno));
    fclose(file);
    text_free(&line);
    return error;
}

struct reading {
    struct lm_samples *samples;
    struct line *line;
    struct akgen_error *(*read)(struct lm_samples *samples, struct line *line);
};

static struct akgen_error *take_line(void *closure, const json_t *row)
{
    const struct reading *reading = closure;
    reading->line->row = row;
    struct akgen_error *error = reading->read(reading->samples, reading->line);
    arena_free(&reading->line->arena);
    return error;
}

static struct akgen_error *read_lines(struct lm_samples *samples, struct line *line, const char *path,
                                      struct akgen_error *(*read)(struct lm_samples *samples, struct line *line))
{
    struct reading reading = {samples, line, read};
    struct akgen_error *error = lm_samples_rows(path, INT64_MAX, take_line, &reading);
    free(line->tokens);
    free(line->learned);
    return error;
}

struct akgen_error *lm_samples_read(struct lm_samples *samples, const char *path,
                                    const struct lm_samples_options *options)
{
    struct line line = {.options = options};
    if (options->kind != LM_GROUPS)
        samples->group = options->kind == LM_PAIRS ? 2 : 1;
    return read_lines(samples, &line, path, read_row);
}

struct akgen_error *lm_samples_texts(const char *path, lm_take_text *take, void *closure)
{
    const struct lm_samples_options options = {.longest = 1, .end = LM_NO_LABEL};
    struct line line = {.options = &options, .take_text = take, .closure = closure};
    struct lm_samples none = {0};
    struct akgen_error *error = read_lines(&none, &line, path, read_texts);
    lm_samples_free(&none);
    return error;
}

enum lm_samples_kind lm_samples_kind_of(const char *path)
{
    FILE *file;
    struct text line = {0};
    bool too_long;
    enum lm_samples_kind kind = LM_SINGLE;
    error_free(lines_open(path, &file)); /* whoever reads its rows says why */
    while (file && lines_next(file, LONGEST_LINE, &line, &too_long))
        if (!is_blank(&line)) {
            json_t *row = too_long ? NULL : jsons_read(line.bytes, line.length, 0, NULL);
            kind = kind_of(row);
            json_decref(row);
            break;
        }
    text_free(&line);
    if (file)
        fclose(file);
    return kind;
}

int64_t lm_samples_longest(const struct lm_samples *samples)
{
    int64_t longest = 0;
    for (int i = 0; i + samples->group <= samples->count && samples->group; i += samples->group)
        if (samples->starts[i + samples->group] - samples->starts[i] > longest)
            longest = samples->starts[i + samples->group] - samples->starts[i];
    return longest;
}

void lm_samples_free(struct lm_samples *samples)
{
    for (int i = 0; i < samples->source_count; i++)
        free(samples->source_names[i]);
    for (int i = 0; i < samples->count && samples->rows; i++)
        free(samples->rows[i]);
    free(samples->rows);
    free(samples->source_names);
    free(samples->sources);
    free(samples->tokens);
    free(samples->labels);
    free(samples->starts);
    free(samples->rewards);
    *samples = (struct lm_samples){0};
}

void lm_samples_shuffle(const struct lm_samples *samples, uint64_t seed, int epoch, int *order)
{
    struct rng rng;
    rng_seed(&rng, seed * 1000003 + (uint64_t)epoch);
    int groups = lm_samples_groups(samples);
    for (int i = 0; i < groups; i++)
        order[i] = i;
    for (int i = groups - 1; i > 0; i--) {
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
    int end = *at, group = samples->group;
    for (; end < last; end++) {
        int64_t length = samples->starts[(order[end] + 1) * group] - samples->starts[order[end] * group];
        if (end > *at && count + length > tokens)
            break;
        count += length;
    }
    int32_t *all = memory_alloc((size_t)count * sizeof *all), *labels = memory_alloc((size_t)count * sizeof *labels);
    int *starts = memory_alloc((size_t)((end - *at) * group + 1) * sizeof *starts), texts = 0;
    for (int i = *at; i < end; i++)
        for (int sample = order[i] * group; sample < (order[i] + 1) * group; sample++, texts++) {
            int64_t from = samples->starts[sample];
            int length = (int)(samples->starts[sample + 1] - from), to = starts[texts];
            memcpy(all + to, samples->tokens + from, (size_t)length * sizeof *all);
            memcpy(labels + to, samples->labels + from, (size_t)length * sizeof *labels);
            starts[texts + 1] = to + length;
        }
    *batch = (struct lm_batch){.tokens = all, .labels = labels, .starts = starts, .texts = texts};
    *at = end;
}

void lm_samples_release(struct lm_batch *batch)
{
    free((void *)batch->tokens);
    free((void *)batch->labels);
    free((void *)batch->starts);
    *batch = (struct lm_batch){0};
}
