#include "kernel_operator.h"

using namespace AscendC;

// input_data + x1 x2 value with the compiler's own names for flags and barriers. `value` is read by the scalar unit from GM.
constexpr uint32_t BLOCKS = 48, PER_BLOCK = 1024, TILE = 256;

extern "C" __global__ __aicore__ void addcmul(GM_ADDR input_data, GM_ADDR x1, GM_ADDR x2, GM_ADDR value, GM_ADDR y,
                                              GM_ADDR workspace, GM_ADDR tiling)
{
    if (GetBlockIdx() >= BLOCKS) {
        return;
    }
    TPipe pipe;
    TBuf<QuePosition::VECCALC> inputBuffer, leftBuffer, rightBuffer, yBuffer;
    pipe.InitBuffer(inputBuffer, TILE * sizeof(half));
    pipe.InitBuffer(leftBuffer, TILE * sizeof(half));
    pipe.InitBuffer(rightBuffer, TILE * sizeof(half));
    pipe.InitBuffer(yBuffer, TILE * sizeof(half));
    LocalTensor<half> input = inputBuffer.Get<half>(), left = leftBuffer.Get<half>(), right = rightBuffer.Get<half>(),
                      result = yBuffer.Get<half>();
    GlobalTensor<half> inputGm, leftGm, rightGm, valueGm, yGm;
    uint32_t begin = GetBlockIdx() * PER_BLOCK;
    inputGm.SetGlobalBuffer((__gm__ half *)input_data + begin, PER_BLOCK);
    leftGm.SetGlobalBuffer((__gm__ half *)x1 + begin, PER_BLOCK);
    rightGm.SetGlobalBuffer((__gm__ half *)x2 + begin, PER_BLOCK);
    valueGm.SetGlobalBuffer((__gm__ half *)value, 1);
    yGm.SetGlobalBuffer((__gm__ half *)y + begin, PER_BLOCK);
    half factor = valueGm.GetValue(0);
    set_flag(PIPE_V, PIPE_MTE2, EVENT_ID0);
    set_flag(PIPE_V, PIPE_MTE2, EVENT_ID1);
    set_flag(PIPE_MTE3, PIPE_V, EVENT_ID0);
    for (uint32_t at = 0; at < PER_BLOCK; at += TILE) {
        wait_flag(PIPE_V, PIPE_MTE2, EVENT_ID0);
        DataCopy(left, leftGm[at], TILE);
        DataCopy(right, rightGm[at], TILE);
        set_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
        wait_flag(PIPE_V, PIPE_MTE2, EVENT_ID1);
        DataCopy(input, inputGm[at], TILE);
        set_flag(PIPE_MTE2, PIPE_V, EVENT_ID1);

        wait_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
        Mul(left, left, right, TILE);
        pipe_barrier(PIPE_V);
        wait_flag(PIPE_MTE3, PIPE_V, EVENT_ID0);
        Muls(result, left, factor, TILE);
        set_flag(PIPE_V, PIPE_MTE2, EVENT_ID0);
        pipe_barrier(PIPE_V);
        wait_flag(PIPE_MTE2, PIPE_V, EVENT_ID1);
        Add(result, result, input, TILE);
        set_flag(PIPE_V, PIPE_MTE2, EVENT_ID1);
        set_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
        wait_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
        DataCopy(yGm[at], result, TILE);
        set_flag(PIPE_MTE3, PIPE_V, EVENT_ID0);
    }
    wait_flag(PIPE_V, PIPE_MTE2, EVENT_ID0);
    wait_flag(PIPE_V, PIPE_MTE2, EVENT_ID1);
    wait_flag(PIPE_MTE3, PIPE_V, EVENT_ID0);
}
