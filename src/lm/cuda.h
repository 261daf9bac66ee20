/* A GPU of NVIDIA's as a backend, of compute capability 8.0 or later: elements are bfloat16, multiplied on tensor cores and summed in float32,
 * or float32 throughout. What it needs of CUDA is a library of its own, akgen-cuda.so beside the program, which lm_cuda_new loads: the
 * program starts where there is none. Heads are at most LM_CUDA_HEAD long. */
#ifndef LM_CUDA_H
#define LM_CUDA_H

#include "lm/backend.h"
#include "lm/safetensors.h"

enum { LM_CUDA_HEAD = 256 };

/* The machine's GPU number `device`, from 0. `elements`: LM_BF16 or LM_F32. Errors: akgen-cuda.so is not there or cannot be loaded,
 * there is no such GPU, or it is too old. The caller frees; what is allocated on it before that. */
struct akgen_error *lm_cuda_new(int device, enum lm_dtype elements, struct lm_backend **backend);
void lm_cuda_free(struct lm_backend *backend);

#endif
