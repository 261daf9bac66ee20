#ifndef CANN_INFERSHAPE_BROADCAST_UTIL_H
#define CANN_INFERSHAPE_BROADCAST_UTIL_H

#include "op_common/op_host/infershape_broadcast_util.h"

#endif
