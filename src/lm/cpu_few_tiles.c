/* Products of a few rows with int8 weights on processors that multiply tiles of int8 (AMX).
 * A number of x becomes three digits to the base 256, so many times the largest of its row over MOST: as many bits as a float32 has.
 * Products of digits and weights are summed in whole numbers, exactly, so that no order of summing changes them; the three sums of a
 * row and an output are put together in double and rounded once.
 * The processor multiplies 16 rows of weights, 64 bytes of each as they lie in memory, with 64 by 16 digits, which are laid for it: sixteen groups of
 * four, each as (16, 4). Eight rows of x are a chunk: tile 0 of it has their first digits and their second ones, tile 1 the third. */
#include "lm/cpu_internal.h"

#ifdef __x86_64__
#include <dnnl.h>
#include <float.h>
#include <immintrin.h>
#include <math.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum {
    ROWS = 8,     /* of a chunk */
    OUTS = 16,    /* of a tile of weights */
    DEPTH = 64,   /* bytes of its rows */
    DIGITS = 3,   /* of a number of x */
    COLUMNS = 16, /* of a tile of digits */
    MOST = 127 * (65536 + 256 + 1),
    LONGEST = INT32_MAX / (128 * 127) /* of a row whose sums fit in int32 */
};
/* Digits of DEPTH numbers of a chunk's rows: [tile][group of four][column][number]. */
typedef int8_t digits[2][DEPTH / 4][COLUMNS][4];

struct product {
    const struct lm_few *few;
    digits *digits; /* [chunk][depth] */
    double *scales; /* of rows of x */
};

static int chunks_of(const struct lm_few *few)
{
    return (few->n + ROWS - 1) / ROWS;
}

static int depths_of(const struct lm_few *few)
{
    return (few->in + DEPTH - 1) / DEPTH;
}

/* The largest magnitude, by the order of its bits; NaN where there is one. */
static float largest_of(const float *x, int count)
{
    uint32_t largest = 0;
    for (int i = 0; i < count; i++) {
        uint32_t bits;
        memcpy(&bits, &x[i], sizeof bits);
        bits &= 0x7fffffffU;
        largest = bits > largest ? bits : largest;
    }
    float magnitude;
    memcpy(&magnitude, &largest, sizeof magnitude);
    return magnitude;
}

/* The digits of up to DEPTH numbers of row `row` of a chunk. */
static void lay(digits *to, int row, const float *x, int count, double factor)
{
    int8_t of[DIGITS][DEPTH] = {0};
    for (int i = 0; i < count; i++) {
        int32_t number = (int32_t)__builtin_rint(x[i] * factor);
        of[2][i] = (int8_t)number;
        number = (number - of[2][i]) >> 8;
        of[1][i] = (int8_t)number;
        of[0][i] = (int8_t)((number - of[1][i]) >> 8);
    }
    for (int group = 0; group < DEPTH / 4; group++) {
        memcpy((*to)[0][group][row], &of[0][4 * group], 4);
        memcpy((*to)[0][group][ROWS + row], &of[1][4 * group], 4);
        memcpy((*to)[1][group][row], &of[2][4 * group], 4);
    }
}

static void lay_part(void *closure, int worker, int workers)
{
    const struct product *product = closure;
    const struct lm_few *few = product->few;
    int64_t first, last, depths = depths_of(few);
    team_share(depths, 1, worker, workers, &first, &last);
    for (int row = 0; row < chunks_of(few) * ROWS; row++) {
        const float *x = few->x + (row < few->n ? row * few->x_stride : 0);
        float largest = row < few->n ? largest_of(x, few->in) : 0;
        bool fits = largest > 0 && isfinite(largest);
        if (worker == 0)
            product->scales[row] = isfinite(largest) ? largest / (double)MOST : (double)NAN;
        for (int64_t depth = first; depth < last; depth++) {
            int count = few->in - depth * DEPTH < DEPTH ? (int)(few->in - depth * DEPTH) : DEPTH;
            lay(&product->digits[row / ROWS * depths + depth], row % ROWS, x + depth * DEPTH, fits ? count : 0,
                fits ? MOST / (double)largest : 0);
        }
    }
}

/* ---- Multiplying */

/* The processor's tiles: sums of two tiles of weights and two of digits, then these. */
enum { SUM_00, SUM_01, SUM_10, SUM_11, WEIGHTS_0, WEIGHTS_1, DIGITS_0, DIGITS_1 };
struct tiles {
    uint8_t palette, start, reserved[14];
    uint16_t widths[16]; /* bytes of a row */
    uint8_t heights[16];
};
static const struct tiles shapes = {.palette = 1,
                                    .widths = {64, 32, 64, 32, DEPTH, DEPTH, 64, 32},
                                    .heights = {OUTS, OUTS, OUTS, OUTS, OUTS, OUTS, DEPTH / 4, DEPTH / 4}};

/* Weights of 2 * OUTS outputs from o on, DEPTH of each row from `from` on, as they lie, or in `room` with zeros where there are none. */
static const int8_t *weights_at(const struct lm_few *few, int64_t o, int64_t from, int8_t room[2 * OUTS][DEPTH],
                                int64_t *stride)
{
    int64_t outs = few->out - o, count = few->in - from;
    *stride = few->in;
    if (outs >= 2 * OUTS && count >= DEPTH)
        return few->int8 + o * few->in + from;
    *stride = DEPTH;
    memset(room, 0, sizeof(int8_t[2 * OUTS][DEPTH]));
    for (int64_t i = 0; i < 2 * OUTS && i < outs; i++)
        memcpy(room[i], few->int8 + (o + i) * few->in + from, (size_t)(count < DEPTH ? count : DEPTH));
    return room[0];
}

/* sums[out][column]: the first digits of the chunk's rows, the second, the third. */
__attribute__((target("amx-tile,amx-int8"))) static void multiply(const struct lm_few *few, int64_t o, const digits *at,
                                                                  int32_t sums[2 * OUTS][DIGITS * ROWS])
{
    enum { STRIDE = DIGITS * ROWS * sizeof(int32_t) };
    int8_t room[2 * OUTS][DEPTH];
    int64_t stride;
    _tile_zero(SUM_00);
    _tile_zero(SUM_01);
    _tile_zero(SUM_10);
    _tile_zero(SUM_11);
    for (int depth = 0; depth < depths_of(few); depth++, at++) {
        const int8_t *w = weights_at(few, o, (int64_t)depth * DEPTH, room, &stride);
        for (int i = 0; i < 2 * OUTS; i++) /* of the next ones: rows that lie apart are not seen to follow each other */
            __builtin_prefetch(w + (2 * OUTS + i) * stride, 0, 2);
        _tile_loadd(DIGITS_0, (*at)[0], COLUMNS * 4);
        _tile_loadd(DIGITS_1, (*at)[1], COLUMNS * 4);
        _tile_loadd(WEIGHTS_0, w, stride);
        _tile_dpbssd(SUM_00, WEIGHTS_0, DIGITS_0);
        _tile_dpbssd(SUM_01, WEIGHTS_0, DIGITS_1);
        _tile_loadd(WEIGHTS_1, w + OUTS * stride, stride);
        _tile_dpbssd(SUM_10, WEIGHTS_1, DIGITS_0);
        _tile_dpbssd(SUM_11, WEIGHTS_1, DIGITS_1);
    }
    _tile_stored(SUM_00, sums[0], STRIDE);
    _tile_stored(SUM_01, &sums[0][COLUMNS], STRIDE);
    _tile_stored(SUM_10, sums[OUTS], STRIDE);
    _tile_stored(SUM_11, &sums[OUTS][COLUMNS], STRIDE);
}

__attribute__((target("amx-tile"))) static void multiply_part(void *closure, int worker, int workers)
{
    const struct product *product = closure;
    const struct lm_few *few = product->few;
    int32_t sums[2 * OUTS][DIGITS * ROWS];
    int64_t first, last;
    team_share(few->out, 2 * OUTS, worker, workers, &first, &last);
    _tile_loadconfig(&shapes);
    for (int64_t o = first; o < last; o += 2 * OUTS)
        for (int chunk = 0; chunk < chunks_of(few); chunk++) {
            multiply(few, o, product->digits + (int64_t)chunk * depths_of(few), sums);
            for (int64_t i = 0; i < 2 * OUTS && o + i < last; i++) {
                float y[ROWS];
                const double *scales = product->scales + chunk * ROWS;
                for (int r = 0; r < ROWS; r++)
                    y[r] = (float)((65536.0 * sums[i][r] + 256.0 * sums[i][ROWS + r] + sums[i][2 * ROWS + r]) *
                                   scales[r] * few->scales[o + i]);
                for (int r = 0; r < ROWS && chunk * ROWS + r < few->n; r++)
                    few->y[(chunk * ROWS + r) * few->y_stride + o + i] = y[r];
            }
        }
    _tile_release();
}

/* The system has to be asked for them, once for all threads. */
bool lm_cpu_has_tiles(void)
{
    enum { ARCH_REQ_XCOMP_PERM = 0x1023, XFEATURE_XTILEDATA = 18 }; /* asm/prctl.h of Linux 5.16 */
    return (dnnl_get_effective_cpu_isa() & dnnl_cpu_isa_avx512_core_amx) == dnnl_cpu_isa_avx512_core_amx &&
           syscall(SYS_arch_prctl, ARCH_REQ_XCOMP_PERM, XFEATURE_XTILEDATA) == 0;
}

bool lm_cpu_few_tiles(struct lm_cpu *cpu, const struct lm_few *few)
{
    if (few->in > LONGEST)
        return false;
    int64_t chunks = chunks_of(few), bytes = chunks * depths_of(few) * (int64_t)sizeof(digits);
    int64_t scales = chunks * ROWS * (int64_t)sizeof(double);
    float *room = lm_cpu_scratch(cpu, 0, (bytes + scales) / (int64_t)sizeof *room);
    struct product product = {few, (digits *)room, (double *)((char *)room + bytes)};
    team_run(cpu->team, lay_part, &product);
    team_run(cpu->team, multiply_part, &product);
    return true;
}
#else
bool lm_cpu_has_tiles(void)
{
    return false;
}

bool lm_cpu_few_tiles(struct lm_cpu *cpu, const struct lm_few *few)
{
    (void)cpu;
    (void)few;
    return false;
}
#endif
