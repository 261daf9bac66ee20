/* Why a program's project is as it is: short statements, each with the line of the program that it is about and the facts that
 * it says. The passes record what they decide while they decide it; what follows from the program as it was written, and from
 * what the passes left, is read off there (explain_program.c, explain_lowered.c). docs/dsl.md has the JSON. */
#ifndef DSL_EXPLAIN_H
#define DSL_EXPLAIN_H

#include "base/text.h"
#include "dsl/bind.h"
#include "dsl/opdef.h"

/* X(VALUE, name, what its statements are about) */
#define DSL_SUBJECTS(X)                                                                                                \
    X(DSL_ABOUT_PARTITION, "partition", "how many cores run, and what each of them takes")                             \
    X(DSL_ABOUT_TILING, "tiling", "the tiles, what they bound, and the loops that take them")                          \
    X(DSL_ABOUT_BUDGET, "budget", "what each buffer needs of UB, L1, L0A, L0B and L0C, and why it has its tensors")    \
    X(DSL_ABOUT_PADDING, "padding", "how many elements transfers move and operations compute, and what is rounded up") \
    X(DSL_ABOUT_TYPES, "types", "where data types are converted, and how they are rounded")                            \
    X(DSL_ABOUT_ORDER, "order", "what each barrier and flag orders, and what queues order")                            \
    X(DSL_ABOUT_PHASES, "phases", "what tl.sync_all() stands between")
enum dsl_subject {
#define SUBJECT(value, name, about) value,
    DSL_SUBJECTS(SUBJECT)
#undef SUBJECT
        DSL_SUBJECTS_COUNT
};
const char *dsl_subject_name(enum dsl_subject subject);

struct dsl_reason {
    enum dsl_subject subject;
    int line;         /* of the program; 0: of none */
    const char *kind; /* which facts it has, as docs/dsl.md lists them */
    const char *sentence;
    json_t *facts; /* an object, the explanation's */
};
/* Zero-initialise but for the arena, which has to live as long. */
struct dsl_explanation {
    struct arena *arena;
    struct dsl_reason *items;
    int count, capacity;
};

/* Adds a statement; `facts` are the explanation's from then on. */
void dsl_explain_add(struct dsl_explanation *explanation, enum dsl_subject subject, const char *kind,
                     struct dsl_place place, json_t *facts, const char *format, ...)
    __attribute__((format(printf, 6, 7)));

/* Compiles the program as dsl_lower() does, and says why it became what it became. The tree is used up. False: `messages` say
 * why there is no project. */
bool dsl_explain(struct arena *arena, struct dsl_tree *tree, const struct dsl_opdef *opdef,
                 struct dsl_explanation *explanation, struct dsl_messages *messages);

/* Says what the program does in a case, of which the shapes are enough (task_instance_shapes): cores, turns of loops, elements that
 * move. `project`: what dsl_explain() said of it, which has the budget. The program is one that no pass has changed. */
void dsl_explain_case(const struct dsl_program *program, const struct dsl_binding *bindings,
                      const struct dsl_opdef *opdef, const struct task_instance *instance, const struct npu_soc *soc,
                      const struct dsl_explanation *project, struct dsl_explanation *explanation);

/* The statements by subject, in the order of the subjects; those of one by line. Lines of "  LINE  SENTENCE". */
void dsl_explanation_print(const struct dsl_explanation *explanation, struct text *text);
/* [{"subject", "kind", "line", "sentence", "facts"}] in the same order; the caller owns it. */
json_t *dsl_explanation_json(const struct dsl_explanation *explanation);
void dsl_explanation_free(struct dsl_explanation *explanation);

#endif
