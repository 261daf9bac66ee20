/* The pipes of a core, numbered without the gaps of CANN's numbering. */
#ifndef NPU_LANE_H
#define NPU_LANE_H

enum npu_lane {
#define NPU_PIPE(id, number) NPU_LANE_##id,
#include "abi/pipe.def"
#undef NPU_PIPE
    NPU_LANES = NPU_LANE_ALL
};
enum { NPU_EVENTS = 8 }; /* event ids per pair of pipes: asc-devkit docs, SetFlag-WaitFlag(ISASI) */

#endif
