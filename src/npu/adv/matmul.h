/* The Matmul object inside the machine: how its blocks are computed on an AIC (matmul.c, matmul_load.c, matmul_out.c)
 * and how an AIV asks its AIC to do it (matmul_queue.c). */
#ifndef NPU_ADV_MATMUL_H
#define NPU_ADV_MATMUL_H

#include "abi/npu_matmul.h"
#include "npu/adv/tiling.h"
#include "npu/cube/fractal.h"
#include "npu/order/order.h"

enum { MATMUL_OBJECTS = 16, MATMUL_SLOTS = 64 };

/* A part of A or B, as its rows and columns lie in memory. */
struct matmul_part {
    uint32_t row, column, rows, columns;
};
/* A part of A or B in L1: a fractal matrix whose columns of fractals are `height` fractals high. */
struct matmul_tile {
    bool valid;
    uint64_t addr, from; /* in L1; of its matrix */
    struct matmul_part part;
    uint32_t height;
    uint32_t sub, changes; /* whose matrix it is */
    uint32_t read;         /* the number of the newest load from it, on a timed core */
    bool ahead;            /* it was brought before it was wanted; no load has waited for it yet */
    uint32_t brought;      /* the number of its last copy, on a timed core */
};
/* What an object has of L1 for A or B: slots of equal size that are filled in turn. */
struct matmul_cache {
    struct matmul_tile tiles[MATMUL_SLOTS];
    uint32_t slots, next;
};
/* An object's buffers on an AIC. */
struct matmul_buffers {
    bool cut;
    int32_t tiling[NPU_MATMUL_TILING_WORDS]; /* that they were cut for, and which matrices were transposed */
    uint8_t transposed[2];
    struct matmul_cache cache[2];
    uint64_t bias, quant; /* L1 */
    uint64_t start;
    uint32_t bytes;
};
/* What an AIC keeps for its objects: struct npu_core's `matmul`. */
struct npu_matmul_core {
    struct matmul_buffers objects[MATMUL_OBJECTS];
    struct npu_matmul_callbacks callbacks[MATMUL_OBJECTS];
    uint32_t last; /* the object that ran last */
    bool overlaid; /* objects share L1: what one has cached the next one overwrites */
    uint32_t l0_turn[2];
    uint32_t l0_used[2][2], l0c_read[2]; /* on a timed core: numbers of the newest instructions that used a buffer */
    struct matmul_tile resident[2];      /* A and B that the kernel has put into L1 itself */
    uint32_t registered;                 /* objects so far, on an AIC or an AIV */
};
struct npu_matmul_core *matmul_core(struct npu_core *core);
/* Where the machine keeps what it has of an object. The object lies in the kernel's memory, where anything may stand: a
 * trap unless it has been registered. */
uint32_t matmul_index(struct npu_core *core, const struct npu_matmul *mm);

static inline const struct TCubeTiling *matmul_tiling(const struct npu_matmul *mm)
{
    return (const struct TCubeTiling *)mm->tiling;
}
static inline uint32_t matmul_least(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

static inline uint32_t matmul_align(uint32_t value, uint32_t to)
{
    return (value + to - 1) / to * to;
}
/* Where K runs along the rows of a matrix as it lies in memory. */
static inline bool matmul_k_rows(const struct npu_matmul *mm, int matrix)
{
    return (matrix == NPU_MATMUL_A) == (mm->sources[matrix].transposed != 0);
}
/* Base blocks of a matrix that are loaded together along M or N, and along K. What a callback of CANN's Norm template
 * loads is one. */
struct matmul_step {
    uint32_t outer, k;
};
struct matmul_step matmul_step(const struct npu_matmul *mm, int matrix);
/* Fixpipe begins with a block of C while its last product is under way. */
bool matmul_shares_l0c(const struct npu_matmul *mm);
/* The kernel copies this matrix itself. */
static inline bool matmul_calls_back(const struct npu_matmul *mm, int matrix)
{
    return (mm->flags & (matrix == NPU_MATMUL_A ? NPU_MATMUL_OWN_A : NPU_MATMUL_OWN_B)) != 0;
}
/* The type of what L0C holds. */
static inline uint8_t matmul_sum_type(const struct npu_matmul *mm)
{
    uint8_t type = mm->types[NPU_MATMUL_A].dtype;
    return type == AKGEN_INT8 || type == AKGEN_INT4 ? AKGEN_INT32 : AKGEN_FLOAT;
}
/* `to` waits for all that `from` was given. */
void matmul_edge(struct npu_core *core, int from, int to);
/* The same for a buffer that instruction number `run` of `from` was the last to use (npu_tape.runs): in time nobody waits for
 * more than that. */
void matmul_edge_since(struct npu_core *core, int from, int to, uint32_t run);
/* Instructions of a lane so far; 0 if the core is not timed. */
uint32_t matmul_runs(const struct npu_core *core, int lane);

/* Matmul.c. */
/* A trap unless the tiling is one that an AIC can follow. */
void matmul_check_tiling(struct npu_core *core, const struct npu_matmul *mm);
/* A trap unless A and B are set; and the bias where the tiling wants one. */
void matmul_check_ready(struct npu_core *core, const struct npu_matmul *mm);
/* Blocks of C in the object's shape. */
uint32_t matmul_blocks(const struct npu_matmul *mm);
/* One block of C. */
struct matmul_block {
    uint32_t row, column, m, n; /* elements of C */
    uint32_t k, ks;             /* the part of K that is summed */
    bool skipped;               /* in the half of C that the policy leaves out */
    uint64_t l0c;
};
/* Where block number `step` lies. */
struct matmul_block matmul_block_at(const struct npu_matmul *mm, uint32_t step);
/* Computes it into L0C. sub: which AIV's; partial_sum: added to what is there. */
void matmul_compute(struct npu_core *core, const struct npu_matmul *mm, uint32_t sub, const struct matmul_block *block,
                    bool partial_sum);

/* Matmul_load.c. */
/* The part of a matrix in L1, loaded unless it is there. outer, k: the range of M or N, and of K. */
const struct matmul_tile *matmul_load_l1(struct npu_core *core, const struct npu_matmul *mm, uint32_t sub, int matrix,
                                         uint32_t outer, uint32_t outers, uint32_t k, uint32_t ks);
/* What the next block will want, where the object brings that ahead. */
void matmul_load_ahead(struct npu_core *core, const struct npu_matmul *mm, uint32_t sub,
                       const struct matmul_block *block);
/* What L0A and L0B get from the tile has been issued. */
void matmul_load_read(struct npu_core *core, const struct matmul_tile *tile);
/* What block (outer, k) of a tile is in L0A or L0B at `addr`. */
void matmul_load_l0(struct npu_core *core, const struct npu_matmul *mm, int matrix, const struct matmul_tile *tile,
                    uint64_t addr, uint32_t outer, uint32_t outers, uint32_t k, uint32_t ks);
/* `count` elements of a row in GM or L1, at an address of L1 afterwards. */
struct npu_tensor matmul_load_row(struct npu_core *core, const struct npu_tensor *row, uint8_t type, uint64_t first,
                                  uint32_t count, uint64_t addr);

/* Has the kernel's own function do a part of an object's work. */
void matmul_call_in(struct npu_core *core, const struct npu_matmul *mm, int matrix, const struct matmul_tile *tile,
                    uint32_t outer, uint32_t outers, uint32_t k, uint32_t ks);

/* Matmul_out.c. */
/* From L0C to C: where the block lies in it, or one behind the other. */
void matmul_store(struct npu_core *core, const struct npu_matmul *mm, const struct matmul_block *block,
                  const struct npu_tensor *c, uint8_t atomic, bool sequential);
/* The calls, on an AIC. */
void matmul_run_all(struct npu_core *core, const struct npu_matmul *mm, uint32_t sub,
                    const struct npu_matmul_output *out);
/* Number `loop` of the batches that IterateNBatch computes. */
void matmul_run_batch(struct npu_core *core, const struct npu_matmul *mm, uint32_t sub,
                      const struct npu_matmul_batch *batch, uint32_t loop, const struct npu_matmul_output *out);
/* Matrices of C that one batch has: fewer than products where C has no axis G and A or B has one. */
uint32_t matmul_batch_of_c(const struct npu_matmul *mm, const struct npu_matmul_batch *batch);
/* Bytes from the start of C to matrix number `index`; columns: elements from one of its rows to the next. */
uint64_t matmul_batch_offset(const struct npu_matmul *mm, uint32_t index, uint32_t *columns);

/* Matmul_queue.c. */
enum matmul_verb {
    MATMUL_DO_ITERATE,
    MATMUL_DO_ITERATE_TO_WORKSPACE,
    MATMUL_DO_ITERATE_ALL,
    MATMUL_DO_GET_C,
    MATMUL_DO_BATCH,
    MATMUL_DO_COPY,
    MATMUL_DO_END
};

struct matmul_message {
    struct matmul_message *next;
    enum matmul_verb verb;
    uint32_t sub;
    uint64_t pc;
    const char *api;
    struct npu_matmul mm;
    struct npu_matmul_output out;
    struct npu_matmul_batch batch;
    struct npu_insn insn;     /* MATMUL_DO_COPY */
    struct npu_clock *clocks; /* what came before it */
    uint32_t told[2];         /* npu_tape_tell(): behind MTE3, behind MTE2 */
};
/* Sends a message behind what MTE3 has done; `reads`: also behind what MTE2 has, since the server writes to where it
 * read from. */
struct matmul_message *matmul_post(struct npu_core *core, enum matmul_verb verb, const struct npu_matmul *mm,
                                   const char *api, bool reads);
/* Waits for the next answer of the AIC to this object; NULL: to a copy from UB. */
void matmul_wait_answer(struct npu_core *core, const struct npu_matmul *mm, const char *api);
/* The place in the workspace that stands for a tensor in UB. */
struct npu_tensor matmul_staged(struct npu_core *core, const struct npu_tensor *local);
void matmul_copy_between(struct npu_core *core, struct npu_tensor dst, struct npu_tensor src, uint8_t type,
                         uint32_t bytes);
/* C from the workspace; finish: V waits for it. */
void matmul_fetch(struct npu_core *core, const struct npu_matmul *mm, const struct npu_tensor *local, uint64_t from,
                  bool finish);
/* Both matrices shared: the calls of the second AIV of a block stand for those of the first. */
bool matmul_asks(const struct npu_core *core, const struct npu_matmul *mm);
/* The launch has ended: messages and answers that nobody has taken. */
void matmul_launch_end(struct npu *npu);

#endif
