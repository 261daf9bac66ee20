/* What the passes share. */
#ifndef DSL_LOWER_INTERNAL_H
#define DSL_LOWER_INTERNAL_H

#include "dsl/check.h"
#include "dsl/dsl.h"
#include "dsl/edit.h"
#include "dsl/explain.h"
#include "dsl/lower.h"

/* The data type of elements: one, or one per combination of the OpDef. */
struct lower_type {
    enum akgen_dtype fixed; /* AKGEN_DTYPE_NONE: `types` differ */
    const enum akgen_dtype *types;
};

enum lower_buffer_kind {
    LOWER_UB,
    LOWER_QUEUE_IN,
    LOWER_QUEUE_OUT,
    LOWER_QUEUE_MOVE,
    LOWER_QUEUE_A1, /* and what follows: of the cube */
    LOWER_QUEUE_B1,
    LOWER_QUEUE_CO1
};
struct lower_buffer {
    const char *name;
    enum lower_buffer_kind kind;
    struct dsl_statement *allocation;
    struct dsl_expr *size, *dtype; /* elements */
    struct lower_type type;
    const char *of;   /* the buffer whose memory it lies in; NULL: it has its own */
    char room;        /* of a recipe's steps or a pass: which; 0: it is the program's */
    const char *wide; /* of a queue of a narrower type: the buffer that is computed with; NULL: itself */
};

/* An operation that is one instruction: a row of instructions.def. */
enum lower_form {
    LOWER_FORM_UNARY,
    LOWER_FORM_WIDE,
    LOWER_FORM_BINARY,
    LOWER_FORM_SCALAR,
    LOWER_FORM_FILL,
    LOWER_FORM_REDUCE,
    LOWER_FORM_GATHER,
    LOWER_FORM_POWER,
    LOWER_FORM_COMPARE,
    LOWER_FORM_CHOOSE,
    LOWER_FORM_BITS,
    LOWER_FORM_TO_BITS,
    LOWER_FORM_CAST,
    LOWER_FORM_COMPRESS,
    LOWER_FORM_PRODUCT,
    LOWER_FORM_INDEX,
    LOWER_FORM_ROWS,
    LOWER_FORM_SHIFT,
    LOWER_FORM_EACH,
    LOWER_FORM_SORT,
    LOWER_FORM_BYTES,
    LOWER_FORM_FUNCTION,
    LOWER_FORM_INT64,
    LOWER_FORM_INT64_TRUTH,
    LOWER_FORM_ADDS,
    LOWER_FORM_WITH_ROOM,
    LOWER_FORM_OF_FLOAT
};
struct lower_instruction {
    const char *name, *api;
    enum lower_form form;
};
/* NULL: the operation is none. */
const struct lower_instruction *lower_instruction_find(const char *name);

/* Whether it is a function of the high-level library: it takes room from UB, and may not compute into its own source. */
static inline bool lower_is_library(enum lower_form form)
{
    return form == LOWER_FORM_POWER || form >= LOWER_FORM_WITH_ROOM;
}

/* A queue, and the buffer that its elements are computed in. */
struct lower_pair {
    const char *queue, *wide;
};

/* A buffer whose life ends in the instruction that makes another of it, element by element or else: they may have one memory. */
struct lower_split {
    const char *loaded, *made;
};

/* What a buffer was before the passes made others, and where it was made. */
struct lower_transferred {
    enum lower_buffer_kind kind;
    struct dsl_place place;
    bool staged; /* a buffer of UB that is loaded and stored */
};

/* Tensors that the queues of a position have together: each that is out has one of its events (asc-devkit docs, TQue,
 * constraints of AllocTensor). */
enum { LOWER_EVENTS = 8 };

/* Where a parameter of the kernel gets its value from. */
enum lower_source { LOWER_TENSOR, LOWER_WORKSPACE, LOWER_FIELD, LOWER_SCALAR };
struct lower_parameter {
    const char *name;
    enum lower_source source;
    const struct dsl_operand *operand; /* of TENSOR, SCALAR */
    struct dsl_expr *argument;         /* what the host function gives */
    enum dsl_type type;
    struct lower_type elements; /* of TENSOR, WORKSPACE, SCALAR */
    bool stored, read;          /* of tensors */
};

/* A buffer that is in no program: what printing the kernel puts beside the others. */
struct lower_added {
    const char *name, *memory, *purpose;
    int64_t bytes;
};

struct lowering {
    struct arena *arena;
    struct edit edit;
    struct dsl_tree *tree;
    struct dsl_program *program; /* of the tree as the pass before left it */
    const struct dsl_opdef *opdef;
    struct dsl_messages *messages;
    struct lower_parameter *parameters; /* of the kernel, in their order */
    int parameter_count;
    struct lower_buffer *buffers; /* of the kernel, in their order */
    int buffer_count, buffer_capacity;
    struct lower_transferred *loaded; /* the program's buffers before the pass `types` */
    int loaded_count;
    const char **kernel_words, **host_words; /* names in C++, by number of the symbol (emit_expr.c) */
    int64_t reserved;                        /* bytes of UB that instructions need for themselves */
    bool rounds; /* an instruction takes whole blocks or repeats: as the pass before left it */
    bool clears; /* an operation takes in elements that may have no value */
    struct lower_pair *pairs;
    int pair_count, pair_capacity;
    struct lower_split *splits;
    int split_count, split_capacity;
    const char **new_names; /* that passes have made */
    int new_name_count, new_name_capacity;
    struct lower_added added[3];
    struct dsl_explanation *explanation; /* what the passes decide and why; NULL: nobody asks */
};

/* The rows and columns of a matrix in L1 or L0C; false: they are no constants. */
bool lower_matrix(const struct lowering *lowering, const struct lower_buffer *buffer, int64_t *rows, int64_t *cols);

/* Tells what cannot be compiled; yields false. */
#define LOWER_FAIL(lowering, place, rule, remedy, ...)                                                                 \
    (dsl_complain((lowering)->messages, place, rule, remedy, __VA_ARGS__), false)

/* Records why something is as it is, where that is asked for: as dsl_explain_add. */
#define LOWER_EXPLAIN(lowering, ...)                                                                                   \
    ((lowering)->explanation ? dsl_explain_add((lowering)->explanation, __VA_ARGS__) : (void)0)

/* Reads the program's names, types and buffers, and runs the passes up to `last`. */
bool lower_run(struct lowering *lowering, enum dsl_pass last);
/* What the program says itself, before the passes; what they left (explain_program.c, explain_lowered.c). */
void explain_program(struct lowering *lowering);
void explain_lowered(struct lowering *lowering);
/* A dependence that a barrier or a flag orders; `later` waits for `earlier`, which wrote the buffer, or else read it, and reads
 * it, or else writes it. The buffer is "" where it is the room at the end of UB that Select takes, NULL: all accesses wait. */
struct explain_order {
    const char *buffer;
    const struct dsl_expr *earlier, *later;
    bool wrote, reads;
};
/* The expression that a name of the kernel stands for, where one statement assigns it, once; NULL: it is something else. */
const struct dsl_expr *explain_meaning(const struct lowering *lowering, const char *name);
/* "`vsqrt`, `duplicate`, `vdiv`": the operations of a recipe; `list` gets their names. */
const char *explain_steps(const struct lowering *lowering, const char *recipe, json_t *list);
/* The pass `sync` has put this operation in for it. */
void explain_order(struct lowering *lowering, const char *operation, const struct explain_order *order);

/* The passes. Each yields false if it has told why it cannot go on. */
bool pass_tiling(struct lowering *lowering);
bool pass_init(struct lowering *lowering);
bool pass_align(struct lowering *lowering);
bool pass_process(struct lowering *lowering);
bool pass_types(struct lowering *lowering);
bool pass_pipeline(struct lowering *lowering);
bool pass_sync(struct lowering *lowering);

/* The kernel's statements. */
static inline struct dsl_block *lower_kernel(const struct lowering *lowering)
{
    return &lowering->program->kernel->body;
}

/* Before the passes: the kernel stores the zeros of torch.zeros itself (zeros.c). */
bool lower_zeros(struct lowering *lowering);
/* Writes what the host function asks of workspace as what it was made with, and whether it changed anything; false: it is told
 * that this cannot be (workspace.c). */
bool lower_workspace(struct lowering *lowering, bool *changed);

/* Whether the kernel has an operation that reads whole blocks or repeats, where only a part of their elements has a value: then
 * every element of a buffer gets one at the beginning, and loads fill up the last block. */
bool lower_rounds(const struct lowering *lowering);
/* Buffers that printing adds: one more; the bytes of all that it has added to a memory. */
void lower_add_printed(struct lowering *lowering, struct lower_added added);
int64_t lower_added_bytes(const struct lowering *lowering, const char *memory);
/* The same of one call. */
bool lower_call_rounds(const struct dsl_expr *call);
/* What a tensor of the buffer is a multiple of: bytes, and elements in a combination of types. */
int64_t lower_unit_bytes(const struct lowering *lowering, const struct lower_buffer *buffer);
int64_t lower_unit_elements(const struct lowering *lowering, const struct lower_buffer *buffer, int combination);
/* Whether UB has memory for the buffer alone in a combination: it lies in no queue's tensor and in no other buffer. */
bool lower_has_memory(const struct lowering *lowering, const struct lower_buffer *buffer, int combination);
/* The buffer whose memory it lies in: itself, or another. */
const struct lower_buffer *lower_memory_of(const struct lowering *lowering, const struct lower_buffer *buffer);
/* Bytes of one tensor of the buffer in a combination; -1: its size is known to the tiling function alone. */
int64_t lower_bytes(const struct lowering *lowering, const struct lower_buffer *buffer, int combination);
/* The most elements that the tiling function can make of the buffer's size; -1: nothing bounds it (bounds.c). */
int64_t lower_most_elements(struct lowering *lowering, const struct lower_buffer *buffer);
/* Whether the launch is known to be on no more cores than run at once, on any chip. */
bool lower_cores_run_at_once(struct lowering *lowering);
/* Tensors of a queue; 1: it is none. The least that the tiling function gives it where there is no room for them. */
int64_t lower_depth(const struct lower_buffer *buffer);
int64_t lower_least_depth(const struct lower_buffer *buffer);
/* Whether the tiling function decides how many tensors queues have. */
bool lower_has_open_depths(const struct lowering *lowering);
/* Whether so many elements are known to be whole blocks of 32 bytes, in every combination. */
bool lower_whole_blocks(const struct lowering *lowering, const struct lower_type *type, const struct dsl_expr *count);
/* A buffer that lies in its queue's tensor where the types are equal. */
bool lower_lies_in_queue(const struct lowering *lowering, const struct lower_buffer *buffer, int combination);
/* NULL: none has the name. */
struct lower_buffer *lower_buffer_find(const struct lowering *lowering, const char *name);
/* The buffer that an operand is or is a piece of; NULL: it is none. */
struct lower_buffer *lower_buffer_of(const struct lowering *lowering, const struct dsl_expr *operand);
/* The queue whose elements are computed in this buffer; NULL: it is no such buffer. */
struct lower_buffer *lower_queue_of(const struct lowering *lowering, const struct lower_buffer *buffer);
struct lower_parameter *lower_parameter_find(const struct lowering *lowering, const char *name);
/* The data type that an expression of the kernel names. */
struct lower_type lower_type_of(const struct lowering *lowering, const struct dsl_expr *dtype);
/* Whether a question about data types, x.dtype == tl.int32, holds in a combination; -1: it is another question. */
int lower_type_answer(const struct lowering *lowering, const struct dsl_expr *question, int combination);
enum akgen_dtype lower_type_in(const struct lower_type *type, int combination);
bool lower_type_equal(const struct lowering *lowering, const struct lower_type *a, const struct lower_type *b);
/* The integer that the expression is, whatever the shapes; false: it is not known before the run. */
bool lower_constant(const struct lowering *lowering, const struct dsl_expr *expr, int64_t *value);
/* The expression with what variables that are assigned once stand for: parameters of the kernel and constants, where it can be
 * written so. */
struct dsl_expr *lower_resolve(struct lowering *lowering, const struct dsl_expr *expr);
/* The kernel's expression in terms of the host function: what the launch gives for its parameters. */
struct dsl_expr *lower_host_terms(struct lowering *lowering, const struct dsl_expr *expr);
/* A name that nothing in the program has, from `stem`: stem, stem_2, .. */
const char *lower_new_name(struct lowering *lowering, const char *stem);
/* A new buffer, allocated behind `after`. */
struct lower_buffer *lower_add_buffer(struct lowering *lowering, const char *operation, const char *stem,
                                      const struct lower_buffer *after, struct dsl_expr *size, struct dsl_expr *dtype);
/* The elements of a tensor that an address lies in: the parameter; NULL: it is none. */
struct lower_parameter *lower_tensor_of(const struct lowering *lowering, const struct dsl_expr *address);

/* How an instruction uses an operand (lifetime.c): by a row of an operation table. */
enum lower_use { LOWER_READ = 1, LOWER_WRITE = 2 };
/* Calls visit for each operand of the call that is a buffer. */
void lower_visit_operands(struct dsl_expr *call, void (*visit)(void *closure, struct dsl_expr *operand, unsigned use),
                          void *closure);
/* How the call uses the buffer: bits of enum lower_use. */
unsigned lower_use_of(const struct dsl_expr *call, const char *buffer);

/* How much of a buffer an operation writes or moves from the operand's beginning on: a number of elements, or a matrix. */
struct lower_extent {
    struct dsl_expr *count, *rows, *cols, *pitch;
};
struct lower_extent lower_extent_of(const struct dsl_expr *call);
/* Whether what was written holds what is read. */
bool lower_covers(const struct lowering *lowering, const struct lower_extent *written, const struct lower_extent *read);
/* The value of a name that one statement of the kernel assigns, wherever it stands; counts the assignments. */
const struct dsl_expr *lower_value_of(const struct dsl_block *block, const char *name, int *assignments);
/* Finds buffers of UB whose lives do not meet, and lays them into each other: their `of`; then writes that into the program, the
 * allocation behind its owner's (share.c). */
void share_buffers(struct lowering *lowering);
void share_place(struct lowering *lowering);

/* Whether all that the statements read of the buffer has been written by the call. */
bool share_covers(const struct lowering *lowering, const struct lower_buffer *buffer,
                  const struct dsl_block *statements, const struct dsl_expr *call);
/* Makes two buffers of one of UB that is loaded, computed in place and stored, where both can be tensors of queues; is_queue says
 * so of a buffer whose kind is what it would be. False: it stays one (split.c). */
bool split_buffer(struct lowering *lowering, const char *name,
                  bool (*is_queue)(struct lowering *lowering, const struct lower_buffer *buffer));

/* How many elements of a buffer a transfer moves, gaps between rows included. */
struct dsl_expr *transfer_elements(struct edit *edit, struct dsl_expr *transfer);

/* A queue's tensor is taken, used and given back within one block; what stands where in that block. */
bool lifetime_is_clean(struct lowering *lowering, const struct lower_buffer *buffer);
/* A buffer of this type with as many elements as the operand's, one for all that ask for the same (pass_process.c). */
struct dsl_expr *process_room(struct lowering *lowering, const struct dsl_expr *like, const char *type, char which);
/* The same of eight bytes for each element, which tl.cast needs between some types. */
struct dsl_expr *process_bytes(struct lowering *lowering, const struct dsl_expr *like);
/* Room for the words of int64: a chunk of elements is computed at a time (emit_int64.c), in so many times its words. */
enum { LOWER_INT64_CHUNK = 512, LOWER_INT64_PLANES = 10 };
struct dsl_expr *process_words(struct lowering *lowering, const struct dsl_expr *like);
/* Appends the steps of a recipe for the call to the block (pass_process.c). */
void process_steps(struct lowering *lowering, const struct dsl_expr *call, const char *recipe, struct dsl_block *block);
/* Puts the steps of the queue around the uses of a buffer whose lifetime is clean. */
void lifetime_place(struct lowering *lowering, const struct lower_buffer *buffer);

#endif
