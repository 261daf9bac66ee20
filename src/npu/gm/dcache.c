/* The scalar unit's cache: 64-byte lines in front of GM, one cache per core, not coherent with the others or with DMA.
 *
 * A kernel's raw pointers really read and write memory, so the cache works by exchange: while a core runs, memory shows
 * what the core sees; when it stops (or its DMA looks at GM), the lines that it holds are put aside and memory shows
 * what GM holds. A line that is cleaned is written back whole: 64 bytes, over whatever others wrote there meanwhile.
 * Source: asc-devkit docs/zh/api, DataCacheCleanAndInvalid.md, and docs/zh/guide, 内存模型/缓存一致性.md, which gives an AIV
 * 32 KB and an AIC 16 KB; 8 ways are assumed. A line stays until it is cleaned, its place is needed or the wave of blocks
 * ends. */
#include "npu/gm/dcache.h"

#include "npu/gm/gm.h"
#include "npu/gm_region.h"
#include "npu/report.h"

#include <stdlib.h>
#include <string.h>

enum { LINE = 64, WAYS = 8, SETS = (32 << 10) / (LINE * WAYS), SETS_OF_AIC = SETS / 2 };

struct line {
    uint64_t addr;      /* 0: free slot */
    uint64_t dirty;     /* one bit per byte that the core has stored */
    bool stale;         /* GM has changed since the line was filled */
    uint8_t fill[LINE]; /* what GM held when the line was filled */
    uint8_t gm[LINE];   /* while the core runs: what GM holds */
    uint8_t own[LINE];  /* while it does not: what the core sees */
};
struct npu_dcache {
    struct line *lines[SETS][WAYS]; /* of an AIC the first SETS_OF_AIC */
    uint8_t oldest[SETS];           /* the way that is given up next */
    int count, sets;
    struct line *last;
    bool in; /* memory shows the core's view */
};

struct npu_dcache *dcache_create(bool aic)
{
    struct npu_dcache *cache = calloc(1, sizeof *cache);
    if (!cache)
        abort();
    cache->in = true;
    cache->sets = aic ? SETS_OF_AIC : SETS;
    return cache;
}

/* Every line that is held, in no order. */
#define FOR_LINES(cache, line)                                                                                         \
    for (struct line **at_ = &(cache)->lines[0][0], **end_ = at_ + SETS * WAYS, *line; at_ < end_; at_++)              \
        if ((line = *at_))

void dcache_destroy(struct npu_dcache *cache)
{
    FOR_LINES(cache, line)
    free(line);
    free(cache);
}

bool dcache_empty(const struct npu_core *core)
{
    return core->dcache->count == 0;
}

static int set_of(const struct npu_dcache *cache, uint64_t addr)
{
    return (int)(addr / LINE % (uint64_t)cache->sets);
}

static struct line *find(struct npu_dcache *cache, uint64_t addr)
{
    if (cache->last && cache->last->addr == addr)
        return cache->last;
    struct line **ways = cache->lines[set_of(cache, addr)];
    for (int way = 0; way < WAYS; way++)
        if (ways[way] && ways[way]->addr == addr)
            return cache->last = ways[way];
    return NULL;
}

static void line_clean(struct npu_core *core, struct line *line);

static void drop(struct npu_core *core, struct line **place)
{
    line_clean(core, *place);
    free(*place);
    *place = NULL;
    core->dcache->count--;
    core->dcache->last = NULL;
}

static struct line *fill(struct npu_core *core, uint64_t addr)
{
    struct npu_dcache *cache = core->dcache;
    int set = set_of(cache, addr), way = 0;
    while (way < WAYS && cache->lines[set][way])
        way++;
    if (way == WAYS) {
        way = cache->oldest[set];
        cache->oldest[set] = (uint8_t)((way + 1) % WAYS);
        drop(core, &cache->lines[set][way]);
    }
    struct line *line = calloc(1, sizeof *line);
    if (!line)
        abort();
    line->addr = addr;
    memcpy(line->fill, (const void *)addr, LINE);
    memcpy(line->gm, line->fill, LINE);
    cache->lines[set][way] = line;
    cache->count++;
    return cache->last = line;
}

bool dcache_access(struct npu_core *core, struct npu_gm_region *region, uint64_t addr, uint32_t bytes, bool write)
{
    struct npu_dcache *cache = core->dcache;
    /* What no core writes need not be kept: every view of it is the same. */
    bool keep =
        write || region->kind == NPU_GM_OUTPUT || region->kind == NPU_GM_INOUT || region->kind == NPU_GM_WORKSPACE;
    if (!keep && cache->count == 0)
        return false;
    bool own = true;
    for (uint64_t base = addr & ~(uint64_t)(LINE - 1); base < addr + bytes; base += LINE) {
        struct line *line = find(cache, base);
        if (!line && !keep)
            return false;
        if (!line)
            line = fill(core, base);
        uint64_t low = addr > base ? addr - base : 0, high = addr + bytes - base < LINE ? addr + bytes - base : LINE;
        uint64_t mask = (high - low == 64 ? ~UINT64_C(0) : (UINT64_C(1) << (high - low)) - 1) << low;
        if (write)
            line->dirty |= mask;
        own &= (line->dirty & mask) == mask;
        if (!write && !own && line->stale)
            npu_note(core, false, FAULT(dcache_stale_read), "src0", 0,
                     "the scalar unit reads %s from its cache; GM has changed since, and no DataCacheCleanAndInvalid "
                     "was called",
                     region->name);
    }
    return own;
}

static void line_in(struct line *line)
{
    memcpy(line->gm, (const void *)line->addr, LINE);
    memcpy((void *)line->addr, line->own, LINE);
    line->stale |= memcmp(line->gm, line->fill, LINE) != 0;
}

static void line_out(struct line *line)
{
    memcpy(line->own, (const void *)line->addr, LINE);
    memcpy((void *)line->addr, line->gm, LINE);
}

void dcache_swap_in(struct npu_core *core)
{
    struct npu_dcache *cache = core->dcache;
    if (cache->in)
        return;
    cache->in = true;
    if (cache->count)
        FOR_LINES(cache, line)
    line_in(line);
}

void dcache_swap_out(struct npu_core *core)
{
    struct npu_dcache *cache = core->dcache;
    if (!cache->in)
        return;
    cache->in = false;
    if (cache->count)
        FOR_LINES(cache, line)
    line_out(line);
}

/* Writes a dirty line back whole; a clean one is dropped, so that memory shows GM again. */
static void line_clean(struct npu_core *core, struct line *line)
{
    uint8_t *memory = (uint8_t *)line->addr;
    if (!line->dirty) {
        memcpy(memory, line->gm, LINE);
        return;
    }
    struct npu_gm_region *region = gm_region_of(core, line->addr);
    int clobbered = 0;
    for (int i = 0; i < LINE; i++)
        clobbered += !(line->dirty >> i & 1) && line->gm[i] != memory[i];
    if (clobbered)
        npu_note(core, false, FAULT(dcache_line_shared), "dst", 0,
                 "a cache line of %s is written back whole over %d bytes that were changed meanwhile: SetValue of two "
                 "cores, or of a core and DMA, in one 64-byte line",
                 region->name, clobbered);
    for (int i = 0; i < LINE;) {
        int end = i + 1;
        if (!(line->dirty >> i & 1)) {
            i = end;
            continue;
        }
        while (end < LINE && line->dirty >> end & 1)
            end++;
        gm_commit(core, region, line->addr + (uint64_t)i, (size_t)(end - i), line->gm + i, true, false);
        i = end;
    }
}

void dcache_clean_line(struct npu_core *core, uint64_t addr)
{
    addr &= ~(uint64_t)(LINE - 1);
    struct line **ways = core->dcache->lines[set_of(core->dcache, addr)];
    for (int way = 0; way < WAYS; way++)
        if (ways[way] && ways[way]->addr == addr)
            drop(core, &ways[way]);
}

void dcache_clean_all(struct npu_core *core)
{
    struct npu_dcache *cache = core->dcache;
    for (int set = 0; set < SETS && cache->count; set++)
        for (int way = 0; way < WAYS; way++)
            if (cache->lines[set][way])
                drop(core, &cache->lines[set][way]);
}
