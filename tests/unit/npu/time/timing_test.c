/* The model of time: what holds of any kernel, and what single mechanisms cost. Kernels are written on the ABI, so that nothing but
 * what they issue takes time. */
#include "base/random.h"
#include "npu/machine.h"
#include "npu/npu.h"
#include "npu/time/rates.h"
#include "npu/time/traffic.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include <cmocka.h>

enum { MIB = 1 << 20, TENSOR_BYTES = 64 * MIB };

/* What the kernels are told; x, y and z are in GM. */
static struct {
    uint32_t tile;        /* elements of half */
    uint64_t count;       /* of each tensor */
    int buffers, repeats; /* of each queue; how often all is done */
    uint8_t hint;         /* flags of x and y */
    uint32_t offsets[3];  /* in UB, of src0, src1 and dst */
    uint32_t row_bytes;
    const char *soc;
} given = {.soc = "910B2"};
static uint8_t *x, *y, *z;

static struct npu_tensor global(const uint8_t *base, uint64_t element)
{
    return (struct npu_tensor){.addr = (uint64_t)base + element * 2, .position = NPU_GM, .flags = given.hint};
}

static void copy(struct npu_tensor dst, struct npu_tensor src, uint32_t count)
{
    struct npu_insn insn = {.op = NPU_OP_DATA_COPY,
                            .dst_type = AKGEN_FLOAT16,
                            .src_type = AKGEN_FLOAT16,
                            .count = count,
                            .dst = dst,
                            .src0 = src,
                            .copy = {.block_count = 1, .block_len = count / 16}};
    npu_issue(&insn);
}

static void add(struct npu_tensor dst, struct npu_tensor left, struct npu_tensor right, uint32_t count)
{
    struct npu_insn insn = {.op = NPU_OP_ADD,
                            .dst_type = AKGEN_FLOAT16,
                            .src_type = AKGEN_FLOAT16,
                            .src1_type = AKGEN_FLOAT16,
                            .count = count,
                            .dst = dst,
                            .src0 = left,
                            .src1 = right};
    npu_issue(&insn);
}

/* z = x + y, in tiles, through queues. */
static void add_kernel(void)
{
    uint32_t in_x = 0, in_y = 0, out = 0;
    npu_pipe_create();
    npu_que_init(&in_x, NPU_GM, NPU_VECIN, given.buffers, given.buffers, given.tile * 2);
    npu_que_init(&in_y, NPU_GM, NPU_VECIN, given.buffers, given.buffers, given.tile * 2);
    npu_que_init(&out, NPU_VECOUT, NPU_GM, given.buffers, given.buffers, given.tile * 2);
    const uint64_t share = given.count / (uint64_t)npu_block_num(), first = share * (uint64_t)npu_block_idx();
    for (int repeat = 0; repeat < given.repeats; repeat++)
        for (uint64_t at = first; at + given.tile <= first + share; at += given.tile) {
            struct npu_tensor a, b, c;
            npu_que_alloc(in_x, &a);
            npu_que_alloc(in_y, &b);
            copy(a, global(x, at), given.tile);
            copy(b, global(y, at), given.tile);
            npu_que_enque(in_x, &a);
            npu_que_enque(in_y, &b);
            npu_que_deque(in_x, &a);
            npu_que_deque(in_y, &b);
            npu_que_alloc(out, &c);
            add(c, a, b, given.tile);
            npu_que_enque(out, &c);
            npu_que_free(in_x, &a);
            npu_que_free(in_y, &b);
            npu_que_deque(out, &c);
            copy(global(z, at), c, given.tile);
            npu_que_free(out, &c);
        }
    npu_pipe_destroy();
}

/* Makes the block's pipe and a buffer of so many bytes in it. */
static struct npu_tensor pipe_with_buffer(int bytes)
{
    uint32_t buffer = 0;
    struct npu_tensor tensor;
    npu_pipe_create();
    npu_buf_init(&buffer, NPU_VECCALC, bytes);
    npu_buf_get(buffer, 0, bytes, &tensor);
    return tensor;
}

/* Many rows at a time, each core through x from its own part on. */
static void rows_kernel(void)
{
    enum { ROWS = 64, PART = TENSOR_BYTES / 64 };
    struct npu_tensor tensor = pipe_with_buffer(ROWS * 2048);
    for (int i = 0; i < given.repeats; i++) {
        const uint64_t at = (uint64_t)npu_block_idx() * PART + (uint64_t)i * ROWS * 2 * given.row_bytes;
        struct npu_insn insn = {
            .op = NPU_OP_DATA_COPY_PAD,
            .form = NPU_FORM_MASK_REG,
            .dst_type = AKGEN_FLOAT16,
            .src_type = AKGEN_FLOAT16,
            .dst = tensor,
            .src0 = global(x, at / 2),
            .copy = {.block_count = ROWS, .block_len = given.row_bytes, .src_stride = given.row_bytes}};
        npu_issue(&insn);
        npu_pipe_barrier(NPU_PIPE_MTE2);
    }
    npu_pipe_destroy();
}

/* Slices of one launch. */
enum { ADDS = 100, ADDED = 64 * 128 };
static struct {
    double busy[NPU_LANES], last;
    double began[ADDS + 1], copied; /* on V; when the newest copy from GM began */
    int vectors;
    int count, arrows;
    bool overlaps;
} seen;

static void see(void *closure, const struct npu_timeline_slice *slice)
{
    double *ends = closure;
    if (slice->core || slice->aic)
        return;
    seen.overlaps |= slice->lane == NPU_LANE_V && slice->start < ends[slice->lane] - 1e-6;
    if (slice->lane == NPU_LANE_V && slice->end > slice->start && seen.vectors <= ADDS)
        seen.began[seen.vectors++] = slice->start;
    if (slice->lane == NPU_LANE_MTE2 && slice->end > slice->start)
        seen.copied = slice->start;
    ends[slice->lane] = slice->end > ends[slice->lane] ? slice->end : ends[slice->lane];
    seen.busy[slice->lane] += slice->end - slice->start;
    seen.last = slice->end > slice->start && slice->end > seen.last ? slice->end : seen.last;
    seen.count += slice->end > slice->start; /* else a mark of an arrow */
    seen.arrows += slice->flow != 0;
}

static struct npu_stats counted; /* of the newest launch */
static size_t tape_taken;        /* before the next */

static struct npu_timing launched(void (*kernel)(void), int blocks)
{
    double ends[NPU_LANES] = {0};
    memset(&seen, 0, sizeof seen);
    struct npu_config config = {.soc = npu_soc_find(given.soc), .timing = true, .slice = see, .slice_closure = ends};
    struct npu *npu = npu_create(&config);
    npu_gm_add(npu, "x", x, TENSOR_BYTES, NPU_GM_INPUT, true);
    npu_gm_add(npu, "y", y, TENSOR_BYTES, NPU_GM_INPUT, true);
    npu_gm_add(npu, "z", z, TENSOR_BYTES, NPU_GM_OUTPUT, true);
    npu->tape_bytes = tape_taken;
    npu_launch(npu, (void *)kernel, NULL, 0, blocks);
    size_t found;
    const struct npu_finding *findings = npu_findings(npu, &found);
    for (size_t i = 0; i < found; i++)
        assert_false(findings[i].fatal);
    struct npu_timing timing = npu_timing(npu);
    counted = npu_stats(npu);
    npu_destroy(npu);
    return timing;
}

static struct npu_timing launch(void (*kernel)(void), int blocks)
{
    const struct npu_timing timing = launched(kernel, blocks);
    assert_true(timing.known);
    assert_true(timing.cycles >= timing.bound_cycles);
    return timing;
}

static struct npu_timing add_of(uint64_t count, uint32_t tile, int buffers, int blocks)
{
    given.tile = tile;
    given.count = count;
    given.buffers = buffers;
    given.repeats = 1;
    given.hint = 0;
    return launch(add_kernel, blocks);
}

static void test_the_same_launch_takes_the_same(void **state)
{
    (void)state;
    const struct npu_timing first = add_of(3 << 20, 4096, 2, 48), again = add_of(3 << 20, 4096, 2, 48);
    assert_memory_equal(&first, &again, sizeof first);
    assert_int_equal(first.of[0].cores, 48);
    assert_int_equal(first.read, 12 * MIB);
    assert_int_equal(first.written, 6 * MIB);
    assert_int_equal(first.ub_peak, 3 * 2 * 8192);
}

static void test_more_takes_longer(void **state)
{
    (void)state;
    double before = 0;
    for (uint64_t tiles = 1; tiles <= 64; tiles *= 2) {
        double cycles = add_of(tiles * 4096 * 48, 4096, 2, 48).cycles;
        assert_true(cycles > before);
        before = cycles;
    }
}

/* Every further tile of each core, of any size. */
static void test_every_tile_takes_longer(void **state)
{
    (void)state;
    static const uint32_t tiles[] = {64, 1024, 4096};
    for (size_t t = 0; t < sizeof tiles / sizeof *tiles; t++)
        for (int blocks = 1; blocks <= 48; blocks += 47) {
            double before = 0;
            for (uint64_t count = 1; count <= 24; count++) {
                const double cycles = add_of(count * tiles[t] * (uint64_t)blocks, tiles[t], 2, blocks).cycles;
                if (cycles <= before)
                    fail_msg("%d cores: %d tiles of %u take %.1f cycles, one less %.1f", blocks, (int)count, tiles[t],
                             cycles, before);
                before = cycles;
            }
        }
}

/* With the same tile, and a dozen of them. */
static void test_two_buffers_are_not_slower(void **state)
{
    (void)state;
    static const uint32_t tiles[] = {64, 1024, 4096, 16384}, counts[] = {12, 25};
    for (size_t t = 0; t < 2 * sizeof tiles / sizeof *tiles; t++)
        for (int blocks = 1; blocks <= 48; blocks += 47) {
            const uint64_t count = (uint64_t)tiles[t / 2] * counts[t % 2] * (uint64_t)blocks;
            const double one = add_of(count, tiles[t / 2], 1, blocks).cycles,
                         two = add_of(count, tiles[t / 2], 2, blocks).cycles;
            assert_true(two <= one * 1.02);
        }
}

/* From 2048 elements of a core on, 192 KiB of a tensor: starting 47 cores more takes 3.1 us. */
static void test_cores_share_work(void **state)
{
    (void)state;
    for (uint64_t count = 48 << 11; count <= 48 << 18; count *= 2) {
        const uint32_t tile = count / 48 < 4096 ? (uint32_t)(count / 48) : 4096;
        assert_true(add_of(count, tile, 2, 48).cycles < add_of(count, tile, 2, 1).cycles);
    }
}

/* What is found in L2 comes no faster than L2 has it. */
static void test_the_bound_of_l2(void **state)
{
    (void)state;
    add_of(48 * 8 * 4096, 4096, 2, 48);
    given.repeats = 16;
    const struct npu_timing timing = launch(add_kernel, 48);
    const double least = (double)(timing.read + timing.written) / npu_traffic_l2(npu_soc_find(given.soc));
    assert_int_equal(timing.read, 16 * 2 * 48 * 8 * 8192);
    assert_int_equal(timing.bound, NPU_BOUND_L2);
    assert_true(fabs(timing.bound_cycles - timing.launch - least) < 1e-6 * least);
    assert_true(timing.cycles - timing.launch >= least);
}

/* Bytes of all cores cannot come faster than HBM has them; what is read again comes from L2, unless it goes past it. */
static void test_hbm_and_l2(void **state)
{
    (void)state;
    enum { BYTES = 32 * MIB };
    const struct npu_timing once = add_of(BYTES / 2, 16384, 2, 32);
    assert_int_equal(once.hbm_read, 2 * BYTES);
    assert_int_equal(once.hbm_written, 0); /* the result has room in L2 */
    assert_int_equal(once.bound, NPU_BOUND_HBM);
    assert_true(once.cycles > 2 * BYTES / npu_traffic_hbm(npu_soc_find(given.soc)));
    given.repeats = 3;
    const struct npu_timing thrice = launch(add_kernel, 32);
    assert_int_equal(thrice.hbm_read, 2 * BYTES);
    assert_int_equal(thrice.read, 6 * BYTES);
    assert_int_equal(thrice.read_l2, 4 * BYTES);
    given.hint = NPU_TENSOR_READ_PAST_L2;
    const struct npu_timing past = launch(add_kernel, 32);
    assert_int_equal(past.hbm_read, 6 * BYTES);
    assert_int_equal(past.read_l2, 0);
    assert_true(past.cycles > 1.5 * thrice.cycles);
}

/* More than L2 holds, in a circle: nothing is found there, and what was written is written back. */
static void test_what_l2_has_no_room_for(void **state)
{
    (void)state;
    given.soc = "910B4"; /* whose L2 has 96 MiB */
    const struct npu_timing timing = add_of(TENSOR_BYTES / 2, 16384, 2, 32);
    given.repeats = 3;
    const struct npu_timing again = launch(add_kernel, 32);
    given.soc = "910B2";
    assert_true(timing.hbm_written < TENSOR_BYTES);
    assert_true(again.read_l2 < again.read / 8);
    assert_true(again.hbm_written > TENSOR_BYTES);
}

/* Rows of odd length keep requests busy that they do not fill. */
static void test_odd_rows(void **state)
{
    (void)state;
    given.tile = 0;
    given.repeats = 5;
    given.row_bytes = 2048;
    const double even = launch(rows_kernel, 48).cycles;
    given.row_bytes = 2046;
    const double odd = launch(rows_kernel, 48).cycles;
    assert_true(odd > 1.15 * even && odd < 1.4 * even);
}

/* Parameters of a copy with strides are work of the scalar unit, a hint for L2 is a little more; a plain copy has none. */
static void test_parameters_of_copies(void **state)
{
    (void)state;
    given.repeats = 5;
    given.row_bytes = 2048;
    given.hint = 0;
    assert_true(fabs(launch(rows_kernel, 1).of[0].busy[NPU_LANE_S] - 5 * NPU_RATE_SCALAR_STRIDES) < 1e-6);
    given.hint = NPU_TENSOR_READ_PAST_L2;
    assert_true(fabs(launch(rows_kernel, 1).of[0].busy[NPU_LANE_S] -
                     5 * (NPU_RATE_SCALAR_STRIDES + NPU_RATE_SCALAR_HINT)) < 1e-6);
    assert_true(add_of(12 * 4096, 4096, 1, 1).of[0].busy[NPU_LANE_S] == 0);
}

static struct npu_tensor local(const struct npu_tensor *whole, uint32_t offset, uint32_t bytes)
{
    return (struct npu_tensor){
        .addr = whole->addr + offset, .bytes = bytes, .position = NPU_VECCALC, .buffer = whole->buffer};
}

/* A hundred additions of 64 repeats, at offsets of UB, and a copy that has nothing to do with them. */
static void bank_kernel(void)
{
    uint32_t all = 0;
    struct npu_tensor whole;
    npu_pipe_create();
    npu_buf_init(&all, NPU_VECCALC, 190 * 1024);
    npu_buf_get(all, 0, 190 * 1024, &whole);
    struct npu_insn fill = {
        .op = NPU_OP_DUPLICATE, .dst_type = AKGEN_FLOAT16, .src_type = AKGEN_FLOAT16, .dst = whole, .count = 180 * 512};
    npu_issue(&fill);
    npu_pipe_barrier(NPU_PIPE_V);
    for (int i = 0; i < ADDS; i++) {
        add(local(&whole, given.offsets[2], ADDED * 2), local(&whole, given.offsets[0], ADDED * 2),
            local(&whole, given.offsets[1], ADDED * 2), ADDED);
        npu_pipe_barrier(NPU_PIPE_V);
    }
    copy(local(&whole, 184 * 1024, 1024), global(x, 0), 512);
    npu_pipe_destroy();
}

/* The scalar unit is as many instructions ahead of a pipe as have room in front of it. */
static void test_queues_have_an_end(void **state)
{
    (void)state;
    static const uint32_t offsets[3] = {0x0, 0x10100, 0x20000};
    memcpy(given.offsets, offsets, sizeof given.offsets);
    launch(bank_kernel, 1);
    assert_int_equal(seen.vectors, ADDS + 1); /* and the one that fills UB */
    const int ahead = NPU_RATE_QUEUE;
    assert_true(seen.copied >= seen.began[ADDS - ahead - 1]);
    assert_true(seen.copied <= seen.began[ADDS - ahead + 1]);
}

/* Published: 88 cycles for such an addition without conflicts, 154 where both sources are in the same bank groups. */
static void test_banks(void **state)
{
    (void)state;
    static const struct {
        uint32_t offsets[3];
        double least, most;
    } rows[] = {
        {{0x0, 0x10100, 0x20000}, 80, 97},   /* nothing is in the same group */
        {{0x0, 0x4000, 0x10000}, 140, 165},  /* the sources are in the same banks */
        {{0x0, 0x10000, 0x14100}, 140, 165}, /* in the same groups */
        {{0x0, 0x10100, 0x4000}, 80, 97},    /* a repeat is written when the next is read */
        {{0x0, 0x10100, 0x4020}, 125, 160},  /* a block further on, that is in the way */
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        memcpy(given.offsets, rows[i].offsets, sizeof given.offsets);
        launch(bank_kernel, 1);
        const double fill = 720 + NPU_RATE_V_START, each = (seen.busy[NPU_LANE_V] - fill) / ADDS;
        assert_true(each >= rows[i].least && each <= rows[i].most);
    }
}

static void test_slices_are_the_work(void **state)
{
    (void)state;
    const struct npu_timing timing = add_of(12 * 4096, 4096, 1, 1);
    assert_int_equal(seen.count, 12 * 4);
    assert_true(seen.arrows >= 2 * 12 * 2); /* of each tile: loaded to added, added to stored */
    assert_int_equal(timing.copies_in, 24);
    assert_int_equal(timing.copies_out, 12);
    assert_false(seen.overlaps);
    assert_true(fabs(seen.busy[NPU_LANE_V] - timing.of[0].busy[NPU_LANE_V]) < 1e-3);
    assert_true(fabs(seen.last - timing.of[0].longest) < 1);
}

static void meeting_kernel(void)
{
    struct npu_tensor tensor = pipe_with_buffer(32768);
    for (int i = 0; i < (npu_block_idx() == 3 ? given.repeats : 1); i++) {
        copy(tensor, global(x, 0), 16384);
        npu_pipe_barrier(NPU_PIPE_ALL);
    }
    npu_sync_all(1);
    npu_pipe_destroy();
}

/* All cores wait for the slowest. */
static void test_a_meeting_waits(void **state)
{
    (void)state;
    given.repeats = 1;
    const struct npu_timing short_one = launch(meeting_kernel, 8);
    given.repeats = 100;
    const struct npu_timing long_one = launch(meeting_kernel, 8);
    assert_true(long_one.of[0].mean > 50 * 16384 * 2 / NPU_RATE_READ_L2);
    assert_true(long_one.of[0].longest - long_one.of[0].mean < 10);
    assert_true(short_one.of[0].mean < long_one.of[0].mean / 10);
}

/* Each block works when the one before it has told it to; z holds the words. */
static void chain_kernel(void)
{
    uint32_t buffer = 0;
    struct npu_tensor tensor, words = global(z, 0), ub;
    npu_pipe_create();
    npu_buf_init(&buffer, NPU_VECCALC, 32768 + 32);
    npu_buf_get(buffer, 0, 32768, &tensor);
    npu_buf_get(buffer, 0, 32768 + 32, &ub);
    ub.addr += 32768;
    ub.bytes = 32;
    const int block = (int)npu_block_idx();
    if (block)
        npu_ib_wait(&words, &ub, block, 0);
    for (int i = 0; i < given.repeats; i++) {
        copy(tensor, global(x, 0), 16384);
        npu_pipe_barrier(NPU_PIPE_ALL);
    }
    if (block + 1 < npu_block_num())
        npu_ib_set(&words, &ub, block + 1, 0);
    npu_pipe_destroy();
}

/* What a block is told by way of GM comes after what the other did, and takes its way. */
static void test_blocks_wait_for_what_they_are_told(void **state)
{
    (void)state;
    given.repeats = 20;
    const double one = launch(chain_kernel, 1).of[0].longest;
    const struct npu_timing chain = launch(chain_kernel, 4);
    assert_true(chain.of[0].longest > 2.5 * one + 3 * NPU_RATE_TOLD); /* the others find x in L2 */
    assert_true(chain.of[0].longest < 4 * one + 10 * NPU_RATE_TOLD);
}

/* As chain_kernel, by words in z that a block polls and the one before it writes: the scalar unit, a copy, or a copy that adds. */
static enum { BY_SCALAR_UNIT, BY_COPY, BY_ATOMIC_COPY, WRITERS } writer;
static void polling_kernel(void)
{
    enum { LINE = 64, DONE = 77, OUT = 2 };
    struct npu_tensor tensor = pipe_with_buffer(32768 + LINE), words = global(z, 0), ub = tensor;
    const int block = (int)npu_block_idx(), own = block * LINE;
    struct npu_tensor own_word = global(z, (uint64_t)own / 2),
                      word_before = global(z, (uint64_t)(own - LINE * (block > 0)) / 2);
    ub.addr += 32768;
    ub.bytes = LINE;
    for (int i = 0; i < LINE; i += 4) {
        npu_scalar_store(&words, (uint64_t)(own + i), 4, 0);
        npu_scalar_store(&ub, (uint64_t)i, 4, DONE);
    }
    npu_dcache_clean(&own_word, 0, OUT);
    npu_sync_all(1);
    do
        npu_dcache_clean(&word_before, 0, OUT);
    while (block && npu_scalar_load(&word_before, 0, 4) != DONE);
    for (int i = 0; i < given.repeats; i++) {
        copy(tensor, global(x, 0), 16384);
        npu_pipe_barrier(NPU_PIPE_ALL);
    }
    if (writer == BY_SCALAR_UNIT) {
        npu_scalar_store(&own_word, 0, 4, DONE);
        npu_dcache_clean(&own_word, 0, OUT);
    } else {
        npu_set_atomic(writer == BY_ATOMIC_COPY, AKGEN_INT16);
        copy(own_word, ub, LINE / 2);
        npu_set_atomic(0, AKGEN_INT16);
    }
    npu_pipe_destroy();
}

/* A block that sees what another has written into GM comes after that, whoever wrote it, though nothing was told. */
static void test_blocks_wait_for_what_they_poll(void **state)
{
    (void)state;
    given.repeats = 20;
    given.hint = 0;
    for (writer = 0; writer < WRITERS; writer++) {
        const double one = launch(polling_kernel, 1).of[0].longest - NPU_RATE_MEETING;
        const struct npu_timing chain = launch(polling_kernel, 4);
        assert_true(chain.of[0].longest > 2.5 * one + 3 * NPU_RATE_TOLD); /* the others find x in L2 */
        assert_true(chain.of[0].longest < 4 * one + 10 * NPU_RATE_TOLD + NPU_RATE_MEETING);
    }
}

/* Blocks that have no core yet begin where others have ended. */
static void test_waves(void **state)
{
    (void)state;
    const double one = add_of(48 * 4096, 4096, 1, 48).of[0].mean;
    const struct npu_timing two = add_of(96 * 4096, 4096, 1, 96);
    assert_int_equal(two.of[0].cores, 48);
    assert_true(two.of[0].mean > 1.8 * one && two.of[0].mean < 2.2 * one);
}

/* Runs random copies and additions, other ones in each block; blocks of one wave meet now and then. */
static uint64_t seed;

static uint32_t chance(struct rng *rng, uint32_t below)
{
    return (uint32_t)rng_integer(rng, 0, below);
}

static void random_kernel(void)
{
    enum { MOST = 16384 };
    const uint32_t block = (uint32_t)npu_block_idx();
    struct rng ours, own;
    rng_seed(&ours, seed);
    rng_seed(&own, seed * 77 + block);
    struct npu_tensor tensor = pipe_with_buffer(MOST * 2);
    copy(tensor, global(x, 0), MOST);
    npu_pipe_barrier(NPU_PIPE_ALL);
    for (uint32_t step = chance(&ours, 12); step > 0; step--) {
        const bool meets = chance(&ours, 4) == 0;
        for (uint32_t i = chance(&own, 6); i > 0; i--) {
            const uint32_t count = 16 * (1 + chance(&own, MOST / 16)), kind = chance(&own, 3);
            if (kind == 0)
                copy(tensor, global(x, 16 * chance(&own, MIB)), count);
            else if (kind == 1)
                copy(global(z, (uint64_t)block * MOST), tensor, count);
            else
                add(tensor, tensor, tensor, count);
            npu_pipe_barrier(NPU_PIPE_ALL);
        }
        if (meets && npu_block_num() <= 48)
            npu_sync_all(1);
    }
    npu_pipe_destroy();
}

/* The time covers all bytes that the machine has moved, and every core ends. */
static void test_all_work_has_a_time(void **state)
{
    (void)state;
    given.hint = 0;
    for (seed = 1; seed <= 60; seed++) {
        struct rng rng;
        rng_seed(&rng, seed);
        const struct npu_timing timing = launch(random_kernel, 1 + (int)chance(&rng, seed % 2 ? 48 : 300));
        assert_int_equal(timing.read, counted.bytes_in);
        assert_int_equal(timing.written, counted.bytes_out);
    }
}

/* Adds 8192 elements, by number or in counter mode with a bitwise mask. */
static void counted_kernel(void)
{
    enum { COUNT = 8192 };
    struct npu_tensor tensor = pipe_with_buffer(COUNT * 2);
    copy(tensor, global(x, 0), COUNT);
    npu_pipe_barrier(NPU_PIPE_ALL);
    struct npu_insn insn = {.op = NPU_OP_ADD,
                            .form = given.repeats ? NPU_FORM_MASK_BITS : NPU_FORM_COUNT,
                            .dst_type = AKGEN_FLOAT16,
                            .src_type = AKGEN_FLOAT16,
                            .src1_type = AKGEN_FLOAT16,
                            .count = COUNT,
                            .mask = {COUNT, 0},
                            .repeat = 1,
                            .dst_blk = 1,
                            .src0_blk = 1,
                            .src1_blk = 1,
                            .dst_rep = 8,
                            .src0_rep = 8,
                            .src1_rep = 8,
                            .dst = tensor,
                            .src0 = tensor,
                            .src1 = tensor};
    npu_set_mask_counter(given.repeats);
    npu_issue(&insn);
    npu_set_mask_counter(0);
    npu_pipe_destroy();
}

/* An instruction costs what it executes, whichever way its elements are counted. */
static void test_counter_mode_costs_its_elements(void **state)
{
    (void)state;
    given.repeats = 0;
    const double by_number = launch(counted_kernel, 1).of[0].busy[NPU_LANE_V];
    given.repeats = 1;
    const double in_counter_mode = launch(counted_kernel, 1).of[0].busy[NPU_LANE_V];
    assert_true(by_number > 64 && in_counter_mode >= by_number);
}

static void copy_kernel(void)
{
    struct npu_tensor tensor = pipe_with_buffer(1024);
    copy(tensor, global(x, 512 * (uint64_t)npu_block_idx()), 512);
    npu_pipe_destroy();
}

/* A tape of each: short ones take little room. */
static void test_thousands_of_blocks_have_a_time(void **state)
{
    (void)state;
    const struct npu_timing timing = launch(copy_kernel, 6000);
    assert_int_equal(timing.read, 6000 * 1024);
    assert_int_equal(timing.copies_in, 6000);
}

/* Work without a place on a tape would cost nothing. */
static void test_what_is_not_on_a_tape_has_no_time(void **state)
{
    (void)state;
    tape_taken = NPU_TAPE_BYTES;
    assert_false(launched(copy_kernel, 2).known);
    tape_taken = 0;
    assert_true(launched(copy_kernel, 2).known);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_same_launch_takes_the_same),
        cmocka_unit_test(test_more_takes_longer),
        cmocka_unit_test(test_every_tile_takes_longer),
        cmocka_unit_test(test_two_buffers_are_not_slower),
        cmocka_unit_test(test_cores_share_work),
        cmocka_unit_test(test_the_bound_of_l2),
        cmocka_unit_test(test_hbm_and_l2),
        cmocka_unit_test(test_what_l2_has_no_room_for),
        cmocka_unit_test(test_odd_rows),
        cmocka_unit_test(test_parameters_of_copies),
        cmocka_unit_test(test_queues_have_an_end),
        cmocka_unit_test(test_banks),
        cmocka_unit_test(test_slices_are_the_work),
        cmocka_unit_test(test_a_meeting_waits),
        cmocka_unit_test(test_blocks_wait_for_what_they_are_told),
        cmocka_unit_test(test_blocks_wait_for_what_they_poll),
        cmocka_unit_test(test_waves),
        cmocka_unit_test(test_all_work_has_a_time),
        cmocka_unit_test(test_counter_mode_costs_its_elements),
        cmocka_unit_test(test_thousands_of_blocks_have_a_time),
        cmocka_unit_test(test_what_is_not_on_a_tape_has_no_time),
    };
    x = mmap(NULL, 3 * (size_t)TENSOR_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1,
             0);
    if (x == MAP_FAILED)
        return 1;
    y = x + TENSOR_BYTES;
    z = y + TENSOR_BYTES;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
