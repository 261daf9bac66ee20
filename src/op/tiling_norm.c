/* Tiling of LayerNorm, DeepNorm and RmsNorm (asc-devkit docs, 高阶API, LayerNorm Tiling and the like; formulas:
 * impl/adv_api/tiling/normalization): as many rows at once as the temporary space holds. */
#include "abi/tiling_abi.h"

#include <string.h>

enum { BLOCK_BYTES = 32, FLOAT_BYTES = 4, FLOATS_PER_BLOCK = 8 };

static uint32_t round_up(uint32_t value, uint32_t unit)
{
    return (value + unit - 1) / unit * unit;
}

static uint32_t smaller(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

/* Elements of whole rows that each of `buffers` buffers in `words` floats has room for; 0 if not even one row. */
static uint32_t rows_in(uint32_t words, uint32_t kept, uint32_t buffers, uint32_t row, uint32_t all)
{
    return words < kept || !row ? 0 : smaller((words - kept) / buffers / row * row, all);
}

/* Of (b, s, h), h having `original` values and padding. group: the round is a multiple of so many rows if it has as
 * many. False if not even one row fits. */
static bool tile_rows(const struct akgen_shape *shape, int64_t original, uint32_t words, uint32_t type_size, bool reuse,
                      uint32_t group, struct akgen_LayerNormTiling *tiling)
{
    uint32_t b = (uint32_t)shape->dims[0], s = (uint32_t)shape->dims[1], h = (uint32_t)shape->dims[2];
    uint32_t rows = b * s, all = rows * h, statistic = round_up(rows, FLOATS_PER_BLOCK);
    uint32_t buffers = reuse && type_size == FLOAT_BYTES ? 2 : 3;
    /* Float input leaves mean and variance in the outputs. */
    uint32_t kept = type_size == FLOAT_BYTES ? 0 : 2 * statistic;
    uint32_t round = rows_in(words, kept, buffers, h, all);
    if (!round || !h)
        return false;
    if (round >= group * h)
        round -= round % (group * h);
    *tiling = (struct akgen_LayerNormTiling){
        .bLength = b,
        .sLength = s,
        .hLength = h,
        .originalHLength = (uint32_t)original,
        .inputXSize = all,
        .meanVarSize = rows,
        .numberOfTmpBuf = buffers,
        .meanTmpTensorSize = statistic,
        .varianceTmpTensorPos = statistic,
        .varianceTmpTensorSize = statistic,
        .tmpBufSize = words,
        .oneTmpSize = round,
        .firstTmpStartPos = kept,
        .secondTmpStartPos = kept + round,
        .thirdTmpStartPos = kept + 2 * round,
        .loopRound = all / round,
        .inputRoundSize = round,
        .inputTailSize = all % round,
        .inputTailPos = all - all % round,
        .meanVarRoundSize = round / h,
        .meanVarTailSize = all % round / h,
        .meanVarTailPos = rows - all % round / h,
        .bshCurLength = round,
        .bsCurLength = round / h,
        .lastDimValueBack = 1.0F / (float)original,
    };
    return true;
}

void akgen_layer_norm_tiling(const struct akgen_shape *shape, uint32_t space, uint32_t type_size, bool reuse,
                             struct akgen_LayerNormTiling *tiling)
{
    if (shape->rank == 4 && akgen_shape_elements(shape) > 0)
        tile_rows(shape, shape->dims[3], space / FLOAT_BYTES, type_size, reuse, 1, tiling);
}

bool akgen_deep_norm_tiling(const struct akgen_shape *shape, const struct akgen_shape *original, uint32_t space,
                            uint32_t type_size, bool reuse, bool basic_block, struct akgen_DeepNormTiling *tiling)
{
    enum { MOST_COLUMNS = 255 * FLOATS_PER_BLOCK };
    uint32_t max, min;
    struct akgen_LayerNormTiling rows;
    if (!akgen_tmp_deep_norm(shape, type_size, reuse, basic_block, &max, &min) || space < min || original->rank != 3)
        return false;
    const int64_t *dims = shape->dims, *whole = original->dims;
    if (whole[0] != dims[0] || whole[1] != dims[1] || whole[2] <= 0 || whole[2] > dims[2] || dims[2] > MOST_COLUMNS ||
        dims[2] * type_size % BLOCK_BYTES || (basic_block && whole[2] != dims[2]))
        return false;
    if (!tile_rows(shape, whole[2], space / FLOAT_BYTES, type_size, reuse, basic_block ? 8 : 1, &rows))
        return false;
    /* The two structures have the same fields. */
    _Static_assert(sizeof rows == sizeof *tiling, "DeepNormTiling differs from LayerNormTiling");
    memcpy(tiling, &rows, sizeof rows);
    return true;
}

void akgen_layer_norm_separate_tiling(const struct akgen_shape *shape, uint32_t space, uint32_t type_size,
                                      struct akgen_LayerNormSeparateTiling *tiling)
{
    if (shape->rank < 2 || !type_size || akgen_shape_elements(shape) <= 0)
        return;
    uint32_t rows = (uint32_t)shape->dims[0], length = (uint32_t)shape->dims[1];
    uint32_t row = round_up(length, BLOCK_BYTES / type_size), all = rows * row, words = space / FLOAT_BYTES;
    uint32_t variance = round_up(rows, FLOATS_PER_BLOCK), round = rows_in(words, variance, 2, row, all);
    if (!round)
        return;
    *tiling = (struct akgen_LayerNormSeparateTiling){
        .aLength = rows,
        .rLength = length,
        .inputXSize = all,
        .meanVarSize = rows,
        .numberOfTmpBuf = 2,
        .varianceTmpTensorSize = variance,
        .tmpBufSize = words,
        .oneTmpSize = round,
        .firstTmpStartPos = variance,
        .secondTmpStartPos = variance + round,
        .loopRound = all / round,
        .inputRoundSize = round,
        .inputTailSize = all % round,
        .inputTailPos = all - all % round,
        .meanVarRoundSize = round / row,
        .meanVarTailSize = all % round / row,
        .meanVarTailPos = rows - all % round / row,
        .arCurLength = round,
        .aCurLength = round / row,
        .rValueBack = 1.0F / (float)length,
    };
}

/* Rows whose floats, `copies` of each, and whose reciprocal roots fit; at most what one repeat count says. */
static uint32_t rms_rows(uint32_t words, uint32_t row, uint32_t rows, uint32_t copies, bool basic_block)
{
    enum { MOST_REPEATS = 255, BASIC_ROWS = 8 };
    uint32_t fit = 1;
    while (fit < rows && words >= (fit + 1) * row * copies + round_up(fit + 1, FLOATS_PER_BLOCK))
        fit++;
    if (basic_block)
        return fit < BASIC_ROWS ? fit : fit / BASIC_ROWS * BASIC_ROWS;
    return smaller(fit, MOST_REPEATS);
}

bool akgen_rms_norm_tiling(const struct akgen_shape *shape, const struct akgen_shape *original, uint32_t space,
                           uint32_t type_size, bool basic_block, struct akgen_RmsNormTiling *tiling)
{
    uint32_t max, min;
    if (!akgen_tmp_rms_norm(shape, type_size, basic_block, &max, &min) || space < min || original->rank != 3)
        return false;
    uint32_t b = (uint32_t)shape->dims[0], s = (uint32_t)shape->dims[1], h = (uint32_t)shape->dims[2];
    if (original->dims[0] != b || original->dims[1] != s || original->dims[2] > h || original->dims[2] <= 0 ||
        h * type_size % BLOCK_BYTES)
        return false;
    uint32_t rows = rms_rows(space / FLOAT_BYTES, h, b * s, type_size == FLOAT_BYTES ? 1 : 2, basic_block);
    uint32_t all = b * s * h, tail = all % (rows * h);
    *tiling = (struct akgen_RmsNormTiling){
        .bLength = b,
        .sLength = s,
        .hLength = h,
        .originalHLength = (uint32_t)original->dims[2],
        .reciprocalOfHLength = 1.0F / (float)original->dims[2],
        .mainBshLength = rows * h,
        .mainBsLength = rows,
        .mainBsLengthAlign = round_up(rows, FLOATS_PER_BLOCK),
        .loopRound = all / (rows * h),
        .inputTailPos = all - tail,
        .tailBshLength = tail,
        .tailBsLength = tail / h,
    };
    return true;
}
