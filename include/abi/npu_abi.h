/* What a compiled kernel says to the machine: the only interface between include/ascendc (C++) and src/npu (C).
 *
 * A header fills a `struct npu_insn` and calls npu_issue(); TPipe, TQue and TBuf forward to npu_que_*, npu_buf_*;
 * scalar accesses through tensors go through npu_scalar_*. Raw pointers are seen by the calls of npu_hooks.h.
 * All addresses are host addresses: UB and GM are ordinary memory, so that `__gm__ T *` and `__ubuf__ T *` can be
 * followed. Everything here acts on the core whose fiber is running. Nothing returns an error: what the chip would not
 * forgive ends the run (a trap), and the machine reports it with the caller's source line, which it finds by its return
 * address. So every header function between the kernel's line and these calls is always_inline and nodebug. */
#ifndef AKGEN_NPU_ABI_H
#define AKGEN_NPU_ABI_H

#include "abi/dtype.h"
#include "abi/type_sets.h"

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Pipes of an AI core. */
enum npu_pipe {
#define NPU_PIPE(id, number) NPU_PIPE_##id = number,
#include "abi/pipe.def"
#undef NPU_PIPE
    NPU_PIPES = NPU_PIPE_FIX + 1
};

/* Positions of tensors and queues. */
enum npu_position {
#define NPU_POSITION(id, memory) NPU_##id,
#include "abi/position.def"
#undef NPU_POSITION
    NPU_POSITION_MAX,
    NPU_LCM = NPU_VECCALC,
    NPU_SHM = NPU_SPM
};

/* A tensor as an instruction sees it. */
struct npu_tensor {
    uint64_t addr;    /* host address of element 0 */
    uint32_t bytes;   /* extent of the local tensor; 0 = not known (a GlobalTensor without a size) */
    uint8_t position; /* enum npu_position */
    uint8_t flags;    /* NPU_TENSOR_* */
    uint16_t buffer; /* 1 + index of the queue buffer it came from; 0 = none (TBuf, sub-tensor of unknown origin, GM) */
};
enum {
    NPU_TENSOR_RAW = 1,          /* from a plain pointer: auto-sync does not see it */
    NPU_TENSOR_READ_PAST_L2 = 2, /* SetL2CacheHint: what is read from it, written to it, is not to stay in L2 */
    NPU_TENSOR_WRITE_PAST_L2 = 4
};

/* Every instruction; isa.def says what it is. */
enum npu_op {
    NPU_OP_NONE,
#define NPU_OP(id) NPU_OP_##id,
#include "abi/op.def"
#undef NPU_OP
    NPU_OPS
};

/* How a vector instruction selects its elements. */
enum npu_form {
    NPU_FORM_COUNT,     /* level 2: `count` contiguous elements; leaves the mask registers at "all, normal mode" */
    NPU_FORM_MASK_LEN,  /* level 0, contiguous mask: mask[0] elements of every repeat (normal) or in all (counter
                         * mode) */
    NPU_FORM_MASK_BITS, /* level 0, mask[0..1] bit by bit */
    NPU_FORM_MASK_REG   /* level 0, isSetMask = false: the mask registers as they are */
};

/* Block copy: DataCopy with DataCopyParams, DataCopyPad. Values as the kernel wrote them, not truncated to a field. */
struct npu_copy {
    uint32_t block_count;
    uint32_t block_len;             /* DataCopy: 32-byte units; DataCopyPad: bytes */
    int64_t src_stride, dst_stride; /* gap between the end of a block and the start of the next. DataCopy: 32-byte units
                                     * on both sides; DataCopyPad: 32-byte units on UB, bytes on GM */
    uint8_t pad;                    /* DataCopyPad GM->UB: isPad, or SetPadValue's register is in pad_value */
    uint8_t left, right;            /* padding, in elements */
    uint64_t pad_value;             /* bits of one element */
};

/* Nd2Nz: `nd_num` matrices of n rows and d columns in GM become fractal matrices in L1. Strides of GM in elements;
 * dst_c0 (from 32-byte column to column) and dst_n (from row to row) in 32 bytes, dst_matrix in elements. */
struct npu_nd2nz {
    uint32_t nd_num, n, d, src_matrix, src_d, dst_c0, dst_n, dst_matrix;
};
/* LoadData with LoadData2DParams, LoadDataWithTranspose (dst_frac_gap), InitConstValue (repeat, block_num, dst_gap). */
struct npu_load_2d {
    uint32_t start, repeat, src_stride, dst_gap, dst_frac_gap, block_num;
    uint8_t transpose, descending;
};
/* LoadData with LoadData3DParamsV2 and V2Pro. The map's size and padding, the padding's value and the repetition are
 * registers. */
struct npu_load_3d {
    uint16_t channels, k, m, k_start, m_start; /* extents and starting points in the unfolded matrix */
    uint16_t filter_w, filter_h;
    uint8_t stride_w, stride_h, dilation_w, dilation_h;
    uint8_t transpose, right; /* right: the map of FMATRIX_RIGHT */
};
enum { NPU_C_ZERO, NPU_C_ACCUMULATE, NPU_C_BIAS /* from the bias table: the operand `aux` */ };
struct npu_mmad {
    uint16_t m, n, k;
    uint8_t unit_flag, k_align, init; /* init: NPU_C_* */
};
/* Fixpipe, and DataCopy with DataCopyCO12DstParams. */
struct npu_fixpipe {
    uint16_t n, m, src_stride; /* from column of fractals to the next, in 16 elements */
    uint16_t nd_num, src_nd_stride, dst_nd_stride;
    uint32_t dst_stride;
    uint8_t quant, relu, unit_flag, channel_split, nz2nd; /* quant: enum npu_quant */
};
/* QuantMode_t, in the order of its documentation. V: a parameter for each column. */
enum npu_quant {
    NPU_QUANT_NONE,
    NPU_QUANT_F322F16,
    NPU_QUANT_F322BF16,
    NPU_QUANT_DEQF16,
    NPU_QUANT_VDEQF16,
    NPU_QUANT_QF322B8,
    NPU_QUANT_VQF322B8,
    NPU_QUANT_REQ8,
    NPU_QUANT_VREQ8,
    NPU_QUANTS
};

/* Which fields an instruction reads besides op, dst, dst_type and src_type, by its family in isa.def; what is not named
 * stays zero. "lanes" stands for form, then count (NPU_FORM_COUNT) or mask and repeat, and of each operand its _blk and
 * _rep; "mask form" for the same without NPU_FORM_COUNT. Flags are named without NPU_INSN_.
 *
 *   binary          src0, src1; lanes
 *   ternary         FusedMulAdd: as binary, dst = src0 * dst + src1
 *                   Axpy: as scalar, dst += src0 * scalar; dst_type and src_type may differ
 *   scalar          src0, scalar (bits in src_type); lanes. ShiftRight: mode = 1 for roundEn
 *   unary           src0; lanes
 *   cast            as unary; mode = RoundMode; dst_type and src_type differ
 *   compare         as binary, or with SCALAR_SRC1 as scalar; mode = CMPMODE. dst addr 0: the result goes to CMPMASK
 *                   (one repeat)
 *   get_cmp_mask    nothing else; dst has 16 bytes
 *   set_cmp_mask    src0; no dst
 *   select          as binary; mode = SELMODE; aux = selMask, of type src1_type (addr 0: CMPMASK holds it in mode 0,
 *                   its address in mode 2). Mode 1: SCALAR_SRC1 and scalar, no src1
 *   duplicate       scalar (bits in dst_type); lanes
 *   create_index    as duplicate; scalar is the first value
 *   brcb            src0, repeat, dst_blk, dst_rep
 *   copy            src0; mask form, repeat; dst_blk, src0_blk (dstStride, srcStride), dst_rep, src0_rep
 *   gather          src0, src1 = offsets in bytes (uint32), scalar1 = srcBaseOffset in bytes; form, count |
 *                   repeat, dst_rep
 *   gather_mask     src0; mode = pattern 1..7, or USER_PATTERN and src1; mask[0] = the argument `mask`, with
 *                   REDUCE_MODE only; repeat, src0_blk, src0_rep, src1_rep. rsvdCnt: npu_get_rsvd_count() afterwards
 *   reduce          src0, aux = sharedTmpBuffer; CAL_INDEX. NPU_FORM_COUNT: count (isSetMask = false: NPU_FORM_MASK_REG
 *                   with repeat 0); mask forms: repeat, src0_rep
 *   whole_reduce    src0; mask form, repeat; dst_rep, src0_blk, src0_rep. WholeReduceMax, WholeReduceMin: mode =
 *                   ReduceOrder (0 value-index, 1 index-value, 2 value, 3 index)
 *   block_reduce, pair_reduce   as whole_reduce, without mode
 *   vcadd_acc       src0; mask form, repeat; src0_blk, src0_rep; no dst (addr 0). Its sum: npu_get_acc_val()
 *   data_copy       src0. NPU_FORM_COUNT: count elements. Any other form: copy
 *   data_copy_pad   src0, copy
 *   compound        as binary; dst_type and src_type may differ; some read dst
 *   dequant         as unary; mode: 1 = scales from the tensor in the DEQSCALE register, 2 = upper halves
 *   gatherb         src0, src1 = offsets of blocks in bytes; repeat, dst_blk, dst_rep
 *   transpose       src0
 *   transpose_4d    src0, aux = sharedTmpBuffer; mode = transposeType; count = N, repeat = C, mask[0] = H, mask[1] = W
 *   trans_5hd       src_type; mode = VA registers (dst | src << 3), repeat, dst_rep, src0_rep, DST_HIGH, SRC_HIGH; of
 *                   dst and src0 the flags
 *   sort32          src0, src1 = indices, repeat
 *   mrg_sort        lists src0, src1, aux, copy.pad_value (address); mask[0] = four lengths of 16 bits; mode = valid
 *                   bits; SUSPEND; repeat
 *   nd2nz, load_2d, load_3d, mmad, fixpipe   src0 and the structure of that name, and:
 *                   mmad: src0 is A, src1 is B, aux the bias (with init = NPU_C_BIAS)
 *                   fixpipe: scalar = the parameter of a quantisation by one, src1 = those of a quantisation by column
 *                   (addr 0: where SetFixPipeConfig says)
 *   load_transpose  src0, load_2d
 *   init_const      scalar, load_2d */
struct npu_insn {
    uint16_t op;                /* enum npu_op */
    uint8_t form;               /* enum npu_form */
    uint8_t mode;               /* RoundMode, CMPMODE, SELMODE, ReduceOrder, GatherMask pattern */
    uint8_t dst_type, src_type; /* enum akgen_dtype of dst, src0 */
    uint8_t src1_type;          /* of src1 where it can differ (Gather offsets, Select mask, FMA) */
    uint8_t flags;              /* NPU_INSN_* */
    uint32_t count;             /* NPU_FORM_COUNT: elements */
    uint32_t repeat;            /* level 0: repeat times as written, not truncated to the register's 8 bits */
    uint64_t mask[2];
    uint16_t dst_blk, src0_blk, src1_blk;   /* distance between the 32-byte blocks of one repeat, in blocks */
    uint16_t dst_rep, src0_rep, src1_rep;   /* distance between repeats, in blocks */
    struct npu_tensor dst, src0, src1, aux; /* aux: sharedTmpBuffer, index output, third operand */
    uint64_t scalar;                        /* bits of the scalar operand in src_type, low bytes */
    uint64_t scalar1;                       /* a second one (Gather's srcBaseOffset) */
    union {
        struct npu_copy copy;
        struct npu_nd2nz nd2nz;
        struct npu_load_2d load_2d;
        struct npu_load_3d load_3d;
        struct npu_mmad mmad;
        struct npu_fixpipe fixpipe;
    };
};
enum {
    NPU_INSN_CUT = 1, /* Compare with a count, inside high-level APIs: the last repeat is compared up to the count. The
                       * chip compares it whole, and nobody looks at the rest; here its bits are 0. */
    NPU_INSN_OWN_CMPMASK = 1,  /* Select: CMPMASK is set by the kernel or from a high-level API's temporary space, not
                                * by way of the UB that CANN reserves */
    NPU_INSN_CAL_INDEX = 1,    /* ReduceMax/Min: also the index */
    NPU_INSN_REDUCE_MODE = 2,  /* GatherMask: reduceMode (counter-like) */
    NPU_INSN_SCALAR_SRC1 = 4,  /* src1 is `scalar` (Select tensor-scalar, CompareScalar) */
    NPU_INSN_USER_PATTERN = 8, /* GatherMask: pattern comes from src1 */
    NPU_INSN_DST_HIGH = 16,    /* TransDataTo5HD of 8-bit types: the upper half of the blocks of dst, */
    NPU_INSN_SRC_HIGH = 32,    /* of src */
    NPU_INSN_SUSPEND = 64,     /* MrgSort: stops when a list is exhausted */
    NPU_INSN_OVERLAP = 128,    /* the machine's own: dst and a source of a vector instruction have blocks in common */
    NPU_INSN_CUBE_REGISTERS = 128 /* Fixpipe: ND numbers and quantisation parameters come from registers (DataCopy) */
};

void npu_issue(const struct npu_insn *insn);
/* The same for copies between GM and local memory, and for the cube's instructions: by these names a kernel that states
 * no type shows which cores it needs. */
void npu_issue_copy(const struct npu_insn *insn);
void npu_issue_cube(const struct npu_insn *insn);

/* Synchronisation. */
void npu_set_flag(int src_pipe, int dst_pipe, int event_id);
void npu_wait_flag(int src_pipe, int dst_pipe, int event_id);
void npu_pipe_barrier(int pipe);
/* SyncAll(): hard form. aiv_only as the template parameter isAIVOnly. */
void npu_sync_all(int aiv_only);
/* SyncAll(gmWorkspace, ubWorkspace, usedCores): soft form; used_cores 0 = all. */
void npu_sync_all_soft(const struct npu_tensor *gm_workspace, const struct npu_tensor *ub_workspace, int used_cores);
/* IBSet and IBWait: the word of (block, event) becomes 1 when it is 0, and 0 when it is 1. */
void npu_ib_set(const struct npu_tensor *gm_workspace, const struct npu_tensor *ub_workspace, int block, int event);
void npu_ib_wait(const struct npu_tensor *gm_workspace, const struct npu_tensor *ub_workspace, int block, int event);
/* InitDetermineComputeWorkspace, WaitPreBlock, NotifyNextBlock: blocks take turns in the order of their numbers. */
enum { NPU_TURN_INIT, NPU_TURN_WAIT, NPU_TURN_NOTIFY };
void npu_block_turn(int step, const struct npu_tensor *gm_workspace, const struct npu_tensor *ub_workspace);
void npu_cross_core_set_flag(int mode, int pipe, int flag_id);
/* mode: as written; the 910B ignores it (CrossCoreWaitFlag), reports name it. */
void npu_cross_core_wait_flag(int mode, int flag_id);
/* DataCacheCleanAndInvalid: entire = ENTIRE_DATA_CACHE, dst as DcciDst. */
void npu_dcache_clean(const struct npu_tensor *tensor, int entire, int dst);

/* Special registers. */
void npu_set_mask_counter(int counter_mode); /* SetMaskCount (1) / SetMaskNorm (0) */
void npu_set_vector_mask(uint64_t high, uint64_t low);
void npu_reset_mask(void);
/* SetAtomicAdd/Max/Min<T> and SetAtomicNone: kind 0 none, 1 add, 2 max, 3 min. Applies to later MTE3 writes to GM. */
void npu_set_atomic(int kind, int dtype);
void npu_get_atomic(int *kind, int *dtype);
/* The compiler's functions set one of the two: a kind with NPU_ATOMIC_KEEP leaves the type, NPU_ATOMIC_TYPE the
 * kind. */
enum { NPU_ATOMIC_KEEP = -1, NPU_ATOMIC_TYPE = -2 };
/* SetPadValue: what DataCopyPad without isPad fills its paddings with; before the first call that is random. */
void npu_set_pad_value(uint64_t bits);
/* CTRL. Bit 48 (Inf/NaN mode) is 1 and stays so: another value is something that the machine lacks. */
uint64_t npu_get_ctrl(void);
void npu_set_ctrl(uint64_t value);
/* The DEQSCALE register: bits of a half (Cast, AddDeqRelu), scale | offset << 37 | sign << 46 (CastDequant), or the UB
 * address of sixteen such words divided by 32. */
void npu_set_deq_scale(uint64_t bits);
/* set_va_reg_sb: eight UB addresses into VA register `reg` (0 to 7). */
void npu_set_va_reg(int reg, const uint64_t addresses[8]);
/* Registers of the cube's instructions; the hardware orders their setters before what follows on every pipe. */
enum npu_cube_register {
    NPU_CUBE_MAP_LEFT, /* SetFmatrix: width, height << 16, padding left, right, top, bottom << 32, 40, 48, 56 */
    NPU_CUBE_MAP_RIGHT,
    NPU_CUBE_PADDING,   /* SetLoadDataPaddingValue: bits of an element */
    NPU_CUBE_REPEAT,    /* SetLoadDataRepeat: stride, times << 16, mode << 24; 0: never set, once */
    NPU_CUBE_BOUNDARY,  /* SetLoadDataBoundary, bytes */
    NPU_CUBE_ND,        /* SetFixpipeNz2ndFlag: number, source stride << 16, destination stride << 32 */
    NPU_CUBE_QUANT,     /* SetFixpipePreQuantFlag */
    NPU_CUBE_QUANT_AT,  /* SetFixPipeConfig: address of the parameters in FB */
    NPU_CUBE_HF32,      /* SetHF32Mode: 1 on */
    NPU_CUBE_HF32_TIES, /* SetHF32TransMode: 1 = ties to zero, 0 = to even */
    NPU_CUBE_REGISTERS
};
void npu_set_cube_register(int which, uint64_t value);
/* SetFixPipeConfig with isUnitFlag: no fractal of L0C is marked any more. */
void npu_clear_unit_flags(void);
/* Result registers; reading drains the pipe that writes them. */
uint64_t npu_get_acc_val(void); /* GetAccVal(): bits of the float/half sum */
void npu_get_reduce_max_min(int dtype, uint64_t *value_bits, uint64_t *index_bits);
uint64_t npu_get_rsvd_count(void);   /* GatherMask: elements kept */
uint64_t npu_get_merge_counts(void); /* MrgSort: pairs taken of each list, sixteen bits each */
int64_t npu_get_system_cycle(void);

/* Where am I. */
int64_t npu_block_idx(void); /* GetBlockIdx: among the AICs or among the AIVs of the launch */
int64_t npu_group_idx(void); /* the variable block_idx: the same on the AIC and the AIVs that form one block */
int64_t npu_block_num(void);
int64_t npu_sub_block_idx(void); /* which of its block's AIVs; 0 on an AIC */
int64_t npu_sub_block_num(void); /* AIVs of a block; 1 on an AIC */
/* The structure behind the kernel's tiling pointer, copied to `to`; a trap if the tiling data is shorter. */
void npu_tiling_copy(void *to, uint64_t tiling_addr, uint32_t bytes);
uint64_t npu_tiling_key(void);
/* GetUserWorkspace: where the user's part of the workspace begins. */
uint64_t npu_user_workspace(uint64_t workspace_addr);
void npu_set_sys_workspace(uint64_t workspace_addr);
/* GetSysWorkSpacePtr: what SetSysWorkspace was given, else where the launch's workspace begins, 0 if it has none. */
uint64_t npu_sys_workspace(void);
/* What KERNEL_TASK_TYPE and KERNEL_TASK_TYPE_DEFAULT leave in the section NPU_TASK_TYPES of the object: the launch must
 * know the type before any kernel code runs. */
struct npu_task_type {
    uint64_t key;  /* tiling key; NPU_EVERY_KEY: the default */
    uint64_t type; /* KernelMetaType */
};
#define NPU_TASK_TYPES "akgen_task_types"
#define NPU_EVERY_KEY  UINT64_MAX
/* Types that are none, from an entry that is a template: the key has an instance, or has one in the object for other
 * data types or for deterministic computing only. */
#define NPU_TEMPLATE_KEY    ((uint64_t)1 << 32)
#define NPU_TEMPLATE_UNUSED ((uint64_t)1 << 33)

/* Scalar unit. */
/* GetValue/SetValue of `size` (1, 2, 4, 8) bytes at byte offset `offset` of a tensor. Bounds, definedness, order and
 * (GM) the scalar cache are the machine's business. Returns the bits, zero-extended. */
uint64_t npu_scalar_load(const struct npu_tensor *tensor, uint64_t offset, int size);
void npu_scalar_store(const struct npu_tensor *tensor, uint64_t offset, int size, uint64_t bits);
/* ReadGmByPassDCache, WriteGmByPassDCache: `size` bytes of GM itself, whatever the scalar cache holds. */
uint64_t npu_gm_read_through(uint64_t addr, int size);
void npu_gm_write_through(uint64_t addr, int size, uint64_t bits);
int64_t npu_program_counter(void);
/* DumpTensor: prints `count` elements of dtype from the tensor's start, after what was issued has been executed. shape:
 * sizes of `dims` dimensions, dims 0: none. */
void npu_dump_tensor(const struct npu_tensor *tensor, int dtype, uint32_t desc, uint32_t count, const uint32_t *shape,
                     int dims);
void npu_assert_failed(const char *expression, const char *file, int line);
void npu_printf(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* trap(): the kernel ends itself as AscendC::Trap() does. */
void npu_user_trap(void);
/* An API that CANN has and AKGen lacks (NPU_LACKS_<id>): the verdict is `unsupported` and names it. */
enum npu_lacking {
#define NPU_LACKS(id, name) NPU_LACKS_##id,
#include "abi/lacking.def"
#undef NPU_LACKS
    NPU_LACKING
};
void npu_unsupported(int lacking);

/* TPipe, TQue, TBuf. */
/* A core has at most one live TPipe. create makes it current and resets buffers and events. */
void npu_pipe_create(void);
void npu_pipe_destroy(void);
void npu_pipe_leave(void); /* DestroyWithoutPipeAll: pipes go on */
void npu_pipe_reset(void);
/* A queue or buffer object in the kernel holds an id: 0 until InitBuffer. src/dst: positions of the TQueBind. */
void npu_que_init(uint32_t *id, int src_position, int dst_position, int depth, int buffers, uint32_t bytes);
void npu_que_alloc(uint32_t id, struct npu_tensor *tensor);
void npu_que_enque(uint32_t id, const struct npu_tensor *tensor);
void npu_que_deque(uint32_t id, struct npu_tensor *tensor);
/* EnQue<src, dst>, DeQue<src, dst>: the flag of these positions instead of the queue's own. */
void npu_que_enque_between(uint32_t id, const struct npu_tensor *tensor, int src_position, int dst_position);
void npu_que_deque_between(uint32_t id, struct npu_tensor *tensor, int src_position, int dst_position);
void npu_que_free(uint32_t id, const struct npu_tensor *tensor);
void npu_que_free_all(uint32_t id);
int npu_que_has_tensor(uint32_t id);      /* HasTensorInQue */
int npu_que_vacant(uint32_t id);          /* VacantInQue */
int npu_que_has_idle_buffer(uint32_t id); /* HasIdleBuffer */
int npu_que_tensors(uint32_t id);         /* GetTensorCountInQue */
/* GetState, as on the chip: 1 from AllocTensor to FreeTensor, else 0, also for a tensor of no queue. CANN changes the
 * state in EnQue and DeQue where a CPU runs the kernel only (DEBUG_CODE). */
int npu_que_is_occupied(uint32_t id, const struct npu_tensor *tensor);
/* The tensor of one of the queue's buffers, by the number that its tensors carry, and where it starts in its memory. */
uint32_t npu_que_buffer(uint32_t id, uint32_t buffer, struct npu_tensor *tensor);
void npu_buf_init(uint32_t *id, int position, uint32_t bytes);
/* TBuf::Get / GetWithOffset: bytes 0 = the whole buffer. EnQue/DeQue/Alloc/Free of a TBuf are queue calls on its id. */
void npu_buf_get(uint32_t id, uint32_t offset, uint32_t bytes, struct npu_tensor *tensor);
/* TBufPool: offsets in the memory behind `position`. init cuts it from the TPipe (parent NULL) or from a pool, or lays
 * it over `shared`. InitBuffer of a pool is npu_que_init or npu_buf_init between open and close. */
struct npu_buf_pool {
    uint32_t start, next, end;
    uint32_t outer; /* of the TPipe, while the pool is open */
    uint32_t memory;
};
void npu_pool_init(struct npu_buf_pool *pool, int position, struct npu_buf_pool *parent, uint32_t bytes,
                   const struct npu_buf_pool *shared);
void npu_pool_open(struct npu_buf_pool *pool);
void npu_pool_close(struct npu_buf_pool *pool);
/* A pool of the kernel's own (EXTERN_IMPL_BUFPOOL): InitStartBufHandle makes a queue whose buffers lie nowhere yet,
 * InitBufHandle says where one of them lies, as a byte offset in its memory. */
void npu_que_start(uint32_t *id, int src_position, int dst_position, int depth, int buffers, uint32_t bytes);
void npu_buf_start(uint32_t *id, int position, uint32_t bytes);
void npu_que_place(uint32_t id, uint32_t buffer, uint32_t offset, uint32_t bytes);
/* InitSpmBuffer: what of GM WriteSpmBuffer and ReadSpmBuffer use; npu_spm() is its address. */
void npu_spm_init(uint64_t address);
uint64_t npu_spm(void);
/* A tensor of `bytes` at `offset` of the memory behind a position (LocalMemAllocator, static tensors). */
/* The arguments of the kernel, NPU_KERNEL_ARGUMENTS of them; what it was not given is 0. */
enum { NPU_KERNEL_ARGUMENTS = 64 };
void npu_kernel_arguments(uint64_t *arguments);
void npu_local_tensor(int position, uint32_t offset, uint32_t bytes, struct npu_tensor *tensor);
/* PopStackBuffer: what InitBuffer has left of UB. */
int npu_pop_stack_buffer(int position, struct npu_tensor *tensor);
int npu_fetch_event(int src_pipe, int dst_pipe); /* FetchEventID: a free id, not reserved */
int npu_alloc_event(int src_pipe, int dst_pipe); /* AllocEventID: reserved until released */
void npu_release_event(int src_pipe, int dst_pipe, int event_id);

#ifdef __cplusplus
}
#endif
#endif
