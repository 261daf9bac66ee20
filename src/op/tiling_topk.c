/* Tiling of TopK on NPU_ARCH 2201 (asc-devkit docs, 高阶API, TopK Tiling; formulas: impl/adv_api/tiling/sort).
 *
 * Sort32 makes pairs of a value and its index, 8 bytes each; sizes are counted in elements of the value's type, of
 * which a pair has two (float) or four (half). */
#include "abi/tiling_abi.h"

enum { PAIR_BYTES = 8, FLOAT_BYTES = 4, HALF_BYTES = 2, BLOCK_BYTES = 32, SORT_ELEMENTS = 32, MASK_BYTES = 64 };

/* Bit `first` and every `step`th above it, `count` in all. */
static uint32_t every(int32_t count, int step, int first)
{
    uint32_t bits = 0;
    for (int32_t i = 0; i < count; i++)
        bits |= UINT32_C(1) << (first + i * step);
    return bits;
}

static int32_t at_most(int32_t value, int32_t most)
{
    return value < 0 ? 0 : value < most ? value : most;
}

/* Which words of the pairs are indices and which are values: for GatherMask on 32-bit and on 16-bit words. */
static void set_masks(int32_t k, uint32_t type_size, struct akgen_TopkTiling *tiling)
{
    enum { PAIRS_PER_32 = 16, PAIRS_PER_16 = 4 };
    tiling->vreduceIdxMask0 = every(at_most(k, PAIRS_PER_32), 2, 1);
    tiling->vreduceIdxMask1 = every(at_most(k - PAIRS_PER_32, PAIRS_PER_32), 2, 1);
    if (type_size == FLOAT_BYTES) {
        tiling->vreduceValMask0 = every(at_most(k, PAIRS_PER_32), 2, 0);
        tiling->vreduceValMask1 = every(at_most(k - PAIRS_PER_32, PAIRS_PER_32), 2, 0);
        return;
    }
    uint16_t *const masks[] = {
        &tiling->vreducehalfValMask0, &tiling->vreducehalfValMask1, &tiling->vreducehalfValMask2,
        &tiling->vreducehalfValMask3, &tiling->vreducehalfValMask4, &tiling->vreducehalfValMask5,
        &tiling->vreducehalfValMask6, &tiling->vreducehalfValMask7,
    };
    for (int i = 0; i < 8; i++)
        *masks[i] = (uint16_t)every(at_most(k - i * PAIRS_PER_16, PAIRS_PER_16), 4, 0);
}

static void tile_small(int32_t inner, int32_t outer, int32_t k, uint32_t type_size, bool has_index, bool largest,
                       struct akgen_TopkTiling *tiling)
{
    int32_t all = inner * outer, size = (int32_t)type_size, pairs = all * (PAIR_BYTES / size);
    tiling->innerDataSize = pairs;
    tiling->maskOffset = outer * k;
    /* The smallest are found as the largest of the negated. */
    tiling->topkMrgSrc1MaskSizeOffset = pairs + (largest ? 0 : all);
    tiling->tmpLocalSize = tiling->topkMrgSrc1MaskSizeOffset + MASK_BYTES / size;
    if (!has_index) {
        tiling->topkNSmallSrcIndexOffset = tiling->tmpLocalSize;
        tiling->tmpLocalSize += all * FLOAT_BYTES / size;
    }
    set_masks(k, type_size, tiling);
}

static void tile_normal(int32_t inner, int32_t outer, int32_t k, uint32_t type_size, bool has_index,
                        struct akgen_TopkTiling *tiling)
{
    int32_t size = (int32_t)type_size, pair = PAIR_BYTES / size; /* elements of a pair */
    tiling->kAlignTwoBytes = (k + 15) / 16 * 16;
    tiling->innerDataSize = inner * pair;
    tiling->tmpLocalSize = 2 * inner * pair;
    tiling->copyUbToUbBlockCount = (uint32_t)(inner * PAIR_BYTES / BLOCK_BYTES);
    tiling->sortRepeat = (uint32_t)(inner / SORT_ELEMENTS);
    tiling->mrgSortRepeat = inner / 4;
    tiling->maskOffset = outer * (type_size == HALF_BYTES ? tiling->kAlignTwoBytes : tiling->kAlignFourBytes);
    tiling->maskVreducev2FourBytes = 2 * k;
    tiling->maskVreducev2TwoBytes = 4 * k;
    tiling->mrgSortSrc1offset = pair;
    tiling->mrgSortSrc2offset = 2 * pair;
    tiling->mrgSortSrc3offset = 3 * pair;
    tiling->mrgSortTwoQueueSrc1Offset = pair;
    tiling->mrgFourQueueTailPara1 = 2 * inner;
    tiling->mrgFourQueueTailPara2 = FLOAT_BYTES / size;
    if (!has_index) {
        tiling->srcIndexOffset = tiling->tmpLocalSize;
        tiling->tmpLocalSize += inner * FLOAT_BYTES / size;
    }
}

bool akgen_topk_tiling(int32_t inner, int32_t outer, int32_t k, uint32_t type_size, bool has_index, bool small,
                       bool largest, struct akgen_TopkTiling *tiling)
{
    if (type_size != HALF_BYTES && type_size != FLOAT_BYTES)
        return false;
    *tiling = (struct akgen_TopkTiling){.allDataSize = inner * outer, .kAlignFourBytes = (k + 7) / 8 * 8};
    if (small)
        tile_small(inner, outer, k, type_size, has_index, largest, tiling);
    else
        tile_normal(inner, outer, k, type_size, has_index, tiling);
    return true;
}
