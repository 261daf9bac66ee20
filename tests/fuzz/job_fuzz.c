/* Any bytes where a job or its result should be: the decoder answers with an error or a value, never a crash, and a value
 * that is sent again is the same. */
#include "fuzz.h"

#include "jail/job_exchange.h"
#include "jail/wire.h"

#include <stdlib.h>
#include <string.h>

static void seed(enum wire_message message, const void *object)
{
    struct arena arena = {0};
    size_t length;
    const void *bytes = wire_encode(&arena, message, object, &length);
    fuzz_seed(bytes, length);
    arena_free(&arena);
}

void fuzz_seeds(void)
{
    struct job_tensor tensors[] = {
        {.shape = {.type = AKGEN_BF16, .format = 2, .rank = 3, .dims = {2, 0, 5}}, .bytes = 20},
        {.shape = {.type = AKGEN_INT64, .format = 2}, .offset = 1536, .bytes = 8}};
    struct job_argument inputs[] = {{.tensors = tensors, .count = 2, .list = true, .alias = -1}, {.alias = -1}};
    struct job_argument output = {.tensors = tensors, .count = 1, .alias = 0};
    struct npu_racing_read racing[] = {{47, 2, 9, 32, 64}};
    static uint8_t bytes[] = {1, 2, 3, 0xff};
    const struct job job = {.kernel_so = "/k.so",
                            .tiling = {.block_dim = 8, .key = 1, .workspace = 64, .bytes = bytes, .size = 4},
                            .entry = "e",
                            .soc = "Ascend910B2",
                            .inputs = inputs,
                            .input_count = 2,
                            .outputs = &output,
                            .output_count = 1,
                            .racing = racing,
                            .racing_count = 1,
                            .gm_bytes = 4096};
    struct job_finding finding = {
        .fault = "hazard_raw", .kind = NPU_HAZARD, .message = "m", .api = "Add", .place = {JOB_VECTOR, 64}};
    struct job_endless endless = {.rounds = 9, .cores = 2, .place = {JOB_CUBE, 8}};
    uint64_t undefined[] = {4};
    const struct job_result result = {.nonce = "n",
                                      .stage = JOB_KERNEL,
                                      .error = "e",
                                      .findings = &finding,
                                      .finding_count = 1,
                                      .endless = &endless,
                                      .endless_count = 1,
                                      .racing = racing,
                                      .racing_count = 1,
                                      .timing = {.model = {.known = true, .mhz = 1800, .cycles = 5}},
                                      .undefined = undefined,
                                      .undefined_first = undefined,
                                      .undefined_count = 1};
    seed(WIRE_JOB, &job);
    seed(WIRE_JOB_RESULT, &result);
}

/* Decodes; what is accepted must come back from a message of its own as that message. */
static void decode(enum wire_message message, const void *bytes, size_t length, void *object, void *again)
{
    struct arena arena = {0};
    struct akgen_error *error = wire_decode(&arena, message, bytes, length, object);
    if (!error) {
        size_t first, second;
        const void *sent = wire_encode(&arena, message, object, &first);
        if (first > length || wire_decode(&arena, message, sent, first, again))
            abort();
        const void *resent = wire_encode(&arena, message, again, &second);
        if (first != second || memcmp(sent, resent, first) != 0)
            abort();
    }
    error_free(error);
    arena_free(&arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    decode(WIRE_JOB, bytes, length, &(struct job){0}, &(struct job){0});
    decode(WIRE_JOB_RESULT, bytes, length, &(struct job_result){0}, &(struct job_result){0});
    return 0;
}
