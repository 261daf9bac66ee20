/* What a program does with the parameters of its host function, as far as its text shows it. */
#ifndef DSL_USAGE_H
#define DSL_USAGE_H

#include "dsl/program.h"

struct dsl_usage {
    enum dsl_type type;
    bool missing;           /* it may be left out: its default is None */
    bool loaded, stored;    /* of a tensor: by the kernel */
    bool written;           /* it is stored, and not only added to */
    enum akgen_dtype dtype; /* of the buffer that it is loaded into or stored from, if that is written there; or NONE */
};
/* One for each parameter of the host function, in the arena. */
struct dsl_usage *dsl_usage_of(struct arena *arena, const struct dsl_program *program);
/* The number of the host function's parameter that a name of the function means; -1: none. In the kernel the launch says. */
int dsl_usage_parameter(const struct dsl_program *program, const char *name, bool kernel);
/* The data type that a buffer of the kernel is made with, if it is written there; NONE: another. */
enum akgen_dtype dsl_usage_buffer_type(const struct dsl_program *program, const char *buffer);
/* Whether the kernel's cores wait for each other: it has a tl.sync_all(), or workspace of zeros, behind which they wait. All of
 * them run at once then. */
bool dsl_usage_waits(const struct dsl_program *program);
/* Whether the kernel has tiles of L1 or L0C, so that its cores are the cube's. */
bool dsl_usage_cube(const struct dsl_program *program);

#endif
