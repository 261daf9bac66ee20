/* Mmad and Fixpipe against plain loops. */
/* test: leaves=covered builds=both */
#include "unit/npu/coverage.h"
#include "unit/npu/cube/program.h"

#include <math.h>

static const struct {
    uint8_t type;
    uint32_t bits, c0;
    bool integer;
} kinds[] = {{AKGEN_FLOAT16, 16, 16, false},
             {AKGEN_BF16, 16, 16, false},
             {AKGEN_FLOAT, 32, 8, false},
             {AKGEN_INT8, 8, 32, true},
             {AKGEN_INT4, 4, 64, true}};

/* Element `at` of an operand, exactly. */
static double element(const uint8_t *base, int type, uint32_t at)
{
    half_t half;
    float number;
    switch (type) {
    case AKGEN_FLOAT16:
        memcpy(&half, base + 2 * at, 2);
        return (double)half;
    case AKGEN_BF16:
        return bf16_to_float((uint16_t)(base[2 * at] | base[2 * at + 1] << 8));
    case AKGEN_FLOAT:
        memcpy(&number, base + 4 * at, 4);
        return number;
    case AKGEN_INT8:
        return (int8_t)base[at];
    default: {
        int nibble = base[at / 2] >> at % 2 * 4 & 15;
        return nibble >= 8 ? nibble - 16 : nibble;
    }
    }
}

/* Numbers of moderate size in place of random bits, which hold NaNs. */
static void fill_numbers(int position, uint32_t bytes, int type)
{
    cube_fill(position, 0, bytes);
    uint8_t *at = cube_at(position, 0);
    for (uint32_t i = 0; type == AKGEN_FLOAT16 && i < bytes; i += 2)
        at[i + 1] = (uint8_t)((at[i + 1] & 0x83) | 0x38);
    for (uint32_t i = 0; type == AKGEN_BF16 && i < bytes; i += 2)
        at[i + 1] = (uint8_t)((at[i + 1] & 0x80) | 0x3f);
    for (uint32_t i = 0; type == AKGEN_FLOAT && i < bytes; i += 4)
        at[i + 3] = (uint8_t)((at[i + 3] & 0x80) | 0x3f);
}

static void products(void)
{
    static const uint32_t sizes[] = {1, 2, 15, 16, 17, 31, 33, 48, 100};
    for (int trial = 0; trial < 150; trial++) {
        int kind = (int)cube_random(0, 4), type = kinds[kind].type;
        uint32_t m = sizes[cube_random(0, 8)], n = sizes[cube_random(0, 8)], k = sizes[cube_random(0, 8)];
        uint32_t c0 = kinds[kind].c0, m1 = (m + 15) / 16, n1 = (n + 15) / 16, k1 = (k + c0 - 1) / c0;
        bool align = type == AKGEN_FLOAT && cube_random(0, 1);
        uint32_t a_row = align ? (k + 15) / 16 * 2 : k1;
        uint8_t init = (uint8_t)cube_random(0, 2);
        fill_numbers(NPU_A2, NPU_L0A_BYTES, type);
        fill_numbers(NPU_B2, NPU_L0B_BYTES, type);
        fill_numbers(NPU_CO1, NPU_L0C_BYTES, kinds[kind].integer ? AKGEN_INT32 : AKGEN_FLOAT);
        fill_numbers(NPU_C2, NPU_BT_BYTES, kinds[kind].integer ? AKGEN_INT32 : AKGEN_FLOAT);
        const uint8_t *a = cube_at(NPU_A2, 0), *b = cube_at(NPU_B2, 0);
        static uint8_t expected[NPU_L0C_BYTES];
        memcpy(expected, cube_at(NPU_CO1, 0), sizeof expected);
        for (uint32_t i = 0; i < m; i++)
            for (uint32_t j = 0; j < n; j++) {
                uint8_t *c = expected + (j / 16 * m1 * 256 + i * 16 + j % 16) * 4;
                const uint8_t *first = init == NPU_C_BIAS ? cube_at(NPU_C2, 4 * j) : c;
                float sum = 0;
                int32_t start = 0;
                int64_t whole = 0;
                if (init != NPU_C_ZERO) {
                    memcpy(&sum, first, 4);
                    memcpy(&start, first, 4);
                }
                for (uint32_t kk = 0; kk < k; kk++) {
                    uint32_t at_a = m == 1 ? kk : ((i / 16 * a_row + kk / c0) * 16 + i % 16) * c0 + kk % c0;
                    uint32_t at_b = ((kk / c0 * n1 + j / 16) * 16 + j % 16) * c0 + kk % c0;
                    double left = element(a, type, at_a), right = element(b, type, at_b);
                    float product = (float)left * (float)right;
                    sum += product;
                    whole += (int64_t)(left * right);
                }
                whole += start;
                int32_t clamped = whole > INT32_MAX ? INT32_MAX : whole < INT32_MIN ? INT32_MIN : (int32_t)whole;
                memcpy(c, kinds[kind].integer ? (const void *)&clamped : (const void *)&sum, 4);
            }
        struct npu_insn insn = {
            .op = NPU_OP_MMAD,
            .src_type = (uint8_t)type,
            .dst_type = kinds[kind].integer ? AKGEN_INT32 : AKGEN_FLOAT,
            .dst = local_at(NPU_CO1, 0, 0),
            .src0 = local_at(NPU_A2, 0, 0),
            .src1 = local_at(NPU_B2, 0, 0),
            .aux = local_at(NPU_C2, 0, 0),
            .mmad = {.m = (uint16_t)m, .n = (uint16_t)n, .k = (uint16_t)k, .k_align = align, .init = init}};
        if (init == NPU_C_BIAS && n > 256)
            continue;
        npu_issue_cube(&insn);
        cube_join();
        assert_memory_equal(cube_at(NPU_CO1, 0), expected, sizeof expected);
        covered(&insn, COUNT);
    }
}

static void products_have_the_plain_loops_bits(void **state)
{
    (void)state;
    cube_good(products);
}

static struct npu_insn mmad(uint32_t m, uint32_t n, uint32_t k, int init)
{
    return (struct npu_insn){.op = NPU_OP_MMAD,
                             .src_type = AKGEN_FLOAT16,
                             .dst_type = AKGEN_FLOAT,
                             .dst = local_at(NPU_CO1, 0, 0),
                             .src0 = local_at(NPU_A2, 0, 0),
                             .src1 = local_at(NPU_B2, 0, 0),
                             .mmad = {.m = (uint16_t)m, .n = (uint16_t)n, .k = (uint16_t)k, .init = (uint8_t)init}};
}

/* One undefined element of A, one of B: a row and a column of C, and no more; padding of fractals does not count. */
static void undefined_operands(void)
{
    enum { M = 20, N = 37, K = 24 };
    cube_fill(NPU_A2, 0, 4096);
    cube_fill(NPU_B2, 0, 8192);
    npu_ub_undefine(npu_current, cube_at(NPU_A2, ((1 * 2 + 1) * 256 + 2 * 16 + 7) * 2), 2); /* row 18, kk 23 */
    npu_ub_undefine(npu_current, cube_at(NPU_A2, ((1 * 2 + 1) * 256 + 2 * 16 + 8) * 2), 2); /* kk 24: beyond K */
    npu_ub_undefine(npu_current, cube_at(NPU_B2, ((0 * 3 + 2) * 256 + 4 * 16 + 3) * 2), 2); /* column 36 */
    npu_ub_undefine(npu_current, cube_at(NPU_B2, ((0 * 3 + 2) * 256 + 5 * 16 + 3) * 2), 2); /* column 37: beyond N */
    struct npu_insn insn = mmad(M, N, K, NPU_C_ZERO);
    npu_issue_cube(&insn);
    for (uint32_t i = 0; i < 32; i++)
        for (uint32_t j = 0; j < 48; j++)
            assert_int_equal(npu_ub_defined(npu_current, cube_at(NPU_CO1, (j / 16 * 512 + i * 16 + j % 16) * 4), 4),
                             i < M && j < N && i != 18 && j != 36);
}

static void definedness_is_exact(void **state)
{
    (void)state;
    cube_good(undefined_operands);
}

static void hf32(void)
{
    static const struct {
        uint32_t bits, even, zero; /* what is left of it: 11 bits of fraction */
    } cases[] = {{0x3f800000, 0x3f800000, 0x3f800000}, {0x3f800800, 0x3f800000, 0x3f800000},
                 {0x3f801800, 0x3f802000, 0x3f801000}, {0x3f800801, 0x3f801000, 0x3f801000},
                 {0xbf8017ff, 0xbf801000, 0xbf801000}, {0x3fffffff, 0x40000000, 0x40000000}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (int to_zero = 0; to_zero < 2; to_zero++) {
            cube_fill(NPU_A2, 0, 512);
            cube_fill(NPU_B2, 0, 512);
            memcpy(cube_at(NPU_A2, 0), &cases[i].bits, 4);
            memcpy(cube_at(NPU_B2, 0), (const float[]){1.0f}, 4);
            struct npu_insn insn = mmad(1, 1, 1, NPU_C_ZERO);
            insn.src_type = AKGEN_FLOAT;
            npu_set_cube_register(NPU_CUBE_HF32, 1);
            npu_set_cube_register(NPU_CUBE_HF32_TIES, (uint64_t)to_zero);
            npu_issue_cube(&insn);
            cube_join();
            assert_memory_equal(cube_at(NPU_CO1, 0), to_zero ? &cases[i].zero : &cases[i].even, 4);
        }
}

static void hf32_rounds_to_eleven_bits(void **state)
{
    (void)state;
    cube_good(hf32);
}

/* What one element becomes: the reference of the documentation, in its own words. */
static uint32_t fixed(int quant, bool relu, uint64_t parameter, uint32_t bits)
{
    float number, scale;
    int32_t whole = (int32_t)bits;
    uint32_t cut = (uint32_t)parameter & ~0x1fffu;
    memcpy(&number, &bits, 4);
    memcpy(&scale, &cut, 4);
    half_t half;
    uint16_t half_bits;
    switch (quant) {
    case NPU_QUANT_NONE + 100: /* int32 */
        return relu && whole < 0 ? 0 : bits;
    case NPU_QUANT_NONE:
        return relu && number <= 0 ? 0 : bits;
    case NPU_QUANT_F322BF16:
        return bf16_from_float(relu && number <= 0 ? 0 : number);
    case NPU_QUANT_F322F16:
        half = (half_t)(relu && number <= 0 ? 0 : number);
        break;
    default:
        if (quant != NPU_QUANT_QF322B8 && quant != NPU_QUANT_VQF322B8) {
            if (parameter >> 36 & 1) {
                whole >>= (parameter >> 32 & 15) + 1;
                whole = whole > 32767 ? 32767 : whole < -32768 ? -32768 : whole;
            }
            number = (float)whole;
        }
        number = relu && number < 0 ? 0 : number * scale;
        half = (half_t)number;
    }
    memcpy(&half_bits, &half, 2);
    if (quant == NPU_QUANT_F322F16 || quant == NPU_QUANT_DEQF16 || quant == NPU_QUANT_VDEQF16)
        return half_bits;
    int32_t offset = (int32_t)(parameter >> 37 & 511);
    offset = offset > 255 ? offset - 512 : offset;
    float limited = fminf(fmaxf(number, -256), 255);
    int32_t result = (int32_t)nearbyintf(limited) + offset;
    int32_t low = parameter >> 46 & 1 ? -128 : 0, high = parameter >> 46 & 1 ? 127 : 255;
    return (uint8_t)(result < low ? low : result > high ? high : result);
}

static void fixpipes(void)
{
    static const struct {
        uint8_t quant, src, dst;
        bool by_column;
    } ways[] = {{NPU_QUANT_NONE, AKGEN_FLOAT, AKGEN_FLOAT, 0},      {NPU_QUANT_NONE, AKGEN_INT32, AKGEN_INT32, 0},
                {NPU_QUANT_F322F16, AKGEN_FLOAT, AKGEN_FLOAT16, 0}, {NPU_QUANT_F322BF16, AKGEN_FLOAT, AKGEN_BF16, 0},
                {NPU_QUANT_DEQF16, AKGEN_INT32, AKGEN_FLOAT16, 0},  {NPU_QUANT_VDEQF16, AKGEN_INT32, AKGEN_FLOAT16, 1},
                {NPU_QUANT_QF322B8, AKGEN_FLOAT, AKGEN_INT8, 0},    {NPU_QUANT_VQF322B8, AKGEN_FLOAT, AKGEN_UINT8, 1},
                {NPU_QUANT_REQ8, AKGEN_INT32, AKGEN_INT8, 0},       {NPU_QUANT_VREQ8, AKGEN_INT32, AKGEN_UINT8, 1}};
    for (int trial = 0; trial < 200; trial++) {
        int way = (int)cube_random(0, 9);
        uint32_t size = (uint32_t)akgen_dtype_size(ways[way].dst);
        bool rows = cube_random(0, 1), relu = cube_random(0, 1), split = !rows && way == 0 && cube_random(0, 1);
        uint32_t m = cube_random(1, 40), n = rows ? cube_random(1, 70) : cube_random(1, 5) * (split ? 8 : 16);
        uint32_t sheets = rows ? cube_random(1, 2) : 1, stride = (m + 15) / 16 * 16 + cube_random(0, 1) * 16;
        uint32_t wide = split       ? 8
                        : size == 1 ? 32
                                    : 16,
                 pitch = rows ? n + cube_random(0, 9) : m * wide * size / 32 + cube_random(0, 3);
        if (!rows && (m * wide * size) % 32)
            pitch++;
        fill_numbers(NPU_CO1, NPU_L0C_BYTES, ways[way].src == AKGEN_FLOAT ? AKGEN_FLOAT : AKGEN_INT8);
        for (uint32_t i = 3; ways[way].src == AKGEN_INT32 && i < NPU_L0C_BYTES; i += 4) /* 24 bits */
            *cube_at(NPU_CO1, i) = *cube_at(NPU_CO1, i - 1) & 0x80 ? 0xff : 0;
        static uint64_t parameters[256];
        for (int i = 0; i < 256; i++)
            parameters[i] =
                rng_next(&cube_rng) >> 17 << 32 | (0x3c000000u + (uint32_t)(rng_next(&cube_rng) & 0x3ffffff));
        memcpy(cube_at(NPU_C1, 0), parameters, sizeof parameters);
        npu_ub_define(npu_current, cube_at(NPU_C1, 0), sizeof parameters);
        /* Half, bfloat16 and 8 bits go to L1 as well; the parameters are in its first 2048 bytes. */
        bool to_l1 = !rows && size < 4 && cube_random(0, 1);
        uint32_t room = to_l1 ? NPU_L1_BYTES - 2048 : GM_BYTES;
        uint8_t *out = to_l1 ? cube_at(NPU_A1, 2048) : cube_out;
        static uint8_t expected[GM_BYTES];
        memset(out, 0x55, room);
        memset(expected, 0x55, room);
        for (uint32_t s = 0; s < sheets; s++)
            for (uint32_t i = 0; i < m; i++)
                for (uint32_t j = 0; j < n; j++) {
                    uint32_t bits, tail = size == 1 && n % 32 && j / 32 == n / 32 ? 16 : wide;
                    memcpy(&bits, cube_at(NPU_CO1, s * 5 * 1024 + (j / 16 * stride * 16 + i * 16 + j % 16) * 4), 4);
                    int quant = ways[way].quant + (way == 1 ? 100 : 0);
                    bits = fixed(quant, relu, parameters[ways[way].by_column ? j : 7], bits);
                    size_t at = rows ? ((size_t)s * 6000 + (size_t)i * pitch + j) * size
                                     : (size_t)(j / wide) * pitch * 32 + (i * tail + j % wide) * size;
                    memcpy(expected + at, &bits, size);
                }
        struct npu_insn insn = {.op = NPU_OP_FIXPIPE,
                                .src_type = ways[way].src,
                                .dst_type = ways[way].dst,
                                .dst = to_l1 ? local_at(NPU_A1, 2048, 0) : gm_tensor(cube_out),
                                .src0 = local_at(NPU_CO1, 0, 0),
                                .src1 = local_at(NPU_C1, 0, 0),
                                .scalar = parameters[7],
                                .fixpipe = {.n = (uint16_t)n,
                                            .m = (uint16_t)m,
                                            .src_stride = (uint16_t)stride,
                                            .dst_stride = pitch,
                                            .nd_num = (uint16_t)sheets,
                                            .src_nd_stride = 5,
                                            .dst_nd_stride = 6000,
                                            .quant = ways[way].quant,
                                            .relu = relu,
                                            .channel_split = split,
                                            .nz2nd = rows}};
        npu_issue_cube(&insn);
        cube_join();
        assert_memory_equal(out, expected, room);
        covered(&insn, COUNT);
    }
}

static void results_leave_in_every_form(void **state)
{
    (void)state;
    cube_good(fixpipes);
}

/* DataCopy from L0C takes its numbers from registers; its result adds to GM under SetAtomicAdd. */
static void copies(void)
{
    fill_numbers(NPU_CO1, 4096, AKGEN_FLOAT);
    struct npu_insn insn = {.op = NPU_OP_FIXPIPE,
                            .flags = NPU_INSN_CUBE_REGISTERS,
                            .src_type = AKGEN_FLOAT,
                            .dst_type = AKGEN_FLOAT,
                            .dst = gm_tensor(cube_out),
                            .src0 = local_at(NPU_CO1, 0, 0),
                            .fixpipe = {.n = 16, .m = 16, .src_stride = 16, .dst_stride = 16, .nz2nd = 1}};
    memset(cube_out, 0, 4096);
    npu_set_cube_register(NPU_CUBE_ND, 2 | 3u << 16 | UINT64_C(256) << 32);
    npu_set_atomic(1, AKGEN_FLOAT);
    for (int i = 0; i < 2; i++) {
        npu_issue_cube(&insn);
        cube_join();
    }
    for (uint32_t sheet = 0; sheet < 2; sheet++)
        for (uint32_t i = 0; i < 256; i++) {
            float once, twice;
            memcpy(&once, cube_at(NPU_CO1, sheet * 3072 + 4 * i), 4);
            memcpy(&twice, cube_out + (sheet * 256 + i) * 4, 4);
            assert_true(twice == 2 * once);
        }
}

static void copies_read_registers_and_add(void **state)
{
    (void)state;
    cube_good(copies);
}

static struct npu_insn fixpipe(uint8_t unit_flag)
{
    return (struct npu_insn){
        .op = NPU_OP_FIXPIPE,
        .src_type = AKGEN_FLOAT,
        .dst_type = AKGEN_FLOAT,
        .dst = gm_tensor(cube_out),
        .src0 = local_at(NPU_CO1, 0, 0),
        .fixpipe = {
            .n = 32, .m = 16, .src_stride = 16, .dst_stride = 32, .nd_num = 1, .unit_flag = unit_flag, .nz2nd = 1}};
}

/* The unit flags of two Mmads and two Fixpipes; 9 leaves an instruction out. */
static uint8_t flags[4];
static bool cleared;
static void unit_flags(void)
{
    cube_fill(NPU_A2, 0, 4096);
    cube_fill(NPU_B2, 0, 4096);
    cube_join();
    for (int i = 0; i < 4; i++) {
        struct npu_insn insn = i % 2 ? fixpipe(flags[i]) : mmad(16, 32, 16, NPU_C_ZERO);
        if (i % 2 == 0)
            insn.mmad.unit_flag = flags[i];
        if (flags[i] != 9)
            npu_issue_cube(&insn);
        if (cleared)
            npu_clear_unit_flags();
    }
}

static void unit_flags_order_or_hang(void **state)
{
    (void)state;
    const struct {
        uint8_t flags[4];
        bool cleared;
        const char *fault;
    } cases[] = {{{3, 3, 3, 3}, false, ""},
                 {{2, 9, 3, 3}, false, "hazard_waw"}, /* small Mmads need a barrier between them, unit flag or not */
                 {{2, 3, 9, 9}, false, "unit_flag_wait"},
                 {{3, 2, 3, 3}, false, "unit_flag_wait"},
                 {{3, 9, 3, 3}, false, "unit_flag_wait"},
                 {{3, 9, 9, 3}, true, "unit_flag_wait"},
                 {{0, 0, 9, 9}, false, "hazard_raw"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        memcpy(flags, cases[i].flags, sizeof flags);
        cleared = cases[i].cleared;
        cube_run(unit_flags, NPU_TYPE_AIC_ONLY);
        assert_string_equal(cube_fault, cases[i].fault);
    }
}

/* Mmads into the same C, one after the other: the hardware orders those of ten fractals with their neighbours. Whether a
 * fractal that is filled in part counts is left open. */
static uint32_t accumulate_m[4];
static void accumulate(void)
{
    cube_fill(NPU_A2, 0, NPU_L0A_BYTES);
    cube_fill(NPU_B2, 0, NPU_L0B_BYTES);
    cube_join();
    for (int i = 0; i < 4 && accumulate_m[i]; i++) {
        struct npu_insn insn = mmad(accumulate_m[i], 32, 16, i ? NPU_C_ACCUMULATE : NPU_C_ZERO);
        npu_issue_cube(&insn);
    }
}

static void small_products_need_a_barrier(void **state)
{
    (void)state;
    enum { LARGE = 80, BETWEEN = 79, SMALL = 64 };
    static const struct {
        uint32_t m[4];
        const char *fault;
        bool found;
    } cases[] = {{{LARGE, LARGE}, "", false},
                 {{LARGE, SMALL, LARGE}, "", false},
                 {{BETWEEN, BETWEEN}, "", true},
                 {{SMALL, BETWEEN, SMALL}, "", true},
                 {{SMALL, BETWEEN, SMALL, SMALL}, "hazard_raw", true},
                 {{SMALL, SMALL}, "hazard_raw", true},
                 {{LARGE, SMALL, SMALL}, "hazard_raw", true}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        memcpy(accumulate_m, cases[i].m, sizeof accumulate_m);
        cube_run(accumulate, NPU_TYPE_AIC_ONLY);
        assert_string_equal(cube_fault, cases[i].fault);
        assert_int_equal(strstr(cube_outcome.names, " hazard_raw ") != NULL, cases[i].found);
    }
}

/* A bias, half of it undefined, is loaded once more while Mmad may still be reading it. */
static bool other_bias;
static void bias_again(void)
{
    cube_fill(NPU_A2, 0, 4096);
    cube_fill(NPU_B2, 0, 4096);
    cube_fill(NPU_C1, 0, 64);
    cube_join();
    struct npu_insn bias = {.op = NPU_OP_DATA_COPY,
                            .form = NPU_FORM_MASK_REG,
                            .src_type = AKGEN_FLOAT16,
                            .dst_type = AKGEN_FLOAT,
                            .dst = local_at(NPU_C2, 0, 0),
                            .src0 = local_at(NPU_C1, 0, 0),
                            .copy = {.block_count = 1, .block_len = 2}};
    npu_issue_copy(&bias);
    npu_set_flag(NPU_PIPE_MTE1, NPU_PIPE_M, 0);
    npu_wait_flag(NPU_PIPE_MTE1, NPU_PIPE_M, 0);
    struct npu_insn product = mmad(16, 32, 16, NPU_C_BIAS);
    product.aux = local_at(NPU_C2, 0, 0);
    npu_issue_cube(&product);
    if (other_bias)
        cube_at(NPU_C1, 62)[0] ^= 1;
    npu_issue_copy(&bias);
}

static void the_same_bias_may_be_loaded_again(void **state)
{
    (void)state;
    other_bias = false;
    cube_good(bias_again);
    other_bias = true;
    cube_run(bias_again, NPU_TYPE_AIC_ONLY);
    assert_string_equal(cube_fault, "hazard_war");
}

static struct npu_insn wrong;
static void issue_wrong(void)
{
    struct npu_insn insn = wrong;
    insn.dst =
        wrong.dst.position == NPU_GM ? gm_tensor(cube_out) : local_at(wrong.dst.position, (uint32_t)wrong.dst.addr, 0);
    insn.src0 = local_at(wrong.src0.position, (uint32_t)wrong.src0.addr, 0);
    if (wrong.op == NPU_OP_MMAD)
        insn.src1 = local_at(NPU_B2, 0, 0);
    npu_issue_cube(&insn);
}

static void illegal_products_trap(void **state)
{
    (void)state;
    const struct npu_insn product = {.op = NPU_OP_MMAD,
                                     .src_type = AKGEN_FLOAT16,
                                     .dst_type = AKGEN_FLOAT,
                                     .dst = {.position = NPU_CO1},
                                     .src0 = {.position = NPU_A2},
                                     .mmad = {16, 16, 16, 0, 0, 0}};
    const struct npu_insn result = {.op = NPU_OP_FIXPIPE,
                                    .src_type = AKGEN_FLOAT,
                                    .dst_type = AKGEN_FLOAT,
                                    .dst = {.position = NPU_GM},
                                    .src0 = {.position = NPU_CO1},
                                    .fixpipe = {.n = 16, .m = 16, .src_stride = 16, .dst_stride = 64}};
    struct npu_insn list[9];
    const char *faults[] = {"cube_alignment", "cube_position",  "cube_params", "l0c_out_of_bounds", "fixpipe_quant",
                            "cube_params",    "cube_alignment", "cube_params", "cube_position"};
    for (int i = 0; i < 9; i++)
        list[i] = i < 4 ? product : result;
    list[0].dst.addr = 512;
    list[1].src0.position = NPU_B2;
    list[2].mmad.k = 4096;
    list[3].dst.addr = NPU_L0C_BYTES - 1024, list[3].mmad.n = 17;
    list[4].dst_type = AKGEN_FLOAT16;
    list[5].fixpipe.n = 17;
    list[6].src0.addr = 32;
    list[7].dst.position = NPU_A1;
    list[8].src0.position = NPU_A1;
    for (int i = 0; i < 9; i++) {
        wrong = list[i];
        cube_run(issue_wrong, NPU_TYPE_AIC_ONLY);
        assert_string_equal(cube_fault, faults[i]);
    }
}

int main(void)
{
    rng_seed(&cube_rng, 12);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(products_have_the_plain_loops_bits),
        cmocka_unit_test(definedness_is_exact),
        cmocka_unit_test(hf32_rounds_to_eleven_bits),
        cmocka_unit_test(results_leave_in_every_form),
        cmocka_unit_test(copies_read_registers_and_add),
        cmocka_unit_test(unit_flags_order_or_hang),
        cmocka_unit_test(small_products_need_a_barrier),
        cmocka_unit_test(the_same_bias_may_be_loaded_again),
        cmocka_unit_test(illegal_products_trap),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
