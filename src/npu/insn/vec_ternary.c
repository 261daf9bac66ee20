/* FusedMulAdd (dst = dst * src0 + src1) and Axpy (dst = src * scalar + dst): dst is a source as well.
 *
 * The product is rounded before the sum, as two instructions would: asc-devkit "复合计算/概述" says that a compound
 * instruction adds no precision when source and destination have one type. With half sources and a float destination
 * (Axpy) the product of two halves is exact in float, so that only the sum rounds. */
#include "npu/insn/insn.h"
#include "npu/insn/lanes.h"
#include "npu/isa.h"
#include "npu/report.h"

#include <string.h>

static void fused_mul_add_f32(const struct npu_run *run, uint64_t scalar)
{
    (void)scalar;
    npu_f32 *dst = (npu_f32 *)run->dst;
    const npu_f32 *src0 = (const npu_f32 *)run->src0, *src1 = (const npu_f32 *)run->src1;
    for (uint32_t i = 0; i < run->n; i++)
        dst[i] = dst[i] * src0[i] + src1[i];
}

static void fused_mul_add_f16(const struct npu_run *run, uint64_t scalar)
{
    (void)scalar;
    npu_f16 *dst = (npu_f16 *)run->dst;
    const npu_f16 *src0 = (const npu_f16 *)run->src0, *src1 = (const npu_f16 *)run->src1;
    for (uint32_t i = 0; i < run->n; i++) {
        half_t product = (half_t)((float)dst[i] * (float)src0[i]);
        dst[i] = (half_t)((float)product + (float)src1[i]);
    }
}

static float half_scalar(uint64_t bits)
{
    half_t value;
    memcpy(&value, &bits, sizeof value);
    return (float)value;
}

static void axpy_f32(const struct npu_run *run, uint64_t scalar)
{
    npu_f32 *dst = (npu_f32 *)run->dst;
    const npu_f32 *src = (const npu_f32 *)run->src0;
    float a;
    memcpy(&a, &scalar, sizeof a);
    for (uint32_t i = 0; i < run->n; i++)
        dst[i] = src[i] * a + dst[i];
}

static void axpy_f16(const struct npu_run *run, uint64_t scalar)
{
    npu_f16 *dst = (npu_f16 *)run->dst;
    const npu_f16 *src = (const npu_f16 *)run->src0;
    float a = half_scalar(scalar);
    for (uint32_t i = 0; i < run->n; i++) {
        half_t product = (half_t)((float)src[i] * a);
        dst[i] = (half_t)((float)product + (float)dst[i]);
    }
}

static void axpy_f16_to_f32(const struct npu_run *run, uint64_t scalar)
{
    npu_f32 *dst = (npu_f32 *)run->dst;
    const npu_f16 *src = (const npu_f16 *)run->src0;
    float a = half_scalar(scalar);
    for (uint32_t i = 0; i < run->n; i++)
        dst[i] = (float)src[i] * a + dst[i];
}

int npu_check_ternary(struct npu_core *core, struct npu_insn *insn, const struct npu_regs *regs,
                      struct npu_access *accesses)
{
    bool axpy = insn->op == NPU_OP_AXPY;
    if (insn->dst_type != insn->src_type && !(axpy && insn->src_type == AKGEN_FLOAT16 && insn->dst_type == AKGEN_FLOAT))
        npu_trap(core, FAULT(vec_dtype), "dst", "%s writes %s from %s; %s", npu_isa[insn->op].name,
                 akgen_dtype_name((enum akgen_dtype)insn->dst_type), akgen_dtype_name((enum akgen_dtype)insn->src_type),
                 axpy ? "it takes one type, or half sources and a float destination" : "all operands have one type");
    return npu_list_dst_as_source(accesses, npu_check_vector(core, insn, regs, accesses, "src0", axpy ? NULL : "src1"));
}

void npu_exec_ternary(struct npu_core *core, const struct npu_insn *insn, const struct npu_regs *regs)
{
    npu_loop *loop;
    if (insn->op == NPU_OP_FUSED_MUL_ADD)
        loop = insn->src_type == AKGEN_FLOAT ? fused_mul_add_f32 : fused_mul_add_f16;
    else if (insn->dst_type != insn->src_type)
        loop = axpy_f16_to_f32;
    else
        loop = insn->src_type == AKGEN_FLOAT ? axpy_f32 : axpy_f16;
    npu_vector_execute(core, insn, regs, loop, true);
}
