/* akgen lm answers: a model's own answers to prompts, judged; rows of GRPO, and pairs for DPO of them. A prompt is a line of the file that is written,
 * in the order of the prompts, so a run that was killed goes on behind the last whole line. */
#include "base/digest.h"
#include "base/files.h"
#include "base/memory.h"
#include "cli/cli.h"
#include "cli/lm.h"
#include "cli/lm_judge.h"
#include "lm/rollout.h"

#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { BLOCK = 16 /* prompts that are answered together */, LARGEST_FILE = 1 << 30 };

struct arguments {
    const char *model, *data, *out, *pairs;
    int per_prompt;
    bool json;
    struct lm_rollout_options rollout;
};
struct counts {
    int prompts, answers, right, valid, pairs;
    double interval; /* half of the 95 % one of the share that is right, by the spread over prompts */
};

#define CLI_OF struct arguments
static const struct cli_option rows[] = {
    {"data", 0, "FILE", CLI_TEXT(data, .needed = true), 1, "rows with \"prompt\" and what the judge wants"},
    {"output", 'o', "FILE", CLI_TEXT(out, .needed = true), 1,
     "rows of --objective grpo: \"prompt\", \"completions\", \"rewards\"; goes on where it ends"},
    {"pairs", 0, "FILE", CLI_TEXT(pairs), 1, "rows of --objective dpo: a right answer and one that is not"},
    {"per-prompt", 0, "K", CLI_NUMBER(per_prompt, 1, 4096), 1, "pairs of a prompt at most (default 4)"},
    {"judge", 0, CLI_LM_JUDGES, CLI_CALL(cli_lm_take_judge, .at = CLI_AT(rollout.judge)), 2,
     "as that of 'akgen lm train' (default operators)"},
    {"samples", 'n', "N", CLI_NUMBER(rollout.group, 1, 4096), 2, "answers of each prompt (default 8)"},
    {"answer-tokens", 0, "N", CLI_NUMBER(rollout.most, 1, 1 << 20), 2, "of an answer (default 256)"},
    {"seed", 0, "S", CLI_NUMBER(rollout.seed, 0, INT64_MAX), 2, "of the draws (default 0)"},
    {"threads", 0, "N", CLI_NUMBER(rollout.threads, 1, 1024), 3, "default: one for each processor"},
    {"json", 0, NULL, CLI_FLAG(json), 3, "print the counts as JSON"},
    {NULL, 0, "MODEL", CLI_TEXT(model, .needed = true), 0, NULL},
};

static void check_arguments(void *answers, const struct argp_state *state)
{
    if (!((struct arguments *)answers)->pairs && cli_given(state, "per-prompt"))
        argp_error(state, "--per-prompt is of --pairs");
}

/* An answer as it stands in a row: a text behind a text, a message behind messages, whose thought the template has a place for. */
static json_t *completion_of(const struct lm_answer *answer, bool messages)
{
    const char *text = answer->text.bytes ? answer->text.bytes : "", *end = strstr(text, "</think>");
    if (!messages)
        return json_string(text);
    const char *content = end ? end + strlen("</think>") : text;
    content += strspn(content, "\n");
    json_t *message = json_pack("{s:s s:s}", "role", "assistant", "content", content);
    if (end && strncmp(text, "<think>", strlen("<think>")) == 0) {
        const char *thought = text + strlen("<think>");
        thought += strspn(thought, "\n");
        while (end > thought && end[-1] == '\n')
            end--;
        if (end > thought)
            json_object_set_new(message, "reasoning_content", json_stringn(thought, (size_t)(end - thought)));
    }
    return json_pack("[o]", message);
}

static json_t *line_of(const char *row, const struct lm_answer *answers, int count, const char *written_by,
                       uint64_t seed)
{
    json_t *root = json_loads(row, 0, NULL), *prompt = json_object_get(root, "prompt");
    json_t *completions = json_array(), *rewards = json_array(), *right = json_array(), *valid = json_array(),
           *ended = json_array();
    for (int i = 0; i < count; i++) {
        json_array_append_new(completions, completion_of(&answers[i], json_is_array(prompt)));
        json_array_append_new(rewards, json_real(answers[i].worth.reward));
        json_array_append_new(right, json_boolean(answers[i].worth.right));
        json_array_append_new(valid, json_boolean(answers[i].worth.valid));
        json_array_append_new(ended, json_boolean(answers[i].ended));
    }
    json_t *line =
        json_pack("{s:O s:o s:o s:o s:o s:o s:s s:I}", "prompt", prompt, "completions", completions, "rewards", rewards,
                  "right", right, "valid", valid, "ended", ended, "written_by", written_by, "seed", (json_int_t)seed);
    json_decref(root);
    return line;
}

/* Whether a line of the file is what this run would have written for a row. */
static bool is_ours(const struct arguments *arguments, const json_t *line, const char *row, const char *written_by)
{
    json_t *root = json_loads(row, 0, NULL);
    const char *by = json_string_value(json_object_get(line, "written_by"));
    bool same = json_equal(json_object_get(line, "prompt"), json_object_get(root, "prompt")) && by &&
                strcmp(by, written_by) == 0 &&
                json_integer_value(json_object_get(line, "seed")) == (json_int_t)arguments->rollout.seed &&
                json_array_size(json_object_get(line, "completions")) == (size_t)arguments->rollout.group;
    json_decref(root);
    return same;
}

/* The lines that are there already, as JSON; a last one that a run was killed in is cut off. */
static struct akgen_error *read_lines(struct arena *arena, const struct arguments *arguments,
                                      const struct lm_samples *prompts, const char *written_by, json_t *lines)
{
    char *bytes;
    size_t length, at = 0;
    if (!files_exists(arguments->out))
        return NULL;
    struct akgen_error *error = files_read(arena, arguments->out, LARGEST_FILE, &bytes, &length);
    for (const char *end; !error && (end = memchr(bytes + at, '\n', length - at)); at = (size_t)(end - bytes) + 1) {
        json_t *line = json_loadb(bytes + at, (size_t)(end - bytes) - at, 0, NULL);
        size_t number = json_array_size(lines);
        if (number >= (size_t)prompts->count || !is_ours(arguments, line, prompts->rows[number], written_by))
            error = error_of_the_file(error_new(
                "%s:%zu: not what this run would write for the row of this number: it has another prompt, model, "
                "seed or number of answers; write elsewhere",
                arguments->out, number + 1));
        json_array_append_new(lines, line ? line : json_null());
    }
    if (!error && at < length && truncate(arguments->out, (off_t)at) != 0)
        error = error_new("%s: %s", arguments->out, strerror(errno));
    return error;
}

static struct akgen_error *answer_rest(const struct arguments *arguments, struct lm_model *model,
                                       const struct lm_tokenizer *tokenizer, const struct lm_samples *prompts,
                                       const char *written_by, json_t *lines)
{
    struct akgen_error *error = NULL;
    int *order = memory_alloc((size_t)(prompts->count + 1) * sizeof *order);
    FILE *out = fopen(arguments->out, "ae");
    if (!out)
        error = error_new("%s: %s", arguments->out, strerror(errno));
    for (int i = 0; i < prompts->count; i++)
        order[i] = i;
    for (int first = (int)json_array_size(lines); first < prompts->count && !error;) {
        int last = first + BLOCK < prompts->count ? first + BLOCK : prompts->count;
        struct lm_rollout rollout;
        error = lm_rollout(model, tokenizer, prompts, order, first, last, 0, &arguments->rollout, &rollout);
        for (int i = first; i < last && !error; i++) {
            json_t *line = line_of(prompts->rows[i], rollout.answers + (ptrdiff_t)(i - first) * rollout.group,
                                   rollout.group, written_by, arguments->rollout.seed);
            json_dumpf(line, out, JSON_COMPACT | JSON_REAL_PRECISION(7));
            fputc('\n', out);
            json_array_append_new(lines, line);
        }
        lm_rollout_free(&rollout);
        if (!error && fflush(out) != 0)
            error = error_new("%s: %s", arguments->out, strerror(errno));
        first = last;
    }
    if (out)
        fclose(out);
    free(order);
    return error;
}

/* The first answers of a line that are right, or not and yet ended, each text once. */
static int choose(const json_t *line, bool wanted, json_t **chosen)
{
    const json_t *completions = json_object_get(line, "completions"), *right = json_object_get(line, "right"),
                 *ended = json_object_get(line, "ended");
    int count = 0;
    for (size_t i = 0; i < json_array_size(completions); i++) {
        json_t *completion = json_array_get(completions, i);
        bool known = json_is_true(json_array_get(right, i)) != wanted || !json_is_true(json_array_get(ended, i));
        for (int j = 0; j < count && !known; j++)
            known = json_equal(chosen[j], completion);
        if (!known)
            chosen[count++] = completion;
    }
    return count;
}

static void add_pairs(const struct arguments *arguments, const json_t *line, FILE *out, struct counts *counts)
{
    size_t room = json_array_size(json_object_get(line, "completions"));
    json_t **right = memory_alloc(room * sizeof(json_t *)), **wrong = memory_alloc(room * sizeof(json_t *));
    int rights = choose(line, true, right), wrongs = choose(line, false, wrong),
        pairs = rights > wrongs ? rights : wrongs;
    for (int i = 0; i < pairs && i < arguments->per_prompt && rights && wrongs; i++) {
        json_t *row = json_pack("{s:O s:O s:O}", "prompt", json_object_get(line, "prompt"), "chosen", right[i % rights],
                                "rejected", wrong[i % wrongs]);
        json_dumpf(row, out, JSON_COMPACT);
        fputc('\n', out);
        json_decref(row);
        counts->pairs++;
    }
    free((void *)right);
    free((void *)wrong);
}

/* Replaced when all pairs are written, not before. */
static struct akgen_error *write_pairs(const struct arguments *arguments, const json_t *lines, struct counts *counts)
{
    char *bytes = NULL;
    size_t length = 0, i;
    const json_t *line;
    FILE *out = open_memstream(&bytes, &length);
    json_array_foreach((json_t *)lines, i, line)
    {
        add_pairs(arguments, line, out, counts);
    }
    fclose(out);
    struct akgen_error *error = files_write(arguments->pairs, bytes, length);
    free(bytes);
    return error;
}

static void count(const json_t *lines, struct counts *counts)
{
    double sum = 0, squares = 0;
    size_t i, j;
    const json_t *line, *one;
    json_array_foreach((json_t *)lines, i, line)
    {
        const json_t *right = json_object_get(line, "right"), *valid = json_object_get(line, "valid");
        int solved = 0;
        json_array_foreach((json_t *)right, j, one)
        {
            solved += json_is_true(one);
            counts->valid += json_is_true(json_array_get(valid, j));
        }
        double share = (double)solved / (double)json_array_size(right);
        counts->prompts++;
        counts->right += solved;
        counts->answers += (int)json_array_size(right);
        sum += share;
        squares += share * share;
    }
    double mean = sum / counts->prompts;
    if (counts->prompts > 1)
        counts->interval = 1.96 * sqrt(fmax(0, squares / counts->prompts - mean * mean) / (counts->prompts - 1));
}

static void print_counts(const struct arguments *arguments, const struct counts *counts)
{
    double right = (double)counts->right / counts->answers, valid = (double)counts->valid / counts->answers;
    if (arguments->json) {
        json_t *root = json_pack("{s:i s:i s:f s:f s:f s:i}", "prompts", counts->prompts, "answers", counts->answers,
                                 "right", right, "interval", counts->interval, "valid", valid, "pairs", counts->pairs);
        cli_print_json(root, JSON_INDENT(2));
        return;
    }
    printf("answers   %d to %d prompts: %.1f %% right [%.1f, %.1f], %.1f %% have the form of an answer\n",
           counts->answers, counts->prompts, 100 * right, 100 * fmax(0, right - counts->interval),
           100 * fmin(1, right + counts->interval), 100 * valid);
    if (arguments->pairs)
        printf("pairs     %d\n", counts->pairs);
}

static struct akgen_error *read_prompts(struct arena *arena, const struct arguments *arguments, struct lm_model *model,
                                        struct lm_tokenizer **tokenizer, struct lm_samples *prompts)
{
    struct akgen_error *error = lm_model_read(model, arguments->model);
    if (!error)
        error = lm_tokenizer_read(arena_printf(arena, "%s/tokenizer.json", arguments->model), tokenizer);
    const struct lm_samples_options how = {.kind = LM_PROMPTS,
                                           .folder = arguments->model,
                                           .tokenizer = *tokenizer,
                                           .longest = model->layout.config.max_positions,
                                           .vocabulary = model->layout.config.vocabulary,
                                           .end = model->layout.config.end_token};
    if (!error)
        error = lm_samples_read(prompts, arguments->data, &how);
    if (!error && !prompts->count)
        error = error_of_the_file(error_new("%s: no prompt that the model can read", arguments->data));
    return error;
}

static struct akgen_error *answer(const struct arguments *arguments, struct counts *counts)
{
    struct arena arena = {0};
    struct lm_model model = {0};
    struct lm_tokenizer *tokenizer = NULL;
    struct lm_samples prompts = {0};
    json_t *lines = json_array();
    struct akgen_error *error = read_prompts(&arena, arguments, &model, &tokenizer, &prompts);
    if (!error) {
        struct digest *digest = digest_new();
        digest_bytes(digest, model.weights, (size_t)model.layout.size * sizeof *model.weights);
        const char *written_by = arena_printf(&arena, "%.16s", digest_finish(digest, &arena));
        error = read_lines(&arena, arguments, &prompts, written_by, lines);
        if (!error)
            error = answer_rest(arguments, &model, tokenizer, &prompts, written_by, lines);
    }
    if (!error && arguments->pairs)
        error = write_pairs(arguments, lines, counts);
    if (!error)
        count(lines, counts);
    json_decref(lines);
    lm_samples_free(&prompts);
    lm_tokenizer_free(tokenizer);
    lm_model_free(&model);
    arena_free(&arena);
    return error;
}

int cli_lm_answers(int argc, char **argv)
{
    static const struct cli_table table = {
        CLI_ROWS(rows),
        .needs = "MODEL, --data FILE and -o FILE are needed",
        .excess = CLI_UNEXPECTED,
        .check = check_arguments,
        .args_doc = "MODEL --data FILE -o FILE",
        .doc =
            "Lets a model answer prompts several times, has the answers judged, and writes them as rows to learn from."
            "\vThe same seed gives the same answers. A run that was killed goes on with the same command.",
    };
    struct arguments arguments = {.per_prompt = 4,
                                  .rollout = {.group = 8, .most = 256, .judge = cli_lm_judge("operators")}};
    struct counts counts = {0};
    cli_parse(&table, argc, argv, &arguments);
    struct akgen_error *error = answer(&arguments, &counts);
    if (!error)
        print_counts(&arguments, &counts);
    return cli_end(error);
}
