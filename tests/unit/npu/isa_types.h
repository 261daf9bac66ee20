/* What isa.def leaves to the families: destination types and modes of each source type. */
#ifndef TESTS_NPU_ISA_TYPES_H
#define TESTS_NPU_ISA_TYPES_H

#include "npu/isa.h"

enum { ISA_DESTINATIONS = 8, ISA_MODES = 16 };

/* The n-th of the instruction's types with elements of so many bytes, counted round. */
static inline uint8_t isa_type(uint16_t op, size_t bytes, uint32_t n)
{
    uint8_t types[AKGEN_DTYPE_CODES] = {0};
    uint32_t count = 0;
    for (uint8_t type = 0; type < AKGEN_DTYPE_CODES; type++)
        if (npu_isa[op].types >> type & 1 && akgen_dtype_size((enum akgen_dtype)type) == bytes)
            types[count++] = type;
    return count ? types[n % count] : AKGEN_DTYPE_NONE;
}

/* The destination types that go with a source type; returns how many. */
static inline int isa_destinations(uint16_t op, uint8_t src, uint8_t dst[ISA_DESTINATIONS])
{
    static const struct {
        uint16_t op;
        uint8_t src, dst;
    } others[] = {
        {NPU_OP_AXPY, AKGEN_FLOAT16, AKGEN_FLOAT},
        {NPU_OP_ADD_RELU_CAST, AKGEN_FLOAT16, AKGEN_INT8},
        {NPU_OP_ADD_RELU_CAST, AKGEN_FLOAT, AKGEN_FLOAT16},
        {NPU_OP_ADD_RELU_CAST, AKGEN_INT16, AKGEN_INT8},
        {NPU_OP_SUB_RELU_CAST, AKGEN_FLOAT16, AKGEN_INT8},
        {NPU_OP_SUB_RELU_CAST, AKGEN_FLOAT, AKGEN_FLOAT16},
        {NPU_OP_SUB_RELU_CAST, AKGEN_INT16, AKGEN_INT8},
        {NPU_OP_MUL_CAST, AKGEN_FLOAT16, AKGEN_INT8},
        {NPU_OP_MUL_CAST, AKGEN_FLOAT16, AKGEN_UINT8},
        {NPU_OP_MUL_ADD_DST, AKGEN_FLOAT16, AKGEN_FLOAT},
        {NPU_OP_ADD_DEQ_RELU, AKGEN_INT32, AKGEN_FLOAT16},
        {NPU_OP_CAST_DEQUANT, AKGEN_INT16, AKGEN_INT8},
        {NPU_OP_CAST_DEQUANT, AKGEN_INT16, AKGEN_UINT8},
        {NPU_OP_COMPARE, AKGEN_FLOAT, AKGEN_UINT8},
        {NPU_OP_COMPARE, AKGEN_FLOAT16, AKGEN_UINT8},
        {NPU_OP_COMPARE, AKGEN_INT32, AKGEN_UINT8},
        {NPU_OP_COMPARE_SCALAR, AKGEN_FLOAT, AKGEN_UINT8},
        {NPU_OP_COMPARE_SCALAR, AKGEN_FLOAT16, AKGEN_UINT8},
        {NPU_OP_COMPARE_SCALAR, AKGEN_INT32, AKGEN_UINT8},
        {NPU_OP_MMAD, AKGEN_FLOAT16, AKGEN_FLOAT},
        {NPU_OP_MMAD, AKGEN_BF16, AKGEN_FLOAT},
        {NPU_OP_MMAD, AKGEN_FLOAT, AKGEN_FLOAT},
        {NPU_OP_MMAD, AKGEN_INT8, AKGEN_INT32},
        {NPU_OP_MMAD, AKGEN_INT4, AKGEN_INT32},
        {NPU_OP_FIXPIPE, AKGEN_FLOAT, AKGEN_FLOAT},
        {NPU_OP_FIXPIPE, AKGEN_FLOAT, AKGEN_FLOAT16},
        {NPU_OP_FIXPIPE, AKGEN_FLOAT, AKGEN_BF16},
        {NPU_OP_FIXPIPE, AKGEN_FLOAT, AKGEN_INT8},
        {NPU_OP_FIXPIPE, AKGEN_FLOAT, AKGEN_UINT8},
        {NPU_OP_FIXPIPE, AKGEN_INT32, AKGEN_INT32},
        {NPU_OP_FIXPIPE, AKGEN_INT32, AKGEN_FLOAT16},
        {NPU_OP_FIXPIPE, AKGEN_INT32, AKGEN_INT8},
        {NPU_OP_FIXPIPE, AKGEN_INT32, AKGEN_UINT8},
#define NPU_CAST(to, from, modes, rate) {NPU_OP_CAST, AKGEN_##from, AKGEN_##to},
#include "abi/cast.def"
#undef NPU_CAST
    };
    bool listed = false; /* every type of the row is: no further destination is the source's own type */
    int n = 0;
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        listed |= others[i].op == op && op != NPU_OP_AXPY && op != NPU_OP_MUL_ADD_DST;
        if (others[i].op == op && others[i].src == src)
            dst[n++] = others[i].dst;
    }
    if (!listed)
        dst[n++] = src;
    return n;
}

/* Whether an instruction has this mode (round mode, CMPMODE, SELMODE, ReduceOrder, pattern, ...). */
static inline bool isa_has_mode(uint16_t op, uint8_t src, uint8_t dst, int mode)
{
    static const struct {
        uint8_t dst, src, modes;
    } pairs[] = {
#define NPU_CAST(to, from, modes, rate) {AKGEN_##to, AKGEN_##from, (uint8_t)(modes)},
#include "abi/cast.def"
#undef NPU_CAST
    };
    enum { CAST_MODES = 7, COMPARE_EQ = 2, COMPARE_MODES = 6 };
    switch (op) {
    case NPU_OP_CAST:
        for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
            if (pairs[i].dst == dst && pairs[i].src == src)
                return mode < CAST_MODES && pairs[i].modes >> mode & 1;
        return false;
    case NPU_OP_COMPARE:
    case NPU_OP_COMPARE_SCALAR:
        return src == AKGEN_INT32 ? mode == COMPARE_EQ : mode < COMPARE_MODES;
    case NPU_OP_SELECT:
        return mode < 3;
    case NPU_OP_SHIFT_RIGHT: /* roundEn */
        return mode < 2;
    case NPU_OP_WHOLE_REDUCE_MAX: /* ReduceOrder */
    case NPU_OP_WHOLE_REDUCE_MIN:
        return mode < 4;
    case NPU_OP_GATHER_MASK: /* 0: the pattern comes from a tensor */
        return mode < 8;
    case NPU_OP_CAST_DEQUANT: /* scales from a tensor, the upper halves */
        return mode < 4;
    case NPU_OP_TRANSPOSE_4D:
        return (mode == 10 && src == AKGEN_UINT16) || mode == 11 || mode == 12;
    case NPU_OP_TRANS_DATA_5HD: /* registers, not a mode */
    case NPU_OP_MRG_SORT:
        return false;
    default:
        return mode == 0;
    }
}

#endif
