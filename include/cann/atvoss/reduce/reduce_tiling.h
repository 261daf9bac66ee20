#include "op_common/atvoss/reduce/reduce_tiling.h"
