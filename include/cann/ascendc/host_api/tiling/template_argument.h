// Tiling keys made of template parameters (ASCENDC_TPL_*): CANN has them, this project lacks them.
#ifndef CANN_ASCENDC_HOST_API_TILING_TEMPLATE_ARGUMENT_H
#define CANN_ASCENDC_HOST_API_TILING_TEMPLATE_ARGUMENT_H

#define ASCENDC_TPL_ARGS_DECL(...) static_assert(false, "akgen-unsupported: ASCENDC_TPL_ARGS_DECL")
#define ASCENDC_TPL_SEL(...)       static_assert(false, "akgen-unsupported: ASCENDC_TPL_SEL")
#define ASCENDC_TPL_SEL_PARAM(...) static_assert(false, "akgen-unsupported: ASCENDC_TPL_SEL_PARAM")
#define GET_TPL_TILING_KEY(...)    AkgenTilingKeyOfTemplate()
__attribute__((unavailable("akgen-unsupported: GET_TPL_TILING_KEY"))) unsigned long AkgenTilingKeyOfTemplate();

#endif
