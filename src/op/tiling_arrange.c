/* Tiling of Pad, UnPad and the transposition of a matrix on NPU_ARCH 2201 (asc-devkit docs, 高阶API, Pad Tiling, UnPad
 * Tiling, Transpose Tiling; formulas: impl/adv_api/tiling/pad and transpose). */
#include "abi/tiling_abi.h"

enum { BLOCK_BYTES = 32, LIST = 16, BRCB_ROWS = 8, MOST_REPEATS = 255, MOST_BRCB = 254 };

static bool matrix(const struct akgen_shape *shape, uint32_t type_size)
{
    return shape->rank == 2 && akgen_shape_elements(shape) > 0 && (type_size == 2 || type_size == 4);
}

/* Every element becomes a block, twice: 16 elements at least, all at most. */
void akgen_tmp_pad(const struct akgen_shape *shape, uint32_t type_size, uint32_t *max, uint32_t *min)
{
    if (!matrix(shape, type_size))
        return;
    uint32_t count = (uint32_t)akgen_shape_elements(shape);
    *max = (count + LIST - 1) / LIST * LIST * BLOCK_BYTES * 2;
    *min = LIST * BLOCK_BYTES * 2;
}

void akgen_pad_tiling(const struct akgen_shape *shape, const struct akgen_shape *original, uint32_t space,
                      uint32_t type_size, struct akgen_PadTiling *tiling)
{
    if (!matrix(shape, type_size) || original->rank != 2)
        return;
    uint32_t rows = (uint32_t)shape->dims[0], columns = (uint32_t)shape->dims[1], block = BLOCK_BYTES / type_size;
    *tiling = (struct akgen_PadTiling){
        .srcHeight = rows,
        .srcWidth = columns,
        .srcOriWidth = (uint32_t)original->dims[1],
        .widthWithoutLastBlock = columns - block,
        .blocksPerRow = columns / block,
        .heightTiling = MOST_REPEATS,
        .heightFractal = rows / MOST_REPEATS,
        .heightFractalTail = rows % MOST_REPEATS,
        .mainLoopOffset = MOST_REPEATS * columns,
        .tailBlockOffset = rows / MOST_REPEATS * MOST_REPEATS * columns + columns - block,
    };
    uint32_t groups = space / (LIST * BLOCK_BYTES) / 2, step = groups * LIST;
    if (!groups)
        return;
    uint32_t rest = rows * columns % step, tail = columns % step;
    tiling->tmpBuffer1BlockNum = groups;
    tiling->tmpBuffer1RowNum = step;
    tiling->tmpBuffer2Offset = step * block;
    tiling->widthTiling = step;
    tiling->widthFractal = columns / step;
    tiling->widthFractalTail = tail;
    tiling->widthFractalTailAlingned = tail ? (tail + block - 1) / block * block : 0;
    tiling->brcbTiling = step;
    tiling->brcbFractal = rows * columns / step;
    tiling->brcbFractalTail = rest;
    tiling->maxRepeatTimes = MOST_BRCB;
    tiling->brcbTilingRepeatTimes = step / BRCB_ROWS / MOST_BRCB;
    tiling->brcbTilingRepeatTimesTail = step / BRCB_ROWS % MOST_BRCB;
    tiling->brcbFractalTailRepeatTimes = rest / BRCB_ROWS / MOST_BRCB;
    tiling->brcbFractalTailRepeatTimesTail = rest / BRCB_ROWS % MOST_BRCB;
}

/* One GatherMask does it: the space is for other chips. */
void akgen_unpad_tiling(const struct akgen_shape *shape, uint32_t space, uint32_t type_size,
                        struct akgen_UnPadTiling *tiling)
{
    if (!matrix(shape, type_size))
        return;
    tiling->srcHeight = (uint32_t)shape->dims[0];
    tiling->srcWidth = (uint32_t)shape->dims[1];
    uint32_t groups = space / (LIST * BLOCK_BYTES) / 2, step = groups * LIST;
    if (!groups)
        return;
    tiling->tmpBuffer1BlockNum = groups;
    tiling->tmpBuffer1RowNum = step;
    tiling->tmpBuffer2Offset = step * (BLOCK_BYTES / type_size);
    tiling->widthTiling = step;
    tiling->widthFractal = (tiling->srcWidth + step - 1) / step;
    tiling->widthFractalTail = tiling->srcWidth % step ? tiling->srcWidth % step : step;
}

/* transposeType 1 and 2 swap the middle axes of (b, n, s, h/n), 3 to 6 divide or join the last; 7 needs nothing. */
void akgen_tmp_transpose(const struct akgen_shape *shape, uint32_t type_size, uint32_t type, uint32_t *max,
                         uint32_t *min)
{
    enum { LAST_SWAP = 2, LAST_JOIN = 6, FRACTAL = LIST * LIST };
    *max = *min = 0;
    if (type == 0 || type > LAST_JOIN || shape->rank < 3)
        return;
    *min = (type <= LAST_SWAP ? 1 : 2) * FRACTAL * type_size;
    *max = type <= LAST_SWAP ? ((uint32_t)shape->dims[2] + LIST - 1) / LIST * FRACTAL * type_size : *min;
}

void akgen_transpose_matrix_tiling(const struct akgen_shape *shape, uint32_t type_size,
                                   struct akgen_ConfusionTransposeTiling *tiling)
{
    if (shape->rank < 2 || !type_size)
        return;
    uint32_t block = BLOCK_BYTES / type_size, height = (uint32_t)shape->dims[0], width = (uint32_t)shape->dims[1];
    tiling->param0 = block;
    tiling->param1 = height;
    tiling->param2 = width;
    tiling->param3 = height / LIST;
    tiling->param4 = height * block * type_size / BLOCK_BYTES;
    tiling->param5 = width / block;
}

/* transposeType 1 and 2; `space` bytes of temporary space, used in squares of 16 x 16 elements. */
void akgen_transpose_swap_tiling(const struct akgen_shape *shape, uint32_t space, uint32_t type_size,
                                 struct akgen_ConfusionTransposeTiling *tiling)
{
    enum { SQUARE = LIST * LIST };
    if (shape->rank < 4 || !type_size)
        return;
    uint32_t n = (uint32_t)shape->dims[1], rows = ((uint32_t)shape->dims[2] + LIST - 1) / LIST * LIST;
    uint32_t squares = ((uint32_t)shape->dims[3] + LIST - 1) / LIST, width = squares * LIST;
    uint32_t room = space / type_size / SQUARE * SQUARE, column = rows * LIST;
    if (!room)
        return;
    tiling->param0 = BLOCK_BYTES / type_size;
    tiling->param1 = (uint32_t)shape->dims[0];
    tiling->param2 = n;
    tiling->param3 = width;
    tiling->param4 = rows;
    tiling->param5 = squares;
    tiling->param6 = room;
    tiling->param7 = room / LIST;
    tiling->param8 = column;
    tiling->param9 = column / room;
    tiling->param10 = column % room;
    tiling->param11 = rows * width;
    tiling->param12 = n * rows * width;
    tiling->param13 = n * width;
    tiling->param14 = n * LIST;
    tiling->param15 = room / LIST * (column / room) * n * width;
}
