/* Reductions: of everything (ReduceSum...), of a repeat (WholeReduce...), of a block, of pairs; and their result
 * registers. */
#ifndef ASCENDC_VECTOR_REDUCE_H
#define ASCENDC_VECTOR_REDUCE_H

#include "basic/issue.h"

namespace akgen
{
template <npu_op op, typename T>
AKGEN_API npu_insn reduce(const AscendC::LocalTensor<T> &dst, const AscendC::LocalTensor<T> &src,
                          const AscendC::LocalTensor<T> &sharedTmpBuffer, bool calIndex)
{
    npu_insn insn = unary<op, T>(dst, src);
    insn.aux = raw(sharedTmpBuffer);
    insn.flags = calIndex ? NPU_INSN_CAL_INDEX : 0;
    return insn;
}
template <npu_op op, typename T>
AKGEN_API npu_insn repeat_reduce(const AscendC::LocalTensor<T> &dst, const AscendC::LocalTensor<T> &src,
                                 int32_t dst_rep, int32_t src_blk, int32_t src_rep)
{
    npu_insn insn = unary<op, T>(dst, src);
    insn.dst_blk = 1;
    insn.dst_rep = uint16_t(dst_rep);
    insn.src0_blk = uint16_t(src_blk);
    insn.src0_rep = uint16_t(src_rep);
    return insn;
}
} // namespace akgen

namespace AscendC
{

#define AKGEN_REDUCE_INDEX(Name, op)                                                                                   \
    template <typename T>                                                                                              \
    AKGEN_API void Name(const LocalTensor<T> &dst, const LocalTensor<T> &src, const LocalTensor<T> &sharedTmpBuffer,   \
                        const int32_t mask, const int32_t repeatTime, const int32_t srcRepStride, bool calIndex = 0)   \
    {                                                                                                                  \
        npu_insn insn = akgen::reduce<op, T>(dst, src, sharedTmpBuffer, calIndex);                                     \
        akgen::by_mask(insn, uint64_t(mask), uint32_t(repeatTime));                                                    \
        insn.src0_blk = 1;                                                                                             \
        insn.src0_rep = uint16_t(srcRepStride);                                                                        \
        npu_issue(&insn);                                                                                              \
    }                                                                                                                  \
    template <typename T>                                                                                              \
    AKGEN_API void Name(const LocalTensor<T> &dst, const LocalTensor<T> &src, const LocalTensor<T> &sharedTmpBuffer,   \
                        const uint64_t mask[], const int32_t repeatTime, const int32_t srcRepStride,                   \
                        bool calIndex = 0)                                                                             \
    {                                                                                                                  \
        npu_insn insn = akgen::reduce<op, T>(dst, src, sharedTmpBuffer, calIndex);                                     \
        akgen::by_mask(insn, mask, uint32_t(repeatTime));                                                              \
        insn.src0_blk = 1;                                                                                             \
        insn.src0_rep = uint16_t(srcRepStride);                                                                        \
        npu_issue(&insn);                                                                                              \
    }                                                                                                                  \
    template <typename T>                                                                                              \
    AKGEN_API void Name(const LocalTensor<T> &dst, const LocalTensor<T> &src, const LocalTensor<T> &sharedTmpBuffer,   \
                        const int32_t count, bool calIndex = 0)                                                        \
    {                                                                                                                  \
        npu_insn insn = akgen::reduce<op, T>(dst, src, sharedTmpBuffer, calIndex);                                     \
        akgen::by_count(insn, count);                                                                                  \
        npu_issue(&insn);                                                                                              \
    }
AKGEN_REDUCE_INDEX(ReduceMax, NPU_OP_REDUCE_MAX)
AKGEN_REDUCE_INDEX(ReduceMin, NPU_OP_REDUCE_MIN)
#undef AKGEN_REDUCE_INDEX

template <typename T>
AKGEN_API void ReduceSum(const LocalTensor<T> &dst, const LocalTensor<T> &src, const LocalTensor<T> &sharedTmpBuffer,
                         const int32_t mask, const int32_t repeatTime, const int32_t srcRepStride)
{
    npu_insn insn = akgen::reduce<NPU_OP_REDUCE_SUM, T>(dst, src, sharedTmpBuffer, false);
    akgen::by_mask(insn, uint64_t(mask), uint32_t(repeatTime));
    insn.src0_blk = 1;
    insn.src0_rep = uint16_t(srcRepStride);
    npu_issue(&insn);
}
template <typename T>
AKGEN_API void ReduceSum(const LocalTensor<T> &dst, const LocalTensor<T> &src, const LocalTensor<T> &sharedTmpBuffer,
                         const uint64_t mask[], const int32_t repeatTime, const int32_t srcRepStride)
{
    npu_insn insn = akgen::reduce<NPU_OP_REDUCE_SUM, T>(dst, src, sharedTmpBuffer, false);
    akgen::by_mask(insn, mask, uint32_t(repeatTime));
    insn.src0_blk = 1;
    insn.src0_rep = uint16_t(srcRepStride);
    npu_issue(&insn);
}
/* isSetMask = false: the mask registers say what is summed, `count` does not. */
template <typename T, bool isSetMask = true>
AKGEN_API void ReduceSum(const LocalTensor<T> &dst, const LocalTensor<T> &src, const LocalTensor<T> &sharedTmpBuffer,
                         const int32_t count)
{
    npu_insn insn = akgen::reduce<NPU_OP_REDUCE_SUM, T>(dst, src, sharedTmpBuffer, false);
    akgen::by_count(insn, count);
    if (!isSetMask)
        insn.form = NPU_FORM_MASK_REG;
    npu_issue(&insn);
}

#define AKGEN_WHOLE_REDUCE(Name, op, mask_parameter)                                                                   \
    template <typename T, bool isSetMask = true>                                                                       \
    AKGEN_API void Name(const LocalTensor<T> &dst, const LocalTensor<T> &src, mask_parameter,                          \
                        const int32_t repeatTime, const int32_t dstRepStride, const int32_t srcBlkStride,              \
                        const int32_t srcRepStride, ReduceOrder order = ReduceOrder::ORDER_VALUE_INDEX)                \
    {                                                                                                                  \
        npu_insn insn = akgen::repeat_reduce<op, T>(dst, src, dstRepStride, srcBlkStride, srcRepStride);               \
        akgen::by_mask<isSetMask>(insn, mask, uint32_t(repeatTime));                                                   \
        insn.mode = uint8_t(order);                                                                                    \
        npu_issue(&insn);                                                                                              \
    }
#define AKGEN_WHOLE_REDUCE_SUM(mask_parameter)                                                                         \
    template <typename T, bool isSetMask = true>                                                                       \
    AKGEN_API void WholeReduceSum(const LocalTensor<T> &dst, const LocalTensor<T> &src, mask_parameter,                \
                                  const int32_t repeatTime, const int32_t dstRepStride, const int32_t srcBlkStride,    \
                                  const int32_t srcRepStride)                                                          \
    {                                                                                                                  \
        npu_insn insn =                                                                                                \
            akgen::repeat_reduce<NPU_OP_WHOLE_REDUCE_SUM, T>(dst, src, dstRepStride, srcBlkStride, srcRepStride);      \
        akgen::by_mask<isSetMask>(insn, mask, uint32_t(repeatTime));                                                   \
        npu_issue(&insn);                                                                                              \
    }
AKGEN_WHOLE_REDUCE(WholeReduceMax, NPU_OP_WHOLE_REDUCE_MAX, const uint64_t mask[])
AKGEN_WHOLE_REDUCE(WholeReduceMax, NPU_OP_WHOLE_REDUCE_MAX, const int32_t mask)
AKGEN_WHOLE_REDUCE(WholeReduceMin, NPU_OP_WHOLE_REDUCE_MIN, const uint64_t mask[])
AKGEN_WHOLE_REDUCE(WholeReduceMin, NPU_OP_WHOLE_REDUCE_MIN, const int32_t mask)
AKGEN_WHOLE_REDUCE_SUM(const uint64_t mask[])
AKGEN_WHOLE_REDUCE_SUM(const int32_t mask)
#undef AKGEN_WHOLE_REDUCE
#undef AKGEN_WHOLE_REDUCE_SUM

/* Here the repeat count comes before the mask. */
#define AKGEN_BLOCK_REDUCE(Name, op, mask_parameter)                                                                   \
    template <typename T, bool isSetMask = true>                                                                       \
    AKGEN_API void Name(const LocalTensor<T> &dst, const LocalTensor<T> &src, const int32_t repeatTime,                \
                        mask_parameter, const int32_t dstRepStride, const int32_t srcBlkStride,                        \
                        const int32_t srcRepStride)                                                                    \
    {                                                                                                                  \
        npu_insn insn = akgen::repeat_reduce<op, T>(dst, src, dstRepStride, srcBlkStride, srcRepStride);               \
        akgen::by_mask<isSetMask>(insn, mask, uint32_t(repeatTime));                                                   \
        npu_issue(&insn);                                                                                              \
    }
#define AKGEN_BLOCK_REDUCE_FORMS(Name, op)                                                                             \
    AKGEN_BLOCK_REDUCE(Name, op, const uint64_t mask[])                                                                \
    AKGEN_BLOCK_REDUCE(Name, op, const int32_t mask)
AKGEN_BLOCK_REDUCE_FORMS(BlockReduceSum, NPU_OP_BLOCK_REDUCE_SUM)
AKGEN_BLOCK_REDUCE_FORMS(BlockReduceMax, NPU_OP_BLOCK_REDUCE_MAX)
AKGEN_BLOCK_REDUCE_FORMS(BlockReduceMin, NPU_OP_BLOCK_REDUCE_MIN)
AKGEN_BLOCK_REDUCE_FORMS(PairReduceSum, NPU_OP_PAIR_REDUCE_SUM)
#undef AKGEN_BLOCK_REDUCE
#undef AKGEN_BLOCK_REDUCE_FORMS

/* The newer names of the nine above: what is computed is a template argument, and the mask comes first everywhere. */
#define AKGEN_REDUCE_BY_TYPE(mask_parameter)                                                                           \
    template <ReduceType reduceType, typename T, typename U, bool isSetMask = true>                                    \
    AKGEN_API void ReduceRepeat(const LocalTensor<T> &dst, const LocalTensor<U> &src, mask_parameter,                  \
                                const int32_t repeatTime, const int32_t dstRepStride, const int32_t srcBlkStride,      \
                                const int32_t srcRepStride, ReduceOrder order = ReduceOrder::ORDER_VALUE_INDEX)        \
    {                                                                                                                  \
        if constexpr (reduceType == ReduceType::SUM)                                                                   \
            WholeReduceSum<T, isSetMask>(dst, src, mask, repeatTime, dstRepStride, srcBlkStride, srcRepStride);        \
        else if constexpr (reduceType == ReduceType::MAX)                                                              \
            WholeReduceMax<T, isSetMask>(dst, src, mask, repeatTime, dstRepStride, srcBlkStride, srcRepStride, order); \
        else                                                                                                           \
            WholeReduceMin<T, isSetMask>(dst, src, mask, repeatTime, dstRepStride, srcBlkStride, srcRepStride, order); \
    }                                                                                                                  \
    template <ReduceType reduceType, typename T, typename U, bool isSetMask = true>                                    \
    AKGEN_API void ReduceDataBlock(const LocalTensor<T> &dst, const LocalTensor<U> &src, mask_parameter,               \
                                   const int32_t repeatTime, const int32_t dstRepStride, const int32_t srcBlkStride,   \
                                   const int32_t srcRepStride)                                                         \
    {                                                                                                                  \
        if constexpr (reduceType == ReduceType::SUM)                                                                   \
            BlockReduceSum<T, isSetMask>(dst, src, repeatTime, mask, dstRepStride, srcBlkStride, srcRepStride);        \
        else if constexpr (reduceType == ReduceType::MAX)                                                              \
            BlockReduceMax<T, isSetMask>(dst, src, repeatTime, mask, dstRepStride, srcBlkStride, srcRepStride);        \
        else                                                                                                           \
            BlockReduceMin<T, isSetMask>(dst, src, repeatTime, mask, dstRepStride, srcBlkStride, srcRepStride);        \
    }                                                                                                                  \
    template <ReduceType reduceType, typename T, typename U, bool isSetMask = true>                                    \
    AKGEN_API void ReducePairElem(const LocalTensor<T> &dst, const LocalTensor<U> &src, mask_parameter,                \
                                  const int32_t repeatTime, const int32_t dstRepStride, const int32_t srcBlkStride,    \
                                  const int32_t srcRepStride)                                                          \
    {                                                                                                                  \
        static_assert(reduceType == ReduceType::SUM, "ReducePairElem: reduceType is ReduceType::SUM on Ascend910B");   \
        PairReduceSum<T, isSetMask>(dst, src, repeatTime, mask, dstRepStride, srcBlkStride, srcRepStride);             \
    }
AKGEN_REDUCE_BY_TYPE(const uint64_t mask[])
AKGEN_REDUCE_BY_TYPE(const int32_t mask)
#undef AKGEN_REDUCE_BY_TYPE

template <typename T, bool isSetMask = true>
AKGEN_API void RepeatReduceSum(const LocalTensor<T> &dst, const LocalTensor<T> &src, const int32_t repeatTime,
                               const int32_t mask, const int32_t dstBlkStride, const int32_t srcBlkStride,
                               const int32_t dstRepStride, const int32_t srcRepStride)
{
    npu_insn insn =
        akgen::repeat_reduce<NPU_OP_WHOLE_REDUCE_SUM, T>(dst, src, dstRepStride, srcBlkStride, srcRepStride);
    akgen::by_mask<isSetMask>(insn, uint64_t(mask), uint32_t(repeatTime));
    npu_issue(&insn);
}

/* Result registers: reading them waits for the vector pipe. */
template <typename T> AKGEN_API T GetAccVal()
{
    static_assert(std::is_same_v<T, half> || std::is_same_v<T, float>,
                  "GetAccVal: data type is not supported on Ascend910B; supported: half | float");
    return akgen::from_bits<T>(npu_get_acc_val());
}
/* The register's bits, float in the low word: the form of CANN 8.1. */
AKGEN_API int64_t GetAccVal()
{
    return int64_t(npu_get_acc_val());
}
template <typename T> AKGEN_API T GetReduceRepeatSumSpr()
{
    return GetAccVal<T>();
}
template <typename T> AKGEN_API void GetReduceMaxMinCount(T &maxMinValue, T &maxMinIndex)
{
    static_assert(std::is_same_v<T, half> || std::is_same_v<T, float>,
                  "GetReduceMaxMinCount: data type is not supported on Ascend910B; supported: half | float");
    uint64_t value = 0, index = 0;
    npu_get_reduce_max_min(akgen::dtype_of<T>::value, &value, &index);
    maxMinValue = akgen::from_bits<T>(value);
    maxMinIndex = akgen::from_bits<T>(index);
}
template <typename T> AKGEN_API void GetReduceMaxMinCount(T &maxMinValue)
{
    T index;
    GetReduceMaxMinCount<T>(maxMinValue, index);
}
template <typename T> AKGEN_API void GetReduceRepeatMaxMinSpr(T &maxMinValue, T &maxMinIndex)
{
    GetReduceMaxMinCount<T>(maxMinValue, maxMinIndex);
}
template <typename T> AKGEN_API void GetReduceRepeatMaxMinSpr(T &maxMinValue)
{
    GetReduceMaxMinCount<T>(maxMinValue);
}

} // namespace AscendC

/* The register itself: the index above the value's bits. */
AKGEN_API int64_t get_max_min_cnt()
{
    uint64_t value = 0, index = 0;
    npu_get_reduce_max_min(akgen::dtype_of<float>::value, &value, &index);
    return int64_t(index << 32 | (value & 0xffffffffu));
}

#endif
