/* Inside the tuner: what a candidate with knobs is. */
#ifndef GEN_TUNE_INTERNAL_H
#define GEN_TUNE_INTERNAL_H

#include "gen/tune.h"

/* A place in a file of a project where the value of a knob stands. */
struct tune_mark {
    int knob;
    const struct op_file *file;
    size_t at, length; /* of the number in the file's text */
    int line;
};

struct gen_subject {
    const struct task *task;
    struct gen_knob *knobs;
    int count, capacity;
    /* Of a program: */
    const struct npu_soc *soc;
    struct candidate_program program;
    /* Of a project: */
    bool is_project; /* else it is a program */
    struct op_files files;
    struct tune_mark *marks;
    int mark_count, mark_capacity;
};

/* Makes the setting's candidate of its values. False in `made`: it does not compile, and setting->reason says why. The error is our
 * own. */
struct akgen_error *tune_make_program(struct arena *arena, const struct gen_subject *subject,
                                      struct gen_setting *setting, bool *made);
void tune_make_project(struct arena *arena, const struct gen_subject *subject, struct gen_setting *setting);
/* Adds the marks of a file, which stays where it is, and their knobs. */
struct akgen_error *tune_read_marks(struct arena *arena, struct gen_subject *subject, const struct op_file *file);

#endif
