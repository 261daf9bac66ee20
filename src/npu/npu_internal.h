/* Inside the machine: the core and the life of an instruction, which every floor knows. Nothing outside src/npu includes
 * this.
 *
 * The life of an instruction (issue/issue.c):
 *   1. check:   npu_families[].check validates it (trap on what the chip would not forgive) and lists its accesses
 *   2. bounds:  every access lies inside its memory and its tensor
 *   3. order:   order/ compares the accesses with earlier ones that nothing orders (vector clocks), then records them
 *   4. execute: at once (program order), or later from its pipe's queue (order/schedule.c), with the registers as they
 *               were
 * Execution moves values and definedness together (gm/shadow.c).
 *
 * The floors, lowest first; a floor calls those before it, never one behind it (docs/architecture.md, "Floors of
 * src/npu"). Each has headers of its own for what its files define.
 *   .       the machine itself: cores, memories, regions of GM, the table of instructions, faults, fibers
 *   time    what of a core's work takes time, and the timeline of a launch
 *   order   what happens before what inside a core and between cores; when an issued instruction executes
 *   gm      the state of every byte: global memory, the scalar cache in front of it, definedness of local memory
 *   sync    flags and barriers, within a core and between cores
 *   queue   TPipe, its queues, buffers and event ids
 *   scalar  what the scalar unit does: single elements, special registers, the hooks of the pass
 *   cube    the families of instructions that an AIC has
 *   insn    the families of vector instructions and copies
 *   issue   the life of an instruction, from npu_issue to npu_execute
 *   adv     the high-level APIs, as programs of instructions
 *   launch  blocks on cores: from npu_launch to the report */
#ifndef NPU_NPU_INTERNAL_H
#define NPU_NPU_INTERNAL_H

#include "abi/npu_abi.h"
#include "npu/npu.h"

enum { NPU_BLOCK = 32, NPU_REPEAT = 256, NPU_MAX_REPEAT = 255 };

/* What the cube's instructions read besides their operands; enum npu_cube_register says what each holds. */
struct npu_cube_regs {
    uint64_t at[NPU_CUBE_REGISTERS];
};
/* Special registers that an instruction reads; copied into the pipe's queue with it. */
enum { NPU_VA_REGISTERS = 8, NPU_VA_ADDRESSES = 8 };
#define NPU_VA_OUTSIDE UINT32_MAX /* an address that is not in UB */
struct npu_regs {
    uint64_t mask[2];    /* [0] low (elements 0..63) or the count in counter mode, [1] high */
    bool counter;        /* mask mode */
    bool saturate;       /* CTRL[48] = 0 */
    uint8_t atomic;      /* 0 none, 1 add, 2 max, 3 min */
    uint8_t atomic_type; /* enum akgen_dtype */
    uint64_t deq_scale;  /* DEQSCALE, as npu_set_deq_scale was given it */
    bool pad_set;        /* SetPadValue was called */
    uint64_t pad_value;
    uint32_t va[NPU_VA_REGISTERS][NPU_VA_ADDRESSES]; /* VA0 to VA7: offsets in UB */
    struct npu_cube_regs cube;
};
/* Registers that instructions write; read by the scalar unit after the pipe has drained. */
struct npu_results {
    uint64_t acc_value; /* float or half bits */
    uint64_t reduce_value, reduce_index;
    uint64_t rsvd_count;
    uint64_t merge_counts; /* VMS4_SR */
    uint8_t cmp_mask[16];  /* CMPMASK: SetCmpMask and Compare without dst write it, Select and GetCmpMask read it, all
                            * of them in the order of pipe V */
};

/* One operand's footprint: count2 x count runs of `bytes`, the runs `stride` apart, groups `stride2` apart. */
struct npu_access {
    uint64_t addr;
    uint32_t bytes;
    uint32_t count, count2; /* at least 1 */
    int64_t stride, stride2;
    bool write;
    bool same_value; /* a write of what is there already: it can come at any time */
    bool atomic;
    bool temporary;                  /* space that the instruction's price knows of */
    uint8_t flags;                   /* NPU_TENSOR_RAW */
    const struct npu_tensor *tensor; /* for its extent and position; NULL = bounds of the memory only */
    const char *operand;             /* "dst", "src0", "src1", "mask", "indices", ... */
};
enum { NPU_MAX_ACCESSES = 32 }; /* the address lists of TransDataTo5HD */

/* A place on a core's tape (time/tape.h): after so many instructions and waits for other cores, of which the newest on the lane is
 * meant. */
struct npu_tape_place {
    uint32_t steps;
    uint8_t lane;
};
/* A tape that has ended (time/tape.h), for the replay. */
struct npu_recorded {
    struct npu_tape_chunk *first; /* NULL: there are no steps */
    float scalar;                 /* cycles of the scalar unit after the last step */
    uint32_t ub_peak;             /* bytes of UB up to the highest that an instruction touched */
};

struct npu_core;
/* What a family of instructions can do. check() fills `accesses` and returns how many; it may correct *insn the way the
 * hardware does (a ragged DataCopy count rounds down: report NPU_DIFFERS). execute() does the work. */
struct npu_family {
    int (*check)(struct npu_core *core, struct npu_insn *insn, const struct npu_regs *regs,
                 struct npu_access *accesses);
    void (*execute)(struct npu_core *core, const struct npu_insn *insn, const struct npu_regs *regs);
};
/* Declares the two functions of a family: npu_check_<name>, npu_exec_<name>. */
#define NPU_FAMILY(name)                                                                                               \
    int npu_check_##name(struct npu_core *, struct npu_insn *, const struct npu_regs *, struct npu_access *);          \
    void npu_exec_##name(struct npu_core *, const struct npu_insn *, const struct npu_regs *);

/* What a lower floor asks of a higher one goes through the core. */
/* Executes a checked instruction; core->pc is as it was when the instruction was issued. */
typedef void npu_execute_body(struct npu_core *core, int pipe, const struct npu_insn *insn,
                              const struct npu_regs *regs);
/* Logs a flag, a barrier or a meeting of cores; the format makes the line's text. */
typedef void npu_log_sync_body(const struct npu_core *core, const char *pipe, const char *api, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
/* Sends a copy into L1 that an AIV asks for to the AIC of its block. */
typedef void npu_forward_copy_body(struct npu_core *core, const struct npu_insn *insn);

/* One core: the parts that instructions touch. What a floor keeps for it hangs on it by a pointer. */
struct npu_core {
    struct npu *npu;
    int index;      /* in npu->cores */
    int block;      /* GetBlockIdx: among the AICs or the AIVs */
    int group, sub; /* block_idx, and which AIV of that block */
    bool aic;       /* a cube core: it has no vector unit and no UB, vector calls do nothing */
    uint8_t *ub;    /* its local memory: UB, on an AIC L1, L0A, ... (memory.c); 512-aligned, poisoned at start */
    uint32_t ub_bytes;
    uint64_t *ub_defined;         /* one bit per byte of ub */
    uint8_t *ub_bits;             /* of an undefined byte: the bits that are defined all the same */
    uint32_t bits_low, bits_high; /* outside these offsets ub_bits is 0 */
    struct npu_regs regs;         /* as the next instruction to be issued will see them */
    struct npu_results results;
    uint64_t pc;                         /* return address of the ABI call being served, for reports */
    const struct npu_insn *insn;         /* being checked or executed; NULL outside */
    npu_execute_body *execute;           /* npu_execute (issue.c) */
    npu_log_sync_body *log;              /* npu_log_sync (log.c); NULL: no log is wanted */
    npu_forward_copy_body *forward_copy; /* matmul_queue.c; NULL: no Matmul object was opened */
    const char *api;                     /* the high-level API whose instructions these are; NULL outside */
    struct npu_tape *tape;               /* time/tape.h; NULL: the launch is not timed, or the block has ended */
    struct npu_recorded recorded;        /* what its tape has become, once the block has ended */
    struct npu_order *order;             /* order.h */
    struct npu_schedule *schedule;       /* schedule.c; NULL: program order */
    struct npu_pipe_object *pipe;        /* queue.c: the live TPipe */
    struct npu_fiber *fiber;             /* fiber.h */
    struct npu_dcache *dcache;           /* dcache.c */
    uint64_t sys_workspace;              /* set by SetSysWorkspace; 0: not called */
    struct npu_arguments *arguments; /* scalar/arguments.c: copies for the calls in progress; NULL before the first */
    uint8_t *variables;              /* launch/own_variables.c: NULL before the core runs, or without any */
    struct npu_between *between;     /* between.c: order against other cores; NULL: SyncAll alone orders them */
    struct npu_gm_view *view;        /* gm.c: what this block read in the current epoch */
    struct npu_gm_region *region;    /* the region that it touched last */
    uint64_t pc_undefined;           /* first instruction that consumed undefined bytes */
    struct ub_memory *ub_memory;     /* launch.c */
    uint64_t dcache_pc;              /* last scalar store to GM: where a cache line that is written back comes from */
    uint64_t spin_addr, spin_count;  /* hooks.c: GM address read over and over, and how often */
    bool spin_cleaned;               /* cache maintenance since that read */
    bool spun;                       /* the block has waited for a value in GM */
    struct {
        uint64_t pc, pc_other;             /* the load, and where its bytes come from */
        uint64_t block;                    /* number of the basic block that it is in */
        const char *behind;                /* the tensor in GM that they lie behind; NULL: in UB */
        uint32_t offset;                   /* in UB */
        bool pending;                      /* not reported yet */
        bool stored, stored_gm;            /* something has been stored since, in UB or in GM */
    } undefined_load;                      /* undefined_load.c: bytes that nothing has written, in a register */
    struct npu_cube_scratch *cube_scratch; /* mmad.c: room for packed operands; NULL before the first Mmad */
    struct npu_matmul_core *matmul;        /* adv/matmul.h: Matmul objects; NULL before the first */
    uint64_t unit_flags[2]; /* a bit per fractal of L0C: Mmad has filled it and no Fixpipe has emptied it */
    /* steps.c */
    uint64_t work;              /* steps of control of its instructions and turns */
    uint64_t data;              /* steps of data */
    struct npu_steps charged;   /* its steps that the launch's include */
    struct npu_steps last_step; /* the core is stopped after it, if the launch has no steps left; 0: unknown yet */
    uint64_t work_limit, data_limit, sum_limit,
        block_limit;         /* the next look at its steps comes when `work`, `data` or the blocks are so many */
    struct npu_watch *watch; /* NULL: it is not watched */
    bool stopped;            /* for its steps: it runs no more */
    struct npu_stats stats;
};
/* npu_stats.path with one more step. */
static inline uint64_t npu_path(uint64_t path, uint64_t step)
{
    path = (path ^ step) * UINT64_C(0x9e3779b97f4a7c15);
    return path ^ path >> 32;
}

extern _Thread_local struct npu_core *npu_current; /* the core whose fiber is running (core.c) */
/* First line of every ABI function that can report: the running core, with the kernel's line noted. */
#define NPU_ENTER(core)                                                                                                \
    struct npu_core *core = npu_current;                                                                               \
    core->pc = (uint64_t)__builtin_return_address(0)
/* "block 3"; "AIC 0", "AIV 5" where both kinds run. */
const char *npu_core_name(const struct npu_core *core, char *text, size_t bytes);

#endif
