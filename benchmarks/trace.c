/* What akgen eval --trace writes: the trace of a launch of 100,000 slices on 48 cores, from the lines that akgen-run leaves,
 * against writing the same bytes at once. Prints medians of several; the aim is a second. */
#include "base/clock.h"
#include "npu/timing.h"
#include "jail/trace_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

enum { SLICES = 100000, CORES = 48, RUNS = 7 };

static int by_value(const void *left, const void *right)
{
    double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

static double median(double *values)
{
    qsort(values, RUNS, sizeof *values, by_value);
    return values[RUNS / 2];
}

/* Copies in, an addition and a copy out of each tile, with the flags between them. */
static int make_slices(void)
{
    static const struct {
        int lane;
        const char *name;
    } works[] = {{NPU_LANE_MTE2, "DataCopy"}, {NPU_LANE_V, "Add"}, {NPU_LANE_MTE3, "DataCopy"}};
    const int slices = memfd_create("slices", MFD_CLOEXEC);
    FILE *to = fdopen(dup(slices), "w");
    if (!to)
        exit(1);
    for (int i = 0; i < SLICES; i++) {
        const int work = i / CORES % 3, tile = i / (3 * CORES);
        const double start = 300.0 * tile + 100 * work;
        fprintf(to, "%d 0 %d %.3f %.3f %d %d %d 0 0\t%s\t\n", i % CORES, works[work].lane, start, start + 90.5,
                work == 1 ? 0 : 8192, work == 1 ? 4096 : 0, work == 1 ? 0 : tile * CORES + i % CORES + 1,
                works[work].name);
    }
    fclose(to);
    return slices;
}

int main(void)
{
    const struct npu_timing timing = {.known = true, .mhz = 1850};
    const int slices = make_slices();
    double written[RUNS], copied[RUNS];
    off_t bytes = 0;
    int failed;
    for (int i = 0; i < RUNS; i++) {
        const int trace = memfd_create("trace", MFD_CLOEXEC), copy = memfd_create("copy", MFD_CLOEXEC);
        const struct job job = {.trace_fd = trace};
        double start = clock_seconds();
        if (!trace_write(&job, &timing, slices, &failed))
            return 1;
        written[i] = clock_seconds() - start;
        bytes = lseek(trace, 0, SEEK_END);
        void *all = mmap(NULL, (size_t)bytes, PROT_READ, MAP_PRIVATE | MAP_POPULATE, trace, 0);
        start = clock_seconds();
        if (all == MAP_FAILED || write(copy, all, (size_t)bytes) != bytes)
            return 1;
        copied[i] = clock_seconds() - start;
        munmap(all, (size_t)bytes);
        close(trace);
        close(copy);
    }
    const double trace = median(written), copy = median(copied);
    printf("a trace of %d slices, %.1f MB: %.0f ms (limit 1000), writing its bytes alone %.1f ms, ratio %.0f\n", SLICES,
           1e-6 * (double)bytes, 1e3 * trace, 1e3 * copy, trace / copy);
    close(slices);
    return 0;
}
