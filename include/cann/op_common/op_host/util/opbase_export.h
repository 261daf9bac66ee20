#ifndef CANN_OP_COMMON_OP_HOST_UTIL_OPBASE_EXPORT_H
#define CANN_OP_COMMON_OP_HOST_UTIL_OPBASE_EXPORT_H

#define OPBASE_API __attribute__((visibility("default")))

#endif
