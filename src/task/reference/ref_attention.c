/* Attention (level 3: GMM). The modules compute in float32; sums are kept in double and rounded once. */
#include "base/memory.h"
#include "task/reference/product.h"
#include "task/reference/reference.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#define R(value) reference_round(steps, value)

/* Scores become weights, in place: softmax(score scale). */
static void weigh(enum akgen_dtype steps, int64_t length, double scale, double *score)
{
    double greatest = -INFINITY, sum = 0;
    for (int64_t i = 0; i < length; i++) {
        score[i] = R(R(score[i]) * R(scale));
        greatest = fmax(greatest, score[i]);
    }
    for (int64_t i = 0; i < length; i++) {
        score[i] = R(exp(R(score[i] - greatest)));
        sum += score[i];
    }
    sum = R(sum);
    for (int64_t i = 0; i < length; i++)
        score[i] = R(score[i] / sum);
}

/* softmax(query key^T scale) value per batch. All are (batch, length, width); the module knows no heads. Outputs 0 and
 * 1 are not judged: the module does not have them. */
static void flash_attention(struct reference_call *call)
{
    enum { ROWS = 128 };
    const struct task_tensor *query = reference_input(call, 0), *out = reference_result(call, 2);
    enum akgen_dtype steps = reference_steps(call, AKGEN_FLOAT);
    int64_t length = query->dims[1], width = query->dims[2], size = length * width;
    double scale = reference_attr(call, 0);
    double *scores = reference_numbers(call, ROWS * length), *block = reference_numbers(call, ROWS * width);
    for (int64_t batch = 0; batch < query->dims[0]; batch++) {
        double *key = reference_part(reference_input(call, 1), batch * size, size);
        double *value = reference_part(reference_input(call, 2), batch * size, size);
        for (int64_t first = 0; first < length; first += ROWS) {
            int64_t rows = length - first < ROWS ? length - first : ROWS, at = batch * size + first * width;
            struct product score = {.m = rows, .k = width, .n = length, .b_transposed = true};
            struct product mix = {.m = rows, .k = length, .n = width};
            task_read_double(query, at, (int)(rows * width), block);
            reference_product(&score, block, key, scores);
            for (int64_t i = 0; i < rows; i++)
                weigh(steps, length, scale, scores + i * length);
            reference_product(&mix, scores, value, block);
            for (int64_t i = 0; i < rows * width; i++)
                block[i] = R(block[i]);
            task_write_double(out, at, (int)(rows * width), block);
        }
        free(key);
        free(value);
    }
}

/* Multi-head latent attention over a paged cache. */
struct mla {
    enum akgen_dtype steps;
    double *query[2], *cache[2]; /* both parts: without and with position */
    int64_t width[2];            /* their sizes per head */
    int64_t heads, cache_heads, block_size, blocks_per_sequence;
    const struct task_tensor *block_table;
};

/* Where key `position` of a sequence lies in the cache, in heads. */
static int64_t cache_place(const struct mla *mla, int64_t sequence, int64_t position, int64_t head)
{
    int64_t block;
    task_read_integer(mla->block_table, sequence * mla->blocks_per_sequence + position / mla->block_size, 1, &block);
    return (block * mla->block_size + position % mla->block_size) * mla->cache_heads +
           head / (mla->heads / mla->cache_heads);
}

/* One head of one token: y (width[0]) from the keys of its sequence. */
static void attend(const struct mla *mla, int64_t token, int64_t sequence, int64_t keys, int64_t head, double *scores,
                   double *y)
{
    enum akgen_dtype steps = mla->steps;
    for (int64_t key = 0; key < keys; key++) {
        int64_t place = cache_place(mla, sequence, key, head);
        scores[key] = 0;
        for (int part = 0; part < 2; part++) {
            const double *q = mla->query[part] + (token * mla->heads + head) * mla->width[part];
            const double *k = mla->cache[part] + place * mla->width[part];
            for (int64_t i = 0; i < mla->width[part]; i++)
                scores[key] += q[i] * k[i];
        }
    }
    weigh(steps, keys, 1 / sqrt((double)(mla->width[0] + mla->width[1])), scores);
    for (int64_t i = 0; i < mla->width[0]; i++)
        y[i] = 0;
    for (int64_t key = 0; key < keys; key++) {
        const double *value = mla->cache[0] + cache_place(mla, sequence, key, head) * mla->width[0];
        for (int64_t i = 0; i < mla->width[0]; i++)
            y[i] += scores[key] * value[i];
    }
    for (int64_t i = 0; i < mla->width[0]; i++)
        y[i] = R(y[i]);
}

static struct mla mla_of(const struct reference_call *call)
{
    const struct task_tensor *cache = reference_input(call, 2), *table = reference_input(call, 4);
    struct mla mla = {.steps = reference_steps(call, AKGEN_FLOAT),
                      .heads = reference_input(call, 0)->dims[1],
                      .cache_heads = cache->dims[2],
                      .block_size = cache->dims[1],
                      .blocks_per_sequence = table->dims[1],
                      .block_table = table};
    for (int part = 0; part < 2; part++) {
        const struct task_tensor *query = reference_input(call, part);
        mla.width[part] = query->dims[2];
        mla.query[part] = reference_read_all(call, query);
        mla.cache[part] = reference_read_all(call, reference_input(call, 2 + part));
    }
    return mla;
}

/* Queries are [nope | rope], keys [kv_nope | kv_rope], values kv_nope; the keys of a sequence lie in the blocks that
 * its row of block_tables names. Attributes: tokens per sequence, keys per sequence. */
static void mla(struct reference_call *call)
{
    struct mla mla = mla_of(call);
    double *y = reference_numbers(call, mla.width[0]);
    int64_t token = 0;
    reference_retype(call, 0, AKGEN_FLOAT);
    for (int64_t sequence = 0; sequence < reference_item_count(call, 0); sequence++) {
        int64_t length = reference_item(call, 1, sequence), end = token + reference_item(call, 0, sequence);
        double *scores = memory_alloc(((size_t)length + 1) * sizeof *scores);
        for (; token < end; token++)
            for (int64_t head = 0; head < mla.heads; head++) {
                attend(&mla, token, sequence, length, head, scores, y);
                task_write_double(reference_result(call, 0), (token * mla.heads + head) * mla.width[0],
                                  (int)mla.width[0], y);
            }
        free(scores);
    }
}

/* Tokens and keys per sequence: the tokens add up to the queries', the keys have room in the blocks. */
static struct akgen_error *mla_fits(const struct reference_call *call)
{
    const struct task_tensor *query = reference_input(call, 0), *cache = reference_input(call, 2);
    const struct task_tensor *table = reference_input(call, 4);
    int64_t tokens = 0, room = table->dims[1] * cache->dims[1];
    if (reference_item_count(call, 0) != table->dims[0] || reference_item_count(call, 1) != table->dims[0])
        return error_new("q_seqlen_list has %" PRId64 " and k_seqlen_list %" PRId64 " numbers, there are %" PRId64
                         " sequences",
                         reference_item_count(call, 0), reference_item_count(call, 1), table->dims[0]);
    for (int64_t s = 0; s < table->dims[0]; s++) {
        int64_t queries = reference_item(call, 0, s), keys = reference_item(call, 1, s);
        if (queries < 0 || queries > query->dims[0] || keys < 0 || keys > room)
            return error_new("sequence %" PRId64 " has %" PRId64 " tokens and %" PRId64
                             " keys, there are at most %" PRId64 " and %" PRId64,
                             s, queries, keys, query->dims[0], room);
        tokens += queries;
    }
    return tokens == query->dims[0] ? NULL
                                    : error_new("q_seqlen_list adds up to %" PRId64 ", there are %" PRId64 " tokens",
                                                tokens, query->dims[0]);
}

const struct task_reference_entry task_references_attention[] = {
    REFERENCE(flash_attention,
              "query floating [batch, length, width], key =query [batch, length, width], value =query [batch, length, "
              "width] -> softmax_max! float32 [*maxima], softmax_sum! float32 [*maxima], attention_out =query [batch, "
              "length, width]; scale_value float = 0.125, head_num int in 1.. = 2"),
    REFERENCE(mla,
              "query_nope floating [tokens, kv_heads*each, nope], query_rope =query_nope [tokens, kv_heads*each, "
              "rope], kv_nope_cache =query_nope [blocks, block_size, kv_heads, nope], kv_rope_cache =query_nope "
              "[blocks, block_size, kv_heads, rope], block_tables index [sequences, most] in 0..blocks-1 'arange' -> "
              "out =query_nope [tokens, kv_heads*each, nope]; q_seqlen_list list_int = [1, 2], k_seqlen_list list_int "
              "= [5, 7] | size tokens 3 | size blocks 6 | size block_size 4 | size sequences 2 | size most 2",
              .fits = mla_fits),
    {NULL, NULL, NULL, NULL},
};
