// Of cann-ops' common sources. It holds the words of attention operators' tiling keys, which those operators bring
// along themselves; others include it for what it includes.
#ifndef CANN_TILING_TILING_TYPE_H
#define CANN_TILING_TILING_TYPE_H

#include <cstdint>
#endif
