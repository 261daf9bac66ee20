/* DataCopy with SliceInfo on the whole machine, against plain loops over the elements that the slices name. */
/* test: leaves=covered builds=both */
#include "unit/npu/coverage.h"
#include "unit/npu/launch.h"

enum { ROOM = 32768, BYTES = 49152 };
static _Alignas(512) uint8_t x[BYTES], z[BYTES];

/* What a test moves from x through UB to z: `in.dst` is where it lies in UB, and `out.src`. */
static struct npu_slices in, out;
static _Alignas(512) uint8_t expected[BYTES];
static uint8_t type;
static uint32_t size, unit; /* bytes of an element, elements of a block */

static void slices_kernel(void)
{
    struct npu_tensor ub, from = {.addr = (uint64_t)x, .position = NPU_GM},
                          to = {.addr = (uint64_t)z, .position = NPU_GM};
    npu_local_tensor(NPU_VECCALC, 0, ROOM, &ub);
    struct npu_adv call = {
        .op = NPU_ADV_COPY_SLICES, .type = type, .dst_type = type, .flags = NPU_ADV_NO_TMP, .tiling = &in};
    call.dst[0] = ub;
    call.src[0] = from;
    npu_advanced(&call);
    npu_set_flag(NPU_PIPE_MTE2, NPU_PIPE_MTE3, 0);
    npu_wait_flag(NPU_PIPE_MTE2, NPU_PIPE_MTE3, 0);
    call.dst[0] = to;
    call.src[0] = ub;
    call.tiling = &out;
    npu_advanced(&call);
    covered_adv(&call, true);
}

/* Runs the kernel; what it is told first, or "". */
static const char *run(void)
{
    static struct outcome outcome;
    const struct npu_config config = {.soc = &npu_socs[0]};
    const struct gm_part parts[] = {{"x", x, BYTES, NPU_GM_INPUT, true}, {"z", z, BYTES, NPU_GM_OUTPUT, true}};
    for (int i = 0; i < BYTES; i++) {
        x[i] = (uint8_t)(i * 7 + i / 256);
        z[i] = 0x7f;
    }
    outcome = launch_once(&config, (void *)slices_kernel, parts, 2);
    return outcome.message;
}

/* The elements of a slice in the order in which they are moved; returns how many. */
static int elements(const struct npu_slice *slices, uint32_t dims, uint32_t *list)
{
    int count = 0;
    uint32_t index[NPU_SLICE_DIMS];
    for (uint32_t d = 0; d < dims; d++)
        index[d] = slices[d].start;
    for (;;) {
        uint32_t row = 0, size = 1;
        for (uint32_t d = 1; d < dims; d++) {
            size *= slices[d - 1].shape;
            row += size * index[d];
        }
        uint32_t piece = slices[0].burst * unit;
        for (uint32_t at = slices[0].start; at + piece <= slices[0].end + 1; at += piece + slices[0].stride)
            for (uint32_t i = 0; i < piece; i++)
                list[count++] = row + at + i;
        uint32_t d = 1;
        for (; d < dims; d++) {
            index[d] += 1 + slices[d].stride;
            if (index[d] <= slices[d].end)
                break;
            index[d] = slices[d].start;
        }
        if (d >= dims)
            return count;
    }
}

static void check(struct npu_slices from_x, struct npu_slices to_z)
{
    static uint32_t from[BYTES], to[BYTES], between[BYTES];
    in = from_x;
    out = to_z;
    int count = elements(in.src, in.dims, from);
    assert_int_equal(elements(in.dst, in.dims, between), count);
    assert_int_equal(elements(out.dst, out.dims, to), count);
    assert_string_equal(run(), "");
    memset(expected, 0x7f, BYTES);
    for (int i = 0; i < count; i++)
        memcpy(expected + to[i] * size, x + from[i] * size, size);
    assert_memory_equal(z, expected, BYTES);
}

static void each_type(void (*test)(void))
{
    static const uint8_t types[] = {AKGEN_INT8, AKGEN_UINT8, AKGEN_INT16,  AKGEN_UINT16, AKGEN_FLOAT16,
                                    AKGEN_BF16, AKGEN_INT32, AKGEN_UINT32, AKGEN_FLOAT};
    for (size_t i = 0; i < sizeof types; i++) {
        type = types[i];
        size = (uint32_t)akgen_dtype_size(type);
        unit = 32 / size;
        test();
    }
}

/* The document's example: two segments of three blocks, seven elements apart, of the rows 0 and 2. */
static void the_documents_example(void **state)
{
    (void)state;
    type = AKGEN_FLOAT;
    size = 4;
    unit = 8;
    struct npu_slices slices = {2, {{0, 47, 0, 3, 48}, {0, 1, 0, 1, 2}}, {{16, 70, 7, 3, 87}, {0, 2, 1, 1, 3}}};
    struct npu_slices back = {2, {{0, 47, 0, 3, 48}, {0, 1, 0, 1, 2}}, {{0, 47, 0, 3, 48}, {0, 1, 0, 1, 2}}};
    check(slices, back);
}

/* Gaps of none, three elements, a block and two and a half in GM, none or a block in UB. */
static void one_dimension_of_a_type(void)
{
    const uint32_t gaps[] = {0, 3, unit, 5 * unit / 2};
    for (size_t g = 0; g < sizeof gaps / sizeof *gaps; g++)
        for (uint32_t ub_gap = 0; ub_gap <= unit; ub_gap += unit) {
            uint32_t end = 10 * unit + 4 * gaps[g] - 1, ub_end = 10 * unit + 4 * ub_gap - 1;
            struct npu_slices slices = {1, {{0, ub_end, ub_gap, 2, ROOM}}, {{7, 7 + end, gaps[g], 2, 1000}}};
            struct npu_slices back = {1, {{1, 1 + end, gaps[g], 2, 1000}}, {{0, ub_end, ub_gap, 2, ROOM}}};
            check(slices, back);
        }
}

static void one_dimension(void **state)
{
    (void)state;
    each_type(one_dimension_of_a_type);
}

static void three_dimensions_of_a_type(void)
{
    struct npu_slice local[] = {{unit, 3 * unit - 1, 0, 1, 3 * unit}, {0, 2, 0, 1, 3}, {0, 1, 0, 1, 2}};
    struct npu_slices slices = {
        3, {local[0], local[1], local[2]}, {{2, 2 * unit + 6, 5, 1, 3 * unit + 6}, {1, 5, 1, 1, 7}, {3, 9, 5, 1, 11}}};
    struct npu_slices back = {
        3, {{4, 3 * unit + 3, unit, 1, 5 * unit}, {0, 4, 1, 1, 6}, {2, 3, 0, 1, 4}}, {local[0], local[1], local[2]}};
    check(slices, back);
}

static void three_dimensions(void **state)
{
    (void)state;
    each_type(three_dimensions_of_a_type);
}

static void says_what_it_cannot(void **state)
{
    (void)state;
    in = (struct npu_slices){.dims = 9};
    assert_non_null(strstr(run(), "dimValue is 9"));
    in = (struct npu_slices){2, {{0, 7, 0, 1, 8}, {0, 1, 0, 1, 2}}, {{0, 7, 0, 1, 8}, {0, 2, 0, 1, 3}}};
    assert_non_null(strstr(run(), "src make 3 copies, those of dst 2"));
    in = (struct npu_slices){2, {{0, 7, 0, 1, 8}, {0, 1, 0, 1, 2}}, {{0, 7, 0, 1, 8}, {0, 1536, 0, 1, 2000}}};
    assert_non_null(strstr(run(), "make 1537 copies, the limit is 1536"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_documents_example),
        cmocka_unit_test(one_dimension),
        cmocka_unit_test(three_dimensions),
        cmocka_unit_test(says_what_it_cannot),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
