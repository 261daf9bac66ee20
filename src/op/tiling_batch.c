/* Tiling of BatchNorm, GroupNorm and the gradients of LayerNorm on NPU_ARCH 2201 (asc-devkit docs, 高阶API, the APIs'
 * tiling pages; formulas: impl/adv_api/tiling/normalization). Positions and sizes in the temporary space are floats. */
#include "abi/tiling_abi.h"

#include <string.h>

enum { BLOCK_BYTES = 32, HALF_BYTES = 2, FLOAT_BYTES = 4, FLOATS_PER_BLOCK = 8, HALVES_PER_BLOCK = 16, BASIC = 64 };

static uint32_t round_up(uint32_t value, uint32_t unit)
{
    return (value + unit - 1) / unit * unit;
}

static bool is_float_or_half(uint32_t type_size)
{
    return type_size == FLOAT_BYTES || type_size == HALF_BYTES;
}

/* BatchNorm: (b, s, h), the mean over b; `original` says how many of b are data. */

static bool batch_shapes(const struct akgen_shape *shape, const struct akgen_shape *original, bool basic_block)
{
    return shape->rank == 3 && original->rank == 3 && akgen_shape_elements(shape) > 0 && original->dims[0] > 0 &&
           (!basic_block || (shape->dims[1] * shape->dims[2] % BASIC == 0 && original->dims[0] % 8 == 0));
}

bool akgen_tmp_batch_norm(const struct akgen_shape *shape, const struct akgen_shape *original, uint32_t type_size,
                          bool basic_block, uint32_t *max, uint32_t *min)
{
    if (!batch_shapes(shape, original, basic_block))
        return false;
    uint32_t b = (uint32_t)original->dims[0], columns = (uint32_t)(shape->dims[1] * shape->dims[2]);
    uint32_t statistics = 2 * round_up(columns * FLOAT_BYTES, BLOCK_BYTES);
    uint32_t least = basic_block ? BASIC * FLOAT_BYTES : type_size == HALF_BYTES ? 2 * BLOCK_BYTES : BLOCK_BYTES;
    *max = 3 * round_up(b * columns * FLOAT_BYTES, BLOCK_BYTES) + statistics;
    *min = 3 * b * least + statistics;
    return true;
}

bool akgen_batch_norm_tiling(const struct akgen_shape *shape, const struct akgen_shape *original, uint32_t space,
                             uint32_t type_size, bool basic_block, struct akgen_BatchNormTiling *tiling)
{
    uint32_t max, min;
    if (!is_float_or_half(type_size) || !akgen_tmp_batch_norm(shape, original, type_size, basic_block, &max, &min) ||
        space < min)
        return false;
    uint32_t b = (uint32_t)original->dims[0], columns = (uint32_t)(shape->dims[1] * shape->dims[2]);
    if (columns * type_size % BLOCK_BYTES)
        return false;
    uint32_t statistic = round_up(columns, FLOATS_PER_BLOCK), words = space / FLOAT_BYTES;
    /* Float input leaves mean and variance in the outputs. */
    uint32_t kept = type_size == FLOAT_BYTES ? 0 : 2 * statistic, unit = b * (BLOCK_BYTES / type_size);
    uint32_t one = (words - kept) / 3 / unit * unit, all = b * columns;
    one = one > all ? all : one;
    if (!one)
        return false;
    uint32_t step = one / b;
    if (basic_block)
        step = step / BASIC * BASIC;
    one = step * b;
    uint32_t tail = all % one;
    *tiling = (struct akgen_BatchNormTiling){
        .originalBLength = b,
        .meanVarSize = columns,
        .varianceTmpTensorPos = statistic,
        .tmpBufSize = words,
        .oneTmpSize = one,
        .firstTmpStartPos = kept,
        .secondTmpStartPos = kept + one,
        .thirdTmpStartPos = kept + 2 * one,
        .loopRound = all / one,
        .inputTailSize = tail,
        .inputTailPos = (all - tail) / b,
        .meanVarTailSize = tail / b,
        .meanVarTailPos = columns - tail / b,
        .bshCurLength = one,
        .shCurLength = step,
        .firstDimValueBack = 1.0F / (float)b,
        .castHalfRepStride = 4,
        .shCurLengthBlockNum = step / FLOATS_PER_BLOCK,
        .castHalfOutRepStride = columns / HALVES_PER_BLOCK,
    };
    return true;
}

/* GroupNorm: (n, c, h, w) in groups of channels; h x w is padded to whole blocks. */

static bool group_shape(const struct akgen_shape *shape, uint32_t type_size, uint32_t groups)
{
    return shape->rank == 4 && akgen_shape_elements(shape) > 0 && is_float_or_half(type_size) && groups > 0;
}

void akgen_tmp_group_norm(const struct akgen_shape *shape, uint32_t type_size, bool reuse, uint32_t groups,
                          uint32_t *max, uint32_t *min)
{
    *max = *min = 0;
    if (!group_shape(shape, type_size, groups))
        return;
    uint32_t n = (uint32_t)shape->dims[0], c = (uint32_t)shape->dims[1];
    uint32_t channel = round_up((uint32_t)(shape->dims[2] * shape->dims[3]), BLOCK_BYTES / type_size) * FLOAT_BYTES;
    uint32_t statistics = 2 * round_up(n * groups * FLOAT_BYTES, BLOCK_BYTES);
    uint32_t buffers = reuse && type_size == FLOAT_BYTES ? 2 : 3;
    *max = buffers * n * c * channel + statistics;
    *min = buffers * (c / groups) * channel + statistics;
}

/* Whether a group can be summed by two WholeReduceSum, and of how many groups at a time then. */
static bool group_is_small(uint32_t channel, uint32_t group, uint32_t *most)
{
    enum { MOST_FOLDS = 8, MOST_REPEATS = 255 };
    uint32_t folds = MOST_FOLDS, lanes = group < BASIC ? group : BASIC;
    while (group / FLOATS_PER_BLOCK % folds)
        folds--;
    if (channel > BASIC || group > BASIC * folds)
        return false;
    while (group % lanes)
        lanes -= FLOATS_PER_BLOCK;
    *most = MOST_REPEATS / (group / lanes) / 8 * 8;
    return true;
}

void akgen_group_norm_tiling(const struct akgen_shape *shape, uint32_t space, uint32_t type_size, bool reuse,
                             uint32_t groups, struct akgen_GroupNormTiling *tiling)
{
    if (!group_shape(shape, type_size, groups) || shape->dims[1] < groups)
        return;
    uint32_t n = (uint32_t)shape->dims[0], c = (uint32_t)shape->dims[1], d = c / groups;
    uint32_t hw = (uint32_t)(shape->dims[2] * shape->dims[3]), channel = round_up(hw, BLOCK_BYTES / type_size);
    uint32_t group = d * channel, all = n * c * channel, statistic = round_up(n * groups, FLOATS_PER_BLOCK);
    uint32_t kept = type_size == FLOAT_BYTES ? 0 : 2 * statistic, words = space / BLOCK_BYTES * FLOATS_PER_BLOCK;
    uint32_t buffers = reuse && type_size == FLOAT_BYTES ? 2 : 3, most = 0;
    uint32_t at_once = words < kept ? 0 : (words - kept) / buffers / group;
    bool small = group_is_small(channel, group, &most);
    if (small && most < at_once)
        at_once = most;
    if (!at_once || (type_size == HALF_BYTES && at_once * group < c))
        return;
    uint32_t one = at_once * group;
    if (one > all) {
        at_once = n * groups;
        one = all;
    }
    uint32_t tail = all % one;
    *tiling = (struct akgen_GroupNormTiling){
        .n = n,
        .c = c,
        .hw = hw,
        .g = groups,
        .d = d,
        .hwAlignSize = channel,
        .dhwAlignSize = group,
        .inputXSize = all,
        .meanVarSize = n * groups,
        .numberOfTmpBuf = buffers,
        .meanTmpTensorSize = statistic,
        .varianceTmpTensorPos = statistic,
        .varianceTmpTensorSize = statistic,
        .tmpBufSize = words,
        .oneTmpSize = one,
        .firstTmpStartPos = kept,
        .secondTmpStartPos = kept + one,
        .thirdTmpStartPos = kept + 2 * one,
        .loopRound = all / one,
        .inputRoundSize = one,
        .inputTailSize = tail,
        .inputTailPos = all - tail,
        .meanVarRoundSize = one / group,
        .meanVarTailSize = tail / group,
        .meanVarTailPos = n * groups - tail / group,
        .bshCurLength = one,
        .bsCurLength = at_once,
        .factor = 1.0F / (float)(d * hw),
        .smallShape = small,
    };
}

/* LayerNormGrad and LayerNormGradBeta: (b, s, h, values of h). */

static bool grad_shape(const struct akgen_shape *shape, uint32_t type_size)
{
    return shape->rank == 4 && akgen_shape_elements(shape) > 0 && is_float_or_half(type_size);
}

static uint32_t grad_buffers(uint32_t type_size, bool reuse)
{
    return type_size == HALF_BYTES ? 9 : reuse ? 4 : 6;
}

void akgen_tmp_layer_norm_grad(const struct akgen_shape *shape, uint32_t type_size, bool reuse, uint32_t *max,
                               uint32_t *min)
{
    if (!grad_shape(shape, type_size))
        return;
    uint32_t h = (uint32_t)shape->dims[2], all = (uint32_t)(shape->dims[0] * shape->dims[1]) * h, square = h * h;
    uint32_t unit = grad_buffers(type_size, reuse) * type_size;
    *max = unit * (all > square ? all : square);
    *min = unit * (all < square ? all : square);
}

static uint32_t bits_of(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

void akgen_layer_norm_grad_tiling(const struct akgen_shape *shape, uint32_t space, uint32_t type_size, bool reuse,
                                  struct akgen_LayerNormGradTiling *tiling)
{
    if (!grad_shape(shape, type_size))
        return;
    uint32_t b = (uint32_t)shape->dims[0], s = (uint32_t)shape->dims[1], h = (uint32_t)shape->dims[2];
    uint32_t rows = space / FLOAT_BYTES / grad_buffers(type_size, reuse) / h, all = b * s * h;
    if (!rows)
        return;
    /* Rounded up to whole blocks: CANN may so count on more space than there is. */
    rows = round_up(rows, BLOCK_BYTES / type_size);
    uint32_t one = rows * h, at = 3 * one;
    bool in_source = reuse && type_size == FLOAT_BYTES, half = type_size == HALF_BYTES;
    *tiling = (struct akgen_LayerNormGradTiling){
        .stackBufferSize = space,
        .bLength = b,
        .sLength = s,
        .hLength = h,
        .originalHLength = (uint32_t)shape->dims[3],
        .oneCalSize = one,
        .nohCalSize = rows,
        .loopNum = all / one,
        .tailSize = all % one,
        .nohTailSize = all % one / h,
        .tmpTensorBSHSize = one,
        .pdVarTensorPos = one,
        .pdVarTensorSize = one,
        .pdMeanTensorPos = 2 * one,
        .pdMeanTensorSize = one,
        .x1TensorPos = in_source ? 0 : at,
        .x1TensorSize = one,
        .x2TensorPos = in_source ? 0 : at + one,
        .x2TensorSize = one,
        .x3TensorPos = in_source ? at : at + 2 * one,
        .x3TensorSize = one,
        .tmpTensorPos = half ? 6 * one : 0,
        .tmpTensorSize = one,
        .tmpTensor1Pos = half ? 7 * one : 0,
        .tmpTensor1Size = one,
        .tmpTensor2Pos = half ? 8 * one : 0,
        .tmpTensor2Size = one,
        .lastDimValueBack = bits_of(1.0F / (float)shape->dims[3]),
        .lastDimValueBackMulTwo = bits_of(2.0F / (float)shape->dims[3]),
    };
}

void akgen_tmp_layer_norm_grad_beta(const struct akgen_shape *shape, uint32_t type_size, uint32_t *max, uint32_t *min)
{
    if (!grad_shape(shape, type_size))
        return;
    uint32_t unit = (type_size == HALF_BYTES ? 4 : 2) * (uint32_t)shape->dims[2] * FLOAT_BYTES;
    *max = unit * (uint32_t)(shape->dims[0] * shape->dims[1]);
    *min = unit;
}

void akgen_layer_norm_grad_beta_tiling(const struct akgen_shape *shape, uint32_t space, uint32_t type_size,
                                       struct akgen_LayerNormGradBetaTiling *tiling)
{
    if (!grad_shape(shape, type_size))
        return;
    bool half = type_size == HALF_BYTES;
    uint32_t b = (uint32_t)shape->dims[0], s = (uint32_t)shape->dims[1], h = (uint32_t)shape->dims[2];
    uint32_t words = space / FLOAT_BYTES, rows = b * s;
    if (words < 2 * h)
        return;
    uint32_t step = (half ? (words - 2 * h) / 2 : words) / h;
    if (!step)
        return;
    step = step < rows ? step : rows;
    *tiling = (struct akgen_LayerNormGradBetaTiling){
        .stackBufferSize = words,
        .bLength = b,
        .sLength = s,
        .hLength = h,
        .originalHLength = (uint32_t)shape->dims[3],
        .bshLength = rows * h,
        .bsLength = rows,
        .oneCalSize = step * h,
        .numberOfTmpBuf = half ? 2 : 1,
        .loopRound = rows / step,
        .inputTailSize = rows % step * h,
        .inputTailPos = (rows - rows % step) * h,
        .bsTailSize = rows % step,
        .bshCurLength = step * h,
        .bsCurLength = step,
        .betaTempTensorPos = half ? h : 0,
        .inputDyTmpTensorPos = half ? 2 * h : 0,
        .resForGammaTmpTensorPos = half ? (2 + step) * h : 0,
    };
}
