/* Normalisation on the whole machine against loops in double. */
/* test: leaves=covered builds=both */
#include "unit/npu/coverage.h"
#include "unit/npu/adv/case.h"
#include "abi/tiling_abi.h"
#include "npu/adv/tiling.h"

#include <math.h>

enum { MOST = 32768, BLOCK = 32 };
static _Alignas(512) uint8_t x_in[MOST], gx_in[MOST], gamma_in[MOST], beta_in[MOST], y_out[MOST], mean_out[MOST],
    variance_out[MOST], mean_in[MOST], variance_in[MOST];
static const double epsilon = 0.0009765625; /* exact in half */

struct shape {
    uint8_t type;
    uint32_t rows, cols, valid; /* elements of a row in memory, and those that are data */
    uint32_t step;              /* rows at a time */
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

static void fill(uint8_t *at, uint8_t type, uint32_t count, uint32_t seed)
{
    for (uint32_t i = 0; i < count; i++)
        store(at, type, i, ((double)((i * 37 + seed) % 113) / 113 - 0.4) * 4);
}

static uint64_t scalar_bits(uint8_t type, double value)
{
    uint64_t bits = 0;
    store((uint8_t *)&bits, type, 0, value);
    return bits;
}

static struct adv_operand matrix(const struct shape *s, uint8_t *data)
{
    uint32_t size = size_of(s->type);
    return (struct adv_operand){data, s->rows, s->valid * size, s->cols * size};
}

static struct adv_operand vector(uint8_t *data, uint8_t type, uint32_t count)
{
    return (struct adv_operand){data, 1, count * size_of(type), 0};
}

static uint32_t eights(uint32_t n)
{
    return (n + 7) / 8 * 8;
}

static void assert_near(double got, double want, uint8_t type, double scale)
{
    double bound = type == AKGEN_FLOAT ? 0x1p-18 * (fabs(want) + scale) : 0x1p-10 * fabs(want) + 0x1p-17 * scale;
    if (!(fabs(got - want) <= bound))
        fprintf(stderr, "got %.9g, want %.9g within %.3g\n", got, want, bound);
    assert_true(fabs(got - want) <= bound);
}

/* Row r of x, in double; DeepNorm: alpha * x + gx. */
static void input_row(const struct shape *s, uint32_t r, double alpha, bool deep, double *row)
{
    for (uint32_t c = 0; c < s->valid; c++) {
        row[c] = load(x_in, s->type, r * s->valid + c);
        if (deep)
            row[c] = alpha * row[c] + load(gx_in, s->type, r * s->valid + c);
    }
}

static void check_rows(const struct shape *s, uint8_t affine_type, uint8_t stat_type, bool deep, bool rstd, bool gamma,
                       bool beta)
{
    static double row[4096];
    for (uint32_t r = 0; r < s->rows; r++) {
        double mean = 0, variance = 0;
        input_row(s, r, 1.5, deep, row);
        for (uint32_t c = 0; c < s->valid; c++)
            mean += row[c] / s->valid;
        for (uint32_t c = 0; c < s->valid; c++)
            variance += (row[c] - mean) * (row[c] - mean) / s->valid;
        double inverse = 1 / sqrt(variance + epsilon);
        for (uint32_t c = 0; c < s->valid; c++) {
            double want = (row[c] - mean) * inverse * (gamma ? load(gamma_in, affine_type, c) : 1) +
                          (beta ? load(beta_in, affine_type, c) : 0);
            assert_near(load(y_out, s->type, r * s->valid + c), want, s->type, 16);
        }
        assert_near(load(mean_out, stat_type, r), mean, stat_type, 4);
        assert_near(load(variance_out, stat_type, r), rstd ? inverse : variance, stat_type, 16);
    }
}

static void check_layer_norm(struct shape s, bool deep, bool reuse)
{
    uint32_t count = s.rows * s.cols, buffers = reuse ? 2 : 3;
    uint32_t statistics = s.type == AKGEN_FLOAT16 ? eights(s.rows) : 0, one = s.step * s.cols;
    static struct LayerNormTiling t;
    t = (struct LayerNormTiling){.bLength = 1,
                                 .sLength = s.rows,
                                 .hLength = s.cols,
                                 .originalHLength = s.valid,
                                 .inputXSize = count,
                                 .meanVarSize = s.rows,
                                 .numberOfTmpBuf = buffers,
                                 .varianceTmpTensorPos = eights(s.rows),
                                 .tmpBufSize = 2 * statistics + buffers * one,
                                 .oneTmpSize = one,
                                 .firstTmpStartPos = 2 * statistics,
                                 .secondTmpStartPos = 2 * statistics + one,
                                 .thirdTmpStartPos = 2 * statistics + 2 * one,
                                 .lastDimValueBack = 1.0F / (float)s.valid};
    fill(x_in, s.type, count, 3);
    fill(gx_in, s.type, count, 50);
    fill(gamma_in, s.type, s.cols, 70);
    fill(beta_in, s.type, s.cols, 90);
    adv_now = (struct adv_case){
        .call = {.op = deep ? NPU_ADV_DEEP_NORM : NPU_ADV_LAYER_NORM,
                 .type = s.type,
                 .flags = reuse ? NPU_ADV_REUSE_SOURCE : 0,
                 .scalar = {scalar_bits(s.type, epsilon), scalar_bits(s.type, 1.5)},
                 .tiling = &t},
        .in = {matrix(&s, x_in), vector(gamma_in, s.type, s.cols), vector(beta_in, s.type, s.cols)},
        .out = {matrix(&s, y_out), vector(mean_out, s.type, s.rows), vector(variance_out, s.type, s.rows)},
        .tmp_bytes = t.tmpBufSize * 4};
    if (deep)
        adv_now.in[3] = matrix(&s, gx_in);
    adv_run_clean();
    check_rows(&s, s.type, s.type, deep, false, true, true);
}

typedef void shape_test(struct shape s);
static void for_each_shape(shape_test *run, bool padded)
{
    static const uint32_t rows[] = {1, 5, 8, 19}, cols[] = {8, 16, 48, 64, 72, 128, 208};
    for (int half = 0; half < 2; half++)
        for (size_t c = 0; c < sizeof cols / sizeof *cols; c++)
            for (size_t r = 0; r < sizeof rows / sizeof *rows; r++)
                for (uint32_t step = 1; step <= rows[r]; step += 8) {
                    if (half && cols[c] % 16)
                        continue;
                    struct shape s = {half ? AKGEN_FLOAT16 : AKGEN_FLOAT, rows[r], cols[c], cols[c], step};
                    s.valid -= padded ? 3 : 0;
                    run(s);
                }
}

static void layer_norm_of(struct shape s)
{
    check_layer_norm(s, false, false);
    if (s.type == AKGEN_FLOAT)
        check_layer_norm(s, false, true);
}

static void layer_norm(void **state)
{
    (void)state;
    for_each_shape(layer_norm_of, false);
    adv_now.tmp_bytes -= 4;
    assert_string_equal(adv_run(0), "adv_tmp_too_small");
    ((struct LayerNormTiling *)adv_now.call.tiling)->oneTmpSize = 0;
    assert_string_equal(adv_run(0), "adv_tiling");
}

static void deep_norm_of(struct shape s)
{
    check_layer_norm(s, true, false);
    if (s.type == AKGEN_FLOAT)
        check_layer_norm(s, true, true);
}

/* Its sums leave padding out. */
static void deep_norm(void **state)
{
    (void)state;
    for_each_shape(deep_norm_of, false);
    for_each_shape(deep_norm_of, true);
}

static void rms_norm_of(struct shape s)
{
    uint32_t main_rows = eights(s.step), main = s.step * s.cols;
    static struct RmsNormTiling t;
    t = (struct RmsNormTiling){.bLength = s.rows,
                               .sLength = 1,
                               .hLength = s.cols,
                               .originalHLength = s.valid,
                               .reciprocalOfHLength = 1.0F / (float)s.valid,
                               .mainBshLength = main,
                               .mainBsLength = s.step,
                               .mainBsLengthAlign = main_rows};
    fill(x_in, s.type, s.rows * s.cols, 3);
    fill(gamma_in, s.type, s.cols, 70);
    adv_now = (struct adv_case){
        .call = {.op = NPU_ADV_RMS_NORM, .type = s.type, .scalar = {scalar_bits(s.type, epsilon)}, .tiling = &t},
        .in = {matrix(&s, x_in), vector(gamma_in, s.type, s.cols)},
        .out = {matrix(&s, y_out)},
        .tmp_bytes = (main_rows + (s.type == AKGEN_FLOAT ? 1 : 2) * main) * 4};
    adv_run_clean();
    for (uint32_t r = 0; r < s.rows; r++) {
        double sum = 0;
        for (uint32_t c = 0; c < s.valid; c++)
            sum += pow(load(x_in, s.type, r * s.valid + c), 2);
        for (uint32_t c = 0; c < s.valid; c++) {
            double x = load(x_in, s.type, r * s.valid + c);
            assert_near(load(y_out, s.type, r * s.valid + c),
                        x / sqrt(sum / s.valid + epsilon) * load(gamma_in, s.type, c), s.type, 4);
        }
    }
}

static void rms_norm(void **state)
{
    (void)state;
    for_each_shape(rms_norm_of, false);
    for_each_shape(rms_norm_of, true);
}

static void check_rstd(struct shape s, uint8_t affine_type, bool gamma, bool beta)
{
    uint32_t one = s.step * s.cols, statistics = eights(s.rows), affine = affine_type == AKGEN_FLOAT16 ? 2 * s.cols : 0;
    static struct LayerNormSeparateTiling t;
    t = (struct LayerNormSeparateTiling){.aLength = s.rows,
                                         .rLength = s.valid,
                                         .oneTmpSize = one,
                                         .firstTmpStartPos = statistics,
                                         .secondTmpStartPos = statistics + one,
                                         .rValueBack = 1.0F / (float)s.valid};
    fill(x_in, s.type, s.rows * s.cols, 3);
    fill(gamma_in, affine_type, s.cols, 70);
    fill(beta_in, affine_type, s.cols, 90);
    uint32_t space = 2 * one + affine > s.rows ? 2 * one + affine : s.rows;
    adv_now = (struct adv_case){
        .call = {.op = NPU_ADV_LAYER_NORM_RSTD,
                 .type = s.type,
                 .dst_type = affine_type,
                 .shape = {s.rows, s.valid, s.cols},
                 .scalar = {scalar_bits(AKGEN_FLOAT, epsilon)},
                 .tiling = &t},
        .in = {matrix(&s, x_in)},
        .out = {matrix(&s, y_out), vector(mean_out, AKGEN_FLOAT, s.rows), vector(variance_out, AKGEN_FLOAT, s.rows)},
        .tmp_bytes = (statistics + space) * 4};
    if (gamma)
        adv_now.in[1] = vector(gamma_in, affine_type, s.valid);
    if (beta)
        adv_now.in[2] = vector(beta_in, affine_type, s.valid);
    adv_run_clean();
    check_rows(&s, affine_type, AKGEN_FLOAT, false, true, gamma, beta);
}

static void rstd_of(struct shape s)
{
    check_rstd(s, s.type, true, true);
    if (s.type == AKGEN_FLOAT16)
        check_rstd(s, AKGEN_FLOAT, true, true);
    if (s.step == 1)
        for (int without = 0; without < 3; without++)
            check_rstd(s, s.type, without & 1, without & 2);
}

static void layer_norm_with_rstd(void **state)
{
    (void)state;
    for_each_shape(rstd_of, false);
    for_each_shape(rstd_of, true);
}

static void normalize_of(struct shape s)
{
    fill(x_in, s.type, s.rows * s.cols, 3);
    fill(gamma_in, s.type, s.cols, 70);
    fill(beta_in, s.type, s.cols, 90);
    fill(mean_in, AKGEN_FLOAT, s.rows, 20);
    for (uint32_t r = 0; r < s.rows; r++)
        store(variance_in, AKGEN_FLOAT, r, 0.5 + r);
    uint32_t space = 2 * s.step * s.cols + (s.type == AKGEN_FLOAT16 ? 2 * s.cols : 0);
    adv_now =
        (struct adv_case){.call = {.op = NPU_ADV_NORMALIZE,
                                   .type = s.type,
                                   .dst_type = s.type,
                                   .shape = {s.rows, s.valid, s.cols},
                                   .scalar = {scalar_bits(AKGEN_FLOAT, epsilon)}},
                          .in = {matrix(&s, x_in), vector(gamma_in, s.type, s.valid), vector(beta_in, s.type, s.valid),
                                 vector(mean_in, AKGEN_FLOAT, s.rows), vector(variance_in, AKGEN_FLOAT, s.rows)},
                          .out = {[0] = matrix(&s, y_out), [2] = vector(variance_out, AKGEN_FLOAT, s.rows)},
                          .tmp_bytes = (space > s.rows ? space : s.rows) * 4};
    adv_run_clean();
    for (uint32_t r = 0; r < s.rows; r++) {
        double inverse = 1 / sqrt(0.5 + r + epsilon);
        assert_near(load(variance_out, AKGEN_FLOAT, r), inverse, AKGEN_FLOAT, 1);
        for (uint32_t c = 0; c < s.valid; c++) {
            double x = load(x_in, s.type, r * s.valid + c) - load(mean_in, AKGEN_FLOAT, r);
            double want = x * inverse * load(gamma_in, s.type, c) + load(beta_in, s.type, c);
            assert_near(load(y_out, s.type, r * s.valid + c), want, s.type, 16);
        }
    }
}

static void normalize(void **state)
{
    (void)state;
    for_each_shape(normalize_of, false);
    for_each_shape(normalize_of, true);
}

/* rows of `cols` elements: the columns are normalised, gamma and beta belong to the rows. */
static void check_batch_norm(uint8_t type, uint32_t rows, uint32_t cols, uint32_t step)
{
    static struct akgen_BatchNormTiling t;
    struct akgen_shape shape = {.rank = 3, .dims = {rows, 1, cols}};
    uint32_t statistics = type == AKGEN_FLOAT16 ? 2 * cols : 0, space = (statistics + 3 * rows * step) * 4, max, min;
    assert_true(akgen_tmp_batch_norm(&shape, &shape, size_of(type), false, &max, &min));
    space = space < min ? min : space;
    assert_true(akgen_batch_norm_tiling(&shape, &shape, space, size_of(type), false, &t));
    fill(x_in, type, rows * cols, 3);
    fill(gamma_in, type, rows, 70);
    fill(beta_in, type, rows, 90);
    adv_now = (struct adv_case){
        .call = {.op = NPU_ADV_BATCH_NORM, .type = type, .scalar = {scalar_bits(type, epsilon)}, .tiling = &t},
        .in = {vector(x_in, type, rows * cols), vector(gamma_in, type, rows), vector(beta_in, type, rows)},
        .out = {vector(y_out, type, rows * cols), vector(mean_out, type, cols), vector(variance_out, type, cols)},
        .tmp_bytes = space};
    adv_run_clean();
    for (uint32_t c = 0; c < cols; c++) {
        double mean = 0, variance = 0;
        for (uint32_t r = 0; r < rows; r++)
            mean += load(x_in, type, r * cols + c) / rows;
        for (uint32_t r = 0; r < rows; r++)
            variance += pow(load(x_in, type, r * cols + c) - mean, 2) / rows;
        assert_near(load(mean_out, type, c), mean, type, 4);
        assert_near(load(variance_out, type, c), variance, type, 16);
        for (uint32_t r = 0; r < rows; r++) {
            double x = (load(x_in, type, r * cols + c) - mean) / sqrt(variance + epsilon);
            double want = x * load(gamma_in, type, r) + load(beta_in, type, r);
            assert_near(load(y_out, type, r * cols + c), want, type, 64);
        }
    }
}

static void batch_norm(void **state)
{
    (void)state;
    for (uint32_t rows = 2; rows <= 18; rows += 8)
        for (uint32_t cols = 16; cols <= 112; cols += 48)
            for (uint32_t step = 16; step <= cols; step += 32) {
                check_batch_norm(AKGEN_FLOAT, rows, cols, step);
                check_batch_norm(AKGEN_FLOAT16, rows, cols, step);
            }
    adv_now.tmp_bytes -= 32;
    assert_string_equal(adv_run(0), "adv_tmp_too_small");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(layer_norm), cmocka_unit_test(deep_norm),
                                       cmocka_unit_test(rms_norm),   cmocka_unit_test(layer_norm_with_rstd),
                                       cmocka_unit_test(normalize),  cmocka_unit_test(batch_norm)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
