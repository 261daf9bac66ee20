/* Parameter structures. Constructors are implicit: kernels write Add(..., mask, repeat, {1, 1, 1, 8, 8, 8}). */
#ifndef ASCENDC_PARAMS_H
#define ASCENDC_PARAMS_H

#include "basic/enums.h"

namespace AscendC
{

struct BinaryRepeatParams {
    AKGEN_CONSTANT BinaryRepeatParams()
    {
    }
    AKGEN_CONSTANT BinaryRepeatParams(const uint8_t dstBlk, const uint8_t src0Blk, const uint8_t src1Blk,
                                      const uint8_t dstRep, const uint8_t src0Rep, const uint8_t src1Rep)
        : dstBlkStride(dstBlk), src0BlkStride(src0Blk), src1BlkStride(src1Blk), dstRepStride(dstRep),
          src0RepStride(src0Rep), src1RepStride(src1Rep)
    {
    }
    uint32_t blockNumber = DEFAULT_BLK_NUM;
    uint8_t dstBlkStride = DEFAULT_BLK_STRIDE;
    uint8_t src0BlkStride = DEFAULT_BLK_STRIDE;
    uint8_t src1BlkStride = DEFAULT_BLK_STRIDE;
    uint8_t dstRepStride = DEFAULT_REPEAT_STRIDE;
    uint8_t src0RepStride = DEFAULT_REPEAT_STRIDE;
    uint8_t src1RepStride = DEFAULT_REPEAT_STRIDE;
    bool repeatStrideMode = false;
    bool strideSizeMode = false;
};

struct UnaryRepeatParams {
    AKGEN_CONSTANT UnaryRepeatParams()
    {
    }
    AKGEN_CONSTANT UnaryRepeatParams(const uint16_t dstBlk, const uint16_t srcBlk, const uint8_t dstRep,
                                     const uint8_t srcRep)
        : dstBlkStride(dstBlk), srcBlkStride(srcBlk), dstRepStride(dstRep), srcRepStride(srcRep)
    {
    }
    AKGEN_CONSTANT UnaryRepeatParams(const uint16_t dstBlk, const uint16_t srcBlk, const uint8_t dstRep,
                                     const uint8_t srcRep, const bool half)
        : dstBlkStride(dstBlk), srcBlkStride(srcBlk), dstRepStride(dstRep), srcRepStride(srcRep), halfBlock(half)
    {
    }
    uint32_t blockNumber = DEFAULT_BLK_NUM;
    uint16_t dstBlkStride = DEFAULT_BLK_STRIDE;
    uint16_t srcBlkStride = DEFAULT_BLK_STRIDE;
    uint8_t dstRepStride = DEFAULT_REPEAT_STRIDE;
    uint8_t srcRepStride = DEFAULT_REPEAT_STRIDE;
    bool repeatStrideMode = false;
    bool strideSizeMode = false;
    bool halfBlock = false;
};

struct CopyRepeatParams {
    AKGEN_CONSTANT CopyRepeatParams()
    {
    }
    AKGEN_CONSTANT CopyRepeatParams(const uint16_t dst, const uint16_t src, const uint16_t dstRep,
                                    const uint16_t srcRep)
        : dstStride(dst), srcStride(src), dstRepeatSize(dstRep), srcRepeatSize(srcRep)
    {
    }
    uint16_t dstStride = DEFAULT_DATA_COPY_STRIDE;
    uint16_t srcStride = DEFAULT_DATA_COPY_STRIDE;
    uint16_t dstRepeatSize = DEFAULT_REPEAT_STRIDE;
    uint16_t srcRepeatSize = DEFAULT_REPEAT_STRIDE;
};

struct BrcbRepeatParams {
    AKGEN_CONSTANT BrcbRepeatParams()
    {
    }
    AKGEN_CONSTANT BrcbRepeatParams(const uint16_t dstBlk, const uint16_t dstRep)
        : dstRepStride(dstRep), dstBlkStride(dstBlk)
    {
    }
    uint32_t blockNumber = DEFAULT_BLK_NUM;
    uint16_t dstRepStride = DEFAULT_REPEAT_STRIDE;
    uint16_t dstBlkStride = DEFAULT_BLK_STRIDE;
    /* Brcb reads none of the following. */
    uint8_t src0BlkStride = DEFAULT_BLK_STRIDE;
    uint8_t src1BlkStride = DEFAULT_BLK_STRIDE;
    uint8_t src0RepStride = DEFAULT_REPEAT_STRIDE;
    uint8_t src1RepStride = DEFAULT_REPEAT_STRIDE;
    bool repeatStrideMode = false;
    bool strideSizeMode = false;
};

struct GatherMaskParams {
    AKGEN_CONSTANT GatherMaskParams()
    {
    }
    AKGEN_CONSTANT GatherMaskParams(const uint8_t src0Block, const uint16_t repeat, const uint16_t src0Repeat,
                                    const uint8_t src1Repeat)
        : src0BlockStride(src0Block), repeatTimes(repeat), src0RepeatStride(src0Repeat), src1RepeatStride(src1Repeat)
    {
    }
    uint8_t src0BlockStride = DEFAULT_BLK_STRIDE;
    uint16_t repeatTimes = 0;
    uint16_t src0RepeatStride = DEFAULT_REPEAT_STRIDE;
    uint8_t src1RepeatStride = DEFAULT_REPEAT_STRIDE;
};

struct DataCopyParams {
    AKGEN_CONSTANT DataCopyParams()
    {
    }
    AKGEN_CONSTANT DataCopyParams(const uint16_t count, const uint16_t len, const uint16_t srcStrideIn,
                                  const uint16_t dstStrideIn)
        : blockCount(count), blockLen(len), srcStride(srcStrideIn), dstStride(dstStrideIn)
    {
    }
    uint16_t blockCount = DEFAULT_DATA_COPY_NBURST;
    uint16_t blockLen = 0;
    union {
        uint16_t srcGap = 0;
        uint16_t srcStride;
    };
    union {
        uint16_t dstGap = 0;
        uint16_t dstStride;
    };
};

struct DataCopyExtParams {
    AKGEN_CONSTANT DataCopyExtParams()
    {
    }
    AKGEN_CONSTANT DataCopyExtParams(const uint16_t count, const uint32_t len, const uint32_t srcStrideIn,
                                     const uint32_t dstStrideIn, const uint32_t reserved)
        : blockCount(count), blockLen(len), srcStride(srcStrideIn), dstStride(dstStrideIn), rsv(reserved)
    {
    }
    uint16_t blockCount = DEFAULT_DATA_COPY_NBURST;
    uint32_t blockLen = 0;
    uint32_t srcStride = DEFAULT_DATA_COPY_STRIDE;
    uint32_t dstStride = DEFAULT_DATA_COPY_STRIDE;
    uint32_t rsv = 0;
};

struct DataCopyPadParams {
    AKGEN_CONSTANT DataCopyPadParams()
    {
    }
    AKGEN_CONSTANT DataCopyPadParams(const bool pad, const uint8_t left, const uint8_t right, const uint64_t value)
        : isPad(pad), leftPadding(left), rightPadding(right), paddingValue(value)
    {
    }
    bool isPad = false;
    uint8_t leftPadding = 0;
    uint8_t rightPadding = 0;
    uint64_t paddingValue = 0;
};

template <typename T> struct DataCopyPadExtParams {
    AKGEN_CONSTANT DataCopyPadExtParams()
    {
    }
    AKGEN_CONSTANT DataCopyPadExtParams(const bool pad, const uint8_t left, const uint8_t right, T value)
        : isPad(pad), leftPadding(left), rightPadding(right), paddingValue(value)
    {
    }
    bool isPad = false;
    uint8_t leftPadding = 0;
    uint8_t rightPadding = 0;
    T paddingValue = T(0);
};

struct SliceInfo {
    AKGEN_CONSTANT SliceInfo()
    {
    }
    AKGEN_CONSTANT SliceInfo(const uint32_t start, const uint32_t end, const uint32_t strideIn, const uint32_t burst,
                             const uint32_t shape = 0)
        : startIndex(start), endIndex(end), stride(strideIn), burstLen(burst), shapeValue(shape)
    {
    }
    uint32_t startIndex = 0;
    uint32_t endIndex = ONE_BLK_SIZE - 1;
    uint32_t stride = 0;
    uint32_t burstLen = ONE_BLK_SIZE;
    uint32_t shapeValue = 0;
};

} // namespace AscendC

#endif
