/* The faults' names as text, made where a finding is recorded. */
#include "npu/fault.h"

const char *npu_fault_name(enum npu_fault fault)
{
    static const char *const names[NPU_FAULTS] = {
#define NPU_FAULT(name, kinds, ...) [NPU_FAULT_ROW_##name] = #name,
#include "abi/fault.def"
#undef NPU_FAULT
    };
    return names[fault >> NPU_FAULT_KIND_BITS];
}
