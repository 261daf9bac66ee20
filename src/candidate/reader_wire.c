/* The messages between akgen and akgen-read, and what of a result no field tells by itself. */
#include "candidate/folder.h"
#include "candidate/reader_internal.h"
#include "jail/wire_table.h"

#include <string.h>

#define def_record wire_op_def
#include "candidate/reader.def"
#undef def_record

enum { MESSAGE_JOB, MESSAGE_RESULT };
static const struct wire_record *const records[] = {[MESSAGE_JOB] = &job_record, [MESSAGE_RESULT] = &result_record};
static const struct wire_messages of_reader = {records, sizeof records / sizeof *records};

void *reader_encode_job(struct arena *arena, const struct reader_job *job, size_t *length)
{
    return wire_encode_of(arena, &of_reader, MESSAGE_JOB, job, length);
}

void *reader_encode_result(struct arena *arena, const struct reader_result *result, size_t *length)
{
    return wire_encode_of(arena, &of_reader, MESSAGE_RESULT, result, length);
}

struct akgen_error *reader_decode_job(struct arena *arena, const void *bytes, size_t length, struct reader_job *job)
{
    *job = (struct reader_job){0};
    return wire_decode_of(arena, &of_reader, MESSAGE_JOB, bytes, length, job);
}

/* A name below a folder that leads nowhere else and is not hidden; a folder's ends in a slash. */
static bool leads_inside(const char *path)
{
    for (const char *at = path; *at;) {
        const size_t length = strcspn(at, "/");
        if (!length || *at == '.')
            return false;
        at += length + (at[length] == '/');
    }
    return *path;
}

/* Files of the candidate have the paths, and are no more and no larger, than a folder's. */
static struct akgen_error *check_candidate(struct arena *arena, struct candidate *candidate)
{
    struct candidate_source source;
    for (size_t i = 0; i < candidate->files.count; i++)
        if (!leads_inside(candidate->files.items[i].path))
            return error_new("file.path is no path in a project");
    struct akgen_error *error =
        candidate_source_of_files(arena, candidate->files.items, candidate->files.count, &source);
    if (!error && candidate->files.count) {
        candidate->files = source.files;
        candidate->digest = source.digest;
    }
    return error;
}

static struct akgen_error *check_answer(const struct answer *answer)
{
    const int count = answer->count;
    const bool one =
        answer->kind == ANSWER_IS_STRINGS || answer->kind == ANSWER_IS_PROGRAM || answer->kind == ANSWER_IS_FORMULAS;
    for (int i = 0; i < count; i++)
        if (!leads_inside(answer->files[i].path) ||
            (answer->kind != ANSWER_IS_STRINGS && memchr(answer->files[i].bytes, 0, answer->files[i].length)))
            return error_new("answer.files has no files of a project");
    return (one && count != 1) || (answer->kind == ANSWER_IS_NOTHING && !answer->problem)
               ? error_new("answer is no answer of its kind")
               : NULL;
}

struct akgen_error *reader_decode_result(struct arena *arena, const void *bytes, size_t length,
                                         struct reader_result *result)
{
    *result = (struct reader_result){0};
    struct akgen_error *error = wire_decode_of(arena, &of_reader, MESSAGE_RESULT, bytes, length, result);
    if (!error && result->refusal.reason && result->refusal.kind == AKGEN_VERDICT_PASS)
        error = error_new("refusal.kind is pass");
    if (!error)
        error = check_answer(&result->answer);
    if (!error)
        error = check_candidate(arena, &result->candidate);
    if (error)
        op_wrapper_release(&result->wrapper);
    return error;
}

void reader_take_strings(const struct op_response *response, struct reader_strings *strings)
{
    *strings = (struct reader_strings){READER_STRINGS,
                                       {*response->project_json, *response->host_tiling, *response->host_operator,
                                        *response->kernel, *response->python_bind, *response->model}};
}

void reader_give_strings(const struct reader_strings *strings, struct op_response *response)
{
    const struct py_value *value = strings->values;
    *response = (struct op_response){&value[0], &value[1], &value[2], &value[3], &value[4], &value[5]};
}
