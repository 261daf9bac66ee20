/* Inside the printing of a plan: the kernel's lines and buffers (plan_print.c), the values that a pass computes
 * (plan_values.c). */
#ifndef DSL_PLAN_PRINT_H
#define DSL_PLAN_PRINT_H

#include "dsl/plan.h"

/* Buffers by what they hold: a tile of the matrix, a row, a column, a number, a tile that stands on its side, a number of each
 * strip of a row, of each share. */
enum plan_shape { PLAN_TILE, PLAN_ROW, PLAN_COLUMN, PLAN_ONE, PLAN_TURNED, PLAN_STRIP, PLAN_SHARE, PLAN_SHAPES };
struct plan_buffer {
    const char *name;
    enum plan_shape shape;
    bool truth, taken;
    bool own;         /* of one input, output or sum alone */
    const char *type; /* "tl.float32" */
};
struct printer {
    struct plan *plan;
    const struct plan_schedule *schedule;
    struct text body; /* of the kernel */
    int indent;
    const char *stage, *guard; /* that is open, NULL: none */
    struct plan_buffer *buffers;
    int buffer_count, buffer_capacity;
    const struct plan_pass *pass; /* that is printed */
    int pass_number, phase;
    int whole_number; /* of the numbers that all cores have computed together */
    int strip_number; /* of the sums of rows that cores have computed together */
    bool rows_used, part_used;
    bool *widths_used;
    int transfers, copies; /* buffers that are loaded or stored; that keep what was loaded */
};

/* A line of a stage, "copyin", "compute", "copyout", or of none, NULL. */
void print_line(struct printer *p, const char *stage, const char *format, ...) __attribute__((format(printf, 3, 4)));
/* What follows stands behind `if guard:`, NULL: behind none. */
void print_guard(struct printer *p, const char *guard);
/* Closes stage and guard. */
void print_close(struct printer *p);
/* A number's text: names of widths in the place of their indices. */
const char *print_number(struct printer *p, const char *text);
/* The name of a width, and what belongs to it: "cols", "piece", "pitch". */
const char *print_width(struct printer *p, const char *what, int width);

/* A buffer that nobody needs now. */
const char *print_take(struct printer *p, enum plan_shape shape, bool truth);
void print_give_back(struct printer *p, const char *name);
/* A buffer that keeps its name and what it holds. */
const char *print_own(struct printer *p, const char *name, enum plan_shape shape);
enum plan_shape print_shape_of(const struct plan_value *value);
/* One of the data type of an input, for steps that round to it. */
const char *print_typed(struct printer *p, int input, enum plan_shape shape);

/* plan_values.c */
/* Elements that a step of this shape works on: "n * pitch". */
const char *print_count(struct printer *p, enum plan_shape shape);
/* A value as the operand of what has `axes`: a buffer or a number. */
const char *print_operand(struct printer *p, struct plan_value *value, int axes);
/* Numbers of columns or rows, into a buffer. */
void print_place(struct printer *p, struct plan_value *value);
/* Computes a call into its buffer, which it takes if it has none. */
void print_call(struct printer *p, struct plan_value *value);
/* The value has been read once more, by what has `axes`; its buffer is free when nobody waits for it. */
void print_read(struct printer *p, struct plan_value *value, int axes);

/* plan_print.c */
/* The buffer that an output is stored from. One of an integer type is made first, of what is computed. */
const char *print_stored(struct printer *p, int output);
/* What a pass does with a piece. */
void print_piece(struct printer *p);
/* The phase's passes, each printed by `print` behind what is made of columns, or of the rows that a unit keeps, for it; then what is
 * left to make of those. */
void print_passes(struct printer *p, void (*print)(struct printer *));
/* Running sums at the beginning of a pass; the buffer with what is carried along. */
void print_carries(struct printer *p, const struct plan_pass *pass);
const char *print_carry_of(struct printer *p, const struct plan_value *scan);

/* plan_sums.c */
/* The words of what goes along an axis of the matrix, of tl.row_sum along columns. */
struct print_direction {
    const char *along, *along_count; /* "row", "m": of tl.row_sum, how many elements of each row are there */
    const char *kept, *kept_count;   /* "col", "n": of tl.vadd_col, how many rows */
    const char *before;              /* how many elements of each row were there before */
    enum plan_shape shape;           /* of what is kept */
};
struct print_direction print_direction_of(const struct printer *p);
/* The sums of rows that a pass adds up, at their beginning. */
void print_starts(struct printer *p, const struct plan_pass *pass);
/* Takes a piece of `terms` into what the pass sums up of them. */
void print_reduces_of(struct printer *p, const struct plan_value *terms);
/* Where a row has several strips: stores what the pass's sums are of one; takes those of all strips together. */
void print_strip_stores(struct printer *p);
void print_strips(struct printer *p);
/* Sums over whole rows become means, where they are such. */
void print_means(struct printer *p);
/* How many sums strips have. */
int print_strip_count(const struct plan_schedule *schedule);
/* What the phase takes of all, in a share: its beginning, a column of this level that belongs to it, and the share's part,
 * which is stored. */
void print_whole_starts(struct printer *p);
void print_whole_column(struct printer *p, int level);
void print_whole_shares(struct printer *p);
/* The parts of all shares taken together. */
void print_wholes(struct printer *p);

/* plan_units.c: where the plan is one of units */
/* The loop over a core's units, in a phase. */
void print_units(struct printer *p);
/* What print_piece does otherwise: transfers, running sums; the condition that a block comes in pieces. */
void print_unit_load(struct printer *p, const struct plan_value *value, const char *buffer);
void print_unit_store(struct printer *p, int output, const char *buffer);
void print_unit_scan(struct printer *p, struct plan_value *scan);
const char *print_unit_pieces(const struct printer *p);
/* The numbers of the kernel, its comment, and the sizes in the host function, what refuses other shapes, and blocks. */
void print_unit_measures(const struct printer *p, struct text *out);
void print_unit_comment(const struct printer *p, struct text *out);
void print_unit_sizes(const struct printer *p, struct text *out);

/* plan_host.c */
/* The pitch of rows of a buffer. */
const char *print_pitch_of(const struct plan *plan, const char *cols);
enum { PLAN_SHARES = 240, PLAN_CORES = 48, PLAN_STRIPS = 48, PLAN_LONG = 16384 };
/* The numbers that the kernel gets from the host function besides. */
void print_measures(struct printer *p, struct text *out);
/* How many numbers all cores compute together. */
int print_whole_count(const struct plan *plan);
/* The host function's lines. */
void print_host(struct printer *p, struct text *out);
int print_tile_size(const struct printer *p);
/* An output that is a tensor of this size is checked, or one in workspace made. */
void print_output_check(const struct printer *p, struct text *out, int output, const char *elements);

#endif
