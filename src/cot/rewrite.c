/* Chains and requests by a model, for samples whose answers are verified without it. */
#include "cot/ask.h"
#include "cot/corpus.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

enum { SHORTEST = 24, LONGEST = 16000 };

static bool is_usable(const char *text)
{
    size_t length = text ? strlen(text) : 0;
    return length >= SHORTEST && length <= LONGEST && !cot_secret_in(text);
}

/* The tags with one more. */
static const char *with_tag(struct arena *arena, const char *tags, const char *tag)
{
    json_t *json = tags ? json_loads(tags, 0, NULL) : json_array();
    json_array_append_new(json, json_string(tag));
    char *text = json_dumps(json, JSON_COMPACT);
    const char *copy = text ? arena_strdup(arena, text) : tags;
    free(text);
    json_decref(json);
    return copy;
}

struct akgen_error *cot_rewrite(struct cot_asker *asker, struct cot_block *block, const char *template, bool request)
{
    struct arena *arena = &block->arena;
    const int count = (int)block->sample_count;
    int lacking;
    if (!asker || !count)
        return NULL;
    struct cot_prompt *prompts = arena_alloc(arena, sizeof *prompts * (size_t)count);
    const char **answers = arena_alloc(arena, sizeof *answers * (size_t)count);
    for (int i = 0; i < count; i++)
        prompts[i] = (struct cot_prompt){.template = template,
                                         .question = block->samples[i].question,
                                         .chain = block->samples[i].chain,
                                         .answer = block->samples[i].answer};
    struct akgen_error *error = cot_ask(asker, arena, prompts, count, answers, &lacking);
    block->unfinished |= lacking > 0;
    for (int i = 0; i < count && !error; i++) {
        struct cot_sample *sample = &block->samples[i];
        const char *at = answers[i] ? cot_behind_thoughts(answers[i]) : "", *again = at,
                   *chain = cot_between(arena, &at, "chain"), *asks = cot_between(arena, &again, "request");
        if (!is_usable(chain) || (request && !is_usable(asks))) {
            block->unusable++;
            continue;
        }
        sample->chain = chain;
        sample->question = request ? asks : sample->question;
        sample->tags = with_tag(arena, sample->tags, arena_printf(arena, "model: %s", cot_asker_model(asker)));
    }
    return error;
}
