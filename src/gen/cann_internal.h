/* Inside src/gen: what the parts of an exported project share: cann.c (the folder), cann_case.c (a case's files) and cann_call.c
 * (the program that calls the operator). */
#ifndef GEN_CANN_INTERNAL_H
#define GEN_CANN_INTERNAL_H

#include "base/text.h"
#include "gen/cann.h"

struct cann {
    struct arena *arena;
    const struct task *task;
    const struct verdict *verdict;
    const struct gen_cann_options *options;
    struct text program; /* the functions of test/main.cpp, a case each */
    struct text calls;   /* what its main says of them */
    struct text lacking; /* names of the cases that are left out */
    json_t *cases;       /* of cases.json */
    struct gen_cann *written;
};

/* The name of an input or an output in files and in the program: "in0_x". */
const char *cann_name(struct arena *arena, const char *side, int index, const char *name);
/* The input whose memory an output is: of the same name, or the one that the task says, if the OpDef declares no such output or it is
 * another name for it; -1: none. */
int cann_memory_of(const struct cann *cann, int output);
/* True if aclnn has a parameter for the output: the OpDef declares it, under a name that no input has. */
bool cann_is_parameter(const struct cann *cann, int output);

/* What the files of a case have together, about; its shapes are enough. */
uint64_t cann_case_bytes(const struct task_instance *instance);
/* Writes the files of a case and adds it to cases.json and to the program. */
struct akgen_error *cann_add_case(struct cann *cann, const struct task_instance *instance);
/* Adds the function that calls the operator in that case to the program. */
struct akgen_error *cann_add_call(struct cann *cann, const struct task_instance *instance);

#endif
