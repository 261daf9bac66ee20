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

static void cast(const struct adv_piece *p, const struct adv_step *s, uint8_t dst_type, uint8_t src_type, int mode)
{
    adv_cast(p->core, p->slot[s->to], dst_type, p->slot[s->a], src_type, mode, p->count);
}

static void compare(const struct adv_piece *p, const struct adv_step *s)
{
    struct npu_insn insn = {.op = NPU_OP_COMPARE_SCALAR,
                            .form = NPU_FORM_COUNT,
                            .mode = s->mode,
                            .dst_type = AKGEN_UINT8,
                            .src_type = p->type,
                            .flags = NPU_INSN_CUT,
                            .count = p->count,
                            .dst = p->slot[s->mask],
                            .src0 = p->slot[s->a]};
    if (s->kind == STEP_COMPARE) {
        insn.flags |= NPU_INSN_SCALAR_SRC1;
        insn.scalar = adv_scalar(p->type, s->value);
    } else {
        insn.op = NPU_OP_COMPARE;
        insn.src1_type = p->type;
        insn.src1 = p->slot[s->b];
    }
    adv_issue(p->core, &insn);
}

/* Select has a form for half and float only; int32 moves as float. */
static void select(const struct adv_piece *p, const struct adv_step *s)
{
    enum { TENSOR_SCALAR = 1, TENSOR_TENSOR = 2 }; /* VSEL_..._MODE */
    uint8_t type = p->type == AKGEN_INT32 ? AKGEN_FLOAT : p->type;
    struct npu_insn insn = ADV_INSN(NPU_OP_SELECT, COUNT, type, .src1_type = AKGEN_UINT8, .count = p->count,
                                    .dst = p->slot[s->to], .src0 = p->slot[s->a], .aux = p->slot[s->mask]);
    if (s->kind == STEP_SELECT) {
        insn.mode = TENSOR_SCALAR;
        insn.flags = NPU_INSN_SCALAR_SRC1;
        insn.scalar = adv_scalar(type, s->value);
    } else {
        insn.mode = TENSOR_TENSOR;
        insn.src1 = p->slot[s->b];
    }
    adv_issue(p->core, &insn);
}

static void combine_masks(const struct adv_piece *p, const struct adv_step *s)
{
    uint32_t words = (p->count + 15) / 16;
    if (s->op == NPU_OP_NOT)
        adv_unary(p->core, s->op, p->slot[s->to], p->slot[s->a], AKGEN_UINT16, words);
    else
        adv_binary(p->core, s->op, p->slot[s->to], p->slot[s->a], p->slot[s->b], AKGEN_UINT16, words);
}

static void horner(const struct adv_piece *p, int d, int x, const double *c, int n)
{
    RUN(p, MULS(d, x, c[0]), ADDS(d, d, c[1]));
    for (int i = 2; i < n; i++)
        RUN(p, MUL(d, d, x), ADDS(d, d, c[i]));
}

static void take_step(const struct adv_piece *p, const struct adv_step *s)
{
    struct npu_tensor to = p->slot[s->to], a = p->slot[s->a];
    uint8_t narrow = p->call->type;
    switch (s->kind) {
    case STEP_UNARY:
        adv_unary(p->core, s->op, to, a, p->type, p->count);
        break;
    case STEP_BINARY:
        adv_binary(p->core, s->op, to, a, p->slot[s->b], p->type, p->count);
        break;
    case STEP_SCALAR:
        adv_scalar_op(p->core, s->op, to, a, s->value, p->type, p->count);
        break;
    case STEP_FILL:
        adv_duplicate(p->core, to, s->value, p->type, p->count);
        break;
    case STEP_CAST:
        cast(p, s, s->dst_type, s->src_type, s->mode);
        break;
    case STEP_WIDEN:
        cast(p, s, AKGEN_FLOAT, narrow, ROUND_NONE);
        break;
    case STEP_NARROW:
        cast(p, s, narrow, AKGEN_FLOAT, narrow == AKGEN_BF16 ? ROUND_RINT : ROUND_NONE);
        break;
    case STEP_COMPARE:
    case STEP_COMPARE_SLOTS:
        compare(p, s);
        break;
    case STEP_SELECT:
    case STEP_SELECT_SLOTS:
        select(p, s);
        break;
    case STEP_MASK:
        combine_masks(p, s);
        break;
    case STEP_HORNER:
        horner(p, s->to, s->a, s->series, s->terms);
        break;
    case STEP_END:
        break;
    }
}

void adv_take(const struct adv_piece *p, const struct adv_step *steps)
{
    for (; steps->kind != STEP_END; steps++)
        take_step(p, steps);
}

static void take_all(const struct adv_piece *p, const struct adv_step *steps, adv_body *body)
{
    if (body)
        body(p);
    else
        adv_take(p, steps);
}

static void converted(const struct adv_piece *p, const struct adv_plan *plan)
{
    int x = T(plan->bytes_half / 4 - 1);
    struct adv_piece floats = *p;
    RUN(p, WIDEN(x, SRC));
    floats.slot[SRC] = floats.slot[DST] = p->slot[x];
    take_all(&floats, plan->steps, plan->body);
    RUN(p, NARROW(DST, x));
}

static void run_piece(struct adv_piece *p, const struct adv_plan *plan, uint32_t first)
{
    const struct npu_adv *call = p->call;
    p->slot[DST] = from(&call->dst[0], call->dst_type, first);
    p->slot[SRC] = from(&call->src[0], call->type, first);
    p->slot[SRC1] = from(&call->src[1], call->type, first);
    bool narrow = is_narrow(call);
    if (narrow && (plan->half || plan->half_body))
        take_all(p, plan->half, plan->half_body);
    else if (narrow && plan->convert)
        converted(p, plan);
    else
        take_all(p, plan->steps, plan->body);
}

void adv_run(struct npu_core *core, const struct npu_adv *call, const struct adv_plan *plan)
{
    bool half = is_narrow(call), floats = half && (plan->convert || plan->half || plan->half_body);
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
