/* The tiling side of CANN's high-level APIs in C: what the headers of include/cann/tiling forward to, in the program
 * that loads host.so (src/op/tiling_*.c).
 *
 * Sizes are bytes unless a name says otherwise. Formulas and their sources stand with the functions; what CANN asserts
 * about its arguments leaves a result as it was, as there. */
#ifndef AKGEN_TILING_ABI_H
#define AKGEN_TILING_ABI_H

#include "abi/op_abi.h"

#ifdef __cplusplus
extern "C" {
#define AKGEN_TILING_FIELD(type, name) type name = 0;
#else
#define AKGEN_TILING_FIELD(type, name) type name;
#endif
/* struct akgen_SoftMaxTiling, struct akgen_TCubeTiling, ... */
#define AKGEN_TILING_STRUCT(name, fields)                                                                              \
    struct akgen_##name {                                                                                              \
        fields                                                                                                         \
    };
#include "abi/tiling_structs.def"

/* Temporary space: the least that an API works with, and what it can use at most. */
enum akgen_tmp_api {
#define AKGEN_TMP(api, half, single, reuse, unit) AKGEN_TMP_##api,
#include "abi/tmp_space.def"
    AKGEN_TMP_APIS
};
void akgen_tmp_elementwise(enum akgen_tmp_api api, int64_t elements, uint32_t type_size, bool reuse, uint32_t *max,
                           uint32_t *min);
/* live: how many tensors as large as the input are alive at once; extra: bytes beside them. */
void akgen_tmp_factor(enum akgen_tmp_api api, uint32_t type_size, uint32_t *live, uint32_t *extra);
void akgen_tmp_mean(uint32_t n, uint32_t type_size, uint32_t accumulator_size, uint32_t *max, uint32_t *min);
void akgen_tmp_sum(uint32_t n, uint32_t type_size, uint32_t *max, uint32_t *min);

/* Space of the others, after their functions in CANN. */
void akgen_tmp_power(const struct akgen_shape *base, const struct akgen_shape *exponent, bool integer,
                     uint32_t type_size, uint32_t *max, uint32_t *min);
void akgen_tmp_power_factor(bool both_tensors, bool integer, uint32_t type_size, uint32_t *live, uint32_t *extra);
void akgen_tmp_broadcast(const struct akgen_shape *from, const struct akgen_shape *to, uint32_t type_size,
                         uint32_t *max, uint32_t *min);
void akgen_tmp_select(const struct akgen_shape *first, const struct akgen_shape *second, const struct akgen_shape *mask,
                      uint32_t mask_bytes, bool reuse_mask, uint32_t *max, uint32_t *min);
void akgen_tmp_dropout(const struct akgen_shape *shape, uint32_t *max, uint32_t *min);
void akgen_tmp_quant(const struct akgen_shape *shape, uint32_t *max, uint32_t *min);
void akgen_tmp_dequant(const struct akgen_shape *shape, uint32_t *max, uint32_t *min);
void akgen_tmp_dequant_factor(const struct akgen_shape *shape, uint32_t *live, uint32_t *extra);
void akgen_tmp_antiquant(const struct akgen_shape *shape, const struct akgen_shape *scale, bool transposed,
                         bool to_half, uint32_t *max, uint32_t *min);
enum akgen_reduce_api { AKGEN_REDUCE_SUM, AKGEN_REDUCE_PRODUCT, AKGEN_REDUCE_EXTREME, AKGEN_REDUCE_LOGIC };
/* along_last: the pattern AR, else RA. The least and the most are one. */
uint32_t akgen_tmp_reduce(enum akgen_reduce_api api, const struct akgen_shape *shape, uint32_t type_size,
                          bool along_last, bool reuse);
uint32_t akgen_tmp_xor_sum(const struct akgen_shape *shape, uint32_t type_size, bool reuse);
void akgen_tmp_cumsum(const struct akgen_shape *shape, uint32_t type_size, bool along_last, uint32_t *max,
                      uint32_t *min);
uint32_t akgen_tmp_sort(uint32_t count, uint32_t type_size);
void akgen_tmp_topk(int32_t inner, int32_t outer, bool has_index, bool small, bool largest, uint32_t *max,
                    uint32_t *min);
void akgen_tmp_layer_norm(const struct akgen_shape *shape, uint32_t type_size, bool reuse, uint32_t *max,
                          uint32_t *min);
/* False if the shape is none for basic blocks. */
bool akgen_tmp_deep_norm(const struct akgen_shape *shape, uint32_t type_size, bool reuse, bool basic_block,
                         uint32_t *max, uint32_t *min);
void akgen_tmp_layer_norm_separate(const struct akgen_shape *shape, uint32_t type_size, uint32_t *max, uint32_t *min);
void akgen_tmp_normalize(const struct akgen_shape *shape, uint32_t parameter_size, uint32_t type_size, uint32_t *max,
                         uint32_t *min);
void akgen_tmp_welford_update(const struct akgen_shape *shape, uint32_t type_size, bool reuse, uint32_t *max,
                              uint32_t *min);
void akgen_tmp_welford_finalize(const struct akgen_shape *shape, uint32_t *max, uint32_t *min);
/* False if the shape is none for basic blocks. */
bool akgen_tmp_rms_norm(const struct akgen_shape *shape, uint32_t type_size, bool basic_block, uint32_t *max,
                        uint32_t *min);

/* False if the shape is none for basic blocks. original: how many of the first dimension are data. */
bool akgen_tmp_batch_norm(const struct akgen_shape *shape, const struct akgen_shape *original, uint32_t type_size,
                          bool basic_block, uint32_t *max, uint32_t *min);
void akgen_tmp_group_norm(const struct akgen_shape *shape, uint32_t type_size, bool reuse, uint32_t groups,
                          uint32_t *max, uint32_t *min);
void akgen_tmp_layer_norm_grad(const struct akgen_shape *shape, uint32_t type_size, bool reuse, uint32_t *max,
                               uint32_t *min);
void akgen_tmp_layer_norm_grad_beta(const struct akgen_shape *shape, uint32_t type_size, uint32_t *max, uint32_t *min);
/* type: TransposeType. */
void akgen_tmp_transpose(const struct akgen_shape *shape, uint32_t type_size, uint32_t type, uint32_t *max,
                         uint32_t *min);
void akgen_tmp_pad(const struct akgen_shape *shape, uint32_t type_size, uint32_t *max, uint32_t *min);

/* Tiling of what normalises and sorts. space: of the temporary buffer. */
void akgen_layer_norm_tiling(const struct akgen_shape *shape, uint32_t space, uint32_t type_size, bool reuse,
                             struct akgen_LayerNormTiling *tiling);
bool akgen_deep_norm_tiling(const struct akgen_shape *shape, const struct akgen_shape *original, uint32_t space,
                            uint32_t type_size, bool reuse, bool basic_block, struct akgen_DeepNormTiling *tiling);
void akgen_layer_norm_separate_tiling(const struct akgen_shape *shape, uint32_t space, uint32_t type_size,
                                      struct akgen_LayerNormSeparateTiling *tiling);
bool akgen_rms_norm_tiling(const struct akgen_shape *shape, const struct akgen_shape *original, uint32_t space,
                           uint32_t type_size, bool basic_block, struct akgen_RmsNormTiling *tiling);
bool akgen_batch_norm_tiling(const struct akgen_shape *shape, const struct akgen_shape *original, uint32_t space,
                             uint32_t type_size, bool basic_block, struct akgen_BatchNormTiling *tiling);
void akgen_group_norm_tiling(const struct akgen_shape *shape, uint32_t space, uint32_t type_size, bool reuse,
                             uint32_t groups, struct akgen_GroupNormTiling *tiling);
void akgen_layer_norm_grad_tiling(const struct akgen_shape *shape, uint32_t space, uint32_t type_size, bool reuse,
                                  struct akgen_LayerNormGradTiling *tiling);
void akgen_layer_norm_grad_beta_tiling(const struct akgen_shape *shape, uint32_t space, uint32_t type_size,
                                       struct akgen_LayerNormGradBetaTiling *tiling);
/* Of what rearranges. original: without padding. */
void akgen_pad_tiling(const struct akgen_shape *shape, const struct akgen_shape *original, uint32_t space,
                      uint32_t type_size, struct akgen_PadTiling *tiling);
void akgen_unpad_tiling(const struct akgen_shape *shape, uint32_t space, uint32_t type_size,
                        struct akgen_UnPadTiling *tiling);
void akgen_transpose_matrix_tiling(const struct akgen_shape *shape, uint32_t type_size,
                                   struct akgen_ConfusionTransposeTiling *tiling);
void akgen_transpose_swap_tiling(const struct akgen_shape *shape, uint32_t space, uint32_t type_size,
                                 struct akgen_ConfusionTransposeTiling *tiling);
bool akgen_topk_tiling(int32_t inner, int32_t outer, int32_t k, uint32_t type_size, bool has_index, bool small,
                       bool largest, struct akgen_TopkTiling *tiling);

/* Softmax and its relatives. */
enum akgen_softmax_kind {
    AKGEN_SOFTMAX, /* SoftMax and LogSoftMax */
    AKGEN_SOFTMAX_FLASH,
    AKGEN_SOFTMAX_FLASH_V2,
    AKGEN_SOFTMAX_FLASH_V3,
    AKGEN_SOFTMAX_GRAD
};
struct akgen_softmax {
    enum akgen_softmax_kind kind;
    struct akgen_shape shape; /* the last dimension is reduced */
    uint32_t type_size;       /* of the input */
    uint32_t max_type_size;   /* of max and sum; V2 and V3, else the input's */
    bool update;              /* FLASH */
    bool front;               /* GRAD */
    bool basic_block;         /* V2 */
    bool broadcast;           /* V2: the maximum comes out as wide as a row of blocks */
};
/* 0 where CANN asserts. */
uint32_t akgen_softmax_max(const struct akgen_softmax *softmax);
uint32_t akgen_softmax_min(const struct akgen_softmax *softmax);
/* Divides the rows so that a part fits into `space` bytes. */
void akgen_softmax_tiling(const struct akgen_softmax *softmax, uint32_t space, struct akgen_SoftMaxTiling *tiling);
bool akgen_softmax_is_basic_block(const struct akgen_SoftMaxTiling *tiling, uint32_t type_size);

/* Matrix products. Sizes are elements; -1 leaves a size to the algorithm. */
struct akgen_matmul_operand {
    int position, format; /* matmul_tiling::TPosition, CubeFormat */
    int dtype;            /* matmul_tiling::DataType */
    bool transposed;
};
struct akgen_matmul {
    struct akgen_matmul_operand a, b, c, bias;
    int32_t m, n, k; /* the product; of one core for MatmulApiTiling, of all for MultiCore; -1: as the tensors */
    int32_t org_m, org_n, org_ka, org_kb; /* the tensors in GM */
    int32_t cores;                        /* at most; 0: a product of one core */
    int32_t single_m, single_n, single_k; /* of one core */
    int32_t max_single_m, max_single_n, max_single_k, min_single_m, min_single_n, min_single_k;
    int32_t align_m, align_n, align_k;
    int32_t base_m, base_n, base_k; /* SetFixSplit */
    int32_t max_base_m, max_base_n, max_base_k, min_base_m, min_base_n, min_base_k;
    int32_t l1, l0c, ub, bt; /* bytes that may be used; -1: all */
    int32_t layout[15];      /* ALayoutInfoB .. CLayoutInfoS2 in the order of TCubeTiling */
    int32_t batch_number;
    bool has_bias, n_first, split_k;
};
/* All sizes free, all types float. */
void akgen_matmul_init(struct akgen_matmul *matmul);
/* Base blocks must be whole fractals. 0, or -1 if one is not. */
int32_t akgen_matmul_fix_split(struct akgen_matmul *matmul, int32_t m, int32_t n, int32_t k);
/* 0, or -1 if a memory is smaller than that. */
int32_t akgen_matmul_buffer_space(struct akgen_matmul *matmul, int32_t l1, int32_t l0c, int32_t ub, int32_t bt);
/* Fills in a tiling that meets every constraint of docs/zh/api, 高阶API, TCubeTiling. 0, or -1 if there is none. */
int64_t akgen_matmul_tiling(const struct akgen_matmul *matmul, struct akgen_TCubeTiling *tiling);

#ifdef __cplusplus
}
#endif
#endif
