/* What the three parts of printing the kernel share: the class (emit_kernel.c), its stages (emit_stage.c), and the operations in
 * them (emit_instruction.c). */
#ifndef DSL_EMIT_KERNEL_H
#define DSL_EMIT_KERNEL_H

#include "dsl/emit.h"

/* The class while it is printed. */
struct kernel {
    struct emit emit; /* first: emit_kernel_call and the like find the kernel by it */
    struct text methods;
    const char *class_name;
    const struct lower_type *classes[16]; /* data types that differ by combination, each a parameter of the template */
    int class_count;
    bool *members;       /* by number of the buffer: its tensor is kept between stages */
    const int *mentions; /* by number of the symbol: how often the kernel has its name */
    int stages[DSL_PLACE_COPYOUT + 1], stage_totals[DSL_PLACE_COPYOUT + 1];
    bool in_stage;
};

/* Whether the type differs by combination: it is a parameter of the template. */
bool kernel_is_class(const struct emit *emit, const struct lower_type *type);
/* A type by the name that an operand's macro stands for. */
const char *kernel_operand_type(enum akgen_dtype type);
/* The operand's macro of the preprocessor, "DTYPE_X"; of one that may be complex, the name that stands for its type. */
const char *kernel_macro(const struct lowering *lowering, const struct dsl_operand *operand);
/* "xQueue", "xBuffer"; "xGm", "xList". */
const char *kernel_queue_name(struct emit *emit, const struct lower_buffer *buffer);
const char *kernel_gm_name(struct emit *emit, const struct lower_parameter *tensor);

/* Prints a call of the DSL that is a statement. */
void kernel_operation(struct emit *emit, const struct dsl_expr *call);
/* The same of any statement that is the kernel's alone. */
void kernel_statement(struct emit *emit, const struct dsl_statement *statement);

/* Finds the buffers whose tensors are kept between stages, and how many stages of a kind there are. */
void kernel_find_members(struct kernel *kernel);
void kernel_count_stages(struct kernel *kernel, const struct dsl_block *block);
/* Finds how often the kernel mentions each of its names. */
void kernel_count_mentions(struct kernel *kernel);
/* Whether cores of both kinds have work. */
bool kernel_is_mixed(const struct lowering *lowering);
/* Whether the C++ function has declared the variable. */
bool kernel_declared(const struct emit *emit, const char *name);
/* `LocalTensor<T> x = `, or `x = ` where it is declared. */
void kernel_tensor_target(struct emit *emit, const struct lower_buffer *buffer);
/* Declares tensors of buffers of UB that the block uses, in stages or outside of them, and the variables that are fields. */
void kernel_buffers_used(struct emit *emit, const struct dsl_block *block, bool outside);
void kernel_declare_fields(struct emit *emit);

#endif
