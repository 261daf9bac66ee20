/* A job: what akgen asks of akgen-run, the program in which a candidate's kernel runs, and what comes back.
 *
 * The job is a message (wire.h) on the file descriptor given by --job, the result one on --result. What the host part has decided
 * (host_job.h) is part of the job. Tensor memory is one memfd (--gm), mapped shared by both: every tensor has its offset
 * there, so outputs need no copying. akgen reads them when the process is gone. */
#ifndef JAIL_JOB_H
#define JAIL_JOB_H

#include "jail/host_job.h"

/* What a tensor of a case is to the kernel. */
struct job_tensor {
    struct op_tensor shape;
    uint64_t offset, bytes; /* in the memfd; offset is a multiple of 512 and has >= 512 bytes of slack behind it */
    bool defined;           /* an output that the contract zeroes or fills beforehand, or does not ask for */
};
struct job_argument {
    const char *name; /* the OpDef's, for messages */
    struct job_tensor *tensors;
    int count;          /* 0 = absent optional */
    bool list;          /* dynamic: the kernel gets the address of an address table */
    int alias;          /* outputs: index of the input whose memory this is (in place), or -1 */
    bool written;       /* inputs: the operator's contract writes into it (in place, with or without an output) */
    bool host_values;   /* inputs: the caller has the values on the host, so tiling gets a copy of them */
    bool shape_depends; /* outputs: op_param.shape_depends */
    const struct op_fill *fill; /* outputs: what the caller fills their memory with before each run; NULL: nothing */
};
struct job {
    const char *kernel_so;      /* absolute path */
    const char *cube_so;        /* the kernel for AICs; NULL if it starts none */
    int inferred_type;          /* enum npu_kernel_type if the kernel names none; NPU_TYPE_INFERRED = a vector one */
    const char *entry;          /* exported name of the kernel's entry in kernel.so */
    struct op_tiling tiling;    /* from the host part */
    json_t *tiling_by_field;    /* op_tiling_decode(); may be NULL */
    const char *printed_before; /* what it printed; NULL: nothing */
    const char *soc;
    enum npu_sync sync;
    bool random_order;
    struct npu_steps steps;               /* npu_config.steps */
    bool timing;                          /* npu_config.timing */
    bool weigh;                           /* npu_config.weigh */
    const struct npu_racing_read *racing; /* npu_config.racing */
    size_t racing_count;
    uint64_t seed;
    uint64_t poison;                       /* npu_config.poison */
    struct job_argument *inputs, *outputs; /* in OpDef order */
    int input_count, output_count;
    int gm_fd;
    uint64_t gm_bytes;
    uint64_t filled; /* npu_config.filled */
    uint32_t
        gm_unit; /* a tensor's block of GM for reads: its bytes and 32 more, rounded up to a multiple of this; 0 = 32 */
    const char *headers;   /* directory of our own headers: a finding inside it is placed at its caller; may be NULL */
    double seconds;        /* limit; 0 = 60 */
    struct budget *budget; /* of the candidate, which limits it too; NULL: none */
    int side_by_side;      /* jobs of this program at a time: each has its share of the machine's memory; 0 = 1 */
    const char *nonce;     /* set by job_run: a result that does not repeat it was not written by akgen-run */
    /* Written there, of which at most one is wanted; 0 or -1: none. A trace replaces what stands in the file. */
    int log_fd;                          /* the instruction log */
    int trace_fd;                        /* the launch's timeline as a trace (trace.c); of a job with `timing` */
    uint64_t trace_bytes;                /* the trace has no more; 0: it may have any size */
    const struct job_debugger *debugger; /* NULL: none */
    bool debugged;                       /* set by job_run: there is one */
    const char *inject;                  /* for tests: a failure of akgen-run's own, base/inject.h; NULL: none */
    /* Puts the tensors' memory back as it was before the run; called between two of them. NULL: there is none. */
    void (*restore)(void *closure);
    void *closure;
};
/* For a run that repeats another: it logs nothing, and nobody asks for its time. */
static inline void job_be_silent(struct job *job)
{
    job->log_fd = job->trace_fd = -1;
    job->timing = false;
}
/* Runs the job under gdb on the terminal: without the jail and without a time limit. */
struct job_debugger {
    const char *sources; /* the candidate's directory */
    const char *script;  /* gdb commands to run in batch mode; NULL: interactive */
};

/* What a finding is, in verdicts. */
#define JOB_KINDS(X)                                                                                                   \
    X(NPU_TRAP, "trap")                                                                                                \
    X(NPU_DIFFERS, "differs")                                                                                          \
    X(NPU_UNDEFINED, "undefined") X(NPU_HAZARD, "hazard") X(NPU_UNSUPPORTED, "unsupported")
extern const struct words job_kinds;
/* "S", "V", ...: by lane. */
extern const char *const job_lanes[];
/* Where the author's line is: an address in one of the kernel's objects. */
struct job_place {
    enum job_object { JOB_NOWHERE, JOB_VECTOR, JOB_CUBE } object;
    uint64_t address;
};
struct job_call {
    const char *file;
    int line;
};
struct job_finding { /* struct npu_finding with places instead of addresses */
    enum npu_kind kind;
    const char *fault, *message, *api, *operand, *pipe;
    bool fatal;
    int core;
    bool aic; /* the core is an AIC */
    uint64_t count;
    struct job_place place, place_other;
    const char *file, *file_other; /* found by job_run; NULL: unknown */
    int line, line_other;
    const struct job_call *calls, *calls_other; /* inlined around it, innermost first; the last has no file */
};
/* What the launch would take on the chip, with the costliest line's place instead of its address. */
struct job_timing {
    struct npu_timing model; /* slowest_pc: 0 */
    struct job_place place;
    const char *file; /* found by job_run; NULL: unknown */
    int line;
    const struct job_call *calls; /* as of a finding */
    bool trace_cut;               /* the trace ends before the launch: there was more than has room */
    int trace_errno;              /* why it could not be written; 0: it was */
};
struct job_endless { /* struct npu_endless with a place instead of an address */
    uint64_t rounds;
    int core, cores;
    bool aic;
    struct job_place place;
    const char *file; /* found by job_run; NULL: unknown */
    int line;
    const struct job_call *calls; /* as of a finding */
};
struct job_result {
    enum job_status status;
    const char *nonce;
    enum job_stage stage; /* where it ended */
    const char *error;    /* for anything but JOB_OK */
    int block_dim;        /* job.tiling's, as the rest up to the decoded fields */
    uint64_t tiling_key, workspace;
    uint32_t tiling_bytes;
    json_t *tiling; /* owned by the result, may be NULL */
    struct npu_stats stats;
    struct job_timing timing;
    struct job_finding *findings;
    size_t finding_count;
    struct job_endless *endless; /* of a launch that was ended for its steps; else none */
    size_t endless_count;
    struct npu_steps steps; /* job.steps */
    bool fault;             /* at least one fatal finding */
    bool memory_ran_out;    /* set by job_run: it ended as when memory runs out */
    uint64_t *undefined;    /* per output tensor in order: bytes never written */
    uint64_t *undefined_first;
    int undefined_count;
    struct npu_racing_read *racing; /* npu_racing_reads() */
    size_t racing_count;
    double run_seconds;  /* the launch alone */
    const char *printed; /* what the candidate printed, cut at 64 KiB; with job.printed_before */
};
/* The result of a job whose host part came to nothing. */
void job_without_kernel(const struct host_result *host, struct job_result *result);
/* Runs one job in a new process inside the jail. Strings of the result live in the arena. Never fails: what goes wrong
 * on our side is JOB_BROKEN, after a second attempt in a process that has no other beside it. So does a job that ends as when
 * memory runs out, where it had less than alone. */
void job_run(struct arena *arena, const struct job *job, struct job_result *result);
void job_result_free(struct job_result *result);

#endif
