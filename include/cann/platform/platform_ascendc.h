#ifndef CANN_PLATFORM_PLATFORM_ASCENDC_H
#define CANN_PLATFORM_PLATFORM_ASCENDC_H

#include "tiling/platform/platform_ascendc.h"

#endif
