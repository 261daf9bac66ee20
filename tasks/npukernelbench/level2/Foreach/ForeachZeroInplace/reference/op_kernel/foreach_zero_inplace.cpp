// x[t] = 0 in place. The blocks take the tiles of all tensors in turn and write one buffer of zeros to each.
#include "kernel_operator.h"
#include "kernel_operator_list_tensor_intf.h"

using namespace AscendC;

// zero is all bits 0 in every type
using Element = std::conditional_t<sizeof(DTYPE_X) == sizeof(int16_t), int16_t, int32_t>;

class KernelForeachZeroInplace {
public:
    __aicore__ inline void Init(GM_ADDR x, uint32_t tileLength, TPipe *pipe)
    {
        list = x;
        tile = tileLength;
        pipe->InitBuffer(zeroQueue, 1, tile * sizeof(Element));
    }

    __aicore__ inline void Process(const ForeachZeroInplaceTilingData &tiling)
    {
        LocalTensor<Element> zeros = zeroQueue.AllocTensor<Element>();
        Duplicate(zeros, static_cast<Element>(0), tile);
        zeroQueue.EnQue(zeros);
        zeros = zeroQueue.DeQue<Element>();
        uint64_t next = GetBlockIdx(); // tile of this block, counted from the tensor's first
        for (uint32_t t = 0; t < tiling.tensors; t++) {
            uint64_t elements = tiling.elements[t];
            uint64_t tiles = (elements + tile - 1) / tile;
            xGm.SetGlobalBuffer(TensorOf(list, t), elements);
            for (; next < tiles; next += GetBlockNum()) {
                uint64_t at = next * tile;
                uint32_t count = elements - at < tile ? elements - at : tile;
                DataCopyExtParams copy{1, static_cast<uint32_t>(count * sizeof(Element)), 0, 0, 0};
                DataCopyPad(xGm[at], zeros, copy);
            }
            next -= tiles;
        }
        zeroQueue.FreeTensor(zeros);
    }

private:
    // A list's memory starts with the byte offset to the addresses of its tensors; shapes lie between (ListTensorDesc).
    __aicore__ inline __gm__ Element *TensorOf(GM_ADDR list, uint32_t index)
    {
        __gm__ uint64_t *words = (__gm__ uint64_t *)list;
        return (__gm__ Element *)words[words[0] / sizeof(uint64_t) + index];
    }

    TQue<QuePosition::VECOUT, 1> zeroQueue;
    GlobalTensor<Element> xGm;
    GM_ADDR list;
    uint32_t tile;
};

extern "C" __global__ __aicore__ void foreach_zero_inplace(GM_ADDR x, GM_ADDR workspace, GM_ADDR tiling)
{
    GET_TILING_DATA(tilingData, tiling);
    TPipe pipe;
    KernelForeachZeroInplace op;
    op.Init(x, tilingData.tile, &pipe);
    op.Process(tilingData);
}
