/* What all cores share on the way to global memory (traffic.c): L2, HBM, and how much of either there is in a stretch of time. */
#ifndef NPU_TIME_TRAFFIC_H
#define NPU_TIME_TRAFFIC_H

#include "npu/time/tape.h"

struct npu_traffic;

/* The L2 and HBM of a chip. `low`: below what is asked for; nothing depends on where in the process the memory lies, but for this distance. */
struct npu_traffic *npu_traffic_create(const struct npu_soc *soc, uint64_t low);
/* Bytes per cycle that HBM and L2 have for all cores together. */
double npu_traffic_hbm(const struct npu_soc *soc);
double npu_traffic_l2(const struct npu_soc *soc);
void npu_traffic_destroy(struct npu_traffic *traffic);

/* What L2 does with the runs of a transfer: bytes that go through it, that come from HBM, that leave it for HBM. */
struct npu_looked_up {
    int64_t l2, hbm_read, hbm_written;
};
enum { NPU_TRAFFIC_RECENT_BITS = 4, NPU_TRAFFIC_RECENT = 1 << NPU_TRAFFIC_RECENT_BITS };
/* Looks the runs up in L2, and leaves them there unless they go past it. `recent` is the asking core's, zeros at first. */
struct npu_looked_up npu_traffic_look_up(struct npu_traffic *traffic, const struct npu_transfer *transfer,
                                         uint32_t recent[NPU_TRAFFIC_RECENT]);

/* What a copy asks of the two: bytes, requests that begin at odd places counted as what they keep busy. */
struct npu_demand {
    double l2, hbm;
};
/* How many cores have read the memory around this address within a little while, the asking one among them. */
int npu_traffic_readers(struct npu_traffic *traffic, uint64_t addr, int block, double now);

/* The share of HBM that is taken about then. */
double npu_traffic_load(const struct npu_traffic *traffic, double time);

/* When the bytes have come through, if they start at `start` and take at least `least` cycles: later where others have taken what
 * there is of that time. `rivals` cores, this one among them, ask for something about then: none gets more than its share. */
double npu_traffic_take(struct npu_traffic *traffic, double start, double least, int rivals,
                        const struct npu_demand *demand);

#endif
