/* The optimizer's step: weights and means are float32, elements are made of the weights. */
#include "lm/cuda/device.cuh"

enum { THREADS = 256, SQUARES_BLOCKS = 1024 };

/* The same blocks whatever the GPU: a sum of one order. */
static __global__ void square_sums(double *sums, const float *gradient, int64_t count)
{
    __shared__ double shared[THREADS];
    double sum = 0;
    for (int64_t i = (int64_t)blockIdx.x * THREADS + threadIdx.x; i < count; i += (int64_t)SQUARES_BLOCKS * THREADS)
        sum += (double)gradient[i] * gradient[i];
    shared[threadIdx.x] = sum;
    for (int half = THREADS / 2; half; half /= 2) {
        __syncthreads();
        if ((int)threadIdx.x < half)
            shared[threadIdx.x] += shared[threadIdx.x + half];
    }
    if (threadIdx.x == 0)
        sums[blockIdx.x] = shared[0];
}

static double squares(struct lm_backend *backend, const float *gradient, int64_t count)
{
    struct lm_cuda *cuda = lm_cuda_of(backend);
    double sums[SQUARES_BLOCKS], sum = 0;
    double *on_device = (double *)lm_cuda_scratch(cuda, sizeof sums);
    square_sums<<<SQUARES_BLOCKS, THREADS, 0, cuda->stream>>>(on_device, gradient, count);
    CHECK(cudaGetLastError());
    cuda->operations.download(backend, sums, on_device, sizeof sums);
    for (int i = 0; i < SQUARES_BLOCKS; i++)
        sum += sums[i];
    return sum;
}

template <typename T>
static __global__ void step_all(float *weights, T *elements, float *m, float *v, const float *gradient, int64_t count,
                                const struct lm_adamw step)
{
    float keep = 1 - step.rate * step.decay, rate = step.rate / step.bias1, root = 1 / sqrtf(step.bias2);
    for (int64_t i = (int64_t)blockIdx.x * THREADS + threadIdx.x; i < count; i += (int64_t)gridDim.x * THREADS) {
        float g = gradient[i] * step.scale, mean = step.beta1 * m[i] + (1 - step.beta1) * g,
              square = step.beta2 * v[i] + (1 - step.beta2) * g * g,
              weight = keep * weights[i] - rate * mean / (sqrtf(square) * root + step.eps);
        m[i] = mean;
        v[i] = square;
        weights[i] = weight;
        if (elements)
            put(elements + i, weight);
    }
}

template <typename T>
static void adamw(struct lm_backend *backend, float *weights, void *elements, float *m, float *v, const float *gradient,
                  int64_t count, const struct lm_adamw *step)
{
    struct lm_cuda *cuda = lm_cuda_of(backend);
    int64_t blocks = (count + THREADS - 1) / THREADS, most = 32 * cuda->processors;
    if (count == 0)
        return;
    step_all<T><<<(int)(blocks < most ? blocks : most), THREADS, 0, cuda->stream>>>(weights, (T *)elements, m, v,
                                                                                    gradient, count, *step);
    CHECK(cudaGetLastError());
}

void lm_cuda_adamw_operations(struct lm_operations *to, bool is_bf16)
{
    to->squares = squares;
    if (is_bf16)
        to->adamw = adamw<bf16>;
    else
        to->adamw = adamw<float>;
}
