/* Inside src/eval: what eval.c (one candidate) and case.c (one of its cases) share. */
#ifndef EVAL_INTERNAL_H
#define EVAL_INTERNAL_H

#include "eval/eval.h"

/* Everything that one case needs; read-only while cases run side by side. */
struct eval_candidate {
    const struct task *task;
    const struct eval_options *options;
    const struct build *build;
    enum npu_sync sync;
};
/* Index of the OpDef's dtype combination that fits the case, or -1. */
int eval_combination(const struct op_def *def, const struct task_instance *instance);
/* Runs one case and fills the verdict's row; strings and results live in `arena`. */
void eval_case(const struct eval_candidate *candidate, const struct task_case *task_case, struct arena *arena,
               struct verdict_case *row);

#endif
