// x[t] = 0 in place, with the tensors and their sizes from ListTensorDesc and TensorDesc; block 0 prints what they say.
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
        ListTensorDesc tensors(reinterpret_cast<__gm__ void *>(list));
        if (GetBlockIdx() == 0)
            AscendC::printf("%d %d", tensors.GetSize() == tiling.tensors, tensors.GetDataPtr<Element>(0) != nullptr);
        for (uint32_t t = 0; t < tensors.GetSize(); t++) {
            TensorDesc<Element> tensor;
            uint64_t shape[8];
            tensor.SetShapeAddr(shape);
            tensors.GetDesc(tensor, t);
            xGm = tensor.GetDataObj();
            uint64_t elements = xGm.GetSize();
            uint64_t tiles = (elements + tile - 1) / tile;
            if (GetBlockIdx() == 0 && (elements != tiling.elements[t] || tensor.GetIndex() != t))
                AscendC::printf(" tensor %u has %u elements", t, uint32_t(elements));
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
