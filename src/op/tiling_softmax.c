/* Tiling of the softmax family (asc-devkit docs, 高阶API, SoftMax Tiling; formulas: impl/adv_api/tiling/activation).
 *
 * The family works on rows. A routine keeps some floats for each row that it has in hand: the temporary space is that
 * many floats for one row at least and for all rows at most, and tiling takes as many rows as fit. */
#include "abi/tiling_abi.h"

#include <string.h>

enum {
    BLOCK_BYTES = 32,
    FLOAT_BYTES = 4,
    HALF_BYTES = 2,
    ROW_GROUP = 8,               /* rows that Brcb spreads at once */
    REPEAT_FLOATS = 64,          /* what one repeat of the row maximum leaves */
    LONG_BASIC_ROW = 1024,       /* a row of this length takes a second repeat */
    MOST_BASIC_FLOATS = 64 * 256 /* a repeat count must stay below 256 */
};

struct rows {
    uint32_t count, length;
};

static bool row_shape(const struct akgen_softmax *softmax, struct rows *rows)
{
    const struct akgen_shape *shape = &softmax->shape;
    int64_t elements = akgen_shape_elements(shape);
    bool sizes = (softmax->type_size == HALF_BYTES || softmax->type_size == FLOAT_BYTES) &&
                 (softmax->max_type_size == HALF_BYTES || softmax->max_type_size == FLOAT_BYTES);
    if (elements <= 0 || shape->rank == 0 || !sizes)
        return false;
    rows->length = (uint32_t)shape->dims[shape->rank - 1];
    rows->count = (uint32_t)(elements / shape->dims[shape->rank - 1]);
    return true;
}

static bool in_basic_blocks(const struct akgen_softmax *softmax, const struct rows *rows)
{
    return softmax->basic_block && rows->length % REPEAT_FLOATS == 0;
}

static uint32_t flash_v2_floats(const struct akgen_softmax *softmax, const struct rows *rows, uint32_t block,
                                bool basic)
{
    bool half = softmax->type_size == HALF_BYTES;
    if (basic)
        return block + (half ? rows->length : 0) + (rows->length == LONG_BASIC_ROW ? 2 * REPEAT_FLOATS : REPEAT_FLOATS);
    return half ? 2 * block + rows->length + REPEAT_FLOATS : block + REPEAT_FLOATS;
}

/* Floats that one row takes. */
static uint32_t row_floats(const struct akgen_softmax *softmax, const struct rows *rows, bool basic)
{
    uint32_t block = BLOCK_BYTES / softmax->max_type_size, length = rows->length;
    switch (softmax->kind) {
    case AKGEN_SOFTMAX_FLASH:
        return softmax->update ? 4 * block + 2 * length : block + length + REPEAT_FLOATS;
    case AKGEN_SOFTMAX_FLASH_V2:
        return flash_v2_floats(softmax, rows, block, basic);
    case AKGEN_SOFTMAX_FLASH_V3:
        return 5 * block + 2 * length + REPEAT_FLOATS;
    case AKGEN_SOFTMAX_GRAD:
        if (softmax->type_size == HALF_BYTES)
            return 2 * block + 3 * length + REPEAT_FLOATS;
        return (softmax->front ? block : 2 * block) + length + REPEAT_FLOATS;
    case AKGEN_SOFTMAX:
        break;
    }
    return block + length + REPEAT_FLOATS;
}

uint32_t akgen_softmax_max(const struct akgen_softmax *softmax)
{
    struct rows rows;
    if (!row_shape(softmax, &rows))
        return 0;
    bool basic = in_basic_blocks(softmax, &rows) && rows.count % ROW_GROUP == 0;
    uint32_t count = rows.count;
    while (basic && count * rows.length >= MOST_BASIC_FLOATS)
        count /= 2;
    return count * row_floats(softmax, &rows, basic) * FLOAT_BYTES;
}

uint32_t akgen_softmax_min(const struct akgen_softmax *softmax)
{
    struct rows rows;
    if (!row_shape(softmax, &rows))
        return 0;
    bool basic = in_basic_blocks(softmax, &rows);
    uint32_t at_once = basic ? ROW_GROUP : 1, group = BLOCK_BYTES / softmax->type_size;
    if (softmax->broadcast)
        at_once = group < rows.count ? group : rows.count;
    return at_once * row_floats(softmax, &rows, basic) * FLOAT_BYTES;
}

/* A divisor of the rows, in groups, that a routine for basic blocks takes at once. */
static uint32_t fit_basic_blocks(uint32_t at_once, const struct rows *rows)
{
    if (at_once <= ROW_GROUP || rows->count % ROW_GROUP || rows->length % REPEAT_FLOATS)
        return at_once;
    at_once = at_once / ROW_GROUP * ROW_GROUP;
    while (rows->count % at_once)
        at_once -= ROW_GROUP;
    while (at_once * rows->length >= MOST_BASIC_FLOATS)
        at_once /= 2;
    return at_once;
}

static uint32_t rows_at_once(const struct akgen_softmax *softmax, const struct rows *rows, uint32_t space)
{
    bool v2 = softmax->kind == AKGEN_SOFTMAX_FLASH_V2;
    bool basic = v2 && in_basic_blocks(softmax, rows) && rows->count % ROW_GROUP == 0;
    uint32_t at_once = space / FLOAT_BYTES / row_floats(softmax, rows, basic), group = ROW_GROUP;
    if (at_once > rows->count)
        at_once = rows->count;
    if (basic)
        at_once = fit_basic_blocks(at_once, rows);
    if (v2 && softmax->broadcast && softmax->type_size == HALF_BYTES)
        group = BLOCK_BYTES / HALF_BYTES;
    if (at_once < rows->count && at_once > group)
        at_once = at_once / group * group;
    bool adjusted = !v2 && softmax->kind != AKGEN_SOFTMAX_FLASH_V3;
    return adjusted ? fit_basic_blocks(at_once, rows) : at_once;
}

void akgen_softmax_tiling(const struct akgen_softmax *softmax, uint32_t space, struct akgen_SoftMaxTiling *tiling)
{
    struct rows rows;
    if (!row_shape(softmax, &rows))
        return;
    uint32_t block = BLOCK_BYTES / softmax->max_type_size, at_once = rows_at_once(softmax, &rows, space);
    uint32_t tail = at_once ? rows.count % at_once : 0;
    *tiling = (struct akgen_SoftMaxTiling){
        .srcM = rows.count,
        .srcK = rows.length,
        .srcSize = rows.count * rows.length,
        .outMaxM = rows.count,
        .outMaxK = block,
        .outMaxSize = rows.count * block,
        .splitM = at_once,
        .splitK = rows.length,
        .splitSize = at_once * rows.length,
        .reduceM = at_once,
        .reduceK = block,
        .reduceSize = at_once * block,
        .rangeM = at_once ? rows.count / at_once : 0,
        .tailM = tail,
        .tailSplitSize = tail * rows.length,
        .tailReduceSize = tail * block,
    };
}

bool akgen_softmax_is_basic_block(const struct akgen_SoftMaxTiling *tiling, uint32_t type_size)
{
    enum { LEAST_BYTES = 256, MOST_ELEMENTS = 2048 };
    return type_size && tiling->tailM == 0 && tiling->srcK >= LEAST_BYTES / type_size && tiling->srcK < MOST_ELEMENTS &&
           tiling->srcK % REPEAT_FLOATS == 0;
}
