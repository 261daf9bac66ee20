#include "kernel_operator_intf.h"

#include "kernel_log.h"
#include "lib/matmul_intf.h"

using namespace AscendC;

// z = x + y in names that newer CANN has under others: InitGlobalMemory fills z with zeros, DataCopy with SliceInfo brings
// in first the even and then the odd rows of a block, and their sums are added atomically. Then block 0 prints what the
// compiler's scalar functions and the registers behind reductions and comparisons give.
constexpr uint32_t BLOCKS = 32, ROW = 256, ROWS = 4, PER_BLOCK = ROWS * ROW; // of 32768 elements

extern "C" __global__ __aicore__ void unalign_add(GM_ADDR x, GM_ADDR y, GM_ADDR z, GM_ADDR workspace)
{
    if (GetBlockIdx() >= BLOCKS) {
        return;
    }
    ASSERT_MSG(PER_BLOCK % ROW == 0, "%d elements in a block", PER_BLOCK);
    TPipe pipe;
    TBuf<QuePosition::VECCALC> xBuffer, yBuffer, pieceBuffer;
    GlobalTensor<half> xGm, yGm, zGm;
    uint32_t begin = GetBlockIdx() * PER_BLOCK;
    xGm.SetGlobalBuffer((__gm__ half *)x + begin, PER_BLOCK);
    yGm.SetGlobalBuffer((__gm__ half *)y + begin, PER_BLOCK);
    zGm.SetGlobalBuffer((__gm__ half *)z + begin, PER_BLOCK);
    pipe.InitBuffer(xBuffer, PER_BLOCK / 2 * sizeof(half));
    pipe.InitBuffer(yBuffer, PER_BLOCK / 2 * sizeof(half));
    pipe.InitBuffer(pieceBuffer, ROW * sizeof(half));
    LocalTensor<half> xLocal = xBuffer.Get<half>(), yLocal = yBuffer.Get<half>(), pieces = pieceBuffer.Get<half>();

    InitGlobalMemory(zGm, PER_BLOCK, half(0));
    SetAtomicAdd<half>();
    for (uint32_t odd = 0; odd < 2; odd++) {
        // Rows odd and odd + 2 of four in GM; both rows of two in UB.
        SliceInfo outside[] = {{0, ROW - 1, 0, ROW / 16, ROW}, {odd, odd + 2, 1, 1, ROWS}};
        SliceInfo inside[] = {{0, ROW - 1, 0, ROW / 16, ROW}, {0, 1, 0, 1, 2}};
        DataCopy(xLocal, xGm, inside, outside, 2);
        DataCopy(yLocal, yGm, inside, outside, 2);
        PipeBarrier<PIPE_ALL>();
        Add(xLocal, xLocal, yLocal, PER_BLOCK / 2);
        PipeBarrier<PIPE_ALL>();
        DataCopy(zGm, xLocal, outside, inside, 2);
        PipeBarrier<PIPE_ALL>();
    }
    SetAtomicNone();

    if (GetBlockIdx() == 0) {
        // Pieces of 64 elements with 8 between them, which is less than a block of 32 bytes.
        SliceInfo from[] = {{0, 64 + 8 + 64 - 1, 8, 4, ROW}}, to[] = {{0, 127, 0, 4, ROW}};
        DataCopy(pieces, xGm, to, from);
        PipeBarrier<PIPE_ALL>();
        uint32_t equal = 0;
        for (uint32_t i = 0; i < 128; i++) {
            equal += float(pieces.GetValue(i)) == float(xGm.GetValue(i < 64 ? i : i + 8));
        }
        // Ten elements through functions that CANN keeps to itself; what DataCopyPad pads is not asked for.
        DataCopyPadGm2UBImpl((__ubuf__ half *)pieces.GetPhyAddr(), (__gm__ half *)yGm.GetPhyAddr(),
                             DataCopyExtParams(1, 20, 0, 0, 0), DataCopyPadExtParams<half>(false, 0, 0, half(0)));
        PipeBarrier<PIPE_ALL>();
        for (uint32_t i = 0; i < 10; i++) {
            equal += float(pieces.GetValue(i)) == float(yGm.GetValue(i));
        }
        uint32_t wide = 70000; // more than the 16 bits that this CeilDiv has
        AscendC::printf("%d %d ", equal, CeilDiv(wide, 2));
        TBuf<QuePosition::VECCALC> countBuffer, resultBuffer;
        pipe.InitBuffer(countBuffer, 64 * sizeof(float));
        pipe.InitBuffer(resultBuffer, 64 * sizeof(float));
        LocalTensor<float> counted = countBuffer.Get<float>(), result = resultBuffer.Get<float>();
        LocalTensor<uint16_t> bits = result.ReinterpretCast<uint16_t>();
        CreateVecIndex(counted, 0.0f, 64);
        CompareScalar(bits, counted, 20.0f, CMPMODE::LT, 64);
        AscendC::printf("%x %x %x ", bits.GetValue(0), bits.GetValue(1), bits.GetValue(2));
        ReduceMax(result, counted, result, 64);
        OOMCheckAddrRange((__gm__ half *)x, 65536);
        PRELOAD(2);
        uint64_t both = get_max_min_cnt();
        AscendC::printf("%f %d ", *reinterpret_cast<float *>(&both), int32_t(both >> 32));
        int64_t large = -(int64_t(1) << 40);
        AscendC::printf("%d %f %d ", abs(-7), abs(-2.5f), int32_t(abs(large) >> 30));
        AscendC::printf("%d %d %f ", int32_t(sqrt(99)), int32_t(sqrt((int64_t(1) << 60) - 1) >> 10), sqrt(2.25f));
        AscendC::printf("%f %f %d ", max(1.5f, -3.0f), min(1.5f, -3.0f), int32_t(max(int16_t(-2), int16_t(5))));
        AscendC::printf("%x %d", uint32_t(GetScalarBitcodeValue(1.0f)), int32_t(GetTaskRation()));
    }
}
