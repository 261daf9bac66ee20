/* The machine's own organs: GM and its shadow, fibers, the scalar cache, the end of a run. Instructions see none of it.
 */
#ifndef NPU_MACHINE_INTERNAL_H
#define NPU_MACHINE_INTERNAL_H

#include "npu/npu_internal.h"

/* Global memory (gm.c). Each byte of GM has a state. It is kept once per chunk while the chunk is uniform, per byte
 * (`fine`) where it is not. */
enum {
    GM_CHUNK = 256,
    GM_NEVER = 0,       /* never written */
    GM_WRITERS = 200,   /* 1..200: written in this epoch by the core with (index % 200) + 1 */
    GM_CONFLICT = 0xFB, /* written in this epoch by several blocks with different values */
    GM_MIXED = 0xFC,    /* chunks only: look at the bytes */
    GM_ATOMIC = 0xFD,   /* accumulated in this epoch */
    GM_UNDEFINED = 0xFE,
    GM_DEFINED = 0xFF /* before this epoch */
};
struct npu_gm_region {
    const char *name;
    uint8_t *base;
    size_t bytes;
    size_t readable, writable; /* bytes behind them that copies may touch; they have no state */
    enum npu_gm_kind kind;
    int index;
    uint8_t initial;                    /* state of every byte while `coarse` is NULL */
    uint8_t *coarse;                    /* one state per chunk */
    uint8_t *fine;                      /* one state per byte, touched only where a chunk is mixed */
    size_t dirty_low, dirty_high;       /* offsets written in this epoch; low >= high: none */
    uint64_t writer_pc[GM_WRITERS + 1]; /* last store of each writer in this epoch */
    int atomic_writer;                  /* core that accumulated in this epoch, -1 none, -2 several */
};
static inline uint8_t gm_writer(const struct npu_core *core)
{
    return (uint8_t)(core->index % GM_WRITERS + 1);
}
void gm_region_free(struct npu_gm_region *region);
/* The region of a core's access; the last one is tried first. */
static inline struct npu_gm_region *gm_region_of(struct npu_core *core, uint64_t addr)
{
    struct npu_gm_region *region = core->region;
    if (region && addr - (uint64_t)region->base < region->bytes)
        return region;
    region = npu_gm_find(core->npu, addr);
    if (region)
        core->region = region;
    return region;
}
/* Traps unless [addr, addr+bytes) lies in one region; returns it. */
struct npu_gm_region *gm_check(struct npu_core *core, const char *operand, uint64_t addr, uint64_t bytes);
/* As gm_check, for a copy: it may reach the padding, which is noted. Returns how many bytes lie in the tensor. */
uint64_t gm_check_copy(struct npu_core *core, const char *operand, uint64_t addr, uint64_t bytes, bool write);
/* Notes a read for the race detector and reports bytes that another core wrote in this epoch. */
void gm_read(struct npu_core *core, const char *operand, uint64_t addr, uint64_t bytes);
/* True if another core wrote one of these bytes in this epoch. */
bool gm_written_by_others(struct npu_core *core, const struct npu_gm_region *region, uint64_t addr, uint64_t bytes);
/* Reads of addr so far were polls, no race. */
void gm_forget_reads(struct npu_core *core, const struct npu_gm_region *region, uint64_t addr);
/* Before a store: keeps the old values of bytes that another core wrote in this epoch, for npu_gm_written to compare.
 */
void gm_expect_write(struct npu_core *core, uint64_t addr, uint64_t bytes);
void gm_forget_expected(struct npu_core *core);
/* As npu_gm_written, with the old values of [at, at+bytes) at hand (NULL: unchanged where written by others). */
void gm_commit(struct npu_core *core, struct npu_gm_region *region, uint64_t at, size_t bytes, const uint8_t *old,
               bool defined, bool atomic);
struct npu_gm_view *gm_view_create(void);
void gm_view_destroy(struct npu_gm_view *view);
/* All cores have met: reports what they read from each other, then everything written counts as before. */
void gm_epoch_end(struct npu *npu);
/* Bytes of an output that hold undefined values at the end are a fault, those that were never written a note. */
void gm_report_undefined(struct npu *npu);

/* Scalar cache (dcache.c). */
struct npu_dcache *dcache_create(void);
void dcache_destroy(struct npu_dcache *cache);
/* Before a scalar access of GM: the line is filled. Returns false if the bytes are not all the core's own dirty ones.
 */
bool dcache_access(struct npu_core *core, struct npu_gm_region *region, uint64_t addr, uint32_t bytes, bool write);
/* Memory shows what the core sees (in) or what GM holds (out). */
void dcache_swap_in(struct npu_core *core);
void dcache_swap_out(struct npu_core *core);
bool dcache_empty(const struct npu_core *core);
/* DataCacheCleanAndInvalid of the line that holds addr; of all. The core must be swapped in. */
void dcache_clean_line(struct npu_core *core, uint64_t addr);
void dcache_clean_all(struct npu_core *core);

/* Fibers (fiber.c). */
struct npu_fiber {
    struct npu_core *core;
    struct fiber_context *context;
    bool started, done;
    bool (*ready)(void *argument); /* NULL: can run */
    void *argument;
    const char *waits_for;
    int waits_flag, waits_mode; /* a cross-core flag and the mode that the wait names; -1: no flag */
    uint64_t waits_pc;
};
/* Runs body(core) on its own stack until it yields, waits or ends (fiber->done). */
void fiber_resume(struct npu_fiber *fiber, void (*body)(struct npu_core *core));
/* Leaves the running fiber for ever: the run has ended. */
_Noreturn void fiber_abandon(struct npu_fiber *fiber);
void fiber_yield(struct npu_core *core);
/* Gives the stack back for the next fiber. */
void fiber_release(struct npu_fiber *fiber);
bool fiber_on_stack(const struct npu_fiber *fiber, uint64_t addr);
/* The guard below the stack of the running fiber holds addr. */
bool fiber_in_guard(const struct npu_fiber *fiber, uint64_t addr);
struct npu_fibers *fibers_create(void);
void fibers_destroy(struct npu_fibers *fibers);

/* Faults (fault.c). */
void fault_install_signals(void);
void fault_restore_signals(void);
/* Makes the division at which a signal stopped the program yield a number (divide.c); false if it is no division. */
bool divide_step_over(void *context);
/* Where something happened, when it is not the running instruction. */
struct npu_place {
    int core, pipe;
    bool aic;
    uint64_t pc, pc_other;
    const char *api;
};
/* As npu_note. */
void fault_record(struct npu *npu, bool fatal, enum npu_fault fault, const char *operand, const struct npu_place *place,
                  const char *format, ...) __attribute__((format(printf, 6, 7)));

/* Definedness of UB (shadow.c). */
/* A store of undefined bytes to GM: remembered, a fault if they are still there at the end. */
void gm_remember_undefined(struct npu_core *core, struct npu_gm_region *region, uint64_t at, size_t bytes,
                           enum npu_fault fault, uint64_t pc_other);

/* Cross-core synchronisation (cross_core.c). */
enum { NPU_CROSS_FLAGS = 16, NPU_CROSS_MODES = 3, NPU_CROSS_LIMIT = 15 /* a flag's counter */ };
struct npu_clock;
/* One flag of one core. */
struct npu_cross_flag {
    uint32_t sets[NPU_CROSS_MODES]; /* CrossCoreSetFlag calls of this core */
    uint32_t counter;               /* rounds that this core may wait for; waited: those that it has */
    uint32_t waited;
    uint64_t pc; /* the set that finished the newest round */
    struct npu_clock
        *set_clocks; /* rings of 16 snapshots, one clock per core each; NULL where SyncAll alone orders the cores */
    struct npu_clock *round_clocks;
};
/* One word of IBSet and IBWait. */
struct npu_pair_clocks {
    uint64_t at;
    struct npu_clock *clocks; /* one per core */
};
/* A SyncAll of either kind. The clocks are NULL until one is needed. */
struct npu_meeting {
    int arrived;                /* in the current one */
    uint64_t generation;        /* completed */
    struct npu_clock *gathered; /* what came before those who have arrived */
    struct npu_clock *met[2]; /* what came before the last one but one and the last, by generation: who is slow to go on
                               * has nothing to do with those who are already in the next */
};
struct npu_sync_state {
    struct npu_meeting hard, soft;
    struct npu_pair_clocks *pairs; /* sorted by address */
    size_t pair_count;
    struct npu_cross_flag *flags; /* [core][NPU_CROSS_FLAGS] */
    bool used;                    /* the kernel synchronises its cores by hardware */
};
void cross_core_begin(struct npu *npu);
/* A word in GM that blocks write and read past the scalar cache: what the scalar unit of its writer has waited for
 * comes before what its reader does afterwards. begin: before such a write; false if the launch is too large for that.
 * acquire: false if nobody has written the word so. */
bool cross_core_word_begin(struct npu_core *core);
void cross_core_word_release(struct npu_core *core, uint64_t at);
bool cross_core_word_acquire(struct npu_core *core, uint64_t at);
/* Notes flags that were set and that nobody has waited for. */
void cross_core_report(struct npu *npu);
void cross_core_end(struct npu *npu);
/* "CrossCoreWaitFlag<2>(3), which 1 of 2 AIVs of its block have set": what a waiting core waits for. */
void cross_core_describe(const struct npu_core *core, char *text, size_t bytes);
/* "block 3"; "AIC 0", "AIV 5" where both kinds run. */
const char *core_name(const struct npu_core *core, char *text, size_t bytes);

/* Order between cores (between.c). Where AICs and AIVs run together, and from the first IBSet or IBWait on, some cores
 * are ordered and others not: each core keeps what of every other one happened before, and which GM bytes it has
 * touched when. Elsewhere a meeting of all cores ends an epoch (gm.c). */
enum between_access { BETWEEN_READ, BETWEEN_WRITE };
struct npu_between *between_create(int cores);
void between_destroy(struct npu_between *between);
/* What has happened before a flag that the core sets on a lane: one clock per core, joined into `clocks`. */
void between_release(struct npu_core *core, int lane, struct npu_clock *clocks);
/* Everything that the core does from now on comes after `clocks`. */
void between_acquire(struct npu_core *core, const struct npu_clock *clocks);
/* The running access of [low, high) (offsets): a read by MTE2 about to be issued, or a write that executes. */
void between_log(struct npu_core *core, enum between_access access, struct npu_gm_region *region, size_t low,
                 size_t high, bool atomic);
/* The first part of [low, high) that another core has accessed and that nothing orders before the running core. */
struct between_conflict {
    const struct npu_core *core;
    size_t low, high;
    uint64_t pc;
};
bool between_find(const struct npu_core *core, enum between_access access, const struct npu_gm_region *region,
                  size_t low, size_t high, bool atomic, struct between_conflict *conflict);

/* Matmul objects between AIVs and AICs (adv/matmul_queue.c). */
void matmul_launch_end(struct npu *npu);

/* The machine (machine.c). */
struct npu_undefined_store {
    struct npu_gm_region *region;
    uint64_t low, high; /* offsets */
    enum npu_fault fault;
    int core;
    bool aic;
    uint64_t pc, pc_other;
    const char *api;
};
enum { NPU_MAX_FINDINGS = 256, NPU_MAX_UNDEFINED = 256 };
struct npu {
    struct npu_config config;
    struct arena arena;
    struct npu_gm_region **regions; /* sorted by base */
    int region_count;
    uint64_t gm_low, gm_high;      /* hull of the regions and the span */
    uint64_t span_low, span_bytes; /* npu_gm_span */
    uint64_t sys_workspace;        /* what SetSysWorkspace was given; 0 = not called */
    struct npu_finding findings[NPU_MAX_FINDINGS];
    size_t finding_count, last_finding;
    bool fatal;
    bool ended; /* a trap: nothing more is recorded */
    struct npu_undefined_store undefined[NPU_MAX_UNDEFINED];
    int undefined_count;
    /* the launch in progress */
    void *kernel;
    uint64_t args[NPU_MAX_ARGS];
    int block_dim, core_count;
    int aic, aiv;           /* cores of each block */
    int wave_blocks;        /* blocks that run at a time */
    struct npu_core *cores; /* block after block, the AIC of a block before its AIVs */
    struct npu_fiber *core_fibers;
    struct npu_sync_state sync;
    struct npu_matmul_queues *matmul; /* what AIVs ask of their AICs; NULL before the first Matmul object */
    struct rng rng;                   /* order of the blocks under a random schedule */
    struct npu_stats stats;
    struct ub_memory *free_ub[2]; /* of AIVs, of AICs */
    struct npu_fibers *fibers;
};

#endif
