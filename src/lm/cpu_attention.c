/* Attention by blocks of queries: the scores of some queries of the heads that share keys, against all keys that they see, are in a worker's scratch at
 * a time, never a matrix of all against all. The way back computes them again from the logarithms of the sums that the way there kept.
 *
 * A block is what one product multiplies: the rows of its queries in the group's first head, then those in its second one, and so on; where a text has a
 * single query (a model that writes), the rows that lie there. */
#include "lm/cpu_internal.h"

#include <math.h>
#include <string.h>

#define FAST _Pragma("clang fp reassociate(on) contract(fast)")

/* Rows of a block, about; its queries; queries for which a group's keys are rounded once. */
enum { ROWS = 256, FEWEST = 16, BLOCK = 64, SPAN = 256 };

struct attention {
    struct lm_cpu *cpu;
    const struct lm_attention *shape;
    float *out, *sums, *dq, *dk, *dv;
    const float *q, *k, *v, *dout, *given; /* given: the result, on the way back */
    int v_stride, dv_stride;
    _Atomic int next; /* what nobody has taken yet */
};

static int group_of(const struct lm_heads *shape)
{
    return shape->heads / shape->kv_heads;
}

static int block_of(const struct lm_heads *shape)
{
    int block = ROWS / group_of(shape);
    return block < FEWEST ? FEWEST : block < BLOCK ? block : BLOCK;
}

/* What several products multiply with: (k, n), or where it is `turned` (n, k). */
struct second {
    const float *from;
    int64_t stride;
    bool turned;
    int64_t k;
    uint16_t *blocks; /* the same rounded; NULL: products are float32 */
};

/* A worker's scratch. */
struct work {
    float *start;
    int64_t used;
    float *q, *o, *dq, *scores, *dscores, *delta; /* of a block's rows */
    uint16_t *first;
    uint16_t *k, *k_turned, *v, *v_turned, *q_blocks, *o_blocks;
};

static void *take(struct work *work, int64_t floats)
{
    float *taken = work->start ? work->start + work->used : NULL;
    work->used += (floats + LM_CPU_LINE - 1) / LM_CPU_LINE * LM_CPU_LINE;
    return taken;
}

/* What a text of so many keys needs; `start` NULL: it is counted only. */
static struct work carve(const struct attention *at, float *start, int64_t keys)
{
    const struct lm_heads *shape = &at->shape->heads;
    int64_t d = shape->size, rows = (int64_t)group_of(shape) * block_of(shape), most = rows > keys ? rows : keys;
    int64_t across = lm_bf16_second_size(d, most), along = lm_bf16_second_size(most, d);
    int64_t blocks = (across > along ? across : along) / 2; /* floats */
    int64_t first = lm_bf16_first_size(rows, keys > d ? keys : d), turned = lm_bf16_first_size(keys, rows);
    struct work work = {.start = start};
    work.q = take(&work, rows * d);
    work.o = take(&work, rows * d);
    work.scores = take(&work, rows * keys);
    if (at->dout) {
        work.dq = take(&work, rows * d);
        work.dscores = take(&work, rows * keys);
        work.delta = take(&work, rows);
    }
    if (!at->cpu->bf16)
        return work;
    work.first = take(&work, (first > turned ? first : turned) / 2);
    work.k_turned = take(&work, blocks);
    if (!at->dout) {
        work.v = take(&work, blocks);
        return work;
    }
    work.v_turned = take(&work, blocks);
    work.k = take(&work, blocks);
    work.q_blocks = take(&work, blocks);
    work.o_blocks = take(&work, blocks);
    return work;
}

int64_t lm_cpu_attention_room(const struct lm_heads *heads, int64_t keys, bool back)
{
    struct lm_cpu cpu = {0};
    const struct lm_attention shape = {.heads = *heads};
    const struct attention attention = {.cpu = &cpu, .shape = &shape, .dout = back ? &heads->eps : NULL};
    return carve(&attention, NULL, keys).used;
}

static struct work work_of(const struct attention *at, int worker, int64_t keys)
{
    struct work counted = carve(at, NULL, keys);
    return carve(at, lm_cpu_scratch(at->cpu, worker, counted.used), keys);
}

static struct second second_of(const float *from, int64_t k, int64_t n, int64_t stride, bool turned, uint16_t *blocks)
{
    if (blocks)
        lm_bf16_second(blocks, from, k, n, stride, turned);
    return (struct second){from, stride, turned, k, blocks};
}

/* c (m, n) = a b + keep * c; `a` lies as (k, m) where it is turned. */
static void times(const struct attention *at, const struct work *work, bool turned, const float *a, int64_t a_stride,
                  const struct second *b, int64_t m, int64_t n, int64_t k, bool keep, float *c, int64_t c_stride)
{
    if (!b->blocks) {
        lm_cpu_product(turned, b->turned, m, n, k, 1, a, a_stride, b->from, b->stride, keep, c, c_stride);
        return;
    }
    lm_bf16_first(work->first, a, m, k, a_stride, turned);
    lm_bf16_multiply(at->cpu->bf16, work->first, b->blocks, b->k, m, n, k, 1, keep, c, c_stride);
}

/* Some queries of a text in the heads of a group. */
struct block {
    const struct lm_text *text;
    int kv, group, rows;
    int64_t first, head; /* row and head in q */
    int64_t seen, keys;  /* keys that the first query sees, and the last one */
};

static struct block block_at(const struct attention *at, const struct lm_text *text, int kv, int from)
{
    const struct lm_heads *shape = &at->shape->heads;
    struct block block = {.text = text, .kv = kv, .group = group_of(shape), .rows = block_of(shape)};
    block.rows = text->queries - from < block.rows ? text->queries - from : block.rows;
    block.first = text->query + from;
    block.head = (int64_t)kv * block.group;
    block.seen = text->keys - text->queries + from + 1;
    block.keys = block.seen + block.rows - 1;
    return block;
}

static int64_t place(const struct attention *at, const struct block *block, int h, int row)
{
    const struct lm_heads *shape = &at->shape->heads;
    return ((block->first + row) * shape->heads + block->head + h) * shape->size;
}

/* to (group * rows, d) = scale * what the block has of `from`, and back. */
static void gather(const struct attention *at, const struct block *block, float *restrict to,
                   const float *restrict from, float scale)
{
    int d = at->shape->heads.size;
    for (int h = 0; h < block->group; h++)
        for (int i = 0; i < block->rows; i++, to += d)
            for (int j = 0; j < d; j++)
                to[j] = scale * from[place(at, block, h, i) + j];
}

static void scatter(const struct attention *at, const struct block *block, float *restrict to,
                    const float *restrict from, float scale)
{
    int d = at->shape->heads.size;
    for (int h = 0; h < block->group; h++)
        for (int i = 0; i < block->rows; i++, from += d)
            for (int j = 0; j < d; j++)
                to[place(at, block, h, i) + j] = scale * from[j];
}

static float scale_of(const struct attention *at)
{
    return 1 / sqrtf((float)at->shape->heads.size);
}

/* Where a group's keys lie, and its values. */
static int64_t k_place(const struct attention *at, const struct lm_text *text, int kv)
{
    const struct lm_heads *shape = &at->shape->heads;
    return text->key * shape->kv_heads * shape->size + (int64_t)kv * shape->size;
}

static int64_t v_place(const struct attention *at, const struct lm_text *text, int kv, int64_t stride)
{
    return text->key * stride + (int64_t)kv * at->shape->heads.size;
}

/* Rows of scores: query `first` of the text sees `seen` keys, each later one more (or all see the same). */
LM_CPU_WIDE static void softmax(float *restrict scores, float *restrict sums, int64_t sums_stride, int rows,
                                int64_t keys, int64_t seen, int more)
{
    FAST for (int i = 0; i < rows; i++)
    {
        float *restrict row = scores + i * keys;
        int64_t n = seen + (int64_t)i * more;
        float largest = lm_largest(row, n), total = 0;
        for (int64_t j = 0; j < n; j++) {
            row[j] = lm_exp(row[j] - largest);
            total += row[j];
        }
        float scale = 1 / total;
        for (int64_t j = 0; j < n; j++)
            row[j] *= scale;
        memset(row + n, 0, (size_t)(keys - n) * sizeof *row);
        if (sums)
            sums[i * sums_stride] = largest + logf(total);
    }
}

static void block_forward(const struct attention *at, const struct work *work, const struct block *block,
                          const struct second *k_turned, const struct second *v)
{
    const struct lm_heads *shape = &at->shape->heads;
    int64_t d = shape->size, rows = (int64_t)block->group * block->rows, keys = block->keys;
    gather(at, block, work->q, at->q, scale_of(at));
    times(at, work, false, work->q, d, k_turned, rows, keys, d, false, work->scores, keys);
    for (int h = 0; h < block->group; h++)
        softmax(work->scores + h * block->rows * keys,
                at->sums ? at->sums + block->first * shape->heads + block->head + h : NULL, shape->heads, block->rows,
                keys, block->seen, 1);
    times(at, work, false, work->scores, keys, v, rows, d, keys, false, work->o, d);
    scatter(at, block, at->out, work->o, 1);
}

/* Queries [from, to) of a text in a group's heads. */
static void span_forward(const struct attention *at, const struct lm_text *text, int kv, int from, int to, int worker)
{
    const struct lm_heads *shape = &at->shape->heads;
    int64_t d = shape->size, keys = text->keys - text->queries + to;
    const struct work work = work_of(at, worker, keys);
    const struct second k_turned =
                            second_of(at->k + k_place(at, text, kv), d, keys, shape->kv_heads * d, true, work.k_turned),
                        v = second_of(at->v + v_place(at, text, kv, at->v_stride), keys, d, at->v_stride, false,
                                      work.v);
    for (int row = from; row < to; row += block_of(shape)) {
        const struct block block = block_at(at, text, kv, row);
        block_forward(at, &work, &block, &k_turned, &v);
    }
}

/* The one query of a text, in the heads that share keys and values. */
static void group_forward(const struct attention *at, const struct lm_text *text, int kv, float *scores)
{
    const struct lm_heads *shape = &at->shape->heads;
    int group = shape->heads / shape->kv_heads;
    int64_t d = shape->size, k_stride = shape->kv_heads * d,
            row = ((int64_t)text->query * shape->heads + (int64_t)kv * group);
    const float *k = at->k + text->key * k_stride + kv * d, *v = at->v + text->key * at->v_stride + kv * d;
    lm_cpu_product(false, true, group, text->keys, d, 1 / sqrtf((float)d), at->q + row * d, d, k, k_stride, 0, scores,
                   text->keys);
    softmax(scores, at->sums ? at->sums + row : NULL, 1, group, text->keys, text->keys, 0);
    lm_cpu_product(false, false, group, d, text->keys, 1, scores, text->keys, v, at->v_stride, 0, at->out + row * d, d);
}

static void forward_part(void *closure, int worker, int workers)
{
    struct attention *at = closure;
    const struct lm_heads *shape = &at->shape->heads;
    int block = block_of(shape), span = at->cpu->bf16 ? SPAN / block * block : block;
    (void)workers;
    lm_bf16_begin(at->cpu->bf16);
    int item = atomic_fetch_add(&at->next, 1), base = 0;
    for (int t = 0; t < at->shape->count; t++) {
        const struct lm_text *text = &at->shape->texts[t];
        int spans = (text->queries + span - 1) / span, items = shape->kv_heads * spans;
        for (; item < base + items; item = atomic_fetch_add(&at->next, 1)) {
            int mine = item - base, from = (spans - 1 - mine / shape->kv_heads) * span; /* the longest first */
            if (text->queries == 1)
                group_forward(at, text, mine, lm_cpu_scratch(at->cpu, worker, (int64_t)text->keys * group_of(shape)));
            else
                span_forward(at, text, mine % shape->kv_heads, from,
                             from + span < text->queries ? from + span : text->queries, worker);
        }
        base += items;
    }
    lm_bf16_end(at->cpu->bf16);
}

void lm_cpu_attention(struct lm_backend *backend, void *out, float *sums, const void *q, const void *k, const void *v,
                      int v_stride, const struct lm_attention *shape)
{
    struct attention attention = {.cpu = lm_cpu_of(backend),
                                  .shape = shape,
                                  .out = out,
                                  .sums = sums,
                                  .q = q,
                                  .k = k,
                                  .v = v,
                                  .v_stride = v_stride};
    team_run(attention.cpu->team, forward_part, &attention);
}

/* p = exp(scores - sums), and ds = p * (dp - delta) in the place of dp. */
LM_CPU_WIDE static void scores_back(float *restrict p, float *restrict dp, const float *restrict sums,
                                    int64_t sums_stride, const float *restrict delta, int rows, int64_t keys,
                                    int64_t seen)
{
    FAST for (int i = 0; i < rows; i++)
    {
        float *restrict pi = p + i * keys, *restrict di = dp + i * keys;
        int64_t n = seen + i;
        float sum = sums[i * sums_stride], less = delta[i];
        for (int64_t j = 0; j < n; j++) {
            pi[j] = lm_exp(pi[j] - sum);
            di[j] = pi[j] * (di[j] - less);
        }
        memset(pi + n, 0, (size_t)(keys - n) * sizeof *pi);
        memset(di + n, 0, (size_t)(keys - n) * sizeof *di);
    }
}

static float dot(const float *restrict a, const float *restrict b, int64_t count)
{
    FAST float sum = 0;
    for (int64_t i = 0; i < count; i++)
        sum += a[i] * b[i];
    return sum;
}

/* Queries were scaled, so that the gradient of keys is right with them, and that of queries lacks the scale. */
static void block_back(const struct attention *at, const struct work *work, const struct block *block,
                       const struct second *k_turned, const struct second *v_turned, const struct second *k)
{
    const struct lm_heads *shape = &at->shape->heads;
    int64_t d = shape->size, rows = (int64_t)block->group * block->rows, keys = block->keys;
    float *p = work->scores, *dp = work->dscores;
    gather(at, block, work->q, at->q, scale_of(at));
    gather(at, block, work->o, at->dout, 1);
    times(at, work, false, work->q, d, k_turned, rows, keys, d, false, p, keys);
    times(at, work, false, work->o, d, v_turned, rows, keys, d, false, dp, keys);
    for (int h = 0; h < block->group; h++) {
        float *delta = work->delta + (ptrdiff_t)h * block->rows;
        for (int i = 0; i < block->rows; i++)
            delta[i] = dot(at->dout + place(at, block, h, i), at->given + place(at, block, h, i), d);
        scores_back(p + h * block->rows * keys, dp + h * block->rows * keys,
                    at->sums + block->first * shape->heads + block->head + h, shape->heads, delta, block->rows, keys,
                    block->seen);
    }
    times(at, work, false, dp, keys, k, rows, d, keys, false, work->dq, d);
    scatter(at, block, at->dq, work->dq, scale_of(at));
    const struct second q = second_of(work->q, rows, d, d, false, work->q_blocks),
                        o = second_of(work->o, rows, d, d, false, work->o_blocks);
    times(at, work, true, dp, keys, &q, keys, d, rows, true, at->dk + k_place(at, block->text, block->kv),
          shape->kv_heads * d);
    times(at, work, true, p, keys, &o, keys, d, rows, true, at->dv + v_place(at, block->text, block->kv, at->dv_stride),
          at->dv_stride);
}

/* All queries that see one text's keys in one of their heads: nobody else adds to their gradients. */
static void keys_back(const struct attention *at, const struct lm_text *text, int kv, int worker)
{
    const struct lm_heads *shape = &at->shape->heads;
    int64_t d = shape->size, k_stride = shape->kv_heads * d;
    const struct work work = work_of(at, worker, text->keys);
    const float *keys = at->k + k_place(at, text, kv), *values = at->v + v_place(at, text, kv, at->v_stride);
    float *dk = at->dk + k_place(at, text, kv), *dv = at->dv + v_place(at, text, kv, at->dv_stride);
    for (int64_t j = 0; j < text->keys; j++) {
        memset(dk + j * k_stride, 0, (size_t)d * sizeof *dk);
        memset(dv + j * at->dv_stride, 0, (size_t)d * sizeof *dv);
    }
    const struct second k_turned = second_of(keys, d, text->keys, k_stride, true, work.k_turned),
                        v_turned = second_of(values, d, text->keys, at->v_stride, true, work.v_turned),
                        k = second_of(keys, text->keys, d, k_stride, false, work.k);
    for (int from = 0; from < text->queries; from += block_of(shape)) {
        const struct block block = block_at(at, text, kv, from);
        block_back(at, &work, &block, &k_turned, &v_turned, &k);
    }
}

static void back_part(void *closure, int worker, int workers)
{
    struct attention *at = closure;
    int kv_heads = at->shape->heads.kv_heads;
    (void)workers;
    lm_bf16_begin(at->cpu->bf16);
    for (int item; (item = atomic_fetch_add(&at->next, 1)) < at->shape->count * kv_heads;)
        keys_back(at, &at->shape->texts[item / kv_heads], item % kv_heads, worker);
    lm_bf16_end(at->cpu->bf16);
}

void lm_cpu_attention_back(struct lm_backend *backend, void *dq, void *dk, void *dv, int dv_stride, const void *dout,
                           const void *out, const float *sums, const void *q, const void *k, const void *v,
                           int v_stride, const struct lm_attention *shape)
{
    struct attention attention = {.cpu = lm_cpu_of(backend),
                                  .shape = shape,
                                  .sums = (float *)sums,
                                  .dq = dq,
                                  .dk = dk,
                                  .dv = dv,
                                  .dv_stride = dv_stride,
                                  .dout = dout,
                                  .given = out,
                                  .q = q,
                                  .k = k,
                                  .v = v,
                                  .v_stride = v_stride};
    team_run(attention.cpu->team, back_part, &attention);
}
