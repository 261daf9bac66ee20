/* Answers are read in a process of their own, akgen-read, which has the candidate's limits of time and memory, sees no file and can reach
 * nothing: what a text does to its reader is the candidate's doing. akgen sends it the text and the task and gets back the files,
 * messages and refusals that came of them, as a message whose every number, length and path is checked (reader.def).
 *
 * akgen-read is started with the first answer and copies itself for each (jail/copy.h): a copy costs a fraction of a millisecond. */
#ifndef CANDIDATE_READER_H
#define CANDIDATE_READER_H

#include "candidate/answer.h"
#include "jail/budget.h"

/* Reads the text of an answer that came as a file of this name ("": it had none), and makes the candidate that it is. `candidate` may be
 * NULL: then the form is all that is asked for. Never fails: an answer that could not be read is ANSWER_IS_NOTHING, and the candidate's
 * refusal says whose doing that was: a crash, and too much time or memory for one answer, are a compile_error, the end of the candidate's
 * time (`asked->seconds`) is a timeout, and what this machine lacks is an infra_error. */
void candidate_read_answer(struct arena *arena, const char *name, const char *text, size_t length,
                           const struct task *task, const struct candidate_asked *asked, struct answer *answer,
                           struct candidate *candidate);
/* op_wrapper_read, likewise; charged to the budget, which may be NULL. Returns NULL, or why the wrapper could not be read. */
const struct candidate_refusal *candidate_read_wrapper(struct arena *arena, const struct op_response *response,
                                                       const struct op_def *def, struct budget *budget,
                                                       struct op_wrapper *wrapper);
/* candidate_program_review of an answer's program, likewise; the messages have the arena. False: it was not reviewed, for whatever reason. */
bool candidate_read_review(struct arena *arena, const char *program, size_t length, const struct task *task,
                           const struct candidate_asked *asked, struct dsl_messages *messages);
/* An error if the texts of a stranger's task take too much time or memory to be read, or crash what reads them. What is wrong with them
 * otherwise task_of_texts says. */
struct akgen_error *candidate_try_task(const char *dir, const char *yaml, const char *cases);
/* Ends akgen-read; the next answer starts it again. */
void candidate_end_reader(void);

/* Limits of one reading besides the candidate's own. A test sets others than the usual ones, and zeros bring these back. */
struct reader_limits {
    double seconds;
    uint64_t memory; /* bytes of address space, akgen-read's own among them; a sanitized build has no limit */
};
void candidate_limit_reader(struct reader_limits limits);

#endif
