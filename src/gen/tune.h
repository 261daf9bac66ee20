/* Tuning a candidate on the modelled time: other values of its knobs, as long as one makes the task's cases faster and every
 * case stays right. Of a program in AscendDSL the knobs are found in its text (tune_program.c), of an operator project its author
 * marks them (tune_project.c); the search does not tell one from the other (tune.c). */
#ifndef GEN_TUNE_H
#define GEN_TUNE_H

#include "eval/times.h"
#include "candidate/candidate.h"
#include "candidate/program.h"

/* X(VALUE, word): what a knob turns. */
#define GEN_KNOB_KINDS(X)                                                                                              \
    X(GEN_KNOB_CONSTANT, "constant") /* a whole number: of tiles, of blocks */                                         \
    X(GEN_KNOB_DEPTH, "depth")       /* tensors of a buffer's queue; 0: as many as the compiler chooses */             \
    X(GEN_KNOB_CORES, "cores")       /* the most cores, 0: no bound of its own; or how little one is started for */    \
    X(GEN_KNOB_LOOPS, "loops")       /* two loops, one in the other: 0 as they were found, 1 exchanged */
enum gen_knob_kind { GEN_KNOB_KINDS(WORD_VALUE) };
extern const struct words gen_knob_kinds;

/* What may be turned, and its value before. */
struct gen_knob {
    const char *name; /* "tile", "depth of x_ub", "cores", "loops row, col" */
    enum gen_knob_kind kind;
    int64_t value;
    const int64_t *choices; /* all values that may be tried; NULL: those around the best one so far */
    int choice_count;
};

/* A candidate and its knobs. */
struct gen_subject;
struct gen_setting;
/* A program's knobs for a chip. An error: it does not compile for the task, or has nothing to turn. */
struct akgen_error *gen_subject_of_program(struct arena *arena, const struct candidate_program *program,
                                           const struct task *task, const struct npu_soc *soc,
                                           struct gen_subject **subject);
/* A project's, whose author marked constants with "// tune" (docs/gen.md). The folder `dir` stays as it is. An error: it cannot be
 * read, a mark is not understood, or there is none. */
struct akgen_error *gen_subject_of_project(struct arena *arena, const char *dir, const struct task *task,
                                           struct gen_subject **subject);
const struct gen_knob *gen_subject_knobs(const struct gen_subject *subject, int *count);
/* "4096", "as compiled", "all", "exchanged": a knob's value for people. */
const char *gen_knob_text(struct arena *arena, const struct gen_knob *knob, int64_t value);

/* X(VALUE, word): what became of a setting. */
#define GEN_TRIES(X)                                                                                                   \
    X(GEN_TRY_TIMED, "right")                                                                                          \
    X(GEN_TRY_SAME, "same")         /* its project is that of a setting that was tried before */                       \
    X(GEN_TRY_REFUSED, "refused")   /* it does not compile, or the compiler of AscendDSL refuses it */                 \
    X(GEN_TRY_WRONG, "wrong")       /* a case is not right, or its time is not known */                                \
    X(GEN_TRY_UNPROVED, "unproved") /* it was fast, and does not pass what the winner has to */                        \
    X(GEN_TRY_SKIPPED, "not tried") /* the time was up */
enum gen_try { GEN_TRIES(WORD_VALUE) };
extern const struct words gen_tries;

/* A candidate with values for its knobs. */
struct gen_setting {
    const int64_t *values;
    enum gen_try became;
    const char *reason;               /* why it is not right; NULL: nothing is said */
    struct candidate_program program; /* of a program: its text with the values */
    struct candidate candidate;       /* the project; without files: there is none */
    struct times times;               /* of the shown cases; only GEN_TRY_TIMED and GEN_TRY_SAME */
    double us;                        /* their geometric mean; infinite where there is none */
};
struct gen_tune_options {
    const struct eval_options *eval;  /* by which settings are tried; `jobs` of them side by side */
    const struct eval_options *prove; /* by which the winner is proved; NULL: nothing is proved */
    unsigned kinds;                   /* of knobs that are turned, 1 << GEN_KNOB_..; 0: all */
    int budget;                       /* settings at most */
    double seconds;                   /* no setting is begun later; 0: no limit */
    void (*seen)(void *closure, const struct gen_subject *subject, const struct gen_setting *setting); /* or NULL */
    void *closure;
};
struct gen_tuning {
    struct gen_setting before, after;   /* the same where nothing is faster */
    const struct gen_setting *settings; /* all that were tried, in order: before is the first */
    int tried;
    int proved_cases; /* that `after` passed by options->prove */
};

/* Searches; for the same subject, options and no `seconds` it ends the same, with any number of jobs. The result lives in the arena. An
 * error: the candidate is not right as it is, or has no modelled time. */
struct akgen_error *gen_tune(struct arena *arena, const struct gen_subject *subject, const struct task *task,
                             const struct gen_tune_options *options, struct gen_tuning *tuning);

#endif
