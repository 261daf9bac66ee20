/* Temporary space of high-level APIs on NPU_ARCH 2201 (asc-devkit docs, 高阶API, Get<Api>MaxMinTmpSize; formulas:
 * impl/adv_api/tiling). */
#include "abi/tiling_abi.h"

enum { REPEAT_BYTES = 256, BLOCK_BYTES = 32, HALF_BYTES = 2, FLOAT_BYTES = 4 };

static uint32_t round_up(uint32_t value, uint32_t unit)
{
    return (value + unit - 1) / unit * unit;
}

static uint32_t ceil_div(uint32_t value, uint32_t by)
{
    return (value + by - 1) / by;
}

/* Element-wise APIs. */

enum tmp_unit { ELEMENT, FLOAT, BYTE };
static const struct tmp_row {
    uint32_t half, single, reuse; /* tensors */
    enum tmp_unit unit;
} tmp_rows[AKGEN_TMP_APIS] = {
#define AKGEN_TMP(api, half, single, reuse, unit) [AKGEN_TMP_##api] = {half, single, reuse, unit},
#include "abi/tmp_space.def"
};

static uint32_t tensors(const struct tmp_row *row, uint32_t type_size, bool reuse)
{
    return type_size != FLOAT_BYTES ? row->half : reuse ? row->reuse : row->single;
}

void akgen_tmp_elementwise(enum akgen_tmp_api api, int64_t elements, uint32_t type_size, bool reuse, uint32_t *max,
                           uint32_t *min)
{
    const struct tmp_row *row = &tmp_rows[api];
    if (elements <= 0 || !type_size)
        return;
    uint32_t unit = row->unit == ELEMENT ? type_size : row->unit == FLOAT ? FLOAT_BYTES : 1;
    uint32_t least = row->unit == BYTE ? REPEAT_BYTES / type_size : REPEAT_BYTES;
    uint32_t bytes = (uint32_t)elements * unit, count = tensors(row, type_size, reuse);
    *min = count * least;
    *max = count * (bytes > least ? bytes : least);
}

void akgen_tmp_factor(enum akgen_tmp_api api, uint32_t type_size, uint32_t *live, uint32_t *extra)
{
    const struct tmp_row *row = &tmp_rows[api];
    *extra = 0;
    *live = tensors(row, type_size, false);
    if (row->unit == FLOAT && type_size)
        *live *= FLOAT_BYTES / type_size;
}

/* Sums of rows. */

void akgen_tmp_mean(uint32_t n, uint32_t type_size, uint32_t accumulator_size, uint32_t *max, uint32_t *min)
{
    if (!type_size || !n)
        return;
    bool widened = type_size == HALF_BYTES && accumulator_size == FLOAT_BYTES;
    uint32_t repeats = ceil_div(n, REPEAT_BYTES / (widened ? FLOAT_BYTES : type_size));
    uint32_t row = round_up(n * type_size, BLOCK_BYTES) / type_size;
    *max = *min = round_up(repeats, BLOCK_BYTES) + (widened ? row * FLOAT_BYTES : 0);
}

void akgen_tmp_sum(uint32_t n, uint32_t type_size, uint32_t *max, uint32_t *min)
{
    if (!type_size || !n || type_size > BLOCK_BYTES)
        return;
    *max = *min = round_up(ceil_div(n, REPEAT_BYTES / type_size), BLOCK_BYTES / type_size) * type_size;
}
