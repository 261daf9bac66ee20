/* What formulas compute, whatever they call it: two operators with the same key have the same graph.  */
#ifndef COT_GRAPH_H
#define COT_GRAPH_H

#include "base/error.h"
#include "task/expr/tree.h"

#include <stdbool.h>
#include <stdint.h>

/* Steps `name = expression`, of which some are outputs; a name that no step before has is an input or an attribute. */
struct graph_step {
    const char *name;
    const struct expr *tree;
    bool output;
};
/* Names, their order and that of the outputs do not count; nor how a function is written (silu(x), x * sigmoid(x), x / (1 + exp(-x))),
 * in which order terms and factors stand, and what constants are folded. Sums that are multiplied out have another key than those that
 * are not; graph_values finds them the same. */
uint64_t graph_key(const struct graph_step *steps, int count);
/* The key of formulas as text, "a = x + 1; y = a * 2", all of which count as outputs that no other step uses or `outputs` names (NULL
 * behind the last; NULL: the steps that no other uses). */
struct akgen_error *graph_key_of_text(const char *text, const char *const *outputs, uint64_t *key);

#endif
