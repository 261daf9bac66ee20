/* Blocks of seeds as the sources of a step. */
#include "cot/blocks.h"

static int64_t first_of(const struct cot_blocks *blocks, int index)
{
    return blocks->first + (int64_t)index * blocks->size;
}

static int64_t count_of(const struct cot_blocks *blocks, int index)
{
    int64_t left = blocks->count - (int64_t)index * blocks->size;
    return left < blocks->size ? left : blocks->size;
}

static void name(void *closure, int index, struct cot_block *block)
{
    const struct cot_blocks *blocks = closure;
    const int64_t first = first_of(blocks, index);
    block->source = arena_printf(&block->arena, "seeds %lld to %lld%s", (long long)first,
                                 (long long)(first + count_of(blocks, index) - 1), blocks->options);
}

static struct akgen_error *make(void *closure, int index, const char *scratch, struct cot_block *block)
{
    const struct cot_blocks *blocks = closure;
    return blocks->make(blocks->closure, first_of(blocks, index), count_of(blocks, index), scratch, block);
}

struct akgen_error *cot_blocks_run(struct cot_blocks *blocks)
{
    struct cot_step step = {.store = blocks->store,
                            .step = blocks->step,
                            .count = (int)((blocks->count + blocks->size - 1) / blocks->size),
                            .jobs = blocks->jobs,
                            .name = name,
                            .make = make,
                            .closure = blocks};
    struct akgen_error *error = cot_step_run(&step);
    blocks->counts = step.counts;
    return error;
}
