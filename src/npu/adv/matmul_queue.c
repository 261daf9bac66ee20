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
#include "npu/adv/matmul.h"

#include "npu/machine_internal.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum {
    SYSTEM_WORKSPACE = 16 << 20,
    MESSAGES = 1 << 20 /* what the staging places lie behind */,
    DOCUMENTED_OBJECTS = 4
};
enum verb { ITERATE, ITERATE_TO_WORKSPACE, ITERATE_ALL, GET_C, BATCH, COPY, END };

struct message {
    struct message *next;
    enum verb verb;
    uint32_t sub;
    uint64_t pc;
    const char *api;
    struct npu_matmul mm;
    struct npu_matmul_output out;
    struct npu_matmul_batch batch;
    struct npu_insn insn;     /* COPY */
    struct npu_clock *clocks; /* what came before it */
};
/* Answers that a client has not looked at yet. */
struct answer {
    struct answer *next;
    struct npu_clock *clocks;
};
struct channel {
    struct answer *first, **last;
};
/* One block's. */
struct queue {
    struct message *first, **last;
    bool open[2], closed[2], served;
    int only; /* the AIV whose Iterate waits for its GetTensorC; -1: either */
    uint64_t workspace;
    struct channel channels[2][MATMUL_OBJECTS];
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
            for (int k = 0; k < 2 * MATMUL_OBJECTS; k++)
                queue->channels[k / MATMUL_OBJECTS][k % MATMUL_OBJECTS].last =
                    &queue->channels[k / MATMUL_OBJECTS][k % MATMUL_OBJECTS].first;
        }
    }
    return &npu->matmul->of[core->group];
}

static void free_message(struct message *message)
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
            struct message *message = queue->first;
            queue->first = message->next;
            free_message(message);
        }
        for (int k = 0; k < 2 * MATMUL_OBJECTS; k++)
            while (queue->channels[k / MATMUL_OBJECTS][k % MATMUL_OBJECTS].first)
                pop_answer(&queue->channels[k / MATMUL_OBJECTS][k % MATMUL_OBJECTS]);
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
/* Sends a message behind what MTE3 has done; `reads`: also behind what MTE2 has, since the server writes to where it
 * read from. */
static struct message *post(struct npu_core *core, enum verb verb, const struct npu_matmul *mm, const char *api,
                            bool reads)
{
    struct queue *queue = queue_of(core);
    struct message *message = calloc(1, sizeof *message);
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
    between_release(core, NPU_LANE_MTE3, message->clocks);
    if (reads) {
        npu_schedule_drain(core, NPU_PIPE_MTE2);
        between_release(core, NPU_LANE_MTE2, message->clocks);
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

static void wait_answer(struct npu_core *core, const struct npu_matmul *mm, const char *api)
{
    struct queue *queue = queue_of(core);
    struct channel *channel = &queue->channels[core->sub][mm->id - 1];
    if (!channel->first)
        npu_fiber_wait(core, has_answer, channel,
                       queue->served ? api : "its AIC to serve Matmul objects (REGIST_MATMUL_OBJ)");
    between_acquire(core, channel->first->clocks);
    pop_answer(channel);
}

/* The place in the workspace that stands for a tensor in UB. */
static struct npu_tensor staged(struct npu_core *core, const struct npu_tensor *local)
{
    uint64_t offset = local->addr - npu_memory_base(core, NPU_MEM_UB);
    return (struct npu_tensor){.addr = queue_of(core)->workspace + MESSAGES +
                                       (uint64_t)(core->group * core->npu->aiv + core->sub) * NPU_UB_BYTES + offset,
                               .position = NPU_GM};
}

static void copy_between(struct npu_core *core, struct npu_tensor dst, struct npu_tensor src, uint8_t type,
                         uint32_t bytes)
{
    struct npu_insn insn = {.op = NPU_OP_DATA_COPY,
                            .form = NPU_FORM_MASK_REG,
                            .dst_type = type,
                            .src_type = type,
                            .dst = dst,
                            .src0 = src,
                            .copy = {.block_count = 1, .block_len = bytes / NPU_BLOCK}};
    npu_issue_from(core, &insn);
}

static void fetch_to_ub(struct npu_core *core, const struct npu_matmul *mm, const struct npu_tensor *local,
                        uint64_t from, bool finish)
{
    struct npu_tensor gm = {.addr = from, .position = NPU_GM};
    copy_between(core, *local, gm, mm->types[NPU_MATMUL_C].dtype, local->bytes);
    if (finish)
        matmul_edge(core, NPU_LANE_MTE2, NPU_LANE_V);
}

/* Both matrices shared: the calls of the second AIV of a block stand for those of the first. */
static bool asks(const struct npu_core *core, const struct npu_matmul *mm)
{
    return core->sub == 0 || !(mm->types[NPU_MATMUL_A].shared && mm->types[NPU_MATMUL_B].shared);
}

/* The server. */
static void answer(struct npu_core *core, const struct message *message)
{
    struct queue *queue = queue_of(core);
    const struct npu_matmul *mm = &message->mm;
    bool both = mm->types[NPU_MATMUL_A].shared && mm->types[NPU_MATMUL_B].shared;
    npu_schedule_drain(core, NPU_PIPE_FIX);
    for (uint32_t sub = 0; sub < 2; sub++) {
        if (sub != message->sub && !both)
            continue;
        struct answer *answer = calloc(1, sizeof *answer);
        if (!answer)
            abort();
        answer->clocks = new_clocks(core);
        between_release(core, NPU_LANE_FIX, answer->clocks);
        struct channel *channel = &queue->channels[sub][mm->id - 1];
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

static void to_workspace(struct npu_core *core, const struct message *message)
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

static void serve(struct npu_core *core, struct message *message)
{
    struct queue *queue = queue_of(core);
    struct npu_matmul *mm = &message->mm;
    struct npu_matmul_output *out = &message->out;
    struct matmul_block block;
    for (int i = 0; i < NPU_MATMUL_MATRICES; i++)
        localize(core, &mm->sources[i].tensor);
    localize(core, &out->local);
    switch (message->verb) {
    case ITERATE:
        block = matmul_block_at(mm, mm->step - 1);
        matmul_compute(core, mm, message->sub, &block, out->partial_sum);
        queue->only = (int)message->sub;
        break;
    case GET_C:
        block = matmul_block_at(mm, mm->step - 1);
        matmul_store(core, mm, &block, out->gm.addr ? &out->gm : &out->local, out->atomic, out->sequential);
        queue->only = -1;
        break;
    case ITERATE_TO_WORKSPACE:
        to_workspace(core, message);
        break;
    case ITERATE_ALL:
        if (!out->fake)
            matmul_run_all(core, mm, message->sub, out);
        break;
    case BATCH:
        for (uint32_t i = 0; i < message->batch.loops; i++) {
            matmul_run_batch(core, mm, message->sub, &message->batch, i, out);
            if (mm->loops)
                answer(core, message);
        }
        break;
    case COPY:
        message->insn.dst.bytes = 0;
        localize(core, &message->insn.dst);
        matmul_edge(core, NPU_LANE_MTE1, NPU_LANE_MTE2);
        npu_issue_from(core, &message->insn);
        matmul_edge(core, NPU_LANE_MTE2, NPU_LANE_MTE1);
        break;
    case END:
        queue->only = -1;
        break;
    }
    if (message->verb != ITERATE && message->verb != ITERATE_TO_WORKSPACE && (out->sync || out->wait))
        answer(core, message);
}

struct service {
    struct npu_core *core;
    struct queue *queue;
};

/* The next message that the server may take, as the link that leads to it. */
static struct message **next_message(struct queue *queue)
{
    struct message **link = &queue->first;
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
        struct message **link = next_message(queue), *message = *link;
        if (!message)
            break;
        *link = message->next;
        if (!message->next)
            queue->last = link;
        core->pc = message->pc;
        core->api = message->api;
        between_acquire(core, message->clocks);
        serve(core, message);
        core->api = NULL;
        free_message(message);
    }
    core->pc = pc;
}

/* Calls of the kernel. */
void npu_matmul_open(uint64_t workspace)
{
    NPU_ENTER(core);
    if (!core->between)
        npu_trap(core, "matmul_no_cube", NULL,
                 "a Matmul object on an AIV asks the AIC of its block, and this kernel starts no AIC beside its AIVs: "
                 "its type is %s",
                 npu_kernel_type_name((int)core->npu->config.kernel_type));
    const struct npu_gm_region *region = workspace ? npu_gm_find(core->npu, workspace) : NULL;
    if (!region || (uint64_t)region->base + region->bytes - workspace < SYSTEM_WORKSPACE)
        npu_trap(core, "matmul_workspace", "workspace",
                 "Matmul objects of a kernel with AIVs need a system workspace of %d bytes; %s", SYSTEM_WORKSPACE,
                 region ? "here are fewer" : "there is none: the tiling function adds GetLibApiWorkSpaceSize()");
    struct queue *queue = queue_of(core);
    queue->open[core->sub] = true;
    queue->closed[core->sub] = false;
    queue->workspace = workspace;
    matmul_core(core)->registered = 0;
}

void npu_matmul_close(void)
{
    NPU_ENTER(core);
    struct queue *queue = queue_of(core);
    queue->closed[core->sub] = true;
    if (queue->only == core->sub)
        queue->only = -1;
}

/* A copy into L1 that an AIV asks for: true if it was sent to the AIC. */
bool matmul_forward_copy(struct npu_core *core, const struct npu_insn *insn)
{
    if (!core->between || !core->npu->matmul || !queue_of(core)->open[core->sub])
        return false;
    struct message *message = post(core, COPY, NULL, npu_isa[insn->op].name, false);
    message->insn = *insn;
    message->insn.dst.addr -= npu_memory_base(core, NPU_MEM_L1) - 1;
    return true;
}

void npu_matmul_register(struct npu_matmul *mm)
{
    NPU_ENTER(core);
    mm->id = ++matmul_core(core)->registered;
    mm->client = !core->aic;
    mm->version = 0;
    if (mm->id > MATMUL_OBJECTS)
        npu_trap(core, "matmul_objects", NULL, "%u Matmul objects: a kernel can have %d", mm->id, DOCUMENTED_OBJECTS);
    if (mm->id == DOCUMENTED_OBJECTS + 1)
        npu_note(core, NPU_DIFFERS, false, "matmul_objects", NULL, 0,
                 "more than %d Matmul objects: cross-core flags that others need are used for them",
                 DOCUMENTED_OBJECTS);
}

/* True if the call has a meaning here: an object of a kernel without a client does nothing on an AIV. */
static bool enter(struct npu_core *core, struct npu_matmul *mm)
{
    if (!core->aic && !mm->client)
        return false;
    if (!mm->id)
        npu_trap(core, "matmul_not_ready", NULL, "the object was not initialised: REGIST_MATMUL_OBJ comes first");
    return true;
}

static void apply_constants(struct npu_matmul *mm, const int32_t *constants)
{
    struct TCubeTiling *t = (struct TCubeTiling *)mm->tiling;
    int32_t *words = mm->tiling, gap = (int32_t)(&t->stepKa - &t->batchM), before = (int32_t)(&t->batchM - words);
    for (int i = 0; constants && i < NPU_MATMUL_CONSTANTS; i++)
        if (constants[i] != -1)
            words[i < before ? i : i + gap] = constants[i];
    if (!(mm->flags & NPU_MATMUL_FIXED))
        return;
    int32_t *ones[] = {&t->depthA1, &t->depthB1, &t->stepM, &t->stepN, &t->stepKa, &t->stepKb};
    for (int i = 0; i < 6; i++)
        *ones[i] = *ones[i] > 0 ? *ones[i] : 1;
}

void npu_matmul_init(struct npu_matmul *mm, uint64_t tiling_addr, uint32_t bytes, const int32_t *constants)
{
    NPU_ENTER(core);
    if (core->aic && !mm->id) { /* Init without REGIST_MATMUL_OBJ, as MatmulImpl has it */
        uint64_t pc = core->pc;
        npu_matmul_register(mm);
        core->pc = pc;
    }
    if (!enter(core, mm))
        return;
    if (tiling_addr)
        memcpy(mm->tiling, (const void *)tiling_addr, bytes < sizeof mm->tiling ? bytes : sizeof mm->tiling);
    apply_constants(mm, constants);
    const struct TCubeTiling *t = matmul_tiling(mm);
    core->api = "REGIST_MATMUL_OBJ";
    matmul_check_tiling(core, mm);
    core->api = NULL;
    mm->version++;
    mm->org_m = t->M;
    mm->org_n = t->N;
    mm->org_ka = t->Ka;
    mm->org_kb = t->Kb;
    mm->org_kc = 0;
    mm->m = t->singleCoreM;
    mm->n = t->singleCoreN;
    mm->k = t->singleCoreK;
    mm->iterating = 0;
}

void npu_matmul_set_shape(struct npu_matmul *mm, int which, int m, int n, int k, int kb, int kc)
{
    NPU_ENTER(core);
    if (!enter(core, mm))
        return;
    if (which == NPU_MATMUL_ORG_SHAPE) {
        mm->org_m = m;
        mm->org_n = n;
        mm->org_ka = k;
        mm->org_kb = kb;
        mm->org_kc = kc;
        return;
    }
    const struct TCubeTiling *t = matmul_tiling(mm);
    if (m > t->singleCoreM || n > t->singleCoreN || k > t->singleCoreK)
        npu_note(core, NPU_DIFFERS, false, "matmul_shape", NULL, 0,
                 "%s(%d, %d, %d): the tiling is for at most %d x %d x %d",
                 which == NPU_MATMUL_TAIL ? "SetTail" : "SetSingleShape", m, n, k, t->singleCoreM, t->singleCoreN,
                 t->singleCoreK);
    bool keeps = which == NPU_MATMUL_TAIL; /* -1 */
    mm->m = keeps && m == -1 ? mm->m : m;
    mm->n = keeps && n == -1 ? mm->n : n;
    mm->k = keeps && k == -1 ? mm->k : k;
}

static void stage_source(struct npu_core *core, const struct npu_matmul *mm, int matrix, struct npu_tensor *tensor)
{
    struct npu_tensor gm = staged(core, tensor);
    uint8_t type = matrix == NPU_MATMUL_QUANT ? AKGEN_UINT64 : mm->types[matrix].dtype;
    matmul_edge(core, NPU_LANE_V, NPU_LANE_MTE3);
    copy_between(core, gm, *tensor, type, matmul_align(tensor->bytes, NPU_BLOCK));
    *tensor = gm;
}

void npu_matmul_set_source(struct npu_matmul *mm, int matrix, const struct npu_tensor *tensor, uint64_t scalar,
                           int transposed)
{
    static const char *const names[] = {"SetTensorA", "SetTensorB", "SetQuantVector", "SetBias"};
    NPU_ENTER(core);
    if (!enter(core, mm))
        return;
    struct npu_matmul_source *source = &mm->sources[matrix];
    *source = (struct npu_matmul_source){.set = 1, .is_scalar = !tensor, .scalar = scalar};
    if (matrix == NPU_MATMUL_BIAS && !matmul_tiling(mm)->isBias)
        npu_trap(core, "matmul_not_ready", names[matrix], "SetBias, and isBias of the tiling is 0: EnableBias(true)");
    if (transposed && matrix <= NPU_MATMUL_B && !mm->types[matrix].transposed)
        npu_note(core, NPU_DIFFERS, false, "matmul_transpose", names[matrix], 0,
                 "%s with a transposition that the object's MatmulType does not have (ISTRANS): it has no effect",
                 names[matrix]);
    else
        source->transposed = transposed != 0;
    if (matrix <= NPU_MATMUL_B) {
        mm->changes++;
        mm->iterating = 0;
    }
    if (!tensor)
        return;
    source->tensor = *tensor;
    enum npu_memory memory = npu_memory_of(tensor->position);
    if (memory != NPU_MEM_NONE && memory != NPU_MEM_L1 && (memory != NPU_MEM_UB || core->aic))
        npu_trap(core, "matmul_position", names[matrix], "%s of a tensor in %s: it takes GM, VECOUT and TSCM",
                 names[matrix], npu_memories[memory].name);
    if (memory == NPU_MEM_UB)
        stage_source(core, mm, matrix, &source->tensor);
    else if (memory == NPU_MEM_L1 && mm->client)
        source->tensor.addr -= npu_memory_base(core, NPU_MEM_L1) - 1;
}

void npu_matmul_clear_bias(struct npu_matmul *mm)
{
    mm->sources[NPU_MATMUL_BIAS].set = 0;
}

void npu_matmul_set_quant(struct npu_matmul *mm, uint64_t parameter)
{
    mm->quant = parameter;
    mm->sources[NPU_MATMUL_QUANT].set = 0;
}

void npu_matmul_set_hf32(struct npu_matmul *mm, int on, int ties_to_zero)
{
    mm->hf32 = on != 0;
    mm->hf32_ties_to_zero = ties_to_zero == 1;
}

void npu_matmul_call_back(uint32_t id, const struct npu_matmul_callbacks *callbacks)
{
    NPU_ENTER(core);
    if (core->aic && id && id <= MATMUL_OBJECTS)
        matmul_core(core)->callbacks[id - 1] = *callbacks;
}

void npu_matmul_set_user(struct npu_matmul *mm, uint64_t tiling, uint64_t data)
{
    mm->user_tiling = tiling;
    mm->user_data = data;
}

void npu_matmul_set_workspace(struct npu_matmul *mm, uint64_t addr)
{
    mm->workspace = addr;
}

void npu_matmul_set_batch(struct npu_matmul *mm, int batch_a, int batch_b)
{
    mm->batch_a = batch_a;
    mm->batch_b = batch_b;
}

/* The first Iterate of a matrix product; false when all its blocks are done. */
static bool next_block(struct npu_core *core, struct npu_matmul *mm)
{
    if (!mm->iterating) {
        matmul_check_ready(core, mm);
        mm->iterating = 1;
        mm->step = mm->taken = 0;
        mm->steps = matmul_blocks(mm);
    }
    if (mm->step == mm->steps) {
        mm->iterating = 0;
        return false;
    }
    mm->step++;
    return true;
}

int npu_matmul_iterate(struct npu_matmul *mm, int sync, int partial_sum, const struct npu_tensor *local)
{
    NPU_ENTER(core);
    if (!enter(core, mm))
        return 0;
    bool first = !mm->iterating;
    if (!next_block(core, mm))
        return 0;
    mm->async = !sync;
    if (core->aic) {
        struct matmul_block block = matmul_block_at(mm, mm->step - 1);
        if (local)
            block.l0c = local->addr;
        core->api = "Iterate";
        matmul_core(core);
        matmul_compute(core, mm, 0, &block, partial_sum);
        core->api = NULL;
        return 1;
    }
    if (local)
        npu_trap(core, "matmul_position", "localCmatrix", "Iterate into a tensor of L0C belongs on an AIC");
    if (!sync && !mm->workspace)
        npu_trap(core, "matmul_not_ready", "SetWorkspace",
                 "Iterate<false> puts C into the workspace that SetWorkspace names");
    if (sync || first) {
        struct message *message = post(core, sync ? ITERATE : ITERATE_TO_WORKSPACE, mm, "Iterate", false);
        message->out.partial_sum = partial_sum != 0;
    }
    return 1;
}

/* Runs or sends a call that writes C, and brings C to UB where it was asked for. */
static void write_c(struct npu_core *core, struct npu_matmul *mm, enum verb verb, const char *api,
                    const struct npu_matmul_batch *batch, const struct npu_matmul_output *given)
{
    struct npu_matmul_output out = *given;
    bool to_ub = npu_position_on_ub(out.local.position) && out.local.addr;
    uint64_t from = out.gm.addr;
    if (to_ub && !from) {
        out.local = staged(core, &given->local);
        from = out.local.addr;
    }
    if (out.local.addr && npu_memory_of(out.local.position) == NPU_MEM_L1)
        out.local.addr -= npu_memory_base(core, NPU_MEM_L1) - 1;
    if (asks(core, mm)) {
        struct message *message = post(core, verb, mm, api, to_ub);
        message->out = out;
        if (batch)
            message->batch = *batch;
    }
    if (out.sync)
        wait_answer(core, mm, api);
    if (to_ub && out.sync)
        fetch_to_ub(core, mm, &given->local, from, true);
}

static void refuse_ub(struct npu_core *core, const struct npu_matmul_output *out)
{
    if (npu_position_on_ub(out->local.position) && out->local.addr)
        npu_trap(core, "matmul_position", "C", "C in UB needs an AIV: on an AIC it goes to GM or L1");
}

void npu_matmul_iterate_all(struct npu_matmul *mm, const struct npu_matmul_output *out)
{
    NPU_ENTER(core);
    if (!enter(core, mm))
        return;
    matmul_check_ready(core, mm);
    mm->iterating = 0;
    if (!core->aic) {
        write_c(core, mm, ITERATE_ALL, "IterateAll", NULL, out);
        return;
    }
    refuse_ub(core, out);
    core->api = "IterateAll";
    matmul_core(core);
    if (!out->fake)
        matmul_run_all(core, mm, 0, out);
    core->api = NULL;
}

static void take_cached(struct npu_core *core, struct npu_matmul *mm, const char *api)
{
    if (!mm->async || !mm->iterating)
        npu_trap(core, "matmul_not_ready", "Iterate",
                 "%s takes what Iterate<false> has computed, and it was not called", api);
    if (mm->taken == mm->steps)
        npu_trap(core, "matmul_not_ready", "Iterate", "%s for block %u: C has %u", api, mm->taken + 1, mm->steps);
    wait_answer(core, mm, api);
}

uint64_t npu_matmul_next_cached(struct npu_matmul *mm)
{
    NPU_ENTER(core);
    if (!enter(core, mm))
        return 0;
    const struct TCubeTiling *t = matmul_tiling(mm);
    take_cached(core, mm, "GetTensorC");
    return mm->workspace + (uint64_t)mm->taken++ * (uint32_t)t->baseM * (uint32_t)t->baseN *
                               akgen_dtype_size(mm->types[NPU_MATMUL_C].dtype);
}

void npu_matmul_get_cached(struct npu_matmul *mm, const struct npu_tensor *local)
{
    NPU_ENTER(core);
    uint64_t pc = core->pc, from = npu_matmul_next_cached(mm);
    core->pc = pc;
    if (from)
        fetch_to_ub(core, mm, local, from, false);
}

void npu_matmul_wait_get(struct npu_matmul *mm)
{
    NPU_ENTER(core);
    if (enter(core, mm) && !core->aic)
        matmul_edge(core, NPU_LANE_MTE2, NPU_LANE_V);
}

void npu_matmul_get_c(struct npu_matmul *mm, const struct npu_matmul_output *out)
{
    NPU_ENTER(core);
    if (!enter(core, mm))
        return;
    if (mm->async && mm->iterating && out->local.addr && !out->gm.addr) {
        uint64_t pc = core->pc, from = npu_matmul_next_cached(mm);
        core->pc = pc;
        fetch_to_ub(core, mm, &out->local, from, true);
        return;
    }
    if (!mm->iterating || !mm->step)
        npu_trap(core, "matmul_not_ready", "Iterate", "GetTensorC without an Iterate before it");
    if (mm->async)
        npu_trap(core, "matmul_not_ready", "Iterate",
                 "GetTensorC into GM after Iterate<false>: C lies in the workspace");
    if (mm->flags & NPU_MATMUL_OUTER && out->sequential)
        npu_lacks(core, "GetTensorC one block behind the other with ScheduleType::OUTER_PRODUCT");
    if (!core->aic) {
        write_c(core, mm, GET_C, "GetTensorC", NULL, out);
        return;
    }
    refuse_ub(core, out);
    core->api = "GetTensorC";
    struct matmul_block block = matmul_block_at(mm, mm->step - 1);
    matmul_store(core, mm, &block, out->gm.addr ? &out->gm : &out->local, out->atomic, out->sequential);
    core->api = NULL;
}

void npu_matmul_iterate_batch(struct npu_matmul *mm, const struct npu_matmul_batch *given,
                              const struct npu_matmul_output *given_out)
{
    NPU_ENTER(core);
    if (!enter(core, mm))
        return;
    struct npu_matmul_batch batch = *given;
    struct npu_matmul_output out = *given_out;
    matmul_check_ready(core, mm);
    mm->iterating = 0;
    if (!batch.a && !batch.b) {
        batch.a = (uint32_t)mm->batch_a;
        batch.b = (uint32_t)mm->batch_b;
    }
    if (!batch.a || !batch.b || (batch.a % batch.b && batch.b % batch.a))
        npu_trap(core, "matmul_shape", "batch", "batches of %u and %u matrices: one must be a multiple of the other",
                 batch.a, batch.b);
    bool cached = !out.gm.addr && !out.local.addr;
    if (cached && !mm->workspace)
        npu_trap(core, "matmul_not_ready", "SetWorkspace",
                 "IterateNBatch puts C into the workspace that SetWorkspace names");
    if (cached)
        out.gm = (struct npu_tensor){.addr = mm->workspace, .position = NPU_GM};
    mm->loops = cached && !out.sync && !out.wait ? batch.loops : 0;
    mm->taken = 0;
    mm->cached_bytes = 0;
    if (!core->aic) {
        write_c(core, mm, BATCH, "IterateBatch", &batch, &out);
        return;
    }
    refuse_ub(core, &out);
    core->api = "IterateBatch";
    matmul_core(core);
    for (uint32_t i = 0; i < batch.loops; i++)
        matmul_run_batch(core, mm, 0, &batch, i, &out);
    core->api = NULL;
}

static void take_batch(struct npu_core *core, struct npu_matmul *mm)
{
    if (!mm->loops)
        npu_trap(core, "matmul_not_ready", "IterateNBatch",
                 "GetBatchTensorC takes what IterateNBatch<false> has computed, and it was not called");
    if (mm->taken == mm->loops)
        npu_trap(core, "matmul_not_ready", "IterateNBatch", "GetBatchTensorC for batch %u: there are %u", mm->taken + 1,
                 mm->loops);
    wait_answer(core, mm, "GetBatchTensorC");
    mm->taken++;
}

uint64_t npu_matmul_next_batch(struct npu_matmul *mm, uint32_t batch_a, uint32_t batch_b)
{
    NPU_ENTER(core);
    if (!enter(core, mm))
        return 0;
    const struct TCubeTiling *t = matmul_tiling(mm);
    take_batch(core, mm);
    uint64_t at = mm->workspace + mm->cached_bytes;
    mm->cached_bytes += (uint64_t)(batch_a > batch_b ? batch_a : batch_b) * (uint32_t)t->singleCoreM *
                        (uint32_t)t->singleCoreN * akgen_dtype_size(mm->types[NPU_MATMUL_C].dtype);
    return at;
}

/* Rows of one batch that lie apart keep their distance in UB, as CopyToUBBatch of CANN's client has it. */
void npu_matmul_get_batch(struct npu_matmul *mm, const struct npu_tensor *local, uint32_t batch_a, uint32_t batch_b)
{
    NPU_ENTER(core);
    if (!enter(core, mm))
        return;
    const struct TCubeTiling *t = matmul_tiling(mm);
    const struct npu_matmul_batch batch = {.a = batch_a, .b = batch_b, .loops = 1};
    uint32_t size = (uint32_t)akgen_dtype_size(mm->types[NPU_MATMUL_C].dtype), count = matmul_batch_of_c(mm, &batch);
    uint32_t columns, first = mm->taken * count;
    uint32_t width = count * (uint32_t)t->singleCoreN * size / NPU_BLOCK, rows = (uint32_t)t->singleCoreM;
    take_batch(core, mm);
    uint8_t layout = mm->types[NPU_MATMUL_C].layout;
    bool apart = layout == NPU_LAYOUT_BSNGD || layout == NPU_LAYOUT_SBNGD;
    struct npu_insn insn = {
        .op = NPU_OP_DATA_COPY,
        .form = NPU_FORM_MASK_REG,
        .dst_type = mm->types[NPU_MATMUL_C].dtype,
        .src_type = mm->types[NPU_MATMUL_C].dtype,
        .dst = *local,
        .src0 = {.addr = mm->workspace + matmul_batch_offset(mm, first, &columns), .position = NPU_GM},
        .copy = {.block_count = 1, .block_len = width * rows}};
    if (apart) {
        uint32_t gap = columns * size / NPU_BLOCK - width;
        insn.copy = (struct npu_copy){.block_count = rows, .block_len = width, .src_stride = gap, .dst_stride = gap};
    }
    npu_issue_from(core, &insn);
    matmul_edge(core, NPU_LANE_MTE2, NPU_LANE_V);
}

void npu_matmul_wait(struct npu_matmul *mm)
{
    NPU_ENTER(core);
    if (enter(core, mm) && mm->client)
        wait_answer(core, mm, "WaitIterateAll");
}

void npu_matmul_end(struct npu_matmul *mm)
{
    NPU_ENTER(core);
    if (!enter(core, mm))
        return;
    if (mm->client && mm->iterating)
        post(core, END, mm, "End", false);
    mm->iterating = 0;
}
