/* The parts of a repair: an attempt is one answer and what became of it (repair_attempt.c), asking is repair_prompt.c, what is kept is
 * repair_evidence.c, and repair.c searches. Behind a pass optimise.c says what is made faster and when that ends, optimise_prompt.c
 * what is asked. */
#ifndef GEN_REPAIR_INTERNAL_H
#define GEN_REPAIR_INTERNAL_H

#include "candidate/reader.h"
#include "gen/feedback.h"
#include "gen/repair.h"
#include "gen/template.h"

/* One answer that was asked for. */
struct attempt {
    int sample; /* its number in the run, which is its index */
    int round, slot;
    int parent;                     /* the sample that it mends; -1: a first answer */
    bool came;                      /* otherwise it was not waited for, or the server failed */
    bool judged;                    /* all below is set */
    const char *text;               /* as it came */
    const char *finish, *reasoning; /* NULL: not said */
    struct answer answer;
    struct candidate candidate; /* that it is */
    const char *hash;           /* of what was read */
    int same_as;                /* an earlier sample with the same; -1 */
    struct bench_row row;       /* the verdict in the run; its texts are the arena's */
    const char *ended;          /* "fault at stage run, 3 of 17 cases right" */
    const char *json;           /* the verdict, as a file has it */
    struct gen_feedback feedback;
    bool timed; /* it is right, its time is known, and it counts: the run makes kernels faster */
    struct times times;
    const char *told;      /* of its time, for the model; NULL: not timed */
    struct op_files files; /* the project; of an answer that was refused its own files */
    int mended;            /* how often it was given to the model */
    const char *last_mend; /* what came of it the last time; NULL */
};

/* A request under way; the closure of its reply. */
struct asked {
    int round, first; /* the sample of its first answer */
    int count, parent;
    int64_t tokens; /* of the prompt */
    const char *hash;
};

/* Who ended it from outside. */
enum repair_end { REPAIR_GOES_ON, REPAIR_INTERRUPTED, REPAIR_OUT_OF_TIME };

struct repair {
    struct arena *arena; /* everything here is its */
    const struct task *task;
    const struct gen_repair_options *options;
    struct gen_repair_outcome *outcome;
    struct gen_client *client;
    struct gen_templates *templates, *faster_templates;
    struct gen_prompt prompt; /* of the task */
    struct attempt *attempts; /* by sample */
    int count, capacity;
    struct bench *bench; /* the run in the database; its rows are unused */
    double spent, reserved_cost;
    int64_t used, reserved; /* tokens; reserved: of what is under way */
    const char *hopeless;   /* why the server will never answer; NULL */
    int *stopped;           /* enum repair_end, set by another thread, read and written atomically */
    int best;               /* sample; -1: none yet */
    int leader,
        idle_rounds; /* optimise.c: the best before the last round, and how many rounds in a row changed nothing */
};

/* Judges an answer whose text is set. The verdict of the best one is kept in the outcome. An error is AKGen's own. */
struct akgen_error *repair_judge(struct repair *repair, struct attempt *attempt);
/* True if `a` came further: stage, cases right, fewer things wrong; of two that are timed, if it is faster. */
bool repair_is_better(const struct attempt *a, const struct attempt *b);

/* The prompt in which an attempt's code is given back with what is wrong. NULL prompt.messages: its code is too long for one. */
struct akgen_error *repair_prompt(struct repair *repair, const struct attempt *attempt, struct gen_prompt *prompt);
struct akgen_error *repair_read_templates(struct repair *repair);
/* The code of an attempt in the form that answers are asked for; what could not be read as it came, cut. NULL: it is too long. */
const char *repair_code(struct arena *arena, const struct attempt *attempt);
/* The best of the attempts that `fits` is true of, at most `most`, best first: who came further; as far, but was not given back yet;
 * or came before. Returns how many. */
int repair_choose(const struct repair *repair, bool (*fits)(const struct repair *, const struct attempt *), int most,
                  int *chosen);

/* Whom a round behind a pass gives back, at most the beam: wrong descendants of a right candidate, to be mended, then right ones, the
 * fastest first. Returns how many. */
int optimise_choose(const struct repair *repair, int *chosen);
/* The first pass is there. */
void optimise_begin(struct repair *repair);
/* Asked before each round, which is the `number`th behind the pass, from 0: why it is not to begin; NULL: it may. */
const char *optimise_ended(struct repair *repair, int number);
/* Sets what came of it. */
void optimise_end(struct repair *repair);
/* What a model is told of a right candidate's time, in the arena. */
const char *optimise_told(struct arena *arena, const struct verdict *verdict, const struct times *times);
/* The prompt in which a right candidate is given back with its time, as repair_prompt(). */
struct akgen_error *optimise_prompt(struct repair *repair, const struct attempt *attempt, struct gen_prompt *prompt);
struct akgen_error *optimise_read_templates(struct repair *repair);
/* evidence/optimise.json, if it began. */
json_t *optimise_json(const struct repair *repair);

/* evidence/rounds/R/..: what was asked, what came, what was found. */
struct akgen_error *repair_keep_prompt(struct repair *repair, int round, int slot, const struct gen_prompt *prompt);
struct akgen_error *repair_keep_attempt(struct repair *repair, const struct attempt *attempt);
/* The samples of a reply, in the database. */
struct akgen_error *repair_store_reply(struct repair *repair, const struct asked *asked, const struct gen_reply *reply);
struct akgen_error *repair_store_verdict(struct repair *repair, const struct attempt *attempt);
struct akgen_error *repair_store_prompt(struct repair *repair, const struct gen_prompt *prompt);
struct akgen_error *repair_begin_store(struct repair *repair);
/* The project of the best attempt, evidence/run.json and, last, evidence/verdict.json. */
struct akgen_error *repair_write_best(struct repair *repair);

#endif
