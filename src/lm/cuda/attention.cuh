/* What attention does there and back, in tiles of 16 x 16.
 *
 * The queries of a text in the heads that share keys are the rows of one matrix: row r is query r / G in the group's head r % G. A block
 * has ROWS of them (or of keys) and goes over the others by COLUMNS; a warp has 16 of the block's rows, whose results stay in its
 * registers. Scores exist for 16 rows and COLUMNS of a warp at a time, in shared memory. Products of bfloat16 go to the tensor cores;
 * those of float32, which are there to be exact, do not. */
#ifndef LM_CUDA_ATTENTION_CUH
#define LM_CUDA_ATTENTION_CUH

#include "lm/cuda.h"
#include "lm/cuda/device.cuh"

#include <mma.h>

enum { TILE = 16 };

template <typename T> struct attention {
    struct lm_heads heads;
    const struct lm_text *texts;
    const T *q, *k, *v, *out, *dout;
    T *to, *dq, *dk, *dv; /* to: the result */
    float *sums, *deltas; /* (queries, H); deltas: the sums of dout * out */
    int v_stride, dv_stride;
    float scale;
    bool vectors; /* everything lies by 16 bytes */
};

/* The texts on the device, where they stay from a layer to the next. */
const struct lm_text *lm_cuda_texts(struct lm_cuda *cuda, const struct lm_attention *shape);
/* The most rows, and the most keys, of a text. */
int lm_cuda_most_rows(const struct lm_attention *shape);
int lm_cuda_most_keys(const struct lm_attention *shape);

/* ---- Tiles of sums */

template <typename T> struct sums {
    nvcuda::wmma::fragment<nvcuda::wmma::accumulator, TILE, TILE, TILE, float> tile;
};
template <> struct sums<float> {
    float x[8]; /* of row lane / 2, from column lane % 2 * 8 */
};

static __device__ void clear(sums<bf16> &to)
{
    nvcuda::wmma::fill_fragment(to.tile, 0.0F);
}
static __device__ void clear(sums<float> &to)
{
#pragma unroll
    for (int i = 0; i < 8; i++)
        to.x[i] = 0;
}

static __device__ void store_tile(float *to, int stride, const sums<bf16> &from)
{
    nvcuda::wmma::store_matrix_sync(to, from.tile, stride, nvcuda::wmma::mem_row_major);
}
static __device__ void store_tile(float *to, int stride, const sums<float> &from)
{
    int lane = threadIdx.x % WARP;
#pragma unroll
    for (int i = 0; i < 8; i++)
        to[lane / 2 * stride + lane % 2 * 8 + i] = from.x[i];
}

/* Times the numbers at the same places of a tile in memory: which place a lane's numbers have, tensor cores do not say. */
static __device__ void times(sums<bf16> &to, const float *factors, int stride)
{
    nvcuda::wmma::fragment<nvcuda::wmma::accumulator, TILE, TILE, TILE, float> tile;
    nvcuda::wmma::load_matrix_sync(tile, factors, stride, nvcuda::wmma::mem_row_major);
#pragma unroll
    for (int i = 0; i < (int)tile.num_elements; i++)
        to.tile.x[i] *= tile.x[i];
}
static __device__ void times(sums<float> &to, const float *factors, int stride)
{
    int lane = threadIdx.x % WARP;
#pragma unroll
    for (int i = 0; i < 8; i++)
        to.x[i] *= factors[lane / 2 * stride + lane % 2 * 8 + i];
}

/* to (16, COLUMNS) += a (16, INNER) b, b (INNER, COLUMNS), or turned over: (COLUMNS, INNER). */
template <int INNER, int COLUMNS, bool TURNED>
static __device__ void add_product(sums<bf16> (&to)[COLUMNS / TILE], const bf16 *a, int a_stride, const bf16 *b,
                                   int b_stride)
{
    using namespace nvcuda::wmma;
    using order = std::conditional_t<TURNED, col_major, row_major>;
#pragma unroll 2 /* more would take registers that the sums need */
    for (int k = 0; k < INNER; k += TILE) {
        fragment<matrix_a, TILE, TILE, TILE, bf16, row_major> left;
        load_matrix_sync(left, a + k, a_stride);
#pragma unroll
        for (int n = 0; n < COLUMNS; n += TILE) {
            fragment<matrix_b, TILE, TILE, TILE, bf16, order> right;
            load_matrix_sync(right, TURNED ? b + n * b_stride + k : b + k * b_stride + n, b_stride);
            mma_sync(to[n / TILE].tile, left, right, to[n / TILE].tile);
        }
    }
}
template <int INNER, int COLUMNS, bool TURNED>
static __device__ void add_product(sums<float> (&to)[COLUMNS / TILE], const float *a, int a_stride, const float *b,
                                   int b_stride)
{
    int lane = threadIdx.x % WARP;
    for (int k = 0; k < INNER; k++) {
        float left = a[lane / 2 * a_stride + k];
#pragma unroll
        for (int n = 0; n < COLUMNS; n += TILE)
#pragma unroll
            for (int i = 0; i < 8; i++) {
                int column = n + lane % 2 * 8 + i;
                to[n / TILE].x[i] =
                    fmaf(left, TURNED ? b[column * b_stride + k] : b[k * b_stride + column], to[n / TILE].x[i]);
            }
    }
}

/* ---- Shared memory
 *
 * Rows are 16 bytes longer than they need be, so that rows below each other begin in different banks. */

/* Rows and columns of a block, half as many where heads are longer than 128: less than 100 KB in all. */
template <typename T> constexpr int block = sizeof(T) == sizeof(float) ? 32 : 64;

template <typename T, int D> constexpr int tile_stride = D + widest<T>;
template <int COLUMNS> constexpr int score_stride = COLUMNS + 4;

template <typename T, int D, int ROWS, int COLUMNS> struct layout {
    static constexpr int own = ROWS * tile_stride<T, D> * (int)sizeof(T); /* a tile of the block's rows */
    static constexpr int other = COLUMNS * tile_stride<T, D> * (int)sizeof(T);
    static constexpr int scores = ROWS * score_stride<COLUMNS> * (int)sizeof(float);
    static constexpr int weights = ROWS * tile_stride<T, COLUMNS> * (int)sizeof(T);
};

/* to (ROWS, D) = `rows` rows of d elements, row r from offset(r) on; the rest 0. */
template <typename T, int D, int ROWS, typename Offset>
static __device__ void load_rows(T *to, const T *from, Offset offset, int rows, int d, bool vectors)
{
    constexpr int W = widest<T>, CHUNKS = D / W;
    for (int i = threadIdx.x; i < ROWS * CHUNKS; i += blockDim.x) {
        int r = i / CHUNKS, column = i % CHUNKS * W;
        vector<T, W> chunk;
        if (vectors && r < rows && column < d) {
            chunk = load<W>(from + offset(r) + column);
        } else {
#pragma unroll
            for (int j = 0; j < W; j++)
                if (r < rows && column + j < d)
                    chunk.x[j] = from[offset(r) + column + j];
                else
                    put(&chunk.x[j], 0);
        }
        store<W>(to + r * tile_stride<T, D> + column, chunk);
    }
}

/* A warp's 16 rows of results, through 16 x 16 floats of shared memory. */
template <typename T, int D, typename Offset>
static __device__ void write_rows(T *to, Offset offset, int rows, int d, const sums<T> (&from)[D / TILE], float *shared)
{
    constexpr int STRIDE = TILE + 4;
    int lane = threadIdx.x % WARP, row = lane / 2;
#pragma unroll
    for (int tile = 0; tile < D / TILE; tile++) {
        __syncwarp();
        store_tile(shared, STRIDE, from[tile]);
        __syncwarp();
        for (int i = 0; i < 8; i++) {
            int column = lane % 2 * 8 + i;
            if (row < rows && tile * TILE + column < d)
                put(to + offset(row) + tile * TILE + column, shared[row * STRIDE + column]);
        }
    }
}

/* ---- Scores
 *
 * Of a warp's row lane % 16 a lane has every other four columns: those from lane / 16 * 4 on. */

template <int COLUMNS> struct part {
    float x[COLUMNS / 2];
};

static __device__ int part_row()
{
    return threadIdx.x % TILE;
}
static __device__ int part_column(int i)
{
    return i / 4 * 8 + threadIdx.x % WARP / TILE * 4 + i % 4;
}

/* The scores a (16, D) b (COLUMNS, D)^T of a warp, by way of its shared memory. */
template <typename T, int D, int COLUMNS>
static __device__ part<COLUMNS> scores_of(const T *a, const T *b, float *shared)
{
    sums<T> scores[COLUMNS / TILE];
#pragma unroll
    for (int n = 0; n < COLUMNS / TILE; n++)
        clear(scores[n]);
    add_product<D, COLUMNS, true>(scores, a, tile_stride<T, D>, b, tile_stride<T, D>);
    __syncwarp();
#pragma unroll
    for (int n = 0; n < COLUMNS / TILE; n++)
        store_tile(shared + n * TILE, score_stride<COLUMNS>, scores[n]);
    __syncwarp();
    part<COLUMNS> mine;
#pragma unroll
    for (int i = 0; i < COLUMNS / 2; i += 4) {
        float4 four = *(const float4 *)(shared + part_row() * score_stride<COLUMNS> + part_column(i));
        mine.x[i] = four.x;
        mine.x[i + 1] = four.y;
        mine.x[i + 2] = four.z;
        mine.x[i + 3] = four.w;
    }
    return mine;
}

/* Writes a warp's numbers as elements, for a product's left side. */
template <typename T, int COLUMNS> static __device__ void write_part(T *to, const part<COLUMNS> &from)
{
    __syncwarp();
#pragma unroll
    for (int i = 0; i < COLUMNS / 2; i += 4) {
        vector<T, 4> four;
#pragma unroll
        for (int j = 0; j < 4; j++)
            put(&four.x[j], from.x[i + j]);
        store<4>(to + part_row() * tile_stride<T, COLUMNS> + part_column(i), four);
    }
    __syncwarp();
}

template <typename T> static __device__ float exponential(float x)
{
    return sizeof(T) == sizeof(float) ? expf(x) : __expf(x);
}

/* ---- Texts */

/* The rows of a text in the heads that share head `kv` of keys. */
struct rows {
    struct lm_text text;
    int kv, group, heads, kv_heads, d;
    int count;

    __device__ rows(const struct lm_heads &shape, const struct lm_text &of, int kv_head)
        : text(of), kv(kv_head), group(shape.heads / shape.kv_heads), heads(shape.heads), kv_heads(shape.kv_heads),
          d(shape.size), count(of.queries * (shape.heads / shape.kv_heads))
    {
    }
    /* Where row r is among all queries' heads, (queries, H). */
    __device__ int64_t place(int r) const
    {
        return (int64_t)(text.query + r / group) * heads + kv * group + r % group;
    }
    /* How many keys it sees. */
    __device__ int seen(int r) const
    {
        return text.keys - text.queries + r / group + 1;
    }
    /* The first row that sees a key. */
    __device__ int first(int key) const
    {
        int before = text.keys - text.queries;
        return key > before ? (key - before) * group : 0;
    }
    __device__ int64_t k_offset(int key) const
    {
        return ((text.key + key) * kv_heads + kv) * d;
    }
    __device__ int64_t v_offset(int key, int stride) const
    {
        return (text.key + key) * stride + (int64_t)kv * d;
    }
};

#endif
