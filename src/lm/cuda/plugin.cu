/* Memory, the table of operations, and lm_cuda_open. */
#include "lm/cuda/device.cuh"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    SCRATCH_BYTES = 32 << 20,
    BLAS_BYTES = 32 << 20,
    THREADS = 256,
    OLDEST = 8 /* compute capability with bfloat16 */
};

void lm_cuda_check(cudaError_t status, const char *file, int line)
{
    if (status == cudaSuccess)
        return;
    fprintf(stderr, "akgen-cuda: %s:%d: %s\n", file, line, cudaGetErrorString(status));
    abort();
}

struct lm_cuda *lm_cuda_of(struct lm_backend *backend)
{
    struct lm_cuda *cuda = (struct lm_cuda *)backend; /* its first member's first */
    CHECK(cudaSetDevice(cuda->device));
    return cuda;
}

static void *allocate(struct lm_backend *backend, int64_t bytes)
{
    void *array = NULL;
    lm_cuda_of(backend);
    if (cudaMalloc(&array, bytes > 0 ? (size_t)bytes : 1) == cudaSuccess)
        return array;
    cudaGetLastError(); /* forgotten: the next launch asks for errors too */
    return NULL;
}

static void release(struct lm_backend *backend, void *array)
{
    lm_cuda_of(backend);
    CHECK(cudaFree(array)); /* which waits for what uses it */
}

void *lm_cuda_scratch(struct lm_cuda *cuda, int64_t bytes)
{
    if (bytes > cuda->scratch_bytes) {
        CHECK(cudaFree(cuda->scratch));
        CHECK(cudaMalloc(&cuda->scratch, (size_t)bytes));
        cuda->scratch_bytes = bytes;
    }
    return cuda->scratch;
}

static void zero(struct lm_backend *backend, void *array, int64_t bytes)
{
    CHECK(cudaMemsetAsync(array, 0, (size_t)bytes, lm_cuda_of(backend)->stream));
}

/* The host's memory is not pinned: CUDA has read it when the call returns. */
static void upload(struct lm_backend *backend, void *to, const void *from, int64_t bytes)
{
    CHECK(cudaMemcpyAsync(to, from, (size_t)bytes, cudaMemcpyHostToDevice, lm_cuda_of(backend)->stream));
}

static void download(struct lm_backend *backend, void *to, const void *from, int64_t bytes)
{
    struct lm_cuda *cuda = lm_cuda_of(backend);
    CHECK(cudaMemcpyAsync(to, from, (size_t)bytes, cudaMemcpyDeviceToHost, cuda->stream));
    CHECK(cudaStreamSynchronize(cuda->stream));
}

template <typename To, typename From> static __global__ void convert(To *to, const From *from, int64_t count)
{
    int64_t i = (int64_t)blockIdx.x * THREADS + threadIdx.x;
    if (i < count)
        put(to + i, number(from[i]));
}

/* What the scratch memory has room for at a time. */
static int64_t piece_of(const struct lm_cuda *cuda, int64_t left)
{
    int64_t room = cuda->scratch_bytes / (int64_t)sizeof(float);
    return left < room ? left : room;
}

template <typename T> static void narrow(struct lm_backend *backend, void *to, const float *from, int64_t count)
{
    struct lm_cuda *cuda = lm_cuda_of(backend);
    float *piece = (float *)cuda->scratch;
    for (int64_t at = 0, taken; at < count; at += taken) {
        taken = piece_of(cuda, count - at);
        upload(backend, piece, from + at, taken * (int64_t)sizeof *from);
        convert<<<divide_up(taken, THREADS), THREADS, 0, cuda->stream>>>((T *)to + at, (const float *)piece, taken);
        CHECK(cudaGetLastError());
    }
}

template <typename T> static void widen(struct lm_backend *backend, float *to, const void *from, int64_t count)
{
    struct lm_cuda *cuda = lm_cuda_of(backend);
    float *piece = (float *)cuda->scratch;
    for (int64_t at = 0, taken; at < count; at += taken) {
        taken = piece_of(cuda, count - at);
        convert<<<divide_up(taken, THREADS), THREADS, 0, cuda->stream>>>(piece, (const T *)from + at, taken);
        CHECK(cudaGetLastError());
        download(backend, to + at, piece, taken * (int64_t)sizeof *to);
    }
}

static void fill(struct lm_operations *to, bool is_bf16)
{
    to->element = is_bf16 ? sizeof(bf16) : sizeof(float);
    to->allocate = allocate;
    to->release = release;
    to->zero = zero;
    to->upload = upload;
    to->download = download;
    to->narrow = is_bf16 ? narrow<bf16> : narrow<float>;
    to->widen = is_bf16 ? widen<bf16> : widen<float>;
    lm_cuda_linear_operations(to, is_bf16);
    lm_cuda_rows_operations(to, is_bf16);
    lm_cuda_norm_operations(to, is_bf16);
    lm_cuda_rotate_operations(to, is_bf16);
    lm_cuda_attention_operations(to, is_bf16);
    lm_cuda_attention_back_operations(to, is_bf16);
    lm_cuda_inner_operations(to, is_bf16);
    lm_cuda_adamw_operations(to, is_bf16);
}

static void close_plugin(struct lm_cuda_plugin *plugin)
{
    struct lm_cuda *cuda = (struct lm_cuda *)plugin;
    cudaSetDevice(cuda->device);
    if (cuda->stream)
        cudaStreamSynchronize(cuda->stream);
    if (cuda->blas)
        cublasDestroy(cuda->blas);
    cudaFree(cuda->blas_workspace);
    cudaFree(cuda->scratch);
    cudaFree(cuda->texts);
    if (cuda->stream)
        cudaStreamDestroy(cuda->stream);
    free(cuda->host_texts);
    delete cuda;
}

/* A workspace of ours, so that cuBLAS allocates none while the stream runs. */
static bool start_blas(struct lm_cuda *cuda)
{
    return cudaMalloc(&cuda->scratch, SCRATCH_BYTES) == cudaSuccess &&
           cudaMalloc(&cuda->blas_workspace, BLAS_BYTES) == cudaSuccess &&
           cublasCreate(&cuda->blas) == CUBLAS_STATUS_SUCCESS &&
           cublasSetStream(cuda->blas, cuda->stream) == CUBLAS_STATUS_SUCCESS &&
           cublasSetWorkspace(cuda->blas, cuda->blas_workspace, BLAS_BYTES) == CUBLAS_STATUS_SUCCESS &&
           cublasSetMathMode(cuda->blas, CUBLAS_MATH_DISALLOW_REDUCED_PRECISION_REDUCTION) == CUBLAS_STATUS_SUCCESS;
}

/* False: message says why. */
static bool start(struct lm_cuda *cuda, bool is_bf16, char *message)
{
    cudaDeviceProp properties;
    int count = 0;
    cudaError_t status = cudaGetDeviceCount(&count);
    if (status != cudaSuccess)
        return snprintf(message, LM_CUDA_MESSAGE, "there is no GPU: %s", cudaGetErrorString(status)), false;
    if (cuda->device < 0 || cuda->device >= count)
        return snprintf(message, LM_CUDA_MESSAGE, "there is no GPU %d; there are %d, from 0", cuda->device, count),
               false;
    if ((status = cudaSetDevice(cuda->device)) != cudaSuccess ||
        (status = cudaGetDeviceProperties(&properties, cuda->device)) != cudaSuccess ||
        (status = cudaStreamCreateWithFlags(&cuda->stream, cudaStreamNonBlocking)) != cudaSuccess)
        return snprintf(message, LM_CUDA_MESSAGE, "GPU %d: %s", cuda->device, cudaGetErrorString(status)), false;
    if (properties.major < OLDEST)
        return snprintf(message, LM_CUDA_MESSAGE,
                        "GPU %d (%.100s) has compute capability %d.%d; at least %d.0 is needed", cuda->device,
                        properties.name, properties.major, properties.minor, OLDEST),
               false;
    cuda->processors = properties.multiProcessorCount;
    snprintf(cuda->name, sizeof cuda->name, "GPU %d (%.100s), %s", cuda->device, properties.name,
             is_bf16 ? "bfloat16" : "float32");
    if (!start_blas(cuda))
        return snprintf(message, LM_CUDA_MESSAGE, "GPU %d: cuBLAS does not start, or there is no memory for it",
                        cuda->device),
               false;
    cuda->scratch_bytes = SCRATCH_BYTES;
    return true;
}

extern "C" __attribute__((visibility("default"))) struct lm_cuda_plugin *lm_cuda_open(struct lm_cuda_request *request)
{
    if (request->operations_size != (int)sizeof(struct lm_operations)) {
        snprintf(request->message, LM_CUDA_MESSAGE,
                 LM_CUDA_LIBRARY " is of another version than the program; build both again");
        return NULL;
    }
    struct lm_cuda *cuda = new struct lm_cuda();
    cuda->device = request->device;
    cuda->plugin.close = close_plugin;
    if (!start(cuda, request->bf16, request->message)) {
        close_plugin(&cuda->plugin);
        return NULL;
    }
    fill(&cuda->operations, request->bf16);
    cuda->operations.name = cuda->name;
    cuda->plugin.backend.operations = &cuda->operations;
    return &cuda->plugin;
}
