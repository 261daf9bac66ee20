#include "tiling/hccl/hccl_tiling.h"
