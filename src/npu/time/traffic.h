/* What all cores share on the way to global memory (traffic.c): L2, HBM, and how much of either there is in a stretch of time. */
#ifndef NPU_TRAFFIC_H
#define NPU_TRAFFIC_H

#include "npu/time/tape.h"

struct npu_traffic;

/* L2 of so many bytes. */
struct npu_traffic *npu_traffic_create(uint64_t l2_bytes);
void npu_traffic_destroy(struct npu_traffic *traffic);

/* What a transfer asks of each: bytes from L2, bytes of HBM. */
struct npu_demand {
    uint64_t l2, hbm_read, hbm_written;
};
/* Looks the runs of a transfer up in L2, and leaves them there unless they go past it. */
struct npu_demand npu_traffic_look_up(struct npu_traffic *traffic, const struct npu_transfer *transfer);

/* When the bytes have come through, if they start at `start` and take at least `least` cycles: later where others have
 * taken what there is of that time. */
double npu_traffic_take(struct npu_traffic *traffic, double start, double least, const struct npu_demand *demand);

#endif
