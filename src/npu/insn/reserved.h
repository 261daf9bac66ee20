/* UB that CANN's own code overwrites behind the kernel's back (reserved.c). */
#ifndef NPU_INSN_RESERVED_H
#define NPU_INSN_RESERVED_H

#include "npu/npu_internal.h"

/* The last 8 KB, where calls of the basic API keep what they need for a moment: TMP_UB_OFFSET of CANN 8.1, and what the
 * documents reserve (Memory矢量计算/比较与选择/Select, 复合计算/AddDeqRelu; guide, 静态Tensor编程, table 5). */
enum { NPU_RESERVED_AT = 184 * 1024, NPU_RESERVED_BYTES = 8 * 1024 };
/* The message that a client of a Matmul object sends to its AIC is made at the end of UB: CANN 8.1, struct KfcMsg. */
enum { NPU_MESSAGE_BYTES = 128 };

/* The write of an instruction to the first `bytes` of the reserved UB, as one more of its accesses. Returns n + 1; n on
 * a core whose UB ends before it. */
int npu_list_reserved(const struct npu_core *core, struct npu_access *accesses, int n, uint32_t bytes);
/* Executes it. What it writes is CANN's own affair and undefined for the kernel; a note if the kernel has something
 * there. values: `bytes` of them, or NULL if they are not known. user: "Select in mode 1". */
void npu_write_reserved(struct npu_core *core, const void *values, uint32_t bytes, const char *user);
/* The message of a Matmul object, before it is sent. */
void npu_write_message(struct npu_core *core);

#endif
