/* Blocks of seeds: computed in any order, entered in theirs. */
#include "cot/blocks.h"
#include "base/array.h"
#include "base/clock.h"
#include "base/files.h"
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

struct run {
    struct cot_blocks *blocks;
    const char *scratch; /* a folder with one for each block that is being made */
    double begin;
    pthread_mutex_t lock; /* guards what follows, the store and the counts */
    pthread_cond_t turn;
    int64_t next; /* block that enters next */
    struct akgen_error *error;
};

static void count(struct run *run, const struct cot_block *block)
{
    struct cot_blocks *blocks = run->blocks;
    blocks->made += block->made;
    blocks->contaminated += block->contaminated;
    blocks->on_machine += block->on_machine;
    for (int i = 0; i < block->drop_count; i++)
        blocks->dropped += block->drops[i].count;
    if (isatty(STDERR_FILENO))
        fprintf(stderr, "\r%lld made, %.0f/s ", (long long)blocks->made,
                (double)blocks->made / (clock_seconds() - run->begin));
}

/* Waits for its turn, then adds. `block` is NULL for one that is in. */
static void enter(struct run *run, int64_t number, const char *source, const struct cot_block *block,
                  struct akgen_error *error)
{
    pthread_mutex_lock(&run->lock);
    while (run->next != number && !run->error)
        pthread_cond_wait(&run->turn, &run->lock);
    if (!run->error && !error && block) {
        const struct cot_batch batch = {.step = run->blocks->step,
                                        .source = source,
                                        .samples = block->samples,
                                        .count = block->sample_count,
                                        .drops = block->drops,
                                        .drop_count = block->drop_count};
        error = cot_store_put(run->blocks->store, &batch, NULL);
        count(run, block);
    }
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
    struct cot_blocks *blocks = run->blocks;
    int64_t first = blocks->first + (int64_t)index * blocks->size, left = blocks->count - (int64_t)index * blocks->size,
            some = left < blocks->size ? left : blocks->size;
    struct arena arena = {0};
    struct cot_block block = {0};
    const char *source =
        arena_printf(&arena, "seeds %lld to %lld%s", (long long)first, (long long)(first + some - 1), blocks->options);
    const char *scratch = arena_printf(&arena, "%s/%d", run->scratch, index);
    bool done = true;
    pthread_mutex_lock(&run->lock);
    struct akgen_error *error = run->error ? NULL : cot_store_done(blocks->store, blocks->step, source, &done);
    pthread_mutex_unlock(&run->lock);
    if (!error && !done && !(error = files_make_directory(scratch))) {
        error = blocks->make(blocks->closure, first, some, scratch, &block);
        files_remove_tree(scratch);
    }
    enter(run, index, source, done ? NULL : &block, error);
    arena_free(&block.arena);
    arena_free(&arena);
}

struct akgen_error *cot_blocks_run(struct cot_blocks *blocks)
{
    struct run run = {.blocks = blocks,
                      .begin = clock_seconds(),
                      .lock = PTHREAD_MUTEX_INITIALIZER,
                      .turn = PTHREAD_COND_INITIALIZER};
    struct arena arena = {0};
    run.error = files_make_scratch(&arena, "akgen-cot", &run.scratch);
    if (!run.error) {
        workers_run((int)((blocks->count + blocks->size - 1) / blocks->size), blocks->jobs, work, &run);
        files_remove_tree(run.scratch);
    }
    blocks->seconds = clock_seconds() - run.begin;
    if (isatty(STDERR_FILENO))
        fputc('\n', stderr);
    arena_free(&arena);
    return run.error;
}
