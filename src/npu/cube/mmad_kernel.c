/* The inner loops of Mmad. Each lane of a vector is one column of C and adds its products in order of k, so the result
 * has the bits of the plain loop on every host. A fused multiply-add has them too where products are exact, and is used
 * only there. */
#include "npu/cube/mmad.h"

#include "base/half.h"

#include <string.h>

typedef float floats __attribute__((vector_size(64), aligned(4)));
typedef int32_t ints __attribute__((vector_size(64), aligned(4)));

/* ROWS rows at a time: their sums stay in registers. */
#define ROWS(vector, count)                                                                                            \
    for (; i + (count) <= m; i += (count)) {                                                                           \
        vector sum[count];                                                                                             \
        for (uint32_t r = 0; r < (count); r++)                                                                         \
            memcpy(&sum[r], c + (i + r) * NPU_MMAD_COLUMNS, sizeof sum[r]);                                            \
        for (uint32_t kk = 0; kk < k; kk++) {                                                                          \
            vector right;                                                                                              \
            memcpy(&right, b + (uint64_t)kk * NPU_MMAD_COLUMNS, sizeof right);                                         \
            _Pragma("clang loop unroll(full)") for (uint32_t r = 0; r < (count); r++) sum[r] +=                        \
                a[(uint64_t)(i + r) * k + kk] * right;                                                                 \
        }                                                                                                              \
        for (uint32_t r = 0; r < (count); r++)                                                                         \
            memcpy(c + (i + r) * NPU_MMAD_COLUMNS, &sum[r], sizeof sum[r]);                                            \
    }

static void fused(uint32_t m, uint32_t k, const float *a, const float *b, float *c)
{
#pragma clang fp contract(fast)
    uint32_t i = 0;
    ROWS(floats, 6)
    ROWS(floats, 1)
}

static void rounded(uint32_t m, uint32_t k, const float *a, const float *b, float *c)
{
#pragma clang fp contract(off)
    uint32_t i = 0;
    ROWS(floats, 6)
    ROWS(floats, 1)
}

void npu_mmad_int(uint32_t m, uint32_t k, const int32_t *a, const int32_t *b, int32_t *c)
{
    uint32_t i = 0;
    ROWS(ints, 4)
    ROWS(ints, 1)
}

void npu_mmad_widen(uint32_t n, const uint16_t *half, float *out)
{
    for (uint32_t i = 0; i < n; i++) {
        half_t value;
        memcpy(&value, half + i, sizeof value);
        out[i] = (float)value;
    }
}

void npu_mmad_float(uint32_t m, uint32_t k, const float *a, const float *b, float *c, bool exact)
{
    (exact ? fused : rounded)(m, k, a, b, c);
}
