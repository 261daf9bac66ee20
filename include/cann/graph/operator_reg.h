#ifndef CANN_GRAPH_OPERATOR_REG_H
#define CANN_GRAPH_OPERATOR_REG_H

#include "graph/operator.h"

#endif
