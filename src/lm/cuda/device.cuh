/* What the files of akgen-cuda.so share. Each operation is a template of the element's type T: float or bfloat16. Sums are in
 * float32, and in an order that does not change from run to run: no kernel adds by atomics. */
#ifndef LM_CUDA_DEVICE_CUH
#define LM_CUDA_DEVICE_CUH

#include "lm/cuda_plugin.h"

#include <cublas_v2.h>
#include <cuda_bf16.h>
#include <cuda_runtime.h>

typedef __nv_bfloat16 bf16;

enum { WARP = 32 };

struct lm_cuda {
    struct lm_cuda_plugin plugin;
    struct lm_operations operations;
    char name[LM_CUDA_MESSAGE];
    int device, processors;
    cudaStream_t stream; /* everything runs here, in the order of the calls */
    cublasHandle_t blas;
    void *blas_workspace;
    void *scratch; /* of one operation */
    int64_t scratch_bytes;
    struct lm_text *texts, *host_texts; /* of the last attention, on the device and here */
    int text_count, text_room;
};

/* Dies with the place and CUDA's words: kernels fail by our own bugs, or because the GPU does. */
void lm_cuda_check(cudaError_t status, const char *file, int line);
#define CHECK(call) lm_cuda_check(call, __FILE__, __LINE__)

/* The backend as ours, with its GPU made the thread's. */
struct lm_cuda *lm_cuda_of(struct lm_backend *backend);
/* At least so many bytes, which are the operation's until another asks. Dies without memory, as memory_alloc does. */
void *lm_cuda_scratch(struct lm_cuda *cuda, int64_t bytes);
/* to (columns) += the sums of the columns of partial (rows, columns). */
void lm_cuda_add_columns(struct lm_cuda *cuda, float *to, const float *partial, int rows, int columns);

/* Each file puts its operations in the table. */
void lm_cuda_linear_operations(struct lm_operations *to, bool is_bf16);
void lm_cuda_rows_operations(struct lm_operations *to, bool is_bf16);
void lm_cuda_norm_operations(struct lm_operations *to, bool is_bf16);
void lm_cuda_rotate_operations(struct lm_operations *to, bool is_bf16);
void lm_cuda_attention_operations(struct lm_operations *to, bool is_bf16);
void lm_cuda_attention_back_operations(struct lm_operations *to, bool is_bf16);
void lm_cuda_inner_operations(struct lm_operations *to, bool is_bf16);
void lm_cuda_adamw_operations(struct lm_operations *to, bool is_bf16);

static inline __host__ __device__ int divide_up(int64_t a, int64_t b)
{
    return (int)((a + b - 1) / b);
}

static inline __device__ float number(float x)
{
    return x;
}
static inline __device__ float number(bf16 x)
{
    return __bfloat162float(x);
}
static inline __device__ void put(float *to, float x)
{
    *to = x;
}
static inline __device__ void put(bf16 *to, float x)
{
    *to = __float2bfloat16(x);
}
/* x as an element has it. */
template <typename T> static __device__ float rounded(float x)
{
    T element;
    put(&element, x);
    return number(element);
}

/* W elements that are loaded and stored at once. */
template <typename T, int W> struct alignas(W * sizeof(T)) vector {
    T x[W];
};
template <int W, typename T> static __device__ vector<T, W> load(const T *from)
{
    return *(const vector<T, W> *)from;
}
template <int W, typename T> static __device__ void store(T *to, const vector<T, W> &from)
{
    *(vector<T, W> *)to = from;
}
/* Elements that 16 bytes have room for. */
template <typename T> constexpr int widest = 16 / (int)sizeof(T);
/* True if rows of `size` elements, `stride` apart, are made of 16 bytes each. */
template <typename T> static bool wide(const void *array, int64_t size, int64_t stride)
{
    return (uintptr_t)array % 16 == 0 && size % widest<T> == 0 && stride % widest<T> == 0;
}

static inline __device__ float warp_sum(float x)
{
    for (int lanes = WARP / 2; lanes; lanes /= 2)
        x += __shfl_xor_sync(0xffffffffU, x, lanes);
    return x;
}
static inline __device__ float warp_largest(float x)
{
    for (int lanes = WARP / 2; lanes; lanes /= 2)
        x = fmaxf(x, __shfl_xor_sync(0xffffffffU, x, lanes));
    return x;
}
/* Of the whole block, in all its threads. */
static inline __device__ float block_sum(float x)
{
    __shared__ float sums[WARP];
    int warps = blockDim.x / WARP;
    x = warp_sum(x);
    __syncthreads();
    if (threadIdx.x % WARP == 0)
        sums[threadIdx.x / WARP] = x;
    __syncthreads();
    x = 0;
    for (int i = 0; i < warps; i++)
        x += sums[i];
    return x;
}
static inline __device__ float block_largest(float x)
{
    __shared__ float largest[WARP];
    int warps = blockDim.x / WARP;
    x = warp_largest(x);
    __syncthreads();
    if (threadIdx.x % WARP == 0)
        largest[threadIdx.x / WARP] = x;
    __syncthreads();
    for (int i = 0; i < warps; i++)
        x = fmaxf(x, largest[i]);
    return x;
}
/* Threads of a block that has a row of `count` things to go over. */
static inline int threads_for(int count, int most)
{
    int threads = divide_up(count, WARP) * WARP;
    return threads < most ? threads : most;
}

#endif
