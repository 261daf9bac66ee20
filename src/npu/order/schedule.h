/* Schedule (schedule.c): when an issued instruction executes. */
#ifndef NPU_ORDER_SCHEDULE_H
#define NPU_ORDER_SCHEDULE_H

#include "npu/npu_internal.h"

struct npu_schedule *npu_schedule_create(struct npu_core *core);
void npu_schedule_destroy(struct npu_schedule *schedule);
/* Program order: executes now. Random order: queues it with a copy of the registers and perhaps drains. */
void npu_schedule_submit(struct npu_core *core, int pipe, const struct npu_insn *insn, const struct npu_regs *regs);
/* Executes what `pipe` (NPU_PIPE_ALL: every pipe) still holds: before result registers are read, at barriers, at the
 * block's end. */
void npu_schedule_drain(struct npu_core *core, int pipe);
/* Instructions that a lane was given after the one that executes now. */
uint32_t npu_schedule_behind(const struct npu_core *core, int lane);
/* The synchronisation instructions in a random schedule; nothing under program order. The flag's own counts say which
 * SetFlag a WaitFlag belongs to. */
void npu_schedule_set_flag(struct npu_core *core, int from, int to, int event);
void npu_schedule_wait_flag(struct npu_core *core, int from, int to, int event);

#endif
