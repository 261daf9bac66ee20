/* Does akgen-read's part of a job, by the functions that read our own texts in the process at hand. */
#include "candidate/program.h"
#include "candidate/reader_internal.h"

static void review(struct arena *arena, const struct reader_job *job, const struct task *task,
                   struct reader_review *review)
{
    const struct candidate_program program = {.text = job->text, .length = job->length};
    struct dsl_messages messages;
    struct akgen_error *error = candidate_program_review(arena, &program, task, job->asked.only_case, &messages);
    *review = (struct reader_review){.done = !error, .kept = messages.kept, .count = messages.count};
    review->items = arena_copy(arena, messages.items, sizeof messages.items);
    error_free(error);
}

void reader_do(struct arena *arena, const struct reader_job *job, struct reader_result *result)
{
    struct task task;
    *result = (struct reader_result){.answer.kind = ANSWER_IS_PROJECT};
    if (job->work == READER_WRAPPER) {
        struct op_response response;
        reader_give_strings(&job->strings, &response);
        op_wrapper_read(arena, &response, &job->def, &result->wrapper);
        return;
    }
    struct akgen_error *error = task_of_texts(arena, job->dir, job->yaml, job->table, &task);
    struct candidate *candidate = job->work == READER_CANDIDATE ? &result->candidate : NULL;
    if (job->work == READER_TASK) {
        error_free(error); /* which akgen finds again */
        return;
    }
    if (job->work == READER_REVIEW && !error) {
        review(arena, job, &task, &result->review);
        return;
    }
    if (error) { /* it was read before, of the same texts */
        result->answer = (struct answer){.kind = ANSWER_IS_NOTHING, .problem = error->message, .language = EVAL_ANY};
        candidate_refuse(arena, AKGEN_VERDICT_INFRA_ERROR, error->message, &result->candidate);
    } else {
        answer_read_file(arena, job->name, job->text, job->length, &task, &job->asked, &result->answer, candidate);
    }
    if (result->candidate.refusal)
        result->refusal = *result->candidate.refusal;
    if (result->candidate.response)
        reader_take_strings(result->candidate.response, &result->strings);
    if (result->candidate.map)
        result->map = *result->candidate.map;
}
