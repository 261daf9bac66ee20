/* What task.yaml and cases.csv say, parsed: a task, its cases, and one case in memory. Made by src/task's loader and
 * read-only afterwards; nothing that reads it parses text. docs/tasks.md explains every key. */
#ifndef TASK_MODEL_MODEL_H
#define TASK_MODEL_MODEL_H

#include "base/arena.h"
#include "base/error.h"
#include "task/expr/expr.h"
#include "task/expr/formula.h"
#include "task/tensor/tensor.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

enum task_profile { TASK_UPSTREAM, TASK_STRICT };

enum { TASK_NONE = -1, TASK_MAX_PARAMS = 32, TASK_MAX_ATTRS = 32 };
/* Candidates that leave work out. They write outputs without computing them; or compute from an input that they do not read, or read in part;
 * or take an attribute for a constant. */
enum task_mutation {
    TASK_MUTANT_ZERO, /* outputs are 0, 1, nan, or a copy of an input */
    TASK_MUTANT_ONE,
    TASK_MUTANT_COPY,
    TASK_MUTANT_NAN,
    TASK_MUTANT_ZEROS, /* an input is taken for 0, for 1, for its first element everywhere, or for other values of the shown generator */
    TASK_MUTANT_ONES,
    TASK_MUTANT_FIRST,
    TASK_MUTANT_GUESS,
    TASK_MUTANT_TAIL, /* its last element is not read, the last of each row, or all but the first 64th, repeated */
    TASK_MUTANT_ROWS,
    TASK_MUTANT_SAMPLE,
    TASK_MUTANT_CONSTANT, /* an attribute is taken for its default, or for a value that a shown case has */
    TASK_MUTATIONS
};
/* Those that are right by contract (`trivial`): bits 1 << enum task_mutation, and why. */
struct task_trivial {
    unsigned kinds;
    const char *reason;
};
enum task_param_kind { TASK_TENSOR, TASK_TENSOR_LIST, TASK_SCALAR, TASK_SCALAR_LIST, TASK_KINDS };
/* Values at the ends of a floating type that an operator defines (`special`), as bits. */
enum task_special { TASK_ZERO = 1, TASK_SUBNORMAL = 2, TASK_INF = 4, TASK_NAN = 8 };
/* Inputs whose values tiling may read, and the argument of ValueDepend() in the OpDef; UNSAID: it has no such call. */
enum task_value_depend { TASK_VALUE_UNREAD, TASK_VALUE_REQUIRED, TASK_VALUE_OPTIONAL, TASK_VALUE_UNSAID };
struct task_param { /* one OpDef input or output */
    const char *name;
    enum task_param_kind kind;
    bool optional;
    enum task_value_depend value_depend; /* inputs */
    bool shape_depends;                  /* outputs: the kernel says their shape */
    enum akgen_dtype *types;             /* allowed; outputs: may be empty when `dtype` is an expression */
    int type_count;
    const struct expr *shape;   /* "$shape", "[1]", "$x1_shape", ... */
    const struct expr *dtype;   /* "$dtype", "float32", ... */
    const struct expr *present; /* NULL: always */
    /* Inputs. */
    const struct expr *generate; /* "randn", "uniform(-1, 1)", "randint(-10, 10)", "$scalars", ... */
    const struct expr *strict;   /* the generator of the strict profile's other runs, NULL: `generate` again */
    unsigned special;            /* what strict plants: bits of enum task_special */
    struct task_trivial trivial; /* how a candidate may take it for something else and be right */
    /* Outputs. Indices are TASK_NONE where the key is not given. */
    int in_place;    /* the input whose memory it is. Without types: the OpDef declares no such output, the operator
                      * only writes its input */
    int points_into; /* the input that it holds positions in, along `along`; ties count as equal */
    int along;       /* the attribute `dim` */
    int made_of;     /* another output that it may be computed from as it is stored */
    bool zeroed;     /* contents before the launch: zero, else poison */
    bool steep;      /* strict allows what a move of the inputs by a few roundings does */
    bool serial;     /* the values of `depth` are summed one after the other in the output's type, not in 64 lanes and
                      * a tree */
    const struct expr *depth;      /* how many values one element sums up (strict thresholds), NULL: 1 */
    const struct expr *compared;   /* true, false, or `strict`: upstream ignores it; NULL: true */
    const struct formula *formula; /* reference `formula`: the value. Names are the inputs, then the attributes */
};

enum task_attr_type {
    TASK_ATTR_INT,
    TASK_ATTR_FLOAT,
    TASK_ATTR_BOOL,
    TASK_ATTR_STRING,
    TASK_ATTR_LIST_INT,
    TASK_ATTR_LIST_FLOAT,
    TASK_ATTR_TYPES
};
struct task_attr {
    const char *name;
    enum task_attr_type type;
    const struct expr *value;    /* "$alpha", "-1", ... */
    const struct expr *strict;   /* the value in hidden cases of other sizes, NULL: `value` again */
    struct task_trivial trivial; /* a candidate may take it for a constant */
    const char *initial; /* the OpDef's default, as C++ has it but for a string's quotes; NULL: it is required */
    bool unsaid;         /* required, which the OpDef does not say */
};

/* One step towards another case (`vary`, `smaller`): `column = value`, or other sizes in some columns. */
struct task_step {
    const struct expr *value; /* NULL: other sizes. Its columns are those of cases.csv, then $hidden */
    int column;
    bool lists;    /* sizes in all lists */
    bool even;     /* sizes that are even stay even */
    bool *columns; /* per column: it holds one size */
};
struct task_steps {
    struct task_step *steps;
    int count;
};

/* A kernel of the eager baseline: what PyTorch on the NPU launches for the task's module. The kind says at which rates it
 * runs (src/eval/eager.def). */
enum task_eager_kind {
    TASK_EAGER_ELEMENTWISE, /* Add, Sigmoid, Cast, Fill: each element once */
    TASK_EAGER_FOREACH,     /* the same over a list of tensors in one launch */
    TASK_EAGER_OPTIMIZER,   /* one step of a fused optimizer */
    TASK_EAGER_REDUCTION,   /* ReduceSum, ArgMax, MseLoss */
    TASK_EAGER_SOFTMAX,     /* softmax and what is fused with it */
    TASK_EAGER_NORM,        /* LayerNorm, RmsNorm, BatchNorm, their gradients */
    TASK_EAGER_QUANT,       /* quantisation and what is fused with it */
    TASK_EAGER_SCAN,        /* Cumsum */
    TASK_EAGER_POOLING,
    TASK_EAGER_SORT,
    TASK_EAGER_GATHER, /* rows or elements picked or put by index */
    TASK_EAGER_LAYOUT, /* Transpose, strided copies */
    TASK_EAGER_MATMUL,
    TASK_EAGER_ATTENTION,
    TASK_EAGER_KINDS
};
struct task_eager_tensor { /* an input or output as a whole, or a shape of its own */
    int input, output;     /* indices, TASK_NONE if it is none */
    const struct expr *dtype, *shape;
};
struct task_eager {
    const char *kernel; /* the vendor's name: "Mul", "SoftmaxV2" */
    enum task_eager_kind kind;
    struct task_eager_tensor *reads, *writes;
    int read_count, write_count;
    /* Products of [m, k] and [k, n], `batch` of them: numbers, or lists with one for each product. NULL: none. */
    const struct expr *m, *k, *n, *batch;
};

/* The cores that a given host part launches, all of them. */
enum task_cores { TASK_CORES_VECTOR, TASK_CORES_CUBE, TASK_CORES_UNKNOWN };

struct task_case;
struct task_instance;
struct task_reference_entry;
struct reference_signature;
struct task {
    const char *suite; /* "npukernelbench" */
    int level;
    const char *category, *op; /* "Math", "Sqrt" */
    const char *name;          /* "level1/Math/Sqrt" */
    const char *dir;           /* absolute */
    const char *yaml, *table;  /* texts of task.yaml and cases.csv, of which the rest was parsed; NULL: it is broken */
    const char *op_type;       /* OpDef name a candidate must register, usually equal to op */
    struct task_param *inputs, *outputs;
    int input_count, output_count;
    struct task_attr *attrs;
    int attr_count;
    const struct task_reference_entry *reference;
    const struct reference_signature *signature;    /* what it needs; NULL: what the outputs' formulas name */
    void (*derive)(struct task_instance *instance); /* fills inputs that follow from others; NULL if none does */
    const struct expr *check;                       /* upstream's rule; NULL: the default one */
    struct expr_columns columns;                    /* of cases.csv */
    struct task_case *cases;
    int case_count;
    enum akgen_dtype (*combinations)[TASK_MAX_PARAMS]; /* dtype combinations that the OpDef must offer: per row inputs,
                                                        * then outputs */
    int combination_count;
    int combination_width;       /* inputs and declared outputs: columns used of a row */
    const char *note;            /* what upstream does oddly, "" if nothing */
    enum task_cores cores;       /* what the host part that scope kernel gives launches */
    struct task_trivial trivial; /* outputs that are right without work */
    struct task_steps vary;      /* how hidden sizes come from shown ones; none: they make no sense */
    struct task_steps smaller;   /* what stands in for a giant case, before anything is halved */
    struct task_eager *eager;    /* what PyTorch on the NPU launches, in order */
    int eager_count;             /* 0: nobody has said */
    const char *broken;          /* why task_load_all could not load it; then only suite to dir are set */
};

/* How the strict profile makes a hidden case of a shown one: with other sizes, primes or one more than a size that was
 * shown (tails); or with values at the ends of the type: zeros, subnormal numbers and infinities, or nan. */
enum task_variant { TASK_SHOWN, TASK_PRIME_SIZES, TASK_TAIL_SIZES, TASK_LIMIT_VALUES, TASK_NAN_VALUES, TASK_VARIANTS };
struct task_case {
    int id;
    enum task_variant variant;
    const struct expr_value *cells; /* one per column of the task; `text` is the cell's */
    int line;                       /* in cases.csv */
    uint64_t elements;              /* of all tensors together; over 2^24 = giant */
};

struct task_argument { /* what is bound to one parameter */
    struct task_tensor *tensors;
    int count;    /* 0 = absent optional */
    double terms; /* a reference's output: size of the terms that its elements are sums of, if they may cancel all over
                   * the tensor; 0 otherwise */
};
/* Upstream's comparison in one case. */
struct task_check {
    enum expr_rule rule;
    double abs_limit, rel_limit;
};
#define TASK_DEFAULT_CHECK ((struct task_check){RULE_ABS_REL, 1e-3, 1e-3})
/* How one output is judged in one case. */
struct task_judging {
    bool by[TASK_STRICT + 1]; /* profiles that judge it */
    double depth;             /* how many values one element sums up */
};
struct task_instance { /* a case in memory */
    const struct task *task;
    const struct task_case *task_case;
    struct task_argument *inputs, *outputs; /* outputs: shapes, dtypes; values NULL */
    json_t **attrs;                         /* per task attr */
    const struct expr_value *cells;         /* the case's, with smaller shapes where reduced */
    struct task_judging *judging;           /* per output */
    struct task_check check;
    struct arena arena; /* owns everything above but large values */
    void *memory;       /* large values */
    bool reduced;       /* stands in for a giant case */
};

/* Index by name, TASK_NONE if there is none. */
int task_input_index(const struct task *task, const char *name);
int task_output_index(const struct task *task, const char *name);
int task_attr_index(const struct task *task, const char *name);
int task_column_index(const struct task *task, const char *name);
/* How task.yaml spells them; each list ends with NULL. */
extern const char *const task_kind_names[TASK_KINDS + 1];
extern const char *const task_attr_type_names[TASK_ATTR_TYPES + 1];
extern const char *const task_eager_kind_names[TASK_EAGER_KINDS + 1];
extern const char *const task_special_names[];
extern const char *const task_mutation_names[TASK_MUTATIONS + 1];

/* True if the profile judges output number `output` of this case; an output that is not may stay unwritten. */
bool task_output_judged(const struct task_instance *instance, int output, enum task_profile profile);

#endif
