#ifndef CANN_TILING_BASE_UTIL_H
#define CANN_TILING_BASE_UTIL_H

#include "op_common/op_host/tiling_base_util.h"

#endif
