/* A core's own copy of the kernel's variables (own_variables.c). */
#ifndef NPU_LAUNCH_OWN_VARIABLES_H
#define NPU_LAUNCH_OWN_VARIABLES_H

#include "npu/npu_internal.h"

/* Before and after a core's fiber runs. */
void own_variables_in(struct npu_core *core);
void own_variables_out(struct npu_core *core);
void own_variables_free(struct npu_core *core);

#endif
