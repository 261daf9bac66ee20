/* Matmul objects between an AIV and its AIC. On the chip a client writes messages into the system's workspace in GM,
 * behind everything that its pipe MTE3 has done, and the server on the AIC polls for them; an answer is a cross-core
 * flag that the server's pipe FIX sets and the client's scalar unit waits for (asc-devkit, impl/basic_api/dav_c220/kfc
 * and adv_api/detail/matmul/kfc: what orders what). Here messages are a list for each block, with the clocks of those
 * two lanes, so that races between the cores come out as they are.
 *
 * An operand in UB goes through the workspace, to a place of its own for each AIV and UB address; a result for UB comes
 * from there. After a synchronous Iterate the server listens to that AIV alone until it has taken the block.
 *
 * Assumed: an AIV that ends without having closed its objects counts as having closed them. */
#include "npu/adv/adv.h"
#include "npu/adv/matmul.h"
#include "npu/fiber.h"
#include "npu/gm_region.h"
#include "npu/insn/reserved.h"
#include "npu/isa.h"
#include "npu/issue/issue.h"
#include "npu/machine.h"
#include "npu/memory.h"
#include "npu/order/between.h"
#include "npu/order/schedule.h"
#include "npu/report.h"
#include "npu/time/rates.h"
#include "npu/time/tape.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum { SYSTEM_WORKSPACE = 16 << 20, MESSAGES = 1 << 20 /* what the staging places lie behind */ };
enum { CHANNELS = MATMUL_OBJECTS + 1 };
/* Answers that a client has not looked at yet. */
struct answer {
    struct answer *next;
    struct npu_clock *clocks;
    uint32_t told; /* npu_tape_tell() */
};
struct channel {
    struct answer *first, **last;
};
/* One block's. */
struct queue {
    struct matmul_message *first, **last;
    bool closed[2], served;
    int only; /* the AIV whose Iterate waits for its GetTensorC; -1: either */
    uint64_t workspace;
    struct channel channels[2][CHANNELS]; /* of each object; the last of copies from UB */
};
struct npu_matmul_queues {
    int groups;
    struct queue of[];
};

static struct queue *queue_of(struct npu_core *core)
{
    struct npu *npu = core->npu;
    int groups = npu->block_dim;
    if (!npu->matmul) {
        npu->matmul = calloc(1, sizeof *npu->matmul + (size_t)groups * sizeof *npu->matmul->of);
        if (!npu->matmul)
            abort();
        npu->matmul->groups = groups;
        for (int i = 0; i < groups; i++) {
            struct queue *queue = &npu->matmul->of[i];
            queue->last = &queue->first;
            queue->only = -1;
            for (int k = 0; k < 2 * CHANNELS; k++)
                queue->channels[k / CHANNELS][k % CHANNELS].last = &queue->channels[k / CHANNELS][k % CHANNELS].first;
        }
    }
    return &npu->matmul->of[core->group];
}

static void free_message(struct matmul_message *message)
{
    free(message->clocks);
    free(message);
}

static void pop_answer(struct channel *channel)
{
    struct answer *answer = channel->first;
    channel->first = answer->next;
    if (!channel->first)
        channel->last = &channel->first;
    free(answer->clocks);
    free(answer);
}

void matmul_launch_end(struct npu *npu)
{
    for (int i = 0; npu->matmul && i < npu->matmul->groups; i++) {
        struct queue *queue = &npu->matmul->of[i];
        while (queue->first) {
            struct matmul_message *message = queue->first;
            queue->first = message->next;
            free_message(message);
        }
        for (int k = 0; k < 2 * CHANNELS; k++)
            while (queue->channels[k / CHANNELS][k % CHANNELS].first)
                pop_answer(&queue->channels[k / CHANNELS][k % CHANNELS]);
    }
    free(npu->matmul);
    npu->matmul = NULL;
}

static struct npu_clock *new_clocks(const struct npu_core *core)
{
    size_t bytes = (size_t)core->npu->core_count * sizeof(struct npu_clock);
    struct npu_clock *clocks = aligned_alloc(_Alignof(struct npu_clock), bytes);
    if (!clocks)
        abort();
    memset(clocks, 0, bytes);
    return clocks;
}

/* The client. */
struct matmul_message *matmul_post(struct npu_core *core, enum matmul_verb verb, const struct npu_matmul *mm,
                                   const char *api, bool reads)
{
    struct queue *queue = queue_of(core);
    struct matmul_message *message = calloc(1, sizeof *message);
    if (!message)
        abort();
    message->verb = verb;
    message->sub = (uint32_t)core->sub;
    message->pc = core->pc;
    message->api = api;
    if (mm)
        message->mm = *mm;
    message->clocks = new_clocks(core);
    npu_schedule_drain(core, NPU_PIPE_MTE3);
    npu_write_message(core);
    between_release(core, NPU_LANE_MTE3, message->clocks);
    message->told[0] = npu_tape_tell(core, NPU_LANE_MTE3);
    if (reads) {
        npu_schedule_drain(core, NPU_PIPE_MTE2);
        between_release(core, NPU_LANE_MTE2, message->clocks);
        message->told[1] = npu_tape_tell(core, NPU_LANE_MTE2);
    }
    if (core->log)
        core->log(core, "S", api, "  object %u, to the AIC", mm ? mm->id : 0);
    assert(queue->last);
    *queue->last = message;
    queue->last = &message->next;
    return message;
}

static bool has_answer(void *argument)
{
    const struct channel *channel = argument;
    return channel->first != NULL;
}

void matmul_wait_answer(struct npu_core *core, const struct npu_matmul *mm, const char *api)
{
    struct queue *queue = queue_of(core);
    struct channel *channel = &queue->channels[core->sub][mm ? matmul_index(core, mm) : MATMUL_OBJECTS];
    if (!channel->first)
        npu_fiber_wait(core, has_answer, channel,
                       queue->served ? api : "its AIC to serve Matmul objects (REGIST_MATMUL_OBJ)");
    between_acquire(core, channel->first->clocks);
    npu_tape_hear(core, channel->first->told);
    pop_answer(channel);
}

struct npu_tensor matmul_staged(struct npu_core *core, const struct npu_tensor *local)
{
    uint64_t offset = local->addr - npu_memory_base(core, NPU_MEM_UB);
    return (struct npu_tensor){.addr = queue_of(core)->workspace + MESSAGES +
                                       (uint64_t)(core->group * core->npu->aiv + core->sub) * NPU_UB_BYTES + offset,
                               .position = NPU_GM};
}

void matmul_copy_between(struct npu_core *core, struct npu_tensor dst, struct npu_tensor src, uint8_t type,
                         uint32_t bytes)
{
    struct npu_insn insn = ADV_INSN(NPU_OP_DATA_COPY, MASK_REG, type, .dst = dst, .src0 = src,
                                    .copy = {.block_count = 1, .block_len = bytes / NPU_BLOCK});
    npu_issue_from(core, &insn);
}

void matmul_fetch(struct npu_core *core, const struct npu_matmul *mm, const struct npu_tensor *local, uint64_t from,
                  bool finish)
{
    struct npu_tensor gm = {.addr = from, .position = NPU_GM};
    matmul_copy_between(core, *local, gm, mm->types[NPU_MATMUL_C].dtype, local->bytes);
    if (finish)
        matmul_edge(core, NPU_LANE_MTE2, NPU_LANE_V);
}

bool matmul_asks(const struct npu_core *core, const struct npu_matmul *mm)
{
    return core->sub == 0 || !(mm->types[NPU_MATMUL_A].shared && mm->types[NPU_MATMUL_B].shared);
}

/* The server. */
static void answer(struct npu_core *core, const struct matmul_message *message)
{
    struct queue *queue = queue_of(core);
    const struct npu_matmul *mm = &message->mm;
    bool both = mm->types[NPU_MATMUL_A].shared && mm->types[NPU_MATMUL_B].shared,
         copy = message->verb == MATMUL_DO_COPY;
    npu_schedule_drain(core, copy ? NPU_PIPE_MTE2 : NPU_PIPE_FIX);
    for (uint32_t sub = 0; sub < 2; sub++) {
        if (sub != message->sub && !both)
            continue;
        struct answer *answer = calloc(1, sizeof *answer);
        if (!answer)
            abort();
        answer->clocks = new_clocks(core);
        between_release(core, copy ? NPU_LANE_MTE2 : NPU_LANE_FIX, answer->clocks);
        answer->told = npu_tape_tell(core, copy ? NPU_LANE_MTE2 : NPU_LANE_FIX);
        struct channel *channel = &queue->channels[sub][copy ? MATMUL_OBJECTS : matmul_index(core, mm)];
        *channel->last = answer;
        channel->last = &answer->next;
    }
}

/* Tensors in L1 came as offsets: the client does not know where its AIC's memory lies. */
static void localize(struct npu_core *core, struct npu_tensor *tensor)
{
    if (tensor->addr && npu_memory_of(tensor->position) == NPU_MEM_L1) {
        tensor->addr += npu_memory_base(core, NPU_MEM_L1) - 1;
        tensor->bytes = 0;
    }
}

static void to_workspace(struct npu_core *core, const struct matmul_message *message)
{
    const struct npu_matmul *mm = &message->mm;
    const struct TCubeTiling *t = matmul_tiling(mm);
    uint32_t size = (uint32_t)akgen_dtype_size(mm->types[NPU_MATMUL_C].dtype);
    struct npu_tensor c = {.addr = mm->workspace, .position = NPU_GM};
    for (uint32_t i = 0; i < matmul_blocks(mm); i++) {
        struct matmul_block block = matmul_block_at(mm, i);
        matmul_compute(core, mm, message->sub, &block, message->out.partial_sum);
        matmul_store(core, mm, &block, &c, 0, true);
        answer(core, message);
        c.addr += (uint64_t)t->baseM * (uint32_t)t->baseN * size;
    }
}

static void serve(struct npu_core *core, struct matmul_message *message)
{
    struct queue *queue = queue_of(core);
    struct npu_matmul *mm = &message->mm;
    struct npu_matmul_output *out = &message->out;
    struct matmul_block block;
    for (int i = 0; i < NPU_MATMUL_MATRICES; i++)
        localize(core, &mm->sources[i].tensor);
    localize(core, &out->local);
    switch (message->verb) {
    case MATMUL_DO_ITERATE:
        block = matmul_block_at(mm, mm->step - 1);
        matmul_compute(core, mm, message->sub, &block, out->partial_sum);
        queue->only = (int)message->sub;
        break;
    case MATMUL_DO_GET_C:
        block = matmul_block_at(mm, mm->step - 1);
        matmul_store(core, mm, &block, out->gm.addr ? &out->gm : &out->local, out->atomic, out->sequential);
        queue->only = -1;
        break;
    case MATMUL_DO_ITERATE_TO_WORKSPACE:
        to_workspace(core, message);
        break;
    case MATMUL_DO_ITERATE_ALL:
        if (!out->fake)
            matmul_run_all(core, mm, message->sub, out);
        break;
    case MATMUL_DO_BATCH:
        for (uint32_t i = 0; i < message->batch.loops; i++) {
            matmul_run_batch(core, mm, message->sub, &message->batch, i, out);
            if (mm->loops)
                answer(core, message);
        }
        break;
    case MATMUL_DO_COPY:
        message->insn.dst.bytes = 0;
        localize(core, &message->insn.dst);
        matmul_edge(core, NPU_LANE_MTE1, NPU_LANE_MTE2);
        npu_issue_from(core, &message->insn);
        matmul_edge(core, NPU_LANE_MTE2, NPU_LANE_MTE1);
        break;
    case MATMUL_DO_END:
        queue->only = -1;
        break;
    }
    if (message->verb != MATMUL_DO_ITERATE && message->verb != MATMUL_DO_ITERATE_TO_WORKSPACE &&
        (out->sync || out->wait))
        answer(core, message);
}

struct service {
    struct npu_core *core;
    struct queue *queue;
};

/* The next message that the server may take, as the link that leads to it. */
static struct matmul_message **next_message(struct queue *queue)
{
    struct matmul_message **link = &queue->first;
    while (*link && queue->only >= 0 && (*link)->sub != (uint32_t)queue->only)
        link = &(*link)->next;
    return link;
}

static bool clients_gone(const struct service *service)
{
    const struct npu *npu = service->core->npu;
    for (int i = 0; i < npu->core_count; i++) {
        const struct npu_core *core = &npu->cores[i];
        if (core->group == service->core->group && !core->aic && !core->fiber->done &&
            !service->queue->closed[core->sub])
            return false;
    }
    return true;
}

static bool has_work(void *argument)
{
    const struct service *service = argument;
    return *next_message(service->queue) || clients_gone(service);
}

void npu_matmul_serve(uint64_t workspace)
{
    NPU_ENTER(core);
    (void)workspace;
    struct queue *queue = queue_of(core);
    struct service service = {core, queue};
    uint64_t pc = core->pc;
    queue->served = true;
    matmul_core(core);
    for (;;) {
        if (!has_work(&service))
            npu_fiber_wait(core, has_work, &service, "a call of a Matmul object, or the end of the AIVs' objects");
        struct matmul_message **link = next_message(queue), *message = *link;
        if (!message)
            break;
        *link = message->next;
        if (!message->next)
            queue->last = link;
        core->pc = message->pc;
        core->api = message->api;
        between_acquire(core, message->clocks);
        npu_tape_hear(core, message->told[0]);
        npu_tape_hear(core, message->told[1]);
        if (core->tape)
            npu_tape_scalar(core, NPU_RATE_MATMUL_MESSAGE);
        serve(core, message);
        core->api = NULL;
        free_message(message);
    }
    core->pc = pc;
}

void npu_matmul_close(void)
{
    NPU_ENTER(core);
    struct queue *queue = queue_of(core);
    queue->closed[core->sub] = true;
    if (queue->only == core->sub)
        queue->only = -1;
}

/* Bytes of the source that a copy into L1 reads, from the first to the last, in whole blocks; 0 if it moves none. */
static uint64_t copied_extent(const struct npu_insn *insn)
{
    uint64_t size = akgen_dtype_size(insn->src_type);
    if (insn->op == NPU_OP_ND2NZ) {
        const struct npu_nd2nz *p = &insn->nd2nz;
        if (!p->nd_num || !p->n || !p->d)
            return 0;
        uint64_t elements = (uint64_t)(p->nd_num - 1) * p->src_matrix + (uint64_t)(p->n - 1) * p->src_d + p->d;
        return (elements * size + NPU_BLOCK - 1) / NPU_BLOCK * NPU_BLOCK;
    }
    if (insn->form == NPU_FORM_COUNT)
        return insn->count * size / NPU_BLOCK * NPU_BLOCK;
    uint64_t length = insn->copy.block_len;
    if (!insn->copy.block_count || !length)
        return 0;
    return ((insn->copy.block_count - 1) * (length + (uint64_t)insn->copy.src_stride) + length) * NPU_BLOCK;
}

/* A copy into L1 that an AIV with Matmul objects issues is done by its AIC. What lies in UB goes by way of the
 * workspace. */
static void forward_copy(struct npu_core *core, const struct npu_insn *insn)
{
    struct npu_insn copy = *insn;
    bool from_ub = npu_memory_of(insn->src0.position) == NPU_MEM_UB;
    uint64_t bytes = copied_extent(insn);
    if (from_ub && !bytes)
        return;
    if (from_ub) {
        if (bytes > core->ub_bytes)
            npu_trap(core, FAULT(ub_out_of_bounds), "src", "a copy reads %llu bytes; UB has %u",
                     (unsigned long long)bytes, core->ub_bytes);
        copy.src0 = matmul_staged(core, &insn->src0);
        matmul_edge(core, NPU_LANE_V, NPU_LANE_MTE3);
        matmul_copy_between(core, copy.src0, insn->src0, insn->src_type, (uint32_t)bytes);
    }
    struct matmul_message *message = matmul_post(core, MATMUL_DO_COPY, NULL, npu_isa[insn->op].name, false);
    message->insn = copy;
    message->insn.dst.addr -= npu_memory_base(core, NPU_MEM_L1) - 1;
    message->out.sync = from_ub; /* its place in the workspace is free again */
    if (from_ub)
        matmul_wait_answer(core, NULL, npu_isa[insn->op].name);
}

void npu_matmul_open(uint64_t workspace)
{
    NPU_ENTER(core);
    if (!core->between)
        npu_trap(core, FAULT(matmul_no_cube), NULL,
                 "a Matmul object on an AIV asks the AIC of its block, and this kernel starts no AIC beside its AIVs: "
                 "its type is %s",
                 npu_kernel_type_name((int)core->npu->config.kernel_type));
    const struct npu_gm_region *region = workspace ? npu_gm_find(core->npu, workspace) : NULL;
    if (!region || (uint64_t)region->base + region->bytes - workspace < SYSTEM_WORKSPACE)
        npu_trap(core, FAULT(matmul_workspace), "workspace",
                 "Matmul objects of a kernel with AIVs need a system workspace of %d bytes; %s", SYSTEM_WORKSPACE,
                 region ? "here are fewer" : "there is none: the tiling function adds GetLibApiWorkSpaceSize()");
    uint64_t aivs = (uint64_t)(core->group * core->npu->aiv + core->sub) + 1;
    if (MESSAGES + aivs * NPU_UB_BYTES > SYSTEM_WORKSPACE)
        npu_lacks(core, "Matmul objects of more AIVs than the system workspace has room for");
    struct queue *queue = queue_of(core);
    core->forward_copy = forward_copy;
    queue->closed[core->sub] = false;
    queue->workspace = workspace;
    matmul_core(core)->registered = 0;
}
