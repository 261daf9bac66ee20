/* A call of a function of Ascend C as docs/api.md gives it, compiled. */
#ifndef COT_CALL_H
#define COT_CALL_H

#include "base/error.h"
#include "gen/feedback.h"

/* The statements of a kernel that make what the function takes and call it: *statements, in the arena, NULL where none of the forms takes
 * local tensors, numbers and a count alone, or the compiler or the machine refuses the call. `scratch`: a folder, the caller's alone. */
struct akgen_error *cot_call_prove(struct arena *arena, const struct feedback_api *api, const char *scratch,
                                   const char **statements);

#endif
