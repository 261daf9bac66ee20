#include "kernel_operator.h"
#include "lib/normalization/layernorm.h"

using namespace AscendC;

// perLoop rows at a time. The rows of a part go round robin over the cores.
template <typename T> class KernelLayerNorm {
public:
    __aicore__ inline void Init(GM_ADDR x, GM_ADDR gamma, GM_ADDR beta, GM_ADDR y, GM_ADDR mean, GM_ADDR rstd,
                                const LayerNormV4TilingData &tiling)
    {
        data = &tiling;
        hasGamma = gamma != nullptr;
        hasBeta = beta != nullptr;
        uint32_t all = tiling.rows * tiling.columns;
        xGm.SetGlobalBuffer((__gm__ T *)x, all);
        yGm.SetGlobalBuffer((__gm__ T *)y, all);
        gammaGm.SetGlobalBuffer((__gm__ T *)gamma, tiling.columns);
        betaGm.SetGlobalBuffer((__gm__ T *)beta, tiling.columns);
        meanGm.SetGlobalBuffer((__gm__ float *)mean, tiling.rows);
        rstdGm.SetGlobalBuffer((__gm__ float *)rstd, tiling.rows);
        uint32_t bytes = tiling.padded * sizeof(T);
        pipe.InitBuffer(xQue, 2, tiling.perLoop * bytes);
        pipe.InitBuffer(yQue, 2, tiling.perLoop * bytes);
        pipe.InitBuffer(affineQue, 1, 2 * bytes);
        pipe.InitBuffer(meanQue, 1, 32);
        pipe.InitBuffer(rstdQue, 1, 32);
        pipe.InitBuffer(tmpBuf, tiling.space);
    }
    __aicore__ inline void Process()
    {
        LocalTensor<T> affine = affineQue.template AllocTensor<T>();
        Affine(affine, gammaGm, hasGamma, static_cast<T>(1));
        Affine(affine[data->padded], betaGm, hasBeta, static_cast<T>(0));
        affineQue.EnQue(affine);
        affine = affineQue.template DeQue<T>();
        for (uint32_t row = GetBlockIdx() * data->perLoop; row < data->rows; row += GetBlockNum() * data->perLoop) {
            uint32_t rows = data->rows - row < data->perLoop ? data->rows - row : data->perLoop;
            Part(affine, row, rows);
        }
        affineQue.FreeTensor(affine);
    }

private:
    __aicore__ inline void Affine(const LocalTensor<T> &to, const GlobalTensor<T> &from, bool given, T otherwise)
    {
        if (given) {
            CopyRows(to, from, 1);
        } else {
            Duplicate(to, otherwise, data->padded);
        }
    }
    __aicore__ inline void CopyRows(const LocalTensor<T> &to, const GlobalTensor<T> &from, uint16_t rows)
    {
        DataCopyPad(to, from, DataCopyExtParams{rows, static_cast<uint32_t>(data->columns * sizeof(T)), 0, 0, 0},
                    DataCopyPadExtParams<T>{true, 0, static_cast<uint8_t>(data->padded - data->columns), 0});
    }
    __aicore__ inline void Part(const LocalTensor<T> &affine, uint32_t row, uint32_t rows)
    {
        LocalTensor<T> in = xQue.template AllocTensor<T>();
        CopyRows(in, xGm[row * data->columns], rows);
        xQue.EnQue(in);
        in = xQue.template DeQue<T>();
        LocalTensor<T> out = yQue.template AllocTensor<T>();
        LocalTensor<float> mean = meanQue.template AllocTensor<float>(), rstd = rstdQue.template AllocTensor<float>();
        LayerNormPara para{rows, data->columns, data->padded};
        LayerNorm<T, T>(out, mean, rstd, in, affine, affine[data->padded], data->epsilon, tmpBuf.Get<uint8_t>(), para,
                        data->norm);
        yQue.EnQue(out);
        meanQue.EnQue(mean);
        rstdQue.EnQue(rstd);
        xQue.FreeTensor(in);
        out = yQue.template DeQue<T>();
        mean = meanQue.template DeQue<float>();
        rstd = rstdQue.template DeQue<float>();
        uint32_t bytes = data->columns * sizeof(T), statistics = rows * sizeof(float);
        DataCopyPad(yGm[row * data->columns], out, DataCopyExtParams{static_cast<uint16_t>(rows), bytes, 0, 0, 0});
        DataCopyPad(meanGm[row], mean, DataCopyExtParams{1, statistics, 0, 0, 0});
        DataCopyPad(rstdGm[row], rstd, DataCopyExtParams{1, statistics, 0, 0, 0});
        yQue.FreeTensor(out);
        meanQue.FreeTensor(mean);
        rstdQue.FreeTensor(rstd);
    }

    TPipe pipe;
    TQue<QuePosition::VECIN, 2> xQue;
    TQue<QuePosition::VECIN, 1> affineQue;
    TQue<QuePosition::VECOUT, 2> yQue;
    TQue<QuePosition::VECOUT, 1> meanQue, rstdQue;
    TBuf<TPosition::VECCALC> tmpBuf;
    GlobalTensor<T> xGm, gammaGm, betaGm, yGm;
    GlobalTensor<float> meanGm, rstdGm;
    const LayerNormV4TilingData *data;
    bool hasGamma, hasBeta;
};

extern "C" __global__ __aicore__ void layer_norm_v4(GM_ADDR x, GM_ADDR normalized_shape, GM_ADDR gamma, GM_ADDR beta,
                                                    GM_ADDR y, GM_ADDR mean, GM_ADDR rstd, GM_ADDR workspace,
                                                    GM_ADDR tiling)
{
    GET_TILING_DATA(data, tiling);
    KernelLayerNorm<DTYPE_X> op;
    op.Init(x, gamma, beta, y, mean, rstd, data);
    op.Process();
}
