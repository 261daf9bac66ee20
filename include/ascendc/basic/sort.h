/* Sorting (score, index) pairs: Sort32, MrgSort and what Sort, Concat and Extract make of them. RpSort16, MrgSort4,
 * ProposalConcat and ProposalExtract compile for this chip, with a warning, and do nothing on it. */
#ifndef ASCENDC_SORT_H
#define ASCENDC_SORT_H

#include "adv/call.h"

namespace AscendC
{

constexpr uint8_t MRG_SORT_ELEMENT_LEN = 4;
struct MrgSort4Info {
    AKGEN_API MrgSort4Info()
    {
    }
    AKGEN_API MrgSort4Info(const uint16_t lengths[MRG_SORT_ELEMENT_LEN], const bool suspension, const uint16_t valid,
                           const uint16_t repeats)
        : ifExhaustedSuspension(suspension), validBit(valid), repeatTimes(uint8_t(repeats))
    {
        for (int32_t i = 0; i < MRG_SORT_ELEMENT_LEN; i++)
            elementLengths[i] = lengths[i];
    }
    uint16_t elementLengths[MRG_SORT_ELEMENT_LEN] = {0};
    bool ifExhaustedSuspension = false;
    uint16_t validBit = 0;
    uint8_t repeatTimes = 1;
};
template <typename T> struct MrgSortSrcList {
    AKGEN_API MrgSortSrcList()
    {
    }
    AKGEN_API MrgSortSrcList(const LocalTensor<T> &first, const LocalTensor<T> &second, const LocalTensor<T> &third,
                             const LocalTensor<T> &fourth)
        : src1(first), src2(second), src3(third), src4(fourth)
    {
    }
    LocalTensor<T> src1;
    LocalTensor<T> src2;
    LocalTensor<T> src3;
    LocalTensor<T> src4;
};

template <typename T>
AKGEN_API void Sort32(const LocalTensor<T> &dst, const LocalTensor<T> &src0, const LocalTensor<uint32_t> &src1,
                      const int32_t repeatTime)
{
    npu_insn insn = akgen::unary<NPU_OP_SORT32, T>(dst, src0);
    insn.form = NPU_FORM_MASK_REG;
    insn.src1 = akgen::raw(src1);
    insn.repeat = uint32_t(repeatTime);
    npu_issue(&insn);
}

template <typename T>
AKGEN_API void MrgSort(const LocalTensor<T> &dst, const MrgSortSrcList<T> &src, const MrgSort4Info &params)
{
    npu_insn insn = akgen::unary<NPU_OP_MRG_SORT, T>(dst, src.src1);
    insn.form = NPU_FORM_MASK_REG;
    insn.src1 = akgen::raw(src.src2);
    insn.aux = akgen::raw(src.src3);
    insn.copy.pad_value = src.src4.GetPhyAddr();
    insn.mode = uint8_t(params.validBit < 16 ? params.validBit : 0);
    insn.flags = params.ifExhaustedSuspension ? NPU_INSN_SUSPEND : 0;
    insn.repeat = params.repeatTimes;
    for (int32_t i = 0; i < MRG_SORT_ELEMENT_LEN; i++)
        insn.mask[0] |= uint64_t(params.elementLengths[i]) << 16 * i;
    npu_issue(&insn);
}
/* Pairs that the last MrgSort has taken of each list. Waits for the vector pipe. */
AKGEN_API void GetMrgSortResult(uint16_t &mrgSortList1, uint16_t &mrgSortList2, uint16_t &mrgSortList3,
                                uint16_t &mrgSortList4)
{
    uint64_t counts = npu_get_merge_counts();
    mrgSortList1 = uint16_t(counts);
    mrgSortList2 = uint16_t(counts >> 16);
    mrgSortList3 = uint16_t(counts >> 32);
    mrgSortList4 = uint16_t(counts >> 48);
}
template <typename T, bool isExhaustedSuspension = false>
AKGEN_API void MrgSort(const LocalTensor<T> &dst, const MrgSortSrcList<T> &sortList, const uint16_t elementCountList[4],
                       uint32_t sortedNum[4], uint16_t validBit, const int32_t repeatTime)
{
    MrgSort<T>(dst, sortList, MrgSort4Info(elementCountList, isExhaustedSuspension, validBit, uint16_t(repeatTime)));
    if constexpr (isExhaustedSuspension) {
        uint64_t counts = npu_get_merge_counts();
        for (int32_t i = 0; i < MRG_SORT_ELEMENT_LEN; i++)
            sortedNum[i] = uint16_t(counts >> 16 * i);
    }
}

/* On this chip the scores are sorted where they are. */
template <typename T>
AKGEN_API void Concat(LocalTensor<T> &concat, const LocalTensor<T> &src, const LocalTensor<T> &tmp,
                      const int32_t repeatTime)
{
    static_assert(akgen::require_type<NPU_OP_SORT32, T>::ok);
    concat = src;
}
template <typename T, bool isFullSort>
AKGEN_API void Sort(const LocalTensor<T> &dst, const LocalTensor<T> &concat, const LocalTensor<uint32_t> &index,
                    LocalTensor<T> &tmp, const int32_t repeatTime)
{
    npu_adv call = akgen::adv<NPU_ADV_SORT, T>(akgen::raw(dst), akgen::raw(concat), uint32_t(repeatTime));
    call.src[1] = akgen::raw(index);
    call.tmp = akgen::raw(tmp);
    call.shape[0] = isFullSort;
    npu_advanced(&call);
}
template <typename T>
AKGEN_API void Extract(const LocalTensor<T> &dstValue, const LocalTensor<uint32_t> &dstIndex,
                       const LocalTensor<T> &sorted, const int32_t repeatTime)
{
    npu_adv call = akgen::adv<NPU_ADV_EXTRACT, T>(akgen::raw(dstValue), akgen::raw(sorted), uint32_t(repeatTime));
    call.dst[1] = akgen::raw(dstIndex);
    call.flags |= NPU_ADV_NO_TMP;
    npu_advanced(&call);
}
/* In elements of T: a pair is eight bytes. */
template <typename T> AKGEN_API uint32_t GetSortOffset(const uint32_t elemOffset)
{
    static_assert(akgen::require_type<NPU_OP_SORT32, T>::ok);
    return elemOffset * uint32_t(8 / sizeof(T));
}
template <typename T> AKGEN_API uint32_t GetSortLen(const uint32_t elemCount)
{
    return GetSortOffset<T>(elemCount);
}

#define AKGEN_OTHER_PRODUCTS(Name)                                                                                     \
    __attribute__((deprecated(#Name " is not supported on Ascend910B: it has no effect")))
template <typename T>
AKGEN_OTHER_PRODUCTS(RpSort16)
AKGEN_API void RpSort16(const LocalTensor<T> &dst, const LocalTensor<T> &src, const int32_t repeatTime)
{
    npu_insn insn = akgen::unary<NPU_OP_RP_SORT16, T>(dst, src);
    insn.form = NPU_FORM_MASK_REG;
    insn.repeat = uint32_t(repeatTime);
    npu_issue(&insn);
}
template <typename T>
AKGEN_OTHER_PRODUCTS(MrgSort4)
AKGEN_API void MrgSort4(const LocalTensor<T> &dst, const MrgSortSrcList<T> &src, const MrgSort4Info &params)
{
    npu_insn insn = akgen::unary<NPU_OP_MRG_SORT4, T>(dst, src.src1);
    insn.form = NPU_FORM_MASK_REG;
    insn.repeat = params.repeatTimes;
    npu_issue(&insn);
}
#define AKGEN_PROPOSAL(Name, op)                                                                                       \
    template <typename T>                                                                                              \
    AKGEN_OTHER_PRODUCTS(Name)                                                                                         \
    AKGEN_API void Name(const LocalTensor<T> &dst, const LocalTensor<T> &src, const int32_t repeatTime,                \
                        const int32_t modeNumber)                                                                      \
    {                                                                                                                  \
        npu_insn insn = akgen::unary<op, T>(dst, src);                                                                 \
        insn.form = NPU_FORM_MASK_REG;                                                                                 \
        insn.repeat = uint32_t(repeatTime);                                                                            \
        npu_issue(&insn);                                                                                              \
    }
AKGEN_PROPOSAL(ProposalConcat, NPU_OP_PROPOSAL_CONCAT)
AKGEN_PROPOSAL(ProposalExtract, NPU_OP_PROPOSAL_EXTRACT)
#undef AKGEN_PROPOSAL
#undef AKGEN_OTHER_PRODUCTS

} // namespace AscendC

#endif
