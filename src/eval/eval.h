/* One candidate -> a verdict; many -> a run. */
#ifndef EVAL_EVAL_H
#define EVAL_EVAL_H

#include "akgen/akgen.h"
#include "candidate/candidate.h"
#include "eval/speedup.h"
#include "jail/job.h"
#include "task/task.h"
#include "toolchain/toolchain.h"

/* The settings of an evaluation in options, verdicts, the database and reports. */
#define EVAL_MODES(X)     X(EVAL_STATIC, "static") X(EVAL_DYNAMIC, "dynamic")
#define EVAL_PROFILES(X)  X(TASK_UPSTREAM, "upstream") X(TASK_STRICT, "strict")
#define EVAL_SYNCS(X)     X(NPU_SYNC_AUTO, "auto") X(NPU_SYNC_MANUAL, "manual")
#define EVAL_SCHEDULES(X) X(false, "inorder") X(true, "random") /* eval_options.random_order */
enum eval_mode { EVAL_MODES(WORD_VALUE) };
extern const struct words eval_modes, eval_profiles, eval_syncs, eval_schedules;

/* Inputs and references, kept between the candidates of a task. Thread-safe. */
struct eval_cache;
/* Keeps at most `bytes` of tensors that nobody uses. */
struct eval_cache *eval_cache_create(uint64_t bytes);
/* Drops what it has of a task, before that is released. None of its cases is being evaluated. */
void eval_cache_forget(struct eval_cache *cache, const struct task *task);
/* After the last evaluation that uses it. */
void eval_cache_destroy(struct eval_cache *cache);

enum { EVAL_INPUT_SETS = 16 };
/* True for 1 to 256 printable characters of ASCII. */
bool eval_is_salt(const char *text);

/* What `akgen run` adds to the evaluation of a case. */
struct eval_debug {
    int log_fd;                          /* the instruction log goes there; 0 or -1: none */
    int trace_fd;                        /* the timeline, job.trace_fd; not with a log */
    uint64_t trace_bytes;                /* job.trace_bytes */
    const struct job_debugger *debugger; /* NULL: none */
    /* Called when the kernel has run, whatever came of it. */
    void (*on_run)(void *closure, const struct task_instance *instance, const struct task_argument *actual,
                   const struct task_argument *expected);
    void *closure;
};

struct eval_options {
    const struct npu_soc *soc;
    enum eval_mode mode; /* static: one case per build (upstream: case 0); dynamic: one build, all cases */
    enum eval_scope scope;
    enum task_profile profile;
    enum eval_language language; /* that an answer must be in */
    bool language_given; /* false: projects and .py files count in their own language, other files as Ascend C */
    int only_case;       /* -1 = all of the mode */
    bool full;           /* giant cases at full size */
    bool sync_given;
    enum npu_sync sync;
    bool random_order;
    uint64_t order_seed;
    int orders;         /* random schedules (seeds 1 to orders) that a right case is run under besides */
    bool first_failure; /* no case is begun behind the first that did not pass */
    bool no_timing;     /* the cases' verdicts say nothing of the time that a launch would take */
    bool strict_order;  /* accesses that nothing orders are faults even where no order changes a result */
    uint64_t input_seed;
    int trials; /* inputs tried per case, from input_seed on; 0 = eval_trials() decides */
    /* Later runs of the strict profile have one of EVAL_INPUT_SETS sets of inputs for each case, which candidate and salt choose. */
    const char *salt;      /* that the sets' values depend on; NULL: there is none, and everybody knows them */
    bool one_set;          /* the same set for all candidates: their times are compared */
    int input_set;         /* the first run has this set, from 1 on; 0: those of input_seed */
    const char *tolerance; /* of a suite that has several, task_set_tolerance; NULL = its default */
    int jobs;              /* cases and compiles side by side */
    int side_by_side; /* of the whole program, which evaluates several candidates at a time: job.side_by_side; 0 = jobs */
    /* Limit per case; 0 = 60. One that runs at full size unasked has a sixth of it for each 2^24 elements, if that is more. */
    double case_seconds;
    double candidate_seconds; /* limit of all that is done for the candidate; 0 = eval_candidate_seconds() decides */
    const char *cache_dir;    /* NULL = default */
    const char *candidates; /* a folder that the user named, where candidates lie (candidate_asked.tree); NULL: none */
    bool no_cache;
    bool require_jail;              /* asked of eval_check_jail, by whoever calls eval_run */
    bool plain_compiler;            /* build_options.plain_compiler */
    const struct eval_debug *debug; /* NULL: none */
    struct eval_cache *cache;       /* inputs and references; NULL = made for each candidate */
    int cancel_fd; /* once it is readable the evaluation ends soon, with a verdict that means nothing; 0: nobody cancels */
    /* Called when a case is finished (progress); may be NULL. */
    void (*on_case)(void *closure, int done, int total);
    void *closure;
};

struct verdict_case {
    const struct task_case *task_case;
    int id;
    bool ok;
    enum akgen_verdict_kind kind; /* of this case alone */
    enum akgen_verdict_stage stage;
    const char *shape; /* "x[8,2048] y[8,2048]" */
    const char *dtype;
    bool reduced;         /* a smaller case stood in */
    const char *stand_in; /* of a giant case that ran at full size, or could not: what came of the smaller one; NULL */
    int trials;           /* inputs that were tried */
    bool hidden;          /* sizes that the task does not show (strict profile) */
    struct job_result run;
    struct task_mismatch mismatch; /* valid when the case was compared */
    bool compared;
    int orders_tried;
    const char *order_decides; /* where a right result has other bits under another schedule; NULL: nowhere */
    const char *outputs;       /* hash of the outputs' bytes, of a case that was compared */
    bool varied;               /* they hold many different values */
    const char *error;
};
/* The timeline that lies beside a project (gen/evidence.h). */
struct verdict_trace {
    const char *file; /* its name; NULL: there is none */
    int id;           /* of the case */
    double us;        /* modelled */
    bool cut;         /* it ends before the launch, for want of room */
};
struct verdict {
    enum akgen_verdict_kind kind;
    enum akgen_verdict_stage stage;
    enum eval_language language; /* of the benchmark that it counts in; EVAL_ANY: unknown */
    const char *reason;          /* one line for people */
    const char *suite, *task;
    struct candidate candidate; /* what was evaluated; the caller's */
    struct op_wrapper wrapper;  /* of six strings: how their PyTorch module calls the operator */
    const struct eval_options *options;
    const char *protocol; /* eval_protocol() */
    enum npu_sync sync;   /* in effect */
    struct build build;
    struct verdict_case *cases;
    int case_count, cases_passed; /* rows of `cases` */
    int cases_total;              /* that were to be tried; more than case_count behind a first failure */
    double seconds;
    struct speedup speedup; /* against the baseline, from speedup_add() on */
    struct verdict_trace trace;
    struct arena arena; /* owns everything above */
};
/* Inputs tried per case: what the options say; else the suite's protocol, and at least 2 under the strict profile,
 * whose second run has other addresses too. */
int eval_trials(const struct task *task, const struct eval_options *options);
/* The limit of all that is done for one candidate: what the options say; else ten times the limit of a case, and as much for
 * each of the orders that are asked for. */
double eval_candidate_seconds(const struct eval_options *options);
/* task_protocol(), with what else figures depend on. */
const char *eval_protocol(struct arena *arena, const struct task *task, const struct eval_options *options);
/* NULL, or that a complete jail is required and which of its layers this machine does not grant. */
struct akgen_error *eval_check_jail(const struct eval_options *options);
/* Reads the candidate at a path as these options ask for it. */
void eval_read(struct arena *arena, const struct task *task, const char *path, const struct eval_options *options,
               struct candidate *candidate);
/* The part of the options that says how answers are read. */
struct candidate_asked eval_asked(const struct eval_options *options);
/* Evaluates a candidate, whose strings outlive the verdict. Always yields a verdict: a refusal is one of stage parse, our own
 * failures are AKGEN_VERDICT_INFRA_ERROR. */
void eval_run(const struct candidate *candidate, const struct task *task, const struct eval_options *options,
              struct verdict *verdict);
void verdict_free(struct verdict *verdict);
/* What the host part of a candidate decides for a case. */
struct eval_tiling {
    int block_dim;
    uint64_t key, workspace; /* workspace: bytes, with what the system reserves */
    uint32_t bytes;          /* of tiling data */
    json_t *fields;          /* op_tiling_decode(); the caller releases it. NULL: there is no tiling */
};
/* Builds a candidate as eval_run does and has its tiling function run for the case of `only_case`, without a launch. It is given shapes and
 * attributes: of a task whose host part reads values of inputs there is no tiling without a launch. A verdict that is no pass says
 * why there is no tiling; verdict_free. */
void eval_tile(const struct candidate *candidate, const struct task *task, const struct eval_options *options,
               struct verdict *verdict, struct eval_tiling *tiling);
/* How a case calls the operator of a candidate that was built: tensors and attributes in OpDef order. */
struct eval_call {
    struct job_argument *inputs, *outputs; /* outputs: the task's, of which the first are the OpDef's */
    struct op_attr *attrs;                 /* of the OpDef, with the case's values; value NULL: it has none */
};
/* NULL, or why it cannot be called so. `call` is the arena's and the instance's. */
const char *eval_bind(struct arena *arena, const struct verdict *verdict, const struct task_instance *instance,
                      struct eval_call *call);
/* The verdict as docs/verdict.md describes it; owned by the caller. */
json_t *verdict_to_json(const struct verdict *verdict);

#endif
