#ifndef CANN_DLOG_PUB_H
#define CANN_DLOG_PUB_H

#include "base/alog_pub.h"

#endif
