// The chip of the host part; kernels include it and use nothing of it.
#ifndef ASCENDC_PLATFORM_PLATFORM_INFOS_DEF_H
#define ASCENDC_PLATFORM_PLATFORM_INFOS_DEF_H

#endif
