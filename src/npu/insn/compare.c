/* Compare and CompareScalar: one bit per element, the first in the lowest bit of a byte.
 *
 * With a destination the instruction ignores the mask, compares whole repeats of 256 bytes and writes their bits one
 * after the other. Without one it compares a single repeat under the mask into the CMPMASK register; bits that the mask
 * leaves out keep their value. int32 has only EQ: the device runs EQ whatever mode was asked for.
 * A NaN makes every comparison false, NE too (docs/zh/api/附录/Memory矢量计算接口边界值汇总, tables 30 and 31).
 * Sources: asc-devkit docs/zh/api/SIMD-API, Compare.md, Compares.md; impl/basic_api/dav_c220, Vcmpv. */
#include "npu/gm/shadow.h"
#include "npu/insn/insn.h"
#include "npu/insn/lanes.h"
#include "npu/isa.h"
#include "npu/report.h"

#include <inttypes.h>
#include <string.h>

enum compare_mode { COMPARE_LT, COMPARE_GT, COMPARE_EQ, COMPARE_LE, COMPARE_GE, COMPARE_NE, COMPARE_MODES };
static const char *const mode_names[COMPARE_MODES] = {"LT", "GT", "EQ", "LE", "GE", "NE"};

/* `blocks` blocks of 32 bytes, a and b each `step` bytes apart, to 32 / sizeof(element) bits each. */
typedef void compare_loop(uint8_t *dst, const uint8_t *a, size_t a_step, const uint8_t *b, size_t b_step,
                          uint32_t blocks);

#define LOOP(name, type, result)                                                                                       \
    static void name(uint8_t *dst, const uint8_t *a, size_t a_step, const uint8_t *b, size_t b_step, uint32_t blocks)  \
    {                                                                                                                  \
        for (uint32_t k = 0; k < blocks; k++, a += a_step, b += b_step) {                                              \
            const type *x = (const type *)a, *y = (const type *)b;                                                     \
            uint32_t bits = 0;                                                                                         \
            for (uint32_t i = 0; i < NPU_BLOCK / sizeof(type); i++)                                                    \
                bits |= (uint32_t)(result) << i;                                                                       \
            for (uint32_t i = 0; i < NPU_BLOCK / sizeof(type) / 8; i++)                                                \
                *dst++ = (uint8_t)(bits >> 8 * i);                                                                     \
        }                                                                                                              \
    }
#define LOOPS(name, type)                                                                                              \
    LOOP(name##_lt, type, x[i] < y[i])                                                                                 \
    LOOP(name##_gt, type, x[i] > y[i])                                                                                 \
    LOOP(name##_eq, type, x[i] == y[i])                                                                                \
    LOOP(name##_le, type, x[i] <= y[i])                                                                                \
    LOOP(name##_ge, type, x[i] >= y[i])                                                                                \
    LOOP(name##_ne, type, (x[i] < y[i]) | (x[i] > y[i]))                                                               \
    static compare_loop *const name[COMPARE_MODES] = {name##_lt, name##_gt, name##_eq, name##_le, name##_ge, name##_ne};
LOOPS(compare_f16, npu_f16)
LOOPS(compare_f32, npu_f32)
LOOP(compare_s32_eq, npu_s32, x[i] == y[i])

static compare_loop *find_loop(const struct npu_insn *insn)
{
    if (insn->src_type == AKGEN_INT32)
        return compare_s32_eq;
    return (insn->src_type == AKGEN_FLOAT ? compare_f32 : compare_f16)[insn->mode];
}

static bool to_register(const struct npu_insn *insn)
{
    return !insn->dst.addr;
}

/* The last repeat is compared in part: NPU_INSN_CUT. */
static bool is_cut(const struct npu_insn *insn)
{
    return insn->flags & NPU_INSN_CUT && insn->count % (NPU_REPEAT * 8 / npu_element_bits(insn->src_type));
}

/* Which elements take part: whole repeats for a destination, one masked repeat for the register. */
static struct npu_vector compare_shape(const struct npu_insn *insn, const struct npu_regs *regs)
{
    uint32_t bits = npu_element_bits(insn->src_type);
    if (to_register(insn)) {
        struct npu_insn one = *insn;
        one.repeat = 1;
        return npu_vector_shape(&one, regs, bits);
    }
    struct npu_vector v = {.per_repeat = NPU_REPEAT * 8 / bits, .mask = {UINT64_MAX, UINT64_MAX}};
    if (v.per_repeat <= 64)
        v.mask[1] = 0;
    v.repeats = insn->form == NPU_FORM_COUNT ? insn->count / v.per_repeat : insn->repeat;
    v.last = v.per_repeat;
    if (is_cut(insn)) {
        v.last = insn->count % v.per_repeat;
        v.repeats++;
    }
    return v;
}

/* Strides of a source in blocks: {between blocks, between repeats}. */
struct strides {
    uint32_t blk, rep;
};
static struct strides strides_of(const struct npu_insn *insn, int source)
{
    if (insn->form == NPU_FORM_COUNT)
        return (struct strides){1, NPU_REPEAT / NPU_BLOCK};
    return source ? (struct strides){insn->src1_blk, insn->src1_rep} : (struct strides){insn->src0_blk, insn->src0_rep};
}

static void check_mode(struct npu_core *core, const struct npu_insn *insn)
{
    const struct npu_isa_row *row = &npu_isa[insn->op];
    if (insn->mode >= COMPARE_MODES)
        npu_trap(core, FAULT(compare_mode), "cmpMode", "%s has no CMPMODE %d", row->name, insn->mode);
    if (insn->src_type == AKGEN_INT32 && insn->mode != COMPARE_EQ)
        npu_note(core, false, FAULT(compare_int32_mode), "cmpMode", 0,
                 "%s of int32 was asked for %s; the chip only has EQ for int32 and computes that", row->name,
                 mode_names[insn->mode]);
    npu_check_types(core, insn);
    if (to_register(insn)) {
        if (insn->src_type == AKGEN_INT32)
            npu_trap(core, FAULT(vec_dtype), "src0", "%s into the CMPMASK register takes half and float only",
                     row->name);
        return;
    }
    if (insn->form == NPU_FORM_COUNT)
        npu_check_count(core, insn, insn->count, npu_element_bits(insn->src_type));
    uint32_t per_repeat = NPU_REPEAT * 8 / npu_element_bits(insn->src_type);
    if (insn->form == NPU_FORM_COUNT && insn->count % per_repeat && !is_cut(insn))
        npu_note(core, false, FAULT(compare_count), "count", 0,
                 "%s of %" PRIu32 " elements: they must fill a multiple of 256 bytes (%" PRIu32
                 " elements); the last %" PRIu32 " are not compared",
                 row->name, insn->count, per_repeat, insn->count % per_repeat);
    if (insn->form != NPU_FORM_COUNT && insn->repeat > NPU_MAX_REPEAT)
        npu_trap(core, FAULT(vec_repeat), "repeatTime", "%s repeats %" PRIu32 " times; the register holds 0 to 255",
                 row->name, insn->repeat);
}

int npu_check_compare(struct npu_core *core, struct npu_insn *insn, const struct npu_regs *regs,
                      struct npu_access *accesses)
{
    check_mode(core, insn);
    uint32_t bits = npu_element_bits(insn->src_type);
    if (to_register(insn))
        npu_check_form(core, insn, regs, bits);
    struct npu_vector v = compare_shape(insn, regs);
    if (!v.repeats)
        return 0;
    int n = 0;
    if (!to_register(insn)) {
        npu_check_operand(core, &insn->dst, "dst");
        accesses[n++] = (struct npu_access){.addr = insn->dst.addr,
                                            .bytes = v.repeats * v.per_repeat / 8,
                                            .count = 1,
                                            .count2 = 1,
                                            .write = true,
                                            .flags = insn->dst.flags,
                                            .tensor = &insn->dst,
                                            .operand = "dst"};
    }
    struct strides s = strides_of(insn, 0);
    npu_check_operand(core, &insn->src0, "src0");
    n = npu_list_operand(accesses, n, &v, &insn->src0, bits, s.blk, s.rep, false, "src0");
    if (insn->flags & NPU_INSN_SCALAR_SRC1)
        return n;
    s = strides_of(insn, 1);
    npu_check_operand(core, &insn->src1, "src1");
    return npu_list_operand(accesses, n, &v, &insn->src1, bits, s.blk, s.rep, false, "src1");
}

/* A bit of the results is defined if the two elements behind it are. */
static void move_definedness(struct npu_core *core, uint8_t *dst, const uint8_t *a, const uint8_t *b, uint32_t size,
                             bool *reported)
{
    for (uint32_t i = 0; i < NPU_BLOCK / size / 8; i++) {
        uint8_t bits = 0;
        for (uint32_t k = 0; k < 8; k++) {
            size_t at = (i * 8 + k) * size;
            bool a_defined = npu_ub_defined(core, a + at, size);
            if (a_defined && (!b || npu_ub_defined(core, b + at, size))) {
                bits |= (uint8_t)(1 << k);
                continue;
            }
            if (!*reported)
                npu_undefined_read(core, a_defined ? "src1" : "src0", a_defined ? b + at : a + at);
            *reported = true;
        }
        npu_ub_define_bits(core, dst + i, bits);
    }
}

static void compare_to_register(struct npu_core *core, const struct npu_insn *insn, const struct npu_regs *regs,
                                compare_loop *loop)
{
    struct npu_vector v = compare_shape(insn, regs);
    uint32_t size = npu_element_bits(insn->src_type) / 8, per_block = NPU_BLOCK / size;
    bool reported = false;
    for (uint32_t block = 0; v.repeats && block < NPU_REPEAT / NPU_BLOCK; block++) {
        const uint8_t *a = (const uint8_t *)insn->src0.addr + (size_t)block * insn->src0_blk * NPU_BLOCK;
        const uint8_t *b = (const uint8_t *)insn->src1.addr + (size_t)block * insn->src1_blk * NPU_BLOCK;
        /* Only selected elements are read: the others may lie outside UB. */
        _Alignas(NPU_BLOCK) uint8_t x[NPU_BLOCK] = {0}, y[NPU_BLOCK] = {0}, result[2] = {0};
        for (uint32_t i = 0; i < per_block; i++) {
            if (!npu_lane_selected(v.mask, block * per_block + i))
                continue;
            memcpy(x + i * size, a + i * size, size);
            memcpy(y + i * size, b + i * size, size);
            bool a_defined = npu_ub_defined(core, a + i * size, size);
            if (!reported && (!a_defined || !npu_ub_defined(core, b + i * size, size))) {
                npu_undefined_read(core, a_defined ? "src1" : "src0", a_defined ? b + i * size : a + i * size);
                reported = true;
            }
        }
        loop(result, x, 0, y, 0, 1);
        for (uint32_t i = 0; i < per_block; i++) {
            uint32_t lane = block * per_block + i;
            if (!npu_lane_selected(v.mask, lane))
                continue;
            uint8_t bit = (uint8_t)(1 << lane % 8), *byte = &core->results.cmp_mask[lane / 8];
            *byte = result[i / 8] >> (i % 8) & 1 ? *byte | bit : *byte & (uint8_t)~bit;
        }
    }
}

/* The last `rest` elements of a cut comparison; the bits behind them become 0. */
static void compare_rest(struct npu_core *core, const struct npu_insn *insn, compare_loop *loop, uint8_t *dst,
                         const uint8_t *a, const uint8_t *b, uint32_t rest)
{
    uint32_t size = npu_element_bits(insn->src_type) / 8, bytes = NPU_REPEAT / size / 8;
    bool has_scalar = insn->flags & NPU_INSN_SCALAR_SRC1, reported = false;
    _Alignas(NPU_BLOCK) uint8_t x[NPU_REPEAT] = {0}, y[NPU_REPEAT] = {0};
    memcpy(x, a, (size_t)rest * size);
    memcpy(y, b, has_scalar ? NPU_BLOCK : (size_t)rest * size);
    loop(dst, x, NPU_BLOCK, y, has_scalar ? 0 : NPU_BLOCK, NPU_REPEAT / NPU_BLOCK);
    for (uint32_t i = 0; i < bytes; i++) {
        uint8_t defined = UINT8_MAX, inside = 0;
        for (uint32_t k = 0; k < 8 && i * 8 + k < rest; k++) {
            size_t at = (size_t)(i * 8 + k) * size;
            inside |= (uint8_t)(1 << k);
            if (npu_ub_defined(core, a + at, size) && (has_scalar || npu_ub_defined(core, b + at, size)))
                continue;
            defined &= (uint8_t)~(1 << k);
            if (!reported)
                npu_undefined_read(core, "src0", a + at);
            reported = true;
        }
        dst[i] &= inside;
        npu_ub_define_bits(core, dst + i, defined);
    }
}

void npu_exec_compare(struct npu_core *core, const struct npu_insn *insn, const struct npu_regs *regs)
{
    compare_loop *loop = find_loop(insn);
    if (to_register(insn)) {
        compare_to_register(core, insn, regs, loop);
        return;
    }
    enum { BLOCKS = NPU_REPEAT / NPU_BLOCK };
    struct npu_vector v = compare_shape(insn, regs);
    uint32_t size = npu_element_bits(insn->src_type) / 8, bytes = NPU_BLOCK / size / 8;
    bool has_scalar = insn->flags & NPU_INSN_SCALAR_SRC1, reported = false;
    _Alignas(NPU_BLOCK) uint8_t scalar[NPU_BLOCK];
    for (uint32_t i = 0; i < NPU_BLOCK / size; i++)
        memcpy(scalar + i * size, &insn->scalar, size);
    struct strides s0 = strides_of(insn, 0), s1 = has_scalar ? (struct strides){0, 0} : strides_of(insn, 1);
    const uint8_t *a = (const uint8_t *)insn->src0.addr, *b = has_scalar ? scalar : (const uint8_t *)insn->src1.addr;
    uint8_t *dst = (uint8_t *)insn->dst.addr;
    for (uint32_t r = 0; r < v.repeats; r++) {
        if (v.last < v.per_repeat && r + 1 == v.repeats) {
            compare_rest(core, insn, loop, dst, a, b, v.last);
            return;
        }
        loop(dst, a, (size_t)s0.blk * NPU_BLOCK, b, (size_t)s1.blk * NPU_BLOCK, BLOCKS);
        bool dense = s0.blk == 1 && (has_scalar || s1.blk == 1);
        if (dense && npu_ub_defined(core, a, NPU_REPEAT) && (has_scalar || npu_ub_defined(core, b, NPU_REPEAT)))
            npu_ub_define(core, dst, BLOCKS * bytes);
        else
            for (uint32_t k = 0; k < BLOCKS; k++)
                move_definedness(core, dst + k * bytes, a + (size_t)k * s0.blk * NPU_BLOCK,
                                 has_scalar ? NULL : b + (size_t)k * s1.blk * NPU_BLOCK, size, &reported);
        dst += BLOCKS * bytes;
        a += (size_t)s0.rep * NPU_BLOCK;
        b += (size_t)s1.rep * NPU_BLOCK;
    }
}
