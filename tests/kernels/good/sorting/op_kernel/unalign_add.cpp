#include "kernel_operator.h"

using namespace AscendC;

// The kernel of ../flags, and block 0 sorts 96 scores, i * 37 % 96, with Sort, takes them apart with Extract, and merges two
// lists until one is empty.
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
        TBuf<QuePosition::VECCALC> scoreBuffer, indexBuffer, sortedBuffer, tmpBuffer, rest;
        pipe.InitBuffer(scoreBuffer, 96 * sizeof(float));
        pipe.InitBuffer(indexBuffer, 96 * sizeof(uint32_t));
        pipe.InitBuffer(sortedBuffer, GetSortLen<float>(96) * sizeof(float));
        pipe.InitBuffer(tmpBuffer, GetSortLen<float>(96) * sizeof(float));
        constexpr uint32_t TAKEN = 2 * TILE * sizeof(half) + 2 * 96 * 4 + 2 * 96 * 8;
        pipe.InitBuffer(rest, 196608 - TAKEN); // Extract needs none
        LocalTensor<float> scores = scoreBuffer.Get<float>(), concat, sorted = sortedBuffer.Get<float>();
        LocalTensor<float> tmp = tmpBuffer.Get<float>();
        LocalTensor<uint32_t> indices = indexBuffer.Get<uint32_t>();
        for (uint32_t i = 0; i < 96; i++) {
            scores.SetValue(i, float(i * 37 % 96));
            indices.SetValue(i, i);
        }
        Concat(concat, scores, tmp, 6);
        Sort<float, true>(sorted, concat, indices, tmp, 3);
        Extract(scores, indices, sorted, 3);
        bool right = true;
        for (uint32_t i = 0; i < 96; i++) {
            right &= scores.GetValue(i) == float(95 - i) && indices.GetValue(i) * 37 % 96 == 95 - i;
        }
        AscendC::printf("%d %u", right, GetSortOffset<half>(3));
        // 95 .. 64 and 63 .. 32: the first list is exhausted before the second begins.
        MrgSortSrcList<float> lists(sorted, sorted[GetSortOffset<float>(32)], sorted, sorted);
        uint16_t lengths[4] = {32, 32, 0, 0};
        MrgSort(tmp, lists, MrgSort4Info(lengths, true, 3, 1));
        uint16_t taken[4];
        GetMrgSortResult(taken[0], taken[1], taken[2], taken[3]);
        AscendC::printf(" %u %u %u %u", taken[0], taken[1], taken[2], taken[3]);
        uint32_t counts[4];
        MrgSort<float, true>(tmp, MrgSortSrcList<float>(lists.src2, lists.src1, sorted, sorted), lengths, counts, 3, 1);
        AscendC::printf(" %u %u %f", counts[0], counts[1], tmp.GetValue(0));
    }
}
