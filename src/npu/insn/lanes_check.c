/* What every vector instruction must satisfy, and which bytes it touches. See lanes.h. */
#include "npu/insn/overlap.h"
#include "npu/isa.h"
#include "npu/memory.h"
#include "npu/report.h"

#include <inttypes.h>

void npu_check_operand(struct npu_core *core, const struct npu_tensor *tensor, const char *operand)
{
    const char *name = npu_isa[core->insn->op].name;
    if (!npu_in_ub(core, tensor->addr) && !npu_position_on_ub(tensor->position))
        npu_trap(
            core, FAULT(vec_position), operand,
            "%s reads and writes Unified Buffer only, but %s does not lie in it (position %d); a vector instruction "
            "takes tensors of VECIN, VECOUT or VECCALC",
            name, operand, tensor->position);
    uint64_t offset = tensor->addr - (uint64_t)core->ub;
    if (offset % NPU_BLOCK)
        npu_trap(core, FAULT(vec_alignment), operand,
                 "%s of %s starts at UB byte %" PRIu64 ", which is no multiple of 32; operands start on 32-byte blocks",
                 operand, name, offset);
}

void npu_check_types(struct npu_core *core, const struct npu_insn *insn)
{
    const struct npu_isa_row *row = &npu_isa[insn->op];
    if (insn->src_type >= AKGEN_DTYPE_CODES || !(row->types >> insn->src_type & 1))
        npu_trap(core, FAULT(vec_dtype), "src0", "%s has no %s form on this chip", row->name,
                 akgen_dtype_name((enum akgen_dtype)insn->src_type));
}

/* Normal mode. Docs SIMD计算说明/掩码, table 5: a mask beyond the maximum counts as the maximum, a mask that selects
 * nothing leaves dst as it is. npu_vector_shape does so; here the author hears of it. */
static void check_mask(struct npu_core *core, const struct npu_insn *insn, uint32_t per_repeat)
{
    const char *name = npu_isa[insn->op].name;
    if (insn->form == NPU_FORM_MASK_LEN) {
        if (!insn->mask[0] || insn->mask[0] > per_repeat)
            npu_note(core, false, FAULT(vec_mask), "mask", 0,
                     "the mask of %s is %" PRIu64 " elements; one repeat takes 1 to %" PRIu32 " of this type: %s", name,
                     insn->mask[0], per_repeat, insn->mask[0] ? "the rest is ignored" : "nothing is done");
    } else if (insn->form == NPU_FORM_MASK_BITS) {
        uint64_t low = per_repeat >= 64 ? insn->mask[0] : insn->mask[0] & ((UINT64_C(1) << per_repeat) - 1);
        if (!low && (per_repeat <= 64 || !insn->mask[1]))
            npu_note(core, false, FAULT(vec_mask), "mask", 0,
                     "the mask of %s selects none of the %" PRIu32 " elements of a repeat: nothing is done", name,
                     per_repeat);
        else if (low != insn->mask[0] || (per_repeat <= 64 && insn->mask[1]))
            npu_note(core, false, FAULT(vec_mask), "mask", 0,
                     "the mask of %s has bits beyond element %" PRIu32 " of a repeat; the chip ignores them", name,
                     per_repeat - 1);
    }
}

void npu_check_count(struct npu_core *core, const struct npu_insn *insn, uint64_t count, uint32_t bits)
{
    if (count > (uint64_t)core->ub_bytes * 8 / bits)
        npu_trap(core, FAULT(vec_count), "count",
                 "%s of %" PRIu64 " elements: %" PRIu32 " of them fill the whole Unified Buffer (a negative count?)",
                 npu_isa[insn->op].name, count, core->ub_bytes * 8 / bits);
}

void npu_check_form(struct npu_core *core, const struct npu_insn *insn, const struct npu_regs *regs, uint32_t bits)
{
    npu_check_types(core, insn);
    uint32_t per_repeat = bits < 16 ? 128 : NPU_REPEAT * 8 / bits;
    if (insn->form == NPU_FORM_COUNT || regs->counter) {
        const uint64_t *mask = insn->form == NPU_FORM_MASK_REG ? regs->mask : insn->mask;
        npu_check_count(core, insn, insn->form == NPU_FORM_COUNT ? insn->count : mask[0], bits);
        return;
    }
    check_mask(core, insn, per_repeat);
    if (insn->repeat > NPU_MAX_REPEAT)
        npu_trap(core, FAULT(vec_repeat), "repeatTime", "%s repeats %" PRIu32 " times; the register holds 0 to 255",
                 npu_isa[insn->op].name, insn->repeat);
}

/* Footprints. */
struct footprint {
    struct npu_access *accesses;
    int n;
    struct npu_access like; /* what all accesses of the operand share */
};

static void add(struct footprint *f, uint64_t addr, uint32_t bytes, uint32_t count, int64_t stride, uint32_t count2,
                int64_t stride2)
{
    struct npu_access *a = &f->accesses[f->n++];
    *a = f->like;
    a->addr = addr;
    a->bytes = bytes;
    a->count = count;
    a->stride = stride;
    a->count2 = count2;
    a->stride2 = stride2;
}

/* The first `lanes` elements of `repeats` repeats: whole blocks, then the part of a block that is left. */
static void add_prefix(struct footprint *f, uint64_t addr, uint32_t lanes, uint32_t bits, uint32_t blk, uint32_t rep,
                       uint32_t repeats)
{
    uint32_t bytes = (lanes * bits + 7) / 8;
    if (blk == 1 || bytes <= NPU_BLOCK) {
        add(f, addr, bytes, repeats, (int64_t)rep * NPU_BLOCK, 1, 0);
        return;
    }
    uint32_t blocks = bytes / NPU_BLOCK, rest = bytes % NPU_BLOCK;
    add(f, addr, NPU_BLOCK, blocks, (int64_t)blk * NPU_BLOCK, repeats, (int64_t)rep * NPU_BLOCK);
    if (rest)
        add(f, addr + (uint64_t)blocks * blk * NPU_BLOCK, rest, repeats, (int64_t)rep * NPU_BLOCK, 1, 0);
}

/* A mask with holes: per block from its first to its last element; more than four stretches become one range. */
static void add_scattered(struct footprint *f, uint64_t addr, const struct npu_vector *v, uint32_t bits, uint32_t blk,
                          uint32_t rep)
{
    enum { STRETCHES = 4 };
    struct {
        uint64_t from, to;
    } stretch[STRETCHES + 1];
    int n = 0;
    uint64_t low = UINT64_MAX, high = 0;
    for (uint32_t lane = 0; lane < v->per_repeat; lane++) {
        if (!npu_lane_selected(v->mask, lane))
            continue;
        uint64_t bit = (uint64_t)lane * bits, block = bit / (NPU_BLOCK * 8) * blk * NPU_BLOCK;
        uint64_t from = block + bit % (NPU_BLOCK * 8) / 8, to = from + (bits + 7) / 8;
        low = from < low ? from : low;
        high = to > high ? to : high;
        bool same_block = n && stretch[n - 1].to > block && from >= stretch[n - 1].from;
        if (n && (same_block || stretch[n - 1].to == from))
            stretch[n - 1].to = to > stretch[n - 1].to ? to : stretch[n - 1].to;
        else if (n <= STRETCHES)
            stretch[n].from = from, stretch[n].to = to, n++;
    }
    if (n > STRETCHES) {
        n = 1;
        stretch[0].from = low;
        stretch[0].to = high;
    }
    for (int i = 0; i < n; i++)
        add(f, addr + stretch[i].from, (uint32_t)(stretch[i].to - stretch[i].from), v->repeats,
            (int64_t)rep * NPU_BLOCK, 1, 0);
}

int npu_list_operand(struct npu_access *accesses, int n, const struct npu_vector *v, const struct npu_tensor *tensor,
                     uint32_t bits, uint32_t blk, uint32_t rep, bool write, const char *operand)
{
    struct footprint f = {accesses, n, {.write = write, .flags = tensor->flags, .tensor = tensor, .operand = operand}};
    uint32_t repeat_bytes = v->per_repeat * bits / 8;
    uint32_t lanes = 0; /* selected ones from the start */
    while (lanes < v->per_repeat && npu_lane_selected(v->mask, lanes))
        lanes++;
    uint32_t ones = (uint32_t)(__builtin_popcountll(v->mask[0]) + __builtin_popcountll(v->mask[1]));
    if (ones != lanes) {
        add_scattered(&f, tensor->addr, v, bits, blk, rep);
        return f.n;
    }
    bool dense = (blk == 1 || repeat_bytes <= NPU_BLOCK) && (uint64_t)rep * NPU_BLOCK == repeat_bytes;
    if (lanes == v->per_repeat && dense) {
        uint64_t elements = (uint64_t)(v->repeats - 1) * v->per_repeat + v->last;
        add(&f, tensor->addr, (uint32_t)((elements * bits + 7) / 8), 1, 0, 1, 0);
        return f.n;
    }
    bool cut = v->last < v->per_repeat;
    uint32_t whole = v->repeats - cut;
    if (whole)
        add_prefix(&f, tensor->addr, lanes, bits, blk, rep, whole);
    if (cut)
        add_prefix(&f, tensor->addr + (uint64_t)whole * rep * NPU_BLOCK, v->last, bits, blk, rep, 1);
    return f.n;
}

static bool beyond_first_block(const struct npu_vector *v, uint32_t bits)
{
    uint32_t lanes = NPU_BLOCK * 8 / bits;
    return v->mask[1] || (lanes < 64 && v->mask[0] >> lanes);
}

int npu_check_vector(struct npu_core *core, struct npu_insn *insn, const struct npu_regs *regs,
                     struct npu_access *accesses, const char *src0, const char *src1)
{
    uint32_t dst_bits = npu_element_bits(insn->dst_type), src_bits = npu_element_bits(insn->src_type);
    uint32_t bits = dst_bits > src_bits ? dst_bits : src_bits;
    npu_check_form(core, insn, regs, bits);
    struct npu_vector v = npu_vector_shape(insn, regs, bits);
    if (!v.repeats)
        return 0;
    bool level2 = insn->form == NPU_FORM_COUNT;
    npu_check_operand(core, &insn->dst, "dst");
    if (!level2 && !insn->dst_blk && beyond_first_block(&v, dst_bits))
        npu_trap(core, FAULT(vec_stride), "dst",
                 "%s writes its blocks to one place: dstBlkStride is 0, it must be 1 or more", npu_isa[insn->op].name);
    struct {
        const char *name;
        struct npu_tensor *tensor;
        uint32_t blk, rep;
    } source[2] = {{src0, &insn->src0, insn->src0_blk, insn->src0_rep},
                   {src1, &insn->src1, insn->src1_blk, insn->src1_rep}};
    uint32_t dst_rep = level2 ? v.per_repeat * dst_bits / 8 / NPU_BLOCK : insn->dst_rep;
    uint32_t src_rep = v.per_repeat * src_bits / 8 / NPU_BLOCK;
    npu_find_overlap(core, insn, &v, src0 != NULL, src1 != NULL);
    int n = npu_list_operand(accesses, 0, &v, &insn->dst, dst_bits, level2 ? 1 : insn->dst_blk, dst_rep, true, "dst");
    for (int i = 0; i < 2; i++) {
        if (!source[i].name) {
            source[i].tensor->addr = 0; /* no source, whatever the kernel says */
            continue;
        }
        npu_check_operand(core, source[i].tensor, source[i].name);
        n = npu_list_operand(accesses, n, &v, source[i].tensor, src_bits, level2 ? 1 : source[i].blk,
                             level2 ? src_rep : source[i].rep, false, source[i].name);
    }
    return n;
}

int npu_list_dst_as_source(struct npu_access *accesses, int n)
{
    int written = 0;
    while (written < n && accesses[written].write)
        written++;
    for (int i = 0; i < written; i++) {
        accesses[n] = accesses[i];
        accesses[n++].write = false;
    }
    return n;
}
