/* The areas' addresses. A base must leave alone what Linux, the loader and AddressSanitizer have fixed places for:
 *   x86-64, 47 bits   programs at 0x555555554000 and above, libraries and stacks below 0x7fffffffffff; AddressSanitizer
 *                     has shadow up to 0x10007fff7fff and its heap from 0x500000000000 on
 *   aarch64, 48 bits  programs at 0xaaaaaaaaa000; shadow up to 0x200fffffffff
 *   aarch64, 39 bits  programs at 0x5555555000; shadow up to 0x1fffffffff
 *   riscv64, 39 bits  addresses below 0x3fffffffff */
#include "npu/area.h"

#include <errno.h>
#include <sys/mman.h>

static const uint64_t bases[] = {UINT64_C(0x300000000000), UINT64_C(0x3000000000), UINT64_C(0x1000000000)};
enum { BASES = sizeof bases / sizeof *bases, PROBE = 4096 };

#define MIB (UINT64_C(1) << 20)
#define GIB (UINT64_C(1) << 30)
/* Of cores and stacks: no power of two, or all of them would compete for the same entries of the host's TLB. */
#define CORE (MIB + 192 * (MIB >> 10))
static const struct {
    uint64_t at, bytes;
    uint64_t step; /* room is taken in multiples of it */
} areas[NPU_AREAS + 1] = {
    [NPU_AREA_TENSORS] = {GIB, 63 * GIB, GIB},
    [NPU_AREA_BLOCKS] = {64 * GIB, 32 * GIB, 64 * MIB},
    [NPU_AREA_LOCAL] = {96 * GIB, 4 * GIB, CORE},
    [NPU_AREA_STACKS] = {100 * GIB, 4 * GIB, CORE},
    [NPU_AREAS] = {104 * GIB, 0, 0},
};

static void *map_at(uint64_t addr, size_t bytes, int fd)
{
    int flags = fd < 0 ? MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE : MAP_SHARED;
    void *wanted = (void *)addr; // NOLINT: the address is what is asked for
    void *at = mmap(wanted, bytes, PROT_READ | PROT_WRITE, flags | MAP_FIXED_NOREPLACE, fd, 0);
    if (at == wanted || at == MAP_FAILED)
        return at;
    munmap(at, bytes); /* Linux before 4.17 takes the address for a hint */
    errno = EEXIST;
    return MAP_FAILED;
}

/* The first base that this machine's addresses reach. The bytes below the areas are there to try. */
static uint64_t find_base(void)
{
    for (int i = 0; i < BASES; i++) {
        void *at = map_at(bases[i], PROBE, -1);
        if (at != MAP_FAILED)
            munmap(at, PROBE);
        if (at != MAP_FAILED || errno == EEXIST) /* another thread is trying it */
            return bases[i];
    }
    return 0;
}

void *npu_area_map(enum npu_area area, uint64_t *next, size_t bytes, int fd)
{
    uint64_t base = find_base(), step = areas[area].step;
    if (!base || bytes > areas[area].bytes) {
        errno = ENOMEM;
        return MAP_FAILED;
    }
    void *at = MAP_FAILED;
    uint64_t offset = *next;
    for (errno = EEXIST; at == MAP_FAILED && errno == EEXIST; offset += step) {
        if (offset > areas[area].bytes - bytes) {
            errno = ENOMEM;
            return MAP_FAILED;
        }
        at = map_at(base + areas[area].at + offset, bytes, fd);
    }
    if (at != MAP_FAILED)
        *next = offset + (bytes + step - 1) / step * step;
    return at;
}

bool npu_area_device(uint64_t *low, uint64_t *bytes)
{
    uint64_t base = find_base();
    *low = base;
    *bytes = base ? areas[NPU_AREA_STACKS].at : 0;
    return base != 0;
}

enum npu_area npu_area_of(uint64_t addr)
{
    for (int i = 0; i < BASES; i++)
        for (int area = 0; area < NPU_AREAS; area++)
            if (addr - (bases[i] + areas[area].at) < areas[area + 1].at - areas[area].at)
                return (enum npu_area)area;
    return NPU_AREAS;
}
