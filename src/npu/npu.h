/* The machine: a simulated Ascend 910B (NPU_ARCH 2201). A program makes one, tells it which memory is GM, launches a
 * kernel on N blocks and reads the report. Kernels talk to it through abi/npu_abi.h. */
#ifndef NPU_NPU_H
#define NPU_NPU_H

#include "abi/npu_hooks.h"
#include "npu/area.h"
#include "npu/fault.h"
#include "npu/timing.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* "S", "MTE2", ..., "ALL"; "" for what is no pipe. */
const char *npu_pipe_name(int pipe);

/* The chip as data (soc.def, memory.def). */
struct npu_soc {
    const char *name;   /* "Ascend910B2" */
    const char *family; /* "ascend910b": what AddConfig of an OpDef calls it */
    int aic, aiv;       /* cores */
    int mhz;
    uint64_t hbm_bytes, l2_bytes;
    uint32_t ub_bytes;          /* the memory itself; also what TPipe can give */
    uint32_t ub_tiling_bytes;   /* what PlatformAscendC::GetCoreMemSize(UB) tells a tiling function */
    uint32_t ub_reserved_bytes; /* that the documentation reserves unless told otherwise: a note, no limit */
    uint32_t l1_bytes, l0a_bytes, l0b_bytes, l0c_bytes, bt_bytes, fb_bytes;
};
/* Every SoC, ended by an entry whose name is NULL; order as in soc.def, the default first. */
extern const struct npu_soc npu_socs[];
/* By name, ignoring case and an "Ascend" in front; NULL if there is none. */
const struct npu_soc *npu_soc_find(const char *name);

/* One thing the machine noticed. Strings live as long as the machine. */
struct npu_finding {
    const char *fault; /* npu_fault.name */
    enum npu_kind kind;
    bool fatal;          /* a fault; otherwise a note */
    const char *message; /* one sentence: what happened, the rule and its limit */
    const char *api;     /* "DataCopy", or "" */
    const char *operand; /* "dst", "src0", "mask", ... or "" */
    int pipe;            /* enum npu_pipe, -1 none */
    int core;            /* GetBlockIdx of the core that ran it */
    bool aic;            /* that core is an AIC */
    uint64_t pc;         /* return address in the kernel; 0 none */
    uint64_t pc_other;   /* the other access of a conflict, the first reader, ...; 0 none */
    uint64_t count;      /* how often the same (fault, pc, pc_other) happened */
};

/* Kernel types. Which cores a kernel starts for each block: asc-devkit docs/zh/api, Kernel-Tiling/设置Kernel类型,
 * table 2. */
enum npu_kernel_type {
    NPU_TYPE_INFERRED, /* none named: AIV_ONLY, or MIX_AIV_1_0 once the kernel synchronises its cores */
    NPU_TYPE_AIV_ONLY,
    NPU_TYPE_AIC_ONLY,
    NPU_TYPE_MIX_AIV_1_0,
    NPU_TYPE_MIX_AIC_1_0,
    NPU_TYPE_MIX_AIC_1_1,
    NPU_TYPE_MIX_AIC_1_2,
    NPU_TYPE_MISSING,     /* other tiling keys have a type, this one has not, and there is no default */
    NPU_TYPE_NO_INSTANCE, /* the entry is a template without an instance for this tiling key */
    NPU_TYPES
};
/* "AIV_ONLY", "MIX_AIC_1_2", ...; "" for what is no type. */
const char *npu_kernel_type_name(int type);
/* AICs and AIVs that a block of the type has. */
void npu_kernel_type_cores(enum npu_kernel_type type, int *aic, int *aiv);
/* The type of a launch with this tiling key. KERNEL_TASK_TYPE of the key goes before KERNEL_TASK_TYPE_DEFAULT; types of
 * other products (MIX_VECTOR_CORE, AICORE) count as not named: CANN accepts them for a 910B, without an effect. */
struct npu_task_type; /* abi/npu_abi.h */
enum npu_kernel_type npu_kernel_type_choose(const struct npu_task_type *named, size_t count, uint64_t tiling_key);

/* Launching. */
enum npu_gm_kind { NPU_GM_INPUT, NPU_GM_OUTPUT, NPU_GM_INOUT, NPU_GM_WORKSPACE, NPU_GM_TILING, NPU_GM_ADDRESSES };
enum npu_sync { NPU_SYNC_AUTO, NPU_SYNC_MANUAL };

/* A line of the instruction log: what a core issues on a pipe. */
struct npu_log_line {
    int core; /* GetBlockIdx */
    bool aic;
    const char *pipe; /* "V", "MTE2", ...; "ALL" */
    const char *api;  /* "DataCopy", "SetFlag", ... */
    const char *text; /* operands and sizes: "  dst UB+0x0  src0 x+0x800  512 float32" */
    uint64_t pc;      /* return address in the kernel */
};

/* A read of an instruction whose bytes a later one overwrites too early: the instruction of that index on its lane, and
 * the offsets in local memory; both 0: bytes of GM. */
struct npu_racing_read {
    uint32_t core, lane, index, low, high;
};

/* Counts of the work of a launch, which no clock decides. Kernels loop little over much data, so the two kinds have a limit each: one that
 * has no end and touches no data is ended soon. */
struct npu_steps {
    uint64_t control; /* basic blocks, scalar accesses, instructions */
    uint64_t data;    /* bytes of instructions' operands, in NPU_STEP_BYTES */
};
struct npu_config {
    const struct npu_soc *soc;
    enum npu_sync sync;
    bool random_order; /* --schedule=random:SEED */
    uint64_t poison;   /* what UB holds before anything is written; 0: NaNs of every float type */
    bool weigh; /* conflicts that cannot change a result are notes (order/weigh.c); slow, in program order only */
    const struct npu_racing_read
        *racing; /* what a run that weighed found (npu_racing_reads): undefined when it is read */
    size_t racing_count;
    bool no_hazards; /* conflicts go unseen: what finding them costs (benchmarks); in program order only */
    uint64_t seed;
    uint64_t tiling_key;
    enum npu_kernel_type kernel_type;
    void *aic_kernel;            /* the entry compiled for an AIC; needed by the types that start one */
    uint64_t reserved_workspace; /* GetLibApiWorkSpaceSize: what precedes the user's workspace */
    void (*log)(void *closure, const struct npu_log_line *line); /* NULL: no log */
    void *log_closure;
    struct npu_steps steps; /* a launch that has taken so many of either kind is ended: npu_endless(); 0: no limit */
    bool timing;            /* npu_timing() afterwards; in program order only */
    uint64_t filled; /* bytes of outputs that a launch of its own fills before this one, for its time; 0: none is */
    void (*slice)(void *closure,
                  const struct npu_timeline_slice *slice); /* the timeline, cores by turns; NULL: none is wanted */
    void *slice_closure;
};

/* A step of control is a basic block; other work of this kind counts as so many steps, by what it costs the machine. */
enum {
    NPU_STEPS_CALL = 4,         /* a call in a basic block */
    NPU_STEPS_SCALAR = 2,       /* an access of UB or GM by the scalar unit */
    NPU_STEPS_INSTRUCTION = 16, /* of any length */
    NPU_STEP_BYTES = 128,       /* of each operand: a step of data */
    NPU_STEPS_TEXT = 256,       /* a printf, a number that DumpTensor prints */
    NPU_STEPS_RESUME = 256      /* a turn of a core, which others gave it when they waited */
};
/* A place in which cores were when a launch was ended for its steps. */
struct npu_endless {
    uint64_t pc;     /* return address in the kernel: where the outermost loop that they were in begins; 0 none */
    uint64_t rounds; /* of that loop, at least, by the first of the cores; 0: no loop is known */
    int core;        /* GetBlockIdx of the first */
    bool aic;        /* it is an AIC, as the others are */
    int cores;
};

struct npu_stats {
    struct npu_steps steps;
    uint64_t instructions; /* issued, all pipes but S */
    uint64_t scalar_loads, scalar_stores, scalar_blocks;
    uint64_t scalar_mix[NPU_MIXES]; /* operations of those blocks, by kind (enum npu_mix) */
    uint64_t bytes_in, bytes_out;   /* GM->local, local->GM */
    uint64_t path;                  /* a digest of the way that the cores took: basic blocks, addresses of accesses */
    int blocks, waves;
    int cores_busy; /* that moved bytes out of their local memories */
    int cores_spun; /* that read a word of GM which another had written since the last SyncAll, as one that waits does */
    int kernel_type; /* enum npu_kernel_type: named or inferred; 0 before a launch */
};

struct npu;
struct npu *npu_create(const struct npu_config *config);
void npu_destroy(struct npu *npu);

/* Declares [base, base+bytes) to be a GM allocation. base must be aligned to 512 bytes. INPUT, TILING and ADDRESSES
 * start defined, OUTPUT and WORKSPACE undefined unless `defined`, INOUT defined. Accesses outside every region trap. */
void npu_gm_add(struct npu *npu, const char *name, void *base, size_t bytes, enum npu_gm_kind kind, bool defined);

/* Declares that [base, base+bytes) is the device's, with or without tensors in it: pointers into it are the kernel's
 * accesses of GM, and a trap where no tensor and no memory of the core lies. */
void npu_gm_span(struct npu *npu, const void *base, size_t bytes);

/* The allocation of the tensor at `base` goes on behind it. Copies may read `readable` bytes there, which are
 * undefined, and write `writable`, which are lost; both are noted. Without this call it is a trap. */
void npu_gm_padding(struct npu *npu, const void *base, size_t readable, size_t writable);

/* Declares that [base, base+bytes) holds variables of which every core has its own, which begin as they are now. At most
 * twice: for the object of AIVs and for that of AICs. */
void npu_own_variables(struct npu *npu, void *base, size_t bytes);

typedef void npu_kernel(uint64_t args, ...);
enum { NPU_MAX_ARGS = 64 };
/* Runs `kernel` (compiled for an AIV; NULL if the type starts none) on block_dim blocks with the same arguments.
 * Returns true if no fatal finding was recorded. */
bool npu_launch(struct npu *npu, void *kernel, const uint64_t *args, int arg_count, int block_dim);

/* Findings in order of occurrence, equal ones merged (at most 256 kept). Valid until npu_destroy. */
const struct npu_finding *npu_findings(const struct npu *npu, size_t *count);
/* After a launch that weighed: reads that matter if what they read is used, which another launch that weighs can tell.
 * None where they are too many to tell. Sorted; valid until npu_destroy. */
const struct npu_racing_read *npu_racing_reads(const struct npu *npu, size_t *count);
struct npu_stats npu_stats(const struct npu *npu);
/* Returns the places of the cores when the launch was ended for its steps, at most NPU_MAX_ENDLESS; none: it came to an end. */
enum { NPU_MAX_ENDLESS = 8 };
const struct npu_endless *npu_endless(const struct npu *npu, size_t *count);
/* What the launch would take on the chip; after npu_launch. */
struct npu_timing npu_timing(const struct npu *npu);
/* After npu_launch: how many bytes of the region that starts at base were never written (or hold undefined values), and
 * the first such offset in *first. */
size_t npu_gm_undefined(const struct npu *npu, const void *base, size_t *first);

/* What is known of the kernel's objects (abi/npu_hooks.h). From npu_confine() on its accesses reach what was described as
 * its own memory, its stacks, UB and GM; without it (kernels in C, of tests and benchmarks) any memory is its own. */
void npu_confine(struct npu *npu);
void npu_own_memory(struct npu *npu, const void *base, size_t bytes, bool write);
/* The blocks of the object for AICs or AIVs, and what functions the machine may call; the tables stay where they are. */
void npu_blocks(struct npu *npu, bool aic, const struct npu_block_mix *rows, size_t count);
void npu_callbacks(struct npu *npu, const struct npu_callback *rows, size_t count);

#endif
