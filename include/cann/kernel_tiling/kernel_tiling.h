// The host's view of what a kernel includes under this name: AscendC::tiling::TCubeTiling and the like.
#ifndef CANN_KERNEL_TILING_KERNEL_TILING_H
#define CANN_KERNEL_TILING_KERNEL_TILING_H

#include "tiling/tiling_structs.h"

#define AKGEN_TILING_FIELD(type, name)
#define AKGEN_TILING_STRUCT(name, fields) using AscendC::tiling::name;
#include "abi/tiling_structs.def"
#endif
