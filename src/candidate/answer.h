/* What a model answered, read: which files it holds, and the candidate that they are. */
#ifndef CANDIDATE_ANSWER_H
#define CANDIDATE_ANSWER_H

#include "dsl/message.h"
#include "eval/eval.h"
#include "gen/prompt.h"

enum gen_answer_kind {
    GEN_ANSWER_PROJECT,  /* files of an operator project; of one of scope kernel the kernel alone */
    GEN_ANSWER_RESPONSE, /* MultiKernelBench's six strings: one file, answer.txt */
    GEN_ANSWER_PROGRAM,  /* a program in AscendDSL: one file, program.py */
    GEN_ANSWER_FORMULAS, /* statements that the planner makes a program of (task_with_formulas): one file, formulas.txt */
    GEN_ANSWER_NONE,     /* nothing could be read: `problem` */
};
struct gen_answer_file {
    const char *path; /* in a project, "op_kernel/sqrt.cpp" */
    const char *text;
};
struct gen_answer {
    enum gen_answer_kind kind;
    const struct gen_answer_file *files; /* by path */
    int count;
    const char *problem;         /* of GEN_ANSWER_NONE: why, in a line */
    const char *thinking;        /* what stood in <think> and the like before the answer; NULL: nothing did */
    bool untouched;              /* of GEN_ANSWER_RESPONSE: the text is the answer's, byte for byte */
    enum eval_language language; /* that it is in; EVAL_ANY: nothing could be read */
};
/* Reads the text of an answer for a task; docs/answers.md says which forms it may have. Never fails. An answer in another language
 * than `asked` is GEN_ANSWER_NONE. */
void gen_answer_read(struct arena *arena, const char *text, size_t length, const struct task *task,
                     enum eval_scope scope, enum eval_language asked, struct gen_answer *answer);
/* Takes away what stands in <think> and the like (line ends stay) and returns it, or NULL. `open`: the
 * line in which thinking begins that does not end; 0. */
const char *answer_take_thinking(struct arena *arena, char *text, int *open);
/* Turns an answer in another language than `asked` into GEN_ANSWER_NONE. */
void gen_answer_hold(struct arena *arena, struct gen_answer *answer, enum eval_language asked);

/* What there is to evaluate: a candidate for eval_run, or a verdict without one. */
struct gen_candidate {
    const char *dir; /* a project's folder or a file with an answer; NULL: `refusal` is not */
    const struct eval_refusal *refusal;
    const char *program;         /* the program in AscendDSL that it was compiled of; NULL */
    enum eval_language language; /* of the answer; EVAL_ANY: unknown */
};
/* Writes what was read to a folder of the cache that is named after its content, programs compiled (a program that the
 * checker or the compiler refuses is a compile_error with its messages as diagnostics). An error is AKGen's own. */
struct akgen_error *gen_answer_keep(struct arena *arena, const struct gen_answer *answer, const struct task *task,
                                    const struct eval_options *options, struct gen_candidate *candidate);
/* The same for an answer in a file, as eval_options.read_answer wants it: the files go to `dir`. */
struct akgen_error *gen_answer_unpack(struct arena *arena, const char *text, size_t length, const struct task *task,
                                      const struct eval_options *options, const char *dir,
                                      struct eval_answer *unpacked);

/* The paper's class of what a rule of AscendDSL demands: that of the diagnostic which a program that breaks it gets. */
enum diagnostic_class gen_answer_class(enum dsl_rule rule);

#endif
