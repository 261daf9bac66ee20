/* The parts of a repair: an attempt is one answer and what became of it (repair_attempt.c), asking is repair_prompt.c, what is kept is
 * repair_evidence.c, and repair.c searches. */
#ifndef GEN_REPAIR_INTERNAL_H
#define GEN_REPAIR_INTERNAL_H

#include "gen/answer.h"
#include "gen/feedback.h"
#include "gen/repair.h"
#include "gen/template.h"

struct repair_file {
    const char *path, *text; /* below the project's folder */
    size_t length;
};

/* One answer that was asked for. */
struct attempt {
    int sample; /* its number in the run, which is its index */
    int round, slot;
    int parent;                     /* the sample that it mends; -1: a first answer */
    bool came;                      /* otherwise it was not waited for, or the server failed */
    bool judged;                    /* all below is set */
    const char *text;               /* as it came */
    const char *finish, *reasoning; /* NULL: not said */
    struct gen_answer answer;
    const char *hash; /* of what was read */
    int same_as;      /* an earlier sample with the same; -1 */
    enum akgen_verdict_kind kind;
    enum akgen_verdict_stage stage;
    int cases_passed, cases_total;
    const char *ended; /* "fault at stage run, 3 of 17 cases right" */
    const char *json;  /* the verdict */
    struct gen_feedback feedback;
    struct repair_file *files; /* the project; of an answer that was refused its own files */
    int file_count;
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

struct repair {
    struct arena *arena; /* everything here is its */
    const struct task *task;
    const struct gen_repair_options *options;
    struct gen_repair_outcome *outcome;
    struct gen_client *client;
    struct gen_templates *templates;
    struct gen_prompt prompt; /* of the task */
    struct attempt *attempts; /* by sample */
    int count, capacity;
    struct bench *bench; /* the run in the database; its rows are unused */
    double spent, reserved_cost;
    int64_t used, reserved; /* tokens; reserved: of what is under way */
    const char *hopeless;   /* why the server will never answer; NULL */
    int *stopped;           /* set by another thread, read and written atomically */
    int best;               /* sample; -1: none yet */
};

/* Judges an answer whose text is set. The verdict of the best one is kept in the outcome. An error is AKGen's own. */
struct akgen_error *repair_judge(struct repair *repair, struct attempt *attempt);
/* True if `a` came further: stage, cases right, fewer things wrong. */
bool repair_is_better(const struct attempt *a, const struct attempt *b);

/* The prompt in which an attempt's code is given back with what is wrong. NULL prompt.messages: its code is too long for one. */
struct akgen_error *repair_prompt(struct repair *repair, const struct attempt *attempt, struct gen_prompt *prompt);
struct akgen_error *repair_read_templates(struct repair *repair);

/* evidence/rounds/R/..: what was asked, what came, what was found. */
struct akgen_error *repair_keep_prompt(struct repair *repair, int round, int slot, const struct gen_prompt *prompt);
struct akgen_error *repair_keep_attempt(struct repair *repair, const struct attempt *attempt);
/* The samples of a reply, in the database. */
struct akgen_error *repair_store_reply(struct repair *repair, const struct asked *asked, const struct gen_reply *reply);
struct akgen_error *repair_store_verdict(struct repair *repair, const struct attempt *attempt, const json_t *verdict,
                                         double seconds);
struct akgen_error *repair_store_prompt(struct repair *repair, const struct gen_prompt *prompt);
struct akgen_error *repair_begin_store(struct repair *repair);
/* The project of the best attempt, evidence/run.json and, last, evidence/verdict.json. */
struct akgen_error *repair_write_best(struct repair *repair);

#endif
