/* Which functions check and execute each instruction: the column `family` of isa.def. */
#include "npu/cube/cube.h"
#include "npu/insn/insn.h"
#include "npu/issue/issue.h"

const struct npu_family npu_families[NPU_OPS] = {
#define NPU_INSN(id, name, pipe, family, types, ...) [NPU_OP_##id] = {npu_check_##family, npu_exec_##family},
#include "abi/isa.def"
#undef NPU_INSN
};
