/* A safetensors file of any bytes: opening ends with tensors that lie in the file, all of which can be read, or with an error. */
#include "fuzz.h"

#include "lm/safetensors.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static void seed(const char *header, size_t bytes)
{
    char file[1024] = {0};
    uint64_t length = strlen(header);
    memcpy(file, &length, 8);
    memcpy(file + 8, header, length);
    fuzz_seed(file, 8 + length + bytes);
}

void fuzz_seeds(void)
{
    seed("{\"__metadata__\":{\"format\":\"pt\"},\"a\":{\"dtype\":\"F32\",\"shape\":[2,1],\"data_offsets\":[0,8]},"
         "\"b\":{\"dtype\":\"BF16\",\"shape\":[3],\"data_offsets\":[8,14]}}",
         14);
    seed("{\"a\":{\"dtype\":\"F16\",\"shape\":[],\"data_offsets\":[0,2]},\"b\":{\"dtype\":\"F32\",\"shape\":[0],\"data_"
         "offsets\":[2,2]}}",
         2);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    char path[40];
    struct lm_tensors tensors;
    int file = memfd_create("fuzz", 0);
    if (file < 0 || write(file, bytes, length) != (ssize_t)length)
        abort();
    snprintf(path, sizeof path, "/proc/self/fd/%d", file);
    struct akgen_error *error = lm_tensors_open(path, &tensors);
    for (int i = 0; !error && i < tensors.count; i++) {
        const struct lm_tensor *tensor = &tensors.items[i];
        if (tensor->count * lm_dtype_bytes(tensor->dtype) > (int64_t)length ||
            lm_tensors_find(&tensors, tensor->name) != tensor)
            abort();
        float *values = malloc((size_t)(tensor->count + 1) * sizeof *values);
        if (lm_tensors_read(&tensors, tensor, 0, tensor->count, values))
            abort();
        free(values);
    }
    if (!error)
        lm_tensors_close(&tensors);
    else if (strncmp(error->message, path, strlen(path)) != 0)
        abort();
    error_free(error);
    close(file);
    return 0;
}
