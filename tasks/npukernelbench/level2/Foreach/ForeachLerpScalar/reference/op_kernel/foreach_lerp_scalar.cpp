// y[t] = x1[t] + weight (x2[t] - x1[t]), reckoned from the end that is nearer, so that both ends are met exactly. The
// blocks take the tiles of all tensors in turn. 16-bit types are computed in float and rounded once.
#include "kernel_operator.h"
#include "kernel_operator_list_tensor_intf.h"

using namespace AscendC;

using Element = DTYPE_X1;

class KernelForeachLerpScalar {
public:
    __aicore__ inline void Init(GM_ADDR x1, GM_ADDR x2, GM_ADDR weight, GM_ADDR y, uint32_t tileLength, TPipe *pipe)
    {
        GlobalTensor<float> weightGm;
        weightGm.SetGlobalBuffer((__gm__ float *)weight, 1);
        float part = weightGm.GetValue(0);
        bool first = part < 0.5f;
        nearList = first ? x1 : x2;
        farList = first ? x2 : x1;
        yList = y;
        factor = first ? part : 1.0f - part;
        tile = tileLength;
        pipe->InitBuffer(nearQueue, 2, tile * sizeof(Element));
        pipe->InitBuffer(farQueue, 2, tile * sizeof(Element));
        pipe->InitBuffer(outQueue, 2, tile * sizeof(Element));
        if constexpr (!std::is_same_v<Element, float>) {
            pipe->InitBuffer(nearWideBuffer, tile * sizeof(float));
            pipe->InitBuffer(farWideBuffer, tile * sizeof(float));
        }
    }

    __aicore__ inline void Process(const ForeachLerpScalarTilingData &tiling)
    {
        uint64_t next = GetBlockIdx(); // tile of this block, counted from the tensor's first
        for (uint32_t t = 0; t < tiling.tensors; t++) {
            uint64_t elements = tiling.elements[t];
            uint64_t tiles = (elements + tile - 1) / tile;
            nearGm.SetGlobalBuffer(TensorOf(nearList, t), elements);
            farGm.SetGlobalBuffer(TensorOf(farList, t), elements);
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
        LocalTensor<Element> near = nearQueue.AllocTensor<Element>();
        DataCopyPad(near, nearGm[at], copy, pad);
        nearQueue.EnQue(near);
        LocalTensor<Element> far = farQueue.AllocTensor<Element>();
        DataCopyPad(far, farGm[at], copy, pad);
        farQueue.EnQue(far);

        near = nearQueue.DeQue<Element>();
        far = farQueue.DeQue<Element>();
        LocalTensor<Element> y = outQueue.AllocTensor<Element>();
        Compute(y, near, far, count);
        nearQueue.FreeTensor(near);
        farQueue.FreeTensor(far);
        outQueue.EnQue(y);

        y = outQueue.DeQue<Element>();
        DataCopyPad(yGm[at], y, copy);
        outQueue.FreeTensor(y);
    }

    __aicore__ inline void Compute(const LocalTensor<float> &y, const LocalTensor<float> &near,
                                   const LocalTensor<float> &far, uint32_t count)
    {
        Sub(y, far, near, count);
        Muls(y, y, factor, count);
        Add(y, near, y, count);
    }

    template <typename T>
    __aicore__ inline void Compute(const LocalTensor<T> &y, const LocalTensor<T> &near, const LocalTensor<T> &far,
                                   uint32_t count)
    {
        LocalTensor<float> nearWide = nearWideBuffer.Get<float>();
        LocalTensor<float> farWide = farWideBuffer.Get<float>();
        Cast(nearWide, near, RoundMode::CAST_NONE, count);
        Cast(farWide, far, RoundMode::CAST_NONE, count);
        Compute(farWide, nearWide, farWide, count);
        Cast(y, farWide, RoundMode::CAST_RINT, count);
    }

    TQue<QuePosition::VECIN, 2> nearQueue, farQueue;
    TQue<QuePosition::VECOUT, 2> outQueue;
    TBuf<QuePosition::VECCALC> nearWideBuffer, farWideBuffer;
    GlobalTensor<Element> nearGm, farGm, yGm;
    GM_ADDR nearList;
    GM_ADDR farList;
    GM_ADDR yList;
    uint32_t tile;
    float factor;
};

extern "C" __global__ __aicore__ void foreach_lerp_scalar(GM_ADDR x1, GM_ADDR x2, GM_ADDR weight, GM_ADDR y,
                                                          GM_ADDR workspace, GM_ADDR tiling)
{
    GET_TILING_DATA(tilingData, tiling);
    TPipe pipe;
    KernelForeachLerpScalar op;
    op.Init(x1, x2, weight, y, tilingData.tile, &pipe);
    op.Process(tilingData);
}
