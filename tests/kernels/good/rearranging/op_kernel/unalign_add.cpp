#include "kernel_operator.h"

using namespace AscendC;

// The kernel of ../flags, and block 0 transposes 16 x 16 halves in three ways and gathers blocks.
constexpr uint32_t BLOCKS = 32, PER_BLOCK = 1024, TILE = 256; // of 32768 elements

extern "C" __global__ __aicore__ void unalign_add(GM_ADDR x, GM_ADDR y, GM_ADDR z, GM_ADDR workspace)
{
    if (GetBlockIdx() >= BLOCKS) {
        return;
    }
    TPipe pipe;
    TBuf<QuePosition::VECCALC> xBuffer, yBuffer;
    GlobalTensor<half> xGm, yGm, zGm;
    uint32_t begin = GetBlockIdx() * PER_BLOCK;
    xGm.SetGlobalBuffer((__gm__ half *)x + begin, PER_BLOCK);
    yGm.SetGlobalBuffer((__gm__ half *)y + begin, PER_BLOCK);
    zGm.SetGlobalBuffer((__gm__ half *)z + begin, PER_BLOCK);
    pipe.InitBuffer(xBuffer, TILE * sizeof(half));
    pipe.InitBuffer(yBuffer, TILE * sizeof(half));
    LocalTensor<half> xLocal = xBuffer.Get<half>();
    LocalTensor<half> yLocal = yBuffer.Get<half>();
    event_t loaded = static_cast<event_t>(pipe.FetchEventID(HardEvent::MTE2_V));
    event_t added = static_cast<event_t>(pipe.FetchEventID(HardEvent::V_MTE3));
    event_t computed = static_cast<event_t>(pipe.FetchEventID(HardEvent::V_MTE2));
    event_t stored = static_cast<event_t>(pipe.FetchEventID(HardEvent::MTE3_MTE2));
    for (uint32_t at = 0; at < PER_BLOCK; at += TILE) {
        DataCopy(xLocal, xGm[at], TILE);
        DataCopy(yLocal, yGm[at], TILE);
        SetFlag<HardEvent::MTE2_V>(loaded);
        WaitFlag<HardEvent::MTE2_V>(loaded);
        Add(xLocal, xLocal, yLocal, TILE);
        SetFlag<HardEvent::V_MTE3>(added);
        WaitFlag<HardEvent::V_MTE3>(added);
        SetFlag<HardEvent::V_MTE2>(computed);
        WaitFlag<HardEvent::V_MTE2>(computed);
        DataCopy(zGm[at], xLocal, TILE);
        SetFlag<HardEvent::MTE3_MTE2>(stored);
        WaitFlag<HardEvent::MTE3_MTE2>(stored);
    }
    if (GetBlockIdx() == 0) {
        TBuf<QuePosition::VECCALC> sourceBuffer, resultBuffer, offsetBuffer;
        pipe.InitBuffer(sourceBuffer, 256 * sizeof(half));
        pipe.InitBuffer(resultBuffer, 256 * sizeof(half));
        pipe.InitBuffer(offsetBuffer, 8 * sizeof(uint32_t));
        LocalTensor<half> source = sourceBuffer.Get<half>(), result = resultBuffer.Get<half>();
        LocalTensor<uint32_t> offsets = offsetBuffer.Get<uint32_t>();
        for (uint32_t i = 0; i < 256; i++) {
            source.SetValue(i, half(float(i)));
        }
        Transpose(result, source);
        AscendC::printf("%f ", result.GetValue(3 * 16 + 5));
        uint64_t to[16], from[16];
        LocalTensor<half> toList[16], fromList[16];
        for (uint32_t i = 0; i < 16; i++) {
            to[i] = result[i * 16].GetPhyAddr();
            from[i] = source[(15 - i) * 16].GetPhyAddr();
            toList[i] = result[i * 16];
            fromList[i] = source[i * 16];
        }
        TransDataTo5HD<half>(to, from, TransDataTo5HDParams(false, false, 1, 0, 0));
        AscendC::printf("%f ", result.GetValue(3 * 16 + 5));
        TransDataTo5HD<half>(toList, fromList, TransDataTo5HDParams());
        AscendC::printf("%f ", result.GetValue(15 * 16 + 1));
        for (uint32_t i = 0; i < 8; i++) {
            offsets.SetValue(i, (15 - i) * 32);
        }
        Gatherb(result.ReinterpretCast<uint16_t>(), source.ReinterpretCast<uint16_t>(), offsets, 1,
                GatherRepeatParams(1, 8));
        AscendC::printf("%f", result.GetValue(7 * 16 + 2));
        // The example of its document: 512 elements, two repeats across, two down.
        TBuf<QuePosition::VECCALC> imageBuffer, weightBuffer, blockBuffer, tmpBuffer;
        pipe.InitBuffer(imageBuffer, 512 * sizeof(half));
        pipe.InitBuffer(weightBuffer, 32 * sizeof(half));
        pipe.InitBuffer(blockBuffer, 32 * sizeof(uint32_t));
        pipe.InitBuffer(tmpBuffer, 2048);
        LocalTensor<half> image = imageBuffer.Get<half>(), weight = weightBuffer.Get<half>();
        LocalTensor<uint32_t> blocks = blockBuffer.Get<uint32_t>();
        for (uint32_t i = 0; i < 512; i++) {
            image.SetValue(i, half(float(i + 1)));
        }
        for (uint32_t i = 0; i < 32; i++) {
            weight.SetValue(i, half(float(i + 2)));
            blocks.SetValue(i, i * 32);
        }
        BilinearInterpolation(result, image, blocks, weight, uint64_t(128), 2, false, 1, 128, 2,
                              tmpBuffer.Get<uint8_t>());
        AscendC::printf(" %f %f", result.GetValue(0), result.GetValue(128));
        BilinearInterpolation(result, image, blocks, weight, uint64_t(128), 2, true, 1, 128, 2,
                              tmpBuffer.Get<uint8_t>());
        AscendC::printf(" %f %f", result.GetValue(0), result.GetValue(127));
    }
}
