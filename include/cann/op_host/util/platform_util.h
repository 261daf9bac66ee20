#ifndef CANN_OP_HOST_UTIL_PLATFORM_UTIL_H
#define CANN_OP_HOST_UTIL_PLATFORM_UTIL_H

#include "op_common/op_host/util/platform_util.h"

#endif
