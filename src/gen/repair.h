/* From a task to a proved kernel with a model: the best of n answers, then rounds in which the model mends its own code by what the
 * verdict says of it, then, if that is asked for, rounds in which it makes a right one faster by what its modelled time says.
 *
 *   prompt -> n answers -> verdicts -> the best B -> their code and feedback -> B answers -> verdicts -> ..
 *
 * Ends at a pass (or when nothing gets faster any more), after the rounds, at a limit, or when it is told to stop. */
#ifndef GEN_REPAIR_H
#define GEN_REPAIR_H

#include "runs/bench.h"
#include "eval/times.h"
#include "gen/evidence.h"
#include "gen/model.h"

/* How far it is; for a terminal. */
struct gen_progress {
    int round, rounds;
    int came, asked; /* answers of this round, judged or failed; asked for */
    bool found;      /* there is a best candidate */
    enum akgen_verdict_kind kind;
    enum akgen_verdict_stage stage; /* of the best one */
    int cases_passed, cases_total;
};

struct gen_round_sums {
    int answers, failures; /* failures: the server's */
    int same;              /* answers that an earlier one is equal to */
    int kinds[8];          /* of verdicts, those of equal ones among them */
    const char *best;      /* "wrong at stage compare, 9 of 17 cases right"; NULL: nothing was judged */
};
/* Making a right candidate faster (optimise.c). */
struct gen_faster_options {
    int rounds;      /* behind the first pass; 0: the first pass ends the search */
    int patience;    /* rounds without a faster one that end it */
    double roofline; /* times_roofline() that ends it */
};
struct gen_repair_options {
    const struct gen_model *model;
    const struct eval_options *eval;
    int rounds; /* of repair, behind the first answers; 0: none */
    int beam;   /* candidates that a round repairs or makes faster, one answer for each */
    struct gen_faster_options faster;
    double seconds; /* of the whole search; 0: no limit. What is under way then is broken off, a judgement excepted */
    const char *dir;
    struct store *store; /* NULL: none */
    int stop;            /* a descriptor that becomes readable when the run shall end; -1: none */
    void (*on_progress)(void *closure, const struct gen_progress *progress);
    void (*on_round)(void *closure, int round, const struct gen_round_sums *sums); /* when it is over; may be NULL */
    void *closure;
};

/* What making it faster came to. */
struct gen_faster {
    bool began;        /* there is a right candidate whose time is known, and all below is set */
    int before, after; /* samples; the same where nothing was faster */
    struct times times_before, times_after;
    const char *stopped; /* why it ended */
};

enum { GEN_ROUNDS = 128 };
struct gen_repair_outcome {
    bool found;             /* a candidate was written and `verdict` is set */
    struct verdict verdict; /* of the best candidate, with the trace in evidence/; the caller's: verdict_free */
    int sample, round, parent;
    bool made_faster;         /* the parent was right, too */
    const char *const *files; /* written, by path; ended by NULL */
    struct gen_round_sums rounds[GEN_ROUNDS + 1];
    int round_count;
    const char *stopped; /* why it ended before a pass */
    struct gen_faster faster;
    const char *last_failure; /* of the server; NULL: none */
    int requests, failures;
    int64_t prompt_tokens, completion_tokens;
    bool estimated; /* the tokens are, in part: the server did not say */
    double cost, seconds;
};
/* Writes the best candidate's project to `dir`, which is there, and to its folder evidence/ what was asked, answered and judged, and,
 * unless the run was interrupted, a trace; at last
 * evidence/verdict.json, without which a folder is not finished. The outcome's strings are the arena's. An error is AKGen's
 * own or that no answer came; `outcome` has its sums then, too. */
struct akgen_error *gen_repair(struct arena *arena, const struct task *task, const struct gen_repair_options *options,
                               struct gen_repair_outcome *outcome);

#endif
