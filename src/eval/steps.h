/* The limits on the steps of a launch (struct npu_steps in npu/npu.h). They end kernels that have no end, and depend on
 * nothing but the case. */
#ifndef EVAL_STEPS_H
#define EVAL_STEPS_H

#include "npu/npu.h"
#include "task/task.h"

/* No kernel that is known to end takes more than one part in EVAL_STEPS_MARGIN of them. */
enum { EVAL_STEPS_MARGIN = 50 };
/* Of a case whose inputs and outputs have so many bytes, and whose products as the published module multiplies make so many
 * operations. */
struct npu_steps eval_steps(uint64_t bytes, double flops);
/* The same of a case in memory, or of its shapes. */
struct npu_steps eval_steps_of_case(const struct task_instance *instance);
/* Bytes of tensors; adds their elements to *elements. */
uint64_t eval_tensor_bytes(const struct task_argument *arguments, int count, uint64_t *elements);

#endif
