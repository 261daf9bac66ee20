#ifndef CANN_RUNTIME_STORAGE_SHAPE_H
#define CANN_RUNTIME_STORAGE_SHAPE_H

#include "exe_graph/runtime/storage_shape.h"

#endif
