/* Temporary space of the high-level APIs that are not element-wise, on NPU_ARCH 2201 (asc-devkit docs, 高阶API,
 * Get<Api>MaxMinTmpSize; formulas: impl/adv_api/tiling). */
#include "abi/tiling_abi.h"

enum {
    BLOCK_BYTES = 32,
    REPEAT_BYTES = 256,
    HALF_BYTES = 2,
    FLOAT_BYTES = 4,
    FLOATS_PER_BLOCK = 8,
    FLOATS_PER_REPEAT = 64
};

static uint32_t round_up(uint32_t value, uint32_t unit)
{
    return (value + unit - 1) / unit * unit;
}

static uint32_t larger(uint32_t a, uint32_t b)
{
    return a > b ? a : b;
}

static uint32_t dim(const struct akgen_shape *shape, size_t index)
{
    return index < shape->rank ? (uint32_t)shape->dims[index] : 1;
}

static uint32_t elements(const struct akgen_shape *shape)
{
    int64_t count = akgen_shape_elements(shape);
    return count > 0 ? (uint32_t)count : 0;
}

/* Power. */

static bool one_number(const struct akgen_shape *shape)
{
    return shape->rank == 1 && shape->dims[0] == 1;
}

/* Tensors as large as the input that are alive at once. */
static uint32_t power_tensors(bool both_tensors, bool integer, uint32_t type_size)
{
    if (integer)
        return both_tensors ? 6 : 7;
    return type_size != FLOAT_BYTES ? 14 : both_tensors ? 4 : 5;
}

void akgen_tmp_power(const struct akgen_shape *base, const struct akgen_shape *exponent, bool integer,
                     uint32_t type_size, uint32_t *max, uint32_t *min)
{
    bool both = !one_number(base) && !one_number(exponent);
    uint32_t count = elements(one_number(base) ? exponent : base), extra = integer ? 0 : REPEAT_BYTES;
    uint32_t tensors = power_tensors(both, integer, type_size);
    uint32_t least = type_size == FLOAT_BYTES ? REPEAT_BYTES : REPEAT_BYTES / 2;
    *max = larger(count * type_size, least) * tensors + extra;
    *min = REPEAT_BYTES * tensors / (integer || type_size == FLOAT_BYTES ? 1 : 2) + extra;
}

void akgen_tmp_power_factor(bool both_tensors, bool integer, uint32_t type_size, uint32_t *live, uint32_t *extra)
{
    *live = power_tensors(both_tensors, integer, type_size);
    *extra = integer ? 0 : REPEAT_BYTES;
}

/* BroadCast: bytes go through 16-bit elements; a column is spread by Brcb, and by Copy where rows are no whole
 * blocks. */
void akgen_tmp_broadcast(const struct akgen_shape *from, const struct akgen_shape *to, uint32_t type_size,
                         uint32_t *max, uint32_t *min)
{
    enum { BRCB_ROWS = 8, HALVES_PER_BLOCK = 16 };
    uint32_t cast = 0, count = elements(from);
    if (!type_size || !count || from->rank != to->rank || to->rank == 0 || to->rank > 2)
        return;
    bool byte = type_size == 1;
    if (byte) {
        type_size = HALF_BYTES;
        cast = (round_up(count, HALVES_PER_BLOCK) + round_up(elements(to), HALVES_PER_BLOCK)) * type_size;
    }
    if (count == elements(to) || count == 1) {
        *max = *min = byte ? cast + BLOCK_BYTES : 0;
        return;
    }
    if (dim(from, 1) != 1) {
        *max = *min = cast + BLOCK_BYTES;
        return;
    }
    uint32_t block = BLOCK_BYTES / type_size, rows = dim(to, 0), row = round_up(dim(to, 1), block);
    bool whole = dim(to, 1) % block == 0;
    *min = block * block * type_size + (whole ? 0 : block * row * type_size) + cast;
    *max = round_up(rows, BRCB_ROWS) * block * type_size + (whole ? 0 : rows * row * type_size) + cast;
}

/* SelectWithBytesMask: the mask as halves, at most a block of 4,096 at a time, and the mask in the source's rows. */
static uint32_t select_space(uint32_t count, uint32_t mask_bytes, bool strided, bool least)
{
    enum { MOST_AT_ONCE = 4096, RESERVED = 512, LEAST = 1024 };
    uint32_t at_once = least && count > MOST_AT_ONCE ? MOST_AT_ONCE : count;
    uint32_t space = larger(LEAST, round_up(at_once, BLOCK_BYTES) * HALF_BYTES + RESERVED);
    return space + (strided ? round_up(count * mask_bytes, BLOCK_BYTES) : 0);
}

void akgen_tmp_select(const struct akgen_shape *first, const struct akgen_shape *second, const struct akgen_shape *mask,
                      uint32_t mask_bytes, bool reuse_mask, uint32_t *max, uint32_t *min)
{
    bool scalar = first->rank == 0 || elements(first) == 1;
    const struct akgen_shape *source = scalar ? second : first;
    if (!source->rank || !mask->rank)
        return;
    uint32_t mask_row = dim(mask, mask->rank - 1);
    bool strided = mask_row != dim(source, source->rank - 1) && !reuse_mask && mask_row > 1;
    *max = select_space(elements(source), mask_bytes, strided, false);
    *min = select_space(elements(source), mask_bytes, strided, true);
}

void akgen_tmp_dropout(const struct akgen_shape *shape, uint32_t *max, uint32_t *min)
{
    *min = 2 * REPEAT_BYTES;
    *max = larger(2 * elements(shape) * FLOAT_BYTES, *min);
}

/* Quantisation. */

void akgen_tmp_quant(const struct akgen_shape *shape, uint32_t *max, uint32_t *min)
{
    *min = 2 * REPEAT_BYTES;
    *max = round_up(larger(2 * elements(shape), *min), BLOCK_BYTES);
}

void akgen_tmp_dequant(const struct akgen_shape *shape, uint32_t *max, uint32_t *min)
{
    if (shape->rank < 1 || shape->rank > 2)
        return;
    uint32_t row = dim(shape, shape->rank - 1), rows = shape->rank == 2 ? dim(shape, 0) : 1;
    uint32_t scale = row + FLOATS_PER_BLOCK;
    *max = (FLOATS_PER_REPEAT + rows * row + scale) * FLOAT_BYTES;
    *min = (FLOATS_PER_REPEAT + row + scale) * FLOAT_BYTES;
}

void akgen_tmp_dequant_factor(const struct akgen_shape *shape, uint32_t *live, uint32_t *extra)
{
    *live = shape->rank == 2 ? 1 : shape->rank == 1 ? 2 : 0;
    *extra = *live ? FLOATS_PER_BLOCK + FLOATS_PER_REPEAT + (shape->rank == 2 ? dim(shape, 1) : 0) : 0;
}

void akgen_tmp_antiquant(const struct akgen_shape *shape, const struct akgen_shape *scale, bool transposed,
                         bool to_half, uint32_t *max, uint32_t *min)
{
    enum { LEAST = 1024, TRANSPOSED_ROWS = 8 + 8 + 64, COLUMNS_AT_ONCE = 64 };
    uint32_t channels = elements(scale);
    if (to_half)
        *max = *min = 0;
    else if (channels == 1) {
        *max = elements(shape) * FLOAT_BYTES;
        *min = LEAST;
    } else if (transposed)
        *max = *min = TRANSPOSED_ROWS * channels * FLOAT_BYTES;
    else
        *max = *min = (2 * channels + COLUMNS_AT_ONCE * dim(shape, 0)) * FLOAT_BYTES;
}

/* Reductions of (first, last) along the last dimension (AR) or the first (RA), as binary trees. */

/* The largest power of two that is at most n, and half of it if it is n itself. */
static uint32_t fold(uint32_t n, bool halve)
{
    uint32_t power = 1;
    while (n / 2 >= power)
        power *= 2;
    return halve && power == n ? power / 2 : power;
}

static uint32_t reduce_rows(const struct akgen_shape *shape, uint32_t type_size)
{
    uint32_t first = dim(shape, 0), k = fold(first, first > 1);
    return k * round_up(dim(shape, 1) * type_size, BLOCK_BYTES);
}

static uint32_t reduce_extremes(const struct akgen_shape *shape, uint32_t type_size)
{
    uint32_t last = dim(shape, 1);
    if (last <= BLOCK_BYTES / type_size)
        return 0;
    return dim(shape, 0) * (last < REPEAT_BYTES / type_size ? BLOCK_BYTES : REPEAT_BYTES);
}

uint32_t akgen_tmp_reduce(enum akgen_reduce_api api, const struct akgen_shape *shape, uint32_t type_size,
                          bool along_last, bool reuse)
{
    if (shape->rank != 2 || !elements(shape) || !type_size)
        return 0;
    uint32_t first = dim(shape, 0), last = dim(shape, 1);
    if (api == AKGEN_REDUCE_LOGIC && type_size == 1 && along_last)
        return round_up(last, BLOCK_BYTES) * HALF_BYTES + first * BLOCK_BYTES;
    if (reuse)
        return api == AKGEN_REDUCE_PRODUCT && along_last ? REPEAT_BYTES : 0;
    if (!along_last)
        return reduce_rows(shape, type_size);
    uint32_t k = fold(last, first > 1);
    if (api == AKGEN_REDUCE_SUM)
        return last <= FLOATS_PER_REPEAT ? 0 : first * k * FLOAT_BYTES;
    if (api == AKGEN_REDUCE_PRODUCT)
        return (larger(FLOATS_PER_BLOCK, k) + first * FLOATS_PER_BLOCK) * FLOAT_BYTES + REPEAT_BYTES;
    return reduce_extremes(shape, type_size);
}

uint32_t akgen_tmp_xor_sum(const struct akgen_shape *shape, uint32_t type_size, bool reuse)
{
    return (reuse ? 2 : 3) * larger(elements(shape) * type_size, REPEAT_BYTES);
}

void akgen_tmp_cumsum(const struct akgen_shape *shape, uint32_t type_size, bool along_last, uint32_t *max,
                      uint32_t *min)
{
    enum { TRANSPOSED_ROWS = 16 };
    uint32_t rows = dim(shape, 0), row = dim(shape, 1), cast = type_size == HALF_BYTES ? HALF_BYTES : 0;
    if (shape->rank != 2 || row * type_size % BLOCK_BYTES)
        return;
    if (along_last) { /* transposed there and back */
        *max = round_up(rows, TRANSPOSED_ROWS) * row * (2 * type_size + cast);
        *min = TRANSPOSED_ROWS * row * (2 * type_size + cast);
    } else {
        *max = *min = cast ? rows * row * FLOAT_BYTES : 0;
    }
}

/* Sorting. */

uint32_t akgen_tmp_sort(uint32_t count, uint32_t type_size)
{
    return count * (type_size == FLOAT_BYTES ? 2 : 4) * type_size;
}

void akgen_tmp_topk(int32_t inner, int32_t outer, bool has_index, bool small, bool largest, uint32_t *max,
                    uint32_t *min)
{
    enum { MERGED_BYTES = 16, PAIR_BYTES = 8, MASK_BYTES = 64 };
    uint32_t n = (uint32_t)inner, all = n * (uint32_t)outer;
    if (small)
        *min = all * PAIR_BYTES + MASK_BYTES + (largest ? 0 : all * FLOAT_BYTES) + (has_index ? 0 : all * FLOAT_BYTES);
    else
        *min = n * (MERGED_BYTES + (has_index ? 0 : FLOAT_BYTES));
    *max = *min;
}

/* Normalisation. */

void akgen_tmp_layer_norm(const struct akgen_shape *shape, uint32_t type_size, bool reuse, uint32_t *max, uint32_t *min)
{
    if (shape->rank != 4 || !elements(shape) || (type_size != HALF_BYTES && type_size != FLOAT_BYTES))
        return;
    uint32_t rows = dim(shape, 0) * dim(shape, 1), row = dim(shape, 2);
    uint32_t statistics = 2 * round_up(rows * FLOAT_BYTES, BLOCK_BYTES),
             buffers = reuse && type_size == FLOAT_BYTES ? 2 : 3;
    *max = buffers * round_up(rows * row * FLOAT_BYTES, BLOCK_BYTES) + statistics;
    *min = buffers * round_up(row * FLOAT_BYTES, BLOCK_BYTES) + statistics;
}

bool akgen_tmp_deep_norm(const struct akgen_shape *shape, uint32_t type_size, bool reuse, bool basic_block,
                         uint32_t *max, uint32_t *min)
{
    enum { BASIC_COLUMNS = 64, BASIC_ROWS = 8 };
    struct akgen_shape padded = *shape;
    if (shape->rank != 3 || !elements(shape) || (type_size != HALF_BYTES && type_size != FLOAT_BYTES))
        return false;
    if (basic_block && (dim(shape, 2) % BASIC_COLUMNS || dim(shape, 0) * dim(shape, 1) % BASIC_ROWS))
        return false;
    padded.rank = 4;
    padded.dims[3] = padded.dims[2];
    akgen_tmp_layer_norm(&padded, type_size, reuse, max, min);
    return true;
}

void akgen_tmp_normalize(const struct akgen_shape *shape, uint32_t parameter_size, uint32_t type_size, uint32_t *max,
                         uint32_t *min)
{
    if (shape->rank < 2 || !parameter_size || !type_size)
        return;
    uint32_t rows = dim(shape, 0), row = round_up(dim(shape, 1), BLOCK_BYTES / type_size);
    uint32_t row_bytes = round_up(row * FLOAT_BYTES, BLOCK_BYTES);
    *max = 2 * row_bytes + 2 * round_up(round_up(rows, FLOATS_PER_BLOCK) * row * FLOAT_BYTES, BLOCK_BYTES);
    *min = larger(round_up(rows * FLOAT_BYTES, BLOCK_BYTES), (parameter_size == FLOAT_BYTES ? 2 : 4) * row_bytes);
}

void akgen_tmp_layer_norm_separate(const struct akgen_shape *shape, uint32_t type_size, uint32_t *max, uint32_t *min)
{
    if (shape->rank < 2 || (type_size != HALF_BYTES && type_size != FLOAT_BYTES))
        return;
    uint32_t rows = dim(shape, 0), row = round_up(dim(shape, 1), BLOCK_BYTES / type_size);
    uint32_t variance = round_up(rows * FLOAT_BYTES, BLOCK_BYTES), normalize_max = 0, normalize_min = 0;
    akgen_tmp_normalize(shape, type_size, type_size, &normalize_max, &normalize_min);
    *max = larger(2 * round_up(rows * row * FLOAT_BYTES, BLOCK_BYTES), normalize_max) + variance;
    *min = larger(2 * round_up(row * FLOAT_BYTES, BLOCK_BYTES), normalize_min) + variance;
}

void akgen_tmp_welford_update(const struct akgen_shape *shape, uint32_t type_size, bool reuse, uint32_t *max,
                              uint32_t *min)
{
    if (shape->rank != 2)
        return;
    uint32_t repeats = (elements(shape) + FLOATS_PER_REPEAT - 1) / FLOATS_PER_REPEAT;
    *min = (type_size == HALF_BYTES ? 3 : reuse ? 1 : 2) * REPEAT_BYTES;
    *max = repeats * *min;
}

void akgen_tmp_welford_finalize(const struct akgen_shape *shape, uint32_t *max, uint32_t *min)
{
    uint32_t length = dim(shape, 0);
    if (shape->rank != 1 || length % FLOATS_PER_BLOCK)
        return;
    *min = 4 * REPEAT_BYTES;
    *max = length <= FLOATS_PER_REPEAT ? *min : 2 * REPEAT_BYTES + 2 * length * FLOAT_BYTES;
}

bool akgen_tmp_rms_norm(const struct akgen_shape *shape, uint32_t type_size, bool basic_block, uint32_t *max,
                        uint32_t *min)
{
    enum { BASIC_COLUMNS = 64, BASIC_ROWS = 8, MOST_COLUMNS = 2048 };
    if (shape->rank != 3 || !elements(shape) || (type_size != HALF_BYTES && type_size != FLOAT_BYTES))
        return false;
    uint32_t rows = dim(shape, 0) * dim(shape, 1), row = dim(shape, 2), copies = type_size == HALF_BYTES ? 2 : 1;
    if (basic_block && (row % BASIC_COLUMNS || rows % BASIC_ROWS || row >= MOST_COLUMNS))
        return false;
    *max = (rows * row * copies + round_up(rows, BLOCK_BYTES / type_size)) * FLOAT_BYTES;
    *min = (row * copies + FLOATS_PER_BLOCK) * FLOAT_BYTES;
    return true;
}
