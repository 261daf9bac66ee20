/* A program and a task: what the parameters of the host function stand for, and how the program does in a case.
 *
 * Parameters are bound by name to the task's inputs, outputs and attributes, and those whose name the task does not have to
 * what is left, in its order, of a kind that fits. An output that is an input's memory is no parameter of its own: the kernel
 * stores into that input's. A parameter annotated tl.constexpr keeps its default. */
#ifndef DSL_BIND_H
#define DSL_BIND_H

#include "dsl/interpret.h"
#include "npu/npu.h"
#include "task/task.h"

/* Indices in the task; TASK_NONE where it is none. Both input and output: it is written in place. None at all: the
 * parameter's default. */
struct dsl_binding {
    int input, output, attr;
};

/* One binding for each parameter of the host function, in the arena. An error if a parameter finds nothing or something of
 * another kind, or an output no parameter. */
struct akgen_error *dsl_bind(struct arena *arena, const struct dsl_program *program, const struct task *task,
                             struct dsl_binding **bindings);

/* What a program stores in a case of a task. */
struct dsl_computed {
    bool ran;                      /* otherwise the messages say why it did not */
    int cores;                     /* that it ran on */
    bool approximate;              /* dsl_run.approximate */
    struct task_argument *outputs; /* with values */
};
/* Interprets the program in a case of the task, on a chip's cores. `nudge`: dsl_run.nudge. */
struct dsl_computed dsl_compute_case(struct arena *arena, const struct dsl_program *program,
                                     const struct dsl_binding *bindings, const struct task_instance *instance,
                                     const struct npu_soc *soc, uint64_t nudge, struct dsl_messages *messages);

/* Counts what the program would do in a case, of which only the shapes are needed (task_instance_shapes). False: the messages say
 * where it could not go on; what was counted until then stands. `cores`: that it is launched on, 0 where it is not. */
bool dsl_tally_case(struct arena *arena, const struct dsl_program *program, const struct dsl_binding *bindings,
                    const struct task_instance *instance, const struct npu_soc *soc, struct dsl_tally *tally,
                    int *cores, struct dsl_messages *messages);
/* The host function alone, for the shapes of a case (task_instance_shapes): the number of cores that it launches, 0 if it returns
 * before or fails, which the messages say, and what it gives the kernel's parameters (values.h). */
int dsl_launch_case(struct arena *arena, const struct dsl_program *program, const struct dsl_binding *bindings,
                    const struct task_instance *instance, const struct npu_soc *soc, const struct value **given,
                    struct dsl_messages *messages);

struct dsl_outcome {
    bool ran;                                 /* otherwise the messages say why it did not */
    int cores;                                /* that it ran on */
    struct task_mismatch by[TASK_STRICT + 1]; /* per profile: how the outputs compare with its reference */
};
/* Interprets the program in a case of the task, on a chip's cores, and compares what it stored by the profiles from `first`
 * on. */
void dsl_run_case(struct arena *arena, const struct dsl_program *program, const struct dsl_binding *bindings,
                  const struct task_instance *instance, const struct npu_soc *soc, enum task_profile first,
                  struct dsl_messages *messages, struct dsl_outcome *outcome);

#endif
