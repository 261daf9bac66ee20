/* The faults of fault.def, for those who report them and those who read reports: FAULT_ub_overflow for "ub_overflow". */
#ifndef NPU_FAULT_H
#define NPU_FAULT_H

/* What went wrong. */
enum npu_kind { NPU_TRAP, NPU_DIFFERS, NPU_UNDEFINED, NPU_HAZARD, NPU_UNSUPPORTED };

/* What kinds a fault can have, a bit for each: the column of fault.def. */
enum npu_fault_kinds {
    NPU_FAULT_TRAP = 1 << NPU_TRAP,
    NPU_FAULT_DIFFERS = 1 << NPU_DIFFERS,
    NPU_FAULT_UNDEFINED = 1 << NPU_UNDEFINED,
    NPU_FAULT_HAZARD = 1 << NPU_HAZARD,
    NPU_FAULT_UNSUPPORTED = 1 << NPU_UNSUPPORTED,
    NPU_FAULT_DIFFERS_OR_TRAP = NPU_FAULT_DIFFERS | NPU_FAULT_TRAP,
    NPU_FAULT_UNDEFINED_OR_TRAP = NPU_FAULT_UNDEFINED | NPU_FAULT_TRAP
};
enum { NPU_FAULT_KIND_BITS = NPU_UNSUPPORTED + 1, NPU_FAULT_KINDS = (1 << NPU_FAULT_KIND_BITS) - 1 };

enum npu_fault_row {
#define NPU_FAULT(name, kinds, ...) NPU_FAULT_ROW_##name,
#include "abi/fault.def"
#undef NPU_FAULT
    NPU_FAULTS
};

/* A fault is its row and the kinds that it can have: the compiler sees both, and refuses a trap that is none. */
enum npu_fault {
#define NPU_FAULT(name, kinds, ...) FAULT_##name = NPU_FAULT_ROW_##name << NPU_FAULT_KIND_BITS | NPU_FAULT_##kinds,
#include "abi/fault.def"
#undef NPU_FAULT
};

/* The name as findings, verdicts and docs/faults.md give it; one pointer for each fault. */
const char *npu_fault_name(enum npu_fault fault);

#endif
