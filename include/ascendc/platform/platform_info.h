// The chip of the host part; kernels include it and use nothing of it.
#ifndef ASCENDC_PLATFORM_PLATFORM_INFO_H
#define ASCENDC_PLATFORM_PLATFORM_INFO_H

#endif
