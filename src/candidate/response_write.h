/* A compiled program as an answer in MultiKernelBench's format: six Python strings (docs/answers.md). */
#ifndef CANDIDATE_RESPONSE_WRITE_H
#define CANDIDATE_RESPONSE_WRITE_H

#include "dsl/lower.h"

/* The answer's text, in the arena. An error if the operator cannot be called from a binding that knows its inputs alone: an
 * output of a shape that no input has, lists of tensors, attributes that are lists. */
struct akgen_error *op_response_of_program(struct arena *arena, const struct dsl_lowered *lowered,
                                           const struct dsl_opdef *opdef, const char **answer);

#endif
