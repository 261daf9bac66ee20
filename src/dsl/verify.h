/* Translation validation: what a machine computed with the project that the compiler made of a program, compared with what
 * the interpreter computes with the program itself.
 *
 * Everything is compared bit by bit (but NaN equals NaN, and 0 equals -0), unless the program computes something that a chip
 * approximates (approximate.c). Then it is interpreted some times more with these values moved, and an element may be off by
 * DSL_REACH times as far as the moves carried it, and by a unit or two of its type more where that is a floating one. Roundings
 * on the way may swallow all of a few moves: what seems to differ after DSL_NUDGES of them is judged by DSL_NUDGES_MOST. */
#ifndef DSL_VERIFY_H
#define DSL_VERIFY_H

#include "dsl/bind.h"

enum { DSL_NUDGES = 5, DSL_NUDGES_MOST = 40, DSL_REACH = 4 };

struct dsl_expected {
    bool ran; /* otherwise the messages say why it did not */
    bool approximate;
    const struct task_argument *outputs;                 /* what the interpreter stores */
    int nudges;                                          /* where `approximate` */
    const struct task_argument *nudged[DSL_NUDGES_MOST]; /* with values moved */
};
/* Interprets a case, where it is approximate 1 + nudges times. What it yields lives in the arena. */
struct dsl_expected dsl_expect(struct arena *arena, const struct dsl_program *program,
                               const struct dsl_binding *bindings, const struct task_instance *instance,
                               const struct npu_soc *soc, int nudges, struct dsl_messages *messages);

/* The first element that differs, and how many do. */
struct dsl_difference {
    uint64_t elements;                /* 0: none differs; the rest is unset then */
    int output, tensor;               /* of a list */
    int64_t index;                    /* flat element */
    double actual, expected, allowed; /* integers too */
};
/* Compares the outputs that a profile judges: the others need not be stored. `lengths`, as many arguments as outputs: a tensor of rank
 * 1 is compared as far as this one of its reference has elements. */
struct dsl_difference dsl_compare(const struct task_instance *instance, const struct dsl_expected *expected,
                                  const struct task_argument *lengths, const struct task_argument *actual);

#endif
