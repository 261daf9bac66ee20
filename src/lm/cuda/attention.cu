/* Attention, from keys to keys: a row's result is kept as it would be without the keys still to come, and made smaller whenever a
 * larger score comes. */
#include "lm/cuda/attention.cuh"

#include <stdlib.h>
#include <string.h>

/* Multiplies the rows of a warp's results, those of each lane's row by its factor. */
template <typename T, int D> static __device__ void scale_rows(sums<T> (&to)[D / TILE], float factor, float *shared)
{
    constexpr int STRIDE = TILE + 4;
    __syncwarp();
    for (int i = 0; i < TILE / 2; i++)
        shared[part_row() * STRIDE + threadIdx.x % WARP / TILE * (TILE / 2) + i] = factor;
    __syncwarp();
#pragma unroll
    for (int tile = 0; tile < D / TILE; tile++)
        times(to[tile], shared, STRIDE);
}

template <typename T, int D, int ROWS, int COLUMNS>
static __global__ void __launch_bounds__(ROWS *WARP / TILE) attend(const struct attention<T> at)
{
    using shape = layout<T, D, ROWS, COLUMNS>;
    extern __shared__ __align__(128) char memory[];
    const struct rows rows(at.heads, at.texts[blockIdx.z], blockIdx.y);
    int first = (divide_up(rows.count, ROWS) - 1 - (int)blockIdx.x) * ROWS; /* those that see the most keys begin */
    if (first < 0)
        return;
    int warp = threadIdx.x / WARP, left = min(ROWS, rows.count - first), keys = rows.seen(first + left - 1);
    int warp_first = warp * TILE, warp_left = left - warp_first,
        seen = rows.seen(first + min(warp_first + part_row(), left - 1));
    T *q = (T *)memory, *k = (T *)(memory + shape::own), *v = (T *)(memory + shape::own + shape::other);
    float *scores = (float *)(memory + shape::own + 2 * shape::other) + warp_first * score_stride<COLUMNS>;
    T *weights = (T *)(memory + shape::own + 2 * shape::other + shape::scores) + warp_first * tile_stride<T, COLUMNS>;
    sums<T> result[D / TILE];
    float largest = -INFINITY, total = 0;
#pragma unroll
    for (int tile = 0; tile < D / TILE; tile++)
        clear(result[tile]);
    load_rows<T, D, ROWS>(q, at.q, [&](int r) { return rows.place(first + r) * rows.d; }, left, rows.d, at.vectors);
    for (int key = 0; key < keys; key += COLUMNS) {
        __syncthreads();
        load_rows<T, D, COLUMNS>(
            k, at.k, [&](int r) { return rows.k_offset(key + r); }, keys - key, rows.d, at.vectors);
        load_rows<T, D, COLUMNS>(
            v, at.v, [&](int r) { return rows.v_offset(key + r, at.v_stride); }, keys - key, rows.d, at.vectors);
        __syncthreads();
        if (warp_left <= 0)
            continue;
        part<COLUMNS> mine = scores_of<T, D, COLUMNS>(q + warp_first * tile_stride<T, D>, k, scores);
        float before = largest;
#pragma unroll
        for (int i = 0; i < COLUMNS / 2; i++) {
            mine.x[i] = key + part_column(i) < seen ? mine.x[i] * at.scale : -INFINITY;
            largest = fmaxf(largest, mine.x[i]);
        }
        largest = fmaxf(largest, __shfl_xor_sync(0xffffffffU, largest, TILE));
        float factor = exponential<T>(before - largest), sum = 0;
#pragma unroll
        for (int i = 0; i < COLUMNS / 2; i++) {
            mine.x[i] = exponential<T>(mine.x[i] - largest);
            sum += mine.x[i];
        }
        total = total * factor + sum + __shfl_xor_sync(0xffffffffU, sum, TILE);
        write_part<T, COLUMNS>(weights, mine);
        if (__any_sync(0xffffffffU, factor != 1))
            scale_rows<T, D>(result, factor, scores);
        add_product<COLUMNS, D, false>(result, weights, tile_stride<T, COLUMNS>, v, tile_stride<T, D>);
    }
    if (warp_left <= 0)
        return;
    scale_rows<T, D>(result, 1 / total, scores);
    write_rows<T, D>(
        at.to, [&](int r) { return rows.place(first + warp_first + r) * rows.d; }, warp_left, rows.d, result, scores);
    if (at.sums && threadIdx.x % WARP < TILE && part_row() < warp_left)
        at.sums[rows.place(first + warp_first + part_row())] = largest + logf(total);
}

const struct lm_text *lm_cuda_texts(struct lm_cuda *cuda, const struct lm_attention *shape)
{
    size_t bytes = (size_t)shape->count * sizeof *shape->texts;
    if (shape->count == cuda->text_count && memcmp(cuda->host_texts, shape->texts, bytes) == 0)
        return cuda->texts;
    if (shape->count > cuda->text_room) {
        CHECK(cudaFree(cuda->texts));
        CHECK(cudaMalloc(&cuda->texts, bytes));
        cuda->host_texts = (struct lm_text *)realloc(cuda->host_texts, bytes);
        if (!cuda->host_texts)
            abort();
        cuda->text_room = shape->count;
    }
    memcpy(cuda->host_texts, shape->texts, bytes);
    cuda->text_count = shape->count;
    cuda->operations.upload(&cuda->plugin.backend, cuda->texts, cuda->host_texts, (int64_t)bytes);
    return cuda->texts;
}

int lm_cuda_most_rows(const struct lm_attention *shape)
{
    int most = 0;
    for (int t = 0; t < shape->count; t++)
        most = shape->texts[t].queries > most ? shape->texts[t].queries : most;
    return most * (shape->heads.heads / shape->heads.kv_heads);
}

int lm_cuda_most_keys(const struct lm_attention *shape)
{
    int most = 0;
    for (int t = 0; t < shape->count; t++)
        most = shape->texts[t].keys > most ? shape->texts[t].keys : most;
    return most;
}

template <typename T, int D, int ROWS, int COLUMNS>
static void launch(struct lm_cuda *cuda, const struct attention<T> &at, const struct lm_attention *shape)
{
    using sizes = layout<T, D, ROWS, COLUMNS>;
    constexpr int bytes = sizes::own + 2 * sizes::other + sizes::scores + sizes::weights;
    dim3 grid(divide_up(lm_cuda_most_rows(shape), ROWS), shape->heads.kv_heads, shape->count);
    CHECK(cudaFuncSetAttribute(attend<T, D, ROWS, COLUMNS>, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes));
    attend<T, D, ROWS, COLUMNS><<<grid, ROWS * WARP / TILE, bytes, cuda->stream>>>(at);
    CHECK(cudaGetLastError());
}

template <typename T>
static void attention_forward(struct lm_backend *backend, void *out, float *sums, const void *q, const void *k,
                              const void *v, int v_stride, const struct lm_attention *shape)
{
    struct lm_cuda *cuda = lm_cuda_of(backend);
    struct attention<T> at = {
    };
    int d = shape->heads.size;
    if (shape->count == 0)
        return;
    at.heads = shape->heads;
    at.texts = lm_cuda_texts(cuda, shape);
    at.q = (const T *)q;
    at.k = (const T *)k;
    at.v = (const T *)v;
    at.to = (T *)out;
    at.sums = sums;
    at.v_stride = v_stride;
    at.scale = 1 / sqrtf((float)d);
    at.vectors = wide<T>(q, d, d) && wide<T>(k, d, d) && wide<T>(v, d, v_stride);
    if (d <= 64)
        launch<T, 64, block<T>, block<T>>(cuda, at, shape);
    else if (d <= 128)
        launch<T, 128, block<T>, block<T>>(cuda, at, shape);
    else
        launch<T, 256, block<T> / 2, block<T> / 2>(cuda, at, shape);
}

void lm_cuda_attention_operations(struct lm_operations *to, bool is_bf16)
{
    if (is_bf16)
        to->attention = attention_forward<bf16>;
    else
        to->attention = attention_forward<float>;
}
