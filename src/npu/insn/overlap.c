/* Destination and source with bytes in common.
 *
 * asc-devkit docs, SIMD-API/通用说明和约束, "通用地址重叠约束": within a repeat a source and the destination are the same
 * bytes or disjoint; no repeat reads what an earlier one has written, except through src1 in Add, Sub, Mul, Max, Min,
 * AddRelu and SubRelu of half, int32 and float with a repeat stride of 0 in src1 or dst. Counts are repeats as well. What
 * breaks this is undefined: an element of dst that is made of bytes which another element of its repeat writes, or one
 * of an earlier repeat.
 *
 * A repeat reads its operands before it writes. The order of repeats is that of their numbers.
 *
 * Assumed: a narrower dst may begin where its source begins. Cast to a wider type only "may" come out wrong (类型转换/Cast):
 * within a repeat it is done and noted, since CANN's own kernels keep the narrow elements in the upper half of the wide
 * ones' place, which makes the last repeat read bytes that it writes. */
#include "npu/insn/overlap.h"

#include "npu/gm/shadow.h"
#include "npu/isa.h"
#include "npu/report.h"

#include <stdlib.h>
#include <string.h>

enum { LANES = 128, REPEAT_BYTES = NPU_REPEAT };

/* What an operand may read besides bytes that nobody writes. */
struct allowed {
    bool within;  /* what other elements of its repeat write */
    bool told;    /* but that is noted */
    bool between; /* what earlier repeats have written */
};

struct npu_overlap {
    const struct npu_insn *insn;
    struct allowed source[3];
    const uint8_t *low; /* dst, from its first to its last byte */
    size_t bytes;
    uint32_t within[3], between[3]; /* elements that were spoiled, by source */
    bool told;
    uint32_t writer[]; /* of each byte of dst: repeat and element, 0 for none */
};

/* Adding up into one place: "通用地址重叠约束", the exception. */
static bool accumulates(const struct npu_insn *insn)
{
    static const uint16_t ops[] = {NPU_OP_ADD, NPU_OP_SUB,      NPU_OP_MUL,     NPU_OP_MAX,
                                   NPU_OP_MIN, NPU_OP_ADD_RELU, NPU_OP_SUB_RELU};
    bool listed = false;
    for (size_t i = 0; i < sizeof ops / sizeof *ops; i++)
        listed |= insn->op == ops[i];
    bool type = insn->src_type == AKGEN_FLOAT16 || insn->src_type == AKGEN_INT32 || insn->src_type == AKGEN_FLOAT;
    return listed && type && insn->form != NPU_FORM_COUNT && (!insn->dst_rep || !insn->src1_rep);
}

/* Where an operand lies, in blocks. */
struct rows {
    uint64_t addr;
    uint32_t bits, blk, rep; /* strides in blocks */
    uint32_t blocks;         /* of a repeat, up to the last element that takes part */
};

static struct rows rows_of(const struct npu_insn *insn, const struct npu_vector *v, int operand)
{
    const struct npu_tensor *tensor = operand == 0 ? &insn->dst : operand == 1 ? &insn->src0 : &insn->src1;
    uint32_t blk = operand == 0 ? insn->dst_blk : operand == 1 ? insn->src0_blk : insn->src1_blk;
    uint32_t rep = operand == 0 ? insn->dst_rep : operand == 1 ? insn->src0_rep : insn->src1_rep;
    uint32_t bits = npu_element_bits(operand == 0 ? insn->dst_type : insn->src_type);
    uint32_t lanes =
        v->mask[1] ? 128 - (uint32_t)__builtin_clzll(v->mask[1]) : 64 - (uint32_t)__builtin_clzll(v->mask[0]);
    if (v->repeats == 1 && v->last < lanes)
        lanes = v->last;
    struct rows rows = {tensor->addr, bits, blk, rep, (lanes * bits + NPU_BLOCK * 8 - 1) / (NPU_BLOCK * 8)};
    if (insn->form == NPU_FORM_COUNT) {
        rows.blk = 1;
        rows.rep = v->per_repeat * bits / 8 / NPU_BLOCK;
    }
    return rows;
}

static uint64_t end_of(const struct rows *rows, const struct npu_vector *v)
{
    return rows->addr +
           ((uint64_t)(v->repeats - 1) * rows->rep + (uint64_t)(rows->blocks - 1) * rows->blk + 1) * NPU_BLOCK;
}

/* What needs no look at single elements: operands in one place, of which no repeat reads what another writes. */
static bool in_place(const struct npu_insn *insn, const struct npu_vector *v, const struct rows *dst,
                     const struct rows *src, bool src1)
{
    if (dst->addr != src->addr || dst->blk != src->blk || dst->bits > src->bits)
        return false;
    bool apart = v->repeats == 1 || (src->rep >= (src->blocks - 1) * src->blk + 1 && dst->rep <= src->rep);
    if (dst->bits < src->bits)
        return apart && dst->blk == 1;
    return (apart && (v->repeats == 1 || dst->rep == src->rep)) || (src1 && accumulates(insn) && dst->rep == src->rep);
}

/* A bit for each block of UB. */
typedef uint64_t block_map[(1 << 18) / NPU_BLOCK / 64];
static bool meets(const struct npu_core *core, const struct npu_vector *v, const struct rows *rows, block_map map,
                  bool set)
{
    for (uint32_t r = 0; r < v->repeats; r++)
        for (uint32_t b = 0; b < rows->blocks; b++) {
            uint64_t at = rows->addr + ((uint64_t)r * rows->rep + (uint64_t)b * rows->blk) * NPU_BLOCK;
            uint64_t block = (at - (uint64_t)core->ub) / NPU_BLOCK;
            if (block >= sizeof(block_map) * 8)
                continue; /* beyond UB: the bounds check speaks */
            if (set)
                map[block / 64] |= UINT64_C(1) << block % 64;
            else if (map[block / 64] >> block % 64 & 1)
                return true;
        }
    return false;
}

void npu_find_overlap(const struct npu_core *core, struct npu_insn *insn, const struct npu_vector *v, bool src0,
                      bool src1)
{
    insn->flags &= (uint8_t)~NPU_INSN_OVERLAP;
    struct rows dst = rows_of(insn, v, 0);
    for (int i = 1; i <= 2; i++) {
        struct rows src = rows_of(insn, v, i);
        if (!(i == 1 ? src0 : src1) || end_of(&src, v) <= dst.addr || end_of(&dst, v) <= src.addr ||
            in_place(insn, v, &dst, &src, i == 2))
            continue;
        block_map map = {0};
        meets(core, v, &dst, map, true);
        if (meets(core, v, &src, map, false))
            insn->flags |= NPU_INSN_OVERLAP;
    }
}

void npu_find_overlap_with(struct npu_insn *insn, const struct npu_vector *v, uint64_t addr, uint64_t bytes)
{
    struct rows dst = rows_of(insn, v, 0);
    if (addr < end_of(&dst, v) && dst.addr < addr + bytes)
        insn->flags |= NPU_INSN_OVERLAP;
}

struct npu_overlap *npu_overlap_begin(const struct npu_insn *insn, const struct npu_vector *v)
{
    struct rows dst = rows_of(insn, v, 0);
    size_t bytes = (size_t)(end_of(&dst, v) - dst.addr);
    struct npu_overlap *overlap = calloc(1, sizeof *overlap + bytes * sizeof *overlap->writer);
    if (!overlap)
        abort();
    overlap->insn = insn;
    overlap->low = (const uint8_t *)dst.addr;
    overlap->bytes = bytes;
    for (int i = 0; i < 2; i++) {
        struct rows src = rows_of(insn, v, i + 1);
        struct allowed *allowed = &overlap->source[i];
        allowed->told = insn->op == NPU_OP_CAST && dst.bits > src.bits;
        allowed->within =
            allowed->told || (dst.bits < src.bits && dst.addr == src.addr && dst.blk == 1 && src.blk == 1);
        allowed->between = i == 1 && accumulates(insn);
    }
    return overlap;
}

static uint32_t id_of(uint32_t r, uint32_t i)
{
    return r * LANES + i + 1;
}

void npu_overlap_write(struct npu_overlap *overlap, uint32_t r, uint32_t i, const void *at, size_t bytes)
{
    size_t offset = (size_t)((const uint8_t *)at - overlap->low);
    for (size_t k = 0; k < bytes && offset + k < overlap->bytes; k++)
        overlap->writer[offset + k] = id_of(r, i);
}

bool npu_overlap_spoils(struct npu_overlap *overlap, uint32_t r, uint32_t i, int source, const void *at, size_t bytes)
{
    const struct allowed *allowed = &overlap->source[source];
    for (size_t k = 0; k < bytes; k++) {
        size_t offset = (size_t)((const uint8_t *)at + k - overlap->low); /* of a byte before dst: huge */
        uint32_t writer = offset < overlap->bytes ? overlap->writer[offset] : 0;
        if (!writer || writer == id_of(r, i))
            continue;
        bool within = (writer - 1) / LANES == r;
        overlap->told |= within && allowed->told;
        if (within ? allowed->within : allowed->between)
            continue;
        ++*(within ? &overlap->within[source] : &overlap->between[source]);
        return true;
    }
    return false;
}

void npu_overlap_end(struct npu_core *core, struct npu_overlap *overlap)
{
    static const char *const names[] = {"src0", "src1", "mask"};
    const char *api = npu_isa[overlap->insn->op].name;
    bool spoiled = false;
    for (int i = 0; i < 3; i++) {
        uint32_t within = overlap->within[i], between = overlap->between[i];
        spoiled |= within || between;
        if (within)
            npu_note(core, false, FAULT(vec_overlap), names[i], 0,
                     "dst and %s of %s overlap in part within a repeat, they must be the same bytes or disjoint: %u "
                     "elements of dst are undefined",
                     names[i], api, within);
        if (between)
            npu_note(
                core, false, FAULT(vec_overlap), names[i], 0,
                "repeats of %s read from %s what earlier ones have written to dst: %u elements of dst are undefined",
                api, names[i], between);
    }
    if (spoiled && !core->pc_undefined)
        core->pc_undefined = core->pc;
    if (!spoiled && overlap->told)
        npu_note(
            core, false, FAULT(vec_overlap), "src0", 0,
            "dst and src0 of %s overlap in part within a repeat; from a narrower to a wider type that may come out "
            "wrong",
            api);
    free(overlap);
}

/* One repeat: what it writes, before it does. */
struct repeat {
    struct npu_run runs[LANES]; /* in memory */
    uint32_t count;
    uint8_t value[REPEAT_BYTES], bits[REPEAT_BYTES]; /* of dst, run after run; defined bits */
};

/* Elements go in pairs where one is half a byte. */
struct steps {
    uint32_t unit, dst, src;
};

static struct steps steps_of(const struct npu_insn *insn)
{
    uint32_t dst = npu_element_bits(insn->dst_type), src = npu_element_bits(insn->src_type);
    uint32_t unit = dst < 8 || src < 8 ? 2 : 1;
    return (struct steps){unit, unit * dst / 8, unit * src / 8};
}

static void collect(const struct npu_walk *walk, uint32_t r, const struct steps *steps, struct repeat *repeat,
                    struct npu_overlap *overlap)
{
    uint64_t mask[2];
    uint32_t element = 0;
    npu_vector_mask(&walk->v, r, mask);
    repeat->count = 0;
    for (uint32_t lane = 0; npu_walk_next(walk, r, mask, &lane, &repeat->runs[repeat->count]); repeat->count++) {
        const struct npu_run *run = &repeat->runs[repeat->count];
        for (uint32_t i = 0; i < run->n / steps->unit; i++)
            npu_overlap_write(overlap, r, element++, run->dst + (size_t)i * steps->dst, steps->dst);
    }
}

/* The defined bits of one element of dst, from its sources as they are before the repeat writes. */
static uint8_t bits_of(struct npu_core *core, const struct npu_run *run, const struct steps *steps, uint32_t i,
                       bool reads_dst, bool *reported)
{
    const uint8_t *at[3] = {run->src0 + (size_t)i * steps->src, run->src1 ? run->src1 + (size_t)i * steps->src : NULL,
                            reads_dst ? run->dst + (size_t)i * steps->dst : NULL};
    static const char *const names[3] = {"src0", "src1", "dst"};
    for (int k = 0; k < 3; k++) {
        if (!at[k] || npu_ub_defined(core, at[k], k == 2 ? steps->dst : steps->src))
            continue;
        if (!*reported)
            npu_undefined_read(core, names[k], at[k]);
        *reported = true;
        return 0;
    }
    return UINT8_MAX;
}

static bool spoiled(struct npu_overlap *overlap, const struct npu_run *run, const struct steps *steps, uint32_t r,
                    uint32_t element, uint32_t i)
{
    bool first = npu_overlap_spoils(overlap, r, element, 0, run->src0 + (size_t)i * steps->src, steps->src);
    return (run->src1 && npu_overlap_spoils(overlap, r, element, 1, run->src1 + (size_t)i * steps->src, steps->src)) ||
           first;
}

static void store(struct npu_core *core, const struct repeat *repeat, const struct steps *steps)
{
    size_t at = 0;
    for (uint32_t k = 0; k < repeat->count; k++) {
        const struct npu_run *run = &repeat->runs[k];
        size_t bytes = (size_t)run->n / steps->unit * steps->dst;
        memcpy(run->dst, repeat->value + at, bytes);
        for (size_t i = 0; i < bytes; i++, at++)
            npu_ub_define_bits(core, run->dst + i, repeat->bits[at]);
    }
}

void npu_execute_apart(struct npu_core *core, const struct npu_insn *insn, const struct npu_regs *regs, npu_loop *loop,
                       bool reads_dst)
{
    struct npu_walk walk = npu_walk_of(insn, regs);
    if (!walk.v.repeats)
        return;
    struct npu_overlap *overlap = npu_overlap_begin(insn, &walk.v);
    struct steps steps = steps_of(insn);
    bool reported = false;
    for (uint32_t r = 0; r < walk.v.repeats; r++) {
        struct repeat repeat;
        collect(&walk, r, &steps, &repeat, overlap);
        uint32_t element = 0;
        size_t at = 0;
        for (uint32_t k = 0; k < repeat.count; k++) {
            struct npu_run run = repeat.runs[k];
            size_t bytes = (size_t)run.n / steps.unit * steps.dst;
            for (uint32_t i = 0; i < run.n / steps.unit; i++, element++) {
                uint8_t bits = bits_of(core, &run, &steps, i, reads_dst, &reported);
                bits = spoiled(overlap, &run, &steps, r, element, i) ? 0 : bits;
                memset(repeat.bits + at + (size_t)i * steps.dst, bits, steps.dst);
            }
            memcpy(repeat.value + at, run.dst, bytes); /* which the loop may read */
            run.dst = repeat.value + at;
            loop(&run, insn->scalar);
            at += bytes;
        }
        store(core, &repeat, &steps);
    }
    npu_overlap_end(core, overlap);
}
