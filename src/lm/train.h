/* Training: samples in, a folder with the model out.
 *
 * A step takes `batch` lines of samples.h, packed one behind the other into passes of at most `tokens` tokens; its loss is the mean over
 * all of the step, however many passes there are (objective.h). What the model at the begin, or another one, says of the samples is computed
 * once, and kept in OUT. An online run has prompts in the place of samples: a step writes a group of answers to each of its prompts by the weights of
 * that moment, has them judged (judge.h), and goes one step of GRPO along their advantages (rollout.h). OUT holds metrics.jsonl (a line a step), the
 * newest checkpoints, and at the end the model. */
#ifndef LM_TRAIN_H
#define LM_TRAIN_H

#include "lm/adapters.h"
#include "lm/judge.h"
#include "lm/objective.h"
#include "lm/optimizer.h"
#include "lm/safetensors.h"

#include <signal.h>

/* Of a step that is done, or (eval_loss or eval_reward is a number) of an evaluation behind it. */
struct lm_progress {
    enum lm_objective kind;
    int step, steps;
    double epoch, loss, rate, norm; /* norm: the gradient's before it was clipped */
    double eval_loss, eval_reward;  /* NAN: a step; online there is the mean reward, elsewhere the loss */
    double chosen, rejected,
        right;         /* DPO: means over the step's pairs of beta * (log p - log ref), and the share that is right */
    double reward, kl; /* GRPO: means over its texts; online: kl of those that went through the model */
    double valid;      /* online: shares of the answers, with `right`; of an evaluation too */
    int64_t written;   /* online: tokens of the step's answers */
    double writing, judging;  /* online: seconds of the step */
    int64_t tokens;           /* that went through the model since the run's begin, resumed parts included */
    double tokens_per_second; /* of the step */
    double seconds;           /* since the run's begin, likewise */
};

enum { LM_ON_CPU = -1 };
/* Of GRPO: the answers are the model's own. */
struct lm_online {
    int group; /* answers of a prompt, at least 2 */
    int most;  /* tokens of one */
    const struct lm_judge *judge;
};
struct lm_train_options {
    const char *model; /* a folder with config.json and tokenizer.json, and weights unless fresh */
    bool fresh;        /* weights are drawn by the seed */
    const char *out;
    const char *const *data; /* files of samples.h */
    int data_count;
    const char
        *eval; /* or NULL; online prompts, which answers are written to at each evaluation, from the same draws */
    struct lm_objective_options objective;
    const char *reference;                      /* the model that DPO and GRPO stay close to; NULL: `model` */
    const struct lm_adapters_options *adapters; /* or NULL: all is trained */
    const struct lm_online *online;             /* or NULL; on the processors then */
    struct lm_optimizer_options optimizer;      /* its steps and warmup are computed from what follows */
    double warmup;                              /* share of the steps; 1 or more: steps */
    int batch;                                  /* lines of a step */
    int tokens;  /* of a pass: what memory has room for; results differ by rounding alone */
    int longest; /* tokens of a sample, others are cut; 0: as long as the model can read */
    int epochs;
    int steps;     /* 0: as many as the epochs have */
    bool in_order; /* samples are not shuffled */
    uint64_t seed;
    bool recompute;         /* activations are made again on the way back: less memory, a third more time */
    int device;             /* LM_ON_CPU, or the number of a GPU (cuda.h) */
    enum lm_dtype elements; /* of products: LM_F32 or LM_BF16; on a GPU also of activations. Weights are float32 */
    int threads;            /* 0: as many as there are processors */
    int save_every;         /* steps; 0: only at the end */
    int keep;               /* checkpoints */
    int eval_every;         /* steps; 0: only at the end */
    bool resume;            /* from the newest checkpoint in `out`, if there is one */
    enum lm_dtype dtype;    /* of the model that is written at the end */
    void (*on_progress)(void *closure, const struct lm_progress *progress); /* or NULL */
    void *closure;
    const volatile sig_atomic_t *stop; /* or NULL: a checkpoint is written, and the run ends, when it is not 0 */
};
extern const struct lm_train_options lm_train_defaults;

struct lm_train_result {
    int step, steps;                     /* done, and in all */
    int samples, cut, left_out;          /* lines: learned from, of which a text was cut, without anything to learn */
    int64_t learned;                     /* tokens of an epoch */
    double loss, eval_loss, eval_reward; /* of the last step; NAN: none */
    bool stopped;
};
/* Trains. Errors: a file is missing or wrong, with its name; `out` holds a run and resume is off; not enough memory; another run
 * uses `out`. */
struct akgen_error *lm_train(const struct lm_train_options *options, struct lm_train_result *result);

#endif
