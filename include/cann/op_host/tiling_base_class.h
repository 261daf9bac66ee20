#ifndef CANN_OP_HOST_TILING_BASE_CLASS_H
#define CANN_OP_HOST_TILING_BASE_CLASS_H

#include "op_common/op_host/tiling_base_class.h"

#endif
