// Data types and formats as C names them: C_DT_FLOAT16, C_FORMAT_ND (metadef, graph/c_types.h).
#ifndef ASCENDC_GRAPH_C_TYPES_H
#define ASCENDC_GRAPH_C_TYPES_H

#include "abi/c_codes.h"

#endif
