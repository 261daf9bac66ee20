/* Products of matrices by instructions for bfloat16, whose sums are float32: with AMX several times as many a second. Either both operands are rounded,
 * or each number is taken as the sum of three bfloat16, the nearest one and twice the nearest one to what is left, which is all of its 24 bits. Of the
 * nine products of such parts the six largest are summed; the others are less than a float32 product's rounding, so that the result is as near as
 * oneDNN's in float32 (unit/lm/product_test). Numbers below 1e-33 lose bits, and what is infinite makes NaN. oneDNN's own bfloat16 takes longer:
 * it lays operands out again in each call, and only for some shapes takes them as they are best read.
 * The second operand is laid out into room of the backend's by all workers, in panels of columns, for it may be a vocabulary's. Then each worker lays out
 * some rows of the first one, as many as stay in a near cache, and multiplies them with all of the panel. */
#include "base/memory.h"
#include "lm/cpu_internal.h"

#include <dnnl.h>
#include <stdlib.h>
#ifdef __x86_64__
#include <immintrin.h>
#endif

enum { LANES = 16, DEEP = 32, ACROSS = 32, STRIP = 32, PARTS = 3 };
/* Products of fewer rows are oneDNN's, and in three parts those that are short or narrow. */
enum { FEWEST_ROWS = 64, FEWEST_SPLIT = 256, SHORTEST_SPLIT = 64 };
/* Numbers of bfloat16: of a panel; what a near cache has room for; of a row at a time; columns that are turned together. */
enum { PANEL = 12 << 20, NEAR = 256 << 10, LONGEST = 2048, LONGEST_SPLIT = 768, TOGETHER = 256 };

/* c (rows, columns) = alpha * a b + keep * c, of at most STRIP rows and ACROSS columns, of operands laid out as below. */
struct strip {
    const uint16_t *a, *b;
    int64_t deep;
    float *c;
    int64_t c_stride;
    int rows, columns;
    float alpha;
    bool keep;
    /* What comes next, which is fetched meanwhile: `lines` cache lines for each DEEP numbers, and the next strip of c. */
    const uint16_t *next_b;
    int lines;
    const float *next_c;
};
struct lm_cpu_bf16 {
    void (*multiply)(const struct strip *strip);
    bool tiles; /* AMX's */
    int parts;  /* of a number: 1 or PARTS */
    uint16_t *panel;
    int64_t panel_size;
};

bool lm_cpu_has_bf16(void)
{
    switch (dnnl_get_effective_cpu_isa()) {
    case dnnl_cpu_isa_avx512_core_bf16:
    case dnnl_cpu_isa_avx512_core_amx:
        return true;
    default:
        return false;
    }
}

void lm_cpu_bf16_free(struct lm_cpu_bf16 *bf16)
{
    if (!bf16)
        return;
    free(bf16->panel);
    free(bf16);
}

static uint16_t *panel_of(struct lm_cpu_bf16 *bf16, int64_t count)
{
    if (bf16->panel_size < count) {
        free(bf16->panel);
        bf16->panel_size = count;
        bf16->panel = memory_vectors((size_t)count * sizeof *bf16->panel);
        if (!bf16->panel)
            memory_exhausted((size_t)count * sizeof *bf16->panel);
    }
    return bf16->panel;
}

/* ---- Rounding and laying out, by 16 floats */

#ifdef __x86_64__ /* which lm_cpu_has_bf16 has found */
#define WIDE __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,avx512bf16")))
#else
#define WIDE
#endif
typedef float floats __attribute__((vector_size(64), aligned(4)));
typedef __bf16 rounded __attribute__((vector_size(32)));
typedef uint16_t halves __attribute__((vector_size(32)));
typedef uint32_t wide __attribute__((vector_size(64)));
typedef uint32_t pairs __attribute__((vector_size(64), aligned(2), may_alias)); /* of bfloat16 */

/* `count` floats, and zeros up to 16. */
WIDE static inline __attribute__((always_inline)) floats load(const float *from, int64_t count)
{
    floats all = {0};
    if (count >= LANES)
        return *(const floats *)from;
    for (int64_t i = 0; i < count; i++)
        all[i] = from[i];
    return all;
}

/* To the nearest, ties to even; what is too small to be normal may become 0, as products take it anyway. */
WIDE static inline halves narrow(floats x)
{
    return (halves) __builtin_convertvector(x, rounded);
}

#define EVERY(f, h)                                                                                                    \
    f(0, h), f(1, h), f(2, h), f(3, h), f(4, h), f(5, h), f(6, h), f(7, h), f(8, h), f(9, h), f(10, h), f(11, h),      \
        f(12, h), f(13, h), f(14, h), f(15, h)

/* A number's parts. */
WIDE static inline __attribute__((always_inline)) void split(floats x, int parts, halves split[PARTS])
{
    for (int p = 0; p < parts; p++) {
        split[p] = narrow(x);
        x -= (floats)(__builtin_convertvector(split[p], wide) << 16);
    }
}

/* Asks for what is read soon: rows are too far from each other for the processor to foresee it. An address where nothing lies does no harm. */
static inline void fetch(const float *from)
{
    __builtin_prefetch(from);
}

/* Numbers 2 i of `even` and 2 i + 1 of `odd` beside each other. */
WIDE static inline pairs beside(halves even, halves odd)
{
#define BESIDE(i, unused) i, 16 + (i)
    return (pairs)__builtin_shufflevector(even, odd, EVERY(BESIDE, 0));
}

/* 32 numbers of a row, `count` of them there, by their parts. */
WIDE static inline __attribute__((always_inline)) void along(const float *from, int64_t count, int parts,
                                                             pairs to[PARTS])
{
#define ALONG(i, first) (first) + (i)
    halves low[PARTS], high[PARTS];
    split(load(from, count), parts, low);
    split(load(from + LANES, count - LANES), parts, high);
    for (int p = 0; p < parts; p++)
        to[p] = (pairs)__builtin_shufflevector(low[p], high[p], EVERY(ALONG, 0), EVERY(ALONG, 16));
}

/* Rows and columns change places: squares of 8, then of 4, 2 and 1 beside the diagonal. */
WIDE static inline __attribute__((always_inline)) void turn(pairs rows[LANES])
{
#define UPPER(i, h) ((i) & (h) ? 16 + (i) - (h) : (i))
#define LOWER(i, h) ((i) & (h) ? 16 + (i) : (i) + (h))
#define TURN(h)                                                                                                        \
    for (int i = 0; i < LANES; i++)                                                                                    \
        if (!(i & (h))) {                                                                                              \
            pairs a = rows[i], b = rows[i + (h)];                                                                      \
            rows[i] = __builtin_shufflevector(a, b, EVERY(UPPER, h));                                                  \
            rows[i + (h)] = __builtin_shufflevector(a, b, EVERY(LOWER, h));                                            \
        }
    TURN(8) TURN(4) TURN(2) TURN(1)
}

/* An operand: rows of floats as they lie, and where they go. */
struct narrowed {
    uint16_t *to;
    const float *from;
    int64_t rows, columns, stride;
    int parts;
    void (*lay)(const struct narrowed *, int64_t first, int64_t last);
    int64_t unit; /* what `lay` takes at least: rows first to before last, both multiples of it or the end */
};

static int64_t rounded_up(int64_t count, int64_t unit)
{
    return (count + unit - 1) / unit * unit;
}

/* Where a part of the first operand (m, k) goes: for STRIP rows, for DEEP numbers of each, a block of either for each part. Zeros up to a multiple of
 * DEEP; rows that are none are anything. */
static uint16_t *row_at(const struct narrowed *at, int64_t deep, int64_t row, int64_t k, int part)
{
    return at->to + ((row / STRIP * (rounded_up(deep, DEEP) / DEEP) + k / DEEP) * at->parts + part) * STRIP * DEEP +
           row % STRIP * DEEP;
}

WIDE static inline __attribute__((always_inline)) void lay_rows_by(const struct narrowed *at, int64_t first,
                                                                   int64_t last, int parts)
{
    for (int64_t row = first; row < last; row++) {
        const float *from = at->from + row * at->stride;
        uint16_t *to = row_at(at, at->columns, row, 0, 0);
        for (int64_t i = 0; i < at->columns; i += DEEP, to += (ptrdiff_t)parts * STRIP * DEEP) {
            pairs numbers[PARTS];
            fetch(from + i + at->stride); /* of the next row */
            fetch(from + i + at->stride + LANES);
            along(from + i, at->columns - i, parts, numbers);
            for (int p = 0; p < parts; p++)
                *(pairs *)(to + (ptrdiff_t)p * STRIP * DEEP) = numbers[p];
        }
    }
}

WIDE static void lay_rows(const struct narrowed *at, int64_t first, int64_t last)
{
    at->parts == 1 ? lay_rows_by(at, first, last, 1) : lay_rows_by(at, first, last, PARTS);
}

/* 16 pairs of rows from `row` on, columns from `column` on. */
WIDE static inline __attribute__((always_inline)) void
take_square(const struct narrowed *at, int64_t row, int64_t column, int parts, pairs square[PARTS][LANES])
{
    for (int64_t i = 0; i < LANES; i++, row += 2) {
        const float *from = at->from + row * at->stride + column;
        fetch(from + LANES); /* of the next square */
        fetch(from + LANES + at->stride);
        halves even[PARTS], odd[PARTS];
        split(load(from, row < at->rows ? at->columns - column : 0), parts, even);
        split(load(from + at->stride, row + 1 < at->rows ? at->columns - column : 0), parts, odd);
        for (int p = 0; p < parts; p++)
            square[p][i] = beside(even[p], odd[p]);
    }
}

/* The same of an operand that lies as (k, m), some columns of which come together, so that the pages of their rows are few. */
WIDE static inline __attribute__((always_inline)) void lay_turned_rows_by(const struct narrowed *at, int64_t first,
                                                                          int64_t last, int parts)
{
    for (int64_t left = 0; left < at->columns; left += TOGETHER)
        for (int64_t row = first; row < last; row += DEEP)
            for (int64_t column = left; column < at->columns && column < left + TOGETHER; column += LANES) {
                pairs square[PARTS][LANES];
                take_square(at, row, column, parts, square);
                for (int p = 0; p < parts; p++) {
                    turn(square[p]);
                    for (int64_t i = 0; i < LANES && column + i < at->columns; i++)
                        *(pairs *)row_at(at, at->rows, column + i, row, p) = square[p][i];
                }
            }
}

WIDE static void lay_turned_rows(const struct narrowed *at, int64_t first, int64_t last)
{
    at->parts == 1 ? lay_turned_rows_by(at, first, last, 1) : lay_turned_rows_by(at, first, last, PARTS);
}

/* The second operand (k, n): for 32 columns, for 32 rows, for each part a block of 16 times 32 pairs of numbers that lie under each other. Zeros where
 * it ends. */
static uint16_t *block(const struct narrowed *at, int64_t k, int64_t row, int64_t column, int part)
{
    return at->to + ((column / ACROSS * (rounded_up(k, DEEP) / DEEP) + row / DEEP) * at->parts + part) * DEEP * ACROSS +
           column % ACROSS * 2;
}

WIDE static inline __attribute__((always_inline)) void lay_blocks_by(const struct narrowed *at, int64_t first,
                                                                     int64_t last, int parts)
{
    int64_t columns = rounded_up(at->columns, ACROSS);
    for (int64_t row = first; row < last; row += DEEP)
        for (int64_t column = 0; column < columns; column += LANES) {
            pairs square[PARTS][LANES];
            take_square(at, row, column, parts, square);
            for (int p = 0; p < parts; p++)
                for (int64_t i = 0; i < LANES; i++)
                    *(pairs *)(block(at, at->rows, row, column, p) + i * 2 * ACROSS) = square[p][i];
        }
}

WIDE static void lay_blocks(const struct narrowed *at, int64_t first, int64_t last)
{
    at->parts == 1 ? lay_blocks_by(at, first, last, 1) : lay_blocks_by(at, first, last, PARTS);
}

/* The same of an operand that lies as (n, k). */
WIDE static inline __attribute__((always_inline)) void lay_turned_blocks_by(const struct narrowed *at, int64_t first,
                                                                            int64_t last, int parts)
{
    last = rounded_up(last, ACROSS);
    for (int64_t column = first; column < last; column += LANES)
        for (int64_t row = 0; row < at->columns; row += DEEP) {
            pairs square[PARTS][LANES];
            for (int64_t i = 0; i < LANES; i++) {
                const float *from = at->from + (column + i) * at->stride + row;
                pairs numbers[PARTS];
                fetch(from + DEEP); /* of the next square */
                fetch(from + DEEP + LANES);
                along(from, column + i < at->rows ? at->columns - row : 0, parts, numbers);
                for (int p = 0; p < parts; p++)
                    square[p][i] = numbers[p];
            }
            for (int p = 0; p < parts; p++) {
                turn(square[p]);
                for (int64_t i = 0; i < LANES; i++)
                    *(pairs *)(block(at, at->columns, row, column, p) + i * 2 * ACROSS) = square[p][i];
            }
        }
}

WIDE static void lay_turned_blocks(const struct narrowed *at, int64_t first, int64_t last)
{
    at->parts == 1 ? lay_turned_blocks_by(at, first, last, 1) : lay_turned_blocks_by(at, first, last, PARTS);
}

static struct narrowed first_operand(uint16_t *to, const float *a, int64_t m, int64_t k, int64_t stride, bool turned,
                                     int parts)
{
    return turned ? (struct narrowed){to, a, k, m, stride, parts, lay_turned_rows, DEEP}
                  : (struct narrowed){to, a, m, k, stride, parts, lay_rows, 1};
}

static struct narrowed second_operand(uint16_t *to, const float *b, int64_t k, int64_t n, int64_t stride, bool turned,
                                      int parts)
{
    return turned ? (struct narrowed){to, b, n, k, stride, parts, lay_turned_blocks, ACROSS}
                  : (struct narrowed){to, b, k, n, stride, parts, lay_blocks, DEEP};
}

int64_t lm_bf16_first_size(int64_t m, int64_t k)
{
    return rounded_up(m, STRIP) * rounded_up(k, DEEP);
}

int64_t lm_bf16_second_size(int64_t k, int64_t n)
{
    return rounded_up(k, DEEP) * rounded_up(n, ACROSS);
}

void lm_bf16_first(uint16_t *to, const float *a, int64_t m, int64_t k, int64_t stride, bool turned)
{
    const struct narrowed operand = first_operand(to, a, m, k, stride, turned, 1);
    operand.lay(&operand, 0, operand.rows);
}

void lm_bf16_second(uint16_t *to, const float *b, int64_t k, int64_t n, int64_t stride, bool turned)
{
    const struct narrowed operand = second_operand(to, b, k, n, stride, turned, 1);
    operand.lay(&operand, 0, operand.rows);
}

/* ---- Multiplying */

#ifdef __x86_64__
/* c = alpha * sums + keep * c, of some rows. */
WIDE static void put(const struct strip *strip, int row, int rows, const float *sums)
{
    for (int r = 0; r < rows && row + r < strip->rows; r++) {
        float *c = strip->c + (row + r) * strip->c_stride;
        for (int i = 0; i < strip->columns; i++)
            c[i] = strip->alpha * sums[r * ACROSS + i] + (strip->keep ? c[i] : 0);
    }
}

#define TILES __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,prfchw,amx-tile,amx-bf16")))

/* All eight tiles: 16 rows of 64 bytes. */
TILES static void begin_tiles(void)
{
    static const struct {
        uint8_t palette, start, none[14];
        uint16_t bytes[16];
        uint8_t rows[16];
    } shapes = {.palette = 1, .bytes = {64, 64, 64, 64, 64, 64, 64, 64}, .rows = {16, 16, 16, 16, 16, 16, 16, 16}};
    _tile_loadconfig(&shapes);
}

TILES static void end_tiles(void)
{
    _tile_release();
}

/* Two tiles by two, 0 to 3, with what tiles 4 to 7 hold: rows of a part of `a`, and columns of one of `b`. */
TILES static inline void take_rows(const uint16_t *a, int part)
{
    _tile_loadd(4, a + (ptrdiff_t)part * STRIP * DEEP, DEEP * 2);
    _tile_loadd(5, a + (ptrdiff_t)part * STRIP * DEEP + LANES * DEEP, DEEP * 2);
}

TILES static inline void take_columns(const uint16_t *b, int part)
{
    _tile_loadd(6, b + (ptrdiff_t)part * DEEP * ACROSS, ACROSS * 4);
    _tile_loadd(7, b + (ptrdiff_t)part * DEEP * ACROSS + DEEP, ACROSS * 4);
}

TILES static inline void add_tiles(void)
{
    _tile_dpbf16ps(0, 4, 6);
    _tile_dpbf16ps(1, 4, 7);
    _tile_dpbf16ps(2, 5, 6);
    _tile_dpbf16ps(3, 5, 7);
}

/* In step `step` of so many that a strip has. */
TILES static inline void fetch_next(const struct strip *strip, int64_t step, int64_t steps)
{
    enum { LINE = 64 / sizeof *strip->b };
    const uint16_t *b = strip->next_b + step * strip->lines * LINE;
    for (int i = 0; i < strip->lines; i++)
        __builtin_prefetch(b + (ptrdiff_t)i * LINE, 0, 2);
    for (int64_t row = STRIP * step / steps; row < STRIP * (step + 1) / steps; row++) {
        __builtin_prefetch(strip->next_c + row * strip->c_stride, 1, 2);
        __builtin_prefetch(strip->next_c + row * strip->c_stride + LANES, 1, 2);
    }
}

TILES static inline void sum_tiles(const struct strip *strip)
{
    const uint16_t *a = strip->a, *b = strip->b;
    for (int64_t k = 0; k < strip->deep; k += DEEP, a += (ptrdiff_t)STRIP * DEEP, b += (ptrdiff_t)DEEP * ACROSS) {
        fetch_next(strip, k / DEEP, strip->deep / DEEP);
        take_rows(a, 0);
        take_columns(b, 0);
        add_tiles();
    }
}

/* The same of three parts: the third with the first, the second with two, the first with all. In this order the parts of one number, times 1, make it again
 * without rounding, whichever operand it is of. */
TILES static inline void sum_split_tiles(const struct strip *strip)
{
    const uint16_t *a = strip->a, *b = strip->b;
    for (int64_t k = 0; k < strip->deep;
         k += DEEP, a += (ptrdiff_t)PARTS * STRIP * DEEP, b += (ptrdiff_t)PARTS * DEEP * ACROSS) {
        fetch_next(strip, k / DEEP, strip->deep / DEEP);
        take_rows(a, 2);
        take_columns(b, 0);
        add_tiles();
        take_rows(a, 1);
        add_tiles();
        take_columns(b, 1);
        add_tiles();
        take_rows(a, 0);
        add_tiles();
        take_columns(b, 0);
        add_tiles();
        take_columns(b, 2);
        add_tiles();
    }
}

TILES static inline __attribute__((always_inline)) void multiply_by(const struct strip *strip,
                                                                    void (*sum)(const struct strip *))
{
    float sums[STRIP * ACROSS];
    bool direct = strip->rows == STRIP && strip->columns == ACROSS && strip->alpha <= 1 && strip->alpha >= 1;
    float *to = direct ? strip->c : sums;
    int64_t stride = direct ? strip->c_stride : ACROSS;
    if (direct && strip->keep) {
        _tile_loadd(0, to, stride * 4);
        _tile_loadd(1, to + LANES, stride * 4);
        _tile_loadd(2, to + LANES * stride, stride * 4);
        _tile_loadd(3, to + LANES * stride + LANES, stride * 4);
    } else {
        _tile_zero(0);
        _tile_zero(1);
        _tile_zero(2);
        _tile_zero(3);
    }
    sum(strip);
    _tile_stored(0, to, stride * 4);
    _tile_stored(1, to + LANES, stride * 4);
    _tile_stored(2, to + LANES * stride, stride * 4);
    _tile_stored(3, to + LANES * stride + LANES, stride * 4);
    if (!direct)
        put(strip, 0, STRIP, sums);
}

TILES static void multiply_tiles(const struct strip *strip)
{
    multiply_by(strip, sum_tiles);
}

TILES static void multiply_split_tiles(const struct strip *strip)
{
    multiply_by(strip, sum_split_tiles);
}

/* Without tiles: some rows at a time, whose sums stay in registers, and so do the numbers of columns. */
enum { FEW = 8, ALL = ACROSS / LANES };
WIDE static inline __attribute__((always_inline)) void add_rows(const uint16_t *a, const uint16_t *b,
                                                                __m512 sums[FEW][ALL])
{
    __m512bh columns[ALL];
    for (int j = 0; j < ALL; j++)
        columns[j] = (__m512bh)_mm512_loadu_si512(b + (ptrdiff_t)j * 2 * LANES);
    for (int r = 0; r < FEW; r++) {
        int pair;
        __builtin_memcpy(&pair, a + r * DEEP, sizeof pair);
        for (int j = 0; j < ALL; j++)
            sums[r][j] = _mm512_dpbf16_ps(sums[r][j], (__m512bh)_mm512_set1_epi32(pair), columns[j]);
    }
}

WIDE static void multiply_rows(const struct strip *strip)
{
    for (int row = 0; row < strip->rows; row += FEW) {
        __m512 sums[FEW][ALL] = {0};
        float stored[FEW * ACROSS]; /* the address of `sums` itself would keep them in memory */
        const uint16_t *a = strip->a + row * DEEP, *b = strip->b;
        for (int r = 0; r < FEW; r++)
            for (int j = 0; j < ALL; j++)
                fetch(strip->c + (row + r) * strip->c_stride + (ptrdiff_t)j * LANES);
        for (int64_t k = 0; k < strip->deep; k += DEEP, a += (ptrdiff_t)STRIP * DEEP)
            for (int64_t i = 0; i < DEEP; i += 2, b += (ptrdiff_t)2 * ACROSS)
                add_rows(a + i, b, sums);
        for (int r = 0; r < FEW; r++)
            for (int j = 0; j < ALL; j++)
                _mm512_storeu_ps(stored + r * ACROSS + j * LANES, sums[r][j]);
        put(strip, row, FEW, stored);
    }
}

struct lm_cpu_bf16 *lm_cpu_bf16_new(void)
{
    struct lm_cpu_bf16 *bf16 = memory_alloc(sizeof *bf16);
    bf16->parts = 1;
    bf16->tiles = lm_cpu_has_tiles();
    bf16->multiply = bf16->tiles ? multiply_tiles : multiply_rows;
    return bf16;
}

struct lm_cpu_bf16 *lm_cpu_bf16_new_split(void)
{
    if (!lm_cpu_has_tiles())
        return NULL;
    struct lm_cpu_bf16 *bf16 = memory_alloc(sizeof *bf16);
    *bf16 = (struct lm_cpu_bf16){.multiply = multiply_split_tiles, .tiles = true, .parts = PARTS};
    return bf16;
}
#else
static void begin_tiles(void)
{
}

static void end_tiles(void)
{
}

struct lm_cpu_bf16 *lm_cpu_bf16_new(void)
{
    return NULL; /* lm_cpu_has_bf16 has said no */
}

struct lm_cpu_bf16 *lm_cpu_bf16_new_split(void)
{
    return NULL;
}
#endif

void lm_bf16_begin(const struct lm_cpu_bf16 *bf16)
{
    if (bf16 && bf16->tiles)
        begin_tiles();
}

void lm_bf16_end(const struct lm_cpu_bf16 *bf16)
{
    if (bf16 && bf16->tiles)
        end_tiles();
}

/* An operand as it was laid out, with `deep` numbers of each row (or column), of which a product begins with number `from`: multiples of DEEP. */
struct laid {
    const uint16_t *blocks;
    int64_t deep, from;
};

static void multiply_group(const struct lm_cpu_bf16 *bf16, const struct laid *a, const struct laid *b, int64_t m,
                           int64_t n, int64_t deep, float alpha, bool keep, float *c, int64_t c_stride)
{
    int64_t strips = (m + STRIP - 1) / STRIP, lines = (DEEP * ACROSS * bf16->parts / 32 + strips - 1) / strips;
    for (int64_t column = 0; column < n; column += ACROSS) {
        const uint16_t *columns = b->blocks + (column * b->deep + ACROSS * b->from) * bf16->parts,
                       *next = columns + (column + ACROSS < n ? ACROSS * b->deep * bf16->parts : 0);
        for (int64_t row = 0; row < m; row += STRIP, next += deep * lines) {
            float *at = c + row * c_stride + column;
            const struct strip strip = {.a = a->blocks + (row * a->deep + STRIP * a->from) * bf16->parts,
                                        .b = columns,
                                        .deep = deep,
                                        .c = at,
                                        .c_stride = c_stride,
                                        .rows = m - row < STRIP ? (int)(m - row) : STRIP,
                                        .columns = n - column < ACROSS ? (int)(n - column) : ACROSS,
                                        .alpha = alpha,
                                        .keep = keep,
                                        .next_b = next,
                                        .lines = (int)lines,
                                        .next_c = row + STRIP < m ? at + STRIP * c_stride : c + column + ACROSS};
            bf16->multiply(&strip);
        }
    }
}

/* How many numbers of a row are multiplied at a time, and of how many rows they stay in a near cache. */
static int64_t part_of(const struct lm_cpu_bf16 *bf16, int64_t k)
{
    int64_t longest = bf16->parts == 1 ? LONGEST : LONGEST_SPLIT, deep = rounded_up(k, DEEP),
            parts = (deep + longest - 1) / longest;
    return rounded_up((deep + parts - 1) / parts, DEEP);
}

static int64_t group_of(const struct lm_cpu_bf16 *bf16, int64_t m, int64_t part)
{
    int64_t most = NEAR / (part * bf16->parts) / STRIP * STRIP, groups = (m + most - 1) / most;
    return rounded_up((m + groups - 1) / groups, STRIP);
}

void lm_bf16_multiply(const struct lm_cpu_bf16 *bf16, const uint16_t *a, const uint16_t *b, int64_t b_rows, int64_t m,
                      int64_t n, int64_t k, float alpha, bool keep, float *c, int64_t c_stride)
{
    int64_t deep = rounded_up(k, DEEP), part = part_of(bf16, k), group = group_of(bf16, m, part);
    for (int64_t at = 0; at < deep; at += part)
        for (int64_t from = 0; from < m; from += group) {
            const struct laid rows = {a + from * deep, deep, at}, columns = {b, rounded_up(b_rows, DEEP), at};
            multiply_group(bf16, &rows, &columns, m - from < group ? m - from : group, n,
                           deep - at < part ? deep - at : part, alpha, keep || at, c + from * c_stride, c_stride);
        }
}

struct multiplied {
    struct lm_cpu *cpu;
    const struct lm_product *product; /* whose columns [first, first + columns) are computed */
    int64_t first, columns;
    struct narrowed panel;
};

static void narrow_part(void *closure, int worker, int workers)
{
    const struct multiplied *at = closure;
    int64_t first, last;
    team_share(at->panel.rows, at->panel.unit, worker, workers, &first, &last);
    if (first < last)
        at->panel.lay(&at->panel, first, last);
}

/* Rows [first, last) and columns [left, right) of the panel. */
static void multiply_rows_of(const struct multiplied *at, uint16_t *room, int64_t first, int64_t last, int64_t left,
                             int64_t right)
{
    const struct lm_product *p = at->product;
    const struct lm_cpu_bf16 *bf16 = at->cpu->products;
    int64_t deep = rounded_up(p->k, DEEP), part = part_of(bf16, p->k), group = group_of(bf16, p->m, part);
    for (int64_t k = 0; k < p->k; k += part)
        for (int64_t from = first; from < last; from += group) {
            int64_t rows = last - from < group ? last - from : group, length = p->k - k < part ? p->k - k : part;
            const float *a = p->a + (p->a_turned ? k * p->a_stride + from : from * p->a_stride + k);
            const struct narrowed operand = first_operand(room, a, rows, length, p->a_stride, p->a_turned, bf16->parts);
            const struct laid some = {room, rounded_up(length, DEEP), 0},
                              panel = {at->panel.to + left * deep * bf16->parts, deep, k};
            operand.lay(&operand, 0, operand.rows);
            multiply_group(bf16, &some, &panel, rows, right - left, rounded_up(length, DEEP), p->alpha,
                           p->beta > 0 || k, p->c + from * p->c_stride + at->first + left, p->c_stride);
        }
}

static void multiply_part(void *closure, int worker, int workers)
{
    const struct multiplied *at = closure;
    const struct lm_product *p = at->product;
    const struct lm_cpu_bf16 *bf16 = at->cpu->products;
    int64_t first = 0, last = p->m, left = 0, right = at->columns, part = part_of(bf16, p->k);
    if (lm_product_by_rows(p->m, at->columns, workers))
        team_share(p->m, STRIP, worker, workers, &first, &last);
    else
        team_share(at->columns, ACROSS, worker, workers, &left, &right);
    if (first >= last || left >= right)
        return;
    int64_t halves = group_of(bf16, p->m, part) * part * bf16->parts;
    float *room = lm_cpu_scratch(at->cpu, worker, halves / 2);
    lm_bf16_begin(bf16);
    multiply_rows_of(at, (uint16_t *)room, first, last, left, right);
    lm_bf16_end(bf16);
}

bool lm_product_is_bf16(const struct lm_cpu *cpu, const struct lm_product *p)
{
    if (!cpu->products || p->k <= 0 || p->n <= 0)
        return false;
    return cpu->products->parts == 1 ? p->m >= FEWEST_ROWS
                                     : p->m >= FEWEST_SPLIT && p->n >= SHORTEST_SPLIT && p->k >= SHORTEST_SPLIT;
}

void lm_product_bf16(struct lm_cpu *cpu, const struct lm_product *p)
{
    struct lm_cpu_bf16 *bf16 = cpu->products;
    struct multiplied at = {.cpu = cpu, .product = p};
    int64_t most = PANEL / bf16->parts / rounded_up(p->k, DEEP) / ACROSS * ACROSS;
    most = most > ACROSS ? most : ACROSS;
    most = most < p->n ? most : p->n;
    uint16_t *panel = panel_of(bf16, lm_bf16_second_size(p->k, most) * bf16->parts);
    for (at.first = 0; at.first < p->n; at.first += most) {
        at.columns = most < p->n - at.first ? most : p->n - at.first;
        at.panel = second_operand(panel, p->b + (p->b_turned ? at.first * p->b_stride : at.first), p->k, at.columns,
                                  p->b_stride, p->b_turned, bf16->parts);
        team_run(cpu->team, narrow_part, &at);
        team_run(cpu->team, multiply_part, &at);
    }
}
