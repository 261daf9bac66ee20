/* DataCopy with Nz2NdParamsFull on the whole machine, in each data type, against a plain loop over rows and columns. */
/* test: leaves=covered builds=both */
#include "unit/npu/coverage.h"
#include "unit/npu/launch.h"

enum { ROOM = 163840 };
static _Alignas(512) uint8_t x[ROOM], z[ROOM], expected[ROOM];
static struct npu_nz2nd params;
static uint8_t type;

static void nz2nd_kernel(void)
{
    struct npu_insn in = {.op = NPU_OP_DATA_COPY,
                          .form = NPU_FORM_COUNT,
                          .dst_type = AKGEN_UINT8,
                          .src_type = AKGEN_UINT8,
                          .count = ROOM};
    npu_local_tensor(NPU_VECCALC, 0, ROOM, &in.dst);
    in.src0 = (struct npu_tensor){.addr = (uint64_t)x, .position = NPU_GM};
    npu_issue_copy(&in);
    npu_set_flag(NPU_PIPE_MTE2, NPU_PIPE_MTE3, 0);
    npu_wait_flag(NPU_PIPE_MTE2, NPU_PIPE_MTE3, 0);
    struct npu_adv call = {
        .op = NPU_ADV_COPY_NZ2ND, .type = type, .dst_type = type, .flags = NPU_ADV_NO_TMP, .tiling = &params};
    call.dst[0] = (struct npu_tensor){.addr = (uint64_t)z, .position = NPU_GM};
    call.src[0] = in.dst;
    npu_advanced(&call);
    covered_adv(&call, true);
}

/* Runs the kernel; what it is told first, or "". */
static const char *run(void)
{
    static struct outcome outcome;
    const struct npu_config config = {.soc = &npu_socs[0]};
    const struct gm_part parts[] = {{"x", x, ROOM, NPU_GM_INPUT, true}, {"z", z, ROOM, NPU_GM_OUTPUT, true}};
    for (int i = 0; i < ROOM; i++) {
        x[i] = (uint8_t)(i * 7 + i / 256);
        z[i] = 0x7f;
    }
    outcome = launch_once(&config, (void *)nz2nd_kernel, parts, 2);
    return outcome.message;
}

static void check(struct npu_nz2nd p)
{
    uint32_t size = (uint32_t)akgen_dtype_size(type);
    params = p;
    assert_string_equal(run(), "");
    memset(expected, 0x7f, ROOM);
    for (uint32_t m = 0; m < p.matrices; m++)
        for (uint32_t row = 0; row < p.rows; row++)
            for (uint32_t column = 0; column < p.columns; column++) {
                uint32_t to = m * p.dst_matrix + row * p.dst_row + column;
                uint32_t from = m * p.src_matrix * 256 + (column / 16 * p.src_column + row) * 16 + column % 16;
                memcpy(expected + to * size, x + from * size, size);
            }
    assert_memory_equal(z, expected, ROOM);
}

static void matrices_by_rows(void **state)
{
    (void)state;
    static const uint8_t types[] = {AKGEN_INT16, AKGEN_UINT16, AKGEN_FLOAT16, AKGEN_BF16,
                                    AKGEN_INT32, AKGEN_UINT32, AKGEN_FLOAT};
    for (size_t i = 0; i < sizeof types; i++) {
        type = types[i];
        check((struct npu_nz2nd){1, 32, 32, 1, 32, 32, 1});   /* the document's example */
        check((struct npu_nz2nd){2, 4, 32, 1, 4, 160, 48});   /* its figures */
        check((struct npu_nz2nd){2, 4, 32, 1, 4, 144, 40});   /* for half and float */
        check((struct npu_nz2nd){3, 7, 48, 2, 10, 50, 1000}); /* gaps between strips, matrices and rows */
        check((struct npu_nz2nd){1, 500, 16, 1, 0, 16, 1});   /* one strip */
        check((struct npu_nz2nd){0, 1, 16, 1, 1, 16, 1});     /* no matrix */
    }
    type = AKGEN_FLOAT16;
    check((struct npu_nz2nd){1, 4097, 16, 1, 0, 16, 1}); /* more rows than a padded copy has blocks */
}

static void refuses(struct npu_nz2nd given, const char *why)
{
    params = given;
    const char *said = run();
    if (!strstr(said, why))
        fail_msg("'%s' is not in '%s'", why, said);
}

static void limits(void **state)
{
    (void)state;
    type = AKGEN_FLOAT;
    refuses((struct npu_nz2nd){1, 32, 24, 1, 32, 32, 1}, "dValue is 24, expected a multiple of 16");
    refuses((struct npu_nz2nd){1, 0, 16, 1, 32, 32, 1}, "nValue is 0, expected 1 to 8192");
    refuses((struct npu_nz2nd){4096, 1, 16, 1, 32, 32, 1}, "ndNum is 4096, expected 0 to 4095");
    refuses((struct npu_nz2nd){1, 32, 16, 513, 32, 32, 1}, "srcNdMatrixStride is 513, expected 1 to 512");
    refuses((struct npu_nz2nd){1, 32, 16, 1, 32, 15, 1}, "dstDStride is 15, less than the 16 columns");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(matrices_by_rows),
        cmocka_unit_test(limits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
