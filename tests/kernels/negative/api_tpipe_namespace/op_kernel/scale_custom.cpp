#include "kernel_operator.h"
using namespace AscendC;

constexpr int32_t BUFFER_NUM = 2;

class KernelScale {
public:
    __aicore__ inline KernelScale() {}
    __aicore__ inline void Init(GM_ADDR x, GM_ADDR y, uint32_t block, uint32_t tile)
    {
        tiles = block / tile;
        length = tile;
        xGm.SetGlobalBuffer((__gm__ float *)x + GetBlockIdx() * block, block);
        yGm.SetGlobalBuffer((__gm__ float *)y + GetBlockIdx() * block, block);
        pipe.InitBuffer(inQueue, BUFFER_NUM, tile * sizeof(float));
        pipe.InitBuffer(outQueue, BUFFER_NUM, tile * sizeof(float));
        pipe.InitBuffer(work, tile * sizeof(float));
    }
    __aicore__ inline void Process()
    {
        for (uint32_t i = 0; i < tiles; i++) {
            CopyIn(i);
            Compute();
            CopyOut(i);
        }
    }

private:
    __aicore__ inline void CopyIn(uint32_t i)
    {
        LocalTensor<float> x = inQueue.AllocTensor<float>();
        DataCopy(x, xGm[i * length], length);
        inQueue.EnQue(x);
    }
    __aicore__ inline void Compute()
    {
        LocalTensor<float> x = inQueue.DeQue<float>();
        LocalTensor<float> y = outQueue.AllocTensor<float>();
        Muls(y, x, 2.0f, length);
        event_t done =
            static_cast<event_t>(AscendC::GetTPipePtr()->FetchEventID(HardEvent::V_S)); // BUG: it is ::GetTPipePtr
        SetFlag<HardEvent::V_S>(done);
        WaitFlag<HardEvent::V_S>(done);
        outQueue.EnQue(y);
        inQueue.FreeTensor(x);
    }
    __aicore__ inline void CopyOut(uint32_t i)
    {
        LocalTensor<float> y = outQueue.DeQue<float>();
        DataCopy(yGm[i * length], y, length);
        outQueue.FreeTensor(y);
    }

    TPipe pipe;
    TQue<QuePosition::VECIN, BUFFER_NUM> inQueue;
    TQue<QuePosition::VECOUT, BUFFER_NUM> outQueue;
    TBuf<QuePosition::VECCALC> work;
    GlobalTensor<float> xGm, yGm;
    uint32_t tiles, length;
};

extern "C" __global__ __aicore__ void scale_custom(GM_ADDR x, GM_ADDR y, GM_ADDR workspace, GM_ADDR tiling)
{
    GET_TILING_DATA(tilingData, tiling);
    KernelScale op;
    op.Init(x, y, tilingData.blockLength, tilingData.tileLength);
    op.Process();
}
