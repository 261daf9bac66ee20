/* The program of a room's unit tests. A file of tests has a main, which the build renames; the program's own main (unit.c)
 * calls it:
 *   npu_tests insn/forms_test [ARGUMENT...] */
#ifndef TESTS_UNIT_H
#define TESTS_UNIT_H

struct unit_file {
    const char *name; /* path below the room's folder, without .c */
    int (*run)(void);
};
extern const struct unit_file unit_files[]; /* of the room, ended by one without a name; the build writes it */

/* The file's name and its arguments, as main has them. */
extern int unit_argc;
extern char **unit_argv;

#endif
