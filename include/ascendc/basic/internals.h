/* Functions below CANN's interface that published kernels call. Each is the instruction or the call that it stands
 * before. */
#ifndef ASCENDC_INTERNALS_H
#define ASCENDC_INTERNALS_H

#include "basic/cube.h"
#include "basic/load_data.h"
#include "basic/tpipe.h"
#include "basic/intrinsics_vector.h"
#include "basic/vector_compare.h"
#include "basic/vector_scalar.h"

namespace AscendC
{

template <typename T, typename U, typename S>
AKGEN_API void MmadImpl(const LocalTensor<T> &dst, const LocalTensor<U> &fm, const LocalTensor<S> &filter,
                        const MmadParams &mmadParams)
{
    Mmad(dst, fm, filter, mmadParams);
}
template <typename T, typename U>
AKGEN_API void LoadDataImpl(const LocalTensor<T> &dst, const LocalTensor<T> &src, const U &loadDataParams)
{
    LoadData(dst, src, loadDataParams);
}
AKGEN_API void Load3DSetFMatrixCal(uint16_t l1H, uint16_t l1W, const uint8_t padList[4])
{
    SetFmatrix(l1H, l1W, padList, FmatrixMode::FMATRIX_LEFT);
}
template <typename T>
AKGEN_API void DuplicateIntrinsicsImpl(__ubuf__ T *dst, T value, const uint8_t repeat, const uint16_t dstBlockStride,
                                       const uint8_t dstRepeatStride)
{
    vector_dup(dst, value, repeat, dstBlockStride, 1, dstRepeatStride, 0);
}
#define AKGEN_REDUCE_IMPL(Name, intrinsic)                                                                             \
    template <typename T>                                                                                              \
    AKGEN_API void Name(__ubuf__ T *dst, __ubuf__ T *src, const int32_t repeat, const int32_t dstRepStride,            \
                        const int32_t srcBlkStride, const int32_t srcRepStride)                                        \
    {                                                                                                                  \
        intrinsic(dst, src, repeat, dstRepStride, srcBlkStride, srcRepStride);                                         \
    }
AKGEN_REDUCE_IMPL(BlockReduceSumIntrinsicsImpl, vcgadd)
AKGEN_REDUCE_IMPL(BlockReduceMaxIntrinsicsImpl, vcgmax)
AKGEN_REDUCE_IMPL(BlockReduceMinIntrinsicsImpl, vcgmin)
#undef AKGEN_REDUCE_IMPL
AKGEN_API int64_t GetSubBlockIdxImpl()
{
    return get_subblockid();
}
/* Tanh's own bounds and factor. */
constexpr float FP32_MIN_V2 = -8.8;
constexpr float FP32_MAX_V2 = 8.8;
constexpr float DOUBLE_X = 2;
/* SoftMax's own, of which kernels name the type. */
struct ReduceLastND {
    uint32_t originalSrcM, originalSrcK, srcM, srcK, dstM, dstK;
};
/* Where DumpTensor and printf would write: nothing has to be prepared here. */
AKGEN_API void InitDump(bool, uint32_t)
{
}
AKGEN_API void InitDump(bool, GM_ADDR, uint32_t)
{
}
/* A mask of zeros for DropOut of a bit for each element: sharedTmpBuffer has 256 bytes. */
template <typename T> AKGEN_API void DropOutBitModeInit(const LocalTensor<T> &sharedTmpBuffer)
{
    LocalTensor<int16_t> zeros = sharedTmpBuffer.template ReinterpretCast<int16_t>();
    ResetMask();
    Muls<int16_t, false>(zeros, zeros, int16_t(0), MASK_PLACEHOLDER, 1, UnaryRepeatParams());
    PipeBarrier<PIPE_V>();
    SetCmpMask<int16_t>(zeros);
    PipeBarrier<PIPE_V>();
}
AKGEN_API void DropOutBitModeInit()
{
    LocalTensor<int16_t> rest;
    PopStackBuffer<int16_t, TPosition::LCM>(rest);
    DropOutBitModeInit(rest);
}

} // namespace AscendC

/* Where the kernel's arguments lie: a copy of them in the frame of the function that asks. */
namespace akgen
{
AKGEN_API int64_t arguments_in(void *frame)
{
    npu_kernel_arguments(static_cast<uint64_t *>(frame));
    return reinterpret_cast<int64_t>(frame);
}
} // namespace akgen
#define get_para_base() akgen::arguments_in(__builtin_alloca(NPU_KERNEL_ARGUMENTS * sizeof(uint64_t)))
/* SetLoadDataPaddingValue and SetLoadDataBoundary. */
AKGEN_API void set_padding(uint64_t value)
{
    npu_set_cube_register(NPU_CUBE_PADDING, value);
}
AKGEN_API void set_l1_3d_size(uint64_t boundary)
{
    npu_set_cube_register(NPU_CUBE_BOUNDARY, boundary);
}
/* A structure in whole 64-byte steps, as far as it goes, into the stack. */
AKGEN_API void copy_data_align64(uint8_t *to, const __gm__ uint8_t *from, uint64_t bytes)
{
    npu_tiling_copy(to, reinterpret_cast<uint64_t>(from), uint32_t(bytes));
}
AKGEN_API void copy_data_align64(uint8_t *to, const uint8_t *from, uint64_t bytes)
{
    __builtin_memcpy(to, from, bytes);
}

#endif
