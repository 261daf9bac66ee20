/* What training data must not hold: the operators of the benchmarks. */
#ifndef COT_BENCHMARK_H
#define COT_BENCHMARK_H

#include "task/task.h"

#include <stdint.h>

/* The task of a benchmark whose operator has this graph, "npukernelbench/level1/Math/Sqrt"; NULL: none has. */
const char *cot_benchmark_graph(uint64_t key);
/* Whether one of the tasks has an operator of this name. */
bool cot_benchmark_name(const struct task *tasks, int count, const char *op);
/* Whether a task is a benchmark's, or has an operator of one's, by its name or, if formulas say what it computes, by its graph. `tasks`: all that there
 * are, of whatever suites. */
bool cot_benchmark_task(const struct task *tasks, int count, const struct task *task);
/* Row `index` of what is known of them: the task and the key of its graph; the task is NULL behind the last. */
const char *cot_benchmark_row(int index, const char **formulas, uint64_t *key);

#endif
