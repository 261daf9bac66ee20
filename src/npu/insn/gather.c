/* Gather (elements by byte offsets) and GatherMask (elements by a bit pattern).
 *
 * asc-devkit docs, 基础API/Memory矢量计算/: 离散与聚合/Gather.md, 比较与选择/GatherMask.md. */
#include "npu/gm/shadow.h"
#include "npu/insn/insn.h"
#include "npu/insn/lanes.h"
#include "npu/isa.h"
#include "npu/report.h"

#include <string.h>

/* A value that was never written decides which bytes an instruction touches. */
static void undefined_address(struct npu_core *core, const char *operand, const void *at)
{
    npu_undefined_read(core, operand, at);
    npu_note(core, true, FAULT(undefined_address), operand, 0,
             "%s of %s holds bytes that were never written; they decide which elements are taken", operand,
             npu_isa[core->insn->op].name);
}

/* Gather. */
/* Offsets lie one after the other, one per element of a repeat, selected or not. */
static uint32_t last_lane(const struct npu_vector *v, uint32_t repeat)
{
    uint64_t mask[2];
    npu_vector_mask(v, repeat, mask);
    return mask[1] ? 127 - (uint32_t)__builtin_clzll(mask[1]) : 63 - (uint32_t)__builtin_clzll(mask[0]);
}

/* From srcBaseOffset to the end of the tensor, or of UB where the tensor's extent is not known. */
static uint64_t gather_source_end(const struct npu_core *core, const struct npu_insn *insn)
{
    uint64_t ub_end = (uint64_t)core->ub + core->ub_bytes, end = insn->src0.addr + insn->src0.bytes;
    return insn->src0.bytes && end < ub_end ? end : ub_end;
}

int npu_check_gather(struct npu_core *core, struct npu_insn *insn, const struct npu_regs *regs,
                     struct npu_access *accesses)
{
    insn->dst_blk = 1;
    uint32_t bits = npu_element_bits(insn->dst_type);
    struct npu_vector v = npu_vector_shape(insn, regs, bits);
    const struct npu_tensor source = insn->src0, where = insn->src1;
    int n = npu_check_vector(core, insn, regs, accesses, NULL, NULL);
    insn->src0 = source; /* which no lane reads, but those that the offsets name */
    insn->src1 = where;
    if (!n)
        return 0;
    npu_check_operand(core, &insn->src0, "src");
    npu_check_operand(core, &insn->src1, "srcOffset");
    uint64_t base = insn->src0.addr + (uint32_t)insn->scalar1, end = gather_source_end(core, insn);
    if (base >= end)
        npu_trap(core, FAULT(gather_offset), "srcBaseAddr", "srcBaseAddr %u lies beyond src, which has %llu bytes",
                 (uint32_t)insn->scalar1, (unsigned long long)(end - insn->src0.addr));
    uint32_t offsets = (v.repeats - 1) * v.per_repeat + last_lane(&v, v.repeats - 1) + 1;
    /* Which elements are read is known only when the offsets are: the whole rest of src may be. */
    accesses[n++] = (struct npu_access){.addr = base,
                                        .bytes = (uint32_t)(end - base),
                                        .count = 1,
                                        .count2 = 1,
                                        .flags = insn->src0.flags,
                                        .tensor = &insn->src0,
                                        .operand = "src"};
    accesses[n++] = (struct npu_access){.addr = insn->src1.addr,
                                        .bytes = offsets * sizeof(uint32_t),
                                        .count = 1,
                                        .count2 = 1,
                                        .flags = insn->src1.flags,
                                        .tensor = &insn->src1,
                                        .operand = "srcOffset"};
    return n;
}

struct gathering {
    uint64_t base, end;
    size_t size;
    bool reported, misaligned, undefined;
};

static void gather_one(struct npu_core *core, struct gathering *g, uint8_t *dst, const uint8_t *offset_at)
{
    uint32_t offset;
    memcpy(&offset, offset_at, sizeof offset);
    if (!npu_ub_defined(core, offset_at, sizeof offset)) {
        if (!g->undefined)
            undefined_address(core, "srcOffset", offset_at);
        g->undefined = true;
        npu_ub_undefine(core, dst, g->size);
        return;
    }
    uint64_t at = g->base + offset;
    if (at + g->size > g->end)
        npu_trap(core, FAULT(gather_offset), "srcOffset",
                 "offset %u of Gather lies beyond src: %llu bytes follow srcBaseAddr", offset,
                 (unsigned long long)(g->end - g->base));
    if (at % g->size) { /* the chip goes on with displaced data */
        if (!g->misaligned)
            npu_note(
                core, false, FAULT(gather_misaligned), "srcOffset", 0,
                "srcBaseAddr + offset is %llu, no multiple of the element's %zu bytes: the element taken is undefined",
                (unsigned long long)(at - g->base), g->size);
        g->misaligned = true;
        npu_ub_undefine(core, dst, g->size);
        return;
    }
    memcpy(dst, (const void *)at, g->size);
    if (npu_ub_defined(core, (const void *)at, g->size)) {
        npu_ub_define(core, dst, g->size);
        return;
    }
    npu_ub_undefine(core, dst, g->size);
    if (!g->reported)
        npu_undefined_read(core, "src", (const void *)at);
    g->reported = true;
}

void npu_exec_gather(struct npu_core *core, const struct npu_insn *insn, const struct npu_regs *regs)
{
    uint32_t bits = npu_element_bits(insn->dst_type);
    struct npu_vector v = npu_vector_shape(insn, regs, bits);
    struct gathering g = {
        .base = insn->src0.addr + (uint32_t)insn->scalar1, .end = gather_source_end(core, insn), .size = bits / 8};
    uint32_t rep = insn->form == NPU_FORM_COUNT ? NPU_REPEAT / NPU_BLOCK : insn->dst_rep;
    const uint8_t *offsets = (const uint8_t *)insn->src1.addr;
    for (uint32_t r = 0; r < v.repeats; r++) {
        uint64_t mask[2];
        npu_vector_mask(&v, r, mask);
        uint8_t *dst = (uint8_t *)insn->dst.addr + (size_t)r * rep * NPU_BLOCK;
        for (uint32_t i = 0; i < v.per_repeat; i++)
            if (npu_lane_selected(mask, i))
                gather_one(core, &g, dst + i * g.size, offsets + ((size_t)r * v.per_repeat + i) * sizeof(uint32_t));
    }
}

/* GatherMask. */
/* Elements that one repeat looks at: 256 bytes of them, or with reduceMode `mask`. */
static uint64_t per_repeat(const struct npu_insn *insn)
{
    if (insn->flags & NPU_INSN_REDUCE_MODE)
        return (uint32_t)insn->mask[0];
    return NPU_REPEAT / akgen_dtype_size(insn->src_type);
}

/* The fixed patterns: 1 even, 2 odd elements, 3..6 the first to fourth of four, 7 all. */
static bool pattern_takes(uint8_t pattern, uint64_t element)
{
    if (pattern <= 2)
        return element % 2 == pattern - 1u;
    return pattern == 7 || element % 4 == pattern - 3u;
}

static uint64_t kept_of(uint8_t pattern, uint64_t elements)
{
    if (pattern == 7)
        return elements;
    uint64_t period = pattern <= 2 ? 2 : 4, first = pattern <= 2 ? pattern - 1u : pattern - 3u;
    return elements / period + (elements % period > first);
}

/* Blocks of src0 in one repeat, whole ones and the part of the last. */
static int list_gather_source(const struct npu_insn *insn, uint64_t bytes, struct npu_access *accesses, int n)
{
    struct npu_access run = {.addr = insn->src0.addr,
                             .bytes = NPU_BLOCK,
                             .count = (uint32_t)(bytes / NPU_BLOCK),
                             .count2 = insn->repeat,
                             .stride = (int64_t)insn->src0_blk * NPU_BLOCK,
                             .stride2 = (int64_t)insn->src0_rep * NPU_BLOCK,
                             .flags = insn->src0.flags,
                             .tensor = &insn->src0,
                             .operand = "src0"};
    uint32_t rest = bytes % NPU_BLOCK;
    if (run.count)
        accesses[n++] = run;
    if (rest) {
        run.addr += run.count * run.stride;
        run.bytes = rest;
        run.count = 1;
        accesses[n++] = run;
    }
    return n;
}

static void check_gather_mask(struct npu_core *core, const struct npu_insn *insn)
{
    if (!(insn->flags & NPU_INSN_USER_PATTERN) && (insn->mode < 1 || insn->mode > 7))
        npu_trap(core, FAULT(gather_pattern), "src1Pattern",
                 "the fixed pattern of GatherMask is %u, the values are 1 to 7", insn->mode);
    if (insn->repeat > NPU_MAX_REPEAT)
        npu_trap(core, FAULT(vec_repeat), "repeatTimes", "GatherMask repeats %u times; the register holds 0 to 255",
                 insn->repeat);
    if (insn->flags & NPU_INSN_REDUCE_MODE) {
        uint64_t limit = core->ub_bytes / akgen_dtype_size(insn->src_type);
        if (!insn->mask[0] || insn->mask[0] > limit)
            npu_trap(core, FAULT(vec_mask), "mask",
                     "GatherMask with reduceMode takes %llu elements a repeat: 1 to %llu fit UB",
                     (unsigned long long)insn->mask[0], (unsigned long long)limit);
    }
    npu_check_operand(core, &insn->dst, "dst");
    npu_check_operand(core, &insn->src0, "src0");
    if (insn->flags & NPU_INSN_USER_PATTERN)
        npu_check_operand(core, &insn->src1, "src1Pattern");
}

int npu_check_gather_mask(struct npu_core *core, struct npu_insn *insn, const struct npu_regs *regs,
                          struct npu_access *accesses)
{
    /* A compiler instruction: in counter mode the mask register is the elements of a repeat. */
    if (insn->form == NPU_FORM_MASK_REG && regs->counter) {
        insn->flags |= NPU_INSN_REDUCE_MODE;
        insn->mask[0] = regs->mask[0];
    }
    check_gather_mask(core, insn);
    if (insn->flags & NPU_INSN_USER_PATTERN && akgen_dtype_size(insn->src1_type) != akgen_dtype_size(insn->src_type))
        npu_trap(core, FAULT(vec_dtype), "src1Pattern", "a pattern of %s for elements of %s; they have to be as wide",
                 akgen_dtype_name(insn->src1_type), akgen_dtype_name(insn->src_type));
    if (!insn->repeat)
        return 0;
    uint64_t size = akgen_dtype_size(insn->src_type), elements = per_repeat(insn);
    bool user = insn->flags & NPU_INSN_USER_PATTERN;
    /* A user's pattern is not known before it is executed: dst can be written up to its end at most. */
    uint64_t written = (user ? elements : kept_of(insn->mode, elements)) * insn->repeat * size;
    if (user && insn->dst.bytes && written > insn->dst.bytes)
        written = insn->dst.bytes;
    int n = list_gather_source(insn, elements * size, accesses, 0);
    if (written)
        accesses[n++] = (struct npu_access){.addr = insn->dst.addr,
                                            .bytes = (uint32_t)written,
                                            .count = 1,
                                            .count2 = 1,
                                            .write = true,
                                            .flags = insn->dst.flags,
                                            .tensor = &insn->dst,
                                            .operand = "dst"};
    if (user)
        accesses[n++] = (struct npu_access){.addr = insn->src1.addr,
                                            .bytes = (uint32_t)((elements + 7) / 8),
                                            .count = insn->repeat,
                                            .count2 = 1,
                                            .stride = (int64_t)insn->src1_rep * NPU_BLOCK,
                                            .flags = insn->src1.flags,
                                            .tensor = &insn->src1,
                                            .operand = "src1Pattern"};
    return n;
}

struct keeping {
    uint8_t *to, *end;
    bool reported;
};

static void keep(struct npu_core *core, struct keeping *k, const uint8_t *from, size_t size)
{
    if (k->to + size > k->end)
        npu_trap(core, FAULT(gather_mask_overflow), "dst",
                 "GatherMask keeps more elements than the %llu bytes of dst hold",
                 (unsigned long long)(k->end - (uint8_t *)core->insn->dst.addr));
    bool defined = npu_ub_defined(core, from, size);
    memmove(k->to, from, size); /* dst may be src0: an element never moves up */
    if (defined) {
        npu_ub_define(core, k->to, size);
    } else {
        npu_ub_undefine(core, k->to, size);
        if (!k->reported)
            npu_undefined_read(core, "src0", from);
        k->reported = true;
    }
    k->to += size;
}

void npu_exec_gather_mask(struct npu_core *core, const struct npu_insn *insn, const struct npu_regs *regs)
{
    (void)regs;
    size_t size = akgen_dtype_size(insn->src_type), per_block = NPU_BLOCK / size;
    uint64_t elements = per_repeat(insn);
    bool user = insn->flags & NPU_INSN_USER_PATTERN;
    uint8_t *dst = (uint8_t *)insn->dst.addr;
    struct keeping k = {dst, insn->dst.bytes ? dst + insn->dst.bytes : core->ub + core->ub_bytes, false};
    for (uint32_t r = 0; r < insn->repeat; r++) {
        const uint8_t *src = (const uint8_t *)insn->src0.addr + (size_t)r * insn->src0_rep * NPU_BLOCK;
        const uint8_t *bits = user ? (const uint8_t *)insn->src1.addr + (size_t)r * insn->src1_rep * NPU_BLOCK : NULL;
        if (user && !npu_ub_defined(core, bits, (elements + 7) / 8))
            undefined_address(core, "src1Pattern", bits);
        for (uint64_t e = 0; e < elements; e++)
            if (user ? bits[e / 8] >> e % 8 & 1 : pattern_takes(insn->mode, e))
                keep(core, &k, src + e / per_block * insn->src0_blk * NPU_BLOCK + e % per_block * size, size);
    }
    core->results.rsvd_count = (uint64_t)(k.to - dst) / size;
    /* Whole blocks are written: what follows the last element in its block is not described. */
    size_t rest = (size_t)-(uint64_t)k.to % NPU_BLOCK;
    if (rest > (size_t)(k.end - k.to))
        rest = (size_t)(k.end - k.to);
    if (k.to != dst && rest)
        npu_ub_undefine(core, k.to, rest);
}
