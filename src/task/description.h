/* Inside the reading of task.yaml: keys one by one (description.c), then what they must be together. */
#ifndef TASK_DESCRIPTION_H
#define TASK_DESCRIPTION_H

#include "task/task_internal.h"
#include "task/yaml.h"

/* Fills what follows from the keys together, and says where they do not fit: the folder, the lists of data types,
 * formulas. Errors start with "task.yaml:LINE: ". */
struct akgen_error *task_description_check(struct arena *arena, const struct yaml_node *root, struct task *task);

#endif
