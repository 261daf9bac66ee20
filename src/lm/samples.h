/* Texts that a model learns from, as lines of JSON. A line of single texts is one of
 *   {"text": T}                          all of it is learned, and that it ends,
 *   {"prompt": P, "completion": C}       C and that it ends are learned, P is not,
 *   {"input_ids": [..], "labels": [..]}  tokens; labels, which may be missing, are -100 where nothing is learned, else the token;
 * of pairs it is {"prompt": P, "chosen": C, "rejected": R}, and of groups {"prompt": P, "completions": [C, ..], "rewards": [number, ..]} with
 * the same number of completions in all lines; of prompts alone {"prompt": P}, whose whole row is kept for who judges the answers. Tokens may stand in the place of texts: "prompt_input_ids", "chosen_input_ids",
 * "rejected_input_ids", "completions_input_ids"; and
 * messages (chat.h): {"messages": [..]}, whose answers are learned, or lists of messages as "prompt" and as what comes behind it; "tools" are functions. Further fields are ignored. Texts longer than asked for are cut, and lines of which nothing is left
 * to learn in one of their texts are left out. */
#ifndef LM_SAMPLES_H
#define LM_SAMPLES_H

#include "base/random.h"
#include "lm/batch.h"
#include "lm/tokenizer.h"

enum lm_samples_kind { LM_SINGLE, LM_PAIRS, LM_GROUPS, LM_PROMPTS };
struct lm_samples_options {
    enum lm_samples_kind kind;
    const char
        *folder; /* the model's, whose chat template is checked before messages are rendered; NULL: there is none yet */
    const struct lm_tokenizer *tokenizer; /* NULL: lines of input_ids alone */
    int longest;                          /* tokens of a text */
    int vocabulary;                       /* larger tokens are an error */
    int32_t end;                          /* the token behind texts and completions; LM_NO_LABEL: none */
};
struct lm_samples {
    int32_t *tokens,
        *labels;     /* of all, one behind the other; labels as those of a batch: what comes next, or LM_NO_LABEL */
    int64_t *starts; /* (count + 1) */
    float *rewards;  /* (count), of groups */
    int count;
    char **rows;         /* (count), of prompts: their lines of JSON; else NULL */
    int *sources;        /* (count): the number of a row's "source"; 0: it has none */
    char **source_names; /* (source_count), the first of them "" */
    int source_count;
    int group;           /* samples of a line: 1, 2 (the better one first), or the completions of a group */
    int64_t learned;     /* labels in all */
    int cut, left_out;   /* lines */
    int64_t capacity;    /* of tokens and labels */
    int starts_capacity; /* of starts */
};

/* Adds a file's lines. Errors name the file, the line and what is wrong with it. The caller frees, after errors too. */
struct akgen_error *lm_samples_read(struct lm_samples *samples, const char *path,
                                    const struct lm_samples_options *options);
void lm_samples_free(struct lm_samples *samples);
/* Adds a text of which what stands from `learned_from` on is learned; who adds groups sets samples->group. */
void lm_samples_add(struct lm_samples *samples, const int32_t *tokens, int count, int learned_from, float reward);
/* Gives `take` each text that a model would see of a file's lines, of whatever kinds they are, in the place of tokenising it: the
 * parts of messages as the template has them, a prompt once with each answer. Errors: lm_samples_read's, take's, and a line of
 * tokens, which are no text. */
typedef struct akgen_error *lm_take_text(void *closure, const char *text, size_t length);
struct akgen_error *lm_samples_texts(const char *path, lm_take_text *take, void *closure);

/* Gives `take` the first rows of a file of JSON lines, at most so many; empty lines are none. Errors: the file cannot be read; a line is no JSON or
 * longer than 64 MiB; take's, all of them but the first with the file and the line in front. */
struct json_t;
typedef struct akgen_error *lm_take_row(void *closure, const struct json_t *row);
struct akgen_error *lm_samples_rows(const char *path, int64_t most, lm_take_row *take, void *closure);

/* Lines. */
static inline int lm_samples_groups(const struct lm_samples *samples)
{
    return samples->group ? samples->count / samples->group : 0;
}
/* Tokens of the longest group. */
int64_t lm_samples_longest(const struct lm_samples *samples);
/* LM_PAIRS if the file's first row has "chosen", LM_GROUPS if "completions", else LM_SINGLE: what is wrong with it is lm_samples_read's
 * to say. */
enum lm_samples_kind lm_samples_kind_of(const char *path);
/* The order of an epoch's groups, by a seed: the same for the same seed, whatever came before. */
void lm_samples_shuffle(const struct lm_samples *samples, uint64_t seed, int epoch, int *order);
/* Takes groups in this order from *at on until `tokens` are reached or `last` is: at least one. The caller frees what is not NULL
 * of the batch by lm_samples_release. */
void lm_samples_pack(const struct lm_samples *samples, const int *order, int *at, int last, int tokens,
                     struct lm_batch *batch);
void lm_samples_release(struct lm_batch *batch);

#endif
