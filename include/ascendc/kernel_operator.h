/* What an Ascend C kernel includes. This is CANN's contract for the vector half of NPU_ARCH 2201, without semantics:
 * each API call fills a struct npu_insn and hands it to the machine (abi/npu_abi.h).
 *
 * How a kernel is compiled: clang++-19 -std=c++17 -x cuda --cuda-host-only -nocudainc -nocudalib -Xclang
 * -fcuda-is-device -Xclang -fcuda-allow-variadic-functions -Wno-unknown-cuda-version -O1 -fPIC -gline-tables-only
 * -ffp-contract=off -Xclang -ffloat16-excess-precision=none -emit-llvm -I include/ascendc -I include -I src
 * -include kernel_operator.h -include <generated tiling header> <kernel>.cpp, then akgen-confine (src/toolchain/confine) There
 * is no CUDA in it: "device side for the host's own triple" is clang's mode in which a function that lacks
 * __aicore__ (the `device` attribute) may not be called from one that has it, which is the rule of CANN's compiler. The
 * precompiled header is made by the same command with `-S -Xclang -emit-pch` and used with -include-pch. */
#ifndef ASCENDC_KERNEL_OPERATOR_H
#define ASCENDC_KERNEL_OPERATOR_H

/* Kernels say pipe->template Fetch(...), which CANN's older clang takes. It has to hold for the kernel that follows. */
#pragma clang diagnostic ignored "-Wmissing-template-arg-list-after-template-kw"
/* So it does event ids beyond those that event_t names: static_cast<event_t>(INVALID_TEVENTID). */
#pragma clang diagnostic ignored "-Wenum-constexpr-conversion"

#include "adv/broadcast.h"
#include "adv/dropout.h"
#include "adv/cumsum.h"
#include "adv/elementwise.h"
#include "adv/group_norm.h"
#include "adv/norm.h"
#include "adv/nz2nd.h"
#include "adv/norm_grad.h"
#include "adv/pad.h"
#include "adv/pattern.h"
#include "adv/quant.h"
#include "adv/reduce.h"
#include "adv/select.h"
#include "adv/slices.h"
#include "adv/softmax.h"
#include "adv/topk.h"
#include "adv/elementwise_pair.h"
#include "basic/codes.h"
#include "basic/constants.h"
#include "basic/cube.h"
#include "basic/data_copy.h"
#include "basic/debug.h"
#include "basic/dump.h"
#include "basic/host_library.h"
#include "basic/internals.h"
#include "basic/intrinsics.h"
#include "basic/intrinsics_arrange.h"
#include "basic/limits.h"
#include "basic/load_data.h"
#include "basic/operators.h"
#include "basic/output.h"
#include "basic/registers.h"
#include "basic/scalar.h"
#include "basic/sort.h"
#include "basic/spm.h"
#include "basic/standard.h"
#include "basic/sysvars.h"
#include "basic/tpipe.h"
#include "basic/unsupported.h"
#include "basic/vector_arrange.h"
#include "basic/vector_binary.h"
#include "basic/vector_cast.h"
#include "basic/vector_compare.h"
#include "basic/vector_compound.h"
#include "basic/vector_fill.h"
#include "basic/vector_gather.h"
#include "basic/vector_reduce.h"
#include "basic/vector_scalar.h"
#include "basic/vector_unary.h"
#include "kernel_tiling/kernel_tiling.h"

#endif

#include "basic/assert.h"
