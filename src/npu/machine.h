/* The machine and the launch in progress. Instructions see none of it but through what the floors make of it. */
#ifndef NPU_MACHINE_H
#define NPU_MACHINE_H

#include "base/arena.h"
#include "base/random.h"
#include "npu/npu_internal.h"

struct npu_undefined_store {
    struct npu_gm_region *region;
    uint64_t low, high; /* offsets */
    const struct npu_fault *fault;
    int core;
    bool aic;
    uint64_t pc, pc_other;
    const char *api;
};
/* A conflict that matters if what it spoils is used (order/weigh.c): its finding. */
struct npu_race {
    const char *fault;
    uint64_t pc, pc_other;
};
enum { NPU_MAX_FINDINGS = 256, NPU_MAX_UNDEFINED = 256, NPU_MAX_OWN = 16 };
struct npu {
    struct npu_config config;
    struct arena arena;
    struct npu_gm_region **regions; /* sorted by base */
    int region_count;
    uint64_t gm_low, gm_high;      /* hull of the regions and the span */
    uint64_t span_low, span_bytes; /* npu_gm_span */
    struct npu_finding findings[NPU_MAX_FINDINGS];
    size_t finding_count, last_finding;
    struct npu_variables {
        uint8_t *base, *initial;
        size_t bytes;
    } variables[2]; /* launch/own_variables.c */
    /* own_memory.c: what is known of the kernel's objects */
    struct npu_own_range {
        uint64_t base, bytes;
        bool write;
    } own[NPU_MAX_OWN];
    int own_count;
    bool confined;
    const struct npu_block_mix *blocks[2]; /* of AIVs, of AICs */
    size_t block_count[2];
    const struct npu_callback *callbacks;
    size_t callback_count;
    bool fatal;
    bool ended;                   /* a trap: nothing more is recorded */
    const struct npu_core *spent; /* steps.c: the core that took the launch's last step; NULL: there are some left */
    struct npu_endless endless[NPU_MAX_ENDLESS];
    size_t endless_count;
    struct npu_undefined_store undefined[NPU_MAX_UNDEFINED];
    int undefined_count;
    struct npu_race *races;
    size_t race_count, race_room;
    bool race_used;                 /* an undefined value is in a register */
    struct npu_racing_read *racing; /* npu_racing_reads */
    size_t racing_count, racing_room;
    bool racing_lost; /* there are more */
    /* the launch in progress */
    void *kernel;
    uint64_t args[NPU_MAX_ARGS];
    int block_dim, core_count;
    int aic, aiv;           /* cores of each block */
    int wave_blocks;        /* blocks that run at a time */
    struct npu_core *cores; /* block after block, the AIC of a block before its AIVs */
    struct npu_fiber *core_fibers;
    struct npu_cross_core *cross_core; /* sync/cross_core.c: flags, meetings */
    struct npu_matmul_queues *matmul;  /* what AIVs ask of their AICs; NULL before the first Matmul object */
    struct rng rng;                    /* order of the blocks under a random schedule */
    struct npu_stats stats;
    struct npu_timing timing; /* of the last launch */
    size_t tape_bytes;        /* of the tapes of all its cores */
    bool tape_cut;            /* the tapes did not fit into NPU_TAPE_BYTES */
    struct npu_tape_block *tape_blocks;
    struct npu_tape_chunk *tape_rests; /* unused ends of chunks, from tapes that have ended */
    uint32_t tape_meetings;            /* of all its cores so far */
    uint32_t tape_told;                /* numbers that its cores have told each other */
    struct npu_tape_mark {             /* places of tapes that another core has seen, after they were passed */
        int core;
        uint32_t number; /* it tells this one */
        struct npu_tape_place place;
    } *tape_marks;
    size_t tape_mark_count, tape_mark_room;
    struct ub_memory *free_ub[2]; /* of AIVs, of AICs */
    uint64_t next_ub;             /* in NPU_AREA_LOCAL */
    struct npu_fibers *fibers;
};
/* What npu_create was told (core.c). */
const struct npu_config *npu_config_of(const struct npu *npu);

#endif
