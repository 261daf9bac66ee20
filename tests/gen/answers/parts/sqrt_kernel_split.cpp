#include "kernel_operator.h"
#include "sqrt_tile.h"
using namespace AscendC;

constexpr uint32_t TILE = 4096;

extern "C" __global__ __aicore__ void sqrt(GM_ADDR x, GM_ADDR y, GM_ADDR workspace, GM_ADDR tiling)
{
    GET_TILING_DATA(t, tiling);
    TPipe pipe;
    TQue<QuePosition::VECIN, 2> in;
    TQue<QuePosition::VECOUT, 2> out;
    TBuf<QuePosition::VECCALC> wide;
    GlobalTensor<DTYPE_X> xGm, yGm;
    xGm.SetGlobalBuffer((__gm__ DTYPE_X *)x, t.total);
    yGm.SetGlobalBuffer((__gm__ DTYPE_X *)y, t.total);
    pipe.InitBuffer(in, 2, TILE * sizeof(DTYPE_X));
    pipe.InitBuffer(out, 2, TILE * sizeof(DTYPE_X));
    pipe.InitBuffer(wide, TILE * sizeof(float));
    uint64_t begin = t.share * GetBlockIdx(), end = begin + t.share < t.total ? begin + t.share : t.total;
    for (uint64_t at = begin; at < end; at += TILE) {
        uint32_t count = TileLength(at, end);
        DataCopyExtParams copy{1, static_cast<uint32_t>(count * sizeof(DTYPE_X)), 0, 0, 0};
        DataCopyPadExtParams<DTYPE_X> pad;
        LocalTensor<DTYPE_X> a = in.AllocTensor<DTYPE_X>();
        DataCopyPad(a, xGm[at], copy, pad);
        in.EnQue(a);
        a = in.DeQue<DTYPE_X>();
        LocalTensor<DTYPE_X> b = out.AllocTensor<DTYPE_X>();
        if constexpr (std::is_same_v<DTYPE_X, float>) {
            Sqrt(b, a, count);
        } else {
            LocalTensor<float> f = wide.Get<float>();
            Cast(f, a, RoundMode::CAST_NONE, count);
            Sqrt(f, f, count);
            Cast(b, f, RoundMode::CAST_RINT, count);
        }
        in.FreeTensor(a);
        out.EnQue(b);
        b = out.DeQue<DTYPE_X>();
        DataCopyPad(yGm[at], b, copy);
        out.FreeTensor(b);
    }
}
