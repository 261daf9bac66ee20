/* Any thread that waits for an answer may be the one that takes replies from the client, its own and those of others. */
#include "cot/ask.h"
#include "base/digest.h"
#include "base/memory.h"
#include "base/text.h"
#include "runs/cot_store.h"
#include "gen/client.h"
#include "gen/template.h"
#include "toolchain/toolchain.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

static const char *const templates[] = {"ask", "answer", "kernel", "error", NULL};
static const char *const known[] = {"name",   "heading", "count",   "question", "chain",
                                    "answer", "passage", "related", NULL};

struct cot_asker {
    struct store *store;
    const struct gen_model *model;
    struct arena arena;
    struct gen_templates *templates;
    struct gen_client *client;
    const char *settings, *source;
    pthread_mutex_t lock; /* guards what follows */
    pthread_cond_t came;
    bool taking;               /* a thread waits for the client's next reply */
    bool stopped;              /* no reply comes any more */
    struct akgen_error *error; /* of the database, to be returned by who asks next */
    struct cot_asked sum;
};

/* A request: the closure of its reply. */
struct slot {
    struct arena *arena; /* of the answer; its thread waits while another one fills it in */
    const char *key, *answer;
    const struct slot *same; /* the same request, earlier in the list */
    bool over;               /* the answer is there, or none will come */
};

struct akgen_error *cot_asker_open(struct store *store, const struct gen_model *model, struct cot_asker **result)
{
    struct cot_asker *asker = memory_alloc(sizeof *asker);
    *asker = (struct cot_asker){
        .store = store, .model = model, .lock = PTHREAD_MUTEX_INITIALIZER, .came = PTHREAD_COND_INITIALIZER};
    struct gen_template_folders folders = {.own = arena_printf(&asker->arena, "%s/prompts/cot", toolchain_home())};
    struct akgen_error *error = gen_templates_read(&asker->arena, &folders, templates, known, &asker->templates);
    if (!error)
        error = gen_client_open(&model->endpoint, &asker->client);
    if (error) {
        cot_asker_close(asker);
        return error;
    }
    asker->settings = gen_model_settings(&asker->arena, model);
    asker->source = arena_printf(&asker->arena, "model %.12s", digest_of_string(&asker->arena, asker->settings));
    *result = asker;
    return NULL;
}

void cot_asker_close(struct cot_asker *asker)
{
    if (!asker)
        return;
    if (asker->client)
        gen_client_close(asker->client);
    error_free(asker->error);
    arena_free(&asker->arena);
    free(asker);
}

const char *cot_asker_source(const struct cot_asker *asker)
{
    return asker->source;
}

const char *cot_asker_model(const struct cot_asker *asker)
{
    const struct gen_endpoint *endpoint = &asker->model->endpoint;
    return endpoint->model ? endpoint->model : "a command";
}

struct cot_asked cot_asker_sum(struct cot_asker *asker)
{
    pthread_mutex_lock(&asker->lock);
    struct cot_asked sum = asker->sum;
    pthread_mutex_unlock(&asker->lock);
    return sum;
}

static void count_tokens(struct cot_asker *asker, const struct gen_reply *reply)
{
    struct cot_asked *sum = &asker->sum;
    const struct gen_model *model = asker->model;
    if (reply->prompt_tokens >= 0 && reply->completion_tokens >= 0) {
        sum->tokens += reply->prompt_tokens + reply->completion_tokens;
        sum->cost += gen_model_cost(model, reply->prompt_tokens, reply->completion_tokens);
    }
    if (!sum->ended && model->token_limit && sum->tokens >= model->token_limit)
        sum->ended = "the limit of tokens is reached";
    if (!sum->ended && model->cost_limit > 0 && sum->cost >= model->cost_limit)
        sum->ended = "the limit of costs is reached";
}

/* A reply becomes its slot's answer, which is kept before anything else happens; with the lock. */
static void settle(struct cot_asker *asker, const struct gen_reply *reply)
{
    struct slot *slot = reply->closure;
    struct cot_asked *sum = &asker->sum;
    slot->over = true;
    if (reply->failure || !reply->count) {
        sum->failed++;
        sum->failure = arena_strdup(&asker->arena, reply->failure ? reply->failure : "no answer came");
        if (reply->hopeless && !sum->ended) {
            sum->ended = sum->failure;
            gen_client_stop(asker->client);
        }
        return;
    }
    sum->asked++;
    count_tokens(asker, reply);
    slot->answer = arena_strdup(slot->arena, reply->choices[0].text ? reply->choices[0].text : "");
    struct akgen_error *error = cot_store_keep_asked(asker->store, slot->key, asker->source, slot->answer);
    if (asker->error)
        error_free(error);
    else
        asker->error = error;
}

/* Waits for the next reply, whose ever it is; with the lock. */
static void take(struct cot_asker *asker)
{
    asker->taking = true;
    pthread_mutex_unlock(&asker->lock);
    struct gen_reply *reply = gen_client_next(asker->client);
    pthread_mutex_lock(&asker->lock);
    asker->taking = false;
    if (reply) {
        settle(asker, reply);
        gen_reply_free(reply);
    } else
        asker->stopped = true;
    pthread_cond_broadcast(&asker->came);
}

static void submit(struct cot_asker *asker, const char *text, struct slot *slot)
{
    const struct gen_model *model = asker->model;
    const struct gen_message message = {"user", text};
    const struct gen_request request = {.messages = &message,
                                        .message_count = 1,
                                        .sampling = model->sampling,
                                        .n = 1,
                                        .seeded = model->seeded,
                                        .seed = model->seed,
                                        .closure = slot};
    if (asker->sum.ended || asker->stopped)
        slot->over = true;
    else
        gen_client_submit(asker->client, &request);
}

static const char *text_of(struct cot_asker *asker, struct arena *arena, const struct cot_prompt *p)
{
    const char *const values[] = {p->name,   p->heading, p->count,   p->question, p->chain,
                                  p->answer, p->passage, p->related, NULL};
    return gen_templates_fill(arena, asker->templates, p->template, values);
}

/* Looks an answer up, or asks for it; with the lock. */
static struct akgen_error *ask_for(struct cot_asker *asker, const char *text, struct slot *slots, int i)
{
    struct slot *slot = &slots[i];
    slot->key = digest_of_string(slot->arena, arena_printf(slot->arena, "%s\n%s", asker->settings, text));
    for (int j = 0; j < i && !slot->same; j++)
        if (strcmp(slots[j].key, slot->key) == 0)
            slot->same = slots[j].same ? slots[j].same : &slots[j];
    if (slot->same) {
        slot->over = true;
        return NULL;
    }
    struct akgen_error *error = cot_store_asked(asker->store, slot->arena, slot->key, &slot->answer);
    slot->over = error || slot->answer;
    asker->sum.known += slot->answer != NULL;
    if (!slot->over)
        submit(asker, text, slot);
    return error;
}

struct akgen_error *cot_ask(struct cot_asker *asker, struct arena *arena, const struct cot_prompt *prompts, int count,
                            const char **answers, int *lacking)
{
    struct akgen_error *error = NULL;
    struct slot *slots = arena_alloc(arena, sizeof *slots * (size_t)(count + 1));
    int begun = 0;
    *lacking = 0;
    pthread_mutex_lock(&asker->lock);
    for (; begun < count && !error; begun++) {
        slots[begun].arena = arena;
        error = ask_for(asker, text_of(asker, arena, &prompts[begun]), slots, begun);
    }
    for (int i = 0; i < begun; i++)
        while (!slots[i].over && !asker->stopped)
            if (asker->taking)
                pthread_cond_wait(&asker->came, &asker->lock);
            else
                take(asker);
    if (!error) {
        error = asker->error;
        asker->error = NULL;
    }
    pthread_mutex_unlock(&asker->lock);
    for (int i = 0; i < count; i++) {
        const char *answer = slots[i].same ? slots[i].same->answer : slots[i].answer;
        *lacking += !answer;
        answers[i] = answer && text_is_utf8(answer) ? answer : NULL;
    }
    return error;
}

const char *cot_behind_thoughts(const char *answer)
{
    static const char end[] = "</think>";
    for (const char *at = answer; (at = strstr(at, end)); at++)
        answer = at + sizeof end - 1;
    return answer;
}

const char *cot_between(struct arena *arena, const char **at, const char *tag)
{
    const char *open = arena_printf(arena, "<%s>", tag), *close = arena_printf(arena, "</%s>", tag),
               *begin = strstr(*at, open);
    begin = begin ? begin + strlen(open) : NULL;
    const char *end = begin ? strstr(begin, close) : NULL;
    if (!end)
        return NULL;
    *at = end + strlen(close);
    while (begin < end && strchr(" \t\r\n", *begin))
        begin++;
    while (end > begin && strchr(" \t\r\n", end[-1]))
        end--;
    return end > begin ? arena_strndup(arena, begin, (size_t)(end - begin)) : NULL;
}
