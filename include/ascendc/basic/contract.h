/* CANN's contract per instruction: which element types each one takes, from isa.def, with a message that says what
 * would be right. */
#ifndef ASCENDC_CONTRACT_H
#define ASCENDC_CONTRACT_H

#include "basic/params.h"

namespace akgen
{

/* Bit set over enum akgen_dtype codes, per instruction. */
constexpr uint64_t insn_types[] = {
    0,
#define NPU_INSN(id, name, pipe, family, types, ...) types,
#include "abi/isa.def"
#undef NPU_INSN
};
/* Traits as isa.def writes them: of concern here is SILENT. */
namespace traits
{
enum { MOVES = 0, LOOKS = 0, COMPOSITE = 0, SILENT = 1 };
constexpr bool silent[] = {
    false,
#define NPU_INSN(id, name, pipe, family, types, rate16, rate32, mask, traits, source) bool(traits),
#include "abi/isa.def"
#undef NPU_INSN
};
} // namespace traits
template <typename T> constexpr bool is_element = dtype_of<T>::value != AKGEN_DTYPE_NONE;
template <npu_op op, typename T> constexpr bool takes = is_element<T> && (insn_types[op] >> dtype_of<T>::value & 1);

/* require_type<op, T>::ok is an error unless instruction `op` takes elements of type T. There is one specialisation per
 * instruction, because the text of a static_assert is a literal: the set of types in isa.def is spelled by expanding it
 * with NPU_T as the name of the type. */
template <npu_op op, typename T> struct require_type;
#define AKGEN_SPELL(...)  AKGEN_SPELL_(__VA_ARGS__)
#define AKGEN_SPELL_(...) #__VA_ARGS__
#pragma push_macro("NPU_T")
#undef NPU_T
#define NPU_T(id)             AKGEN_SPELL_##id
#define AKGEN_SPELL_FLOAT     float
#define AKGEN_SPELL_FLOAT16   half
#define AKGEN_SPELL_BF16      bfloat16_t
#define AKGEN_SPELL_INT4      int4b_t
#define AKGEN_SPELL_INT8      int8_t
#define AKGEN_SPELL_UINT8     uint8_t
#define AKGEN_SPELL_INT16     int16_t
#define AKGEN_SPELL_UINT16    uint16_t
#define AKGEN_SPELL_INT32     int32_t
#define AKGEN_SPELL_UINT32    uint32_t
#define AKGEN_SPELL_INT64     int64_t
#define AKGEN_SPELL_UINT64    uint64_t
#define AKGEN_SPELL_DOUBLE    double
#define AKGEN_SPELL_BOOL      bool
#define AKGEN_SPELL_COMPLEX64 complex64
#define NPU_INSN(id, name, pipe, family, types, ...)                                                                   \
    template <typename T> struct require_type<NPU_OP_##id, T> {                                                        \
        static_assert(takes<NPU_OP_##id, T> || traits::silent[NPU_OP_##id],                                            \
                      name ": data type is not supported on Ascend910B; supported: " AKGEN_SPELL(types));              \
        static constexpr bool ok = true;                                                                               \
    };
#include "abi/isa.def"
#undef NPU_INSN
#pragma pop_macro("NPU_T")

} // namespace akgen

#endif
