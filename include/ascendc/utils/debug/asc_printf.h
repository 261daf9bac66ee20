/* printf of the device outside namespace AscendC. */
#ifndef ASCENDC_UTILS_DEBUG_ASC_PRINTF_H
#define ASCENDC_UTILS_DEBUG_ASC_PRINTF_H

#include "kernel_operator.h"

using AscendC::printf;

#endif
