/* The CPU as a backend: float32, matrix products by oneDNN in one thread each, everything else in plain loops that the compiler
 * makes vectors of. Products may round both their operands to bfloat16; sums, and everything else, are float32 there too. */
#ifndef LM_CPU_H
#define LM_CPU_H

#include "lm/backend.h"

/* With so many threads (0: one a processor). The caller frees. */
struct lm_backend *lm_cpu_new(int threads);
/* The same for training: where the processor has AMX, large products are made of three bfloat16 parts of each number, which is as near as float32, in
 * less time. Numbers below 1e-33 lose bits, and infinite ones make NaN. It holds up to 24 MB of operands besides. */
struct lm_backend *lm_cpu_new_split(int threads);
/* The same with products of bfloat16. An error where the processor has no instructions for them (lm_cpu_has_bf16). */
struct akgen_error *lm_cpu_new_bf16(int threads, struct lm_backend **cpu);
bool lm_cpu_has_bf16(void);
void lm_cpu_free(struct lm_backend *backend);
int lm_cpu_threads(const struct lm_backend *backend);

/* Bytes that its threads have besides what a pass asks for: blocks of attention, of texts of so many keys, and in training what oneDNN lays
 * matrices out in, about. threads: 0 as above. */
int64_t lm_cpu_room(const struct lm_heads *heads, int threads, int64_t keys, bool training);

#endif
