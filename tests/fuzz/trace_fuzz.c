/* The slices that a trace is made of: whatever stands there, the trace is JSON, and an array of events. */
/* test: cost=10 */
#include "fuzz.h"
#include "jail/trace_internal.h"

#include <jansson.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

void fuzz_seeds(void)
{
    fuzz_seed_text(
        "3 0 2 100.000 300.500 4096 0 0 1 2a4\tDataCopy\t\n3 0 1 300.500 400.000 0 1024 0 0 0\tAdd\tSoftMax\n"
        "3 0 2 150.000 350.000 64 0 0 0 0\tDataCopy\t\n");
    fuzz_seed_text("0 0 2 100.000 110.000 0 0 7 0 0\tSetFlag\t\n1 1 4 20.000 112.000 0 0 7 0 0\tWaitFlag\t\n"
                   "65535 0 6 0.000 9e99 18446744073709551615 4294967295 -7 2 ffff\tx\"\\\ty\n");
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    static const struct npu_timing timing = {.known = true, .mhz = 1800};
    int slices = memfd_create("slices", MFD_CLOEXEC), trace = memfd_create("trace", MFD_CLOEXEC);
    const struct job job = {.trace_fd = trace};
    if (write(slices, bytes, size) != (ssize_t)size)
        abort();
    int failed;
    trace_write(&job, &timing, slices, &failed);
    lseek(trace, 0, SEEK_SET);
    json_t *json = json_loadfd(trace, JSON_ALLOW_NUL, NULL);
    size_t i;
    const json_t *event;
    if (!json_is_array(json))
        abort();
    json_array_foreach(json, i, event) if (!json_is_string(json_object_get(event, "ph"))) abort();
    json_decref(json);
    close(slices);
    close(trace);
    return 0;
}
