/* GM past the scalar cache: ReadGmByPassDCache and WriteGmByPassDCache. A line of the cache that holds the same bytes
 * keeps its own, and comes back over them if it is dirty, as on the chip (asc-devkit docs, 标量计算/
 * WriteGmByPassDCache(ISASI)). Blocks signal each other with these accesses: after a block has read a word that
 * another has written, no race is looked for in what it reads; what it writes is ordered after what the word's writers had done. */
#include "npu/gm/dcache.h"
#include "npu/gm/gm.h"
#include "npu/gm_region.h"
#include "npu/report.h"
#include "npu/scalar/access.h"
#include "npu/sync/cross_core.h"

#include <string.h>

uint64_t npu_gm_read_through(uint64_t addr, int size)
{
    NPU_ENTER(core);
    uint64_t bits = 0;
    npu_check_size(core, size);
    struct npu_gm_region *region = gm_check(core, "src", addr, (uint64_t)size);
    core->stats.scalar_loads++;
    npu_scalar_spin(core, region, addr, (uint32_t)size);
    gm_forget_reads(core, region, addr);
    if (gm_written_by_others(core, region, addr, (uint64_t)size))
        gm_count_as_wait(core);
    cross_core_word_acquire(core, addr);
    dcache_swap_out(core);
    memcpy(&bits, (const void *)addr, (size_t)size);
    bool defined = npu_gm_defined(core, (const void *)addr, (size_t)size);
    dcache_swap_in(core);
    if (!defined)
        npu_note(core, true, FAULT(undefined_scalar), "src", core->pc_undefined,
                 "the scalar unit reads bytes of %s that nothing has written (offset %llu)", region->name,
                 (unsigned long long)(addr - (uint64_t)region->base));
    return bits;
}

void npu_gm_write_through(uint64_t addr, int size, uint64_t bits)
{
    NPU_ENTER(core);
    npu_check_size(core, size);
    gm_check(core, "dst", addr, (uint64_t)size);
    core->stats.scalar_stores++;
    bool signals = cross_core_word_begin(core);
    if (!core->schedule) /* program order: what was kept is used by now */
        gm_forget_expected(core);
    dcache_swap_out(core);
    gm_expect_write(core, addr, (uint64_t)size);
    memcpy((void *)addr, &bits, (size_t)size);
    npu_gm_written(core, (const void *)addr, (size_t)size, true, false);
    dcache_swap_in(core);
    if (signals)
        cross_core_word_release(core, addr);
}

int64_t npu_program_counter(void)
{
    return (int64_t)(uint64_t)__builtin_return_address(0);
}
