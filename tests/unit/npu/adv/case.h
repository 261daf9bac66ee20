/* A call of a high-level API, for tests: operands in GM, copied to UB row by row, the call, results copied
 * back. Rows in UB can be longer than in GM: the rest of them is never written, so that what reads it is seen when it
 * reaches a result. */
#ifndef TESTS_NPU_ADV_CASE_H
#define TESTS_NPU_ADV_CASE_H

#include "unit/npu/coverage.h"
#include "unit/npu/launch.h"

#include "abi/npu_adv.h"

enum { ADV_IN = 5, ADV_OUT = 5, ADV_BLOCK = 32 };

/* Rows in GM and how far they are apart in UB. */
struct adv_operand {
    void *data;
    uint32_t rows, row_bytes, pitch_bytes; /* pitch 0: row_bytes rounded up to 32 */
};
struct adv_case {
    struct npu_adv call; /* op, type and what the API reads; operands and tmp are filled in */
    struct adv_operand in[ADV_IN], out[ADV_OUT];
    uint32_t tmp_bytes;
    bool in_place;      /* the first result lies over the first source */
    bool pop_stack;     /* no sharedTmpBuffer: what InitBuffer has left */
    bool sums_by_space; /* the temporary space decides which sums are added first: last bits may differ */
};

static struct adv_case adv_now;
static struct outcome adv_outcome; /* of the last run */

static uint32_t adv_pitch(const struct adv_operand *operand)
{
    uint32_t whole = (operand->row_bytes + ADV_BLOCK - 1) / ADV_BLOCK * ADV_BLOCK;
    return operand->pitch_bytes ? operand->pitch_bytes : whole;
}

static void adv_move(struct npu_tensor local, uint64_t gm, const struct adv_operand *operand, bool in)
{
    uint32_t whole = (operand->row_bytes + ADV_BLOCK - 1) / ADV_BLOCK * ADV_BLOCK;
    int64_t gap = (int64_t)(adv_pitch(operand) - whole) / ADV_BLOCK;
    struct npu_tensor global = gm_tensor((const void *)gm);
    struct npu_insn insn = {.op = NPU_OP_DATA_COPY_PAD,
                            .form = NPU_FORM_MASK_REG,
                            .dst_type = AKGEN_UINT8,
                            .src_type = AKGEN_UINT8,
                            .copy = {.block_count = operand->rows, .block_len = operand->row_bytes}};
    insn.dst = in ? local : global;
    insn.src0 = in ? global : local;
    insn.copy.src_stride = in ? 0 : gap;
    insn.copy.dst_stride = in ? gap : 0;
    npu_issue(&insn);
}

static void adv_place(struct npu_tensor *tensor, int position, uint32_t *at, uint32_t bytes)
{
    npu_local_tensor(position, *at, bytes, tensor);
    *at += (bytes + ADV_BLOCK - 1) / ADV_BLOCK * ADV_BLOCK;
}

static void adv_kernel(const uint64_t *in, const uint64_t *out)
{
    npu_pipe_create();
    struct npu_adv call = adv_now.call;
    uint32_t at = 0;
    for (int i = 0; i < ADV_IN; i++)
        if (adv_now.in[i].data)
            adv_place(&call.src[i], NPU_VECIN, &at, adv_now.in[i].rows * adv_pitch(&adv_now.in[i]));
    for (int i = 0; i < ADV_OUT; i++)
        if (adv_now.out[i].data)
            adv_place(&call.dst[i], NPU_VECOUT, &at, adv_now.out[i].rows * adv_pitch(&adv_now.out[i]));
    if (adv_now.in_place)
        call.dst[0] = call.src[0];
    if (adv_now.pop_stack) {
        uint32_t id = 0;
        npu_buf_init(&id, NPU_VECCALC, at);
    } else {
        adv_place(&call.tmp, NPU_VECCALC, &at, adv_now.tmp_bytes);
    }
    for (int i = 0; i < ADV_IN; i++)
        if (adv_now.in[i].data)
            adv_move(call.src[i], in[i], &adv_now.in[i], true);
    npu_pipe_barrier(NPU_PIPE_ALL);
    npu_advanced(&call);
    npu_pipe_barrier(NPU_PIPE_ALL);
    for (int i = 0; i < ADV_OUT; i++)
        if (adv_now.out[i].data)
            adv_move(call.dst[i], out[i], &adv_now.out[i], false);
    npu_pipe_destroy();
}

static void adv_entry(uint64_t a, uint64_t b, uint64_t c, uint64_t d, uint64_t e, uint64_t v, uint64_t w, uint64_t x,
                      uint64_t y, uint64_t z)
{
    adv_kernel((uint64_t[]){a, b, c, d, e}, (uint64_t[]){v, w, x, y, z});
}

/* Runs adv_now; the first fault's name, "" if there is none. seed 0: program order. */
static const char *adv_run(uint64_t seed)
{
    const struct npu_config config = manual_sync(seed);
    struct gm_part parts[ADV_IN + ADV_OUT];
    for (int i = 0; i < ADV_IN + ADV_OUT; i++) {
        bool in = i < ADV_IN;
        const struct adv_operand *o = in ? &adv_now.in[i] : &adv_now.out[i - ADV_IN];
        parts[i] =
            (struct gm_part){"operand", o->data, (size_t)o->rows * o->row_bytes, in ? NPU_GM_INPUT : NPU_GM_OUTPUT, in};
    }
    adv_outcome = launch_once(&config, adv_entry, parts, ADV_IN + ADV_OUT);
    if (!*adv_outcome.fatal && adv_outcome.undefined >= 0)
        snprintf(adv_outcome.fatal, sizeof adv_outcome.fatal, "undefined result %d", adv_outcome.undefined - ADV_IN);
    if (!*adv_outcome.fatal)
        covered_adv(&adv_now.call, adv_now.pop_stack);
    return adv_outcome.fatal;
}

/* Whether the last run has a finding of that name. */
__attribute__((unused)) static bool adv_noted(const char *name)
{
    char padded[64];
    snprintf(padded, sizeof padded, " %s ", name);
    return strstr(adv_outcome.names, padded) != NULL;
}

/* Without sharedTmpBuffer, what InitBuffer has left is used: the results are the same. */
static void adv_run_in_the_rest(void)
{
    uint8_t *given[ADV_OUT] = {0};
    for (int i = 0; i < ADV_OUT; i++) {
        size_t bytes = (size_t)adv_now.out[i].rows * adv_now.out[i].row_bytes;
        given[i] = malloc(bytes + 1);
        if (adv_now.out[i].data)
            memcpy(given[i], adv_now.out[i].data, bytes);
    }
    adv_now.pop_stack = true;
    assert_string_equal(adv_run(0), "");
    adv_now.pop_stack = false;
    for (int i = 0; i < ADV_OUT; i++) {
        if (adv_now.out[i].data && !adv_now.sums_by_space)
            assert_memory_equal(adv_now.out[i].data, given[i], (size_t)adv_now.out[i].rows * adv_now.out[i].row_bytes);
        free(given[i]);
    }
}

/* Program order and two random schedules; results of the last one stay. */
static void adv_run_clean(void)
{
    for (uint64_t seed = 0; seed < 3; seed++)
        assert_string_equal(adv_run(seed), "");
    if (!adv_now.pop_stack && !(adv_now.call.flags & NPU_ADV_NO_TMP))
        adv_run_in_the_rest();
}

#endif
