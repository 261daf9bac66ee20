#include "lm/int8.h"

#include "base/memory.h"

#include <math.h>
#include <stdlib.h>

/* The scale of a row, and the row over it; a row of zeros stays one. */
static float quantise(int8_t *restrict to, const float *restrict from, int64_t count)
{
    float largest = 0;
    for (int64_t i = 0; i < count; i++)
        largest = fmaxf(largest, fabsf(from[i]));
    float scale = largest / 127, factor = largest > 0 ? 127 / largest : 0;
    for (int64_t i = 0; i < count; i++)
        to[i] = (int8_t)rintf(from[i] * factor);
    return scale;
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

struct akgen_error *lm_int8_new(struct lm_backend *backend, const struct lm_layout *layout, const float *weights,
                                struct lm_int8 **made)
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
    for (int i = 0; i < layout->count; i++) {
        const struct lm_parameter *parameter = &layout->parameters[i];
        int64_t rows = parameter->rank == 2 ? parameter->shape[0] : 0, width = parameter->shape[1];
        for (int64_t row = 0; row < rows; row++)
            int8->scales[int8->first_row[i] + row] = quantise(int8->weights + parameter->offset + row * width,
                                                              weights + parameter->offset + row * width, width);
    }
    *made = int8;
    return NULL;
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
