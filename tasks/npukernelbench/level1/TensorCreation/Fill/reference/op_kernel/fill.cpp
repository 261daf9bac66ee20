// y = value everywhere. One tile of the value is written into UB and copied out again and again. What counts is the
// width of the type alone: the value is repeated until it fills eight bytes, and the vector unit writes the halves of
// those, which serves 64-bit types and the 8-bit ones, for which it has no instruction.
#include "kernel_operator.h"

using namespace AscendC;

constexpr uint32_t REPEAT_BYTES = 256;
constexpr uint64_t EVEN_LANES = 0x5555555555555555; // low halves of eight bytes, among the 64 lanes of a repeat
constexpr uint64_t ODD_LANES = 0xAAAAAAAAAAAAAAAA;

template <uint32_t bytes> struct Unsigned;
template <> struct Unsigned<1> {
    using Type = uint8_t;
};
template <> struct Unsigned<2> {
    using Type = uint16_t;
};
template <> struct Unsigned<4> {
    using Type = uint32_t;
};
template <> struct Unsigned<8> {
    using Type = uint64_t;
};

class KernelFill {
public:
    __aicore__ inline void Init(GM_ADDR value, GM_ADDR y, const FillTilingData &tiling, TPipe *pipe)
    {
        uint64_t begin = tiling.perBlock * GetBlockIdx();
        uint64_t left = tiling.total - begin;
        length = left < tiling.perBlock ? left : tiling.perBlock;
        tile = tiling.tile;
        valueGm.SetGlobalBuffer((__gm__ Bits *)value, 1);
        yGm.SetGlobalBuffer((__gm__ uint8_t *)y + begin, length);
        pipe->InitBuffer(patternQueue, 1, tile);
    }

    __aicore__ inline void Process()
    {
        WritePattern();
        LocalTensor<uint8_t> pattern = patternQueue.DeQue<uint8_t>();
        for (uint64_t at = 0; at < length; at += tile) {
            uint32_t count = length - at < tile ? length - at : tile;
            DataCopyExtParams copy{1, count, 0, 0, 0};
            DataCopyPad(yGm[at], pattern, copy);
        }
        patternQueue.FreeTensor(pattern);
    }

private:
    using Bits = typename Unsigned<sizeof(DTYPE_Y)>::Type;

    __aicore__ inline void WritePattern()
    {
        uint64_t eightBytes = valueGm.GetValue(0);
        for (uint32_t bits = 8 * sizeof(Bits); bits < 64; bits *= 2) {
            eightBytes |= eightBytes << bits;
        }
        LocalTensor<uint32_t> pattern = patternQueue.AllocTensor<uint32_t>();
        uint64_t even[2] = {EVEN_LANES, 0};
        uint64_t odd[2] = {ODD_LANES, 0};
        uint8_t repeats = tile / REPEAT_BYTES;
        Duplicate(pattern, static_cast<uint32_t>(eightBytes), even, repeats, 1, 8);
        Duplicate(pattern, static_cast<uint32_t>(eightBytes >> 32), odd, repeats, 1, 8);
        patternQueue.EnQue(pattern);
    }

    TQue<QuePosition::VECOUT, 1> patternQueue;
    GlobalTensor<Bits> valueGm;
    GlobalTensor<uint8_t> yGm;
    uint64_t length;
    uint32_t tile;
};

extern "C" __global__ __aicore__ void fill(GM_ADDR dims, GM_ADDR value, GM_ADDR y, GM_ADDR workspace, GM_ADDR tiling)
{
    GET_TILING_DATA(tilingData, tiling);
    TPipe pipe;
    KernelFill op;
    op.Init(value, y, tilingData, &pipe);
    op.Process();
}
