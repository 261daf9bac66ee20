/* DataCopy with SliceInfo on the whole machine, against plain loops over the elements that the slices name. */
#include "launch.h"

#include "akgen/npu_adv.h"

enum { BLOCK_FLOATS = 8, ROOM = 8192 };

/* What a test moves from x through UB to z: `in.dst` is where it lies in UB, and `out.src`. */
static struct npu_slices in, out;
static _Alignas(512) float expected[COUNT];

static void slices_kernel(float *x, float *y, float *z)
{
    (void)y;
    npu_pipe_create();
    struct npu_tensor ub = local(ROOM * 4);
    struct npu_adv call = {.op = NPU_ADV_COPY_SLICES, .type = AKGEN_FLOAT, .flags = NPU_ADV_NO_TMP, .tiling = &in};
    call.dst[0] = ub;
    call.src[0] = global(x, 0);
    npu_advanced(&call);
    npu_set_flag(NPU_PIPE_MTE2, NPU_PIPE_MTE3, 0);
    npu_wait_flag(NPU_PIPE_MTE2, NPU_PIPE_MTE3, 0);
    call.dst[0] = global(z, 0);
    call.src[0] = ub;
    call.tiling = &out;
    npu_advanced(&call);
    npu_pipe_destroy();
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
        uint32_t piece = slices[0].burst * BLOCK_FLOATS;
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
    static uint32_t from[COUNT], to[COUNT], between[COUNT];
    struct fixture f;
    in = from_x;
    out = to_z;
    fixture_make(&f, false, 0);
    memcpy(expected, f.z, COUNT * 4);
    int count = elements(in.src, in.dims, from);
    assert_int_equal(elements(in.dst, in.dims, between), count);
    assert_int_equal(elements(out.dst, out.dims, to), count);
    for (int i = 0; i < count; i++)
        expected[to[i]] = f.x[from[i]];
    assert_true(launch(&f, (void *)slices_kernel, 1));
    no_findings(&f);
    assert_memory_equal(f.z, expected, COUNT * 4);
    fixture_free(&f);
}

/* The document's example: two segments of three blocks, seven elements apart, of the rows 0 and 2. */
static void the_documents_example(void **state)
{
    (void)state;
    struct npu_slices slices = {2, {{0, 47, 0, 3, 48}, {0, 1, 0, 1, 2}}, {{16, 70, 7, 3, 87}, {0, 2, 1, 1, 3}}};
    struct npu_slices back = {2, {{0, 47, 0, 3, 48}, {0, 1, 0, 1, 2}}, {{0, 47, 0, 3, 48}, {0, 1, 0, 1, 2}}};
    check(slices, back);
}

static void one_dimension(void **state)
{
    (void)state;
    /* gaps of no, 3, 8 and 20 elements in GM, none or a block in UB */
    static const uint32_t gaps[] = {0, 3, 8, 20};
    for (size_t g = 0; g < sizeof gaps / sizeof *gaps; g++)
        for (uint32_t ub_gap = 0; ub_gap <= 8; ub_gap += 8) {
            uint32_t end = 5 * 16 + 4 * gaps[g] - 1, ub_end = 5 * 16 + 4 * ub_gap - 1;
            struct npu_slices slices = {1, {{0, ub_end, ub_gap, 2, ROOM}}, {{7, 7 + end, gaps[g], 2, 1000}}};
            struct npu_slices back = {1, {{1, 1 + end, gaps[g], 2, 1000}}, {{0, ub_end, ub_gap, 2, ROOM}}};
            check(slices, back);
        }
}

static void three_dimensions(void **state)
{
    (void)state;
    struct npu_slices slices = {3,
                                {{8, 23, 0, 1, 24}, {0, 2, 0, 1, 3}, {0, 1, 0, 1, 2}},
                                {{2, 22, 5, 1, 30}, {1, 5, 1, 1, 7}, {3, 9, 5, 1, 11}}};
    struct npu_slices back = {3,
                              {{4, 27, 8, 1, 40}, {0, 4, 1, 1, 6}, {2, 3, 0, 1, 4}},
                              {{8, 23, 0, 1, 24}, {0, 2, 0, 1, 3}, {0, 1, 0, 1, 2}}};
    check(slices, back);
}

static void says_what_it_cannot(void **state)
{
    (void)state;
    struct fixture f;
    in = (struct npu_slices){.dims = 9};
    fixture_make(&f, false, 0);
    assert_false(launch(&f, (void *)slices_kernel, 1));
    assert_non_null(strstr(finding(&f, "copy_params")->message, "dimValue is 9"));
    fixture_free(&f);
    in = (struct npu_slices){2, {{0, 7, 0, 1, 8}, {0, 1, 0, 1, 2}}, {{0, 7, 0, 1, 8}, {0, 2, 0, 1, 3}}};
    fixture_make(&f, false, 0);
    assert_false(launch(&f, (void *)slices_kernel, 1));
    assert_non_null(strstr(finding(&f, "copy_params")->message, "src make 3 copies, those of dst 2"));
    fixture_free(&f);
    in = (struct npu_slices){2, {{0, 7, 0, 1, 8}, {0, 1, 0, 1, 2}}, {{0, 7, 0, 1, 8}, {0, 1536, 0, 1, 2000}}};
    fixture_make(&f, false, 0);
    assert_false(launch(&f, (void *)slices_kernel, 1));
    assert_non_null(strstr(finding(&f, "copy_params")->message, "make 1537 copies, the limit is 1536"));
    fixture_free(&f);
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
