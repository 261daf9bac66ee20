#ifndef CANN_TOOLCHAIN_SLOG_H
#define CANN_TOOLCHAIN_SLOG_H

#include "base/alog_pub.h"

#endif
