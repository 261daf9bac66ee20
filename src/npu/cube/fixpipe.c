/* Fixpipe, and DataCopy from L0C: a result leaves L0C for GM or L1, converted or quantised on the way, as a fractal
 * matrix (Nz) or row by row (ND).
 *
 * asc-devkit docs, 矩阵计算的搬出/Fixpipe（L0C到GM数据搬运）, Fixpipe（L0C到L1数据搬运）, DataCopy（L0C到GM数据搬运）;
 * 矩阵搬出关键特性说明/NZ2ND, NZ2NZ, F32-Channel-Split, Int8-Channel-Merge, 随路量化, 随路ReLU; the reference scripts
 * of examples, fixpipe_l0c2gm. A quantisation parameter: bits 13..31 the upper part of a float factor, 32..35 a shift
 * less 1, 36 whether to shift, 37..45 an offset, 46 whether the result is signed.
 *
 * Assumed: the offset is signed; an overflow of half and bfloat16 gives an infinity (machine.md). */
#include "base/half.h"
#include "npu/cube/cube.h"
#include "npu/cube/cube_internal.h"
#include "npu/gm/atomic.h"
#include "npu/gm/gm.h"
#include "npu/gm/shadow.h"
#include "npu/memory.h"
#include "npu/report.h"

#include <math.h>
#include <string.h>

enum { PIECE = 16 /* elements of a row of a fractal of L0C */, PARAMETER = 8 /* bytes */ };

static const struct {
    uint8_t quant, src, dst;
    bool by_column;
} conversions[] = {
    {NPU_QUANT_NONE, AKGEN_FLOAT, AKGEN_FLOAT, false},      {NPU_QUANT_NONE, AKGEN_INT32, AKGEN_INT32, false},
    {NPU_QUANT_F322F16, AKGEN_FLOAT, AKGEN_FLOAT16, false}, {NPU_QUANT_F322BF16, AKGEN_FLOAT, AKGEN_BF16, false},
    {NPU_QUANT_DEQF16, AKGEN_INT32, AKGEN_FLOAT16, false},  {NPU_QUANT_VDEQF16, AKGEN_INT32, AKGEN_FLOAT16, true},
    {NPU_QUANT_QF322B8, AKGEN_FLOAT, AKGEN_INT8, false},    {NPU_QUANT_QF322B8, AKGEN_FLOAT, AKGEN_UINT8, false},
    {NPU_QUANT_VQF322B8, AKGEN_FLOAT, AKGEN_INT8, true},    {NPU_QUANT_VQF322B8, AKGEN_FLOAT, AKGEN_UINT8, true},
    {NPU_QUANT_REQ8, AKGEN_INT32, AKGEN_INT8, false},       {NPU_QUANT_REQ8, AKGEN_INT32, AKGEN_UINT8, false},
    {NPU_QUANT_VREQ8, AKGEN_INT32, AKGEN_INT8, true},       {NPU_QUANT_VREQ8, AKGEN_INT32, AKGEN_UINT8, true},
};

static bool by_column(int quant)
{
    return quant == NPU_QUANT_VDEQF16 || quant == NPU_QUANT_VQF322B8 || quant == NPU_QUANT_VREQ8;
}

/* DataCopy takes from registers what Fixpipe has in its parameters. */
static void read_registers(struct npu_core *core, struct npu_insn *insn, const struct npu_regs *regs)
{
    uint64_t nd = regs->cube.at[NPU_CUBE_ND];
    insn->fixpipe.nd_num = (uint16_t)nd;
    insn->fixpipe.src_nd_stride = (uint16_t)(nd >> 16);
    insn->fixpipe.dst_nd_stride = (uint16_t)(nd >> 32);
    insn->scalar = regs->cube.at[NPU_CUBE_QUANT];
    if (insn->fixpipe.nz2nd && !nd)
        npu_trap(core, FAULT(cube_params), "nz2ndEn",
                 "DataCopy from L0C to rows (nz2ndEn) without SetFixpipeNz2ndFlag");
    if (!by_column(insn->fixpipe.quant))
        return;
    insn->src1 = (struct npu_tensor){.addr = regs->cube.at[NPU_CUBE_QUANT_AT], .position = NPU_C2PIPE2GM};
    if (!insn->src1.addr)
        npu_trap(core, FAULT(cube_params), "quantPre", "a quantisation by columns without SetFixPipeConfig");
}

static void check_conversion(struct npu_core *core, const struct npu_insn *insn)
{
    for (size_t i = 0; i < sizeof conversions / sizeof *conversions; i++)
        if (conversions[i].quant == insn->fixpipe.quant && conversions[i].src == insn->src_type &&
            conversions[i].dst == insn->dst_type)
            return;
    npu_trap(
        core, FAULT(fixpipe_quant), "quantPre",
        "quantPre %d does not turn %s into %s: NoQuant keeps the type, F322F16 and F322BF16 go from float, (V)DEQF16 "
        "from int32 to half, (V)QF322B8_PRE from float and (V)REQ8 from int32 to 8 bits",
        insn->fixpipe.quant, akgen_dtype_name(insn->src_type), akgen_dtype_name(insn->dst_type));
}

static void check_shape(struct npu_core *core, const struct npu_insn *insn)
{
    const struct npu_fixpipe *p = &insn->fixpipe;
    bool to_l1 = insn->dst.position != NPU_GM;
    npu_check_cube_field(core, "nSize", p->n, 4095);
    npu_check_cube_field(core, "mSize", p->m, p->nz2nd ? 8192 : 65535);
    npu_check_cube_field(core, "srcNdStride", p->nz2nd ? p->src_nd_stride : 0, 512);
    if (!p->nz2nd && p->n % (p->channel_split ? 8 : 16))
        npu_trap(core, FAULT(cube_params), "nSize", "nSize is %u: a fractal matrix has a multiple of %d columns", p->n,
                 p->channel_split ? 8 : 16);
    if (p->channel_split && (insn->dst_type != AKGEN_FLOAT || p->nz2nd || to_l1))
        npu_trap(core, FAULT(cube_params), "channelSplit", "channelSplit is for fractal matrices of float in GM");
    if (to_l1 && (p->nz2nd || p->quant == NPU_QUANT_NONE))
        npu_trap(core, FAULT(cube_params), p->nz2nd ? "format" : "quantPre",
                 "L0C goes to L1 as a fractal matrix (CFG_NZ) of half, bfloat16 or 8-bit integers");
}

/* Bytes from one row of a fractal in the destination to the next; columns of a fractal there. */
static uint32_t fractal_columns(const struct npu_insn *insn)
{
    if (insn->fixpipe.channel_split)
        return 8;
    return akgen_dtype_size(insn->dst_type) == 1 ? 32 : 16; /* 8-bit results: two fractals become one */
}

static struct npu_access dst_access(const struct npu_insn *insn, const struct npu_regs *regs)
{
    const struct npu_fixpipe *p = &insn->fixpipe;
    uint32_t size = (uint32_t)akgen_dtype_size(insn->dst_type), columns = fractal_columns(insn);
    struct npu_access access = npu_cube_access(&insn->dst, "dst", true, 0, p->n * size);
    access.atomic = regs->atomic && insn->dst.position == NPU_GM;
    if (p->nz2nd) {
        access.count = p->m;
        access.stride = (int64_t)p->dst_stride * size;
        access.count2 = p->nd_num;
        access.stride2 = (int64_t)p->dst_nd_stride * size;
        return access;
    }
    access.bytes = p->m * columns * size;
    access.count = p->n / columns;
    access.stride = (int64_t)p->dst_stride * NPU_BLOCK;
    return access;
}

int npu_check_fixpipe(struct npu_core *core, struct npu_insn *insn, const struct npu_regs *regs,
                      struct npu_access *accesses)
{
    if (insn->flags & NPU_INSN_CUBE_REGISTERS)
        read_registers(core, insn, regs);
    const struct npu_fixpipe *p = &insn->fixpipe;
    npu_check_cube_operand(core, &insn->src0, "src", 1u << NPU_MEM_L0C, 64);
    if (insn->dst.position != NPU_GM)
        npu_check_cube_operand(core, &insn->dst, "dst", 1u << NPU_MEM_L1, NPU_BLOCK);
    else if (!p->nz2nd && insn->dst.addr % NPU_BLOCK)
        npu_trap(core, FAULT(gm_alignment), "dst", "a fractal matrix in GM starts at a multiple of 32 bytes");
    check_conversion(core, insn);
    if (!p->n || !p->m || (p->nz2nd && !p->nd_num))
        return 0;
    check_shape(core, insn);
    npu_check_atomic(core, insn, regs, akgen_dtype_size(insn->dst_type));
    uint32_t size = (uint32_t)akgen_dtype_size(insn->dst_type);
    if (regs->atomic && insn->dst.position == NPU_GM && akgen_dtype_size(regs->atomic_type) != size)
        npu_trap(core, FAULT(atomic_type), "dst", "an atomic operation on %s by a Fixpipe that writes %s",
                 akgen_dtype_name(regs->atomic_type), akgen_dtype_name(insn->dst_type));
    int count = 0;
    accesses[count] = dst_access(insn, regs);
    if (!p->nz2nd && fractal_columns(insn) == 32 && p->n % 32) { /* the odd fractal at the end stays 16 wide */
        accesses[count + 1] =
            npu_cube_access(&insn->dst, "dst", true, (uint64_t)(p->n / 32) * p->dst_stride * NPU_BLOCK, p->m * PIECE);
        accesses[count + 1].atomic = accesses[count].atomic;
        count += accesses[count].count ? 1 : 0;
        if (!accesses[count].count)
            accesses[count] = accesses[count + 1];
    }
    count++;
    accesses[count] = npu_cube_access(&insn->src0, "src", false, 0, p->m * PIECE * 4);
    accesses[count].count = npu_ceil_div(p->n, PIECE);
    accesses[count].stride = (int64_t)p->src_stride * PIECE * 4;
    accesses[count].count2 = p->nz2nd ? p->nd_num : 1;
    accesses[count++].stride2 = (int64_t)p->src_nd_stride * NPU_C_FRACTAL;
    if (by_column(p->quant)) {
        if (!(insn->flags & NPU_INSN_CUBE_REGISTERS))
            npu_check_cube_operand(core, &insn->src1, "cbufWorkspace", 1u << NPU_MEM_L1, NPU_BLOCK);
        accesses[count++] = npu_cube_access(&insn->src1, "quant", false, 0, p->n * PARAMETER);
    }
    return count;
}

/* Conversion. */
static float as_float(uint32_t bits)
{
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static float factor(uint64_t parameter)
{
    return as_float((uint32_t)parameter & 0xffffe000u);
}

/* int32, shifted if the parameter says so, as float. */
static float shifted(uint64_t parameter, int32_t value)
{
    if (!(parameter >> 36 & 1))
        return (float)value;
    value >>= (parameter >> 32 & 15) + 1;
    return (float)(value < INT16_MIN ? INT16_MIN : value > INT16_MAX ? INT16_MAX : value);
}

static int32_t clamp(float value, int32_t low, int32_t high)
{
    return value >= (float)high ? high : value <= (float)low ? low : value != value ? 0 : (int32_t)rintf(value);
}

static uint8_t to_bits8(uint64_t parameter, float value)
{
    int32_t offset = (int32_t)(parameter >> 37 & 0x1ff), whole = clamp(value, -256, 255);
    whole += offset >= 256 ? offset - 512 : offset;
    if (parameter >> 46 & 1)
        return (uint8_t)(whole < INT8_MIN ? INT8_MIN : whole > INT8_MAX ? INT8_MAX : whole);
    return (uint8_t)(whole < 0 ? 0 : whole > UINT8_MAX ? UINT8_MAX : whole);
}

/* One element of L0C as it arrives: `bits` in, the low bytes of the result out. */
static uint32_t convert(const struct npu_fixpipe *p, uint64_t parameter, uint32_t bits, bool integer)
{
    int32_t whole = (int32_t)bits;
    float value = integer ? 0.0f : as_float(bits);
    bool negative = integer ? whole < 0 : value < 0;
    if (p->relu && negative && p->quant <= NPU_QUANT_F322BF16)
        bits = 0, value = 0, whole = 0;
    if (p->relu && !integer && value == 0)
        bits = 0, value = 0;
    float scaled = p->quant <= NPU_QUANT_F322BF16 ? 0
                   : p->relu && negative          ? 0
                                                  : (integer ? shifted(parameter, whole) : value) * factor(parameter);
    half_t narrow;
    uint16_t narrow_bits;
    switch (p->quant) {
    case NPU_QUANT_NONE:
        return bits;
    case NPU_QUANT_F322BF16:
        return bf16_from_float(value);
    case NPU_QUANT_F322F16:
    case NPU_QUANT_DEQF16:
    case NPU_QUANT_VDEQF16:
        narrow = (half_t)(p->quant == NPU_QUANT_F322F16 ? value : scaled);
        memcpy(&narrow_bits, &narrow, sizeof narrow_bits);
        return narrow_bits;
    default:
        return to_bits8(parameter, scaled);
    }
}

/* Up to 16 neighbours of a row, converted, on their way. */
struct piece {
    uint8_t bytes[PIECE * 4];
    uint32_t count, size;
    uint32_t undefined; /* a bit per element */
};

static void store(struct npu_core *core, const struct npu_insn *insn, const struct npu_regs *regs, uint8_t *to,
                  const struct piece *piece)
{
    bool gm = insn->dst.position == NPU_GM, atomic = gm && regs->atomic;
    size_t bytes = (size_t)piece->count * piece->size;
    if (!atomic)
        memcpy(to, piece->bytes, bytes);
    else
        for (size_t at = 0; at < bytes; at += piece->size)
            npu_combine(regs->atomic, regs->atomic_type, to + at, piece->bytes + at);
    bool whole = !piece->undefined && (!atomic || npu_gm_defined(core, to, bytes));
    if (whole && gm)
        npu_gm_written(core, to, bytes, true, atomic);
    else if (whole)
        npu_ub_define(core, to, bytes);
    for (uint32_t i = 0; !whole && i < piece->count; i++) {
        uint8_t *at = to + (size_t)i * piece->size;
        bool defined = !(piece->undefined >> i & 1) && (!atomic || npu_gm_defined(core, at, piece->size));
        if (gm)
            npu_gm_written(core, at, piece->size, defined, atomic);
        else
            npu_cube_define(core, at, piece->size, defined);
    }
}

/* Elements [column, column + count) of a row, whose fractal begins at `from`. */
static struct piece take(struct npu_core *core, const struct npu_insn *insn, const uint8_t *from, uint32_t column,
                         uint32_t count)
{
    const struct npu_fixpipe *p = &insn->fixpipe;
    struct piece piece = {.count = count, .size = (uint32_t)akgen_dtype_size(insn->dst_type)};
    bool columns = by_column(p->quant), defined = npu_ub_defined(core, from, (size_t)count * 4);
    const uint8_t *parameters = columns ? (const uint8_t *)insn->src1.addr + (size_t)column * PARAMETER : NULL;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t bits;
        uint64_t parameter = insn->scalar;
        memcpy(&bits, from + 4 * i, sizeof bits);
        if (columns)
            memcpy(&parameter, parameters + i * PARAMETER, sizeof parameter);
        bits = convert(p, parameter, bits, insn->src_type == AKGEN_INT32);
        memcpy(piece.bytes + (size_t)i * piece.size, &bits, piece.size);
        bool known = (defined || npu_ub_defined(core, from + 4 * i, 4)) &&
                     (!columns || npu_ub_defined(core, parameters + i * PARAMETER, PARAMETER));
        piece.undefined |= (uint32_t)!known << i;
    }
    if (piece.undefined)
        npu_undefined_read(core, "src", from);
    return piece;
}

/* Where element (row, column) of a fractal matrix goes. */
static size_t nz_offset(const struct npu_insn *insn, uint32_t row, uint32_t column)
{
    const struct npu_fixpipe *p = &insn->fixpipe;
    uint32_t size = (uint32_t)akgen_dtype_size(insn->dst_type), columns = fractal_columns(insn),
             group = column / columns;
    if (columns == 32 && p->n % 32 && group == p->n / 32)
        columns = 16;
    return (size_t)group * p->dst_stride * NPU_BLOCK + ((size_t)row * columns + column % columns) * size;
}

/* A row of a matrix by rows in GM, as one write: true unless some of it is undefined. */
static bool store_row(struct npu_core *core, const struct npu_insn *insn, uint32_t sheet, uint32_t row, uint8_t *to)
{
    const struct npu_fixpipe *p = &insn->fixpipe;
    uint8_t bytes[4096 * 4];
    size_t used = 0;
    for (uint32_t column = 0; column < p->n; column += PIECE) {
        uint32_t count = p->n - column < PIECE ? p->n - column : PIECE;
        const uint8_t *from = (const uint8_t *)insn->src0.addr + (size_t)sheet * p->src_nd_stride * NPU_C_FRACTAL +
                              ((size_t)(column / PIECE) * p->src_stride + row) * PIECE * 4;
        struct piece piece = take(core, insn, from, column, count);
        if (piece.undefined)
            return false;
        memcpy(bytes + used, piece.bytes, (size_t)count * piece.size);
        used += (size_t)count * piece.size;
    }
    memcpy(to, bytes, used);
    npu_gm_written(core, to, used, true, false);
    return true;
}

void npu_exec_fixpipe(struct npu_core *core, const struct npu_insn *insn, const struct npu_regs *regs)
{
    const struct npu_fixpipe *p = &insn->fixpipe;
    uint32_t step = p->channel_split ? 8 : PIECE, size = (uint32_t)akgen_dtype_size(insn->dst_type);
    uint8_t *dst = (uint8_t *)insn->dst.addr;
    bool by_rows = p->nz2nd && !regs->atomic && insn->dst.position == NPU_GM;
    for (uint32_t sheet = 0; sheet < (p->nz2nd ? p->nd_num : 1u); sheet++)
        for (uint32_t row = 0; row < p->m; row++) {
            size_t start = ((size_t)sheet * p->dst_nd_stride + (size_t)row * p->dst_stride) * size;
            if (by_rows && store_row(core, insn, sheet, row, dst + start))
                continue;
            for (uint32_t column = 0; column < p->n; column += step) {
                uint32_t count = p->n - column < step ? p->n - column : step;
                const uint8_t *from = (const uint8_t *)insn->src0.addr +
                                      (size_t)sheet * p->src_nd_stride * NPU_C_FRACTAL +
                                      ((size_t)(column / PIECE) * p->src_stride + row) * PIECE * 4 + column % PIECE * 4;
                size_t nd = (size_t)sheet * p->dst_nd_stride + (size_t)row * p->dst_stride + column;
                struct piece piece = take(core, insn, from, column, count);
                store(core, insn, regs, dst + (p->nz2nd ? nd * size : nz_offset(insn, row, column)), &piece);
            }
        }
}
