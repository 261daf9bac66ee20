/* The Matmul object as a kernel speaks of it (include/ascendc/adv/matmul.h). The object's state lies in the kernel's
 * own memory; the machine fills it. Where AICs and AIVs run together the object on an AIV is a client: it sends its
 * calls to the AIC of its block, which serves them; on an AIC the calls are executed at once. The rules of npu_abi.h
 * hold. */
#ifndef AKGEN_NPU_MATMUL_H
#define AKGEN_NPU_MATMUL_H

#include "abi/npu_abi.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The matrices of an object; what stands for C among the sources is the vector of quantisation parameters. */
enum { NPU_MATMUL_A, NPU_MATMUL_B, NPU_MATMUL_C, NPU_MATMUL_BIAS, NPU_MATMUL_MATRICES, NPU_MATMUL_QUANT = 2 };
/* CubeFormat, the same numbers. */
enum npu_matmul_format {
    NPU_FORMAT_ND,
    NPU_FORMAT_NZ,
    NPU_FORMAT_ND_ALIGN = 5,
    NPU_FORMAT_SCALAR,
    NPU_FORMAT_VECTOR,
    NPU_FORMAT_COLUMN_MAJOR
};
/* LayoutMode, the same numbers. */
enum npu_matmul_layout { NPU_LAYOUT_NONE, NPU_LAYOUT_BSNGD, NPU_LAYOUT_SBNGD, NPU_LAYOUT_BNGS1S2, NPU_LAYOUT_NORMAL };
/* One MatmulType: constants of the object's type. */
struct npu_matmul_type {
    uint8_t position, format, dtype, transposed, layout, shared;
};
/* What SetTensorA, SetTensorB, SetBias and SetQuantVector were given. */
struct npu_matmul_source {
    struct npu_tensor tensor;
    uint64_t scalar;
    uint8_t set, is_scalar, transposed;
};
/* From MatmulConfig. */
enum {
    NPU_MATMUL_BY_ROWS = 1,  /* intrinsicsCheck: rows that are further apart than an instruction can say */
    NPU_MATMUL_SPLIT = 2,    /* isEnableChannelSplit */
    NPU_MATMUL_RELU = 4,     /* enableRelu */
    NPU_MATMUL_ONE_BIAS = 8, /* isBiasBatch is false: all matrices of a batch share one bias */
    NPU_MATMUL_LARGE = 16,   /* doMultiDataLoad, doSpecialMDL: loads of several base blocks at once */
    NPU_MATMUL_FIXED = 32,   /* the tiling is a constant */
    NPU_MATMUL_PARTIAL = 64, /* isPartialOutput: an Iterate is for one baseK */
    NPU_MATMUL_OUTER = 128,  /* ScheduleType::OUTER_PRODUCT */
    NPU_MATMUL_UPPER = 256,  /* TrianUpperMatmulPolicy, TrianLowerMatmulPolicy */
    NPU_MATMUL_LOWER = 512,
    NPU_MATMUL_OWN_C = 1024, /* MatmulCallBackFunc: the kernel copies C out, A in, B in */
    NPU_MATMUL_OWN_A = 2048,
    NPU_MATMUL_OWN_B = 4096,
    NPU_MATMUL_UNIT_FLAG = 8192, /* enUnitFlag: Fixpipe takes each fractal as soon as Mmad has it */
    NPU_MATMUL_N_BUFFER = 16384, /* NBuffer33MatmulPolicy: A comes by rows of base blocks */
    NPU_MATMUL_AHEAD_M = 32768,  /* doMTE2Preload: the next blocks along M, or along N, come while these are computed */
    NPU_MATMUL_AHEAD_N = 65536,
    NPU_MATMUL_AROUND_K = 131072 /* enableKdimReorderLoad: each core begins elsewhere along K */
};
enum { NPU_MATMUL_TILING_WORDS = 64 };
struct npu_matmul {
    struct npu_matmul_type types[NPU_MATMUL_MATRICES];
    uint32_t flags; /* NPU_MATMUL_* */
    int32_t order;  /* IterateOrder of the configuration; 2: as the tiling says */
    uint32_t id;    /* among the block's objects, from 1; 0: no REGIST_MATMUL_OBJ or Init yet */
    uint8_t client; /* calls go to the AIC */
    int32_t tiling[NPU_MATMUL_TILING_WORDS]; /* TCubeTiling */
    uint32_t version;                        /* Init calls so far */
    int32_t org_m, org_n, org_ka, org_kb, org_kc, m, n, k;
    struct npu_matmul_source sources[NPU_MATMUL_MATRICES];
    uint32_t changes; /* of A and B */
    uint64_t quant;
    uint8_t hf32, hf32_ties_to_zero;
    uint64_t user_tiling, user_data; /* SetUserDefInfo, SetSelfDefineData */
    uint64_t workspace;              /* SetWorkspace */
    uint32_t step, steps;            /* blocks of C that Iterate has computed, that there are */
    uint32_t taken;                  /* of them GetTensorC has taken from the workspace */
    uint8_t iterating, async, c_buffer;
    int32_t batch_a, batch_b; /* SetBatchNum */
    uint32_t loops;           /* batches of an asynchronous IterateNBatch */
    uint64_t cached_bytes;    /* of the workspace that GetBatchTensorC has handed out */
};

/* REGIST_MATMUL_OBJ. On an AIV: this core has objects whose calls its AIC serves; closing them ends the service. */
void npu_matmul_open(uint64_t workspace);
void npu_matmul_close(void);
/* On an AIC: serves until every AIV of the block has closed its objects or ended. */
void npu_matmul_serve(uint64_t workspace);
/* What a callback for C is told besides the address that the block has in C: DataCopyOutParams. */
struct npu_matmul_copied {
    uint16_t bursts, burst_len, n; /* columns of fractals; 32-byte blocks in each; columns of elements, 0: fractals */
    uint32_t stride;               /* between rows, elements; between columns of fractals, 32-byte blocks */
    int32_t row, column;           /* of the block, in blocks */
    uint8_t quantised;             /* 1: by `quant`, 2: by a vector at `vector` in L1 */
    uint64_t quant, vector;
};
/* MatmulCallBackFunc as functions of the kernel that runs on the AIC. row, column: in blocks, of `rows` x `columns`
 * elements, of M and K for A, of K and N for B. */
typedef void npu_matmul_copy_in(const struct npu_tensor *l1, uint64_t gm, int row, int column, int rows, int columns,
                                uint64_t user_tiling, uint64_t user_data);
typedef void npu_matmul_copy_out(uint64_t gm, const struct npu_tensor *l0c, const struct npu_matmul_copied *block,
                                 uint64_t user_tiling, uint64_t user_data);
struct npu_matmul_callbacks {
    npu_matmul_copy_out *c;
    npu_matmul_copy_in *inputs[2]; /* A, B */
};
/* On an AIC: what object number `id` calls. */
void npu_matmul_call_back(uint32_t id, const struct npu_matmul_callbacks *callbacks);
/* The object's number, in the order of registration. */
void npu_matmul_register(struct npu_matmul *mm);
/* Init: a copy of the tiling of `bytes` bytes (addr 0: everything is constant), its shapes as the object's. constants:
 * the fields of TCubeTiling without batchM to singleBatchN that go before the tiling's, those that are not -1; NULL:
 * none. */
enum { NPU_MATMUL_CONSTANTS = 46 };
void npu_matmul_init(struct npu_matmul *mm, uint64_t tiling_addr, uint32_t bytes, const int32_t *constants);
enum { NPU_MATMUL_ORG_SHAPE, NPU_MATMUL_SINGLE_SHAPE, NPU_MATMUL_TAIL };
/* SetOrgShape (m, n, ka, kb, kc), SetSingleShape and SetTail (m, n, k). */
void npu_matmul_set_shape(struct npu_matmul *mm, int which, int m, int n, int k, int kb, int kc);
/* SetTensorA, SetTensorB, SetBias, SetQuantVector; tensor NULL: the scalar. */
void npu_matmul_set_source(struct npu_matmul *mm, int matrix, const struct npu_tensor *tensor, uint64_t scalar,
                           int transposed);
void npu_matmul_clear_bias(struct npu_matmul *mm);
void npu_matmul_set_quant(struct npu_matmul *mm, uint64_t parameter);
void npu_matmul_set_hf32(struct npu_matmul *mm, int on, int ties_to_zero);
void npu_matmul_set_user(struct npu_matmul *mm, uint64_t tiling, uint64_t data);
void npu_matmul_set_workspace(struct npu_matmul *mm, uint64_t addr);
void npu_matmul_set_batch(struct npu_matmul *mm, int batch_a, int batch_b);
/* Iterate: computes the next block of C; 0 when there is none. local: the kernel's own L0C, or NULL. */
int npu_matmul_iterate(struct npu_matmul *mm, int sync, int partial_sum, const struct npu_tensor *local);
/* What calls that write C share. wait: an asynchronous call that WaitIterateAll will wait for. */
struct npu_matmul_output {
    struct npu_tensor gm, local; /* addr 0: not asked for */
    uint8_t sync, atomic, sequential, wait, fake, partial_sum;
};
void npu_matmul_iterate_all(struct npu_matmul *mm, const struct npu_matmul_output *out);
void npu_matmul_get_c(struct npu_matmul *mm, const struct npu_matmul_output *out);
/* GetTensorC without a destination: where in the workspace the next block lies. */
uint64_t npu_matmul_next_cached(struct npu_matmul *mm);
/* AsyncGetTensorC. */
void npu_matmul_get_cached(struct npu_matmul *mm, const struct npu_tensor *local);
void npu_matmul_wait_get(struct npu_matmul *mm);
/* IterateBatch, and IterateNBatch, which names no output: into the workspace, `loops` batches. Strides in elements, 0:
 * as the layout has them. */
struct npu_matmul_batch {
    uint32_t a, b, loops, stride_a, stride_b;
};
void npu_matmul_iterate_batch(struct npu_matmul *mm, const struct npu_matmul_batch *batch,
                              const struct npu_matmul_output *out);
/* GetBatchTensorC: the address of the next batch of IterateNBatch<false> in the workspace; that batch in UB. */
uint64_t npu_matmul_next_batch(struct npu_matmul *mm, uint32_t batch_a, uint32_t batch_b);
void npu_matmul_get_batch(struct npu_matmul *mm, const struct npu_tensor *local, uint32_t batch_a, uint32_t batch_b);
/* WaitIterateAll, WaitIterateBatch. */
void npu_matmul_wait(struct npu_matmul *mm);
void npu_matmul_end(struct npu_matmul *mm);

#ifdef __cplusplus
}
#endif
#endif
