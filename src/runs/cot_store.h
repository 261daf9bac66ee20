/* Samples to train on, in the database (store.h, docs/cot.md): what every step of the pipeline puts in and every export reads.
 *
 * A step works through sources: files, programs, seeds. All that comes of one source enters in one transaction with the mark
 * that the source is done, so a run that was killed goes on where it stopped, and neither loses a sample nor makes one twice:
 *
 *     if (!cot_store_done(store, "corpus", file))
 *         ... make samples ...
 *         cot_store_put(store, &(struct cot_batch){.step = "corpus", .source = file, .samples = ..., .drops = ...}, &result);
 */
#ifndef RUNS_COT_STORE_H
#define RUNS_COT_STORE_H

#include "base/arena.h"
#include "base/error.h"
#include "base/words.h"
#include "runs/store.h"

#include <stdbool.h>
#include <stdint.h>

/* The parts of Ascend-CoT (arXiv 2601.07160, section on data), and `synth`, operators that were made up. */
#define COT_PARTS(X)                                                                                                   \
    X(COT_KNOWLEDGE, "documents-knowledge")                                                                            \
    X(COT_API, "documents-api")                                                                                        \
    X(COT_KERNEL, "kernel")                                                                                            \
    X(COT_PROJECT, "project")                                                                                          \
    X(COT_GENERAL, "general")                                                                                          \
    X(COT_ERROR_API, "error-api") X(COT_ERROR_KERNEL, "error-kernel") X(COT_SYNTH, "synth")
/* What an answer is: words, a formula of the planner's language, a program in AscendDSL, Ascend C. */
#define COT_MODES(X)  X(COT_TEXT, "text") X(COT_GRAPH, "graph") X(COT_DSL, "dsl") X(COT_ASCENDC, "ascendc")
#define COT_SPLITS(X) X(COT_TRAIN, "train") X(COT_VALID, "valid") X(COT_TEST, "test")
enum cot_part { COT_PARTS(WORD_VALUE) };
enum cot_mode { COT_MODES(WORD_VALUE) };
enum cot_split { COT_SPLITS(WORD_VALUE) };
extern const struct words cot_parts, cot_modes, cot_splits;

#define COT_NO_LICENCE "unknown"

/* A sample. NULL where there is none; strings in UTF-8. */
struct cot_sample {
    enum cot_part part;
    enum cot_mode mode;
    const char *question, *chain, *answer;
    const char *
        verdict; /* a JSON object with "verdict", a word of docs/verdict.md: what was found of an answer that is code */
    const char *provenance; /* the file, or the seed and the step */
    const char *licence;    /* an SPDX expression; NULL: COT_NO_LICENCE */
    const char *graph; /* the operator graph's key: samples of one operator have the same, and fall into one split */
    const char *tags;  /* a JSON array of strings */
    /* What the store gives: */
    const char *id; /* 32 hexadecimal digits, of part, question and answer */
    enum cot_split split;
    int64_t bytes; /* of question, chain and answer */
};

/* So many of a source became no samples, for one reason: a few words, the same for all of a kind. */
struct cot_drop {
    const char *reason;
    int64_t count;
};

/* Whether a source's samples are in. `source` is any text that names it within the step. */
struct akgen_error *cot_store_done(struct store *store, const char *step, const char *source, bool *done);

/* All that came of one source. */
struct cot_batch {
    const char *step, *source;
    const struct cot_sample *samples; /* id, split and bytes are not read */
    int64_t count;
    const struct cot_drop *drops;
    int drop_count;
};
struct cot_put {
    int64_t added,
        repeated;     /* repeated: the same sample was there, or twice in the batch; counted as dropped "duplicate" */
    bool done_before; /* another process has done the source by now, and nothing was added */
};
/* Adds them and marks the source as done, durably, all or nothing. An error: no question or answer, a verdict or tags of
 * another form, text that is no UTF-8. From any thread. `result` may be NULL. */
struct akgen_error *cot_store_put(struct store *store, const struct cot_batch *batch, struct cot_put *result);
/* The same of several sources, all of them or none: a transaction takes longer than a small source. `results` has one for each. */
struct akgen_error *cot_store_put_all(struct store *store, const struct cot_batch *batches, int count,
                                      struct cot_put *results);

/* Which samples. Zero-initialised: all. */
struct cot_filter {
    unsigned parts, modes, splits; /* bits 1u << value; 0: all */
    const char *verdict;           /* this one; "none": none; NULL: any */
    const char *licence;           /* this one; NULL: any */
    bool known_licence;            /* any but COT_NO_LICENCE */
    const char *id;                /* whose id begins so */
    const char *search;            /* all of these words are in it; best first */
    const char *step, *source;     /* that came of it; NULL: any */
    int64_t most;                  /* 0: all */
};
/* Calls `visit` for each sample, in the order in which they came in; it lives until the call returns. The walk ends with the
 * first error that `visit` returns. */
struct akgen_error *cot_store_each(struct store *store, const struct cot_filter *filter,
                                   struct akgen_error *(*visit)(void *closure, const struct cot_sample *sample),
                                   void *closure);

/* A row of counts: `name` says of what. */
struct cot_count {
    const char *name, *below; /* below: for drops the step whose `name` is the reason */
    int64_t samples, bytes;
    int64_t splits[3]; /* samples by enum cot_split */
};
/* What samples are counted by. COT_BY_DROP counts what became none. */
enum cot_by { COT_BY_PART, COT_BY_MODE, COT_BY_VERDICT, COT_BY_LICENCE, COT_BY_STEP, COT_BY_TAG, COT_BY_DROP };
/* The samples of a filter, counted; rows in the arena, by name (parts and modes in their order). For COT_BY_DROP the filter's step
 * and source alone are read. */
struct akgen_error *cot_store_count(struct store *store, const struct cot_filter *filter, enum cot_by by,
                                    struct arena *arena, struct cot_count **rows, int *count);

/* What models answered, by digests of what they were asked: a look, and one more. *answer is NULL for what was not asked. From any thread. */
struct akgen_error *cot_store_asked(struct store *store, struct arena *arena, const char *request, const char **answer);
struct akgen_error *cot_store_keep_asked(struct store *store, const char *request, const char *model,
                                         const char *answer);

#endif
