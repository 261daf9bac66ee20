/* Finds and loads akgen-cuda.so. */
#include "lm/cuda.h"

#include "base/arena.h"
#include "base/files.h"
#include "lm/cuda_plugin.h"

#include <dlfcn.h>

/* The library stays loaded: threads of CUDA's may run in it until the process ends. */
static struct akgen_error *load(lm_cuda_opener **open)
{
    struct arena arena = {0};
    struct akgen_error *error = NULL;
    const char *path = files_program(&arena, LM_CUDA_LIBRARY);
    void *library = path ? dlopen(path, RTLD_NOW | RTLD_LOCAL) : NULL;
    if (!path)
        error =
            error_new("there is no " LM_CUDA_LIBRARY " beside the program; 'make cuda' builds it where CUDA's nvcc is");
    else if (!library)
        error = error_new("cannot load " LM_CUDA_LIBRARY ": %s", dlerror());
    else if (!(*open = (lm_cuda_opener *)dlsym(library, LM_CUDA_OPEN)))
        error = error_new("%s has no " LM_CUDA_OPEN ": it is not akgen's", path);
    arena_free(&arena);
    return error;
}

struct akgen_error *lm_cuda_new(int device, enum lm_dtype elements, struct lm_backend **backend)
{
    lm_cuda_opener *open = NULL;
    *backend = NULL;
    if (elements != LM_BF16 && elements != LM_F32)
        return error_new("a GPU computes with bfloat16 or float32, not %s", lm_dtype_name(elements));
    struct akgen_error *error = load(&open);
    if (error)
        return error;
    struct lm_cuda_request request = {
        .device = device, .bf16 = elements == LM_BF16, .operations_size = sizeof(struct lm_operations)};
    struct lm_cuda_plugin *plugin = open(&request);
    if (!plugin)
        return error_new("%s", request.message);
    *backend = &plugin->backend;
    return NULL;
}

void lm_cuda_free(struct lm_backend *backend)
{
    if (!backend)
        return;
    struct lm_cuda_plugin *plugin = (struct lm_cuda_plugin *)backend; /* its first member */
    plugin->close(plugin);
}
