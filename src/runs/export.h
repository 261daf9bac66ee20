/* What training reads, made of stored runs: preference pairs and demonstrations, as JSONL. docs/export.md. */
#ifndef RUNS_EXPORT_H
#define RUNS_EXPORT_H

#include "base/error.h"
#include "base/words.h"
#include "runs/store.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#define EXPORT_KINDS(X) X(EXPORT_PREFERENCES, "preferences") X(EXPORT_DEMONSTRATIONS, "sft")
/* Which answers are worse than a right one: AscendKernelGen's Table 4 compares the first two; `ordered` has the pairs that
 * compiles over does-not-compile besides; `faster` has those of two right ones, by modelled speed. */
#define EXPORT_STRATEGIES(X)                                                                                           \
    X(EXPORT_COMPILED, "compiled")                                                                                     \
    X(EXPORT_UNCOMPILED, "uncompiled") X(EXPORT_BOTH, "both") X(EXPORT_ORDERED, "ordered") X(EXPORT_FASTER, "faster")
/* Of whose loader the rows are: TRL's conversational and plain forms and its list of messages (sft), LLaMA-Factory's. */
#define EXPORT_FORMATS(X)                                                                                              \
    X(EXPORT_TRL, "trl")                                                                                               \
    X(EXPORT_TRL_TEXT, "trl-text")                                                                                     \
    X(EXPORT_TRL_MESSAGES, "trl-messages") X(EXPORT_ALPACA, "alpaca") X(EXPORT_SHAREGPT, "sharegpt")
enum export_kind { EXPORT_KINDS(WORD_VALUE) };
enum export_strategy { EXPORT_STRATEGIES(WORD_VALUE) };
enum export_format { EXPORT_FORMATS(WORD_VALUE) };
extern const struct words export_kinds, export_strategies, export_formats;

struct export_options {
    const char *language; /* of eval_languages, or BENCH_UNKNOWN_LANGUAGE; NULL: the only one that the answers are in */
    enum export_kind what;
    enum export_strategy strategy;
    enum export_format format;
    const int64_t *runs; /* none: all that the file holds */
    int run_count;
    const char *const *only; /* globs of task names, with or without the suite; none: all tasks */
    int only_count;
    const char *const *except;
    int except_count;
    int64_t per_task; /* rows of a task at most; 0: all */
    int64_t seed;     /* which of them */
    bool first_round; /* answers to repairs are left out */
    bool reasoning;   /* what the model thought stands before its answer, in <think> */
    bool provenance;  /* rows say where they come from */
    /* Returns messages as the one text that a model gets through completions or a command, for EXPORT_TRL_TEXT; released with free(). */
    char *(*plain)(const json_t *messages);
};
/* Writes the rows to `out`, and what became of tasks and samples to `notes`. An error names the file, the run or the glob that
 * is wrong; `out` may have rows then. */
struct akgen_error *export_write(struct store *store, const struct export_options *options, FILE *out, FILE *notes);

#endif
