// 1000 additions of 4096 floats at addresses that make the banks of UB collide, or not. The tiling data are the byte
// addresses of the operands, the strides of the first source, and how often to add: the difference between 1000 times and
// never is what the published program reads off its clock.
#include "kernel_operator.h"

using namespace AscendC;

constexpr uint32_t COUNT = 4096;

struct Arguments {
    uint32_t x, y, z, block, repeat, times;
};

extern "C" __global__ __aicore__ void experiment(GM_ADDR xAt, GM_ADDR yAt, GM_ADDR zAt, GM_ADDR workspace,
                                                 GM_ADDR tiling)
{
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_AIV_ONLY);
    const __gm__ Arguments *given = (const __gm__ Arguments *)tiling;
    GlobalTensor<float> xGm, yGm, zGm;
    xGm.SetGlobalBuffer((__gm__ float *)xAt, COUNT);
    yGm.SetGlobalBuffer((__gm__ float *)yAt, COUNT);
    zGm.SetGlobalBuffer((__gm__ float *)zAt, COUNT);
    LocalTensor<float> x(TPosition::VECCALC, given->x, COUNT), y(TPosition::VECCALC, given->y, COUNT);
    LocalTensor<float> z(TPosition::VECCALC, given->z, COUNT);
    Duplicate(z, 0.0f, COUNT); // where it is never added
    PipeBarrier<PIPE_ALL>();
    DataCopy(x, xGm, COUNT);
    DataCopy(y, yGm, COUNT);
    PipeBarrier<PIPE_ALL>();
    const BinaryRepeatParams strides(1, given->block, 1, 8, given->repeat, 8);
    for (uint32_t i = 0, times = given->times; i < times; i++)
        Add(z, x, y, 64, COUNT / 64, strides);
    PipeBarrier<PIPE_ALL>();
    DataCopy(zGm, z, COUNT);
}
