/* DumpTensor and its relatives: the user sees them where printf goes. */
#ifndef ASCENDC_DUMP_H
#define ASCENDC_DUMP_H

#include "basic/registers.h"

namespace akgen
{
template <typename T, typename Tensor>
AKGEN_API void dump(const Tensor &tensor, uint32_t desc, uint32_t size, const AscendC::ShapeInfo *shape)
{
    static_assert(is_element<T> && !std::is_same_v<T, int4b_t>, "DumpTensor: data type is not supported on Ascend910B");
    npu_dump_tensor(&raw(tensor), dtype_of<T>::value, desc, size, shape ? shape->shape : nullptr,
                    shape ? shape->shapeDim : 0);
}
} // namespace akgen

namespace AscendC
{
#define AKGEN_DUMP(Tensor)                                                                                             \
    template <typename T> AKGEN_API void DumpTensor(const Tensor<T> &tensor, uint32_t desc, uint32_t dumpSize)         \
    {                                                                                                                  \
        akgen::dump<T>(tensor, desc, dumpSize, nullptr);                                                               \
    }                                                                                                                  \
    template <typename T>                                                                                              \
    AKGEN_API void DumpTensor(const Tensor<T> &tensor, uint32_t desc, uint32_t dumpSize, const ShapeInfo &shapeInfo)   \
    {                                                                                                                  \
        akgen::dump<T>(tensor, desc, dumpSize, &shapeInfo);                                                            \
    }                                                                                                                  \
    template <typename T>                                                                                              \
    AKGEN_API void DumpAccChkPoint(const Tensor<T> &tensor, uint32_t index, uint32_t countOff, uint32_t dumpSize)      \
    {                                                                                                                  \
        akgen::dump<T>(tensor[countOff], index, dumpSize, nullptr);                                                    \
    }
AKGEN_DUMP(LocalTensor)
AKGEN_DUMP(GlobalTensor)
#undef AKGEN_DUMP

/* Off unless the kernel is built with -DASCENDC_TIME_STAMP_ON, as in CANN. */
AKGEN_API void PrintTimeStamp(uint32_t descId)
{
#ifdef ASCENDC_TIME_STAMP_ON
    npu_printf("descId is %u, rsv is 0, timeStamp is %lld, pcPtr is %lld, entry is 0.\n", descId,
               (long long)npu_get_system_cycle(), (long long)npu_program_counter());
#endif
}
} // namespace AscendC

#endif
