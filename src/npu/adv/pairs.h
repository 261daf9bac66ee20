/* Pairs of a score and its index, 8 bytes each, as Sort32 makes them and MrgSort merges them. */
#ifndef NPU_ADV_PAIRS_H
#define NPU_ADV_PAIRS_H

#include "npu/adv/adv.h"

enum { ADV_PAIR = 8, ADV_LISTS = 4 };

/* Pairs [first, first+count) of a tensor. */
struct npu_tensor adv_pairs(const struct npu_tensor *tensor, uint32_t first, uint32_t count);
/* Pairs [first, first+count) of src to the same place in dst. */
void adv_copy_pairs(struct npu_core *core, const struct npu_tensor *dst, const struct npu_tensor *src, uint32_t first,
                    uint32_t count);
/* MrgSort of up to four lists, those of no bytes left out; with repeats, of lists of one length that follow each
 * other. */
void adv_merge_lists(struct npu_core *core, uint8_t type, const struct npu_tensor *dst,
                     const struct npu_tensor list[ADV_LISTS], uint32_t repeat);

#endif
