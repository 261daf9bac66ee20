/* Other compiles of the same source, in which some macros have other values: up to the first use of one of these they are the
 * same. There the compiling process makes a copy of itself for each, and each goes on with values of its own. What each
 * prints goes to a file of its own; the first process, when it has come to its end, prints it all, as take_others() of
 * pool.c reads it. */
#ifndef TOOLCHAIN_SERVER_OTHERS_H
#define TOOLCHAIN_SERVER_OTHERS_H

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Begins: from now on descriptors 1 and 2 are that file. `defines` are the texts of `count` others (0: all of this does nothing),
 * read until the end; `jobs` processes, at least one, run side by side, and each has `seconds` of processor time. Ends the
 * process with JOB_NOT_SERVED if it cannot. */
void others_begin(const char *const *defines, int count, int jobs, double seconds);
/* Makes the copies. Returns in each of them with its text, and with NULL in the process that leads. */
const char *others_split(void);
/* Is this the process that leads? */
bool others_lead(void);
/* Waits for the copies and prints: a line "LENGTH" for what the leader printed, a line "EXIT_CODE LENGTH" for each of the
 * others, and then these texts. The exit code of one that did not end by itself, or was not made, is one of job.h. */
void others_report(void);

#ifdef __cplusplus
}
#endif

#endif
