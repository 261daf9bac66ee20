/* Whatever bytes stand where a job or a result should: the readers answer with an error or a value, never a crash. */
#include "fuzz.h"

#include "jail/job_exchange.h"

#include <stdlib.h>

static void seed_json(json_t *json)
{
    char *text = json_dumps(json, JSON_COMPACT);
    fuzz_seed_text(text);
    free(text);
    json_decref(json);
}

void fuzz_seeds(void)
{
    struct job_tensor tensors[] = {
        {.shape = {.type = AKGEN_BF16, .format = 2, .rank = 3, .dims = {2, 0, 5}}, .bytes = 20},
        {.shape = {.type = AKGEN_INT64, .format = 2}, .offset = 1536, .bytes = 8}};
    struct job_argument inputs[] = {{.tensors = tensors, .count = 2, .list = true, .alias = -1}, {.alias = -1}};
    struct job_argument output = {.tensors = tensors, .count = 1, .alias = 0};
    static uint8_t bytes[] = {1, 2, 3, 0xff};
    const struct job job = {.kernel_so = "/k.so",
                            .tiling = {.block_dim = 8, .key = 1, .workspace = 64, .bytes = bytes, .size = 4},
                            .entry = "e",
                            .soc = "Ascend910B2",
                            .inputs = inputs,
                            .input_count = 2,
                            .outputs = &output,
                            .output_count = 1,
                            .gm_bytes = 4096};
    struct job_finding finding = {
        .fault = "hazard_raw", .kind = NPU_HAZARD, .message = "m", .api = "Add", .place = {JOB_VECTOR, 64}};
    uint64_t undefined[] = {4};
    const struct job_result result = {.nonce = "n",
                                      .stage = JOB_KERNEL,
                                      .error = "e",
                                      .findings = &finding,
                                      .finding_count = 1,
                                      .undefined = undefined,
                                      .undefined_first = undefined,
                                      .undefined_count = 1,
                                      .printed = "x"};
    seed_json(job_to_json(&job));
    seed_json(job_result_to_json(&result));
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    json_t *json = json_loadb((const char *)bytes, length, 0, NULL);
    struct arena arena = {0};
    struct job job;
    struct job_result result = {0};
    struct akgen_error *error = job_from_json(&arena, json, &job);
    error_free(error);
    error_free(job_result_from_json(&arena, json, &result));
    job_result_free(&result);
    json_decref(json);
    arena_free(&arena);
    return 0;
}
