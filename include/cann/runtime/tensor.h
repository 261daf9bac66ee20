#ifndef CANN_RUNTIME_TENSOR_H
#define CANN_RUNTIME_TENSOR_H

#include "exe_graph/runtime/tensor.h"

#endif
