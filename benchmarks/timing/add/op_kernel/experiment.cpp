// z = x + y over rows of 8192 halves, in the steps of a tuning: an element at a time; one instruction per tile on one core;
// on all cores; with larger tiles; with two buffers of each tensor; past the L2 cache; with tiles that share no bank.
#include "kernel_operator.h"

using namespace AscendC;

constexpr uint32_t COLUMNS = 8192;
constexpr uint32_t ROOM = 16384; // elements that a buffer of the plain layout has

struct Layout { // of UB: byte addresses by buffer
    uint32_t x[2], y[2], z[2];
};
constexpr uint32_t Nth(uint32_t n, uint32_t elements)
{
    return n * elements * sizeof(half);
}
constexpr Layout PLAIN = {{Nth(0, ROOM), Nth(3, ROOM)}, {Nth(1, ROOM), Nth(4, ROOM)}, {Nth(2, ROOM), Nth(5, ROOM)}};
constexpr uint32_t SHORT = 16256; // 256 bytes less than a buffer: x and y of a tile lie in other bank groups
constexpr Layout SHIFTED = {
    {0, Nth(2, ROOM)}, {Nth(1, SHORT), Nth(2, ROOM) + Nth(1, SHORT)}, {Nth(4, ROOM), Nth(4, ROOM) + Nth(1, SHORT)}};

template <uint32_t TILE, uint32_t BUFFERS, bool SCALAR, bool PAST_L2> class KernelAdd
{
  public:
    __aicore__ inline void Init(GM_ADDR x, GM_ADDR y, GM_ADDR z, uint32_t rows)
    {
        const uint32_t blocks = GetBlockNum(), block = GetBlockIdx(), least = rows / blocks, more = rows % blocks;
        const uint32_t first = block * least + (block < more ? block : more);
        count = (least + (block < more)) * COLUMNS;
        xGm.SetGlobalBuffer((__gm__ half *)x + static_cast<uint64_t>(first) * COLUMNS, count);
        yGm.SetGlobalBuffer((__gm__ half *)y + static_cast<uint64_t>(first) * COLUMNS, count);
        zGm.SetGlobalBuffer((__gm__ half *)z + static_cast<uint64_t>(first) * COLUMNS, count);
        if constexpr (PAST_L2) {
            xGm.SetL2CacheHint(CacheMode::CACHE_MODE_DISABLE);
            yGm.SetL2CacheHint(CacheMode::CACHE_MODE_DISABLE);
        }
    }

    __aicore__ inline void Process()
    {
        constexpr Layout AT = TILE == SHORT ? SHIFTED : PLAIN;
        for (uint32_t i = 0; i < BUFFERS; i++) {
            SetFlag<HardEvent::V_MTE2>(i);
            SetFlag<HardEvent::MTE3_V>(i);
        }
        for (uint32_t at = 0, turn = 0; at < count; at += TILE, turn++) {
            const uint32_t buffer = turn % BUFFERS, length = count - at < TILE ? count - at : TILE;
            LocalTensor<half> x(TPosition::VECCALC, AT.x[buffer], ROOM), y(TPosition::VECCALC, AT.y[buffer], ROOM);
            LocalTensor<half> z(TPosition::VECCALC, AT.z[buffer], ROOM);
            WaitFlag<HardEvent::V_MTE2>(buffer);
            DataCopy(x, xGm[at], length);
            DataCopy(y, yGm[at], length);
            SetFlag<HardEvent::MTE2_V>(buffer);
            WaitFlag<HardEvent::MTE2_V>(buffer);
            WaitFlag<HardEvent::MTE3_V>(buffer);
            Compute(z, x, y, length);
            SetFlag<HardEvent::V_MTE2>(buffer);
            SetFlag<HardEvent::V_MTE3>(buffer);
            WaitFlag<HardEvent::V_MTE3>(buffer);
            DataCopy(zGm[at], z, length);
            SetFlag<HardEvent::MTE3_V>(buffer);
        }
        for (uint32_t i = 0; i < BUFFERS; i++) {
            WaitFlag<HardEvent::V_MTE2>(i);
            WaitFlag<HardEvent::MTE3_V>(i);
        }
    }

  private:
    // The scalar unit has flags of its own to wait for; the published program, which has none, computes what it computes by
    // luck.
    __aicore__ inline void Compute(LocalTensor<half> &z, LocalTensor<half> &x, LocalTensor<half> &y, uint32_t length)
    {
        if constexpr (SCALAR) {
            SetFlag<HardEvent::V_S>(EVENT_ID0);
            WaitFlag<HardEvent::V_S>(EVENT_ID0);
            for (uint32_t i = 0; i < length; i++)
                z.SetValue(i, static_cast<half>(static_cast<float>(x.GetValue(i)) + static_cast<float>(y.GetValue(i))));
            SetFlag<HardEvent::S_V>(EVENT_ID0);
            WaitFlag<HardEvent::S_V>(EVENT_ID0);
        } else {
            Add(z, x, y, length);
        }
    }

    GlobalTensor<half> xGm, yGm, zGm;
    uint32_t count;
};

template <uint32_t TILE, uint32_t BUFFERS, bool SCALAR, bool PAST_L2>
__aicore__ inline void Run(GM_ADDR x, GM_ADDR y, GM_ADDR z, uint32_t rows)
{
    KernelAdd<TILE, BUFFERS, SCALAR, PAST_L2> op;
    op.Init(x, y, z, rows);
    op.Process();
}

extern "C" __global__ __aicore__ void experiment(GM_ADDR x, GM_ADDR y, GM_ADDR z, GM_ADDR workspace, GM_ADDR tiling)
{
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_AIV_ONLY);
    const uint32_t rows = *(__gm__ uint32_t *)tiling;
    if (TILING_KEY_IS(0))
        Run<4096, 1, true, false>(x, y, z, rows);
    else if (TILING_KEY_IS(1))
        Run<4096, 1, false, false>(x, y, z, rows);
    else if (TILING_KEY_IS(2))
        Run<ROOM, 1, false, false>(x, y, z, rows);
    else if (TILING_KEY_IS(3))
        Run<ROOM, 2, false, false>(x, y, z, rows);
    else if (TILING_KEY_IS(4))
        Run<ROOM, 2, false, true>(x, y, z, rows);
    else if (TILING_KEY_IS(5))
        Run<SHORT, 2, false, true>(x, y, z, rows);
}
