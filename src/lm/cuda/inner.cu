/* Inside the MLP and behind the head: what is done with each number, and the scores' probabilities. */
#include "lm/batch.h"
#include "lm/cuda/device.cuh"

enum { THREADS = 256, ROW_THREADS = 512 };

/* A thread has W channels of a row. */
template <typename T, int W> static __global__ void swiglu_rows(T *y, const T *gate_up, int64_t count, int inner)
{
    int64_t at = ((int64_t)blockIdx.x * blockDim.x + threadIdx.x) * W;
    if (at >= count)
        return;
    int64_t gate_at = at + at / inner * inner; /* a row of gate_up is two of y */
    vector<T, W> gate = load<W>(gate_up + gate_at), up = load<W>(gate_up + gate_at + inner);
    for (int i = 0; i < W; i++) {
        float x = number(gate.x[i]);
        put(&gate.x[i], x / (1 + expf(-x)) * number(up.x[i]));
    }
    store<W>(y + at, gate);
}

template <typename T, int W>
static __global__ void swiglu_rows_back(T *dgate_up, const T *dy, const T *gate_up, int64_t count, int inner)
{
    int64_t at = ((int64_t)blockIdx.x * blockDim.x + threadIdx.x) * W;
    if (at >= count)
        return;
    int64_t gate_at = at + at / inner * inner;
    vector<T, W> gate = load<W>(gate_up + gate_at), up = load<W>(gate_up + gate_at + inner), g = load<W>(dy + at);
    for (int i = 0; i < W; i++) {
        float x = number(gate.x[i]), d = number(g.x[i]), sigmoid = 1 / (1 + expf(-x));
        put(&gate.x[i], d * number(up.x[i]) * sigmoid * (1 + x * (1 - sigmoid)));
        put(&up.x[i], d * x * sigmoid);
    }
    store<W>(dgate_up + gate_at, gate);
    store<W>(dgate_up + gate_at + inner, up);
}

/* A block has a row of scores. */
template <typename T, int W>
static __global__ void probabilities(float *log_probs, T *scores, const int32_t *labels, const float *factors,
                                     int vocabulary)
{
    T *row = scores + (int64_t)blockIdx.x * vocabulary;
    int label = labels[blockIdx.x], step = blockDim.x * W;
    if (label == LM_NO_LABEL) {
        if (threadIdx.x == 0)
            log_probs[blockIdx.x] = 0;
        for (int v = threadIdx.x; factors && v < vocabulary; v += blockDim.x)
            put(row + v, 0);
        return;
    }
    float largest = -INFINITY, total = 0, score = number(row[label]);
    for (int v = threadIdx.x * W; v < vocabulary; v += step) {
        vector<T, W> values = load<W>(row + v);
        for (int i = 0; i < W; i++)
            largest = fmaxf(largest, number(values.x[i]));
    }
    largest = block_largest(largest);
    for (int v = threadIdx.x * W; v < vocabulary; v += step) {
        vector<T, W> values = load<W>(row + v);
        for (int i = 0; i < W; i++)
            total += expf(number(values.x[i]) - largest);
    }
    total = block_sum(total); /* behind it every thread has read its label's score */
    if (threadIdx.x == 0)
        log_probs[blockIdx.x] = score - largest - logf(total);
    if (!factors)
        return;
    float factor = factors[blockIdx.x];
    for (int v = threadIdx.x * W; v < vocabulary; v += step) {
        vector<T, W> values = load<W>(row + v);
        for (int i = 0; i < W; i++) {
            float probability = expf(number(values.x[i]) - largest) / total;
            put(&values.x[i], factor * ((v + i == label ? 1 : 0) - probability));
        }
        store<W>(row + v, values);
    }
}

template <typename T> static void swiglu(struct lm_backend *backend, void *y, const void *gate_up, int n, int inner)
{
    struct lm_cuda *cuda = lm_cuda_of(backend);
    int64_t count = (int64_t)n * inner;
    constexpr int W = widest<T>;
    if (count == 0)
        return;
    if (wide<T>(y, inner, inner) && wide<T>(gate_up, inner, inner))
        swiglu_rows<T, W>
            <<<divide_up(count, THREADS * W), THREADS, 0, cuda->stream>>>((T *)y, (const T *)gate_up, count, inner);
    else
        swiglu_rows<T, 1>
            <<<divide_up(count, THREADS), THREADS, 0, cuda->stream>>>((T *)y, (const T *)gate_up, count, inner);
    CHECK(cudaGetLastError());
}

template <typename T>
static void swiglu_back(struct lm_backend *backend, void *dgate_up, const void *dy, const void *gate_up, int n,
                        int inner)
{
    struct lm_cuda *cuda = lm_cuda_of(backend);
    int64_t count = (int64_t)n * inner;
    constexpr int W = widest<T>;
    if (count == 0)
        return;
    if (wide<T>(dgate_up, inner, inner) && wide<T>(gate_up, inner, inner) && wide<T>(dy, inner, inner))
        swiglu_rows_back<T, W><<<divide_up(count, THREADS * W), THREADS, 0, cuda->stream>>>(
            (T *)dgate_up, (const T *)dy, (const T *)gate_up, count, inner);
    else
        swiglu_rows_back<T, 1><<<divide_up(count, THREADS), THREADS, 0, cuda->stream>>>(
            (T *)dgate_up, (const T *)dy, (const T *)gate_up, count, inner);
    CHECK(cudaGetLastError());
}

template <typename T>
static void log_probs(struct lm_backend *backend, float *log_probs, void *scores, const int32_t *labels,
                      const float *factors, int n, int vocabulary)
{
    struct lm_cuda *cuda = lm_cuda_of(backend);
    if (n == 0)
        return;
    if (wide<T>(scores, vocabulary, vocabulary))
        probabilities<T, widest<T>>
            <<<n, ROW_THREADS, 0, cuda->stream>>>(log_probs, (T *)scores, labels, factors, vocabulary);
    else
        probabilities<T, 1><<<n, ROW_THREADS, 0, cuda->stream>>>(log_probs, (T *)scores, labels, factors, vocabulary);
    CHECK(cudaGetLastError());
}

template <typename T> static void add(struct lm_operations *to)
{
    to->swiglu = swiglu<T>;
    to->swiglu_back = swiglu_back<T>;
    to->log_probs = log_probs<T>;
}

void lm_cuda_inner_operations(struct lm_operations *to, bool is_bf16)
{
    is_bf16 ? add<bf16>(to) : add<float>(to);
}
