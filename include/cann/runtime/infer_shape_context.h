#ifndef CANN_RUNTIME_INFER_SHAPE_CONTEXT_H
#define CANN_RUNTIME_INFER_SHAPE_CONTEXT_H

#include "exe_graph/runtime/infer_shape_context.h"

#endif
