/* Sources: made in any order, entered in theirs. */
#include "cot/step.h"
#include "base/array.h"
#include "base/clock.h"
#include "base/files.h"
#include "base/scratch.h"
#include "base/workers.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

void cot_block_add(struct cot_block *block, const struct cot_sample *sample)
{
    ARRAY_ADD(&block->arena, block->samples, block->sample_count, block->sample_capacity, *sample);
}

void cot_block_drop(struct cot_block *block, const char *reason)
{
    int i = 0;
    while (i < block->drop_count && strcmp(block->drops[i].reason, reason) != 0)
        i++;
    if (i == block->drop_count)
        ARRAY_ADD(&block->arena, block->drops, block->drop_count, block->drop_capacity,
                  (struct cot_drop){.reason = reason});
    block->drops[i].count++;
}

struct cot_batch cot_block_batch(const struct cot_block *block, const char *step)
{
    return (struct cot_batch){.step = step,
                              .source = block->source,
                              .samples = block->samples,
                              .count = block->sample_count,
                              .drops = block->drops,
                              .drop_count = block->drop_count};
}

struct run {
    struct cot_step *step;
    struct scratch scratch; /* with a folder for each source that is being made */
    double begin;
    pthread_mutex_t lock; /* guards what follows, the store and the counts */
    pthread_cond_t turn;
    int64_t next; /* source that enters next */
    struct akgen_error *error;
};

static void count(struct run *run, const struct cot_block *block, const struct cot_put *put)
{
    struct cot_counts *counts = &run->step->counts;
    counts->sources++;
    counts->added += put->added;
    counts->repeated += put->repeated;
    counts->made += block->made;
    counts->contaminated += block->contaminated;
    counts->on_machine += block->on_machine;
    counts->unusable += block->unusable;
    for (int i = 0; i < block->drop_count; i++)
        counts->dropped += block->drops[i].count;
    if (isatty(STDERR_FILENO))
        fprintf(stderr, "\r%lld samples, %.0f/s ", (long long)counts->added,
                (double)counts->added / (clock_seconds() - run->begin));
}

/* Adds what a source made, if another process has not done so by now. */
static struct akgen_error *put(struct run *run, const struct cot_block *block)
{
    const struct cot_batch batch = cot_block_batch(block, run->step->step);
    struct cot_put put = {0};
    struct akgen_error *error = cot_store_put(run->step->store, &batch, &put);
    if (!error && !put.done_before)
        count(run, block, &put);
    return error;
}

/* Waits for its turn, then adds. `block` is NULL for one that is in. */
static void enter(struct run *run, int64_t number, const struct cot_block *block, struct akgen_error *error)
{
    pthread_mutex_lock(&run->lock);
    while (run->next != number && !run->error)
        pthread_cond_wait(&run->turn, &run->lock);
    if (!run->error && !error && block && block->unfinished)
        run->step->counts.unfinished++;
    else if (!run->error && !error && block)
        error = put(run, block);
    if (!run->error)
        run->error = error;
    else
        error_free(error);
    run->next = number + 1;
    pthread_cond_broadcast(&run->turn);
    pthread_mutex_unlock(&run->lock);
}

static void work(void *closure, int index)
{
    struct run *run = closure;
    struct cot_step *step = run->step;
    struct arena arena = {0};
    struct cot_block block = {0};
    struct akgen_error *error = NULL;
    bool done = true;
    pthread_mutex_lock(&run->lock);
    bool ended = run->error;
    pthread_mutex_unlock(&run->lock);
    if (!ended)
        step->name(step->closure, index, &block);
    if (block.source)
        error = cot_store_done(step->store, step->step, block.source, &done);
    if (!error && !done) {
        const char *scratch = arena_printf(&arena, "%s/%d", run->scratch.path, index);
        if (!(error = files_make_directory(scratch)))
            error = step->make(step->closure, index, scratch, &block);
        files_remove_tree(scratch);
    }
    enter(run, index, done ? NULL : &block, error);
    arena_free(&block.arena);
    arena_free(&arena);
}

struct akgen_error *cot_step_run(struct cot_step *step)
{
    struct run run = {
        .step = step, .begin = clock_seconds(), .lock = PTHREAD_MUTEX_INITIALIZER, .turn = PTHREAD_COND_INITIALIZER};
    struct arena arena = {0};
    step->counts = (struct cot_counts){0};
    run.error = scratch_make(&arena, "akgen-cot", &run.scratch);
    if (!run.error)
        workers_run(step->count, step->jobs, work, &run);
    scratch_remove(&run.scratch);
    step->counts.seconds = clock_seconds() - run.begin;
    if (isatty(STDERR_FILENO))
        fputc('\n', stderr);
    arena_free(&arena);
    return run.error;
}
