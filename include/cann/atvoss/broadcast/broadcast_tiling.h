#include "op_common/atvoss/broadcast/broadcast_tiling.h"
