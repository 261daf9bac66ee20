/* The tiling side of CANN's high-level APIs in C: what the headers of include/cann/tiling forward to, in the program
 * that loads host.so (src/op/tiling_*.c).
 *
 * Sizes are bytes unless a name says otherwise. Formulas and their sources stand with the functions; what CANN asserts
 * about its arguments leaves a result as it was, as there. */
#ifndef AKGEN_TILING_ABI_H
#define AKGEN_TILING_ABI_H

#include "akgen/op_abi.h"

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
#include "akgen/tiling_structs.def"

/* Temporary space: the least that an API works with, and what it can use at most. */
enum akgen_tmp_api {
#define AKGEN_TMP(api, half, single, reuse, unit) AKGEN_TMP_##api,
#include "akgen/tmp_space.def"
    AKGEN_TMP_APIS
};
void akgen_tmp_elementwise(enum akgen_tmp_api api, int64_t elements, uint32_t type_size, bool reuse, uint32_t *max,
                           uint32_t *min);
/* live: how many tensors as large as the input are alive at once; extra: bytes beside them. */
void akgen_tmp_factor(enum akgen_tmp_api api, uint32_t type_size, uint32_t *live, uint32_t *extra);
void akgen_tmp_mean(uint32_t n, uint32_t type_size, uint32_t accumulator_size, uint32_t *max, uint32_t *min);
void akgen_tmp_sum(uint32_t n, uint32_t type_size, uint32_t *max, uint32_t *min);

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

#ifdef __cplusplus
}
#endif
#endif
