/* Rows that are taken from somewhere, put or added there. */
#include "lm/cuda/device.cuh"

enum { COLUMNS = 128 };

template <typename T> static __global__ void take(T *y, const T *x, const int32_t *rows, int c)
{
    int64_t i = blockIdx.x, row = rows[i];
    for (int j = threadIdx.x; j < c; j += blockDim.x)
        y[i * c + j] = x[row * c + j];
}

template <typename T> static __global__ void give(T *x, const T *y, int stride, const int32_t *rows, int c)
{
    int64_t i = blockIdx.x, row = rows[i];
    for (int j = threadIdx.x; j < c; j += blockDim.x)
        x[row * c + j] = y[i * stride + j];
}

/* The same row may come several times. The block of its first time adds all of them, in their order. */
template <typename To, typename T>
static __global__ void gather(To *x, const T *y, const int32_t *rows, const float *factors, int count, int c)
{
    __shared__ int32_t some[COLUMNS];
    int32_t row = rows[blockIdx.x];
    int j = blockIdx.y * COLUMNS + threadIdx.x, earlier = 0;
    for (int i = threadIdx.x; i < (int)blockIdx.x; i += COLUMNS)
        earlier |= rows[i] == row;
    if (__syncthreads_or(earlier))
        return;
    float sum = 0;
    for (int from = blockIdx.x; from < count; from += COLUMNS) {
        int i = from + threadIdx.x;
        int32_t mine = i < count ? rows[i] : -1;
        some[threadIdx.x] = mine;
        if (__syncthreads_or(mine == row))
            for (int k = 0; k < COLUMNS; k++)
                if (some[k] == row && j < c)
                    sum += (factors ? factors[from + k] : 1) * number(y[(int64_t)(from + k) * c + j]);
        __syncthreads();
    }
    if (j < c)
        put(x + (int64_t)row * c + j, number(x[(int64_t)row * c + j]) + sum);
}

template <typename T>
static void take_rows(struct lm_backend *backend, void *y, const void *x, const int32_t *rows, int count, int c)
{
    struct lm_cuda *cuda = lm_cuda_of(backend);
    if (count == 0)
        return;
    take<T><<<count, threads_for(c, 256), 0, cuda->stream>>>((T *)y, (const T *)x, rows, c);
    CHECK(cudaGetLastError());
}

template <typename T>
static void embed(struct lm_backend *backend, void *x, const void *table, const int32_t *tokens, int n, int c)
{
    take_rows<T>(backend, x, table, tokens, n, c);
}

template <typename T>
static void put_rows(struct lm_backend *backend, void *x, const void *y, int stride, const int32_t *rows, int count,
                     int c)
{
    struct lm_cuda *cuda = lm_cuda_of(backend);
    if (count == 0)
        return;
    give<T><<<count, threads_for(c, 256), 0, cuda->stream>>>((T *)x, (const T *)y, stride, rows, c);
    CHECK(cudaGetLastError());
}

template <typename To, typename T>
static void gather_rows(struct lm_backend *backend, void *x, const void *y, const int32_t *rows, const float *factors,
                        int count, int c)
{
    struct lm_cuda *cuda = lm_cuda_of(backend);
    if (count == 0)
        return;
    dim3 grid(count, divide_up(c, COLUMNS));
    gather<To, T><<<grid, COLUMNS, 0, cuda->stream>>>((To *)x, (const T *)y, rows, factors, count, c);
    CHECK(cudaGetLastError());
}

template <typename T>
static void embed_back(struct lm_backend *backend, float *dtable, const void *dx, const int32_t *tokens, int n, int c)
{
    gather_rows<float, T>(backend, dtable, dx, tokens, NULL, n, c);
}

template <typename T> static void add(struct lm_operations *to)
{
    to->embed = embed<T>;
    to->embed_back = embed_back<T>;
    to->take_rows = take_rows<T>;
    to->put_rows = put_rows<T>;
    to->add_rows = gather_rows<T, T>;
}

void lm_cuda_rows_operations(struct lm_operations *to, bool is_bf16)
{
    is_bf16 ? add<bf16>(to) : add<float>(to);
}
