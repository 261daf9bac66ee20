/* Everything is in kernel_operator.h; names that it lacks are errors there (basic/unsupported.h). */
#include "kernel_operator.h"
