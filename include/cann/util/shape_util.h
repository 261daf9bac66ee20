#ifndef CANN_UTIL_SHAPE_UTIL_H
#define CANN_UTIL_SHAPE_UTIL_H

#include "op_common/op_host/util/shape_util.h"

#endif
