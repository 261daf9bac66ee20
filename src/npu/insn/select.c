/* Select: an element of src0 where a bit of selMask is 1, else of src1 or a scalar.
 *
 * Mode 0 (VSEL_CMPMASK_SPR) loads the bits of one repeat into CMPMASK and uses them in every repeat; without selMask
 * the register decides as it is. Modes 1 (tensor, scalar) and 2 (two tensors) take the bits of selMask one repeat after
 * another. Mode 1 without a scalar takes it from CMPMASK, where SetCmpMask put it; mode 2 without selMask takes its
 * address from there, whose low 32 bits the kernel has put there (SetCmpMask.md, example).
 *
 * Modes 1 and 2 need the last 8 KB of UB (docs Select, constraints): the scalar, or the address of selMask, goes to
 * CMPMASK by way of 32 elements at its start (asc-devkit's impl/basic_api/dav_c220). What a kernel keeps there is lost.
 * Source: asc-devkit docs/zh/api/SIMD-API, Select.md. */
#include "npu/gm/shadow.h"
#include "npu/insn/insn.h"
#include "npu/insn/overlap.h"
#include "npu/insn/reserved.h"
#include "npu/report.h"

#include <assert.h>
#include <string.h>

enum select_mode { SELECT_CMPMASK, SELECT_TENSOR_SCALAR, SELECT_TENSOR_TENSOR, SELECT_MODES };

enum { RESERVED_ELEMENTS = 32 };

static bool has_src1(const struct npu_insn *insn)
{
    return insn->mode != SELECT_TENSOR_SCALAR;
}

/* Bytes of the reserved UB that the call overwrites. */
static uint32_t reserved_bytes(const struct npu_insn *insn)
{
    if (insn->flags & NPU_INSN_OWN_CMPMASK || insn->mode == SELECT_CMPMASK)
        return 0;
    if (insn->mode == SELECT_TENSOR_TENSOR)
        return RESERVED_ELEMENTS * sizeof(uint32_t);
    return insn->flags & NPU_INSN_SCALAR_SRC1 ? RESERVED_ELEMENTS * npu_element_bits(insn->src_type) / 8 : 0;
}

/* selMask at the address in CMPMASK. What comes before this instruction has been executed (issue.c). */
static struct npu_tensor addressed_mask(struct npu_core *core)
{
    uint32_t low;
    memcpy(&low, core->results.cmp_mask, sizeof low);
    uint32_t offset = low - (uint32_t)(uint64_t)core->ub; /* of a pointer's low bits */
    if (offset >= core->ub_bytes)
        offset = low; /* an offset in UB */
    if (offset >= core->ub_bytes)
        npu_trap(core, FAULT(select_mode), "mask",
                 "Select in mode 2 without selMask takes its address from CMPMASK, which holds 0x%x: no address in "
                 "Unified Buffer; SetCmpMask takes a tensor with it",
                 low);
    return (struct npu_tensor){.addr = (uint64_t)core->ub + offset,
                               .bytes = core->ub_bytes - offset,
                               .position = NPU_VECCALC,
                               .flags = NPU_TENSOR_RAW};
}

int npu_check_select(struct npu_core *core, struct npu_insn *insn, const struct npu_regs *regs,
                     struct npu_access *accesses)
{
    if (insn->mode >= SELECT_MODES)
        npu_trap(core, FAULT(select_mode), "selMode", "Select has no SELMODE %d", insn->mode);
    if (!insn->aux.addr && insn->mode == SELECT_TENSOR_SCALAR)
        npu_trap(core, FAULT(select_mode), "mask", "Select in mode 1 needs selMask; CMPMASK holds the scalar");
    if (!insn->aux.addr && insn->mode == SELECT_TENSOR_TENSOR) {
        insn->aux = addressed_mask(core);
        insn->flags |= NPU_INSN_OWN_CMPMASK;
    }
    int n = npu_check_vector(core, insn, regs, accesses, "src0", has_src1(insn) ? "src1" : NULL);
    if (!insn->aux.addr || !n)
        return n;
    struct npu_vector v = npu_vector_shape(insn, regs, npu_element_bits(insn->src_type));
    npu_check_operand(core, &insn->aux, "mask");
    uint32_t end = v.repeats == 1 ? v.last : v.per_repeat;
    while (!npu_lane_selected(v.mask, end - 1))
        end--;
    uint32_t elements = insn->mode == SELECT_CMPMASK || v.repeats == 1 ? end
                        : v.last < v.per_repeat                        ? (v.repeats - 1) * v.per_repeat + v.last
                                                                       : (v.repeats - 1) * v.per_repeat + end;
    npu_find_overlap_with(insn, &v, insn->aux.addr, (elements + 7) / 8);
    accesses[n++] = (struct npu_access){.addr = insn->aux.addr,
                                        .bytes = (elements + 7) / 8,
                                        .count = 1,
                                        .count2 = 1,
                                        .flags = insn->aux.flags,
                                        .tensor = &insn->aux,
                                        .operand = "mask"};
    return reserved_bytes(insn) ? npu_list_reserved(core, accesses, n, reserved_bytes(insn)) : n;
}

/* One instruction in progress. */
struct selection {
    struct npu_core *core;
    const uint8_t *bits;   /* selMask, or a copy of CMPMASK */
    const uint8_t *scalar; /* 32 bytes of the scalar when there is no src1 */
    uint32_t size;         /* bytes of an element */
    bool track;            /* something read is undefined: look at every element */
    bool bits_in_ub;
    bool reported;
};

static void report(struct selection *s, const char *operand, const void *at)
{
    if (!s->reported)
        npu_undefined_read(s->core, operand, at);
    s->reported = true;
}

/* The definedness of one element: of its bit and of the chosen source; the other source does not count. */
static void track_element(struct selection *s, uint8_t *dst, uint32_t bit, const char *operand, const uint8_t *chosen)
{
    const uint8_t *bit_byte = s->bits + bit / 8;
    bool bit_defined = !s->bits_in_ub || npu_ub_bits(s->core, bit_byte) >> (bit % 8) & 1;
    if (bit_defined && (!operand || npu_ub_defined(s->core, chosen, s->size))) {
        npu_ub_define(s->core, dst, s->size);
        return;
    }
    report(s, bit_defined ? operand : "mask", bit_defined ? chosen : bit_byte);
    npu_ub_undefine(s->core, dst, s->size);
}

/* n elements that are consecutive in every operand; the first one's bit is number `bit`. */
static void select_run(struct selection *s, uint8_t *dst, const uint8_t *a, const uint8_t *b, uint32_t bit, uint32_t n)
{
    uint32_t step = s->scalar ? 0 : s->size;
    for (uint32_t i = 0; i < n; i++) {
        const uint8_t *byte = s->bits + (bit + i) / 8;
        bool first = *byte >> ((bit + i) % 8) & 1;
        const uint8_t *chosen = first ? a + (size_t)i * s->size : b + (size_t)i * step;
        if (s->track)
            track_element(s, dst + (size_t)i * s->size, bit + i, first ? "src0" : s->scalar ? NULL : "src1", chosen);
        memcpy(dst + (size_t)i * s->size, chosen, s->size);
    }
}

/* The fast path: as select_run on 32- and 16-bit elements when nothing has to be tracked. */
static void select_run_f32(const struct selection *s, uint8_t *dst, const uint8_t *a, const uint8_t *b, uint32_t bit,
                           uint32_t n)
{
    npu_u32 *to = (npu_u32 *)dst;
    const npu_u32 *x = (const npu_u32 *)a, *y = (const npu_u32 *)b;
    uint32_t step = s->scalar ? 0 : 1;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t first = x[i], second = y[i * step];
        to[i] = s->bits[(bit + i) / 8] >> ((bit + i) % 8) & 1 ? first : second;
    }
}

static void select_run_f16(const struct selection *s, uint8_t *dst, const uint8_t *a, const uint8_t *b, uint32_t bit,
                           uint32_t n)
{
    npu_u16 *to = (npu_u16 *)dst;
    const npu_u16 *x = (const npu_u16 *)a, *y = (const npu_u16 *)b;
    uint32_t step = s->scalar ? 0 : 1;
    for (uint32_t i = 0; i < n; i++) {
        uint16_t first = x[i], second = y[i * step];
        to[i] = s->bits[(bit + i) / 8] >> ((bit + i) % 8) & 1 ? first : second;
    }
}

static void run_block(struct selection *s, uint8_t *dst, const uint8_t *a, const uint8_t *b, uint32_t bit, uint32_t n)
{
    if (s->track)
        select_run(s, dst, a, b, bit, n);
    else if (s->size == 4)
        select_run_f32(s, dst, a, b, bit, n);
    else
        select_run_f16(s, dst, a, b, bit, n);
}

/* Block by block, in the order of the hardware. */
static void walk(struct selection *s, const struct npu_insn *insn, const struct npu_vector *v)
{
    assert(s->size == 2 || s->size == 4);
    bool level2 = insn->form == NPU_FORM_COUNT, one_mask = insn->mode == SELECT_CMPMASK;
    uint32_t per_block = NPU_BLOCK / s->size;
    size_t dst_blk = level2 ? 1 : insn->dst_blk, a_blk = level2 ? 1 : insn->src0_blk,
           b_blk = level2 ? 1 : insn->src1_blk;
    size_t dst_rep = level2 ? 8 : insn->dst_rep, a_rep = level2 ? 8 : insn->src0_rep,
           b_rep = level2 ? 8 : insn->src1_rep;
    if (s->scalar)
        b_blk = b_rep = 0;
    for (uint32_t r = 0; r < v->repeats; r++) {
        uint64_t mask[2];
        npu_vector_mask(v, r, mask);
        for (uint32_t lane = 0; lane < v->per_repeat;) {
            uint32_t n = 0, block = lane / per_block, to_seam = per_block - lane % per_block;
            while (n < to_seam && npu_lane_selected(mask, lane + n))
                n++;
            if (n) {
                size_t within = (size_t)(lane % per_block) * s->size;
                const uint8_t *b =
                    s->scalar ? s->scalar
                              : (const uint8_t *)insn->src1.addr + (r * b_rep + block * b_blk) * NPU_BLOCK + within;
                run_block(s, (uint8_t *)insn->dst.addr + (r * dst_rep + block * dst_blk) * NPU_BLOCK + within,
                          (const uint8_t *)insn->src0.addr + (r * a_rep + block * a_blk) * NPU_BLOCK + within, b,
                          (one_mask ? 0 : r * v->per_repeat) + lane, n);
            }
            lane += n ? n : 1;
        }
    }
}

/* One element as it will be written. */
struct chosen {
    uint8_t *dst;
    uint8_t value[sizeof(uint32_t)];
    bool defined;
};

/* Element i of repeat r, which is number `at` of a run; its bit is number `bit` of the mask. */
static struct chosen choose(struct selection *s, struct npu_overlap *overlap, const struct npu_run *run, uint32_t at,
                            uint32_t r, uint32_t i, uint32_t bit)
{
    const uint8_t *mask = s->bits + bit / 8;
    bool first = *mask >> (bit % 8) & 1;
    size_t offset = (size_t)at * s->size;
    const uint8_t *from = first ? run->src0 + offset : s->scalar ? s->scalar : run->src1 + offset;
    struct chosen chosen = {.dst = run->dst + offset};
    memcpy(chosen.value, from, s->size);
    bool constant = s->scalar && !first;
    bool bit_defined = !s->bits_in_ub || npu_ub_bits(s->core, mask) >> (bit % 8) & 1;
    chosen.defined = bit_defined && (constant || npu_ub_defined(s->core, from, s->size));
    if (!chosen.defined)
        report(s, !bit_defined ? "mask" : first ? "src0" : "src1", bit_defined ? from : mask);
    if (s->bits_in_ub && npu_overlap_spoils(overlap, r, i, 2, mask, 1))
        chosen.defined = false;
    if (!constant && npu_overlap_spoils(overlap, r, i, !first, from, s->size))
        chosen.defined = false;
    return chosen;
}

/* Where dst and what is read have bytes in common: every repeat reads before it writes. */
static void walk_apart(struct selection *s, const struct npu_insn *insn, const struct npu_regs *regs)
{
    struct npu_walk walk = npu_walk_of(insn, regs);
    struct npu_overlap *overlap = npu_overlap_begin(insn, &walk.v);
    struct npu_run run;
    for (uint32_t r = 0; r < walk.v.repeats; r++) {
        struct chosen chosen[128];
        uint64_t mask[2];
        uint32_t n = 0, base = insn->mode == SELECT_CMPMASK ? 0 : r * walk.v.per_repeat;
        npu_vector_mask(&walk.v, r, mask);
        for (uint32_t lane = 0; npu_walk_next(&walk, r, mask, &lane, &run);)
            for (uint32_t i = 0; i < run.n; i++)
                npu_overlap_write(overlap, r, n++, run.dst + (size_t)i * s->size, s->size);
        n = 0;
        for (uint32_t lane = 0; npu_walk_next(&walk, r, mask, &lane, &run);)
            for (uint32_t i = 0; i < run.n; i++, n++)
                chosen[n] = choose(s, overlap, &run, i, r, n, base + lane - run.n + i);
        for (uint32_t i = 0; i < n; i++) {
            memcpy(chosen[i].dst, chosen[i].value, s->size);
            if (chosen[i].defined)
                npu_ub_define(s->core, chosen[i].dst, s->size);
            else
                npu_ub_undefine(s->core, chosen[i].dst, s->size);
        }
    }
    npu_overlap_end(s->core, overlap);
}

/* Elements are consecutive in every operand and none is left out. */
static bool dense(const struct selection *s, const struct npu_insn *insn, const struct npu_vector *v)
{
    enum { BLOCKS = NPU_REPEAT / NPU_BLOCK };
    if (insn->form == NPU_FORM_COUNT)
        return true;
    return npu_vector_whole(v) && insn->dst_blk == 1 && insn->dst_rep == BLOCKS && insn->src0_blk == 1 &&
           insn->src0_rep == BLOCKS && (s->scalar || (insn->src1_blk == 1 && insn->src1_rep == BLOCKS));
}

/* Everything that is read is defined: one look instead of one per element. */
static bool wholly_defined(const struct selection *s, const struct npu_insn *insn, const struct npu_vector *v,
                           uint32_t elements)
{
    size_t bytes = (size_t)elements * s->size;
    uint32_t bits = insn->mode == SELECT_CMPMASK && elements > v->per_repeat ? v->per_repeat : elements;
    return dense(s, insn, v) && npu_ub_defined(s->core, (const void *)insn->src0.addr, bytes) &&
           (s->scalar || npu_ub_defined(s->core, (const void *)insn->src1.addr, bytes)) &&
           (!s->bits_in_ub || npu_ub_defined(s->core, s->bits, (bits + 7) / 8));
}

/* What the call puts into CMPMASK by way of the reserved UB: 32 times the scalar, or the address of selMask. */
static void use_reserved_ub(struct npu_core *core, const struct npu_insn *insn, const struct selection *s)
{
    uint32_t bytes = reserved_bytes(insn), size = insn->mode == SELECT_TENSOR_SCALAR ? s->size : sizeof(uint32_t);
    uint32_t address = (uint32_t)(insn->aux.addr - (uint64_t)core->ub);
    uint8_t values[RESERVED_ELEMENTS * sizeof(uint32_t)];
    for (uint32_t at = 0; at < bytes; at += size)
        memcpy(values + at, insn->mode == SELECT_TENSOR_SCALAR ? (const void *)&insn->scalar : &address, size);
    if (bytes)
        npu_write_reserved(core, values, bytes,
                           insn->mode == SELECT_TENSOR_SCALAR ? "Select in mode 1" : "Select in mode 2");
}

void npu_exec_select(struct npu_core *core, const struct npu_insn *insn, const struct npu_regs *regs)
{
    struct npu_vector v = npu_vector_shape(insn, regs, npu_element_bits(insn->src_type));
    if (!v.repeats)
        return;
    struct selection s = {
        .core = core, .size = npu_element_bits(insn->src_type) / 8, .bits_in_ub = insn->aux.addr != 0};
    s.bits = insn->aux.addr ? (const uint8_t *)insn->aux.addr : core->results.cmp_mask;
    _Alignas(NPU_BLOCK) uint8_t scalar[NPU_BLOCK];
    if (!has_src1(insn)) {
        const void *value = insn->flags & NPU_INSN_SCALAR_SRC1 ? (const void *)&insn->scalar : core->results.cmp_mask;
        for (uint32_t i = 0; i < NPU_BLOCK / s.size; i++)
            memcpy(scalar + i * s.size, value, s.size);
        s.scalar = scalar;
    }
    use_reserved_ub(core, insn, &s);
    uint32_t elements = (v.repeats - 1) * v.per_repeat + v.last;
    s.track = !wholly_defined(&s, insn, &v, elements);
    if (insn->flags & NPU_INSN_OVERLAP) {
        walk_apart(&s, insn, regs);
    } else {
        walk(&s, insn, &v);
        if (!s.track)
            npu_ub_define(core, (void *)insn->dst.addr, (size_t)elements * s.size);
    }
    if (insn->mode == SELECT_CMPMASK && insn->aux.addr)
        memcpy(core->results.cmp_mask, s.bits, v.per_repeat / 8);
}
