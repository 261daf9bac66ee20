#include "npu/where.h"

#include "npu/area.h"
#include "npu/gm_region.h"
#include "npu/machine.h"
#include "npu/memory.h"

#include <stdio.h>

/* Below the first page that Linux maps stand null pointers with an offset; what no user program can reach is no address
 * at all. Both are numbers of the kernel's own making. */
enum { NULL_PAGES = 65536 };
#define BEYOND_ALL (UINT64_C(1) << 47)
/* As far behind a tensor as akgen leaves free at most (gm_memory.c). */
#define REACH (UINT64_C(1) << 30)

static const struct npu_core *core_of(const struct npu *npu, uint64_t addr)
{
    for (int i = 0; i < npu->core_count; i++)
        if (npu->cores[i].ub && npu_in_ub(&npu->cores[i], addr))
            return &npu->cores[i];
    return NULL;
}

void npu_describe_address(const struct npu *npu, uint64_t addr, char *text, size_t bytes)
{
    char name[32];
    const struct npu_core *core = core_of(npu, addr);
    enum npu_area area = npu_area_of(addr);
    if (addr < NULL_PAGES || addr >= BEYOND_ALL)
        snprintf(text, bytes, "address 0x%llx", (unsigned long long)addr);
    else if (core)
        snprintf(text, bytes, "%s of %s at offset %llu", npu_memories[npu_memory_at(core, addr)].name,
                 npu_core_name(core, name, sizeof name),
                 (unsigned long long)(addr - npu_memory_base(core, npu_memory_at(core, addr))));
    else if (area == NPU_AREA_TENSORS || area == NPU_AREA_BLOCKS)
        snprintf(text, bytes, "GM where no tensor lies");
    else if (area == NPU_AREA_LOCAL)
        snprintf(text, bytes, "local memory that no core has");
    else
        snprintf(text, bytes, "%s", area == NPU_AREA_STACKS ? "a block's stack" : "no memory of the device");
}

const struct npu_gm_region *npu_gm_nearest(const struct npu *npu, uint64_t addr)
{
    const struct npu_gm_region *before = npu_gm_below(npu, addr), *after = NULL;
    for (int i = 0; i < npu->region_count && !after; i++)
        if ((uint64_t)npu->regions[i]->base > addr)
            after = npu->regions[i];
    uint64_t end = before ? (uint64_t)before->base + before->bytes : 0;
    uint64_t past = !before ? UINT64_MAX : addr > end ? addr - end : 0;
    uint64_t short_of = after ? (uint64_t)after->base - addr : UINT64_MAX;
    if ((past < short_of ? past : short_of) > REACH)
        return NULL;
    return past <= short_of ? before : after;
}
