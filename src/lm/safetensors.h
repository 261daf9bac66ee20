/* Files of tensors in Hugging Face's safetensors format, one file or several with an index:
 *
 *   8 bytes: length of the header, little endian | header, JSON: name -> dtype, shape, [begin, end) of its bytes | the bytes
 *
 * Read: float32, float16 and bfloat16. Nothing is trusted: every offset, shape and length of a file is looked at first. */
#ifndef LM_SAFETENSORS_H
#define LM_SAFETENSORS_H

#include "base/arena.h"
#include "base/error.h"

#include <stdbool.h>
#include <stdint.h>

enum lm_dtype { LM_F32, LM_F16, LM_BF16 };
enum { LM_MAX_RANK = 4 };

/* One tensor of a file, or one to be written. */
struct lm_tensor {
    const char *name;
    enum lm_dtype dtype; /* of the file */
    int rank;
    int64_t shape[LM_MAX_RANK], count; /* count: elements, the product of the shape */
    int file;                          /* where it is read from: number of the file, ... */
    int64_t begin;                     /* ... and of its first byte there */
    const float *values;               /* what is written */
};

/* Open files of tensors, sorted by name. */
struct lm_tensors {
    struct arena arena;
    struct lm_tensor *items;
    int count;
    const char **paths;
    int *files, file_count; /* descriptors */
};

/* Opens a file, or a folder's model.safetensors, or the files that its model.safetensors.index.json names. Errors name the
 * file and what in it is wrong; a file that is no such file is of_the_file. The caller closes. */
struct akgen_error *lm_tensors_open(const char *path, struct lm_tensors *tensors);
void lm_tensors_close(struct lm_tensors *tensors);
/* NULL: there is none. */
const struct lm_tensor *lm_tensors_find(const struct lm_tensors *tensors, const char *name);
/* A tensor's elements as float32, `count` of them from element `from` on. */
struct akgen_error *lm_tensors_read(const struct lm_tensors *tensors, const struct lm_tensor *tensor, int64_t from,
                                    int64_t count, float *values);
/* Writes tensors as `dtype` to folder/model.safetensors, or, where they are more than `largest` bytes, to files of at most
 * that many and their index (a larger tensor gets a file of its own). Readers see the old files or the new ones; what an
 * earlier writing left beside them goes. */
struct akgen_error *lm_tensors_write(const char *folder, const struct lm_tensor *tensors, int count,
                                     enum lm_dtype dtype, int64_t largest);
/* Writes one file, whose name need not be a model's. */
struct akgen_error *lm_tensors_write_file(const char *path, const struct lm_tensor *tensors, int count,
                                          enum lm_dtype dtype);
/* "F32", "F16", "BF16". */
const char *lm_dtype_name(enum lm_dtype dtype);
int lm_dtype_bytes(enum lm_dtype dtype);

#endif
