/* Clusters of diagnostics: messages that differ in names and numbers alone are one. */
#ifndef COT_SIGNATURE_H
#define COT_SIGNATURE_H

#include "base/arena.h"

/* The message with '_' for each quoted name and N for each number, without what stands behind its first line, "; fix:" or " (aka".
 * In the arena. */
const char *cot_signature(struct arena *arena, const char *message);

#endif
