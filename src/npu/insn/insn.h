/* The families of vector instructions and copies. */
#ifndef NPU_INSN_INSN_H
#define NPU_INSN_INSN_H

#include "npu/npu_internal.h"

NPU_FAMILY(binary)
NPU_FAMILY(ternary)
NPU_FAMILY(scalar)
NPU_FAMILY(unary)
NPU_FAMILY(cast)
NPU_FAMILY(compare)
NPU_FAMILY(get_cmp_mask)
NPU_FAMILY(set_cmp_mask)
NPU_FAMILY(select)
NPU_FAMILY(duplicate)
NPU_FAMILY(brcb)
NPU_FAMILY(copy)
NPU_FAMILY(create_index)
NPU_FAMILY(gather)
NPU_FAMILY(gather_mask)
NPU_FAMILY(reduce)
NPU_FAMILY(whole_reduce)
NPU_FAMILY(block_reduce)
NPU_FAMILY(pair_reduce)
NPU_FAMILY(vcadd_acc)
NPU_FAMILY(data_copy)
NPU_FAMILY(data_copy_pad)
NPU_FAMILY(compound)
NPU_FAMILY(dequant)
NPU_FAMILY(gatherb)
NPU_FAMILY(transpose)
NPU_FAMILY(transpose_4d)
NPU_FAMILY(trans_5hd)
NPU_FAMILY(sort32)
NPU_FAMILY(mrg_sort)
NPU_FAMILY(no_effect)

#endif
