/* Tiling keys made of template parameters: the numbers that the kernel's and the host part's template_argument.h share
 * (asc-devkit, include/utils/tiling/template_argument.h). */
#ifndef AKGEN_TEMPLATE_CODES_H
#define AKGEN_TEMPLATE_CODES_H

#include "abi/c_codes.h"

#define ASCENDC_TPL_AIV_ONLY        0
#define ASCENDC_TPL_AIC_ONLY        1
#define ASCENDC_TPL_MIX_AIV_1_0     4
#define ASCENDC_TPL_MIX_AIC_1_0     5
#define ASCENDC_TPL_MIX_AIC_1_1     6
#define ASCENDC_TPL_MIX_AIC_1_2     7
#define ASCENDC_TPL_AICORE          8
#define ASCENDC_TPL_VECTORCORE      9
#define ASCENDC_TPL_MIX_AICORE      10
#define ASCENDC_TPL_MIX_VECTOR_CORE 11
#define ASCENDC_TPL_MAX             12

#define ASCENDC_TPL_1_BW 1
#define ASCENDC_TPL_2_BW 2
#define ASCENDC_TPL_4_BW 4
#define ASCENDC_TPL_8_BW 8

#define ASCENDC_TPL_DTYPE  0
#define ASCENDC_TPL_FORMAT 1
#define ASCENDC_TPL_UINT   2
#define ASCENDC_TPL_BOOL   3

#define ASCENDC_TPL_INPUT_BIAS  100000000
#define ASCENDC_TPL_OUTPUT_BIAS 900000000
#define ASCENDC_TPL_INPUT(x)    (ASCENDC_TPL_INPUT_BIAS + (x))
#define ASCENDC_TPL_OUTPUT(x)   (ASCENDC_TPL_OUTPUT_BIAS + (x))

#define ASCENDC_TPL_UI_RANGE 0
#define ASCENDC_TPL_UI_LIST  1
#define ASCENDC_TPL_UI_MIX   2

/* Declarations of parameters; AKGEN_TPL_PARAM(name, kind, bits, values...) is what either side makes of one. */
#define ASCENDC_TPL_DTYPE_DECL(x, ...)      AKGEN_TPL_PARAM(x, ASCENDC_TPL_DTYPE, ASCENDC_TPL_8_BW, __VA_ARGS__)
#define ASCENDC_TPL_DATATYPE_DECL(x, ...)   ASCENDC_TPL_DTYPE_DECL(x, __VA_ARGS__)
#define ASCENDC_TPL_FORMAT_DECL(x, ...)     AKGEN_TPL_PARAM(x, ASCENDC_TPL_FORMAT, ASCENDC_TPL_8_BW, __VA_ARGS__)
#define ASCENDC_TPL_UINT_DECL(x, bits, ...) AKGEN_TPL_PARAM(x, ASCENDC_TPL_UINT, bits, __VA_ARGS__)
#define ASCENDC_TPL_BOOL_DECL(x, ...)       AKGEN_TPL_PARAM(x, ASCENDC_TPL_BOOL, ASCENDC_TPL_1_BW, __VA_ARGS__)
#define ASCENDC_TPL_KERNEL_TYPE_DECL(x, ...)                                                                           \
    AKGEN_TPL_PARAM(x, ASCENDC_TPL_SHARED_KERNEL_TYPE, ASCENDC_TPL_8_BW, __VA_ARGS__)

#endif
