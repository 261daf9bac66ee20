/* The faults' names as text, made where a finding is recorded. */
#include "npu/npu.h"

const char *npu_fault_name(enum npu_fault fault)
{
    static const char *const names[NPU_FAULTS] = {
#define NPU_FAULT(name) [FAULT_##name] = #name,
#include "abi/fault.def"
#undef NPU_FAULT
    };
    return names[fault];
}
