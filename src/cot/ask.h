/* Models in the pipeline: what is asked of one is kept in the database with its answer, and never asked again. */
#ifndef COT_ASK_H
#define COT_ASK_H

#include "cot/step.h"
#include "gen/model.h"

struct cot_asker;
/* A model whose provider is set (gen_model_provider). `store` and `model` outlive the asker. */
struct akgen_error *cot_asker_open(struct store *store, const struct gen_model *model, struct cot_asker **asker);
void cot_asker_close(struct cot_asker *asker);
/* Names the model and how it samples, for sources: "model 0123456789ab"; and by its name alone, for tags. */
const char *cot_asker_source(const struct cot_asker *asker);
const char *cot_asker_model(const struct cot_asker *asker);

/* The prompts of prompts/cot, by name: "ask" .. and their placeholders, NULL or "" where they have nothing to say. */
struct cot_prompt {
    const char *template;
    const char *name, *heading, *count, *question, *chain, *answer, *passage, *related;
};
/* Asks each and waits for all, in the arena. answers[i] is NULL where none came: the server failed after all tries, nothing is asked any more, or
 * the answer is no UTF-8. *lacking: so many may have an answer in another run. From any thread. An error: the database's, or a prompt that cannot
 * be made. */
struct akgen_error *cot_ask(struct cot_asker *asker, struct arena *arena, const struct cot_prompt *prompts, int count,
                            const char **answers, int *lacking);

struct cot_asked {
    int64_t asked, known, failed; /* requests that were answered now, that were before, and that got no answer */
    int64_t tokens;               /* of those asked, prompts and answers, as far as the server counts */
    double cost;
    const char *failure; /* the last; NULL: none. In the asker */
    const char *ended; /* why nothing is asked any more: the limit, or a failure that every request would meet; NULL */
};
struct cot_asked cot_asker_sum(struct cot_asker *asker);

/* The text between <tag> and </tag> behind *at, without blanks around it, in the arena, and *at behind it; NULL: there is none. What stands
 * before a </think> is not looked at. */
const char *cot_between(struct arena *arena, const char **at, const char *tag);
const char *cot_behind_thoughts(const char *answer);

/* Lets the model write the chains of a block's samples, with `request` their questions as well (prompts "kernel" and "error"), in place of those that
 * were made without it, and names it in their tags. What it writes that cannot be used changes nothing and is counted in the block; without an
 * answer the block is unfinished. NULL for no asker does nothing. */
struct akgen_error *cot_rewrite(struct cot_asker *asker, struct cot_block *block, const char *template, bool request);

#endif
