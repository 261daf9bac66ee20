/* Kernel-level samples: a kernel of a folder, merged with what it includes, for which a request is made of its own calls. docs/cot.md. */
#ifndef COT_KERNELS_H
#define COT_KERNELS_H

#include "cot/ask.h"
#include "task/task.h"

struct cot_kernels_options {
    uint64_t seed;            /* of the requests' wording */
    const char *licence;      /* of files that name none (SPDX-License-Identifier:); NULL: unknown */
    const struct task *tasks; /* whose operators are left out */
    int task_count;
    int jobs;                /* threads */
    struct cot_asker *asker; /* writes requests and chains; NULL: what the files say does */
};
/* Reads every .cpp, .cc and .cce file of a folder; each is a source of the step `kernels`, named with a digest of what it is merged to. What does
 * not compile alone, or cannot be read, is counted with its reason and ends nothing. An error: there is nothing at the path, or the store or the
 * toolchain fails. counts.made: samples with less than all that they include. */
struct akgen_error *cot_kernels(struct store *store, const char *path, const struct cot_kernels_options *options,
                                struct cot_counts *counts);

/* What a kernel does, by its own text (kernel_words.c). */
struct kernel_words {
    const char *request; /* what asks for it; NULL: it calls nothing that docs/api.md has */
    const char *chain;   /* what its functions call, in the order of the file */
};
/* `tilings` as of snippet_compile. An error: docs/api.md cannot be read. */
struct akgen_error *kernel_words(struct arena *arena, const char *text, const char *tilings, uint64_t seed,
                                 struct kernel_words *words);

#endif
