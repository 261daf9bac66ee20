/* The calls of a Matmul object: checked, executed at once on an AIC, sent to it from an AIV (matmul_queue.c). */
#include "npu/adv/adv.h"
#include "npu/adv/matmul.h"
#include "npu/gm_region.h"
#include "npu/insn/lanes.h"
#include "npu/issue/issue.h"
#include "npu/machine.h"
#include "npu/memory.h"
#include "npu/own_memory.h"
#include "npu/report.h"
#include "npu/time/rates.h"
#include "npu/time/tape.h"

#include <string.h>

enum { DOCUMENTED_OBJECTS = 4 };

static void register_object(struct npu_core *core, struct npu_matmul *mm)
{
    mm->id = ++matmul_core(core)->registered;
    mm->client = !core->aic;
    mm->version = 0;
    if (mm->id > MATMUL_OBJECTS)
        npu_trap(core, FAULT(matmul_objects), NULL, "%u Matmul objects: a kernel can have %d", mm->id,
                 DOCUMENTED_OBJECTS);
    if (mm->id == DOCUMENTED_OBJECTS + 1)
        npu_note(core, false, FAULT(matmul_objects), NULL, 0,
                 "more than %d Matmul objects: cross-core flags that others need are used for them",
                 DOCUMENTED_OBJECTS);
}

void npu_matmul_register(struct npu_matmul *mm)
{
    NPU_ENTER(core);
    register_object(core, mm);
}

uint32_t matmul_index(struct npu_core *core, const struct npu_matmul *mm)
{
    uint32_t index = mm->id - 1;
    if (index >= MATMUL_OBJECTS)
        npu_no_such(core, "Matmul object", mm->id);
    return index;
}

static void check_types(struct npu_core *core, const struct npu_matmul *mm)
{
    for (int i = 0; i < NPU_MATMUL_MATRICES; i++) {
        const struct npu_matmul_type *type = &mm->types[i];
        if (!npu_type_has_width(type->dtype) || type->format > NPU_FORMAT_COLUMN_MAJOR ||
            type->layout > NPU_LAYOUT_NORMAL)
            npu_no_such(core, "matrix of type", type->dtype);
    }
}

/* True if the call has a meaning here: an object of a kernel without a client does nothing on an AIV. */
static bool enter(struct npu_core *core, struct npu_matmul *mm)
{
    if (!core->aic && !mm->client)
        return false;
    if (!mm->id)
        npu_trap(core, FAULT(matmul_not_ready), NULL, "the object was not initialised: REGIST_MATMUL_OBJ comes first");
    matmul_index(core, mm);
    check_types(core, mm);
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

/* The kernel's copy, or the tiling data themselves. */
static void check_tiling_address(struct npu_core *core, uint64_t addr, uint32_t bytes)
{
    const struct npu_gm_region *region = npu_gm_find(core->npu, addr);
    if (!region || region->bytes - (addr - (uint64_t)region->base) < bytes)
        npu_own_check(core, (const void *)addr, bytes, false); // NOLINT: the kernel's number
}

void npu_matmul_init(struct npu_matmul *mm, uint64_t tiling_addr, uint32_t bytes, const int32_t *constants)
{
    NPU_ENTER(core);
    if (core->aic && !mm->id) /* Init without REGIST_MATMUL_OBJ, as MatmulImpl has it */
        register_object(core, mm);
    if (!enter(core, mm))
        return;
    bytes = bytes < sizeof mm->tiling ? bytes : sizeof mm->tiling;
    if (tiling_addr) {
        check_tiling_address(core, tiling_addr, bytes);
        memcpy(mm->tiling, (const void *)tiling_addr, bytes);
    }
    apply_constants(mm, constants);
    if (core->tape)
        npu_tape_scalar(core, NPU_RATE_MATMUL_INIT + (mm->flags & NPU_MATMUL_FIXED ? 0 : NPU_RATE_MATMUL_TILING));
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
        npu_note(core, false, FAULT(matmul_shape), NULL, 0, "%s(%d, %d, %d): the tiling is for at most %d x %d x %d",
                 which == NPU_MATMUL_TAIL ? "SetTail" : "SetSingleShape", m, n, k, t->singleCoreM, t->singleCoreN,
                 t->singleCoreK);
    bool keeps = which == NPU_MATMUL_TAIL; /* -1 */
    mm->m = keeps && m == -1 ? mm->m : m;
    mm->n = keeps && n == -1 ? mm->n : n;
    mm->k = keeps && k == -1 ? mm->k : k;
}

static void stage_source(struct npu_core *core, const struct npu_matmul *mm, int matrix, struct npu_tensor *tensor)
{
    struct npu_tensor gm = matmul_staged(core, tensor);
    uint8_t type = matrix == NPU_MATMUL_QUANT ? AKGEN_UINT64 : mm->types[matrix].dtype;
    matmul_edge(core, NPU_LANE_V, NPU_LANE_MTE3);
    matmul_copy_between(core, gm, *tensor, type, matmul_align(tensor->bytes, NPU_BLOCK));
    *tensor = gm;
}

/* Docs Matmul使用说明, data types of an Atlas A2. CANN's header takes any. */
static void check_bias_type(struct npu_core *core, const struct npu_matmul *mm)
{
    uint8_t a = mm->types[NPU_MATMUL_A].dtype, bias = mm->types[NPU_MATMUL_BIAS].dtype;
    bool integer = a == AKGEN_INT8 || a == AKGEN_INT4;
    if (integer ? bias != AKGEN_INT32 : bias != AKGEN_FLOAT && bias != AKGEN_FLOAT16)
        npu_trap(core, FAULT(cube_dtype), "SetBias", "a bias of %s with a matrix of %s; supported: %s",
                 akgen_dtype_name(bias), akgen_dtype_name(a), integer ? "int32" : "half and float");
}

void npu_matmul_set_source(struct npu_matmul *mm, int matrix, const struct npu_tensor *tensor, uint64_t scalar,
                           int transposed)
{
    NPU_ENTER(core);
    static const char *const names[] = {"SetTensorA", "SetTensorB", "SetQuantVector", "SetBias"};
    if (!enter(core, mm))
        return;
    if ((unsigned)matrix >= NPU_MATMUL_MATRICES)
        npu_no_such(core, "matrix", (unsigned)matrix);
    struct npu_matmul_source *source = &mm->sources[matrix];
    *source = (struct npu_matmul_source){.set = 1, .is_scalar = !tensor, .scalar = scalar};
    if (matrix == NPU_MATMUL_BIAS && !matmul_tiling(mm)->isBias)
        npu_trap(core, FAULT(matmul_not_ready), names[matrix],
                 "SetBias, and isBias of the tiling is 0: EnableBias(true)");
    if (matrix == NPU_MATMUL_BIAS)
        check_bias_type(core, mm);
    if (transposed && matrix <= NPU_MATMUL_B && !mm->types[matrix].transposed)
        npu_note(core, false, FAULT(matmul_transpose), names[matrix], 0,
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
        npu_trap(core, FAULT(matmul_position), names[matrix], "%s of a tensor in %s: it takes GM, VECOUT and TSCM",
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

/* The machine calls nothing but functions that the kernel's object lists. */
static void check_callback(struct npu_core *core, const void *function, int kind)
{
    if (function && !npu_own_callback(core, function, kind))
        npu_bad_pointer(core, (uint64_t)function);
}

void npu_matmul_call_back(uint32_t id, const struct npu_matmul_callbacks *callbacks)
{
    NPU_ENTER(core);
    if (core->aic && id && id <= MATMUL_OBJECTS) {
        check_callback(core, (const void *)callbacks->c, NPU_CALLBACK_OUT);
        check_callback(core, (const void *)callbacks->inputs[0], NPU_CALLBACK_IN);
        check_callback(core, (const void *)callbacks->inputs[1], NPU_CALLBACK_IN);
        matmul_core(core)->callbacks[id - 1] = *callbacks;
    }
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
        npu_trap(core, FAULT(matmul_position), "localCmatrix", "Iterate into a tensor of L0C belongs on an AIC");
    if (!sync && !mm->workspace)
        npu_trap(core, FAULT(matmul_not_ready), "SetWorkspace",
                 "Iterate<false> puts C into the workspace that SetWorkspace names");
    if (sync || first) {
        struct matmul_message *message =
            matmul_post(core, sync ? MATMUL_DO_ITERATE : MATMUL_DO_ITERATE_TO_WORKSPACE, mm, "Iterate", false);
        message->out.partial_sum = partial_sum != 0;
    }
    return 1;
}

/* Runs or sends a call that writes C, and brings C to UB where it was asked for. */
static void write_c(struct npu_core *core, struct npu_matmul *mm, enum matmul_verb verb, const char *api,
                    const struct npu_matmul_batch *batch, const struct npu_matmul_output *given)
{
    struct npu_matmul_output out = *given;
    bool to_ub = npu_position_on_ub(out.local.position) && out.local.addr;
    uint64_t from = out.gm.addr;
    if (to_ub && !from) {
        out.local = matmul_staged(core, &given->local);
        from = out.local.addr;
    }
    if (out.local.addr && npu_memory_of(out.local.position) == NPU_MEM_L1)
        out.local.addr -= npu_memory_base(core, NPU_MEM_L1) - 1;
    if (matmul_asks(core, mm)) {
        struct matmul_message *message = matmul_post(core, verb, mm, api, to_ub);
        message->out = out;
        if (batch)
            message->batch = *batch;
    }
    if (out.sync)
        matmul_wait_answer(core, mm, api);
    if (to_ub && out.sync)
        matmul_fetch(core, mm, &given->local, from, true);
}

static void refuse_ub(struct npu_core *core, const struct npu_matmul_output *out)
{
    if (npu_position_on_ub(out->local.position) && out->local.addr)
        npu_trap(core, FAULT(matmul_position), "C", "C in UB needs an AIV: on an AIC it goes to GM or L1");
}

void npu_matmul_iterate_all(struct npu_matmul *mm, const struct npu_matmul_output *out)
{
    NPU_ENTER(core);
    if (!enter(core, mm))
        return;
    matmul_check_ready(core, mm);
    mm->iterating = 0;
    if (!core->aic) {
        write_c(core, mm, MATMUL_DO_ITERATE_ALL, "IterateAll", NULL, out);
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
        npu_trap(core, FAULT(matmul_not_ready), "Iterate",
                 "%s takes what Iterate<false> has computed, and it was not called", api);
    if (mm->taken == mm->steps)
        npu_trap(core, FAULT(matmul_not_ready), "Iterate", "%s for block %u: C has %u", api, mm->taken + 1, mm->steps);
    matmul_wait_answer(core, mm, api);
}

/* Where in the workspace the next block of Iterate<false> lies; 0 if the call has no meaning here. */
static uint64_t next_cached(struct npu_core *core, struct npu_matmul *mm)
{
    if (!enter(core, mm))
        return 0;
    const struct TCubeTiling *t = matmul_tiling(mm);
    take_cached(core, mm, "GetTensorC");
    return mm->workspace + (uint64_t)mm->taken++ * (uint32_t)t->baseM * (uint32_t)t->baseN *
                               akgen_dtype_size(mm->types[NPU_MATMUL_C].dtype);
}

uint64_t npu_matmul_next_cached(struct npu_matmul *mm)
{
    NPU_ENTER(core);
    return next_cached(core, mm);
}

void npu_matmul_get_cached(struct npu_matmul *mm, const struct npu_tensor *local)
{
    NPU_ENTER(core);
    uint64_t from = next_cached(core, mm);
    if (from)
        matmul_fetch(core, mm, local, from, false);
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
        matmul_fetch(core, mm, &out->local, next_cached(core, mm), true);
        return;
    }
    if (!mm->iterating || !mm->step)
        npu_trap(core, FAULT(matmul_not_ready), "Iterate", "GetTensorC without an Iterate before it");
    if (mm->async)
        npu_trap(core, FAULT(matmul_not_ready), "Iterate",
                 "GetTensorC into GM after Iterate<false>: C lies in the workspace");
    if (mm->flags & NPU_MATMUL_OUTER && out->sequential)
        npu_lacks(core, "GetTensorC one block behind the other with ScheduleType::OUTER_PRODUCT");
    if (!core->aic) {
        write_c(core, mm, MATMUL_DO_GET_C, "GetTensorC", NULL, out);
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
        npu_trap(core, FAULT(matmul_shape), "batch",
                 "batches of %u and %u matrices: one must be a multiple of the other", batch.a, batch.b);
    bool cached = !out.gm.addr && !out.local.addr;
    if (cached && !mm->workspace)
        npu_trap(core, FAULT(matmul_not_ready), "SetWorkspace",
                 "IterateNBatch puts C into the workspace that SetWorkspace names");
    if (cached)
        out.gm = (struct npu_tensor){.addr = mm->workspace, .position = NPU_GM};
    mm->loops = cached && !out.sync && !out.wait ? batch.loops : 0;
    mm->taken = 0;
    mm->cached_bytes = 0;
    if (!core->aic) {
        write_c(core, mm, MATMUL_DO_BATCH, "IterateBatch", &batch, &out);
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
        npu_trap(core, FAULT(matmul_not_ready), "IterateNBatch",
                 "GetBatchTensorC takes what IterateNBatch<false> has computed, and it was not called");
    if (mm->taken == mm->loops)
        npu_trap(core, FAULT(matmul_not_ready), "IterateNBatch", "GetBatchTensorC for batch %u: there are %u",
                 mm->taken + 1, mm->loops);
    matmul_wait_answer(core, mm, "GetBatchTensorC");
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
    struct npu_insn insn =
        ADV_INSN(NPU_OP_DATA_COPY, MASK_REG, mm->types[NPU_MATMUL_C].dtype, .dst = *local,
                 .src0 = {.addr = mm->workspace + matmul_batch_offset(mm, first, &columns), .position = NPU_GM},
                 .copy = {.block_count = 1, .block_len = width * rows});
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
        matmul_wait_answer(core, mm, "WaitIterateAll");
}

void npu_matmul_end(struct npu_matmul *mm)
{
    NPU_ENTER(core);
    if (!enter(core, mm))
        return;
    if (mm->client && mm->iterating)
        matmul_post(core, MATMUL_DO_END, mm, "End", false);
    mm->iterating = 0;
}
