/* Attention's gradient: with p the softmax, made again from the sums that the way there kept,
 *   dv = p^T dout,   ds = scale * p * (dout v^T - delta),   dq = ds k,   dk = ds^T q,   delta the sums of dout * out.
 * Blocks of keys go over the rows that see them for dk and dv, blocks of rows over the keys for dq: each makes p again, and no two
 * add to the same number. */
#include "lm/cuda/attention.cuh"

enum { DELTA_WARPS = 8 };

template <typename T>
static __global__ void sum_deltas(float *deltas, const T *dout, const T *out, int64_t count, int d)
{
    int64_t row = (int64_t)blockIdx.x * DELTA_WARPS + threadIdx.x / WARP;
    if (row >= count)
        return;
    float sum = 0;
    for (int j = threadIdx.x % WARP; j < d; j += WARP)
        sum += number(dout[row * d + j]) * number(out[row * d + j]);
    sum = warp_sum(sum);
    if (threadIdx.x % WARP == 0)
        deltas[row] = sum;
}

template <typename T, int D, int ROWS, int COLUMNS>
static __global__ void __launch_bounds__(ROWS *WARP / TILE) keys_back(const struct attention<T> at)
{
    using shape = layout<T, D, ROWS, COLUMNS>;
    extern __shared__ __align__(128) char memory[];
    __shared__ float row_sums[COLUMNS], deltas[COLUMNS];
    __shared__ int seen[COLUMNS];
    const struct rows rows(at.heads, at.texts[blockIdx.z], blockIdx.y);
    int first = blockIdx.x * ROWS, left = rows.text.keys - first, warp = threadIdx.x / WARP, warp_first = warp * TILE;
    if (left <= 0)
        return;
    T *k = (T *)memory, *v = (T *)(memory + shape::own), *q = (T *)(memory + 2 * shape::own);
    T *dout = (T *)(memory + 2 * shape::own + shape::other);
    float *scores = (float *)(memory + 2 * shape::own + 2 * shape::other) + warp_first * score_stride<COLUMNS>;
    T *weights =
        (T *)(memory + 2 * shape::own + 2 * shape::other + shape::scores) + warp_first * tile_stride<T, COLUMNS>;
    sums<T> dk[D / TILE], dv[D / TILE];
#pragma unroll
    for (int tile = 0; tile < D / TILE; tile++) {
        clear(dk[tile]);
        clear(dv[tile]);
    }
    load_rows<T, D, ROWS>(k, at.k, [&](int r) { return rows.k_offset(first + r); }, left, rows.d, at.vectors);
    load_rows<T, D, ROWS>(
        v, at.v, [&](int r) { return rows.v_offset(first + r, at.v_stride); }, left, rows.d, at.vectors);
    for (int row = rows.first(first) / COLUMNS * COLUMNS; row < rows.count; row += COLUMNS) {
        __syncthreads();
        load_rows<T, D, COLUMNS>(
            q, at.q, [&](int r) { return rows.place(row + r) * rows.d; }, rows.count - row, rows.d, at.vectors);
        load_rows<T, D, COLUMNS>(
            dout, at.dout, [&](int r) { return rows.place(row + r) * rows.d; }, rows.count - row, rows.d, at.vectors);
        for (int r = threadIdx.x; r < COLUMNS; r += blockDim.x) {
            bool there = row + r < rows.count;
            row_sums[r] = there ? at.sums[rows.place(row + r)] : 0;
            deltas[r] = there ? at.deltas[rows.place(row + r)] : 0;
            seen[r] = there ? rows.seen(row + r) : 0;
        }
        __syncthreads();
        int key = first + warp_first + part_row();
        part<COLUMNS> p = scores_of<T, D, COLUMNS>(k + warp_first * tile_stride<T, D>, q, scores);
#pragma unroll
        for (int i = 0; i < COLUMNS / 2; i++) {
            int r = part_column(i);
            p.x[i] = key < seen[r] ? exponential<T>(p.x[i] * at.scale - row_sums[r]) : 0;
        }
        write_part<T, COLUMNS>(weights, p);
        add_product<COLUMNS, D, false>(dv, weights, tile_stride<T, COLUMNS>, dout, tile_stride<T, D>);
        part<COLUMNS> dp = scores_of<T, D, COLUMNS>(v + warp_first * tile_stride<T, D>, dout, scores);
#pragma unroll
        for (int i = 0; i < COLUMNS / 2; i++)
            p.x[i] *= at.scale * (dp.x[i] - deltas[part_column(i)]);
        write_part<T, COLUMNS>(weights, p);
        add_product<COLUMNS, D, false>(dk, weights, tile_stride<T, COLUMNS>, q, tile_stride<T, D>);
    }
    write_rows<T, D>(
        at.dk, [&](int r) { return rows.k_offset(first + warp_first + r); }, left - warp_first, rows.d, dk, scores);
    write_rows<T, D>(
        at.dv, [&](int r) { return rows.v_offset(first + warp_first + r, at.dv_stride); }, left - warp_first, rows.d,
        dv, scores);
}

template <typename T, int D, int ROWS, int COLUMNS>
static __global__ void __launch_bounds__(ROWS *WARP / TILE) queries_back(const struct attention<T> at)
{
    using shape = layout<T, D, ROWS, COLUMNS>;
    extern __shared__ __align__(128) char memory[];
    const struct rows rows(at.heads, at.texts[blockIdx.z], blockIdx.y);
    int first = (divide_up(rows.count, ROWS) - 1 - (int)blockIdx.x) * ROWS; /* those that see the most keys begin */
    if (first < 0)
        return;
    int warp_first = threadIdx.x / WARP * TILE, left = min(ROWS, rows.count - first),
        keys = rows.seen(first + left - 1);
    int mine = first + min(warp_first + part_row(), left - 1), seen = rows.seen(mine);
    float row_sum = at.sums[rows.place(mine)], delta = at.deltas[rows.place(mine)];
    T *q = (T *)memory, *dout = (T *)(memory + shape::own), *k = (T *)(memory + 2 * shape::own);
    T *v = (T *)(memory + 2 * shape::own + shape::other);
    float *scores = (float *)(memory + 2 * shape::own + 2 * shape::other) + warp_first * score_stride<COLUMNS>;
    T *weights =
        (T *)(memory + 2 * shape::own + 2 * shape::other + shape::scores) + warp_first * tile_stride<T, COLUMNS>;
    sums<T> dq[D / TILE];
#pragma unroll
    for (int tile = 0; tile < D / TILE; tile++)
        clear(dq[tile]);
    load_rows<T, D, ROWS>(q, at.q, [&](int r) { return rows.place(first + r) * rows.d; }, left, rows.d, at.vectors);
    load_rows<T, D, ROWS>(
        dout, at.dout, [&](int r) { return rows.place(first + r) * rows.d; }, left, rows.d, at.vectors);
    for (int key = 0; key < keys; key += COLUMNS) {
        __syncthreads();
        load_rows<T, D, COLUMNS>(
            k, at.k, [&](int r) { return rows.k_offset(key + r); }, keys - key, rows.d, at.vectors);
        load_rows<T, D, COLUMNS>(
            v, at.v, [&](int r) { return rows.v_offset(key + r, at.v_stride); }, keys - key, rows.d, at.vectors);
        __syncthreads();
        part<COLUMNS> p = scores_of<T, D, COLUMNS>(q + warp_first * tile_stride<T, D>, k, scores);
#pragma unroll
        for (int i = 0; i < COLUMNS / 2; i++)
            p.x[i] = key + part_column(i) < seen ? exponential<T>(p.x[i] * at.scale - row_sum) : 0;
        part<COLUMNS> dp = scores_of<T, D, COLUMNS>(dout + warp_first * tile_stride<T, D>, v, scores);
#pragma unroll
        for (int i = 0; i < COLUMNS / 2; i++)
            p.x[i] *= at.scale * (dp.x[i] - delta);
        write_part<T, COLUMNS>(weights, p);
        add_product<COLUMNS, D, false>(dq, weights, tile_stride<T, COLUMNS>, k, tile_stride<T, D>);
    }
    write_rows<T, D>(
        at.dq, [&](int r) { return rows.place(first + warp_first + r) * rows.d; }, left - warp_first, rows.d, dq,
        scores);
}

template <typename T, int D, int ROWS, int COLUMNS>
static void launch(struct lm_cuda *cuda, const struct attention<T> &at, const struct lm_attention *shape)
{
    using sizes = layout<T, D, ROWS, COLUMNS>;
    constexpr int bytes = 2 * sizes::own + 2 * sizes::other + sizes::scores + sizes::weights,
                  threads = ROWS * WARP / TILE;
    dim3 keys(divide_up(lm_cuda_most_keys(shape), ROWS), shape->heads.kv_heads, shape->count);
    dim3 rows(divide_up(lm_cuda_most_rows(shape), ROWS), shape->heads.kv_heads, shape->count);
    CHECK(cudaFuncSetAttribute(keys_back<T, D, ROWS, COLUMNS>, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes));
    CHECK(cudaFuncSetAttribute(queries_back<T, D, ROWS, COLUMNS>, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes));
    keys_back<T, D, ROWS, COLUMNS><<<keys, threads, bytes, cuda->stream>>>(at);
    CHECK(cudaGetLastError());
    queries_back<T, D, ROWS, COLUMNS><<<rows, threads, bytes, cuda->stream>>>(at);
    CHECK(cudaGetLastError());
}

template <typename T>
static void attention_back(struct lm_backend *backend, void *dq, void *dk, void *dv, int dv_stride, const void *dout,
                           const void *out, const float *sums, const void *q, const void *k, const void *v,
                           int v_stride, const struct lm_attention *shape)
{
    struct lm_cuda *cuda = lm_cuda_of(backend);
    struct attention<T> at = {
    };
    int d = shape->heads.size;
    int64_t count = (int64_t)shape->heads.n * shape->heads.heads;
    if (shape->count == 0 || count == 0)
        return;
    at.heads = shape->heads;
    at.texts = lm_cuda_texts(cuda, shape);
    at.q = (const T *)q;
    at.k = (const T *)k;
    at.v = (const T *)v;
    at.out = (const T *)out;
    at.dout = (const T *)dout;
    at.dq = (T *)dq;
    at.dk = (T *)dk;
    at.dv = (T *)dv;
    at.sums = (float *)sums;
    at.deltas = (float *)lm_cuda_scratch(cuda, count * (int64_t)sizeof(float));
    at.v_stride = v_stride;
    at.dv_stride = dv_stride;
    at.scale = 1 / sqrtf((float)d);
    at.vectors = wide<T>(q, d, d) && wide<T>(k, d, d) && wide<T>(dout, d, d) && wide<T>(v, d, v_stride);
    sum_deltas<T>
        <<<divide_up(count, DELTA_WARPS), DELTA_WARPS * WARP, 0, cuda->stream>>>(at.deltas, at.dout, at.out, count, d);
    CHECK(cudaGetLastError());
    if (d <= 64)
        launch<T, 64, block<T>, block<T>>(cuda, at, shape);
    else if (d <= 128)
        launch<T, 128, block<T>, block<T>>(cuda, at, shape);
    else
        launch<T, 256, block<T> / 2, block<T> / 2>(cuda, at, shape);
}

void lm_cuda_attention_back_operations(struct lm_operations *to, bool is_bf16)
{
    if (is_bf16)
        to->attention_back = attention_back<bf16>;
    else
        to->attention_back = attention_back<float>;
}
