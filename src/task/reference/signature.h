/* What a reference needs of a task: inputs, outputs and attributes in order, as one line of text beside its function
 * (the tables of ref_*.c). The text is parsed when a task is loaded; every access of a reference goes through it.
 *
 *   x floating [*rows, *n], gamma? =x [*n] -> y =x [*rows, *n], rstd? float32 (*rows); epsilon float = 1e-6 | clauses
 *
 * NAME?  may be absent. NAME!  an output that the reference does not make: never judged.
 * list   a tensor list; otherwise a tensor or scalars.
 * TYPES  data types and classes (floating, integer, index, number, any), with '/' between; =x: the type of input x.
 * SHAPE  [sizes]: this shape. (size): this number of elements, whatever the shape. A size is a product of numbers and
 *        variables, + or - a number: 2*half, n+1. *r is a run of any number of dimensions; *r:k one of k dimensions (an
 *        attribute k may count from the end). A variable has the same value wherever it stands, and at least 1 unless
 *        it stands alone as (e); an int attribute is a variable by its name. @e may differ between the tensors of a list;
 *        #x is the number of tensors in list x. SHAPE or SHAPE: either. SHAPE if ATTR=WORD else SHAPE: by an attribute.
 * in LOW..HIGH     all elements of an input, or the attribute, lie there; an end may be missing.
 * 'GENERATOR'      what `akgen task new` fills the input with.
 * NAME TYPE of WORD/WORD = VALUE   an attribute, its words, and its value in a new task (the default of NAME?).
 * Clauses, each after '|': `column NAME` a column of cases.csv that it reads; for `akgen task new` also `trivial TEXT`,
 * `derive NAME`, and `size NAME VALUE`, a variable's. */
#ifndef TASK_REFERENCE_SIGNATURE_H
#define TASK_REFERENCE_SIGNATURE_H

#include "task/model/model.h"

enum { SIGNATURE_PARAMS = 10, SIGNATURE_ATTRS = 10, SIGNATURE_FACTORS = 4, SIGNATURE_WORDS = 4, SIGNATURE_NAMES = 24 };

/* number * product of variables + offset. A run stands for the product of its sizes, or, alone in [], for its
 * dimensions. */
struct signature_size {
    int64_t number, offset;
    int variables[SIGNATURE_FACTORS], count; /* indices in names */
};
struct signature_shape {
    bool counted; /* () */
    struct signature_size sizes[TASK_MAX_RANK];
    int count;
};
struct signature_variable {
    const char *name;
    bool run, per_tensor, alone; /* *r; @e; never anything but (e) */
    int dims;                    /* a run of so many dimensions: index of the variable; TASK_NONE: any number */
    int attr, list;              /* whose value it is: index of an attribute, of an input; else TASK_NONE */
};
struct signature_range {
    bool from, to; /* there is a lowest, a highest */
    struct signature_size low, high;
};
struct signature_param {
    const char *name, *text; /* text: the item, but for its generator */
    bool optional, unmade, list;
    uint64_t types; /* bits 1 << dtype; 0: the type of input `same_as` */
    int same_as;
    struct signature_shape shapes[2];
    int shape_count;
    int chosen_by; /* index of the attribute whose word `word` chooses the first shape; TASK_NONE: any that fits */
    const char *word;
    struct signature_range range;
    const char *generate; /* NULL: by type */
};
struct signature_attr {
    const char *name, *text;
    bool optional;
    enum task_attr_type type;
    const char *words[SIGNATURE_WORDS + 1]; /* up to NULL; none: any */
    struct signature_range range;
    const char *value; /* as in task.yaml */
};
struct reference_signature {
    const char *reference, *text;
    struct signature_param inputs[SIGNATURE_PARAMS], outputs[SIGNATURE_PARAMS];
    int input_count, output_count;
    struct signature_attr attrs[SIGNATURE_ATTRS];
    int attr_count;
    struct signature_variable names[SIGNATURE_NAMES];
    int name_count;
    const char *column, *trivial, *derive; /* NULL: none */
    struct {
        const char *name, *value; /* as in cases.csv */
    } sizes[SIGNATURE_NAMES];     /* in a new task */
    int size_count;
};

/* Parses a signature; what is wrong with one ends the process, as a mistake of ours. */
struct reference_signature *signature_parse(struct arena *arena, const char *reference, const char *text);
/* Number of a variable, an input, an attribute; TASK_NONE if there is none. */
int signature_variable(const struct reference_signature *signature, const char *name);
int signature_attr(const struct reference_signature *signature, const char *name);
/* What a task must have, as text: the signature without generators and what else is for new tasks. */
const char *signature_needs(struct arena *arena, const struct reference_signature *signature);
/* The data types of an input or output, as bits. */
uint64_t signature_type_set(const struct reference_signature *signature, const struct signature_param *param);
/* "float16, float32 or bfloat16". */
const char *signature_types(struct arena *arena, uint64_t types);

/* Where in a task something does not fit. */
enum signature_part { SIGNATURE_INPUT, SIGNATURE_OUTPUT, SIGNATURE_ATTR, SIGNATURE_COLUMN };
struct signature_place {
    enum signature_part part;
    int index;       /* of the input, output, attribute; TASK_NONE: the whole list */
    const char *key; /* in task.yaml; NULL: the whole */
};
/* What of task.yaml does not fit the signature, and where; NULL: nothing. */
struct akgen_error *signature_check_task(struct arena *arena, const struct reference_signature *signature,
                                         const struct task *task, struct signature_place *place);
/* What of a case does not: shapes, types, attributes; where values have been made, their range too. */
struct akgen_error *signature_check_case(const struct reference_signature *signature,
                                         const struct task_instance *instance);

#endif
