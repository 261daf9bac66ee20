/* Where a training run is, in a folder OUT/checkpoint-STEP that is whole or not there: the weights as any program reads them
 * (config.json and model.safetensors, or PEFT's adapter files), optimizer.safetensors, and state.json. float32 all of it, so that a run that goes on does
 * so bit for bit. */
#ifndef LM_CHECKPOINT_H
#define LM_CHECKPOINT_H

#include "lm/adapters.h"
#include "lm/model.h"
#include "lm/optimizer.h"

#include <jansson.h>

/* What is trained, on the host: all of a model, or adapters of it. */
struct lm_trained {
    struct lm_model model;
    struct lm_adapters adapters; /* layers is NULL: there are none */
    float *adapter_weights;
    const char *folder; /* the model's, whose tokenizer goes with what is written */
};
static inline const struct lm_layout *lm_trained_layout(const struct lm_trained *trained)
{
    return trained->adapters.layers ? &trained->adapters.layout : &trained->model.layout;
}
static inline float *lm_trained_weights(const struct lm_trained *trained)
{
    return trained->adapters.layers ? trained->adapter_weights : trained->model.weights;
}
/* Writes the weights, and what a reader of them needs, into an existing folder. `largest`: bytes of a file; 0: transformers' 5 GB. */
struct akgen_error *lm_trained_write(const struct lm_trained *trained, const char *folder, enum lm_dtype dtype,
                                     int64_t largest);

/* What tokenizers and templates are read from, where a model's folder has it: goes with the weights. Ends with NULL. */
extern const char *const lm_companions[];

struct lm_state {
    int step;       /* steps done */
    int64_t tokens; /* learned from in them */
    double seconds;
    const json_t *settings; /* whatever else decides what the next step does */
};

/* Writes OUT/checkpoint-STEP, and removes all but the newest `keep`. m, v: on the host. */
struct akgen_error *lm_checkpoint_write(const char *out, const struct lm_trained *trained, const float *m,
                                        const float *v, const struct lm_state *state, int keep);
/* The step of the newest checkpoint in `out`; -1: there is none. Removes what killed runs left half done. */
int lm_checkpoint_newest(const char *out);
/* Reads one into what is laid out already, and the rest of its state. Errors: a file is missing or wrong; its settings are not
 * state->settings, said with the first that differs. */
struct akgen_error *lm_checkpoint_read(const char *out, int step, struct lm_trained *trained, float *m, float *v,
                                       struct lm_state *state);

#endif
