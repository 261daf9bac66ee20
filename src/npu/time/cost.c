/* Cycles of an instruction on its own pipe: what the table of instructions says of its rate, and what the banks of UB make of the
 * addresses of its operands.
 *
 * UB has 48 banks of 128 rows of 32 bytes, in 16 groups of three: address bits 5 to 8 are the group, 16 and 17 which of the
 * three. A group serves one read and one write in a cycle, and the bank in it that does the one cannot do the other. A repeat
 * is written while the next one is read. (asc-devkit guide: how to avoid bank conflicts in UB.) */
#include "npu/isa.h"
#include "npu/memory.h"
#include "npu/time/rates.h"
#include "npu/time/tape.h"

#include <string.h>

enum { BLOCKS = 8, GROUPS = 16, REPEATS = 4 /* that are looked at: strides repeat */ };

/* Where an operand's blocks lie: block b of repeat r at `at + r * rep + b * blk`, in 32-byte units of UB. */
struct layout {
    uint32_t at, blk, rep;
    bool used;
};

static struct layout layout_of(const struct npu_core *core, const struct npu_insn *insn,
                               const struct npu_tensor *tensor, uint32_t blk, uint32_t rep)
{
    struct layout layout = {.used = tensor->addr && npu_in_ub(core, tensor->addr)};
    layout.at = (uint32_t)((tensor->addr - (uint64_t)core->ub) / NPU_BLOCK);
    layout.blk = insn->form == NPU_FORM_COUNT ? 1 : blk;
    layout.rep = insn->form == NPU_FORM_COUNT ? BLOCKS : rep;
    return layout;
}

static uint32_t block_at(const struct layout *layout, uint32_t repeat, uint32_t block)
{
    return layout->at + repeat * layout->rep + block * layout->blk;
}

static uint32_t group_of(uint32_t block)
{
    return block % GROUPS;
}

/* The bank: its group, and which of the three (64 KiB each). */
static uint32_t bank_of(uint32_t block)
{
    return group_of(block) + block / 2048 * GROUPS;
}

/* Cycles that the banks need for a repeat: reads of `sources` of this one, writes of the one before. */
static unsigned cycles_of_repeat(const struct layout *sources, int count, const struct layout *dst, uint32_t repeat)
{
    uint8_t reads[GROUPS] = {0}, writes[GROUPS] = {0}, both[GROUPS] = {0}, read_banks[64] = {0};
    unsigned most = 1;
    for (int s = 0; s < count; s++)
        for (uint32_t b = 0; sources[s].used && b < BLOCKS; b++) {
            uint32_t block = block_at(&sources[s], repeat, b);
            bool same = false; /* as a block of another source: read once for both */
            for (int other = 0; other < s && !same; other++)
                for (uint32_t k = 0; sources[other].used && k < BLOCKS && !same; k++)
                    same = block_at(&sources[other], repeat, k) == block;
            for (uint32_t k = 0; k < b && !same; k++)
                same = block_at(&sources[s], repeat, k) == block;
            reads[group_of(block)] += !same;
            read_banks[bank_of(block) % 64] = 1;
        }
    for (uint32_t b = 0; dst->used && repeat && b < BLOCKS; b++) {
        uint32_t block = block_at(dst, repeat - 1, b);
        writes[group_of(block)]++;
        both[group_of(block)] |= read_banks[bank_of(block) % 64];
    }
    for (int g = 0; g < GROUPS; g++) {
        unsigned cycles = reads[g] > writes[g] ? reads[g] : writes[g];
        cycles = both[g] && cycles < 2 ? 2 : cycles;
        most = cycles > most ? cycles : most;
    }
    return most;
}

/* By how much banks slow the repeats of a vector instruction. */
static double conflicts(const struct npu_core *core, const struct npu_insn *insn, uint32_t repeats)
{
    const struct layout from[] = {layout_of(core, insn, &insn->src0, insn->src0_blk, insn->src0_rep),
                                  layout_of(core, insn, &insn->src1, insn->src1_blk, insn->src1_rep)},
                        to = layout_of(core, insn, &insn->dst, insn->dst_blk, insn->dst_rep);
    unsigned sum = 0, seen = repeats < REPEATS ? repeats : REPEATS;
    for (uint32_t r = 1; r <= seen; r++) /* as in the middle of many */
        sum += cycles_of_repeat(from, 2, &to, r);
    return seen ? (double)sum / seen : 1;
}

static uint64_t divided(uint64_t a, uint64_t by)
{
    return (a + by - 1) / by;
}

/* Returns true for instructions whose `count` does not say how many elements they work on, whatever their form. */
static bool has_own_count(unsigned op)
{
    return op == NPU_OP_GATHER_MASK || op == NPU_OP_TRANSPOSE_4D || op == NPU_OP_DATA_COPY || op == NPU_OP_MRG_SORT;
}

/* Elements per repeat and repeats of a vector instruction, by its widest operand. */
static uint32_t repeats_of(const struct npu_core *core, const struct npu_insn *insn, uint32_t *per_repeat)
{
    size_t dst = akgen_dtype_size(insn->dst_type), src = akgen_dtype_size(insn->src_type);
    size_t widest = dst > src ? dst : src;
    *per_repeat = (uint32_t)(NPU_REPEAT / (widest ? widest : 1));
    if (insn->op == NPU_OP_GATHER_MASK) /* in reduce mode a repeat looks at `mask` elements */
        return insn->repeat * (uint32_t)(insn->flags & NPU_INSN_REDUCE_MODE ? divided(insn->mask[0], *per_repeat) : 1);
    if (insn->op == NPU_OP_TRANSPOSE_4D) /* N, C, H and W */
        return (uint32_t)divided((uint64_t)insn->count * insn->repeat * insn->mask[0] * insn->mask[1], *per_repeat);
    if (insn->form == NPU_FORM_COUNT)
        return (insn->count + *per_repeat - 1) / *per_repeat;
    const bool without_mask = insn->op == NPU_OP_BRCB || insn->op == NPU_OP_TRANS_DATA_5HD;
    if (!core->regs.counter || without_mask)
        return insn->repeat;
    const uint64_t counted = insn->form == NPU_FORM_MASK_REG ? core->regs.mask[0] : insn->mask[0];
    const uint32_t repeats = (uint32_t)((counted + *per_repeat - 1) / *per_repeat);
    return insn->op == NPU_OP_COPY ? insn->repeat * repeats
                                   : repeats; /* of Copy it counts the elements of each repeat */
}

/* Elements per cycle, by the table and the width of what is computed. */
static double rate_of(const struct npu_insn *insn)
{
    static const struct {
        uint8_t dst, src;
        uint16_t rate;
    } casts[] = {
#define NPU_CAST(dst, src, modes, rate) {AKGEN_##dst, AKGEN_##src, rate},
#include "abi/cast.def"
#undef NPU_CAST
    };
    size_t dst = akgen_dtype_size(insn->dst_type), src = akgen_dtype_size(insn->src_type);
    size_t widest = dst > src ? dst : src;
    for (size_t i = 0; insn->op == NPU_OP_CAST && i < sizeof casts / sizeof *casts; i++)
        if (casts[i].dst == insn->dst_type && casts[i].src == insn->src_type)
            return casts[i].rate;
    double rate = widest <= 2 ? npu_isa[insn->op].rate16 : npu_isa[insn->op].rate32;
    rate = rate > 0 ? rate : npu_isa[insn->op].rate16 + npu_isa[insn->op].rate32;
    return widest == 8 ? rate / 2 : rate;
}

/* ReduceSum, ReduceMax and ReduceMin of a count: reductions of repeats, level by level, each waiting for the one before. */
static double cost_of_reduce(const struct npu_insn *insn, uint32_t repeats, uint32_t per_repeat)
{
    double cycles = 0;
    const bool extreme = insn->op != NPU_OP_REDUCE_SUM;
    for (uint32_t left = repeats; left; left = left > 1 ? (left * (extreme ? 2 : 1) + per_repeat - 1) / per_repeat : 0)
        cycles += left * 7.0 + NPU_RATE_V_START + NPU_RATE_V_WHOLE_REDUCE;
    return cycles;
}

/* What a reduction takes more than an addition until its result is there. */
static double latency_of(unsigned op)
{
    switch (op) {
    case NPU_OP_WHOLE_REDUCE_SUM:
    case NPU_OP_WHOLE_REDUCE_MAX:
    case NPU_OP_WHOLE_REDUCE_MIN:
    case NPU_OP_VCADD_ACC:
        return NPU_RATE_V_WHOLE_REDUCE;
    case NPU_OP_BLOCK_REDUCE_SUM:
    case NPU_OP_BLOCK_REDUCE_MAX:
    case NPU_OP_BLOCK_REDUCE_MIN:
        return NPU_RATE_V_BLOCK_REDUCE;
    default:
        return 0;
    }
}

/* Whether operands are read and written repeat by repeat, by the strides of the instruction, so that their banks matter. */
static bool goes_by_repeats(unsigned op)
{
    static const uint16_t others[] = {
        NPU_OP_GATHER,         NPU_OP_GATHERB,   NPU_OP_GATHER_MASK,  NPU_OP_TRANSPOSE,        NPU_OP_TRANSPOSE_4D,
        NPU_OP_TRANS_DATA_5HD, NPU_OP_DUPLICATE, NPU_OP_BRCB,         NPU_OP_CREATE_VEC_INDEX, NPU_OP_GET_CMP_MASK,
        NPU_OP_SET_CMP_MASK,   NPU_OP_DATA_COPY, NPU_OP_DATA_COPY_PAD};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (others[i] == op)
            return false;
    return true;
}

static double cost_of_vector(const struct npu_core *core, const struct npu_insn *insn, uint32_t *elements)
{
    uint32_t per_repeat, repeats = repeats_of(core, insn, &per_repeat);
    *elements = insn->form == NPU_FORM_COUNT && !has_own_count(insn->op) ? insn->count : repeats * per_repeat;
    if (npu_isa[insn->op].traits & NPU_COMPOSITE)
        return cost_of_reduce(insn, repeats, per_repeat);
    const double rate = rate_of(insn);
    double each = rate > 0 ? per_repeat / rate : 1;
    double start = NPU_RATE_V_START + latency_of(insn->op);
    if (insn->op == NPU_OP_MRG_SORT) { /* lengths of four lists, in the mask */
        *elements = 0;
        for (int i = 0; i < 4; i++)
            *elements += (uint32_t)(insn->mask[0] >> 16 * i & 0xffff) * (insn->repeat ? insn->repeat : 1);
        return *elements / 2.0 + start;
    }
    if (insn->op == NPU_OP_DATA_COPY) { /* inside UB */
        uint32_t bytes = insn->form == NPU_FORM_COUNT ? insn->count * (uint32_t)akgen_dtype_size(insn->src_type)
                                                      : insn->copy.block_count * insn->copy.block_len * NPU_BLOCK;
        *elements = bytes / (uint32_t)akgen_dtype_size(insn->src_type);
        return (double)bytes / NPU_REPEAT + start;
    }
    if (insn->op == NPU_OP_SORT32) {
        *elements = insn->repeat * 32;
        return *elements / 2.0 + start;
    }
    double slowed = goes_by_repeats(insn->op) ? conflicts(core, insn, repeats) : 1;
    return repeats * (each > slowed ? each : slowed) + start;
}

/* Fractals that a product multiplies; the start is the timeline's business (replay.c). Source: asc-devkit docs, the theoretical
 * performance of Cube instructions: 16 x 16 x 16 half, x 32 int8, x 64 int4, x 4 float in a cycle. */
static double cost_of_product(const struct npu_insn *insn, uint32_t *elements)
{
    const struct npu_mmad *mmad = &insn->mmad;
    const uint64_t depth = insn->src_type == AKGEN_INT4    ? 64
                           : insn->src_type == AKGEN_INT8  ? 32
                           : insn->src_type == AKGEN_FLOAT ? 8
                                                           : 16;
    *elements = (uint32_t)mmad->m * mmad->n;
    return (double)(divided(mmad->m, 16) * divided(mmad->n, 16) * divided(mmad->k, depth)) *
           (insn->src_type == AKGEN_FLOAT ? 2 : 1);
}

/* From L1 into L0A, L0B, the bias table or the fixpipe buffer, or a constant. */
static double cost_of_load(const struct npu_insn *insn, uint64_t written, uint32_t *elements)
{
    enum { FRACTAL_BYTES = 512 };
    const size_t size = akgen_dtype_size(insn->dst_type) ? akgen_dtype_size(insn->dst_type) : 1;
    const enum npu_memory to = npu_memory_of(insn->dst.position);
    uint64_t bytes = (uint64_t)insn->load_2d.repeat * FRACTAL_BYTES;
    if (insn->op == NPU_OP_LOAD_DATA_3D)
        bytes = divided(insn->load_3d.m, 16) * 16 * insn->load_3d.k * size;
    else if (insn->op == NPU_OP_LOAD_DATA_WITH_TRANSPOSE || insn->op == NPU_OP_INIT_CONST_VALUE)
        bytes = written;
    else if (insn->op == NPU_OP_DATA_COPY)
        bytes = insn->form == NPU_FORM_COUNT ? insn->count * size
                                             : (uint64_t)insn->copy.block_count * insn->copy.block_len * NPU_BLOCK;
    *elements = (uint32_t)(bytes / size);
    return (double)bytes / (to == NPU_MEM_L0A   ? NPU_RATE_L1_TO_A
                            : to == NPU_MEM_L0B ? NPU_RATE_L1_TO_B
                                                : NPU_RATE_L1_TO_BT);
}

static uint64_t mixed(uint64_t hash, uint64_t part)
{
    hash = (hash ^ part) * UINT64_C(0x9e3779b97f4a7c15);
    return hash ^ hash >> 29;
}

/* All that the cost of a vector instruction depends on. */
static uint64_t digest(const struct npu_core *core, const struct npu_insn *insn)
{
    const uint64_t ub = (uint64_t)core->ub;
    uint64_t hash = mixed(insn->op | (uint64_t)insn->form << 16 | (uint64_t)insn->dst_type << 24 |
                              (uint64_t)insn->src_type << 32 | (uint64_t)core->regs.counter << 40,
                          (insn->dst.addr - ub) | (insn->src0.addr - ub) << 20 | (insn->src1.addr - ub) << 40);
    hash = mixed(hash, insn->count | (uint64_t)insn->repeat << 32);
    if (insn->form == NPU_FORM_COUNT && !has_own_count(insn->op))
        return hash;
    hash = mixed(hash, insn->dst_blk | (uint64_t)insn->src0_blk << 16 | (uint64_t)insn->src1_blk << 32 |
                           (uint64_t)insn->dst_rep << 48);
    hash = mixed(hash, insn->src0_rep | (uint64_t)insn->src1_rep << 16);
    hash = mixed(hash, insn->op == NPU_OP_DATA_COPY ? insn->copy.block_count | (uint64_t)insn->copy.block_len << 32
                                                    : insn->mask[0]);
    if (has_own_count(insn->op))
        hash = mixed(hash, insn->mask[1] ^ (uint64_t)insn->flags << 48);
    return mixed(hash, core->regs.counter ? core->regs.mask[0] : 0);
}

/* Loops issue the same instructions again and again. */
static double known_cost(const struct npu_core *core, const struct npu_insn *insn, uint32_t *elements)
{
    const uint64_t key = digest(core, insn) | 1;
    struct npu_tape_cost *known = &core->tape->costs[(key >> 20) % NPU_TAPE_COSTS];
    if (known->key != key) {
        known->key = key;
        known->cycles = cost_of_vector(core, insn, &known->elements);
    }
    *elements = known->elements;
    return known->cycles;
}

/* Bytes of local memory that an instruction reads and writes. */
struct touched_bytes {
    uint64_t read, written;
    bool gm; /* it has an operand in GM, which decides */
};

static struct touched_bytes touched(const struct npu_core *core, const struct npu_access *accesses, int count)
{
    struct touched_bytes bytes = {0};
    for (int i = 0; i < count; i++) {
        const struct npu_access *access = &accesses[i];
        bytes.gm |= !npu_in_ub(core, access->addr);
        if (access->temporary)
            continue;
        *(access->write ? &bytes.written : &bytes.read) += (uint64_t)access->bytes * access->count * access->count2;
    }
    return bytes;
}

/* Returns the cycles that local memory needs at least, whatever the prices above say. Of the sources of a gather, whole tensors, it reads a
 * part. Of a product the price is the theory's of what it multiplies. */
static double least_of(int lane, const struct npu_insn *insn, const struct touched_bytes *bytes)
{
    if (bytes->gm || lane == NPU_LANE_M)
        return 0;
    if (lane != NPU_LANE_V)
        return (double)bytes->written / NPU_RATE_L1_WRITTEN;
    const bool gathers = insn->op == NPU_OP_GATHER || insn->op == NPU_OP_GATHERB;
    const double read = gathers ? 0 : (double)bytes->read / NPU_RATE_V_READ;
    const double written = (double)bytes->written / NPU_RATE_V_WRITTEN;
    return NPU_RATE_V_START + (read > written ? read : written);
}

static double cost_of(const struct npu_core *core, int lane, const struct npu_insn *insn, uint64_t written,
                      uint32_t *elements)
{
    switch (lane) {
    case NPU_LANE_V:
        return known_cost(core, insn, elements);
    case NPU_LANE_M:
        return cost_of_product(insn, elements);
    case NPU_LANE_MTE1:
        return cost_of_load(insn, written, elements);
    case NPU_LANE_FIX:
        if (insn->op != NPU_OP_FIXPIPE) /* into the fixpipe buffer, by way of this pipe */
            return cost_of_load(insn, written, elements);
        *elements = (uint32_t)insn->fixpipe.m * insn->fixpipe.n;
        return NPU_RATE_FIX_START + *elements * (double)sizeof(float) / NPU_RATE_FIX; /* as L0C has them */
    default:
        return 0;
    }
}

double npu_cost(const struct npu_core *core, int lane, const struct npu_insn *insn, const struct npu_access *accesses,
                int count, uint32_t *elements)
{
    *elements = 0;
    const struct touched_bytes bytes = touched(core, accesses, count);
    const double cycles = cost_of(core, lane, insn, bytes.written, elements), least = least_of(lane, insn, &bytes);
    return cycles > least ? cycles : least;
}
