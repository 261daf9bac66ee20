/* Values while a program is interpreted. */
#ifndef DSL_VALUES_H
#define DSL_VALUES_H

#include "dsl/interpret.h"

/* Memory of the interpreter: a tensor of global memory, or a buffer of a core. */
struct dsl_memory {
    struct task_tensor tensor;
    const char *name;
    int64_t count;  /* numbers that it holds: elements, of complex64 twice as many */
    int64_t cols;   /* of a matrix in L1 or L0C; 0: it is none */
    uint8_t *state; /* per number: 0 has no value; else, in global memory, who wrote it last: below */
    uint8_t
        *readers;   /* per number of global memory that may be stored: who reads it in this phase; NULL: of the rest */
    bool parameter; /* of the host function: not workspace, not a buffer */
    bool input;     /* which nothing is stored into */
    bool buffer;
};
/* States of elements of global memory: an input, or written by a core in a phase before the last tl.sync_all(), or by
 * core number `state - STATE_CORE` in this phase, or added to by cores in this phase. */
enum { STATE_UNDEFINED, STATE_GIVEN, STATE_CORE, STATE_CORES_MAX = 250, STATE_ADDED = 255 };
/* Readers: none, core number `reader - READER_CORE`, several cores. */
enum { READER_NONE, READER_CORE, READER_CORES = 255 };

struct value {
    enum dsl_type type;
    bool unknown;    /* in a run that only counts: it depends on values that nobody has computed */
    int64_t integer; /* of BOOL and INT */
    double real;
    const char *text;
    enum akgen_dtype dtype;
    struct dsl_memory *memory;      /* TENSOR, POINTER, ADDRESS, BUFFER, PIECE */
    const struct value *tensors;    /* TENSORS: length of them */
    int64_t offset, stride, length; /* elements: where it begins; of a range and an address also how it goes on */
    const int64_t *ints;            /* INTS: length of them */
    const uint8_t *mask;            /* MASK: length of them */
};

#endif
