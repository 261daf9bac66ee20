/* Products of matrices whose numbers are rounded to bfloat16 first and whose sums are float32: with AMX several times as many a second. oneDNN's
 * take longer: it lays operands out again in each call, and only for some shapes takes them as they are best read.
 * Both operands are rounded and laid out into room of the backend's, in parts of all workers; then each worker multiplies a part of the result. The
 * second operand may be a vocabulary's: it is taken in panels of columns, so that the room stays small. */
#include "base/memory.h"
#include "lm/cpu_internal.h"

#include <dnnl.h>
#include <stdlib.h>
#ifdef __x86_64__
#include <immintrin.h>
#endif

enum { PANEL = 16 << 20, FEWEST_ROWS = 64, LANES = 16, DEEP = 32, ACROSS = 64, STRIP = 32 };
/* What near caches have room for: numbers of a group of rows, and of a row; columns that are turned together. */
enum { NEAR = 256 << 10, LONGEST = 2048, TOGETHER = 256 };

/* c (rows, columns) = alpha * a b + keep * c, of at most STRIP rows and ACROSS columns: rows of `a`, and a block. STRIP rows can be read. */
struct strip {
    const uint16_t *a, *b;
    int64_t a_stride, deep;
    float *c;
    int64_t c_stride;
    int rows, columns;
    float alpha;
    bool keep;
};
struct room {
    uint16_t *halves;
    int64_t count;
};
struct lm_cpu_bf16 {
    void (*multiply)(const struct strip *strip);
    bool tiles; /* AMX's */
    struct room a, b;
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
    free(bf16->a.halves);
    free(bf16->b.halves);
    free(bf16);
}

static uint16_t *grown(struct room *room, int64_t count)
{
    if (room->count < count) {
        free(room->halves);
        room->count = count;
        room->halves = memory_vectors((size_t)count * sizeof *room->halves);
        if (!room->halves)
            memory_exhausted((size_t)count * sizeof *room->halves);
    }
    return room->halves;
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
typedef uint32_t pairs __attribute__((vector_size(64), aligned(2), may_alias)); /* of bfloat16 */

/* `count` floats, and zeros up to 16. */
WIDE static inline floats load(const float *from, int64_t count)
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

/* Numbers 2 i of `even` and 2 i + 1 of `odd` beside each other. */
WIDE static inline pairs beside(floats even, floats odd)
{
#define BESIDE(i, unused) i, 16 + (i)
    return (pairs)__builtin_shufflevector(narrow(even), narrow(odd), EVERY(BESIDE, 0));
}

/* 32 numbers of a row, `count` of them there. */
WIDE static inline pairs along(const float *from, int64_t count)
{
#define ALONG(i, first) (first) + (i)
    return (pairs)__builtin_shufflevector(narrow(load(from, count)), narrow(load(from + LANES, count - LANES)),
                                          EVERY(ALONG, 0), EVERY(ALONG, 16));
}

/* Rows and columns change places: squares of 8, then of 4, 2 and 1 beside the diagonal. */
WIDE static inline void turn(pairs rows[LANES])
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
    void (*lay)(const struct narrowed *, int64_t first, int64_t last);
    int64_t unit; /* what `lay` takes at least: rows first to before last, both multiples of it or the end */
};

static int64_t rounded_up(int64_t count, int64_t unit)
{
    return (count + unit - 1) / unit * unit;
}

/* From a row of the first operand (m, k) to the next. An odd number of cache lines, or several rows would want the same place in a cache. */
static int64_t row_length(int64_t k)
{
    return (rounded_up(k, DEEP) / DEEP | 1) * DEEP;
}

/* The first operand, zeros up to a multiple of DEEP. */
WIDE static void lay_rows(const struct narrowed *at, int64_t first, int64_t last)
{
    int64_t width = row_length(at->columns);
    for (int64_t row = first; row < last; row++)
        for (int64_t i = 0; i < at->columns; i += DEEP)
            *(pairs *)(at->to + row * width + i) = along(at->from + row * at->stride + i, at->columns - i);
}

/* 16 pairs of rows from `row` on, columns from `column` on. */
WIDE static inline void take_square(const struct narrowed *at, int64_t row, int64_t column, pairs square[LANES])
{
    for (int64_t i = 0; i < LANES; i++, row += 2) {
        const float *from = at->from + row * at->stride + column;
        square[i] = beside(load(from, row < at->rows ? at->columns - column : 0),
                           load(from + at->stride, row + 1 < at->rows ? at->columns - column : 0));
    }
}

/* The same of an operand that lies as (k, m), some columns of which come together, so that the pages of their rows are few. */
WIDE static void lay_turned_rows(const struct narrowed *at, int64_t first, int64_t last)
{
    int64_t width = row_length(at->rows);
    for (int64_t left = 0; left < at->columns; left += TOGETHER)
        for (int64_t row = first; row < last; row += DEEP)
            for (int64_t column = left; column < at->columns && column < left + TOGETHER; column += LANES) {
                pairs square[LANES];
                take_square(at, row, column, square);
                turn(square);
                for (int64_t i = 0; i < LANES && column + i < at->columns; i++)
                    *(pairs *)(at->to + (column + i) * width + row) = square[i];
            }
}

/* The second operand (k, n): for 64 columns, for 32 rows, a block of 16 times 64 pairs of numbers that lie under each other. Zeros where it
 * ends. */
static uint16_t *block(const struct narrowed *at, int64_t k, int64_t row, int64_t column)
{
    return at->to + (column / ACROSS * (rounded_up(k, DEEP) / DEEP) + row / DEEP) * DEEP * ACROSS + column % ACROSS * 2;
}

WIDE static void lay_blocks(const struct narrowed *at, int64_t first, int64_t last)
{
    int64_t columns = rounded_up(at->columns, ACROSS);
    for (int64_t row = first; row < last; row += DEEP)
        for (int64_t column = 0; column < columns; column += LANES) {
            pairs square[LANES];
            uint16_t *to = block(at, at->rows, row, column);
            take_square(at, row, column, square);
            for (int64_t i = 0; i < LANES; i++)
                *(pairs *)(to + i * 2 * ACROSS) = square[i];
        }
}

/* The same of an operand that lies as (n, k). */
WIDE static void lay_turned_blocks(const struct narrowed *at, int64_t first, int64_t last)
{
    last = rounded_up(last, ACROSS);
    for (int64_t column = first; column < last; column += LANES)
        for (int64_t row = 0; row < at->columns; row += DEEP) {
            pairs square[LANES];
            uint16_t *to = block(at, at->columns, row, column);
            for (int64_t i = 0; i < LANES; i++)
                square[i] =
                    along(at->from + (column + i) * at->stride + row, column + i < at->rows ? at->columns - row : 0);
            turn(square);
            for (int64_t i = 0; i < LANES; i++)
                *(pairs *)(to + i * 2 * ACROSS) = square[i];
        }
}

static struct narrowed first_operand(uint16_t *to, const float *a, int64_t m, int64_t k, int64_t stride, bool turned)
{
    return turned ? (struct narrowed){to, a, k, m, stride, lay_turned_rows, DEEP}
                  : (struct narrowed){to, a, m, k, stride, lay_rows, 1};
}

static struct narrowed second_operand(uint16_t *to, const float *b, int64_t k, int64_t n, int64_t stride, bool turned)
{
    return turned ? (struct narrowed){to, b, n, k, stride, lay_turned_blocks, ACROSS}
                  : (struct narrowed){to, b, k, n, stride, lay_blocks, DEEP};
}

int64_t lm_bf16_first_size(int64_t m, int64_t k)
{
    return rounded_up(m, STRIP) * row_length(k);
}

int64_t lm_bf16_second_size(int64_t k, int64_t n)
{
    return rounded_up(k, DEEP) * rounded_up(n, ACROSS);
}

void lm_bf16_first(uint16_t *to, const float *a, int64_t m, int64_t k, int64_t stride, bool turned)
{
    const struct narrowed operand = first_operand(to, a, m, k, stride, turned);
    operand.lay(&operand, 0, operand.rows);
}

void lm_bf16_second(uint16_t *to, const float *b, int64_t k, int64_t n, int64_t stride, bool turned)
{
    const struct narrowed operand = second_operand(to, b, k, n, stride, turned);
    operand.lay(&operand, 0, operand.rows);
}

struct multiplied {
    struct lm_cpu_bf16 *bf16;
    const struct lm_product *product; /* whose columns [first, first + columns) are computed */
    int64_t first, columns;
    struct narrowed operands[2];
};

static void narrow_part(void *closure, int worker, int workers)
{
    const struct multiplied *at = closure;
    for (int i = 0; i < 2; i++) {
        const struct narrowed *operand = &at->operands[i];
        int64_t first, last;
        team_share(operand->to ? operand->rows : 0, operand->unit, worker, workers, &first, &last);
        if (first < last)
            operand->lay(operand, first, last);
    }
}

/* ---- Multiplying */

#ifdef __x86_64__
/* c = alpha * sums + keep * c, of some rows and columns. */
WIDE static void put(const struct strip *strip, int row, int column, int rows, int columns, const float *sums,
                     int stride)
{
    for (int r = 0; r < rows && row + r < strip->rows; r++) {
        float *c = strip->c + (row + r) * strip->c_stride + column;
        int count = columns < strip->columns - column ? columns : strip->columns - column;
        for (int i = 0; i < count; i++)
            c[i] = strip->alpha * sums[r * stride + i] + (strip->keep ? c[i] : 0);
    }
}

#define TILES __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,amx-tile,amx-bf16")))

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

/* 32 columns from `column` on: two tiles by two, 0 to 3. */
TILES static inline void sum_tiles(const struct strip *strip, int column)
{
    const uint16_t *a = strip->a, *b = strip->b + (ptrdiff_t)2 * column;
    for (int64_t k = 0; k < strip->deep; k += DEEP, b += (ptrdiff_t)DEEP * ACROSS) {
        _tile_loadd(4, a + k, strip->a_stride * 2);
        _tile_loadd(5, a + LANES * strip->a_stride + k, strip->a_stride * 2);
        _tile_loadd(6, b, ACROSS * 4);
        _tile_loadd(7, b + DEEP, ACROSS * 4);
        _tile_dpbf16ps(0, 4, 6);
        _tile_dpbf16ps(1, 4, 7);
        _tile_dpbf16ps(2, 5, 6);
        _tile_dpbf16ps(3, 5, 7);
    }
}

TILES static void multiply_tiles(const struct strip *strip)
{
    enum { HALF = ACROSS / 2 };
    float sums[STRIP * HALF];
    bool whole = strip->rows == STRIP && (strip->alpha <= 1 && strip->alpha >= 1);
    for (int column = 0; column < strip->columns; column += HALF) {
        bool direct = whole && strip->columns - column >= HALF;
        float *to = direct ? strip->c + column : sums;
        int64_t stride = direct ? strip->c_stride : HALF;
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
        sum_tiles(strip, column);
        _tile_stored(0, to, stride * 4);
        _tile_stored(1, to + LANES, stride * 4);
        _tile_stored(2, to + LANES * stride, stride * 4);
        _tile_stored(3, to + LANES * stride + LANES, stride * 4);
        if (!direct)
            put(strip, 0, column, STRIP, HALF, sums, HALF);
    }
}

/* Without tiles: some rows at a time, whose sums stay in registers. */
enum { FEW = 4 };
WIDE static void multiply_rows(const struct strip *strip)
{
    enum { PARTS = ACROSS / LANES };
    for (int row = 0; row < strip->rows; row += FEW) {
        __m512 sums[FEW][PARTS] = {0};
        const uint16_t *a = strip->a + row * strip->a_stride, *b = strip->b;
        for (int64_t k = 0; k < strip->deep; k += 2, b += (ptrdiff_t)2 * ACROSS)
            for (int r = 0; r < FEW; r++) {
                int pair;
                __builtin_memcpy(&pair, a + r * strip->a_stride + k, sizeof pair);
                __m512bh both = (__m512bh)_mm512_set1_epi32(pair);
                for (int i = 0; i < PARTS; i++)
                    sums[r][i] =
                        _mm512_dpbf16_ps(sums[r][i], both, (__m512bh)_mm512_loadu_si512(b + (ptrdiff_t)i * 2 * LANES));
            }
        put(strip, row, 0, FEW, ACROSS, (const float *)sums, ACROSS);
    }
}

struct lm_cpu_bf16 *lm_cpu_bf16_new(void)
{
    struct lm_cpu_bf16 *bf16 = memory_alloc(sizeof *bf16);
    bf16->tiles = lm_cpu_has_tiles();
    bf16->multiply = bf16->tiles ? multiply_tiles : multiply_rows;
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

/* In parts of the rows' length, and in groups of rows, that stay in a near cache. */
void lm_bf16_multiply(const struct lm_cpu_bf16 *bf16, const uint16_t *a, const uint16_t *b, int64_t b_rows, int64_t m,
                      int64_t n, int64_t k, float alpha, bool keep, float *c, int64_t c_stride)
{
    int64_t length = row_length(k), deep = rounded_up(k, DEEP), parts = (deep + LONGEST - 1) / LONGEST;
    int64_t part = rounded_up((deep + parts - 1) / parts, DEEP), group = NEAR / part / STRIP * STRIP;
    for (int64_t at = 0; at < deep; at += part)
        for (int64_t from = 0; from < m; from += group)
            for (int64_t column = 0; column < n; column += ACROSS)
                for (int64_t row = from; row < m && row < from + group; row += STRIP) {
                    const struct strip strip = {.a = a + row * length + at,
                                                .b = b + column * rounded_up(b_rows, DEEP) + at * ACROSS,
                                                .a_stride = length,
                                                .deep = deep - at < part ? deep - at : part,
                                                .c = c + row * c_stride + column,
                                                .c_stride = c_stride,
                                                .rows = m - row < STRIP ? (int)(m - row) : STRIP,
                                                .columns = n - column < ACROSS ? (int)(n - column) : ACROSS,
                                                .alpha = alpha,
                                                .keep = keep || at};
                    bf16->multiply(&strip);
                }
}

static void multiply_part(void *closure, int worker, int workers)
{
    const struct multiplied *at = closure;
    const struct lm_product *p = at->product;
    int64_t first = 0, last = p->m, left = 0, right = at->columns;
    if (lm_product_by_rows(p->m, at->columns, workers))
        team_share(p->m, STRIP, worker, workers, &first, &last);
    else
        team_share(at->columns, ACROSS, worker, workers, &left, &right);
    lm_bf16_begin(at->bf16);
    lm_bf16_multiply(at->bf16, at->bf16->a.halves + first * row_length(p->k),
                     at->bf16->b.halves + left * rounded_up(p->k, DEEP), p->k, last - first, right - left, p->k,
                     p->alpha, p->beta > 0, p->c + first * p->c_stride + at->first + left, p->c_stride);
    lm_bf16_end(at->bf16);
}

bool lm_product_is_bf16(const struct lm_cpu *cpu, const struct lm_product *p)
{
    return cpu->bf16 && p->m >= FEWEST_ROWS && p->k > 0 && p->n > 0;
}

void lm_product_bf16(struct lm_cpu *cpu, const struct lm_product *p)
{
    struct lm_cpu_bf16 *bf16 = cpu->bf16;
    struct multiplied at = {.bf16 = bf16, .product = p};
    int64_t panel = PANEL / p->k > ACROSS ? PANEL / p->k / ACROSS * ACROSS : ACROSS;
    panel = panel < p->n ? panel : p->n;
    uint16_t *a = grown(&bf16->a, lm_bf16_first_size(p->m, p->k)),
             *b = grown(&bf16->b, lm_bf16_second_size(p->k, panel));
    at.operands[0] = first_operand(a, p->a, p->m, p->k, p->a_stride, p->a_turned);
    for (at.first = 0; at.first < p->n; at.first += panel) {
        at.columns = panel < p->n - at.first ? panel : p->n - at.first;
        at.operands[1] = second_operand(b, p->b + (p->b_turned ? at.first * p->b_stride : at.first), p->k, at.columns,
                                        p->b_stride, p->b_turned);
        team_run(cpu->team, narrow_part, &at);
        team_run(cpu->team, multiply_part, &at);
        at.operands[0].to = NULL; /* it is there */
    }
}
