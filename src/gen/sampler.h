/* A model over a suite: its samples are asked for, kept in the database as they come, and handed to an evaluation that goes on
 * meanwhile (runs/bench.h, bench_source). What is answered is never asked again, however the program ended. */
#ifndef GEN_SAMPLER_H
#define GEN_SAMPLER_H

#include "runs/bench.h"
#include "gen/model.h"

struct gen_sampler;

/* Why no more is asked for. */
#define GEN_SAMPLING_ENDS(X)                                                                                           \
    X(GEN_SAMPLING_WHOLE, "all samples were asked for")                                                                \
    X(GEN_SAMPLING_TOKENS, "the limit of tokens is reached")                                                           \
    X(GEN_SAMPLING_COST, "the limit of costs is reached")                                                              \
    X(GEN_SAMPLING_FAILING, "the server answers nothing")                                                              \
    X(GEN_SAMPLING_STOPPED, "interrupted")                                                                             \
    X(GEN_SAMPLING_BROKEN, "the database cannot be written")
enum gen_sampling_end { GEN_SAMPLING_ENDS(WORD_VALUE) };
extern const struct words gen_sampling_ends;

/* Where it is now. */
struct gen_sampling_state {
    int planned, answered, failed; /* samples: of the whole run; failed: without an answer, by the server's doing */
    int under_way;                 /* samples that were asked for and have not come */
    int64_t tokens;                /* of the whole run, estimated where the server does not count */
    double cost;
    enum gen_sampling_end end; /* WHOLE while nothing else is known */
    char last_failure[200];    /* why there is no answer; empty: none failed */
};

/* Rows of a run in which the model has `model->samples` samples of each task, none of which is there yet. */
void gen_sampler_prepare(struct bench *bench, const struct gen_model *model, const struct task *tasks, int count,
                         const struct eval_options *options);
/* Makes the prompts and begins to ask for what the run, begun or resumed in `store`, has no answer to. All that is given must
 * outlive the sampler. Errors: a prompt that cannot be made or is too long, one that is not what the stored answers
 * answer; nothing was asked then. */
struct akgen_error *gen_sampler_open(struct bench *bench, struct store *store, const struct gen_model *model,
                                     const struct eval_options *options, struct gen_sampler **sampler);
const struct bench_source *gen_sampler_source(const struct gen_sampler *sampler);
struct gen_sampling_state gen_sampler_state(struct gen_sampler *sampler);
/* Ends the run: what is under way is dropped, the candidates that are evaluated now come to no verdict. Thread-safe. */
void gen_sampler_stop(struct gen_sampler *sampler);
/* Behind bench_run: waits until what still came is stored. Returns the first failure of the database; NULL. Owned by the sampler. */
const struct akgen_error *gen_sampler_finish(struct gen_sampler *sampler);
void gen_sampler_close(struct gen_sampler *sampler);

#endif
