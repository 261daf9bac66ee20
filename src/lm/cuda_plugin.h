/* Between cuda.c, which is part of every program, and akgen-cuda.so, which is not linked to any. */
#ifndef LM_CUDA_PLUGIN_H
#define LM_CUDA_PLUGIN_H

#include "lm/backend.h"

#define LM_CUDA_LIBRARY "akgen-cuda.so"
#define LM_CUDA_OPEN    "lm_cuda_open"

enum { LM_CUDA_MESSAGE = 256 };

/* What the library makes begins with this. */
struct lm_cuda_plugin {
    struct lm_backend backend;
    void (*close)(struct lm_cuda_plugin *plugin);
};
struct lm_cuda_request {
    int device;
    bool bf16;
    int operations_size; /* of struct lm_operations where the program was made: a library of another version is refused */
    char message[LM_CUDA_MESSAGE]; /* what was wrong */
};

/* The library's one function. NULL: request->message says why. */
typedef struct lm_cuda_plugin *lm_cuda_opener(struct lm_cuda_request *request);

#endif
