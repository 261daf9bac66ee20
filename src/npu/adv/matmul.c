/* One block of C = A x B + bias, as Matmul computes it on an AIC: baseM x baseN elements of C in L0C, summed over
 * pieces of baseK. A piece goes GM -> L1 -> L0A or L0B. L1 holds depthA1 x (baseM x baseK) of A: slots of stepM x
 * stepKa base blocks, filled in turn and kept as long as nothing else takes their place; B likewise.
 *
 * asc-devkit docs, 矩阵计算/Matmul-Tiling类/TCubeTiling结构体 (what the fields mean, tables 1 to 3), Matmul使用说明
 * (实现原理). Assumed: objects that together need more of L1 than there is lie over each other, and what one had there
 * the other loads again. The result of a block always lies in the first half or, with dbL0C 2, in turn in either half
 * of L0C. */
#include "npu/adv/matmul.h"

#include "npu/issue/issue.h"
#include "npu/machine.h"
#include "npu/memory.h"
#include "npu/order/schedule.h"
#include "npu/queue/queue.h"
#include "npu/report.h"
#include "npu/time/rates.h"
#include "npu/time/tape.h"

#include <stdlib.h>
#include <string.h>

void matmul_edge(struct npu_core *core, int from, int to)
{
    static const int8_t pipes[NPU_LANES] = {NPU_PIPE_S, NPU_PIPE_V,    NPU_PIPE_MTE2, NPU_PIPE_MTE3,
                                            NPU_PIPE_M, NPU_PIPE_MTE1, NPU_PIPE_FIX};
    npu_schedule_drain(core, pipes[from]);
    npu_order_edge(core->order, from, to);
}

void matmul_edge_since(struct npu_core *core, int from, int to, uint32_t run)
{
    struct npu_core *timed = core->order->timed;
    core->order->timed = NULL;
    matmul_edge(core, from, to);
    core->order->timed = timed;
    if (timed && run)
        npu_tape_add(core, NPU_STEP_SINCE, from, to, 0, run);
}

uint32_t matmul_runs(const struct npu_core *core, int lane)
{
    return core->tape ? core->tape->runs[lane] : 0;
}

struct npu_matmul_core *matmul_core(struct npu_core *core)
{
    if (!core->matmul)
        core->matmul = calloc(1, sizeof *core->matmul);
    if (!core->matmul)
        abort();
    return core->matmul;
}

/* Buffers that L0A and L0B are divided into: two only where both are to be doubled. CANN's TBufPoolL0Base. */
static uint32_t l0_buffers(const struct TCubeTiling *t)
{
    return t->dbL0A == 2 && t->dbL0B == 2 ? 2 : 1;
}

struct matmul_step matmul_step(const struct npu_matmul *mm, int matrix)
{
    const struct TCubeTiling *t = matmul_tiling(mm);
    if (!(mm->flags & NPU_MATMUL_LARGE)) /* Norm: a base block at a time */
        return (struct matmul_step){1, 1};
    if (mm->flags & NPU_MATMUL_N_BUFFER && matrix == NPU_MATMUL_A)
        return (struct matmul_step){1, (uint32_t)t->stepKa};
    return matrix == NPU_MATMUL_A ? (struct matmul_step){(uint32_t)t->stepM, (uint32_t)t->stepKa}
                                  : (struct matmul_step){(uint32_t)t->stepN, (uint32_t)t->stepKb};
}

static uint32_t bits_of(const struct npu_matmul *mm, int matrix)
{
    return npu_cube_bits(mm->types[matrix].dtype);
}

/* Bytes of a block of A or B, with room for whole fractals in either direction. */
static uint64_t part_bytes(const struct npu_matmul *mm, int matrix, uint32_t outers, uint32_t ks)
{
    uint32_t bits = bits_of(mm, matrix), c0 = NPU_BLOCK * 8 / bits, unit = c0 > 16 ? c0 : 16;
    bool k_rows = matmul_k_rows(mm, matrix);
    return (uint64_t)matmul_align(outers, k_rows ? unit : 16) * matmul_align(ks, k_rows ? unit : c0) * bits / 8;
}

static void require(struct npu_core *core, bool ok, const char *field, int64_t value, const char *rule)
{
    if (!ok)
        npu_trap(core, FAULT(matmul_tiling), field, "%s of the tiling is %lld: %s", field, (long long)value, rule);
}

static void check_fits(struct npu_core *core, const char *field, uint64_t bytes, enum npu_memory memory)
{
    uint32_t room = npu_memories[memory].bytes;
    if (bytes > room)
        npu_trap(core, FAULT(matmul_tiling), field, "the tiling needs %llu bytes of %s for %s, there are %u",
                 (unsigned long long)bytes, npu_memories[memory].name, field, room);
}

static uint64_t cached_bytes(const struct npu_matmul *mm, int matrix)
{
    const struct TCubeTiling *t = matmul_tiling(mm);
    bool a = matrix == NPU_MATMUL_A;
    if (npu_memory_of(mm->types[matrix].position) == NPU_MEM_L1) /* it is there already */
        return 0;
    struct matmul_step step = matmul_step(mm, matrix);
    uint32_t slots = (uint32_t)(a ? t->depthA1 : t->depthB1) / (step.outer * step.k);
    return part_bytes(mm, matrix, (uint32_t)(a ? t->baseM : t->baseN) * step.outer, (uint32_t)t->baseK * step.k) *
           (slots ? slots : 1);
}

static uint32_t slots_of(const struct npu_matmul *mm, int matrix)
{
    const struct TCubeTiling *t = matmul_tiling(mm);
    struct matmul_step step = matmul_step(mm, matrix);
    uint32_t slots = (uint32_t)(matrix == NPU_MATMUL_A ? t->depthA1 : t->depthB1) / (step.outer * step.k);
    return slots < 1 ? 1 : slots > MATMUL_SLOTS ? MATMUL_SLOTS : slots;
}

static uint64_t l1_bytes(const struct npu_matmul *mm)
{
    const struct TCubeTiling *t = matmul_tiling(mm);
    uint64_t rows = t->isBias ? matmul_align((uint32_t)t->baseN * 4, NPU_BLOCK) : 0;
    if (mm->sources[NPU_MATMUL_QUANT].set)
        rows += matmul_align((uint32_t)t->baseN * 8, NPU_BLOCK);
    return cached_bytes(mm, NPU_MATMUL_A) + cached_bytes(mm, NPU_MATMUL_B) + rows;
}

void matmul_check_tiling(struct npu_core *core, const struct npu_matmul *mm)
{
    const struct TCubeTiling *t = matmul_tiling(mm);
    const struct {
        const char *field;
        int32_t value;
    } positive[] = {{"singleCoreM", t->singleCoreM},
                    {"singleCoreN", t->singleCoreN},
                    {"singleCoreK", t->singleCoreK},
                    {"baseM", t->baseM},
                    {"baseN", t->baseN},
                    {"baseK", t->baseK},
                    {"depthA1", t->depthA1},
                    {"depthB1", t->depthB1},
                    {"stepM", t->stepM},
                    {"stepN", t->stepN},
                    {"stepKa", t->stepKa},
                    {"stepKb", t->stepKb}};
    for (size_t i = 0; i < sizeof positive / sizeof *positive; i++)
        require(core, positive[i].value > 0, positive[i].field, positive[i].value, "it must be above 0");
    require(core, t->baseM % 16 == 0, "baseM", t->baseM, "whole fractals have 16 rows");
    require(core, t->baseN % 16 == 0, "baseN", t->baseN, "whole fractals have 16 columns");
    uint64_t a = part_bytes(mm, NPU_MATMUL_A, (uint32_t)t->baseM, (uint32_t)t->baseK) * l0_buffers(t);
    uint64_t b = part_bytes(mm, NPU_MATMUL_B, (uint32_t)t->baseN, (uint32_t)t->baseK) * l0_buffers(t);
    check_fits(core, "baseM x baseK x dbL0A", a, NPU_MEM_L0A);
    check_fits(core, "baseN x baseK x dbL0B", b, NPU_MEM_L0B);
    check_fits(core, "baseM x baseN x dbL0C", (uint64_t)t->baseM * (uint32_t)t->baseN * 4 * (t->dbL0C == 2 ? 2 : 1),
               NPU_MEM_L0C);
    if (t->isBias)
        check_fits(core, "baseN of the bias", (uint64_t)t->baseN * 4, NPU_MEM_BT);
    check_fits(core, "depthA1 and depthB1", l1_bytes(mm), NPU_MEM_L1);
}

void matmul_check_ready(struct npu_core *core, const struct npu_matmul *mm)
{
    static const char *const names[] = {"SetTensorA", "SetTensorB"};
    if (!mm->version)
        npu_trap(core, FAULT(matmul_not_ready), NULL,
                 "the object has no tiling: REGIST_MATMUL_OBJ with a tiling, or Init, comes first");
    for (int i = NPU_MATMUL_A; i <= NPU_MATMUL_B; i++)
        if (!mm->sources[i].set)
            npu_trap(core, FAULT(matmul_not_ready), names[i], "%s was not called before the calculation", names[i]);
    if (mm->m <= 0 || mm->n <= 0 || mm->k <= 0)
        npu_trap(core, FAULT(matmul_shape), NULL, "the shape is %d x %d x %d: each must be above 0", mm->m, mm->n,
                 mm->k);
}

/* Buffers. */
static void forget_tiles(struct matmul_buffers *buffers)
{
    for (int i = 0; i < 2; i++)
        for (uint32_t k = 0; k < MATMUL_SLOTS; k++)
            buffers->cache[i].tiles[k].valid = false;
}

/* L1 that no buffer of this core's TPipe, nor of its AIVs' (TSCM), has taken; over another object's if none is left. */
static uint64_t take_l1(struct npu_core *core, uint32_t bytes)
{
    const struct npu *npu = core->npu;
    uint32_t used = 0;
    for (int i = 0; i < npu->core_count; i++) {
        const uint32_t *taken = npu->cores[i].group == core->group ? npu_taken(&npu->cores[i], NPU_MEM_L1) : NULL;
        used = taken && *taken > used ? *taken : used;
    }
    uint64_t base = npu_memory_base(core, NPU_MEM_L1);
    if (used + bytes <= NPU_L1_BYTES) {
        uint32_t *taken = npu_taken(core, NPU_MEM_L1);
        if (taken)
            *taken = used + bytes;
        return base + used;
    }
    for (int i = 0; i < MATMUL_OBJECTS; i++) {
        const struct matmul_buffers *other = &core->matmul->objects[i];
        if (other->cut && other->start + bytes <= base + NPU_L1_BYTES) {
            core->matmul->overlaid = true;
            return other->start;
        }
    }
    npu_trap(core, FAULT(matmul_tiling), "depthA1 and depthB1",
             "the tiling needs %u bytes of L1; of %d bytes %u belong to other buffers", bytes, NPU_L1_BYTES, used);
}

static struct matmul_buffers *buffers_of(struct npu_core *core, const struct npu_matmul *mm)
{
    struct npu_matmul_core *all = matmul_core(core);
    struct matmul_buffers *buffers = &all->objects[matmul_index(core, mm)];
    if (all->overlaid && all->last != mm->id)
        forget_tiles(buffers);
    all->last = mm->id;
    if (buffers->cut && memcmp(buffers->tiling, mm->tiling, sizeof mm->tiling) == 0 &&
        buffers->transposed[0] == mm->sources[0].transposed && buffers->transposed[1] == mm->sources[1].transposed)
        return buffers;
    uint32_t bytes = (uint32_t)cached_bytes(mm, NPU_MATMUL_A) + (uint32_t)cached_bytes(mm, NPU_MATMUL_B) +
                     matmul_align((uint32_t)matmul_tiling(mm)->baseN * 4, NPU_BLOCK) +
                     matmul_align((uint32_t)matmul_tiling(mm)->baseN * 8, NPU_BLOCK);
    if (bytes > NPU_L1_BYTES) /* without bias and quantisation it fits */
        bytes = (uint32_t)l1_bytes(mm);
    if (!buffers->cut || bytes > buffers->bytes) {
        buffers->start = take_l1(core, bytes);
        buffers->bytes = bytes;
    }
    buffers->cut = true;
    memcpy(buffers->tiling, mm->tiling, sizeof mm->tiling);
    for (int i = 0; i < 2; i++)
        buffers->transposed[i] = mm->sources[i].transposed;
    uint64_t at = buffers->start;
    for (int i = 0; i < 2; i++) {
        struct matmul_cache *cache = &buffers->cache[i];
        cache->slots = slots_of(mm, i);
        cache->next = 0;
        uint64_t each = cached_bytes(mm, i) / cache->slots;
        for (uint32_t k = 0; k < cache->slots; k++, at += each)
            cache->tiles[k].addr = at;
    }
    buffers->bias = at;
    buffers->quant = at + (matmul_tiling(mm)->isBias || bytes > l1_bytes(mm)
                               ? matmul_align((uint32_t)matmul_tiling(mm)->baseN * 4, NPU_BLOCK)
                               : 0);
    forget_tiles(buffers);
    return buffers;
}

/* Blocks of C. */
static uint32_t blocks_along(int32_t extent, int32_t base)
{
    return npu_ceil_div((uint32_t)extent, (uint32_t)base);
}

/* Blocks that are computed for one of C: more than one if K is not summed up. */
static uint32_t blocks_of_k(const struct npu_matmul *mm)
{
    return mm->flags & NPU_MATMUL_PARTIAL ? blocks_along(mm->k, matmul_tiling(mm)->baseK) : 1;
}

uint32_t matmul_blocks(const struct npu_matmul *mm)
{
    const struct TCubeTiling *t = matmul_tiling(mm);
    return blocks_along(mm->m, t->baseM) * blocks_along(mm->n, t->baseN) * blocks_of_k(mm);
}

struct matmul_block matmul_block_at(const struct npu_matmul *mm, uint32_t step)
{
    const struct TCubeTiling *t = matmul_tiling(mm);
    uint32_t rows = blocks_along(mm->m, t->baseM), columns = blocks_along(mm->n, t->baseN);
    bool along_n = (mm->order == 2 ? t->iterateOrder : mm->order) == 1;
    uint32_t parts = blocks_of_k(mm), part = step % parts, turn = step;
    step /= parts;
    struct matmul_block block = {.row = (along_n ? step / columns : step % rows) * (uint32_t)t->baseM,
                                 .column = (along_n ? step % columns : step / rows) * (uint32_t)t->baseN};
    block.m = matmul_least((uint32_t)t->baseM, (uint32_t)mm->m - block.row);
    block.n = matmul_least((uint32_t)t->baseN, (uint32_t)mm->n - block.column);
    block.k = part * (uint32_t)t->baseK;
    block.ks = parts > 1 ? matmul_least((uint32_t)t->baseK, (uint32_t)mm->k - block.k) : (uint32_t)mm->k;
    uint32_t i = block.row / (uint32_t)t->baseM, j = block.column / (uint32_t)t->baseN;
    block.skipped = (mm->flags & NPU_MATMUL_UPPER && i > j) || (mm->flags & NPU_MATMUL_LOWER && i < j);
    block.l0c = npu_memory_base(npu_current, NPU_MEM_L0C);
    if (t->dbL0C == 2)
        block.l0c += turn % 2 * (uint64_t)(NPU_L0C_BYTES / 2);
    return block;
}

/* Bias: GM or L1 to the bias table. */
static void load_bias(struct npu_core *core, const struct npu_matmul *mm, const struct matmul_block *block)
{
    uint8_t type = mm->types[NPU_MATMUL_BIAS].dtype;
    matmul_edge(core, NPU_LANE_MTE1, NPU_LANE_MTE2);
    struct npu_tensor row = matmul_load_row(core, &mm->sources[NPU_MATMUL_BIAS].tensor, type, block->column, block->n,
                                            core->matmul->objects[matmul_index(core, mm)].bias);
    matmul_edge(core, NPU_LANE_MTE2, NPU_LANE_MTE1);
    matmul_edge(core, NPU_LANE_M, NPU_LANE_MTE1);
    struct npu_insn insn = {.op = NPU_OP_DATA_COPY,
                            .form = NPU_FORM_MASK_REG,
                            .dst_type = matmul_sum_type(mm),
                            .src_type = type,
                            .src0 = row,
                            .dst = {.addr = npu_memory_base(core, NPU_MEM_BT), .position = NPU_C2},
                            .copy = {.block_count = 1, .block_len = npu_ceil_div(block->n * 4, 64)}};
    insn.src0.bytes = 0;
    npu_issue_from(core, &insn);
}

/* One piece of K into L0A or L0B; its address there. */
static uint64_t load_piece(struct npu_core *core, const struct npu_matmul *mm, uint32_t sub, int matrix, uint32_t outer,
                           uint32_t outers, uint32_t k, uint32_t ks)
{
    const struct TCubeTiling *t = matmul_tiling(mm);
    bool a = matrix == NPU_MATMUL_A;
    struct matmul_step step = matmul_step(mm, matrix);
    uint32_t wide = (uint32_t)(a ? t->baseM : t->baseN) * step.outer, deep = (uint32_t)t->baseK * step.k;
    uint32_t whole = (uint32_t)(a ? mm->m : mm->n), first = outer / wide * wide, first_k = k / deep * deep;
    const struct matmul_tile *tile = matmul_load_l1(core, mm, sub, matrix, first, matmul_least(wide, whole - first),
                                                    first_k, matmul_least(deep, (uint32_t)mm->k - first_k));
    uint32_t bytes = a ? NPU_L0A_BYTES : NPU_L0B_BYTES, turn = core->matmul->l0_turn[matrix]++;
    uint64_t addr = npu_memory_base(core, a ? NPU_MEM_L0A : NPU_MEM_L0B);
    const uint32_t buffer = l0_buffers(t) == 2 ? turn % 2 : 0;
    addr += buffer * (uint64_t)(bytes / 2);
    matmul_edge_since(core, NPU_LANE_M, NPU_LANE_MTE1, core->matmul->l0_used[!a][buffer]);
    matmul_load_l0(core, mm, matrix, tile, addr, outer, outers, k, ks);
    core->matmul->l0_used[!a][buffer] = matmul_runs(core, NPU_LANE_M) + 1; /* the product that follows */
    matmul_load_read(core, tile);
    return addr;
}

/* Columns that a row of fractals in L0B has: squares of 8 bits are two fractals wide, of int4 four. */
static uint32_t columns_in_l0b(const struct npu_matmul *mm, uint32_t n)
{
    uint32_t bits = bits_of(mm, NPU_MATMUL_B), side = 256 / bits;
    bool squares = matmul_k_rows(mm, NPU_MATMUL_B) && bits <= 8;
    return squares && npu_ceil_div(n, 16) * 16 % side ? matmul_align(n, side) : n;
}

/* Products are added one behind the other; the pipe does that without waiting. */
static void in_order(struct npu_core *core)
{
    struct npu_core *timed = core->order->timed;
    core->order->timed = NULL;
    npu_order_barrier(core->order, NPU_LANE_M);
    core->order->timed = timed;
}

/* enUnitFlag: Mmad and Fixpipe share a block of L0C fractal by fractal, as long as Mmad, which takes k / 16 cycles for one,
 * is not the slower of the two. (asc-devkit guide, Matmul性能调优案例/Matmul高阶API使能UnitFlag: 512 bytes at a time.) */
bool matmul_shares_l0c(const struct npu_matmul *mm)
{
    const double fixpipe = NPU_C_FRACTAL / NPU_RATE_FIX;
    return mm->flags & NPU_MATMUL_UNIT_FLAG && !(mm->flags & NPU_MATMUL_OWN_C) &&
           matmul_tiling(mm)->baseK / 16.0 <= fixpipe;
}

/* The piece of K that a block begins with, the pieces going round. enableKdimReorderLoad: cores that share a part of A or B
 * read it at different places, each a load of the larger matrix further on (asc-devkit guide,
 * Matmul性能调优案例/Matmul高阶API使能多核K轴错峰访问内存). */
static uint32_t first_piece(const struct npu_core *core, const struct npu_matmul *mm, uint32_t pieces)
{
    const uint32_t a = matmul_step(mm, NPU_MATMUL_A).k, b = matmul_step(mm, NPU_MATMUL_B).k, step = a > b ? a : b;
    const uint32_t wanted = NPU_MATMUL_AROUND_K | NPU_MATMUL_LARGE;
    if ((mm->flags & wanted) != wanted || mm->flags & NPU_MATMUL_PARTIAL)
        return 0;
    return (uint32_t)core->block % npu_ceil_div(pieces, step) * step;
}

/* The first product of a block begins with the Fixpipe that empties its place in L0C, the second behind it. */
static void wait_for_l0c(struct npu_core *core, const struct npu_matmul *mm, bool second, bool first_product)
{
    const uint32_t read = core->matmul->l0c_read[second], before = read ? read - 1 : 0;
    matmul_edge_since(core, NPU_LANE_FIX, NPU_LANE_M, matmul_shares_l0c(mm) && first_product ? before : read);
}

void matmul_compute(struct npu_core *core, const struct npu_matmul *mm, uint32_t sub, const struct matmul_block *block,
                    bool partial_sum)
{
    const struct TCubeTiling *t = matmul_tiling(mm);
    bool biased = t->isBias && mm->sources[NPU_MATMUL_BIAS].set && !partial_sum;
    bool vector = mm->types[NPU_MATMUL_A].format == NPU_FORMAT_VECTOR;
    if (block->skipped)
        return;
    buffers_of(core, mm);
    core->regs.cube.at[NPU_CUBE_HF32] = mm->hf32;
    core->regs.cube.at[NPU_CUBE_HF32_TIES] = mm->hf32_ties_to_zero;
    if (biased)
        load_bias(core, mm, block);
    const bool second = block->l0c != npu_memory_base(core, NPU_MEM_L0C);
    wait_for_l0c(core, mm, second, true);
    struct npu_insn insn = {.op = NPU_OP_MMAD,
                            .dst_type = matmul_sum_type(mm),
                            .src_type = mm->types[NPU_MATMUL_A].dtype,
                            .src1_type = mm->types[NPU_MATMUL_B].dtype,
                            .dst = {.addr = block->l0c, .position = NPU_CO1}};
    insn.mmad.m = (uint16_t)(block->m == 1 && !vector ? 16 : block->m); /* m = 1 is another layout of A */
    insn.mmad.n = (uint16_t)columns_in_l0b(mm, block->n);
    insn.mmad.k_align = matmul_k_rows(mm, NPU_MATMUL_A) && bits_of(mm, NPU_MATMUL_A) == 32;
    const uint32_t pieces = npu_ceil_div(block->ks, (uint32_t)t->baseK), first = first_piece(core, mm, pieces);
    for (uint32_t i = 0; i < pieces; i++) {
        const uint32_t k = block->k + (first + i) % pieces * (uint32_t)t->baseK;
        uint32_t ks = matmul_least((uint32_t)t->baseK, block->k + block->ks - k);
        if (core->tape)
            npu_tape_scalar(core, NPU_RATE_MATMUL_PRODUCT * (mm->flags & NPU_MATMUL_FIXED ? NPU_RATE_MATMUL_FIXED : 1));
        insn.src0 = (struct npu_tensor){.addr = load_piece(core, mm, sub, NPU_MATMUL_A, block->row, block->m, k, ks),
                                        .position = NPU_A2};
        insn.src1 = (struct npu_tensor){.addr = load_piece(core, mm, sub, NPU_MATMUL_B, block->column, block->n, k, ks),
                                        .position = NPU_B2};
        if (i == 0)
            matmul_load_ahead(core, mm, sub, block);
        matmul_edge(core, NPU_LANE_MTE1, NPU_LANE_M);
        if (i == 1 && matmul_shares_l0c(mm))
            wait_for_l0c(core, mm, second, false);
        insn.mmad.k = (uint16_t)ks;
        insn.mmad.init = i || partial_sum ? NPU_C_ACCUMULATE : biased ? NPU_C_BIAS : NPU_C_ZERO;
        if (insn.mmad.init == NPU_C_BIAS)
            insn.aux = (struct npu_tensor){.addr = npu_memory_base(core, NPU_MEM_BT), .position = NPU_C2};
        npu_issue_from(core, &insn);
        in_order(core);
    }
}
