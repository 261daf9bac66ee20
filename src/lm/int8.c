#include "lm/int8.h"

#include "base/memory.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* The largest magnitude; that of a row with anything that is not finite is not either. Magnitudes are in the order of their bits, which
 * vectors compare faster. */
static float largest_of(const float *restrict from, int64_t count)
{
    uint32_t largest = 0;
    for (int64_t i = 0; i < count; i++) {
        uint32_t bits;
        memcpy(&bits, &from[i], sizeof bits);
        bits &= 0x7fffffffU;
        largest = bits > largest ? bits : largest;
    }
    float magnitude;
    memcpy(&magnitude, &largest, sizeof magnitude);
    return magnitude;
}

/* The scale of a row, and the row over it. A row too small for a scale with all its digits becomes zeros. */
static float quantise(int8_t *restrict to, const float *restrict from, int64_t count, float largest)
{
    bool zeros = largest < 127 * FLT_MIN;
    float factor = zeros ? 0 : 127 / largest;
    for (int64_t i = 0; i < count; i++)
        to[i] = (int8_t)rintf(from[i] * factor);
    return zeros ? 0 : largest / 127;
}

static struct akgen_error *quantise_matrix(struct lm_int8 *int8, int i, const float *weights)
{
    const struct lm_parameter *parameter = &int8->layout->parameters[i];
    int64_t width = parameter->shape[1];
    for (int64_t row = 0; row < parameter->shape[0]; row++) {
        int64_t at = parameter->offset + row * width;
        float largest = largest_of(weights + at, width);
        if (!isfinite(largest))
            return error_new("row %lld of %s has a weight that is no finite number", (long long)row, parameter->name);
        int8->scales[int8->first_row[i] + row] = quantise(int8->weights + at, weights + at, width, largest);
    }
    return NULL;
}

/* Rows of all matrices, and where each one's begin. */
static int64_t lay_rows(const struct lm_layout *layout, int64_t *first_row)
{
    int64_t rows = 0;
    for (int i = 0; i < layout->count; i++) {
        first_row[i] = rows;
        rows += layout->parameters[i].rank == 2 ? layout->parameters[i].shape[0] : 0;
    }
    return rows;
}

/* A pass takes rows of the embeddings, and routers choose, in float32. */
static bool stays(const struct lm_layout *layout, int i)
{
    int64_t offset = layout->parameters[i].offset;
    bool needed = layout->parameters[i].rank != 2 || offset == layout->embedding;
    for (int l = 0; l < layout->config.layers && !needed; l++)
        needed = offset == layout->layers[l].router;
    return needed;
}

/* Whether a pass multiplies with a matrix as int8: those that stay are not, but for embeddings that are also the output's. */
static bool is_rounded(const struct lm_layout *layout, int i)
{
    return layout->parameters[i].rank == 2 && (!stays(layout, i) || layout->parameters[i].offset == layout->head);
}

/* The whole pages of a matrix go. */
static void give_back(float *weights, int64_t count)
{
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    uintptr_t first = ((uintptr_t)weights + page - 1) / page * page, last = (uintptr_t)(weights + count) / page * page;
    if (last > first)
        madvise((char *)weights + (first - (uintptr_t)weights), last - first, MADV_DONTNEED);
}

int64_t lm_int8_bytes(const struct lm_layout *layout)
{
    int64_t bytes = 0;
    for (int i = 0; i < layout->count; i++) {
        const struct lm_parameter *parameter = &layout->parameters[i];
        if (is_rounded(layout, i))
            bytes += parameter->count + parameter->shape[0] * (int64_t)sizeof(float);
        if (stays(layout, i))
            bytes += parameter->count * (int64_t)sizeof(float);
    }
    return bytes;
}

static struct akgen_error *make(struct lm_backend *backend, const struct lm_layout *layout, const float *weights,
                                float *taken, struct lm_int8 **made)
{
    const struct lm_operations *ops = backend->operations;
    *made = NULL;
    if (!ops->linear_int8 || !ops->on_host)
        return error_new("%s does not multiply weights that are int8", ops->name);
    struct lm_int8 *int8 = memory_alloc(sizeof *int8);
    *int8 = (struct lm_int8){.backend = backend, .layout = layout};
    int8->first_row = memory_alloc((size_t)layout->count * sizeof *int8->first_row);
    int8->scales = memory_alloc((size_t)lay_rows(layout, int8->first_row) * sizeof *int8->scales);
    int8->weights = ops->allocate(backend, layout->size);
    if (!int8->weights) {
        lm_int8_free(int8);
        return error_new("%s has not the %.2f GB that the weights need as int8", ops->name, (double)layout->size / 1e9);
    }
    struct akgen_error *error = NULL;
    for (int i = 0; i < layout->count && !error; i++) {
        if (taken ? is_rounded(layout, i) : layout->parameters[i].rank == 2)
            error = quantise_matrix(int8, i, weights);
        if (taken && !error && !stays(layout, i))
            give_back(taken + layout->parameters[i].offset, layout->parameters[i].count);
    }
    if (error)
        lm_int8_free(int8);
    else
        *made = int8;
    return error;
}

struct akgen_error *lm_int8_new(struct lm_backend *backend, const struct lm_layout *layout, const float *weights,
                                struct lm_int8 **made)
{
    return make(backend, layout, weights, NULL, made);
}

struct akgen_error *lm_int8_take(struct lm_backend *backend, const struct lm_layout *layout, float *weights,
                                 struct lm_int8 **made)
{
    return make(backend, layout, weights, weights, made);
}

void lm_int8_free(struct lm_int8 *int8)
{
    if (!int8)
        return;
    int8->backend->operations->release(int8->backend, int8->weights);
    free(int8->scales);
    free(int8->first_row);
    free(int8);
}

const float *lm_int8_scales(const struct lm_int8 *int8, int64_t offset)
{
    int low = 0, high = int8->layout->count - 1;
    while (low < high) { /* the last parameter that does not begin behind the offset */
        int middle = (low + high + 1) / 2;
        if (int8->layout->parameters[middle].offset <= offset)
            low = middle;
        else
            high = middle - 1;
    }
    return int8->scales + int8->first_row[low];
}
