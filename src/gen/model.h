/* A model as one run asks it: where it is, how it samples, what it is asked, and what the run may cost. The options of `akgen
 * bench` and `akgen gen` fill it in (src/cli/model.c). */
#ifndef GEN_MODEL_H
#define GEN_MODEL_H

#include "gen/client.h"
#include "gen/prompt.h"

struct gen_model {
    struct gen_endpoint endpoint;
    struct gen_sampling sampling;
    struct gen_prompt_options prompt;
    int samples;     /* n of each task */
    int per_request; /* samples that one request asks for */
    bool seeded;
    uint64_t seed;                     /* of the first sample of a task; sample s has seed + s */
    int64_t token_limit;               /* of the run, prompts and answers together; 0: none */
    double cost_limit;                 /* in the currency of the prices; 0: none */
    double prompt_price, answer_price; /* of a million tokens */
};

/* Sampling as a paper did it. */
struct gen_preset {
    const char *name;
    const char *source; /* which paper or code says so */
    int samples;
    struct gen_sampling sampling;
};
/* "npukernelbench", "multikernelbench", "multikernelbench-5", ..; NULL: there is none of this name. */
const struct gen_preset *gen_preset_find(const char *name);
/* All of them, ended by one without a name. */
extern const struct gen_preset gen_presets[];

/* What makes samples comparable, as JSON: model, URL without credentials, sampling, prompts. The same text means that a run
 * may be resumed; never holds a key. In the arena. */
const char *gen_model_settings(struct arena *arena, const struct gen_model *model);

#endif
