/* Matrix products: cuBLAS's, which has matrices column by column, so that ours are turned over there. A few rows are multiplied here,
 * each by sums of one order, whatever the others are (LM_FEW). */
#include "lm/cuda/device.cuh"

#include <stdio.h>
#include <stdlib.h>

static void check(cublasStatus_t status)
{
    if (status == CUBLAS_STATUS_SUCCESS)
        return;
    fprintf(stderr, "akgen-cuda: cuBLAS: %s\n", cublasGetStatusString(status));
    abort();
}

template <typename T> constexpr cudaDataType_t type_of = CUDA_R_16BF;
template <> constexpr cudaDataType_t type_of<float> = CUDA_R_32F;

/* c (m, n) = alpha * op(a) op(b) + beta * c, column by column, k: what is summed. */
template <typename T>
static void multiply(struct lm_cuda *cuda, cublasOperation_t op_a, cublasOperation_t op_b, int m, int n, int k,
                     float alpha, const void *a, int a_stride, const void *b, int b_stride, float beta, void *c,
                     cudaDataType_t c_type, int c_stride)
{
    if (m == 0 || n == 0)
        return;
    cublasComputeType_t sums = sizeof(T) == sizeof(float) ? CUBLAS_COMPUTE_32F_PEDANTIC : CUBLAS_COMPUTE_32F;
    check(cublasGemmEx(cuda->blas, op_a, op_b, m, n, k, &alpha, a, type_of<T>, a_stride, b, type_of<T>, b_stride, &beta,
                       c, c_type, c_stride, sums, CUBLAS_GEMM_DEFAULT));
}

enum { FEW_WARPS = 4, AT_ONCE = 8 };

/* A warp has an output, and goes over its row of w once for every AT_ONCE rows of x. */
template <typename T, int W>
static __global__ void few(T *y, int y_stride, const T *x, int x_stride, const T *w, int n, int in, int out,
                           float scale, int keep)
{
    int lane = threadIdx.x % WARP, o = blockIdx.x * FEW_WARPS + threadIdx.x / WARP;
    if (o >= out)
        return;
    for (int first = 0; first < n; first += AT_ONCE) {
        float sums[AT_ONCE] = {};
        for (int i = lane * W; i < in; i += WARP * W) {
            vector<T, W> weights = load<W>(w + (int64_t)o * in + i);
#pragma unroll
            for (int r = 0; r < AT_ONCE; r++)
                if (first + r < n) {
                    vector<T, W> inputs = load<W>(x + (int64_t)(first + r) * x_stride + i);
#pragma unroll
                    for (int j = 0; j < W; j++)
                        sums[r] = fmaf(number(weights.x[j]), number(inputs.x[j]), sums[r]);
                }
        }
#pragma unroll
        for (int r = 0; r < AT_ONCE; r++) {
            float sum = warp_sum(sums[r]);
            if (lane == 0 && first + r < n) {
                T *to = y + (int64_t)(first + r) * y_stride + o;
                put(to, scale * sum + (keep ? number(*to) : 0));
            }
        }
    }
}

template <typename T>
static void linear(struct lm_backend *backend, void *y, int y_stride, const void *x, int x_stride, const void *w, int n,
                   int in, int out, float scale, int keep)
{
    struct lm_cuda *cuda = lm_cuda_of(backend);
    if (n > LM_FEW) {
        multiply<T>(cuda, CUBLAS_OP_T, CUBLAS_OP_N, out, n, in, scale, w, in, x, x_stride, (float)keep, y, type_of<T>,
                    y_stride);
        return;
    }
    if (n == 0)
        return;
    int blocks = divide_up(out, FEW_WARPS), threads = FEW_WARPS * WARP;
    if (wide<T>(w, in, in) && wide<T>(x, in, x_stride))
        few<T, widest<T>><<<blocks, threads, 0, cuda->stream>>>((T *)y, y_stride, (const T *)x, x_stride, (const T *)w,
                                                                n, in, out, scale, keep);
    else
        few<T, 1><<<blocks, threads, 0, cuda->stream>>>((T *)y, y_stride, (const T *)x, x_stride, (const T *)w, n, in,
                                                        out, scale, keep);
    CHECK(cudaGetLastError());
}

template <typename T>
static void linear_dx(struct lm_backend *backend, void *dx, int dx_stride, const void *dy, int dy_stride, const void *w,
                      int n, int in, int out, float scale, int keep)
{
    multiply<T>(lm_cuda_of(backend), CUBLAS_OP_N, CUBLAS_OP_N, in, n, out, scale, w, in, dy, dy_stride, (float)keep, dx,
                type_of<T>, dx_stride);
}

template <typename T>
static void linear_dw(struct lm_backend *backend, float *dw, const void *dy, int dy_stride, const void *x, int x_stride,
                      int n, int in, int out, float scale, int keep)
{
    multiply<T>(lm_cuda_of(backend), CUBLAS_OP_N, CUBLAS_OP_T, in, out, n, scale, x, x_stride, dy, dy_stride, (float)keep,
                dw, CUDA_R_32F, in);
}

template <typename T> static void add(struct lm_operations *to)
{
    to->linear = linear<T>;
    to->linear_dx = linear_dx<T>;
    to->linear_dw = linear_dw<T>;
}

void lm_cuda_linear_operations(struct lm_operations *to, bool is_bf16)
{
    is_bf16 ? add<bf16>(to) : add<float>(to);
}
