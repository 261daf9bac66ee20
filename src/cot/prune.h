/* Of a kernel's file, with all that it includes, what its entries need. */
#ifndef COT_PRUNE_H
#define COT_PRUNE_H

#include "base/arena.h"

/* The text without declarations and macros that nothing uses which a __global__ function leads to. What cannot be told stays: directives,
 * calls of macros, `using namespace`, operators. The result is made of pieces of the text in their order; whether it compiles is for
 * the compiler to say. In the arena. */
const char *cot_prune(struct arena *arena, const char *text);

#endif
