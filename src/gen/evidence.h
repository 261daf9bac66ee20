/* What lies beside a project that `akgen gen` wrote, besides its verdict: the timeline of the case that takes longest. */
#ifndef GEN_EVIDENCE_H
#define GEN_EVIDENCE_H

#include "eval/eval.h"

#define GEN_EVIDENCE "evidence" /* the folder of a project with what proves it */
#define GEN_TRACE    "trace.json"
/* A trace is no larger: a candidate's file may have 16 MiB, and so has what is beside a candidate. */
enum { GEN_TRACE_BYTES = 8 << 20 };

struct gen_trace {
    int id;    /* of the case; -1: there is no trace, because no case's time is known */
    double us; /* modelled */
    bool cut;  /* it ends before the launch: GEN_TRACE_BYTES has no room for all of it */
};
/* Runs the case of a verdict that takes longest once more, with the options of the verdict, and writes its
 * timeline to DIR/evidence/trace.json; the verdict's JSON gets `trace`. */
struct akgen_error *gen_trace_keep(struct arena *arena, const struct task *task, const char *dir,
                                   const struct verdict *verdict, json_t *json, struct gen_trace *trace);

#endif
