/* The scalar cache in front of GM (dcache.c). */
#ifndef NPU_GM_DCACHE_H
#define NPU_GM_DCACHE_H

#include "npu/npu_internal.h"

struct npu_gm_region;

struct npu_dcache *dcache_create(bool aic);
void dcache_destroy(struct npu_dcache *cache);
/* Before a scalar access of GM: the line is filled. Returns false if the bytes are not all the core's own dirty
 * ones. */
bool dcache_access(struct npu_core *core, struct npu_gm_region *region, uint64_t addr, uint32_t bytes, bool write);
/* Memory shows what the core sees (in) or what GM holds (out). */
void dcache_swap_in(struct npu_core *core);
void dcache_swap_out(struct npu_core *core);
bool dcache_empty(const struct npu_core *core);
/* DataCacheCleanAndInvalid of the line that holds addr; of all. The core must be swapped in. */
void dcache_clean_line(struct npu_core *core, uint64_t addr);
void dcache_clean_all(struct npu_core *core);

#endif
