/* CastDequant of int16: x * scale + offset, rounded to nearest even, saturated to int8 (sign mode) or uint8. The scale,
 * offset and sign mode come from the DEQSCALE register, or (vector mode) from the sixteen 64-bit words whose UB block
 * the register names: word i for element i of every block.
 *
 * A source block of sixteen int16 becomes half a destination block: its upper 16 bytes with halfBlock, else its lower
 * ones; the other half keeps what it holds. Sources: asc-devkit docs, 复合计算/CastDequant (example), SetDeqScale; the
 * register's fields: impl/basic_api/dav_c220, SetDeqScale. */
#include "npu/gm/shadow.h"
#include "npu/insn/insn.h"
#include "npu/insn/lanes.h"
#include "npu/memory.h"
#include "npu/report.h"

#include <string.h>

enum { PER_BLOCK = 16, HALF_BLOCK = 16, DEQ_WORDS = 16 };
/* insn->mode */
enum { DEQ_VECTOR = 1, DEQ_UPPER = 2 };

struct deq_config {
    float scale;
    int offset;       /* 9 bits, signed */
    bool signed_mode; /* int8, else uint8 */
};

static struct deq_config deq_config(uint64_t word)
{
    struct deq_config config = {.offset = (int)(word >> 37 & 0x1ff), .signed_mode = word >> 46 & 1};
    uint32_t bits = (uint32_t)word;
    memcpy(&config.scale, &bits, sizeof bits);
    if (config.offset > 0xff)
        config.offset -= 0x200;
    return config;
}

static uint8_t dequantize(const struct deq_config *config, int16_t value)
{
    float x = (float)value * config->scale + (float)config->offset;
    float low = config->signed_mode ? INT8_MIN : 0, high = config->signed_mode ? INT8_MAX : UINT8_MAX;
    x = x != x ? 0 : x < low ? low : x > high ? high : __builtin_elementwise_roundeven(x);
    return (uint8_t)(int)x;
}

static uint64_t deq_table(const struct npu_regs *regs)
{
    return regs->deq_scale * NPU_BLOCK;
}

int npu_check_dequant(struct npu_core *core, struct npu_insn *insn, const struct npu_regs *regs,
                      struct npu_access *accesses)
{
    if (insn->dst_type != AKGEN_INT8 && insn->dst_type != AKGEN_UINT8)
        npu_trap(core, FAULT(vec_dtype), "dst", "CastDequant of int16 writes int8 or uint8");
    if (insn->form == NPU_FORM_COUNT)
        insn->dst_blk = insn->src0_blk = 1, insn->dst_rep = insn->src0_rep = 8;
    npu_check_form(core, insn, regs, 16);
    npu_check_operand(core, &insn->dst, "dst");
    npu_check_operand(core, &insn->src0, "src");
    struct npu_vector v = npu_vector_shape(insn, regs, 16);
    if (!v.repeats)
        return 0;
    /* A destination block is as far from the next as a source block: elements of 16 bits for the walk. */
    struct npu_tensor dst = insn->dst;
    int n = npu_list_operand(accesses, 0, &v, &insn->src0, 16, insn->src0_blk, insn->src0_rep, false, "src");
    accesses[n++] = (struct npu_access){.addr = dst.addr,
                                        .bytes = NPU_BLOCK,
                                        .count = 8,
                                        .count2 = v.repeats,
                                        .stride = insn->dst_blk * NPU_BLOCK,
                                        .stride2 = insn->dst_rep * NPU_BLOCK,
                                        .write = true,
                                        .flags = dst.flags,
                                        .tensor = &insn->dst,
                                        .operand = "dst"};
    if (v.repeats == 1) {
        uint64_t mask[2];
        npu_vector_mask(&v, 0, mask);
        uint32_t lanes = mask[1] ? 128 - (uint32_t)__builtin_clzll(mask[1]) : 64 - (uint32_t)__builtin_clzll(mask[0]);
        accesses[n - 1].count = (lanes + PER_BLOCK - 1) / PER_BLOCK;
    }
    if (insn->mode & DEQ_VECTOR) {
        uint64_t table = deq_table(regs);
        if (!npu_in_ub(core, table))
            npu_trap(core, FAULT(deq_table), "vdeq",
                     "CastDequant in vector mode reads its sixteen scales from UB, and SetDeqScale named no tensor");
        accesses[n++] = (struct npu_access){
            .addr = table, .bytes = DEQ_WORDS * 8, .count = 1, .count2 = 1, .flags = NPU_TENSOR_RAW, .operand = "vdeq"};
    }
    return n;
}

struct deq_run {
    struct deq_config config[DEQ_WORDS];
    bool reported;
};

static void dequantize_lane(struct npu_core *core, struct deq_run *run, const struct deq_config *config, uint8_t *dst,
                            const uint8_t *src)
{
    int16_t value;
    memcpy(&value, src, sizeof value);
    *dst = dequantize(config, value);
    if (npu_ub_defined(core, src, sizeof value)) {
        npu_ub_define(core, dst, 1);
        return;
    }
    npu_ub_undefine(core, dst, 1);
    if (!run->reported)
        npu_undefined_read(core, "src", src);
    run->reported = true;
}

static void load_config(struct npu_core *core, const struct npu_insn *insn, const struct npu_regs *regs,
                        struct deq_run *run)
{
    for (int i = 0; i < DEQ_WORDS; i++) {
        uint64_t word = regs->deq_scale;
        if (insn->mode & DEQ_VECTOR)
            memcpy(&word, (const uint8_t *)deq_table(regs) + 8 * i, sizeof word);
        run->config[i] = deq_config(word);
        if (run->config[i].signed_mode != (insn->dst_type == AKGEN_INT8) && !run->reported) {
            npu_note(core, false, FAULT(deq_sign_mode), "dst", 0,
                     "CastDequant into %s, but SetDeqScale's signMode is %s: the chip saturates to %s",
                     akgen_dtype_name((enum akgen_dtype)insn->dst_type), run->config[i].signed_mode ? "true" : "false",
                     run->config[i].signed_mode ? "int8" : "uint8");
            run->reported = true;
        }
    }
    run->reported = false;
}

void npu_exec_dequant(struct npu_core *core, const struct npu_insn *insn, const struct npu_regs *regs)
{
    struct deq_run run = {.reported = false};
    struct npu_vector v = npu_vector_shape(insn, regs, 16);
    if (!v.repeats)
        return;
    load_config(core, insn, regs, &run);
    uint8_t *dst = (uint8_t *)insn->dst.addr + (insn->mode & DEQ_UPPER ? HALF_BLOCK : 0);
    const uint8_t *src = (const uint8_t *)insn->src0.addr;
    for (uint32_t r = 0; r < v.repeats; r++) {
        uint64_t mask[2];
        npu_vector_mask(&v, r, mask);
        for (uint32_t i = 0; i < v.per_repeat; i++)
            if (npu_lane_selected(mask, i)) {
                size_t block = i / PER_BLOCK, lane = i % PER_BLOCK;
                dequantize_lane(core, &run, &run.config[lane],
                                dst + (r * (size_t)insn->dst_rep + block * insn->dst_blk) * NPU_BLOCK + lane,
                                src + (r * (size_t)insn->src0_rep + block * insn->src0_blk) * NPU_BLOCK + lane * 2);
            }
    }
}
