#ifndef CANN_RUNTIME_TILING_CONTEXT_H
#define CANN_RUNTIME_TILING_CONTEXT_H

#include "exe_graph/runtime/tiling_context.h"

#endif
