/* Ordering: flags and barriers inside a core, SyncAll and cross-core flags between cores, cache maintenance, and the
 * special registers (mask, atomic). */
#ifndef ASCENDC_SYNC_H
#define ASCENDC_SYNC_H

#include "basic/issue.h"

/* The compiler's own functions, as kernels call them outside the namespace. */
AKGEN_API void set_flag(pipe_t src, pipe_t dst, int event)
{
    npu_set_flag(src, dst, event);
}
AKGEN_API void wait_flag(pipe_t src, pipe_t dst, int event)
{
    npu_wait_flag(src, dst, event);
}
AKGEN_API void pipe_barrier(pipe_t pipe)
{
    npu_pipe_barrier(pipe);
}
AKGEN_API void set_mask_norm()
{
    npu_set_mask_counter(0);
}
AKGEN_API void set_mask_count()
{
    npu_set_mask_counter(1);
}
AKGEN_API void set_vector_mask(uint64_t high, uint64_t low)
{
    npu_set_vector_mask(high, low);
}

namespace AscendC
{

template <HardEvent event> AKGEN_API void SetFlag(int32_t eventID)
{
    constexpr akgen::pipe_pair pipes = akgen::event_pipes[size_t(event)];
    npu_set_flag(pipes.from, pipes.to, eventID);
}
template <HardEvent event> AKGEN_API void WaitFlag(int32_t eventID)
{
    constexpr akgen::pipe_pair pipes = akgen::event_pipes[size_t(event)];
    npu_wait_flag(pipes.from, pipes.to, eventID);
}
template <pipe_t pipe> AKGEN_API void PipeBarrier()
{
    npu_pipe_barrier(pipe);
}
/* Waits until the scalar unit's stores have left: no other pipe is concerned. */
template <MemDsbT which> AKGEN_API void DataSyncBarrier()
{
    npu_pipe_barrier(PIPE_S);
}
template <pipe_t src, pipe_t dst> class TQueSync
{
  public:
    AKGEN_API void SetFlag(TEventID id)
    {
        npu_set_flag(src, dst, id);
    }
    AKGEN_API void WaitFlag(TEventID id)
    {
        npu_wait_flag(src, dst, id);
    }
};

template <bool isAIVOnly = true> AKGEN_API void SyncAll()
{
    npu_sync_all(isAIVOnly);
}
template <bool isAIVOnly = true>
AKGEN_API void SyncAll(const GlobalTensor<int32_t> &gmWorkspace, const LocalTensor<int32_t> &ubWorkspace,
                       const int32_t usedCores = 0)
{
    npu_sync_all_soft(&akgen::raw(gmWorkspace), &akgen::raw(ubWorkspace), usedCores);
}
template <bool isAIVOnly = true>
AKGEN_API void IBSet(const GlobalTensor<int32_t> &gmWorkspace, const LocalTensor<int32_t> &ubWorkspace,
                     int32_t blockIdx, int32_t eventID)
{
    npu_ib_set(&akgen::raw(gmWorkspace), &akgen::raw(ubWorkspace), blockIdx, eventID);
}
template <bool isAIVOnly = true>
AKGEN_API void IBWait(const GlobalTensor<int32_t> &gmWorkspace, const LocalTensor<int32_t> &ubWorkspace,
                      int32_t blockIdx, int32_t eventID)
{
    npu_ib_wait(&akgen::raw(gmWorkspace), &akgen::raw(ubWorkspace), blockIdx, eventID);
}
AKGEN_API void InitDetermineComputeWorkspace(GlobalTensor<int32_t> &gmWorkspace, LocalTensor<int32_t> &ubWorkspace)
{
    npu_block_turn(NPU_TURN_INIT, &akgen::raw(gmWorkspace), &akgen::raw(ubWorkspace));
}
AKGEN_API void WaitPreBlock(GlobalTensor<int32_t> &gmWorkspace, LocalTensor<int32_t> &ubWorkspace)
{
    npu_block_turn(NPU_TURN_WAIT, &akgen::raw(gmWorkspace), &akgen::raw(ubWorkspace));
}
AKGEN_API void NotifyNextBlock(GlobalTensor<int32_t> &gmWorkspace, LocalTensor<int32_t> &ubWorkspace)
{
    npu_block_turn(NPU_TURN_NOTIFY, &akgen::raw(gmWorkspace), &akgen::raw(ubWorkspace));
}
/* Flags between the AIC and the AIVs of a block (mode 2): kernel_operator_block_sync_intf_impl.h. */
template <pipe_t pipe> AKGEN_API void NotifyEvent(uint16_t flagId)
{
    npu_cross_core_set_flag(2, pipe, flagId);
}
template <pipe_t pipe = PIPE_S> AKGEN_API void WaitEvent(uint16_t flagId)
{
    npu_cross_core_wait_flag(0, flagId);
}
/* What ffts_cross_core_sync takes. */
AKGEN_API uint16_t GetffstMsg(uint16_t mode, uint16_t flagId)
{
    return uint16_t(1 | (mode & 3) << 4 | (flagId & 15) << 8);
}
/* Keeps the compiler from moving memory accesses across it; the core's pipes go on. */
AKGEN_API void Barrier()
{
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
}
template <uint8_t modeId, pipe_t pipe> AKGEN_API void CrossCoreSetFlag(uint16_t flagId)
{
    npu_cross_core_set_flag(modeId, pipe, flagId);
}
template <uint8_t modeId = 0, pipe_t pipe = PIPE_S> AKGEN_API void CrossCoreWaitFlag(uint16_t flagId)
{
    npu_cross_core_wait_flag(modeId, flagId);
}
template <typename T, CacheLine entireType, DcciDst dcciDst>
AKGEN_API void DataCacheCleanAndInvalid(const GlobalTensor<T> &dst)
{
    npu_dcache_clean(&akgen::raw(dst), int(entireType), int(dcciDst));
}
template <typename T, CacheLine entireType, DcciDst dcciDst>
AKGEN_API void DataCacheCleanAndInvalid(const LocalTensor<T> &dst)
{
    npu_dcache_clean(&akgen::raw(dst), int(entireType), int(dcciDst));
}
template <typename T, CacheLine entireType> AKGEN_API void DataCacheCleanAndInvalid(const GlobalTensor<T> &dst)
{
    npu_dcache_clean(&akgen::raw(dst), int(entireType), int(DcciDst::CACHELINE_ALL));
}

AKGEN_API void SetMaskCount()
{
    npu_set_mask_counter(1);
}
AKGEN_API void SetMaskNorm()
{
    npu_set_mask_counter(0);
}
AKGEN_API void ResetMask()
{
    npu_reset_mask();
}
} // namespace AscendC

namespace akgen
{
/* The mask registers for `length` elements: in counter mode the number itself, else one bit per element. */
template <bool counter> AKGEN_API void set_mask_length(int32_t length)
{
    if constexpr (counter)
        npu_set_vector_mask(0, uint64_t(length));
    else if (length >= 128)
        npu_set_vector_mask(UINT64_MAX, UINT64_MAX);
    else if (length >= 64)
        npu_set_vector_mask((uint64_t(1) << (length - 64)) - 1, UINT64_MAX);
    else
        npu_set_vector_mask(0, (uint64_t(1) << length) - 1);
}
} // namespace akgen

namespace AscendC
{
template <typename T, MaskMode mode = MaskMode::NORMAL>
AKGEN_API void SetVectorMask(const uint64_t maskHigh, const uint64_t maskLow)
{
    npu_set_vector_mask(maskHigh, maskLow);
}
template <typename T, MaskMode mode = MaskMode::NORMAL> AKGEN_API void SetVectorMask(int32_t len)
{
    akgen::set_mask_length<mode == MaskMode::COUNTER>(len);
}
/* A class of CANN that some kernels reach into. */
class AscendCUtils
{
  public:
    AKGEN_API static int32_t GetC0Count(const int32_t dtypeSize)
    {
        return dtypeSize == 1 || dtypeSize == 2 || dtypeSize == 4 ? 32 / dtypeSize : 0;
    }
    AKGEN_API static int64_t GetRsvdCnt()
    {
        return int64_t(npu_get_rsvd_count());
    }
    template <typename T, bool isSetMask = true>
    AKGEN_API static void SetMask(const uint64_t &maskHigh, const uint64_t &maskLow)
    {
        if constexpr (isSetMask)
            npu_set_vector_mask(maskHigh, maskLow);
    }
    template <typename T, bool isSetMask = true> AKGEN_API static void SetMask(int32_t len)
    {
        if constexpr (isSetMask)
            akgen::set_mask_length<false>(len);
    }
    /* Bit 48 of CTRL: 1 keeps infinities and NaN, 0 saturates. */
    AKGEN_API static void SetOverflow(uint64_t ctrlValue)
    {
        npu_set_ctrl((npu_get_ctrl() & ~(uint64_t(1) << 48)) | uint64_t(ctrlValue == 1) << 48);
    }
    template <typename T> AKGEN_API static void SetMaskCount()
    {
        npu_set_mask_counter(1);
    }
    template <typename T> AKGEN_API static void SetMaskNorm()
    {
        npu_set_mask_counter(0);
    }
    AKGEN_API static void ResetMask()
    {
        npu_reset_mask();
    }
};

/* Atomic accumulation of later writes to GM. CANN compiles it for any type (kernel_operator_set_atomic_impl.h); the write
 * of one that the chip does not accumulate is the machine's to refuse. */
#define AKGEN_ATOMIC(Name, kind)                                                                                       \
    template <typename T> AKGEN_API void Name()                                                                        \
    {                                                                                                                  \
        npu_set_atomic(kind, akgen::dtype_of<T>::value);                                                               \
    }
AKGEN_ATOMIC(SetAtomicAdd, 1)
AKGEN_ATOMIC(SetAtomicMax, 2)
AKGEN_ATOMIC(SetAtomicMin, 3)
#undef AKGEN_ATOMIC
AKGEN_API void SetAtomicNone()
{
    npu_set_atomic(0, AKGEN_DTYPE_NONE);
}
AKGEN_API void DisableDmaAtomic()
{
    npu_set_atomic(0, AKGEN_DTYPE_NONE);
}

} // namespace AscendC

#endif
