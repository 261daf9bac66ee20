#ifndef CANN_UTIL_OPBASE_EXPORT_H
#define CANN_UTIL_OPBASE_EXPORT_H

#include "op_common/op_host/util/opbase_export.h"

#endif
