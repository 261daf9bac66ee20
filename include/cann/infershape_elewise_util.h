#ifndef CANN_INFERSHAPE_ELEWISE_UTIL_H
#define CANN_INFERSHAPE_ELEWISE_UTIL_H

#include "op_common/op_host/infershape_elewise_util.h"

#endif
