/* What a pair's texts are made of (project_text.c), of what project.c found out. */
#ifndef COT_PROJECT_INTERNAL_H
#define COT_PROJECT_INTERNAL_H

#include "cot/project.h"
#include "dsl/lower.h"
#include "eval/eval.h"

struct project_facts {
    const struct synth_operator *operator;
    const struct task_instance *instance; /* the case; shapes alone */
    const struct dsl_lowered *lowered;
    const struct eval_tiling *tiling;
    const json_t *statements, *in_case; /* dsl_explanation_json() of the project, and of the case */
};
/* Fills in question, given, chain, answer and summary. */
void project_texts(struct arena *arena, const struct project_facts *facts, struct project_pair *pair);

/* Every file between tags that bear its path: in the compiler's order, or the kernel first. */
const char *project_files(struct arena *arena, const struct dsl_lowered *lowered, bool kernel_first);
/* Puts a comment at the head of the kernel. */
void project_begin_kernel(struct arena *arena, struct dsl_lowered *lowered, const char *comment);

#endif
