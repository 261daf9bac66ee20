#ifndef CANN_OP_HOST_UTIL_MATH_UTIL_H
#define CANN_OP_HOST_UTIL_MATH_UTIL_H

#include "op_common/op_host/util/math_util.h"

#endif
