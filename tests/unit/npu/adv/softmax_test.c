/* SoftMax and its relatives on the whole machine against loops in double, in every combination of types, in ND and NZ,
 * with columns that are padding. */
/* test: leaves=covered builds=both */
#include "unit/npu/coverage.h"
#include "unit/npu/adv/case.h"
#include "npu/adv/tiling.h"

#include <math.h>

enum { MOST = 32768, BLOCK = 32 };
static _Alignas(512) uint8_t x_in[MOST], y_out[MOST], sum_in[MOST], sum_out[MOST], max_in[MOST], max_out[MOST],
    factor_out[MOST], dy_in[MOST];

/* One shape and one combination of types. */
struct shape {
    uint8_t type, stat;
    uint32_t rows, cols, valid;
    bool nz;
};

static uint32_t size_of(uint8_t type)
{
    return type == AKGEN_FLOAT ? 4 : 2;
}

static double load(const uint8_t *at, uint8_t type, uint32_t i)
{
    return type == AKGEN_FLOAT ? ((const float *)at)[i] : (double)((const _Float16 *)at)[i];
}

static void store(uint8_t *at, uint8_t type, uint32_t i, double value)
{
    if (type == AKGEN_FLOAT)
        ((float *)at)[i] = (float)value;
    else
        ((_Float16 *)at)[i] = (_Float16)value;
}

/* Where element (r, c) lies in the operand's GM image: rows of `valid` elements, or whole NZ panels. */
static uint32_t place(const struct shape *s, uint32_t r, uint32_t c)
{
    return s->nz ? c / 16 * s->rows * 16 + r * 16 + c % 16 : r * s->valid + c;
}

static struct adv_operand matrix(const struct shape *s, uint8_t *data)
{
    uint32_t size = size_of(s->type);
    if (s->nz)
        return (struct adv_operand){data, 1, s->rows * s->cols * size, 0};
    return (struct adv_operand){data, s->rows, s->valid * size, s->cols * size};
}

static struct adv_operand statistic(const struct shape *s, uint8_t *data, bool packed)
{
    return (struct adv_operand){data, 1, s->rows * (packed ? size_of(s->stat) : BLOCK), 0};
}

static void fill(const struct shape *s, uint8_t *data, uint32_t seed, double scale)
{
    for (uint32_t r = 0; r < s->rows; r++)
        for (uint32_t c = 0; c < s->cols; c++)
            if (s->nz || c < s->valid) {
                double value = ((double)((r * 131 + c * 29 + seed) % 97) / 97 - 0.5) * scale;
                store(data, s->type, place(s, r, c), c < s->valid ? value : 1000);
            }
}

/* The tiling of a host that took `split` rows at a time. */
static struct SoftMaxTiling tiling_of(const struct shape *s, uint32_t split)
{
    uint32_t block = BLOCK / size_of(s->stat);
    return (struct SoftMaxTiling){.srcM = s->rows,
                                  .srcK = s->cols,
                                  .splitM = split,
                                  .reduceM = split,
                                  .reduceK = block,
                                  .rangeM = s->rows / split,
                                  .tailM = s->rows % split};
}

static void prepare(enum npu_adv_op op, const struct shape *s, uint32_t flags, uint32_t tmp_bytes)
{
    static struct SoftMaxTiling tiling;
    tiling = tiling_of(s, s->rows < 8 ? 1 : 8);
    bool in_float = s->type == AKGEN_FLOAT16 && s->stat == AKGEN_FLOAT;
    adv_now = (struct adv_case){.call = {.op = (uint16_t)op,
                                         .type = s->type,
                                         .flags = flags | (in_float ? NPU_ADV_IN_FLOAT : 0) | (s->nz ? NPU_ADV_NZ : 0),
                                         .shape = {s->rows, s->cols, s->rows, s->valid},
                                         .tiling = &tiling},
                                .in = {matrix(s, x_in)},
                                .out = {matrix(s, y_out)},
                                .tmp_bytes = tmp_bytes};
}

/* max and sum(exp(x - max)) of row r, going on from what was seen so far. */
static void row_statistics(const struct shape *s, uint32_t r, double *max, double *sum)
{
    for (uint32_t c = 0; c < s->valid; c++)
        *max = fmax(*max, load(x_in, s->type, place(s, r, c)));
    for (uint32_t c = 0; c < s->valid; c++)
        *sum += exp(load(x_in, s->type, place(s, r, c)) - *max);
}

/* Float results: a few roundings and sums of up to a thousand terms; half results: one rounding more. */
static void assert_close(double got, double want, uint8_t type)
{
    double bound = type == AKGEN_FLOAT ? 0x1p-18 * fabs(want) + 0x1p-30 : 0x1p-10 * fabs(want) + 0x1p-24;
    if (!(fabs(got - want) <= bound))
        fprintf(stderr, "got %.9g, want %.9g\n", got, want);
    assert_true(fabs(got - want) <= bound);
}

/* All elements of row r of a statistic. */
static void check_statistic(const uint8_t *data, uint8_t type, uint32_t r, uint32_t width, double want)
{
    for (uint32_t i = 0; i < width; i++)
        assert_close(load(data, type, r * width + i), want, type);
}

static void check_softmax(enum npu_adv_op op, struct shape s, bool stats, uint32_t tmp_bytes)
{
    fill(&s, x_in, 1, 8);
    prepare(op, &s, 0, tmp_bytes);
    if (stats) {
        adv_now.out[1] = statistic(&s, sum_out, false);
        adv_now.out[2] = statistic(&s, max_out, false);
    }
    adv_run_clean();
    for (uint32_t r = 0; r < s.rows; r++) {
        double max = -INFINITY, sum = 0;
        row_statistics(&s, r, &max, &sum);
        for (uint32_t c = 0; c < s.valid; c++) {
            double want = exp(load(x_in, s.type, place(&s, r, c)) - max) / sum;
            double got = load(y_out, s.type, place(&s, r, c));
            if (op == NPU_ADV_LOG_SOFTMAX)
                assert_float_equal(got, log10(want),
                                   0x1p-19 + (s.type == AKGEN_FLOAT ? 0x1p-22 : 0x1p-10) * -log10(want));
            else
                assert_close(got, want, s.type);
        }
        if (stats) {
            check_statistic(sum_out, s.stat, r, BLOCK / size_of(s.stat), sum);
            check_statistic(max_out, s.stat, r, BLOCK / size_of(s.stat), max);
        }
    }
}

/* Every combination of types and layouts that fits `run`. */
typedef void shape_test(struct shape s);
static void for_each_shape(shape_test *run)
{
    static const uint32_t rows[] = {1, 3, 8, 17}, valid[] = {1, 15, 16, 33, 63, 64, 65, 100, 128, 130, 600};
    static const uint8_t types[][2] = {
        {AKGEN_FLOAT, AKGEN_FLOAT}, {AKGEN_FLOAT16, AKGEN_FLOAT16}, {AKGEN_FLOAT16, AKGEN_FLOAT}};
    for (size_t t = 0; t < 3; t++)
        for (size_t v = 0; v < sizeof valid / sizeof *valid; v++)
            for (size_t r = 0; r < sizeof rows / sizeof *rows; r++)
                for (int nz = 0; nz < 2; nz++) {
                    struct shape s = {types[t][0], types[t][1], rows[r], (valid[v] + 15) / 16 * 16, valid[v], nz};
                    if (s.rows * s.cols * 2 * 5 <= MOST)
                        run(s);
                }
}

static uint32_t least_space(const struct shape *s)
{
    return (BLOCK / size_of(s->type) + s->cols + 64) * 4 * (s->rows < 8 ? 1 : 8);
}

static void softmax_of(struct shape s)
{
    check_softmax(NPU_ADV_SOFTMAX, s, true, least_space(&s));
    if (!s.nz && s.type == s.stat)
        check_softmax(NPU_ADV_SOFTMAX, s, false, least_space(&s));
}

static void softmax(void **state)
{
    (void)state;
    for_each_shape(softmax_of);
}

static void softmax_of_another_shape(void **state)
{
    (void)state;
    struct shape s = {AKGEN_FLOAT, AKGEN_FLOAT, 20, 48, 48, false};
    fill(&s, x_in, 1, 8);
    prepare(NPU_ADV_SOFTMAX, &s, 0, 3 * 72 * 4);
    ((struct SoftMaxTiling *)adv_now.call.tiling)->srcM = 7; /* the kernel computes its own: 3 rows at a time */
    adv_run_clean();
    assert_close(load(y_out, s.type, 0) + load(y_out, s.type, 1), load(y_out, s.type, 1) + load(y_out, s.type, 0), 1);
    adv_now.tmp_bytes = 71 * 4;
    assert_string_equal(adv_run(0), "adv_tmp_too_small");
    prepare(NPU_ADV_SOFTMAX, &s, 0, 7 * 72 * 4); /* the tiling says 8 */
    assert_string_equal(adv_run(0), "adv_tmp_too_small");
    adv_now.call.shape[1] = 47;
    assert_string_equal(adv_run(0), "adv_shape");
}

static void log_softmax_of(struct shape s)
{
    if (s.type != s.stat || s.nz)
        return;
    fill(&s, x_in, 1, 8);
    check_softmax(NPU_ADV_LOG_SOFTMAX, s, true, least_space(&s));
}

/* The logarithm of a half result is computed before it is rounded. */
static void log_softmax(void **state)
{
    (void)state;
    for_each_shape(log_softmax_of);
}

static void add_state(const struct shape *s, bool packed)
{
    uint32_t width = packed ? 1 : BLOCK / size_of(s->stat);
    for (uint32_t i = 0; i < s->rows * width; i++) {
        store(max_in, s->stat, i, (double)(i / width % 5) - 1);
        store(sum_in, s->stat, i, 1 + (double)(i / width % 3));
    }
    adv_now.in[1] = statistic(s, max_in, packed);
    adv_now.in[2] = statistic(s, sum_in, packed);
}

static void check_flash(enum npu_adv_op op, struct shape s, bool update, bool packed)
{
    bool divided = op == NPU_ADV_SOFTMAX_FLASH;
    uint32_t width = packed ? 1 : BLOCK / size_of(s.stat), wide = packed ? 1 : BLOCK / size_of(s.type);
    uint32_t rows = s.rows < 8 ? 1 : 8, block = BLOCK / size_of(s.stat);
    uint32_t space = s.type == AKGEN_FLOAT ? block + 64 : 2 * block + s.cols + 64;
    if (s.nz)
        space = 2 * block + s.cols + 64;
    if (divided)
        space = 4 * block + 2 * s.cols + 64;
    fill(&s, x_in, 1, 8);
    prepare(op, &s, (update ? NPU_ADV_UPDATE : 0) | (packed ? NPU_ADV_PACKED : 0), space * 4 * rows);
    if (update)
        add_state(&s, packed);
    adv_now.out[1] = statistic(&s, sum_out, packed);
    adv_now.out[2] = statistic(&s, max_out, packed);
    if (update)
        adv_now.out[3] = (struct adv_operand){factor_out, 1, s.rows * (packed ? size_of(s.type) : BLOCK), 0};
    adv_run_clean();
    for (uint32_t r = 0; r < s.rows; r++) {
        double max = update ? load(max_in, s.stat, r * width) : -INFINITY, before = max, sum = 0;
        row_statistics(&s, r, &max, &sum);
        double factor = update ? exp(before - max) : 0;
        double all = sum + (update ? factor * load(sum_in, s.stat, r * width) : 0);
        for (uint32_t c = 0; c < s.valid; c++) {
            double want = exp(load(x_in, s.type, place(&s, r, c)) - max) / (divided ? all : 1);
            assert_close(load(y_out, s.type, place(&s, r, c)), want, s.type);
        }
        check_statistic(sum_out, s.stat, r, width, all);
        check_statistic(max_out, s.stat, r, width, max);
        if (update) {
            double want = divided ? factor * load(sum_in, s.stat, r * width) / all : factor;
            check_statistic(factor_out, s.type, r, wide, want);
        }
    }
}

static void flash_of(struct shape s)
{
    for (int update = 0; update < 2; update++) {
        check_flash(NPU_ADV_SOFTMAX_FLASH_V2, s, update, false);
        if (!s.nz && s.rows % 8 == 0)
            check_flash(NPU_ADV_SOFTMAX_FLASH_V2, s, update, true);
        if (!s.nz)
            check_flash(NPU_ADV_SOFTMAX_FLASH, s, update, false);
    }
}

static void flash(void **state)
{
    (void)state;
    for_each_shape(flash_of);
}

static void simple_of(struct shape s)
{
    fill(&s, x_in, 1, 8);
    uint32_t rows = s.rows < 8 ? 1 : 8;
    prepare(NPU_ADV_SIMPLE_SOFTMAX, &s, 0, (BLOCK / size_of(s.stat) + s.cols + 64 + 16) * 4 * rows);
    add_state(&s, false);
    adv_run_clean();
    uint32_t width = BLOCK / size_of(s.stat);
    for (uint32_t r = 0; r < s.rows; r++)
        for (uint32_t c = 0; c < s.valid; c++) {
            double x = load(x_in, s.type, place(&s, r, c));
            double want = exp(x - load(max_in, s.stat, r * width)) / load(sum_in, s.stat, r * width);
            assert_close(load(y_out, s.type, place(&s, r, c)), want, s.type);
        }
}

static void simple(void **state)
{
    (void)state;
    for_each_shape(simple_of);
}

static void check_grad(struct shape s, bool front)
{
    fill(&s, x_in, 1, 2);
    fill(&s, dy_in, 50, 2);
    uint32_t rows = s.rows < 8 ? 1 : 8, block = BLOCK / size_of(s.type);
    uint32_t space =
        s.type == AKGEN_FLOAT ? s.cols + (front && !s.nz ? 1 : 2) * block + 64 : 3 * s.cols + 2 * block + 64;
    prepare(NPU_ADV_SOFTMAX_GRAD, &s, front ? NPU_ADV_FRONT : 0, space * 4 * rows);
    adv_now.in[1] = matrix(&s, dy_in);
    if (front)
        adv_now.out[0] = (struct adv_operand){y_out, 1, s.rows * BLOCK, 0};
    adv_run_clean();
    for (uint32_t r = 0; r < s.rows; r++) {
        double sum = 0, magnitude = 0;
        for (uint32_t c = 0; c < s.valid; c++) {
            double term = load(x_in, s.type, place(&s, r, c)) * load(dy_in, s.type, place(&s, r, c));
            sum += term;
            magnitude += fabs(term);
        }
        double unit = s.type == AKGEN_FLOAT ? 0x1p-20 : 0x1p-10;
        if (front)
            for (uint32_t i = 0; i < block; i++)
                assert_float_equal(load(y_out, s.type, r * block + i), sum, unit * (fabs(sum) + 0x1p-9 * magnitude));
        for (uint32_t c = 0; c < s.valid && !front; c++) {
            double y = load(x_in, s.type, place(&s, r, c)), dy = load(dy_in, s.type, place(&s, r, c));
            double bound = unit * fabs((dy - sum) * y) + 0x1p-19 * (magnitude + 1);
            assert_float_equal(load(y_out, s.type, place(&s, r, c)), (dy - sum) * y, bound);
        }
    }
}

static void grad_of(struct shape s)
{
    if (s.type != s.stat)
        return;
    check_grad(s, false);
    check_grad(s, true);
}

static void grad(void **state)
{
    (void)state;
    for_each_shape(grad_of);
}

static void adjust_of(struct shape s)
{
    static bool found;
    fill(&s, x_in, 1, 8);
    uint32_t width = BLOCK / size_of(s.stat);
    for (int given = 0; given < 2; given++) {
        prepare(NPU_ADV_ADJUST_SOFTMAX, &s, 0, 32);
        for (uint32_t i = 0; i < s.rows * width; i++)
            store(max_in, s.stat, i, given && i / width % 3 == 0 ? -2 : 5);
        adv_now.in[1] = statistic(&s, max_in, false);
        adv_now.call.dst_type = s.stat;
        adv_now.call.scalar[0] = s.stat == AKGEN_FLOAT ? 0xc0000000 : 0xc000; /* -2 */
        adv_now.call.scalar[1] = s.type == AKGEN_FLOAT ? 0x41000000 : 0x4800; /* 8 */
        adv_now.call.answer = &found;
        adv_now.in_place = true;
        found = false;
        adv_run_clean();
        assert_int_equal(found, given);
        for (uint32_t r = 0; r < s.rows; r++)
            for (uint32_t c = 0; c < s.valid; c++) {
                double x = load(x_in, s.type, place(&s, r, c));
                assert_true(load(y_out, s.type, place(&s, r, c)) == (given && r % 3 == 0 ? 8 : x));
            }
    }
}

static void adjust(void **state)
{
    (void)state;
    for_each_shape(adjust_of);
}

/* SoftmaxFlashV3: 64 lanes of a row, each eight neighbours of its first 512 columns and every 64th behind them; a
 * part's mean is that of eight lanes. */
static double part_mean(const struct shape *s, uint32_t r, uint32_t part)
{
    double sum = 0;
    for (uint32_t lane = 8 * part; lane < 8 * part + 8; lane++) {
        for (uint32_t i = 0; i < 8; i++)
            sum += load(x_in, s->type, place(s, r, 8 * lane + i));
        for (uint32_t c = 512 + lane; c < s->valid; c += 64)
            sum += load(x_in, s->type, place(s, r, c));
    }
    return sum / (s->valid / 8);
}

static void assert_near(double got, double want, double bound)
{
    if (!(fabs(got - want) <= bound))
        fail_msg("got %.9g, want %.9g within %g", got, want, bound);
}

static void check_flash_v3(struct shape s, bool update, uint32_t tmp_rows)
{
    static uint8_t mean_in[MOST], mean_out[MOST];
    const float alpha = 0.9375f, loops = 3;
    const double pull = alpha / (1 - alpha);
    fill(&s, x_in, 1, 2);
    prepare(NPU_ADV_SOFTMAX_FLASH_V3, &s, update ? NPU_ADV_UPDATE : 0, (2 * s.cols + 64 + 40) * 4 * tmp_rows);
    struct SoftMaxTiling tiling = tiling_of(&s, tmp_rows);
    tiling.splitK = s.cols;
    adv_now.call.tiling = &tiling;
    adv_now.call.shape[4] = (uint32_t)loops;
    adv_now.call.shape[5] = 8;
    memcpy(&adv_now.call.scalar[0], &alpha, sizeof alpha);
    add_state(&s, false);
    for (uint32_t i = 0; i < s.rows * 8; i++)
        store(mean_in, AKGEN_FLOAT, i, 0.25 * (i / 8 % 4) - 0.5);
    adv_now.in[1] = statistic(&s, mean_in, false);
    adv_now.in[2] = statistic(&s, sum_in, false);
    adv_now.in[3] = statistic(&s, max_in, false);
    adv_now.out[1] = statistic(&s, mean_out, false);
    adv_now.out[2] = statistic(&s, sum_out, false);
    adv_now.out[3] = statistic(&s, max_out, false);
    if (update)
        adv_now.out[4] = (struct adv_operand){factor_out, 1, s.rows * BLOCK, 0};
    adv_run_clean();
    for (uint32_t r = 0; r < s.rows; r++) {
        double moved[1024], mean = 0, whole = 0, max = -INFINITY, sum = 0;
        for (uint32_t part = 0; part < 8; part++)
            mean += part_mean(&s, r, part) / 8;
        for (uint32_t c = 0; c < s.valid; c++) {
            double distance = mean - part_mean(&s, r, c / (s.valid / 8));
            moved[c] = load(x_in, s.type, place(&s, r, c)) - distance * pull;
            max = fmax(max, moved[c]);
        }
        double before = load(mean_in, AKGEN_FLOAT, r * 8), old_max = load(max_in, AKGEN_FLOAT, r * 8);
        whole = update ? (before * (loops - 1) + mean) / loops : mean;
        double shift = (mean - whole) * pull, shift_before = (before - whole) * pull;
        max += shift;
        if (update)
            max = fmax(max, old_max + shift_before);
        double factor = update ? exp(old_max - max + shift_before) : 0;
        for (uint32_t c = 0; c < s.valid; c++) {
            double want = exp(moved[c] - (max - shift));
            sum += want;
            assert_near(load(y_out, s.type, place(&s, r, c)), want, 0x1p-10 * want + 0x1p-16);
        }
        sum += update ? factor * load(sum_in, AKGEN_FLOAT, r * 8) : 0;
        for (uint32_t i = 8 * r; i < 8 * r + 8; i++) {
            assert_near(load(mean_out, AKGEN_FLOAT, i), whole, 1e-5);
            assert_near(load(max_out, AKGEN_FLOAT, i), max, 1e-4);
            assert_near(load(sum_out, AKGEN_FLOAT, i), sum, 1e-4 * sum);
        }
        for (uint32_t i = 16 * r; update && i < 16 * r + 16; i++)
            assert_near(load(factor_out, AKGEN_FLOAT16, i), factor, 0x1p-9 * factor + 0x1p-14);
    }
}

static void flash_v3(void **state)
{
    (void)state;
    const struct shape shapes[] = {{AKGEN_FLOAT16, AKGEN_FLOAT, 8, 512, 512, false},
                                   {AKGEN_FLOAT16, AKGEN_FLOAT, 16, 640, 640, false},
                                   {AKGEN_FLOAT16, AKGEN_FLOAT, 8, 1024, 1024, false}};
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
        for (int update = 0; update < 2; update++) {
            check_flash_v3(shapes[i], update, 8);
            check_flash_v3(shapes[i], update, 3);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(softmax),     cmocka_unit_test(softmax_of_another_shape),
                                       cmocka_unit_test(log_softmax), cmocka_unit_test(flash),
                                       cmocka_unit_test(flash_v3),    cmocka_unit_test(simple),
                                       cmocka_unit_test(grad),        cmocka_unit_test(adjust)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
