/* What akgen asks of akgen-host, the program in which a candidate's host part runs, and what comes back.
 *
 * The job is a message (wire.h) on the descriptor given by --job, the result one through a pipe, --result. The process has neither
 * tensors nor machine: shapes, attributes and the values that the task passes on the host go in; the OpDef, or tiling
 * data, block count, key and workspace come out. Each call is a process of its own.
 *
 * All that comes out is the candidate's, whoever wrote it: a host part that writes into the pipe itself says what its
 * functions could have returned. So there is nothing to prove in a result and nothing to gain by forging one. What it
 * says of us (that memory ran out, that a signal came from outside) is not believed: whose doing an end was is told by
 * what the system reports. */
#ifndef JAIL_HOST_JOB_H
#define JAIL_HOST_JOB_H

#include "base/words.h"
#include "op/op.h"
#include "jail/budget.h"

/* How far a program in the jail came. */
#define JOB_STAGES(X)                                                                                                  \
    X(JOB_START, "start")   /* nothing of the candidate has run */                                                     \
    X(JOB_LOAD, "load")     /* its constructors */                                                                     \
    X(JOB_TILING, "tiling") /* its host part */                                                                        \
    X(JOB_KERNEL, "run")                                                                                               \
    X(JOB_REPORT, "report") /* nothing of it runs any more */
enum job_stage { JOB_STAGES(WORD_VALUE) };
const char *job_stage_name(enum job_stage stage);

enum job_status {
    JOB_OK,            /* ran to its end; findings may still make it a fault */
    JOB_TILING_FAILED, /* the host part refused, see error */
    JOB_UNSUPPORTED,   /* the host part called what CANN has and AKGen lacks; error is its name */
    JOB_LOAD_FAILED,   /* an object cannot be loaded, or is none that may be */
    JOB_TIMEOUT,
    JOB_CRASHED, /* a signal of its own instruction, or of a limit of its own, ended it outside the kernel's checks */
    JOB_EXITED,  /* the candidate ended the process (exit(), _exit()) */
    JOB_CHEATED, /* it did what no operator does (a system call that guard.h forbids, a result of its own) */
    JOB_BROKEN   /* ours: no process, one that somebody killed, no memory, unreadable result */
};

/* Bytes of an answer. */
enum { HOST_ANSWER_LIMIT = 2 << 20 };
struct host_job {
    const char *host_so; /* absolute path */
    const char *op_type; /* NULL: the one that it registers */
    const char *soc;     /* NULL: none in particular */
    bool tile;           /* else the OpDef is asked for */
    /* The call, in OpDef order; of values those that the caller has on the host. */
    struct op_argument *inputs, *outputs;
    int input_count, output_count;
    struct op_attr *attrs;
    int attr_count;
    double seconds;        /* limit; 0 = 60 */
    struct budget *budget; /* of the candidate, which limits it too; NULL: none */
    const char *inject;    /* for tests: a failure of akgen-host's own, base/inject.h; NULL: none */
};
struct host_result {
    enum job_status status;
    enum job_stage stage;    /* where it ended */
    const char *error;       /* for anything but JOB_OK */
    struct op_def def;       /* unless host_job.tile */
    struct op_tiling tiling; /* host_job.tile; its bytes are the arena's */
    const char *printed;     /* what the candidate printed, cut at 64 KiB */
};
/* Runs one job in a new process inside the jail. The result lives in the arena, but for the attributes' values of its
 * OpDef (op_def_release). Never fails: what goes wrong on our side is JOB_BROKEN, after a second attempt. */
void host_run(struct arena *arena, const struct host_job *job, struct host_result *result);

/* Decodes a WIRE_HOST_RESULT; fills everything but `printed` and `stage`. Nothing in it is believed: an error says what no host
 * part can have returned. */
struct akgen_error *host_result_decode(struct arena *arena, const void *bytes, size_t length,
                                       struct host_result *result);
/* Reads what came through the pipe: a line for each stage that was reached and then the message. Fills the result as above,
 * and its stage. */
enum host_answer {
    HOST_SILENT,  /* no message */
    HOST_GARBLED, /* none that is a result */
    HOST_FOREIGN, /* that of another build: nothing of the candidate had run */
    HOST_ANSWERED
};
enum host_answer host_result_read(struct arena *arena, const char *text, size_t length, struct host_result *result);

#endif
