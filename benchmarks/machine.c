/* What the machine's checks cost: an fp32 Add of about 8.3 million elements on 48 blocks, every check on, against
 * memcpy of the same bytes (two tensors in, one out), and what finding hazards and modelling time cost of it, in the same
 * run. Prints the median of several runs for two tile sizes, in seconds of the processor: all of it is one thread's work. */
#include "abi/npu_abi.h"
#include "npu/npu.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { MOST = 8386560, BLOCKS = 48, RUNS = 7 };
static uint32_t tile, count; /* elements of a tile, of a tensor */

static int by_value(const void *left, const void *right)
{
    double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static double median(double *values)
{
    qsort(values, RUNS, sizeof *values, by_value);
    return values[RUNS / 2];
}

static void copy(struct npu_tensor dst, struct npu_tensor src)
{
    struct npu_insn insn = {.op = NPU_OP_DATA_COPY,
                            .dst_type = AKGEN_FLOAT,
                            .src_type = AKGEN_FLOAT,
                            .count = tile,
                            .dst = dst,
                            .src0 = src,
                            .copy = {.block_count = 1, .block_len = tile / 8}};
    npu_issue(&insn);
}

static void add(struct npu_tensor dst, struct npu_tensor left, struct npu_tensor right)
{
    struct npu_insn insn = {.op = NPU_OP_ADD,
                            .dst_type = AKGEN_FLOAT,
                            .src_type = AKGEN_FLOAT,
                            .src1_type = AKGEN_FLOAT,
                            .count = tile,
                            .dst = dst,
                            .src0 = left,
                            .src1 = right};
    npu_issue(&insn);
}

static struct npu_tensor global(float *base, uint64_t element)
{
    return (struct npu_tensor){.addr = (uint64_t)(base + element), .position = NPU_GM};
}

/* The queues and calls of the Add project as the kernel headers make them. */
static void add_kernel(float *x, float *y, float *z)
{
    uint32_t in_x = 0, in_y = 0, out = 0;
    npu_pipe_create();
    npu_que_init(&in_x, NPU_GM, NPU_VECIN, 2, 2, tile * 4);
    npu_que_init(&in_y, NPU_GM, NPU_VECIN, 2, 2, tile * 4);
    npu_que_init(&out, NPU_VECOUT, NPU_GM, 2, 2, tile * 4);
    uint64_t share = count / BLOCKS, at = share * (uint64_t)npu_block_idx();
    for (uint64_t end = at + share; at < end; at += tile) {
        struct npu_tensor a, b, c;
        npu_que_alloc(in_x, &a);
        npu_que_alloc(in_y, &b);
        copy(a, global(x, at));
        copy(b, global(y, at));
        npu_que_enque(in_x, &a);
        npu_que_enque(in_y, &b);
        npu_que_deque(in_x, &a);
        npu_que_deque(in_y, &b);
        npu_que_alloc(out, &c);
        add(c, a, b);
        npu_que_enque(out, &c);
        npu_que_free(in_x, &a);
        npu_que_free(in_y, &b);
        npu_que_deque(out, &c);
        copy(global(z, at), c);
        npu_que_free(out, &c);
    }
    npu_pipe_destroy();
}

static double launch_once(float *x, float *y, float *z, bool no_hazards, bool timing)
{
    struct npu_config config = {.soc = &npu_socs[0], .no_hazards = no_hazards, .timing = timing};
    struct npu *npu = npu_create(&config);
    npu_gm_add(npu, "x", x, count * 4, NPU_GM_INPUT, true);
    npu_gm_add(npu, "y", y, count * 4, NPU_GM_INPUT, true);
    npu_gm_add(npu, "z", z, count * 4, NPU_GM_OUTPUT, false);
    uint64_t args[] = {(uint64_t)x, (uint64_t)y, (uint64_t)z};
    double start = seconds();
    bool ok = npu_launch(npu, (void *)add_kernel, args, 3, BLOCKS);
    double spent = seconds() - start;
    size_t found;
    const struct npu_finding *findings = npu_findings(npu, &found);
    if (!ok || found) {
        fprintf(stderr, "%s: %s\n", findings[0].fault, findings[0].message);
        exit(1);
    }
    for (size_t i = 0; i < count; i++)
        if (z[i] != x[i] + y[i]) {
            fprintf(stderr, "element %zu is wrong\n", i);
            exit(1);
        }
    npu_destroy(npu);
    return spent;
}

static double copy_once(float *x, float *y, float *z)
{
    double start = seconds();
    memcpy(z, x, (size_t)count * 4);
    memcpy(z, y, (size_t)count * 2); /* 3 x count x 4 bytes of traffic in all: a copy reads and writes */
    double spent = seconds() - start;
    return spent;
}

int main(void)
{
    size_t bytes = (size_t)MOST * 4;
    float *x = aligned_alloc(512, bytes), *y = aligned_alloc(512, bytes), *z = aligned_alloc(512, bytes);
    if (!x || !y || !z)
        return 1;
    for (size_t i = 0; i < MOST; i++) {
        x[i] = (float)(i % 1000);
        y[i] = (float)(i % 777);
    }
    memset(z, 0, bytes);
    static const struct {
        uint32_t tile, count;
        int limit; /* ms */
    } rows[] = {{4096, 8257536, 40}, {64, MOST, 300}};
    for (size_t t = 0; t < sizeof rows / sizeof rows[0]; t++) {
        double launches[RUNS], copies[RUNS], blind[RUNS], ratios[RUNS], timed[RUNS];
        tile = rows[t].tile;
        count = rows[t].count;
        for (int i = 0; i < RUNS; i++) {
            copies[i] = copy_once(x, y, z);
            launches[i] = launch_once(x, y, z, false, false);
            blind[i] = launch_once(x, y, z, true, false);
            timed[i] = launch_once(x, y, z, false, true) / launches[i];
            ratios[i] = launches[i] / blind[i]; /* neighbours in time: what else the machine does touches both */
        }
        double launch = median(launches), memcpy_time = median(copies), without = median(blind);
        printf("tile %4u: launch %6.1f ms (limit %d), memcpy %5.1f ms, ratio %.2f, %.0f ns per tile\n", tile,
               1e3 * launch, rows[t].limit, 1e3 * memcpy_time, launch / memcpy_time, 1e9 * launch / (count / tile));
        printf("           without hazard detection %6.1f ms: it costs a factor of %.2f (limit 1.5)\n", 1e3 * without,
               median(ratios));
        printf("           with the model of time: a factor of %.2f (limit 1.3)\n", median(timed));
    }
    free(x);
    free(y);
    free(z);
    return 0;
}
