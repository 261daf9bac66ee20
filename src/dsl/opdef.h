/* The operator that a program makes: what its OpDef says, and what the parameters of the host function stand for. */
#ifndef DSL_OPDEF_H
#define DSL_OPDEF_H

#include "dsl/program.h"
#include "task/task.h"

enum dsl_parameter_kind {
    DSL_PARAMETER_INPUT,  /* number of an input */
    DSL_PARAMETER_OUTPUT, /* number of an output */
    DSL_PARAMETER_ATTR,   /* number of an attribute */
    DSL_PARAMETER_DEFAULT /* nothing: its default is its value */
};
struct dsl_parameter_role {
    enum dsl_parameter_kind kind;
    int number;
};

/* An input or output of the OpDef. */
struct dsl_operand {
    const char *name;
    bool output, optional, list;   /* list: of tensors */
    bool scalar, scalar_list;      /* numbers of the host, which the kernel finds in a tensor */
    const enum akgen_dtype *types; /* one per combination */
    int in_place;                  /* of an output: the number of the input whose memory it is, or TASK_NONE */
    bool declared;                 /* it stands in the OpDef: not an output that an input of that name is alone */
    const char *like;              /* of an output: an input of its shape; NULL: there is none */
};
struct dsl_opdef {
    const char *type, *entry; /* "SqrtCustom", "sqrt_custom" */
    struct dsl_operand *inputs, *outputs;
    int input_count, output_count;
    const struct task_attr *attrs;
    int attr_count;
    int combinations;
    struct dsl_parameter_role *roles; /* one per parameter of the host function */
    bool
        host_given; /* the project is a kernel alone, for a host part that says no more than how many blocks there are */
};

/* The operator of a task, in the arena. An error if the parameters of the host function do not fit the task's inputs, outputs
 * and attributes (dsl_bind). */
struct akgen_error *dsl_opdef_of_task(struct arena *arena, const struct dsl_program *program, const struct task *task,
                                      struct dsl_opdef *opdef);
/* The operator that a program without a task makes, in one combination of data types: outputs are the tensors that the kernel
 * stores and does not load; what it loads too is written in place; the data type is that of the buffer which a tensor goes
 * through, float32 where that is the tensor's own. Parameters with a default keep it, the other numbers are attributes. An error
 * if the program leaves open which tensors those are. */
struct akgen_error *dsl_opdef_of_program(struct arena *arena, const struct dsl_program *program,
                                         struct dsl_opdef *opdef);
/* Whether the program says the data type of each of its tensors. */
bool dsl_types_are_written(const struct dsl_program *program);

#endif
