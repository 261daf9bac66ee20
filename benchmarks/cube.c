/* A matrix product of 1024 x 1024 x 1024 halves through Nd2Nz, LoadData, Mmad and Fixpipe on one AIC, every check on,
 * against the same multiplications alone and against the same product without hazard detection, in the same run. Prints
 * the median of several runs. */
#include "abi/npu_abi.h"
#include "npu/npu.h"
#include "base/clock.h"
#include "base/half.h"
#include "npu/cube/mmad.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SIZE = 1024, TILE_M = 128, TILE_N = 256, STEP_L1 = 256, STEP = 64, RUNS = 5, FRACTAL = 512 };
static half_t *left, *right, *result;

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static struct npu_tensor local(int position, uint32_t offset)
{
    struct npu_tensor tensor;
    npu_local_tensor(position, offset, 0, &tensor);
    return tensor;
}

static struct npu_tensor global(half_t *at)
{
    return (struct npu_tensor){.addr = (uint64_t)at, .position = NPU_GM};
}

static struct npu_insn insn_of(int op, struct npu_tensor dst, struct npu_tensor src)
{
    return (struct npu_insn){.op = (uint16_t)op,
                             .form = NPU_FORM_MASK_REG,
                             .dst_type = AKGEN_FLOAT16,
                             .src_type = AKGEN_FLOAT16,
                             .dst = dst,
                             .src0 = src};
}

static void to_l1(uint32_t offset, half_t *from, uint32_t rows, uint32_t columns)
{
    struct npu_insn insn = insn_of(NPU_OP_ND2NZ, local(NPU_A1, offset), global(from));
    insn.nd2nz = (struct npu_nd2nz){1, rows, columns, 0, SIZE, rows, 1, 0};
    npu_issue_cube(&insn);
}

static void to_l0(struct npu_tensor dst, struct npu_tensor src, uint32_t repeat, uint32_t stride, bool transpose)
{
    struct npu_insn insn = insn_of(NPU_OP_LOAD_DATA, dst, src);
    insn.load_2d = (struct npu_load_2d){.repeat = repeat, .src_stride = stride, .transpose = transpose};
    npu_issue_cube(&insn);
}

/* A step of 64 along k: A from Nz to Zz, B from Nz to Zn, and the product. */
static void multiply(uint32_t a1, uint32_t b1, uint32_t k, bool first)
{
    npu_wait_flag(NPU_PIPE_M, NPU_PIPE_MTE1, 0);
    for (uint32_t i = 0; i < TILE_M / 16; i++)
        to_l0(local(NPU_A2, i * (STEP / 16) * FRACTAL), local(NPU_A1, a1 + (k / 16 * (TILE_M / 16) + i) * FRACTAL),
              STEP / 16, TILE_M / 16, false);
    for (uint32_t i = 0; i < STEP / 16; i++)
        to_l0(local(NPU_B2, i * (TILE_N / 16) * FRACTAL), local(NPU_A1, b1 + (k / 16 + i) * FRACTAL), TILE_N / 16,
              STEP_L1 / 16, true);
    npu_set_flag(NPU_PIPE_MTE1, NPU_PIPE_M, 0);
    npu_wait_flag(NPU_PIPE_MTE1, NPU_PIPE_M, 0);
    struct npu_insn insn = insn_of(NPU_OP_MMAD, local(NPU_CO1, 0), local(NPU_A2, 0));
    insn.dst_type = AKGEN_FLOAT;
    insn.src1 = local(NPU_B2, 0);
    insn.mmad = (struct npu_mmad){.m = TILE_M, .n = TILE_N, .k = STEP, .init = first ? NPU_C_ZERO : NPU_C_ACCUMULATE};
    npu_issue_cube(&insn);
    npu_set_flag(NPU_PIPE_M, NPU_PIPE_MTE1, 0);
}

static void tile(uint32_t row, uint32_t column)
{
    const uint32_t a1 = 0, b1 = TILE_M * STEP_L1 * 2;
    for (uint32_t k = 0; k < SIZE; k += STEP_L1) {
        npu_wait_flag(NPU_PIPE_MTE1, NPU_PIPE_MTE2, 0);
        to_l1(a1, left + row * SIZE + k, TILE_M, STEP_L1);
        to_l1(b1, right + k * SIZE + column, STEP_L1, TILE_N);
        npu_set_flag(NPU_PIPE_MTE2, NPU_PIPE_MTE1, 0);
        npu_wait_flag(NPU_PIPE_MTE2, NPU_PIPE_MTE1, 0);
        for (uint32_t step = 0; step < STEP_L1; step += STEP) {
            if (k + step == 0)
                npu_wait_flag(NPU_PIPE_FIX, NPU_PIPE_M, 0);
            multiply(a1, b1, step, k + step == 0);
        }
        npu_set_flag(NPU_PIPE_MTE1, NPU_PIPE_MTE2, 0);
    }
    npu_set_flag(NPU_PIPE_M, NPU_PIPE_FIX, 0);
    npu_wait_flag(NPU_PIPE_M, NPU_PIPE_FIX, 0);
    struct npu_insn insn = insn_of(NPU_OP_FIXPIPE, global(result + row * SIZE + column), local(NPU_CO1, 0));
    insn.src_type = AKGEN_FLOAT;
    insn.fixpipe = (struct npu_fixpipe){.n = TILE_N,
                                        .m = TILE_M,
                                        .src_stride = TILE_M,
                                        .nd_num = 1,
                                        .dst_stride = SIZE,
                                        .quant = NPU_QUANT_F322F16,
                                        .nz2nd = 1};
    npu_issue_cube(&insn);
    npu_set_flag(NPU_PIPE_FIX, NPU_PIPE_M, 0);
}

static void kernel(void)
{
    npu_set_flag(NPU_PIPE_MTE1, NPU_PIPE_MTE2, 0);
    npu_set_flag(NPU_PIPE_M, NPU_PIPE_MTE1, 0);
    npu_set_flag(NPU_PIPE_FIX, NPU_PIPE_M, 0);
    for (uint32_t row = 0; row < SIZE; row += TILE_M)
        for (uint32_t column = 0; column < SIZE; column += TILE_N)
            tile(row, column);
    npu_wait_flag(NPU_PIPE_MTE1, NPU_PIPE_MTE2, 0);
    npu_wait_flag(NPU_PIPE_M, NPU_PIPE_MTE1, 0);
    npu_wait_flag(NPU_PIPE_FIX, NPU_PIPE_M, 0);
}

static double simulate(bool no_hazards)
{
    struct npu_config config = {.sync = NPU_SYNC_MANUAL,
                                .no_hazards = no_hazards,
                                .kernel_type = NPU_TYPE_AIC_ONLY,
                                .aic_kernel = (void *)kernel};
    struct npu *npu = npu_create(&config);
    npu_gm_add(npu, "a", left, SIZE * SIZE * 2, NPU_GM_INPUT, true);
    npu_gm_add(npu, "b", right, SIZE * SIZE * 2, NPU_GM_INPUT, true);
    npu_gm_add(npu, "c", result, SIZE * SIZE * 2, NPU_GM_OUTPUT, false);
    uint64_t none = 0;
    double start = clock_seconds();
    bool good = npu_launch(npu, NULL, &none, 1, 1);
    double seconds = clock_seconds() - start;
    size_t findings;
    const struct npu_finding *found = npu_findings(npu, &findings);
    if (!good || findings) {
        fprintf(stderr, "cube: %s\n", findings ? found[0].message : "the launch failed");
        exit(1);
    }
    npu_destroy(npu);
    return seconds;
}

/* The multiplications alone, on packed floats. */
static double multiplications(void)
{
    static float a[TILE_M * STEP], b[STEP * NPU_MMAD_COLUMNS], c[TILE_M * NPU_MMAD_COLUMNS];
    double start = clock_seconds();
    for (uint32_t i = 0; i < SIZE / TILE_M * (SIZE / NPU_MMAD_COLUMNS) * (SIZE / STEP); i++)
        npu_mmad_float(TILE_M, STEP, a, b, c, true);
    return clock_seconds() - start;
}

/* A few elements against a plain sum. */
static void check(void)
{
    for (uint32_t i = 0; i < SIZE; i += 97)
        for (uint32_t j = 0; j < SIZE; j += 89) {
            double sum = 0;
            for (uint32_t k = 0; k < SIZE; k++)
                sum += (double)left[i * SIZE + k] * (double)right[k * SIZE + j];
            double error = (double)result[i * SIZE + j] - sum;
            if (error > 0.05 || error < -0.05) {
                fprintf(stderr, "cube: element (%u, %u) is %g, not %g\n", i, j, (double)result[i * SIZE + j], sum);
                exit(1);
            }
        }
}

int main(void)
{
    half_t **matrices[] = {&left, &right, &result};
    for (int i = 0; i < 3; i++) {
        *matrices[i] = aligned_alloc(512, SIZE * SIZE * sizeof(half_t));
        for (uint32_t at = 0; at < SIZE * SIZE; at++)
            (*matrices[i])[at] = (half_t)((float)((at * 2654435761u) >> 16 & 1023) / 512 - 1);
    }
    double simulated[RUNS], blind[RUNS], alone[RUNS], ratios[RUNS];
    for (int run = 0; run < RUNS; run++) {
        simulated[run] = simulate(false);
        blind[run] = simulate(true);
        ratios[run] = simulated[run] / blind[run];
        alone[run] = multiplications();
    }
    check();
    qsort(simulated, RUNS, sizeof *simulated, by_value);
    qsort(ratios, RUNS, sizeof *ratios, by_value);
    qsort(blind, RUNS, sizeof *blind, by_value);
    qsort(alone, RUNS, sizeof *alone, by_value);
    printf("1024 x 1024 x 1024 halves on one AIC: %.0f ms, the multiplications alone %.0f ms: ratio %.2f\n",
           simulated[RUNS / 2] * 1e3, alone[RUNS / 2] * 1e3, simulated[RUNS / 2] / alone[RUNS / 2]);
    printf("without hazard detection %.0f ms: it costs a factor of %.2f (limit 1.5)\n", blind[RUNS / 2] * 1e3,
           ratios[RUNS / 2]);
    for (int i = 0; i < 3; i++)
        free(*matrices[i]);
    return 0;
}
