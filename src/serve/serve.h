/* Verdicts for another program: requests come in on standard input, one JSON object a line, and replies go out on standard output
 * (docs/serve.md). One process holds what bench holds: the compile servers, inputs and references, and the tasks. */
#ifndef SERVE_SERVE_H
#define SERVE_SERVE_H

#include "eval/eval.h"

/* An option of a request. */
struct serve_option {
    const char *name;  /* "profile" */
    const char *value; /* NULL: true or false */
    bool on;           /* where there is no value: which of the two */
};
struct serve_options {
    struct eval_options eval; /* of a request that sets nothing; `jobs` requests are evaluated side by side */
    const char *baseline;
    /* Sets what a request's options say in `eval` and `baseline`, which may refer to the arena's strings. An error names the option.
     * It is called by one thread at a time. */
    struct akgen_error *(*set_options)(struct arena *arena, const struct serve_option *options, int count,
                                       struct eval_options *eval, const char **baseline);
};
/* SERVE_ENDED: every request was answered, none comes any more. */
enum serve_end { SERVE_ENDED, SERVE_INTERRUPTED, SERVE_UNHEARD };
/* Serves until standard input ends, until SIGINT, SIGTERM or SIGHUP comes, whose number `*signal` becomes, or until nobody reads the
 * replies. After the last two what runs is ended; `*idle` is false if a thread of it did not come to its end within seconds. An error:
 * nothing was served. */
struct akgen_error *serve_stdio(const struct serve_options *options, enum serve_end *end, int *signal, bool *idle);

#endif
