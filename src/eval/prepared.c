/* Inputs and expected outputs of cases, kept between the candidates of a task: with a hundred samples a task, making
 * them again would cost more than running the candidates. An entry is made by the first who asks; others wait for it.
 * What nobody uses goes, oldest first, when the cache is over its size. */
#include "eval/eval_internal.h"
#include "base/memory.h"

#include <pthread.h>
#include <stdlib.h>

struct prepared {
    struct prepared *next;
    struct eval_cache *cache; /* NULL: belongs to its only user */
    const struct task_case *task_case;
    uint64_t seed;
    bool full;
    enum task_profile profile;
    struct task_instance *instance;
    struct task_argument *expected;
    pthread_mutex_t lock; /* held while the instance or the reference is made */
    int users;            /* guarded by the cache's lock, like what follows */
    uint64_t bytes, used_at;
};
struct eval_cache {
    pthread_mutex_t lock;
    struct giants giants;
    struct prepared *entries;
    uint64_t limit, clock;
};

static void prepared_free(struct prepared *prepared)
{
    task_outputs_free(prepared->expected);
    task_instance_free(prepared->instance);
    pthread_mutex_destroy(&prepared->lock);
    free(prepared);
}

struct eval_cache *eval_cache_create(uint64_t bytes)
{
    static const struct giants none = GIANTS_NONE;
    struct eval_cache *cache = memory_alloc(sizeof *cache);
    cache->limit = bytes;
    cache->giants = none;
    pthread_mutex_init(&cache->lock, NULL);
    return cache;
}

void eval_cache_destroy(struct eval_cache *cache)
{
    while (cache->entries) {
        struct prepared *next = cache->entries->next;
        prepared_free(cache->entries);
        cache->entries = next;
    }
    pthread_mutex_destroy(&cache->lock);
    free(cache);
}

void eval_cache_forget(struct eval_cache *cache, const struct task *task)
{
    pthread_mutex_lock(&cache->lock);
    for (struct prepared **at = &cache->entries, *gone; (gone = *at);)
        if (gone->task_case >= task->cases && gone->task_case < task->cases + task->case_count) {
            *at = gone->next;
            prepared_free(gone);
        } else
            at = &gone->next;
    pthread_mutex_unlock(&cache->lock);
}

struct giants *eval_cache_giants(struct eval_cache *cache)
{
    return &cache->giants;
}

static struct prepared *prepared_new(const struct task *task, const struct task_case *task_case, uint64_t seed,
                                     const struct eval_options *options)
{
    struct prepared *prepared = memory_alloc(sizeof *prepared);
    pthread_mutex_init(&prepared->lock, NULL);
    prepared->task_case = task_case;
    prepared->seed = seed;
    /* A kernel alone hard-codes the published shape: a smaller case could not stand in for it. */
    prepared->full = options->full || options->scope == EVAL_KERNEL;
    prepared->profile = task_judged_by(task, options->profile);
    return prepared;
}

/* The entry of the case, counted as used; made (empty) if it is not there. */
static struct prepared *find(struct eval_cache *cache, const struct task *task, const struct task_case *task_case,
                             uint64_t seed, const struct eval_options *options)
{
    struct prepared *wanted = prepared_new(task, task_case, seed, options), *entry;
    pthread_mutex_lock(&cache->lock);
    for (entry = cache->entries; entry; entry = entry->next)
        if (entry->task_case == task_case && entry->seed == seed && entry->full == wanted->full &&
            entry->profile == wanted->profile)
            break;
    if (entry)
        prepared_free(wanted);
    else {
        entry = wanted;
        entry->cache = cache;
        entry->next = cache->entries;
        cache->entries = entry;
    }
    entry->users++;
    entry->used_at = ++cache->clock;
    pthread_mutex_unlock(&cache->lock);
    return entry;
}

struct akgen_error *prepared_get(const struct task *task, const struct task_case *task_case, uint64_t seed, bool keep,
                                 const struct eval_options *options, struct prepared **result)
{
    struct akgen_error *error = NULL;
    struct prepared *prepared = keep && options->cache ? find(options->cache, task, task_case, seed, options)
                                                       : prepared_new(task, task_case, seed, options);
    pthread_mutex_lock(&prepared->lock);
    if (!prepared->instance)
        error = task_instance_make(task, task_case, seed, prepared->full, &prepared->instance);
    pthread_mutex_unlock(&prepared->lock);
    if (error)
        prepared_release(prepared);
    *result = error ? NULL : prepared;
    return error;
}

const struct task_instance *prepared_instance(const struct prepared *prepared)
{
    return prepared->instance;
}

const struct task_argument *prepared_expected(struct prepared *prepared)
{
    pthread_mutex_lock(&prepared->lock);
    if (!prepared->expected)
        prepared->expected = task_reference(prepared->instance, prepared->profile);
    pthread_mutex_unlock(&prepared->lock);
    return prepared->expected;
}

static uint64_t tensor_bytes(const struct task_argument *arguments, int count, bool doubles)
{
    uint64_t bytes = 0;
    for (int i = 0; arguments && i < count; i++)
        for (int t = 0; t < arguments[i].count; t++)
            bytes += (uint64_t)arguments[i].tensors[t].elements *
                     (doubles ? sizeof(double) : akgen_dtype_size(arguments[i].tensors[t].type));
    return bytes;
}

/* Removes the unused entry that was used longest ago; false if all are in use. */
static bool drop_oldest(struct eval_cache *cache)
{
    struct prepared **oldest = NULL;
    for (struct prepared **at = &cache->entries; *at; at = &(*at)->next)
        if (!(*at)->users && (!oldest || (*at)->used_at < (*oldest)->used_at))
            oldest = at;
    if (!oldest)
        return false;
    struct prepared *gone = *oldest;
    *oldest = gone->next;
    prepared_free(gone);
    return true;
}

static uint64_t total(const struct eval_cache *cache)
{
    uint64_t bytes = 0;
    for (const struct prepared *entry = cache->entries; entry; entry = entry->next)
        bytes += entry->bytes;
    return bytes;
}

void prepared_release(struct prepared *prepared)
{
    struct eval_cache *cache = prepared->cache;
    if (!cache) {
        prepared_free(prepared);
        return;
    }
    pthread_mutex_lock(&cache->lock);
    const struct task_instance *instance = prepared->instance;
    if (instance)
        prepared->bytes = tensor_bytes(instance->inputs, instance->task->input_count, false) +
                          tensor_bytes(prepared->expected, instance->task->output_count, true);
    prepared->users--;
    while (total(cache) > cache->limit && drop_oldest(cache))
        ;
    pthread_mutex_unlock(&cache->lock);
}
