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

#endif
