/* The inner product of Mmad: packed operands, fast loops (mmad_kernel.c). */
#ifndef NPU_CUBE_MMAD_H
#define NPU_CUBE_MMAD_H

#include <stdbool.h>
#include <stdint.h>

enum { NPU_MMAD_COLUMNS = 16 /* of C that are computed together: a column of fractals */ };

/* c[i][0..15] += sum over kk of a[i][kk] * b[kk][0..15], for i in 0..m-1, added in order of kk, one rounding after the
 * product and one after the sum. `exact`: every product is exact in float (factors of at most 12 bits), so that the
 * first rounding does nothing. */
void npu_mmad_float(uint32_t m, uint32_t k, const float *a, const float *b, float *c, bool exact);
/* The same in int32; a sum of 4095 products of 8-bit factors stays inside. */
void npu_mmad_int(uint32_t m, uint32_t k, const int32_t *a, const int32_t *b, int32_t *c);
/* n halves as floats. */
void npu_mmad_widen(uint32_t n, const uint16_t *half, float *out);

#endif
