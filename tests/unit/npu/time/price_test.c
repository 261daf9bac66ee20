/* The price of an instruction and what it executes: an instruction takes at least the cycles in which the widest paths of its pipe move
 * what it has written, and a product those of the cube's peak. So no form, mask, mode or parameter is free of charge. What was
 * written is counted in the definedness of local memory, apart from what the instruction says that it accesses. */
#include "unit/npu/cube/program.h"
#include "unit/npu/forms.h"
#include "unit/npu/isa_types.h"

#include "npu/insn/lanes.h"
#include "npu/machine.h"
#include "npu/order/order.h"
#include "npu/time/rates.h"
#include "npu/time/tape.h"

enum { KIB = 1 << 10, SOURCE = 32 * KIB, RESULTS = 64 * KIB, END = 192 * KIB, ISSUED_MOST = 16 };

/* Instructions of a launch: written bytes, or operations of the cube, and their number on their pipe. */
static struct {
    double work;
    uint32_t number;
} issued[ISSUED_MOST];
static int issued_count, priced_lane;
static double cycles[ISSUED_MOST + 1]; /* by number on that pipe */
static uint32_t priced;
static struct npu_insn given; /* what the kernel issues, with other forms */
static struct rng rng;

static void see(void *closure, const struct npu_timeline_slice *slice)
{
    (void)closure;
    if (slice->lane == priced_lane && slice->end > slice->start && ++priced <= ISSUED_MOST)
        cycles[priced] = slice->end - slice->start;
}

static uint32_t below(uint32_t end)
{
    return (uint32_t)rng_integer(&rng, 0, end);
}

static uint32_t defined_bytes(const uint8_t *from, const uint8_t *to)
{
    uint32_t bytes = 0;
    for (const uint8_t *at = from; at < to; at++)
        bytes += npu_ub_defined(npu_current, at, 1);
    return bytes;
}

/* Issues an instruction alone and notes what it has written between the two addresses. */
static void issue_alone(const struct npu_insn *insn, uint8_t *from, uint8_t *to)
{
    struct npu_core *core = npu_current;
    npu_ub_undefine(core, from, (size_t)(to - from));
    npu_issue(insn);
    npu_pipe_barrier(NPU_PIPE_ALL);
    issued[issued_count].number = core->tape->runs[priced_lane];
    issued[issued_count++].work = defined_bytes(from, to);
}

/* Runs a kernel on one core; false: it has trapped, so that nothing has a price. */
static bool run(void (*kernel)(void), int lane, bool aic)
{
    const struct npu_config config = {.soc = npu_soc_find("910B2"),
                                      .sync = NPU_SYNC_AUTO,
                                      .kernel_type = aic ? NPU_TYPE_AIC_ONLY : NPU_TYPE_AIV_ONLY,
                                      .aic_kernel = (void *)kernel,
                                      .timing = true,
                                      .slice = see};
    const struct gm_part parts[] = {{"in", cube_in, GM_BYTES, NPU_GM_INPUT, true}};
    issued_count = 0;
    priced = 0;
    priced_lane = lane;
    return !*launch_once(&config, (void *)kernel, parts, 1).fatal;
}

static void check_prices(const char *what, double per_cycle)
{
    for (int i = 0; i < issued_count; i++) {
        assert_in_range(issued[i].number, 1, priced);
        const double price = cycles[issued[i].number];
        if (price < issued[i].work / per_cycle)
            fail_msg("%s: instruction %d takes %g cycles for %g, of which %g are possible in a cycle", what, i, price,
                     issued[i].work, per_cycle);
    }
}

/* Vector instructions. */
static void put_parameters(struct npu_insn *insn, struct npu_regs *regs)
{
    static const struct form_room room = {.bytes = SOURCE, .repeats = 64};
    const uint32_t dst_bits = npu_element_bits(insn->dst_type), src_bits = npu_element_bits(insn->src_type);
    form_put(insn, regs, (enum form)below(FORMS), below(FORM_TURNS), dst_bits, src_bits, &room);
    switch (insn->op) {
    case NPU_OP_GATHER_MASK:
        insn->mask[0] = 1 + below(SOURCE / 8);
        insn->repeat = 1 + below(3);
        insn->src0_rep = (uint16_t)below(8);
        insn->flags = NPU_INSN_REDUCE_MODE;
        break;
    case NPU_OP_TRANSPOSE_4D:
        insn->form = NPU_FORM_COUNT;
        insn->count = 1 + below(2);
        insn->repeat = 1 + below(20);
        insn->mask[0] = 1 + below(4);
        insn->mask[1] = 32 * (1 + below(4));
        break;
    case NPU_OP_TRANS_DATA_5HD:
        for (uint32_t i = 0; i < 32; i++)
            regs->va[i / 8][i % 8] = (i < 16 ? RESULTS : 0) + i % 16 * 2048;
        insn->mode = 2 << 3;
        insn->repeat = 1 + below(32);
        insn->dst_rep = insn->src0_rep = 1;
        break;
    case NPU_OP_BRCB:
    case NPU_OP_GATHERB:
    case NPU_OP_SORT32:
        insn->repeat = 1 + below(32);
        insn->dst_blk = 1;
        insn->dst_rep = 8;
        break;
    case NPU_OP_DATA_COPY:
        insn->form = NPU_FORM_MASK_LEN;
        insn->copy = (struct npu_copy){.block_count = 1 + below(20), .block_len = 1 + below(40)};
        break;
    case NPU_OP_MRG_SORT:
        for (int i = 0; i < 4; i++)
            insn->mask[0] = insn->mask[0] << 16 | (1 + below(200));
        break;
    default:
        break;
    }
}

static void vector_kernel(void)
{
    struct npu_core *core = npu_current;
    npu_pipe_create();
    for (int i = 0; i < 2 * SOURCE; i++)
        core->ub[i] = given.op == NPU_OP_GATHER || given.op == NPU_OP_GATHERB ? 0 : (uint8_t)rng_next(&rng);
    npu_ub_define(core, core->ub, 2 * (size_t)SOURCE);
    for (int i = 0; i < 3; i++) {
        struct npu_insn insn = given;
        insn.dst = local_at(NPU_VECCALC, RESULTS, SOURCE);
        insn.src0 = local_at(NPU_VECCALC, 0, SOURCE);
        insn.src1 = local_at(NPU_VECCALC, SOURCE, SOURCE);
        insn.aux = local_at(NPU_VECCALC, RESULTS + SOURCE, END - RESULTS - SOURCE);
        put_parameters(&insn, &core->regs);
        issue_alone(&insn, core->ub + RESULTS, core->ub + END);
    }
    core->regs.counter = false;
    npu_pipe_destroy();
}

static void test_vector_instructions_cost_what_they_write(void **state)
{
    (void)state;
    enum { TRIES = 24 };
    int instructions = 0, writing = 0;
    for (uint16_t op = 0; op < NPU_OPS; op++) {
        int tried = 0, wrote = 0;
        const bool in_ub = op == NPU_OP_DATA_COPY;
        if ((npu_isa[op].pipe != NPU_PIPE_V && !in_ub) || strcmp(npu_isa[op].source, "not on this chip") == 0)
            continue;
        for (int i = 0; i < TRIES; i++) {
            uint8_t dst[ISA_DESTINATIONS];
            const uint8_t src = isa_type(op, (size_t)1 << below(3), below(4));
            const int count = src != AKGEN_DTYPE_NONE ? isa_destinations(op, src, dst) : 0;
            if (!count)
                continue;
            given =
                (struct npu_insn){.op = op, .src_type = src, .src1_type = src, .dst_type = dst[below((uint32_t)count)]};
            given.mode = (uint8_t)below(ISA_MODES);
            for (int more = 0; more < 2 * ISA_MODES && !isa_has_mode(op, src, given.dst_type, given.mode); more++)
                given.mode = (uint8_t)((given.mode + 1) % ISA_MODES);
            if (!run(vector_kernel, NPU_LANE_V, false))
                continue;
            tried++;
            check_prices(npu_isa[op].name, NPU_RATE_V_WRITTEN);
            for (int k = 0; k < issued_count; k++)
                wrote += issued[k].work > 0;
        }
        if (!tried)
            print_message("%s (%d): no form of these ran\n", npu_isa[op].name, op);
        instructions += tried > 0;
        writing += wrote > 0;
    }
    print_message("%d instructions, %d of them write\n", instructions, writing);
    assert_true(instructions >= 60 && writing >= 55);
}

/* What fills L1 and L0: a constant, fractals, and fractals whose squares are transposed. */
static void load_kernel(void)
{
    const int to = given.dst.position;
    const uint32_t bytes = to == NPU_A1 ? 256 * KIB : 64 * KIB;
    uint8_t *const begin = cube_at(to, 0);
    npu_pipe_create();
    if (to != NPU_A1)
        cube_fill(NPU_A1, 0, 128 * KIB);
    for (int i = 0; i < 4; i++) {
        struct npu_insn insn = given;
        insn.dst = local_at(to, 0, bytes);
        insn.src0 = local_at(NPU_A1, 0, 128 * KIB);
        insn.load_2d = (struct npu_load_2d){.repeat = 1 + below(16),
                                            .src_stride = 1,
                                            .block_num = 1 + below(8),
                                            .dst_frac_gap = insn.op == NPU_OP_LOAD_DATA_WITH_TRANSPOSE ? 15 : 0};
        issue_alone(&insn, begin, begin + bytes);
    }
    npu_pipe_destroy();
}

static void test_loads_cost_what_they_write(void **state)
{
    (void)state;
    static const uint16_t ops[] = {NPU_OP_INIT_CONST_VALUE, NPU_OP_LOAD_DATA, NPU_OP_LOAD_DATA_WITH_TRANSPOSE};
    static const uint8_t types[] = {AKGEN_FLOAT16, AKGEN_FLOAT, AKGEN_INT8};
    static const struct {
        uint8_t position;
        double most; /* bytes per cycle */
    } places[] = {{NPU_A1, NPU_RATE_L1_WRITTEN}, {NPU_A2, NPU_RATE_L1_TO_A}, {NPU_B2, NPU_RATE_L1_TO_B}};
    for (size_t op = 0; op < sizeof ops / sizeof *ops; op++)
        for (size_t place = 0; place < sizeof places / sizeof *places; place++) {
            int wrote = 0;
            for (int i = 0; i < 12; i++) {
                given = (struct npu_insn){.op = ops[op], .dst.position = places[place].position};
                given.src_type = given.dst_type = given.src1_type = types[i % 3];
                if (!run(load_kernel, place ? NPU_LANE_MTE1 : NPU_LANE_MTE2, true))
                    continue;
                check_prices(npu_isa[ops[op]].name, places[place].most);
                for (int k = 0; k < issued_count; k++)
                    wrote += issued[k].work > 0;
            }
            assert_true(wrote || (op && !place)); /* L1 is not loaded from L1 */
        }
}

/* Products: the cube's peak is 16 x 16 x 16 of half in a cycle, twice as many of int8, an eighth of float (4 of them, asc-devkit). */
static void product_kernel(void)
{
    npu_pipe_create();
    cube_fill(NPU_A2, 0, 64 * KIB);
    cube_fill(NPU_B2, 0, 64 * KIB);
    for (int i = 0; i < 8; i++) {
        struct npu_insn insn = given;
        insn.dst = local_at(NPU_CO1, 0, 0);
        insn.src0 = local_at(NPU_A2, 0, 0);
        insn.src1 = local_at(NPU_B2, 0, 0);
        insn.mmad = (struct npu_mmad){.m = (uint16_t)(1 + below(128)),
                                      .n = (uint16_t)(1 + below(128)),
                                      .k = (uint16_t)(1 + below(128)),
                                      .init = NPU_C_ZERO};
        issue_alone(&insn, cube_at(NPU_CO1, 0), cube_at(NPU_CO1, 0));
        issued[issued_count - 1].work = (double)insn.mmad.m * insn.mmad.n * insn.mmad.k;
    }
    npu_pipe_destroy();
}

static void test_products_are_not_faster_than_the_cube(void **state)
{
    (void)state;
    static const struct {
        uint8_t src, dst;
        double most; /* multiplications in a cycle */
    } kinds[] = {{AKGEN_FLOAT16, AKGEN_FLOAT, 4096}, {AKGEN_INT8, AKGEN_INT32, 8192}, {AKGEN_FLOAT, AKGEN_FLOAT, 1024}};
    for (size_t kind = 0; kind < sizeof kinds / sizeof *kinds; kind++)
        for (int i = 0; i < 8; i++) {
            given = (struct npu_insn){.op = NPU_OP_MMAD,
                                      .src_type = kinds[kind].src,
                                      .src1_type = kinds[kind].src,
                                      .dst_type = kinds[kind].dst};
            assert_true(run(product_kernel, NPU_LANE_M, true));
            assert_int_equal(issued_count, 8);
            check_prices("Mmad", kinds[kind].most);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_vector_instructions_cost_what_they_write),
        cmocka_unit_test(test_loads_cost_what_they_write),
        cmocka_unit_test(test_products_are_not_faster_than_the_cube),
    };
    rng_seed(&rng, 37);
    rng_seed(&cube_rng, 37);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
