/* MultiKernelBench's answer format: a text whose first code block assigns six Python strings, which together are an
 * operator project and the PyTorch wrapper that calls it (backends/ascendc_backend.py and
 * utils/ascend_compile_pipeline.py there). Read by py_string.h, never executed. */
#ifndef CANDIDATE_RESPONSE_H
#define CANDIDATE_RESPONSE_H

#include "op/op.h"
#include "candidate/py_string.h"

struct op_response {
    const struct py_value *project_json;  /* msopgen's description: its "op" must be the operator's type */
    const struct py_value *host_tiling;   /* op_host/<op>_tiling.h */
    const struct py_value *host_operator; /* op_host/<op>.cpp */
    const struct py_value *kernel;        /* op_kernel/<op>.cpp */
    const struct py_value *python_bind;   /* the pybind11 extension */
    const struct py_value *model;         /* the module ModelNew */
};
/* Reads an answer for the operator `op_type`: `length` bytes of `text`, which is changed, from the file `path`. What is wrong
 * with it is in `problem`, its message starting with "<file name>:<line>: ". */
void op_response_read(struct arena *arena, const char *path, char *text, size_t length, const char *op_type,
                      struct op_response *response, struct py_problem *problem);
/* The operator project that the answer is. `op_type` is the task's. */
struct op_files op_response_files(struct arena *arena, const struct op_response *response, const char *op_type);

/* MultiKernelBench's name of a file: a snake case whose digits stand apart, "average_pooling_1d", where msopgen's rule
 * gives "average_pooling1d". */
const char *op_response_name(struct arena *arena, const char *snake);

/* The wrapper: ModelNew.forward -> custom_ops_lib.<function> -> EXEC_NPU_CMD(aclnn<Op>, inputs, attributes,
 * outputs). */
enum op_wrapper_kind {
    OP_WRAPPER_PLAIN,   /* forward's arguments, then the module's parameters, go to the inputs in their order */
    OP_WRAPPER_MORE,    /* it does more than one plain call */
    OP_WRAPPER_FOREIGN, /* it does not call the operator of this answer at all */
    OP_WRAPPER_BROKEN,  /* the call cannot work */
    OP_WRAPPER_INVALID, /* the binding does not compile */
};
/* What arrives at the aclnn function, which is called through a pointer whose type is made from the binding's arguments, so
 * that no conversion takes place. */
enum op_passing {
    OP_PASSED_WHOLE,
    OP_PASSED_LOW_HALF,  /* float for double: the low 32 bits of the register; the others are taken to be zero */
    OP_PASSED_UNSIGNED,  /* int for int64_t: so as well; negative numbers lose their sign */
    OP_PASSED_ELSEWHERE, /* in another kind of register, or another thing altogether: the call cannot work */
};
struct op_wrapper_value { /* what the wrapper passes for one attribute of the OpDef */
    const char *name;     /* of the constructor's or forward's argument that it is, or NULL */
    json_t *value;        /* a constant or that argument's default, converted to the attribute's type; or NULL */
    enum op_passing passing;
    const char *note; /* what is wrong with that; NULL if it arrives whole */
};
/* What the aclnn function finds of a value that the wrapper passes: a new reference. */
json_t *op_wrapper_received(enum op_passing passing, json_t *value);
struct op_wrapper {
    enum op_wrapper_kind kind;
    const char *reason; /* with the variable and its line; NULL for a plain one that passes its attributes whole */
    int line;           /* of the answer, that reason names */
    struct op_wrapper_value *attrs;
    int attr_count; /* of the OpDef */
};
void op_wrapper_read(struct arena *arena, const struct op_response *response, const struct op_def *def,
                     struct op_wrapper *wrapper);
void op_wrapper_release(struct op_wrapper *wrapper);

struct dsl_lowered;
struct dsl_opdef;
/* A compiled program as an answer in MultiKernelBench's format: six Python strings (docs/answers.md). */
/* The answer's text, in the arena. An error if the operator cannot be called from a binding that knows its inputs alone: an
 * output of a shape that no input has, lists of tensors, attributes that are lists. */
struct akgen_error *op_response_of_program(struct arena *arena, const struct dsl_lowered *lowered,
                                           const struct dsl_opdef *opdef, const char **answer);

#endif
