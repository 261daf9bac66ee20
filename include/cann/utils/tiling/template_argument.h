/* Another path of CANN for the same. */
#include "ascendc/host_api/tiling/template_argument.h"
