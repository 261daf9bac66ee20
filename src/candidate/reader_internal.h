/* Between akgen and akgen-read: a job, what comes of it, and how both travel. */
#ifndef CANDIDATE_READER_INTERNAL_H
#define CANDIDATE_READER_INTERNAL_H

#include "candidate/reader.h"
#include "candidate/source_map_internal.h"

enum reader_work { READER_FORM, READER_CANDIDATE, READER_WRAPPER, READER_REVIEW, READER_TASK };
enum { READER_STRINGS = 6 };
/* struct op_response, in its order. */
struct reader_strings {
    int count; /* READER_STRINGS; 0: the answer is in another form */
    struct py_value values[READER_STRINGS];
};
struct reader_job {
    enum reader_work work;
    bool crash;      /* for tests (INJECT_CRASH) */
    const char *dir; /* of the task, of which the next two are the texts */
    const char *yaml, *table;
    struct candidate_asked asked;
    const char *name, *text; /* the answer */
    uint32_t length;
    struct reader_strings strings; /* READER_WRAPPER, with the operator that the host part defines */
    struct op_def def;
};
/* struct dsl_messages, of a program that the receiver has. */
struct reader_review {
    bool done; /* false: the task cannot call the program */
    struct dsl_message *items;
    int kept, count;
};
struct reader_result {
    struct answer answer;
    struct candidate candidate;       /* language, files and program; the next three are what it points to */
    struct candidate_refusal refusal; /* reason NULL: none */
    struct reader_strings strings;
    struct source_map map;       /* program NULL: none */
    struct op_wrapper wrapper;   /* READER_WRAPPER */
    struct reader_review review; /* READER_REVIEW */
};

/* Exit codes of a copy besides 0 and MEMORY_EXIT: it did not come to read. */
enum { READER_NOT_BEGUN = 100 };
/* The descriptors of a job. The first holds struct reader_limits, then the message. */
enum reader_file { READER_JOB, READER_PRINTED, READER_ANSWER, READER_FILES };

/* All in the arena; the decoded values of attributes are the caller's (op_def_release, op_wrapper_release). */
void *reader_encode_job(struct arena *arena, const struct reader_job *job, size_t *length);
void *reader_encode_result(struct arena *arena, const struct reader_result *result, size_t *length);
struct akgen_error *reader_decode_job(struct arena *arena, const void *bytes, size_t length, struct reader_job *job);
/* Believes nothing: paths lead nowhere else, and what points elsewhere is absent. */
struct akgen_error *reader_decode_result(struct arena *arena, const void *bytes, size_t length,
                                         struct reader_result *result);
void reader_take_strings(const struct op_response *response, struct reader_strings *strings);
void reader_give_strings(const struct reader_strings *strings, struct op_response *response);

/* Does the job in the process at hand. */
void reader_do(struct arena *arena, const struct reader_job *job, struct reader_result *result);

#endif
