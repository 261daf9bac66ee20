#ifndef CANN_RUNTIME_TILING_PARSE_CONTEXT_H
#define CANN_RUNTIME_TILING_PARSE_CONTEXT_H

#include "exe_graph/runtime/tiling_parse_context.h"

#endif
