/* Inside the machine: what its files share. Nothing outside src/npu includes this.
 *
 * The life of an instruction (issue.c):
 *   1. check:   npu_family[].check validates it (trap on what the chip would not forgive) and lists its accesses
 *   2. bounds:  every access lies inside its memory and its tensor
 *   3. order:   order.c compares the accesses with earlier ones that nothing orders (vector clocks), then records them
 *   4. execute: at once (program order), or later from its pipe's queue (schedule.c), with the registers as they were
 * Execution moves values and definedness together (shadow.c). */
#ifndef NPU_INTERNAL_H
#define NPU_INTERNAL_H

#include "base/arena.h"
#include "base/half.h"
#include "base/random.h"
#include "npu/npu.h"

enum { NPU_BLOCK = 32, NPU_REPEAT = 256, NPU_MAX_REPEAT = 255 };
enum { NPU_UB_GUARD = 65536 }; /* inaccessible bytes before and behind a core's UB */

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
    uint8_t flags;                   /* NPU_TENSOR_RAW */
    const struct npu_tensor *tensor; /* for its extent and position; NULL = bounds of the memory only */
    const char *operand;             /* "dst", "src0", "src1", "mask", "indices", ... */
};
enum { NPU_MAX_ACCESSES = 32 }; /* the address lists of TransDataTo5HD */

struct npu_core;
/* Logs a flag, a barrier or a meeting of cores; the format makes the line's text. */
typedef void npu_log_sync_body(const struct npu_core *core, const char *pipe, const char *api, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* What a family of instructions can do. check() fills `accesses` and returns how many; it may correct *insn the way the
 * hardware does (a ragged DataCopy count rounds down: report NPU_DIFFERS). execute() does the work. */
struct npu_family {
    int (*check)(struct npu_core *core, struct npu_insn *insn, const struct npu_regs *regs,
                 struct npu_access *accesses);
    void (*execute)(struct npu_core *core, const struct npu_insn *insn, const struct npu_regs *regs);
};
/* The formatter never settles on this list. */
/* clang-format off */
#define NPU_FAMILIES(X) \
    X(binary) X(ternary) X(scalar) X(unary) X(cast) X(compare) \
    X(get_cmp_mask) X(set_cmp_mask) X(select) X(duplicate) X(brcb) X(copy) X(create_index) X(gather) \
    X(gather_mask) X(reduce) X(whole_reduce) X(block_reduce) X(pair_reduce) X(vcadd_acc) \
    X(data_copy) X(data_copy_pad) \
    X(compound) X(dequant) X(gatherb) X(transpose) X(transpose_4d) X(trans_5hd) X(sort32) X(mrg_sort) X(no_effect) \
    X(nd2nz) X(init_const) X(load_2d) X(load_transpose) X(load_3d) X(mmad) X(fixpipe)
/* clang-format on */
#define X(name)                                                                                                        \
    int npu_check_##name(struct npu_core *, struct npu_insn *, const struct npu_regs *, struct npu_access *);          \
    void npu_exec_##name(struct npu_core *, const struct npu_insn *, const struct npu_regs *);
NPU_FAMILIES(X)
#undef X

/* One line of isa.def. */
struct npu_isa_row {
    const char *name;
    int pipe; /* enum npu_pipe, or -1: DMA, decided by the operands' positions */
    uint64_t types;
    uint16_t rate16, rate32;
    const char *source;
    struct npu_family family;
};
extern const struct npu_isa_row npu_isa[NPU_OPS];

/* Local memories (memory.c). */
/* An AIV has UB. An AIC has the others, which lie one after another in what core->ub points to. */
enum npu_memory {
    NPU_MEM_NONE = -1, /* GM, or no memory of this chip */
    NPU_MEM_UB,
    NPU_MEM_L1,
    NPU_MEM_L0A,
    NPU_MEM_L0B,
    NPU_MEM_L0C,
    NPU_MEM_BT, /* bias table */
    NPU_MEM_FB, /* fixpipe buffer: the part that holds quantisation parameters, 256 of 8 bytes */
    NPU_MEMORIES
};
enum {
    NPU_UB_BYTES = 196608,
    NPU_L1_BYTES = 524288,
    NPU_L0A_BYTES = 65536,
    NPU_L0B_BYTES = 65536,
    NPU_L0C_BYTES = 131072,
    NPU_BT_BYTES = 1024,
    NPU_FB_BYTES = 2048,
    NPU_L1_AT = 0,
    NPU_L0A_AT = NPU_L1_AT + NPU_L1_BYTES,
    NPU_L0B_AT = NPU_L0A_AT + NPU_L0A_BYTES,
    NPU_L0C_AT = NPU_L0B_AT + NPU_L0B_BYTES,
    NPU_BT_AT = NPU_L0C_AT + NPU_L0C_BYTES,
    NPU_FB_AT = NPU_BT_AT + NPU_BT_BYTES,
    NPU_AIC_BYTES = NPU_FB_AT + NPU_FB_BYTES + 1024 /* whole pages */
};
struct npu_memory_row {
    const char *name;
    uint32_t bytes, at; /* at: offset in an AIC's memory */
    enum npu_fault out_of_bounds, overflow, overbooked;
};
extern const struct npu_memory_row npu_memories[NPU_MEMORIES];
enum npu_memory npu_memory_of(int position);

/* One core. */
/* The parts that instructions touch. Scheduling, clocks, queues and caches hang on it privately. */
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
    uint64_t pc;                    /* return address of the ABI call being served, for reports */
    const struct npu_insn *insn;    /* being checked or executed; NULL outside */
    npu_log_sync_body *log;         /* npu_log_sync; NULL: no log is wanted */
    const char *api;                /* the high-level API whose instructions these are; NULL outside */
    struct npu_order *order;        /* order.c */
    struct npu_schedule *schedule;  /* schedule.c */
    struct npu_pipe_object *pipe;   /* queue.c: the live TPipe */
    struct npu_fiber *fiber;        /* fiber.c */
    struct npu_dcache *dcache;      /* dcache.c */
    struct npu_between *between;    /* between.c: order against other cores; NULL where SyncAll alone orders them */
    struct npu_gm_view *view;       /* gm.c: what this block read in the current epoch */
    struct npu_gm_region *region;   /* the region that it touched last */
    uint64_t pc_undefined;          /* first instruction that consumed undefined bytes */
    struct ub_memory *ub_memory;    /* machine.c */
    uint64_t dcache_pc;             /* last scalar store to GM: where a cache line that is written back comes from */
    uint64_t spin_addr, spin_count; /* scalar.c: GM address read over and over, and how often */
    bool spin_cleaned;              /* cache maintenance since that read */
    bool spun;                      /* the block has waited for a value in GM */
    struct {
        uint64_t pc, pc_other;             /* the load, and where its bytes come from */
        uint64_t block;                    /* number of the basic block that it is in */
        uint32_t offset;                   /* in UB */
        bool pending, stored;              /* not reported yet; something has been stored since */
    } undefined_load;                      /* hooks.c: bytes of UB that nothing has written, in a register */
    struct npu_cube_scratch *cube_scratch; /* mmad.c: room for packed operands; NULL before the first Mmad */
    struct npu_matmul_core *matmul;        /* adv/matmul.h: Matmul objects; NULL before the first */
    uint64_t unit_flags[2]; /* a bit per fractal of L0C: Mmad has filled it and no Fixpipe has emptied it */
    struct npu_stats stats;
};
/* npu_stats.path with one more step. */
static inline uint64_t npu_path(uint64_t path, uint64_t step)
{
    path = (path ^ step) * UINT64_C(0x9e3779b97f4a7c15);
    return path ^ path >> 32;
}
/* First line of every ABI function: the running core, with the kernel's line noted for reports. */
#define NPU_ENTER(core)                                                                                                \
    struct npu_core *core = npu_current;                                                                               \
    core->pc = (uint64_t)__builtin_return_address(0)
extern _Thread_local struct npu_core *npu_current; /* the core whose fiber is running */

static inline bool npu_memory_on(const struct npu_core *core, enum npu_memory memory)
{
    return core->aic == (memory != NPU_MEM_UB);
}
uint32_t npu_memory_bytes(const struct npu_core *core, enum npu_memory memory);
/* Where the tensor of a TBuf without InitBuffer lies: outside all memories. */
#define NPU_UNPLACED (UINT64_C(1) << 57)
/* Where a memory begins. Of a memory that the core lacks: an address that leads nowhere. */
uint64_t npu_memory_base(const struct npu_core *core, enum npu_memory memory);
/* The memory of this core that holds addr. */
enum npu_memory npu_memory_at(const struct npu_core *core, uint64_t addr);

/* The pipe of an instruction; where isa.def says DMA, its operands decide. */
int npu_insn_pipe(const struct npu_insn *insn);

/* Reporting (fault.c). */
/* Ends the run: the chip stops here. Message as printf. Does not return. */
_Noreturn void npu_trap(struct npu_core *core, enum npu_fault fault, const char *operand, const char *format, ...)
    __attribute__((format(printf, 4, 5),
                   diagnose_if(!(fault & NPU_FAULT_TRAP), "this fault is no trap in fault.def", "error")));
/* Ends the run: CANN has `what` and the machine lacks it. The verdict is `unsupported`. Does not return. */
_Noreturn void npu_lacks(struct npu_core *core, const char *what);
/* Records something that does not end the run; the kind is the fault's, the one besides a trap where it has two. fatal: it
 * is a fault all the same, not a note. pc_other may be 0. */
void npu_note(struct npu_core *core, bool fatal, enum npu_fault fault, const char *operand, uint64_t pc_other,
              const char *format, ...)
    __attribute__((format(printf, 6, 7), diagnose_if((fault & NPU_FAULT_KINDS) == NPU_FAULT_TRAP,
                                                     "this fault is always a trap in fault.def", "error")));

/* Definedness (shadow.c). */
static inline bool npu_in_ub(const struct npu_core *core, uint64_t addr)
{
    return addr - (uint64_t)core->ub < core->ub_bytes;
}
static inline bool npu_position_on_ub(int position)
{
    return position == NPU_VECIN || position == NPU_VECOUT || position == NPU_VECCALC;
}
/* True if every byte of a UB range is defined. */
bool npu_ub_defined(const struct npu_core *core, const void *at, size_t bytes);
void npu_ub_define(struct npu_core *core, const void *at, size_t bytes);
void npu_ub_undefine(struct npu_core *core, const void *at, size_t bytes);
/* The defined bits of one byte of UB. A byte counts as defined when all are; only what writes or reads single bits
 * (Compare, Select) needs more. */
uint8_t npu_ub_bits(const struct npu_core *core, const void *at);
void npu_ub_define_bits(struct npu_core *core, const void *at, uint8_t bits);
/* An instruction consumed bytes that were never written: one note per (pc, operand), origin remembered so that a fault
 * can name the first reader when such a value reaches an output, an address or a branch. */
void npu_undefined_read(struct npu_core *core, const char *operand, const void *at);
/* GM (any declared region). define: who = the running core; `atomic` writes never conflict with each other. Detects
 * writes of different values by two cores between two SyncAll. Bytes whose value is undefined are passed with
 * `defined` false. Values must already be in memory when it is called; `old` = what was there (NULL unless wanted). */
bool npu_gm_defined(const struct npu_core *core, const void *at, size_t bytes);
void npu_gm_written(struct npu_core *core, const void *at, size_t bytes, bool defined, bool atomic);
/* Moves definedness along with a copy: to/from UB or GM. */
void npu_shadow_copy(struct npu_core *core, void *to, const void *from, size_t bytes);

/* npu_issue() for the routines of the high-level APIs: under the kernel's line that core->pc already holds. */
void npu_issue_from(struct npu_core *core, const struct npu_insn *given);
/* PopStackBuffer for the kernel's line that is under way (pipe.c). */
void npu_pop_rest(struct npu_core *core, int position, struct npu_tensor *tensor);

/* Composites (composite.c). */
/* After an instruction has been submitted: the waits that its API makes before it returns. */
void npu_finish_composite(struct npu_core *core, const struct npu_insn *insn);

/* The cube's own order (cube_order.c). */
/* Before the order of a checked instruction is looked at, and after it was submitted: what the hardware of an AIC
 * orders by itself (unit flags, large Mmads, the pipe FIX). */
void npu_cube_issue(struct npu_core *core, const struct npu_insn *insn);
void npu_cube_issued(struct npu_core *core, const struct npu_insn *insn);

/* Lanes (lanes.c): how the elements of a vector instruction are walked. */
/* Calls body for maximal runs of consecutive selected elements, in the order in which the hardware takes them. Strides
 * are in 32-byte blocks; element sizes differ for Cast, so each operand has its own size. */
struct npu_run {
    uint8_t *dst;
    const uint8_t *src0, *src1;
    uint32_t n; /* elements */
};
typedef void npu_run_body(struct npu_core *core, const struct npu_insn *insn, const struct npu_regs *regs,
                          const struct npu_run *run, void *closure);
void npu_lanes(struct npu_core *core, const struct npu_insn *insn, const struct npu_regs *regs, npu_run_body *body,
               void *closure);
/* Checks common to the vector forms (32-byte alignment, mask and repeat limits of the element width, dtype in isa.def,
 * UB position) and lists the accesses of dst, src0 and src1 (operand names in order, NULL = unused). */
int npu_check_vector(struct npu_core *core, struct npu_insn *insn, const struct npu_regs *regs,
                     struct npu_access *accesses, const char *src0, const char *src1);

/* Order (order.c): what happens before what. */
struct npu_order *npu_order_create(struct npu_core *core);
void npu_order_destroy(struct npu_order *order);
/* Gives the instruction its index on its pipe, checks UB and same-core GM conflicts, records its accesses. */
void npu_order_issue(struct npu_core *core, int pipe, const struct npu_access *accesses, int count);
/* A scalar access: the edges of auto-sync unless raw, then as an instruction of pipe S. */
void npu_order_scalar(struct npu_core *core, uint64_t addr, uint32_t bytes, bool write, bool raw);
/* Everything issued so far happens before everything that follows: PipeBarrier<PIPE_ALL>, SyncAll, kernel end. */
void npu_order_join_all(struct npu_core *core);

/* Executes a checked instruction: DMA sees GM itself, not the scalar cache in front of it (issue.c). Schedules call
 * this and nothing else, with core->pc as it was when the instruction was issued. */
void npu_execute(struct npu_core *core, int pipe, const struct npu_insn *insn, const struct npu_regs *regs);

/* Schedule (schedule.c): when an issued instruction executes. */
struct npu_schedule *npu_schedule_create(struct npu_core *core);
void npu_schedule_destroy(struct npu_schedule *schedule);
/* Program order: executes now. Random order: queues it with a copy of the registers and perhaps drains. */
void npu_schedule_submit(struct npu_core *core, int pipe, const struct npu_insn *insn, const struct npu_regs *regs);
/* Executes what `pipe` (NPU_PIPE_ALL: every pipe) still holds: before result registers are read, at barriers, at the
 * block's end. */
void npu_schedule_drain(struct npu_core *core, int pipe);
/* Instructions that a lane was given after the one that executes now. */
uint32_t npu_schedule_behind(const struct npu_core *core, int lane);

/* Queues (queue.c). */
/* The block has ended: reports tensors that were not freed and flags that were set and not waited for. */
void npu_pipe_object_destroy(struct npu_core *core);
/* The trap for an access to a tensor that lies at NPU_UNPLACED; returns if the address is another. */
void npu_trap_unplaced(struct npu_core *core, const char *operand, uint64_t addr);
/* The trap for an access of [addr, addr+bytes) that leaves its local memory; names the InitBuffer that gave away what
 * is not there, if one did. */
_Noreturn void npu_local_overrun(struct npu_core *core, enum npu_memory memory, const char *operand, uint64_t addr,
                                 uint64_t bytes);

/* Log (log.c): called only where core->log is set. */
void npu_log_instruction(const struct npu_core *core, int pipe, const struct npu_insn *insn);
npu_log_sync_body npu_log_sync;

/* Parts of the machine. */
/* What npu_create was told (machine.c). */
const struct npu_config *npu_config_of(const struct npu *npu);
struct npu_gm_region; /* machine_internal.h */
/* The region that holds addr, or NULL. */
struct npu_gm_region *npu_gm_find(const struct npu *npu, uint64_t addr);
/* The last region that begins at or below addr; NULL if there is none. */
struct npu_gm_region *npu_gm_below(const struct npu *npu, uint64_t addr);
/* The core waits until ready(argument) is true; `what` says for what, for the report of a deadlock. Yields once at
 * least. */
void npu_fiber_wait(struct npu_core *core, bool (*ready)(void *argument), void *argument, const char *what);

#endif
