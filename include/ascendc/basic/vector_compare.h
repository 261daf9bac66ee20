/* Compare and Select. The result of a comparison has one bit per element. */
#ifndef ASCENDC_VECTOR_COMPARE_H
#define ASCENDC_VECTOR_COMPARE_H

#include "basic/issue.h"

namespace akgen
{

/* Documented are int8_t and uint8_t. CANN takes the address alone and asks for the type in its debugging builds only,
 * so published kernels have wider integers. */
template <typename D> struct require_bits {
    static_assert(std::is_integral_v<D>, "Compare: dst holds one bit per element; supported: int8_t | uint8_t");
    static constexpr bool ok = true;
};
/* dst = src0 <mode> (src1 or scalar) */
template <npu_op op, typename T, typename U>
AKGEN_API npu_insn compare(const AscendC::LocalTensor<U> &dst, const AscendC::LocalTensor<T> &src0,
                           AscendC::CMPMODE mode)
{
    static_assert(require_type<op, T>::ok);
    static_assert(require_bits<U>::ok);
    npu_insn insn = start<op, std::conditional_t<sizeof(U) == 1, U, uint8_t>, T>(raw(dst));
    insn.src1_type = insn.src_type;
    insn.src0 = raw(src0);
    insn.mode = uint8_t(mode);
    return insn;
}
template <typename T, typename U>
AKGEN_API npu_insn compare_tensor(const AscendC::LocalTensor<U> &dst, const AscendC::LocalTensor<T> &src0,
                                  const AscendC::LocalTensor<T> &src1, AscendC::CMPMODE mode)
{
    npu_insn insn = compare<NPU_OP_COMPARE>(dst, src0, mode);
    insn.src1 = raw(src1);
    return insn;
}
template <typename T, typename U>
AKGEN_API npu_insn compare_scalar(const AscendC::LocalTensor<U> &dst, const AscendC::LocalTensor<T> &src0, T scalar,
                                  AscendC::CMPMODE mode)
{
    npu_insn insn = compare<NPU_OP_COMPARE_SCALAR>(dst, src0, mode);
    insn.flags = NPU_INSN_SCALAR_SRC1;
    insn.scalar = bits_of<T>(scalar);
    return insn;
}
/* Into the CMPMASK register: an instruction without destination (dst.addr is 0). */
template <typename T>
AKGEN_API npu_insn compare_register(const AscendC::LocalTensor<T> &src0, const AscendC::LocalTensor<T> &src1,
                                    AscendC::CMPMODE mode)
{
    static_assert(std::is_same_v<T, half> || std::is_same_v<T, float>,
                  "Compare: into CMPMASK this data type is not supported on Ascend910B; supported: half | float");
    AscendC::LocalTensor<uint8_t> nowhere;
    npu_insn insn = compare<NPU_OP_COMPARE>(nowhere, src0, mode);
    insn.src1 = raw(src1);
    insn.repeat = 1;
    return insn;
}

/* dst = mask ? src0 : (src1 or scalar); the mask is `aux`, its type `src1_type`. */
template <typename T, typename U>
AKGEN_API npu_insn select(const AscendC::LocalTensor<T> &dst, const AscendC::LocalTensor<U> &mask,
                          const AscendC::LocalTensor<T> &src0, AscendC::SELMODE mode)
{
    static_assert(require_type<NPU_OP_SELECT, T>::ok);
    static_assert(
        std::is_same_v<U, uint8_t> || std::is_same_v<U, uint16_t> || std::is_same_v<U, uint32_t> ||
            std::is_same_v<U, uint64_t> || std::is_same_v<U, int8_t>,
        "Select: the mask's data type is not supported on Ascend910B; supported: uint8_t | uint16_t | uint32_t "
        "| uint64_t");
    npu_insn insn = start<NPU_OP_SELECT, T, T>(raw(dst));
    insn.src1_type = dtype_of<U>::value;
    insn.src0 = raw(src0);
    insn.aux = raw(mask);
    insn.mode = uint8_t(mode);
    return insn;
}
template <typename T, typename U>
AKGEN_API npu_insn select_scalar(const AscendC::LocalTensor<T> &dst, const AscendC::LocalTensor<U> &mask,
                                 const AscendC::LocalTensor<T> &src0, T scalar, AscendC::SELMODE mode)
{
    npu_insn insn = select(dst, mask, src0, mode);
    insn.flags = NPU_INSN_SCALAR_SRC1;
    insn.scalar = bits_of<T>(scalar);
    return insn;
}

} // namespace akgen

namespace AscendC
{

#define AKGEN_COMPARE(mask_parameter)                                                                                  \
    template <typename T, typename U, bool isSetMask = true>                                                           \
    AKGEN_API void Compare(const LocalTensor<U> &dst, const LocalTensor<T> &src0, const LocalTensor<T> &src1,          \
                           CMPMODE cmpMode, mask_parameter, uint8_t repeatTime,                                        \
                           const BinaryRepeatParams &repeatParams)                                                     \
    {                                                                                                                  \
        npu_insn insn = akgen::compare_tensor(dst, src0, src1, cmpMode);                                               \
        akgen::by_mask<isSetMask>(insn, mask, repeatTime);                                                             \
        akgen::strides(insn, repeatParams);                                                                            \
        npu_issue(&insn);                                                                                              \
    }                                                                                                                  \
    template <typename T, bool isSetMask = true>                                                                       \
    AKGEN_API void Compare(const LocalTensor<T> &src0, const LocalTensor<T> &src1, CMPMODE cmpMode, mask_parameter,    \
                           const BinaryRepeatParams &repeatParams)                                                     \
    {                                                                                                                  \
        npu_insn insn = akgen::compare_register(src0, src1, cmpMode);                                                  \
        akgen::by_mask<isSetMask>(insn, mask, 1);                                                                      \
        akgen::strides(insn, repeatParams);                                                                            \
        npu_issue(&insn);                                                                                              \
    }
AKGEN_COMPARE(const uint64_t mask[])
AKGEN_COMPARE(const uint64_t mask)
#undef AKGEN_COMPARE

/* Compares is the newer name of CompareScalar. */
#define AKGEN_COMPARE_SCALAR_MASKED(Name, mask_parameter)                                                              \
    template <typename T, typename U, bool isSetMask = true>                                                           \
    AKGEN_API void Name(const LocalTensor<U> &dst, const LocalTensor<T> &src0, const T src1Scalar, CMPMODE cmpMode,    \
                        mask_parameter, uint8_t repeatTime, const UnaryRepeatParams &repeatParams)                     \
    {                                                                                                                  \
        npu_insn insn = akgen::compare_scalar(dst, src0, src1Scalar, cmpMode);                                         \
        akgen::by_mask<isSetMask>(insn, mask, repeatTime);                                                             \
        akgen::strides(insn, repeatParams);                                                                            \
        npu_issue(&insn);                                                                                              \
    }
#define AKGEN_COMPARE_SCALAR(Name)                                                                                     \
    AKGEN_COMPARE_SCALAR_MASKED(Name, const uint64_t mask[])                                                           \
    AKGEN_COMPARE_SCALAR_MASKED(Name, const uint64_t mask)                                                             \
    template <typename T, typename U>                                                                                  \
    AKGEN_API void Name(const LocalTensor<U> &dst, const LocalTensor<T> &src0, const T src1Scalar, CMPMODE cmpMode,    \
                        uint32_t count)                                                                                \
    {                                                                                                                  \
        npu_insn insn = akgen::compare_scalar(dst, src0, src1Scalar, cmpMode);                                         \
        akgen::by_count(insn, count);                                                                                  \
        npu_issue(&insn);                                                                                              \
    }
AKGEN_COMPARE_SCALAR(CompareScalar)
AKGEN_COMPARE_SCALAR(Compares)
#undef AKGEN_COMPARE_SCALAR
#undef AKGEN_COMPARE_SCALAR_MASKED

template <typename T, typename U>
AKGEN_API void Compare(const LocalTensor<U> &dst, const LocalTensor<T> &src0, const LocalTensor<T> &src1,
                       CMPMODE cmpMode, uint32_t count)
{
    npu_insn insn = akgen::compare_tensor(dst, src0, src1, cmpMode);
    akgen::by_count(insn, count);
    npu_issue(&insn);
}
template <typename T> AKGEN_API void GetCmpMask(const LocalTensor<T> &dst)
{
    static_assert(akgen::require_type<NPU_OP_GET_CMP_MASK, T>::ok);
    npu_insn insn = akgen::start<NPU_OP_GET_CMP_MASK, T, T>(akgen::raw(dst));
    insn.form = NPU_FORM_MASK_REG;
    npu_issue(&insn);
}
template <typename T> AKGEN_API void SetCmpMask(const LocalTensor<T> &src)
{
    static_assert(akgen::require_type<NPU_OP_SET_CMP_MASK, T>::ok);
    npu_insn insn = akgen::start<NPU_OP_SET_CMP_MASK, T, T>(npu_tensor{});
    insn.form = NPU_FORM_MASK_REG;
    insn.src0 = akgen::raw(src);
    npu_issue(&insn);
}

/* isSetMask is reserved here (Select.md, table 2): CANN sets the mask whatever it says. */
#define AKGEN_SELECT(mask_parameter)                                                                                   \
    template <typename T, typename U, bool isSetMask = true>                                                           \
    AKGEN_API void Select(const LocalTensor<T> &dst, const LocalTensor<U> &selMask, const LocalTensor<T> &src0,        \
                          const LocalTensor<T> &src1, SELMODE selMode, mask_parameter, uint8_t repeatTime,             \
                          const BinaryRepeatParams &repeatParams)                                                      \
    {                                                                                                                  \
        npu_insn insn = akgen::select(dst, selMask, src0, selMode);                                                    \
        insn.src1 = akgen::raw(src1);                                                                                  \
        akgen::by_mask(insn, mask, repeatTime);                                                                        \
        akgen::strides(insn, repeatParams);                                                                            \
        npu_issue(&insn);                                                                                              \
    }                                                                                                                  \
    template <typename T, typename U, bool isSetMask = true>                                                           \
    AKGEN_API void Select(const LocalTensor<T> &dst, const LocalTensor<U> &selMask, const LocalTensor<T> &src0,        \
                          T src1, SELMODE selMode, mask_parameter, uint8_t repeatTime,                                 \
                          const BinaryRepeatParams &repeatParams)                                                      \
    {                                                                                                                  \
        npu_insn insn = akgen::select_scalar(dst, selMask, src0, src1, selMode);                                       \
        akgen::by_mask(insn, mask, repeatTime);                                                                        \
        akgen::strides(insn, repeatParams);                                                                            \
        npu_issue(&insn);                                                                                              \
    }
AKGEN_SELECT(uint64_t mask[])
AKGEN_SELECT(uint64_t mask)
#undef AKGEN_SELECT

template <typename T, typename U>
AKGEN_API void Select(const LocalTensor<T> &dst, const LocalTensor<U> &selMask, const LocalTensor<T> &src0,
                      const LocalTensor<T> &src1, SELMODE selMode, uint32_t count)
{
    npu_insn insn = akgen::select(dst, selMask, src0, selMode);
    insn.src1 = akgen::raw(src1);
    akgen::by_count(insn, count);
    npu_issue(&insn);
}
template <typename T, typename U>
AKGEN_API void Select(const LocalTensor<T> &dst, const LocalTensor<U> &selMask, const LocalTensor<T> &src0, T src1,
                      SELMODE selMode, uint32_t count)
{
    npu_insn insn = akgen::select_scalar(dst, selMask, src0, src1, selMode);
    akgen::by_count(insn, count);
    npu_issue(&insn);
}
/* With the mask registers as they are. CMPMASK holds the selection mask (mode 0) or its address in UB (mode 2). */
template <typename T, SELMODE selMode>
AKGEN_API void Select(const LocalTensor<T> &dst, const LocalTensor<T> &src0, const LocalTensor<T> &src1,
                      uint8_t repeatTime, const BinaryRepeatParams &repeatParams)
{
    LocalTensor<uint8_t> nowhere;
    npu_insn insn = akgen::select(dst, nowhere, src0, selMode);
    insn.src1 = akgen::raw(src1);
    akgen::by_mask<false>(insn, uint64_t(0), repeatTime);
    akgen::strides(insn, repeatParams);
    npu_issue(&insn);
}

/* Against the scalar that SetCmpMask left in CMPMASK. */
template <typename T, typename U>
AKGEN_API void Select(const LocalTensor<T> &dst, const LocalTensor<U> &selMask, const LocalTensor<T> &src0,
                      uint8_t repeatTime, const BinaryRepeatParams &repeatParams)
{
    npu_insn insn = akgen::select(dst, selMask, src0, SELMODE::VSEL_TENSOR_SCALAR_MODE);
    akgen::by_mask<false>(insn, uint64_t(0), repeatTime);
    akgen::strides(insn, repeatParams);
    npu_issue(&insn);
}

} // namespace AscendC

#endif
