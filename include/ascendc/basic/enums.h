/* Enumerations and constants of the API. Names, order and numbers as in CANN: kernels cast between them and
 * integers. */
#ifndef ASCENDC_ENUMS_H
#define ASCENDC_ENUMS_H

#include "basic/types.h"

enum pipe_t {
    PIPE_S = NPU_PIPE_S,
    PIPE_V = NPU_PIPE_V,
    PIPE_M = NPU_PIPE_M,
    PIPE_MTE1 = NPU_PIPE_MTE1,
    PIPE_MTE2 = NPU_PIPE_MTE2,
    PIPE_MTE3 = NPU_PIPE_MTE3,
    PIPE_ALL = NPU_PIPE_ALL,
    PIPE_FIX = NPU_PIPE_FIX
};
enum event_t { EVENT_ID0, EVENT_ID1, EVENT_ID2, EVENT_ID3, EVENT_ID4, EVENT_ID5, EVENT_ID6, EVENT_ID7 };
enum cache_line_t { SINGLE_CACHE_LINE, ENTIRE_DATA_CACHE };
enum dcci_dst_t { CACHELINE_ALL, CACHELINE_UB, CACHELINE_OUT, CACHELINE_ATOMIC };

namespace AscendC
{

enum class TPosition : uint8_t {
    GM,
    A1,
    A2,
    B1,
    B2,
    C1,
    C2,
    CO1,
    CO2,
    VECIN,
    VECOUT,
    VECCALC,
    LCM = VECCALC,
    SPM,
    SHM = SPM,
    TSCM,
    C2PIPE2GM,
    C2PIPE2LOCAL,
    MAX
};
using QuePosition = TPosition;
enum class Hardware : uint8_t { GM, UB, L1, L0A, L0B, L0C, BIAS, FIXBUF, MAX };

enum class HardEvent : uint8_t {
    MTE2_MTE1,
    MTE1_MTE2,
    MTE1_M,
    M_MTE1,
    MTE2_V,
    V_MTE2,
    MTE3_V,
    V_MTE3,
    M_V,
    V_M,
    V_V,
    MTE3_MTE1,
    MTE1_MTE3,
    MTE1_V,
    MTE2_M,
    M_MTE2,
    V_MTE1,
    M_FIX,
    FIX_M,
    MTE3_MTE2,
    MTE2_MTE3,
    S_V,
    V_S,
    S_MTE2,
    MTE2_S,
    S_MTE3,
    MTE3_S,
    MTE2_FIX,
    FIX_MTE2,
    FIX_S,
    M_S,
    FIX_MTE3,
    MTE1_FIX,
    FIX_MTE1,
    FIX_FIX,
    MAX
};
enum class MemDsbT : uint8_t { ALL, DDR, UB, SEQ };
enum class MaskMode : uint8_t { NORMAL, COUNTER };
enum class RoundMode : uint8_t {
    CAST_NONE,
    CAST_RINT,
    CAST_FLOOR,
    CAST_CEIL,
    CAST_ROUND,
    CAST_TRUNC,
    CAST_ODD,
    UNKNOWN = 0xFF
};
enum class CMPMODE : uint8_t { LT, GT, EQ, LE, GE, NE };
enum class SELMODE : uint8_t { VSEL_CMPMASK_SPR, VSEL_TENSOR_SCALAR_MODE, VSEL_TENSOR_TENSOR_MODE };
enum class ReduceOrder : uint8_t { ORDER_VALUE_INDEX, ORDER_INDEX_VALUE, ORDER_ONLY_VALUE, ORDER_ONLY_INDEX };
enum class ReduceType { NONE = -1, SUM, MAX, MIN };
enum class GatherMaskMode : uint8_t { VERSION_V1, VERSION_V2 };
constexpr GatherMaskMode defaultGatherMaskMode = GatherMaskMode::VERSION_V2;
enum class CacheLine : uint64_t { SINGLE_CACHE_LINE, ENTIRE_DATA_CACHE };
enum class DcciDst : uint64_t { CACHELINE_ALL, CACHELINE_UB, CACHELINE_OUT, CACHELINE_ATOMIC };
enum class CacheMode { CACHE_MODE_DISABLE = 0, CACHE_MODE_NORMAL = 1, CACHE_MODE_LAST = 2, CACHE_MODE_PERSISTENT = 4 };
enum class CacheRwMode { READ = 1, WRITE = 2, RW = 3 };
enum class TBufState : uint8_t { FREE, OCCUPIED, ENQUE, DEQUE };
enum class DataFormat : uint8_t { ND, NZ, NCHW, NC1HWC0, NHWC, NCDHW, NDC1HWC0, FRACTAL_Z_3D };

constexpr int32_t MIX = 0, AIC = 1, AIV = 2;
constexpr uint64_t MASK_PLACEHOLDER = 0;
constexpr uint64_t MASK_PLACEHOLDER_LIST[2] = {0, 0};
constexpr uint64_t FULL_MASK = UINT64_MAX;
constexpr TEventID INVALID_TEVENTID = -1;
constexpr int32_t DEFAULT_BLK_NUM = 8;
constexpr int32_t DEFAULT_BLK_STRIDE = 1;
constexpr uint8_t DEFAULT_REPEAT_STRIDE = 8;
constexpr uint8_t HALF_DEFAULT_REPEAT_STRIDE = 4;
constexpr uint8_t DEFAULT_DATA_COPY_NBURST = 1;
constexpr uint8_t DEFAULT_DATA_COPY_STRIDE = 0;
constexpr int32_t DEFAULT_C0_SIZE = 32;
constexpr int32_t DEFAULT_BLOCK_SIZE = 256;
constexpr uint16_t ONE_BLK_SIZE = 32;
constexpr uint32_t ONE_BLK_FLOAT_NUM = 8;
constexpr uint32_t ONE_BLK_HALF_NUM = 16;
constexpr int32_t ONE_REPEAT_BYTE_SIZE = 256;
constexpr uint32_t ONE_REPEAT_FLOAT_SIZE = 64;
constexpr uint32_t ONE_REPEAT_HALF_SIZE = 128;
constexpr int32_t MAX_REPEAT_TIMES = 255;
constexpr int32_t MIN_REPEAT_TIMES = 0;
constexpr uint32_t BRCB_BROADCAST_NUMBER = 8;
constexpr uint32_t TOTAL_UB_SIZE = 192 * 1024;
constexpr int32_t TOTAL_VEC_LOCAL_SIZE = 184 * 1024;
constexpr uint32_t CACHE_LINE_SIZE = 64;
constexpr int32_t BLOCK_CUBE = 16;
constexpr uint8_t B64_BYTE_SIZE = 8;
constexpr uint8_t B32_BYTE_SIZE = 4;
constexpr uint8_t B16_BYTE_SIZE = 2;
constexpr uint8_t B8_BYTE_SIZE = 1;
constexpr uint8_t B32_DATA_NUM_PER_BLOCK = 8;
constexpr uint8_t B16_DATA_NUM_PER_BLOCK = 16;
constexpr int32_t B16_DATA_NUM_PER_REPEAT = 128;
constexpr int32_t B32_DATA_NUM_PER_REPEAT = 64;
constexpr int32_t FULL_MASK_LEN = 128;
constexpr int32_t HALF_MASK_LEN = 64;
constexpr size_t RESERVED_WORKSPACE = 16 * 1024 * 1024;

} // namespace AscendC

namespace akgen
{
/* The two pipes of a HardEvent, in the order of the enumeration. */
struct pipe_pair {
    uint8_t from, to;
};
#define AKGEN_PAIR(a, b) {NPU_PIPE_##a, NPU_PIPE_##b}
constexpr pipe_pair event_pipes[] = {
    AKGEN_PAIR(MTE2, MTE1), AKGEN_PAIR(MTE1, MTE2), AKGEN_PAIR(MTE1, M), AKGEN_PAIR(M, MTE1),
    AKGEN_PAIR(MTE2, V),    AKGEN_PAIR(V, MTE2),    AKGEN_PAIR(MTE3, V), AKGEN_PAIR(V, MTE3),
    AKGEN_PAIR(M, V),       AKGEN_PAIR(V, M),       AKGEN_PAIR(V, V),    AKGEN_PAIR(MTE3, MTE1),
    AKGEN_PAIR(MTE1, MTE3), AKGEN_PAIR(MTE1, V),    AKGEN_PAIR(MTE2, M), AKGEN_PAIR(M, MTE2),
    AKGEN_PAIR(V, MTE1),    AKGEN_PAIR(M, FIX),     AKGEN_PAIR(FIX, M),  AKGEN_PAIR(MTE3, MTE2),
    AKGEN_PAIR(MTE2, MTE3), AKGEN_PAIR(S, V),       AKGEN_PAIR(V, S),    AKGEN_PAIR(S, MTE2),
    AKGEN_PAIR(MTE2, S),    AKGEN_PAIR(S, MTE3),    AKGEN_PAIR(MTE3, S), AKGEN_PAIR(MTE2, FIX),
    AKGEN_PAIR(FIX, MTE2),  AKGEN_PAIR(FIX, S),     AKGEN_PAIR(M, S),    AKGEN_PAIR(FIX, MTE3),
    AKGEN_PAIR(MTE1, FIX),  AKGEN_PAIR(FIX, MTE1),  AKGEN_PAIR(FIX, FIX)};
#undef AKGEN_PAIR
static_assert(sizeof event_pipes / sizeof *event_pipes == size_t(AscendC::HardEvent::MAX), "one pair per HardEvent");
} // namespace akgen

#endif
