/* LoadData with LoadData2DParams, LoadDataWithTranspose and InitConstValue: whole fractals.
 *
 * asc-devkit docs, 矩阵计算的搬入/LoadData_2D, LoadData（GMToL1-2D矩阵搬运）, LoadDataWithTranspose and their reference
 * scripts in examples; 矩阵搬入辅助配置接口/Fill. */
#include "npu/cube/cube.h"
#include "npu/cube/cube_internal.h"
#include "npu/gm/shadow.h"
#include "npu/memory.h"
#include "npu/report.h"

#include <string.h>

enum { L1 = 1u << NPU_MEM_L1, L0 = 1u << NPU_MEM_L0A | 1u << NPU_MEM_L0B };

static uint32_t alignment_of(const struct npu_tensor *tensor)
{
    return npu_memory_of(tensor->position) == NPU_MEM_L1 ? NPU_BLOCK : NPU_FRACTAL;
}

/* The one-dimensional footprint of `repeat` runs. */
static struct npu_access runs(const struct npu_tensor *tensor, const char *operand, bool write, uint64_t offset,
                              uint32_t bytes, uint32_t repeat, int64_t stride)
{
    struct npu_access access = npu_cube_access(tensor, operand, write, offset, bytes);
    access.count = repeat;
    access.stride = stride;
    return access;
}

static int64_t source_step(const struct npu_load_2d *p, uint32_t unit)
{
    int64_t step = (int64_t)p->src_stride * unit;
    return p->descending ? -step : step;
}

/* LoadData. */
int npu_check_load_2d(struct npu_core *core, struct npu_insn *insn, const struct npu_regs *regs,
                      struct npu_access *accesses)
{
    (void)regs;
    const struct npu_load_2d *p = &insn->load_2d;
    bool from_gm = insn->src0.position == NPU_GM;
    npu_check_cube_operand(core, &insn->dst, "dst", from_gm ? L1 | L0 : L0, alignment_of(&insn->dst));
    if (!from_gm)
        npu_check_cube_operand(core, &insn->src0, "src", L1, NPU_BLOCK);
    if (p->transpose && (from_gm || npu_cube_bits(insn->src_type) != 16))
        npu_trap(core, FAULT(cube_dtype), "ifTranspose",
                 "LoadData transposes fractals of 16-bit elements on their way from L1; other types need "
                 "LoadDataWithTranspose");
    if (!p->repeat)
        return 0;
    accesses[0] = runs(&insn->src0, "src", false, (uint64_t)p->start * NPU_FRACTAL, NPU_FRACTAL, p->repeat,
                       source_step(p, NPU_FRACTAL));
    accesses[1] = runs(&insn->dst, "dst", true, 0, NPU_FRACTAL, p->repeat, (int64_t)(p->dst_gap + 1) * NPU_FRACTAL);
    return 2;
}

/* The common case by itself, because constant sizes make it many times faster. */
static void transpose_fractal(struct npu_core *core, uint8_t *to, const uint8_t *from)
{
    enum { SIDE = 16 };
    uint16_t in[SIDE * SIDE], out[SIDE * SIDE];
    memcpy(in, from, sizeof in);
    for (uint32_t row = 0; row < SIDE; row++)
        for (uint32_t column = 0; column < SIDE; column++)
            out[row * SIDE + column] = in[column * SIDE + row];
    memcpy(to, out, sizeof out);
    npu_ub_define(core, to, sizeof out);
}

/* Where element i of a transposed square comes from, both as bytes; squares of `side` elements of `size` bytes. */
static void transpose_square(struct npu_core *core, uint8_t *const *to, const uint8_t *from, uint32_t side,
                             uint32_t size)
{
    uint32_t c0 = NPU_BLOCK / size, wide = side / c0; /* fractals side by side: two of 16 x 8 in 32 bits */
    bool defined = npu_cube_defined(core, from, (size_t)side * side * size);
    if (defined && size == 2) {
        transpose_fractal(core, to[0], from);
        return;
    }
    for (uint32_t row = 0; row < side; row++)
        for (uint32_t column = 0; column < side; column++) {
            /* Element (column, row) of the source. Where two fractals stand side by side a column of fractals of the
             * result is one of them; where they stand on each other, a row of them is. */
            uint32_t source = wide > 1 ? row / c0 * (16 * c0) + column * c0 + row % c0 : column * side + row;
            uint32_t fractal = wide > 1 ? column / c0 : row / 16;
            uint32_t target = row % 16 * c0 + column % c0;
            uint8_t *at = to[fractal] + (size_t)target * size;
            memcpy(at, from + (size_t)source * size, size);
            if (!defined)
                npu_cube_define(core, at, size, npu_cube_defined(core, from + (size_t)source * size, size));
        }
    for (uint32_t i = 0; defined && i < side * side * size / NPU_FRACTAL; i++)
        npu_ub_define(core, to[i], NPU_FRACTAL);
}

void npu_exec_load_2d(struct npu_core *core, const struct npu_insn *insn, const struct npu_regs *regs)
{
    (void)regs;
    const struct npu_load_2d *p = &insn->load_2d;
    for (uint32_t i = 0; i < p->repeat; i++) {
        const uint8_t *from =
            (const uint8_t *)insn->src0.addr + (size_t)p->start * NPU_FRACTAL + i * source_step(p, NPU_FRACTAL);
        uint8_t *to = (uint8_t *)insn->dst.addr + (size_t)i * (p->dst_gap + 1) * NPU_FRACTAL;
        if (p->transpose)
            transpose_square(core, &to, from, 16, 2);
        else
            npu_cube_move(core, to, from, NPU_FRACTAL);
    }
}

/* LoadDataWithTranspose. */
/* Fractals that make a square: 64 x 64 in int4, 32 x 32 in 8 bits, 16 x 16 in 16 and 32. */
enum { MOST_FRACTALS = 4 };
static uint32_t square_fractals(int type)
{
    static const uint8_t fractals[] = {[4] = MOST_FRACTALS, [8] = 2, [16] = 1, [32] = 2};
    return fractals[npu_cube_bits(type)];
}

int npu_check_load_transpose(struct npu_core *core, struct npu_insn *insn, const struct npu_regs *regs,
                             struct npu_access *accesses)
{
    (void)regs;
    const struct npu_load_2d *p = &insn->load_2d;
    npu_check_cube_operand(core, &insn->dst, "dst", L0, NPU_FRACTAL);
    npu_check_cube_operand(core, &insn->src0, "src", L1, NPU_BLOCK);
    if (insn->src_type == AKGEN_INT4 && npu_memory_of(insn->dst.position) == NPU_MEM_L0A)
        npu_trap(core, FAULT(cube_dtype), "dst", "LoadDataWithTranspose takes int4 to L0B only");
    if (!p->repeat)
        return 0;
    uint32_t fractals = square_fractals(insn->src_type), square = fractals * NPU_FRACTAL;
    accesses[0] =
        runs(&insn->src0, "src", false, (uint64_t)p->start * square, square, p->repeat, source_step(p, square));
    accesses[1] = runs(&insn->dst, "dst", true, 0, NPU_FRACTAL, p->repeat, (int64_t)(p->dst_gap + 1) * NPU_FRACTAL);
    accesses[1].count2 = fractals;
    accesses[1].stride2 = (int64_t)(p->dst_frac_gap + 1) * NPU_FRACTAL;
    return 2;
}

/* int4: 64 x 64 nibbles, the first of a byte in its low half. */
static void transpose_nibbles(struct npu_core *core, uint8_t *const *to, const uint8_t *from)
{
    enum { SIDE = 64, ROW = SIDE / 2 };
    for (uint32_t row = 0; row < SIDE; row++)
        for (uint32_t pair = 0; pair < ROW; pair++) {
            uint8_t byte = 0;
            bool defined = true;
            for (uint32_t half = 0; half < 2; half++) {
                const uint8_t *at = from + (2 * pair + half) * ROW + row / 2;
                byte |= (uint8_t)((*at >> row % 2 * 4 & 15) << half * 4);
                defined &= npu_ub_defined(core, at, 1);
            }
            uint8_t *at = to[row / 16] + row % 16 * ROW + pair;
            *at = byte;
            npu_cube_define(core, at, 1, defined);
        }
}

void npu_exec_load_transpose(struct npu_core *core, const struct npu_insn *insn, const struct npu_regs *regs)
{
    (void)regs;
    const struct npu_load_2d *p = &insn->load_2d;
    uint32_t fractals = square_fractals(insn->src_type), square = fractals * NPU_FRACTAL;
    uint32_t bits = npu_cube_bits(insn->src_type);
    for (uint32_t i = 0; i < p->repeat; i++) {
        const uint8_t *from = (const uint8_t *)insn->src0.addr + (size_t)p->start * square + i * source_step(p, square);
        uint8_t *to[MOST_FRACTALS]; /* more than the type has are not used */
        for (uint32_t j = 0; j < MOST_FRACTALS; j++)
            to[j] = (uint8_t *)insn->dst.addr +
                    ((size_t)i * (p->dst_gap + 1) + (size_t)j * (p->dst_frac_gap + 1)) * NPU_FRACTAL;
        if (bits == 4)
            transpose_nibbles(core, to, from);
        else
            transpose_square(core, to, from, bits == 8 ? 32 : 16, bits / 8);
    }
}

/* InitConstValue. */
static uint32_t block_bytes(const struct npu_insn *insn)
{
    return npu_memory_of(insn->dst.position) == NPU_MEM_L1 ? NPU_BLOCK : NPU_FRACTAL;
}

int npu_check_init_const(struct npu_core *core, struct npu_insn *insn, const struct npu_regs *regs,
                         struct npu_access *accesses)
{
    (void)regs;
    const struct npu_load_2d *p = &insn->load_2d;
    npu_check_cube_operand(core, &insn->dst, "dst", L1 | L0, alignment_of(&insn->dst));
    npu_check_cube_field(core, "repeatTimes", p->repeat, 32767);
    npu_check_cube_field(core, "blockNum", p->block_num, 32767);
    npu_check_cube_field(core, "dstGap", p->dst_gap, 32767);
    if (!p->repeat || !p->block_num)
        return 0;
    uint32_t block = block_bytes(insn);
    accesses[0] =
        runs(&insn->dst, "dst", true, 0, p->block_num * block, p->repeat, (int64_t)(p->block_num + p->dst_gap) * block);
    return 1;
}

void npu_exec_init_const(struct npu_core *core, const struct npu_insn *insn, const struct npu_regs *regs)
{
    (void)regs;
    const struct npu_load_2d *p = &insn->load_2d;
    uint32_t block = block_bytes(insn), size = (uint32_t)akgen_dtype_size(insn->dst_type);
    for (uint32_t i = 0; i < p->repeat && p->block_num; i++) {
        uint8_t *to = (uint8_t *)insn->dst.addr + (size_t)i * (p->block_num + p->dst_gap) * block;
        for (uint32_t at = 0; at < p->block_num * block; at += size)
            memcpy(to + at, &insn->scalar, size);
        npu_ub_define(core, to, (size_t)p->block_num * block);
    }
}
