#ifndef CANN_EXE_GRAPH_RUNTIME_KERNEL_CONTEXT_H
#define CANN_EXE_GRAPH_RUNTIME_KERNEL_CONTEXT_H

#include "exe_graph/runtime/extended_kernel_context.h"

#endif
