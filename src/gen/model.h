/* A model as one run asks it: where it is, how it samples, what it is asked, and what the run may cost. The options of `akgen
 * bench` and `akgen gen` fill it in (src/cli/model.c). */
#ifndef GEN_MODEL_H
#define GEN_MODEL_H

#include "gen/client.h"
#include "gen/prompt.h"

/* What answers of a model that this process runs are held to. */
#define GEN_CONSTRAINTS(X)                                                                                             \
    X(GEN_FREE, "off")                                                                                                 \
    X(GEN_BY_LANGUAGE, "language") X(GEN_BY_TASK, "task") /* its names and outputs; of graphs alone */
enum gen_constraint { GEN_CONSTRAINTS(WORD_VALUE) };
extern const struct words gen_constraints;

/* More change little: docs/results.md. */
enum { GEN_TRIES = 64 };

struct gen_model {
    struct gen_endpoint endpoint;
    struct gen_sampling sampling;
    struct gen_prompt_options prompt;
    const struct gen_preset *preset; /* --preset; NULL: none */
    const char *key_file;            /* --key-file; NULL: the environment has the key, or there is none */
    int samples;                     /* n of each task; 0: the preset's, else 1 */
    int per_request;                 /* samples that one request asks for */
    enum gen_constraint constraint;  /* which grammar answers follow */
    const char *constrain;           /* --constrain; "": without a word; NULL: not given */
    int grammar_tries;  /* how often an answer that follows it is drawn at most; 0: GEN_TRIES of a task's */
    bool told_language; /* --language was given: AKGen asks the model of its own that writes that */
    bool seeded;
    uint64_t seed;                     /* of the first sample of a task; sample s has seed + s */
    int64_t token_limit;               /* of the run, prompts and answers together; 0: none */
    double cost_limit;                 /* in the currency of the prices; 0: none */
    double prompt_price, answer_price; /* of a million tokens */
    struct arena arena;                /* of what the fields point to: gen_model_free */
};
void gen_model_free(struct gen_model *model);

/* The grammar that answers to a task follow, in the arena; NULL: none. */
const char *gen_model_grammar(struct arena *arena, const struct gen_model *model, const struct task *task,
                              int only_case);

/* Sampling as a paper did it. */
struct gen_preset {
    const char *name;
    const char *source; /* which paper or code says so */
    int samples;
    struct gen_sampling sampling;
};
/* "ascendkernelgen", "multikernelbench", "multikernelbench-5", ..; NULL: there is none of this name. */
const struct gen_preset *gen_preset_find(const char *name);
/* All of them, ended by one without a name. */
extern const struct gen_preset gen_presets[];

/* Sets in the sampling what is not set yet. */
void gen_preset_apply(const struct gen_preset *preset, struct gen_sampling *sampling);

/* The folder of the model that AKGen brings along for formulas. */
const char *gen_model_shipped(struct arena *arena);
/* True for "openai:URL", "lm:DIR", "exec:COMMAND", and "lm", a model that AKGen brings along. */
bool gen_model_is_provider(const char *provider);
/* Sets the endpoint's URL, folder or command. An error if it is none of these forms, if the URL is none or has credentials in it, and for
 * a server without the name of a model, which is set before. */
struct akgen_error *gen_model_provider(struct gen_model *model, const char *provider);

/* Reads the endpoint's folder, if it has one, and makes it ready to write; gen_model_free lets go of it. Errors: a file of the model, or not
 * enough memory. */
struct akgen_error *gen_model_read(struct gen_model *model);

/* The provider again, as it is stored: "openai:URL", "lm:DIR", "exec:COMMAND"; in the arena. */
const char *gen_endpoint_name(struct arena *arena, const struct gen_endpoint *endpoint);

/* What tokens cost, in the currency of the prices. */
double gen_model_cost(const struct gen_model *model, int64_t prompt_tokens, int64_t completion_tokens);

/* What makes samples comparable, as JSON: model, URL without credentials, sampling, prompts. The same text means that a run
 * may be resumed; never holds a key. In the arena. */
const char *gen_model_settings(struct arena *arena, const struct gen_model *model);

#endif
