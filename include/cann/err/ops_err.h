#ifndef CANN_ERR_OPS_ERR_H
#define CANN_ERR_OPS_ERR_H

#include "error/ops_error.h"

#endif
