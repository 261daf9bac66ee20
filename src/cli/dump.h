/* Tensors for people, and as .npy files for programs. */
#ifndef CLI_DUMP_H
#define CLI_DUMP_H

#include "task/task.h"

#include <stdio.h>

/* Prints name, type, shape and values in lines of 8, the middle of a long tensor left out. Where `expected` (may be
 * NULL) differs, its line follows. */
void dump_print(FILE *out, const char *name, const struct task_tensor *tensor, const struct task_tensor *expected);
/* Writes a .npy file (bfloat16 as float32). An error names the path. */
struct akgen_error *dump_write(const char *path, const struct task_tensor *tensor);

#endif
