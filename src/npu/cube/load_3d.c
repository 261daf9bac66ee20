/* LoadData with LoadData3DParamsV2: a feature map in L1 (C1 x H x W x C0) is unfolded into a matrix, one row for each
 * place of the filter and one column for each of its points and channels, and a part of it goes to L0A or L0B in
 * fractals. With a filter of one point this moves a fractal matrix (Nz) as it is.
 *
 * asc-devkit docs, 矩阵计算的搬入/LoadData_3D and its reference script in examples (load3d.py);
 * 矩阵搬入辅助配置接口/SetFmatrix, SetLoadDataRepeat, SetLoadDataPaddingValue, SetLoadDataBoundary. To L0B the matrix
 * is always transposed, to L0A if enTranspose says so: rows become columns, in fractals of the new shape.
 *
 * Assumed: a number of channels that is no multiple of C0 leaves a last plane of as many channels as remain, close
 * together. What lies outside the unfolded matrix is not written. */
#include "npu/cube/cube.h"
#include "npu/cube/cube_internal.h"
#include "npu/gm/shadow.h"
#include "npu/memory.h"
#include "npu/report.h"

#include <string.h>

struct unfold {
    uint32_t w, h, c0, size;
    uint32_t pad_left, pad_right, pad_top, pad_bottom;
    uint32_t filter_points, full_planes, tail; /* planes of C0 channels, and the channels of the last one */
    uint32_t w_out, h_out, columns;            /* rows: w_out x h_out */
    uint32_t times, m_step, k_step;            /* repetition: where the next one starts */
    uint32_t m_all, k_all;                     /* of all repetitions together */
    struct npu_load_3d p;
};

static uint32_t places(uint32_t size, uint32_t padding, uint32_t filter, uint32_t dilation, uint32_t stride)
{
    uint32_t reach = (filter - 1) * dilation + 1, padded = size + padding;
    return stride && padded >= reach ? (padded - reach) / stride + 1 : 0;
}

/* int4 travels as pairs: bytes with half as many channels. */
static struct unfold unfold_of(const struct npu_insn *insn, const struct npu_regs *regs)
{
    struct unfold u = {.p = insn->load_3d};
    uint64_t map = regs->cube.at[u.p.right ? NPU_CUBE_MAP_RIGHT : NPU_CUBE_MAP_LEFT];
    uint64_t repeat = regs->cube.at[NPU_CUBE_REPEAT];
    if (insn->src_type == AKGEN_INT4) {
        u.p.channels /= 2;
        u.p.k /= 2;
        u.p.k_start /= 2;
    }
    u.size = insn->src_type == AKGEN_INT4 ? 1 : (uint32_t)akgen_dtype_size(insn->src_type);
    u.c0 = NPU_BLOCK / u.size;
    u.w = map & 0xffff;
    u.h = map >> 16 & 0xffff;
    u.pad_left = map >> 32 & 0xff;
    u.pad_right = map >> 40 & 0xff;
    u.pad_top = map >> 48 & 0xff;
    u.pad_bottom = map >> 56 & 0xff;
    u.filter_points = (uint32_t)u.p.filter_w * u.p.filter_h;
    u.full_planes = u.p.channels / u.c0;
    u.tail = u.p.channels % u.c0;
    u.w_out = places(u.w, u.pad_left + u.pad_right, u.p.filter_w, u.p.dilation_w, u.p.stride_w);
    u.h_out = places(u.h, u.pad_top + u.pad_bottom, u.p.filter_h, u.p.dilation_h, u.p.stride_h);
    u.columns = u.filter_points * u.p.channels;
    u.times = repeat ? repeat >> 16 & 0xff : 1;
    bool along_k = repeat >> 24 & 1;
    u.m_step = along_k ? 0 : (uint32_t)(repeat & 0xffff) * 16;
    u.k_step = along_k ? (uint32_t)(repeat & 0xffff) * u.c0 : 0;
    u.m_all = along_k ? u.p.m : u.p.m * u.times;
    u.k_all = along_k ? u.p.k * u.times : u.p.k;
    return u;
}

static bool does_nothing(const struct unfold *u)
{
    return !u->w || !u->h || !u->p.channels || !u->p.k || !u->p.m || !u->filter_points || !u->times;
}

/* Transposed fractals are 16 rows of C0 elements. */
static bool transposed(const struct npu_insn *insn)
{
    return insn->load_3d.transpose || npu_memory_of(insn->dst.position) == NPU_MEM_L0B;
}

/* Offset in L0 of the element in row m and column k of what is loaded. */
static uint32_t target_of(const struct npu_insn *insn, const struct unfold *u, uint32_t m, uint32_t k)
{
    uint32_t row = m, column = k, across = npu_ceil_div(u->k_all, u->c0), fractal;
    if (transposed(insn)) {
        row = k;
        column = m;
        across = npu_ceil_div(u->m_all, 16) * (16 / u->c0);
    }
    if (npu_memory_of(insn->dst.position) == NPU_MEM_L0B)
        fractal = column / u->c0 * npu_ceil_div(u->k_all, 16) + row / 16;
    else
        fractal = row / 16 * across + column / u->c0;
    return fractal * NPU_FRACTAL + row % 16 * NPU_BLOCK + column % u->c0 * u->size;
}

static uint32_t target_bytes(const struct npu_insn *insn, const struct unfold *u)
{
    if (!transposed(insn))
        return npu_ceil_div(u->m_all, 16) * npu_ceil_div(u->k_all, u->c0) * NPU_FRACTAL;
    return npu_ceil_div(u->k_all, 16) * npu_ceil_div(u->m_all, 16) * (16 / u->c0) * NPU_FRACTAL;
}

/* Element (m, k) of the unfolded matrix: where it lies in L1, NULL in the padding; false outside the matrix. */
static bool source_of(const struct unfold *u, const uint8_t *map, uint32_t m, uint32_t k, const uint8_t **at)
{
    if (m >= u->w_out * u->h_out || k >= u->columns)
        return false;
    uint32_t plane_columns = u->filter_points * u->c0, plane = k / plane_columns;
    uint32_t wide = plane < u->full_planes ? u->c0 : u->tail, rest = k - plane * plane_columns;
    uint32_t point = rest / wide, channel = rest % wide;
    int64_t y =
        (int64_t)(m / u->w_out) * u->p.stride_h + (int64_t)(point / u->p.filter_w) * u->p.dilation_h - u->pad_top;
    int64_t x =
        (int64_t)(m % u->w_out) * u->p.stride_w + (int64_t)(point % u->p.filter_w) * u->p.dilation_w - u->pad_left;
    *at = NULL;
    if (x >= 0 && x < u->w && y >= 0 && y < u->h)
        *at = map + ((size_t)plane * u->w * u->h * u->c0 + ((size_t)y * u->w + (size_t)x) * wide + channel) * u->size;
    return true;
}

/* The part of each plane that rows [first, last] of the matrix look at, in elements of a plane's H x W. */
static void rows_read(const struct unfold *u, uint32_t first, uint32_t last, uint32_t *low, uint32_t *high)
{
    bool point = u->filter_points == 1 && u->p.stride_w == 1 && u->p.stride_h == 1 && u->w_out == u->w;
    uint32_t all = u->w * u->h;
    int64_t top = (int64_t)(first / u->w_out) * u->p.stride_h - u->pad_top;
    int64_t bottom =
        (int64_t)(last / u->w_out) * u->p.stride_h - u->pad_top + (int64_t)(u->p.filter_h - 1) * u->p.dilation_h + 1;
    *low = point ? first : top > 0 ? (uint32_t)top * u->w : 0;
    *high = point ? last + 1 : bottom > 0 ? (uint32_t)bottom * u->w : 0;
    *high = *high < all ? *high : all;
    *low = *low < *high ? *low : *high;
}

/* L1 as it is read: for the planes in question the rows in question. */
static int source_access(const struct npu_insn *insn, const struct unfold *u, struct npu_access *access)
{
    uint32_t rows = u->w_out * u->h_out, plane_columns = u->filter_points * u->c0;
    uint32_t last_m = u->p.m_start + (u->times - 1) * u->m_step + u->p.m - 1;
    uint32_t last_k = u->p.k_start + (u->times - 1) * u->k_step + u->p.k - 1;
    last_m = last_m < rows ? last_m : rows - 1;
    last_k = last_k < u->columns ? last_k : u->columns - 1;
    if (!rows || u->p.m_start >= rows || u->p.k_start >= u->columns)
        return 0;
    uint32_t low, high, plane = u->p.k_start / plane_columns, end = last_k / plane_columns + 1;
    rows_read(u, u->p.m_start, last_m, &low, &high);
    uint32_t wide = plane < u->full_planes ? NPU_BLOCK : u->tail * u->size; /* of one place */
    if (low == high)
        return 0;
    size_t step = (size_t)u->w * u->h * NPU_BLOCK;
    *access = npu_cube_access(&insn->src0, "src", false, plane * step + low * wide, (high - low) * wide);
    if (end > u->full_planes && plane < u->full_planes) { /* the narrow plane at the end: as one run with the others */
        access->bytes = (uint32_t)((end - 1 - plane) * step + high * u->tail * u->size - low * wide);
        return 1;
    }
    access->count = end - plane;
    access->stride = (int64_t)step;
    return 1;
}

int npu_check_load_3d(struct npu_core *core, struct npu_insn *insn, const struct npu_regs *regs,
                      struct npu_access *accesses)
{
    struct unfold u = unfold_of(insn, regs);
    uint32_t bits = npu_cube_bits(insn->src_type);
    npu_check_cube_operand(core, &insn->dst, "dst", 1u << NPU_MEM_L0A | 1u << NPU_MEM_L0B, NPU_FRACTAL);
    npu_check_cube_operand(core, &insn->src0, "src", 1u << NPU_MEM_L1, NPU_BLOCK);
    if (transposed(insn) && bits < 16)
        npu_trap(core, FAULT(cube_dtype), "dst", "LoadData3D transposes 16-bit and 32-bit elements only");
    if (regs->cube.at[NPU_CUBE_BOUNDARY])
        npu_lacks(core, "SetLoadDataBoundary with a boundary");
    if (does_nothing(&u))
        return 0;
    if (u.p.k_start % u.c0)
        npu_trap(core, FAULT(cube_params), "kStartPt",
                 "kStartPt is %u: a multiple of the %u elements of 32 bytes is needed", u.p.k_start, u.c0);
    accesses[0] = npu_cube_access(&insn->dst, "dst", true, 0, target_bytes(insn, &u));
    return 1 + source_access(insn, &u, &accesses[1]);
}

static void load_element(struct npu_core *core, uint8_t *to, const uint8_t *from, uint64_t padding, uint32_t size)
{
    memcpy(to, from ? (const void *)from : (const void *)&padding, size);
    npu_cube_define(core, to, size, !from || npu_ub_defined(core, from, size));
}

void npu_exec_load_3d(struct npu_core *core, const struct npu_insn *insn, const struct npu_regs *regs)
{
    struct unfold u = unfold_of(insn, regs);
    const uint8_t *map = (const uint8_t *)insn->src0.addr;
    uint8_t *dst = (uint8_t *)insn->dst.addr;
    uint64_t padding = regs->cube.at[NPU_CUBE_PADDING];
    bool blocks = !transposed(insn) && !u.tail; /* C0 neighbours stay neighbours */
    for (uint32_t time = 0; time < u.times && !does_nothing(&u); time++)
        for (uint32_t i = 0; i < u.p.m; i++)
            for (uint32_t j = 0; j < u.p.k;) {
                uint32_t m = i + (u.m_all > u.p.m ? time * u.p.m : 0), k = j + (u.k_all > u.p.k ? time * u.p.k : 0);
                uint32_t n = blocks && k % u.c0 == 0 && u.p.k - j >= u.c0 ? u.c0 : 1;
                const uint8_t *from;
                uint8_t *to = dst + target_of(insn, &u, m, k);
                bool inside =
                    source_of(&u, map, u.p.m_start + time * u.m_step + i, u.p.k_start + time * u.k_step + j, &from);
                if (inside && n > 1 && from)
                    npu_cube_move(core, to, from, NPU_BLOCK);
                for (uint32_t element = 0; inside && (n == 1 || !from) && element < n; element++)
                    load_element(core, to + element * u.size, from, padding, u.size);
                j += n;
            }
}
