/* Pieces and steps: see piece.h. */
#include "npu/adv/piece.h"

#include "npu/insn/lanes.h"
#include "npu/report.h"

/* Elements [first, ...) of a tensor, up to its end: past that it keeps one byte, less than any block, so that an access
 * is reported as out of the tensor. */
static struct npu_tensor from(const struct npu_tensor *tensor, uint8_t type, uint32_t first)
{
    struct npu_tensor part = *tensor;
    uint32_t offset = adv_bytes(type, first);
    part.addr += offset;
    if (part.bytes)
        part.bytes = offset < part.bytes ? part.bytes - offset : 1;
    return part;
}

static struct npu_tensor space(const struct npu_adv *call, uint32_t offset, uint32_t bytes)
{
    struct npu_tensor part = call->tmp;
    part.addr += offset;
    part.bytes = bytes;
    return part;
}

/* Elements of a piece. */
static uint32_t room_of(struct npu_core *core, const struct npu_adv *call, const struct adv_plan *plan, uint32_t bytes)
{
    if (!bytes)
        return call->count;
    uint32_t block = plan->block ? plan->block : 32;
    uint32_t available = call->tmp.bytes < plan->head ? 0 : call->tmp.bytes - plan->head;
    uint32_t room = available / bytes / block * block;
    if (!room)
        npu_trap(core, FAULT(adv_tmp_too_small), "sharedTmpBuffer",
                 "%s needs at least %u bytes of temporary space, it has %u", core->api, plan->head + bytes * block,
                 call->tmp.bytes);
    return room;
}

static bool is_narrow(const struct npu_adv *call)
{
    return call->type == AKGEN_FLOAT16 || call->type == AKGEN_BF16;
}

static void converted(const struct adv_piece *p, const struct adv_plan *plan)
{
    int x = T(plan->bytes_half / 4 - 1);
    struct adv_piece floats = *p;
    step_widen(p, x, SLOT_SRC);
    floats.slot[SLOT_SRC] = floats.slot[SLOT_DST] = p->slot[x];
    plan->steps(&floats);
    step_narrow(p, SLOT_DST, x);
}

static void run_piece(struct adv_piece *p, const struct adv_plan *plan, uint32_t first)
{
    const struct npu_adv *call = p->call;
    p->slot[SLOT_DST] = from(&call->dst[0], call->dst_type, first);
    p->slot[SLOT_SRC] = from(&call->src[0], call->type, first);
    p->slot[SLOT_SRC1] = from(&call->src[1], call->type, first);
    bool narrow = is_narrow(call);
    if (narrow && plan->half)
        plan->half(p);
    else if (narrow && plan->convert)
        converted(p, plan);
    else
        plan->steps(p);
}

void adv_run(struct npu_core *core, const struct npu_adv *call, const struct adv_plan *plan)
{
    bool half = is_narrow(call), floats = half && (plan->convert || plan->half);
    struct adv_piece p = {.core = core, .call = call, .type = floats ? AKGEN_FLOAT : call->type};
    p.reuse = !half && plan->bytes_reuse && call->flags & NPU_ADV_REUSE_SOURCE;
    uint32_t bytes = half ? plan->bytes_half : p.reuse ? plan->bytes_reuse : plan->bytes;
    uint32_t room = room_of(core, call, plan, bytes), size = npu_element_bits(p.type) / 8;
    for (uint32_t i = 0; (i + 1) * size + plan->masks <= bytes; i++)
        p.slot[T(i)] = space(call, plan->head + i * room * size, room * size);
    for (uint32_t i = 0; i < plan->masks; i++)
        p.slot[M(i)] = space(call, plan->head + room * (bytes - plan->masks + i), room);
    for (uint32_t first = 0; first < call->count; first += room) {
        p.count = call->count - first < room ? call->count - first : room;
        if (plan->tail)
            p.count = (p.count + plan->tail - 1) / plan->tail * plan->tail;
        run_piece(&p, plan, first);
    }
}

void step_unary(const struct adv_piece *p, enum npu_op op, int d, int a)
{
    adv_unary(p->core, op, p->slot[d], p->slot[a], p->type, p->count);
}

void step_binary(const struct adv_piece *p, enum npu_op op, int d, int a, int b)
{
    adv_binary(p->core, op, p->slot[d], p->slot[a], p->slot[b], p->type, p->count);
}

void step_scalar(const struct adv_piece *p, enum npu_op op, int d, int a, double value)
{
    adv_scalar_op(p->core, op, p->slot[d], p->slot[a], value, p->type, p->count);
}

void step_fill(const struct adv_piece *p, int d, double value)
{
    adv_duplicate(p->core, p->slot[d], value, p->type, p->count);
}

void step_cast(const struct adv_piece *p, int d, uint8_t dst_type, int a, uint8_t src_type, int mode)
{
    adv_cast(p->core, p->slot[d], dst_type, p->slot[a], src_type, mode, p->count);
}

void step_round(const struct adv_piece *p, int d, int a, int mode)
{
    step_cast(p, d, AKGEN_FLOAT, a, AKGEN_FLOAT, mode);
}

void step_widen(const struct adv_piece *p, int d, int a)
{
    step_cast(p, d, AKGEN_FLOAT, a, p->call->type, ROUND_NONE);
}

void step_narrow(const struct adv_piece *p, int d, int a)
{
    step_cast(p, d, p->call->type, a, AKGEN_FLOAT, p->call->type == AKGEN_BF16 ? ROUND_RINT : ROUND_NONE);
}

static void compare(const struct adv_piece *p, struct npu_insn *insn, int mask, int a, int mode)
{
    insn->form = NPU_FORM_COUNT;
    insn->mode = (uint8_t)mode;
    insn->dst_type = AKGEN_UINT8;
    insn->src_type = p->type;
    insn->flags |= NPU_INSN_CUT;
    insn->count = p->count;
    insn->dst = p->slot[mask];
    insn->src0 = p->slot[a];
    adv_issue(p->core, insn);
}

void step_compare(const struct adv_piece *p, int mask, int a, int mode, double value)
{
    struct npu_insn insn = {
        .op = NPU_OP_COMPARE_SCALAR, .flags = NPU_INSN_SCALAR_SRC1, .scalar = adv_scalar(p->type, value)};
    compare(p, &insn, mask, a, mode);
}

void step_compare_slots(const struct adv_piece *p, int mask, int a, int mode, int b)
{
    struct npu_insn insn = {.op = NPU_OP_COMPARE, .src1_type = p->type, .src1 = p->slot[b]};
    compare(p, &insn, mask, a, mode);
}

/* Select has a form for half and float only; int32 moves as float. */
static struct npu_insn select(const struct adv_piece *p, int d, int mask, int a)
{
    uint8_t type = p->type == AKGEN_INT32 ? AKGEN_FLOAT : p->type;
    return (struct npu_insn)ADV_INSN(NPU_OP_SELECT, COUNT, type, .src1_type = AKGEN_UINT8, .count = p->count,
                                     .dst = p->slot[d], .src0 = p->slot[a], .aux = p->slot[mask]);
}

void step_select(const struct adv_piece *p, int d, int mask, int a, double value)
{
    struct npu_insn insn = select(p, d, mask, a);
    insn.mode = 1; /* VSEL_TENSOR_SCALAR_MODE */
    insn.flags = NPU_INSN_SCALAR_SRC1;
    insn.scalar = adv_scalar(insn.src_type, value);
    adv_issue(p->core, &insn);
}

void step_select_slots(const struct adv_piece *p, int d, int mask, int a, int b)
{
    struct npu_insn insn = select(p, d, mask, a);
    insn.mode = 2; /* VSEL_TENSOR_TENSOR_MODE */
    insn.src1 = p->slot[b];
    adv_issue(p->core, &insn);
}

void step_mask(const struct adv_piece *p, enum npu_op op, int d, int a, int b)
{
    uint32_t words = (p->count + 15) / 16;
    if (op == NPU_OP_NOT)
        adv_unary(p->core, op, p->slot[d], p->slot[a], AKGEN_UINT16, words);
    else
        adv_binary(p->core, op, p->slot[d], p->slot[a], p->slot[b], AKGEN_UINT16, words);
}

void step_horner(const struct adv_piece *p, int d, int x, const double *c, int n)
{
    step_muls(p, d, x, c[0]);
    step_adds(p, d, d, c[1]);
    for (int i = 2; i < n; i++) {
        step_mul(p, d, d, x);
        step_adds(p, d, d, c[i]);
    }
}
