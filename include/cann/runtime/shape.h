#ifndef CANN_RUNTIME_SHAPE_H
#define CANN_RUNTIME_SHAPE_H

#include "exe_graph/runtime/shape.h"

#endif
