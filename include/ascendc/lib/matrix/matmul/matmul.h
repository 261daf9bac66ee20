/* Everything is in lib/matmul_intf.h. */
#include "lib/matmul_intf.h"
