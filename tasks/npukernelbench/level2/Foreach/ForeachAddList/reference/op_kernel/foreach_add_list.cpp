// y[t] = x1[t] + alpha x2[t]. The blocks take the tiles of all tensors in turn. Product and sum are each rounded to the
// type of the tensors, as the published module's are; bfloat16 has no arithmetic, it is computed in float and rounded
// once.
#include "kernel_operator.h"
#include "kernel_operator_list_tensor_intf.h"

using namespace AscendC;

using Element = DTYPE_X1;
using Number = std::conditional_t<std::is_same_v<Element, bfloat16_t>, float, Element>; // computed in

class KernelForeachAddList {
public:
    __aicore__ inline void Init(GM_ADDR x1, GM_ADDR x2, GM_ADDR alpha, GM_ADDR y, uint32_t tileLength, TPipe *pipe)
    {
        x1List = x1;
        x2List = x2;
        yList = y;
        tile = tileLength;
        GlobalTensor<DTYPE_ALPHA> alphaGm;
        alphaGm.SetGlobalBuffer((__gm__ DTYPE_ALPHA *)alpha, 1);
        factor = alphaGm.GetValue(0);
        pipe->InitBuffer(x1Queue, 2, tile * sizeof(Element));
        pipe->InitBuffer(x2Queue, 2, tile * sizeof(Element));
        pipe->InitBuffer(outQueue, 2, tile * sizeof(Element));
        if constexpr (!std::is_same_v<Element, Number>) {
            pipe->InitBuffer(x1WideBuffer, tile * sizeof(Number));
            pipe->InitBuffer(x2WideBuffer, tile * sizeof(Number));
        }
    }

    __aicore__ inline void Process(const ForeachAddListTilingData &tiling)
    {
        uint64_t next = GetBlockIdx(); // tile of this block, counted from the tensor's first
        for (uint32_t t = 0; t < tiling.tensors; t++) {
            uint64_t elements = tiling.elements[t];
            uint64_t tiles = (elements + tile - 1) / tile;
            x1Gm.SetGlobalBuffer(TensorOf(x1List, t), elements);
            x2Gm.SetGlobalBuffer(TensorOf(x2List, t), elements);
            yGm.SetGlobalBuffer(TensorOf(yList, t), elements);
            for (; next < tiles; next += GetBlockNum()) {
                uint64_t at = next * tile;
                ProcessTile(at, elements - at < tile ? elements - at : tile);
            }
            next -= tiles;
        }
    }

private:
    // A list's memory starts with the byte offset to the addresses of its tensors; shapes lie between (ListTensorDesc).
    __aicore__ inline __gm__ Element *TensorOf(GM_ADDR list, uint32_t index)
    {
        __gm__ uint64_t *words = (__gm__ uint64_t *)list;
        return (__gm__ Element *)words[words[0] / sizeof(uint64_t) + index];
    }

    __aicore__ inline void ProcessTile(uint64_t at, uint32_t count)
    {
        DataCopyExtParams copy{1, static_cast<uint32_t>(count * sizeof(Element)), 0, 0, 0};
        DataCopyPadExtParams<Element> pad;
        LocalTensor<Element> x1 = x1Queue.AllocTensor<Element>();
        DataCopyPad(x1, x1Gm[at], copy, pad);
        x1Queue.EnQue(x1);
        LocalTensor<Element> x2 = x2Queue.AllocTensor<Element>();
        DataCopyPad(x2, x2Gm[at], copy, pad);
        x2Queue.EnQue(x2);

        x1 = x1Queue.DeQue<Element>();
        x2 = x2Queue.DeQue<Element>();
        LocalTensor<Element> y = outQueue.AllocTensor<Element>();
        Compute(y, x1, x2, count);
        x1Queue.FreeTensor(x1);
        x2Queue.FreeTensor(x2);
        outQueue.EnQue(y);

        y = outQueue.DeQue<Element>();
        DataCopyPad(yGm[at], y, copy);
        outQueue.FreeTensor(y);
    }

    __aicore__ inline void Compute(const LocalTensor<Number> &y, const LocalTensor<Number> &x1,
                                   const LocalTensor<Number> &x2, uint32_t count)
    {
        Muls(y, x2, factor, count);
        Add(y, x1, y, count);
    }

    template <typename T>
    __aicore__ inline void Compute(const LocalTensor<T> &y, const LocalTensor<T> &x1, const LocalTensor<T> &x2,
                                   uint32_t count)
    {
        LocalTensor<float> x1Wide = x1WideBuffer.Get<float>();
        LocalTensor<float> x2Wide = x2WideBuffer.Get<float>();
        Cast(x1Wide, x1, RoundMode::CAST_NONE, count);
        Cast(x2Wide, x2, RoundMode::CAST_NONE, count);
        Compute(x2Wide, x1Wide, x2Wide, count);
        Cast(y, x2Wide, RoundMode::CAST_RINT, count);
    }

    TQue<QuePosition::VECIN, 2> x1Queue, x2Queue;
    TQue<QuePosition::VECOUT, 2> outQueue;
    TBuf<QuePosition::VECCALC> x1WideBuffer, x2WideBuffer;
    GlobalTensor<Element> x1Gm, x2Gm, yGm;
    GM_ADDR x1List;
    GM_ADDR x2List;
    GM_ADDR yList;
    uint32_t tile;
    Number factor;
};

extern "C" __global__ __aicore__ void foreach_add_list(GM_ADDR x1, GM_ADDR x2, GM_ADDR alpha, GM_ADDR y,
                                                       GM_ADDR workspace, GM_ADDR tiling)
{
    GET_TILING_DATA(tilingData, tiling);
    TPipe pipe;
    KernelForeachAddList op;
    op.Init(x1, x2, alpha, y, tilingData.tile, &pipe);
    op.Process(tilingData);
}
