#ifndef CANN_PLATFORM_SOC_SPEC_H
#define CANN_PLATFORM_SOC_SPEC_H

#include "tiling/platform/platform_ascendc.h"

#endif
