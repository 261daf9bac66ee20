#ifndef CANN_OP_HOST_INFERSHAPE_REDUCE_UTIL_H
#define CANN_OP_HOST_INFERSHAPE_REDUCE_UTIL_H

#include "op_common/op_host/infershape_reduce_util.h"

#endif
