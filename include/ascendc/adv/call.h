/* How high-level API functions fill struct npu_adv. */
#ifndef ASCENDC_ADV_CALL_H
#define ASCENDC_ADV_CALL_H

#include "basic/contract.h"
#include "basic/issue.h"

namespace akgen
{

/* Bit set over enum akgen_dtype codes, per API. */
constexpr uint64_t adv_types[] = {
    0,
#define NPU_ADV(id, name, routine, types, source) types,
#include "abi/adv.def"
#undef NPU_ADV
};
template <typename T> constexpr bool adv_takes(npu_adv_op op)
{
    return is_element<T> && (adv_types[op] >> dtype_of<T>::value & 1);
}
/* adv_require<op, T>::ok is an error that spells the API's types unless it takes elements of type T (contract.h). */
template <npu_adv_op op, typename T> struct adv_require;
#pragma push_macro("NPU_T")
#undef NPU_T
#define NPU_T(id) AKGEN_SPELL_##id
#define NPU_ADV(id, name, routine, types, source)                                                                      \
    template <typename T> struct adv_require<NPU_ADV_##id, T> {                                                        \
        static_assert(adv_takes<T>(NPU_ADV_##id),                                                                      \
                      name ": data type is not supported on Ascend910B; supported: " AKGEN_SPELL(types));              \
        static constexpr bool ok = true;                                                                               \
    };
#include "abi/adv.def"
#undef NPU_ADV
#pragma pop_macro("NPU_T")

/* A call with its first result and source; everything else zero. */
template <npu_adv_op op, typename T>
AKGEN_API npu_adv adv(const npu_tensor &dst, const npu_tensor &src, uint32_t count, bool reuse_source = false)
{
    static_assert(adv_require<op, T>::ok);
    npu_adv call = {};
    call.op = op;
    call.type = call.dst_type = dtype_of<T>::value;
    call.flags = reuse_source ? NPU_ADV_REUSE_SOURCE : 0;
    call.count = count;
    call.dst[0] = dst;
    call.src[0] = src;
    return call;
}

} // namespace akgen

#endif
