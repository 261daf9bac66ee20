/* The walk over the elements of a vector instruction, its checks and its footprint. See lanes.h for the rules. */
#include "npu/insn/lanes.h"

#include "npu/gm/shadow.h"
#include "npu/insn/overlap.h"

#include <string.h>

enum { LANES_MAX = 128 }; /* mask bits: a repeat of 16-bit elements */

uint32_t npu_element_bits(uint8_t dtype)
{
    return dtype == AKGEN_INT4 ? 4 : (uint32_t)akgen_dtype_size((enum akgen_dtype)dtype) * 8;
}

bool npu_type_has_width(uint8_t dtype)
{
    return dtype < AKGEN_DTYPE_CODES && npu_element_bits(dtype) > 0;
}

void npu_mask_of_length(uint64_t mask[2], uint64_t elements)
{
    mask[0] = elements >= 64 ? UINT64_MAX : (UINT64_C(1) << elements) - 1;
    mask[1] = elements >= LANES_MAX ? UINT64_MAX : elements > 64 ? (UINT64_C(1) << (elements - 64)) - 1 : 0;
}

static uint32_t widest(const struct npu_insn *insn)
{
    uint32_t dst = npu_element_bits(insn->dst_type), src = npu_element_bits(insn->src_type);
    return dst > src ? dst : src;
}

struct npu_vector npu_vector_shape(const struct npu_insn *insn, const struct npu_regs *regs, uint32_t bits)
{
    struct npu_vector v = {.per_repeat = NPU_REPEAT * 8 / bits};
    /* 8-bit and narrower elements never fill a repeat: their partner in the instruction is wider, or the API is built
     * on 16-bit lanes. */
    if (v.per_repeat > LANES_MAX)
        v.per_repeat = LANES_MAX;
    uint64_t full[2];
    npu_mask_of_length(full, v.per_repeat);
    uint64_t count = insn->count;
    bool counter = insn->form == NPU_FORM_COUNT;
    const uint64_t *bits_of_mask = insn->form == NPU_FORM_MASK_REG ? regs->mask : insn->mask;
    if (!counter && regs->counter) {
        counter = true;
        count = bits_of_mask[0];
    }
    if (counter) {
        memcpy(v.mask, full, sizeof full);
        v.repeats = (uint32_t)((count + v.per_repeat - 1) / v.per_repeat);
        v.last = count ? (uint32_t)(count - (uint64_t)(v.repeats - 1) * v.per_repeat) : 0;
        return v;
    }
    if (insn->form == NPU_FORM_MASK_LEN)
        npu_mask_of_length(v.mask, bits_of_mask[0] < v.per_repeat ? bits_of_mask[0] : v.per_repeat);
    else
        memcpy(v.mask, bits_of_mask, sizeof v.mask);
    v.mask[0] &= full[0];
    v.mask[1] &= full[1];
    v.last = v.per_repeat;
    v.repeats = v.mask[0] | v.mask[1] ? insn->repeat : 0;
    return v;
}

void npu_vector_mask(const struct npu_vector *v, uint32_t repeat, uint64_t mask[2])
{
    memcpy(mask, v->mask, sizeof v->mask);
    if (repeat + 1 == v->repeats && v->last < v->per_repeat) {
        uint64_t cut[2];
        npu_mask_of_length(cut, v->last);
        mask[0] &= cut[0];
        mask[1] &= cut[1];
    }
}

bool npu_vector_whole(const struct npu_vector *v)
{
    uint64_t full[2];
    npu_mask_of_length(full, v->per_repeat);
    return v->mask[0] == full[0] && v->mask[1] == full[1];
}

/* The walk. */
static struct npu_lane_operand lane_operand(const struct npu_tensor *tensor, uint32_t bits, uint32_t blk, uint32_t rep,
                                            const struct npu_insn *insn, uint32_t per_repeat)
{
    if (insn->form == NPU_FORM_COUNT) {
        blk = 1;
        rep = per_repeat * bits / 8 / NPU_BLOCK;
    }
    return (struct npu_lane_operand){tensor->addr, bits, blk * NPU_BLOCK, rep * NPU_BLOCK};
}

/* Consecutive lanes are consecutive bytes, across blocks and across repeats. */
static bool lane_dense(const struct npu_lane_operand *o, const struct npu_vector *v)
{
    uint32_t bytes = v->per_repeat * o->bits / 8;
    return !o->base || ((o->blk == NPU_BLOCK || bytes <= NPU_BLOCK) && (o->rep == bytes || v->repeats == 1));
}

static uint64_t lane_address(const struct npu_lane_operand *o, uint32_t repeat, uint32_t lane)
{
    if (!o->base)
        return 0;
    uint32_t bit = lane * o->bits, block = bit / (NPU_BLOCK * 8);
    return o->base + (uint64_t)repeat * o->rep + (uint64_t)block * o->blk + bit % (NPU_BLOCK * 8) / 8;
}

/* How many lanes from `lane` on are consecutive bytes within this repeat. */
static uint32_t lanes_to_seam(const struct npu_lane_operand *o, const struct npu_vector *v, uint32_t lane)
{
    uint32_t to_end = v->per_repeat - lane;
    if (!o->base || o->blk == NPU_BLOCK)
        return to_end;
    uint32_t per_block = NPU_BLOCK * 8 / o->bits, to_block = per_block - lane % per_block;
    return to_block < to_end ? to_block : to_end;
}

struct npu_walk npu_walk_of(const struct npu_insn *insn, const struct npu_regs *regs)
{
    struct npu_walk walk = {.v = npu_vector_shape(insn, regs, widest(insn))};
    uint32_t dst_bits = npu_element_bits(insn->dst_type), src_bits = npu_element_bits(insn->src_type);
    uint32_t per_repeat = walk.v.per_repeat;
    walk.o[0] = lane_operand(&insn->dst, dst_bits, insn->dst_blk, insn->dst_rep, insn, per_repeat);
    walk.o[1] = lane_operand(&insn->src0, src_bits, insn->src0_blk, insn->src0_rep, insn, per_repeat);
    walk.o[2] = lane_operand(&insn->src1, src_bits, insn->src1_blk, insn->src1_rep, insn, per_repeat);
    return walk;
}

bool npu_walk_next(const struct npu_walk *walk, uint32_t repeat, const uint64_t mask[2], uint32_t *lane,
                   struct npu_run *run)
{
    const struct npu_vector *v = &walk->v;
    uint32_t first = *lane;
    while (first < v->per_repeat && !npu_lane_selected(mask, first))
        first++;
    if (first == v->per_repeat)
        return false;
    uint32_t limit = lanes_to_seam(&walk->o[0], v, first);
    for (int k = 1; k < 3; k++) {
        uint32_t seam = lanes_to_seam(&walk->o[k], v, first);
        limit = seam < limit ? seam : limit;
    }
    uint32_t n = 1;
    while (n < limit && npu_lane_selected(mask, first + n))
        n++;
    *run = (struct npu_run){(uint8_t *)lane_address(&walk->o[0], repeat, first),
                            (const uint8_t *)lane_address(&walk->o[1], repeat, first),
                            (const uint8_t *)lane_address(&walk->o[2], repeat, first), n};
    *lane = first + n;
    return true;
}

void npu_lanes(struct npu_core *core, const struct npu_insn *insn, const struct npu_regs *regs, npu_run_body *body,
               void *closure)
{
    struct npu_walk walk = npu_walk_of(insn, regs);
    const struct npu_vector *v = &walk.v;
    if (!v->repeats)
        return;
    struct npu_run run;
    if (npu_vector_whole(v) && lane_dense(&walk.o[0], v) && lane_dense(&walk.o[1], v) && lane_dense(&walk.o[2], v)) {
        run = (struct npu_run){(uint8_t *)walk.o[0].base, (const uint8_t *)walk.o[1].base,
                               (const uint8_t *)walk.o[2].base, (v->repeats - 1) * v->per_repeat + v->last};
        body(core, insn, regs, &run, closure);
        return;
    }
    for (uint32_t r = 0; r < v->repeats; r++) {
        uint64_t mask[2];
        npu_vector_mask(v, r, mask);
        for (uint32_t lane = 0; npu_walk_next(&walk, r, mask, &lane, &run);)
            body(core, insn, regs, &run, closure);
    }
}

/* Execution with definedness. */
struct execution {
    npu_loop *loop;
    bool reads_dst;
    bool reported; /* one npu_undefined_read per instruction */
};

static void undefined(struct npu_core *core, struct execution *e, const char *operand, const void *at)
{
    if (!e->reported)
        npu_undefined_read(core, operand, at);
    e->reported = true;
}

/* And, Or and Not work on bits, such as those that Compare makes of single elements: of a byte that is defined in part
 * the rest stays defined. A 0 decides an And and a 1 an Or, whatever the other operand holds. */
static void move_bits(struct npu_core *core, enum npu_op op, const struct npu_run *run, struct execution *e,
                      size_t bytes)
{
    for (size_t i = 0; i < bytes; i++) {
        uint8_t bits = npu_ub_bits(core, run->src0 + i);
        if (bits != UINT8_MAX)
            undefined(core, e, "src0", run->src0 + i);
        uint8_t bits1 = run->src1 ? npu_ub_bits(core, run->src1 + i) : UINT8_MAX;
        if (bits1 != UINT8_MAX)
            undefined(core, e, "src1", run->src1 + i);
        uint8_t decided = 0;
        if (run->src1) {
            uint8_t flip = op == NPU_OP_AND ? UINT8_MAX : 0;
            decided = (uint8_t)((bits & (run->src0[i] ^ flip)) | (bits1 & (run->src1[i] ^ flip)));
        }
        npu_ub_define_bits(core, run->dst + i, (bits & bits1) | decided);
    }
}

/* An operand that the elements of a run are made of; `step` bytes for each. */
struct source {
    const char *operand;
    const uint8_t *at;
    uint32_t step;
};

static int list_sources(const struct execution *e, const struct npu_run *run, uint32_t dst_step, uint32_t src_step,
                        struct source sources[3])
{
    int count = 0;
    sources[count++] = (struct source){"src0", run->src0, src_step};
    if (run->src1)
        sources[count++] = (struct source){"src1", run->src1, src_step};
    if (e->reads_dst)
        sources[count++] = (struct source){"dst", run->dst, dst_step};
    return count;
}

/* The first source of which element i is undefined; NULL if there is none. */
static const struct source *undefined_source(const struct npu_core *core, const struct source *sources, int count,
                                             uint32_t i)
{
    for (const struct source *source = sources; source < sources + count; source++)
        if (!npu_ub_defined(core, source->at + (size_t)i * source->step, source->step))
            return source;
    return NULL;
}

/* Element by element, in pairs where an element is half a byte. */
static void move_definedness(struct npu_core *core, const struct npu_run *run, struct execution *e, uint32_t dst_bits,
                             uint32_t src_bits)
{
    uint32_t unit = dst_bits < 8 || src_bits < 8 ? 2 : 1, dst_step = unit * dst_bits / 8;
    struct source sources[3];
    int count = list_sources(e, run, dst_step, unit * src_bits / 8, sources);
    for (uint32_t i = 0; i < run->n / unit; i++) {
        uint8_t *dst = run->dst + (size_t)i * dst_step;
        const struct source *source = undefined_source(core, sources, count, i);
        if (!source) {
            npu_ub_define(core, dst, dst_step);
            continue;
        }
        undefined(core, e, source->operand, source->at + (size_t)i * source->step);
        npu_ub_undefine(core, dst, dst_step);
    }
}

static void execute_run(struct npu_core *core, const struct npu_insn *insn, const struct npu_regs *regs,
                        const struct npu_run *run, void *closure)
{
    (void)regs;
    struct execution *e = closure;
    uint32_t dst_bits = npu_element_bits(insn->dst_type), src_bits = npu_element_bits(insn->src_type);
    size_t dst_bytes = (size_t)run->n * dst_bits / 8, src_bytes = (size_t)run->n * src_bits / 8;
    bool by_bit = insn->op == NPU_OP_AND || insn->op == NPU_OP_OR || insn->op == NPU_OP_NOT;
    bool defined = npu_ub_defined(core, run->src0, src_bytes) &&
                   (!run->src1 || npu_ub_defined(core, run->src1, src_bytes)) &&
                   (!e->reads_dst || npu_ub_defined(core, run->dst, dst_bytes));
    if (!defined && by_bit) /* by the operands' values, which the result may overwrite */
        move_bits(core, (enum npu_op)insn->op, run, e, dst_bytes);
    e->loop(run, insn->scalar);
    if (defined)
        npu_ub_define(core, run->dst, dst_bytes);
    else if (!by_bit)
        move_definedness(core, run, e, dst_bits, src_bits);
}

void npu_vector_execute(struct npu_core *core, const struct npu_insn *insn, const struct npu_regs *regs, npu_loop *loop,
                        bool reads_dst)
{
    if (__builtin_expect(insn->flags & NPU_INSN_OVERLAP, false)) {
        npu_execute_apart(core, insn, regs, loop, reads_dst);
        return;
    }
    struct execution e = {loop, reads_dst, false};
    npu_lanes(core, insn, regs, execute_run, &e);
}
