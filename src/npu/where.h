/* An address in words (where.c), for reports: the same in every run, so never a number that the host's loader chose. */
#ifndef NPU_WHERE_H
#define NPU_WHERE_H

#include "npu/npu_internal.h"

/* "address 0x10", "UB of block 3", "GM where no tensor lies", ...: what an address is that belongs to no tensor. */
void npu_describe_address(const struct npu *npu, uint64_t addr, char *text, size_t bytes);
/* The GM tensor that an address outside every tensor is told by: the nearer of the last one before it and the next one
 * behind it, within reach; NULL if there is none. */
const struct npu_gm_region *npu_gm_nearest(const struct npu *npu, uint64_t addr);

#endif
