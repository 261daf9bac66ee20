/* What lies beside a project that `akgen gen` wrote, besides its verdict: the timeline of the case that takes longest. */
#ifndef GEN_EVIDENCE_H
#define GEN_EVIDENCE_H

#include "eval/eval.h"

#define GEN_EVIDENCE "evidence" /* the folder of a project with what proves it */
#define GEN_TRACE    "trace.json"
/* A trace is no larger: a candidate's file may have 16 MiB, and so has what is beside a candidate. */
enum { GEN_TRACE_BYTES = 8 << 20 };

/* Runs the case of a verdict that takes longest once more, with the options of the verdict, and writes its
 * timeline to DIR/evidence/trace.json; the verdict gets `trace`. No time of a case is known: nothing is written. */
struct akgen_error *gen_trace_keep(struct arena *arena, const struct task *task, const char *dir,
                                   struct verdict *verdict);

#endif
