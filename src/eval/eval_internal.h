/* Inside src/eval: what eval.c (one candidate) and case_internal.h (one of its cases) share. */
#ifndef EVAL_EVAL_INTERNAL_H
#define EVAL_EVAL_INTERNAL_H

#include "eval/eval.h"
#include "jail/budget.h"

#include <pthread.h>

/* The giant cases that run at full size now, for their memory (full_size.c). */
struct giants {
    pthread_mutex_t lock;
    pthread_cond_t one_ended;
    int running;
    uint64_t bytes; /* what they need together */
};
#define GIANTS_NONE {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 0, 0}

/* Everything that one case needs; read-only while cases run side by side. */
struct eval_candidate {
    const struct task *task;
    const struct eval_options *options;
    const struct build *build;
    enum npu_sync sync;
    struct giants *giants;            /* of all candidates of this run */
    struct budget *budget;            /* its time */
    const struct op_wrapper *wrapper; /* NULL: tensors by order, attributes by name */
    const char *digest;               /* the candidate's */
};
/* Inputs of a case and, once asked for, the reference of its profile (prepared.c). Shared by candidates that run at the
 * same time: read-only. */
struct prepared;
/* Makes or finds the case. `keep`: it may stay in the cache (options->cache) after its release; the case must outlive
 * it. */
struct akgen_error *prepared_get(const struct task *task, const struct task_case *task_case, uint64_t seed, bool keep,
                                 const struct eval_options *options, struct prepared **prepared);
const struct task_instance *prepared_instance(const struct prepared *prepared);
/* The expected outputs; computed by the first caller. Owned by `prepared`. */
const struct task_argument *prepared_expected(struct prepared *prepared);
void prepared_release(struct prepared *prepared);

enum { CASE_SECONDS = 60 }; /* eval_options.case_seconds where it is 0 */

void verdict_set(struct verdict *verdict, enum akgen_verdict_kind kind, enum akgen_verdict_stage stage,
                 const char *reason);

/* Takes the verdict's candidate (candidate.c): its refusal, its language, the project that its files are. False: the verdict says why
 * it is not evaluated. */
bool eval_open_candidate(struct verdict *verdict, const struct task *task, bool need_host, struct op_project *project);
/* After the build: reads an answer's wrapper, at the cost of the candidate's time. False: the verdict says what is wrong with it. */
bool eval_check_wrapper(struct verdict *verdict, struct budget *budget);

/* Index of the OpDef's dtype combination that fits the case, or -1. */
int eval_combination(const struct op_def *def, const struct task_instance *instance);
/* What eval_candidate.giants is for the candidates of one run. */
struct giants *eval_cache_giants(struct eval_cache *cache);
/* Runs one case, a giant one at full size where the smaller one that stands in is not right, and fills the verdict's
 * row; strings and results live in `arena`. (full_size.c) */
void eval_case(const struct eval_candidate *candidate, const struct task_case *task_case, struct arena *arena,
               struct verdict_case *row);

#endif
