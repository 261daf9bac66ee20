/* Reporting (report.c): traps, notes, and the signals that a kernel's own code raises. */
#ifndef NPU_REPORT_H
#define NPU_REPORT_H

#include "npu/npu_internal.h"

/* Ends the run: the chip stops here. `fault` is FAULT(name), of a row that can be a trap, or the linker finds none; message
 * as printf. Does not return. npu_trap_of() takes any expression. */
#define npu_trap(core, fault, ...) npu_trap_of(core, NPU_TRAP_##fault, __VA_ARGS__)
#define NPU_TRAP_FAULT(name)       NPU_FAULT_SYMBOL(trap_fault_##name)
_Noreturn void npu_trap_of(struct npu_core *core, const struct npu_fault *fault, const char *operand,
                           const char *format, ...) __attribute__((format(printf, 4, 5)));
/* Ends the run: what a kernel hands over names something that there is not. The headers name what there is; a kernel that
 * calls the ABI itself may name anything, and tables are looked up by it. */
_Noreturn void npu_no_such(struct npu_core *core, const char *what, uint64_t number);
/* Ends the run: CANN has `what` and the machine lacks it. The verdict is `unsupported`. Does not return. */
_Noreturn void npu_lacks(struct npu_core *core, const char *what);
/* Records something that does not end the run; the kind is the fault's, the one besides a trap where it has two. fatal: it
 * is a fault all the same, not a note. pc_other may be 0. `fault` is FAULT(name), of a row that is not always a trap;
 * npu_note_of() takes any expression. */
#define npu_note(core, fatal, fault, ...) npu_note_of(core, fatal, NPU_NOTE_##fault, __VA_ARGS__)
#define NPU_NOTE_FAULT(name)              NPU_FAULT_SYMBOL(note_fault_##name)
void npu_note_of(struct npu_core *core, bool fatal, const struct npu_fault *fault, const char *operand,
                 uint64_t pc_other, const char *format, ...) __attribute__((format(printf, 6, 7)));

/* Where something happened, when it is not the running instruction. */
struct npu_place {
    int core, pipe;
    bool aic;
    uint64_t pc, pc_other;
    const char *api;
};
/* As npu_note. */
void fault_record(struct npu *npu, bool fatal, const struct npu_fault *fault, const char *operand,
                  const struct npu_place *place, const char *format, ...) __attribute__((format(printf, 6, 7)));

void fault_install_signals(void);
void fault_restore_signals(void);
/* Makes the division at which a signal stopped the program yield a number (divide.c); false if it is no division. */
bool divide_step_over(void *context);

/* What is said when one of a fiber's stacks is full. */
#define NPU_STACK_EXHAUSTED "the kernel's stack is exhausted (endless recursion or huge local arrays)"

#endif
