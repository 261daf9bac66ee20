/* WriteSpmBuffer and ReadSpmBuffer: copies between UB and the place in GM that InitSpmBuffer names, with the flags that
 * CANN's routines set around them. Offsets count elements, as those routines do; the document says bytes. */
#ifndef ASCENDC_SPM_H
#define ASCENDC_SPM_H

#include "basic/data_copy.h"
#include "basic/tpipe.h"

namespace akgen
{
template <AscendC::HardEvent event> AKGEN_API void order_by_flag()
{
    AscendC::TEventID id = GetTPipePtr()->FetchEventID<event>();
    AscendC::SetFlag<event>(id);
    AscendC::WaitFlag<event>(id);
}
template <typename T> AKGEN_API AscendC::GlobalTensor<T> spm_tensor(int32_t offset)
{
    AscendC::GlobalTensor<T> tensor;
    tensor.SetGlobalBuffer(reinterpret_cast<__gm__ T *>(npu_spm()) + offset);
    return tensor;
}
template <typename T> AKGEN_API AscendC::DataCopyParams spm_blocks(const AscendC::LocalTensor<T> &tensor, int32_t size)
{
    AscendC::DataCopyParams params;
    params.blockLen = uint16_t(size_t(size ? uint32_t(size) : tensor.GetSize()) * sizeof(T) / 32);
    return params;
}
} // namespace akgen

namespace AscendC
{
template <typename T>
AKGEN_API void TPipe::WriteSpmBuffer(const LocalTensor<T> &writeBuffer, const DataCopyParams &copyParams,
                                     int32_t writeOffset)
{
    akgen::order_by_flag<HardEvent::V_MTE3>();
    akgen::order_by_flag<HardEvent::MTE2_MTE3>();
    DataCopy(akgen::spm_tensor<T>(writeOffset), writeBuffer, copyParams);
    akgen::order_by_flag<HardEvent::MTE3_MTE2>();
    akgen::order_by_flag<HardEvent::MTE3_V>();
}
template <typename T>
AKGEN_API void TPipe::WriteSpmBuffer(const LocalTensor<T> &writeBuffer, const int32_t writeSize, int32_t writeOffset)
{
    WriteSpmBuffer(writeBuffer, akgen::spm_blocks(writeBuffer, writeSize), writeOffset);
}
template <typename T>
AKGEN_API void TPipe::ReadSpmBuffer(const LocalTensor<T> &readBuffer, const DataCopyParams &copyParams,
                                    int32_t readOffset)
{
    akgen::order_by_flag<HardEvent::V_MTE2>();
    DataCopy(readBuffer, akgen::spm_tensor<T>(readOffset), copyParams);
    akgen::order_by_flag<HardEvent::MTE2_V>();
    akgen::order_by_flag<HardEvent::MTE2_MTE3>();
}
template <typename T>
AKGEN_API void TPipe::ReadSpmBuffer(const LocalTensor<T> &readBuffer, const int32_t readSize, int32_t readOffset)
{
    ReadSpmBuffer(readBuffer, akgen::spm_blocks(readBuffer, readSize), readOffset);
}
} // namespace AscendC

#endif
