/* What models answered, in the database (docs/store.md, the table `answers`): a row a sample, whatever became of it. */
#ifndef RUNS_SAMPLES_H
#define RUNS_SAMPLES_H

#include "base/arena.h"
#include "base/error.h"

#include <stdint.h>

struct store;

#define SAMPLE_CUT "length" /* how an answer finished that ended at the token limit */

/* One sample of a task in a run. */
struct sample {
    const char *task;               /* "level1/Math/Sqrt" */
    int sample;                     /* its number among the task's, from 0 */
    int round;                      /* of a repair, 0: the first answer */
    int parent;                     /* the sample that it repairs; -1: none */
    const char *prompt;             /* hash of the prompt's messages, a row of `prompts` */
    const char *request, *response; /* JSON as sent and received, without the key; NULL: not kept */
    const char *answer, *reasoning; /* the text, and what the server kept apart; answer NULL: none came (`failure`) */
    const char *finish;             /* "stop", "length", ...; NULL */
    const char *failure;            /* why no answer came, the server's doing; NULL */
    int64_t prompt_tokens,
        completion_tokens; /* -1: not known. A request's are with its first sample, 0 with the others; -1 with each whose
                              completion was not counted */
    double cost, seconds;
    int tries;
};

/* The sums of a run. */
struct sample_totals {
    int64_t samples, answered, failed;        /* asked for; with an answer; without, by the server's doing */
    int64_t empty, cut;                       /* answers without a word; answers that ended at the token limit */
    int64_t requests, uncounted;              /* uncounted: answers whose tokens the server did not say */
    int64_t prompt_tokens, completion_tokens; /* as far as they were said */
    double cost;
};

/* Keeps the messages of a prompt, a JSON array of {"role", "content"}, under their hash; again is no error. */
struct akgen_error *store_add_prompt(struct store *store, const char *hash, const char *messages, int64_t tokens);
/* Adds the samples of one request to a run, durably and all at once; one that is there is replaced. */
struct akgen_error *store_add_samples(struct store *store, int64_t run, const struct sample *samples, int count);
/* The samples of a run by task, sample; in the arena. */
struct akgen_error *store_load_samples(struct store *store, int64_t run, struct arena *arena, struct sample **samples,
                                       int *count);
/* The same without what may be large: request, response and reasoning are NULL, and an answer is "". */
struct akgen_error *store_list_samples(struct store *store, int64_t run, struct arena *arena, struct sample **samples,
                                       int *count);
/* One of them; in the arena. An error if there is none. */
struct akgen_error *store_load_sample(struct store *store, int64_t run, const char *task, int number,
                                      struct arena *arena, struct sample *sample);
struct akgen_error *store_sample_totals(struct store *store, int64_t run, struct sample_totals *totals);

#endif
