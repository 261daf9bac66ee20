/* What training data must not hold: the operators of the benchmarks. */
#ifndef COT_BENCHMARK_H
#define COT_BENCHMARK_H

#include "task/task.h"

#include <stdint.h>

/* The task of a benchmark whose operator has this graph, "npukernelbench/level1/Math/Sqrt"; NULL: none has. */
const char *cot_benchmark_graph(uint64_t key);
/* Whether one of the tasks has an operator of this name. */
bool cot_benchmark_name(const struct task *tasks, int count, const char *op);
/* Row `index` of what is known of them: the task and the key of its graph; the task is NULL behind the last. */
const char *cot_benchmark_row(int index, const char **formulas, uint64_t *key);

#endif
