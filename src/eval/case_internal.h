/* Inside src/eval: one case of one candidate, bound to its OpDef, and the memory that its tensors lie in. What bind.c,
 * gm_memory.c, judge.c and case.c share. */
#ifndef EVAL_CASE_INTERNAL_H
#define EVAL_CASE_INTERNAL_H

#include "npu/fault.h"
#include "eval/eval_internal.h"

/* The tensors of a case in the memory that akgen and akgen-run share; after a run it is akgen's alone. */
struct gm_memory {
    int fd;
    uint8_t *base; /* NULL before a run */
    uint64_t bytes;
    bool used; /* by a run: the next one gets another memory */
};

/* What the host part has said in the runs of one case, so that each call is made once (tiling.c). Zero-initialise; it
 * lives as long as the arena that it is given. */
struct tilings {
    struct tiling_answer *newest;
};

/* One of the runs of a case. */
struct trial {
    uint64_t seed;  /* of the inputs */
    uint64_t begin; /* offset of the first tensor in GM */
    int set;        /* of the inputs, from 1 on; 0: those of the seed */
    bool first;
    bool timed; /* the run says what the launch would take */
};

struct bound_case {
    const struct eval_candidate *candidate;
    struct prepared *prepared;
    const struct task_instance *instance;  /* its case */
    struct job_argument *inputs, *outputs; /* in OpDef order */
    struct op_attr *attrs;
    json_t *received;    /* array: those of the attributes' values that the wrapper does not pass whole; or NULL */
    const char *passing; /* what is wrong with the first of them, or NULL */
    int combination;     /* of data types, an index into the OpDef's */
    struct gm_memory gm;
    const struct trial *trial;
    struct tilings *tilings;
};

/* case.c */
/* Runs a case, or what stands in for a giant one, with as many inputs and in as many orders as the options say. */
void case_run(const struct eval_candidate *candidate, const struct task_case *task_case, struct arena *arena,
              struct verdict_case *row);
/* The data type that a case is called by: of its first tensor input. */
const char *eval_case_dtype(const struct task_instance *instance);

/* trial.c */
/* Run `number`, from 0 on, of the candidate's case. */
struct trial eval_trial(const struct eval_candidate *candidate, const struct task_case *task_case, int number);
/* Returns why a later run was not right. Under the strict profile the text does not depend on the values of its inputs. */
const char *trial_error(struct arena *arena, const struct eval_candidate *candidate, const struct trial *trial,
                        const struct verdict_case *again);
/* Gives the row the longer time of its own run and of another, or none if the other has none. Pipes, bytes and lines stay those of the
 * row's own run. */
void trial_keep_longer(struct verdict_case *row, const struct verdict_case *again);

/* bind.c */
/* Fills in inputs, outputs, attributes and combination. NULL, or why the candidate's OpDef cannot be called as the task
 * calls its operator. */
const char *bind_case(struct arena *arena, struct bound_case *bound);
/* Fills in what outputs begin with where the OpDef has InitValue for them, since the tiling function has asked for it
 * (SetNeedAtomic). Returns their bytes. */
uint64_t bind_fills(struct bound_case *bound);

/* tiling.c */
/* What the case's host part decides: block count, key, workspace, tiling data. */
const struct host_result *tiling_ask(struct arena *arena, const struct bound_case *bound);

/* gm_memory.c */
/* A file in memory whose size stays as it is: a mapping whose file was cut ends the process that looks at it. False: errno says why there is none. */
bool gm_memory_create(struct gm_memory *gm, uint64_t bytes);
/* Leaves akgen what is in it now, as a copy of its own. False if somebody else keeps a mapping that can be written. */
bool gm_memory_take_away(struct gm_memory *gm);
/* Gives every tensor its place. False: errno says why there is no memory. */
bool gm_memory_lay_out(struct bound_case *bound);
/* Runs the job on GM as it is before a run. What it leaves there nobody can change any more but akgen. */
void gm_memory_run(struct arena *arena, struct bound_case *bound, const struct job *job, struct job_result *result);
/* GM as it is before a run: inputs, zeros where the contract gives them, what the OpDef's InitValue says, and nothing that
 * looks like a value elsewhere. */
void gm_memory_fill(struct bound_case *bound);
/* Also of a memory that was never laid out (fd -1). */
void gm_memory_free(struct gm_memory *gm);
/* A copy of the output bytes of a run, one after the other; the caller frees it. */
uint8_t *gm_memory_save_outputs(const struct bound_case *bound);
/* Puts such a copy back. */
void gm_memory_put_outputs(const struct bound_case *bound, const uint8_t *saved);
/* "y[17]": the first output element that differs from the saved bytes; NULL if none does. */
const char *gm_memory_first_difference(struct arena *arena, const struct bound_case *bound, const uint8_t *saved);

/* conflicts.c */
/* Makes notes of the conflicts of a run that cannot change a result, unless --strict-order. Leaves the run's outputs in
 * GM. */
void conflicts_weigh(struct arena *arena, struct bound_case *bound, const struct job *job, struct job_result *run);
/* The same for another run of the case: by what has been found out for `judged`. */
void conflicts_adopt(struct arena *arena, const struct job_result *judged, struct job_result *run);

/* judge.c */
/* The first finding of that fault; NULL if there is none. */
struct job_finding *judge_finding(const struct verdict_case *row, const struct npu_fault *fault);
void judge_set(struct verdict_case *row, enum akgen_verdict_kind kind, enum akgen_verdict_stage stage,
               const char *error);
/* What came of row->run, and of the outputs in GM where the kernel came to its end. */
void judge_run(struct arena *arena, struct bound_case *bound, struct verdict_case *row);
/* A case that was right before, with other inputs: rejects outputs that are those of the first. */
void judge_repetition(struct arena *arena, const struct verdict_case *first, struct verdict_case *again);
/* The task's outputs with the values that the kernel left. */
struct task_argument *judge_actual(struct arena *arena, const struct bound_case *bound);
/* "file:line: message" */
const char *judge_place(struct arena *arena, const struct job_finding *finding);

#endif
