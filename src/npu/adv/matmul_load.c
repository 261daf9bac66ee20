/* Parts of A and B on their way: GM to L1 (Nd2Nz, DataCopy), L1 to L0A and L0B (LoadData, LoadDataWithTranspose).
 *
 * In L1 a part keeps the direction of its matrix: fractals of 16 rows by 32 bytes, in columns (Nz). L0A and L0B want
 * fractals of 16 of the outer axis (M or N) by 32 bytes of K: where K runs along the rows fractals are transposed on
 * the way, 16-bit elements by LoadData, others by LoadDataWithTranspose in squares of several fractals. The two of 8
 * bits and the four of int4 (B only) stand on each other, as a column has them; the two of 32 bits side by side, so
 * such parts lie in L1 as slabs of 16 rows, each slab a matrix of its own. */
#include "npu/adv/matmul.h"
#include "npu/issue/issue.h"
#include "npu/memory.h"
#include "npu/order/schedule.h"
#include "npu/own_memory.h"
#include "npu/report.h"
#include "npu/time/rates.h"
#include "npu/time/tape.h"

static uint32_t bits_of(const struct npu_matmul *mm, int matrix)
{
    return npu_cube_bits(mm->types[matrix].dtype);
}
static uint64_t bytes_of(const struct npu_matmul *mm, int matrix, uint64_t elements)
{
    return elements * bits_of(mm, matrix) / 8;
}
/* The type whose elements are copied: two of int4 are one of int8. */
static uint8_t copied_type(const struct npu_matmul *mm, int matrix)
{
    return bits_of(mm, matrix) == 4 ? AKGEN_INT8 : mm->types[matrix].dtype;
}

static bool in_slabs(const struct npu_matmul *mm, int matrix)
{
    return matmul_k_rows(mm, matrix) && bits_of(mm, matrix) == 32;
}

/* Rows of a part, as L1 has room for them. */
static uint32_t room_for_rows(const struct npu_matmul *mm, int matrix, uint32_t rows)
{
    uint32_t bits = bits_of(mm, matrix);
    return matmul_align(rows, matmul_k_rows(mm, matrix) && bits <= 8 ? 256 / bits : 16);
}

static struct npu_tensor in_l1(uint64_t addr)
{
    return (struct npu_tensor){.addr = addr, .position = NPU_A1};
}

static struct npu_insn start(enum npu_op op, uint8_t type, struct npu_tensor dst, struct npu_tensor src)
{
    return (struct npu_insn){.op = (uint16_t)op, .dst_type = type, .src_type = type, .dst = dst, .src0 = src};
}

/* Distance of two rows of a matrix in GM, elements. */
static uint32_t row_step(const struct npu_matmul *mm, int matrix)
{
    if (matrix == NPU_MATMUL_A)
        return (uint32_t)(mm->sources[matrix].transposed ? mm->org_m : mm->org_ka);
    return (uint32_t)(mm->sources[matrix].transposed ? mm->org_kb : mm->org_n);
}
static uint32_t all_rows(const struct npu_matmul *mm, int matrix)
{
    if (matrix == NPU_MATMUL_A)
        return (uint32_t)(mm->sources[matrix].transposed ? mm->org_ka : mm->org_m);
    return (uint32_t)(mm->sources[matrix].transposed ? mm->org_n : mm->org_kb);
}

/* Rows one by one, where they are further apart than an instruction can say. */
static void by_rows(struct npu_core *core, struct npu_insn insn, uint32_t step)
{
    uint32_t rows = insn.nd2nz.n, size = (uint32_t)akgen_dtype_size(insn.src_type);
    insn.nd2nz.n = 1;
    insn.nd2nz.src_d = insn.nd2nz.d;
    for (uint32_t row = 0; row < rows; row++) {
        npu_issue_from(core, &insn);
        insn.src0.addr += (uint64_t)step * size;
        insn.dst.addr += NPU_BLOCK;
    }
}

static void load_nd(struct npu_core *core, const struct npu_matmul *mm, int matrix, const struct matmul_part *part,
                    struct npu_tensor from, uint64_t to)
{
    uint32_t step = row_step(mm, matrix), packed = bits_of(mm, matrix) == 4 ? 2 : 1;
    uint32_t slab = in_slabs(mm, matrix) ? 16 : part->rows, width = matmul_align(part->columns, 16);
    from.addr += bytes_of(mm, matrix, (uint64_t)part->row * step + part->column);
    struct npu_insn insn = start(NPU_OP_ND2NZ, copied_type(mm, matrix), in_l1(to), from);
    insn.nd2nz = (struct npu_nd2nz){.nd_num = 1,
                                    .d = npu_ceil_div(part->columns, packed),
                                    .src_d = step / packed,
                                    .dst_c0 = slab == 16 && in_slabs(mm, matrix) ? 16 : room_for_rows(mm, matrix, slab),
                                    .dst_n = 1};
    for (uint32_t row = 0; row < part->rows; row += slab) {
        insn.nd2nz.n = part->rows - row < slab ? part->rows - row : slab;
        if (mm->flags & NPU_MATMUL_BY_ROWS && step > UINT16_MAX)
            by_rows(core, insn, step / packed);
        else
            npu_issue_from(core, &insn);
        insn.src0.addr += bytes_of(mm, matrix, (uint64_t)slab * step);
        insn.dst.addr += bytes_of(mm, matrix, (uint64_t)slab * width);
    }
}

static void load_nz(struct npu_core *core, const struct npu_matmul *mm, int matrix, const struct matmul_part *part,
                    struct npu_tensor from, uint64_t to)
{
    uint32_t c0 = NPU_BLOCK * 8 / bits_of(mm, matrix), height = matmul_align(all_rows(mm, matrix), 16);
    bool slabs = in_slabs(mm, matrix);
    uint32_t rows = matmul_align(part->rows, 16), slab = slabs ? 16 : rows, width = matmul_align(part->columns, 16);
    from.addr += ((uint64_t)(part->column / c0) * height + part->row) * NPU_BLOCK;
    struct npu_insn insn = start(NPU_OP_DATA_COPY, copied_type(mm, matrix), in_l1(to), from);
    insn.form = NPU_FORM_MASK_REG;
    insn.copy = (struct npu_copy){.block_count = npu_ceil_div(part->columns, c0),
                                  .block_len = slab,
                                  .src_stride = height - slab,
                                  .dst_stride = slabs ? 0 : room_for_rows(mm, matrix, part->rows) - slab};
    for (uint32_t row = 0; row < rows; row += slab) {
        npu_issue_from(core, &insn);
        insn.src0.addr += (uint64_t)slab * NPU_BLOCK;
        insn.dst.addr += bytes_of(mm, matrix, (uint64_t)slab * width);
    }
}

/* Every element the same; also the rows that a single row of A lacks, which the cube computes with. */
static void fill(struct npu_core *core, const struct npu_matmul *mm, int matrix, const struct matmul_part *part,
                 uint64_t to, uint64_t bits)
{
    uint64_t bytes =
        bytes_of(mm, matrix, (uint64_t)room_for_rows(mm, matrix, part->rows) * matmul_align(part->columns, 16));
    uint8_t type = bits_of(mm, matrix) == 32 ? AKGEN_FLOAT : AKGEN_FLOAT16;
    struct npu_insn insn = start(NPU_OP_INIT_CONST_VALUE, type, in_l1(to), (struct npu_tensor){0});
    insn.scalar = bits;
    insn.load_2d.repeat = 1;
    insn.load_2d.block_num = (uint32_t)((bytes + NPU_BLOCK - 1) / NPU_BLOCK);
    npu_issue_from(core, &insn);
    npu_schedule_drain(core, NPU_PIPE_MTE2);
    npu_order_barrier(core->order, NPU_LANE_MTE2);
}

/* The last block of A has one row. Where M runs along the columns Nd2Nz fills 32 bytes with it. */
static bool ends_with_single_row(const struct npu_matmul *mm, const struct matmul_part *part)
{
    uint32_t base = (uint32_t)matmul_tiling(mm)->baseM;
    if (matmul_k_rows(mm, NPU_MATMUL_A))
        return in_slabs(mm, NPU_MATMUL_A) && part->columns % base == 1;
    return part->rows % base == 1;
}

static void load_part(struct npu_core *core, const struct npu_matmul *mm, int matrix, const struct matmul_part *part,
                      uint64_t to)
{
    const struct npu_matmul_source *source = &mm->sources[matrix];
    uint8_t format = mm->types[matrix].format;
    if (source->is_scalar) {
        fill(core, mm, matrix, part, to, source->scalar);
        return;
    }
    if (matrix == NPU_MATMUL_A && format == NPU_FORMAT_ND && ends_with_single_row(mm, part))
        fill(core, mm, matrix, part, to, 0);
    if (format == NPU_FORMAT_NZ)
        load_nz(core, mm, matrix, part, source->tensor, to);
    else if (format == NPU_FORMAT_ND || format == NPU_FORMAT_ND_ALIGN)
        load_nd(core, mm, matrix, part, source->tensor, to);
    else if (format == NPU_FORMAT_VECTOR)
        matmul_load_row(core, &source->tensor, mm->types[matrix].dtype, part->column, part->columns, to);
    else
        npu_lacks(core, "Matmul with this CubeFormat");
}

struct npu_tensor matmul_load_row(struct npu_core *core, const struct npu_tensor *row, uint8_t type, uint64_t first,
                                  uint32_t count, uint64_t addr)
{
    uint32_t size = (uint32_t)akgen_dtype_size(type);
    struct npu_tensor from = *row;
    from.addr += first * size;
    if (npu_memory_of(from.position) == NPU_MEM_L1)
        return from;
    if (size == 8) { /* Nd2Nz knows elements of 4 bytes */
        type = AKGEN_INT32;
        count *= 2;
    }
    struct npu_insn insn = start(NPU_OP_ND2NZ, type, in_l1(addr), from);
    insn.nd2nz = (struct npu_nd2nz){.nd_num = 1, .n = 1, .d = count, .src_d = count, .dst_c0 = 1, .dst_n = 1};
    npu_issue_from(core, &insn);
    return insn.dst;
}

void matmul_call_in(struct npu_core *core, const struct npu_matmul *mm, int matrix, const struct matmul_tile *tile,
                    uint32_t outer, uint32_t outers, uint32_t k, uint32_t ks)
{
    const struct TCubeTiling *t = matmul_tiling(mm);
    bool a = matrix == NPU_MATMUL_A;
    if (in_slabs(mm, matrix))
        npu_lacks(core, "MatmulCallBackFunc of a transposed matrix of float");
    struct npu_tensor l1 = in_l1(tile->addr);
    l1.bytes = (uint32_t)bytes_of(
        mm, matrix, (uint64_t)room_for_rows(mm, matrix, tile->part.rows) * matmul_align(tile->part.columns, 16));
    int i = (int)(outer / (uint32_t)(a ? t->baseM : t->baseN)), j = (int)(k / (uint32_t)t->baseK);
    const char *api = core->api;
    uint64_t pc = core->pc, gm = mm->sources[matrix].tensor.addr;
    core->api = NULL;
    struct npu_tensor *lent = npu_own_lend(core, &l1, sizeof l1);
    core->matmul->callbacks[matmul_index(core, mm)].inputs[matrix](
        lent, gm, a ? i : j, a ? j : i, (int)(a ? outers : ks), (int)(a ? ks : outers), mm->user_tiling, mm->user_data);
    npu_own_give_back(core, lent, sizeof l1);
    core->api = api;
    core->pc = pc;
}

static bool same_part(const struct matmul_part *a, const struct matmul_part *b)
{
    return a->row == b->row && a->column == b->column && a->rows == b->rows && a->columns == b->columns;
}

/* A matrix that the kernel has put into L1 itself is one tile. */
static const struct matmul_tile *resident(struct npu_core *core, const struct npu_matmul *mm, int matrix)
{
    struct matmul_tile *tile = &core->matmul->resident[matrix];
    uint32_t outer = (uint32_t)(matrix == NPU_MATMUL_A ? mm->m : mm->n);
    bool k_rows = matmul_k_rows(mm, matrix);
    if (in_slabs(mm, matrix))
        npu_lacks(core, "Matmul with a transposed matrix of float in TSCM");
    *tile = (struct matmul_tile){
        .valid = true,
        .addr = mm->sources[matrix].tensor.addr,
        .part = {.rows = k_rows ? (uint32_t)mm->k : outer, .columns = k_rows ? outer : (uint32_t)mm->k}};
    tile->height = matmul_align(tile->part.rows, 16) / 16;
    return tile;
}

/* IBShare: what one AIV of a block has had loaded serves the other, once. */
static bool take_shared(const struct npu_matmul *mm, int matrix, uint32_t sub, struct matmul_tile *tile)
{
    const struct npu_matmul_source *source = &mm->sources[matrix];
    if (!mm->types[matrix].shared || source->is_scalar || tile->from != source->tensor.addr)
        return false;
    tile->sub = sub;
    tile->changes = mm->changes;
    return true;
}

static struct matmul_cache *cache_of(struct npu_core *core, const struct npu_matmul *mm, int matrix)
{
    return &core->matmul->objects[matmul_index(core, mm)].cache[matrix];
}

static struct matmul_part part_of(const struct npu_matmul *mm, int matrix, uint32_t outer, uint32_t outers, uint32_t k,
                                  uint32_t ks)
{
    return matmul_k_rows(mm, matrix) ? (struct matmul_part){k, outer, ks, outers}
                                     : (struct matmul_part){outer, k, outers, ks};
}

/* NULL: it is not in L1. */
static struct matmul_tile *find_tile(struct npu_core *core, const struct npu_matmul *mm, uint32_t sub, int matrix,
                                     const struct matmul_part *part)
{
    struct matmul_cache *cache = cache_of(core, mm, matrix);
    for (uint32_t i = 0; i < cache->slots; i++) {
        struct matmul_tile *tile = &cache->tiles[i];
        if (!tile->valid || !same_part(&tile->part, part))
            continue;
        if (tile->sub == sub ? tile->changes == mm->changes : take_shared(mm, matrix, sub, tile))
            return tile;
    }
    return NULL;
}

static struct matmul_tile *bring_tile(struct npu_core *core, const struct npu_matmul *mm, uint32_t sub, int matrix,
                                      uint32_t outer, uint32_t outers, uint32_t k, uint32_t ks)
{
    struct matmul_cache *cache = cache_of(core, mm, matrix);
    struct matmul_tile *tile = &cache->tiles[cache->next];
    cache->next = cache->next + 1 < cache->slots ? cache->next + 1 : 0;
    tile->valid = true;
    tile->sub = sub;
    tile->changes = mm->changes;
    tile->from = mm->sources[matrix].tensor.addr;
    tile->part = part_of(mm, matrix, outer, outers, k, ks);
    tile->height = in_slabs(mm, matrix) ? 1 : room_for_rows(mm, matrix, tile->part.rows) / 16;
    tile->ahead = false;
    if (core->tape)
        npu_tape_scalar(core, NPU_RATE_MATMUL_PART);
    /* Norm whose L1 has room for one block of A: no copy before what is in L1 is used (matmul_high_performance of asc-devkit, its
     * cases 0 to 3, beside its Matmul算子优化Tiling策略, where there is room for more). */
    if (matrix == NPU_MATMUL_A && !(mm->flags & NPU_MATMUL_LARGE) && cache->slots < 2)
        matmul_edge(core, NPU_LANE_MTE1, NPU_LANE_MTE2);
    else
        matmul_edge_since(core, NPU_LANE_MTE1, NPU_LANE_MTE2, tile->read);
    if (matmul_calls_back(mm, matrix))
        matmul_call_in(core, mm, matrix, tile, outer, outers, k, ks);
    else
        load_part(core, mm, matrix, &tile->part, tile->addr);
    return tile;
}

static bool in_l1_already(const struct npu_matmul *mm, int matrix)
{
    return !mm->sources[matrix].is_scalar && npu_memory_of(mm->sources[matrix].tensor.position) == NPU_MEM_L1;
}

const struct matmul_tile *matmul_load_l1(struct npu_core *core, const struct npu_matmul *mm, uint32_t sub, int matrix,
                                         uint32_t outer, uint32_t outers, uint32_t k, uint32_t ks)
{
    if (in_l1_already(mm, matrix))
        return resident(core, mm, matrix);
    const struct matmul_part part = part_of(mm, matrix, outer, outers, k, ks);
    struct matmul_tile *tile = find_tile(core, mm, sub, matrix, &part);
    if (!tile) {
        tile = bring_tile(core, mm, sub, matrix, outer, outers, k, ks);
        matmul_edge(core, NPU_LANE_MTE2, NPU_LANE_MTE1);
    } else if (tile->ahead) {
        matmul_edge_since(core, NPU_LANE_MTE2, NPU_LANE_MTE1, tile->brought);
        tile->ahead = false;
    }
    return tile;
}

/* doMTE2Preload: has an effect where all of K is in L1 at once and there is room for two (asc-devkit guide,
 * Matmul性能调优案例/Matmul高阶API使能MTE2-Preload). */
void matmul_load_ahead(struct npu_core *core, const struct npu_matmul *mm, uint32_t sub,
                       const struct matmul_block *block)
{
    const struct TCubeTiling *t = matmul_tiling(mm);
    const bool a = mm->flags & NPU_MATMUL_AHEAD_M, b = mm->flags & NPU_MATMUL_AHEAD_N;
    const int matrix = a ? NPU_MATMUL_A : NPU_MATMUL_B;
    const struct matmul_step step = matmul_step(mm, matrix);
    const uint32_t k = (uint32_t)mm->k;
    if (!(a || b) || !(mm->flags & NPU_MATMUL_LARGE) || in_l1_already(mm, matrix) || k > (uint32_t)t->baseK * step.k ||
        cache_of(core, mm, matrix)->slots < 2)
        return;
    const uint32_t wide = (uint32_t)(a ? t->baseM : t->baseN) * step.outer, whole = (uint32_t)(a ? mm->m : mm->n);
    const uint32_t next = ((a ? block->row : block->column) / wide + 1) * wide;
    if (next >= whole)
        return;
    const uint32_t count = matmul_least(wide, whole - next);
    const struct matmul_part part = part_of(mm, matrix, next, count, 0, k);
    if (find_tile(core, mm, sub, matrix, &part))
        return;
    struct matmul_tile *tile = bring_tile(core, mm, sub, matrix, next, count, 0, k);
    tile->ahead = true;
    tile->brought = matmul_runs(core, NPU_LANE_MTE2);
}

void matmul_load_read(struct npu_core *core, const struct matmul_tile *tile)
{
    ((struct matmul_tile *)tile)->read = matmul_runs(core, NPU_LANE_MTE1);
}

/* L1 to L0A and L0B. All numbers below count fractals: `outer` and `outers` of 16, `k` and `ks` of 32 bytes. */
struct l0_part {
    struct npu_tensor from, to;
    uint32_t outer, outers, k, ks, height, width;
    uint8_t type;
    bool a; /* L0A: rows of fractals; L0B: columns */
};

static void load_2d(struct npu_core *core, const struct l0_part *p, uint32_t start_at, uint32_t repeat, uint32_t step,
                    uint32_t to, bool transpose)
{
    struct npu_insn insn = start(NPU_OP_LOAD_DATA, p->type, p->to, p->from);
    insn.dst.addr += (uint64_t)to * NPU_FRACTAL;
    insn.load_2d =
        (struct npu_load_2d){.start = start_at, .repeat = repeat, .src_stride = step, .transpose = transpose};
    npu_issue_from(core, &insn);
}

static void load_straight(struct npu_core *core, const struct l0_part *p)
{
    if (p->a)
        for (uint32_t i = 0; i < p->outers; i++)
            load_2d(core, p, p->k * p->height + p->outer + i, p->ks, p->height, i * p->ks, false);
    else
        for (uint32_t i = 0; i < p->ks; i++)
            load_2d(core, p, (p->k + i) * p->height + p->outer, p->outers, 1, i * p->outers, false);
}

static void load_transposed_16(struct npu_core *core, const struct l0_part *p)
{
    if (p->a)
        for (uint32_t i = 0; i < p->outers; i++)
            load_2d(core, p, (p->outer + i) * p->height + p->k, p->ks, 1, i * p->ks, true);
    else
        for (uint32_t i = 0; i < p->ks; i++)
            load_2d(core, p, p->outer * p->height + p->k + i, p->outers, p->height, i * p->outers, true);
}

static void load_square(struct npu_core *core, const struct l0_part *p, uint32_t start_at, uint32_t repeat,
                        uint32_t step, uint32_t to, uint32_t gap, uint32_t fractal_gap)
{
    struct npu_insn insn = start(NPU_OP_LOAD_DATA_WITH_TRANSPOSE, p->type, p->to, p->from);
    insn.dst.addr += (uint64_t)to * NPU_FRACTAL;
    insn.load_2d = (struct npu_load_2d){
        .start = start_at, .repeat = repeat, .src_stride = step, .dst_gap = gap - 1, .dst_frac_gap = fractal_gap - 1};
    npu_issue_from(core, &insn);
}

/* Squares of 32 x 32 or, in int4, 64 x 64: `high` of the outer axis' fractals. */
static void load_transposed_high(struct npu_core *core, const struct l0_part *p, uint32_t high)
{
    uint32_t squares = p->outers / high, height = p->height / high;
    if (p->a)
        for (uint32_t i = 0; i < squares; i++)
            load_square(core, p, (p->outer / high + i) * height + p->k, p->ks, 1, high * i * p->ks, 1, p->ks);
    else
        for (uint32_t i = 0; i < p->ks; i++)
            load_square(core, p, p->outer / high * height + p->k + i, squares, height, i * p->outers, high, 1);
}

/* Squares of 16 x 16: two of K's fractals. */
static void load_transposed_32(struct npu_core *core, const struct l0_part *p)
{
    uint32_t squares = p->ks / 2;
    if (p->a)
        for (uint32_t i = 0; i < p->outers; i++)
            load_square(core, p, p->k / 2 * p->width + p->outer + i, squares, p->width, i * p->ks, 2, 1);
    else
        for (uint32_t i = 0; i < squares; i++)
            load_square(core, p, (p->k / 2 + i) * p->width + p->outer, p->outers, 1, 2 * i * p->outers, 1, p->outers);
}

void matmul_load_l0(struct npu_core *core, const struct npu_matmul *mm, int matrix, const struct matmul_tile *tile,
                    uint64_t addr, uint32_t outer, uint32_t outers, uint32_t k, uint32_t ks)
{
    bool a = matrix == NPU_MATMUL_A, k_rows = matmul_k_rows(mm, matrix);
    uint32_t bits = bits_of(mm, matrix), c0 = NPU_BLOCK * 8 / bits;
    uint32_t before_outer = k_rows ? tile->part.column : tile->part.row;
    uint32_t before_k = k_rows ? tile->part.row : tile->part.column;
    struct l0_part p = {.from = in_l1(tile->addr),
                        .to = {.addr = addr, .position = a ? NPU_A2 : NPU_B2},
                        .outer = (outer - before_outer) / 16,
                        .outers = npu_ceil_div(outers, 16),
                        .k = (k - before_k) / c0,
                        .ks = npu_ceil_div(ks, c0),
                        .height = tile->height,
                        .width = npu_ceil_div(tile->part.columns, 16),
                        .type = mm->types[matrix].dtype,
                        .a = a};
    if (mm->types[matrix].format == NPU_FORMAT_VECTOR) { /* a row of A in one piece */
        p.from.addr += (uint64_t)p.k * NPU_BLOCK;
        load_2d(core, &p, 0, npu_ceil_div(ks * bits / 8, NPU_FRACTAL), 1, 0, false);
        return;
    }
    if (!k_rows) {
        load_straight(core, &p);
    } else if (bits == 16) {
        load_transposed_16(core, &p);
    } else if (bits <= 8) {
        uint32_t high = c0 / 16;
        p.outers = matmul_align(p.outers, high);
        load_transposed_high(core, &p, high);
    } else {
        p.ks = matmul_align(p.ks, 2);
        load_transposed_32(core, &p);
    }
}
