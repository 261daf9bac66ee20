/* InitOutput: fills a part of GM, as CANN does with UB as a buffer. */
#ifndef ASCENDC_OUTPUT_H
#define ASCENDC_OUTPUT_H

#include "basic/data_copy.h"
#include "basic/tpipe.h"
#include "basic/vector_compound.h"
#include "basic/vector_fill.h"

namespace AscendC
{

/* Sets `size` elements to `value`. It uses what InitBuffer has left of UB and leaves it as V and MTE3 found it:
 * docs/zh/api, "InitOutput". Types there: half, int16_t, uint16_t, float, int32_t, uint32_t (64-bit ones as pairs are
 * not offered). */
template <typename T> AKGEN_API void InitOutput(GlobalTensor<T> gmWorkspaceAddr, uint32_t size, T value = 0)
{
    LocalTensor<T> buffer;
    PopStackBuffer<T, TPosition::LCM>(buffer);
    constexpr uint32_t block = ONE_BLK_SIZE / sizeof(T);
    constexpr uint32_t most = MAX_REPEAT_TIMES * ONE_BLK_SIZE;
    uint32_t room = buffer.GetSize() / block * block;
    uint32_t tile = room < most ? room : most;
    if (tile == 0) {
        npu_assert_failed("InitOutput needs 32 bytes of UB that InitBuffer has left", __FILE__, __LINE__);
        return;
    }
    uint32_t first = size < tile ? size : tile;
    Duplicate<T>(buffer, value, int32_t((first + block - 1) / block * block));
    int32_t event = GetTPipePtr()->template FetchEventID<HardEvent::V_MTE3>();
    SetFlag<HardEvent::V_MTE3>(event);
    WaitFlag<HardEvent::V_MTE3>(event);
    for (uint32_t done = 0; done < size; done += tile) {
        uint32_t part = size - done < tile ? size - done : tile;
        DataCopyPad(gmWorkspaceAddr[done], buffer, DataCopyExtParams(1, uint32_t(part * sizeof(T)), 0, 0, 0));
    }
    event = GetTPipePtr()->template FetchEventID<HardEvent::MTE3_V>();
    SetFlag<HardEvent::MTE3_V>(event);
    WaitFlag<HardEvent::MTE3_V>(event);
}

/* The newer name. */
template <typename T> AKGEN_API void Fill(GlobalTensor<T> &gmWorkspaceAddr, const uint64_t size, const T value)
{
    static_assert(akgen::is_one_of<T, uint16_t, int16_t, half, uint32_t, int32_t, float>,
                  "Fill: data type is not supported on Ascend910B; supported: half | int16_t | uint16_t | float | "
                  "int32_t | uint32_t");
    InitOutput<T>(gmWorkspaceAddr, uint32_t(size), value);
}
/* The name in CANN 8.1 (lib/utils/init_global_memory.h), where every type of Duplicate is one. */
template <typename T>
AKGEN_API void InitGlobalMemory(GlobalTensor<T> &gmWorkspaceAddr, const uint64_t size, const T value)
{
    InitOutput<T>(gmWorkspaceAddr, uint32_t(size), value);
}

} // namespace AscendC

#endif
