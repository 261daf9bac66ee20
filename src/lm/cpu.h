/* The CPU as a backend: float32, matrix products by oneDNN in one thread each, everything else in plain loops that the compiler
 * makes vectors of. */
#ifndef LM_CPU_H
#define LM_CPU_H

#include "lm/backend.h"

/* With so many threads (0: one a processor). The caller frees. */
struct lm_backend *lm_cpu_new(int threads);
void lm_cpu_free(struct lm_backend *backend);
int lm_cpu_threads(const struct lm_backend *backend);

#endif
