/* What a model answered, read: which files it holds, and the candidate that they are. */
#ifndef CANDIDATE_ANSWER_H
#define CANDIDATE_ANSWER_H

#include "candidate/candidate.h"
#include "dsl/message.h"

enum answer_kind {
    ANSWER_IS_PROJECT,  /* files of an operator project; of one of scope kernel the kernel alone */
    ANSWER_IS_STRINGS,  /* MultiKernelBench's six strings: one file, answer.txt */
    ANSWER_IS_PROGRAM,  /* a program in AscendDSL: one file, program.py */
    ANSWER_IS_FORMULAS, /* statements that the planner makes a program of (task_with_formulas): one file, formulas.txt */
    ANSWER_IS_NOTHING,  /* nothing could be read: `problem` */
};
struct answer {
    enum answer_kind kind;
    const struct op_file *files; /* by path; text without a byte 0 */
    int count;
    const char *problem;         /* of ANSWER_IS_NOTHING: why, in a line */
    const char *thinking;        /* what stood in <think> and the like before the answer; NULL: nothing did */
    enum eval_language language; /* that it is in; EVAL_ANY: nothing could be read */
};
/* Reads the text of an answer for a task, in the process at hand: a stranger's is read by candidate_read_answer (reader.h).
 * docs/answers.md says which forms it may have. Never fails. An answer in another language
 * than `asked` is ANSWER_IS_NOTHING. */
void answer_read(struct arena *arena, const char *text, size_t length, const struct task *task, enum eval_scope scope,
                 enum eval_language asked, struct answer *answer);
/* Takes away what stands in <think> and the like (line ends stay) and returns it, or NULL. `open`: the
 * line in which thinking begins that does not end; 0. */
const char *answer_take_thinking(struct arena *arena, char *text, int *open);
/* Turns an answer in another language than `asked` into ANSWER_IS_NOTHING. */
void answer_hold(struct arena *arena, struct answer *answer, enum eval_language asked);

/* Makes the candidate that an answer is: programs are compiled for the task, formulas planned. A program that the checker or the
 * compiler refuses is a compile_error with its messages as diagnostics. `name`: of the file that the answer was in; "". */
void candidate_of_answer(struct arena *arena, const struct answer *answer, const char *name, const struct task *task,
                         int only_case, struct candidate *candidate);

/* Both for the text of a file of this name ("": it had none). `candidate` may be NULL. */
void answer_read_file(struct arena *arena, const char *name, const char *text, size_t length, const struct task *task,
                      const struct candidate_asked *asked, struct answer *answer, struct candidate *candidate);

/* The paper's class of what a rule of AscendDSL demands: that of the diagnostic which a program that breaks it gets. */
enum diagnostic_class answer_class(enum dsl_rule rule);

#endif
