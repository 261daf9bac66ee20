/* Control registers, atomic and padding settings, caches and profiling marks. */
#ifndef ASCENDC_REGISTERS_H
#define ASCENDC_REGISTERS_H

#include "basic/intrinsics.h"
#include "basic/sysvars.h"

AKGEN_API int64_t get_ctrl()
{
    return int64_t(npu_get_ctrl());
}
AKGEN_API void set_ctrl(int64_t value)
{
    npu_set_ctrl(uint64_t(value));
}
AKGEN_API int64_t sbitset0(int64_t value, int bit)
{
    return value & ~(int64_t(1) << bit);
}
AKGEN_API int64_t sbitset1(int64_t value, int bit)
{
    return value | int64_t(1) << bit;
}
AKGEN_API int64_t get_pc()
{
    return npu_program_counter();
}
AKGEN_API int64_t get_vms4_sr()
{
    return int64_t(npu_get_merge_counts());
}
AKGEN_API int64_t get_rsvd_cnt()
{
    return int64_t(npu_get_rsvd_count());
}
AKGEN_API void set_mov_pad_val(uint64_t value)
{
    npu_set_pad_value(value);
}
/* The kind and the type of accumulation are set apart here. */
AKGEN_API void set_atomic_none()
{
    npu_set_atomic(0, AKGEN_DTYPE_NONE);
}
#define AKGEN_ATOMIC_KIND(name, kind)                                                                                  \
    AKGEN_API void set_atomic_##name()                                                                                 \
    {                                                                                                                  \
        npu_set_atomic(kind, NPU_ATOMIC_KEEP);                                                                         \
    }
AKGEN_ATOMIC_KIND(add, 1)
AKGEN_ATOMIC_KIND(max, 2)
AKGEN_ATOMIC_KIND(min, 3)
#undef AKGEN_ATOMIC_KIND
#define AKGEN_ATOMIC_TYPE(name, id)                                                                                    \
    AKGEN_API void set_atomic_##name()                                                                                 \
    {                                                                                                                  \
        npu_set_atomic(NPU_ATOMIC_TYPE, AKGEN_##id);                                                                   \
    }
AKGEN_ATOMIC_TYPE(f32, FLOAT)
AKGEN_ATOMIC_TYPE(f16, FLOAT16)
AKGEN_ATOMIC_TYPE(bf16, BF16)
AKGEN_ATOMIC_TYPE(s8, INT8)
AKGEN_ATOMIC_TYPE(s16, INT16)
AKGEN_ATOMIC_TYPE(s32, INT32)
#undef AKGEN_ATOMIC_TYPE

/* Cross-core flags as the hardware takes them: mode in bits 4 and 5, flag in bits 8 to 11, bit 0 set. */
AKGEN_API void ffts_cross_core_sync(pipe_t pipe, uint64_t config)
{
    npu_cross_core_set_flag(int(config >> 4 & 3), pipe, int(config >> 8 & 15));
}
AKGEN_API void wait_flag_dev(int64_t flagId)
{
    npu_cross_core_wait_flag(0, int(flagId));
}

enum mem_dsb_t { DSB_ALL, DSB_DDR, DSB_UB, DSB_SEQ };
AKGEN_API void dsb(mem_dsb_t)
{
    npu_pipe_barrier(PIPE_S);
}

namespace AscendC
{

template <typename T> AKGEN_API void SetAtomicType()
{
    npu_set_atomic(NPU_ATOMIC_TYPE, akgen::dtype_of<T>::value);
}
enum class AtomicDtype { ATOMIC_NONE, ATOMIC_F32, ATOMIC_F16, ATOMIC_S16, ATOMIC_S32, ATOMIC_S8, ATOMIC_BF16 };
enum class AtomicOp { ATOMIC_SUM };
} // namespace AscendC
namespace akgen
{
/* In the order of AtomicDtype. */
constexpr uint8_t atomic_types[] = {AKGEN_DTYPE_NONE, AKGEN_FLOAT, AKGEN_FLOAT16, AKGEN_INT16,
                                    AKGEN_INT32,      AKGEN_INT8,  AKGEN_BF16};
} // namespace akgen
namespace AscendC
{
template <AtomicDtype type, AtomicOp op> AKGEN_API void SetStoreAtomicConfig()
{
    npu_set_atomic(type != AtomicDtype::ATOMIC_NONE, akgen::atomic_types[size_t(type)]);
}
AKGEN_API void GetStoreAtomicConfig(uint16_t &atomicType, uint16_t &atomicOp)
{
    int kind = 0, type = 0;
    npu_get_atomic(&kind, &type);
    atomicType = atomicOp = 0;
    for (uint16_t i = 1; kind && i < sizeof akgen::atomic_types; i++)
        if (akgen::atomic_types[i] == type)
            atomicType = i;
    if (kind)
        atomicOp = uint16_t(kind - 1);
}
/* What DataCopyPad with isPad = false and paddings pads with. */
template <typename T, TPosition pos = TPosition::MAX> AKGEN_API void SetPadValue(T paddingValue)
{
    static_assert(pos == TPosition::VECIN || pos == TPosition::VECOUT || pos == TPosition::MAX,
                  "SetPadValue: pos is VECIN, VECOUT or MAX on Ascend910B");
    npu_set_pad_value(akgen::bits_of<T>(paddingValue));
}

/* Bits startBit to endBit of CTRL. Bit 48 is what the documentation lists for this chip. */
template <int8_t startBit, int8_t endBit> AKGEN_API int64_t GetCtrlSpr()
{
    static_assert(startBit >= 0 && startBit <= endBit && endBit <= 63, "GetCtrlSpr: 0 <= startBit <= endBit <= 63");
    return int64_t(npu_get_ctrl() << (63 - endBit) >> (63 - endBit + startBit));
}
template <int8_t startBit, int8_t endBit> AKGEN_API void SetCtrlSpr(int64_t value)
{
    static_assert(startBit >= 0 && startBit <= endBit && endBit <= 63, "SetCtrlSpr: 0 <= startBit <= endBit <= 63");
    static_assert(startBit == 48 && endBit == 48, "SetCtrlSpr: on Ascend910B bit 48 is the one that can be set");
    npu_set_ctrl((npu_get_ctrl() & ~(uint64_t(1) << 48)) | uint64_t(value & 1) << 48);
}
enum class SaturationMode : uint8_t { FLOAT, FLOAT8, INT, CAST };
} // namespace AscendC
namespace akgen
{
/* Where CTRL says whether results saturate. A set bit means that they do for INT alone. */
template <AscendC::SaturationMode mode> constexpr int saturation_bit()
{
    using AscendC::SaturationMode;
    static_assert(mode == SaturationMode::FLOAT || mode == SaturationMode::INT || mode == SaturationMode::CAST,
                  "SaturationMode: Ascend910B has FLOAT, INT and CAST");
    return mode == SaturationMode::FLOAT ? 48 : mode == SaturationMode::INT ? 53 : 59;
}
} // namespace akgen
namespace AscendC
{
template <SaturationMode mode> AKGEN_API void SetSaturationFlag(bool enableSat)
{
    constexpr int bit = akgen::saturation_bit<mode>();
    bool set = enableSat == (mode == SaturationMode::INT);
    npu_set_ctrl((npu_get_ctrl() & ~(uint64_t(1) << bit)) | uint64_t(set) << bit);
}
template <SaturationMode mode> AKGEN_API bool GetSaturationFlag()
{
    bool set = npu_get_ctrl() >> akgen::saturation_bit<mode>() & 1;
    return set == (mode == SaturationMode::INT);
}

AKGEN_API int64_t GetProgramCounter()
{
    return npu_program_counter();
}
/* Caches are not modelled in time yet: hints have no effect on values. */
AKGEN_API void ICachePreLoad(const int64_t)
{
}
#define PRELOAD(len) AscendC::ICachePreLoad(len)
AKGEN_API int64_t GetICachePreloadStatus()
{
    return 0;
}
template <typename T> AKGEN_API void DataCachePreload(const GlobalTensor<uint64_t> &, const T)
{
    static_assert(std::is_same_v<T, int16_t> || std::is_same_v<T, int64_t>,
                  "DataCachePreload: cacheOffset is int16_t or int64_t");
}
/* Scheduling of tasks and profiling: no effect on a kernel's results; tasks overlap on the 910_93 only. */
template <pipe_t aivPipe = PIPE_MTE3, pipe_t aicPipe = PIPE_FIX, bool force = false> AKGEN_API void SetNextTaskStart()
{
}
template <bool force = false> AKGEN_API void WaitPreTaskEnd()
{
}
AKGEN_API void MetricsProfStart()
{
}
AKGEN_API void MetricsProfStop()
{
}
/* Reads and writes of GM that go past the scalar cache. */
template <typename T> AKGEN_API T ReadGmByPassDCache(__gm__ T *addr)
{
    static_assert(std::is_integral_v<T> && !std::is_same_v<T, bool>,
                  "ReadGmByPassDCache: data type is not supported on Ascend910B; supported: "
                  "integers of 8 to 64 bits");
    return akgen::from_bits<T>(npu_gm_read_through(reinterpret_cast<uint64_t>(addr), sizeof(T)));
}
template <typename T> AKGEN_API void WriteGmByPassDCache(__gm__ T *addr, T value)
{
    static_assert(std::is_integral_v<T> && !std::is_same_v<T, bool>,
                  "WriteGmByPassDCache: data type is not supported on Ascend910B; supported: "
                  "integers of 8 to 64 bits");
    npu_gm_write_through(reinterpret_cast<uint64_t>(addr), sizeof(T), akgen::bits_of<T>(value));
}

} // namespace AscendC

/* The compiler's forms; offsets in bytes. */
template <typename T> AKGEN_API T ld_dev(__gm__ T *src, int16_t offset)
{
    return akgen::from_bits<T>(npu_gm_read_through(reinterpret_cast<uint64_t>(src) + int64_t(offset), sizeof(T)));
}
template <typename T> AKGEN_API void st_dev(T value, __gm__ T *dst, int16_t offset)
{
    npu_gm_write_through(reinterpret_cast<uint64_t>(dst) + int64_t(offset), sizeof(T), akgen::bits_of<T>(value));
}
template <typename T> AKGEN_API void dc_preload(__gm__ uint64_t *, T)
{
}
/* Where the flags between cores lie: the machine has its own. */
AKGEN_API void set_ffts_base_addr(uint64_t)
{
}

namespace AscendC
{

/* A function that runs on one kind of core. */
enum class EngineType : int32_t { AIC = 1, AIV = 2 };
template <EngineType engine, auto funPtr, class... Args> AKGEN_DEVICE void Async(Args... args)
{
    if constexpr (int32_t(engine) == g_coreType)
        funPtr(args...);
}

} // namespace AscendC

#endif
