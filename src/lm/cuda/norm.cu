/* Norms: a block has a row at a time. */
#include "lm/cuda/device.cuh"

enum { THREADS = 256 };

template <typename T, int W>
static __global__ void norm_rows(T *y, float *scales, T *sum, const T *x, const T *more, const T *w, float eps, int c)
{
    int64_t row = (int64_t)blockIdx.x * c;
    float squares = 0;
    for (int j = threadIdx.x * W; j < c; j += blockDim.x * W) {
        vector<T, W> values = load<W>(x + row + j);
        if (more) {
            vector<T, W> others = load<W>(more + row + j);
            for (int i = 0; i < W; i++)
                put(&values.x[i], number(values.x[i]) + number(others.x[i]));
        }
        if (sum)
            store<W>(sum + row + j, values);
        for (int i = 0; i < W; i++)
            squares += number(values.x[i]) * number(values.x[i]);
    }
    float r = 1 / sqrtf(block_sum(squares) / (float)c + eps);
    if (threadIdx.x == 0)
        scales[blockIdx.x] = r;
    const T *from = sum ? sum : x; /* each thread reads what it wrote */
    for (int j = threadIdx.x * W; j < c; j += blockDim.x * W) {
        vector<T, W> values = load<W>(from + row + j), weights = load<W>(w + j);
        for (int i = 0; i < W; i++)
            put(&values.x[i], number(values.x[i]) * r * number(weights.x[i]));
        store<W>(y + row + j, values);
    }
}

template <typename T, int W> static __global__ void scale_rows(T *y, const float *scales, const T *x, const T *w, int c)
{
    int64_t row = (int64_t)blockIdx.x * c;
    float r = scales[blockIdx.x];
    for (int j = threadIdx.x * W; j < c; j += blockDim.x * W) {
        vector<T, W> values = load<W>(x + row + j), weights = load<W>(w + j);
        for (int i = 0; i < W; i++)
            put(&values.x[i], number(values.x[i]) * r * number(weights.x[i]));
        store<W>(y + row + j, values);
    }
}

/* dx += r * g - x * r^3 / c * sum(g * x) with g = dy * w;  partial (blocks, c) = the sums of dy * x * r of a block's rows. */
template <typename T, int W>
static __global__ void norm_rows_back(T *dx, float *partial, const T *dy, const float *scales, const T *x, const T *w,
                                      int n, int c)
{
    extern __shared__ float dw[]; /* each thread adds to its own columns */
    for (int j = threadIdx.x * W; partial && j < c; j += blockDim.x * W)
        for (int i = 0; i < W; i++)
            dw[j + i] = 0;
    for (int64_t row = blockIdx.x; row < n; row += gridDim.x) {
        const T *dy_row = dy + row * c, *x_row = x + row * c;
        float r = scales[row], dot = 0;
        for (int j = threadIdx.x * W; j < c; j += blockDim.x * W) {
            vector<T, W> g = load<W>(dy_row + j), values = load<W>(x_row + j), weights = load<W>(w + j);
            for (int i = 0; i < W; i++)
                dot += number(g.x[i]) * number(weights.x[i]) * number(values.x[i]);
        }
        float back = block_sum(dot) * r * r * r / (float)c;
        for (int j = threadIdx.x * W; j < c; j += blockDim.x * W) {
            vector<T, W> g = load<W>(dy_row + j), values = load<W>(x_row + j), weights = load<W>(w + j),
                         to = load<W>(dx + row * c + j);
            for (int i = 0; i < W; i++) {
                float gradient = number(g.x[i]), value = number(values.x[i]);
                put(&to.x[i], number(to.x[i]) + r * gradient * number(weights.x[i]) - value * back);
                if (partial)
                    dw[j + i] += gradient * value * r;
            }
            store<W>(dx + row * c + j, to);
        }
    }
    for (int j = threadIdx.x * W; partial && j < c; j += blockDim.x * W)
        for (int i = 0; i < W; i++)
            partial[(int64_t)blockIdx.x * c + j + i] = dw[j + i];
}

enum { SUM_WARPS = 32 };

/* A block has WARP columns, of which each warp adds every SUM_WARPSth row. */
static __global__ void column_sums(float *to, const float *partial, int rows, int columns)
{
    __shared__ float sums[SUM_WARPS][WARP];
    int lane = threadIdx.x % WARP, warp = threadIdx.x / WARP, j = blockIdx.x * WARP + lane;
    float sum = 0;
    for (int i = warp; j < columns && i < rows; i += SUM_WARPS)
        sum += partial[(int64_t)i * columns + j];
    sums[warp][lane] = sum;
    __syncthreads();
    if (warp > 0 || j >= columns)
        return;
    for (int i = 1; i < SUM_WARPS; i++)
        sum += sums[i][lane];
    to[j] += sum;
}

void lm_cuda_add_columns(struct lm_cuda *cuda, float *to, const float *partial, int rows, int columns)
{
    column_sums<<<divide_up(columns, WARP), SUM_WARPS * WARP, 0, cuda->stream>>>(to, partial, rows, columns);
    CHECK(cudaGetLastError());
}

template <typename T, int W>
static void norm_by(struct lm_cuda *cuda, void *y, float *scales, void *sum, const void *x, const void *more,
                    const void *w, float eps, int n, int c)
{
    norm_rows<T, W><<<n, threads_for(divide_up(c, W), THREADS), 0, cuda->stream>>>(
        (T *)y, scales, (T *)sum, (const T *)x, (const T *)more, (const T *)w, eps, c);
    CHECK(cudaGetLastError());
}

template <typename T>
static void norm(struct lm_backend *backend, void *y, float *scales, void *sum, const void *x, const void *more,
                 const void *w, float eps, int n, int c)
{
    struct lm_cuda *cuda = lm_cuda_of(backend);
    if (n == 0)
        return;
    bool vectors =
        wide<T>(y, c, c) && wide<T>(sum, c, c) && wide<T>(x, c, c) && wide<T>(more, c, c) && wide<T>(w, c, c);
    (vectors ? norm_by<T, widest<T>> : norm_by<T, 1>)(cuda, y, scales, sum, x, more, w, eps, n, c);
}

template <typename T, int W>
static void norm_again_by(struct lm_cuda *cuda, void *y, const float *scales, const void *x, const void *w, int n,
                          int c)
{
    scale_rows<T, W>
        <<<n, threads_for(divide_up(c, W), THREADS), 0, cuda->stream>>>((T *)y, scales, (const T *)x, (const T *)w, c);
    CHECK(cudaGetLastError());
}

template <typename T>
static void norm_again(struct lm_backend *backend, void *y, const float *scales, const void *x, const void *w, int n,
                       int c)
{
    struct lm_cuda *cuda = lm_cuda_of(backend);
    if (n == 0)
        return;
    bool vectors = wide<T>(y, c, c) && wide<T>(x, c, c) && wide<T>(w, c, c);
    (vectors ? norm_again_by<T, widest<T>> : norm_again_by<T, 1>)(cuda, y, scales, x, w, n, c);
}

template <typename T, int W>
static void norm_back_by(struct lm_cuda *cuda, void *dx, float *dw, const void *dy, const float *scales, const void *x,
                         const void *w, int n, int c)
{
    int blocks = dw ? 8 * cuda->processors : n, bytes = dw ? c * (int)sizeof(float) : 0;
    blocks = blocks < n ? blocks : n;
    float *partial = dw ? (float *)lm_cuda_scratch(cuda, (int64_t)blocks * bytes) : NULL;
    CHECK(cudaFuncSetAttribute(norm_rows_back<T, W>, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes));
    norm_rows_back<T, W><<<blocks, threads_for(divide_up(c, W), THREADS), bytes, cuda->stream>>>(
        (T *)dx, partial, (const T *)dy, scales, (const T *)x, (const T *)w, n, c);
    CHECK(cudaGetLastError());
    if (dw)
        lm_cuda_add_columns(cuda, dw, partial, blocks, c);
}

template <typename T>
static void norm_back(struct lm_backend *backend, void *dx, float *dw, const void *dy, const float *scales,
                      const void *x, const void *w, int n, int c)
{
    struct lm_cuda *cuda = lm_cuda_of(backend);
    if (n == 0)
        return;
    bool vectors = wide<T>(dx, c, c) && wide<T>(dy, c, c) && wide<T>(x, c, c) && wide<T>(w, c, c);
    (vectors ? norm_back_by<T, widest<T>> : norm_back_by<T, 1>)(cuda, dx, dw, dy, scales, x, w, n, c);
}

template <typename T> static void add(struct lm_operations *to)
{
    to->norm = norm<T>;
    to->norm_again = norm_again<T>;
    to->norm_back = norm_back<T>;
}

void lm_cuda_norm_operations(struct lm_operations *to, bool is_bf16)
{
    is_bf16 ? add<bf16>(to) : add<float>(to);
}
