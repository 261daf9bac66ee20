/* The cube: its families of instructions, and what its hardware orders by itself. */
#ifndef NPU_CUBE_CUBE_H
#define NPU_CUBE_CUBE_H

#include "npu/npu_internal.h"

NPU_FAMILY(nd2nz)
NPU_FAMILY(init_const)
NPU_FAMILY(load_2d)
NPU_FAMILY(load_transpose)
NPU_FAMILY(load_3d)
NPU_FAMILY(mmad)
NPU_FAMILY(fixpipe)

/* DataCopy from L1 into the bias table or the fixpipe buffer (table_copy.c): a part of the family data_copy. */
int npu_check_table_copy(struct npu_core *core, struct npu_insn *insn, struct npu_access *accesses);
void npu_exec_table_copy(struct npu_core *core, const struct npu_insn *insn);

/* Before the order of a checked instruction is looked at, and after it was submitted: what the hardware of an AIC
 * orders by itself (cube_order.c: unit flags, large Mmads, the pipe FIX). */
void npu_cube_issue(struct npu_core *core, const struct npu_insn *insn);
void npu_cube_issued(struct npu_core *core, const struct npu_insn *insn);

#endif
