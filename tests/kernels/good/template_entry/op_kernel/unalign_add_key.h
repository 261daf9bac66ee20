#include "ascendc/host_api/tiling/template_argument.h"

// Without a guard, and included twice. The arguments of the kernel's template: a type that is the first input's, a tile out of two ranges and two single
// values, a switch, and a number that no type has.
#define MODE_PLAIN 3
#define MODE_OTHER 9

ASCENDC_TPL_ARGS_DECL(UnalignAdd, ASCENDC_TPL_DATATYPE_DECL(D_T_X, C_DT_FLOAT16, C_DT_FLOAT, ASCENDC_TPL_INPUT(0)),
                      ASCENDC_TPL_UINT_DECL(TILE, ASCENDC_TPL_8_BW, ASCENDC_TPL_UI_MIX, 2, 1, 2, 4, 5, 256, 512),
                      ASCENDC_TPL_BOOL_DECL(SPLIT, 0, 1), ASCENDC_TPL_DTYPE_DECL(MODE, MODE_PLAIN, MODE_OTHER), );

ASCENDC_TPL_SEL(ASCENDC_TPL_ARGS_SEL(ASCENDC_TPL_KERNEL_TYPE_SEL(ASCENDC_TPL_AIV_ONLY),
                                     ASCENDC_TPL_BOOL_SEL(SPLIT, 0, 1), ASCENDC_TPL_DATATYPE_SEL(D_T_X, C_DT_FLOAT16),
                                     ASCENDC_TPL_UINT_SEL(TILE, ASCENDC_TPL_UI_LIST, 512, 256),
                                     ASCENDC_TPL_DTYPE_SEL(MODE, MODE_PLAIN, MODE_OTHER), ),
                ASCENDC_TPL_ARGS_SEL(ASCENDC_TPL_KERNEL_TYPE_SEL(ASCENDC_TPL_AIV_ONLY),
                                     ASCENDC_TPL_DATATYPE_SEL(D_T_X, C_DT_FLOAT),
                                     ASCENDC_TPL_UINT_SEL(TILE, ASCENDC_TPL_UI_RANGE, 1, 4, 5),
                                     ASCENDC_TPL_BOOL_SEL(SPLIT, 0), ASCENDC_TPL_DTYPE_SEL(MODE, MODE_PLAIN), ), );
