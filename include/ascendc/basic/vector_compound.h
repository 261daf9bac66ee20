/* Compound vector instructions: an addition, subtraction or product and what follows it (Relu, a conversion, a second
 * sum) in one. */
#ifndef ASCENDC_VECTOR_COMPOUND_H
#define ASCENDC_VECTOR_COMPOUND_H

#include "basic/vector_cast.h"

namespace akgen
{

template <typename T, typename... Types> constexpr bool is_one_of = (std::is_same_v<T, Types> || ...);
/* Destination types of the instructions whose destination may differ from the sources. */
template <npu_op op, typename D, typename S> struct compound_pair {
    static constexpr bool same = op == NPU_OP_MUL_ADD_DST && std::is_same_v<D, S>;
    static constexpr bool has = op == NPU_OP_MUL_ADD_DST ? same || (std::is_same_v<D, float> && std::is_same_v<S, half>)
                                : op == NPU_OP_MUL_CAST  ? is_one_of<D, int8_t, uint8_t>
                                : op == NPU_OP_ADD_DEQ_RELU
                                    ? std::is_same_v<D, half>
                                    : std::is_same_v<D, std::conditional_t<std::is_same_v<S, float>, half, int8_t>>;
};
template <npu_op op, typename D, typename S>
AKGEN_API npu_insn compound(const AscendC::LocalTensor<D> &dst, const AscendC::LocalTensor<S> &src0,
                            const AscendC::LocalTensor<S> &src1)
{
    static_assert(require_type<op, S>::ok);
    static_assert(compound_pair<op, D, S>::has,
                  "this instruction does not have this pair of destination and source types on Ascend910B");
    npu_insn insn = start<op, D, S>(raw(dst));
    insn.src1_type = insn.src_type;
    insn.src0 = raw(src0);
    insn.src1 = raw(src1);
    return insn;
}

} // namespace akgen

namespace AscendC
{

/* One type. */
#define AKGEN_COMPOUND(Name, op)                                                                                       \
    template <typename T, bool isSetMask = true>                                                                       \
    AKGEN_API void Name(const LocalTensor<T> &dst, const LocalTensor<T> &src0, const LocalTensor<T> &src1,             \
                        uint64_t mask[], const uint8_t repeatTime, const BinaryRepeatParams &repeatParams)             \
    {                                                                                                                  \
        npu_insn insn = akgen::binary<op, T>(dst, src0, src1);                                                         \
        akgen::by_mask<isSetMask>(insn, mask, repeatTime);                                                             \
        akgen::strides(insn, repeatParams);                                                                            \
        npu_issue(&insn);                                                                                              \
    }                                                                                                                  \
    template <typename T, bool isSetMask = true>                                                                       \
    AKGEN_API void Name(const LocalTensor<T> &dst, const LocalTensor<T> &src0, const LocalTensor<T> &src1,             \
                        uint64_t mask, const uint8_t repeatTime, const BinaryRepeatParams &repeatParams)               \
    {                                                                                                                  \
        npu_insn insn = akgen::binary<op, T>(dst, src0, src1);                                                         \
        akgen::by_mask<isSetMask>(insn, mask, repeatTime);                                                             \
        akgen::strides(insn, repeatParams);                                                                            \
        npu_issue(&insn);                                                                                              \
    }                                                                                                                  \
    template <typename T>                                                                                              \
    AKGEN_API void Name(const LocalTensor<T> &dst, const LocalTensor<T> &src0, const LocalTensor<T> &src1,             \
                        const int32_t &count)                                                                          \
    {                                                                                                                  \
        npu_insn insn = akgen::binary<op, T>(dst, src0, src1);                                                         \
        akgen::by_count(insn, count);                                                                                  \
        npu_issue(&insn);                                                                                              \
    }
AKGEN_COMPOUND(AddRelu, NPU_OP_ADD_RELU)
AKGEN_COMPOUND(SubRelu, NPU_OP_SUB_RELU)
/* dst = max(src0 * dst + src1, 0); the newer name and the older one. */
AKGEN_COMPOUND(MulAddRelu, NPU_OP_FUSED_MUL_ADD_RELU)
AKGEN_COMPOUND(FusedMulAddRelu, NPU_OP_FUSED_MUL_ADD_RELU)
#undef AKGEN_COMPOUND

/* Two types. */
#define AKGEN_COMPOUND(Name, op, count_type)                                                                           \
    template <typename T, typename U, bool isSetMask = true>                                                           \
    AKGEN_API void Name(const LocalTensor<T> &dst, const LocalTensor<U> &src0, const LocalTensor<U> &src1,             \
                        const uint64_t mask[], const uint8_t repeatTime, const BinaryRepeatParams &repeatParams)       \
    {                                                                                                                  \
        npu_insn insn = akgen::compound<op, T, U>(dst, src0, src1);                                                    \
        akgen::by_mask<isSetMask>(insn, mask, repeatTime);                                                             \
        akgen::strides(insn, repeatParams);                                                                            \
        npu_issue(&insn);                                                                                              \
    }                                                                                                                  \
    template <typename T, typename U, bool isSetMask = true>                                                           \
    AKGEN_API void Name(const LocalTensor<T> &dst, const LocalTensor<U> &src0, const LocalTensor<U> &src1,             \
                        uint64_t mask, const uint8_t repeatTime, const BinaryRepeatParams &repeatParams)               \
    {                                                                                                                  \
        npu_insn insn = akgen::compound<op, T, U>(dst, src0, src1);                                                    \
        akgen::by_mask<isSetMask>(insn, mask, repeatTime);                                                             \
        akgen::strides(insn, repeatParams);                                                                            \
        npu_issue(&insn);                                                                                              \
    }                                                                                                                  \
    template <typename T, typename U>                                                                                  \
    AKGEN_API void Name(const LocalTensor<T> &dst, const LocalTensor<U> &src0, const LocalTensor<U> &src1,             \
                        count_type count)                                                                              \
    {                                                                                                                  \
        npu_insn insn = akgen::compound<op, T, U>(dst, src0, src1);                                                    \
        akgen::by_count(insn, count);                                                                                  \
        npu_issue(&insn);                                                                                              \
    }
/* dst += src0 * src1 */
AKGEN_COMPOUND(MulAddDst, NPU_OP_MUL_ADD_DST, const int32_t &)
AKGEN_COMPOUND(MulCast, NPU_OP_MUL_CAST, uint32_t)
AKGEN_COMPOUND(AddReluCast, NPU_OP_ADD_RELU_CAST, const uint32_t)
AKGEN_COMPOUND(SubReluCast, NPU_OP_SUB_RELU_CAST, const uint32_t)
AKGEN_COMPOUND(AddDeqRelu, NPU_OP_ADD_DEQ_RELU, const int32_t &)
#undef AKGEN_COMPOUND
/* The form with isSetMask alone. */
template <bool isSetMask = true>
AKGEN_API void AddDeqRelu(const LocalTensor<half> &dst, const LocalTensor<int32_t> &src0,
                          const LocalTensor<int32_t> &src1, const uint64_t mask[], const uint8_t repeatTime,
                          const BinaryRepeatParams &repeatParams)
{
    AddDeqRelu<half, int32_t, isSetMask>(dst, src0, src1, mask, repeatTime, repeatParams);
}
template <bool isSetMask = true>
AKGEN_API void AddDeqRelu(const LocalTensor<half> &dst, const LocalTensor<int32_t> &src0,
                          const LocalTensor<int32_t> &src1, uint64_t mask, const uint8_t repeatTime,
                          const BinaryRepeatParams &repeatParams)
{
    AddDeqRelu<half, int32_t, isSetMask>(dst, src0, src1, mask, repeatTime, repeatParams);
}

constexpr uint8_t VDEQ_TENSOR_SIZE = 16;
struct VdeqInfo {
    AKGEN_API VdeqInfo()
    {
    }
    AKGEN_API VdeqInfo(const float scales[VDEQ_TENSOR_SIZE], const int16_t offsets[VDEQ_TENSOR_SIZE],
                       const bool signModes[VDEQ_TENSOR_SIZE])
    {
        for (int32_t i = 0; i < VDEQ_TENSOR_SIZE; i++) {
            vdeqScale[i] = scales[i];
            vdeqOffset[i] = offsets[i];
            vdeqSignMode[i] = signModes[i];
        }
    }
    float vdeqScale[VDEQ_TENSOR_SIZE] = {0};
    int16_t vdeqOffset[VDEQ_TENSOR_SIZE] = {0};
    bool vdeqSignMode[VDEQ_TENSOR_SIZE] = {0};
};

} // namespace AscendC

namespace akgen
{
AKGEN_API uint64_t deq_word(float scale, int16_t offset, bool signMode)
{
    return uint64_t(signMode) << 46 | uint64_t(offset & 0x1ff) << 37 | __builtin_bit_cast(uint32_t, scale);
}
} // namespace akgen

AKGEN_API void set_deqscale(uint64_t config)
{
    npu_set_deq_scale(config);
}
AKGEN_API void set_deqscale(half scale)
{
    npu_set_deq_scale(akgen::bits_of<half>(scale));
}

namespace AscendC
{

/* The scales of CastDequant from int16: one for all elements, or one for each of the sixteen elements of a block. */
AKGEN_API void SetDeqScale(float scale, int16_t offset, bool signMode)
{
    npu_set_deq_scale(akgen::deq_word(scale, offset, signMode));
}
template <typename T> AKGEN_API void SetDeqScale(const LocalTensor<T> &vdeq, const VdeqInfo &vdeqInfo)
{
    static_assert(sizeof(T) == 8, "SetDeqScale: vdeq is a LocalTensor<uint64_t>");
    for (uint32_t i = 0; i < VDEQ_TENSOR_SIZE; i++)
        vdeq.SetValue(i, static_cast<T>(
                             akgen::deq_word(vdeqInfo.vdeqScale[i], vdeqInfo.vdeqOffset[i], vdeqInfo.vdeqSignMode[i])));
    npu_set_deq_scale(vdeq.GetPhyAddr() / 32);
}

} // namespace AscendC

namespace akgen
{
/* CastDequant of int16 (mode: vector scales, upper halves), or of int32 with the half scale, which is a Cast. */
template <bool isVecDeq, bool halfBlock, typename D, typename S>
AKGEN_API npu_insn dequant(const AscendC::LocalTensor<D> &dst, const AscendC::LocalTensor<S> &src)
{
    if constexpr (std::is_same_v<S, int32_t>) {
        static_assert(std::is_same_v<D, half>, "CastDequant: int32_t becomes half");
        return cast<D, S>(dst, src, AscendC::RoundMode::CAST_RINT);
    } else {
        static_assert(require_type<NPU_OP_CAST_DEQUANT, S>::ok);
        static_assert(is_one_of<D, int8_t, uint8_t>, "CastDequant: int16_t becomes int8_t or uint8_t");
        npu_insn insn = start<NPU_OP_CAST_DEQUANT, D, S>(raw(dst));
        insn.src0 = raw(src);
        insn.mode = uint8_t(isVecDeq | halfBlock << 1);
        return insn;
    }
}
} // namespace akgen

namespace AscendC
{
/* The newer name and the older one. */
#define AKGEN_DEQUANT(Name)                                                                                            \
    template <typename T, typename U, bool isSetMask = true, bool isVecDeq = true, bool halfBlock = true>              \
    AKGEN_API void Name(const LocalTensor<T> &dst, const LocalTensor<U> &src, const uint64_t mask[],                   \
                        uint8_t repeatTime, const UnaryRepeatParams &repeatParams)                                     \
    {                                                                                                                  \
        npu_insn insn = akgen::dequant<isVecDeq, halfBlock, T, U>(dst, src);                                           \
        akgen::by_mask<isSetMask>(insn, mask, repeatTime);                                                             \
        akgen::strides(insn, repeatParams);                                                                            \
        npu_issue(&insn);                                                                                              \
    }                                                                                                                  \
    template <typename T, typename U, bool isSetMask = true, bool isVecDeq = true, bool halfBlock = true>              \
    AKGEN_API void Name(const LocalTensor<T> &dst, const LocalTensor<U> &src, const int32_t mask, uint8_t repeatTime,  \
                        const UnaryRepeatParams &repeatParams)                                                         \
    {                                                                                                                  \
        npu_insn insn = akgen::dequant<isVecDeq, halfBlock, T, U>(dst, src);                                           \
        akgen::by_mask<isSetMask>(insn, uint64_t(mask), repeatTime);                                                   \
        akgen::strides(insn, repeatParams);                                                                            \
        npu_issue(&insn);                                                                                              \
    }                                                                                                                  \
    template <typename T, typename U, bool isVecDeq = true, bool halfBlock = true>                                     \
    AKGEN_API void Name(const LocalTensor<T> &dst, const LocalTensor<U> &src, const uint32_t count)                    \
    {                                                                                                                  \
        npu_insn insn = akgen::dequant<isVecDeq, halfBlock, T, U>(dst, src);                                           \
        akgen::by_count(insn, count);                                                                                  \
        npu_issue(&insn);                                                                                              \
    }
AKGEN_DEQUANT(CastDequant)
AKGEN_DEQUANT(CastDeq)
#undef AKGEN_DEQUANT

} // namespace AscendC

#endif
