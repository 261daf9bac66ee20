/* Axpy with temporary space, and Arange. */
#include "npu/adv/piece.h"
#include "npu/insn/lanes.h"
#include "npu/order/order.h"
#include "npu/scalar/access.h"

#include <string.h>

/* Axpy: dst += src * scalar[0], computed in float; dst may be half or float, the scalar has the source's type. */
static void axpy_into_float(const struct adv_piece *p)
{
    RUN(p, WIDEN(T(0), SRC), MULS(T(0), T(0), adv_number(AKGEN_FLOAT16, p->call->scalar[0])), ADD(DST, T(0), DST));
}
static void axpy_into_half(const struct adv_piece *p)
{
    RUN(p, WIDEN(T(0), SRC), WIDEN(T(1), DST), MULS(T(0), T(0), adv_number(AKGEN_FLOAT16, p->call->scalar[0])),
        ADD(T(1), T(0), T(1)), NARROW(DST, T(1)));
}
/* Of floats it is the instruction. */
static void axpy_of_float(struct npu_core *core, const struct npu_adv *call)
{
    struct npu_insn insn = ADV_INSN(NPU_OP_AXPY, COUNT, AKGEN_FLOAT, .count = call->count, .dst = call->dst[0],
                                    .src0 = call->src[0], .scalar = call->scalar[0]);
    adv_issue(core, &insn);
}
void adv_axpy(struct npu_core *core, const struct npu_adv *call)
{
    static const struct adv_plan into_float = {.half_body = axpy_into_float, .bytes_half = 4};
    static const struct adv_plan into_half = {.half_body = axpy_into_half, .bytes_half = 8};
    if (call->type == AKGEN_FLOAT)
        axpy_of_float(core, call);
    else
        adv_run(core, call, call->dst_type == AKGEN_FLOAT ? &into_float : &into_half);
}

/* Arange: first, first + step, ... The scalar unit writes the first block, Adds make the others from it. */
struct progression {
    double first, step;
    uint32_t size;       /* of an element */
    uint32_t block_size; /* elements in 32 bytes */
    uint32_t repeat;     /* elements in 256 bytes */
};

/* Elements 0 to count-1. Floats are computed in float, product and sum rounded; integers wrap. */
static void store_elements(struct npu_core *core, const struct npu_adv *call, const struct progression *a,
                           uint32_t count)
{
    bool floats = call->type == AKGEN_FLOAT || call->type == AKGEN_FLOAT16;
    for (uint32_t i = 0; i < count; i++) {
        double value = a->first + a->step * i;
        if (floats)
            value = (double)((float)a->first + (float)a->step * (float)i);
        uint64_t bits = adv_scalar(call->type, value), addr = call->dst[0].addr + (uint64_t)i * a->size;
        npu_scalar_access(core, addr, a->size, true, false);
        memcpy((void *)addr, &bits, a->size);
    }
}

/* `count` elements at `to` from those `distance` elements before them. Leaves the mask register at `count`. */
static void extend(struct npu_core *core, const struct npu_adv *call, const struct progression *a, uint32_t to,
                   uint32_t distance, uint32_t count)
{
    struct npu_insn insn = ADV_INSN(NPU_OP_ADDS, MASK_LEN, call->type, .repeat = 1, .mask = {count}, .dst_blk = 1,
                                    .src0_blk = 1, .dst_rep = 8, .src0_rep = 8);
    bool floats = call->type == AKGEN_FLOAT || call->type == AKGEN_FLOAT16;
    double step = floats ? (double)((float)a->step * (float)distance) : a->step * distance;
    insn.scalar = adv_scalar(call->type, step);
    insn.dst = call->dst[0];
    insn.dst.addr += (uint64_t)to * a->size;
    insn.src0 = call->dst[0];
    insn.src0.addr += (uint64_t)(to - distance) * a->size;
    insn.dst.bytes = insn.src0.bytes = 0;
    adv_issue(core, &insn);
}

void adv_arange(struct npu_core *core, const struct npu_adv *call)
{
    uint32_t size = npu_element_bits(call->type) / 8;
    const struct progression a = {adv_number(call->type, call->scalar[0]), adv_number(call->type, call->scalar[1]),
                                  size, NPU_BLOCK / size, NPU_REPEAT / size};
    if ((int32_t)call->count <= (int32_t)a.block_size) {
        npu_order_auto_edge(core, NPU_LANE_V, NPU_LANE_S);
        store_elements(core, call, &a, (int32_t)call->count > 0 ? call->count : 0);
        npu_order_edge(core->order, NPU_LANE_S, NPU_LANE_V);
        return;
    }
    store_elements(core, call, &a, a.block_size);
    npu_order_edge(core->order, NPU_LANE_S, NPU_LANE_V);
    uint32_t blocks = call->count > a.repeat ? a.repeat : call->count;
    for (uint32_t at = a.block_size; at < blocks; at += a.block_size)
        extend(core, call, &a, at, a.block_size, a.block_size);
    for (uint32_t at = a.repeat; at < call->count; at += a.repeat) {
        uint32_t rest = call->count - at;
        uint32_t aligned = (rest + a.block_size - 1) / a.block_size * a.block_size;
        extend(core, call, &a, at, a.repeat, rest < a.repeat ? aligned : a.repeat);
    }
}
