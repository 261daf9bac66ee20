#ifndef CANN_ALOG_PUB_H
#define CANN_ALOG_PUB_H

#include "base/alog_pub.h"

#endif
