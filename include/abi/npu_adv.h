/* High-level APIs as a kernel calls them: what include/ascendc says to the routines of src/npu/adv. Each routine is a
 * small program of basic instructions on the caller's buffers, as CANN's own is, so that its time, its hazards and its
 * temporary space come out right. The rules of npu_abi.h hold: host addresses, faults end the run, header functions are
 * always_inline and nodebug. */
#ifndef AKGEN_NPU_ADV_H
#define AKGEN_NPU_ADV_H

#include "abi/npu_abi.h"

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Every high-level API, one per line of adv.def. */
enum npu_adv_op {
    NPU_ADV_NONE,
#define NPU_ADV(id, name, routine, types, source) NPU_ADV_##id,
#include "abi/adv.def"
#undef NPU_ADV
    NPU_ADV_OPS
};

/* DataCopy with SliceInfo: a range of each dimension, the fastest first. start to end (included), `stride` elements
 * between one piece and the next; a piece of dimension 0 has `burst` blocks of 32 bytes, of the others one index. */
enum { NPU_SLICE_DIMS = 8 };
struct npu_slice {
    uint32_t start, end, stride, burst, shape;
};
struct npu_slices {
    uint32_t dims;
    struct npu_slice dst[NPU_SLICE_DIMS], src[NPU_SLICE_DIMS];
};

/* DataCopy with Nz2NdParamsFull: see adv/nz2nd.h, and CANN's structure for the units. */
struct npu_nz2nd {
    uint16_t matrices, rows, columns, src_matrix, src_column, dst_row, dst_matrix;
};

/* One call. Which fields an API reads stands at its line in adv.def; what is not named is zero. */
struct npu_adv {
    uint16_t op;              /* enum npu_adv_op */
    uint8_t type;             /* enum akgen_dtype of src[0] */
    uint8_t dst_type;         /* of dst[0]; where it can differ from `type` */
    uint32_t flags;           /* NPU_ADV_*, and bits of the API's own from bit 8 on */
    uint32_t count;           /* calCount: elements */
    uint32_t shape[12];       /* sizes that the API takes besides, in elements; meaning per API */
    uint64_t scalar[4];       /* bits of scalar arguments in their own type */
    struct npu_tensor dst[5]; /* dst, then further results */
    struct npu_tensor src[5]; /* sources, in the order of the arguments */
    struct npu_tensor tmp;    /* sharedTmpBuffer; addr 0: the API takes what InitBuffer has left of UB */
    const void *tiling;       /* the kernel's copy of the API's tiling structure, or what adv.def says, or NULL */
    bool *answer;             /* where an API that returns something puts it, or NULL */
};
enum {
    NPU_ADV_REUSE_SOURCE = 1, /* isReuseSource: the sources may be overwritten */
    NPU_ADV_NO_TMP = 2,       /* the API takes no temporary space: what InitBuffer has left is not looked at */
    /* The API's own; what they mean stands at its routine. */
    NPU_ADV_HIGH_PRECISION = 1 << 24,   /* the Gelu family: half is computed in float */
    NPU_ADV_HIGH_PERFORMANCE = 1 << 25, /* the Gelu family: a product with a reciprocal instead of a quotient */
    NPU_ADV_IN_FLOAT = 1 << 8,          /* Mean: half is summed in float. Softmax: statistics of half data are float */
    NPU_ADV_REVERSE = 1 << 9,           /* SelectWithBytesMask: the scalar is the first source */
    NPU_ADV_KEEP_MASK = 1 << 10,        /* SelectWithBytesMask: isReuseMask is false */
    NPU_ADV_NZ = 1 << 11,               /* isDataFormatNZ */
    NPU_ADV_UPDATE = 1 << 12,           /* SoftmaxFlash(V2): continue from what was seen so far */
    NPU_ADV_FRONT = 1 << 13,            /* SoftmaxGrad: isFront */
    NPU_ADV_PACKED = 1 << 14,           /* SOFTMAX_OUTPUT_WITHOUT_BRC; AdjustSoftMaxRes: stepSizeMode */
    NPU_ADV_TRUST_TILING = 1 << 15,     /* isCheckTiling is false */
    NPU_ADV_PREPARED = 1 << 16,         /* DropOut: isInitBitMode */
    NPU_ADV_HAS_OFFSET = 1 << 17,       /* AscendAntiQuant */
    NPU_ADV_SCALARS = 1 << 18           /* AscendAntiQuant: offset and scale are numbers, not tensors */
};

/* Runs the routine on the current core; does nothing on an AIC. */
void npu_advanced(const struct npu_adv *call);

#ifdef __cplusplus
}
#endif
#endif
