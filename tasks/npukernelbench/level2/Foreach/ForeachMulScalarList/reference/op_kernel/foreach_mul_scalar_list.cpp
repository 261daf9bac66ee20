// y[t] = scalars[t] x[t]. The blocks take the tiles of all tensors in turn. 16-bit types are computed in float and
// rounded once.
#include "kernel_operator.h"
#include "kernel_operator_list_tensor_intf.h"

using namespace AscendC;

using Element = DTYPE_X;
using Number = std::conditional_t<sizeof(Element) == sizeof(int32_t), Element, float>; // computed in

class KernelForeachMulScalarList {
public:
    __aicore__ inline void Init(GM_ADDR x, GM_ADDR scalars, GM_ADDR y, uint32_t tileLength, TPipe *pipe)
    {
        xList = x;
        yList = y;
        tile = tileLength;
        scalarsGm.SetGlobalBuffer((__gm__ DTYPE_SCALARS *)scalars);
        pipe->InitBuffer(inQueue, 2, tile * sizeof(Element));
        pipe->InitBuffer(outQueue, 2, tile * sizeof(Element));
        if constexpr (!std::is_same_v<Element, Number>) {
            pipe->InitBuffer(wideBuffer, tile * sizeof(Number));
        }
    }

    __aicore__ inline void Process(const ForeachMulScalarListTilingData &tiling)
    {
        uint64_t next = GetBlockIdx(); // tile of this block, counted from the tensor's first
        for (uint32_t t = 0; t < tiling.tensors; t++) {
            uint64_t elements = tiling.elements[t];
            uint64_t tiles = (elements + tile - 1) / tile;
            xGm.SetGlobalBuffer(TensorOf(xList, t), elements);
            yGm.SetGlobalBuffer(TensorOf(yList, t), elements);
            factor = static_cast<Number>(scalarsGm.GetValue(t));
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
        LocalTensor<Element> x = inQueue.AllocTensor<Element>();
        DataCopyPad(x, xGm[at], copy, pad);
        inQueue.EnQue(x);

        x = inQueue.DeQue<Element>();
        LocalTensor<Element> y = outQueue.AllocTensor<Element>();
        Compute(y, x, count);
        inQueue.FreeTensor(x);
        outQueue.EnQue(y);

        y = outQueue.DeQue<Element>();
        DataCopyPad(yGm[at], y, copy);
        outQueue.FreeTensor(y);
    }

    __aicore__ inline void Compute(const LocalTensor<Number> &y, const LocalTensor<Number> &x, uint32_t count)
    {
        Muls(y, x, factor, count);
    }

    template <typename T>
    __aicore__ inline void Compute(const LocalTensor<T> &y, const LocalTensor<T> &x, uint32_t count)
    {
        LocalTensor<float> wide = wideBuffer.Get<float>();
        Cast(wide, x, RoundMode::CAST_NONE, count);
        Compute(wide, wide, count);
        Cast(y, wide, RoundMode::CAST_RINT, count);
    }

    TQue<QuePosition::VECIN, 2> inQueue;
    TQue<QuePosition::VECOUT, 2> outQueue;
    TBuf<QuePosition::VECCALC> wideBuffer;
    GlobalTensor<Element> xGm, yGm;
    GlobalTensor<DTYPE_SCALARS> scalarsGm;
    GM_ADDR xList;
    GM_ADDR yList;
    uint32_t tile;
    Number factor; // of the current tensor
};

extern "C" __global__ __aicore__ void foreach_mul_scalar_list(GM_ADDR x, GM_ADDR scalars, GM_ADDR y, GM_ADDR workspace,
                                                              GM_ADDR tiling)
{
    GET_TILING_DATA(tilingData, tiling);
    TPipe pipe;
    KernelForeachMulScalarList op;
    op.Init(x, scalars, y, tilingData.tile, &pipe);
    op.Process(tilingData);
}
