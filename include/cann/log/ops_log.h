#ifndef CANN_LOG_OPS_LOG_H
#define CANN_LOG_OPS_LOG_H

#include "error/ops_error.h"

#endif
