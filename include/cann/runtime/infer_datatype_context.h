#ifndef CANN_RUNTIME_INFER_DATATYPE_CONTEXT_H
#define CANN_RUNTIME_INFER_DATATYPE_CONTEXT_H

#include "exe_graph/runtime/infer_datatype_context.h"

#endif
