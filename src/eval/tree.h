/* A folder of candidates, one or several for each of many tasks: what "dir:PATH" means as a provider and as a baseline. */
#ifndef EVAL_TREE_H
#define EVAL_TREE_H

#include "base/arena.h"
#include "base/error.h"
#include "task/task.h"

#define TREE_PREFIX "dir:" /* what the name of a provider or a baseline begins with whose rest is the path of a tree */

/* A candidate in a tree: a folder, or a file with an answer. */
struct tree_answer {
    int number; /* among the answers of its task; 0: the only one */
    const char *path;
};

/* Whether a file whose name ends so, ".txt", holds an answer; NULL ends no such name. */
bool tree_is_answer(const char *end);
/* NULL, or why the path that a user gave is that of no candidate. */
struct akgen_error *tree_check_candidate(const char *path);
/* What the tree has for a task, in the arena and in the order of the numbers: PATH/<task>/answer/<n> for every number n, a
 * directory or a file <n>.txt, .md or .py; else one, which need not be there: PATH/<task>, or PATH/<task>.txt, .md, .py or
 * PATH/<op in snake case>.txt where that exists. Returns how many, at least one. */
int tree_answers(struct arena *arena, const char *tree, const struct task *task, struct tree_answer **answers);

#endif
