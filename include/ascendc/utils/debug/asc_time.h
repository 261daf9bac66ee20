/* Time stamps of the device. */
#ifndef ASCENDC_UTILS_DEBUG_ASC_TIME_H
#define ASCENDC_UTILS_DEBUG_ASC_TIME_H

#include "kernel_operator.h"

/* Utils-API, 调测接口/clock: cycles since the start; here a count that rises. */
AKGEN_API uint64_t clock(void)
{
    return uint64_t(AscendC::GetSystemCycle());
}
AKGEN_API void asc_time_stamp(uint32_t desc_id)
{
    AscendC::PrintTimeStamp(desc_id);
}
/* The part of a kernel that msOpProf records; without that program they do nothing. */
AKGEN_API void asc_prof_start()
{
}
AKGEN_API void asc_prof_stop()
{
}

#endif
