// found_flag = 1 if a tensor of the list holds an infinity or a nan. x - x is 0 for every finite x and nan otherwise,
// and a sum with a nan in it is nan: every block adds up x - x over the tiles it takes in turn, and one whose sum is
// not 0 raises the flag, which is 0 at the start.
#include "kernel_operator.h"
#include "kernel_operator_list_tensor_intf.h"

using namespace AscendC;

constexpr uint32_t REPEAT = 64; // floats that one step of ReduceSum takes
constexpr uint32_t UNIT = 32;   // bytes, the granularity of UB

template <typename T> class KernelNonFiniteCheck {
public:
    __aicore__ inline void Init(GM_ADDR tensorList, GM_ADDR foundFlag, uint32_t tileLength, TPipe *pipe)
    {
        list = tensorList;
        tile = tileLength;
        flagGm.SetGlobalBuffer((__gm__ float *)foundFlag, 1);
        pipe->InitBuffer(inQueue, 2, tile * sizeof(T));
        pipe->InitBuffer(differenceBuffer, tile * sizeof(float));
        pipe->InitBuffer(sumBuffer, tile * sizeof(float));
        pipe->InitBuffer(workBuffer, (tile / REPEAT * sizeof(float) + UNIT - 1) / UNIT * UNIT);
        pipe->InitBuffer(flagQueue, 1, UNIT);
        Duplicate(sumBuffer.Get<float>(), 0.0f, tile);
    }

    __aicore__ inline void Process(const NonFiniteCheckOpTilingData &tiling)
    {
        uint64_t next = GetBlockIdx(); // tile of this block, counted from the tensor's first
        for (uint32_t t = 0; t < tiling.tensors; t++) {
            uint64_t elements = tiling.elements[t];
            uint64_t tiles = (elements + tile - 1) / tile;
            xGm.SetGlobalBuffer(TensorOf(t), elements);
            for (; next < tiles; next += GetBlockNum()) {
                uint64_t at = next * tile;
                uint32_t count = elements - at < tile ? elements - at : tile;
                CopyIn(at, count);
                Compute(count);
            }
            next -= tiles;
        }
        if (Found()) {
            RaiseFlag();
        }
    }

private:
    // A list's memory starts with the byte offset to the addresses of its tensors; shapes lie between (ListTensorDesc).
    __aicore__ inline __gm__ T *TensorOf(uint32_t index)
    {
        __gm__ uint64_t *words = (__gm__ uint64_t *)list;
        return (__gm__ T *)words[words[0] / sizeof(uint64_t) + index];
    }

    __aicore__ inline void CopyIn(uint64_t at, uint32_t count)
    {
        LocalTensor<T> x = inQueue.template AllocTensor<T>();
        DataCopyExtParams copy{1, static_cast<uint32_t>(count * sizeof(T)), 0, 0, 0};
        DataCopyPadExtParams<T> pad;
        DataCopyPad(x, xGm[at], copy, pad);
        inQueue.EnQue(x);
    }

    __aicore__ inline void Compute(uint32_t count)
    {
        LocalTensor<T> x = inQueue.template DeQue<T>();
        LocalTensor<float> difference = differenceBuffer.Get<float>();
        LocalTensor<float> sum = sumBuffer.Get<float>();
        if constexpr (std::is_same_v<T, float>) {
            Sub(difference, x, x, count);
        } else {
            Cast(difference, x, RoundMode::CAST_NONE, count);
            Sub(difference, difference, difference, count);
        }
        Add(sum, sum, difference, count);
        inQueue.FreeTensor(x);
    }

    __aicore__ inline bool Found()
    {
        LocalTensor<float> sum = sumBuffer.Get<float>();
        LocalTensor<float> all = differenceBuffer.Get<float>();
        ReduceSum(all, sum, workBuffer.Get<float>(), tile);
        return all.ReinterpretCast<uint32_t>().GetValue(0) != 0; // 0.0f or a nan
    }

    // Several blocks may find something; the maximum makes their order irrelevant.
    __aicore__ inline void RaiseFlag()
    {
        LocalTensor<float> flag = flagQueue.AllocTensor<float>();
        Duplicate(flag, 1.0f, UNIT / sizeof(float));
        flagQueue.EnQue(flag);
        flag = flagQueue.DeQue<float>();
        DataCopyExtParams copy{1, sizeof(float), 0, 0, 0};
        SetAtomicMax<float>();
        DataCopyPad(flagGm, flag, copy);
        SetAtomicNone();
        flagQueue.FreeTensor(flag);
    }

    TQue<QuePosition::VECIN, 2> inQueue;
    TQue<QuePosition::VECOUT, 1> flagQueue;
    TBuf<QuePosition::VECCALC> differenceBuffer, sumBuffer, workBuffer;
    GM_ADDR list;
    GlobalTensor<T> xGm;
    GlobalTensor<float> flagGm;
    uint32_t tile;
};

extern "C" __global__ __aicore__ void non_finite_check_op(GM_ADDR tensor_list, GM_ADDR found_flag, GM_ADDR workspace,
                                                          GM_ADDR tiling)
{
    GET_TILING_DATA(tilingData, tiling);
    TPipe pipe;
    KernelNonFiniteCheck<DTYPE_TENSOR_LIST> op;
    op.Init(tensor_list, found_flag, tilingData.tile, &pipe);
    op.Process(tilingData);
}
