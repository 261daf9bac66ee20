#include "eval/eval.h"
#include "jail/sandbox.h"

struct akgen_error *eval_check_jail(const struct eval_options *options)
{
    struct arena arena = {0};
    struct akgen_error *error = NULL;
    const char *refusal = sandbox_refusal(), *missing = options->require_jail ? sandbox_missing(&arena) : NULL;
    if (refusal)
        error = error_new("%s", refusal);
    else if (missing)
        error = error_new("the jail is incomplete: this machine does not grant: %s ('akgen doctor' says what is lost)",
                          missing);
    else if (options->require_jail && options->debug && options->debug->debugger)
        error = error_new("a jail is required, and a debugger runs a kernel without one");
    arena_free(&arena);
    return error;
}
