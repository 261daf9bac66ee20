/* The product: Mmad and its settings; out of L0C: Fixpipe and DataCopy with DataCopyCO12DstParams. */
#ifndef ASCENDC_CUBE_H
#define ASCENDC_CUBE_H

#include "basic/load_data.h"

namespace akgen
{

template <typename D, typename A, typename B>
constexpr bool mmad_takes =
    std::is_same_v<A, B> &&
    (std::is_same_v<D, float>
         ? std::is_same_v<A, half> || std::is_same_v<A, float> || std::is_same_v<A, bfloat16_t>
         : std::is_same_v<D, int32_t> && (std::is_same_v<A, int8_t> || std::is_same_v<A, int4b_t>));
template <typename D, typename A, typename B>
AKGEN_API npu_insn mmad(const AscendC::LocalTensor<D> &dst, const AscendC::LocalTensor<A> &fm,
                        const AscendC::LocalTensor<B> &filter, const AscendC::MmadParams &p)
{
    static_assert(require_type<NPU_OP_MMAD, A>::ok);
    static_assert(mmad_takes<D, A, B>,
                  "Mmad: this combination of data types is not supported on Ascend910B; supported: half, float or "
                  "bfloat16_t to float, int8_t or int4b_t to int32_t");
    npu_insn insn = start<NPU_OP_MMAD, D, A>(raw(dst));
    insn.src0 = raw(fm);
    insn.src1 = raw(filter);
    insn.src1_type = dtype_of<B>::value;
    insn.mmad.m = p.m;
    insn.mmad.n = p.n;
    insn.mmad.k = p.k;
    insn.mmad.unit_flag = p.unitFlag;
    insn.mmad.k_align = p.kDirectionAlign;
    return insn;
}
/* L0C holds float and int32_t; what they can become on their way out. Which quantisation does it is the machine's
 * business. */
template <typename D, typename S>
constexpr bool fixpipe_makes =
    std::is_same_v<D, S> || std::is_same_v<D, half> || std::is_same_v<D, int8_t> || std::is_same_v<D, uint8_t> ||
    (std::is_same_v<S, float> && std::is_same_v<D, bfloat16_t>);
template <typename D, typename S, typename T, typename P>
AKGEN_API npu_insn fixpipe(const T &dst, const AscendC::LocalTensor<S> &src, const P &p)
{
    static_assert(require_type<NPU_OP_FIXPIPE, S>::ok);
    static_assert(
        fixpipe_makes<D, S>,
        "Fixpipe: this pair of data types is not supported on Ascend910B; supported: float to int8_t, uint8_t, "
        "half, bfloat16_t or float, int32_t to int8_t, uint8_t, half or int32_t");
    npu_insn insn = start<NPU_OP_FIXPIPE, D, S>(raw(dst));
    insn.src0 = raw(src);
    insn.fixpipe.n = p.nSize;
    insn.fixpipe.m = p.mSize;
    insn.fixpipe.src_stride = p.srcStride;
    insn.fixpipe.dst_stride = p.dstStride;
    insn.fixpipe.quant = uint8_t(p.quantPre);
    insn.fixpipe.unit_flag = p.unitFlag;
    return insn;
}
template <typename D, typename S, typename T>
AKGEN_API npu_insn fixpipe_v220(const T &dst, const AscendC::LocalTensor<S> &src, const AscendC::FixpipeParamsV220 &p,
                                bool rows)
{
    npu_insn insn = fixpipe<D, S>(dst, src, p);
    insn.fixpipe.relu = p.reluEn;
    insn.fixpipe.channel_split = p.isChannelSplit;
    insn.fixpipe.nz2nd = rows;
    insn.fixpipe.nd_num = p.ndNum;
    insn.fixpipe.src_nd_stride = p.srcNdStride;
    insn.fixpipe.dst_nd_stride = p.dstNdStride;
    insn.scalar = p.deqScalar;
    if (rows)
        npu_set_cube_register(NPU_CUBE_ND,
                              uint64_t(p.ndNum) | uint64_t(p.srcNdStride) << 16 | uint64_t(p.dstNdStride) << 32);
    if (p.quantPre == DEQF16 || p.quantPre == QF322B8_PRE || p.quantPre == REQ8)
        npu_set_cube_register(NPU_CUBE_QUANT, p.deqScalar);
    return insn;
}
/* impl/dav_c220/kernel_operator_fixpipe_impl.h of CANN 8.1, FixpipeInfoParams */
template <typename D, typename S>
AKGEN_API AscendC::FixpipeParamsV220 fixpipe_from_bursts(const AscendC::FixpipeParams<S> &p)
{
    const bool rows = p.nz2ndParams.nz2ndEn;
    AscendC::FixpipeParamsV220 q;
    q.mSize = p.burstLen / 2;
    q.nSize = rows ? p.nz2ndParams.originalNSize : uint16_t(p.cburstNum * 16);
    q.srcStride = uint16_t(p.srcStride * 16 + (q.mSize + 15) / 16 * 16);
    q.dstStride = rows ? p.dstStride : uint32_t(p.dstStride + p.burstLen * sizeof(D) / 4);
    q.quantPre = p.quantParams.quantPre;
    q.deqScalar = p.quantParams.deqScalar;
    q.reluEn = p.reluEn;
    q.unitFlag = p.unitFlag;
    q.ndNum = p.nz2ndParams.ndNum;
    q.srcNdStride = p.nz2ndParams.srcNdStride;
    q.dstNdStride = p.nz2ndParams.dstNdStride;
    return q;
}
template <typename D, typename S, typename T>
AKGEN_API void copy_out(const T &dst, const AscendC::LocalTensor<S> &src, const AscendC::DataCopyCO12DstParams &p)
{
    npu_insn insn = fixpipe<D, S>(dst, src, p);
    insn.flags = NPU_INSN_CUBE_REGISTERS;
    insn.fixpipe.relu = p.reluPre != 0;
    insn.fixpipe.channel_split = p.channelSplit;
    insn.fixpipe.nz2nd = p.nz2ndEn;
    npu_issue_cube(&insn);
}

} // namespace akgen

namespace AscendC
{

template <typename T, typename U, typename S>
AKGEN_API void Mmad(const LocalTensor<T> &dst, const LocalTensor<U> &fm, const LocalTensor<S> &filter,
                    const MmadParams &mmadParams)
{
    npu_insn insn = akgen::mmad(dst, fm, filter, mmadParams);
    bool zero = mmadParams.cmatrixInitVal && !mmadParams.isBias;
    insn.mmad.init = zero ? NPU_C_ZERO : mmadParams.cmatrixSource ? NPU_C_BIAS : NPU_C_ACCUMULATE;
    if (insn.mmad.init == NPU_C_BIAS) /* without a tensor it is the table's beginning */
        npu_local_tensor(NPU_C2, 0, 1024, &insn.aux);
    npu_issue_cube(&insn);
}
/* Where the bias lies decides: in the bias table (C2), or C itself (CO1). cmatrixInitVal goes before it. */
template <typename T, typename U, typename S, typename V>
AKGEN_API void Mmad(const LocalTensor<T> &dst, const LocalTensor<U> &fm, const LocalTensor<S> &filter,
                    const LocalTensor<V> &bias, const MmadParams &mmadParams)
{
    static_assert(
        std::is_same_v<V, T> && !std::is_same_v<U, int4b_t>,
        "Mmad: this data type of bias is not supported on Ascend910B; supported: float for float, int32_t for "
        "int8_t");
    npu_insn insn = akgen::mmad(dst, fm, filter, mmadParams);
    insn.aux = akgen::raw(bias);
    insn.mmad.init = mmadParams.cmatrixInitVal      ? NPU_C_ZERO
                     : insn.aux.position == NPU_CO1 ? NPU_C_ACCUMULATE
                                                    : NPU_C_BIAS;
    npu_issue_cube(&insn);
}
AKGEN_API void SetHF32Mode(HF32Mode mode)
{
    npu_set_cube_register(NPU_CUBE_HF32, mode == HF32Mode::ENABLE);
}
AKGEN_API void SetHF32Mode(bool hf32Mode)
{
    npu_set_cube_register(NPU_CUBE_HF32, hf32Mode);
}
AKGEN_API void SetHF32TransMode(bool hf32TransMode)
{
    npu_set_cube_register(NPU_CUBE_HF32_TIES, hf32TransMode);
}
AKGEN_API void SetHF32TransMode(HF32TransMode mode)
{
    npu_set_cube_register(NPU_CUBE_HF32_TIES, mode == HF32TransMode::NEAREST_ZERO);
}
/* In which direction the cube works through C: no effect on values. */
AKGEN_API void SetMMColumnMajor()
{
}
AKGEN_API void SetMMRowMajor()
{
}

template <typename T, typename U, const FixpipeConfig &config = CFG_ROW_MAJOR>
AKGEN_API void Fixpipe(const GlobalTensor<T> &dst, const LocalTensor<U> &src, const FixpipeParamsV220 &intriParams)
{
    npu_insn insn = akgen::fixpipe_v220<T, U>(dst, src, intriParams, config.format == CO2Layout::ROW_MAJOR);
    npu_issue_cube(&insn);
}
template <typename T, typename U, const FixpipeConfig &config = CFG_ROW_MAJOR>
AKGEN_API void Fixpipe(const LocalTensor<T> &dst, const LocalTensor<U> &src, const FixpipeParamsV220 &intriParams)
{
    npu_insn insn = akgen::fixpipe_v220<T, U>(dst, src, intriParams, config.format == CO2Layout::ROW_MAJOR);
    npu_issue_cube(&insn);
}
/* With a parameter for each column, in L1. */
template <typename T, typename U, const FixpipeConfig &config = CFG_ROW_MAJOR, typename S = uint64_t,
          typename = std::enable_if_t<std::is_same_v<S, uint64_t>>>
AKGEN_API void Fixpipe(const GlobalTensor<T> &dst, const LocalTensor<U> &src, const LocalTensor<S> &cbufWorkspace,
                       const FixpipeParamsV220 &intriParams)
{
    npu_insn insn = akgen::fixpipe_v220<T, U>(dst, src, intriParams, config.format == CO2Layout::ROW_MAJOR);
    insn.src1 = akgen::raw(cbufWorkspace);
    npu_issue_cube(&insn);
}
template <typename T, typename U, const FixpipeConfig &config = CFG_ROW_MAJOR, typename S = uint64_t,
          typename = std::enable_if_t<std::is_same_v<S, uint64_t>>>
AKGEN_API void Fixpipe(const LocalTensor<T> &dst, const LocalTensor<U> &src, const LocalTensor<S> &cbufWorkspace,
                       const FixpipeParamsV220 &intriParams)
{
    npu_insn insn = akgen::fixpipe_v220<T, U>(dst, src, intriParams, config.format == CO2Layout::ROW_MAJOR);
    insn.src1 = akgen::raw(cbufWorkspace);
    npu_issue_cube(&insn);
}
#define AKGEN_FIXPIPE_BURSTS(Tensor)                                                                                   \
    template <typename T, typename U>                                                                                  \
    AKGEN_API void Fixpipe(const Tensor<T> &dst, const LocalTensor<U> &src, const FixpipeParams<U> &intriParams)       \
    {                                                                                                                  \
        npu_insn insn = akgen::fixpipe_v220<T, U>(dst, src, akgen::fixpipe_from_bursts<T>(intriParams),                \
                                                  intriParams.nz2ndParams.nz2ndEn);                                    \
        npu_issue_cube(&insn);                                                                                         \
    }                                                                                                                  \
    template <typename T, typename U, typename S>                                                                      \
    AKGEN_API void Fixpipe(const Tensor<T> &dst, const LocalTensor<U> &src, const LocalTensor<S> &cbufWorkspace,       \
                           const FixpipeParams<U> &intriParams)                                                        \
    {                                                                                                                  \
        npu_insn insn = akgen::fixpipe_v220<T, U>(dst, src, akgen::fixpipe_from_bursts<T>(intriParams),                \
                                                  intriParams.nz2ndParams.nz2ndEn);                                    \
        insn.src1 = akgen::raw(cbufWorkspace);                                                                         \
        npu_issue_cube(&insn);                                                                                         \
    }
AKGEN_FIXPIPE_BURSTS(GlobalTensor)
AKGEN_FIXPIPE_BURSTS(LocalTensor)
#undef AKGEN_FIXPIPE_BURSTS

template <typename T, typename U>
AKGEN_API void DataCopy(const GlobalTensor<T> &dst, const LocalTensor<U> &src, const DataCopyCO12DstParams &intriParams)
{
    akgen::copy_out<T, U>(dst, src, intriParams);
}
template <typename T, typename U>
AKGEN_API void DataCopy(const LocalTensor<T> &dst, const LocalTensor<U> &src, const DataCopyCO12DstParams &intriParams)
{
    akgen::copy_out<T, U>(dst, src, intriParams);
}
AKGEN_API void SetFixpipeNz2ndFlag(uint16_t ndNum, uint16_t srcNdStride, uint16_t dstNdStride)
{
    npu_set_cube_register(NPU_CUBE_ND, uint64_t(ndNum) | uint64_t(srcNdStride) << 16 | uint64_t(dstNdStride) << 32);
}
AKGEN_API void SetFixpipePreQuantFlag(uint64_t config)
{
    npu_set_cube_register(NPU_CUBE_QUANT, config);
}
/* preData lies in L0C where only the unit flags are to be cleared. */
template <typename T, bool setRelu = false>
AKGEN_API void SetFixPipeConfig(const LocalTensor<T> &preData, bool isUnitFlag = false)
{
    static_assert(!setRelu, "SetFixPipeConfig: setRelu is not supported on Ascend910B");
    if (preData.GetPosition() != NPU_CO1)
        npu_set_cube_register(NPU_CUBE_QUANT_AT, preData.GetPhyAddr());
    if (isUnitFlag)
        npu_clear_unit_flags();
}
template <typename T>
AKGEN_API void SetFixPipeConfig(const LocalTensor<T> &, const LocalTensor<T> &quantPre, bool isUnitFlag = false)
{
    SetFixPipeConfig(quantPre, isUnitFlag);
}

} // namespace AscendC

#endif
