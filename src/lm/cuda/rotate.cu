/* Heads normed and turned: a warp has a head, and each of its lanes some of the pairs (j, j + D/2). */
#include "lm/cuda.h"
#include "lm/cuda/device.cuh"

enum { WARPS = 8, PAIRS = LM_CUDA_HEAD / 2 / WARP };

template <typename T> struct rotation {
    T *q, *k, *dqkv;
    const T *qkv, *q_norm, *k_norm, *dq, *dk;
    const float *angles;
    struct lm_heads shape;
};

/* The lane's pairs of a head, 0 beyond its size. */
struct pairs {
    float a[PAIRS], b[PAIRS];
};

template <typename T> static __device__ pairs load_pairs(const T *from, int half)
{
    pairs found;
#pragma unroll
    for (int i = 0; i < PAIRS; i++) {
        int j = threadIdx.x % WARP + i * WARP;
        found.a[i] = j < half ? number(from[j]) : 0;
        found.b[i] = j < half ? number(from[j + half]) : 0;
    }
    return found;
}

template <typename T> static __device__ void store_pairs(T *to, const pairs &from, int half)
{
#pragma unroll
    for (int i = 0; i < PAIRS; i++) {
        int j = threadIdx.x % WARP + i * WARP;
        if (j < half) {
            put(to + j, from.a[i]);
            put(to + j + half, from.b[i]);
        }
    }
}

/* 1 over the root of the head's mean square. */
static __device__ float scale_of(const pairs &x, float eps, int d)
{
    float squares = 0;
#pragma unroll
    for (int i = 0; i < PAIRS; i++)
        squares += x.a[i] * x.a[i] + x.b[i] * x.b[i];
    return 1 / sqrtf(warp_sum(squares) / (float)d + eps);
}

template <typename T> static __global__ void rotate_heads(const struct rotation<T> at)
{
    int heads = at.shape.heads, both = heads + at.shape.kv_heads, d = at.shape.size, half = d / 2;
    int64_t item = (int64_t)blockIdx.x * WARPS + threadIdx.x / WARP, row = item / both;
    int h = (int)(item % both);
    if (row >= at.shape.n)
        return;
    pairs x = load_pairs(at.qkv + (row * (both + at.shape.kv_heads) + h) * d, half);
    pairs w = load_pairs(h < heads ? at.q_norm : at.k_norm, half), turn = load_pairs(at.angles + row * d, half);
    float r = scale_of(x, at.shape.eps, d);
#pragma unroll
    for (int i = 0; i < PAIRS; i++) {
        float a = x.a[i] * r * w.a[i], b = x.b[i] * r * w.b[i];
        x.a[i] = a * turn.a[i] - b * turn.b[i];
        x.b[i] = b * turn.a[i] + a * turn.b[i];
    }
    store_pairs(h < heads ? at.q + (row * heads + h) * d : at.k + (row * at.shape.kv_heads + h - heads) * d, x, half);
}

/* dx = r * g * w - x * r^3 / d * sum(g * w * x), g: dy turned back; dw += g * x * r. */
static __device__ pairs head_back(pairs *dw, const pairs &dy, const pairs &x, const pairs &w, const pairs &turn,
                                  float eps, int d)
{
    float dot = 0, r = scale_of(x, eps, d);
    pairs g;
#pragma unroll
    for (int i = 0; i < PAIRS; i++) {
        g.a[i] = dy.a[i] * turn.a[i] + dy.b[i] * turn.b[i];
        g.b[i] = dy.b[i] * turn.a[i] - dy.a[i] * turn.b[i];
        dot += g.a[i] * w.a[i] * x.a[i] + g.b[i] * w.b[i] * x.b[i];
    }
    float back = warp_sum(dot) * r * r * r / (float)d;
#pragma unroll
    for (int i = 0; i < PAIRS; i++) {
        dw->a[i] += g.a[i] * x.a[i] * r;
        dw->b[i] += g.b[i] * x.b[i] * r;
        g.a[i] = r * g.a[i] * w.a[i] - x.a[i] * back;
        g.b[i] = r * g.b[i] * w.b[i] - x.b[i] * back;
    }
    return g;
}

/* Blocks of row 0 of the grid have heads of q, those of row 1 heads of k. partial (2, blocks, d): what a block adds to the weights'
 * gradients. */
template <typename T> static __global__ void rotate_heads_back(const struct rotation<T> at, float *partial)
{
    __shared__ float sums[WARPS][LM_CUDA_HEAD];
    bool keys = blockIdx.y == 1;
    int heads = keys ? at.shape.kv_heads : at.shape.heads, all = at.shape.heads + 2 * at.shape.kv_heads;
    int d = at.shape.size, half = d / 2, warp = threadIdx.x / WARP;
    pairs w = load_pairs(keys ? at.k_norm : at.q_norm, half), dw = {};
    const T *from = keys ? at.dk : at.dq;
    for (int64_t item = (int64_t)blockIdx.x * WARPS + warp; item < (int64_t)at.shape.n * heads;
         item += (int64_t)gridDim.x * WARPS) {
        int64_t row = item / heads, place = (row * all + (keys ? at.shape.heads : 0) + item % heads) * d;
        pairs dy = load_pairs(from + item * d, half), x = load_pairs(at.qkv + place, half),
              turn = load_pairs(at.angles + row * d, half);
        store_pairs(at.dqkv + place, head_back(&dw, dy, x, w, turn, at.shape.eps, d), half);
    }
    store_pairs(sums[warp], dw, half);
    __syncthreads();
    for (int j = threadIdx.x; j < d; j += blockDim.x) {
        float sum = 0;
        for (int i = 0; i < WARPS; i++)
            sum += sums[i][j];
        partial[((int64_t)blockIdx.y * gridDim.x + blockIdx.x) * d + j] = sum;
    }
}

template <typename T>
static void rotate(struct lm_backend *backend, void *q, void *k, const void *qkv, const void *q_norm,
                   const void *k_norm, const float *angles, const struct lm_heads *shape)
{
    struct lm_cuda *cuda = lm_cuda_of(backend);
    struct rotation<T> rotation = {
    };
    rotation.q = (T *)q;
    rotation.k = (T *)k;
    rotation.qkv = (const T *)qkv;
    rotation.q_norm = (const T *)q_norm;
    rotation.k_norm = (const T *)k_norm;
    rotation.angles = angles;
    rotation.shape = *shape;
    int blocks = divide_up((int64_t)shape->n * (shape->heads + shape->kv_heads), WARPS);
    if (blocks == 0)
        return;
    rotate_heads<T><<<blocks, WARPS * WARP, 0, cuda->stream>>>(rotation);
    CHECK(cudaGetLastError());
}

template <typename T>
static void rotate_back(struct lm_backend *backend, void *dqkv, float *dq_norm, float *dk_norm, const void *dq,
                        const void *dk, const void *qkv, const void *q_norm, const void *k_norm, const float *angles,
                        const struct lm_heads *shape)
{
    struct lm_cuda *cuda = lm_cuda_of(backend);
    struct rotation<T> rotation = {
    };
    rotation.dqkv = (T *)dqkv;
    rotation.dq = (const T *)dq;
    rotation.dk = (const T *)dk;
    rotation.qkv = (const T *)qkv;
    rotation.q_norm = (const T *)q_norm;
    rotation.k_norm = (const T *)k_norm;
    rotation.angles = angles;
    rotation.shape = *shape;
    int blocks = divide_up((int64_t)shape->n * shape->heads, WARPS), most = 4 * cuda->processors;
    blocks = blocks < most ? blocks : most;
    if (blocks == 0)
        return;
    float *partial = (float *)lm_cuda_scratch(cuda, (int64_t)2 * blocks * shape->size * (int64_t)sizeof *partial);
    rotate_heads_back<T><<<dim3(blocks, 2), WARPS * WARP, 0, cuda->stream>>>(rotation, partial);
    CHECK(cudaGetLastError());
    if (dq_norm)
        lm_cuda_add_columns(cuda, dq_norm, partial, blocks, shape->size);
    if (dk_norm)
        lm_cuda_add_columns(cuda, dk_norm, partial + (int64_t)blocks * shape->size, blocks, shape->size);
}

template <typename T> static void add(struct lm_operations *to)
{
    to->rotate = rotate<T>;
    to->rotate_back = rotate_back<T>;
}

void lm_cuda_rotate_operations(struct lm_operations *to, bool is_bf16)
{
    is_bf16 ? add<bf16>(to) : add<float>(to);
}
