#include "gen/evidence.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

static double us_of(const struct verdict_case *row)
{
    const struct npu_timing *timing = &row->run.timing.model;
    return timing->known ? npu_timing_us(timing, timing->cycles) : 0;
}

/* Writes the trace of the case; false: another run than that of the verdict was seen. */
static bool run_again(const struct task *task, const struct candidate *candidate, const struct eval_options *options,
                      const struct verdict_case *row, int fd, bool *cut)
{
    const struct eval_debug debug = {.log_fd = -1, .trace_fd = fd, .trace_bytes = GEN_TRACE_BYTES};
    struct eval_options own = *options;
    struct verdict verdict;
    own.only_case = row->id;
    own.orders = 0;
    own.debug = &debug;
    own.on_case = NULL;
    eval_run(candidate, task, &own, &verdict);
    const struct verdict_case *again = verdict.case_count ? &verdict.cases[0] : NULL;
    const bool same =
        again && again->run.timing.model.known && again->run.timing.model.cycles == row->run.timing.model.cycles;
    *cut = same && again->run.timing.trace_cut;
    verdict_free(&verdict);
    return same;
}

struct akgen_error *gen_trace_keep(struct arena *arena, const struct task *task, const char *dir,
                                   struct verdict *verdict)
{
    /* Of those that can be asked for by their numbers; NULL: no time is known. */
    const struct verdict_case *longest = NULL;
    for (int i = 0; i < verdict->case_count; i++) {
        const struct verdict_case *row = &verdict->cases[i];
        if (!row->hidden && us_of(row) > (longest ? us_of(longest) : 0))
            longest = row;
    }
    const char *path = arena_printf(arena, "%s/" GEN_EVIDENCE "/" GEN_TRACE, dir);
    if (!longest)
        return NULL;
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    if (fd < 0)
        return error_new("%s: %m", path);
    bool cut, same = run_again(task, &verdict->candidate, verdict->options, longest, fd, &cut);
    if (close(fd) != 0)
        return error_new("%s: %m", path);
    if (!same) {
        unlink(path);
        return NULL;
    }
    verdict->trace = (struct verdict_trace){GEN_TRACE, longest->id, us_of(longest), cut};
    return NULL;
}
