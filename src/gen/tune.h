/* Tuning a program in AscendDSL on the modelled time: other values of the host function's tl.constexpr parameters, as long as one
 * makes the task's cases faster and every case stays right. */
#ifndef GEN_TUNE_H
#define GEN_TUNE_H

#include "eval/eval.h"
#include "gen/program.h"

/* A parameter that may be turned, and its value. */
struct gen_knob {
    const char *name;
    int64_t value;
};
/* A program with values for its knobs. */
struct gen_setting {
    struct gen_program program;
    struct gen_knob *knobs;
    int count;
    double
        us; /* geometric mean of the shown cases' modelled microseconds; infinite: it does not compile or a case is not right */
};
struct gen_tuning {
    struct gen_setting before, after; /* the same where nothing is faster */
    int tried;                        /* settings that were evaluated */
};

/* Tunes in at most `budget` evaluations by `options`, of which none begins after `seconds` (0: no limit). `seen` is told of each setting that is tried; may be NULL. The result lives
 * in the arena. An error: the program does not compile, is not right, has no modelled time, or has nothing to turn. */
struct akgen_error *gen_tune(struct arena *arena, const struct gen_program *program, const struct task *task,
                             const struct eval_options *options, int budget, double seconds,
                             void (*seen)(void *closure, const struct gen_setting *setting), void *closure,
                             struct gen_tuning *tuning);

#endif
