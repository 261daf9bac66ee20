#include "kernel_operator.h"

using namespace AscendC;

extern "C" __global__ __aicore__ void unalign_add(GM_ADDR x, GM_ADDR y, GM_ADDR z, GM_ADDR workspace)
{
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_AIV_ONLY);
    SyncAll(); // BUG: needs KERNEL_TYPE_MIX_AIV_1_0
}
