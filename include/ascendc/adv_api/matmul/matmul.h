/* Matmul and its registration. */
#include "lib/matmul_intf.h"
