/* What the parts of the interpreter share: interpret.c has statements and cores, evaluate.c expressions, execute.c the
 * operations. */
#ifndef DSL_INTERPRET_INTERNAL_H
#define DSL_INTERPRET_INTERNAL_H

#include "dsl/check.h"
#include "dsl/values.h"

#include <pthread.h>
#include <stdio.h>

struct machine {
    struct arena *arena;
    const struct dsl_program *program;
    struct dsl_run *run;
    struct dsl_messages *messages;
    struct value *constants; /* of the file, by number of the symbol */
    struct dsl_memory **memories;
    int memory_count, memory_capacity;
    int64_t turns; /* of loops */
    bool launched, stopped;
    pthread_mutex_t lock;
    pthread_cond_t turn;
    struct core *running; /* the core whose turn it is */
};

struct core { /* or the host */
    struct machine *machine;
    const struct dsl_scope *names;
    struct value *variables; /* by number of the symbol */
    int number;              /* -1: the host */
    struct arena arena;      /* its values */
    int64_t used[3];         /* bytes of buffers in UB, L1 and L0C */
    bool failed, ended, waits;
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
/* `elements` zeroed elements of workspace or of a buffer. */
bool memory_new(struct core *core, struct dsl_place place, enum akgen_dtype type, int64_t elements,
                struct dsl_memory **memory);

/* interpret.c. */
bool core_sync_all(struct core *core, struct dsl_place place);
bool machine_run_cores(struct machine *machine, struct core *cores, int count);

#endif
