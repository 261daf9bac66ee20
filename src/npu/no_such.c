/* What a kernel hands over, where it names something that there is not. */
#include "npu/report.h"

_Noreturn void npu_no_such(struct npu_core *core, const char *what, uint64_t number)
{
    npu_trap(core, FAULT(illegal_instruction), NULL, "there is no %s %llu", what, (unsigned long long)number);
}
