/* Whatever bytes stand where a job or a result should: the readers answer with an error or a value, never a crash. */
#include "sandbox/job_internal.h"

#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    json_t *json = json_loadb((const char *)bytes, length, 0, NULL);
    struct arena arena = {0};
    struct job job;
    struct job_result result = {0};
    struct akgen_error *error = job_from_json(&arena, json, &job);
    for (int i = 0; !error && i < job.attr_count; i++)
        json_decref(job.attrs[i].value);
    error_free(error);
    error_free(job_result_from_json(&arena, json, &result));
    job_result_free(&result);
    json_decref(json);
    arena_free(&arena);
    return 0;
}
