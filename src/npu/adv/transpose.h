/* TransDataTo5HD on lists of addresses, for the APIs that transpose. */
#ifndef NPU_ADV_TRANSPOSE_H
#define NPU_ADV_TRANSPOSE_H

#include "npu/adv/adv.h"

enum { ADV_LIST = 16 }; /* blocks on either side */

/* Followed by a barrier of pipe V. Strides are 32-byte blocks and do not apply to a single repeat. */
void adv_transpose_blocks(struct npu_core *core, uint8_t type, const uint64_t dst[ADV_LIST],
                          const uint64_t src[ADV_LIST], uint32_t repeat, uint32_t dst_rep, uint32_t src_rep);

#endif
