/* What the parts of the interpreter share: interpret.c has statements and cores, evaluate.c expressions, execute*.c the
 * operations. */
#ifndef DSL_INTERPRET_INTERNAL_H
#define DSL_INTERPRET_INTERNAL_H

#include "dsl/check.h"
#include "dsl/values.h"

#include <semaphore.h>
#include <stdio.h>

struct machine {
    struct arena *arena;
    const struct dsl_program *program;
    struct dsl_run *run;
    struct dsl_messages *messages;
    struct value *constants; /* of the file, by number of the symbol */
    struct dsl_memory **memories;
    int memory_count, memory_capacity;
    int64_t turns;           /* of loops */
    uint64_t approximations; /* how many there were */
    bool launched, stopped;
    sem_t over; /* the turn of a core with a thread */
};

struct core { /* or the host */
    struct machine *machine;
    const struct dsl_scope *names;
    struct value *variables; /* by number of the symbol */
    int number;              /* -1: the host */
    struct arena arena;      /* its values */
    int64_t used[3];         /* bytes of buffers in UB, L1 and L0C */
    bool failed, ended, waits;
    sem_t turn; /* of a core with a thread: it runs */
    int unknowns; /* values that were unknown and were read */
    struct dsl_place waits_at;
};

/* Tells once per core what went wrong. */
void core_tell(struct core *core, struct dsl_place place, enum dsl_rule rule, const char *remedy, const char *format,
               ...) __attribute__((format(printf, 5, 6)));
/* The same, and false. */
#define CORE_FAIL(...) (core_tell(__VA_ARGS__), false)

/* evaluate.c. Each is false if it failed, which was told. */
bool core_value(struct core *core, const struct dsl_expr *expr, struct value *value);
struct value value_of_integer(int64_t integer);
struct value value_of_real(const struct core *core, double real);
struct value value_as_real(struct value value);
struct value value_of_json(struct arena *arena, const json_t *json);
bool value_is_true(struct value value);
/* The value of what a parameter of the host function of this name is given: a tensor, a list of them, a number. */
struct value machine_argument(struct machine *machine, const struct dsl_argument *argument, const char *name);
/* The constants of the file. */
bool machine_constants(struct machine *machine, struct core *host);

/* execute.c. A call of an operation; what it yields. */
bool core_execute(struct core *core, const struct dsl_expr *call, struct value *result);
bool core_launch(struct core *host, const struct dsl_expr *launch);

/* execute_memory.c. Each that returns bool is false if it failed, which was told. */
/* `elements` zeroed elements of workspace or of a buffer. */
bool memory_new(struct core *core, struct dsl_place place, enum akgen_dtype type, int64_t elements,
                struct dsl_memory **memory);
/* The argument of the call of this name; None if it is left out. */
bool call_value(struct core *core, const struct dsl_expr *call, const char *name, struct value *value);
/* One that is a buffer, a tensor or a place in one, as the checker has seen to. */
bool call_memory(struct core *core, const struct dsl_expr *call, const char *name, struct value *value);
/* count=, or `instead` if it is left out. */
bool call_count(struct core *core, const struct dsl_expr *call, int64_t instead, int64_t *count);
bool memory_is_real(const struct dsl_memory *memory);
bool memory_has_type(struct core *core, const struct dsl_expr *call, const struct dsl_memory *memory,
                     enum akgen_dtype type);
/* Whether elements first .. first + n - 1 exist. */
bool memory_holds(struct core *core, const struct dsl_expr *call, const struct dsl_memory *memory, int64_t first,
                  int64_t n);
/* Whether elements of global memory can become those of a buffer by a load, or the other way by a store. */
bool memory_converts(struct core *core, const struct dsl_expr *call, const struct dsl_memory *gm,
                     const struct dsl_memory *ub);
/* from + n * step; false, and told, if that has no 64 bits. */
bool core_offset(struct core *core, const struct dsl_expr *call, int64_t from, int64_t n, int64_t step, int64_t *place);

/* An element of a buffer or of global memory, in double and as an integer. */
struct element {
    double real;
    int64_t integer;
};
/* Element number `at`, which exists. */
bool element_read(struct core *core, const struct dsl_expr *call, const struct dsl_memory *memory, int64_t at,
                  struct element *element);
bool element_write(struct core *core, const struct dsl_expr *call, struct dsl_memory *memory, int64_t at,
                   struct element element);
/* Adds to an element of global memory, as other cores may in the same phase. */
bool element_add(struct core *core, const struct dsl_expr *call, struct dsl_memory *memory, int64_t at,
                 struct element by);
/* A number as an element of the memory's data type. */
bool element_of(struct core *core, const struct dsl_expr *call, const struct dsl_memory *memory, struct value value,
                struct element *element);

/* A run of elements of one memory, by whether it is real. */
enum { ELEMENTS_RUN = 256 };
struct elements {
    union {
        double real[ELEMENTS_RUN];
        int64_t integer[ELEMENTS_RUN];
    };
};
/* n elements from `first` on, which exist; elements_of: those of a buffer that have no value, too. */
bool elements_read(struct core *core, const struct dsl_expr *call, const struct dsl_memory *memory, int64_t first,
                   int n, struct elements *elements);
void elements_of(const struct dsl_memory *memory, int64_t first, int n, struct elements *elements);
bool elements_write(struct core *core, const struct dsl_expr *call, struct dsl_memory *memory, int64_t first, int n,
                    const struct elements *elements);

/* approximate.c. A value of a data type that a chip computes a few units off: itself, or moved (dsl_run.nudge). */
double machine_approximation(struct machine *machine, enum akgen_dtype type, double value);
/* How far a sum in float32 is off whose terms have this root of the sum of their squares: 0, or a move. */
double machine_approximation_of_sum(struct machine *machine, double size);
/* The same of functions whose error does not shrink with the result, and of those whose series are coarse as well. */
double machine_steady_approximation(struct machine *machine, enum akgen_dtype type, double value);
double machine_coarse_approximation(struct machine *machine, enum akgen_dtype type, double value);
/* The same of powers, exp(b * ln a): what the exponent is off, the power is off many times. */
double machine_power_approximation(struct machine *machine, enum akgen_dtype type, double value);

/* execute_copies.c. */
bool execute_load(struct core *core, const struct dsl_expr *call);
bool execute_store(struct core *core, const struct dsl_expr *call);
bool execute_store_add(struct core *core, const struct dsl_expr *call);

/* execute_elements.c. */
/* What an operation computes of one element of each operand: a row of lanes.def. */
enum {
    LANE_REAL = 1,
    LANE_INTEGER = 2,
    LANE_TRUTH = 4,
    LANE_COMPARE = 8,
    LANE_APPROXIMATE = 16,
    LANE_COARSE = 48,
    LANE_POWER = 80,
    LANE_STEADY = 144
};
struct lane {
    const char *name;
    unsigned
        kinds; /* of what it computes; COMPARE: the result is a truth value; APPROXIMATE: a chip rounds it otherwise; COARSE: and far off */
    double (*real)(double a, double b);
    int64_t (*integer)(int64_t a, int64_t b);
};
/* That of tl.NAME; NULL: it is none of these operations. */
const struct lane *lane_find(const char *name);
/* Whether it computes what the memory holds. */
bool lane_takes(const struct lane *lane, const struct dsl_memory *memory);
struct element lane_result(const struct lane *lane, struct element a, struct element b);
bool execute_lane(struct core *core, const struct dsl_expr *call, const struct lane *lane);
bool execute_multiply_add(struct core *core, const struct dsl_expr *call);
bool execute_select(struct core *core, const struct dsl_expr *call);
bool execute_cast(struct core *core, const struct dsl_expr *call);
bool execute_iota(struct core *core, const struct dsl_expr *call);

/* execute_tiles.c. Whether the call is one of the cube's; `good`: it could be done. */
bool core_execute_tiles(struct core *core, const struct dsl_expr *call, bool *good);
/* execute_rows.c. Whether the call is one of rows and columns or a sort; `good`: it could be done. */
bool core_execute_rows(struct core *core, const struct dsl_expr *call, bool *good);

/* tally.c: what is done in a run that counts. */
void tally_turn(struct core *core, const struct dsl_statement *loop);
/* The host function's integers when it launches the kernel. */
void tally_launch(struct core *host);
/* Whether the call is one that is counted, or skipped, instead of done; `good`: it could be. */
bool tally_call(struct core *core, const struct dsl_expr *call, struct value *result, bool *good);
/* Whether a value that decides what is done next is known; told if not. */
bool tally_decides(struct core *core, struct dsl_place place, const struct value *value);

/* interpret.c. */
bool core_sync_all(struct core *core, struct dsl_place place);
bool machine_run_cores(struct machine *machine, struct core *cores, int count);

#endif
