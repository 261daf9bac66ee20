#ifndef CANN_GRAPH_TENSOR_H
#define CANN_GRAPH_TENSOR_H

#include "graph/operator.h"

#endif
