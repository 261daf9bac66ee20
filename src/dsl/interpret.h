/* The interpreter: what a program computes, element by element, in the plainest way. It is the oracle for what the compiler
 * makes, and shares with it the parser and the types alone.
 *
 * Numbers of the host function are double and 64-bit integers. In the kernel real numbers are float32, and an operation's
 * elements are computed in double and rounded once to the data type of the buffer they go into. */
#ifndef DSL_INTERPRET_H
#define DSL_INTERPRET_H

#include "dsl/program.h"
#include "task/tensor/tensor.h"

#include <jansson.h>

/* What a parameter of the host function is bound to. */
struct dsl_argument {
    struct task_tensor *tensors; /* a tensor, or those of a list; NULL: neither */
    int list;                    /* how many tensors the list has; 0: it is a tensor */
    bool number;                 /* it is the number that the tensor of one element holds */
    bool given;                  /* their values are there */
    bool stored;                 /* the kernel may store into them; has to, every element, where they are not given */
    int64_t spare;               /* so many elements at its end need not be stored: what comes may be shorter */
    bool single;                 /* a real value has float32's digits */
    const json_t *value;         /* a number, a text, a list of integers, null; NULL: the parameter's default */
    enum akgen_dtype type;       /* null: the data type of the tensor that is missing */
};

/* Divisions '//' of a program that left a remainder, each once; so many at most. */
struct dsl_divisions {
    const struct dsl_expr *items[32];
    int count;
};
void dsl_divisions_add(struct dsl_divisions *divisions, const struct dsl_expr *division);

/* What a loop or a transfer of the kernel does in a run, by core: turns of the loop, elements that the transfer moves. */
struct dsl_tally_row {
    const void *part; /* the statement or the call, which it is known by */
    struct dsl_place place;
    const char *name;      /* what the loop counts; the operation's name */
    const char *tensor;    /* of a transfer; NULL: it is a loop */
    enum akgen_dtype type; /* of its elements */
    int64_t *turns, *elements;
};
/* A run in which scalar code is run and nothing is computed, so that neither the inputs' values nor time for them is needed: what the
 * cores would do is counted. What depends on values ends it. */
struct dsl_tally {
    struct dsl_tally_row *rows; /* in the order in which the first core comes to them */
    int count, capacity;
    const struct dsl_symbol **names; /* integers of the host function at the launch */
    int64_t *values;
    int value_count, phases; /* phases: between tl.sync_all() of core 0 */
};

struct value; /* values.h */

struct dsl_run {
    int vector_cores, cube_cores; /* that the chip has */
    const struct npu_soc *soc;    /* whose cores run at once, if they wait for each other; NULL: any number does */
    int64_t ub_bytes, l1_bytes, l0c_bytes; /* of a core */
    int64_t turns_max;   /* of all loops together, elements written / 4 and statements of blocks / 32; 0: 200 million */
    int64_t written_max; /* elements that operations may write, or rule refused stops the run; 0: all */
    const struct dsl_argument *arguments; /* one for each parameter of the host function */
    struct dsl_tally *tally;              /* count what is done instead of doing it; NULL: do it */
    uint64_t nudge;                       /* 0: none; else the seed of approximate.c's moves */
    struct dsl_divisions *divisions;      /* NULL: not asked for; the run adds to them */
    bool host_only;                       /* the kernel does not run, and no tensor has values */
    int64_t written;                      /* result: elements that operations wrote */
    int64_t turns;                        /* result: turns of loops, and statements of blocks / 32 */
    int cores;                            /* result: how many ran; 0: there was no launch */
    const struct value *given;            /* result, in the arena: what the launch gives the kernel's parameters */
    bool approximate;                     /* result: something was computed that a chip approximates */
};

/* Runs the host function and the kernel on every core. What is stored lies in the arguments' tensors, whose values the
 * caller has made. False: `messages` say what went wrong and where (rules bounds, undefined, shared, arithmetic). */
bool dsl_interpret(struct arena *arena, const struct dsl_program *program, struct dsl_run *run,
                   struct dsl_messages *messages);

/* The values of the file's constants by the number of their symbol, in the arena; NULL: `messages` say which has none. */
const struct value *dsl_constants(struct arena *arena, const struct dsl_program *program,
                                  struct dsl_messages *messages);

#endif
