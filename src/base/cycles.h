/* The counter of the processor's cycles, which programs read without asking the system. */
#ifndef BASE_CYCLES_H
#define BASE_CYCLES_H

#include <stdbool.h>

/* From now on an instruction of this process that reads the counter raises SIGSEGV, where the system can have it so. */
void cycles_deny(void);
/* In the handler of a signal: if it was raised by such an instruction, steps over it, with a count that goes on by one
 * at each. */
bool cycles_step_over(void *context);

#endif
