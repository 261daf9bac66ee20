/* task.yaml as a tree whose every part knows its line, by libyaml. */
#ifndef TASK_YAML_H
#define TASK_YAML_H

#include "base/arena.h"
#include "base/error.h"

enum yaml_kind { YAML_TEXT, YAML_LIST, YAML_MAP };
struct yaml_pair;
struct yaml_node {
    enum yaml_kind kind;
    int line;         /* from 1 */
    const char *text; /* YAML_TEXT */
    int count;
    const struct yaml_node *const *items; /* YAML_LIST */
    const struct yaml_pair *pairs;        /* YAML_MAP */
};
struct yaml_pair {
    const char *key;
    int line; /* of the key */
    const struct yaml_node *value;
};

/* Parses a text of one document. Errors start with "<name>:<line>: ". */
struct akgen_error *yaml_parse(struct arena *arena, const char *name, const char *text, const struct yaml_node **root);

/* The pair with a key of a mapping, the first; NULL if there is none. */
const struct yaml_pair *yaml_find(const struct yaml_node *map, const char *key);

#endif
