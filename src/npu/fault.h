/* Reporting (fault.c): traps, notes, and the signals that a kernel's own code raises. */
#ifndef NPU_FAULT_H
#define NPU_FAULT_H

#include "npu/npu_internal.h"

/* Ends the run: the chip stops here. Message as printf. Does not return. */
_Noreturn void npu_trap(struct npu_core *core, enum npu_fault fault, const char *operand, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
/* Ends the run: CANN has `what` and the machine lacks it. The verdict is `unsupported`. Does not return. */
_Noreturn void npu_lacks(struct npu_core *core, const char *what);
/* Records something that does not end the run. pc_other may be 0. */
void npu_note(struct npu_core *core, enum npu_kind kind, bool fatal, enum npu_fault fault, const char *operand,
              uint64_t pc_other, const char *format, ...) __attribute__((format(printf, 7, 8)));

/* Where something happened, when it is not the running instruction. */
struct npu_place {
    int core, pipe;
    bool aic;
    uint64_t pc, pc_other;
    const char *api;
};
void fault_record(struct npu *npu, enum npu_kind kind, bool fatal, enum npu_fault fault, const char *operand,
                  const struct npu_place *place, const char *format, ...) __attribute__((format(printf, 7, 8)));

void fault_install_signals(void);
void fault_restore_signals(void);
/* Makes the division at which a signal stopped the program yield a number (divide.c); false if it is no division. */
bool divide_step_over(void *context);

#endif
