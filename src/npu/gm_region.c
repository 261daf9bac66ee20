/* Which GM tensor an address lies in: apart from what the machine does with it, because reports need no machine. */
#include "npu/gm_region.h"

#include "npu/machine.h"

struct npu_gm_region *npu_gm_below(const struct npu *npu, uint64_t addr)
{
    int low = 0, high = npu->region_count;
    while (low < high) {
        int middle = (low + high) / 2;
        if ((uint64_t)npu->regions[middle]->base <= addr)
            low = middle + 1;
        else
            high = middle;
    }
    return low ? npu->regions[low - 1] : NULL;
}

struct npu_gm_region *npu_gm_find(const struct npu *npu, uint64_t addr)
{
    struct npu_gm_region *region = npu_gm_below(npu, addr);
    return region && addr - (uint64_t)region->base < region->bytes ? region : NULL;
}
