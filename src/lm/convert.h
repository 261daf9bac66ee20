/* A checkpoint rewritten: in another type, in files of another size, with adapters merged into it, on the way to another model. */
#ifndef LM_CONVERT_H
#define LM_CONVERT_H

#include "lm/safetensors.h"

struct lm_convert_options {
    const char *folder, *adapter; /* the model; PEFT's folder, or NULL */
    const char *toward;           /* another model of the same shapes, or NULL */
    double share;                 /* of `toward` in each weight; the rest is the model's */
    const char *out;              /* which may not be there yet */
    bool as_it_is;                /* the type of the model's embedding; else `dtype` */
    enum lm_dtype dtype;
    int64_t largest; /* bytes of a file; 0: transformers' 5 GB */
};
struct lm_converted {
    int64_t parameters, bytes; /* bytes: of the weights */
    int files;
    enum lm_dtype dtype;
};
/* Writes a folder that is whole or not there. Needs the weights in float32 in memory. Errors: `out` is there; a file is missing or wrong. */
struct akgen_error *lm_convert(const struct lm_convert_options *options, struct lm_converted *converted);

#endif
