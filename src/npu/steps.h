/* The steps of a launch (steps.c): how much it has done, as a number that no clock has a part in, and the end of a launch
 * that has done more than it may. */
#ifndef NPU_STEPS_H
#define NPU_STEPS_H

#include "npu/npu_internal.h"

/* Before a core's fiber runs, and when it is back. */
void npu_steps_resume(struct npu_core *core);
void npu_steps_pause(struct npu_core *core);
/* A look at the limit, for which the core's next one was set: `number` is the basic block that begins, `pc` the address in
 * the kernel that its call returns to. Does not return where the limit is reached. */
void npu_steps_block(struct npu_core *core, uint32_t number, uint64_t pc);
/* The same in the middle of a block. */
void npu_steps_look(struct npu_core *core);
/* An instruction, and each of its accesses. */
static inline void npu_steps_access(struct npu_core *core, const struct npu_access *access)
{
    core->data += (uint64_t)access->bytes * access->count * access->count2 / NPU_STEP_BYTES;
}
static inline void npu_steps_instruction(struct npu_core *core)
{
    core->work += NPU_STEPS_INSTRUCTION;
    if (__builtin_expect(core->work >= core->work_limit || core->data >= core->data_limit, false))
        npu_steps_look(core);
}
/* Counts printed text: so many numbers, or one line. */
static inline void npu_steps_text(struct npu_core *core, uint64_t numbers)
{
    core->work += NPU_STEPS_TEXT * numbers;
}
/* Tells the loops in which the cores of a wave were when the launch was ended for its steps, if it was (npu_endless). */
void npu_steps_report(struct npu *npu, int first, int count);
void npu_steps_free(struct npu_core *core);

#endif
