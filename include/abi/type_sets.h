/* The sets of element types that isa.def and adv.def speak of: bit masks over enum akgen_dtype codes, usable in C and in C++
 * constant expressions. */
#ifndef AKGEN_TYPE_SETS_H
#define AKGEN_TYPE_SETS_H

#include "abi/dtype.h"

#define NPU_T(id) (UINT64_C(1) << AKGEN_##id)
#define NPU_T_FLOATS (NPU_T(FLOAT16) | NPU_T(FLOAT))
#define NPU_T_ARITH (NPU_T_FLOATS | NPU_T(INT16) | NPU_T(INT32))
#define NPU_T_BITS16 (NPU_T(INT16) | NPU_T(UINT16))
#define NPU_T_SHIFT (NPU_T(INT16) | NPU_T(UINT16) | NPU_T(INT32) | NPU_T(UINT32))
#define NPU_T_B16 (NPU_T(FLOAT16) | NPU_T(BF16) | NPU_T(INT16) | NPU_T(UINT16))
#define NPU_T_B32 (NPU_T(FLOAT) | NPU_T(INT32) | NPU_T(UINT32))
#define NPU_T_B16_32 (NPU_T_B16 | NPU_T_B32)
/* Every source type in cast.def. */
#define NPU_T_CAST \
    (NPU_T(INT4) | NPU_T_B8 | NPU_T_FLOATS | NPU_T(BF16) | NPU_T(INT16) | NPU_T(INT32) | NPU_T(INT64))
#define NPU_T_B8 (NPU_T(INT8) | NPU_T(UINT8))
#define NPU_T_TO_B32 (NPU_T_B8 | NPU_T_B16 | NPU_T_B32)
#define NPU_T_B64 (NPU_T(INT64) | NPU_T(UINT64) | NPU_T(DOUBLE))
#define NPU_T_ANY (NPU_T_B8 | NPU_T_B16 | NPU_T_B32 | NPU_T_B64 | NPU_T(BOOL) | NPU_T(COMPLEX64) | NPU_T(INT4))
/* What a mask can be made of, SetCmpMask. */
#define NPU_T_MASKED (NPU_T_TO_B32 | NPU_T(INT64) | NPU_T(UINT64))
/* What a fractal matrix holds, what the cube's loads take, and its product. */
#define NPU_T_MATRIX (NPU_T_TO_B32 | NPU_T(INT4))
#define NPU_T_LOADED (NPU_T_B8 | NPU_T(FLOAT16) | NPU_T(BF16) | NPU_T_B32 | NPU_T(INT4))
#define NPU_T_FACTORS (NPU_T_FLOATS | NPU_T(BF16) | NPU_T(INT8) | NPU_T(INT4))
/* What blocks of 16 x 16 elements can have. */
#define NPU_T_ARRANGED (NPU_T_B8 | NPU_T_BITS16 | NPU_T(FLOAT16) | NPU_T_B32)

#endif
