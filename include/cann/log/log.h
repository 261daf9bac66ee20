#ifndef CANN_LOG_LOG_H
#define CANN_LOG_LOG_H

#include "op_common/log/log.h"

#endif
