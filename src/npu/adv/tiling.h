/* The tiling structures as the routines read them: struct SoftMaxTiling, struct LayerNormTiling, ... */
#ifndef NPU_ADV_TILING_H
#define NPU_ADV_TILING_H

#include <stdbool.h>
#include <stdint.h>

#define AKGEN_TILING_FIELD(type, name) type name;
#define AKGEN_TILING_STRUCT(name, fields)                                                                              \
    struct name {                                                                                                      \
        fields                                                                                                         \
    };
#include "abi/tiling_structs.def"

#endif
