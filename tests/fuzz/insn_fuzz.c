/* Whatever a kernel says to the machine: instructions, high-level APIs, Matmul objects, queues and flags whose every field may
 * be anything. The machine does it or ends the run; it never leaves its own memory (the sanitizer's build looks).
 *
 * An input is a byte that says which core runs it and how (CORE_*), and a list of records, each a kind and the bytes of that
 * kind's structure. An address in a structure is a place: its upper byte names a memory, the rest is an offset. */
/* test: cost=10 */
#include "fuzz.h"

#include "abi/npu_adv.h"
#include "abi/npu_matmul.h"
#include "npu/npu.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { CORE_AIC = 1, CORE_MANUAL = 2, CORE_WEIGHS = 4 };
enum kind { INSN, ADVANCED, MATMUL, QUEUE, FLAGS, REGISTER, SCALAR, KINDS };
/* Calls with numbers: QUEUE, FLAGS, REGISTER, SCALAR. */
struct numbers {
    uint8_t call;
    uint8_t small[7];
    uint64_t large[2];
    struct npu_tensor tensor;
};
/* A call of a Matmul object, whose state is the kernel's and may have become anything. */
struct product {
    uint8_t call, registered, keeps, small[5];
    struct npu_matmul object;
    struct npu_matmul_output out;
    struct npu_tensor tensor;
    int32_t shape[6];
};
static const size_t sizes[KINDS] = {sizeof(struct npu_insn), sizeof(struct npu_adv), sizeof(struct product),
                                    sizeof(struct numbers),  sizeof(struct numbers), sizeof(struct numbers),
                                    sizeof(struct numbers)};

enum { GM_TENSORS = 3, GM_BYTES = 1 << 16, QUEUES = 3, MEMORIES = 11 };
static struct {
    const uint8_t *bytes;
    size_t length;
} input;
static char *gm; /* GM_TENSORS, each aligned as a tensor is */

static const enum npu_position positions[MEMORIES - GM_TENSORS] = {NPU_VECIN, NPU_VECOUT, NPU_VECCALC, NPU_A1,
                                                                   NPU_A2,    NPU_B2,     NPU_CO1,     NPU_C2};

/* From a place to the address that a kernel would have of it. */
static void resolve(struct npu_tensor *tensor)
{
    struct npu_tensor memory = {0};
    unsigned number = (unsigned)(tensor->addr >> 56) % (MEMORIES + 1);
    uint64_t offset = tensor->addr & (GM_BYTES * 8 - 1);
    if (number == MEMORIES) { /* none */
        tensor->addr = 0;
        return;
    }
    if (number < GM_TENSORS)
        memory.addr = (uint64_t)(gm + (size_t)number * GM_BYTES) - GM_BYTES;
    else
        npu_local_tensor((int)positions[number - GM_TENSORS], 0, 32, &memory);
    tensor->addr = memory.addr + offset;
}

static void issue(struct npu_insn *insn)
{
    struct npu_tensor *const operands[] = {&insn->dst, &insn->src0, &insn->src1, &insn->aux};
    for (size_t i = 0; i < sizeof operands / sizeof *operands; i++)
        resolve(operands[i]);
    npu_issue(insn);
}

static void advanced(struct npu_adv *call)
{
    static uint8_t tiling[1024];
    static bool answer;
    for (size_t i = 0; i < sizeof call->dst / sizeof *call->dst; i++)
        resolve(&call->dst[i]);
    for (size_t i = 0; i < sizeof call->src / sizeof *call->src; i++)
        resolve(&call->src[i]);
    resolve(&call->tmp);
    memcpy(tiling, input.bytes, input.length < sizeof tiling ? input.length : sizeof tiling);
    call->tiling = (uint64_t)call->tiling & 1 ? tiling : NULL;
    call->answer = (uint64_t)call->answer & 1 ? &answer : NULL;
    npu_advanced(call);
}

static struct npu_matmul object; /* the one that products go on with */

/* Sizes that take no minutes. */
static void make_small(struct npu_matmul *mm)
{
    int32_t *const sizes_of[] = {&mm->org_m, &mm->org_n, &mm->org_ka, &mm->org_kb,  &mm->org_kc,
                                 &mm->m,     &mm->n,     &mm->k,      &mm->batch_a, &mm->batch_b};
    for (size_t i = 0; i < sizeof sizes_of / sizeof *sizes_of; i++)
        *sizes_of[i] %= 200;
    for (int i = 0; i < NPU_MATMUL_TILING_WORDS; i++)
        mm->tiling[i] %= 200;
    mm->loops %= 4;
    for (int i = 0; i < NPU_MATMUL_MATRICES; i++)
        resolve(&mm->sources[i].tensor);
}

static void product_call(struct product *p)
{
    enum { CALLS = 20 };
    struct npu_matmul *mm = p->keeps ? &object : &p->object;
    int32_t *t = p->shape;
    make_small(&p->object);
    for (int i = 0; i < 6; i++)
        t[i] %= 200;
    resolve(&p->out.gm);
    resolve(&p->out.local);
    resolve(&p->tensor);
    if (p->registered & 1)
        npu_matmul_register(mm);
    if (p->registered & 2)
        npu_matmul_init(mm, (uint64_t)p->object.tiling, sizeof p->object.tiling, NULL);
    const struct npu_matmul_batch batch = {p->small[0] % 8, p->small[1] % 8, p->small[2] % 4, (uint32_t)t[0],
                                           (uint32_t)t[1]};
    switch (p->call % CALLS) {
    case 0:
        npu_matmul_set_shape(mm, p->small[0], t[0], t[1], t[2], t[3], t[4]);
        return;
    case 1:
        npu_matmul_set_source(mm, (int8_t)p->small[0], &p->tensor, 0, p->small[1]);
        return;
    case 2:
        npu_matmul_set_source(mm, (int8_t)p->small[0], NULL, (uint64_t)t[0], 0);
        return;
    case 3:
        npu_matmul_set_quant(mm, (uint64_t)t[0]);
        return;
    case 4:
        npu_matmul_set_workspace(mm, p->tensor.addr);
        return;
    case 5:
        npu_matmul_set_batch(mm, t[0], t[1]);
        return;
    case 6:
        npu_matmul_iterate(mm, p->small[0], p->small[1], p->small[2] ? &p->tensor : NULL);
        return;
    case 7:
        npu_matmul_iterate_all(mm, &p->out);
        return;
    case 8:
        npu_matmul_get_c(mm, &p->out);
        return;
    case 9:
        npu_matmul_next_cached(mm);
        return;
    case 10:
        npu_matmul_get_cached(mm, &p->tensor);
        return;
    case 11:
        npu_matmul_wait_get(mm);
        return;
    case 12:
        npu_matmul_iterate_batch(mm, &batch, &p->out);
        return;
    case 13:
        npu_matmul_next_batch(mm, batch.a, batch.b);
        return;
    case 14:
        npu_matmul_get_batch(mm, &p->tensor, batch.a, batch.b);
        return;
    case 15:
        npu_matmul_wait(mm);
        return;
    case 16:
        npu_matmul_end(mm);
        return;
    case 17:
        npu_matmul_clear_bias(mm);
        return;
    case 18:
        npu_matmul_set_hf32(mm, p->small[0], p->small[1]);
        return;
    default:
        object = p->object;
        return;
    }
}

static uint32_t queues[QUEUES];
static struct npu_buf_pool pool;

static void queue_call(const struct numbers *n)
{
    enum { CALLS = 18 };
    static struct npu_tensor got;
    uint32_t *id = &queues[n->small[0] % QUEUES], other = n->small[6] ? *id : (uint32_t)n->large[0];
    uint32_t bytes = (uint32_t)n->large[1];
    const struct npu_tensor *tensor = n->small[5] ? &got : &n->tensor;
    switch (n->call % CALLS) {
    case 0:
        npu_que_init(id, n->small[1], n->small[2], n->small[3], n->small[4], bytes);
        return;
    case 1:
        npu_buf_init(id, n->small[1], bytes);
        return;
    case 2:
        npu_que_alloc(other, &got);
        return;
    case 3:
        npu_que_enque(other, tensor);
        return;
    case 4:
        npu_que_deque(other, &got);
        return;
    case 5:
        npu_que_free(other, tensor);
        return;
    case 6:
        npu_buf_get(other, (uint32_t)n->large[0], bytes, &got);
        return;
    case 7:
        npu_que_free_all(other);
        return;
    case 8:
        npu_que_buffer(other, n->small[1], &got);
        return;
    case 9:
        npu_pool_init(&pool, n->small[1], NULL, bytes, NULL);
        return;
    case 10:
        npu_pool_open(&pool);
        return;
    case 11:
        npu_pool_close(&pool);
        return;
    case 12:
        npu_que_start(id, n->small[1], n->small[2], n->small[3], n->small[4], bytes);
        return;
    case 13:
        npu_que_place(other, n->small[1], (uint32_t)n->large[0], bytes);
        return;
    case 14:
        npu_que_enque_between(other, tensor, n->small[1], n->small[2]);
        return;
    case 15:
        npu_que_deque_between(other, &got, n->small[1], n->small[2]);
        return;
    case 16:
        npu_pop_stack_buffer(n->small[1], &got);
        return;
    default:
        npu_local_tensor(n->small[1], (uint32_t)n->large[0], bytes, &got);
        return;
    }
}

static void flag_call(const struct numbers *n)
{
    enum { CALLS = 9 };
    int from = (int8_t)n->small[0], to = (int8_t)n->small[1], event = (int)n->large[0];
    switch (n->call % CALLS) {
    case 0:
        npu_set_flag(from, to, event);
        return;
    case 1:
        npu_wait_flag(from, to, event);
        return;
    case 2:
        npu_pipe_barrier(from);
        return;
    case 3:
        npu_sync_all_soft(&n->tensor, &n->tensor, to);
        return;
    case 4:
        npu_release_event(from, to, event);
        return;
    case 5:
        npu_alloc_event(from, to);
        return;
    case 6:
        npu_fetch_event(from, to);
        return;
    case 7:
        npu_ib_set(&n->tensor, &n->tensor, from, event);
        return;
    default:
        npu_dcache_clean(&n->tensor, from, to);
        return;
    }
}

static void register_call(const struct numbers *n)
{
    enum { CALLS = 8 };
    uint64_t addresses[8];
    for (size_t i = 0; i < sizeof addresses / sizeof *addresses; i++)
        addresses[i] = n->tensor.addr + i * n->large[0];
    switch (n->call % CALLS) {
    case 0:
        npu_set_mask_counter(n->small[0]);
        return;
    case 1:
        npu_set_vector_mask(n->large[0], n->large[1]);
        return;
    case 2:
        npu_set_atomic((int8_t)n->small[0], (int8_t)n->small[1]);
        return;
    case 3:
        npu_set_pad_value(n->large[0]);
        return;
    case 4:
        npu_set_deq_scale(n->small[0] ? n->large[0] : n->tensor.addr / 32);
        return;
    case 5:
        npu_set_va_reg((int)n->large[1], addresses);
        return;
    case 6:
        npu_set_cube_register((int)(int8_t)n->small[0], n->large[0]);
        return;
    default:
        npu_clear_unit_flags();
        return;
    }
}

static void scalar_call(const struct numbers *n)
{
    enum { CALLS = 5 };
    int size = (int8_t)n->small[0];
    switch (n->call % CALLS) {
    case 0:
        npu_scalar_load(&n->tensor, n->large[0], size);
        return;
    case 1:
        npu_scalar_store(&n->tensor, n->large[0], size, n->large[1]);
        return;
    case 2:
        npu_gm_read_through(n->tensor.addr, size);
        return;
    case 3:
        npu_gm_write_through(n->tensor.addr, size, n->large[0]);
        return;
    default:
        npu_spm_init(n->tensor.addr);
        return;
    }
}

static void run_record(enum kind kind, const uint8_t *bytes)
{
    union {
        struct npu_insn insn;
        struct npu_adv adv;
        struct product product;
        struct numbers numbers;
    } record;
    memcpy(&record, bytes, sizes[kind]);
    if (kind == INSN) {
        issue(&record.insn);
        return;
    }
    if (kind == ADVANCED) {
        advanced(&record.adv);
        return;
    }
    if (kind == MATMUL) {
        product_call(&record.product);
        return;
    }
    static void (*const calls[KINDS])(const struct numbers *) = {
        [QUEUE] = queue_call, [FLAGS] = flag_call, [REGISTER] = register_call, [SCALAR] = scalar_call};
    resolve(&record.numbers.tensor);
    calls[kind](&record.numbers);
}

static void kernel(uint64_t unused, ...)
{
    (void)unused;
    memset(queues, 0, sizeof queues);
    memset(&object, 0, sizeof object);
    npu_pipe_create();
    for (size_t at = 1; at < input.length;) {
        enum kind kind = input.bytes[at++] % KINDS;
        if (input.length - at < sizes[kind])
            break;
        run_record(kind, input.bytes + at);
        at += sizes[kind];
    }
    npu_pipe_destroy();
}

static uint64_t place(unsigned memory, uint64_t offset)
{
    return (uint64_t)memory << 56 | offset;
}

/* A record, behind others in one seed. */
static struct {
    uint8_t bytes[1 << 12];
    size_t length;
} seed = {.length = 1};

static void add(enum kind kind, const void *bytes)
{
    seed.bytes[seed.length++] = (uint8_t)kind;
    memcpy(seed.bytes + seed.length, bytes, sizes[kind]);
    seed.length += sizes[kind];
}

static void end_seed(uint8_t core)
{
    seed.bytes[0] = core;
    fuzz_seed(seed.bytes, seed.length);
    seed.length = 1;
}

/* UB defined, by a Duplicate. */
static void add_values(enum akgen_dtype type)
{
    const struct npu_insn fill = {.op = NPU_OP_DUPLICATE,
                                  .form = NPU_FORM_COUNT,
                                  .count = 4096,
                                  .dst_type = (uint8_t)type,
                                  .src_type = (uint8_t)type,
                                  .dst = {.addr = place(GM_TENSORS, 0), .bytes = 1 << 15, .position = NPU_VECIN}};
    add(INSN, &fill);
}

/* An instruction of the cube, from L1 on. */
static void seed_cube(enum npu_op op, unsigned from, unsigned to, enum npu_position source, enum npu_position target)
{
    struct npu_insn insn = {.op = (uint16_t)op,
                            .form = NPU_FORM_COUNT,
                            .count = 64,
                            .dst_type = AKGEN_FLOAT16,
                            .src_type = AKGEN_FLOAT16,
                            .src1_type = AKGEN_FLOAT16,
                            .dst = {.addr = place(to, 0), .position = (uint8_t)target},
                            .src0 = {.addr = place(from, 0), .position = (uint8_t)source},
                            .src1 = {.addr = place(GM_TENSORS + 5, 0), .position = NPU_B2}};
    if (op == NPU_OP_MMAD)
        insn.mmad = (struct npu_mmad){.m = 16, .n = 16, .k = 16};
    else if (op == NPU_OP_FIXPIPE)
        insn.fixpipe =
            (struct npu_fixpipe){.n = 16, .m = 16, .src_stride = 16, .dst_stride = 16, .nd_num = 1, .nz2nd = 1};
    else if (op == NPU_OP_ND2NZ)
        insn.nd2nz = (struct npu_nd2nz){1, 16, 16, 0, 16, 16, 1, 0};
    else
        insn.load_2d = (struct npu_load_2d){.repeat = 1, .src_stride = 1};
    add(INSN, &insn);
    end_seed(CORE_AIC);
}

static void seed_products(void)
{
    for (uint8_t call = 0; call < 20; call++) {
        struct product p = {.call = 19, .registered = 0};
        const struct npu_matmul_type half = {.dtype = AKGEN_FLOAT16};
        for (int i = 0; i < NPU_MATMUL_MATRICES; i++) {
            p.object.types[i] = half;
            p.object.sources[i].tensor = (struct npu_tensor){.addr = place(0, GM_BYTES), .bytes = 1 << 12};
        }
        /* TCubeTiling begins with usedCoreNum, M, N, Ka, Kb, singleCoreM, N, K, baseM, N, K, depths and steps */
        for (int i = 0; i < NPU_MATMUL_TILING_WORDS; i++)
            p.object.tiling[i] = i && i < 11 ? 16 : 1;
        add(MATMUL, &p);
        p.keeps = 1;
        p.registered = 3;
        p.call = call;
        p.tensor = (struct npu_tensor){.addr = place(0, GM_BYTES), .bytes = 1 << 12};
        p.out.gm = (struct npu_tensor){.addr = place(1, GM_BYTES), .bytes = 1 << 12};
        add(MATMUL, &p);
        end_seed(CORE_AIC);
    }
}

static void seed_insn(enum npu_op op, enum npu_form form, enum akgen_dtype type)
{
    const struct npu_tensor ub = {.addr = place(GM_TENSORS, 0), .bytes = 1 << 13, .position = NPU_VECIN};
    struct npu_insn insn = {.op = (uint16_t)op,
                            .form = (uint8_t)form,
                            .dst_type = (uint8_t)type,
                            .src_type = (uint8_t)type,
                            .src1_type = (uint8_t)type,
                            .count = 128,
                            .repeat = 2,
                            .mask = {64, 0},
                            .dst_blk = 1,
                            .src0_blk = 1,
                            .src1_blk = 1,
                            .dst_rep = 8,
                            .src0_rep = 8,
                            .src1_rep = 8,
                            .dst = ub,
                            .src0 = ub,
                            .src1 = ub,
                            .aux = ub};
    insn.dst.addr += 1 << 14;
    insn.src1.addr += 1 << 13;
    insn.aux.addr += 3 << 13;
    add_values(type);
    add(INSN, &insn);
    end_seed(0);
}

void fuzz_seeds(void)
{
    for (int op = 1; op < NPU_OPS; op++) {
        seed_insn((enum npu_op)op, NPU_FORM_COUNT, AKGEN_FLOAT);
        seed_insn((enum npu_op)op, NPU_FORM_MASK_LEN, AKGEN_FLOAT16);
    }
    for (int op = 1; op < NPU_ADV_OPS; op++) {
        const struct npu_tensor ub = {.addr = place(GM_TENSORS, 0), .bytes = 1 << 12, .position = NPU_VECIN};
        struct npu_adv call = {.op = (uint16_t)op,
                               .type = AKGEN_FLOAT,
                               .dst_type = AKGEN_FLOAT,
                               .count = 64,
                               .shape = {8, 64, 8, 64, 8, 64},
                               .tmp = ub};
        for (size_t i = 0; i < 5; i++) {
            call.dst[i] = call.src[i] = ub;
            call.dst[i].addr += (1 + i) << 13;
        }
        call.tmp.addr += 7 << 13;
        add_values(AKGEN_FLOAT);
        add(ADVANCED, &call);
        end_seed(0);
    }
    seed_cube(NPU_OP_ND2NZ, 2, GM_TENSORS + 3, NPU_GM, NPU_A1);
    seed_cube(NPU_OP_LOAD_DATA, GM_TENSORS + 3, GM_TENSORS + 4, NPU_A1, NPU_A2);
    seed_cube(NPU_OP_MMAD, GM_TENSORS + 4, GM_TENSORS + 6, NPU_A2, NPU_CO1);
    seed_cube(NPU_OP_FIXPIPE, GM_TENSORS + 6, 2, NPU_CO1, NPU_GM);
    seed_products();
    for (enum kind kind = QUEUE; kind < KINDS; kind++)
        for (uint8_t call = 0; call < 18; call++) {
            struct numbers numbers = {.call = 0, .small = {0, NPU_VECIN, NPU_VECIN, 2, 2, 1, 1}, .large = {0, 1024}};
            numbers.tensor = (struct npu_tensor){.addr = place(GM_TENSORS, 64), .bytes = 1024, .position = NPU_VECIN};
            if (kind == QUEUE) {
                add(QUEUE, &numbers);
                numbers.call = 2;
                add(QUEUE, &numbers);
            }
            numbers.call = call;
            numbers.small[0] = 4;
            add(kind, &numbers);
            end_seed((uint8_t)(call & CORE_MANUAL));
        }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    static uint64_t next;
    const uint64_t none[1] = {0};
    uint8_t core = length ? bytes[0] : 0;
    const struct npu_config config = {.soc = npu_soc_find("910B2"),
                                      .sync = core & CORE_MANUAL ? NPU_SYNC_MANUAL : NPU_SYNC_AUTO,
                                      .weigh = core & CORE_WEIGHS,
                                      .kernel_type = core & CORE_AIC ? NPU_TYPE_AIC_ONLY : NPU_TYPE_INFERRED,
                                      .aic_kernel = (void *)kernel};
    input.bytes = bytes;
    input.length = length;
    if (!gm) {
        gm = npu_area_map(NPU_AREA_TENSORS, &next, (GM_TENSORS + 2) * GM_BYTES, -1);
        if (gm == MAP_FAILED)
            abort();
        gm += GM_BYTES;
    }
    struct npu *npu = npu_create(&config);
    static const enum npu_gm_kind kinds[GM_TENSORS] = {NPU_GM_INPUT, NPU_GM_OUTPUT, NPU_GM_INOUT};
    static const char *const names[GM_TENSORS] = {"x", "y", "z"};
    for (int i = 0; i < GM_TENSORS; i++)
        npu_gm_add(npu, names[i], gm + (size_t)i * GM_BYTES, GM_BYTES / 2, kinds[i], false);
    npu_gm_span(npu, gm - GM_BYTES, (GM_TENSORS + 2) * GM_BYTES);
    npu_launch(npu, core & CORE_AIC ? NULL : (void *)kernel, none, 0, 1);
    npu_destroy(npu);
    return 0;
}
