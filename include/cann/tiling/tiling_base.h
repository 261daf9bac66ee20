// Part of cann-ops' common sources, not of CANN: published projects include it from there. Named, so that such a
// project is reported as unsupported instead of wrong.
#error "akgen-unsupported: tiling/tiling_base.h"
