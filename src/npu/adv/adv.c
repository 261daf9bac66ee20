/* The life of a high-level call: check, find the temporary space, run the routine, and leave the registers as a level-2
 * call leaves them. */
#include "npu/adv/adv.h"

#include "base/half.h"
#include "npu/insn/lanes.h"
#include "npu/issue/issue.h"
#include "npu/gm_region.h"
#include "npu/machine.h"
#include "npu/order/order.h"
#include "npu/own_memory.h"
#include "npu/queue/queue.h"
#include "npu/report.h"

#include <string.h>

const struct adv_row adv_rows[NPU_ADV_OPS] = {
#define NPU_ADV(id, name, routine, types, source) [NPU_ADV_##id] = {name, adv_##routine, types, source},
#include "abi/adv.def"
#undef NPU_ADV
};

/* What a call's tiling pointer leads to, as far as it is the kernel's own; what is beyond reads as zeros, and so does NULL.
 * Not all of it may be there: how long the structure is depends on the API. */
struct adv_tiling {
    _Alignas(16) uint8_t bytes[1024];
};
_Static_assert(sizeof(struct npu_slices) <= sizeof(struct adv_tiling), "the longest of them");

static const void *own_tiling(struct npu_core *core, const void *tiling, struct adv_tiling *copy)
{
    static const struct adv_tiling zeros;
    if (!tiling)
        return &zeros;
    if (!core->npu->confined)
        return tiling;
    uint64_t room = npu_own_room(core, (uint64_t)tiling, false);
    const struct npu_gm_region *region = room ? NULL : npu_gm_find(core->npu, (uint64_t)tiling);
    if (region)
        room = region->bytes - ((uint64_t)tiling - (uint64_t)region->base);
    if (!room)
        npu_bad_pointer(core, (uint64_t)tiling);
    memset(copy, 0, sizeof *copy);
    memcpy(copy, tiling, room < sizeof *copy ? room : sizeof *copy);
    return copy;
}

void npu_advanced(const struct npu_adv *given)
{
    NPU_ENTER(core);
    if (core->aic) /* a vector core's business */
        return;
    struct npu_adv call = *given;
    struct adv_tiling tiling;
    bool unheard;
    if (!call.op || call.op >= NPU_ADV_OPS || !npu_type_has_width(call.type) || !npu_type_has_width(call.dst_type))
        npu_trap(core, FAULT(illegal_instruction), NULL,
                 "there is no high-level API number %u for data types %u and %u", call.op, call.type, call.dst_type);
    call.tiling = own_tiling(core, call.tiling, &tiling);
    if (call.answer)
        npu_own_check(core, call.answer, sizeof *call.answer, true);
    else
        call.answer = &unheard;
    const struct adv_row *row = &adv_rows[call.op];
    const char *outer = core->api;
    core->api = row->name;
    if (!(row->types >> call.type & 1))
        npu_trap(core, FAULT(vec_dtype), "src", "%s has no form for %s", row->name, akgen_dtype_name(call.type));
    if (!call.tmp.addr && !(call.flags & NPU_ADV_NO_TMP))
        npu_pop_rest(core, NPU_LCM, &call.tmp);
    row->routine(core, &call);
    core->api = outer;
}

uint32_t adv_bytes(uint8_t type, uint32_t count)
{
    return (uint32_t)((uint64_t)count * npu_element_bits(type) / 8);
}

struct npu_tensor adv_part(const struct npu_tensor *tensor, uint8_t type, uint32_t first, uint32_t count)
{
    struct npu_tensor part = *tensor;
    part.addr += adv_bytes(type, first);
    part.bytes = adv_bytes(type, count);
    return part;
}

struct npu_tensor adv_tmp(struct npu_core *core, const struct npu_adv *call, uint32_t offset, uint32_t bytes)
{
    if ((uint64_t)offset + bytes > call->tmp.bytes)
        npu_trap(core, FAULT(adv_tmp_too_small), "sharedTmpBuffer",
                 "%s needs %llu bytes of temporary space, sharedTmpBuffer has %u", core->api,
                 (unsigned long long)offset + bytes, call->tmp.bytes);
    struct npu_tensor part = call->tmp;
    part.addr += offset;
    part.bytes = bytes;
    return part;
}

uint32_t adv_split(struct npu_core *core, const struct npu_adv *call, uint8_t type, uint32_t pieces)
{
    uint32_t bytes = call->tmp.bytes / pieces;
    bytes -= bytes % (bytes >= NPU_REPEAT ? NPU_REPEAT : NPU_BLOCK);
    if (bytes == 0)
        npu_trap(core, FAULT(adv_tmp_too_small), "sharedTmpBuffer",
                 "%s needs at least %u bytes of temporary space, it has %u", core->api, pieces * NPU_BLOCK,
                 call->tmp.bytes);
    return bytes * 8 / npu_element_bits(type);
}

uint64_t adv_scalar(uint8_t type, double value)
{
    uint64_t bits = 0;
    if (type == AKGEN_FLOAT) {
        float single = (float)value;
        memcpy(&bits, &single, sizeof single);
    } else if (type == AKGEN_FLOAT16) {
        _Float16 half = (_Float16)value;
        memcpy(&bits, &half, sizeof half);
    } else if (type == AKGEN_BF16) {
        bits = bf16_from_float((float)value);
    } else {
        int64_t whole = (int64_t)value;
        memcpy(&bits, &whole, sizeof whole);
    }
    return bits;
}

double adv_number(uint8_t type, uint64_t bits)
{
    float single;
    half_t half;
    uint32_t wide = type == AKGEN_BF16 ? (uint32_t)bits << 16 : (uint32_t)bits;
    memcpy(&single, &wide, sizeof single);
    memcpy(&half, &bits, sizeof half);
    return type == AKGEN_FLOAT16 ? (double)half
           : type == AKGEN_INT16 ? (int16_t)bits
           : type == AKGEN_INT32 ? (int32_t)bits
                                 : (double)single;
}

void adv_issue(struct npu_core *core, const struct npu_insn *insn)
{
    struct npu_insn select;
    if (insn->op == NPU_OP_SELECT) { /* CANN's routines call SetCmpMask before each */
        select = *insn;
        select.flags |= NPU_INSN_OWN_CMPMASK;
        insn = &select;
    }
    npu_issue_from(core, insn);
    npu_order_barrier(core->order, NPU_LANE_V);
}

static struct npu_insn counted(enum npu_op op, struct npu_tensor dst, uint8_t type, uint32_t count)
{
    return (struct npu_insn)ADV_INSN(op, COUNT, type, .count = count, .dst = dst);
}

void adv_unary(struct npu_core *core, enum npu_op op, struct npu_tensor dst, struct npu_tensor src, uint8_t type,
               uint32_t count)
{
    struct npu_insn insn = counted(op, dst, type, count);
    insn.src0 = src;
    adv_issue(core, &insn);
}

void adv_binary(struct npu_core *core, enum npu_op op, struct npu_tensor dst, struct npu_tensor src0,
                struct npu_tensor src1, uint8_t type, uint32_t count)
{
    struct npu_insn insn = counted(op, dst, type, count);
    insn.src0 = src0;
    insn.src1 = src1;
    adv_issue(core, &insn);
}

void adv_scalar_op(struct npu_core *core, enum npu_op op, struct npu_tensor dst, struct npu_tensor src, double value,
                   uint8_t type, uint32_t count)
{
    struct npu_insn insn = counted(op, dst, type, count);
    insn.src0 = src;
    insn.scalar = adv_scalar(type, value);
    adv_issue(core, &insn);
}

void adv_duplicate(struct npu_core *core, struct npu_tensor dst, double value, uint8_t type, uint32_t count)
{
    struct npu_insn insn = counted(NPU_OP_DUPLICATE, dst, type, count);
    insn.scalar = adv_scalar(type, value);
    adv_issue(core, &insn);
}

void adv_cast(struct npu_core *core, struct npu_tensor dst, uint8_t dst_type, struct npu_tensor src, uint8_t src_type,
              int round_mode, uint32_t count)
{
    struct npu_insn insn = counted(NPU_OP_CAST, dst, dst_type, count);
    insn.src_type = src_type;
    insn.src0 = src;
    insn.mode = (uint8_t)round_mode;
    adv_issue(core, &insn);
}
