/* Judges of answers that a model writes while it is trained:
 *   operators  rows of `akgen cot export --format prompts`: formulas, by the planner and the interpreter on the operator's small cases
 *   text       rows with "answer": the very text, for tasks of which one is known */
#include "cli/lm_judge.h"

#include "base/scratch.h"
#include "cot/synth_prove.h"

#include <jansson.h>
#include <string.h>

/* A share for answers that compile and compute something else is soon all that is learned (docs/lm.md). */
static const float rewards[] = {[SYNTH_REFUSED] = 0, [SYNTH_WRONG] = 0, [SYNTH_RIGHT] = 1};

static struct akgen_error *judge_operators(const char *row, const char *const *answers, int count,
                                           struct lm_worth *worth)
{
    struct arena arena = {0};
    json_t *root = json_loads(row, 0, NULL);
    const json_t *seed = json_object_get(root, "operator");
    const char *question =
        json_string_value(json_object_get(json_array_get(json_object_get(root, "prompt"), 0), "content"));
    struct scratch scratch = {0};
    enum synth_worth *found = arena_alloc(&arena, (size_t)count * sizeof *found);
    struct synth_operator made;
    struct akgen_error *error = NULL;
    if (!json_is_integer(seed) || json_integer_value(seed) < 0 || !question)
        error = error_of_the_file(
            error_new("a row without 'operator', a seed of 'akgen cot synth', and 'prompt', one message: "
                      "'akgen cot export --format prompts' writes such rows"));
    else
        error = scratch_make(&arena, "akgen-judge", &scratch);
    if (!error) {
        synth_operator_make(&arena, (uint64_t)json_integer_value(seed), &made);
        error = synth_judge(&arena, &made, scratch.path, question, answers, count, found);
        scratch_remove(&scratch);
        if (error)
            error = error_prefix(error, "operator %lld", (long long)json_integer_value(seed));
    }
    for (int i = 0; i < count && !error; i++)
        worth[i] = (struct lm_worth){rewards[found[i]], found[i] == SYNTH_RIGHT, found[i] != SYNTH_REFUSED};
    json_decref(root);
    arena_free(&arena);
    return error;
}

static struct akgen_error *judge_text(const char *row, const char *const *answers, int count, struct lm_worth *worth)
{
    json_t *root = json_loads(row, 0, NULL);
    const char *expected = json_string_value(json_object_get(root, "answer"));
    struct akgen_error *error = expected ? NULL : error_of_the_file(error_new("a row without 'answer', a text"));
    for (int i = 0; i < count && !error; i++) {
        bool right = answers[i] && strcmp(answers[i], expected) == 0;
        worth[i] = (struct lm_worth){right ? 1 : 0, right, answers[i] != NULL};
    }
    json_decref(root);
    return error;
}

const struct lm_judge *cli_lm_judge(const char *name)
{
    static const struct lm_judge judges[] = {{"operators", judge_operators}, {"text", judge_text}};
    for (size_t i = 0; i < sizeof judges / sizeof *judges; i++)
        if (strcmp(judges[i].name, name) == 0)
            return &judges[i];
    return NULL;
}

void cli_lm_take_judge(void *judge, char *text, const struct argp_state *state)
{
    if (!(*(const struct lm_judge **)judge = cli_lm_judge(text)))
        argp_error(state, "--judge: no '%s'; there are operators and text", text);
}
