/* What training reads, made of the database of runs: preference pairs and demonstrations, as JSONL. docs/export.md. */
#ifndef GEN_EXPORT_H
#define GEN_EXPORT_H

#include "base/error.h"
#include "base/words.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#define GEN_EXPORTS(X) X(GEN_PREFERENCES, "preferences") X(GEN_DEMONSTRATIONS, "sft")
/* Which answers are worse than a right one: AscendKernelGen's Table 4 compares the first two; `ordered` has the pairs that
 * compiles over does-not-compile besides; `faster` has those of two right ones, by modelled speed. */
#define GEN_STRATEGIES(X)                                                                                              \
    X(GEN_COMPILED, "compiled")                                                                                        \
    X(GEN_UNCOMPILED, "uncompiled") X(GEN_BOTH, "both") X(GEN_ORDERED, "ordered") X(GEN_FASTER, "faster")
/* Of whose loader the rows are: TRL's conversational and plain forms and its list of messages (sft), LLaMA-Factory's. */
#define GEN_FORMATS(X)                                                                                                 \
    X(GEN_TRL, "trl")                                                                                                  \
    X(GEN_TRL_TEXT, "trl-text")                                                                                        \
    X(GEN_TRL_MESSAGES, "trl-messages") X(GEN_ALPACA, "alpaca") X(GEN_SHAREGPT, "sharegpt")
enum gen_export { GEN_EXPORTS(WORD_VALUE) };
enum gen_strategy { GEN_STRATEGIES(WORD_VALUE) };
enum gen_format { GEN_FORMATS(WORD_VALUE) };
extern const struct words gen_exports, gen_strategies, gen_formats;

struct gen_export_options {
    const char *db;
    const char *language; /* of eval_languages, or BENCH_UNKNOWN_LANGUAGE; NULL: the only one that the answers are in */
    enum gen_export what;
    enum gen_strategy strategy;
    enum gen_format format;
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
};
/* Writes the rows to `out`, and what became of tasks and samples to `notes`. An error names the file, the run or the glob that
 * is wrong; `out` may have rows then. */
struct akgen_error *gen_export(const struct gen_export_options *options, FILE *out, FILE *notes);

#endif
