/* libakgen: evaluate a candidate (an Ascend C operator project) from another program, without an NPU and without CANN.
 *
 * Link with libakgen.a and what it needs (jansson, libyaml, sqlite3, libxxhash, nettle, libdw, libseccomp, libmicrohttpd, libpcre2-8, utf8proc,
 * libzstd, zlib, oneDNN, libgomp, threads, libm, libdl).
 * At run time it needs clang-19, lld-19 and, where a task multiplies matrices, libopenblas.so.0, and finds
 *   - include/ and tasks/ under $AKGEN_HOME, else near the calling program, else in the tree that it was built in;
 *   - akgen-read, akgen-host and akgen-run, which read and run candidates in a jail, beside the calling program, one folder above it, or in
 *     ../libexec/akgen from there.
 * Compiled candidates are kept in $XDG_CACHE_HOME/akgen, else in ~/.cache/akgen.
 *
 * Thread-safe: every function may be called from any number of threads at once. Nothing is kept between calls but that
 * cache and a few processes of AKGen's own, which end with the program. An evaluation starts processes and waits for them, so the calling program must neither ignore SIGCHLD nor wait for
 * children that are not its own. Out of memory ends the program: a message and exit code 3. */
#ifndef AKGEN_AKGEN_H
#define AKGEN_AKGEN_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What was concluded about a candidate. docs/verdict.md says more on each. */
enum akgen_verdict_kind {
    AKGEN_VERDICT_PASS,    /* it compiles, and every case that was evaluated is right */
    AKGEN_VERDICT_WRONG,   /* a result differs from the reference, or its tiling function refused a case */
    AKGEN_VERDICT_FAULT,   /* the simulated chip stopped, hung or computed with something undefined; a crash */
    AKGEN_VERDICT_TIMEOUT, /* a kernel took more steps than its case's size allows, or a case more than its time */
    AKGEN_VERDICT_COMPILE_ERROR, /* a file is missing, it does not compile, or its OpDef does not fit the task */
    AKGEN_VERDICT_REJECTED,      /* it cheats */
    AKGEN_VERDICT_UNSUPPORTED,   /* it uses something that CANN has and AKGen lacks; says nothing about the candidate */
    AKGEN_VERDICT_INFRA_ERROR    /* a failure of AKGen, this machine or the request; never the candidate's doing */
};
/* How far it came. */
enum akgen_verdict_stage {
    AKGEN_STAGE_PARSE,  /* the directory was read */
    AKGEN_STAGE_HOST,   /* the host part was compiled and gave its OpDef */
    AKGEN_STAGE_KERNEL, /* the kernel was compiled */
    AKGEN_STAGE_TILING, /* the tiling function was called */
    AKGEN_STAGE_RUN,    /* the kernel was run */
    AKGEN_STAGE_COMPARE /* its outputs were compared */
};
/* The words that docs/verdict.md and the JSON use: "pass", "compile_error", ...; "parse", "host", ... Static strings. The
 * argument must be a member of the enum. */
const char *akgen_verdict_kind_name(enum akgen_verdict_kind kind);
const char *akgen_verdict_stage_name(enum akgen_verdict_stage stage);

/* What to evaluate. Zero-initialise it: all that is left at zero has a meaning, except `task` and `candidate`, which must
 * be given. */
struct akgen_request {
    const char *task;      /* "level1/Math/Sqrt", "Sqrt", or a task's directory */
    const char *candidate; /* directory of the operator project, or file of an answer (docs/answers.md) */
    const char *soc;       /* a chip that `akgen soc list` shows; NULL = Ascend910B2 */
    bool
        strict; /* profile strict instead of upstream: float64 reference, hidden sizes, other inputs. A task without a check has
                            * the float64 reference and strict limits in either (docs/tasks.md, Judging) */
    bool static_shapes; /* mode static: case 0 only */
    bool kernel_only;   /* scope kernel: the task's own host part */
    bool one_case;      /* only `case_id` */
    int case_id;        /* number of a case in the task's cases.csv */
    bool random_order;  /* pipes run in a random order of `order_seed`, instead of program order */
    uint64_t order_seed;
    bool
        strict_order; /* accesses that nothing orders are faults even where the result is the same whichever comes first */
    bool first_failure; /* no case is begun behind the first that does not pass: enough where only a reward is wanted */
    uint64_t input_seed;
    /* Under the strict profile the inputs of a case's later runs depend on it (docs/tasks.md, Judging). NULL: everybody can compute them. */
    const char *salt;
    /* Limit per case, should its steps not end it (docs/verdict.md): seconds of the clock, less those in which its process
     * waited for a processor that others had; 0 = 60. */
    double case_seconds;
    int jobs; /* cases and compiles side by side; 0 = 1 */
    /* Of a suite whose figures exist for several (multikernelbench: "1e-2" or "1e-4"), unless strict; NULL = its first. */
    const char *tolerance;
    /* Refuse (AKGEN_VERDICT_INFRA_ERROR) on a machine that does not grant every layer of the jail that docs/jail.md calls
     * required. */
    bool require_jail;
};

struct akgen_verdict {
    enum akgen_verdict_kind kind;
    enum akgen_verdict_stage stage;
    const char *reason; /* one line for people, which may quote the candidate; NULL for a pass */
    int cases_passed, cases_total;
    double seconds;   /* wall clock of the whole evaluation */
    const char *json; /* the whole verdict, docs/verdict.md; NULL if there is no such task, chip or candidate */
};

/* Evaluates one candidate; returns when it is done, after seconds or minutes. `request` and its strings are read during
 * the call only; candidates may be hostile, they are compiled and run in jails. The candidate is not written to.
 * Never NULL: a request that cannot be served (no such task, chip, case, tolerance or candidate) is AKGEN_VERDICT_INFRA_ERROR with
 * the reason. The caller owns the result and all of its strings: release with akgen_verdict_free. */
struct akgen_verdict *akgen_evaluate(const struct akgen_request *request);
/* Releases what akgen_evaluate returned, once; its strings are gone then. NULL is allowed. */
void akgen_verdict_free(struct akgen_verdict *verdict);

#ifdef __cplusplus
}
#endif
#endif
