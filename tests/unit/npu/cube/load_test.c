/* What brings matrices into the cube's memories, against plain loops. */
/* test: leaves=covered builds=both */
#include "unit/npu/coverage.h"
#include "unit/npu/cube/program.h"
#include "unit/npu/isa_types.h"

static void nd2nz(void)
{
    static const uint32_t sizes[] = {1, 15, 16, 17, 31, 33, 64};
    for (int trial = 0; trial < 150; trial++) {
        uint32_t size = 1u << cube_random(0, 2), n = sizes[cube_random(0, 6)], d = sizes[cube_random(0, 6)];
        uint32_t matrices = cube_random(1, 3), row = d + cube_random(0, 5), step = cube_random(1, 2);
        uint32_t columns = (d * size + 31) / 32, c0 = n * step + cube_random(0, 3);
        uint32_t matrix = columns * c0 * 32 / size, source = n * row + cube_random(0, 7);
        uint8_t *l1 = cube_at(NPU_A1, 64);
        cube_fill(NPU_A1, 0, NPU_L1_BYTES);
        static uint8_t expected[NPU_L1_BYTES];
        memcpy(expected, l1, NPU_L1_BYTES - 64);
        for (uint32_t m = 0; m < matrices; m++)
            for (uint32_t i = 0; i < n; i++)
                for (uint32_t j = 0; j < columns * 32 / size; j++) {
                    uint8_t *to = expected + m * matrix * size + (j * size / 32 * c0 + i * step) * 32 + j * size % 32;
                    memset(to, 0, size);
                    if (j < d)
                        memcpy(to, cube_in + (m * source + i * row + j) * size, size);
                }
        uint8_t type = isa_type(NPU_OP_ND2NZ, size, (uint32_t)trial);
        struct npu_insn insn = {.op = NPU_OP_ND2NZ,
                                .src_type = type,
                                .dst_type = type,
                                .dst = local_at(NPU_A1, 64, 0),
                                .src0 = gm_tensor(cube_in),
                                .nd2nz = {matrices, n, d, source, row, c0, step, matrix}};
        npu_issue_cube(&insn);
        cube_join();
        assert_memory_equal(l1, expected, NPU_L1_BYTES - 64);
        covered(&insn, COUNT);
    }
}

static void nd2nz_spreads_rows(void **state)
{
    (void)state;
    cube_good(nd2nz);
}

/* Squares of side x side elements; element (i, j) of square `at` as LoadDataWithTranspose sees it. */
static uint32_t square_element(const uint8_t *at, uint32_t bits, uint32_t i, uint32_t j)
{
    uint32_t value = 0;
    if (bits == 4)
        return at[(i * 64 + j) / 2] >> j % 2 * 4 & 15;
    if (bits == 32)
        memcpy(&value, at + (j / 8 * 128 + i * 8 + j % 8) * 4, 4);
    else
        memcpy(&value, at + (i * (256 / bits) + j) * bits / 8, bits / 8);
    return value;
}

static void transpose(void)
{
    static const struct {
        uint8_t type;
        uint32_t bits, side, fractals, c0;
    } kinds[] = {{AKGEN_INT4, 4, 64, 4, 64},
                 {AKGEN_INT8, 8, 32, 2, 32},
                 {AKGEN_FLOAT16, 16, 16, 1, 16},
                 {AKGEN_FLOAT, 32, 16, 2, 8}};
    for (int trial = 0; trial < 80; trial++) {
        int kind = (int)cube_random(0, 3);
        uint32_t bits = kinds[kind].bits, fractals = kinds[kind].fractals, c0 = kinds[kind].c0;
        struct npu_load_2d p = {.start = cube_random(0, 2),
                                .repeat = cube_random(1, 3),
                                .src_stride = cube_random(0, 2),
                                .dst_gap = fractals - 1 + cube_random(0, 2)};
        cube_fill(NPU_B1, 0, 65536);
        cube_fill(NPU_B2, 0, NPU_L0B_BYTES);
        static uint8_t expected[NPU_L0B_BYTES];
        const uint8_t *src = cube_at(NPU_B1, 0);
        memcpy(expected, cube_at(NPU_B2, 0), sizeof expected);
        for (uint32_t r = 0; r < p.repeat; r++)
            for (uint32_t f = 0; f < fractals; f++)
                for (uint32_t i = 0; i < 16; i++)
                    for (uint32_t j = 0; j < c0; j++) {
                        const uint8_t *square = src + (p.start + r * p.src_stride) * fractals * 512;
                        uint8_t *to = expected + (r * (p.dst_gap + 1) + f) * 512;
                        uint32_t value = bits == 32 ? square_element(square, bits, f * 8 + j, i)
                                                    : square_element(square, bits, j, f * 16 + i);
                        if (bits == 4)
                            to[(i * 64 + j) / 2] = (uint8_t)(j % 2 ? (to[(i * 64 + j) / 2] & 15) | value << 4 : value);
                        else
                            memcpy(to + (i * c0 + j) * bits / 8, &value, bits / 8);
                    }
        uint8_t type = bits == 4 ? AKGEN_INT4 : isa_type(NPU_OP_LOAD_DATA_WITH_TRANSPOSE, bits / 8, (uint32_t)trial);
        if (bits == 8 && type == AKGEN_INT4)
            type = AKGEN_INT8;
        struct npu_insn insn = {.op = NPU_OP_LOAD_DATA_WITH_TRANSPOSE,
                                .src_type = type,
                                .dst_type = type,
                                .dst = local_at(NPU_B2, 0, 0),
                                .src0 = local_at(NPU_B1, 0, 0),
                                .load_2d = p};
        npu_issue_cube(&insn);
        cube_join();
        assert_memory_equal(cube_at(NPU_B2, 0), expected, sizeof expected);
        covered(&insn, COUNT);
    }
}

static void squares_are_transposed(void **state)
{
    (void)state;
    cube_good(transpose);
}

static void load_2d(void)
{
    for (int trial = 0; trial < 200; trial++) {
        static const uint8_t positions[] = {NPU_A2, NPU_A2, NPU_B2, NPU_A1};
        bool gm = trial % 4 == 3 || cube_random(0, 2) == 0, turn = !gm && cube_random(0, 1);
        struct npu_load_2d p = {.start = cube_random(6, 9),
                                .repeat = cube_random(1, 4),
                                .src_stride = cube_random(0, 2),
                                .dst_gap = cube_random(0, 2),
                                .transpose = turn,
                                .descending = gm && cube_random(0, 1)};
        int position = positions[trial % 4];
        uint8_t type = isa_type(NPU_OP_LOAD_DATA, turn ? 2 : (size_t)1 << trial % 3, (uint32_t)trial / 3);
        cube_fill(NPU_A1, 0, 65536);
        if (position != NPU_A1)
            cube_fill(position, 0, NPU_L0A_BYTES);
        static uint8_t expected[NPU_L0A_BYTES];
        memcpy(expected, cube_at(position, 0), sizeof expected);
        const uint8_t *src = gm ? cube_in + 3 : cube_at(NPU_A1, 32);
        for (uint32_t r = 0; r < p.repeat; r++)
            for (uint32_t i = 0; i < 256; i++) {
                uint32_t fractal = p.descending ? p.start - r * p.src_stride : p.start + r * p.src_stride;
                memcpy(expected + r * (p.dst_gap + 1) * 512 + i * 2,
                       src + fractal * 512 + (turn ? i % 16 * 16 + i / 16 : i) * 2, 2);
            }
        struct npu_insn insn = {.op = NPU_OP_LOAD_DATA,
                                .src_type = type,
                                .dst_type = type,
                                .dst = local_at(position, 0, 0),
                                .src0 = gm ? gm_tensor(src) : local_at(NPU_A1, 32, 0),
                                .load_2d = p};
        npu_issue_cube(&insn);
        cube_join();
        assert_memory_equal(cube_at(position, 0), expected, sizeof expected);
        covered(&insn, COUNT);
    }
}

static void fractals_are_copied(void **state)
{
    (void)state;
    cube_good(load_2d);
}

/* The unfolded matrix, as its definition says. */
struct map {
    uint32_t w, h, channels, size, pad[4];
    struct npu_load_3d p;
};
static bool unfolded(const struct map *f, const uint8_t *l1, uint64_t padding, uint32_t row, uint32_t column,
                     uint8_t value[4])
{
    uint32_t c0 = 32 / f->size, reach_w = (f->p.filter_w - 1u) * f->p.dilation_w + 1;
    uint32_t reach_h = (f->p.filter_h - 1u) * f->p.dilation_h + 1;
    uint32_t w_out = (f->w + f->pad[0] + f->pad[1] - reach_w) / f->p.stride_w + 1;
    uint32_t h_out = (f->h + f->pad[2] + f->pad[3] - reach_h) / f->p.stride_h + 1, at = 0;
    if (row >= w_out * h_out)
        return false;
    for (uint32_t c1 = 0; c1 * c0 < f->channels; c1++)
        for (uint32_t fh = 0; fh < f->p.filter_h; fh++)
            for (uint32_t fw = 0; fw < f->p.filter_w; fw++)
                for (uint32_t c = 0; c < c0; c++, at++) {
                    if (at != column)
                        continue;
                    int y = (int)(row / w_out * f->p.stride_h + fh * f->p.dilation_h) - (int)f->pad[2];
                    int x = (int)(row % w_out * f->p.stride_w + fw * f->p.dilation_w) - (int)f->pad[0];
                    bool inside = x >= 0 && y >= 0 && x < (int)f->w && y < (int)f->h;
                    const void *from =
                        inside ? (const void *)(l1 + (((size_t)c1 * f->h + (uint32_t)y) * f->w + (uint32_t)x) * 32 +
                                                c * f->size)
                               : (const void *)&padding;
                    memcpy(value, from, f->size);
                    return true;
                }
    return false;
}

static void load_3d(void)
{
    for (int trial = 0; trial < 120; trial++) {
        struct map f = {.size = 1u << cube_random(0, 2), .w = cube_random(5, 9), .h = cube_random(5, 9)};
        uint32_t c0 = 32 / f.size, planes = cube_random(1, 3), kernel = cube_random(1, 3);
        bool to_b = f.size > 1 && cube_random(0, 1), turn = to_b || (f.size > 1 && cube_random(0, 1));
        f.channels = planes * c0;
        for (int i = 0; i < 4; i++)
            f.pad[i] = cube_random(0, 2);
        uint32_t k_start = cube_random(0, planes - 1) * c0;
        f.p = (struct npu_load_3d){.channels = (uint16_t)f.channels,
                                   .k = (uint16_t)(f.channels * kernel * kernel - k_start),
                                   .m = (uint16_t)cube_random(1, 40),
                                   .k_start = (uint16_t)k_start,
                                   .m_start = (uint16_t)cube_random(0, 20),
                                   .filter_w = (uint16_t)kernel,
                                   .filter_h = (uint16_t)kernel,
                                   .stride_w = (uint8_t)cube_random(1, 2),
                                   .stride_h = (uint8_t)cube_random(1, 2),
                                   .dilation_w = (uint8_t)cube_random(1, 2),
                                   .dilation_h = (uint8_t)cube_random(1, 2),
                                   .transpose = turn};
        uint32_t m1 = (f.p.m + 15u) / 16, k16 = (f.p.k + 15u) / 16, kc = (f.p.k + c0 - 1) / c0;
        if ((turn ? k16 * m1 * (16 / c0) : m1 * kc) * 512 > NPU_L0A_BYTES)
            continue;
        uint64_t padding = rng_next(&cube_rng);
        int position = to_b ? NPU_B2 : NPU_A2;
        cube_fill(NPU_A1, 0, 65536);
        cube_fill(position, 0, NPU_L0A_BYTES);
        static uint8_t expected[NPU_L0A_BYTES];
        memcpy(expected, cube_at(position, 0), sizeof expected);
        for (uint32_t i = 0; i < f.p.m; i++)
            for (uint32_t j = 0; j < f.p.k; j++) {
                uint8_t value[4];
                uint32_t at; /* element: Zz by (i, j), Zz by (j, i), or Zn of K = i, N = j */
                if (!turn)
                    at = ((i / 16 * kc + j / c0) * 16 + i % 16) * c0 + j % c0;
                else if (to_b)
                    at = ((i / c0 * k16 + j / 16) * 16 + j % 16) * c0 + i % c0;
                else
                    at = ((j / 16 * (m1 * 16 / c0) + i / c0) * 16 + j % 16) * c0 + i % c0;
                if (unfolded(&f, cube_at(NPU_A1, 0), padding, f.p.m_start + i, f.p.k_start + j, value))
                    memcpy(expected + at * f.size, value, f.size);
            }
        npu_set_cube_register(NPU_CUBE_MAP_LEFT, f.w | (uint64_t)f.h << 16 | (uint64_t)f.pad[0] << 32 |
                                                     (uint64_t)f.pad[1] << 40 | (uint64_t)f.pad[2] << 48 |
                                                     (uint64_t)f.pad[3] << 56);
        npu_set_cube_register(NPU_CUBE_PADDING, padding);
        uint8_t type = isa_type(NPU_OP_LOAD_DATA_3D, f.size, (uint32_t)trial);
        struct npu_insn insn = {.op = NPU_OP_LOAD_DATA_3D,
                                .src_type = type,
                                .dst_type = type,
                                .dst = local_at(position, 0, 0),
                                .src0 = local_at(NPU_A1, 0, 0),
                                .load_3d = f.p};
        if (type == AKGEN_INT4) { /* two channels in a byte */
            insn.load_3d.channels *= 2;
            insn.load_3d.k *= 2;
            insn.load_3d.k_start *= 2;
        }
        npu_issue_cube(&insn);
        cube_join();
        assert_memory_equal(cube_at(position, 0), expected, sizeof expected);
        covered(&insn, COUNT);
    }
}

static void maps_are_unfolded(void **state)
{
    (void)state;
    cube_good(load_3d);
}

/* From GM, in blocks of 32 bytes with gaps on both sides. */
static void copies_into_l1(void)
{
    static uint8_t expected[4096];
    cube_fill(NPU_A1, 0, sizeof expected);
    memcpy(expected, cube_at(NPU_A1, 0), sizeof expected);
    for (uint32_t at = 0; at < 5 * 96; at++)
        memcpy(expected + at / 96 * 128 + at % 96, cube_in + at / 96 * 160 + at % 96, 1);
    struct npu_insn insn = {.op = NPU_OP_DATA_COPY,
                            .form = NPU_FORM_MASK_REG,
                            .src_type = AKGEN_BF16,
                            .dst_type = AKGEN_BF16,
                            .dst = local_at(NPU_A1, 0, 0),
                            .src0 = gm_tensor(cube_in),
                            .copy = {.block_count = 5, .block_len = 3, .src_stride = 2, .dst_stride = 1}};
    npu_issue_copy(&insn);
    cube_join();
    assert_memory_equal(cube_at(NPU_A1, 0), expected, sizeof expected);
    covered(&insn, COUNT);
}

static void tables(void)
{
    cube_fill(NPU_C1, 0, 4096);
    struct npu_insn insn = {.op = NPU_OP_DATA_COPY,
                            .form = NPU_FORM_MASK_REG,
                            .src_type = AKGEN_FLOAT16,
                            .dst_type = AKGEN_FLOAT,
                            .dst = local_at(NPU_C2, 64, 0),
                            .src0 = local_at(NPU_C1, 32, 0),
                            .copy = {.block_count = 1, .block_len = 3}};
    npu_issue_copy(&insn);
    cube_join();
    for (uint32_t i = 0; i < 96; i++) {
        half_t half;
        memcpy(&half, cube_at(NPU_C1, 32 + 2 * i), sizeof half);
        float wide = (float)half;
        if (wide == wide)
            assert_memory_equal(cube_at(NPU_C2, 64 + 4 * i), &wide, 4);
    }
    covered(&insn, COUNT);
    insn.dst_type = insn.src_type = AKGEN_UINT64;
    insn.dst = local_at(NPU_C2PIPE2GM, 128, 0);
    insn.copy.block_len = 2;
    npu_issue_copy(&insn);
    cube_join();
    assert_memory_equal(cube_at(NPU_C2PIPE2GM, 128), cube_at(NPU_C1, 32), 256);
    covered(&insn, COUNT);
}

/* Every constant to every memory: three runs of two blocks (of 32 bytes in L1, of 512 elsewhere) with a block
 * between. */
static void constants(void)
{
    static const uint8_t positions[] = {NPU_A1, NPU_A2, NPU_B2};
    for (int turn = 0; turn < 3 * 8; turn++) {
        size_t size = turn % 2 ? 2 : 4;
        uint8_t type = isa_type(NPU_OP_INIT_CONST_VALUE, size, (uint32_t)turn / 6);
        uint32_t block = turn % 3 ? 512 : 32;
        struct npu_insn insn = {.op = NPU_OP_INIT_CONST_VALUE,
                                .dst_type = type,
                                .src_type = type,
                                .scalar = 0x1234abcd,
                                .dst = local_at(positions[turn % 3], 0, 0),
                                .load_2d = {.repeat = 3, .block_num = 2, .dst_gap = 1}};
        static uint8_t expected[9 * 512];
        cube_fill(positions[turn % 3], 0, sizeof expected);
        memcpy(expected, cube_at(positions[turn % 3], 0), sizeof expected);
        for (uint32_t at = 0; at < 9 * block; at += (uint32_t)size)
            if (at / block % 3 < 2)
                memcpy(expected + at, &insn.scalar, size);
        npu_issue_cube(&insn);
        cube_join();
        assert_memory_equal(cube_at(positions[turn % 3], 0), expected, sizeof expected);
        covered(&insn, COUNT);
    }
}

static void tables_and_constants(void **state)
{
    (void)state;
    cube_good(copies_into_l1);
    cube_good(tables);
    cube_good(constants);
}

/* An undefined element stays the only one, wherever it goes. */
static void undefined(void)
{
    cube_fill(NPU_B1, 0, 4096);
    npu_ub_undefine(npu_current, cube_at(NPU_B1, 512 + (3 * 16 + 5) * 2), 2);
    struct npu_insn insn = {.op = NPU_OP_LOAD_DATA,
                            .src_type = AKGEN_FLOAT16,
                            .dst = local_at(NPU_B2, 0, 0),
                            .src0 = local_at(NPU_B1, 0, 0),
                            .load_2d = {.repeat = 3, .src_stride = 1, .transpose = 1}};
    npu_issue_cube(&insn);
    for (uint32_t i = 0; i < 768; i++)
        assert_int_equal(npu_ub_defined(npu_current, cube_at(NPU_B2, 2 * i), 2), i != 256 + 5 * 16 + 3);
}

static void definedness_moves_along(void **state)
{
    (void)state;
    cube_good(undefined);
}

static struct npu_insn bad;
static void issue_bad(void)
{
    struct npu_insn insn = bad;
    insn.dst = local_at(bad.dst.position, (uint32_t)bad.dst.addr, 0);
    insn.src0 =
        bad.src0.position == NPU_GM ? gm_tensor(cube_in) : local_at(bad.src0.position, (uint32_t)bad.src0.addr, 0);
    npu_issue_cube(&insn);
}

static void illegal_loads_trap(void **state)
{
    (void)state;
    const struct npu_insn good = {.op = NPU_OP_LOAD_DATA,
                                  .src_type = AKGEN_FLOAT16,
                                  .dst = {.position = NPU_A2},
                                  .src0 = {.position = NPU_A1},
                                  .load_2d = {.repeat = 2, .src_stride = 1}};
    const struct {
        const char *fault;
        struct npu_tensor dst, src;
        struct npu_load_2d p;
        uint8_t type;
    } cases[] = {
        {"cube_alignment", {.position = NPU_A2, .addr = 256}, {.position = NPU_A1}, {.repeat = 1}, AKGEN_FLOAT16},
        {"cube_alignment", {.position = NPU_B2}, {.position = NPU_A1, .addr = 16}, {.repeat = 1}, AKGEN_FLOAT16},
        {"cube_position", {.position = NPU_A1}, {.position = NPU_A1}, {.repeat = 1}, AKGEN_FLOAT16},
        {"cube_position", {.position = NPU_A2}, {.position = NPU_B2}, {.repeat = 1}, AKGEN_FLOAT16},
        {"cube_dtype", {.position = NPU_A2}, {.position = NPU_A1}, {.repeat = 1, .transpose = 1}, AKGEN_INT8},
        {"cube_dtype", {.position = NPU_A2}, {.position = NPU_GM}, {.repeat = 1, .transpose = 1}, AKGEN_FLOAT16},
        {"l0a_out_of_bounds", {.position = NPU_A2, .addr = 65024}, {.position = NPU_A1}, {.repeat = 2}, AKGEN_FLOAT16},
        {"l1_out_of_bounds", {.position = NPU_A2}, {.position = NPU_A1}, {.repeat = 1, .start = 1024}, AKGEN_FLOAT16},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        bad = good;
        bad.dst = cases[i].dst;
        bad.src0 = cases[i].src;
        bad.load_2d = cases[i].p;
        bad.src_type = cases[i].type;
        cube_run(issue_bad, NPU_TYPE_AIC_ONLY);
        assert_string_equal(cube_fault, cases[i].fault);
    }
}

static void on_a_vector_core(void)
{
    npu_issue_cube(&bad);
}

static void a_vector_core_does_nothing(void **state)
{
    (void)state;
    bad = (struct npu_insn){.op = NPU_OP_LOAD_DATA,
                            .src_type = AKGEN_FLOAT16,
                            .dst = {.position = NPU_A2, .addr = 1},
                            .src0 = {.position = NPU_A1},
                            .load_2d = {.repeat = 1}};
    cube_run(on_a_vector_core, NPU_TYPE_AIV_ONLY); /* even what would trap on an AIC */
    assert_string_equal(cube_fault, "");
}

int main(void)
{
    rng_seed(&cube_rng, 11);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nd2nz_spreads_rows),   cmocka_unit_test(squares_are_transposed),
        cmocka_unit_test(fractals_are_copied),  cmocka_unit_test(maps_are_unfolded),
        cmocka_unit_test(tables_and_constants), cmocka_unit_test(definedness_moves_along),
        cmocka_unit_test(illegal_loads_trap),   cmocka_unit_test(a_vector_core_does_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
