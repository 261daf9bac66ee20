#ifndef CANN_DLOG_PUB_H
#define CANN_DLOG_PUB_H

#include "toolchain/slog.h"

#endif
