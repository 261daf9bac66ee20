/* Inside the tuner: what a candidate with knobs is. */
#ifndef GEN_TUNE_INTERNAL_H
#define GEN_TUNE_INTERNAL_H

#include "gen/tune.h"

/* A file of a project, and a place in it where the value of a knob stands. */
struct tune_file {
    const char *path; /* in the project */
    const char *text;
    size_t length;
};
struct tune_mark {
    int knob;
    const struct tune_file *file;
    size_t at, length; /* of the number in the file's text */
    int line;
};

struct gen_subject {
    const struct task *task;
    struct gen_knob *knobs;
    int count, capacity;
    /* Of a program: */
    const struct npu_soc *soc;
    struct gen_program program;
    /* Of a project: */
    const char *dir; /* NULL: it is a program */
    struct tune_file *files;
    int file_count, file_capacity;
    struct tune_mark *marks;
    int mark_count, mark_capacity;
};

/* Makes the setting's candidate of its values. False in `made`: it does not compile, and setting->reason says why. The error is our
 * own. */
struct akgen_error *tune_make_program(struct arena *arena, const struct gen_subject *subject,
                                      struct gen_setting *setting, bool *made);
struct akgen_error *tune_make_project(struct arena *arena, const struct gen_subject *subject,
                                      struct gen_setting *setting, bool *made);
/* Adds the marks of a file, which stays where it is, and their knobs. */
struct akgen_error *tune_read_marks(struct arena *arena, struct gen_subject *subject, const struct tune_file *file);
struct akgen_error *tune_write_program(struct arena *arena, const struct gen_subject *subject,
                                       const struct gen_setting *setting, const char *dir);
struct akgen_error *tune_write_project(struct arena *arena, const struct gen_subject *subject, const int64_t *values,
                                       const char *dir);

#endif
