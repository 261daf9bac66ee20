#include "kernel_operator.h"

using namespace AscendC;

// z = x + y with what CANN 8.1's headers have and its documents do not: constants at namespace scope, variables of which
// each core has its own, bitwise instructions by count on wide types, places of buffers as numbers, Nd2Nz into UB, the
// kernel's arguments in memory. Block 5 prints what they give.
constexpr uint32_t BLOCKS = 32, PER_BLOCK = 1024, PRINTS = 5; // of 32768 elements
const float LEAST = *(float *)(&F32_NEG_INF);
const TransDataTo5HDParams TURN(false, false, 1, 0, 0);
__BLOCK_LOCAL__ __inline__ uint32_t g_calls;
[[block_local]] uint32_t g_first = 7;

__aicore__ inline uint32_t Count(uint32_t by)
{
    ENABLE_DETERMINISTIC();
    g_calls += by;
    return g_calls;
}

class Adder {
public:
    __aicore__ inline Adder(GM_ADDR x, GM_ADDR y, GM_ADDR z)
    {
        uint32_t begin = GetBlockIdx() * PER_BLOCK;
        xGm.SetGlobalBuffer((__gm__ half *)x + begin, PER_BLOCK);
        yGm.SetGlobalBuffer((__gm__ half *)y + begin, PER_BLOCK);
        zGm.SetGlobalBuffer((__gm__ half *)z + begin, PER_BLOCK);
        pipe.InitBuffer(inX, 2, PER_BLOCK * sizeof(half));
        pipe.InitBuffer(inY, 1, PER_BLOCK * sizeof(half));
        pipe.InitBuffer(outZ, 1, PER_BLOCK * sizeof(half));
        pipe.InitBuffer(scratch, 8192);
    }
    __aicore__ inline void Process()
    {
        LocalTensor<half> xIn = inX.AllocTensor<half>(), yIn = inY.AllocTensor<half>();
        DataCopy(xIn, xGm, PER_BLOCK);
        DataCopy(yIn, yGm, PER_BLOCK);
        inX.EnQue(xIn);
        inY.EnQue(yIn);
        LocalTensor<half> xLocal = inX.DeQue<half>(), yLocal = inY.DeQue<half>();
        // The same bytes by way of the buffer's place.
        LocalTensor<half> again;
        again.SetAddr(inX.GetBufferAddr(xLocal.GetBufferHandle()));
        LocalTensor<half> zOut = outZ.AllocTensor<half>();
        Add(zOut, again, inY.Buf2Tensor<half>(yLocal.GetBufferHandle()), PER_BLOCK);
        outZ.EnQue(zOut);
        inX.FreeTensor(again);
        inY.FreeTensor(yLocal);
        LocalTensor<half> zLocal = outZ.DeQue<half>();
        DataCopy(zGm, zLocal, PER_BLOCK);
        outZ.FreeTensor(zLocal);
    }
    // And and Or of 32-bit numbers: the count is of 16 bits, so that 16 of it are the first 8 numbers.
    __aicore__ inline void Bits()
    {
        LocalTensor<uint32_t> bits = scratch.Get<uint32_t>(), mask = bits[64], result = bits[128];
        Duplicate(bits, uint32_t(0x00ff00ff), 64);
        Duplicate(mask, uint32_t(0x0ff00ff0), 64);
        Duplicate(result, uint32_t(0), 64);
        And(result, bits, mask, 16);
        PipeBarrier<PIPE_ALL>();
        AscendC::printf("%x %x %x ", result.GetValue(0), result.GetValue(7), result.GetValue(8));
        Or(result, bits, mask, 128);
        PipeBarrier<PIPE_ALL>();
        AscendC::printf("%x ", result.GetValue(63));
    }
    // 4 rows of 24 columns, 32 elements apart in GM: strips of 16 columns, the second half full.
    __aicore__ inline void Strips()
    {
        LocalTensor<half> strips = scratch.Get<half>();
        Duplicate(strips, half(0), 256);
        PipeBarrier<PIPE_ALL>();
        DataCopy(strips, xGm, Nd2NzParams(1, 4, 24, 0, 32, 4, 1, 0));
        PipeBarrier<PIPE_ALL>();
        uint32_t equal = 0;
        for (uint32_t row = 0; row < 4; row++) {
            for (uint32_t column = 0; column < 24; column++) {
                equal += float(strips.GetValue(column / 16 * 64 + row * 16 + column % 16)) ==
                         float(xGm.GetValue(row * 32 + column));
            }
        }
        AscendC::printf("%d ", equal);
    }
    // 16 rows of 16 halves, turned.
    __aicore__ inline void Turn()
    {
        LocalTensor<half> square = scratch.Get<half>(), turned = square[256], from[16], to[16];
        DataCopy(square, xGm, 256);
        PipeBarrier<PIPE_ALL>();
        for (uint32_t i = 0; i < 16; i++) {
            from[i] = square[16 * i];
            to[i] = turned[16 * i];
        }
        TransDataTo5HD<half>(to, from, TURN);
        PipeBarrier<PIPE_ALL>();
        uint32_t equal = 0;
        for (uint32_t i = 0; i < 256; i++) {
            equal += float(turned.GetValue(i)) == float(xGm.GetValue(i % 16 * 16 + i / 16));
        }
        AscendC::printf("%d ", equal);
    }
    // The greatest of each of 8 blocks of 8 numbers.
    __aicore__ inline void Blocks()
    {
        LocalTensor<float> numbers = scratch.Get<float>(), greatest = numbers[64];
        CreateVecIndex(numbers, 0.0f, 64);
        PipeBarrier<PIPE_V>();
        SetVectorMask<float>(64);
        BlockReduceMaxIntrinsicsImpl((__ubuf__ float *)greatest.GetPhyAddr(), (__ubuf__ float *)numbers.GetPhyAddr(), 1,
                                     1, 1, 8);
        PipeBarrier<PIPE_ALL>();
        AscendC::printf("%f %f ", greatest.GetValue(0), greatest.GetValue(7));
    }

private:
    TPipe pipe;
    TQue<QuePosition::VECIN, 2> inX, inY;
    TQue<QuePosition::VECOUT, 1> outZ;
    TBuf<TPosition::VECCALC> scratch;
    GlobalTensor<half> xGm, yGm, zGm;
};

extern "C" __global__ __aicore__ void unalign_add(GM_ADDR x, GM_ADDR y, GM_ADDR z, GM_ADDR workspace)
{
    Count(1);
    SyncAll(); // the others count, too
    if (GetBlockIdx() >= BLOCKS) {
        return;
    }
    GM_ADDR *arguments = (GM_ADDR *)get_para_base();
    Adder adder(arguments[0], arguments[1], arguments[2]);
    adder.Process();
    g_first += Count(2);
    if (GetBlockIdx() == PRINTS) {
        PipeBarrier<PIPE_ALL>();
        AscendC::printf("%d %d %f %d ", g_calls, g_first, LEAST, int32_t(arguments[1] == y));
        adder.Bits();
        adder.Strips();
        adder.Turn();
        adder.Blocks();
        AscendC::printf("%d %x", int32_t(IsSameType<half, half>::value + SupportType<half, float, int8_t>()),
                        uint32_t(GetffstMsg(2, SYNC_AIC_FLAG)));
    }
}
