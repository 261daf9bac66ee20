/* Exemplars: of each category of a suite the program that it is learned from, and a second one for the task whose own program
 * the first is. tasks/exemplars.csv says which. */
#ifndef DSL_EXEMPLAR_H
#define DSL_EXEMPLAR_H

#include "task/task.h"

struct dsl_exemplar {
    const char *suite, *category;
    const char *tasks[2];    /* "npukernelbench/level1/Math/Sqrt": the first and the second */
    const char *programs[2]; /* paths of program.py */
};
struct dsl_exemplars {
    struct dsl_exemplar *items;
    int count;
};

/* Reads the table of the tasks below `home`. An error where a row names no program, or a program twice. */
struct akgen_error *dsl_exemplars_load(struct arena *arena, const char *home, struct dsl_exemplars *exemplars);
/* The exemplar of the task's category, and in *which its task that a prompt for this task may show: 0, or 1 where the first is
 * the task itself. NULL: the category has none. */
const struct dsl_exemplar *dsl_exemplar_for(const struct dsl_exemplars *exemplars, const struct task *task, int *which);

#endif
