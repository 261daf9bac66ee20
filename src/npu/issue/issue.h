/* The life of an instruction (issue.c), and what is said of it (log.c). */
#ifndef NPU_ISSUE_ISSUE_H
#define NPU_ISSUE_ISSUE_H

#include "npu/npu_internal.h"

/* What each instruction is: its check and its execution (family.c, from isa.def). */
extern const struct npu_family npu_families[NPU_OPS];

/* npu_issue() for the routines of the high-level APIs: under the kernel's line that core->pc already holds. */
void npu_issue_from(struct npu_core *core, const struct npu_insn *given);
/* Executes a checked instruction: DMA sees GM itself, not the scalar cache in front of it. */
npu_execute_body npu_execute;
/* After an instruction was submitted: what the mask registers hold (mask.c). */
void npu_leave_mask(struct npu_core *core, const struct npu_insn *insn);
/* After an instruction has been submitted: the waits that its API makes before it returns (composite.c). */
void npu_finish_composite(struct npu_core *core, const struct npu_insn *insn);

/* Called only where core->log is set. */
void npu_log_instruction(const struct npu_core *core, int pipe, const struct npu_insn *insn);
npu_log_sync_body npu_log_sync;

/* DataCopy with Nd2NzParams into UB, as the copies that CANN makes of it (nd2nz_ub.c). */
void npu_copy_nd2nz_to_ub(struct npu_core *core, const struct npu_insn *given);

#endif
