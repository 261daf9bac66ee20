/* Requests to the engine that writes them all together; then the judge, on threads. */
#include "lm/rollout.h"

#include "base/clock.h"
#include "base/memory.h"
#include "base/workers.h"
#include "lm/backend.h"
#include "lm/engine.h"

#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

static bool on_token(void *closure, const struct lm_token *token)
{
    struct lm_answer *answer = closure;
    if (token->token >= 0)
        answer->tokens[answer->count++] = token->token;
    text_add(&answer->text, token->text);
    answer->ended = token->finish == LM_AT_END;
    return true;
}

static uint64_t seed_of(const struct lm_rollout_options *options, int round, int prompt, int sample)
{
    uint64_t seed = options->seed;
    const int parts[] = {round, prompt, sample};
    for (int i = 0; i < 3; i++)
        seed = seed * 6364136223846793005U + 1442695040888963407U + (uint64_t)parts[i];
    return seed;
}

static struct akgen_error *write_answers(struct lm_model *model, const struct lm_tokenizer *tokenizer,
                                         const struct lm_samples *prompts, const int *order, int round,
                                         const struct lm_rollout_options *options, struct lm_rollout *rollout)
{
    int count = rollout->prompts * rollout->group, longest = (int)lm_samples_longest(prompts) + options->most;
    const struct lm_engine_options how = {.threads = options->threads,
                                          .texts = count < LM_FEW ? count : LM_FEW,
                                          .longest = options->longest && options->longest < longest ? options->longest
                                                                                                    : longest,
                                          .adapters = options->adapters,
                                          .adapter_weights = options->adapter_weights};
    struct lm_engine *engine;
    struct akgen_error *error = lm_engine_new(model, tokenizer, &how, &engine);
    for (int i = 0; i < count && !error; i++) {
        int prompt = order[i / rollout->group];
        struct lm_answer *answer = &rollout->answers[i];
        struct lm_request request = {.prompt = prompts->tokens + prompts->starts[prompt],
                                     .prompt_count = (int)(prompts->starts[prompt + 1] - prompts->starts[prompt]),
                                     .most = options->most,
                                     .sampling = lm_sampling_defaults,
                                     .on_token = on_token,
                                     .closure = answer};
        request.sampling.seed = seed_of(options, round, prompt, i % rollout->group);
        answer->tokens = memory_alloc((size_t)options->most * sizeof *answer->tokens);
        error = lm_engine_add(engine, &request);
    }
    while (!error && lm_engine_step(engine))
        ;
    if (!error)
        error = lm_engine_error(engine);
    for (int i = 0; i < count && !error; i++)
        rollout->written += rollout->answers[i].count;
    lm_engine_free(engine);
    return error;
}

struct judging {
    const struct lm_judge *judge;
    const struct lm_samples *prompts;
    const int *order;
    struct lm_rollout *rollout;
    pthread_mutex_t lock; /* guards the first error */
    struct akgen_error *error;
};

static void judge_group(void *closure, int index)
{
    struct judging *judging = closure;
    int group = judging->rollout->group;
    struct lm_answer *answers = judging->rollout->answers + (ptrdiff_t)index * group;
    const char **texts = memory_alloc((size_t)group * sizeof *texts);
    struct lm_worth *worth = memory_alloc((size_t)group * sizeof *worth);
    for (int i = 0; i < group; i++)
        texts[i] = !answers[i].ended ? NULL : answers[i].text.bytes ? answers[i].text.bytes : "";
    struct akgen_error *error =
        judging->judge->judge(judging->prompts->rows[judging->order[index]], texts, group, worth);
    for (int i = 0; i < group && !error; i++)
        answers[i].worth = worth[i];
    free(texts);
    free(worth);
    pthread_mutex_lock(&judging->lock);
    if (judging->error)
        error_free(error);
    else
        judging->error = error;
    pthread_mutex_unlock(&judging->lock);
}

struct akgen_error *lm_rollout(struct lm_model *model, const struct lm_tokenizer *tokenizer,
                               const struct lm_samples *prompts, const int *order, int first, int last, int round,
                               const struct lm_rollout_options *options, struct lm_rollout *rollout)
{
    double start = clock_seconds();
    int threads = options->threads ? options->threads : (int)sysconf(_SC_NPROCESSORS_ONLN);
    *rollout = (struct lm_rollout){.prompts = last - first, .group = options->group};
    rollout->answers = memory_alloc((size_t)(rollout->prompts * rollout->group) * sizeof *rollout->answers);
    struct akgen_error *error = write_answers(model, tokenizer, prompts, order + first, round, options, rollout);
    rollout->writing = clock_seconds() - start;
    if (error)
        return error;
    struct judging judging = {.judge = options->judge,
                              .prompts = prompts,
                              .order = order + first,
                              .rollout = rollout,
                              .lock = PTHREAD_MUTEX_INITIALIZER};
    workers_run(rollout->prompts, threads, judge_group, &judging);
    rollout->judging = clock_seconds() - start - rollout->writing;
    return judging.error;
}

void lm_rollout_free(struct lm_rollout *rollout)
{
    for (int i = 0; rollout->answers && i < rollout->prompts * rollout->group; i++) {
        free(rollout->answers[i].tokens);
        text_free(&rollout->answers[i].text);
    }
    free(rollout->answers);
    *rollout = (struct lm_rollout){0};
}

bool lm_rollout_differs(const struct lm_rollout *rollout, int prompt)
{
    const struct lm_answer *answers = rollout->answers + (ptrdiff_t)prompt * rollout->group;
    for (int i = 1; i < rollout->group; i++)
        if (answers[i].worth.reward < answers[0].worth.reward || answers[i].worth.reward > answers[0].worth.reward)
            return true;
    return false;
}
