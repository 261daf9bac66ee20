/* Tiling keys made of template parameters: as the host's header of the same name, for a kernel that includes it. */
#ifndef ASCENDC_HOST_API_TILING_TEMPLATE_ARGUMENT_H
#define ASCENDC_HOST_API_TILING_TEMPLATE_ARGUMENT_H

#define ASCENDC_TPL_ARGS_DECL(...) static_assert(false, "akgen-unsupported: ASCENDC_TPL_ARGS_DECL")
#define ASCENDC_TPL_SEL(...)       static_assert(false, "akgen-unsupported: ASCENDC_TPL_SEL")

#endif
