/* The table of faults: a symbol for each row of fault.def, and a second name, trap_fault_ or note_fault_, by which npu_trap()
 * and npu_note() find those that can be what they report. */
#include "npu/fault.h"

#define KIND(kind)                  1u << NPU_##kind
#define NPU_FAULT_DIFFERS_OR_TRAP   KIND(DIFFERS) | KIND(TRAP)
#define NPU_FAULT_UNDEFINED_OR_TRAP KIND(UNDEFINED) | KIND(TRAP)
#define NPU_FAULT_TRAP              KIND(TRAP)
#define NPU_FAULT_DIFFERS           KIND(DIFFERS)
#define NPU_FAULT_UNDEFINED         KIND(UNDEFINED)
#define NPU_FAULT_HAZARD            KIND(HAZARD)
#define NPU_FAULT_UNSUPPORTED       KIND(UNSUPPORTED)

#define ALIAS(name, role)             extern const struct npu_fault role##_fault_##name __attribute__((alias("fault_" #name)));
#define ALIAS_TRAP(name)              ALIAS(name, trap)
#define ALIAS_DIFFERS(name)           ALIAS(name, note)
#define ALIAS_UNDEFINED(name)         ALIAS(name, note)
#define ALIAS_HAZARD(name)            ALIAS(name, note)
#define ALIAS_UNSUPPORTED(name)       ALIAS(name, note)
#define ALIAS_DIFFERS_OR_TRAP(name)   ALIAS(name, note) ALIAS(name, trap)
#define ALIAS_UNDEFINED_OR_TRAP(name) ALIAS(name, note) ALIAS(name, trap)

#define NPU_FAULT(name, kinds, ...)                                                                                    \
    const struct npu_fault fault_##name = {#name, NPU_FAULT_##kinds};                                                  \
    ALIAS_##kinds(name)
#include "abi/fault.def"
