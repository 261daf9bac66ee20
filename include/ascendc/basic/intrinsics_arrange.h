/* The compiler's instructions that choose, gather and sort, on plain __ubuf__ pointers; see intrinsics_vector.h. */
#ifndef ASCENDC_INTRINSICS_ARRANGE_H
#define ASCENDC_INTRINSICS_ARRANGE_H

#include "basic/intrinsics_vector.h"
#include "basic/sort.h"
#include "basic/vector_compare.h"
#include "basic/vector_gather.h"

/* dst = CMPMASK ? src0 : src1. mode 0: the bits are in CMPMASK; 1: the bits are at src1, CMPMASK holds the other value,
 * a scalar; 2: CMPMASK holds the address of the bits. */
#define AKGEN_RAW_SELECT(T)                                                                                            \
    AKGEN_API void vsel(__ubuf__ T *dst, __ubuf__ T *src0, __ubuf__ T *src1, uint8_t repeat, uint8_t dstBlockStride,   \
                        uint8_t src0BlockStride, uint8_t src1BlockStride, uint8_t dstRepeatStride,                     \
                        uint8_t src0RepeatStride, uint8_t src1RepeatStride)                                            \
    {                                                                                                                  \
        npu_insn insn =                                                                                                \
            akgen::raw_insn<NPU_OP_SELECT, T, T>(akgen::raw_ub(dst), akgen::raw_ub(src0), repeat, dstBlockStride,      \
                                                 src0BlockStride, dstRepeatStride, src0RepeatStride);                  \
        insn.src1 = akgen::raw_ub(src1);                                                                               \
        insn.src1_blk = src1BlockStride;                                                                               \
        insn.src1_rep = src1RepeatStride;                                                                              \
        insn.src1_type = AKGEN_UINT8;                                                                                  \
        npu_issue(&insn);                                                                                              \
    }                                                                                                                  \
    template <typename U>                                                                                              \
    AKGEN_API void vsel(__ubuf__ T *dst, __ubuf__ T *src0, __ubuf__ U *src1, uint8_t repeat, uint8_t dstBlockStride,   \
                        uint8_t src0BlockStride, uint8_t src1BlockStride, uint8_t dstRepeatStride,                     \
                        uint8_t src0RepeatStride, uint8_t src1RepeatStride, uint8_t mode)                              \
    {                                                                                                                  \
        npu_insn insn =                                                                                                \
            akgen::raw_insn<NPU_OP_SELECT, T, T>(akgen::raw_ub(dst), akgen::raw_ub(src0), repeat, dstBlockStride,      \
                                                 src0BlockStride, dstRepeatStride, src0RepeatStride);                  \
        bool scalar = mode == uint8_t(AscendC::SELMODE::VSEL_TENSOR_SCALAR_MODE);                                      \
        (scalar ? insn.aux : insn.src1) = akgen::raw_ub(src1);                                                         \
        insn.src1_blk = src1BlockStride;                                                                               \
        insn.src1_rep = src1RepeatStride;                                                                              \
        insn.src1_type = AKGEN_UINT8;                                                                                  \
        insn.mode = mode;                                                                                              \
        npu_issue(&insn);                                                                                              \
    }
AKGEN_RAW_SELECT(half)
AKGEN_RAW_SELECT(float)
#undef AKGEN_RAW_SELECT
/* CMPMASK from and to 16 bytes. */
AKGEN_API void set_cmpmask(__ubuf__ void *src)
{
    npu_insn insn = akgen::raw_insn<NPU_OP_SET_CMP_MASK, uint8_t, uint8_t>({}, akgen::raw_ub(src), 1, 0, 0, 0, 0);
    npu_issue(&insn);
}
AKGEN_API void get_cmpmask(__ubuf__ void *dst)
{
    npu_insn insn = akgen::raw_insn<NPU_OP_GET_CMP_MASK, uint8_t, uint8_t>(akgen::raw_ub(dst), {}, 1, 0, 0, 0, 0);
    npu_issue(&insn);
}

namespace akgen
{
/* A base is an offset in UB, as the API's addresses are. */
AKGEN_API npu_tensor raw_ub_at(uint32_t offset)
{
    npu_tensor tensor = {};
    npu_local_tensor(NPU_VECCALC, offset, 0, &tensor);
    tensor.bytes = 0;
    tensor.flags |= NPU_TENSOR_RAW;
    return tensor;
}
} // namespace akgen

/* Elements, or blocks of 32 bytes, from base + offset, an address in UB. */
#define AKGEN_RAW_GATHER(T)                                                                                            \
    AKGEN_API void vgather(__ubuf__ T *dst, __ubuf__ uint32_t *offsets, uint32_t base, uint16_t dstRepeatStride,       \
                           uint8_t repeat)                                                                             \
    {                                                                                                                  \
        npu_insn insn = akgen::raw_insn<NPU_OP_GATHER, T, T>(akgen::raw_ub(dst), akgen::raw_ub_at(base), repeat, 1, 1, \
                                                             dstRepeatStride, 8);                                      \
        insn.src1 = akgen::raw_ub(offsets);                                                                            \
        insn.src1_type = AKGEN_UINT32;                                                                                 \
        npu_issue(&insn);                                                                                              \
    }                                                                                                                  \
    AKGEN_API void vgatherb(__ubuf__ T *dst, __ubuf__ uint32_t *offsets, uint32_t base, uint16_t dstRepeatStride,      \
                            uint8_t dstBlockStride, uint8_t repeat)                                                    \
    {                                                                                                                  \
        npu_insn insn = akgen::raw_insn<NPU_OP_GATHERB, T, T>(akgen::raw_ub(dst), akgen::raw_ub_at(base), repeat,      \
                                                              dstBlockStride, 1, dstRepeatStride, 8);                  \
        insn.src1 = akgen::raw_ub(offsets);                                                                            \
        insn.src1_type = AKGEN_UINT32;                                                                                 \
        npu_issue(&insn);                                                                                              \
    }                                                                                                                  \
    /* Kept elements move together. pattern 0: that at src1. In counter mode the mask is the elements of a repeat. */  \
    AKGEN_API void vreducev2(__ubuf__ T *dst, __ubuf__ T *src0, __ubuf__ T *src1, uint16_t repeat,                     \
                             uint8_t src0BlockStride, uint8_t pattern, uint16_t src0RepeatStride,                      \
                             uint8_t src1RepeatStride)                                                                 \
    {                                                                                                                  \
        npu_insn insn = akgen::raw_insn<NPU_OP_GATHER_MASK, T, T>(akgen::raw_ub(dst), akgen::raw_ub(src0), repeat, 1,  \
                                                                  src0BlockStride, 8, src0RepeatStride);               \
        insn.flags = pattern ? 0 : NPU_INSN_USER_PATTERN;                                                              \
        insn.mode = pattern;                                                                                           \
        insn.src1 = akgen::raw_ub(src1);                                                                               \
        insn.src1_type = akgen::dtype_of<T>::value;                                                                    \
        insn.src1_rep = src1RepeatStride;                                                                              \
        npu_issue(&insn);                                                                                              \
    }
AKGEN_RAW_GATHER(uint16_t)
AKGEN_RAW_GATHER(uint32_t)
#undef AKGEN_RAW_GATHER

#define AKGEN_RAW_SORT(T)                                                                                              \
    AKGEN_API void vbitsort(__ubuf__ T *dst, __ubuf__ T *src0, __ubuf__ uint32_t *src1, uint8_t repeat)                \
    {                                                                                                                  \
        npu_insn insn =                                                                                                \
            akgen::raw_insn<NPU_OP_SORT32, T, T>(akgen::raw_ub(dst), akgen::raw_ub(src0), repeat, 1, 1, 8, 8);         \
        insn.src1 = akgen::raw_ub(src1);                                                                               \
        npu_issue(&insn);                                                                                              \
    }
#define AKGEN_RAW_MERGE(T)                                                                                             \
    /* lengths: 16 bits for each list; config: repeats, from bit 8 on which lists there are, bit 12 to suspend. */     \
    AKGEN_API void vmrgsort4(__ubuf__ T *dst, __ubuf__ T *lists[4], uint64_t lengths, uint64_t config)                 \
    {                                                                                                                  \
        npu_insn insn = akgen::raw_insn<NPU_OP_MRG_SORT, T, T>(akgen::raw_ub(dst), akgen::raw_ub(lists[0]),            \
                                                               uint32_t(config & 0xff), 0, 0, 0, 0);                   \
        insn.src1 = akgen::raw_ub(lists[1]);                                                                           \
        insn.aux = akgen::raw_ub(lists[2]);                                                                            \
        insn.copy.pad_value = reinterpret_cast<uint64_t>(lists[3]);                                                    \
        insn.mode = uint8_t(config >> 8 & 0xf);                                                                        \
        insn.flags = config >> 12 & 1 ? NPU_INSN_SUSPEND : 0;                                                          \
        insn.mask[0] = lengths;                                                                                        \
        npu_issue(&insn);                                                                                              \
    }
AKGEN_RAW_MERGE(half)
AKGEN_RAW_MERGE(float)
#undef AKGEN_RAW_MERGE
AKGEN_RAW_SORT(half)
AKGEN_RAW_SORT(float)
#undef AKGEN_RAW_SORT

/* A sum or difference, its Relu, and a narrower type; `high` asks for the upper half of each block of dst. */
#define AKGEN_RAW_RELUCONV(name, op, D, S)                                                                             \
    AKGEN_API void name(__ubuf__ D *dst, __ubuf__ S *src0, __ubuf__ S *src1, uint8_t repeat, uint8_t dstBlockStride,   \
                        uint8_t src0BlockStride, uint8_t src1BlockStride, uint8_t dstRepeatStride,                     \
                        uint8_t src0RepeatStride, uint8_t src1RepeatStride, bool high)                                 \
    {                                                                                                                  \
        npu_insn insn =                                                                                                \
            akgen::raw_insn<NPU_OP_##op, D, S>(akgen::raw_ub(dst), akgen::raw_ub(src0), repeat, dstBlockStride,        \
                                               src0BlockStride, dstRepeatStride, src0RepeatStride);                    \
        if (high) {                                                                                                    \
            npu_unsupported(NPU_LACKS_##name);                                                                         \
            return;                                                                                                    \
        }                                                                                                              \
        insn.src1 = akgen::raw_ub(src1);                                                                               \
        insn.src1_blk = src1BlockStride;                                                                               \
        insn.src1_rep = src1RepeatStride;                                                                              \
        npu_issue(&insn);                                                                                              \
    }
AKGEN_RAW_RELUCONV(vaddreluconv_f162s8, ADD_RELU_CAST, int8_t, half)
AKGEN_RAW_RELUCONV(vaddreluconv_f322f16, ADD_RELU_CAST, half, float)
AKGEN_RAW_RELUCONV(vaddreluconv_s162s8, ADD_RELU_CAST, int8_t, int16_t)
AKGEN_RAW_RELUCONV(vsubreluconv_f162s8, SUB_RELU_CAST, int8_t, half)
AKGEN_RAW_RELUCONV(vsubreluconv_f322f16, SUB_RELU_CAST, half, float)
AKGEN_RAW_RELUCONV(vsubreluconv_s162s8, SUB_RELU_CAST, int8_t, int16_t)
#undef AKGEN_RAW_RELUCONV

/* int16 with the scales in the DEQSCALE register to bytes in the lower or upper half of each block. */
#define AKGEN_RAW_DEQ(name, D, vector, high)                                                                           \
    AKGEN_API void vconv_##name(__ubuf__ D *dst, __ubuf__ int16_t *src, uint8_t repeat, uint16_t dstBlockStride,       \
                                uint16_t srcBlockStride, uint16_t dstRepeatStride, uint16_t srcRepeatStride)           \
    {                                                                                                                  \
        npu_insn insn = akgen::raw_insn<NPU_OP_CAST_DEQUANT, D, int16_t>(akgen::raw_ub(dst), akgen::raw_ub(src),       \
                                                                         repeat, dstBlockStride, srcBlockStride,       \
                                                                         dstRepeatStride, srcRepeatStride);            \
        insn.mode = (vector) | (high) << 1;                                                                            \
        npu_issue(&insn);                                                                                              \
    }
#define AKGEN_RAW_DEQ_BYTES(D)                                                                                         \
    AKGEN_RAW_DEQ(deqs162b8l, D, 0, 0)                                                                                 \
    AKGEN_RAW_DEQ(deqs162b8h, D, 0, 1)                                                                                 \
    AKGEN_RAW_DEQ(vdeqs162b8l, D, 1, 0)                                                                                \
    AKGEN_RAW_DEQ(vdeqs162b8h, D, 1, 1)
AKGEN_RAW_DEQ_BYTES(int8_t)
AKGEN_RAW_DEQ_BYTES(uint8_t)
#undef AKGEN_RAW_DEQ_BYTES
#undef AKGEN_RAW_DEQ

/* int4 lies two to a byte behind a plain pointer. */
#define AKGEN_RAW_INT4(name, D, S, dst_pointer, src_pointer, rounding)                                                 \
    AKGEN_API void vconv_##name(__ubuf__ dst_pointer *dst, __ubuf__ src_pointer *src, uint8_t repeat,                  \
                                uint16_t dstBlockStride, uint16_t srcBlockStride, uint16_t dstRepeatStride,            \
                                uint16_t srcRepeatStride)                                                              \
    {                                                                                                                  \
        npu_insn insn = akgen::raw_insn<NPU_OP_CAST, AscendC::D, AscendC::S>(akgen::raw_ub(dst), akgen::raw_ub(src),   \
                                                                             repeat, dstBlockStride, srcBlockStride,   \
                                                                             dstRepeatStride, srcRepeatStride);        \
        insn.mode = uint8_t(AscendC::RoundMode::CAST_##rounding);                                                      \
        npu_issue(&insn);                                                                                              \
    }
namespace AscendC
{
using akgen_half = half;
}
AKGEN_RAW_INT4(s42f16, akgen_half, int4b_t, half, void, NONE)
AKGEN_RAW_INT4(f162s4, int4b_t, akgen_half, void, half, NONE)
AKGEN_RAW_INT4(f162s4r, int4b_t, akgen_half, void, half, RINT)
AKGEN_RAW_INT4(f162s4f, int4b_t, akgen_half, void, half, FLOOR)
AKGEN_RAW_INT4(f162s4c, int4b_t, akgen_half, void, half, CEIL)
AKGEN_RAW_INT4(f162s4a, int4b_t, akgen_half, void, half, ROUND)
AKGEN_RAW_INT4(f162s4z, int4b_t, akgen_half, void, half, TRUNC)
#undef AKGEN_RAW_INT4

#endif
