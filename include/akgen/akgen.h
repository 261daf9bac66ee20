/* libakgen: evaluate a candidate from another program. Link with libakgen.a; akgen-run must lie beside the calling
 * program or beside $AKGEN_HOME/build/akgen. Thread-safe: evaluations may run side by side. */
#ifndef AKGEN_AKGEN_H
#define AKGEN_AKGEN_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What was concluded about a candidate, and how far it came. docs/verdict.md explains each. */
enum verdict_kind {
    VERDICT_PASS,
    VERDICT_WRONG,
    VERDICT_FAULT,
    VERDICT_TIMEOUT,
    VERDICT_COMPILE_ERROR,
    VERDICT_REJECTED,
    VERDICT_UNSUPPORTED,
    VERDICT_INFRA_ERROR
};
enum verdict_stage { STAGE_PARSE, STAGE_HOST, STAGE_KERNEL, STAGE_TILING, STAGE_RUN, STAGE_COMPARE };
/* "pass", "compile_error", ...; "parse", "host", ... */
const char *verdict_kind_name(enum verdict_kind kind);
const char *verdict_stage_name(enum verdict_stage stage);

struct akgen_request {
    const char *task;      /* "level1/Math/Sqrt", "Sqrt", or a task's directory */
    const char *candidate; /* directory of the operator project, or file of an answer (docs/answers.md) */
    const char *soc;       /* NULL = Ascend910B2 */
    bool strict;           /* profile strict instead of upstream */
    bool static_shapes;    /* mode static: case 0 only */
    bool kernel_only;      /* scope kernel: the task's own host part */
    bool one_case;         /* only `case_id` */
    int case_id;
    bool random_order; /* pipes run in a random order of `order_seed` */
    uint64_t order_seed, input_seed;
    double case_seconds; /* 0 = 60 */
    int jobs;            /* cases side by side; 0 = 1 */
};
struct akgen_verdict {
    enum verdict_kind kind;
    enum verdict_stage stage;
    const char *reason; /* one line; NULL for a pass */
    int cases_passed, cases_total;
    double seconds;
    const char *json; /* the whole verdict, docs/verdict.md */
};
/* Evaluates one candidate. Never NULL; a request that cannot be served (no such task, chip or directory) is
 * VERDICT_INFRA_ERROR with the reason and no json. Release with akgen_verdict_free. */
struct akgen_verdict *akgen_evaluate(const struct akgen_request *request);
void akgen_verdict_free(struct akgen_verdict *verdict);

#ifdef __cplusplus
}
#endif
#endif
